"""Networks of different kinds that only terminals join."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom import Scenario, topology
from fabriloom.cli.app import app
from fabriloom.simulate import compare
from fabriloom.studies.inspection import inspect
from typer.testing import CliRunner

CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")
RING = {"name": "command", "network": {"kind": "ring", "switches": 4}, "link_rate": "10 Mbit/s"}
STAR = {"name": "data", "network": {"kind": "crossbar", "terminals": 3}}


def scenario(planes: list[dict[str, Any]], choice: str | None = None, **traffic: Any) -> Scenario:
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
    one = scenario([rails], load=0.9)
    four = Scenario.from_dict(
        one.resolved | {"topology": {"kind": "crossbar", "terminals": 3, "replicate": 4}}
    )
    found = [fabriloom.run(given).summary["packets"]["delivered"] for given in (one, four)]
    assert found[0] == found[1] > 500


@pytest.mark.parametrize("choice", CHOICES)
def test_engine_and_twin_agree(choice: str) -> None:
    found = compare(scenario([STAR, RING], choice, load=0.2), 1_000_000_000)
    assert found.identical
    assert found.packets > 50


def test_each_plane_has_its_rate_and_its_bound() -> None:
    """A link of 10 Mbit/s carries a tenth of one of 100."""
    pairs = {"kind": "map", "map": ["t1", "t0", "t3", "t2"]}
    bounds = []
    for rate in ("10 Mbit/s", "100 Mbit/s"):
        rings = [RING | {"name": name, "link_rate": rate} for name in ("one", "other")]
        found = inspect(scenario(rings, "nominal", pattern=pairs))
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
    found = inspect(scenario(wires, "first-free"))
    loads = [plane["load"] for plane in found["planes"]]
    assert loads[0] == pytest.approx(loads[1])  # in terms of what a link carries
    results = fabriloom.run(scenario(wires, "first-free", load=1.0))
    fast, slow = results.planes["packets"].to_list()
    assert fast == pytest.approx(10 * slow, rel=0.1)


def test_a_plane_from_a_file_keeps_its_names(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(
        "kind,source,target\nswitch,s,\nterminal,x,s\nterminal,y,s\nterminal,z,s\n"
    )
    data = scenario([STAR | {"terminals": ["x", "y", "w"]}]).resolve()
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
    runner = CliRunner()
    refused = runner.invoke(app, asked)
    assert refused.exit_code == 2
    assert "write --out DIR" in refused.stderr
    assert runner.invoke(app, [*asked, "--out", str(tmp_path / "out")]).exit_code == 0
    for name, switches in (("data", 1), ("command", 4)):
        graph = topology.file(tmp_path / "out" / f"{name}-network.csv")
        assert graph.switches == switches
        assert (tmp_path / "out" / f"{name}-routing.csv").stat().st_size > 0
    paths = (tmp_path / "out" / "command-paths.csv").read_text().splitlines()
    assert [line.split(",")[:2] for line in paths[1:]] == [["computer", "heater"], ["tracker", "computer"]]
