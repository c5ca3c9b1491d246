"""Traces in GOAL, the language of LogGOPSim.

GOAL describes a graph: the operations of a rank, with ``requires`` between them. A program is a list, so a
rank is accepted only if its graph is a list too: every operation after a receive or a calculation requires
it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np

from fabriloom import reading
from fabriloom.programs.draws import Draws
from fabriloom.programs.kinds import ANY, MOST_BYTES, MOST_OPERATIONS, MOST_TAG, RECEIVE, SEND, WAIT, Settings
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import Programs, Rows
from fabriloom.reading import ReadError
from fabriloom.traffic import TrafficError

_MOST_FILE_BYTES = 1 << 30
_RANKS = re.compile(r"num_ranks\s+(\d{1,9})")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*\{?")
_CALC = re.compile(r"calc\s+(\d{1,18})(?P<rest>.*)")
_SEND = re.compile(r"send\s+(\d{1,12})b\s+to\s+(\d{1,9})(?P<rest>.*)")
_RECEIVE = re.compile(r"recv\s+(\d{1,12})b\s+from\s+(\d{1,10}|any)(?P<rest>.*)")
_REST = re.compile(r"(?:\s+(?:tag\s+(?P<tag>\d{1,10})|cpu\s+(?P<cpu>\d{1,9})|nic\s+\d{1,9}))*\s*")
_NEEDS = re.compile(r"(\w+)\s+(requires|irequires)\s+(\w+)")
_LABELLED = re.compile(r"(?:(\w+)\s*:\s*)?(.*)")
_ANY_RANK = ("any", "4294967295")
_PS_PER_NS = 1000
_NO_GOAL = "a trace begins with num_ranks and how many"


@dataclass
class _Operation:
    """One line of a rank."""

    line: int
    kind: int
    peer: int = ANY
    size_bytes: int = 0
    tag: int = ANY
    amount: int = 0
    before: set[int] = field(default_factory=set)
    """The operations that this one waits for."""


@dataclass
class _Rank:
    """The operations of a rank and their labels."""

    operations: list[_Operation] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    cpu: str | None = None


class _Reader:
    """Reads a trace line by line; every error points at its line."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            content = reading.content(Path(path), _MOST_FILE_BYTES, "1 GB", "split the trace")
            self.text = reading.text_of(content, path)
        except ReadError as error:
            raise TrafficError(error.message, "path", error.hint, error.place) from error
        self.ranks: dict[int, _Rank] = defaultdict(_Rank)
        self.count, self._rank, self._operations = 0, -1, 0

    def fail(self, line: int, message: str, hint: str) -> NoReturn:
        """Raise an error that points at a line."""
        raise TrafficError(message, "path", hint, reading.line_of(self.text, line, self.path))

    def read(self) -> None:
        """Read all lines."""
        for number, whole in enumerate(self.text.splitlines(), 1):
            line = re.split(r"//|#", whole)[0].strip().rstrip(";")
            if line:
                self._line(number, line)
        if not self.count:
            self.fail(1, _NO_GOAL, "name a trace in GOAL as text, not in binary")
        if self._rank >= 0:
            self.fail(self.text.count("\n") + 1, "the last rank has no end", "is the file cut short?")

    def _line(self, number: int, line: str) -> None:
        if match := _RANKS.fullmatch(line):
            self.count = int(match[1])
        elif not self.count:
            self.fail(number, _NO_GOAL, "name a trace in GOAL as text, not in binary")
        elif match := _RANK.fullmatch(line):
            self._rank = int(match[1])
            if self._rank >= self.count:
                self.fail(number, f"there is no rank {self._rank} of {self.count}", "ranks count from 0")
        elif line in ("{", "}"):
            self._rank = self._rank if line == "{" else -1
        elif self._rank < 0:
            self.fail(number, f'"{line[:40]}" is in no rank', "write rank 0 { before its operations")
        elif match := _NEEDS.fullmatch(line):
            self._needs(number, match)
        else:
            self._operation(number, line)

    def _operation(self, number: int, line: str) -> None:
        rank = self.ranks[self._rank]
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            self.fail(number, f"more than {MOST_OPERATIONS:,} operations", "take a part of the trace")
        labelled = _LABELLED.fullmatch(line)
        label, text = (labelled[1], labelled[2]) if labelled else (None, line)
        found = self._parsed(number, text, rank)
        if label is not None:
            if label in rank.labels:
                self.fail(number, f'"{label}" is there already', "give each operation a label of its own")
            rank.labels[label] = len(rank.operations)
        rank.operations.append(found)

    def _parsed(self, number: int, text: str, rank: _Rank) -> _Operation:
        calc, send, receive = _CALC.fullmatch(text), _SEND.fullmatch(text), _RECEIVE.fullmatch(text)
        match = calc or send or receive
        more = _REST.fullmatch(match["rest"]) if match else None
        if match is None or more is None:
            hint = "write calc 100, send 8b to 1 tag 3, recv 8b from 0 tag 3, or l2 requires l1"
            self.fail(number, f'"{text[:60]}" is no operation of GOAL', hint)
        if rank.cpu not in (None, more["cpu"] or "0"):
            self.fail(number, "this rank uses several processors at a time", "a program is one process")
        rank.cpu = more["cpu"] or "0"
        if calc:
            return _Operation(number, WAIT, amount=int(calc[1]) * _PS_PER_NS)
        size, tag = int(match[1]), int(more["tag"] or 0)
        if size > MOST_BYTES or tag > MOST_TAG:
            what = f"{size} bytes" if size > MOST_BYTES else f"the tag {tag}"
            self.fail(number, f"{what} is more than a message can have", "the most is 2^31")
        peer = ANY if match[2] in _ANY_RANK and receive else int(match[2])
        if peer != ANY and (peer >= self.count or peer == self._rank):
            self.fail(number, f"rank {peer} is no other one of {self.count}", "ranks count from 0")
        return _Operation(number, SEND if send else RECEIVE, peer, max(1, size) if send else 0, tag)

    def _needs(self, number: int, match: re.Match[str]) -> None:
        rank = self.ranks[self._rank]
        for label in (match[1], match[3]):
            if label not in rank.labels:
                self.fail(
                    number, f'there is no operation "{label}" in this rank', "labels stand before a colon"
                )
        after, before = rank.labels[match[1]], rank.labels[match[3]]
        if match[2] == "irequires" and rank.operations[before].kind != SEND:
            self.fail(number, "what begins with another operation runs beside it", _NO_LIST)
        rank.operations[after].before.add(before)

    def ordered(self, rank: _Rank) -> list[_Operation]:
        """Return the operations of a rank as a list. Raises an error if its graph is not one."""
        waits = [len(one.before) for one in rank.operations]
        after: dict[int, list[int]] = defaultdict(list)
        for number, one in enumerate(rank.operations):
            for before in one.before:
                after[before].append(number)
        free = [number for number, count in enumerate(waits) if not count]
        found: list[int] = []
        for number in free:  # the list grows in the loop
            found.append(number)
            for one in after[number]:
                waits[one] -= 1
                if not waits[one]:
                    free.append(one)
        if len(found) < len(waits):
            line = rank.operations[next(n for n, count in enumerate(waits) if count)].line
            self.fail(line, "this operation waits for itself", "remove one of the requires that go round")
        self._is_list(rank, found)
        return [rank.operations[number] for number in found]

    def _is_list(self, rank: _Rank, order: list[int]) -> None:
        """Refuse a graph in which an operation may overlap a receive or a calculation."""
        last, sent = -1, set[int]()
        for number in order:
            one = rank.operations[number]
            waits = last < 0 or last in one.before or any(before in sent for before in one.before)
            if not waits:
                before = rank.operations[last].line
                self.fail(one.line, f"nothing says that this comes after line {before}", _NO_LIST)
            if one.kind == SEND:
                sent.add(number)
            else:
                last, sent = number, set()


_NO_LIST = "a program is a list: only traces in which each operation waits for the one before can be run"


def goal(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return the programs of a trace; rank 0 is the first terminal."""
    reader = _Reader(settings["path"])
    reader.read()
    if reader.count > roles.count:
        message = f"the trace is of {reader.count} ranks, the network has {roles.count} terminals"
        raise TrafficError(message, "path", "add terminals")
    rows = Rows()
    for rank in sorted(reader.ranks):
        listed = reader.ordered(reader.ranks[rank])
        values = [(one.kind, one.peer, one.size_bytes, one.tag, one.amount) for one in listed]
        kind, peer, size, tag, amount = np.array(values, np.int64).T
        order = np.arange(len(values))
        rows.add(rank, order, kind, peer=peer, size_bytes=size, tag=tag, amount=amount)
    return rows.programs(roles.terminals.names)
