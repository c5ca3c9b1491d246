"""Calls of MPI as operations of GOAL, whichever program has recorded them.

Calls that send, receive and wait become operations, collectives the messages of an algorithm; the time
between two calls is computing. The time within a call is left out: what it takes follows from the network.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from . import collectives
from .collectives import Collective
from .common import Stream
from .communicators import MAKERS, WORLD, Communicators, name_of
from .traces import ALL_RANKS, Rank, checked_peer

_NUMBERS = re.compile(r"-?\d{1,18}")
_ANY = -1
_SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend"}
_ISENDS = {"MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Irsend"}
_INITS = {"MPI_Send_init", "MPI_Ssend_init", "MPI_Bsend_init", "MPI_Rsend_init", "MPI_Recv_init"}
_ENDS = re.compile(r"MPI_(Wait|Test)(|all|any|some)")
_COLLECTIVES = {
    "MPI_Barrier": "barrier",
    "MPI_Bcast": "broadcast",
    "MPI_Reduce": "reduce",
    "MPI_Allreduce": "all_reduce",
    "MPI_Scan": "scan",
    "MPI_Exscan": "scan",
    "MPI_Gather": "gather",
    "MPI_Gatherv": "gather",
    "MPI_Scatter": "scatter",
    "MPI_Scatterv": "scatter",
    "MPI_Allgather": "all_gather",
    "MPI_Allgatherv": "all_gather",
    "MPI_Reduce_scatter": "reduce_scatter",
    "MPI_Reduce_scatter_block": "reduce_scatter",
    "MPI_Alltoall": "all_to_all",
    "MPI_Alltoallv": "all_to_all",
}
BLOCKING = {f"MPI_I{name[4:].lower()}": name for name in _COLLECTIVES}
"""The collectives that a request ends."""
_NO_REQUEST = 1
"""MPI_REQUEST_NULL, as DUMPI counts."""
_SILENT = re.compile(
    r"MPI_(Init|Finalize|Comm_|Cart_|Type_|Wtime|Get_|Group_|Initialized|Error|Info|Pcontrol|Address|Op_|Request_free"
    r"|Iprobe|Attr_|Keyval_|Dims_create|Topo_test|Buffer_)"
)
_MOST = 1 << 31
_DATATYPE = re.compile(r"^\d+,(\d{1,9}),|\((MPI_\w+)\)")
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
_OWN_TAGS = 1 << 20
"""Tags of a communicator that is not the world's lie in a part of their own, as matching asks."""


@dataclass
class Call:
    name: str
    entered_ns: int
    line: int
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class State:
    """Where a rank is."""

    stream: Stream
    rank: Rank
    left_out: Counter[str]
    known: Communicators
    hint: str
    """What to do where an argument is missing."""
    last: list[int] = field(default_factory=list)
    """What the next operation waits for."""
    left_ns: int | None = None
    """When the last call returned."""
    requests: dict[int, int] = field(default_factory=dict)
    """Operations by the number of their request."""
    lasting: dict[int, str] = field(default_factory=dict)
    """Messages that are started again and again, by the number of their request."""
    done: Counter[int] = field(default_factory=Counter[int])
    """Collectives of each group."""
    made: Counter[str] = field(default_factory=Counter[str])
    """How often a communicator of each name was made."""

    def group(self, call: Call) -> int | None:
        """Return the group that a call names; None, and it is left out, if it is not known or of one rank."""
        name = name_of(call.fields.get("comm", "2 (MPI_COMM_WORLD)"))
        found = self.known.group(self.rank.number, name, self.made)
        if found is None and name != "MPI_COMM_SELF":
            self.left_out[f"{call.name} calls in communicators that are not followed"] += 1
        return found

    def number(self, call: Call, *names: str) -> int:
        """Return an argument that is a whole number."""
        for name in names:
            if name in call.fields and (found := _NUMBERS.match(call.fields[name])):
                return int(found[0])
        self.stream.fail(f"{call.name} has no {names[0]}", self.hint)

    def requested(self, call: Call) -> list[int]:
        text = call.fields.get(
            "request", call.fields.get("requests", call.fields.get("array_of_requests", ""))
        )
        return [int(one) for one in _NUMBERS.findall(text)]


def do(state: State, call: Call) -> None:
    """Add the computing before a call, and what the call does."""
    if state.left_ns is not None and call.entered_ns > state.left_ns:
        state.last = [state.rank.add(f"calc {call.entered_ns - state.left_ns}", state.last)]
    if call.name in _SENDS | _ISENDS | _INITS or call.name in ("MPI_Recv", "MPI_Irecv"):
        _message(state, call)
    elif call.name in ("MPI_Start", "MPI_Startall"):
        for request in state.requested(call):
            if request in state.lasting:
                state.requests[request] = state.rank.add(state.lasting[request], state.last)
    elif call.name in ("MPI_Sendrecv", "MPI_Sendrecv_replace"):
        _exchange(state, call)
    elif (name := BLOCKING.get(call.name, call.name)) in _COLLECTIVES:
        _collective(state, call, name)
    elif call.name in MAKERS:
        state.made[name_of(call.fields.get("newcomm", ""))] += 1
    elif ends := _ENDS.fullmatch(call.name):
        if ends[1] == "Wait" or state.number(call, "flag", "outcount"):
            _end(state, call)
    elif not _SILENT.match(call.name):
        state.left_out[f"{call.name} calls"] += 1


def _message(state: State, call: Call) -> None:
    """Add a send or a receive, or keep it for when it is started."""
    receives = "recv" in call.name.lower()
    end = state.number(call, *(("source", "src") if receives else ("dest",)))
    group = state.group(call)
    text = "calc 0"
    if group is not None and end >= (_ANY if receives else 0):
        text = _text(state, call, "recv" if receives else "send", end, ("tag",), group)
    elif not state.requested(call):
        return  # of no process, or of others than those of this trace; a request is waited for all the same
    if call.name in _INITS:
        state.lasting.update(dict.fromkeys(state.requested(call), text))
        return
    done = state.rank.add(text, state.last)
    if call.name in _ISENDS or call.name == "MPI_Irecv":
        state.requests.update(dict.fromkeys(state.requested(call), done))
    else:
        state.last = [done]


def _exchange(state: State, call: Call) -> None:
    """Add a send and a receive beside each other."""
    if (group := state.group(call)) is None:
        return
    to, from_ = state.number(call, "dest"), state.number(call, "source", "src")
    texts = []
    if to >= 0:
        texts.append(_text(state, call, "send", to, ("sendtag",), group, "send"))
    if from_ >= _ANY:
        texts.append(_text(state, call, "recv", from_, ("recvtag",), group, "recv"))
    state.last = [state.rank.add(text, state.last) for text in texts] or state.last


def _end(state: State, call: Call) -> None:
    """Go on when the requests of a wait, or of a test that was true, have ended."""
    wanted = state.requested(call)
    if call.name.endswith("any") and "index" in call.fields:
        index = state.number(call, "index")  # negative: none was started
        wanted = wanted[index : index + 1] if index >= 0 else []
    if call.name.endswith("some"):
        places = [int(one) for one in _NUMBERS.findall(call.fields.get("indices", ""))]
        wanted = [wanted[at] for at in places if 0 <= at < len(wanted)]
    done = []
    for request in wanted:
        if request not in state.requests:
            if request <= _NO_REQUEST or request in state.lasting:
                continue  # none, or one that has ended
            message = f"rank {state.rank.number} waits for request {request}, which was never started"
            state.stream.fail(message, f"{call.name} of line {call.line}; is the beginning missing?")
        done.append(state.requests.pop(request))
    if done:
        state.last = [state.rank.add("calc 0", [*state.last, *done])]


def _collective(state: State, call: Call, name: str) -> None:
    """Add a collective, called as the one of this name; what follows, or a request, waits for its end."""
    group = state.group(call)
    ends = state.last if group is None else _messages_of(state, call, name, group)
    if name == call.name:
        state.last = ends
    else:
        done = ends[0] if len(ends) == 1 else state.rank.add("calc 0", ends)
        state.requests.update(dict.fromkeys(state.requested(call), done))


def _messages_of(state: State, call: Call, name: str, group: int) -> list[int]:
    """Add the messages of a collective; returns the operations that end it."""
    members = state.known.groups[group]
    me, root = members.index(state.rank.number), 0
    if "root" in call.fields:
        root = state.number(call, "root")
        if not 0 <= root < len(members):
            state.stream.fail(f"{call.name} has the root {root}; {len(members)} take part", ALL_RANKS)
    sent, got = (_sizes(state, call, one, len(members)) for one in ("send", "recv"))
    if name in ("MPI_Gatherv", "MPI_Scatterv") and me != root:  # a member knows its own block only
        sent, got = ([_size(state, call, one)] for one in ("send", "recv"))
    both = ("recv", "send") if name.startswith("MPI_Scatter") else ("send", "recv")
    bytes_ = _size(state, call, both[0]) or _size(state, call, both[1])  # without the first: in place
    number = state.done[group]
    state.done[group] += 1
    of = Collective(_COLLECTIVES[name], members, me, group, number, root, bytes_, sent, got)
    return collectives.add(state.rank, of, state.last)


def _width(state: State, call: Call, prefix: str) -> int:
    """Return the bytes of an element: what follows its number, or of a type with this name."""
    kind = _DATATYPE.search(call.fields.get(f"{prefix}type", call.fields.get("datatype", "")))
    width = None if kind is None else int(kind[1]) if kind[1] else _BYTES.get(kind[2])
    if width is None:
        state.left_out[_UNKNOWN] += 1
    return width or 1


def _size(state: State, call: Call, prefix: str) -> int:
    """Return the bytes of a buffer."""
    if f"{prefix}count" not in call.fields and "count" not in call.fields:
        return 0  # it has counts, of which the caller knows
    size = state.number(call, f"{prefix}count", "count") * _width(state, call, prefix)
    if not 0 <= size < _MOST:
        state.stream.fail(f"{call.name} of {size} B", "the most is 2^31 - 1")
    return size


def _sizes(state: State, call: Call, prefix: str, members: int) -> list[int]:
    """Return the bytes of the blocks of all members, if the call has them."""
    text = call.fields.get(f"{prefix}counts", "")
    found = [int(one) for one in _NUMBERS.findall(text)]
    if not found:
        return []
    width = _width(state, call, prefix)
    if len(found) != members or not all(0 <= one * width < _MOST for one in found):
        state.stream.fail(f"{call.name} has {len(found)} {prefix}counts; {members} take part", ALL_RANKS)
    return [one * width for one in found]


def _text(
    state: State, call: Call, word: str, end: int, tags: tuple[str, ...], group: int, prefix: str = ""
) -> str:
    """Return a send or receive in GOAL."""
    size, tag = _size(state, call, prefix), state.number(call, *tags)
    if tag >= _MOST - 1024:
        state.stream.fail(f"{call.name} with the tag {tag}", "the most is 2^31 - 1025")
    members = state.known.groups[group]
    if end >= len(members):
        checked_peer(state.stream, state.rank, end)
    if end >= 0 and members[end] == state.rank.number:
        state.left_out["messages of a rank to itself"] += 1
        return "calc 0"
    other = "any" if end < 0 else str(members[end])
    own = tag if group == WORLD else (tag % _OWN_TAGS) + _OWN_TAGS * (1 + group % 1000)
    label = "any" if tag < 0 and word == "recv" else str(max(0, own))
    return f"{word} {size}b {'to' if word == 'send' else 'from'} {other} tag {label}"
