"""Groups of lanes, and what the dependency graph of lanes says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fabriloom import routing, topology
from fabriloom.compile import compile
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
