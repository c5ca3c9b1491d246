"""Checks of programs before a run: loops that never wait, receives without a sender, channels."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from fabriloom.programs import kinds as op
from fabriloom.programs.table import ProgramError, Programs

MOST_OPERATIONS = 300_000
"""Programs are followed for this many operations: a third of a second."""
_Message = tuple[int, int]
"""Its sender and its tag."""


@dataclass
class _Process:
    """A stream of a terminal at an operation."""

    terminal: int
    row: int
    end: int
    barriers: int
    loops: list[tuple[int, int]] = field(default_factory=list)
    """Per repeat: its row, and how often it still runs; 0: for ever."""
    inbox: deque[_Message] = field(default_factory=deque)
    """That of the terminal: its streams share it."""
    last: _Message | None = None

    @property
    def serves(self) -> bool:
        """Whether it runs for ever."""
        return any(left == 0 for _, left in self.loops)


def waits_for_ever(programs: Programs) -> list[str]:
    """Return what each terminal waits for if all come to rest before their ends; empty if none does.

    Messages arrive at once, in the order in which they are sent. Programs that receive from any terminal may
    continue otherwise when messages overtake each other. Graphs are not followed.
    """
    if programs.needs is not None:
        return []
    processes = _processes(programs)
    here = [list[_Process]() for _ in programs.terminal_names]
    for one in processes:
        here[one.terminal].append(one)
    ready, budget = deque(processes), MOST_OPERATIONS
    while budget > 0:
        while ready and budget > 0:
            process = ready.popleft()
            while budget > 0 and _step(programs, process, here, ready):
                budget -= 1
            budget -= 1
        if not ready and not _pass_barrier(programs, processes, ready):
            break
    if budget <= 0:
        return []
    rows = [(one, one.row) for one in processes if one.row < one.end and not one.serves]
    return [f"{programs.terminal_names[one.terminal]} in {programs.text(row)}" for one, row in rows]


def _processes(programs: Programs) -> list[_Process]:
    first = np.flatnonzero(np.diff(programs.process, prepend=-1)).tolist()
    inboxes = [deque[_Message]() for _ in programs.terminal_names]
    found = []
    for row, end in itertools.pairwise([*first, programs.rows]):
        terminal, barriers = int(programs.terminal[row]), int((programs.kind[row:end] == op.BARRIER).sum())
        found.append(_Process(terminal, row, end, barriers, inbox=inboxes[terminal]))
    return found


def _step(programs: Programs, process: _Process, here: list[list[_Process]], ready: deque[_Process]) -> bool:
    """Execute one operation; returns false if the terminal waits or has ended.

    ``here``: the processes of each terminal.
    """
    row = process.row
    if row >= process.end:
        return False
    kind = int(programs.kind[row])
    if kind == op.BARRIER or (kind == op.RECEIVE and not _receive(programs, process)):
        return False
    process.row += 1
    if kind == op.SEND:
        peer = _peer(int(programs.peer[row]), process)
        message = process.terminal, _tag(int(programs.tag[row]), process)
        if peer < len(here) and here[peer]:
            here[peer][0].inbox.append(message)
            ready.extend(here[peer])
    elif kind == op.REPEAT:
        process.loops.append((row, int(programs.amount[row])))
    elif kind == op.END:
        first, left = process.loops.pop()
        if left != 1:
            process.loops.append((first, max(0, left - 1)))
            process.row = first + 1
    return True


def _receive(programs: Programs, process: _Process) -> bool:
    """Take a message that fits; a receive with a time-out needs none."""
    row = process.row
    peer, tag = _peer(int(programs.peer[row]), process), _tag(int(programs.tag[row]), process)
    for place, (sender, mark) in enumerate(process.inbox):
        if peer in (op.ANY, sender) and tag in (op.ANY, mark):
            process.last = (sender, mark)
            del process.inbox[place]
            return True
    return bool(programs.amount[row])


def _peer(peer: int, process: _Process) -> int:
    if peer < op.FIRST_SPECIAL or process.last is None or peer not in (op.SENDER, op.TAGGED):
        return peer
    return process.last[0 if peer == op.SENDER else 1]


def _tag(tag: int, process: _Process) -> int:
    if tag < op.FIRST_SPECIAL or process.last is None or tag not in (op.SAME, op.SENDER_NUMBER):
        return tag
    return process.last[1 if tag == op.SAME else 0]


def _pass_barrier(programs: Programs, processes: list[_Process], ready: deque[_Process]) -> bool:
    """Let all terminals pass a barrier if each that has one left stands at it."""
    left = [one for one in processes if one.row < one.end and one.barriers]
    at_it = [one for one in left if int(programs.kind[one.row]) == op.BARRIER]
    if not at_it or len(at_it) < len([one for one in left if _ahead(programs, one)]):
        return False
    for one in at_it:
        one.row += 1
        ready.append(one)
    return True


def _ahead(programs: Programs, process: _Process) -> bool:
    """Whether a barrier is left in a program: behind its operation, or in a repeat around it."""
    first = min([process.row, *(row for row, left in process.loops if left != 1)])
    return bool((programs.kind[first : process.end] == op.BARRIER).any())


_MOST_AT_ONCE = 2**24
"""A program cannot make more messages than this without waiting."""
_AT_ONCE = 1 << 16
"""Rows that are compared at a time."""
_MOST_UNDER_WAY = 1 << 20
"""Most places for messages of a terminal with which a send counts as one that waits."""


def check(programs: Programs, protocol: op.Settings) -> None:
    """Raise :class:`ProgramError` for programs that cannot work.

    ``protocol``: ``messages_at_once``, ``send_time_ps`` and ``channels_limit``.
    """
    _to_itself(programs)
    _after_a_receive(programs)
    _loops(programs, protocol)
    _receives(programs)
    _channels(programs, int(protocol["channels_limit"]))


def fail(programs: Programs, row: int, message: str, hint: str) -> NoReturn:
    """Raise an error that names the terminal and the place of a row."""
    name = programs.terminal_names[int(programs.terminal[row])]
    parameter = programs.places[row] if programs.places else None
    place = None if programs.where is None else programs.where(row)
    raise ProgramError(f'terminal "{name}": {message}', parameter, hint, place=place)


def _to_itself(programs: Programs) -> None:
    """Refuse operations of a terminal with itself: it cannot send to, read from or receive from itself."""
    active = np.isin(programs.kind, (op.SEND, op.READ, op.RECEIVE))
    wrong = np.flatnonzero(active & (programs.peer == programs.terminal))
    if len(wrong):
        row = int(wrong[0])
        way = "to" if programs.kind[row] == op.SEND else "from"
        fail(programs, row, f'"{programs.text(row)}" is {way} itself', "name another terminal")


def _after_a_receive(programs: Programs) -> None:
    """Refuse operations on the message received last in programs that have received none before."""
    special = np.isin(programs.peer, (op.SENDER, op.TAGGED)) & np.isin(
        programs.kind, (op.SEND, op.READ, op.RECEIVE)
    )
    special |= np.isin(programs.tag, (op.SAME, op.SENDER_NUMBER)) & np.isin(
        programs.kind, (op.SEND, op.RECEIVE)
    )
    rows = np.flatnonzero(special)
    if not len(rows):
        return
    before = np.concatenate([[0], np.cumsum(programs.kind == op.RECEIVE)])
    first = np.searchsorted(programs.process, programs.process[rows])
    early = rows[before[rows] == before[first]]
    if len(early):
        row = int(early[0])
        fail(programs, row, f'"{programs.text(row)}", but nothing was received before', "receive first")


def _loops(programs: Programs, protocol: op.Settings) -> None:
    """Refuse repeats that do not match their ends, are nested too deep, or never wait."""
    inner = np.flatnonzero((programs.kind == op.REPEAT) | (programs.kind == op.END))
    process = programs.process
    stack: list[int] = []
    for row in inner.tolist():
        if stack and process[stack[-1]] != process[row]:
            _open(programs, stack[-1])
        if programs.kind[row] == op.REPEAT:
            stack.append(row)
            if len(stack) > op.MOST_DEEP:
                fail(programs, row, f"more than {op.MOST_DEEP} repeats within each other", "use fewer")
            continue
        if not stack:
            fail(programs, row, "an end without a repeat", "remove it, or add a repeat before")
        first = stack.pop()
        _one_loop(programs, first, row, protocol)
        behind = row + 1
        if programs.amount[first] == 0 and behind in range(programs.rows) and process[behind] == process[row]:
            message = f'"{programs.text(behind)}" is never reached: the repeat before it has no end'
            fail(programs, behind, message, "give the repeat a number, or remove what follows")
    if stack:
        _open(programs, stack[-1])


def _open(programs: Programs, row: int) -> NoReturn:
    fail(programs, row, "this repeat has no end", 'add "end" behind what is to be repeated')


def _one_loop(programs: Programs, first: int, last: int, protocol: op.Settings) -> None:
    """Refuse an endless loop, or a long one, that never waits."""
    kind, amount = programs.kind[first + 1 : last], programs.amount[first + 1 : last]
    waits = np.isin(kind, (op.RECEIVE, op.READ)) | ((kind == op.WAIT) & (amount > 0))
    by_size = protocol.get("by_size") or ()
    sized = bool(by_size) and all(row["send_time_ps"] for row in by_size)
    if 0 < protocol["messages_at_once"] <= _MOST_UNDER_WAY or protocol["send_time_ps"] or sized:
        waits |= kind == op.SEND
    if np.any(waits):
        return
    turns, sends = int(programs.amount[first]), int(np.count_nonzero(kind == op.SEND))
    hint = "add a wait"
    if sends:
        hint = "set protocol.messages_at_once, so that a send waits for a free place, or add a wait"
    if turns == 0:
        fail(programs, first, "an endless repeat that never waits for anything", hint)
    if turns * max(1, len(kind)) > _MOST_AT_ONCE:
        fail(programs, first, f"a repeat of {turns:,} that never waits for anything", hint)


def _receives(programs: Programs) -> None:
    """Refuse receives that no terminal sends a matching message for."""
    receives = np.flatnonzero(programs.kind == op.RECEIVE)
    if not len(receives):
        return
    sends = np.flatnonzero(programs.kind == op.SEND)
    loose = sends[np.isin(programs.peer[sends], (op.SENDER, op.TAGGED))]
    known = sends[programs.peer[sends] < op.FIRST_SPECIAL]
    count = len(programs.terminal_names)
    to = np.zeros(count, bool)
    to[programs.peer[known]] = True
    if np.any(programs.peer[loose] == op.TAGGED):
        to[:] = True
    # A terminal that answers the sender of a message can answer every terminal that sends to it.
    answers = np.isin(programs.peer[known], programs.terminal[loose])
    to[programs.terminal[known[answers]]] = True
    nobody = receives[~to[programs.terminal[receives]]]
    if len(nobody):
        row = int(nobody[0])
        fail(programs, row, f'"{programs.text(row)}", but nothing is sent to it', "add a send to it")
    _matched(programs, receives, sends)
    if not len(loose):
        _enough(programs, receives, known)


def _matched(programs: Programs, receives: np.ndarray, sends: np.ndarray) -> None:
    """Check that a matching send exists. A send to the sender of a message may go to any terminal."""
    odd = receives[(programs.peer[receives] < op.FIRST_SPECIAL) | (programs.tag[receives] < op.FIRST_SPECIAL)]
    if not len(odd):
        return
    # A message without a tag matches a receive without one; a tag that is known later may match any receive.
    everybody, anybody, anything = -1, -1, -1
    offered: set[tuple[int, int, int]] = set()
    for s, t, g in _unlike(programs, sends):
        target = t if t < op.FIRST_SPECIAL else anybody
        wild = anything if g in (op.SAME, op.SENDER_NUMBER) else g
        offered |= {(s, target, wild), (everybody, target, wild), (s, target, -2), (everybody, target, -2)}
    unmet = list[int]()
    for (here, peer, wanted), row in _unlike(programs, odd).items():
        who = peer if peer < op.FIRST_SPECIAL else everybody
        fits = (-2,) if wanted >= op.FIRST_SPECIAL else (wanted, anything)
        if not any((who, to, one) in offered for to in (here, anybody) for one in fits):
            unmet.append(row)
    if unmet:
        message = f'"{programs.text(min(unmet))}", but nobody sends that to it'
        fail(programs, min(unmet), message, "add a send that fits, or receive any")


def _unlike(programs: Programs, rows: np.ndarray) -> dict[tuple[int, int, int], int]:
    """Return the terminals, peers and tags of rows, each once, with the first of its rows."""
    found: dict[tuple[int, int, int], int] = {}
    for at in range(0, len(rows), _AT_ONCE):
        some = rows[at : at + _AT_ONCE][::-1]
        columns = (column[some].tolist() for column in (programs.terminal, programs.peer, programs.tag))
        new = dict(zip(zip(*columns, strict=True), some.tolist(), strict=True))
        found.update((key, row) for key, row in new.items() if key not in found)
    return found


def _enough(programs: Programs, receives: np.ndarray, sends: np.ndarray) -> None:
    """Refuse programs that wait for more messages than are sent; endless loops are not counted."""
    times, count = programs.times(), len(programs.terminal_names)
    finite = np.where(np.isinf(times), 0.0, times)[receives]
    wanted = np.bincount(programs.terminal[receives], weights=finite, minlength=count)
    sent = np.bincount(programs.peer[sends], weights=np.minimum(times[sends], 2.0**62), minlength=count)
    short = np.flatnonzero(wanted > sent)
    if len(short):
        row = int(receives[programs.terminal[receives] == short[0]][-1])
        message = (
            f"it receives {wanted[short[0]]:,.0f} messages, but only {sent[short[0]]:,.0f} are sent to it"
        )
        fail(programs, row, message, "send more, or receive less")


def _channels(programs: Programs, limit: int) -> None:
    """Compare the number of targets of each terminal with the limit of the protocol."""
    if not limit:
        return
    active = np.flatnonzero((programs.kind == op.SEND) & (programs.peer < op.FIRST_SPECIAL))
    pairs = np.unique(np.stack([programs.terminal[active], programs.peer[active]]), axis=1)
    used = np.bincount(pairs[0], minlength=len(programs.terminal_names))
    over = np.flatnonzero(used > limit)
    if len(over):
        mine = active[programs.terminal[active] == over[0]]
        _, first = np.unique(programs.peer[mine], return_index=True)
        row = int(mine[np.sort(first)[limit]])
        message = f"it sends to {used[over[0]]} terminals, protocol.channels_limit allows {limit}"
        fail(programs, row, message, "send to fewer, or raise the limit")


def longer_than(programs: Programs, duration_ps: int) -> None:
    """Refuse a written wait that is longer than the run, because nothing after it would ever happen."""
    if not programs.places:
        return
    waits = np.isin(programs.kind, (op.WAIT, op.UNTIL)) & (programs.amount >= duration_ps)
    if np.any(waits):
        row = int(np.flatnonzero(waits)[0])
        message = f'"{programs.text(row)}" is longer than the whole run'
        fail(programs, row, message, "shorten it, or make run.duration longer")
