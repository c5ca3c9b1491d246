"""Groups of lanes, and what the dependency graph of lanes says.

Lanes by traffic class: whose packets take which lanes, and what is proved of them.

Bounds of the lanes that minimal paths need, against every choice of paths and lanes of small graphs.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import fabriloom
import networkx as nx
import numpy as np
import pytest
from fabriloom import routing, topology
from fabriloom.compile import LinkRoutes, compile
from fabriloom.routing import RoutingError, divide
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.simulate import compare
from fabriloom.topology import Graph


def links_of(graph: Graph, table: routing.RouteTable, switch: str, terminal: str, lanes: int) -> set[str]:
    """Names of the lanes by which packets for a terminal leave a switch, as ``link/lane``."""
    row, column = graph.switch_names.index(switch), graph.terminal_names.index(terminal)
    found = table.group(int(table.route[row, column]) >> 1)
    return {f"{graph.link_names[lane // lanes]}/{lane % lanes}" for lane in found.tolist()}


def test_with_one_lane_the_table_is_the_same() -> None:
    graph = topology.build("torus", shape=[4, 4])
    table = routing.build(graph)
    assert divide(graph, table, 1) is table


@pytest.mark.parametrize("shape", [[5], [4, 4], [3, 2, 5], [6, 3]])
@pytest.mark.parametrize("lanes", [2, 3, 4])
@pytest.mark.parametrize("choice", ["dateline", "wide-dateline", "kept-dateline"])
def test_a_dateline_opens_every_ring(shape: list[int], lanes: int, choice: str) -> None:
    graph = topology.build("torus", shape=shape)
    table = routing.build(graph, "dimension-order", variant="minimal")
    divided = divide(graph, table, lanes, choice)
    assert routing.dependency_cycle(graph, divided, lanes) is None
    assert divided.route.shape == table.route.shape
    if max(shape) > 3:
        free = divide(graph, table, lanes, "any")
        assert routing.dependency_cycle(graph, free, lanes) is not None


def test_lanes_change_at_the_dateline() -> None:
    graph = topology.build("ring", switches=6)
    table = routing.build(graph, "dimension-order", variant="minimal")
    lanes = divide(graph, table, 2, "dateline")
    # Upwards from 4 to 1 over the link that closes the ring, and downwards from 1 to 4.
    assert links_of(graph, lanes, "s(4)", "t(1).0", 2) == {"s(4)>s(5)/0"}
    assert links_of(graph, lanes, "s(5)", "t(1).0", 2) == {"s(5)>s(0)/0"}
    assert links_of(graph, lanes, "s(0)", "t(1).0", 2) == {"s(0)>s(1)/1"}
    assert links_of(graph, lanes, "s(0)", "t(4).0", 2) == {"s(0)>s(5)/0"}
    assert links_of(graph, lanes, "s(5)", "t(4).0", 2) == {"s(5)>s(4)/1"}
    assert links_of(graph, lanes, "s(1)", "t(3).0", 2) == {"s(1)>s(2)/1"}
    # A terminal's link has no ring.
    assert links_of(graph, lanes, "s(4)", "t(4).0", 2) == {"s(4)>t(4).0/0", "s(4)>t(4).0/1"}


@pytest.mark.parametrize(
    ("shape", "variant", "warned"),
    [([5, 5], None, True), ([5, 5], "minimal", False), ([3, 3], "minimal", True)],
)
def test_a_dateline_that_opens_no_ring_is_said(shape: list[int], variant: str | None, warned: bool) -> None:
    """It costs: by the usual routes of a torus no packet can wait for itself, with all lanes."""
    more = {} if variant is None else {"variant": variant}
    found = fabriloom.check(
        Scenario.from_dict(
            {
                "topology": {"kind": "torus", "shape": shape},
                "technology": {"preset": "generic", "lanes": 2},
                "routing": {"kind": "dimension-order", "lane_choice": "dateline", **more},
                "traffic": {"load": 0.1},
            }
        )
    )
    said = [one for one in found["warnings"] if "divides the lanes" in one]
    assert len(said) == warned
    assert not said or ("variant" in said[0]) == (variant is None)


def test_a_wide_dateline_gives_all_lanes_behind_it() -> None:
    graph = topology.build("ring", switches=8)
    table = routing.build(graph, "dimension-order", variant="minimal")
    lanes = divide(graph, table, 2, "wide-dateline")
    both, upper = {"s(1)>s(2)/0", "s(1)>s(2)/1"}, {"s(3)>s(4)/1"}
    assert links_of(graph, lanes, "s(1)", "t(3).0", 2) == both
    # No packet that crosses the dateline goes from 3 to 4: there all go on to the upper lane.
    assert links_of(graph, lanes, "s(3)", "t(5).0", 2) == upper
    assert links_of(graph, lanes, "s(4)", "t(6).0", 2) == {"s(4)>s(5)/1"}
    assert links_of(graph, lanes, "s(4)", "t(0).0", 2) in ({"s(4)>s(5)/0"}, {"s(4)>s(3)/0", "s(4)>s(3)/1"})
    assert links_of(graph, lanes, "s(6)", "t(1).0", 2) == {"s(6)>s(7)/0"}


@pytest.mark.parametrize("shape", [[7], [8, 5], [4, 2, 3]])
def test_a_kept_lane_is_that_where_the_ring_was_entered(shape: list[int]) -> None:
    """Followed from switch to switch: one lane through a whole ring, that of the dateline at its start."""
    graph = topology.build("torus", shape=shape)
    table = routing.build(graph, "dimension-order", variant="minimal")
    both = divide(graph, table, 2, "kept-dateline")
    half, entered = routing.halves(graph), divide(graph, table, 2, "dateline")
    places = graph.layout["coordinates"]
    for number in np.unique(half).tolist():
        kept = divide(graph, table, 2, "kept-dateline", number)
        for source in np.flatnonzero(half == number).tolist():
            for target in range(graph.terminals):
                at, before = int(graph.terminal_entry_switches[source]), -1
                lane = set[str]()
                while graph.terminal_exit_switches[target] != at:
                    entry = int(table.route[at, target]) >> 1
                    onward = int(graph.link_target[table.group(entry)[0]])
                    dimension = int(np.argmax(places[at] != places[onward]))
                    name, terminal = graph.switch_names[at], graph.terminal_names[target]
                    taken = links_of(graph, kept, name, terminal, 2)
                    lane = lane if dimension == before else links_of(graph, entered, name, terminal, 2)
                    assert {one[-2:] for one in taken} == {one[-2:] for one in lane}
                    assert taken <= links_of(graph, both, name, terminal, 2)
                    at, before = onward, dimension


def test_kept_lanes_in_a_run_and_in_the_twin() -> None:
    made = Scenario.from_dict(
        {
            "topology": {"kind": "torus", "shape": [5, 4]},
            "technology": {"preset": "generic", "lanes": 2},
            "routing": {"kind": "dimension-order", "variant": "minimal", "lane_choice": "kept-dateline"},
            "traffic": {"pattern": "uniform", "length": "64 B", "load": 0.6},
            "run": {"duration": "20 us", "precision": 0},
        }
    )
    assert compile(made).cycle is None
    found = compare(made, duration_ps=4 * 10**6)
    assert found.identical
    assert found.packets > 100


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"routing": {"traffic_class": [{"from": [0], "lanes": [1]}]}}, "not go with traffic classes"),
        ({"topology": {"replicate": 2}}, "not go with terminals of several ports"),
        ({"routing": {"universal": True}}, "not go with universal routing"),
        ({"topology": {"kind": "grid"}, "routing": {"variant": None}}, "this grid has none"),
    ],
)
def test_what_kept_lanes_do_not_go_with(more: dict[str, dict[str, object]], words: str) -> None:
    written = torus(lanes=4).resolve()
    written["routing"]["lane_choice"] = "kept-dateline"
    for section, settings in more.items():
        written[section] = {key: value for key, value in {**written[section], **settings}.items() if value}
    with pytest.raises(ScenarioError, match=words):
        compile(Scenario.from_dict(written))


def test_a_lane_by_destination() -> None:
    graph = topology.build("grid", shape=[3, 3], links_per_edge=2)
    table = divide(graph, routing.build(graph), 3, "destination")
    for terminal in range(9):
        entries = np.unique(table.route[:, terminal] >> 1)
        assert {lane % 3 for group in entries for lane in table.group(int(group)).tolist()} == {terminal % 3}


@pytest.mark.parametrize("choice", ["any", "destination"])
def test_a_cable_without_switches_has_lanes(choice: str) -> None:
    cable = topology.build("cable")
    table = routing.build(cable)
    assert divide(cable, table, 4, choice).groups == 0


def test_escape_lanes_keep_to_dimension_order() -> None:
    graph = topology.build("grid", shape=[3, 3])
    table = divide(graph, routing.build(graph), 3, "escape")
    found = links_of(graph, table, "s(0,0)", "t(1,1).0", 3)
    ways = {"s(0,0)>s(0,1)/1", "s(0,0)>s(0,1)/2", "s(0,0)>s(1,0)/1", "s(0,0)>s(1,0)/2"}
    assert found == ways | {"s(0,0)>s(1,0)/0"}
    torus = topology.build("torus", shape=[4, 4])
    shorter = routing.build(torus, "dimension-order", variant="minimal")
    assert routing.dependency_cycle(torus, divide(torus, shorter, 3, "escape"), 3) is not None


@pytest.mark.parametrize(("choice", "free"), [("escape", False), ("destination", True)])
def test_a_wire_that_is_held_keeps_the_escape_lane_from_moving(choice: str, free: bool) -> None:
    """A run of this network with faults came to a deadlock that had been excluded."""
    one = Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [4, 4]},
            "technology": {"preset": "generic", "lanes": 3, "lane_sharing": "packet"},
            "routing": {"kind": "dimension-order", "lane_choice": choice},
            "traffic": {"length": "64 B", "load": 0.3},
        }
    )
    assert compile(one).deadlock.free is free


@pytest.mark.parametrize(
    ("family", "choice", "lanes", "words"),
    [
        ("grid", "dateline", 2, "this grid has none"),
        ("torus", "dateline", 1, "two lanes, not one"),
        ("torus", "escape", 2, "takes at least 3 lanes"),
        ("grid", "escape", 1, "takes at least 2 lanes"),
        ("grid", "sometimes", 2, "no lane choice"),
    ],
)
def test_what_cannot_be(family: str, choice: str, lanes: int, words: str) -> None:
    graph = topology.build(family, shape=[4, 4])
    with pytest.raises(RoutingError, match=words) as caught:
        divide(graph, routing.build(graph), lanes, choice)
    assert caught.value.parameter == "lane_choice"


def torus(**technology: object) -> Scenario:
    """A torus of shortest ways with a dateline."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "torus", "shape": [4, 4]},
            "technology": {"preset": "generic", "lanes": 2, **technology},
            "routing": {"kind": "dimension-order", "variant": "minimal", "lane_choice": "dateline"},
        }
    )


def test_a_packet_that_keeps_its_wire_closes_the_circle_again() -> None:
    assert compile(torus()).cycle is None
    held = compile(torus(lane_sharing="packet"))
    assert held.cycle
    assert "lane 0" in held.warnings[0]
    whole = torus(lane_sharing="packet", switching="virtual-cut-through", input_buffer_flits=16)
    assert compile(whole).cycle is None


def test_a_table_of_ones_own_may_name_lanes(tmp_path: Path) -> None:
    graph = topology.build("crossbar", terminals=2)
    here = graph.switch_names[0]
    rows = [f"{here},{name},{here}>{name}/{lane}" for lane, name in enumerate(graph.terminal_names)]
    file = tmp_path / "ways.csv"
    file.write_text("switch,terminal,links\n" + "\n".join(rows) + "\n")
    table = routing.build(graph, "table", path=str(file), lanes=2)
    lanes = divide(graph, table, 2)
    for lane, name in enumerate(graph.terminal_names):
        assert links_of(graph, lanes, here, name, 2) == {f"{here}>{name}/{lane}"}
    with pytest.raises(RoutingError, match="there is no lane 1; links have lane 0 alone"):
        routing.build(graph, "table", path=str(file))


def scenario(classes: list[dict[str, Any]] | None, **more: Any) -> Scenario:
    """Three switches in a row; two terminals send long packets to a third, and one beside them short ones."""
    bulk = [
        {"source": f"t({at}).0", "target": "t(2).0", "length": "512 B", "rate": "30 Gbit/s"} for at in (0, 1)
    ]
    control = {"source": "t(0).1", "target": "t(2).1", "length": "64 B", "rate": "800 Mbit/s"}
    written: dict[str, Any] = {
        "topology": {"kind": "grid", "shape": [3], "terminals_per_switch": 2},
        "technology": {"preset": "generic", "lanes": 2},
        "traffic": {"pattern": {"kind": "flows", "flows": [*bulk, control]}, "arrivals": "poisson"},
        "run": {"duration": "60 us", "warmup": "5 us", "precision": 0},
        "output": {"flows": True},
    }
    if classes is not None:
        written["routing"] = {"traffic_class": classes}
    for section, settings in more.items():
        written[section] = {**written.get(section, {}), **settings}
    return Scenario.from_dict(written)


CONTROL: list[dict[str, Any]] = [{"from": ["t(0).1"], "lanes": [1]}]


def longest_ns(made: Scenario) -> float:
    """The longest time of a control packet."""
    flows = fabriloom.run(made).flows
    return max(flows.filter(flows["target"] == "t(2).1")["latency_ns_max"].to_list())


def test_a_class_does_not_wait_behind_another() -> None:
    # On a lane of its own a control packet shares the wire flit by flit, and waits for nothing else.
    apart, together = longest_ns(scenario(CONTROL)), longest_ns(scenario(None))
    assert together > 2 * apart


def test_the_twin_agrees() -> None:
    found = compare(scenario(CONTROL), duration_ps=5 * 10**6)
    assert found.identical
    assert found.packets > 50


def test_a_class_can_be_of_what_is_sent_to_a_terminal() -> None:
    """Both ways between two terminals on a lane of their own: classes with the same lanes share them."""
    there = [{"from": ["t(0).1"], "to": ["t(2).1"], "lanes": [1]}]
    assert longest_ns(scenario(there)) == longest_ns(scenario(CONTROL))
    back = {"from": ["t(2).1"], "to": ["t(0).1"], "lanes": [1]}
    reply = {"source": "t(2).1", "target": "t(0).1", "length": "64 B", "rate": "800 Mbit/s"}
    flows = [*scenario(None).resolve()["traffic"]["pattern"]["flows"], reply]
    pattern = {"pattern": {"kind": "flows", "flows": flows}}
    found = compare(scenario([*there, back], traffic=pattern), duration_ps=5 * 10**6)
    assert found.identical
    routes = compile(scenario([*there, back], traffic=pattern)).routes
    assert isinstance(routes, LinkRoutes)
    assert (routes.classes.lanes, routes.classes.lanes_of) == ([[1], [0]], [0, 0, 1])


def test_those_who_send_nothing_need_no_lane() -> None:
    classes = [*CONTROL, {"from": ["t(0).0", "t(1).0"], "lanes": [0]}]
    found = compare(scenario(classes), duration_ps=5 * 10**6)
    assert found.identical
    assert longest_ns(scenario(classes)) == longest_ns(scenario(CONTROL))
    one_less = [*CONTROL, {"from": ["t(0).0"], "lanes": [0]}]
    with pytest.raises(ScenarioError, match=r"no lane is left .* from t\(1\).0 to t\(2\).0"):
        compile(scenario(one_less))
    with pytest.raises(ScenarioError, match="no lane is left"):
        compile(scenario(classes, traffic={"pattern": "uniform", "load": 0.1}))


def test_each_class_has_lanes_of_its_own() -> None:
    routes = compile(
        scenario([{"from": [0], "lanes": [2]}, {"from": [1, 2], "lanes": [0, 3]}], technology={"lanes": 4})
    ).routes
    assert isinstance(routes, LinkRoutes)
    assert routes.classes.lanes == [[2], [0, 3], [1]]
    everyone = np.arange(6)
    assert routes.classes.of(everyone, everyone[::-1]).tolist() == [0, 1, 1, 2, 2, 2]
    assert routes.classes.lanes_of == [0, 1, 2]
    table, one = routes.lane_table, routes.table
    assert table.classes == 3 * one.classes
    for place, own in enumerate(routes.classes.lanes):
        for switch in range(3):
            for terminal in range(6):
                entry = int(table.route[switch, place * one.classes + int(one.terminal_class[terminal])])
                links = one.group(int(one.route[switch, one.terminal_class[terminal]]) >> 1)
                assert set(table.group(entry >> 1)) == {
                    4 * link + lane for link in links.tolist() for lane in own
                }


@pytest.mark.parametrize("choice", ["any", "dateline"])
def test_every_class_is_examined_for_deadlock(choice: str) -> None:
    """A dateline for each class opens the ring; without one, lanes of the first class are named."""
    written: dict[str, Any] = {
        "topology": {"kind": "ring", "switches": 6},
        "technology": {"preset": "generic", "lanes": 4},
        "routing": {
            "kind": "dimension-order",
            "variant": "minimal",
            "lane_choice": choice,
            "traffic_class": [{"from": [0, 2, 4], "lanes": [1, 3]}],
        },
    }
    routes = compile(Scenario.from_dict(written)).routes
    assert isinstance(routes, LinkRoutes)
    found = routes.lane_cycle
    if choice == "dateline":
        assert found is None
    else:
        assert found is not None
        assert {lane % 4 for lane in found} <= {1, 3}


def test_without_any_the_table_is_the_same() -> None:
    graph = topology.build("grid", shape=[3, 3])
    table = routing.divide(graph, routing.build(graph), 2)
    assert routing.by_class([table]) is table
    assert np.array_equal(routing.on_lanes(table, [0, 1], 2).group_links, table.group_links)
    assert "traffic_class" not in scenario(None).resolve()["routing"]


def test_a_dateline_needs_two_lanes_of_each_class() -> None:
    with pytest.raises(ScenarioError, match="the traffic class of lane 1: a dateline needs two lanes"):
        compile(
            scenario(
                CONTROL,
                topology={"kind": "torus", "shape": [4], "terminals_per_switch": 2},
                technology={"lanes": 3},
                routing={"kind": "dimension-order", "variant": "minimal", "lane_choice": "dateline"},
            )
        )


def drawn(seed: int, switches: int = 5) -> Graph:
    for more in range(100):
        network = nx.gnm_random_graph(switches, switches + seed % 3, seed=100 * seed + more)
        if nx.is_connected(network):
            return topology.from_networkx(network, terminals_per_switch=1)
    raise AssertionError("no connected graph was drawn")


def fits(graph: Graph, lanes: int, thin: bool) -> bool:
    """Whether some choice has no cycle: every destination by itself, then all combinations of them."""
    network = nx.DiGraph()
    for link in graph.switch_links:
        network.add_edge(int(graph.link_source[link]), int(graph.link_target[link]))
    per_destination = [choices(network, to, lanes, thin) for to in network]
    return any(
        nx.is_directed_acyclic_graph(nx.DiGraph([arc for arcs in combined for arc in arcs]))
        for combined in product(*per_destination)
    )


def choices(network: Any, to: int, lanes: int, thin: bool) -> list[frozenset[Any]]:
    """Return the dependencies of every choice for a destination, but for supersets."""
    far = nx.single_source_shortest_path_length(network.reverse(), to)
    others = [switch for switch in network if switch != to]
    nearer = {one: [n for n in network.successors(one) if far[n] == far[one] - 1] for one in others}
    ways = [[[n] for n in nearer[one]] if thin else [nearer[one]] for one in others]
    found = set()
    for taken in product(*ways):
        following = dict(zip(others, taken, strict=True))
        for given in product(range(lanes), repeat=len(others)):
            lane = dict(zip(others, given, strict=True))
            if any(n != to and lane[n] < lane[one] for one in others for n in following[one]):
                continue
            found.add(
                frozenset(
                    ((lane[one], one, n), (lane[n], n, after))
                    for one in others
                    for n in following[one]
                    if n != to and lane[n] == lane[one]
                    for after in following[n]
                )
            )
    return [one for one in found if not any(other < one for other in found)]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("thin", [False, True])
def test_small_graphs_are_exact(seed: int, thin: bool) -> None:
    graph = drawn(seed)
    low, high = routing.lanes_needed(graph, thin)
    assert low == high
    assert fits(graph, low, thin)
    assert low == 1 or not fits(graph, low - 1, thin)


@pytest.mark.parametrize(
    ("kind", "parameters", "every", "one"),
    [
        ("ring", {"switches": 3}, (1, 1), (1, 1)),
        ("ring", {"switches": 4}, (2, 2), (1, 1)),
        ("ring", {"switches": 5}, (2, 2), (2, 2)),
        ("grid", {"shape": [3, 3]}, (2, 2), (1, 1)),
        ("torus", {"shape": [3, 3]}, (2, 2), (1, 1)),
        ("polarfly", {"order": 3}, (2, 2), (2, 2)),
        ("slim_fly", {"order": 5}, (2, 2), (2, 2)),
        ("hyperx", {"shape": [3, 3]}, (2, 2), (1, 1)),
        ("dragonfly", {"switches_per_group": 4, "global_links": 2}, (2, 2), (2, 2)),
        ("kautz", {"degree": 2, "length": 3}, (2, 2), (2, 2)),
    ],
)
def test_of_families(
    kind: str, parameters: dict[str, Any], every: tuple[int, int], one: tuple[int, int]
) -> None:
    """Dimension order needs one lane, rings of five need a dateline, single paths of two links two lanes."""
    graph = topology.build(kind, **parameters)
    assert routing.lanes_needed(graph, thin=False) == every
    assert routing.lanes_needed(graph, thin=True) == one


def test_bounds_hold_what_the_rule_takes() -> None:
    for seed in range(12):
        drawn_ = nx.random_regular_graph(3 + seed % 3, 12 + 2 * (seed % 5), seed=seed)
        graph = topology.from_networkx(drawn_, terminals_per_switch=1 + seed % 2)
        for thin in (False, True):
            low, high = routing.lanes_needed(graph, thin)
            assert 1 <= low <= high <= routing.layers_needed(graph, thin)
        assert routing.lanes_needed(graph, True)[0] <= routing.lanes_needed(graph, False)[1]


def test_a_network_without_switches_needs_one_lane() -> None:
    assert routing.lanes_needed(topology.crossbar(4), thin=True) == (1, 1)
