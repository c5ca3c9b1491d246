"""Where a sweep of the input saturates, on made-up measurements."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fabriloom.experiments.lab import Effort, Measured
from fabriloom.experiments.rows import near
from fabriloom.experiments.scinet import networks
from fabriloom.experiments.scinet.curves import Sweep


def point(output: float, loss: float, least_ns: float, most_ns: float) -> Measured:
    """A measurement with these rates and latencies."""
    return Measured(
        end_reason="time_limit",
        accepted_mbytes_per_s=output,
        accepted_mbytes_per_s_ci95=math.nan,
        latency_ns=least_ns,
        latency_ns_ci95=math.nan,
        packets=1000,
        latency_values_ns=np.zeros(0),
        latency_counts=np.zeros(0, np.int64),
        offered_mbytes_per_s=output + loss,
        refused_share=loss / (output + loss),
        made_ns=most_ns,
        least_ns=least_ns,
        most_ns=most_ns,
        link_shares={},
        source_mbytes_per_s={},
    )


SWEEP = Sweep(
    [100.0, 200.0, 300.0, 400.0],
    [point(76, 0, 900, 1000), point(152, 0, 900, 1040), point(228, 0, 950, 1500), point(228, 76, 990, 9000)],
)


def test_knees_are_steps_of_the_input() -> None:
    """Losses begin at the last step, the latency grows one earlier."""
    assert SWEEP.knee() == 400
    assert SWEEP.latency_knee() == 200
    assert SWEEP.latency_below_ns() == 1040
    assert SWEEP.latency_above_ns() == (950, 9000)
    assert SWEEP.at(400).lost_mbytes_per_s == pytest.approx(76)


def test_a_sweep_that_does_not_saturate_has_no_knee() -> None:
    """Neither of losses nor of latency."""
    light = Sweep(SWEEP.inputs[:2], SWEEP.points[:2])
    assert math.isnan(light.knee())
    assert light.latency_knee() == 200
    assert all(map(math.isnan, light.latency_above_ns()))


def test_steps_reach_what_a_link_carries() -> None:
    """25 MB/s a step and sender, so that the printed inputs are among them."""
    steps = networks.steps(Effort(quick=False), ())
    assert (steps[0], steps[-1], len(steps)) == (25, 500, 20)
    inputs = {gross * networks.senders(networks.OMEGA) for gross in steps}
    assert {1600, 2000, 6800, 7200, 8000} <= inputs
    assert networks.senders(networks.LONG_4 | {"pairs_per_ring": 2}) == 8
    assert networks.senders(networks.RINGLET_SWITCH) == 2


def test_limits_around_a_printed_value() -> None:
    """Also of a negative one."""
    assert near({"value": 200}, 0.03) == (194, 206)
    assert near({"value": -20}, 0.1) == (-22, -18)
