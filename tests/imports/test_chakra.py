"""Chakra traces as programs around PyTorch make them: other forms of the file, and what their nodes mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fabriloom import imports
from fabriloom.reading import ReadError


def put(folder: Path, *texts: str) -> list[Path]:
    """Write a file per rank."""
    files = [folder / f"trace.{rank}.json" for rank in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


def read(files: list[Path]) -> imports.Trace:
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
    within = read(put(tmp_path, GRAPH, json.dumps(json.loads(GRAPH))))
    plain = "\n".join(json.dumps(line) for line in lines)
    apart = read(put(tmp_path, plain, plain))
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
