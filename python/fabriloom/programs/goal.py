"""Traces in GOAL, the language of LogGOPSim, as text or as the binary file that it runs.

GOAL describes a graph per rank: its operations, with ``requires`` (after the end of another) and
``irequires`` (after its beginning) between them. If all graphs are lists, the programs are lists; otherwise
they are graphs.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
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
_COMMENT = re.compile(r"//|#")
_LABELLED = re.compile(r"(?:(\w+)\s*:\s*)?(.*)")
_WILD = ("any", "-1", "4294967295")
_PS_PER_NS = 1000
_MOST_NS = 10**15
_PIECE = 1 << 16
"""Characters of a text that are divided into lines at a time."""
_NO_GOAL = "a trace begins with num_ranks and how many"


_WAITS = {"requires": 0, "irequires": 1}
_MOST_KNOWN = 1 << 12
"""Most texts of a rank whose meaning is kept."""

_Operation = tuple[int, int, int, int, int, int]
"""Kind, peer, bytes, tag, duration in ps and stream."""


@dataclass
class _Rank:
    """The operations of a rank and their labels; those that are alike are one tuple."""

    operations: list[_Operation] = field(default_factory=list)
    lines: array[int] = field(default_factory=lambda: array("q"))
    labels: dict[str, int] = field(default_factory=dict)
    streams: dict[str, int] = field(default_factory=dict)
    """The stream of each processor, in order of appearance."""
    pairs: array[int] = field(default_factory=lambda: array("q"))
    """Who waits for whom: an operation times 2^32, plus what it waits for, as in :class:`Programs`."""
    known: dict[str, _Operation] = field(default_factory=dict)
    """What texts without their label mean."""

    def needs(self) -> op.Needs:
        """Return what operations wait for; the end of an operation includes its beginning."""
        pairs = np.unique(np.array(self.pairs, np.int64))
        twice = (pairs[1:] % 2 == 1) & (pairs[1:] - 1 == pairs[:-1])
        pairs = pairs[np.concatenate([[True], ~twice])] if len(pairs) else pairs
        start = np.searchsorted(pairs >> 32, np.arange(len(self.operations) + 1))
        return pairs & (2**32 - 1), start


@dataclass(frozen=True)
class _Done:
    """A rank that is read whole, without its labels and lines."""

    values: op.Ints
    """Per operation the numbers of ``_Operation``."""
    needs: op.Needs
    order: op.Ints | None
    """An order in which one operation after another does the same; None if there is none."""


class _Reader:
    """Reads a trace line by line; every error points at its line."""

    def __init__(self, path: str, lists: bool) -> None:
        self.lists = lists
        """Whether an order of the operations of a rank is looked for."""
        self.path, self.binary, self.text = path, _begins_binary(Path(path)), ""
        try:
            if not self.binary:
                content = reading.content(Path(path), _MOST_FILE_BYTES, "1 GB", "split the trace")
                self.text = reading.text_of(content, path)
        except ReadError as error:
            raise TrafficError(error.message, "path", error.hint, error.place) from error
        self.done: dict[int, _Done] = {}
        self.open = _Rank()
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
        for number, whole in enumerate(_lines(self.text), 1):
            line = _COMMENT.split(whole, 1)[0] if "/" in whole or "#" in whole else whole
            line = line.strip().rstrip(";")
            if line:
                self._line(number, line)
        if not self.count:
            self.fail(1, _NO_GOAL, "name a trace in GOAL, as text or binary")
        if self._rank >= 0:
            self.fail(self.text.count("\n") + 1, "the last rank has no end", "is the file cut short?")
        self.text = ""

    def _line(self, number: int, line: str) -> None:
        if self._rank >= 0 and self._is_read_at_once(number, line):
            return
        if match := _RANKS.fullmatch(line):
            self.count = int(match[1])
        elif not self.count:
            self.fail(number, _NO_GOAL, "name a trace in GOAL, as text or binary")
        elif match := _RANK.fullmatch(line):
            self._rank = int(match[1])
            if self._rank >= self.count:
                self.fail(number, f"there is no rank {self._rank} of {self.count}", "ranks count from 0")
            if self._rank in self.done:
                self.fail(
                    number, f"rank {self._rank} is there already", "write all its operations in one block"
                )
        elif line in ("{", "}"):
            if line == "}":
                self._close()
        elif self._rank < 0:
            self.fail(number, f'"{line[:40]}" is in no rank', "write rank 0 { before its operations")
        elif match := _NEEDS.fullmatch(line):
            self._needs(number, match)
        else:
            self._operation(number, line)

    def _close(self) -> None:
        """Keep of a rank what a program needs: labels and lines take most of its memory."""
        if self._rank < 0:
            return
        rank, needs = self.open, self.open.needs()
        order = self.ordered(rank, *needs)
        values = np.array(rank.operations, np.int64).reshape(-1, 6)
        listed = self.lists and _is_list(rank, order, *(one.tolist() for one in needs))
        self.done[self._rank] = _Done(values, needs, np.array(order, np.int64) if listed else None)
        self._rank, self.open = -1, _Rank()

    def _is_read_at_once(self, number: int, line: str) -> bool:
        """Read a line whose meaning needs no search; returns whether it is one."""
        rank = self.open
        if "requires" in line:
            words = line.split()
            known = len(words) == 3 and words[0] in rank.labels and words[2] in rank.labels
            if known and words[1] in _WAITS:
                self._wait(rank, words[0], words[1], words[2])
            return known and words[1] in _WAITS
        label, _, text = line.partition(":")
        found = rank.known.get(text)
        if found is None or label in rank.labels or not label.isidentifier():
            return False
        self._add(number, rank, label, found)
        return True

    def _operation(self, number: int, line: str) -> None:
        rank = self.open
        labelled = _LABELLED.fullmatch(line)
        label, text = (labelled[1], labelled[2]) if labelled else (None, line)
        found = self._parsed(number, text, rank)
        if label is not None:
            if label in rank.labels:
                self.fail(number, f'"{label}" is there already', "give each operation a label of its own")
            if len(rank.known) < _MOST_KNOWN:
                rank.known[line.partition(":")[2]] = found
        self._add(number, rank, label, found)

    def _add(self, number: int, rank: _Rank, label: str | None, found: _Operation) -> None:
        self._operations += 1
        if self._operations > op.MOST_OPERATIONS:
            self.fail(number, f"more than {op.MOST_OPERATIONS:,} operations", "take a part of the trace")
        if label is not None:
            rank.labels[label] = len(rank.operations)
        rank.operations.append(found)
        rank.lines.append(number)

    def _wait(self, rank: _Rank, after: str, word: str, before: str) -> None:
        rank.pairs.append(rank.labels[after] << 32 | 2 * rank.labels[before] | _WAITS[word])

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
            return op.WAIT, op.ANY, 0, op.ANY, int(calc[1]) * _PS_PER_NS, stream
        size, wild = int(match[1]), receive is not None and more["tag"] in _WILD
        tag = op.ANY if wild else int(more["tag"] or 0) if more["tag"] not in _WILD else op.MOST_TAG + 1
        if size > op.MOST_BYTES or (tag > op.MOST_TAG and not wild):
            what = f"{size} bytes" if size > op.MOST_BYTES else f"the tag {more['tag']}"
            self.fail(number, f"{what} is more than a message can have", "the most is 2^31")
        peer = op.ANY if match[2] in _WILD and receive else int(match[2])
        if peer != op.ANY and (peer >= self.count or peer == self._rank):
            self.fail(number, f"rank {peer} is no other one of {self.count}", "ranks count from 0")
        size = max(1, size) if send else 0
        return op.SEND if send else op.RECEIVE, peer, size, tag, 0, stream

    def _needs(self, number: int, match: re.Match[str]) -> None:
        rank = self.open
        for label in (match[1], match[3]):
            if label not in rank.labels:
                self.fail(
                    number, f'there is no operation "{label}" in this rank', "labels stand before a colon"
                )
        self._wait(rank, match[1], match[2], match[3])

    def ordered(self, rank: _Rank, needs: op.Ints, start: op.Ints) -> list[int]:
        """Return the operations of a rank in an order that its graph allows. Raises an error for a cycle."""
        before = needs >> 1
        behind = np.repeat(np.arange(len(rank.operations)), np.diff(start))
        place = np.lexsort((behind, before))
        after = behind[place].tolist()
        first = np.searchsorted(before[place], np.arange(len(rank.operations) + 1)).tolist()
        waits = np.diff(start).tolist()
        free = [number for number, count in enumerate(waits) if not count]
        for number in free:  # the list grows in the loop
            for one in after[first[number] : first[number + 1]]:
                waits[one] -= 1
                if not waits[one]:
                    free.append(one)
        if len(free) < len(waits):
            line = rank.lines[next(n for n, count in enumerate(waits) if count)]
            self.fail(line, "this operation waits for itself", "remove one of the requires that go round")
        return free


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text without a list of all."""
    if "\r" in text:
        yield from text.splitlines()
        return
    at = 0
    while at < len(text):
        end = text.find("\n", at + _PIECE)
        end = len(text) if end < 0 else end
        yield from text[at:end].split("\n")
        at = end + 1


def _begins_binary(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False  # the reader of text says why


def _is_list(rank: _Rank, order: list[int], needs: list[int], start: list[int]) -> bool:
    """Whether no operation of a rank can overlap a receive or a calculation."""
    if len(rank.streams) > 1:
        return False
    last, sent = -1, set[int]()
    for number in order:
        waits = needs[start[number] : start[number + 1]]
        if any(one % 2 and rank.operations[one >> 1][0] != op.SEND for one in waits):
            return False
        before = {one >> 1 for one in waits}
        if not (last < 0 or last in before or before & sent):
            return False
        if rank.operations[number][0] == op.SEND:
            sent.add(number)
        else:
            last, sent = number, set()
    return True


def goal(roles: Roles, settings: op.Settings, draws: Draws) -> Programs:
    """Return the programs of a trace; rank 0 is the first terminal."""
    reader = _Reader(settings["path"], lists=not settings.get("ends_count"))
    reader.read()
    if reader.count > roles.count:
        message = f"the trace is of {reader.count} ranks, the network has {roles.count} terminals"
        raise TrafficError(message, "path", "add terminals")
    listed = reader.lists and all(rank.order is not None for rank in reader.done.values())
    rows, needs, counts, streams = Rows(), list[op.Ints](), [np.zeros(1, np.int64)], list[op.Ints]()
    for number in sorted(reader.done):
        rank = reader.done.pop(number)  # a long trace is held once
        values = rank.values[rank.order] if listed else rank.values
        kind, peer, size, tag, amount, stream = values.T
        rows.add(number, np.arange(len(values)), kind, peer=peer, size_bytes=size, tag=tag, amount=amount)
        needs.append(rank.needs[0])
        counts.append(np.diff(rank.needs[1]))
        streams.append(stream.astype(np.uint8))
    found = rows.programs(roles.terminals.names)
    if listed:
        return found
    stream = np.concatenate(streams)
    graph = np.concatenate(needs), np.cumsum(np.concatenate(counts))
    return replace(found, needs=graph, stream=stream if stream.any() else None)
