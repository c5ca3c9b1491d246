"""Terminals with a port in each of several equal networks: what goes by which, and that nothing is lost.

Networks of different kinds that only terminals join.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import pytest
from commands import command
from fabriloom import Scenario, topology
from fabriloom.report.drawing import fabric_svg
from fabriloom.simulate import compare
from fabriloom.studies.inspection import inspect
from fabriloom.topology.named import links_of

CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")


def scenario(
    planes: int = 2, choice: str | None = None, preset: str | None = None, **traffic: Any
) -> Scenario:
    data: dict[str, Any] = {
        "topology": {"kind": "clos", "terminals": 16, "terminals_per_switch": 4, "centre_switches": 2},
        "traffic": {"load": 0.3, "length": "32 B", **traffic},
        "run": {"duration": "200 us", "warmup": "20 us"},
        "output": {"trace": True},
    }
    if traffic.get("arrivals") == "backlog":
        del data["traffic"]["load"]
    data["topology"] |= {"links_per_pair": 1, "replicate": planes}
    if choice is not None:
        data["ports"] = {"choice": choice}
    if preset is not None:
        data["technology"] = {"preset": preset}
    return Scenario.from_dict(data)


def test_one_plane_is_no_plane() -> None:
    plain = scenario(1)
    assert "replicate" not in plain.resolved["topology"]
    assert "ports" not in plain.resolved
    results = fabriloom.run(plain)
    assert not len(results.planes)
    assert "planes" not in results.summary["network"]
    assert "plane" not in results.links.columns


@pytest.mark.parametrize("choice", CHOICES)
def test_engine_and_twin_agree(choice: str) -> None:
    for traffic in ({}, {"arrivals": "backlog"}, {"source_queue": 2, "load": 0.9}, {"arrivals": "wait"}):
        found = compare(scenario(3, choice, **traffic), 60_000_000)
        assert found.identical, traffic
        assert found.packets > 50


def test_what_comes_by_planes_is_what_comes() -> None:
    for choice in CHOICES:
        results = fabriloom.run(scenario(4, choice))
        summary, planes = results.summary, results.planes
        assert planes["packets"].sum() == summary["packets"]["measured"]
        assert planes["mbytes_per_s"].sum() == pytest.approx(summary["accepted_mbytes_per_s"])
        used = int((planes["packets"] > 0).sum())
        assert used == (1 if choice == "nominal" else 4)
        by_link = results.links.group_by("plane", maintain_order=True).agg(used=_sum("packets"))
        assert (by_link["used"] > 0).to_list() == (planes["packets"] > 0).to_list()


def _sum(name: str) -> Any:
    import polars as pl

    return pl.col(name).sum()


def test_by_the_nominal_port_all_is_as_with_one() -> None:
    one, several = fabriloom.run(scenario(1)), fabriloom.run(scenario(3, "nominal"))
    assert several.trace.equals(one.trace)
    assert several.summary["packets"]["overtaken"] == 0


def test_a_destination_has_its_plane_and_its_order() -> None:
    results = fabriloom.run(scenario(3, "destination", load=0.7).with_settings({"routing.adaptive": False}))
    assert results.summary["packets"]["overtaken"] == 0
    into = results.links.filter(results.links["target"].str.contains("/t"))
    for plane, target, packets in zip(into["plane"], into["target"], into["packets"], strict=True):
        number = results.graph.terminal_names.index(target.split("/", 1)[1])
        assert (packets > 0) == (plane == f"p{number % 3}")


@pytest.mark.parametrize("planes", [4, 1])
def test_packets_that_overtake_each_other_are_counted(planes: int) -> None:
    choice = "round-robin" if planes > 1 else None
    results = fabriloom.run(scenario(planes, choice, preset="ethernet-10g", load=0.9))
    newest: dict[tuple[str, str], float] = {}
    late = 0
    for source, target, created in results.trace.select("source", "target", "created_ns").iter_rows():
        late += created < newest.get((source, target), -1.0)
        newest[source, target] = max(created, newest.get((source, target), -1.0))
    counted = results.summary["packets"]["overtaken"]
    assert 0 < counted <= late  # the trace has the warm-up, too
    said = any("came behind a later one" in warning for warning in results.summary["warnings"])
    assert said == (planes > 1)


def test_bounds_are_of_each_plane_and_of_all() -> None:
    one, found = inspect(scenario(1)), inspect(scenario(4))
    single = one["channel_load"]["accepted_mbytes_per_s_bound"]
    bounds = [plane["accepted_mbytes_per_s_bound"] for plane in found["planes"]]
    assert bounds == pytest.approx([single] * 4)
    assert found["channel_load"]["accepted_mbytes_per_s_bound"] == pytest.approx(4 * single)
    assert found["bisection"]["links"] == 4 * one["bisection"]["links"]
    assert found["zero_load_latency_ns"] == one["zero_load_latency_ns"]
    assert (found["network"]["ports"], found["network"]["planes"]) == (64, 4)
    reserve = inspect(scenario(4, "nominal"))
    assert reserve["channel_load"]["accepted_mbytes_per_s_bound"] == pytest.approx(single)
    assert reserve["planes"][1]["busiest_link"] is None


def test_the_zero_load_latency_is_of_all_ports_that_a_packet_can_take() -> None:
    """By a plane of half the rate a packet of 64 B takes 6.87 us for its characters instead of 3.435 us."""

    def found(choice: str) -> dict[str, float]:
        planes = [
            {"name": name, "network": {"kind": "crossbar", "terminals": 2}, "link_rate": rate}
            for name, rate in (("fast", "200 Mbit/s"), ("slow", "100 Mbit/s"))
        ]
        return inspect(
            Scenario.from_dict(
                {
                    "topology": {"kind": "planes", "planes": planes},
                    "technology": {"preset": "spacewire-200", "flow_control": "average"},
                    "ports": {"choice": choice},
                }
            )
        )["zero_load_latency_ns"]

    fast, turns, by_number = found("nominal"), found("round-robin"), found("destination")
    assert fast["min"] == fast["max"] == turns["min"]
    assert turns["max"] - turns["min"] > 6870 - 3435
    assert turns["mean"] == pytest.approx((turns["min"] + turns["max"]) / 2)
    assert turns["pairs"] == 2
    assert by_number == turns  # terminal 1 by the slow plane, terminal 0 by the fast one


def test_by_destination_bounds_are_what_links_carry() -> None:
    """Where all go to terminals of even numbers one of two planes carries everything."""
    even = {"kind": "map", "map": [2 * ((number // 2 + 4) % 8) for number in range(16)]}
    found = inspect(scenario(2, "destination", pattern=even))
    one = inspect(scenario(1, pattern=even))
    assert found["planes"][0]["load"] == pytest.approx(2 * one["channel_load"]["load"])
    assert found["planes"][1]["busiest_link"] is None


def test_load_is_of_all_ports_together() -> None:
    one, several = fabriloom.run(scenario(1)), fabriloom.run(scenario(4))
    ratio = several.summary["offered_mbytes_per_s"] / one.summary["offered_mbytes_per_s"]
    assert ratio == pytest.approx(4, rel=0.05)


def test_universal_routing_goes_by_a_switch_of_the_plane() -> None:
    data = scenario(3).resolve()
    data["routing"]["universal"] = True
    found = compare(Scenario.from_dict(data), 100_000_000)
    assert found.identical
    assert found.packets > 100


def test_the_drawing_has_every_link_of_every_plane_once() -> None:
    graph = topology.build("clos", terminals=16, terminals_per_switch=4, centre_switches=2, replicate=3)
    svg = fabric_svg(graph, np.linspace(0, 1, graph.links))
    import re

    shown = sorted(int(link) for part in re.findall(r'data-links="([0-9 ]*)"', svg) for link in part.split())
    assert set(shown) == set(range(graph.links))
    assert all(f"Plane {name}" in svg for name in ("p0", "p1", "p2"))


def test_the_graph_says_what_is_where() -> None:
    graph = topology.build("crossbar", terminals=3, replicate=2)
    assert (graph.terminals, graph.ports, graph.switches, graph.links) == (3, 6, 2, 12)
    assert graph.several is not None
    assert graph.several.terminal.tolist() == [0, 0, 1, 1, 2, 2]
    assert graph.several.plane.tolist() == [0, 1] * 3
    for port, link in enumerate(graph.terminal_out_links.tolist()):
        assert graph.vertex_name(graph.switches + port) == graph.link_names[link].split(">")[0]


def test_a_terminal_fails_with_all_its_ports_and_a_port_alone() -> None:
    graph = topology.build("crossbar", terminals=3, replicate=2)
    whole = links_of(graph, "terminal", graph.terminal_names[1])
    assert {graph.link_names[link] for link in whole} == {
        f"p{plane}/{ends}" for plane in (0, 1) for ends in ("t.1>s", "s>t.1")
    }
    assert links_of(graph, "terminal", "p1/" + graph.terminal_names[1]) == whole[2:]


def test_nothing_is_lost_without_a_word_where_links_fail() -> None:
    data = scenario(2, "first-free", load=0.6).resolve()
    data["fault"] = [{"terminal": "p1/t(0).1", "at": "60 us", "repaired": "120 us"}]
    results = fabriloom.run(Scenario.from_dict(data))
    packets = results.summary["packets"]
    assert packets["lost"] > 0
    kept = packets["delivered"] + packets["refused"] + packets["in_flight"] + packets["lost"]
    assert packets["offered"] == kept
    assert compare(Scenario.from_dict(data), 150_000_000).identical


RING = {"name": "command", "network": {"kind": "ring", "switches": 4}, "link_rate": "10 Mbit/s"}
STAR = {"name": "data", "network": {"kind": "crossbar", "terminals": 3}}


def planes_scenario(planes: list[dict[str, Any]], choice: str | None = None, **traffic: Any) -> Scenario:
    data: dict[str, Any] = {
        "topology": {"kind": "planes", "planes": planes},
        "traffic": {"load": 0.05, "length": "32 B", **traffic},
        "run": {"duration": "2 ms", "warmup": "200 us"},
    }
    if choice is not None:
        data["ports"] = {"choice": choice}
    return Scenario.from_dict(data)


def test_terminals_of_one_name_are_one() -> None:
    planes = [RING | {"terminals": ["a", "b", "c", "d"]}, STAR | {"terminals": ["c", "e", "a"]}]
    graph = topology.build("planes", planes=planes)
    assert graph.terminal_names == ["a", "b", "c", "d", "e"]
    assert graph.port_names == [
        "command/a",
        "data/a",
        "command/b",
        "command/c",
        "data/c",
        "command/d",
        "data/e",
    ]
    assert graph.several is not None
    assert graph.several.plane.tolist() == [0, 1, 0, 0, 1, 0, 1]
    assert (graph.switches, graph.family) == (5, "planes")
    ends = zip(graph.terminal_out_links, graph.terminal_in_links, graph.port_names, strict=True)
    for out, inward, name in ends:
        assert graph.link_names[out].startswith(f"{name}>")
        assert graph.link_names[inward].endswith(">" + name.split("/")[1])


def test_without_names_terminals_are_joined_in_order() -> None:
    graph = topology.build("planes", planes=[RING, STAR])
    assert graph.terminal_names == ["t0", "t1", "t2", "t3"]
    assert len(graph.port_names) == 7


def test_several_terminals_of_a_network_can_be_ports_of_one() -> None:
    """One network of 12 ports for 3 terminals carries what four networks of 3 do: a switch is a switch."""
    rails = {"name": "all", "network": {"kind": "crossbar", "terminals": 12}, "ports_per_terminal": 4}
    one = planes_scenario([rails], load=0.9)
    four = Scenario.from_dict(
        one.resolved | {"topology": {"kind": "crossbar", "terminals": 3, "replicate": 4}}
    )
    found = [fabriloom.run(given).summary["packets"]["delivered"] for given in (one, four)]
    assert found[0] == found[1] > 500


@pytest.mark.parametrize("choice", CHOICES)
def test_engine_and_twin_agree_of_planes(choice: str) -> None:
    found = compare(planes_scenario([STAR, RING], choice, load=0.2), 1_000_000_000)
    assert found.identical
    assert found.packets > 50


def test_each_plane_has_its_rate_and_its_bound() -> None:
    """A link of 10 Mbit/s carries a tenth of one of 100."""
    pairs = {"kind": "map", "map": ["t1", "t0", "t3", "t2"]}
    bounds = []
    for rate in ("10 Mbit/s", "100 Mbit/s"):
        rings = [RING | {"name": name, "link_rate": rate} for name in ("one", "other")]
        found = inspect(planes_scenario(rings, "nominal", pattern=pairs))
        bounds.append(found["channel_load"]["accepted_mbytes_per_s_bound"])
        assert [plane["plane"] for plane in found["planes"]] == ["one", "other"]
        assert found["planes"][1]["busiest_link"] is None
    assert bounds[1] == pytest.approx(10 * bounds[0], rel=0.01)


def test_by_what_waits_packets_are_shared_by_the_rates_of_ports() -> None:
    """Two terminals on a fast and on a slow wire: eleven parts, of which one goes by the slow one."""
    wires = [
        {"name": "fast", "network": {"kind": "crossbar", "terminals": 2}},
        {"name": "slow", "network": {"kind": "crossbar", "terminals": 2}, "link_rate": "10 Mbit/s"},
    ]
    found = inspect(planes_scenario(wires, "first-free"))
    loads = [plane["load"] for plane in found["planes"]]
    assert loads[0] == pytest.approx(loads[1])  # in terms of what a link carries
    results = fabriloom.run(planes_scenario(wires, "first-free", load=1.0))
    fast, slow = results.planes["packets"].to_list()
    assert fast == pytest.approx(10 * slow, rel=0.1)


def test_a_plane_from_a_file_keeps_its_names(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(
        "kind,source,target\nswitch,s,\nterminal,x,s\nterminal,y,s\nterminal,z,s\n"
    )
    data = planes_scenario([STAR | {"terminals": ["x", "y", "w"]}]).resolve()
    data["topology"]["planes"].append({"name": "own", "network": {"kind": "file", "path": "own.csv"}})
    data["traffic"]["pattern"] = {"kind": "map", "map": ["y", "x", "x", "y"]}
    given = Scenario.from_dict(data, base_dir=tmp_path)
    results = fabriloom.run(given)
    assert results.graph.terminal_names == ["x", "y", "w", "z"]
    assert (results.planes["packets"] > 0).all()
    assert len(given.resolved["topology"]["planes"][1]["network"]["sha256"]) == 64


def test_each_plane_is_exported_by_itself(tmp_path: Path) -> None:
    scenarios = Path(__file__).resolve().parents[2] / "scenarios"
    asked = ["export", str(scenarios / "command-and-data.toml")]
    refused = command(*asked)
    assert refused.exit_code == 2
    assert "write --out DIR" in refused.stderr
    assert command(*asked, "--out", tmp_path / "out").exit_code == 0
    for name, switches in (("data", 1), ("command", 4)):
        graph = topology.file(tmp_path / "out" / f"{name}-network.csv")
        assert graph.switches == switches
        assert (tmp_path / "out" / f"{name}-routing.csv").stat().st_size > 0
    paths = (tmp_path / "out" / "command-paths.csv").read_text().splitlines()
    assert [line.split(",")[:2] for line in paths[1:]] == [["computer", "heater"], ["tracker", "computer"]]


def test_a_load_is_of_the_rate_of_the_first_port() -> None:
    """Planes of a half and of all of the preset's rate: what is offered at the bound is what it says."""
    crossbar = {"kind": "crossbar", "terminals": 5}
    planes = [
        {"name": "a", "network": crossbar, "link_rate": "50 Gbit/s"},
        {"name": "b", "network": crossbar},
    ]
    given = Scenario.from_dict(
        {
            "topology": {"kind": "planes", "planes": planes},
            "technology": {"preset": "ethernet-100g"},
            "traffic": {"load": 0.2, "arrivals": "constant"},
            "run": {"duration": "2 ms", "precision": 0.0, "warmup": "0 s"},
        }
    )
    bound = inspect(given)["channel_load"]
    offered = fabriloom.run(given).summary["offered_mbytes_per_s"] / 0.2
    assert bound["load_bound"] == 1
    assert bound["accepted_mbytes_per_s_bound"] == pytest.approx(offered, rel=0.01)
