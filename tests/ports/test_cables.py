"""Graph files in which a terminal has several cables: rails, and networks that only terminals join."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import Scenario, topology
from fabriloom.simulate import compare
from fabriloom.studies.inspection import inspect
from fabriloom.topology import GraphError

CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")
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


def scenario(tmp_path: Path, text: str = JOINED, choice: str | None = None, **traffic: Any) -> Scenario:
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
    found = compare(scenario(tmp_path, choice=choice, load=0.8), 100_000_000)
    assert found.identical
    assert found.packets > 50


@pytest.mark.parametrize("choice", CHOICES)
def test_what_check_counts_with_is_what_links_carry(choice: str, tmp_path: Path) -> None:
    from fabriloom.compile import LinkRoutes, compile
    from fabriloom.studies.links.loads import loads

    compiled = compile(scenario(tmp_path, choice=choice, load=0.2).with_settings({"run.duration": "20 ms"}))
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
    found = inspect(scenario(tmp_path, text, pattern=pairs))
    assert [plane["busiest_link"] is not None for plane in found["planes"]] == [True, True]
    results = fabriloom.run(scenario(tmp_path, text, pattern=pairs))
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
        fabriloom.run(scenario(tmp_path, text))
    assert '"t1" sends to "t2", and they have ports in no network together' in str(caught.value)


def test_senders_of_one_port_share_those_of_their_target(tmp_path: Path) -> None:
    text = "kind,source,target\nswitch,s,\n" + "".join(f"terminal,t{n},s\n" for n in range(4))
    text += "terminal,memory,\ncable,memory,s\ncable,memory,s\n"
    to_one = {"kind": "map", "map": ["memory"] * 4 + ["t0"]}
    results = fabriloom.run(scenario(tmp_path, text, pattern=to_one, load=0.2))
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
@pytest.mark.parametrize("form", ["csv", "graphml", "json"])
def test_what_is_written_reads_back_with_the_same_ports(text: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(text)
    graph = topology.file(tmp_path / "own.csv")
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
