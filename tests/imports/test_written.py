"""Networks written for other simulators are the same networks when they are read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import command
from fabriloom import imports
from fabriloom.compile import Compiled, compile
from fabriloom.imports import written
from fabriloom.scenario import load

from .common import brought

DELAYS = """\
kind,source,target,delay
cable,s0,s1,250 ns
cable,s1,s2,3 ns
terminal,t0,s0,
terminal,t1,s1,10 ns
terminal,t2,s1,
terminal,t3,s2,
"""
RATES = DELAYS.replace("delay", "delay,rate").replace(" ns", " ns,8 Gbit/s").replace(",\n", ",,4 Gbit/s\n")
PARALLEL = DELAYS.replace("cable,s0,s1,250 ns\n", "cable,s0,s1,250 ns\ncable,s1,s0,20 ns\n")
REST = '[technology]\npreset = "generic"\ncycle = "1 ns"\n[traffic]\nload = 0.1\n'
TOPOLOGIES = {
    "delays": 'kind = "file"\npath = "delays.csv"',
    "rates": 'kind = "file"\npath = "rates.csv"',
    "parallel": 'kind = "file"\npath = "parallel.csv"',
    "torus": 'kind = "torus"\nshape = [3, 4]',
    "no switch": 'kind = "cable"',
}
KINDS = {"anynet": "network.anynet", "hpcc": "topology.txt", "simgrid": "platform.xml"}


def compiled(folder: Path, topology: str, delays: str = DELAYS) -> Compiled:
    for name, text in (("delays", delays), ("rates", RATES), ("parallel", PARALLEL)):
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    (folder / "net.toml").write_text(f"[topology]\n{topology}\n{REST}", encoding="utf-8")
    return compile(load(folder / "net.toml"))


def wires(one: Compiled, names: bool) -> list[tuple[str, str, int, int]]:
    """Return the ends of each link, the time of a character, and that of its way."""
    graph, arrays = one.graph, one.arrays
    ends = [*(graph.switch_names if names else ["s"] * graph.switches)]
    ends += graph.terminal_names if names else ["t"] * graph.terminals
    character, arrival = (arrays[f"link_{name}_ticks"].tolist() for name in ("character", "arrival"))
    vertices = zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True)
    return sorted(
        (
            ends[source],
            ends[target],
            character[link] * one.tick_ps,
            (arrival[link] - character[link]) * one.tick_ps,
        )
        for link, (source, target) in enumerate(vertices)
    )


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (kind, shape)
        for kind in KINDS
        for shape in TOPOLOGIES
        if kind != "anynet" or shape in ("delays", "torus")
    ],
)
def test_the_same_network_comes_back(kind: str, shape: str, tmp_path: Path) -> None:
    before = compiled(tmp_path, TOPOLOGIES[shape])
    path = tmp_path / KINDS[kind]
    path.write_text(written.files(before.graph, before.arrays, before.tick_ps)[path.name], encoding="utf-8")
    if kind == "anynet":  # it has no delays of terminals
        before = compiled(tmp_path, TOPOLOGIES[shape], DELAYS.replace("10 ns", ""))
    brought(imports.read(kind, path), tmp_path)
    after = compiled(tmp_path, 'kind = "file"\npath = "network.csv"')
    assert wires(before, kind == "simgrid") == wires(after, kind == "simgrid")


def test_what_a_simulator_cannot_hold_is_not_written(tmp_path: Path) -> None:
    found = {
        shape: sorted(written.files(one.graph, one.arrays, one.tick_ps))
        for shape in ("rates", "parallel", "no switch", "one way")
        for one in [compiled(tmp_path, TOPOLOGIES.get(shape, 'kind = "kautz"\ndegree = 2\nlength = 2'))]
    }
    others = ["platform.xml", "topology.txt"]
    assert found == {"rates": others, "parallel": others, "no switch": others, "one way": []}


def test_the_command_writes_them(tmp_path: Path) -> None:
    compiled(tmp_path, TOPOLOGIES["torus"])
    ask = ["export", str(tmp_path / "net.toml"), "--out", str(tmp_path / "out")]
    assert command(*ask).exit_code == 0
    assert (tmp_path / "out" / "network.anynet").read_text().startswith("router 0 node 0 router 4 1 ")
    assert {path.name for path in (tmp_path / "out").iterdir()} >= set(KINDS.values())


def test_booksim_takes_a_number_behind_a_node_for_a_latency_between_routers(tmp_path: Path) -> None:
    """Its parser stores every latency with routers; where there is none of this number, it crashes."""
    before = compiled(tmp_path, TOPOLOGIES["delays"])
    text = written.files(before.graph, before.arrays, before.tick_ps)["network.anynet"]
    assert text.splitlines()[1] == "router 1 router 0 251 router 2 4 node 1 node 2"
