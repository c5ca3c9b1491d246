"""Terminals of several cables in graph files: rails, and networks that only terminals join; ports in reserve.

What goes on by a port in reserve when a link fails, what each single failure leaves, and bounds. Requirements
of flows of such terminals: what each flow was seen to need is its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import polars as pl
import pytest
from fabriloom import Scenario, bound, load, run, topology
from fabriloom.compile import compile
from fabriloom.simulate import compare
from fabriloom.studies import inspection
from fabriloom.studies.failures import look
from fabriloom.studies.inspection import inspect
from fabriloom.topology import GraphError

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "nominal-and-redundant.toml"


def scenario(
    choice: str = "nominal", faults: list[dict[str, Any]] | None = None, **topology: Any
) -> Scenario:
    data: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 4, "replicate": 2, **topology},
        "technology": {"preset": "spacewire-200"},
        "ports": {"choice": choice},
        "traffic": {"load": 0.3, "length": "64 B"},
        "run": {"duration": "1 ms", "warmup": "0 s"},
        "output": {"trace": True},
        "fault": faults or [],
    }
    return Scenario.from_dict(data)


def test_the_redundant_port_takes_over_and_the_nominal_one_takes_back() -> None:
    results = fabriloom.run(load(SCENARIO))
    packets = results.summary["packets"]
    nominal, redundant = results.planes["packets"].to_list()
    assert 0 < redundant < nominal
    links = dict(zip(results.links["link"], results.links["cut_packets"], strict=True))
    assert links["p0/t.0>s"] == 1
    # 60 Mbit/s of packets of 64 B from 100 us and 850 ns to 250 us and 19.2 us.
    assert redundant == pytest.approx(168 * 60 / 8 / 64, abs=3)
    assert packets["offered"] == packets["delivered"] + packets["lost"] + packets["in_flight"]


@pytest.mark.parametrize("choice", ["round-robin", "destination", "shortest-queue", "first-free", "nominal"])
def test_a_port_that_is_down_is_not_chosen(choice: str) -> None:
    """A packet or two stand in front of the dead link of one sender of four; nothing else waits."""
    fails = {"terminal": "p0/t.1", "at": "200 us"}
    given = scenario(choice, [fails])
    assert compare(given, 500_000_000).identical
    results = fabriloom.run(given)
    late = results.trace.filter(results.trace["created_ns"] > 210_000)
    assert (late["source"] == "t.1").sum() > 50
    assert results.summary["packets"]["in_flight"] < 12


def test_programs_go_on_by_the_other_port() -> None:
    own = [{"terminal": "t.0", "do": ["repeat 100", "send t.1 320 B", "wait 10 us", "end"]}]
    data = scenario("nominal", [{"cable": "p0/t.0>s", "at": "200 us", "repaired": "600 us"}]).resolve()
    del data["traffic"], data["output"]
    data["program"] = {
        "kind": "operations",
        "terminals": [*own, {"terminal": "t.1", "do": ["repeat for ever", "receive any", "end"]}],
    }
    data["run"]["duration"] = "3 ms"
    results = fabriloom.run(Scenario.from_dict(data))
    messages = results.summary["messages"]
    assert messages["lost"] <= 1
    assert messages["received"] >= 98
    assert 10 < results.planes["packets"][1] < results.planes["packets"][0]


@pytest.mark.parametrize("choice", ["nominal", "destination", "round-robin"])
def test_single_failures_of_replicated_networks(choice: str) -> None:
    """A switch that fails is known to all who are at it; a cable only to its terminal."""
    found = look(compile(scenario(choice)))
    rows = {(row["kind"], row["name"]): row for row in found["failures"]}
    for plane in ("p0", "p1"):
        switch = rows["switch", f"{plane}/s"]
        assert (switch["cut_off_pairs"], switch["lossy_pairs"]) == (0, 0)
        assert switch["delivered_share"] == pytest.approx(1)
        cable = rows["cable", f"{plane}/t.0>s"]
        into = {"nominal": 3 * (plane == "p0"), "destination": 3 * (plane == "p0"), "round-robin": 0}
        assert cable["cut_off_pairs"] == into[choice]
        assert cable["lossy_pairs"] == (3 if choice == "round-robin" else into[choice])
    assert found["without"]["delivered_share"] == pytest.approx(1)


def test_what_single_failures_leave_is_what_runs_lose() -> None:
    fails = {"cable": "p0/t.0>s", "at": "1 us"}
    [row] = [
        row
        for row in look(compile(scenario("round-robin")), "cables")["failures"]
        if row["name"] == fails["cable"]
    ]
    packets = fabriloom.run(scenario("round-robin", [fails])).summary["packets"]
    assert packets["lost"] / packets["offered"] == pytest.approx(1 - row["delivered_share"], abs=0.03)


def test_check_says_which_port_a_packet_takes() -> None:
    for choice, words in (("nominal", "leaves by the first port"), ("round-robin", "each port in turn")):
        told = dict(inspection.lines(inspection.inspect(scenario(choice))))
        assert words in told["terminals"]
        assert f"(choice {choice})" in told["terminals"]


def test_with_nominal_ports_bounds_are_those_of_the_nominal_network() -> None:
    one, two = (bound(scenario("nominal", replicate=planes) if planes > 1 else alone()) for planes in (1, 2))
    assert two.table["bound_ns"].to_list() == one.table["bound_ns"].to_list()


def alone() -> Scenario:
    data = scenario().resolve()
    del data["topology"]["replicate"], data["ports"]
    return Scenario.from_dict(data)


def test_by_destination_no_packet_is_later_than_its_bound() -> None:
    given = scenario(
        "destination", kind="clos", terminals=8, terminals_per_switch=4, centre_switches=2
    ).resolve()
    given["topology"]["links_per_pair"] = 1
    given["routing"]["adaptive"] = False
    whole = Scenario.from_dict(given)
    found = bound(whole, tries=2)
    limits = {(row["source"], row["target"]): row["bound_ns"] for row in found.table.to_dicts()}
    trace = fabriloom.run(whole).trace
    late = trace["delivered_ns"] - trace["started_ns"]
    own = np.array([limits[pair] for pair in zip(trace["source"], trace["target"], strict=True)])
    assert (late.to_numpy() <= own).all()
    assert (found.table["found_ns"] <= found.table["bound_ns"]).all()
    one = {
        (row["source"], row["target"]): row["bound_ns"]
        for row in bound(Scenario.from_dict(given | {"ports": {"choice": "nominal"}})).table.to_dicts()
    }
    assert all(limits[pair] <= one[pair] for pair in one)


CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")
LANES: dict[str, Any] = {"preset": "generic", "lanes": 2}


def flow(source: int, target: int, length: str, period: str) -> dict[str, Any]:
    return {"source": source, "target": target, "length": length, "period": period, "requirement": "1 ms"}


@pytest.mark.parametrize("technology", [{"preset": "spacewire-200"}, LANES], ids=["links", "lanes"])
@pytest.mark.parametrize("choice", CHOICES)
def test_what_a_flow_was_seen_to_need_is_its_own(choice: str, technology: dict[str, Any]) -> None:
    flows = [flow(0, 2, "1 kB", "100 us"), flow(1, 2, "64 B", "300 us"), flow(2, 0, "16 B", "500 us")]
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 3, "replicate": 2},
            "technology": technology,
            "ports": {"choice": choice},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "3 ms", "warmup": "0 s", "precision": 0},
            "output": {"trace": True},
        }
    )
    results = run(scenario)
    total = pl.col("delivered_ns") - pl.col("created_ns")
    traced = results.trace.group_by("source", "target").agg(total.max(), pl.len().alias("packets"))
    longest = {(a, b): (packets, most) for a, b, most, packets in traced.rows()}
    seen = results.requirements.select("source", "target", "packets", "total_latency_ns_max").rows()
    assert {(a, b): tuple(rest) for a, b, *rest in seen} == longest
    assert min(packets for _, _, packets, _ in seen) >= 6


JOINED = """kind,source,target
switch,a,
switch,b,
switch,c,
terminal,t0,
terminal,t1,
terminal,t2,
terminal,t3,
cable,a,c
cable,t0,a
cable,t0,b
cable,t1,c
cable,t1,b
cable,t2,b
cable,t2,b
cable,t3,a
cable,t3,b
cable,t3,c
"""
"""Terminals of 2, 2, 2 and 3 ports on two networks, of which the one of ``b`` has all."""

CROSSED = """kind,source,target,rate,source_port,target_port,address
switch,A,,,,,
switch,B,,,,,
switch,C,,,,,
terminal,x,,,,,40
terminal,y,,,,,
terminal,z,,,,,50
cable,x,B,100 Mbit/s,,1,
cable,x,A,200 Mbit/s,,4,
cable,y,A,200 Mbit/s,,2,60
cable,y,B,200 Mbit/s,,7,61
cable,A,C,200 Mbit/s,1,2,
cable,z,C,200 Mbit/s,,1,
cable,z,B,200 Mbit/s,,2,
cable,x,C,200 Mbit/s,,5,44
"""
"""``x`` has its first port in the second plane; ports have numbers, rates and logical addresses."""
TURNED = """kind,source,target,cable
switch,A,,
switch,B,,
terminal,x,,
terminal,y,,
cable,A,B,
link,x,A,1
link,x,B,2
link,B,x,2
link,A,x,1
link,y,A,
link,y,B,
link,B,y,
link,A,y,
"""
"""``x`` receives in another order than it sends; the links of ``y`` have no way back."""


def joined(tmp_path: Path, text: str = JOINED, choice: str | None = None, **traffic: Any) -> Scenario:
    (tmp_path / "own.csv").write_text(text)
    data: dict[str, Any] = {
        "topology": {"kind": "file", "path": "own.csv"},
        "traffic": {"load": 0.3, "length": "32 B", **traffic},
        "run": {"duration": "200 us", "warmup": "20 us"},
    }
    if choice is not None:
        data["ports"] = {"choice": choice}
    return Scenario.from_dict(data, base_dir=tmp_path)


def test_each_cable_of_a_terminal_is_a_port(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(JOINED)
    graph = topology.file(tmp_path / "own.csv")
    assert graph.several is not None
    assert graph.terminal_names == ["t0", "t1", "t2", "t3"]
    assert graph.port_names == [f"t{t}/{n}" for t, ports in enumerate((2, 2, 2, 3)) for n in range(ports)]
    assert [plane.graph.switch_names for plane in graph.planes] == [["a", "c"], ["b"]]
    assert graph.several.plane.tolist() == [0, 1, 0, 1, 1, 1, 0, 1, 0]
    source, target = graph.link_source, graph.link_target
    assert np.array_equal(source[graph.link_reverse], target)
    for plane in graph.planes:
        assert graph.link_names[plane.links] == plane.graph.link_names
    for port, (out, inward) in enumerate(zip(graph.terminal_out_links, graph.terminal_in_links, strict=True)):
        assert source[out] == target[inward] == graph.switches + port
        assert graph.link_reverse[out] == inward


@pytest.mark.parametrize("choice", CHOICES)
def test_engine_and_twin_agree(choice: str, tmp_path: Path) -> None:
    found = compare(joined(tmp_path, choice=choice, load=0.8), 100_000_000)
    assert found.identical
    assert found.packets > 50


@pytest.mark.parametrize("choice", CHOICES)
def test_what_check_counts_with_is_what_links_carry(choice: str, tmp_path: Path) -> None:
    from fabriloom.compile import LinkRoutes, compile
    from fabriloom.studies.links.loads import loads

    compiled = compile(joined(tmp_path, choice=choice, load=0.2).with_settings({"run.duration": "20 ms"}))
    assert isinstance(compiled.routes, LinkRoutes)
    demand = compiled.demand()
    expected = loads(compiled.routes, choice, demand.pairs, demand.even)
    packets = fabriloom.run(compiled).links["packets"].to_numpy()
    assert np.array_equal(packets > 0, expected > 0)
    if choice in ("destination", "nominal", "round-robin"):
        share, measured = expected / expected.sum(), packets / packets.sum()
        assert share == pytest.approx(measured, abs=0.02)


def test_networks_that_only_terminals_join_are_one_scenario(tmp_path: Path) -> None:
    text = JOINED.replace("cable,t2,b\ncable,t2,b\n", "cable,t2,b\n").replace("cable,t1,b\n", "")
    pairs = {"kind": "map", "map": ["t1", "t0", "t3", "t2"]}
    found = inspect(joined(tmp_path, text, pattern=pairs))
    assert [plane["busiest_link"] is not None for plane in found["planes"]] == [True, True]
    results = fabriloom.run(joined(tmp_path, text, pattern=pairs))
    assert (results.planes["packets"] > 0).all()
    assert results.summary["network"] | {"links": 0} == {
        "switches": 3,
        "terminals": 4,
        "links": 0,
        "ports": 7,
        "planes": 2,
    }


def test_a_port_leads_where_its_network_leads(tmp_path: Path) -> None:
    text = JOINED.replace("cable,t1,b\n", "").replace("cable,t2,b\ncable,t2,b\n", "cable,t2,b\n")
    with pytest.raises(fabriloom.ScenarioError) as caught:
        fabriloom.run(joined(tmp_path, text))
    assert '"t1" sends to "t2", and they have ports in no network together' in str(caught.value)


def test_senders_of_one_port_share_those_of_their_target(tmp_path: Path) -> None:
    text = "kind,source,target\nswitch,s,\n" + "".join(f"terminal,t{n},s\n" for n in range(4))
    text += "terminal,memory,\ncable,memory,s\ncable,memory,s\n"
    to_one = {"kind": "map", "map": ["memory"] * 4 + ["t0"]}
    results = fabriloom.run(joined(tmp_path, text, pattern=to_one, load=0.2))
    into = results.links.filter(results.links["target"].str.starts_with("memory/"))["packets"]
    assert len(into) == 2
    assert into.min() > 0.8 * into.max()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (JOINED + "terminal,t1/0,b\n", '"t1/0" is the name of a port of "t1", too'),
        (JOINED + "cable,t0,b\n" * 7, 'terminal "t0" sends on 9 links'),
        (JOINED + "link,t0,b\n", 'terminal "t0" sends on 3 links and receives on 2'),
        (JOINED + "terminal,t4,\n", 'terminal "t4" sends on 0 links'),
    ],
)
def test_what_is_no_port_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(text)
    with pytest.raises(GraphError) as caught:
        topology.file(tmp_path / "own.csv")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", [JOINED, CROSSED, TURNED])
@pytest.mark.parametrize("form", ["csv", "graphml", "json", "networkx"])
def test_what_is_written_reads_back_with_the_same_ports(text: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(text)
    graph = topology.file(tmp_path / "own.csv")
    if form == "networkx":
        again = topology.from_networkx(topology.to_networkx(graph))
    else:
        topology.write(graph, tmp_path / f"again.{form}")
        again = topology.file(tmp_path / f"again.{form}")
    assert again.port_names == graph.port_names
    assert again.link_names == graph.link_names
    for name in ("link_source", "link_target", "link_reverse"):
        assert getattr(again, name).tolist() == getattr(graph, name).tolist()
    for one, other in zip(again.planes, graph.planes, strict=True):
        assert one.graph.layout == other.graph.layout
    assert set(again.attributes) == set(graph.attributes)
    for name, values in graph.attributes.items():
        np.testing.assert_array_equal(again.attributes[name], values)
