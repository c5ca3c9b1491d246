"""Tables as files for others, and back in: the same routes, lanes and network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import imports, routing, topology
from fabriloom.cli.app import app
from fabriloom.routing import dumps
from fabriloom.topology import Graph
from typer.testing import CliRunner

NETWORKS: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("dragonfly", {"switches_per_group": 4, "global_links": 2}, {"kind": "hops"}, 2),
    ("jellyfish", {"switches": 12, "degree": 3, "terminals_per_switch": 2}, {"kind": "minimal-layers"}, 3),
    ("torus", {"shape": [4, 4]}, {"kind": "dimension-order", "variant": "minimal"}, 4),
    ("clos", {"terminals": 8, "switch_ports": 4}, {"adaptive": False}, 1),
    ("kautz", {"degree": 2, "length": 3}, {"kind": "hops"}, 3),
]


def ways(graph: Graph, table: routing.RouteTable) -> list[list[int]]:
    """Return the lanes by which packets leave, per switch and terminal."""
    groups = (table.route[:, table.terminal_class] >> 1).ravel().tolist()
    return [sorted(table.group(group).tolist()) for group in groups]


@pytest.mark.parametrize(("kind", "parameters", "rule", "lanes"), NETWORKS)
def test_a_table_by_name_comes_back(
    kind: str, parameters: dict[str, Any], rule: dict[str, Any], lanes: int, tmp_path: Path
) -> None:
    graph = topology.build(kind, **parameters)
    choice = "dateline" if kind == "torus" else None
    table = routing.build(graph, **rule, lanes=lanes)
    file = tmp_path / "table.csv"
    file.write_text(dumps.by_name(graph, table, lanes, choice), encoding="utf-8")
    again = routing.divide(graph, routing.build(graph, "table", path=file, lanes=lanes), lanes)
    assert ways(graph, again) == ways(graph, routing.divide(graph, table, lanes, choice))
    assert routing.dependency_cycle(graph, again, lanes) is None


def test_a_random_switch_cannot_be_written() -> None:
    graph = topology.build("grid", shape=[3, 3])
    with pytest.raises(routing.RoutingError, match="random switch"):
        dumps.by_name(graph, routing.build(graph, "valiant", lanes=2), 2)


@pytest.mark.parametrize("kind", ["clos", "grid", "slim_fly"])
def test_a_subnet_comes_back(kind: str, tmp_path: Path) -> None:
    parameters = {"clos": {"terminals": 8, "switch_ports": 4}, "grid": {"shape": [3, 3]}}
    graph = topology.build(kind, **parameters.get(kind, {"order": 3}))
    table = routing.build(graph, adaptive=False)
    assert dumps.fits_forwarding(graph, table)
    for name, text in (("net.out", dumps.ibnetdiscover(graph)), ("lfts.out", dumps.lfts(graph, table))):
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = imports.read("ibnetdiscover", tmp_path / "net.out", tmp_path / "lfts.out")
    assert sorted(found.graph.switch_names) == sorted(graph.switch_names)
    assert sorted(found.graph.terminal_names) == sorted(graph.terminal_names)
    assert found.graph.links == graph.links
    named = {name: number for number, name in enumerate(graph.switch_names)}
    numbers = {name: number for number, name in enumerate(graph.terminal_names)}
    read = {(named[one], numbers[other]): links[0] for one, other, links in found.routes}
    count = 0
    for (switch, terminal), link in read.items():
        group = int(table.route[switch, table.terminal_class[terminal]]) >> 1
        target = graph.link_target[table.group(group)[0]]
        end = found.graph.link_target[found.graph.link_names.index(link)]
        assert found.graph.vertex_name(int(end)) == graph.vertex_name(int(target))
        count += 1
    between = graph.link_target[table.group_links[table.group_start[table.route >> 1]].astype(int)]
    assert count == int((between < graph.switches).sum())


def test_what_forwarding_tables_cannot_hold() -> None:
    ring = topology.ring(5)
    assert not dumps.fits_forwarding(ring, routing.build(ring, "minimal-layers", lanes=2, adaptive=False))
    grid = topology.grid([3, 3])
    assert not dumps.fits_forwarding(grid, routing.build(grid, "shortest-path"))
    kautz = topology.kautz(2, 3)
    assert not dumps.fits_forwarding(kautz, routing.build(kautz, "shortest-path", adaptive=False))


def test_the_command_writes_them(tmp_path: Path) -> None:
    lines = [
        "[topology]",
        'kind = "slim_fly"',
        "order = 3",
        "[technology]",
        'preset = "generic"',
        "lanes = 2",
    ]
    (tmp_path / "net.toml").write_text("\n".join([*lines, "[traffic]", "load = 0.1"]), encoding="utf-8")
    ask = ["export", str(tmp_path / "net.toml"), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, ask).exit_code == 0
    assert not (tmp_path / "out" / "lfts.out").exists()
    text = (tmp_path / "out" / "table.csv").read_text(encoding="utf-8")
    assert text.startswith("switch,terminal,links\n")
    assert np.all([f"/{lane}" in text for lane in (0, 1)])
    more = ["--set", "technology.lanes=1", "--set", "routing.adaptive=false", "--force"]
    assert CliRunner().invoke(app, [*ask, *more]).exit_code == 0
    assert "Unicast lids" in (tmp_path / "out" / "lfts.out").read_text(encoding="utf-8")
