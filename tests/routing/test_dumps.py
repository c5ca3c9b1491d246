"""Tables as files for others, and back in: the same routes, lanes and network.

Terminals of a switch share a column of a large table: the same routes and runs as with the full one.

Loads of terminals that send to all others alike are those of all pairs, one by one.

Interval labels: what a C104 can express, and the explanation where it cannot.
"""

from __future__ import annotations

import itertools
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import command
from fabriloom import imports, routing, topology
from fabriloom.bounds import flows
from fabriloom.compile import LinkRoutes, networks
from fabriloom.compile import compile as compiled
from fabriloom.compile.links import Newest
from fabriloom.routing import NONE, IntervalLabels, RouteTable, RoutingError, dumps, native
from fabriloom.routing import lanes as by_lanes
from fabriloom.routing.even import ring_loads
from fabriloom.scenario import Scenario
from fabriloom.simulate import run
from fabriloom.topology import Graph

from .common import by_hand, graph_of

NETWORKS: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("dragonfly", {"switches_per_group": 4, "global_links": 2}, {"kind": "hops"}, 2),
    ("jellyfish", {"switches": 12, "degree": 3, "terminals_per_switch": 2}, {"kind": "minimal-layers"}, 3),
    ("torus", {"shape": [4, 4]}, {"kind": "dimension-order", "variant": "minimal"}, 4),
    ("clos", {"terminals": 8, "switch_ports": 4}, {"adaptive": False}, 1),
    ("kautz", {"degree": 2, "length": 3}, {"kind": "hops"}, 3),
]


def ways(graph: Graph, table: routing.RouteTable) -> list[list[int]]:
    """Return the lanes by which packets leave, per switch and terminal."""
    groups = (table.route[:, table.terminal_class] >> 1).ravel().tolist()
    return [sorted(table.group(group).tolist()) for group in groups]


@pytest.mark.parametrize(("kind", "parameters", "rule", "lanes"), NETWORKS)
def test_a_table_by_name_comes_back(
    kind: str, parameters: dict[str, Any], rule: dict[str, Any], lanes: int, tmp_path: Path
) -> None:
    graph = topology.build(kind, **parameters)
    choice = "dateline" if kind == "torus" else None
    table = routing.build(graph, **rule, lanes=lanes)
    file = tmp_path / "table.csv"
    file.write_text(dumps.by_name(graph, table, lanes, choice), encoding="utf-8")
    again = routing.divide(graph, routing.build(graph, "table", path=file, lanes=lanes), lanes)
    assert ways(graph, again) == ways(graph, routing.divide(graph, table, lanes, choice))
    assert routing.dependency_cycle(graph, again, lanes) is None


def test_a_random_switch_cannot_be_written() -> None:
    graph = topology.build("grid", shape=[3, 3])
    with pytest.raises(routing.RoutingError, match="random switch"):
        dumps.by_name(graph, routing.build(graph, "valiant", lanes=2), 2)


@pytest.mark.parametrize("kind", ["clos", "grid", "slim_fly"])
def test_a_subnet_comes_back(kind: str, tmp_path: Path) -> None:
    parameters = {"clos": {"terminals": 8, "switch_ports": 4}, "grid": {"shape": [3, 3]}}
    graph = topology.build(kind, **parameters.get(kind, {"order": 3}))
    table = routing.build(graph, adaptive=False)
    assert dumps.fits_forwarding(graph, table)
    for name, text in (("net.out", dumps.ibnetdiscover(graph)), ("lfts.out", dumps.lfts(graph, table))):
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = imports.read("ibnetdiscover", tmp_path / "net.out", tmp_path / "lfts.out")
    assert sorted(found.graph.switch_names) == sorted(graph.switch_names)
    assert sorted(found.graph.terminal_names) == sorted(graph.terminal_names)
    assert found.graph.links == graph.links
    named = {name: number for number, name in enumerate(graph.switch_names)}
    numbers = {name: number for number, name in enumerate(graph.terminal_names)}
    read = {(named[one], numbers[other]): links[0] for one, other, links in found.routes}
    count = 0
    for (switch, terminal), link in read.items():
        group = int(table.route[switch, table.terminal_class[terminal]]) >> 1
        target = graph.link_target[table.group(group)[0]]
        end = found.graph.link_target[found.graph.link_names.index(link)]
        assert found.graph.vertex_name(int(end)) == graph.vertex_name(int(target))
        count += 1
    between = graph.link_target[table.group_links[table.group_start[table.route >> 1]].astype(int)]
    assert count == int((between < graph.switches).sum())


def test_what_forwarding_tables_cannot_hold() -> None:
    ring = topology.ring(5)
    assert not dumps.fits_forwarding(ring, routing.build(ring, "minimal-layers", lanes=2, adaptive=False))
    grid = topology.grid([3, 3])
    assert not dumps.fits_forwarding(grid, routing.build(grid, "shortest-path"))
    kautz = topology.kautz(2, 3)
    assert not dumps.fits_forwarding(kautz, routing.build(kautz, "shortest-path", adaptive=False))


def test_the_command_writes_them(tmp_path: Path) -> None:
    lines = [
        "[topology]",
        'kind = "slim_fly"',
        "order = 3",
        "[technology]",
        'preset = "generic"',
        "lanes = 2",
    ]
    (tmp_path / "net.toml").write_text("\n".join([*lines, "[traffic]", "load = 0.1"]), encoding="utf-8")
    ask = ["export", str(tmp_path / "net.toml"), "--out", str(tmp_path / "out")]
    assert command(*ask).exit_code == 0
    assert not (tmp_path / "out" / "lfts.out").exists()
    text = (tmp_path / "out" / "table.csv").read_text(encoding="utf-8")
    assert text.startswith("switch,terminal,links\n")
    assert np.all([f"/{lane}" in text for lane in (0, 1)])
    more = ["--set", "technology.lanes=1", "--set", "routing.adaptive=false", "--force"]
    assert command(*ask, *more).exit_code == 0
    assert "Unicast lids" in (tmp_path / "out" / "lfts.out").read_text(encoding="utf-8")


TORUS = {"kind": "torus", "shape": [4, 5], "terminals_per_switch": 3}
DRAGONFLY = {"kind": "dragonfly", "switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}
CASES: list[tuple[dict[str, Any], int, dict[str, Any]]] = [
    (TORUS, 2, {"kind": "dimension-order", "variant": "minimal", "lane_choice": "dateline"}),
    (TORUS, 2, {"kind": "dimension-order", "variant": "minimal", "lane_choice": "wide-dateline"}),
    (TORUS, 2, {"kind": "dimension-order", "variant": "minimal", "lane_choice": "kept-dateline"}),
    (TORUS, 3, {"kind": "dimension-order", "variant": "minimal", "lane_choice": "escape"}),
    (TORUS, 2, {"kind": "shortest-path", "lane_choice": "destination"}),
    (TORUS, 4, {"kind": "valiant"}),
    (DRAGONFLY, 2, {"kind": "hops"}),
    (DRAGONFLY, 4, {"kind": "ugal"}),
    (DRAGONFLY, 2, {"kind": "minimal-layers"}),
    ({"kind": "fat_tree", "arity": 4, "levels": 3}, 1, {"kind": "up-down"}),
    ({"kind": "fat_tree", "arity": 4, "levels": 3}, 1, {"kind": "up-down", "universal": True}),
    ({"kind": "clos", "terminals": 32, "switch_ports": 8}, 1, {"kind": "up-star-down-star"}),
]


def scenario(topology: dict[str, Any], lanes: int, rule: dict[str, Any], **more: Any) -> Scenario:
    """Return a scenario of short packets."""
    return Scenario.from_dict(
        {
            "topology": topology,
            "technology": {"preset": "generic", "lanes": lanes, "input_buffer_flits": 32, **more},
            "routing": rule,
            "traffic": {"length": "16 B", "load": 0.4},
            "run": {"duration": "5 us"},
        }
    )


def compiled_above(one: Scenario, monkeypatch: pytest.MonkeyPatch, **limits: int) -> tuple[Any, LinkRoutes]:
    """The scenario and its routes, with other limits of the forms of tables."""
    for name, value in limits.items():
        monkeypatch.setattr(native, name, value)
    monkeypatch.setattr(networks, "_known", Newest(1))
    found = compiled(one)
    assert isinstance(found.routes, LinkRoutes)
    return found, found.routes


def same_groups(own: RouteTable, other: RouteTable) -> None:
    assert np.array_equal(own.route, other.route)
    assert np.array_equal(own.group_links, other.group_links)
    assert np.array_equal(own.group_start, other.group_start)


def same_answers(*cases: Any) -> None:
    """The cycle, the loads and all that a run gives."""
    own, *others = [
        (case.cycle, routing.channel_loads(case.graph, case.routes.table), run(case).native) for case in cases
    ]
    for cycle, loads, results in others:
        assert cycle == own[0]
        # Runs are added in another order.
        assert np.allclose(loads, own[1], rtol=1e-12)
        np.testing.assert_equal(results, own[2])


@pytest.mark.parametrize("more", [{}, {"switching": "virtual-cut-through", "lane_sharing": "packet"}])
@pytest.mark.parametrize(("topology", "lanes", "rule"), CASES)
def test_shared_columns_and_runs_of_them_change_nothing(
    topology: dict[str, Any],
    lanes: int,
    rule: dict[str, Any],
    more: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tables by lanes, entries, cycles, loads and all results are those of full tables."""
    one = scenario(topology, lanes, rule, **more)
    full, own = compiled_above(one, monkeypatch)
    columns, shared = compiled_above(one, monkeypatch, SHARED_ABOVE=0)
    assert own.table.shared is None
    assert shared.table.shared is not None
    assert shared.table.rows.size < own.table.rows.size
    for name in ("group_switch", "group_start", "group_links", "terminal_class", "via_class", "layer"):
        assert np.array_equal(getattr(own.table, name), getattr(shared.table.full(), name)), name
    same_groups(own.table.full(), shared.table.full())
    same_groups(own.lane_table, shared.lane_table)

    runs, other = compiled_above(one, monkeypatch, RUNS_ABOVE=0)
    assert (other.table.runs is None) == other.via
    assert np.array_equal(other.table.full().layer, shared.table.full().layer)
    for table, as_runs in ((shared.table, other.table), (shared.lane_table, other.lane_table)):
        same_groups(table, as_runs)
        switch, class_ = np.indices(table.route.shape)
        assert np.array_equal(as_runs.entries(switch.ravel(), class_.ravel()), table.route.ravel())
    bound = [flows.Network(case) for case in (columns, runs)]
    ends = list(itertools.product(range(columns.graph.switches), range(shared.lane_table.classes)))
    assert [bound[0]._entry(*one) for one in ends] == [bound[1]._entry(*one) for one in ends]
    same_answers(full, columns, runs)


def test_many_keys_are_numbered_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted keys have the places of marked ones."""
    keys = [np.array([7, 3, 3]), np.array([9, 0, 7])]
    few = by_lanes._numbered(keys, 10)
    monkeypatch.setattr(by_lanes, "_MOST_MARKED", 5)
    many = by_lanes._numbered(keys, 10)
    assert few[0].tolist() == many[0].tolist() == [0, 3, 7, 9]
    places = [[place(one).tolist() for one in keys] for _, place in (few, many)]
    assert places[0] == places[1] == [[2, 1, 1], [3, 0, 2]]


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
    ("cable", {}, {}),
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
