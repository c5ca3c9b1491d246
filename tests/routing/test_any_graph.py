"""Shortest paths and up*/down* on random graphs, against plain computations."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from fabriloom import routing, topology
from hypothesis import given, settings
from hypothesis import strategies as st

from .common import assert_cycle, dependencies, graph_of, graphs

HOW = st.sampled_from([{}, {"adaptive": False}, {"adaptive": False, "spread": "runs"}])


@settings(max_examples=60)
@given(graphs(), st.sampled_from(["shortest-path", "up*/down*", "auto"]), HOW)
def test_everything_arrives_and_cycles_are_found(graph: topology.Graph, kind: str, how: dict) -> None:
    table = routing.build(graph, kind, **how)
    routing.verify(graph, table)
    cycle = routing.dependency_cycle(graph, table)
    plain = dependencies(graph, table)
    assert (cycle is None) == nx.is_directed_acyclic_graph(plain)
    if cycle is not None:
        assert_cycle(graph, cycle)
        assert all(plain.has_edge(a, b) for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    if kind != "shortest-path":
        assert cycle is None


@settings(max_examples=40)
@given(graphs(), st.booleans())
def test_shortest_paths_are_shortest(graph: topology.Graph, adaptive: bool) -> None:
    table = routing.build(graph, "shortest-path", adaptive=adaptive)
    plain = nx.DiGraph(zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True))
    for source in range(graph.terminals):
        lengths = nx.single_source_shortest_path_length(plain, graph.switches + source)
        for target in range(graph.terminals):
            if source != target:
                path = routing.path(graph, table, source, target)
                assert len(path) == lengths[graph.switches + target]


@settings(max_examples=30)
@given(graphs(), st.sampled_from(["shortest-path", "up*/down*"]), st.booleans())
def test_loads_are_those_of_the_paths(graph: topology.Graph, kind: str, universal: bool) -> None:
    table = routing.build(graph, kind, adaptive=False, universal=universal)
    expected = np.zeros(graph.links)
    share = 1 / (graph.terminals - 1)
    home = [
        int(graph.link_target[graph.link_source == graph.switches + t][0]) for t in range(graph.terminals)
    ]
    for source in range(graph.terminals):
        for target in (t for t in range(graph.terminals) if t != source):
            vias = [None if s == home[source] else v for v, s in enumerate(table.via_switch.tolist())]
            for via in vias or [None]:
                path = routing.path(graph, table, source, target, via)
                expected[path] += share / max(len(vias), 1)
    assert routing.channel_loads(graph, table) == pytest.approx(expected)
    matrix = np.full((graph.terminals, graph.terminals), 2 * share)
    np.fill_diagonal(matrix, 0)
    assert routing.channel_loads(graph, table, matrix) == pytest.approx(2 * expected)


def test_weights_may_be_a_matrix_or_three_columns() -> None:
    graph = topology.ring(4, 2)
    table = routing.build(graph)
    matrix = np.zeros((8, 8))
    matrix[0, 5] = matrix[3, 1] = 0.25
    loads = routing.channel_loads(graph, table, matrix)
    assert loads == pytest.approx(routing.channel_loads(graph, table, ([0, 3], [5, 1], [0.25, 0.25])))
    used = {*routing.path(graph, table, 0, 5), *routing.path(graph, table, 3, 1)}
    assert set(np.flatnonzero(loads).tolist()) == used
    with pytest.raises(routing.RoutingError, match="the weights have shape"):
        routing.channel_loads(graph, table, matrix[:4])
    with pytest.raises(routing.RoutingError, match="terminal that does not exist"):
        routing.channel_loads(graph, table, ([0], [9], [1.0]))


def test_the_root_can_be_chosen() -> None:
    graph = graph_of(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], [0, 1, 2, 3, 4])
    for root in (2, "c"):
        table = routing.build(graph, "up*/down*", root=root)
        # The way between the two switches farthest from the root is closed: 0 to 4 goes over c.
        assert [graph.link_names[link] for link in routing.path(graph, table, 0, 4)][1] in ("a>b#0", "a>e#4")
        assert routing.dependency_cycle(graph, table) is None


def test_auto_turns_to_up_down_where_shortest_paths_could_deadlock() -> None:
    ring = graph_of(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], [0, 1, 2, 3, 4])
    assert routing.dependency_cycle(ring, routing.build(ring, "shortest-path")) is not None
    assert routing.build(ring).kind == "up-star-down-star"
    line = graph_of(3, [(0, 1), (1, 2)], [0, 1, 2])
    assert routing.build(line).kind == "shortest-path"


def test_next_hops_of_shortest_paths() -> None:
    diamond = graph_of(4, [(0, 1), (0, 1), (0, 2), (1, 3), (2, 3)], [0, 3])
    cases: list[tuple[dict[str, Any], int]] = [({}, 3), ({"next_hops": "first"}, 2), ({"adaptive": False}, 1)]
    for how, links in cases:
        table = routing.build(diamond, "shortest-path", **how)
        assert len(table.group(int(table.route[0, 1]) >> 1)) == links
