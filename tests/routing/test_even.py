"""Loads of terminals that send to all others alike are those of all pairs, one by one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from fabriloom import routing, topology
from fabriloom.routing.even import ring_loads

RINGS: list[tuple[str, dict[str, Any]]] = [
    ("sci-ring", {"terminals": 7}),
    ("sci-bridge", {"terminals": 5, "buses": 2}),
    ("sci-switch", {"ports": 5, "terminals_per_ring": 3}),
    ("sci-torus", {"shape": [3, 4], "terminals_per_switch": 3}),
    ("sci-module", {"terminals_per_ring": 2, "terminals_per_expansion_ring": 3}),
    ("sci-switch-16", {"terminals_per_ring": 5}),
    (
        "sci-rings",
        {
            "rings": [["a", "s", "b", "c", "u", "d"], ["s", "e", "u", "f", "w"], ["w", "g"], ["i", "u", "w"]],
            "switches": ["s", "u", "w"],
        },
    ),
]
LINKS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("grid", {"shape": [3, 4], "terminals_per_switch": 3}, {}),
    ("clos", {"terminals": 64}, {"universal": True}),
    ("torus", {"shape": [4, 4], "terminals_per_switch": 2}, {"universal": True}),
    ("banyan", {"terminals": 16}, {}),
]


def rates(terminals: int) -> list[np.ndarray]:
    """All the same, all different, some silent, one louder than the rest."""
    different = np.random.default_rng(1).random(terminals)
    return [
        np.full(terminals, 0.7),
        different,
        np.where(np.arange(terminals) % 3, different, 0.0),
        np.where(np.arange(terminals) == 1, 1.0, 0.25),
    ]


def matrix(even: np.ndarray) -> np.ndarray:
    """The same traffic, terminal by terminal."""
    found = np.repeat(even[:, None] / (len(even) - 1), len(even), axis=1)
    np.fill_diagonal(found, 0.0)
    return found


@pytest.mark.parametrize(("kind", "given"), RINGS, ids=[kind for kind, _ in RINGS])
def test_rings(kind: str, given: dict[str, Any]) -> None:
    graph = topology.build(kind, **given)
    route = routing.port_route(graph)
    nobody = np.zeros(graph.terminals)
    for even in rates(graph.terminals):
        source, target = np.nonzero(matrix(even))
        listed = ring_loads(graph, route, (source, target, matrix(even)[source, target]), nobody)
        found = ring_loads(graph, route, (source[:0], target[:0], nobody[:0]), even)
        for field in fields(found):
            expected = getattr(listed, field.name)
            assert getattr(found, field.name) == pytest.approx(expected, abs=1e-9), field.name


@pytest.mark.parametrize(("kind", "given", "rule"), LINKS, ids=[kind for kind, _, _ in LINKS])
def test_links(kind: str, given: dict[str, Any], rule: dict[str, Any]) -> None:
    graph = topology.build(kind, **given)
    table = routing.build(graph, **rule)
    for even in rates(graph.terminals):
        expected = routing.channel_loads(graph, table, matrix(even))
        assert routing.channel_loads(graph, table, even=even) == pytest.approx(expected, abs=1e-9)
        twice = routing.channel_loads(graph, table, matrix(even), even)
        assert twice == pytest.approx(2 * expected, abs=1e-9)
