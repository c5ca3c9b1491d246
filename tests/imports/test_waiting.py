"""Traces in which one waits for another: nodes of Chakra as PyTorch writes them, and packets of netrace.

The files of netrace are written here, byte by byte.
"""

from __future__ import annotations

import bz2
import json
import struct
import sys
from pathlib import Path

import pytest
from fabriloom import Results, imports, run
from fabriloom.imports import ReadError

from .common import brought

Packet = tuple[int, int, int, int, int, tuple[int, ...]]
"""Cycle, id, type, source, destination, ids of those that wait for it."""

REQUEST, ANSWER = 1, 2
PACKETS: list[Packet] = [
    (5000, 10, REQUEST, 0, 3, (11, 12)),
    (5001, 13, REQUEST, 1, 1, (14,)),
    (5002, 11, ANSWER, 3, 0, (15,)),
    (5003, 14, REQUEST, 1, 2, ()),
    (5004, 12, REQUEST, 3, 2, ()),
    (6000, 15, REQUEST, 0, 1, ()),
]


def trace(
    packets: list[Packet], *, nodes: int = 4, notes: bytes = b"made by hand\0", count: int = -1
) -> bytes:
    """The bytes of a trace with one region."""
    count = len(packets) if count < 0 else count
    head = struct.pack("<If30sBxQQII8x", 0x484A5455, 1.0, b"hand", nodes, 9000, count, len(notes), 1)
    body = b"".join(
        struct.pack("<QIIBBBBB", cycle, name, 0x1000, kind, source, target, 0, len(waiting))
        + struct.pack(f"<{len(waiting)}I", *waiting)
        for cycle, name, kind, source, target, waiting in packets
    )
    return head + notes + struct.pack("<QQQ", 0, 9000, count) + body


def netrace(folder: Path, content: bytes) -> imports.Trace:
    path = folder / "one.tra.bz2"
    path.write_bytes(content)
    found = imports.read("netrace", path)
    assert isinstance(found, imports.Trace)
    return found


def ran(folder: Path, content: bytes) -> Results:
    return run(brought(netrace(folder, content), folder, ["output.messages=true"]))


@pytest.mark.parametrize("packed", [True, False])
def test_a_packet_waits_for_its_cycle_and_for_those_before(tmp_path: Path, packed: bool) -> None:
    content = trace(PACKETS)
    found = ran(tmp_path, bz2.compress(content) if packed else content)
    assert found.summary["end"]["reason"] == "drained"
    rows = {row["tag"]: row for row in found.messages.iter_rows(named=True)}
    made = {tag: row["made_ns"] for tag, row in rows.items()}
    assert {tag: row["bytes"] for tag, row in rows.items()} == {0: 8, 2: 72, 3: 8, 4: 8, 5: 8}
    assert found.summary["packets"]["delivered"] == 5, "a packet of the trace is one packet"
    # The first cycle is 0; what waits leaves when the one before has come, or in its own later cycle.
    assert made[0] == 0
    assert made[2] == made[4] == rows[0]["received_ns"] > 4
    assert made[3] == 3
    assert made[5] == 1000 > rows[2]["received_ns"]


def test_the_clock_does_not_wait_for_the_packets(tmp_path: Path) -> None:
    """Node 3 answers late; its own packet of a later cycle leaves in its cycle all the same."""
    packets = [*PACKETS[:1], (5001, 11, ANSWER, 3, 0, ()), (5002, 12, REQUEST, 3, 2, ())]
    packets[0] = (5000, 10, REQUEST, 0, 3, (11,))
    found = ran(tmp_path, trace(packets))
    made = {row["tag"]: row["made_ns"] for row in found.messages.iter_rows(named=True)}
    assert made[2] == 2 < made[1]


def test_what_is_too_much_is_cut_at_a_cycle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packets: list[Packet] = [(7 * (at // 3), at, REQUEST, at % 4, (at + 1) % 4, ()) for at in range(12)]
    packets[0] = (0, 0, REQUEST, 0, 1, (11,))
    monkeypatch.setattr(sys.modules["fabriloom.imports.netrace"], "_MOST_PACKETS", 8)
    found = netrace(tmp_path, trace(packets))
    assert found.left_out == {"packets from cycle 14 on": 6}
    assert "".join(found.files("cut")["trace.goal"]).count("send") == 6
    packets[7] = (*packets[7][:3], 0, 0, ())
    assert "6 packets from cycle 14 on" in dict(found.summary())["left out"]


WRONG = [
    (b"", "ends within its header"),
    (b"num_ranks 2\n" * 20, "a trace with 0x484a5455"),
    (trace(PACKETS)[:4] + struct.pack("<f", 2.0) + trace(PACKETS)[8:], "version 2, 4 nodes"),
    (trace(PACKETS, nodes=0), "0 nodes"),
    (trace(PACKETS)[:80], "ends within its notes"),
    (trace(PACKETS)[:100], "ends within its regions"),
    (trace(PACKETS)[:-3], "ends within packet 6 of 6"),
    (trace(PACKETS, count=9), "ends within packet 7 of 9"),
    (trace([]), "it has no packets"),
    (trace([(0, 1, 7, 0, 1, ())]), "packet 1 is of the unknown type 7"),
    (trace([(0, 1, 1, 0, 4, ())]), "packet 1 goes from node 0 to node 4 of 4"),
    (trace([(9, 1, 1, 0, 2, ()), (8, 2, 1, 0, 2, ())]), "packet 2 of cycle 8 follows one of cycle 9"),
    (trace([(0, 1, 1, 0, 2, ()), (8, 1, 1, 0, 2, ())]), "packet 1 is there already"),
    (trace([(0, 1, 1, 0, 2, (77,))]), "packet 77 waits for packet 1, and never comes"),
    (trace([(0, 1, 1, 0, 2, (2,)), (8, 2, 1, 0, 2, ())]), "packet 2 leaves node 0 and waits for packet 1"),
    (trace([(0, 1, 1, 0, 2, ()), (8, 2, 1, 2, 0, (1,))]), "packet 1 waits for packet 2, which comes behind"),
    (bz2.compress(trace(PACKETS))[:60], "cannot be read"),
    (b"BZh9" + b"x" * 100, "cannot be read"),
]


@pytest.mark.parametrize(("content", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_traces_are_reported(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        netrace(tmp_path, content)


def test_a_trace_is_one_file(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="2 files"):
        imports.read("netrace", "a", "b")
    with pytest.raises(ReadError, match="this is no file"):
        imports.read("netrace", tmp_path / "missing")


def put(folder: Path, *texts: str) -> list[Path]:
    """Write a file per rank."""
    files = [folder / f"trace.{rank}.json" for rank in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


def chakra(files: list[Path]) -> imports.Trace:
    found = imports.read("chakra", *files)
    assert isinstance(found, imports.Trace)
    return found


def goal(found: imports.Trace) -> str:
    return "".join(found.files("trace")["trace.goal"])


GRAPH = """{
  "workload_graph": [
    {"Id": 5, "Name": "multiply", "NodeType": 4, "data_deps": [], "runtime": 3, "is_cpu_op": false},
    {"Id": 6, "NodeType": 7, "ctrlDeps": [2], "data_deps": [5], "runtime": 2, "is_cpu_op": true},
    {
      "Id": 7, "Name": "gather", "NodeType": 7, "data_deps": [6], "runtime": 9, "is_cpu_op": false,
      "comm_type": 2, "comm_size": 1000
    }
  ],
  "workload_name": "small"
}
"""


def test_nodes_within_a_workload_graph(tmp_path: Path) -> None:
    nodes = json.loads(GRAPH)["workload_graph"]
    lines = [
        {
            "id": node["Id"],
            "type": {4: "COMP_NODE", 7: "COMM_COLL_NODE"}[node["NodeType"]],
            "durationMicros": node["runtime"],
            "dataDeps": node["data_deps"],
            "ctrlDeps": node.get("ctrlDeps", []),
            "attr": [
                {"name": name, ("boolVal" if name == "is_cpu_op" else "int64Val"): node[name]}
                for name in ("is_cpu_op", "comm_type", "comm_size")
                if name in node
            ],
        }
        for node in nodes
    ]
    files = put(tmp_path, GRAPH, json.dumps(json.loads(GRAPH)))
    files[1].write_text(GRAPH, encoding="utf-16")
    within = chakra(files)
    plain = "\n".join(json.dumps(line) for line in lines)
    apart = chakra(put(tmp_path, plain, plain))
    assert goal(within) == goal(apart)
    # The processor takes 2 us to begin what the device then gathers; node 2 is not there.
    assert [word in goal(within) for word in ("calc 3000", "calc 2000", "send 1000b to 1")] == [True] * 3
    assert within.left_out == {"waits for nodes that are not there": 2}


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('{\n  "schema": "1.1.0-chakra.0.0.4", "nodes": [{"id": 2}]}', "a trace as PyTorch writes it", 2),
        ('{"schemaVersion": 1, "traceEvents": [{"ph": "X"}]}', "a trace as PyTorch writes it", 1),
        ('{"version": "0.0.4", "nodes": [{"id": 2}]}', "nodes within an object", 1),
        (GRAPH[: GRAPH.index('"comm_size')], "the file ends within a node", 7),
        (GRAPH.replace('"Id": 5', '"Nr": 5'), '"None" is no id', 3),
        (GRAPH.replace('"comm_type": 2,', ""), "node 7 is a collective of no known type", None),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, text: str, message: str, line: int | None) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        imports.read("chakra", *put(tmp_path, text, GRAPH))
    assert caught.value.place is not None
    assert line is None or caught.value.place[1] == line


def test_a_trace_without_a_node_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"trace\.0\.json: no node of a trace"):
        imports.read("chakra", *put(tmp_path, '{"version": "0.0.4"}'))


@pytest.mark.parametrize("kind", ["chakra", "dumpi", "liballprof"])
def test_a_packed_file_is_to_be_unpacked(tmp_path: Path, kind: str) -> None:
    (tmp_path / "trace.0.tar.gz").write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(ReadError, match="a packed file") as caught:
        imports.read(kind, tmp_path / "trace.0.tar.gz")
    assert caught.value.hint.startswith("unpack it, and name one file for each rank")


def test_a_binary_trace_of_dumpi_is_to_be_printed(tmp_path: Path) -> None:
    (tmp_path / "trace-0000.bin").write_bytes(b"\xff\xaa\xddDUMPI\x00\x00\x00\x00")
    with pytest.raises(ReadError, match="a binary trace of DUMPI") as caught:
        imports.read("dumpi", tmp_path / "trace-0000.bin")
    assert "dumpi2ascii" in caught.value.hint
