"""The wait for one link with Poisson arrivals and packets of one length: M/D/1.

Mean wait W = rho T / (2 (1 - rho)) with T the time of a packet on the link (Pollaczek and Khinchine).
"""

from __future__ import annotations

import pytest
from support import FLITS, one_link


@pytest.mark.parametrize("load", [0.3, 0.5, 0.8])
def test_waiting_time(load: float) -> None:
    """Latency from creation less that of an undisturbed packet is the wait for the source's link.

    False alarms: the mean may be 5 standard errors off, by Student's t with 19 or more batches less than 1
    in 10,000. The run must be long enough for a standard error of 1.5 %, or the test says nothing.
    """
    packets = 400_000
    duration_ns = packets * FLITS / load
    results = one_link(11, load, packets, 0, warmup=f"{duration_ns / 50:.0f} ns")
    total, network = results.summary["total_latency_ns"], results.summary["latency_ns"]
    assert network["min"] == network["max"], "beyond its source link nothing holds a packet up"
    wait = total["mean"] - network["mean"]
    error = total["mean_ci95"] / 2.05
    expected = load * FLITS / (2 * (1 - load))
    assert error < 0.015 * expected
    assert abs(wait - expected) < 5 * error
