"""The operations of each process, as numbers that both runners read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..programs import Programs
from ..programs import kinds as op
from ..reading import UserError


class MeasureError(UserError):
    """A measurement that cannot be made, or is not valid; the text is the whole message."""


HEAD = (
    *("ranks", "rows", "terminals", "at_once", "warm_ups", "repeats", "patience_s"),
    *("stored", "longest", "lead_ns"),
)
"""Names of the first numbers of a plan, in order."""
LEAD_NS = 20_000_000
"""Time between the agreement about the start and the start."""
_KINDS = (op.SEND, op.RECEIVE, op.WAIT, op.UNTIL, op.REPEAT, op.END, op.BARRIER, op.MARK, op.READ, op.FLUSH)
"""Operations in the order of the runners' codes."""
_PEERS = {op.ANY: -1, op.SENDER: -2, op.TAGGED: -3}
_TAGS = {op.ANY: -1, op.SAME: -2, op.SENDER_NUMBER: -3}


@dataclass(frozen=True)
class Plan:
    """The operations of all processes; peers are process numbers, times are nanoseconds."""

    terminals: op.Ints
    """Per process: the terminal that it represents."""
    head: dict[str, int]
    start: op.Ints
    rank_of: op.Ints
    """Per terminal: its process, or -1 if it does not take part."""
    columns: tuple[op.Ints, ...]
    """``kind``, ``peer``, ``bytes``, ``tag``, ``amount`` and ``server`` of each operation."""

    def to_bytes(self) -> bytes:
        """Return the bytes that the first process reads."""
        head = np.array([self.head[name] for name in HEAD], np.int64)
        parts = (head, self.start, self.terminals, self.rank_of, *self.columns)
        return b"".join(np.ascontiguousarray(part, np.int64).tobytes() for part in parts)


def active(programs: Programs) -> op.Ints:
    """Return the terminals that take part: those with operations, and those that receive messages."""
    sends = programs.kind == op.SEND
    known = programs.peer[sends & (programs.peer < op.FIRST_SPECIAL)]
    return np.unique(np.concatenate([programs.terminal, known]))


def plan(
    programs: Programs, protocol: dict[str, object], *, warm_ups: int, repeats: int, patience_s: int
) -> Plan:
    """Return the plan of checked programs. Raises :class:`MeasureError` for operations that MPI cannot do."""
    _possible(programs)
    terminals = active(programs)
    count = len(programs.terminal_names)
    rank_of = np.full(count, -1, np.int64)
    rank_of[terminals] = np.arange(len(terminals))
    special = programs.peer >= op.FIRST_SPECIAL
    peer = np.where(special, 0, rank_of[np.where(special, 0, programs.peer)])
    for value, number in _PEERS.items():
        peer[programs.peer == value] = number
    tag = programs.tag.astype(np.int64)
    for value, number in _TAGS.items():
        tag[programs.tag == value] = number
    amount = np.where(programs.timed, programs.amount // 1000, programs.amount)
    sends = programs.kind == op.SEND
    longest = max(1, int(programs.size_bytes[sends].max(initial=1)))
    waits_s = int(programs.amount[programs.kind == op.WAIT].max(initial=0)) // 10**12
    until_s = int(programs.amount[programs.kind == op.UNTIL].max(initial=0)) // 10**12
    at_once = int(str(protocol["messages_at_once"]))
    values = (len(terminals), programs.rows, count, at_once, warm_ups, repeats)
    more = (patience_s + waits_s + until_s, int(bool(protocol["programmed"])), longest, LEAD_NS)
    start = np.concatenate([programs.start[terminals], [programs.rows]])
    kind = np.zeros(programs.rows, np.int64)
    for number, known in enumerate(_KINDS):
        kind[programs.kind == known] = number
    columns = (kind, peer, programs.size_bytes, tag, amount, np.isinf(programs.times()).astype(np.int64))
    return Plan(terminals, dict(zip(HEAD, (*values, *more), strict=True)), start, rank_of, columns)


def _possible(programs: Programs) -> None:
    """Refuse operations that two-sided sends and receives cannot do."""
    if programs.needs is not None or programs.stream is not None:
        raise MeasureError(
            "in these programs operations wait for several others, or go on beside others; what is measured "
            "is one after the other\n  = let each operation of a terminal wait for the one before"
        )
    reads = np.flatnonzero(programs.kind == op.READ)
    if len(reads):
        row = int(reads[0])
        name = programs.terminal_names[int(programs.terminal[row])]
        raise MeasureError(
            f'terminal "{name}": "{programs.text(row)}" fetches from the memory of another terminal; what is '
            "measured sends and receives\n  = send a request, and answer it"
        )
    timed = np.flatnonzero(programs.tag == op.TURN)
    if len(timed):
        name = programs.terminal_names[int(programs.terminal[timed[0]])]
        raise MeasureError(
            f'terminal "{name}" asks again when no answer comes; over MPI none is lost\n'
            "  = remove retry_after"
        )
    barriers = programs.kind == op.BARRIER
    if not barriers.any():
        return
    count = len(programs.terminal_names)
    times = np.bincount(programs.terminal[barriers], weights=programs.times()[barriers], minlength=count)
    some = np.flatnonzero(times)
    if len(set(times[some].tolist())) > 1:
        least, most = (int(some[at]) for at in (np.argmin(times[some]), np.argmax(times[some])))
        names = programs.terminal_names
        raise MeasureError(
            f'"{names[least]}" comes to {times[least]:g} barriers and "{names[most]}" to {times[most]:g}; '
            "those of MPI are for the same processes every time\n  = give both as many"
        )
