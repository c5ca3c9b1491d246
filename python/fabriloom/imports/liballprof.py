"""Traces of liballprof: a file per rank, a call of MPI a line, ``name:start:argument:…:end`` in microseconds.

Arguments stand in the order of C: pointers as addresses, a datatype as ``number,size,extent``, a communicator
as ``handle,rank,size``, counts of each member behind their address. What a call returns is not told. So a
communicator of all ranks is taken for the world (in another order it is refused), smaller ones are left out,
requests go by their addresses, and a test or a wait for any of several ends nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from .common import Stream
from .communicators import Communicators
from .mpi import BLOCKING, Call, State, do
from .traces import Rank, Trace, by_rank, trace

_MESSAGE = "_ count datatype dest tag comm"
_RECEIVE = "_ count datatype source tag comm"
_BLOCKS = "_ sendcount sendtype _ recvcount recvtype"
_ARGUMENTS = {
    **{f"MPI_{kind}": _MESSAGE for kind in ("Send", "Ssend", "Bsend", "Rsend")},
    **{f"MPI_{kind}": f"{_MESSAGE} request" for kind in ("Isend", "Issend", "Ibsend", "Irsend")},
    **{f"MPI_{kind}_init": f"{_MESSAGE} request" for kind in ("Send", "Ssend", "Bsend", "Rsend")},
    "MPI_Recv": f"{_RECEIVE} _",
    "MPI_Irecv": f"{_RECEIVE} request",
    "MPI_Recv_init": f"{_RECEIVE} request",
    "MPI_Sendrecv": "_ sendcount sendtype dest sendtag _ recvcount recvtype source recvtag comm _",
    "MPI_Start": "request",
    "MPI_Startall": "count requests",
    "MPI_Wait": "request _",
    "MPI_Waitall": "count requests _",
    "MPI_Barrier": "comm",
    "MPI_Bcast": "_ count datatype root comm",
    "MPI_Reduce": "_ _ count datatype op root comm",
    "MPI_Allreduce": "_ _ count datatype op comm",
    "MPI_Scan": "_ _ count datatype op comm",
    "MPI_Exscan": "_ _ count datatype op comm",
    "MPI_Gather": f"{_BLOCKS} root comm",
    "MPI_Scatter": f"{_BLOCKS} root comm",
    "MPI_Allgather": f"{_BLOCKS} comm",
    "MPI_Alltoall": f"{_BLOCKS} comm",
    "MPI_Gatherv": "_ sendcount sendtype _ _ recvcounts _ displs recvtype root comm",
    "MPI_Scatterv": "_ _ sendcounts _ displs sendtype _ recvcount recvtype root comm",
    "MPI_Allgatherv": "_ sendcount sendtype _ _ recvcounts _ displs recvtype comm",
    "MPI_Reduce_scatter": "_ _ _ recvcounts datatype op comm",
    "MPI_Reduce_scatter_block": "_ _ recvcount datatype op comm",
    "MPI_Alltoallv": "_ _ sendcounts _ sdispls sendtype _ _ recvcounts _ rdispls recvtype comm",
}
"""What is read of each call; ``_`` is passed over."""
_ARGUMENTS |= {name: f"{_ARGUMENTS[of]} request" for name, of in BLOCKING.items() if of in _ARGUMENTS}
_UNTOLD = re.compile(r"MPI_(Wait(any|some)|Test(|all|any|some))")
_TIME = re.compile(r"(\d{1,16})(?:\.(\d{1,9}))?")
_COMMUNICATOR = re.compile(r"-?\d{1,20},(\d{1,7}),(\d{1,7})")
_HINT = "a call is a line such as MPI_Send:120:7104:64:10,8,8:1:5:0,0,2:131"
_ORDER_HINT = "trace a run in which it keeps the order of MPI_COMM_WORLD: split with equal keys, reorder = 0"
_MOST_REQUESTS = 1 << 20


def liballprof(files: Sequence[Path]) -> Trace:
    files = by_rank(files)
    return trace(files, partial(_rank, Communicators([()] * len(files))), "mpi-infiniband")


def _rank(known: Communicators, stream: Stream, rank: Rank, left_out: Counter[str]) -> None:
    state, stride = State(stream, rank, left_out, known, _HINT), 8
    for line in stream:
        if line.startswith("#") or not line.strip():
            continue
        name, *words = (part.strip() for part in line.split(":"))
        if not name.startswith(("MPI_", "NBC_")) or len(words) < 2:
            stream.fail(f'"{line[:40]}" is no call of MPI', _HINT)
        start_ns, end_ns = (None if word == "-" else _time_ns(stream, word) for word in (words[0], words[-1]))
        entered_ns = start_ns if start_ns is not None else end_ns or 0
        call = Call(name, entered_ns, stream.number, _fields(stream, rank, name, words[1:-1]))
        if "request" in call.fields and int(call.fields["request"]) % 8:
            stride = 4  # handles are whole numbers, and not addresses
        if "requests" in call.fields:
            _tell(state, call, stride)
        if _UNTOLD.fullmatch(name):
            left_out[f"{name} calls, of which it is not told what has ended"] += 1
            call.fields |= {"flag": "0", "request": ""}
        elif name == "MPI_Wait" and int(call.fields["request"]) not in state.requests:
            call.fields["request"] = ""  # of none
        do(state, call)
        state.left_ns = end_ns if end_ns is not None else entered_ns
    if state.left_ns is None:
        stream.fail("no call of MPI", _HINT)


def _time_ns(stream: Stream, word: str) -> int:
    found = _TIME.fullmatch(word)
    if found is None:
        stream.fail(f'"{word[:40]}" is no time in microseconds', _HINT, word)
    return int(found[1]) * 1000 + int((found[2] or "0")[:3].ljust(3, "0"))


def _fields(stream: Stream, rank: Rank, name: str, words: list[str]) -> dict[str, str]:
    """Return the arguments of a call by name, those of a call that is not read without."""
    if name not in _ARGUMENTS:
        return {}
    names = _ARGUMENTS[name].split()
    if len(words) != len(names):
        stream.fail(f"{name} has {len(words)} arguments, where {len(names)} are meant", _HINT)
    fields = {name: word for name, word in zip(names, words, strict=True) if name != "_"}
    for key in ("request", "requests", "count"):
        word = fields.get(key, "0")
        if not (word.isascii() and word.isdecimal() and len(word) < 19):
            stream.fail(f'"{word[:40]}" is no {key}: a whole number', _HINT, word)
    if "comm" in fields:
        found = _COMMUNICATOR.fullmatch(fields["comm"])
        if found is None:
            stream.fail(f'"{fields["comm"][:40]}" is no handle,rank,size', _HINT, fields["comm"])
        of_all = int(found[2]) == rank.ranks
        if of_all and int(found[1]) != rank.number:
            stream.fail("a communicator of all ranks in another order", _ORDER_HINT, fields["comm"])
        fields["comm"] = "0 (MPI_COMM_WORLD)" if of_all else "0 (MPI_COMM_SELF)" if found[2] == "1" else "0"
    return fields


def _tell(state: State, call: Call, stride: int) -> None:
    """Name the requests of an array that were started: the others are none."""
    count, first = int(call.fields["count"]), int(call.fields["requests"])
    if count > _MOST_REQUESTS:
        state.stream.fail(f"{call.name} of {count:,} requests", f"the most are {_MOST_REQUESTS:,}")
    started = state.lasting if call.name == "MPI_Startall" else state.requests
    all_ = range(first, first + count * stride, stride)
    fewer, others = (all_, started) if count <= len(started) else (sorted(started), all_)
    call.fields["requests"] = ",".join(str(one) for one in fewer if one in others)
