"""Waits on a ring link, for a memory and on a bus with Poisson arrivals, where theory is exact.

A link that carries the requests of one sender only is M/D/1: W = rho T / (2 (1 - rho)). Servers of fixed
times in sequence make a packet wait in all as long as the slowest would alone (Avi-Itzhak 1965,
Friedman 1965), so behind that link a slower bus or memory makes it the wait of an M/D/1 queue with that time.
"""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom.technology import ring_technology
from support import simulate

PACKETS = 200_000
MANY = {"requests_in": 60_000, "requests_out": 60_000, "transactions": 60_000, "in_flight": 60_000}
"""Places that never run out: the formulas have none."""


NO_BUS: dict[str, Any] = {"memory": {"access": "0 ns"}}
"""A memory that no bus feeds, faster than a link."""


def run(
    topology: dict[str, Any], target: str, load: float, period_ps: int, memory: dict[str, Any]
) -> dict[str, Any]:
    """Summary of a run with responseless packets of one sender; ``load`` of its link."""
    duration_ns = PACKETS * period_ps / 1000
    results = simulate(
        {
            "name": "one queue",
            "seed": 5,
            "topology": topology,
            "technology": {"preset": "scinet"} | MANY | memory,
            "traffic": {
                "pattern": {"kind": "hot-spot", "target": target, "share": 1.0},
                "length": "64 B",
                "arrivals": "poisson",
                "load": load,
                "transaction": "dmove",
                "source_queue": 0,
                "senders": ["t0"],
            },
            "run": {
                "duration": f"{duration_ns:.0f} ns",
                "warmup": f"{duration_ns / 50:.0f} ns",
                "precision": 0,
            },
        }
    )
    return results.summary["total_latency_ns"]


def check(latency: dict[str, Any], rho: float, service_ns: float, empty_ns: float) -> None:
    """The mean wait is that of M/D/1.

    False alarms: 5 standard errors, by Student's t with 19 or more batches less than 1 in 10,000. The
    standard error must be below 2.5 % of the wait, or the test says nothing.
    """
    wait, error = latency["mean"] - empty_ns, latency["mean_ci95"] / 2.05
    expected = rho * service_ns / (2 * (1 - rho))
    assert latency["min"] == pytest.approx(empty_ns, abs=0.01)
    assert error < 0.025 * expected
    assert abs(wait - expected) < 5 * error


@pytest.mark.parametrize("memory", [NO_BUS, {}], ids=["link", "memory"])
@pytest.mark.parametrize("rho", [0.3, 0.6, 0.8])
def test_wait_for_the_link_or_the_memory(rho: float, memory: dict[str, Any]) -> None:
    """A ring of two: requests on one link, echoes on the other. The memory is slower if a bus feeds it."""
    tech = ring_technology("scinet", {"memory_access_ps": 0} if memory else {}).carrying("dmove")
    unit_ps, served_ps = tech.packet_ps(64), tech.memory_access_ps + tech.memory_block_ps
    slowest_ps = max(unit_ps, served_ps)
    assert (slowest_ps == unit_ps) == (memory is NO_BUS)
    period_ps = round(slowest_ps / rho)
    latency = run({"kind": "sci-ring", "terminals": 2}, "t1", unit_ps / period_ps, period_ps, memory)
    empty_ps = tech.host_latency_ps + tech.transmit_ps + unit_ps + tech.cable_ps()
    empty_ps += tech.decode_latency_ps + tech.receive_ps + served_ps
    check(latency, rho, float(slowest_ps / 1000), float(empty_ps / 1000))


@pytest.mark.parametrize("rho", [0.4, 0.8])
def test_wait_for_the_bus(rho: float) -> None:
    """Two rings of one terminal joined by a bridge, whose bus is slower than the rings."""
    tech = ring_technology("scinet").carrying("dmove")
    unit_ps, bus_ps = tech.packet_ps(64), tech.bus_transfer_ps(80)
    assert bus_ps > unit_ps
    period_ps = round(bus_ps / rho)
    latency = run({"kind": "sci-bridge", "terminals": 1}, "t1", unit_ps / period_ps, period_ps, {})
    ring_ps = tech.transmit_ps + unit_ps + tech.cable_ps() + tech.decode_latency_ps
    ring_ps += tech.receive_ps
    empty_ps = tech.host_latency_ps + 2 * ring_ps + bus_ps + tech.memory_access_ps + tech.memory_block_ps
    check(latency, rho, float(bus_ps / 1000), float(empty_ps / 1000))
