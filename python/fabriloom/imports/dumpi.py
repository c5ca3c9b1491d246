"""DUMPI traces as ``dumpi2ascii`` prints them: a file per rank, a call of MPI after another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from ..reading import ReadError
from .common import Stream
from .communicators import TOLD, Communicators, Made, made
from .mpi import Call, State, do
from .traces import Rank, Trace, by_rank, trace

_CALL = re.compile(
    r"(MPI_\w+) (entering|returning) at walltime (\d{1,12})\.(\d{9}), cputime .* in thread \d+\.?"
)
_FIELD = re.compile(r"[\w ]+? (\w+)(?:\[\d*\])*=(.*)")
_OF_TOLD = ("MPI_C", "MPI_G", "MPI_Inter")
_HINT = "is this what dumpi2ascii prints?"


def dumpi(files: Sequence[Path]) -> Trace:
    files = by_rank(files)
    for file in files:
        if _is_binary(file):
            hint = "print it as text, for each rank: dumpi2ascii trace-0000.bin > trace-0000.txt"
            raise ReadError(f"{file}: a binary trace of DUMPI", hint)
    known = Communicators([list(_made(Stream(file))) for file in files])
    return trace(files, partial(_rank, known), "mpi-infiniband")


def _is_binary(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(8).endswith(b"DUMPI")
    except (OSError, ValueError):
        return False  # reading it as text says why


def _made(stream: Stream) -> Iterator[Made]:
    """Yield what a rank makes of communicators."""
    name, fields = "", dict[str, str]()
    for line in stream:
        if line.startswith(_OF_TOLD) and (match := _CALL.fullmatch(line.strip())):
            if name and match[2] == "returning":
                yield made(name, fields)
            name, fields = match[1] if match[1] in TOLD else "", {}
            name = name if match[2] == "entering" else ""
        elif name and (found := _FIELD.match(line.strip().lstrip("]"))):
            fields.setdefault(found[1], found[2])
        elif name and "ranges" in fields:
            fields["ranges"] += line  # a line for each range, and the next argument behind the last bracket


def _rank(known: Communicators, stream: Stream, rank: Rank, left_out: Counter[str]) -> None:
    state, call = State(stream, rank, left_out, known, _HINT), None
    for line in stream:
        match = _CALL.fullmatch(line.strip())
        if match is None:
            if call is not None and (found := _FIELD.match(line.strip())):
                call.fields.setdefault(found[1], found[2])
            continue
        now_ns = int(match[3]) * 10**9 + int(match[4])
        if match[2] == "entering":
            if call is not None:
                stream.fail(f"{match[1]} begins within {call.name}", "take a trace of one thread")
            call = Call(match[1], now_ns, stream.number)
        elif call is None or call.name != match[1]:
            stream.fail(f"{match[1]} returns and was not entered", _HINT)
        else:
            do(state, call)
            state.left_ns, call = now_ns, None
    if call is not None:
        stream.fail(f"{call.name} of line {call.line} does not return", "is the trace cut short?")
    if not stream.number or state.left_ns is None:
        stream.fail("no call of MPI", _HINT)
