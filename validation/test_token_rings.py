"""Waits and throughput of token rings, where theory is exact.

One packet for each token is cyclic service of limit one. With N equal stations, Poisson arrivals of rate l at
each, a constant service b, which begins when the token is taken, and r from station to station, the mean wait
is (Takagi, Queueing analysis of polling models, 1988)

    (N l b^2 + r (N + p)) / (2 (1 - p - N l r)),    p = N l b

With a target T for the rotation, stations that always have packets, and D for a round in which nobody takes
the token, each of n stations sends once in n T + D, for T - D: the efficiency n (T - D) / (n T + D) and the
longest access delay (n - 1) T + 2 D (Jain, Performance Analysis of FDDI Token Ring Networks, 1990). Taking
the token is part of T - D here, and T is such that a whole number of packets fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom.results import Results
from support import deliveries, simulate

STATIONS = 8
PACKET_NS = (512 + 28) * 80
TOKEN_NS = 11 * 80
HOP_NS = 1000 + 200 * 5.085
ROUND_NS = STATIONS * HOP_NS
FDDI: dict[str, Any] = {
    "preset": "fddi",
    "requests_out": 60_000,
    "transactions": 60_000,
    "transmit_latency": "0 ns",
}


def run(token: dict[str, Any], traffic: dict[str, Any], duration_ns: float, warmup_ns: float = 0) -> Results:
    """A run on a ring of eight, each of whose stations sends to the next one."""
    return simulate(
        {
            "name": "token",
            "seed": 5,
            "topology": {"kind": "sci-ring", "terminals": STATIONS},
            "technology": FDDI | {"token": token},
            "traffic": {
                "length": "512 B",
                "transaction": "dmove",
                "pattern": {"kind": "shift", "by": 1},
                **traffic,
            },
            "run": {"duration": f"{duration_ns:.0f} ns", "warmup": f"{warmup_ns:.0f} ns", "precision": 0},
            "output": {"trace": True},
        }
    )


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.8])
def test_wait_with_one_packet_for_each_token(rho: float) -> None:
    """False alarms: 5 standard errors, by Student's t with 19 or more batches less than 1 in 10,000."""
    service_ns = PACKET_NS + TOKEN_NS
    rate = rho / (STATIONS * (service_ns + HOP_NS))
    poisson = {"arrivals": "poisson", "load": PACKET_NS * rate, "source_queue": 0}
    spent_ns = 25_000 / rate
    summary = run({"packets": 1, "rotation": "0 ns"}, poisson, spent_ns, spent_ns / 50).summary
    total, latency = summary["total_latency_ns"], summary["latency_ns"]
    wait, error = total["mean"] - latency["mean"], total["mean_ci95"] / 2.05
    busy = STATIONS * rate * service_ns
    expected = STATIONS * rate * service_ns**2 + HOP_NS * (STATIONS + busy)
    expected /= 2 * (1 - busy - STATIONS * rate * HOP_NS)
    assert error < 0.025 * expected
    # The token has to be taken before the packet starts.
    assert abs(wait - expected - TOKEN_NS) < 5 * error


def test_efficiency_and_longest_access_delay_of_a_target() -> None:
    """Exact: nothing is drawn."""
    packets = 20
    target_ns = ROUND_NS + TOKEN_NS + packets * PACKET_NS
    cycle_ns = STATIONS * target_ns + ROUND_NS
    results = run({"rotation": f"{target_ns:.2f} ns"}, {"arrivals": "backlog"}, 10 * cycle_ns)
    trace = deliveries(results)
    starts = np.sort(trace["started"][trace["source"] == 3]) / 1000
    gaps = np.diff(starts)
    assert gaps[:5] == pytest.approx(PACKET_NS)
    between = gaps[gaps > PACKET_NS + 1]
    # From the end of the last packet until the token comes, which then is taken.
    longest_ns = (STATIONS - 1) * target_ns + 2 * ROUND_NS
    assert len(between) >= 8
    assert between == pytest.approx(PACKET_NS + longest_ns + TOKEN_NS)
    assert starts[packets] - starts[0] == pytest.approx(cycle_ns)
    of_all = trace["started"] / 1000 - starts[0]
    in_cycles = np.count_nonzero((of_all >= 0) & (of_all < 8 * cycle_ns - 1))
    efficiency = in_cycles * PACKET_NS / (8 * cycle_ns)
    sending_ns = target_ns - ROUND_NS - TOKEN_NS
    assert efficiency == pytest.approx(STATIONS * sending_ns / (STATIONS * target_ns + ROUND_NS))
