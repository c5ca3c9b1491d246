"""How much of a burst crosses a Banyan without waiting: the acceptance recurrence.

In an unbuffered Banyan of k x k switches a packet that loses a contention is dropped; if a share q of the
inputs of a stage carries a packet, a share 1 - (1 - q/k)^k of its outputs does (Patel 1981). This network
loses nothing, but has the same quantity: when every terminal sends one packet at the same moment, those
that have never waited reach each stage together, before all others, and contend among themselves only. Of
the packets that never wait, exactly the accepted ones of the unbuffered network are left after each stage:
the share of a burst that crosses in zero-load latency.
"""

from __future__ import annotations

import numpy as np
import pytest
from support import deliveries, flit_technology, mean_and_error, simulate

FLITS = 4
BURST_NS = 4000
"""From one burst to the next: long enough for the network to empty in between."""


def accepted(base: int, stages: int) -> float:
    """Share of the packets that are accepted when every input offers one."""
    share = 1.0
    for _ in range(stages):
        share = 1 - (1 - share / base) ** base
    return share


def bursts(terminals: int, variant: str, base: int, count: int) -> dict:
    """Every terminal sends one packet to a random other one, all at the same moment, again and again."""
    return {
        "name": f"{variant} {terminals}",
        "seed": 3,
        "topology": {"kind": "banyan", "terminals": terminals, "variant": variant, "base": base},
        "technology": flit_technology(arbiter="random"),
        "traffic": {
            "pattern": "uniform",
            "length": f"{8 * FLITS} B",
            "arrivals": {"kind": "wait", "wait": f"{BURST_NS - FLITS} ns"},
        },
        "run": {"duration": f"{BURST_NS * count + BURST_NS - 1} ns", "warmup": "0 ns", "precision": 0},
        "output": {"trace": True},
    }


@pytest.mark.parametrize(
    ("terminals", "variant", "base"),
    [
        (16, "omega", 2),
        (64, "omega", 2),
        (64, "flip", 2),
        (64, "butterfly", 2),
        (64, "baseline", 2),
        (64, "indirect-cube", 2),
        (64, "generalized-cube", 2),
        (64, "omega", 4),
        (256, "omega", 4),
    ],
)
def test_share_that_never_waits(terminals: int, variant: str, base: int) -> None:
    """The mean over independent bursts is within 5 standard errors and a bias of 0.2 % of the recurrence.

    The bias: terminals do not send to themselves, which moves the probability of a branch by 1 / (2 N) and
    that of a contention by the square of it. False alarms: 5 normal standard errors, less than 1 in
    1,000,000 per case.
    """
    count = 64_000 // terminals
    trace = deliveries(simulate(bursts(terminals, variant, base, count)))
    latency = trace["delivered"] - trace["started"]
    burst = trace["started"] // (BURST_NS * 1000)
    straight = np.bincount(burst, weights=latency == latency.min())
    sent = np.bincount(burst)
    whole = sent == terminals
    assert whole.sum() >= count - 1, "every terminal sends in every burst"
    mean, error = mean_and_error(straight[whole] / terminals)
    stages = round(np.log(terminals) / np.log(base))
    expected = accepted(base, stages)
    assert abs(mean - expected) < 5 * error + 0.002 * expected
