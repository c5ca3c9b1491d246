"""Programs that the user writes operation by operation."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass, replace
from typing import Any, NoReturn

import numpy as np

from fabriloom import units
from fabriloom.programs import kinds as op
from fabriloom.programs.check import fail
from fabriloom.programs.draws import Draws, due_ps
from fabriloom.programs.kinds import MOST_OPERATIONS, READ, SEND, Ints, Settings
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import Events, ProgramError, Programs
from fabriloom.traffic.names import Terminals

_TOKEN = re.compile(r'"([^"]*)"|(\S+)')
_MOST_REPEATS = 2**40
_SHAPES = {
    op.SEND: "send {} 1 kB tag 3",
    op.RECEIVE: "receive {} tag 3, or receive any",
    op.READ: "read {} 1 kB",
    op.WAIT: "wait 5 us",
    op.UNTIL: "until 1 ms",
    op.REPEAT: "repeat 10, or repeat for ever",
    op.END: "end",
    op.BARRIER: "barrier",
    op.MARK: "mark 1",
    op.FLUSH: "flush",
}
_PEERS = {op.SEND: ("sender", "tagged"), op.RECEIVE: ("any", "sender"), op.READ: ("sender", "tagged")}
_SPECIAL = {"any": op.ANY, "sender": op.SENDER, "tagged": op.TAGGED}


@dataclass(frozen=True)
class Operation:
    kind: int
    peer: int = op.ANY
    size_bytes: int = 0
    tag: int = op.ANY
    amount: int = 0


@dataclass(frozen=True)
class _Word:
    text: str
    start: int
    length: int
    quoted: bool


class _Reader:
    """Reads the words of a text in order; every error points at a word."""

    def __init__(self, text: str, parameter: str, terminals: Terminals) -> None:
        self._text, self._parameter, self._terminals = text, parameter, terminals
        self._words = [
            _Word(m[1] if m[1] is not None else m[2], m.start(), m.end() - m.start(), m[1] is not None)
            for m in _TOKEN.finditer(text)
        ]
        self._next = 0

    def fail(
        self, message: str, hint: str, first: _Word | None = None, last: _Word | None = None
    ) -> NoReturn:
        """Raise an error that points at some words, or behind the last word."""
        if first is None:
            end = len(self._text.rstrip())
            raise ProgramError(message, self._parameter, hint, (end, 1))
        stop = last or first
        span = (first.start, stop.start + stop.length - first.start)
        raise ProgramError(message, self._parameter, hint, span)

    def example(self, kind: int) -> str:
        """Return an example of such an operation, with a terminal that exists."""
        name = self._terminals.names[-1]
        shown = f'"{name}"' if " " in name else name
        return f"write for example {_SHAPES[kind].format(shown)}"

    def peek(self) -> _Word | None:
        """Return the next word without taking it; None at the end."""
        return self._words[self._next] if self._next < len(self._words) else None

    def take(self, what: str, kind: int | None = None) -> _Word:
        word = self.peek()
        if word is None:
            example = self.example(kind) if kind is not None else "write an operation"
            self.fail(f"{what} is missing", example)
        self._next += 1
        return word

    def kind(self) -> int:
        """Take the first word, the kind of the operation."""
        word = self.take("the operation")
        if word.text not in op.WORDS or word.quoted:
            near = units.nearest(word.text, tuple(op.WORDS))
            hint = f'did you mean "{near}"? ' if near else ""
            message = f'unknown operation "{word.text[:40]}"'
            self.fail(message, f"{hint}operations: {', '.join(op.WORDS)}", word)
        return op.WORDS[word.text]

    def peer(self, kind: int) -> int:
        """Take a terminal or one of the special words."""
        if kind == op.RECEIVE and (self.peek() is None or self._is_tag()):
            return op.ANY
        word = self.take("the terminal", kind)
        if not word.quoted and word.text in _PEERS[kind] and word.text not in self._terminals.numbers:
            return _SPECIAL[word.text]
        found = self._terminals.find(word.text)
        if found is None:
            self.fail(self._terminals.message(word.text), self._terminals.hint(word.text), word)
        return found

    def _is_tag(self) -> bool:
        word = self.peek()
        return word is not None and word.text == "tag" and "tag" not in self._terminals.numbers

    def quantity(self, what: str, kind: int, parse: object) -> int:
        """Take a number and its unit, written as one word or two."""
        first = last = self.take(what, kind)
        text, following = first.text, self.peek()
        if re.fullmatch(r"[-+\d._eE]+", text) and following and following.text != "tag":
            last = self.take(what, kind)
            text = f"{text} {last.text}"
        try:
            return parse(text)  # type: ignore[operator]
        except units.UnitError as error:
            self.fail(error.message, error.hint, first, last)

    def whole(self, what: str, kind: int, most: int) -> int:
        word = self.take(what, kind)
        if not re.fullmatch(r"[0-9]{1,19}", word.text) or int(word.text) > most:
            self.fail(f'{what} cannot be "{word.text[:40]}"', f"write a whole number up to {most:,}", word)
        return int(word.text)

    def tag(self, kind: int) -> int:
        """Take ``tag`` and its value, if they are there."""
        if not self._is_tag():
            return op.ANY
        self._next += 1
        word = self.peek()
        if word is not None and word.text in ("same", "any", "sender"):
            special = {"same": op.SAME, "any": op.ANY, "sender": op.SENDER_NUMBER}
            if word.text == "sender" and kind != op.SEND:
                message = "only what is sent can have the number of the sender as its tag"
                self.fail(message, "write a number", word)
            self._next += 1
            return special[word.text]
        return self.whole("the tag", kind, op.MOST_TAG)

    def finish(self, kind: int) -> None:
        """Refuse further words."""
        word = self.peek()
        if word is not None:
            self.fail(f'"{word.text[:40]}" has no meaning here', self.example(kind), word, self._words[-1])


def parse(text: str, parameter: str, terminals: Terminals) -> Operation:
    """Return the operation in a text. Raises :class:`ProgramError` that points at the wrong word."""
    reader = _Reader(text, parameter, terminals)
    kind = reader.kind()
    values: dict[str, int] = {}
    if kind in (op.SEND, op.RECEIVE, op.READ):
        values["peer"] = reader.peer(kind)
        if kind != op.RECEIVE:
            values["size_bytes"] = reader.quantity("the size", kind, _size)
        if kind != op.READ:
            values["tag"] = reader.tag(kind)
    elif kind in (op.WAIT, op.UNTIL):
        values["amount"] = reader.quantity("the time", kind, units.parse_time_ps)
    elif kind == op.REPEAT:
        values["amount"] = _repeats(reader)
    elif kind == op.MARK:
        values["tag"] = (
            0 if reader.peek() is None else reader.whole("the number of a mark", kind, op.MOST_TAG)
        )
    reader.finish(kind)
    return Operation(kind, **values)


def _size(text: str) -> int:
    size_bytes = units.parse_bytes(text, positive=True)
    if size_bytes > op.MOST_BYTES:
        raise units.UnitError(f"a message of {text} is too long", "the most is 2^31 - 1 bytes; send several")
    return size_bytes


def _repeats(reader: _Reader) -> int:
    """Return the number of repeats; 0 means endless."""
    word = reader.peek()
    if word is None:
        return 0
    if word.text == "for":
        reader.take("for")
        ever = reader.peek()
        if ever is None or ever.text != "ever":
            message = "a repeat is a number of times, or for ever"
            reader.fail(message, "write repeat 10, or repeat for ever", word)
        reader.take("ever")
        return 0
    return reader.whole("how often", op.REPEAT, _MOST_REPEATS)


_Lists = dict[tuple[int, int], list[tuple[Operation, str]]]
"""By terminal and stream: the operations, each with its setting."""


def operations(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return the programs of ``[[program.terminals]]``; terminals without one do nothing."""
    lists: _Lists = {}
    total = 0
    for number, table in enumerate(settings["terminals"]):
        base = f"terminals.{number}"
        named = _named(roles, table["terminal"], base)
        done = [
            _parsed(roles, text, f"{base}.do.{place}", named[0][0]) for place, text in enumerate(table["do"])
        ]
        for terminal, parameter in named:
            key = terminal, table["stream"]
            if key in lists:
                name = roles.terminals.names[terminal]
                hint = "put both into one, or give one of them a stream of its own"
                raise ProgramError(f'"{name}" has a program already', parameter, hint)
            total += len(done)
            if total > MOST_OPERATIONS:
                message = f"these programs have more than {MOST_OPERATIONS:,} operations"
                raise ProgramError(message, base, "use repeat")
            lists[key] = done
    programs = _table(roles, settings, lists)
    reads = np.flatnonzero(programs.kind == READ)
    if len(reads) and not roles.network.network_kind.transactions:
        fail(programs, int(reads[0]), "only networks of rings can read", "send a request, and answer it")
    return programs


def _parsed(roles: Roles, text: str, parameter: str, terminal: int) -> tuple[Operation, str]:
    try:
        return parse(text, parameter, roles.terminals), parameter
    except ProgramError as error:
        message = f'terminal "{roles.terminals.names[terminal]}": {error.message}'
        raise ProgramError(message, parameter, error.hint, error.span) from None


def _named(roles: Roles, given: Any, base: str) -> list[tuple[int, str]]:
    if not isinstance(given, list):
        return [(roles.one(given, f"{base}.terminal"), f"{base}.terminal")]
    numbers, places = roles.terminals.many(given, f"{base}.terminal")
    return list(zip(numbers.tolist(), places, strict=True))


def _table(roles: Roles, settings: Settings, lists: _Lists) -> Programs:
    order = sorted(lists)
    values = np.array([astuple(done) for one in order for done, _ in lists[one]], np.int64)
    columns = dict(zip(("kind", "peer", "size_bytes", "tag", "amount"), values.T, strict=True))
    terminal, stream = np.repeat(np.array(order, np.int64), [len(lists[one]) for one in order], axis=0).T
    places = [place for one in order for _, place in lists[one]]
    programs = Programs(
        roles.terminals.names, terminal, **columns, places=places, stream=stream if stream.any() else None
    )
    if not settings.get("events"):
        return programs
    rate = settings.get("rate_millihz")
    due = due_ps(settings, Draws(0))
    fragments = _fragments(programs, settings["events"])
    return replace(programs, events=Events(due, fragments, 0, rate / 1000 if rate else None))


def _fragments(programs: Programs, events: int) -> Ints:
    """Return the number of messages whose tag is the number of each event."""
    sent = (programs.kind == SEND) & (programs.tag < events)
    times = np.minimum(programs.times()[sent], 2.0**31)
    counted = np.bincount(programs.tag[sent], weights=times, minlength=events).astype(np.int64)
    none = np.flatnonzero(counted == 0)
    if len(none):
        message = f"nothing is sent with tag {none[0]}, so event {none[0]} has no messages"
        raise ProgramError(message, "events", "reduce the number of events, or send something for each")
    return counted
