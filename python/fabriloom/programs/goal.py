"""Traces in GOAL, the language of LogGOPSim, as text or as the binary file that it runs.

GOAL describes a graph per rank: its operations, with ``requires`` (after the end of another) and
``irequires`` (after its beginning) between them. If all graphs are lists, the programs are lists; otherwise
they are graphs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from fabriloom import reading
from fabriloom.programs import kinds as op
from fabriloom.programs.draws import Draws
from fabriloom.programs.goal_binary import MAGIC, lines
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import Programs, Rows
from fabriloom.reading import ReadError
from fabriloom.traffic import TrafficError

_MOST_FILE_BYTES = 1 << 30
_RANKS = re.compile(r"num_ranks\s+(\d{1,9})")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*\{?")
_CALC = re.compile(r"calc\s+(\d{1,18})(?P<rest>.*)")
_SEND = re.compile(r"send\s+(\d{1,12})b\s+to\s+(\d{1,9})(?P<rest>.*)")
_RECEIVE = re.compile(r"recv\s+(\d{1,12})b\s+from\s+(\d{1,10}|-1|any)(?P<rest>.*)")
_REST = re.compile(r"(?:\s+(?:tag\s+(?P<tag>\d{1,10}|-1|any)|cpu\s+(?P<cpu>\d{1,9})|nic\s+\d{1,9}))*\s*")
_NEEDS = re.compile(r"(\w+)\s+(requires|irequires)\s+(\w+)")
_LABELLED = re.compile(r"(?:(\w+)\s*:\s*)?(.*)")
_WILD = ("any", "-1", "4294967295")
_PS_PER_NS = 1000
_MOST_NS = 10**15
_NO_GOAL = "a trace begins with num_ranks and how many"


@dataclass
class _Operation:
    """One line of a rank."""

    line: int
    kind: int
    peer: int = op.ANY
    size_bytes: int = 0
    tag: int = op.ANY
    amount: int = 0
    before: set[int] = field(default_factory=set)
    """The operations that this one waits for."""
    begun: set[int] = field(default_factory=set)
    """Those that it waits for only to begin."""
    stream: int = 0


@dataclass
class _Rank:
    """The operations of a rank and their labels."""

    operations: list[_Operation] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    streams: dict[str, int] = field(default_factory=dict)
    """The stream of each processor, in order of appearance."""


class _Reader:
    """Reads a trace line by line; every error points at its line."""

    def __init__(self, path: str) -> None:
        self.path, self.binary, self.text = path, _begins_binary(Path(path)), ""
        try:
            if not self.binary:
                content = reading.content(Path(path), _MOST_FILE_BYTES, "1 GB", "split the trace")
                self.text = reading.text_of(content, path)
        except ReadError as error:
            raise TrafficError(error.message, "path", error.hint, error.place) from error
        self.ranks: dict[int, _Rank] = defaultdict(_Rank)
        self.count, self._rank, self._operations = 0, -1, 0

    def fail(self, line: int, message: str, hint: str) -> NoReturn:
        """Raise an error that points at a line."""
        if self.binary:
            raise TrafficError(f"{self.path}: at byte {len(MAGIC) + line:,}: {message}", "path", hint)
        raise TrafficError(message, "path", hint, reading.line_of(self.text, line, self.path))

    def read(self) -> None:
        """Read all lines."""
        if self.binary:
            try:
                for place, told in lines(Path(self.path)):
                    self._line(place, told)
            except (ReadError, OSError) as error:
                message, hint = (
                    (error.message, error.hint) if isinstance(error, ReadError) else (str(error), "")
                )
                raise TrafficError(message, "path", hint) from error
        for number, whole in enumerate(self.text.splitlines(), 1):
            line = re.split(r"//|#", whole)[0].strip().rstrip(";")
            if line:
                self._line(number, line)
        if not self.count:
            self.fail(1, _NO_GOAL, "name a trace in GOAL, as text or binary")
        if self._rank >= 0:
            self.fail(self.text.count("\n") + 1, "the last rank has no end", "is the file cut short?")

    def _line(self, number: int, line: str) -> None:
        if match := _RANKS.fullmatch(line):
            self.count = int(match[1])
        elif not self.count:
            self.fail(number, _NO_GOAL, "name a trace in GOAL, as text or binary")
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
        if self._operations > op.MOST_OPERATIONS:
            self.fail(number, f"more than {op.MOST_OPERATIONS:,} operations", "take a part of the trace")
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
        stream = rank.streams.setdefault(str(int(more["cpu"] or 0)), len(rank.streams))
        if stream >= op.MOST_STREAMS:
            self.fail(
                number, f"this rank has more than {op.MOST_STREAMS} processors", "use fewer cpu numbers"
            )
        if calc and int(calc[1]) > _MOST_NS:
            self.fail(number, f"a computation of {calc[1]} ns", f"the longest is {_MOST_NS:,} ns")
        if calc:
            return _Operation(number, op.WAIT, amount=int(calc[1]) * _PS_PER_NS, stream=stream)
        size, wild = int(match[1]), receive is not None and more["tag"] in _WILD
        tag = op.ANY if wild else int(more["tag"] or 0) if more["tag"] not in _WILD else op.MOST_TAG + 1
        if size > op.MOST_BYTES or (tag > op.MOST_TAG and not wild):
            what = f"{size} bytes" if size > op.MOST_BYTES else f"the tag {more['tag']}"
            self.fail(number, f"{what} is more than a message can have", "the most is 2^31")
        peer = op.ANY if match[2] in _WILD and receive else int(match[2])
        if peer != op.ANY and (peer >= self.count or peer == self._rank):
            self.fail(number, f"rank {peer} is no other one of {self.count}", "ranks count from 0")
        size = max(1, size) if send else 0
        return _Operation(number, op.SEND if send else op.RECEIVE, peer, size, tag, stream=stream)

    def _needs(self, number: int, match: re.Match[str]) -> None:
        rank = self.ranks[self._rank]
        for label in (match[1], match[3]):
            if label not in rank.labels:
                self.fail(
                    number, f'there is no operation "{label}" in this rank', "labels stand before a colon"
                )
        after, before = rank.labels[match[1]], rank.labels[match[3]]
        (rank.operations[after].before if match[2] == "requires" else rank.operations[after].begun).add(
            before
        )

    def ordered(self, rank: _Rank) -> list[int]:
        """Return the operations of a rank in an order that its graph allows. Raises an error for a cycle."""
        waits = [len(one.before | one.begun) for one in rank.operations]
        after: dict[int, list[int]] = defaultdict(list)
        for number, one in enumerate(rank.operations):
            for before in one.before | one.begun:
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
        return found


def _begins_binary(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False  # the reader of text says why


def _is_list(rank: _Rank, order: list[int]) -> bool:
    """Whether no operation of a rank can overlap a receive or a calculation."""
    if len(rank.streams) > 1:
        return False
    last, sent = -1, set[int]()
    for number in order:
        one = rank.operations[number]
        if any(rank.operations[before].kind != op.SEND for before in one.begun):
            return False
        before = one.before | one.begun
        if not (last < 0 or last in before or before & sent):
            return False
        if one.kind == op.SEND:
            sent.add(number)
        else:
            last, sent = number, set()
    return True


def goal(roles: Roles, settings: op.Settings, draws: Draws) -> Programs:
    """Return the programs of a trace; rank 0 is the first terminal."""
    reader = _Reader(settings["path"])
    reader.read()
    if reader.count > roles.count:
        message = f"the trace is of {reader.count} ranks, the network has {roles.count} terminals"
        raise TrafficError(message, "path", "add terminals")
    ranks = {number: reader.ranks[number] for number in sorted(reader.ranks)}
    orders = {number: reader.ordered(rank) for number, rank in ranks.items()}
    listed = all(_is_list(rank, orders[number]) for number, rank in ranks.items())
    rows, needs, streams = Rows(), list[list[int]](), list[int]()
    for number, rank in ranks.items():
        chosen = [rank.operations[at] for at in orders[number]] if listed else rank.operations
        values = [(one.kind, one.peer, one.size_bytes, one.tag, one.amount) for one in chosen]
        kind, peer, size, tag, amount = np.array(values, np.int64).reshape(-1, 5).T
        rows.add(number, np.arange(len(values)), kind, peer=peer, size_bytes=size, tag=tag, amount=amount)
        streams += [one.stream for one in chosen]
        needs += [
            sorted([*(2 * at for at in one.before), *(2 * at + 1 for at in one.begun - one.before)])
            for one in chosen
        ]
    found = rows.programs(roles.terminals.names)
    if listed:
        return found
    stream = np.array(streams, np.int64) if any(streams) else None
    return replace(found, needs=tuple(np.array(one, np.int64) for one in needs), stream=stream)
