"""Tables that lead around what has failed, and runs in which they replace the first ones."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import Results, Scenario, routing, run, topology
from fabriloom.compile import LinkRoutes, compile
from fabriloom.topology import Graph
from hypothesis import given, settings
from hypothesis import strategies as st

US = 10**6
MESH = {"kind": "grid", "shape": [3, 3], "terminals_per_switch": 1}
FLOW = {"source": "t(1,0).0", "target": "t(1,2).0", "rate": "60 Mbit/s"}
CUT = {"cable": "s(1,0)>s(1,1)", "at": "1 ms", "repaired": "3 ms"}


def replaced(delay: str = "300 us", fault: dict[str, Any] = CUT, **after: Any) -> Results:
    return run(
        Scenario.from_dict(
            {
                "topology": MESH,
                "technology": {"preset": "spacewire-200"},
                "routing": {"after_fault": {"delay": delay, **after}},
                "traffic": {
                    "pattern": {"kind": "flows", "flows": [FLOW]},
                    "length": "200 B",
                    "arrivals": "constant",
                },
                "fault": [fault],
                "run": {"duration": "5 ms"},
            }
        )
    )


def dead_of(graph: Graph, names: list[str]) -> np.ndarray:
    return np.isin(graph.link_names, names)


def test_what_has_failed_is_not_used() -> None:
    graph = topology.build(**MESH)
    dead = dead_of(graph, ["s(1,0)>s(1,1)"])
    table = routing.around(graph, dead)
    names = np.array(graph.link_names)
    # Of a cable that fails one way the other way is not used either.
    assert not {"s(1,0)>s(1,1)", "s(1,1)>s(1,0)"} & set(names[table.group_links])
    routing.verify(graph, table)
    assert routing.dependency_cycle(graph, table) is None


@settings(max_examples=40)
@given(data=st.data())
def test_whatever_fails_all_that_is_reached_is_led_there(data: st.DataObject) -> None:
    """On networks in parts, too: a breadth-first search says which switches are reached."""
    graph = topology.build(kind="torus", shape=[3, 3], terminals_per_switch=1)
    between = graph.switch_links.tolist()
    dead = np.zeros(graph.links, bool)
    dead[data.draw(st.lists(st.sampled_from(between), max_size=30))] = True
    table = routing.around(graph, dead, data.draw(st.sampled_from(routing.AROUND[::2])))
    left = np.zeros((graph.switches, graph.switches), bool)
    lost = dead | dead[graph.link_reverse]
    alive = np.array([link for link in between if not lost[link]], np.int64)
    left[graph.link_source[alive], graph.link_target[alive]] = True
    for _ in range(graph.switches):
        left |= np.eye(graph.switches, dtype=bool) | (left.astype(int) @ left.astype(int) > 0)
    home = graph.terminal_exit_switches
    assert np.array_equal(table.route != routing.NONE, left[:, home])
    if left.all():
        routing.verify(graph, table)
        assert routing.dependency_cycle(graph, table) is None


def test_tables_come_after_the_delay_and_go_after_the_repair() -> None:
    scenario = Scenario.from_dict(
        {"topology": MESH, "routing": {"after_fault": {"delay": "300 us"}}, "fault": [CUT]}
    )
    compiled = compile(scenario)
    moments = compiled.arrays["table_ticks"].astype(float) * compiled.tick_ps / US
    # The cable runs again 19.2 us after its repair.
    assert moments == pytest.approx([1300, 3319.2], abs=0.01)
    assert compiled.arrays["table_number"].tolist() == [1, 0]
    assert isinstance(compiled.routes, LinkRoutes)
    assert len(compiled.arrays["table_route"]) == compiled.routes.table.route.size


def test_only_what_comes_before_new_tables_is_lost() -> None:
    found = replaced()
    lost = found.summary["packets"]["lost"]
    # A packet of 200 B each 26.7 us for 300 us, and one on the cable.
    assert 10 <= lost <= 13
    assert found.summary["packets"]["delivered"] == pytest.approx(5000 / 26.67 - lost, abs=2)
    assert replaced("0 us").summary["packets"]["lost"] <= 1
    never = replaced("4.5 ms").summary["packets"]["lost"]
    assert never == pytest.approx(2019 / 26.67, abs=2)


def test_what_no_way_leads_to_is_discarded() -> None:
    found = replaced(fault={"switch": "s(1,2)", "at": "1 ms"})
    faults = found.summary["faults"]
    assert faults["discarded"] > 140
    by_link = found.links.filter(found.links["discarded_packets"] > 0)["link"].to_list()
    # At the first switch already, once it knows.
    assert "t(1,0).0>s(1,0)" in by_link


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    graph = topology.build(**MESH)
    table = routing.around(graph, dead_of(graph, ["s(1,0)>s(1,1)"]))
    path = tmp_path / "around.csv"
    with path.open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["switch", "terminal", "links"])
        for switch, terminal in np.ndindex(table.route.shape):
            links = table.group(int(table.route[switch, terminal]) >> 1)
            names = " ".join(graph.link_names[link] for link in links)
            rows.writerow([graph.switch_names[switch], graph.terminal_names[terminal], names])
    own = replaced(kind="table", path=str(path))
    assert own.summary["packets"] == replaced().summary["packets"]
