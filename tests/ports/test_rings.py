"""Terminals with ports on several networks of rings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import Scenario, topology
from fabriloom.compile import compile
from fabriloom.report.drawing import fabric_svg
from fabriloom.scenario import ScenarioError
from fabriloom.simulate import compare
from fabriloom.studies.failures import look
from fabriloom.studies.inspection import inspect
from fabriloom.topology import GraphError

CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")
SWITCH = {"kind": "sci-switch", "ports": 2, "terminals_per_ring": 3}


def scenario(planes: int = 2, choice: str | None = None, **traffic: Any) -> Scenario:
    data: dict[str, Any] = {
        "topology": {**SWITCH, "replicate": planes},
        "technology": {"preset": "sci-lc2"},
        "traffic": {"load": 0.15, "length": "64 B", **traffic},
        "run": {"duration": "100 us", "warmup": "10 us"},
        "output": {"trace": True},
    }
    if traffic.get("arrivals") == "backlog":
        del data["traffic"]["load"]
    if choice is not None:
        data["ports"] = {"choice": choice}
    return Scenario.from_dict(data)


def changed(given: Scenario, **sections: Any) -> Scenario:
    data = given.resolve()
    for name, section in sections.items():
        data[name] = {**data.get(name, {}), **section} if isinstance(section, dict) else section
    return Scenario.from_dict(data)


@pytest.mark.parametrize("choice", CHOICES)
def test_engine_and_twin_agree(choice: str) -> None:
    for traffic in (
        {"transaction": "nread"},
        {"arrivals": "backlog"},
        {"source_queue": 2, "load": 0.9},
        {"arrivals": "wait", "transaction": "dmove"},
    ):
        found = compare(scenario(3, choice, **traffic), 10_000_000)
        assert found.identical, traffic
        assert found.packets > 20


@pytest.mark.parametrize("choice", CHOICES)
def test_what_comes_by_planes_is_what_comes(choice: str) -> None:
    results = fabriloom.run(scenario(3, choice))
    summary, planes = results.summary, results.planes
    assert planes["packets"].sum() == summary["packets"]["measured"]
    assert int((planes["packets"] > 0).sum()) == (1 if choice == "nominal" else 3)
    assert results.links["plane"].unique(maintain_order=True).to_list() == ["p0", "p1", "p2"]
    assert results.rings["ring"][0].startswith("p0/")
    assert (summary["network"]["ports"], summary["network"]["planes"]) == (18, 3)
    assert (summary["network"]["rings"], summary["network"]["terminals"]) == (6, 6)
    packets = summary["packets"]
    kept = packets["delivered"] + packets["refused"] + packets["in_flight"] + packets["scrubbed"]
    assert packets["offered"] == kept


def test_by_the_nominal_port_all_is_as_with_one() -> None:
    one, several = fabriloom.run(scenario(1)), fabriloom.run(scenario(3, "nominal"))
    assert several.trace.equals(one.trace)
    assert "plane" not in one.links.columns


def test_load_is_of_all_ports_together() -> None:
    one, several = fabriloom.run(scenario(1, load=0.05)), fabriloom.run(scenario(4, load=0.05))
    ratio = several.summary["offered_mbytes_per_s"] / one.summary["offered_mbytes_per_s"]
    assert ratio == pytest.approx(4, rel=0.1)


def test_each_adapter_has_its_own_memory() -> None:
    """One sender and a receiver whose memory is slow: two adapters serve twice as much as one."""
    pair = {"kind": "flows", "flows": [{"source": 0, "target": 1, "rate": "400 MB/s"}]}
    slow = {"memory": {"access": "2 us"}}
    found = []
    for planes in (1, 2):
        given = changed(scenario(planes, pattern=pair, load=None), technology=slow)
        found.append(fabriloom.run(given).summary["accepted_mbytes_per_s"])
    assert found[0] == pytest.approx(64 / 2, rel=0.1)
    assert found[1] == pytest.approx(2 * found[0], rel=0.02)


@pytest.mark.parametrize("choice", ["round-robin", "destination", "nominal"])
def test_bounds_are_of_each_plane_and_of_all(choice: str) -> None:
    one, found = inspect(scenario(1)), inspect(scenario(4, choice))
    single = one["channel_load"]["accepted_mbytes_per_s_bound"]
    bounds = [plane["accepted_mbytes_per_s_bound"] for plane in found["planes"]]
    assert found["zero_load_latency_ns"] == one["zero_load_latency_ns"]
    assert (found["network"]["ports"], found["network"]["planes"]) == (24, 4)
    assert found["network"]["mean_links_on_the_way"] == pytest.approx(one["network"]["mean_links_on_the_way"])
    whole = found["channel_load"]["accepted_mbytes_per_s_bound"]
    if choice == "round-robin":
        assert bounds == pytest.approx([single] * 4)
    if choice != "destination":
        assert whole == pytest.approx(single if choice == "nominal" else 4 * single)
    # What is full first is full first in its plane, too.
    assert found["channel_load"]["load"] == pytest.approx(max(plane["load"] for plane in found["planes"]))


def test_by_destination_links_carry_what_their_load_says() -> None:
    given = scenario(2, "destination", load=0.03)
    found = inspect(given)
    run = fabriloom.run(changed(given, run={"duration": "2 ms"}))
    busiest = run.links.filter(run.links["link"] == found["channel_load"]["busiest_link"])
    if len(busiest):
        share = busiest["utilisation"][0] / (0.03 * found["channel_load"]["load"])
        assert share == pytest.approx(1, rel=0.1)


def test_rings_of_different_kinds_are_planes() -> None:
    """A ring of all, and another of three with a computer of its own; names say who is who."""
    planes: list[dict[str, Any]] = [
        {"name": "all", "network": {"kind": "sci-ring", "terminals": 4}, "terminals": ["a", "b", "c", "d"]},
        {
            "name": "own",
            "network": {"kind": "sci-rings", "rings": [["c", "x", "a"]]},
            "link_rate": "800 Mbit/s",
        },
    ]
    pairs = {"kind": "map", "map": ["c", "d", "a", "b", "a"]}
    for choice in CHOICES:
        given = Scenario.from_dict(
            {
                "topology": {"kind": "planes", "planes": planes},
                "traffic": {"load": 0.1, "length": "64 B", "pattern": pairs},
                "ports": {"choice": choice},
                "run": {"duration": "100 us"},
            }
        )
        assert given.network_kind.buses
        assert given.resolved["technology"]["preset"] == "sci-lc2"
        assert compare(given, 50_000_000).identical
    graph = compile(given).graph
    assert graph.terminal_names == ["a", "b", "c", "d", "x"]
    assert graph.port_names == ["all/a", "own/a", "all/b", "all/c", "own/c", "all/d", "own/x"]
    assert graph.rings is not None
    assert graph.rings.ring_names == ["all/ring", "own/ring(0)"]
    assert graph.attributes["rate_bits_per_s"][graph.terminal_out_links[[1, 4, 6]]].tolist() == [8e8] * 3


def test_ports_of_one_terminal_can_be_on_one_ring() -> None:
    rails = {"name": "ring", "network": {"kind": "sci-ring", "terminals": 8}, "ports_per_terminal": 2}
    data = scenario().resolve() | {"topology": {"kind": "planes", "planes": [rails]}}
    found = compare(Scenario.from_dict(data), 50_000_000)
    assert found.identical
    assert found.packets > 50


def test_planes_of_rings_have_buses_of_one_kind() -> None:
    networks = [{"kind": "sci-switch-16"}, {"kind": "sci-switch", "ports": 2}]
    planes: list[dict[str, Any]] = [
        {"name": f"p{at}", "network": network} for at, network in enumerate(networks)
    ]
    with pytest.raises(GraphError, match="separate buses"):
        topology.build("planes", planes=planes)
    planes[1]["network"] = {"kind": "crossbar", "terminals": 4}
    with pytest.raises(GraphError, match="all of links or all of rings"):
        topology.build("planes", planes=planes)


def test_a_traffic_class_has_its_rings() -> None:
    """What the first terminal sends goes by the second plane alone, what is sent to it by the others."""
    classes = [{"from": ["t0"], "ports": ["p1"]}, {"to": ["t0"], "ports": [0, 2]}]
    for routing in ({}, {"kind": "fewest-buses", "by_transaction": True}):
        data = scenario(3).resolve()
        data["routing"] = {**routing, "traffic_class": classes}
        given = Scenario.from_dict(data)
        assert given.resolve()["routing"]["kind"] == "fewest-buses"
        assert Scenario.from_dict(given.resolve()).sha256 == given.sha256
        found = compare(given, 10_000_000)
        assert found.identical
        assert found.packets > 20
    for ends, used in (((0, 4), [1]), ((4, 0), [0, 2]), ((3, 4), [0, 1, 2])):
        flow = {"source": ends[0], "target": ends[1], "rate": "20 MB/s"}
        data["traffic"] = {"length": "64 B", "pattern": {"kind": "flows", "flows": [flow]}}
        data["routing"]["traffic_class"] = [one for one in classes if ends[0 if "from" in one else 1] == 0]
        if not data["routing"]["traffic_class"]:
            del data["routing"]["traffic_class"]
        given = Scenario.from_dict(data)
        assert np.flatnonzero(fabriloom.run(given).planes["packets"].to_numpy()).tolist() == used
        bounds = [plane["busiest_link"] for plane in inspect(given)["planes"]]
        assert [at for at, link in enumerate(bounds) if link is not None] == used


def test_routes_by_transaction_are_taken_in_turn_by_each_port() -> None:
    given = scenario(2)
    data = given.resolve()
    data["topology"] = {"kind": "sci-switch", "ports": 4, "buses": 2, "controllers": "own", "replicate": 2}
    data["routing"] = {"kind": "fewest-buses", "by_transaction": True}
    assert compare(Scenario.from_dict(data), 30_000_000).identical
    assert inspect(Scenario.from_dict(data))["planes"][0]["busiest_link"] is not None


def test_the_redundant_ring_takes_over_at_once() -> None:
    fails = [{"cable": "p0/t0>t1", "at": "30 us", "repaired": "60 us"}]
    data = changed(scenario(2, "nominal"), technology={"timeout": "50 us"}).resolve()
    data["run"] = {"duration": "100 us", "warmup": "0 s"}
    data["topology"] = {"kind": "sci-ring", "terminals": 6, "replicate": 2}
    data["fault"] = fails
    given = Scenario.from_dict(data)
    assert compare(given, 100_000_000).identical
    results = fabriloom.run(given)
    packets, nominal, redundant = results.summary["packets"], *results.planes["packets"].to_list()
    assert packets["lost"] < 20
    # 30 us of the failure and 10 us until the ring runs again.
    assert redundant / (nominal + redundant) == pytest.approx(0.4, abs=0.06)
    kept = packets["delivered"] + packets["refused"] + packets["in_flight"] + packets["lost"]
    assert packets["offered"] == kept


@pytest.mark.parametrize("choice", ["nominal", "destination", "round-robin"])
def test_single_failures_of_replicated_rings(choice: str) -> None:
    """A ring of its own is known to a terminal, and one behind the switch is not."""
    rings = {"kind": "sci-ring", "terminals": 4, "replicate": 2}
    given = scenario(2, choice).resolve() | {"topology": rings}
    for row in look(compile(Scenario.from_dict(given)))["failures"]:
        assert (row["cut_off_pairs"], row["lossy_pairs"], row["delivered_share"]) == (0, 0, 1.0)
    behind = look(compile(scenario(2, choice)), "cables")["failures"]
    nominal = next(row for row in behind if row["name"].startswith("p0/"))
    assert nominal["delivered_share"] < 1
    assert nominal["cut_off_pairs"] == (0 if choice == "round-robin" else nominal["lossy_pairs"])
    alone = max(row["delivered_share"] for row in look(compile(scenario(1)), "cables")["failures"])
    assert alone < nominal["delivered_share"]


def programs(planes: int, per: str = "message", choice: str = "round-robin", **protocol: Any) -> Scenario:
    senders = [
        {"terminal": at, "do": ["repeat 20", f"send {at + 3} 1 kB", "end", "flush"]} for at in range(3)
    ]
    receivers = [{"terminal": at, "do": ["repeat 20", "receive any", "end"]} for at in range(3, 6)]
    data: dict[str, Any] = {
        "topology": {**SWITCH, "replicate": planes},
        "technology": {"preset": "sci-lc2"},
        "protocol": {"preset": "pio", **protocol},
        "program": {"kind": "operations", "terminals": senders + receivers},
        "run": {"duration": "2 ms"},
        "output": {"messages": True},
    }
    if planes > 1:
        data["ports"] = {"choice": choice, "per": per}
    return Scenario.from_dict(data)


@pytest.mark.parametrize("per", ["message", "packet"])
@pytest.mark.parametrize("choice", CHOICES)
def test_programs_agree(per: str, choice: str) -> None:
    acknowledge = ("none", "packet", "response")[CHOICES.index(choice) % 3]
    given = programs(2, per, choice, acknowledge=acknowledge, bus_byte_time="5 ns")
    assert compare(given, 100_000_000).identical
    messages = fabriloom.run(given).summary["messages"]
    assert messages["received"] == messages["made"] == 60


@pytest.mark.parametrize("choice", ["nominal", "round-robin", "first-free"])
def test_a_message_that_failed_is_sent_again_by_the_other_ring(choice: str) -> None:
    """The first ring fails for good: what was under way times out, and then goes by the second one."""
    data = programs(2, choice=choice, check_time="1 us").resolve()
    data["technology"]["timeout"] = "50 us"
    data["topology"] = {"kind": "sci-ring", "terminals": 6, "replicate": 2}
    data["fault"] = [{"cable": "p0/t0>t1", "at": "40 us"}]
    given = Scenario.from_dict(data)
    assert compare(given, 150_000_000).identical
    results = fabriloom.run(given)
    messages = results.summary["messages"]
    assert messages["received"] == 60
    assert messages["repeated"] == 3
    assert results.planes["packets"][1] > results.planes["packets"][0] > 0


def test_programs_share_the_bus_of_their_host() -> None:
    """Where the host's bus is the narrow place, more adapters are of no use; elsewhere they are."""
    times = []
    for bus, memory in (("50 ns", "0 ns"), ("0 ns", "4 us")):
        for planes in (1, 2):
            given = programs(planes, "packet", bus_byte_time=bus)
            given = changed(given, technology={"memory": {"access": memory}})
            times.append(fabriloom.run(given).messages["received_ns"].max())
    assert times[1] == pytest.approx(times[0], rel=0.1)
    assert times[3] < 0.7 * times[2]


def test_the_drawing_has_every_link_of_every_plane_once() -> None:
    graph = topology.build("sci-switch", ports=3, terminals_per_ring=2, replicate=2)
    svg = fabric_svg(graph, np.linspace(0, 1, graph.links))
    shown = {int(link) for part in re.findall(r'data-links="([0-9 ]*)"', svg) for link in part.split()}
    assert shown == set(range(graph.links))
    assert all(f"Plane {name}" in svg for name in ("p0", "p1"))


def test_a_table_of_ones_own_is_for_every_plane(tmp_path: Path) -> None:
    graph = topology.build(**SWITCH)
    assert graph.rings is not None
    rows = ["switch,ring,terminal,to"]
    for here, there in ((0, 1), (1, 0)):
        names = graph.rings.ring_names
        rows.append(f"{graph.switch_names[0]},{names[here]},{names[there]},{names[there]}")
    (tmp_path / "own.csv").write_text("\n".join(rows) + "\n")
    data = scenario(2).resolve()
    data["routing"] = {"kind": "table", "path": "own.csv"}
    own = fabriloom.run(Scenario.from_dict(data, base_dir=tmp_path))
    assert own.trace.equals(fabriloom.run(scenario(2)).trace)


def dual_ring(terminals: int, **sections: Any) -> Scenario:
    """Packets of a packet ring take the shorter of two ways."""
    data: dict[str, Any] = {
        "topology": {"kind": "sci-dual-ring", "terminals": terminals},
        "ports": {"choice": "nearest"},
        "technology": {"preset": "rpr-10g"},
        "traffic": {"load": 0.2, "length": "500 B", "transaction": "dmove"},
        "run": {"duration": "200 us", "warmup": "20 us"},
        "output": {"trace": True},
    }
    return Scenario.from_dict(data | sections)


@pytest.mark.parametrize("terminals", [2, 5, 8])
def test_packets_take_the_shorter_way(terminals: int) -> None:
    """The one without a wait is as long as that of so many links, in either direction."""
    results = fabriloom.run(dual_ring(terminals))
    native = results.native
    source, target = (np.asarray(native[f"trace_{name}"], np.int64) for name in ("source", "target"))
    took = np.asarray(native["trace_delivered_ticks"]) - np.asarray(native["trace_started_ticks"])
    ahead = (target - source) % terminals
    links = np.minimum(ahead, terminals - ahead)
    least = [int(took[links == count].min()) * results.tick_ps for count in range(1, links.max() + 1)]
    assert links.max() == terminals // 2
    assert np.diff(least) == pytest.approx(5_203_200)


def test_ways_of_the_same_length_are_taken_in_turn() -> None:
    across = {"kind": "shift", "by": 2}
    given = dual_ring(
        4, traffic={"arrivals": "backlog", "length": "500 B", "pattern": across, "transaction": "dmove"}
    )
    planes = fabriloom.run(given).planes
    assert planes["packets"].min() > 100
    assert planes["packets"].max() - planes["packets"].min() <= 8


@pytest.mark.parametrize("terminals", [5, 9])
def test_what_two_directions_carry(terminals: int) -> None:
    """A packet crosses (n + 1) / 4 links of 2 n, if n is odd."""
    found = inspect(dual_ring(terminals))
    one_link = 500 / ((500 + 24 + 20) / 4 * 3.2e-3)
    assert found["network"]["mean_links_on_the_way"] == pytest.approx((terminals + 1) / 4)
    assert found["channel_load"]["accepted_mbytes_per_s_bound"] == pytest.approx(
        8 * terminals / (terminals + 1) * one_link
    )


def test_the_engine_and_the_twin_go_both_ways() -> None:
    token = {"preset": "sci-1000", "bandwidth_allocation": False, "token": {"length": "6 B", "packets": 1}}
    for technology in ({"preset": "rpr-10g"}, {"preset": "sci-1000"}, token):
        traffic = {"load": 0.3, "length": "64 B", "transaction": "nread"}
        found = compare(dual_ring(6, technology=technology, traffic=traffic), 40_000_000)
        assert found.identical, technology
        assert found.packets > 20


def test_nearest_is_for_rings_alone() -> None:
    grid = {"kind": "grid", "shape": [2, 2], "replicate": 2}
    data = {"topology": grid, "ports": {"choice": "nearest"}, "traffic": {"load": 0.1}}
    for given in (scenario(2, "nearest"), Scenario.from_dict(data)):
        with pytest.raises(ScenarioError, match="counts links on a ring"):
            compile(given)
