"""Waits and throughput of slotted and token rings, where theory is exact.

A slot that begins while nothing waits is lost, so one sender is an M/D/1 queue with vacations of a slot: its
mean wait is that of M/D/1 and half a slot more (Doshi, Queueing systems with vacations, 1986). The time of
service is that between two starts of a sender that always has a packet: a slot, if the receiver empties it;
a round and a slot, if the sender empties it and has one packet on its way (Bux, Local-area subnetworks: a
performance comparison, 1981, of the Cambridge ring).

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
from fabriloom.technology import ring_technology
from support import deliveries, simulate

PACKETS = 200_000
TERMINALS = 8
SLOT_NS = 80
"""Two stations of 40 ns each: four slots go round."""
MANY = {"requests_out": 60_000, "transactions": 60_000, "memory": {"access": "0 ns", "block": "0 ns"}}
SLOTTED: dict[str, Any] = {
    "preset": "noc-ring",
    "link_rate": "0.5 GB/s",
    "symbol": "2 B",
    "slot": "40 B",
    "cable_length": "1 m",
    "cable_delay": "36 ns/m",
    "when_full": "busy",
    "requests_in": 0,
    "responses_in": 0,
} | MANY
BY_SENDER = {"echo": "8 B", "hold_until": "sent", "in_flight": 1, "retry": {"delay": "0 ns"}}


def run(technology: dict[str, Any], traffic: dict[str, Any], duration_ns: float) -> dict[str, Any]:
    """The summary of a run on a ring of eight."""
    return simulate(
        {
            "name": "slots",
            "seed": 11,
            "topology": {"kind": "sci-ring", "terminals": TERMINALS},
            "technology": technology,
            "traffic": {"length": "32 B", "transaction": "dmove", **traffic},
            "run": {
                "duration": f"{duration_ns:.0f} ns",
                "warmup": f"{duration_ns / 50:.0f} ns",
                "precision": 0,
            },
        }
    ).summary


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("emptied_by", ["receiver", "sender"])
def test_wait_of_one_sender(emptied_by: str, rho: float) -> None:
    """False alarms: 5 standard errors, by Student's t with 19 or more batches less than 1 in 10,000."""
    technology = SLOTTED | (BY_SENDER if emptied_by == "sender" else {})
    slots = TERMINALS * 40 // SLOT_NS
    service_ns = SLOT_NS * (slots + 1) if emptied_by == "sender" else SLOT_NS
    period_ns = service_ns / rho
    latency = run(
        technology,
        {
            "pattern": {"kind": "hot-spot", "target": "t3", "share": 1.0},
            "arrivals": "poisson",
            "load": SLOT_NS / period_ns,
            "senders": ["t0"],
            "source_queue": 0,
        },
        PACKETS * period_ns,
    )["total_latency_ns"]
    tech = ring_technology("noc-ring")
    # Three links, the rest of the slot behind its head, the interfaces, and a service of a grain.
    empty_ns = 3 * 40 + (20 - 1) * 4 + (tech.transmit_ps + tech.receive_ps) / 1000 + 1
    wait, error = latency["mean"] - empty_ns, latency["mean_ci95"] / 2.05
    # Packets are made at whole nanoseconds, and one made when a slot begins takes it.
    expected = (SLOT_NS - 1) / 2 + rho * service_ns / (2 * (1 - rho))
    assert error < 0.025 * expected
    assert abs(wait - expected) < 5 * error


def test_throughput_of_all_senders() -> None:
    """All slots are full behind every station, and a packet takes four of eight links on average: two links'
    rate in all.

    The mean distance of 50,000 packets or more is drawn with a standard error of 2 / sqrt(50,000) links, less
    than 0.25 %; 5 of them are 1.2 %.
    """
    summary = run(SLOTTED, {"pattern": "uniform", "arrivals": "backlog"}, 2_100_000)
    accepted = summary["accepted_mbytes_per_s"]
    assert summary["packets"]["measured"] > 50_000
    assert accepted == pytest.approx(2 * 32 / SLOT_NS * 1000, rel=0.012)


def test_a_sender_of_a_slot_that_it_empties_itself() -> None:
    """One packet in a round and a slot, exactly: the rule of the Cambridge ring."""
    summary = run(
        SLOTTED | BY_SENDER,
        {
            "pattern": {"kind": "hot-spot", "target": "t3", "share": 1.0},
            "arrivals": "backlog",
            "senders": ["t0"],
        },
        2_000_000,
    )
    slots = TERMINALS * 40 // SLOT_NS
    accepted = summary["accepted_mbytes_per_s"]
    assert accepted == pytest.approx(32 / (SLOT_NS * (slots + 1)) * 1000, rel=1e-3)


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


def run_tokens(
    token: dict[str, Any], traffic: dict[str, Any], duration_ns: float, warmup_ns: float = 0
) -> Results:
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
    summary = run_tokens({"packets": 1, "rotation": "0 ns"}, poisson, spent_ns, spent_ns / 50).summary
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
    results = run_tokens({"rotation": f"{target_ns:.2f} ns"}, {"arrivals": "backlog"}, 10 * cycle_ns)
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
