"""Dimension order on lattices of any shape, in any order of dimensions."""

from __future__ import annotations

import numpy as np
from fabriloom import routing, topology
from hypothesis import given, settings
from hypothesis import strategies as st

from .common import assert_cycle

SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=4).filter(lambda shape: 2 <= np.prod(shape) <= 150)


@settings(max_examples=60)
@given(SHAPES, st.data(), st.booleans(), st.integers(1, 3))
def test_lattices_arrive_without_a_cycle(
    shape: list[int], data: st.DataObject, adaptive: bool, parallel: int
) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    for family in (topology.grid, topology.torus):
        graph = family(shape, 2, parallel)
        table = routing.build(graph, order=order, adaptive=adaptive)
        routing.verify(graph, table)
        assert routing.dependency_cycle(graph, table) is None


@settings(max_examples=40)
@given(SHAPES, st.booleans())
def test_minimal_ways_round_are_shortest(shape: list[int], adaptive: bool) -> None:
    graph = topology.torus(shape, 1)
    table = routing.build(graph, variant="minimal", adaptive=adaptive)
    routing.verify(graph, table)
    places, sides = graph.layout["coordinates"], np.array(shape)
    apart = np.abs(places[:, None] - places[None])
    distance = np.where(sides > 2, np.minimum(apart, sides - apart), apart).sum(axis=2)
    mean = distance.sum() / (graph.terminals * (graph.terminals - 1)) + 2
    assert np.isclose(routing.mean_hops(graph, table), mean)
    cycle = routing.dependency_cycle(graph, table)
    if max(shape) > 4:
        assert cycle is not None
        assert_cycle(graph, cycle)
    if max(shape) < 4:
        assert cycle is None
