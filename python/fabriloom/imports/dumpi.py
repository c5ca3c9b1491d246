"""DUMPI traces as ``dumpi2ascii`` prints them: a file per rank, a call of MPI after another.

Calls that send, receive and wait become operations; the time between two calls is computing. Collectives, and
the time within a call, are left out: what a call takes follows from the network.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .traces import Rank, Stream, Trace, checked_peer, trace

_CALL = re.compile(
    r"(MPI_\w+) (entering|returning) at walltime (\d{1,12})\.(\d{9}), cputime .* in thread \d+\.?"
)
_FIELD = re.compile(r"[\w ]+? (\w+)(?:\[\d*\])?=(.*)")
_NUMBERS = re.compile(r"-?\d{1,18}")
_ANY = -1
_SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend"}
_ISENDS = {"MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Irsend"}
_WAITS = {"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"}
_SILENT = re.compile(r"MPI_(Init|Finalize|Comm_|Type_|Wtime|Get_|Group_|Initialized|Error|Info|Pcontrol)")
_MOST = 1 << 31
_HINT = "is this what dumpi2ascii prints?"
_BYTES = {
    **dict.fromkeys(("MPI_CHAR", "MPI_SIGNED_CHAR", "MPI_UNSIGNED_CHAR", "MPI_BYTE", "MPI_PACKED"), 1),
    **dict.fromkeys(("MPI_SHORT", "MPI_UNSIGNED_SHORT", "MPI_WCHAR"), 2),
    **dict.fromkeys(("MPI_INT", "MPI_UNSIGNED", "MPI_FLOAT", "MPI_SHORT_INT", "MPI_INTEGER", "MPI_REAL"), 4),
    **dict.fromkeys(("MPI_LONG", "MPI_UNSIGNED_LONG", "MPI_DOUBLE", "MPI_LONG_LONG_INT", "MPI_FLOAT_INT"), 8),
    **dict.fromkeys(("MPI_UNSIGNED_LONG_LONG", "MPI_LONG_LONG", "MPI_2INT", "MPI_COMPLEX"), 8),
    "MPI_DOUBLE_PRECISION": 8,
    **dict.fromkeys(("MPI_LONG_DOUBLE", "MPI_DOUBLE_COMPLEX", "MPI_DOUBLE_INT", "MPI_LONG_INT"), 16),
}
_UNKNOWN = "messages of datatypes of their own, counted as bytes"


@dataclass
class _Call:
    """A call with its arguments."""

    name: str
    entered_ns: int
    line: int
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class _State:
    """Where a rank is."""

    stream: Stream
    rank: Rank
    left_out: Counter[str]
    last: list[int] = field(default_factory=list)
    """What the next operation waits for."""
    left_ns: int | None = None
    """When the last call returned."""
    requests: dict[int, int] = field(default_factory=dict)
    """Operations by the number of their request."""

    def number(self, call: _Call, *names: str) -> int:
        """Return an argument that is a whole number."""
        for name in names:
            if name in call.fields and (found := _NUMBERS.match(call.fields[name])):
                return int(found[0])
        self.stream.fail(f"{call.name} has no {names[0]}", _HINT)

    def requested(self, call: _Call) -> list[int]:
        """Return the requests that a call names."""
        text = call.fields.get(
            "request", call.fields.get("requests", call.fields.get("array_of_requests", ""))
        )
        return [int(one) for one in _NUMBERS.findall(text)]


def dumpi(files: Sequence[Path]) -> Trace:
    """Read the traces of all ranks."""
    return trace(files, _rank)


def _rank(stream: Stream, rank: Rank, left_out: Counter[str]) -> None:
    state, call = _State(stream, rank, left_out), None
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
            call = _Call(match[1], now_ns, stream.number)
        elif call is None or call.name != match[1]:
            stream.fail(f"{match[1]} returns and was not entered", _HINT)
        else:
            _do(state, call)
            state.left_ns, call = now_ns, None
    if call is not None:
        stream.fail(f"{call.name} of line {call.line} does not return", "is the trace cut short?")
    if not stream.number or state.left_ns is None:
        stream.fail("no call of MPI", _HINT)


def _do(state: _State, call: _Call) -> None:
    """Add the computing before a call, and what the call does."""
    if state.left_ns is not None and call.entered_ns > state.left_ns:
        state.last = [state.rank.add(f"calc {call.entered_ns - state.left_ns}", state.last)]
    if call.name in _SENDS | _ISENDS:
        _send(state, call)
    elif call.name in ("MPI_Recv", "MPI_Irecv"):
        _receive(state, call)
    elif call.name == "MPI_Sendrecv":
        after = list(state.last)
        sent = state.rank.add(_message(state, call, "send", ("dest",), ("sendtag",), "send"), after)
        got = state.rank.add(_message(state, call, "recv", ("source", "src"), ("recvtag",), "recv"), after)
        state.last = [sent, got]
    elif call.name in _WAITS:
        _wait(state, call)
    elif not _SILENT.match(call.name):
        state.left_out[f"{call.name} calls"] += 1


def _send(state: _State, call: _Call) -> None:
    if state.number(call, "dest") < 0:
        return  # to no process
    sent = state.rank.add(_message(state, call, "send", ("dest",), ("tag",)), state.last)
    if call.name in _ISENDS:
        for request in state.requested(call):
            state.requests[request] = sent
    else:
        state.last = [sent]


def _receive(state: _State, call: _Call) -> None:
    if state.number(call, "source", "src") < _ANY:
        return
    got = state.rank.add(_message(state, call, "recv", ("source", "src"), ("tag",)), state.last)
    if call.name == "MPI_Irecv":
        for request in state.requested(call):
            state.requests[request] = got
    else:
        state.last = [got]


def _wait(state: _State, call: _Call) -> None:
    wanted = state.requested(call)
    if call.name in ("MPI_Waitany", "MPI_Waitsome") and "index" in call.fields:
        wanted = wanted[state.number(call, "index") :][:1]
    done = []
    for request in wanted:
        if request not in state.requests:
            if request <= 0:
                continue  # none
            message = f"rank {state.rank.number} waits for request {request}, which was never started"
            state.stream.fail(message, f"{call.name} of line {call.line}; is the beginning missing?")
        done.append(state.requests.pop(request))
    if done:
        state.last = [state.rank.add("calc 0", [*state.last, *done])]


def _message(
    state: _State, call: _Call, word: str, ends: tuple[str, ...], tags: tuple[str, ...], prefix: str = ""
) -> str:
    count = state.number(call, f"{prefix}count", "count")
    kind = re.search(r"\((MPI_\w+)\)", call.fields.get(f"{prefix}type", call.fields.get("datatype", "")))
    width = _BYTES.get(kind[1]) if kind else None
    if width is None:
        state.left_out[_UNKNOWN] += 1
    size, peer, tag = count * (width or 1), state.number(call, *ends), state.number(call, *tags)
    if not 0 <= size < _MOST or tag >= _MOST - 1024:
        state.stream.fail(f"{call.name} of {size} B with the tag {tag}", "the most of both is 2^31")
    other = "any" if peer == _ANY and word == "recv" else str(checked_peer(state.stream, state.rank, peer))
    label = "any" if tag < 0 and word == "recv" else str(max(0, tag))
    return f"{word} {size}b {'to' if word == 'send' else 'from'} {other} tag {label}"
