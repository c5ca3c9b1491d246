"""Traces of applications: calls of MPI as dumpi2ascii prints them, and Chakra nodes as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fabriloom import Scenario, imports, run
from fabriloom.imports import ReadError

_NS = 10**9


class Calls:
    """What dumpi2ascii prints of one rank."""

    def __init__(self) -> None:
        self.text, self.now = "", 12 * _NS

    def call(self, name: str, *fields: str, takes: int = 100, pause: int = 0) -> Calls:
        self.now += pause
        entered, left = (f"{one // _NS}.{one % _NS:09d}" for one in (self.now, self.now + takes))
        self.now += takes
        body = "".join(f"{one}\n" for one in fields)
        thread = "cputime 0.400000000 seconds in thread 0."
        self.text += f"{name} entering at walltime {entered}, {thread}\n{body}"
        self.text += f"{name} returning at walltime {left}, {thread}\n"
        return self


def exchange(other: int, request: int = 4) -> Calls:
    """An Irecv and an Isend, 2 us of computing, and a Waitall for both."""
    kind = ("int count=8", "MPI_Datatype datatype=11 (MPI_DOUBLE)")
    comm = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
    got, sent = f"MPI_Request request=[{request}]", f"MPI_Request request=[{request + 1}]"
    return (
        Calls()
        .call("MPI_Init", "int argc=1")
        .call("MPI_Irecv", *kind, f"int source={other}", "int tag=5", comm, got)
        .call("MPI_Isend", *kind, f"int dest={other}", "int tag=5", comm, sent)
        .call("MPI_Waitall", "int count=2", f"MPI_Request requests[2]=[{request}, {request + 1}]", pause=2000)
        .call("MPI_Barrier", comm)
        .call("MPI_Finalize")
    )


DUMPI = exchange(1).text


def send_of(number: str = "2", after: str = "1", size: str = "4096") -> dict[str, Any]:
    attributes = [{"name": "comm_dst", "int32Val": 1}, {"name": "comm_size", "int64Val": size}]
    return {"id": number, "name": "s", "type": "COMM_SEND_NODE", "dataDeps": [after], "attr": attributes}


COMP = {"id": "1", "name": "c", "type": "COMP_NODE", "durationMicros": "3", "attr": []}
SENDER = [{"version": "0.0.4"}, COMP, send_of()]
RECEIVER = [
    {"version": "0.0.4"},
    {
        "id": "1",
        "name": "r",
        "type": "COMM_RECV_NODE",
        "attr": [{"name": "comm_src", "int32Val": 0}, {"name": "comm_size", "int64Val": "4096"}],
    },
    {"id": "2", "name": "a", "type": "COMM_COLL_NODE", "ctrlDeps": ["1"]},
]
CHAKRA = "\n".join(json.dumps(one) for one in SENDER)
OTHER_RANK = {"dumpi": exchange(0).text, "chakra": json.dumps(RECEIVER[1])}


def put(folder: Path, *texts: str) -> list[Path]:
    files = [folder / f"trace-{number:04d}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return files


def ran(folder: Path, trace: Any) -> Any:
    for name, text in trace.files("t").items():
        (folder / name).write_text(text, encoding="utf-8")
    return run(Scenario.from_dict({**_loaded(folder)}, folder))


def _loaded(folder: Path) -> dict[str, Any]:
    import tomllib

    return tomllib.loads((folder / "scenario.toml").read_text(encoding="utf-8"))


def test_calls_of_mpi_run(tmp_path: Path) -> None:
    found = imports.read("dumpi", *put(tmp_path, exchange(1).text, exchange(0).text))
    assert found.summary() == [("ranks", "2"), ("operations", "8"), ("left out", "2 MPI_Barrier calls")]
    results = ran(tmp_path, found)
    assert results.end_reason == "drained"
    assert results.hosts["bytes_received"].to_list() == [64, 64]
    # Init, 2 us of computing beside the messages, and hardly more.
    assert 2_000 < results.hosts["ended_ns"].max() < 4_000


def test_nodes_of_chakra_run(tmp_path: Path) -> None:
    texts = [json.dumps(RECEIVER[0]) + "".join(json.dumps(one, indent=2) for one in RECEIVER[1:])]
    found = imports.read("chakra", *put(tmp_path, CHAKRA, *texts))
    assert found.summary() == [("ranks", "2"), ("operations", "4"), ("left out", "1 COMM_COLL")]
    results = ran(tmp_path, found)
    assert results.end_reason == "drained"
    assert results.hosts["bytes_received"].to_list() == [0, 4096]
    assert results.hosts["ended_ns"].max() > 3_000


@pytest.mark.parametrize(
    ("kind", "texts", "message", "line"),
    [
        (
            "dumpi",
            [DUMPI.replace("[2]=[4, 5]", "[2]=[4, 7]")],
            "rank 0 waits for request 7, which was never",
            23,
        ),
        ("dumpi", [DUMPI[: DUMPI.rindex("MPI_Waitall")]], "MPI_Waitall of line 20 does not return", None),
        ("dumpi", [DUMPI.replace("dest=1", "dest=9")], "rank 0 exchanges a message with rank 9", None),
        ("dumpi", ["nothing\n"], "no call of MPI", 1),
        (
            "chakra",
            [CHAKRA.replace('["1"]', '["7"]')],
            "node 2 of rank 0 waits for node 7, which is never",
            3,
        ),
        ("chakra", [CHAKRA[:-20]], "the file ends within a node", 3),
        ("chakra", [CHAKRA.replace('"int32Val": 1', '"int32Val": 5')], "with rank 5: no other one of 2", 3),
        ("chakra", [CHAKRA.replace("COMP_NODE", 'COMP_NODE" : 3')], "this is no JSON", 2),
    ],
)
def test_wrong_traces_are_pointed_at(
    tmp_path: Path, kind: str, texts: list[str], message: str, line: int | None
) -> None:
    with pytest.raises(ReadError) as error:
        imports.read(kind, *put(tmp_path, *texts, OTHER_RANK[kind]))
    assert message in str(error.value)
    assert error.value.place is not None
    assert line is None or error.value.place[1] == line


def test_every_rank_has_a_file(tmp_path: Path) -> None:
    first, second = put(tmp_path, DUMPI, exchange(0).text)
    with pytest.raises(ReadError, match="this is rank 1, and rank 0 is missing"):
        imports.read("dumpi", second)
    with pytest.raises(ReadError, match="rank 0 is there twice"):
        imports.read("dumpi", first, first, second)
