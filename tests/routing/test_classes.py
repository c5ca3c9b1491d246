"""Lanes by traffic class: whose packets take which lanes, and what is proved of them."""

from __future__ import annotations

from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import routing, topology
from fabriloom.compile import LinkRoutes, compile
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.simulate import compare


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
