"""Interval labels: what a C104 can express, and the explanation where it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import routing, topology
from fabriloom.routing import NONE, IntervalLabels, RouteTable, RoutingError
from fabriloom.topology import Graph

from .common import by_hand, graph_of


def assert_expresses(graph: Graph, table: RouteTable, labels: IntervalLabels) -> None:
    """Check that looking up a label in the intervals gives the table's group."""
    assert sorted(labels.label.tolist()) == list(range(graph.terminals))
    for switch in range(graph.switches):
        starts, groups = zip(*labels.of(switch), strict=True)
        found = np.array(groups)[np.searchsorted(starts, labels.label, side="right") - 1]
        entries = table.route[switch, : graph.terminals]
        known = entries != NONE
        assert np.array_equal(found[known], entries[known] >> 1)


@pytest.mark.parametrize(
    ("family", "parameters", "how", "most"),
    [
        ("grid", {"shape": [8, 8], "terminals_per_switch": 16, "links_per_edge": 4}, {}, 20),
        ("grid", {"shape": [8, 8], "terminals_per_switch": 16, "links_per_edge": 4}, {"order": [1, 0]}, 36),
        ("grid", {"shape": [3, 4, 5], "terminals_per_switch": 2}, {}, 8),
        ("torus", {"shape": [8, 8], "terminals_per_switch": 16, "links_per_edge": 4}, {}, 24),
        ("torus", {"shape": [8, 8], "terminals_per_switch": 16}, {"variant": "minimal"}, 24),
        ("hypercube", {"dimensions": 6, "terminals_per_switch": 4}, {}, 11),
        ("clos", {"terminals": 512}, {}, 32),
        ("clos", {"terminals": 256}, {"adaptive": False, "spread": "runs"}, 36),
        ("clos5", {"terminals": 64, "switch_ports": 8}, {}, 9),
        ("fat_tree", {"arity": 4, "levels": 3}, {}, 6),
        ("tree", {"arity": 3, "depth": 2, "terminals_per_switch": 2}, {}, 5),
        ("star", {"arms": 5, "terminals_per_switch": 3}, {}, 5),
        ("crossbar", {"terminals": 32}, {}, 32),
    ],
)
def test_regular_networks_have_labels(
    family: str, parameters: dict[str, Any], how: dict[str, Any], most: int
) -> None:
    graph = topology.build(family, **parameters)
    table = routing.build(graph, interval_labelling=True, **how)
    labels = routing.interval_labels(graph, table)
    assert_expresses(graph, table, labels)
    assert np.diff(labels.switch_start).max() <= most


def test_dealing_destinations_out_in_turn_cannot_be_expressed() -> None:
    graph = topology.clos(256)
    with pytest.raises(RoutingError, match=r"needs 2\d\d intervals, and there are 36. The output") as caught:
        routing.build(graph, "interval", of="up-down", adaptive=False)
    assert caught.value.parameter == "interval_labelling"
    assert "separate runs of terminals" in str(caught.value)


def test_the_explanation_names_switch_output_and_terminals() -> None:
    graph = graph_of(3, [(0, 1), (0, 2), (1, 2)], [0, 1, 1, 1, 2, 2, 2])
    ways = {("a", t): "a>b#0" for t in "135"} | {("a", t): "a>c#1" for t in "246"}
    ways |= {("b", "0"): "b>a#0", ("c", "0"): "c>a#1"}
    ways |= {("b", t): "b>c#2" for t in "456"} | {("c", t): "c>b#2" for t in "123"}
    table = by_hand(graph, ways)
    routing.verify(graph, table)
    with pytest.raises(RoutingError) as caught:
        routing.interval_labels(graph, table, most_intervals=6)
    assert str(caught.value) == (
        "interval labels cannot express the table: a needs 7 intervals, and there are 6. The output a>b#0 "
        "leads to 3 separate runs of terminals: 1, 3, 5; between the first two, 2 leaves by a>c#1"
    )
    labels = routing.interval_labels(graph, table, order=[0, 1, 3, 5, 2, 4, 6], most_intervals=6)
    assert_expresses(graph, table, labels)
    with pytest.raises(RoutingError, match="must name every terminal once"):
        routing.interval_labels(graph, table, order=[0, 1])


def test_a_link_belongs_to_one_group() -> None:
    graph = graph_of(3, [(0, 1), (0, 2), (1, 2)], [0, 1, 2])
    ways = {("a", "1"): "a>b#0", ("a", "2"): "a>b#0 a>c#1", ("b", "0"): "b>a#0", ("b", "2"): "b>c#2"}
    table = by_hand(graph, ways | {("c", "0"): "c>a#1", ("c", "1"): "c>b#2"})
    routing.verify(graph, table)
    with pytest.raises(RoutingError, match=r"at a the outputs .* share a>b#0"):
        routing.interval_labels(graph, table)


def test_too_many_outputs_are_said_to_be_so() -> None:
    with pytest.raises(
        RoutingError, match="s needs 40 intervals, and there are 36; every output has a single"
    ):
        routing.build(topology.crossbar(40), interval_labelling=True)
