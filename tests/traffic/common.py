"""Shorthands of the traffic tests."""

from __future__ import annotations

from typing import Any

from fabriloom import topology, traffic
from fabriloom.technology import technology
from fabriloom.topology import Graph

LINK = technology("ds-link-c104")
GRAIN_PS = 1000


def grid(*shape: int, terminals: int = 1, links: int = 1) -> Graph:
    """A grid of switches."""
    return topology.build("grid", shape=list(shape), terminals_per_switch=terminals, links_per_edge=links)


def build(graph: Graph, pattern: Any = "uniform", **settings: Any) -> dict[str, Any]:
    """The columns of a pattern with otherwise plain settings."""
    base = {
        "pattern": {"kind": pattern} if isinstance(pattern, str) else pattern,
        "length": {"kind": "fixed", "value_bytes": 64},
        "arrivals": {"kind": "poisson"},
        "load": 0.5,
        "source_queue": 0,
        "senders": "all",
    }
    via = settings.pop("via", False)
    seed = settings.pop("seed", 1)
    return traffic.build(graph, settings.pop("technology", LINK), base | settings, seed=seed, via=via)
