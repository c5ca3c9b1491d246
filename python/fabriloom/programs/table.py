"""Programs as a table: one row per operation, in order, terminal after terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fabriloom import units
from fabriloom.programs import kinds as op
from fabriloom.reading import Place
from fabriloom.traffic import TrafficError
from fabriloom.traffic.kinds import in_units


class ProgramError(TrafficError):
    """A program that cannot be run.

    ``parameter`` is the dotted setting of ``[program]`` that is wrong, ``span`` the place in its text: first
    character, counted from 0, and length, ``place`` one in another file.
    """

    def __init__(
        self,
        message: str,
        parameter: str | None = None,
        hint: str = "",
        span: tuple[int, int] | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__(message, parameter, hint, place)
        self.span = span


_NAMES = {op.WAIT: "wait", op.UNTIL: "until", op.END: "end", op.BARRIER: "barrier", op.FLUSH: "flush"}


@dataclass(frozen=True)
class Events:
    """When events are due, and how many messages each has. Tags from ``first`` on are event numbers."""

    due_ps: op.Ints
    fragments: op.Ints
    first: int = 0
    rate_per_s: float | None = None
    """The attempted rate; None: events are sent as fast as possible."""


_ENDLESS = 1e9
"""Rounds that an endless repeat counts for beside others."""

NO_EVENTS = Events(np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Programs:
    """The programs of all terminals. ``amount`` is in ps, or the number of repeats."""

    terminal_names: Sequence[str]
    terminal: op.Column
    kind: op.Column
    peer: op.Column
    size_bytes: op.Column
    tag: op.Column
    amount: op.Column
    events: Events = NO_EVENTS
    places: Sequence[str] = field(default=())
    """Per row: the setting that it comes from, such as ``terminals.0.do.3``; empty if it comes from none."""
    where: Callable[[int], Place | None] | None = None
    """Finds the place of a row in a file, which is read again; None: the rows are of no such file."""
    needs: op.Needs | None = None
    """What the rows wait for. None: each operation waits for the one before of its stream."""
    stream: op.Column | None = None
    """Per row the stream of its terminal that does it; in lists they ascend. None: all are 0."""

    @property
    def rows(self) -> int:
        """Return the number of operations."""
        return len(self.kind)

    @property
    def start(self) -> op.Ints:
        """Return the first row of each terminal, and last the number of rows."""
        count = np.bincount(self.terminal, minlength=len(self.terminal_names))
        return np.concatenate([[0], np.cumsum(count)])

    @property
    def process(self) -> op.Ints:
        """Return, per row, a number of its terminal and stream."""
        return self.terminal * op.MOST_STREAMS + (0 if self.stream is None else self.stream)

    @property
    def streams(self) -> op.Ints:
        """Return, per terminal, how many streams it has: 0 without a program."""
        owner = np.unique(self.process) // op.MOST_STREAMS
        return np.bincount(owner, minlength=len(self.terminal_names))

    def with_rows(
        self,
        at: op.Ints,
        terminal: op.Ints,
        kind: int,
        *,
        peer: object = op.ANY,
        size_bytes: object = 0,
        tag: object = op.ANY,
        amount: object = 0,
        stream: object = 0,
    ) -> Programs:
        """Return the programs with further rows of a kind; ``at``: before which row each comes, ascending."""

        def joined(column: op.Column, value: object) -> op.Column:
            return np.insert(column, at, np.broadcast_to(np.asarray(value, np.int64), len(at)))

        places = list(self.places)
        for row in reversed(at.tolist()) if places else ():
            places.insert(row, "")
        return replace(
            self,
            terminal=joined(self.terminal, terminal),
            kind=joined(self.kind, kind),
            peer=joined(self.peer, peer),
            size_bytes=joined(self.size_bytes, size_bytes),
            tag=joined(self.tag, tag),
            amount=joined(self.amount, amount),
            places=places,
            where=None,
            stream=None if self.stream is None else joined(self.stream, stream),
        )

    def times(self, endless: float = np.inf) -> np.ndarray:
        """Return how often each row is executed, as floats; ``endless`` is how often an endless repeat is."""
        found = np.ones(self.rows)
        inner = np.flatnonzero((self.kind == op.REPEAT) | (self.kind == op.END))
        stack: list[float] = []
        for place, row in enumerate(inner.tolist()):
            if self.kind[row] == op.REPEAT:
                stack.append((stack[-1] if stack else 1.0) * (float(self.amount[row]) or endless))
            elif stack:
                stack.pop()
            after = int(inner[place + 1]) if place + 1 < len(inner) else self.rows
            if stack:
                found[row + 1 : after + 1] = stack[-1]
        return found

    @property
    def timed(self) -> np.ndarray:
        """Return the rows that have a duration or a point in time."""
        return (
            (self.kind == op.WAIT) | (self.kind == op.UNTIL) | ((self.kind == op.RECEIVE) & (self.amount > 0))
        )

    def columns(self, tick_ps: int | Fraction) -> op.Columns:
        """Return the engine's ``program_*``, ``op_*`` and ``event_*`` columns, times in whole ticks."""
        ticks = np.where(self.timed, in_units(self.amount, tick_ps), self.amount)
        dummies = np.zeros(self.events.first, np.int64)
        due_ticks = np.concatenate([dummies, in_units(self.events.due_ps, tick_ps)])
        found = {
            "program_start": self.start.astype(np.uint32),
            "op_kind": self.kind.astype(np.uint8, copy=False),  # long columns are held once
            "op_peer": self.peer.astype(np.uint32, copy=False),
            "op_bytes": self.size_bytes.astype(np.uint32, copy=False),
            "op_tag": self.tag.astype(np.uint32, copy=False),
            "op_ticks": ticks.astype(np.uint64),
            "event_due_ticks": due_ticks.astype(np.uint64),
            "event_fragments": np.concatenate([dummies + op.NEVER, self.events.fragments]).astype(np.uint32),
        }
        if self.stream is not None:
            found["op_stream"] = self.stream.astype(np.uint8, copy=False)
        if self.needs is not None:
            for name, column in zip(("op_needs", "op_needs_start"), self.needs, strict=True):
                found[name] = column.astype(np.uint32, copy=False)
        return found

    @cached_property
    def demand(self) -> tuple[op.Ints, op.Ints, op.Ints, np.ndarray]:
        """Return source, target, bytes and number of messages.

        Those for the sender of the message before are shared among all that send there, in proportion.
        Those of which only a run tells the target are left out.
        """
        known = self._sends & (self.peer < len(self.terminal_names))
        count = np.minimum(self.times(_ENDLESS)[known], _ENDLESS)
        away = self.kind[known] == op.READ
        own, peer, size = self.terminal[known], self.peer[known], self.size_bytes[known].astype(np.int64)
        found = np.where(away, peer, own), np.where(away, own, peer), size, count
        if not np.any(self._answer):
            return found
        more = self._answers(own[~away], peer[~away], count[~away])
        source, target, size, count = map(np.concatenate, zip(found, more, strict=True))
        return source, target, size, count

    @property
    def _sends(self) -> np.ndarray:
        return (self.kind == op.SEND) | (self.kind == op.READ)

    @property
    def _answer(self) -> np.ndarray:
        return (self.kind == op.SEND) & (self.peer == op.SENDER)

    def _answers(
        self, source: op.Ints, target: op.Ints, count: np.ndarray
    ) -> tuple[op.Ints, op.Ints, op.Ints, np.ndarray]:
        """Return the messages that are sent to the sender of the message before; the arguments: all others.

        A row that is repeated for ever is executed as often as messages come.
        """
        rows, names = np.flatnonzero(self._answer), len(self.terminal_names)
        times, receives = self.times(_ENDLESS), self.kind == op.RECEIVE
        came = np.bincount(target, weights=count, minlength=names)
        taken = np.bincount(self.terminal[receives], times[receives], minlength=names)
        at, size = self.terminal[rows], self.size_bytes[rows].astype(np.int64)
        served = times[rows] * came[at] / np.maximum(taken[at], 1)
        (at, size), place = np.unique(np.stack([at, size]), axis=1, return_inverse=True)
        number = np.bincount(place.ravel(), weights=np.where(times[rows] < _ENDLESS, times[rows], served))
        pair, place = np.unique(target.astype(np.int64) * names + source, return_inverse=True)
        weight, (to, who) = np.bincount(place.ravel(), weights=count), np.divmod(pair, names)
        first = np.searchsorted(to, np.arange(names + 1))
        many = np.diff(first)[at]
        row = np.repeat(np.arange(len(at)), many)
        pair = np.arange(len(row)) - np.repeat(np.cumsum(many) - many - first[at], many)
        return at[row], who[pair], size[row], number[row] * weight[pair] / came[at[row]]

    @property
    def ends(self) -> bool:
        """Whether no program is endless."""
        return not np.isinf(self.times()[self._sends]).any()

    def taken(self) -> np.ndarray:
        """Return how many messages each terminal receives, on the scale of :meth:`demand`."""
        receives = self.kind == op.RECEIVE
        times = np.minimum(self.times(_ENDLESS)[receives], _ENDLESS)
        return np.bincount(self.terminal[receives], times, len(self.terminal_names))

    @property
    def is_told(self) -> bool:
        """Whether ``demand`` is of all messages; else only a run tells whom some are for."""
        special = self._sends & (self.peer >= len(self.terminal_names))
        asked = np.isin(self.terminal[self._answer], self.peer[self.kind == op.SEND])
        return not np.any(special & ~self._answer) and bool(asked.all())

    def counted(self) -> dict[str, Any]:
        """Return ``messages`` and ``message_bytes`` of all sends and reads, and ``channels_most``.

        The first two are None if a program sends without end. An endless repeat that only answers does not.
        ``channels_most`` is the largest number of known targets of a terminal.
        """
        sends = self._sends
        times, sizes = self.times()[sends], self.size_bytes[sends]
        endless = np.isinf(times)
        if endless.any() and self.is_told and self._answer[sends][endless].all():
            _, _, sizes, times = self.demand
        without_end = bool(np.isinf(times).any())
        names = len(self.terminal_names)
        known = sends & (self.peer < names)
        pairs = np.unique(self.terminal[known].astype(np.int64) * names + self.peer[known])
        return {
            "messages": None if without_end else round(times.sum()),
            "message_bytes": None if without_end else round((times * sizes).sum()),
            "channels_most": int(np.bincount(pairs // names).max(initial=0)),
        }

    def text(self, row: int) -> str:
        """Return an operation as text."""
        kind, tag = int(self.kind[row]), int(self.tag[row])
        if kind == op.RECEIVE and self.amount[row]:
            time = units.format_time_ps(int(self.amount[row]))
            return f"receive {self._peer(int(self.peer[row]))} within {time}"
        if kind in (op.WAIT, op.UNTIL):
            return f"{_NAMES[kind]} {units.format_time_ps(int(self.amount[row]))}"
        if kind == op.REPEAT:
            return f"repeat {int(self.amount[row])}" if self.amount[row] else "repeat"
        if kind == op.MARK:
            return f"mark {tag}"
        if kind in _NAMES:
            return _NAMES[kind]
        word = {op.SEND: "send", op.READ: "read", op.RECEIVE: "receive"}[kind]
        size = "" if kind == op.RECEIVE else f" {units.format_bytes(int(self.size_bytes[row]))}"
        return f"{word} {self._peer(int(self.peer[row]))}{size}{_tag(tag)}"

    def _peer(self, peer: int) -> str:
        special = {op.ANY: "any", op.SENDER: "sender", op.TAGGED: "tagged"}
        return special[peer] if peer in special else self.terminal_names[peer]


def _tag(tag: int) -> str:
    special = {op.ANY: "", op.SAME: " tag same", op.SENDER_NUMBER: " tag sender", op.TURN: ""}
    return special.get(tag, f" tag {tag}")


_HELD = (np.int32, np.int64, np.uint8, np.uint32, np.int32, np.uint32, np.int64)
"""The columns of rows: terminal, order, kind, peer, size, tag and amount."""


class Rows:
    """Rows that are added in any order; each gives its place in its terminal's program."""

    def __init__(self) -> None:
        self._parts: list[list[op.Column]] = []
        self._rows = 0

    def add(
        self,
        terminal: object,
        order: object,
        kind: object,
        *,
        peer: object = op.ANY,
        size_bytes: object = 0,
        tag: object = op.ANY,
        amount: object = 0,
    ) -> None:
        """Add one row per element of the broadcast arguments; rows of equal order keep their order."""
        values = (terminal, order, kind, peer, size_bytes, tag, amount)
        given = (np.asarray(value, one) for value, one in zip(values, _HELD, strict=True))
        part = [np.ravel(column) for column in np.broadcast_arrays(*given)]
        self._rows += len(part[0])
        if self._rows > op.MOST_OPERATIONS:
            message = f"these programs have more than {op.MOST_OPERATIONS:,} operations"
            raise ProgramError(message, None, "reduce the number of events, messages or terminals")
        self._parts.append(part)

    def loop(self, terminal: object, order: int, count: object) -> None:
        """Begin a repeat at ``order``; :meth:`end` ends it."""
        self.add(terminal, order, op.REPEAT, amount=count)

    def end(self, terminal: object, order: int) -> None:
        self.add(terminal, order, op.END)

    def begin_rounds(self, terminal: object, order: int, count: object) -> None:
        """Begin a repeat at ``order`` that marks the beginning of each round; :meth:`end_rounds` ends it."""
        self.loop(terminal, order, count)
        self.add(terminal, order, op.MARK, tag=0)

    def end_rounds(self, terminal: object, order: int, last: object) -> None:
        """End such a repeat, and its last round unless the repeat is endless."""
        self.end(terminal, order)
        if last:
            self.add(terminal, order, op.MARK, tag=0)

    def receives(
        self, terminal: object, order: int, count: object, marks: bool = False, **more: object
    ) -> None:
        """Add ``count`` receives (0: endless) at three orders from ``order`` on; ``marks``: as rounds."""
        (self.begin_rounds if marks else self.loop)(terminal, order, count)
        self.add(terminal, order + 1, op.RECEIVE, **more)
        if marks:
            self.end_rounds(terminal, order + 2, bool(np.all(np.asarray(count))))
        else:
            self.end(terminal, order + 2)

    def programs(self, terminal_names: Sequence[str], events: Events = NO_EVENTS) -> Programs:
        """Return the table of all programs, and give up the rows."""
        columns = self._taken()
        terminal, order = next(columns), next(columns)
        place = np.lexsort((order, terminal))
        del order
        kind, peer, size_bytes, tag, amount = (column[place] for column in columns)
        return Programs(terminal_names, terminal[place], kind, peer, size_bytes, tag, amount, events)

    def _taken(self) -> Iterator[op.Column]:
        """Return the columns one by one; each gives up its parts, so that long programs are held once."""
        for held in _HELD:
            yield np.concatenate([np.zeros(0, held), *(part.pop(0) for part in self._parts)])
