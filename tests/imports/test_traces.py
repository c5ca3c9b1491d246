"""Traces of applications: calls of MPI as dumpi2ascii and liballprof have them, and Chakra nodes as JSON.

Collectives as messages: what each member knows at the end, for groups of any size.
"""

from __future__ import annotations

import io
import json
import re
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from fabriloom import imports, run
from fabriloom.imports import ReadError
from fabriloom.imports.collectives import KINDS, Collective, add
from fabriloom.imports.traces import Rank, Trace
from hypothesis import given, settings
from hypothesis import strategies as st

from .common import brought

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


def exchange(other: int) -> Calls:
    """An Irecv and an Isend, 2 us of computing, and a Waitall for both."""
    kind = ("int count=8", "MPI_Datatype datatype=11 (MPI_DOUBLE)")
    comm = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
    got, sent = "MPI_Request request=[4]", "MPI_Request request=[5]"
    return (
        Calls()
        .call("MPI_Init", "int argc=1")
        .call("MPI_Irecv", *kind, f"int source={other}", "int tag=5", comm, got)
        .call("MPI_Isend", *kind, f"int dest={other}", "int tag=5", comm, sent)
        .call("MPI_Waitall", "int count=2", "MPI_Request requests[2]=[4, 5]", pause=2000)
        .call("MPI_Barrier", comm)
        .call("MPI_Finalize")
    )


DUMPI = exchange(1).text


COMP = {"id": "1", "name": "c", "type": "COMP_NODE", "durationMicros": "3", "attr": []}
SENDER = [
    {"version": "0.0.4"},
    COMP,
    {
        "id": "2",
        "name": "s",
        "type": "COMM_SEND_NODE",
        "dataDeps": ["1"],
        "attr": [{"name": "comm_dst", "int32Val": 1}, {"name": "comm_size", "int64Val": "4096"}],
    },
]
RECEIVER = [
    {"version": "0.0.4"},
    {
        "id": "1",
        "name": "r",
        "type": "COMM_RECV_NODE",
        "attr": [{"name": "comm_src", "int32Val": 0}, {"name": "comm_size", "int64Val": "4096"}],
    },
    {"id": "2", "name": "a", "type": "MEM_LOAD_NODE", "ctrlDeps": ["1"]},
]
CHAKRA = "\n".join(json.dumps(one) for one in SENDER)


def allprof(rank: int, *lines: str) -> str:
    """What liballprof writes of a rank of two: the lines between its first and its last call."""
    told = [line.replace("WORLD", f"94853248035456,{rank},2") for line in lines]
    first = f"# clockdiff: 0.1 s (relative to rank 0)\nMPI_Init:-:140737:140736:{1_000_000 + rank}\n"
    return "\n".join([first + "MPI_Comm_rank:1000010:7:8:1000011", *told, "MPI_Finalize:1000900:-", ""])


ALLPROF = allprof(
    0,
    "MPI_Irecv:1000020:7104:8:10,8,8:1:5:WORLD:7008:1000021",
    "MPI_Isend:1000021:7204:8:10,8,8:1:5:WORLD:7016:1000022",
    "MPI_Test:1000023:7008:88:96:1000024",
    "MPI_Waitall:1000320.5 : 3 : 7000 : 5839040 : 1000350",
    "MPI_Wait:1000350:7008:96:1000351",
    "MPI_Allgatherv:1000400:1:2:10,8,8:2:3:2,4:5:0,2:10,8,8:WORLD:1000500",
    "MPI_Bcast:1000500:1:2:10,8,8:0:77,0,1:1000501",
    "MPI_Barrier:1000510:77,1,5:1000520",
)
OTHER_RANK = {
    "liballprof": allprof(
        1,
        "MPI_Sendrecv:1000020:1:8:10,8,8:0:5:2:8:10,8,8:0:5:WORLD:9:1000300",
        "MPI_Allgatherv:1000400:1:4:10,8,8:2:3:2,4:5:0,2:10,8,8:WORLD:1000500",
    ),
    "dumpi": exchange(0).text,
    "chakra": json.dumps(RECEIVER[1]),
}


def put(folder: Path, *texts: str) -> list[Path]:
    files = [folder / f"trace-{number:04d}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return files


def ran(folder: Path, trace: Any) -> Any:
    return run(brought(trace, folder))


def test_calls_of_mpi_run(tmp_path: Path) -> None:
    found = imports.read("dumpi", *put(tmp_path, exchange(1).text, exchange(0).text))
    assert found.summary() == [("ranks", "2"), ("operations", "12")]
    results = ran(tmp_path, found)
    assert results.end_reason == "drained"
    assert results.hosts["bytes_received"].to_list() == [65, 65]  # a message of a barrier has a byte
    # Init, 2 us of computing beside the messages, and hardly more.
    assert 2_000 < results.hosts["ended_ns"].max() < 4_000


def test_calls_that_liballprof_has_seen_run(tmp_path: Path) -> None:
    found = imports.read("liballprof", *put(tmp_path, ALLPROF, OTHER_RANK["liballprof"]))
    assert found.summary()[2] == (
        "left out",
        "1 MPI_Barrier calls in communicators that are not followed, "
        "1 MPI_Test calls, of which it is not told what has ended",
    )
    lines = [line.split(" tag ")[0] for line in operations(found, 0)]
    assert lines == ["recv 64b from 1", "send 64b to 1", "send 16b to 1", "recv 32b from 1"]
    results = ran(tmp_path, found)
    assert results.end_reason == "drained"
    assert results.hosts["bytes_received"].to_list() == [96, 80]
    # Computing: 298.5 us before the wait, 49 before the next call, 399 in all behind it.
    assert 740_000 < results.hosts["ended_ns"].max() < 780_000


def test_handles_of_four_bytes_in_traces_of_liballprof(tmp_path: Path) -> None:
    sends = [f"MPI_Isend:20:1:8:10,8,8:1:5:WORLD:{at}:21" for at in (7000, 7004, 7008)]
    text = allprof(0, *sends, "MPI_Waitall:22:2:7000:9:23", "MPI_Wait:30:7008:9:31")
    other = allprof(1, *["MPI_Recv:20:1:8:10,8,8:0:5:WORLD:9:21"] * 3)
    found = imports.read("liballprof", *put(tmp_path, text, other))
    goal = "".join(found.files("t")["trace.goal"])
    ended = [line.split()[2] for line in goal.split("rank 1")[0].splitlines() if " requires " in line]
    assert ran(tmp_path, found).end_reason == "drained"
    sent = re.findall(r"(l\d+): send", goal)
    assert [ended.count(one) for one in sent] == [1, 1, 1]


def test_many_requests_of_a_line_that_were_not_started(tmp_path: Path) -> None:
    send = "MPI_Isend:20:1:8:10,8,8:1:5:WORLD:{}:21"
    waits = [f"MPI_Waitall:22:{1 << 20}:6992:9:23"] * 200
    lines = [send.format(at) for at in (7008, 7000, 6984)]
    text = allprof(0, *lines, *waits, "MPI_Wait:30:6984:9:31")
    other = allprof(1, *["MPI_Recv:20:1:8:10,8,8:0:5:WORLD:9:21"] * 3)
    began = time.process_time()
    found = imports.read("liballprof", *put(tmp_path, text, other))
    assert time.process_time() - began < 3
    assert ran(tmp_path, found).end_reason == "drained"


@pytest.mark.parametrize(("order", "file"), [([2, 1, 0], 0), ([0, 1, 3, 2], 2)])
def test_a_communicator_of_all_ranks_in_another_order(tmp_path: Path, order: list[int], file: int) -> None:
    """Rank 1 of the first and ranks 0 and 1 of the second keep their numbers, and see no sign of it."""
    texts = [
        allprof(rank, f"MPI_Allreduce:1000020:1:2:8:10,8,8:0:99,{number},{len(order)}:1000030")
        for rank, number in enumerate(order)
    ]
    with pytest.raises(ReadError, match="a communicator of all ranks in another order") as error:
        imports.read("liballprof", *put(tmp_path, *texts))
    assert error.value.place is not None
    assert error.value.place[0].endswith(f"trace-{file:04d}.txt")
    assert error.value.place[1] == 4


def test_nodes_of_chakra_run(tmp_path: Path) -> None:
    texts = [json.dumps(RECEIVER[0]) + "".join(json.dumps(one, indent=2) for one in RECEIVER[1:])]
    found = imports.read("chakra", *put(tmp_path, CHAKRA, *texts))
    assert found.summary() == [("ranks", "2"), ("operations", "4"), ("left out", "1 MEM_LOAD")]
    results = ran(tmp_path, found)
    assert results.end_reason == "drained"
    assert results.hosts["bytes_received"].to_list() == [0, 4096]
    assert results.hosts["ended_ns"].max() > 3_000


WORLD = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
INTS = ("int count=4", "MPI_Datatype datatype=9 (MPI_INT)")


def operations(found: Any, rank: int) -> list[str]:
    """The operations of a rank, without names."""
    part = "".join(found.files("t")["trace.goal"]).split(f"rank {rank} {{\n")[1].split("}\n")[0]
    return [line.split(": ")[1] for line in part.splitlines() if ": " in line and ": calc" not in line]


def grouped(rank: int) -> str:
    """Calls of one of four ranks in communicators of their own."""
    # Ranks 0 and 2 become the pair 2, 0; ranks 1 and 3 the pair 1, 3. Three of the world become a grid.
    old, new = "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", "MPI_Comm newcomm=5 (user-defined-comm)"
    own = "MPI_Comm comm=5 (user-defined-comm)"
    dims = ("int ndim=1", "int dims[1]=[3]", "int periods[1]=[0]", "int reorder=0")
    first = rank in (2, 1)
    end = "int dest=1" if first else "int source=0"
    return (
        Calls()
        .call("MPI_Comm_split", old, f"int color={rank % 2}", f"int key={0 if first else 1}", new)
        .call("MPI_Cart_create", old, *dims, "MPI_Comm newcomm=6 (user-defined-comm)")
        .call("MPI_Send" if first else "MPI_Recv", *INTS, end, "int tag=7", own)
        .call("MPI_Bcast", *INTS, "int root=0", own)
        .call("MPI_Barrier", "MPI_Comm comm=9 (user-defined-comm)")
        .call(
            "MPI_Reduce", *INTS, "MPI_Op op=3 (MPI_SUM)", "int root=2", "MPI_Comm comm=6 (user-defined-comm)"
        )
        .text
    )


def test_communicators_are_followed(tmp_path: Path) -> None:
    found = imports.read("dumpi", *put(tmp_path, *(grouped(rank) for rank in range(4))))
    assert found.summary()[2] == (
        "left out",
        "4 MPI_Barrier calls in communicators that are not followed, "
        "1 MPI_Reduce calls in communicators that are not followed",
    )
    texts = [[line.split(" tag ")[0] for line in operations(found, rank)] for rank in range(4)]
    assert texts == [
        ["recv 16b from 2", "recv 16b from 2", "send 16b to 2"],
        ["send 16b to 3", "send 16b to 3", "send 16b to 2"],
        ["send 16b to 0", "send 16b to 0", "recv 16b from 0", "recv 16b from 1"],
        ["recv 16b from 1", "recv 16b from 1"],
    ]
    own, cast, summed = (line.split(" tag ")[1] for line in operations(found, 0))
    assert len({own, cast, summed, "7"}) == 4
    assert ran(tmp_path, found).end_reason == "drained"


def test_a_number_of_a_communicator_that_was_freed_is_used_again(tmp_path: Path) -> None:
    """Ranks 0, 1 and 2, 3 become pairs, then 0, 2 and 1, 3, then something that is not followed."""
    old, new = "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", "MPI_Comm newcomm=5 (user-defined-comm)"
    own = "MPI_Comm comm=5 (user-defined-comm)"

    def calls(rank: int) -> str:
        found = Calls()
        for color in (rank // 2, rank % 2):
            found.call("MPI_Comm_split", old, f"int color={color}", "int key=0", new)
            found.call("MPI_Bcast", *INTS, "int root=0", own).call("MPI_Comm_free", own)
        found.call("MPI_Comm_create", old, "MPI_Group group=3 (user-defined-group)", new)
        return found.call("MPI_Bcast", *INTS, "int root=0", own).text

    found = imports.read("dumpi", *put(tmp_path, *(calls(rank) for rank in range(4))))
    assert isinstance(found, Trace)
    texts = [[line.split(" tag ")[0] for line in operations(found, rank)] for rank in range(4)]
    assert texts == [
        ["send 16b to 1", "send 16b to 2"],
        ["recv 16b from 0", "send 16b to 3"],
        ["send 16b to 3", "recv 16b from 0"],
        ["recv 16b from 2", "recv 16b from 1"],
    ]
    assert found.left_out == {"MPI_Bcast calls in communicators that are not followed": 4}
    assert ran(tmp_path, found).end_reason == "drained"


def test_parts_of_a_grid_and_communicators_of_groups(tmp_path: Path) -> None:
    """Six ranks are two rows of three; then 0, 4 and 5, 3, 1 by groups that each makes for itself."""
    world = "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)"

    def comm(name: str, number: int) -> str:
        return f"MPI_Comm {name}={number} (user-defined-comm)"

    def group(name: str, number: int) -> str:
        return f"MPI_Group {name}={number} (user-defined-group)"

    def calls(rank: int) -> str:
        dims = ("int ndim=2", "int dims[2]=[2, 3]", "int periods[2]=[0, 0]", "int reorder=0")
        found = Calls().call("MPI_Cart_create", world, *dims, comm("newcomm", 5))
        for kept, number in (("0, 1", 6), ("1, 0", 7)):
            sub = ("int ndim=2", comm("oldcomm", 5), f"int remain_dims[2]=[{kept}]", comm("newcomm", number))
            found.call("MPI_Cart_sub", *sub).call("MPI_Bcast", *INTS, "int root=1", comm("comm", number))
        found.call("MPI_Comm_group", "MPI_Comm comm=2 (MPI_COMM_WORLD)", group("group", 3))
        ranges = f"int ranges[2][3]=[[5, 3, -1]\n, [1, 2, 1]\n]{group('newgroup', 4)}"
        found.call("MPI_Group_range_incl", group("group", 3), "int count=2", ranges)  # 5 4 3 1 2
        found.call(
            "MPI_Group_excl", group("group", 4), "int count=2", "int ranks[2]=[1, 4]", group("newgroup", 4)
        )
        both = (group("group1", 3), group("group2", 4), group("newgroup", 3))
        found.call("MPI_Group_difference", *both)  # 0 2 4
        found.call(
            "MPI_Group_incl", group("group", 3), "int count=2", "int ranks[2]=[0, 2]", group("newgroup", 3)
        )
        chosen = (
            "2 (MPI_GROUP_EMPTY)" if rank == 2 else f"{4 if rank in (1, 3, 5) else 3} (user-defined-group)"
        )
        found.call(
            "MPI_Comm_create", world, f"MPI_Group group={chosen}", comm("newcomm", 1 if rank == 2 else 8)
        )
        if rank != 2:
            found.call("MPI_Bcast", *INTS, "int root=0", comm("comm", 8))
        return found.text

    found = imports.read("dumpi", *put(tmp_path, *(calls(rank) for rank in range(6))))
    assert isinstance(found, Trace)
    assert not found.left_out
    texts = [
        [line.split(" tag ")[0].replace("16b ", "") for line in operations(found, rank)] for rank in range(6)
    ]
    assert texts == [
        ["recv from 1", "recv from 3", "send to 4"],
        ["send to 0", "send to 2", "recv from 4", "recv from 5"],
        ["recv from 1", "recv from 5"],
        ["recv from 4", "send to 0", "recv from 5"],
        ["send to 3", "send to 5", "send to 1", "recv from 0"],
        ["recv from 4", "send to 2", "send to 1", "send to 3"],
    ]
    assert ran(tmp_path, found).end_reason == "drained"


def test_a_buffer_that_is_sent_and_replaced(tmp_path: Path) -> None:
    kind = ("int count=8", "MPI_Datatype datatype=11 (MPI_DOUBLE)")

    def calls(other: int) -> str:
        ends = (f"int dest={other}", "int sendtag=3", f"int source={other}", "int recvtag=3")
        return Calls().call("MPI_Sendrecv_replace", *kind, *ends, "MPI_Comm comm=2 (MPI_COMM_WORLD)").text

    found = imports.read("dumpi", *put(tmp_path, calls(1), calls(0)))
    assert operations(found, 0) == ["send 64b to 1 tag 3", "recv 64b from 1 tag 3"]
    assert isinstance(found, Trace)
    assert not found.left_out


def test_persistent_requests_and_tests_of_requests(tmp_path: Path) -> None:
    def calls(rank: int) -> str:
        end = f"int dest={1 - rank}" if rank == 0 else "int source=0"
        kept = Calls().call(
            *("MPI_Send_init" if rank == 0 else "MPI_Recv_init", *INTS, end, "int tag=1", WORLD),
            "MPI_Request request=[4]",
        )
        for _ in range(2):
            kept.call("MPI_Start", "MPI_Request request=[4]")
            kept.call("MPI_Test", "MPI_Request request=[4]", "int flag=0", pause=500)
            kept.call(
                "MPI_Waitsome",
                "int count=1",
                "MPI_Request requests[1]=[4]",
                "int outcount=1",
                "int indices[1]=[0]",
            )
        kept.call("MPI_Waitall", "int count=1", "MPI_Request requests[1]=[4]")
        other = Calls().call("MPI_Send", *INTS, f"int dest={rank}", "int tag=1", WORLD)
        return kept.text + other.text

    found = imports.read("dumpi", *put(tmp_path, calls(0), calls(1)))
    assert operations(found, 1) == ["recv 16b from 0 tag 1"] * 2
    assert found.summary()[2] == ("left out", "2 messages of a rank to itself")
    assert ran(tmp_path, found).hosts["bytes_received"].to_list() == [0, 32]


def test_requests_of_collectives_and_of_nothing(tmp_path: Path) -> None:
    """What is waited for: a collective, no process, an unknown communicator, nothing."""

    def calls(rank: int) -> str:
        other, tag = f"int dest={1 - rank}", "int tag=1"
        found = Calls().call("MPI_Iallreduce", *INTS, WORLD, "MPI_Request request=[4]")
        found.call("MPI_Isend", *INTS, "int dest=-1", tag, WORLD, "MPI_Request request=[5]")
        found.call("MPI_Isend", *INTS, other, tag, "MPI_Comm comm=9 (user)", "MPI_Request request=[6]")
        all_ = "MPI_Request requests[4]=[4, 5, 6, 1]"
        found.call("MPI_Waitany", "int count=4", all_, "int index=-32766")
        found.call("MPI_Waitall", "int count=4", all_, pause=500)
        found.call("MPI_Reduce_scatter_block", "int recvcount=3", INTS[1], WORLD)
        return found.text

    found = imports.read("dumpi", *put(tmp_path, calls(0), calls(1)))
    assert isinstance(found, Trace)
    tag = 1 << 30
    assert operations(found, 0) == [
        *(f"send 16b to 1 tag {tag}", f"recv 16b from 1 tag {tag}"),
        *(f"send 12b to 1 tag {tag + 1}", f"recv 12b from 1 tag {tag + 1}"),
    ]
    assert found.left_out == {"MPI_Isend calls in communicators that are not followed": 2}
    text = "".join(found.files("t")["trace.goal"])
    label = text[: text.index(": calc 500")].split()[-1]
    assert f"{label} requires" not in text, "the computing waits for no message"
    assert ran(tmp_path, found).hosts["bytes_received"].to_list() == [28, 28]


def test_collectives_of_unequal_blocks(tmp_path: Path) -> None:
    def calls(rank: int) -> str:
        sizes = f"[{', '.join(str(4 * at) for at in range(3))}]"
        own = (f"int sendcount={4 * rank}", "MPI_Datatype sendtype=9 (MPI_INT)")
        got = (
            f"int recvcounts[3]={sizes if rank == 1 else '<IGNORED>'}",
            "MPI_Datatype recvtype=9 (MPI_INT)",
        )
        every = f"int recvcounts[3]={sizes}"
        return (
            Calls()
            .call("MPI_Gatherv", "int commsize=3", *own, *got, "int root=1", WORLD)
            .call("MPI_Allgatherv", "int commsize=3", *own, every, got[1], WORLD)
            .call(
                "MPI_Alltoallv",
                f"int sendcounts[3]={sizes}",
                own[1],
                f"int recvcounts[3]={[4 * rank] * 3}",
                got[1],
                WORLD,
            )
            .text
        )

    found = imports.read("dumpi", *put(tmp_path, *(calls(rank) for rank in range(3))))
    assert ran(tmp_path, found).end_reason == "drained"
    received = sum(
        int(line.split()[1][:-1]) for rank in range(3) for line in operations(found, rank) if "recv" in line
    )
    assert received == 16 * 2 + 16 * 3 * 2 + 16 * 3 * 2


def message(*fields: tuple[int, int | bytes]) -> bytes:
    """A message of protocol buffers; of whole numbers and texts."""
    found = b""
    for number, value in fields:
        if isinstance(value, int):
            found += number_of(number << 3) + number_of(value)
        else:
            found += number_of(number << 3 | 2) + number_of(len(value)) + value
    return found


def number_of(value: int) -> bytes:
    digits = [value >> shift & 127 for shift in range(0, max(1, value.bit_length()), 7)]
    return bytes(digit | 128 for digit in digits[:-1]) + bytes(digits[-1:])


def protobuf(*nodes: bytes) -> bytes:
    """An execution trace with these nodes."""
    return b"".join(number_of(len(one)) + one for one in (message((1, b"0.0.4")), *nodes))


def attribute(name: str, value: int | str) -> tuple[int, bytes]:
    kind = (29, value.encode()) if isinstance(value, str) else (9, value)
    return 10, message((1, name.encode()), kind)


def gathering(number: int, group: str, after: bytes = b"") -> bytes:
    named = [attribute("pg_name", group)] if group else []
    waits = [(5, after)] if after else []
    whole = [attribute("comm_type", 2), attribute("comm_size", 1000)]
    return message((1, number), (2, b"gather"), (3, 7), *waits, *whole, *named)


def test_chakra_as_protocol_buffers(tmp_path: Path) -> None:
    files = []
    for rank in range(4):
        own = [gathering(1, "", bytes([0])), gathering(200, f"pair{rank % 2}", bytes([1]))]
        files.append(tmp_path / f"run.{rank}.et")
        files[-1].write_bytes(protobuf(message((3, 4), (7, 5)), *own))
    found = imports.read("chakra", *files)
    # Four ranks gather in two steps of 1000 and 2000 B, then each pair in one.
    lines = [line.split(" tag ")[0] for line in operations(found, 0)]
    assert lines[:4] == ["send 1000b to 1", "recv 1000b from 3", "send 2000b to 2", "recv 2000b from 2"]
    assert lines[4:] == ["send 1000b to 2", "recv 1000b from 2"]
    results = ran(tmp_path, found)
    assert results.end_reason == "drained"
    assert results.hosts["bytes_received"].to_list() == [4000] * 4
    assert results.hosts["ended_ns"].min() > 5000
    described, content = number_of(7) + message((1, b"0.0.4")), files[1].read_bytes()
    files[1].write_bytes(content.removeprefix(described))
    assert operations(imports.read("chakra", *files), 1) == operations(found, 1)
    for wrong, what in (
        (content[:-3], "ends within the message"),
        (content[:8] + b"\xff" * 9, "no length of a"),
    ):
        files[1].write_bytes(wrong)
        with pytest.raises(ReadError, match=what):
            imports.read("chakra", *files)


GATHERED = protobuf(message((3, 4), (7, 5)), gathering(1, "", bytes([0])), gathering(2, "some"))


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
            "liballprof",
            [ALLPROF.replace(":8:10,8,8:1", ":10,8,8:1", 1)],
            "MPI_Irecv has 6 arguments, where 7",
            4,
        ),
        ("liballprof", [ALLPROF.replace("1000320.5", "soon")], '"soon" is no time in microseconds', 7),
        ("liballprof", [ALLPROF.replace("94853248035456,0,2", "world", 1)], '"world" is no handle,rank', 4),
        ("liballprof", [ALLPROF.replace(": 3 :", ": -3 :")], '"-3" is no count: a whole number', 7),
        ("liballprof", ["# nothing\n"], "no call of MPI", 1),
        ("liballprof", [DUMPI], "is no call of MPI", 1),
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


def test_a_collective_of_more_ranks_than_there_are_files(tmp_path: Path) -> None:
    for call in (
        Calls().call("MPI_Bcast", *INTS, "int root=5", WORLD),
        Calls().call("MPI_Reduce_scatter", "int recvcounts[3]=[1, 2, 3]", INTS[1], WORLD),
    ):
        with pytest.raises(ReadError, match="1 take part") as error:
            imports.read("dumpi", *put(tmp_path, call.text))
        assert error.value.hint == "name the files of all ranks"


def test_every_rank_has_a_file(tmp_path: Path) -> None:
    first, second = put(tmp_path, DUMPI, exchange(0).text)
    with pytest.raises(ReadError, match="this is rank 1, and rank 0 is missing"):
        imports.read("dumpi", second)
    with pytest.raises(ReadError, match="rank 0 is there twice"):
        imports.read("dumpi", first, first, second)


_LINE = re.compile(r"l(\d+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)\n")


def ranks_of(kind: str, count: int, root: int, size: int, parts: list[int] | None = None) -> list[Rank]:
    """Build what all ranks do; members are the ranks, in reverse order."""
    members = list(range(count))[::-1]
    found = []
    for number in range(count):
        rank, me = Rank(number, count), members.index(number)
        sent, got = (), ()
        if parts and kind in ("all_gather", "reduce_scatter"):
            got = parts
        elif parts and kind == "all_to_all":  # block from a to b is of parts[a] + parts[b]
            sent = got = [parts[me] + one for one in parts]
        elif parts and kind in ("gather", "scatter"):
            sent = got = parts if me == root else [parts[me]]
        add(rank, Collective(kind, members, me, 2, 5, root, size, sent, got), [])
        found.append(rank)
    return found


def text_of(rank: Rank) -> str:
    rank.out.seek(0)
    return rank.out.read().decode()


def played(ranks: list[Rank]) -> tuple[list[set[int]], int]:
    """Do all operations; returns whose values each rank has at the end, and the messages."""
    todo, needs, done = {}, defaultdict(set), set()
    for rank in ranks:
        for line in text_of(rank).splitlines(keepends=True):
            if " requires " in line:
                after, before = re.findall(r"l(\d+)", line)
                needs[rank.number, int(after)].add((rank.number, int(before)))
                continue
            match = _LINE.fullmatch(line)
            assert match is not None
            number, word, size, peer, tag = match.groups()
            todo[rank.number, int(number)] = (word, int(size), int(peer), int(tag))
    known = [{rank.number} for rank in ranks]
    under_way: dict[tuple[int, int, int], list[tuple[int, set[int]]]] = defaultdict(list)
    messages = len(todo) // 2
    while todo:
        ready = [one for one in todo if needs[one] <= done]
        # Sends first, so that a message has what its sender knew when it could leave.
        sends = [one for one in ready if todo[one][0] == "send"]
        for one in sends:
            _, size, peer, tag = todo.pop(one)
            under_way[one[0], peer, tag].append((size, set(known[one[0]])))
            done.add(one)
        arrived = [one for one in ready if one in todo and under_way[todo[one][2], one[0], todo[one][3]]]
        for one in arrived:
            _, size, peer, tag = todo.pop(one)
            of, values = under_way[peer, one[0], tag].pop(0)
            assert of == size
            known[one[0]] |= values
            done.add(one)
        assert sends or arrived, "nothing can go on"
    assert not any(under_way.values())
    return known, messages


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(KINDS)),
    st.integers(1, 19),
    st.data(),
    st.sampled_from([0, 8, 200, 3000, 20_000, 100_000]),
    st.booleans(),
)
def test_who_knows_what(kind: str, count: int, data: st.DataObject, size: int, uneven: bool) -> None:
    root = data.draw(st.integers(0, count - 1))
    parts = [size + 3 * at for at in range(count)] if uneven else None
    known, _ = played(ranks_of(kind, count, root, size, parts))
    everyone = set(range(count))
    place = list(range(count))[::-1]
    for me, rank in enumerate(place):
        if kind in ("broadcast", "scatter"):
            assert place[root] in known[rank]
        elif kind == "scan":
            assert known[rank] == set(place[: me + 1])
        elif kind not in ("reduce", "gather") or me == root:
            assert known[rank] == everyone


@pytest.mark.parametrize(
    ("kind", "count", "size", "messages", "bytes_"),
    [
        ("barrier", 8, 0, 24, 0),
        ("broadcast", 8, 1000, 7, 7000),
        ("broadcast", 8, 80_000, 7 + 56, 12 * 10_000 + 56 * 10_000),
        ("reduce", 8, 1000, 7, 7000),
        ("all_reduce", 8, 8, 24, 192),
        ("all_reduce", 6, 8, 8 + 4, 96),
        ("all_reduce", 8, 80_000, 112, 14 * 80_000),
        ("all_gather", 8, 8, 24, 8 * 7 * 8),
        ("all_gather", 8, 80_000, 56, 56 * 80_000),
        ("all_to_all", 8, 80_000, 56, 56 * 80_000),
        ("all_to_all", 8, 8, 24, 3 * 8 * 4 * 8),
        ("gather", 8, 100, 7, 12 * 100),
    ],
)
def test_messages_and_bytes(kind: str, count: int, size: int, messages: int, bytes_: int) -> None:
    ranks = ranks_of(kind, count, 0, size)
    sent = [int(found[1]) for rank in ranks for found in re.finditer(r"send (\d+)b", text_of(rank))]
    assert (len(sent), sum(sent)) == (messages, bytes_)
    assert played(ranks)[1] == messages


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_they_end_where_long_messages_wait_for_their_receive(kind: str, tmp_path: Path) -> None:
    ranks = ranks_of(kind, 7, 2, 50_000)
    goal = "num_ranks 7\n" + "".join(f"rank {rank.number} {{\n{text_of(rank)}}}\n" for rank in ranks)
    trace = Trace(7, 0, io.BytesIO(goal.encode()), Counter(), "mpi-infiniband")
    assert ran(tmp_path, trace).end_reason == "drained"
