"""Latency in empty ring networks, by the formula of the page on the ring model.

With ``n`` symbols of ``c`` and a cable of ``w`` a packet is complete at the next station ``n c + w`` after
its start, and ``decode`` later in its queue. Passing a station costs ``bypass`` more and, store-and-forward,
all of that again; cut through, the head goes on after ``c + w + decode + bypass``. Each ring begins with
``transmit`` and ends with ``receive``; between two rings is a bus transfer, at the end the memory.

Exact: there is no false alarm.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from fabriloom.technology import RingTechnology, ring_technology
from fabriloom.technology.model import Ps
from support import simulate

PRESETS = ("scinet", "sci-retry", "sci-1000", "sci-lc2")
STORE, CUT = "store-and-forward", "cut-through"


def ring_ps(tech: RingTechnology, forwarding: str, payload_bytes: int, passed: int) -> Ps:
    """From the start on one ring until the packet is complete in a queue, past ``passed`` stations."""
    symbols = (tech.request_bytes(payload_bytes) + tech.send_idle_bytes) // 2
    packet_ps = int(symbols) * tech.symbol_ps() + tech.cable_ps()
    head_ps = tech.symbol_ps() + tech.cable_ps()
    on = (packet_ps if forwarding == STORE else head_ps) + tech.decode_latency_ps + tech.bypass_latency_ps
    return passed * on + packet_ps + tech.decode_latency_ps


def one_packet(
    topology: dict[str, Any], technology: dict[str, Any], target: str, payload_bytes: int
) -> Fraction:
    """Picoseconds from making to storing the packets of P0 or t0, which must all be alike.

    Exact, as a cycle of the bus is no whole number of picoseconds.
    """
    sender = "P0" if target.startswith("M") else "t0"
    results = simulate(
        {
            "name": "one at a time",
            "seed": 1,
            "topology": topology,
            "technology": technology,
            "traffic": {
                "pattern": {"kind": "hot-spot", "target": target, "share": 1.0},
                "length": f"{payload_bytes} B",
                "arrivals": "together",
                "load": 0.001,
                "transaction": "dmove",
                "senders": [sender],
            },
            "run": {"duration": "5 ms", "warmup": "0 ns", "precision": 0, "packets": 3},
            "output": {"trace": True},
        }
    )
    created, delivered = (
        np.asarray(results.native[f"trace_{name}_ticks"]) for name in ("created", "delivered")
    )
    times = set((delivered - created).tolist())
    assert len(times) == 1
    return times.pop() * Fraction(results.tick_ps).limit_denominator(1000)


@pytest.mark.parametrize("forwarding", [STORE, CUT])
@pytest.mark.parametrize("payload_bytes", [16, 64, 256])
@pytest.mark.parametrize("preset", PRESETS)
def test_one_ring(preset: str, payload_bytes: int, forwarding: str) -> None:
    """Every distance on a ring of five."""
    tech = ring_technology(preset).carrying("dmove")
    ends = tech.host_latency_ps + tech.transmit_ps + tech.receive_ps
    blocks = -(-payload_bytes // 64)
    ends += max(1, tech.memory_access_ps + blocks * tech.memory_block_ps)
    for distance in (1, 2, 4):
        expected = ends + ring_ps(tech, forwarding, payload_bytes, distance - 1)
        technology = {"preset": preset, "forwarding": forwarding}
        measured = one_packet({"kind": "sci-ring", "terminals": 5}, technology, f"t{distance}", payload_bytes)
        assert measured == expected, distance


NETWORKS: dict[str, tuple[dict[str, Any], str, list[int]]] = {
    "ringlets": ({"kind": "sci-switch", "ports": 4, "roles": "pairs"}, "M0", [0, 0]),
    "long ring": ({"kind": "sci-long-rings", "ports": 4}, "M0", [1]),
    "another long ring": ({"kind": "sci-long-rings", "ports": 4}, "M3", [0, 0]),
    "ringlet Omega": ({"kind": "sci-banyan", "terminals": 16}, "M0", [0, 0, 0, 0, 0]),
    "first-grade Omega": ({"kind": "sci-banyan", "terminals": 16, "wiring": "long-ring"}, "M0", [4]),
    "second-grade Omega": (
        {"kind": "sci-banyan", "terminals": 16, "wiring": "long-ring", "base": 4},
        "M0",
        [2],
    ),
}
"""Topology, receiver, and the stations passed on each ring of the way from P0."""


@pytest.mark.parametrize("forwarding", [STORE, CUT])
@pytest.mark.parametrize("name", NETWORKS)
def test_switched(name: str, forwarding: str) -> None:
    """Rings one after the other, with a bus between them."""
    topology, target, passed = NETWORKS[name]
    tech = ring_technology("scinet").carrying("dmove")
    between = tech.bus_transfer_ps(int(tech.request_bytes(64)))
    expected = (
        tech.host_latency_ps + tech.memory_access_ps + tech.memory_block_ps + between * (len(passed) - 1)
    )
    expected += len(passed) * (tech.transmit_ps + tech.receive_ps)
    expected += sum(ring_ps(tech, forwarding, 64, stations) for stations in passed)
    measured = one_packet(topology, {"preset": "scinet", "forwarding": forwarding}, target, 64)
    assert measured == expected
