"""The wait for one link with Poisson arrivals and packets of one length: M/D/1.

Mean wait W = rho T / (2 (1 - rho)) with T the time of a packet on the link (Pollaczek and Khinchine).
"""

from __future__ import annotations

import pytest
from support import flit_technology, simulate

FLITS = 32


@pytest.mark.parametrize("load", [0.3, 0.5, 0.8])
def test_waiting_time(load: float) -> None:
    """Latency from creation less that of an undisturbed packet is the wait for the source's link.

    False alarms: the mean may be 5 standard errors off, by Student's t with 19 or more batches less than 1
    in 10,000. The run must be long enough for a standard error of 1.5 %, or the test says nothing.
    """
    packets = 400_000
    duration_ns = packets * FLITS / load
    results = simulate(
        {
            "name": "one link",
            "seed": 11,
            "topology": {"kind": "crossbar", "terminals": 2},
            "technology": flit_technology(),
            "traffic": {
                "pattern": {"kind": "shift", "by": 1},
                "length": f"{8 * FLITS} B",
                "arrivals": "poisson",
                "load": load,
                "senders": [0],
            },
            "run": {
                "duration": f"{duration_ns:.0f} ns",
                "warmup": f"{duration_ns / 50:.0f} ns",
                "precision": 0,
            },
        }
    )
    total, network = results.summary["total_latency_ns"], results.summary["latency_ns"]
    assert network["min"] == network["max"], "beyond its source link nothing holds a packet up"
    wait = total["mean"] - network["mean"]
    error = total["mean_ci95"] / 2.05
    expected = load * FLITS / (2 * (1 - load))
    assert error < 0.015 * expected
    assert abs(wait - expected) < 5 * error
