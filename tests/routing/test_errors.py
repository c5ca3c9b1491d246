"""Routing that cannot be built or does not work: one message with the parameter at fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import routing, topology
from fabriloom.routing import NONE, RouteTable, RoutingError

from .common import by_hand, graph_of

GRID = topology.grid([3, 3], 1)
TORUS = topology.torus([3, 3], 1)
CLOS = topology.clos(8, switch_ports=4)
BANYAN = topology.banyan(8)

WRONG: list[tuple[topology.Graph, dict[str, Any], str, str]] = [
    (GRID, {"kind": "dimension-oder"}, "kind", 'did you mean "dimension-order"'),
    (CLOS, {"kind": "dimension-order"}, "kind", "needs switches with coordinates; a clos has none"),
    (GRID, {"kind": "up-down"}, "kind", "needs the stages of a Clos or a tree; a grid has none"),
    (BANYAN, {"kind": "up-down"}, "kind", "needs the stages"),
    (BANYAN, {"kind": "up*/down*"}, "kind", "needs two-way cables"),
    (BANYAN, {"universal": True}, "universal", "needs two-way cables"),
    (GRID, {"kind": "self-routing"}, "kind", "not self-routing: from s"),
    (GRID, {"variant": "minimal"}, "variant", "a grid has no links that wrap around"),
    (TORUS, {"variant": "shortest"}, "variant", "minimal and no-edge-transit"),
    (GRID, {"order": [0, 0]}, "order", "must name each dimension from 0 to 1 once"),
    (GRID, {"kind": "up*/down*", "root": "s(9,9)"}, "root", 'no switch "s(9,9)"'),
    (GRID, {"kind": "up*/down*", "root": 9}, "root", "numbered 0 to 8"),
    (GRID, {"kind": "up*/down*", "order": [0, 1]}, "order", "has no parameter"),
    (GRID, {"spread": "turns"}, "spread", "set adaptive = false"),
    (GRID, {"spread": "even", "adaptive": False}, "spread", "choose from turns, runs"),
    (GRID, {"kind": "shortest-path", "next_hops": "some"}, "next_hops", "all or first"),
    (GRID, {"kind": "table"}, "path", "needs the path of its file"),
    (GRID, {"kind": "table", "path": "none.csv"}, "path", "cannot read none.csv"),
    (GRID, {"kind": "interval", "of": "table"}, "of", "no routing"),
    (topology.crossbar(4), {"universal": True}, "universal", "more than one switch"),
]


@pytest.mark.parametrize(("graph", "settings", "parameter", "message"), WRONG)
def test_what_does_not_fit_is_refused(
    graph: topology.Graph, settings: dict[str, Any], parameter: str, message: str
) -> None:
    with pytest.raises(RoutingError) as caught:
        routing.build(graph, **settings)
    assert caught.value.parameter == parameter
    assert message in str(caught.value)


def test_a_disconnected_graph_is_named() -> None:
    graph = graph_of(4, [(0, 1), (2, 3)], [0, 1, 3])
    with pytest.raises(RoutingError, match="no way from d to 0 at a"):
        routing.build(graph, "shortest-path")


def test_a_table_of_too_many_entries_is_refused_before_it_is_made() -> None:
    with pytest.raises(RoutingError, match=r"70000 switches and 70000 to send to are 4900000000 pairs"):
        routing.build(topology.ring(70000), "hops", lanes=14)
    graph = topology.hypercube(14, 1)
    with pytest.raises(RoutingError, match=r"16,384 switches by 32,768 destination switches .* fewer"):
        routing.build(graph, "hops", lanes=30, universal=True)
    with pytest.raises(RoutingError, match=r"16,384 switches by 16,384 destinations .* or terminals"):
        routing.build(graph, adaptive=False)


def test_what_needs_more_than_runs_or_takes_minutes_is_refused() -> None:
    graph = topology.grid([256, 256], 1)
    runs = routing.build(graph)
    with pytest.raises(RoutingError, match=r"65,536 switches by 65,536 destinations .* fewer"):
        routing.divide(graph, runs, 2, "destination")
    with pytest.raises(RoutingError, match=r"65536 switches and 65536 to send to are 4294967296 pairs"):
        routing.build(graph, order=[1, 0])


LINE = graph_of(3, [(0, 1), (1, 2)], [0, 1, 2])
WAYS = {
    ("a", "1"): "a>b#0",
    ("a", "2"): "a>b#0",
    ("b", "0"): "b>a#0",
    ("b", "2"): "b>c#1",
    ("c", "0"): "c>b#1",
    ("c", "1"): "c>b#1",
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({("b", "2"): "b>a#0"}, "packets for 2 run in a loop: a > b > a"),
        ({("b", "2"): "b>1#3"}, "packets for 2 arrive elsewhere: a > b > 1"),
        ({("b", "2"): None}, "packets for 2 come to a dead end: a > b"),
        ({("b", "2"): "b>c#1 b>a#0"}, "packets for 2 run in a loop: a > b > a"),
    ],
)
def test_loops_and_dead_ends_are_named(change: dict[tuple[str, str], str | None], message: str) -> None:
    table = by_hand(LINE, {key: way for key, way in (WAYS | change).items() if way})
    with pytest.raises(RoutingError) as caught:
        routing.verify(LINE, table)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: {"group_start": t.group_start[:-1]},
        lambda t: {"group_links": np.full_like(t.group_links, 99)},
        lambda t: {"rows": t.route[:2]},
        lambda t: {"rows": np.full_like(t.route, 2000)},
        lambda t: {"terminal_class": t.terminal_class + np.uint32(1)},
        lambda t: {"via_switch": np.array([7], np.uint32), "via_class": np.array([0], np.uint32)},
        lambda t: {"via_switch": np.array([1], np.uint32)},
    ],
)
def test_arrays_that_are_no_table_are_refused(spoil: Callable[[RouteTable], dict[str, Any]]) -> None:
    table = by_hand(LINE, WAYS)
    fields = {name: getattr(table, name) for name in table.__dataclass_fields__}
    wrong = RouteTable(**(fields | spoil(table)))
    for question in (routing.verify, routing.dependency_cycle, routing.channel_loads):
        with pytest.raises(RoutingError):
            question(LINE, wrong)


def test_own_table_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("switch,terminal,links\na,b,a>b#0\na,c,b\nb,a,b>a#0\nb,2,b>c#1\nc,0,b\n\nc,b,b\n")
    table = routing.build(LINE, "table", path=path)
    assert table.kind == "table"
    assert [LINE.link_names[link] for link in routing.path(LINE, table, 0, 2)] == [
        "0>a#2",
        "a>b#0",
        "b>c#1",
        "c>2#4",
    ]
    assert table.route[0, 1] == table.route[0, 2] != NONE


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("x,0,b", 'line 2: there is no switch "x"'),
        ("a,9,b", 'line 2: there is no terminal or switch "9"'),
        ("a,1,c", 'line 2: a has no link or neighbour "c"'),
        ("a,1,b>c#1", 'line 2: link "b>c#1" does not leave a'),
        ("a,1,", "line 2: no link is given"),
        ("a,1", "line 2: 2 values for 3 columns"),
        ("a,1,b\na,1,b", "line 3: this destination was given in line 2 already"),
        ("a,b,b", "packets for 0 come to a dead end: b"),
        ("a,b,b\nb,a,a\na,c,b\nb,c,a", "packets for 0 come to a dead end: c"),
    ],
)
def test_own_tables_that_are_wrong(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"switch,terminal,links\n{rows}\n")
    with pytest.raises(RoutingError) as caught:
        routing.build(LINE, "table", path=path)
    assert message in str(caught.value)
    path.write_text("from,to,links\n")
    with pytest.raises(RoutingError, match='unknown column "from"; columns are switch, terminal, links'):
        routing.build(LINE, "table", path=path)
