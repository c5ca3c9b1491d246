"""Programs that wait for each other in any network: found by following them without any times."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from fabriloom.programs import kinds as op
from fabriloom.programs.table import Programs

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
