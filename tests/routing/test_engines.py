"""Routings by name on any graph: a lane per hop, a random switch; all are proved, and none hangs.

Packets that go straight or over a random switch, by the queues at the source's switch.

Routing that cannot be built or does not work: one message with the parameter at fault.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from fabriloom import load, routing, run, topology
from fabriloom.cli import check_certificate
from fabriloom.compile import compile
from fabriloom.routing import NONE, OWN, RouteTable, RoutingError
from fabriloom.routing.check import certificate
from fabriloom.scenario import Scenario
from fabriloom.scenario.errors import ScenarioError
from fabriloom.studies import route_choices
from fabriloom.topology import Graph, measure

from .common import by_hand, graph_of

DRAGONFLY = {"switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}
NETWORKS: list[tuple[str, dict[str, Any]]] = [
    ("dragonfly", DRAGONFLY),
    ("dragonfly", {**DRAGONFLY, "arrangement": "circulant", "groups": 5}),
    ("dragonfly_plus", {"leaves": 2, "spines": 3, "terminals_per_switch": 2}),
    ("slim_fly", {"order": 4, "terminals_per_switch": 1}),
    ("polarfly", {"order": 4}),
    ("hyperx", {"shape": [3, 4]}),
    ("hammingmesh", {"board": [2, 2], "boards": [2, 2]}),
    ("twisted_torus", {"shape": [3, 6], "twist": [3]}),
    ("torus", {"shape": [4, 4]}),
]


def random_graph(seed: int) -> Graph:
    drawn = nx.random_regular_graph(3 + seed % 4, 12 + 2 * (seed % 9), seed=seed)
    return topology.from_networkx(drawn, terminals_per_switch=1)


def proved(graph: Graph, table: routing.RouteTable, lanes: int) -> None:
    """Assert that all packets arrive and that the certificate holds."""
    routing.verify(graph, table)
    divided = routing.divide(graph, table, lanes)
    assert routing.dependency_cycle(graph, divided, lanes) is None
    proof = certificate(graph, divided, lanes)
    assert proof is not None
    assert check_certificate.fault(proof) is None


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["hops", "valiant", "ugal"])
def test_random_graphs_are_proved(kind: str, seed: int) -> None:
    graph = random_graph(seed)
    lanes = 12 if kind == "hops" else 2 + seed
    proved(graph, routing.build(graph, kind, adaptive=seed % 3 > 0, lanes=lanes), lanes)


@pytest.mark.parametrize(("kind", "parameters"), NETWORKS)
@pytest.mark.parametrize("engine", ["hops", "valiant", "ugal"])
def test_families_are_proved(engine: str, kind: str, parameters: dict[str, Any]) -> None:
    graph = topology.build(kind, **parameters)
    proved(graph, routing.build(graph, engine, lanes=8), 8)


def test_hops_takes_as_many_lanes_as_the_longest_path_has_links() -> None:
    for seed in range(6):
        graph = random_graph(seed)
        longest = measure.distances(graph).diameter_switches - 1
        routing.build(graph, "hops", lanes=longest)
        with pytest.raises(routing.RoutingError, match=f"takes {longest} lanes, one for each hop, and there"):
            routing.build(graph, "hops", lanes=longest - 1)


def test_a_dragonfly_crosses_one_global_link_with_two_lanes() -> None:
    """Kim et al., ISCA 2008, section 4: minimal routing takes one global link, and two virtual channels."""
    graph = topology.build("dragonfly", switches_per_group=4, global_links=2)
    table = routing.build(graph, "hops", lanes=2)
    assert table.note == "minimal paths, a lane per global link, in 2 layers of lanes"
    group = graph.layout["groups"]
    for source in range(graph.terminals):
        for target in range(graph.terminals):
            if source == target:
                continue
            ends = [
                (graph.link_source[link], graph.link_target[link])
                for link in _way(graph, table, source, target)
            ]
            crossed = [group[a] != group[b] for a, b in ends]
            assert sum(crossed) == (group[source] != group[target])
            assert len(crossed) <= 3
    with pytest.raises(
        routing.RoutingError, match="takes 2 lanes, one more than global links, and there is one"
    ):
        routing.build(graph, "hops", lanes=1)


def _way(graph: Graph, table: routing.RouteTable, source: int, target: int) -> list[int]:
    return routing.path(graph, table, source, target)[1:-1]


def test_loads_of_a_dragonfly_are_those_of_its_paper() -> None:
    """With a = 2 p = 2 h and packets to the next group, minimal routing fills the only cable between two
    groups at 1 / (a h) of a link per terminal, Valiant's all cables at about one half.
    """
    graph = topology.build("dragonfly", switches_per_group=8, global_links=4, terminals_per_switch=4)
    number = np.arange(graph.terminals)
    weights = number, (number + 32) % graph.terminals, np.ones(graph.terminals)
    minimal = routing.build(graph, "hops", lanes=2)
    assert 1 / routing.channel_loads(graph, minimal, weights).max() == pytest.approx(1 / 32)
    assert 1 / routing.channel_loads(graph, minimal).max() == pytest.approx(1.0, abs=0.04)
    valiant = routing.build(graph, "valiant", lanes=4)
    assert 1 / routing.channel_loads(graph, valiant, weights).max() == pytest.approx(0.5, abs=0.04)


def test_auto_crosses_one_global_link_where_layers_do_not_suffice() -> None:
    graph = topology.build("dragonfly", switches_per_group=8, global_links=4, terminals_per_switch=4)
    assert routing.layers_needed(graph, thin=False) > 2
    assert routing.build(graph, lanes=2).kind == "hops"
    assert routing.build(graph, lanes=1).kind == "up-star-down-star"


@pytest.mark.parametrize(
    ("kind", "parameters", "lanes", "load"),
    [
        ("hypercube", {"dimensions": 6}, 2, 1.0),
        ("hypercube", {"dimensions": 4, "terminals_per_switch": 2}, 4, 0.5),
        ("torus", {"shape": [8, 8]}, 4, 0.5),
        ("torus", {"shape": [4, 4, 4]}, 4, 1.0),
        ("grid", {"shape": [8, 8]}, 2, 0.25),
        ("ring", {"switches": 8}, 4, 0.5),
    ],
)
def test_over_a_random_switch_half_of_uniform_traffic_is_carried(
    kind: str, parameters: dict[str, Any], lanes: int, load: float
) -> None:
    """Valiant 1982: each part of the way has the loads of uniform traffic, 8 / k of a link in a torus."""
    graph = topology.build(kind, **parameters)
    for engine in ("valiant", "ugal"):
        table = routing.build(graph, engine, lanes=lanes)
        proved(graph, table, lanes)
    around = routing.build(graph, "valiant", lanes=lanes)
    assert 1 / routing.channel_loads(graph, around).max() == pytest.approx(load, rel=0.05)


def test_auto_takes_the_shorter_way_around_a_torus_where_there_are_four_lanes() -> None:
    for kind, parameters in (("torus", {"shape": [6, 5]}), ("ring", {"switches": 9})):
        graph = topology.build(kind, terminals_per_switch=2, **parameters)
        without, table = routing.build(graph, lanes=3), routing.build(graph, lanes=4)
        assert without.layer is None
        assert table.note == "dimension-order with a dateline in each ring in 2 layers of lanes"
        proved(graph, table, 4)
        shortest = routing.build(graph, "shortest-path")
        assert routing.mean_hops(graph, table) == pytest.approx(routing.mean_hops(graph, shortest))
        busiest = [routing.channel_loads(graph, one).max() for one in (without, table)]
        assert busiest[0] > 1.25 * busiest[1]


def test_auto_takes_layers_also_where_some_minimal_paths_are_left_out() -> None:
    graph = topology.build("jellyfish", switches=64, degree=4)
    assert routing.layers_needed(graph, thin=False) > 2
    table, above = routing.build(graph, lanes=2), routing.build(graph, "up-star-down-star")
    assert table.kind == "minimal-layers"
    proved(graph, table, 2)
    assert routing.channel_loads(graph, table).max() < 0.8 * routing.channel_loads(graph, above).max()


def test_large_tori_have_the_same_datelines() -> None:
    """Tables in runs, and with shared columns, say the same as one with an entry for each terminal."""
    graph = topology.build("torus", shape=[48, 48], terminals_per_switch=2)
    small = topology.build("torus", shape=[48, 48])
    runs, table = routing.build(graph, lanes=4), routing.build(small, adaptive=False, lanes=4)
    assert runs.runs is not None
    assert table.runs is None
    column = runs.by_column()
    assert column.layer is not None
    assert table.layer is not None
    assert np.array_equal(column.layer[column.rows < OWN], table.layer[column.rows < OWN])


def test_valiant_goes_up_to_any_switch_of_the_top() -> None:
    tree = topology.fat_tree(2, 3)
    table = routing.build(tree, "valiant")
    assert table.kind == "valiant"
    assert len(table.via_switch) == 4
    proved(tree, table, 1)


def test_a_certificate_covers_the_way_to_a_random_switch() -> None:
    """Both halves of the path on the same lanes close a cycle: the checker must see it."""
    graph = topology.build("grid", shape=[3, 3])
    table = routing.build(graph, universal=True)
    assert routing.dependency_cycle(graph, table) is not None
    plain = certificate(graph, routing.build(graph))
    assert plain is not None
    far = certificate(graph, routing.build(graph, "valiant", lanes=2), 1) or {}
    assert not far or check_certificate.fault(far)
    divided = routing.divide(graph, routing.build(graph, "valiant", lanes=2), 2)
    proof = certificate(graph, divided, 2)
    assert proof is not None
    assert check_certificate.fault(proof) is None
    # The order without the lanes of the second half: what is waited for after the random switch is missing.
    proof["order"] = [[link, lane] for link, lane in proof["order"] if lane == 0]
    assert "may be waited for" in str(check_certificate.fault(proof))


def test_turns_are_free_of_conflicts_in_a_fat_tree_for_every_shift() -> None:
    """E. Zahavi, 2010: with d-mod-k, every permutation by a shift loads no link of a full tree twice."""
    tree = topology.fat_tree(4, 3)
    table, number = routing.build(tree, adaptive=False, spread="turns"), np.arange(tree.terminals)
    for shift in range(1, tree.terminals):
        weights = number, (number + shift) % tree.terminals, np.ones(tree.terminals)
        assert routing.channel_loads(tree, table, weights).max() == 1


REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("grid", {"shape": [3, 3]}, {"kind": "hops", "count": "global-links", "lanes": 4}, "count", "no groups"),
    ("grid", {"shape": [3, 3]}, {"kind": "hops", "count": "all", "lanes": 4}, "count", "must be links or"),
    ("grid", {"shape": [3, 3]}, {"kind": "hops"}, "kind", r"takes 4 lanes, .* and there is one$"),
    ("grid", {"shape": [3, 3]}, {"kind": "valiant"}, "kind", r"a lane each, and there is one$"),
    ("crossbar", {"terminals": 4}, {"kind": "valiant"}, "kind", "there is only one"),
    ("kautz", {"degree": 2, "length": 3}, {"kind": "valiant", "lanes": 4}, "universal", "two-way cables"),
]


@pytest.mark.parametrize(("kind", "parameters", "engine", "at_fault", "message"), REFUSED)
def test_what_an_engine_refuses(
    kind: str, parameters: dict[str, Any], engine: dict[str, Any], at_fault: str, message: str
) -> None:
    graph = topology.build(kind, **parameters)
    with pytest.raises(routing.RoutingError, match=message) as caught:
        routing.build(graph, **engine)
    assert caught.value.parameter == at_fault


OVERLOAD = """
[topology]
{topology}
[technology]
preset = "generic"
lanes = {lanes}
input_buffer_flits = 4
[routing]
{routing}
[traffic]
pattern = "uniform"
length = "64 B"
load = 1.0
[run]
warmup = "0 us"
duration = "20 us"
"""


@pytest.mark.parametrize("seed", range(24))
def test_what_is_proved_never_hangs_at_overload(seed: int, tmp_path: Path) -> None:
    """Small buffers and full load, by routings drawn with any number of lanes; what hangs was not proved."""
    dice = np.random.default_rng(seed)
    kinds = ["shortest-path", "minimal-layers", "hops", "valiant"]
    kind, lanes = kinds[int(dice.integers(4))], int(dice.integers(1, 7))
    degree, switches = int(dice.integers(2, 5)), int(dice.integers(6, 13))
    lines = {
        "topology": f'kind = "jellyfish"\nswitches = {switches}\ndegree = {degree}\ngraph_seed = {seed}',
        "routing": f'kind = "{kind}"\nadaptive = {str(bool(dice.integers(2))).lower()}',
        "lanes": lanes,
    }
    file = tmp_path / "net.toml"
    file.write_text(OVERLOAD.format(**lines), encoding="utf-8")
    try:
        compiled = compile(load(file))
    except ScenarioError as error:
        if "lanes" in str(error):
            pytest.skip("more lanes are needed than were drawn")
        raise
    parts = route_choices.proofs(compiled)
    assert (parts is None) == (compiled.routes.cycle is not None)
    results = run(load(file))
    if parts is not None:
        assert results.summary["end"]["reason"] != "deadlocked"


def test_some_that_are_not_proved_do_hang(tmp_path: Path) -> None:
    """Otherwise the test above would prove nothing."""
    lines = {"topology": 'kind = "ring"\nswitches = 8', "routing": 'kind = "shortest-path"', "lanes": 1}
    file = tmp_path / "net.toml"
    file.write_text(OVERLOAD.format(**lines), encoding="utf-8")
    assert run(load(file)).summary["end"]["reason"] == "deadlocked"


UGAL_DRAGONFLY = {"kind": "dragonfly", "switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}
NEXT = {"kind": "shift", "by": 8}


def scenario(kind: str, load: float, pattern: Any = "uniform", **technology: Any) -> Scenario:
    cut_through = {"switching": "virtual-cut-through", "lane_sharing": "packet", "input_queues": "per-output"}
    buffers = {"input_buffer_flits": 64, "output_buffer_flits": 32, "crossbar": "fast"}
    sections = {
        "topology": UGAL_DRAGONFLY,
        "technology": {"preset": "generic", "lanes": 8, **cut_through, **buffers, **technology},
        "routing": {"kind": kind},
        "traffic": {"length": "64 B", "load": load, "pattern": pattern},
        "run": {"duration": "2 us", "warmup": "1 us", "precision": 0.0},
    }
    return Scenario.from_dict({"name": "ugal", "seed": 1, **sections})


def accepted(kind: str, load: float, pattern: Any) -> float:
    return float(run(scenario(kind, load, pattern)).summary["accepted_mbytes_per_s"])


def test_uniform_traffic_takes_what_minimal_paths_carry_and_the_worst_what_random_ones_do() -> None:
    uniform = {kind: accepted(kind, 0.9, "uniform") for kind in ("hops", "valiant", "ugal")}
    assert uniform["ugal"] > 0.85 * uniform["hops"] > 1.3 * uniform["valiant"]
    worst = {kind: accepted(kind, 0.55, NEXT) for kind in ("hops", "valiant", "ugal")}
    assert worst["ugal"] > 0.85 * worst["valiant"] > 2.5 * worst["hops"]


def test_with_short_queues_packets_go_straight() -> None:
    """At a low load queues are empty: packets take as many links as on minimal paths."""
    hops, ugal = (run(scenario(kind, 0.02)).summary["latency_ns"]["mean"] for kind in ("hops", "ugal"))
    assert ugal == pytest.approx(hops, rel=0.02)
    far = run(scenario("valiant", 0.02)).summary["latency_ns"]["mean"]
    assert far > 1.3 * ugal


def test_a_threshold_above_all_queues_keeps_packets_straight() -> None:
    always = scenario("ugal", 0.5, NEXT).with_settings({"routing.threshold": 2**31 - 1})
    assert run(always).summary["accepted_mbytes_per_s"] < 1.1 * accepted("hops", 0.5, NEXT)


def test_the_best_share_of_both_ways_is_what_channels_allow() -> None:
    graph = topology.build("dragonfly", switches_per_group=4, global_links=2, terminals_per_switch=2)
    table = routing.build(graph, "ugal", lanes=4)
    assert 1 / routing.channel_loads(graph, table).max() == pytest.approx(1.0, abs=0.01)
    number = np.arange(graph.terminals)
    weights = number, (number + 8) % graph.terminals, np.ones(graph.terminals)
    most = {
        kind: 1 / routing.channel_loads(graph, routing.build(graph, kind, lanes=4), weights).max()
        for kind in ("hops", "valiant", "ugal")
    }
    assert most["ugal"] >= most["valiant"] - 1e-9 > 4 * most["hops"] - 1e-9


@pytest.mark.parametrize(
    ("settings", "place", "message"),
    [
        ({"technology.pause_above_flits": 40}, "routing.kind", "counts queues by credit"),
        ({"technology.drop_when_full": True}, "routing.kind", "counts queues by credit"),
        ({"topology": {"kind": "clos", "terminals": 16, "switch_ports": 8}}, "routing.kind", "all ways up"),
        ({"technology.lanes": 2}, "routing.kind", "takes 4 lanes"),
        ({"routing.threshold": -1}, "routing.threshold", "at least 0"),
    ],
)
def test_what_does_not_go_with_it_is_refused(settings: dict[str, Any], place: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message) as error:
        compile(scenario("ugal", 0.1).with_settings(settings))
    assert ".".join(map(str, error.value.path or ())) == place


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
