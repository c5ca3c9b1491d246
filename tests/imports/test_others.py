"""Networks of BookSim and of the HPCC simulator, and the command that reads all kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom import imports, run
from fabriloom.reading import ReadError
from fabriloom.scenario import load

ANYNET = "router 0 node 0 node 1 5 router 1 4\nrouter 1 node 2 router 0 3 router 2\nrouter 2 node 3\n"
HPCC = "5 2 4\n2 3\n0 2 100Gbps 0.001ms 0\n1 2 100Gbps 0.001ms 0\n2 3 400Gbps 500ns 0.01\n4 3 25Gbps 1us 0\n"


def read(kind: str, text: str, folder: Path) -> imports.Imported:
    (folder / "net.txt").write_text(text)
    return imports.read(kind, folder / "net.txt")


def test_a_network_of_booksim(tmp_path: Path) -> None:
    graph = read("anynet", ANYNET, tmp_path).graph
    assert graph.switch_names == ["r0", "r1", "r2"]
    assert graph.terminal_names == ["n0", "n1", "n2", "n3"]
    delays = dict(zip(graph.link_names, graph.attributes["delay_ps"].tolist(), strict=True))
    assert (delays["r0>r1"], delays["r1>r0"], delays["n1>r0"]) == (3000, 2000, 4000)
    assert delays["r2>r1"] != delays["r2>r1"]  # not given


def test_a_topology_of_hpcc(tmp_path: Path) -> None:
    found = read("hpcc", HPCC, tmp_path)
    assert found.graph.switch_names == ["s2", "s3"]
    assert found.graph.attributes["rate_bits_per_s"].tolist() == [1e11] * 4 + [4e11] * 2 + [2.5e10] * 2
    assert found.graph.attributes["delay_ps"].tolist() == [1e6] * 4 + [5e5] * 2 + [1e6] * 2
    assert "lose" in found.remarks[0]
    for name, text in found.files("net").items():
        (tmp_path / name).write_text(text)
    assert load(tmp_path / "scenario.toml").name == "net"


def test_packets_of_a_flit_simulator(tmp_path: Path) -> None:
    text = "# of a simulator\ncycle source destination flits\n7 0 2 4\n\n3,1,2,1 # short\n3 0 1 2\n"
    (tmp_path / "net.txt").write_text(text)
    found = imports.packets([tmp_path / "net.txt"])
    assert found.summary() == [("packets", "3"), ("terminals", "3"), ("last cycle", "7")]
    for name, content in found.files("net").items():
        (tmp_path / name).write_text(content)
    results = run(load(tmp_path / "scenario.toml").with_settings({"output.trace": True}))
    trace = results.trace.sort("created_ns", "source")
    assert trace["created_ns"].to_list() == [3, 3, 7]
    assert trace["source"].to_list() == ["t.0", "t.1", "t.0"]
    assert trace["length_bytes"].to_list() == [16, 8, 32]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("0 1 2\n", "3 values, where 4 are meant", 1),
        ("# x\n0 1 2 1\n0 1 2 0\n", "at least one flit", 3),
        ("0 1 2 1\n1.5 1 2 1\n", '"1.5" is no cycle', 2),
        ("0 1 n2 1\n", '"n2" is no destination', 1),
        ("# nothing\n", "no packets", None),
    ],
)
def test_a_wrong_list_of_packets_is_pointed_at(
    text: str, message: str, line: int | None, tmp_path: Path
) -> None:
    (tmp_path / "net.txt").write_text(text)
    with pytest.raises(ReadError) as caught:
        imports.packets([tmp_path / "net.txt"])
    assert message in caught.value.message
    assert (caught.value.place and caught.value.place[1]) == line


@pytest.mark.parametrize(
    ("kind", "text", "message", "line"),
    [
        ("anynet", "router 0 node\n", "node without its number", 1),
        ("anynet", "router 0 nod 0\n", '"nod" where router or node is meant', 1),
        ("anynet", ANYNET + "router 3 node 4 node 5\n", "falls into 2 parts", 4),
        ("anynet", ANYNET + "router 2 node 3\n", "node 3 is joined already (line 3)", 4),
        ("anynet", "router 0 router 0\n", "joined to itself", 1),
        ("anynet", "router 0 node 0 0\n", '"0" is no whole number from 1', 1),
        ("hpcc", HPCC.replace("5 2 4", "5 2 5"), "5 links are announced, 4 follow", 1),
        ("hpcc", HPCC.replace("100Gbps", "100Gb/s", 1), '"100Gb/s" is no rate', 3),
        ("hpcc", HPCC.replace("4 3 25", "9 3 25"), '"9" is no whole number from 0 to 4', 6),
        ("hpcc", HPCC.replace("500ns", "500"), '"500" is no delay', 5),
    ],
)
def test_a_wrong_network_is_pointed_at(kind: str, text: str, message: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        read(kind, text, tmp_path)
    assert message in caught.value.message
    assert caught.value.place is not None
    assert caught.value.place[1] == line


def test_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        imports.read("ibnetdiscovr", tmp_path / "x")
    assert caught.value.hint == "did you mean ibnetdiscover?"
