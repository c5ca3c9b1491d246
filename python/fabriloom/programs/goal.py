"""Traces in GOAL, the language of LogGOPSim, as text or as the binary file that it runs.

GOAL describes a graph per rank: its operations, with ``requires`` (after the end of another) and
``irequires`` (after its beginning) between them. If all graphs are lists, the programs are lists; otherwise
they are graphs.
"""

from __future__ import annotations

import re
import struct
from array import array
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from fabriloom import reading
from fabriloom.programs import goal_binary
from fabriloom.programs import kinds as op
from fabriloom.programs.draws import Draws
from fabriloom.programs.goal_binary import MAGIC, Part, announced, parts
from fabriloom.programs.orders import is_chain, is_list, only_back, ordered
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import Programs
from fabriloom.reading import Place, ReadError
from fabriloom.traffic import TrafficError

# A rank while it is read: its operations, packed, and their labels.

_ROW = np.dtype(
    [*(("kind", "u1"), ("peer", "<u4"), ("size", "<i4"), ("tag", "<u4"), ("amount", "<i8")), ("stream", "u1")]
)
"""An operation: the amount is a duration in ps."""
packed = struct.Struct("<BIiIqB").pack
"""Pack the numbers of an operation."""
_MOST_KNOWN = 1 << 12
"""Most operations of a rank whose meaning is kept."""
_MOST_LABELS = 1 << 16
"""Labels that are held; from then on those that count on, as l1, l2 and so on, are known by their number."""
_WAITS = {"requires": 0, "irequires": 1}
_LINES = 1 << 12
"""Lines of a text that are looked at together."""


@dataclass
class Rank:
    """The operations of a rank and their labels."""

    rows: bytearray = field(default_factory=bytearray)
    lines: array[int] = field(default_factory=lambda: array("q"))
    streams: dict[str, int] = field(default_factory=dict)
    """The stream of each processor, in order of appearance."""
    pairs: array[int] = field(default_factory=lambda: array("q"))
    """Who waits for whom: an operation times 2^32, plus what it waits for, as in :class:`Programs`."""
    known: dict[str, bytes] = field(default_factory=dict)
    """What texts without their label mean; of the first :data:`_MOST_KNOWN`."""
    labels: dict[str, int] = field(default_factory=dict)
    """The operations by their labels, but for those that count on."""
    _stem: str = ""
    _counts: range = range(0)
    """The numbers of the labels that count on."""
    _first: int = 0
    """The operation of the first of them."""

    def find(self, label: str) -> int | None:
        """Return the operation with a label, if there is one."""
        found = self.labels.get(label)
        if found is not None or not self._counts or not label.startswith(self._stem):
            return found
        number = _number(label[len(self._stem) :])
        return self._first + number - self._counts.start if number in self._counts else None

    def learn(self, what: str, meaning: bytes) -> None:
        """Keep what an operation means."""
        if len(self.known) < _MOST_KNOWN:
            self.known[what] = meaning

    def add(self, line: int, label: str | None, row: bytes) -> None:
        """Add an operation; its label must be new."""
        if label is not None:
            self.labels[label] = len(self.lines)
            self.shorten(1)
        self.rows += row
        self.lines.append(line)

    def name(self, labels: list[str]) -> bool:
        """Give labels to the next operations; returns False, with none given, unless they are new names."""
        begin = len(self.lines)
        new = dict(zip(labels, range(begin, begin + len(labels)), strict=True))
        are_new = len(new) == len(labels) and self.labels.keys().isdisjoint(new)
        if self._counts:
            are_new = are_new and all(self.find(one) is None for one in new)
        are_names = are_new and all(map(str.isidentifier, new))
        if are_names:
            self.labels.update(new)
        return are_names

    def waits(self, lines: list[str], above: op.Ints) -> op.Ints:
        """Return who waits for whom in some lines.

        Raises one of several errors unless each names two of the operations before it, ``above`` of them.
        """
        find = self.find if self._counts else self.labels.__getitem__
        words = " ; ".join([*lines, ""]).split()
        if words[3::4] != [";"] * len(lines):
            raise LookupError
        ones, others = (np.array([*map(find, words[at::4])], np.int64) for at in (0, 2))
        if (np.maximum(ones, others) >= above).any():
            raise LookupError
        return ones << 32 | 2 * others | np.array([_WAITS[how] for how in words[1::4]], np.int64)

    def shorten(self, added: int) -> None:
        """Forget the labels if they have become many, and they and those before count on."""
        if not len(self.labels) - added < _MOST_LABELS <= len(self.labels):
            return
        first, start = next(iter(self.labels.items()))
        stem = first.rstrip("0123456789")
        number = _number(first[len(stem) :])
        begins = (
            number == self._counts.stop and stem == self._stem and start == self._first + len(self._counts)
        )
        if number < 0 or (self._counts and not begins):
            return
        counts = range(number, number + len(self.labels))
        follow = zip(self.labels.items(), counts, range(start, start + len(counts)), strict=True)
        if any(label != f"{stem}{one}" or at != place for (label, at), one, place in follow):
            return
        if not self._counts:
            self._stem, self._first, self._counts = stem, start, counts
        self._counts = range(self._counts.start, counts.stop)
        self.labels.clear()

    def operations(self) -> NDArray[np.void]:
        return np.frombuffer(bytes(self.rows), _ROW)

    def needs(self) -> tuple[NDArray[np.uint32], op.Ints]:
        """Return what operations wait for; the end of an operation includes its beginning."""
        pairs = np.frombuffer(self.pairs, np.int64) if self.pairs else np.zeros(0, np.int64)
        if (pairs[1:] <= pairs[:-1]).any():
            pairs = np.unique(pairs)
        twice = (pairs[1:] % 2 == 1) & (pairs[1:] - 1 == pairs[:-1])
        pairs = pairs[np.concatenate([[True], ~twice])] if len(pairs) else pairs
        start = np.searchsorted(pairs, np.arange(len(self.lines) + 1, dtype=np.int64) << 32)
        return (pairs & (2**32 - 1)).astype(np.uint32), start


def _number(digits: str) -> int:
    """Return a number as it is written after a stem, or -1."""
    plain = digits.isascii() and digits.isdecimal() and (digits[0] != "0" or digits == "0")
    return int(digits) if plain and len(digits) < 19 else -1


# The text, line by line, and the binary file, rank by rank.

_MOST_FILE = 1 << 32, "4 GB", "split the trace"
_RANKS = re.compile(r"num_ranks\s+(\d{1,9})")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*\{?")
_CALC = re.compile(r"calc\s+(\d{1,18})(?P<rest>.*)")
_SEND = re.compile(r"send\s+(\d{1,12})b\s+to\s+(\d{1,9})(?P<rest>.*)")
_RECEIVE = re.compile(r"recv\s+(\d{1,12})b\s+from\s+(\d{1,10}|-1|any)(?P<rest>.*)")
_REST = re.compile(r"(?:\s+(?:tag\s+(?P<tag>\d{1,10}|-1|any)|cpu\s+(?P<cpu>\d{1,9})|nic\s+\d{1,9}))*\s*")
_NEEDS = re.compile(r"(\w+)\s+(requires|irequires)\s+(\w+)")
_COMMENT = re.compile(r"/\*.*?(?:\*/|(?P<open>$))|(?://|#).*")
_LABELLED = re.compile(r"(?:(\w+)\s*:\s*)?(.*)")
_WILD = ("any", "-1", "4294967295")
_PS_PER_NS = 1000
_MOST_NS = 10**15
_NO_GOAL = "a trace begins with num_ranks and how many"


@dataclass(frozen=True)
class _Done:
    """A rank that is read whole, without its labels and lines."""

    rows: NDArray[np.void]
    needs: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    """Per operation: how many of ``needs`` are its own."""
    order: NDArray[np.uint32] | None
    """An order in which one operation after another does the same; None if that is the order of the rows,
    or there is none."""


class _Reader:
    """Reads a trace line by line; every error points at its line."""

    def __init__(self, path: str, lists: bool) -> None:
        self.lists = lists
        """Whether all ranks so far are lists; False: nobody asks."""
        self.path, self.binary = Path(path), goal_binary.begins(Path(path))
        self.done: dict[int, _Done] = {}
        self.open = Rank()
        self.count, self._rank, self._operations = 0, -1, 0
        self._sought, self._found = (-1, 0), 0
        """The rank and the operation of which the line is sought, and that line."""

    def place_of(self, rank: int, operation: int) -> Place | None:
        """Read a text again, up to its end, for the place of an operation; None for a binary file."""
        if self.binary:
            return None
        self._sought = rank, operation
        self.read()
        return reading.numbered_line(self.path, self._found)

    def fail(self, line: int, message: str, hint: str) -> NoReturn:
        """Raise an error that points at a line."""
        if self.binary:
            raise TrafficError(f"{self.path}: at byte {len(MAGIC) + line:,}: {message}", "path", hint)
        raise TrafficError(message, "path", hint, reading.numbered_line(self.path, line))

    def read(self) -> None:
        try:
            number = self._read_binary() if self.binary else self._read_text()
        except ReadError as error:
            raise TrafficError(error.message, "path", error.hint, error.place) from error
        except OSError as error:
            raise TrafficError(str(error), "path") from error
        if not self.count:
            self.fail(1, _NO_GOAL, "name a trace in GOAL, as text or binary")
        if self._rank >= 0:
            self.fail(number, "the last rank has no end", "is the file cut short?")

    def _read_binary(self) -> int:
        """Read a binary file; returns the place of an error in all of it."""
        with self.path.open("rb") as file:
            self.count = announced(self.path, file)
            for number, part in enumerate(parts(self.path, file, self.count)):
                self._rank = number
                self._read_part(part)
                self._close()
        return 1

    def _read_part(self, part: Part) -> None:
        rank = self.open
        for first, chunk in part.chunks():
            rows, wrong = _meant(chunk, self.count, self._rank)
            new = [int(np.argmax(chunk["cpu"] == cpu)) for cpu in np.flatnonzero(np.bincount(chunk["cpu"]))]
            for at in sorted({*new, *np.flatnonzero(wrong)[:1].tolist()}):
                # Streams count in order of appearance; what is wrong raises an error.
                self._parsed(part.place(first + at), part.told(first + at, chunk[at]), rank)
            streams = np.zeros(256, np.uint8)
            streams[[int(cpu) for cpu in rank.streams]] = range(len(rank.streams))
            rows["stream"] = streams[chunk["cpu"]]
            rank.rows += rows.tobytes()
            places = np.arange(part.place(first), part.place(first + len(chunk)), chunk.itemsize)
            rank.lines.frombytes(places.astype(np.int64).tobytes())
        for pairs in part.needs():
            rank.pairs.frombytes(pairs.tobytes())

    def _read_text(self) -> int:
        """Read a text; returns the number of its last line."""
        number, within = 0, False
        whole = reading.lines(self.path, *_MOST_FILE)
        while lines := [line.strip().rstrip(";") for line in islice(whole, _LINES)]:
            others = [at for at, line in enumerate(lines) if ":" not in line and "requires" not in line]
            for before, at in pairwise([-1, *others, len(lines)]):
                alike = lines[before + 1 : at]
                if within or self._rank < 0 or not self._are_read_at_once(number + before + 2, alike):
                    within = self._read_each(number + before + 2, alike, within)
                within = self._read_each(number + at + 1, lines[at : at + 1], within)
            number += len(lines)
        return number

    def _read_each(self, first: int, lines: list[str], within: bool) -> bool:
        """Read lines one by one; returns whether a comment goes on, as ``within`` says before."""
        for number, line in enumerate(lines, first):
            if within or "/" in line or "#" in line:
                line = f"/*{line}" if within else line
                within = any(match["open"] is not None for match in _COMMENT.finditer(line))
                line = _COMMENT.sub(" ", line).strip().rstrip(";")
            if line:
                self._line(number, line)
        return within

    def _line(self, number: int, line: str) -> None:
        if match := _RANKS.fullmatch(line):
            self.count = int(match[1])
        elif not self.count:
            self.fail(number, _NO_GOAL, "name a trace in GOAL, as text or binary")
        elif match := _RANK.fullmatch(line):
            self._rank = int(match[1])
            if self._rank >= self.count:
                self.fail(number, f"there is no rank {self._rank} of {self.count}", "ranks count from 0")
            if self._rank in self.done:
                message = f"rank {self._rank} is there already"
                self.fail(number, message, "write all its operations in one block")
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
        rank, rows = self.open, self.open.operations()
        needs, start = rank.needs()
        order = self._order(rank, rows, needs, start)
        counts = np.diff(start).astype(np.uint32)
        moved = order is not None and order != list(range(len(order)))
        if self._rank == self._sought[0]:
            at = self._sought[1]
            self._found = rank.lines[order[at] if order is not None else at]
        self.done[self._rank] = _Done(rows, needs, counts, np.array(order, np.uint32) if moved else None)
        self._rank, self.open = -1, Rank()

    def _order(
        self, rank: Rank, rows: NDArray[np.void], needs: NDArray[np.uint32], start: op.Ints
    ) -> list[int] | None:
        """Return the order of a list, unless a rank is none. Raises an error for what waits for itself."""
        if not self.lists and only_back(needs, start):
            return None
        if len(rank.streams) < 2 and is_chain(needs, start):
            return list(range(len(rows)))
        order = ordered(needs, start)
        if len(order) < len(rows):
            stuck = np.setdiff1d(np.arange(len(rows)), order)[0]
            line, hint = rank.lines[int(stuck)], "remove one of the requires that go round"
            self.fail(line, "this operation waits for itself", hint)
        kinds = rows["kind"].tolist()
        self.lists = self.lists and is_list(len(rank.streams), kinds, order, needs.tolist(), start.tolist())
        return order if self.lists else None

    def _are_read_at_once(self, first: int, lines: list[str]) -> bool:
        """Read lines of a rank, each an operation with a label or what one waits for.

        Returns False, with nothing read, if one of them may be something else: then each is looked at.
        """
        rank, begin = self.open, len(self.open.lines)
        parts = [line.partition(":") for line in lines if ":" in line]
        labels = [label for label, _, _ in parts]
        if self._operations + len(parts) > op.MOST_OF_TRACE or not rank.name(labels):
            return False
        here = np.array([":" in line for line in lines], np.bool_)
        try:
            rows = [rank.known.get(text) or self._learned(text, rank) for _, _, text in parts]
            waits = rank.waits([line for line in lines if ":" not in line], begin + np.cumsum(here)[~here])
        except (TrafficError, LookupError, TypeError, ValueError):
            for label in labels:
                del rank.labels[label]
            return False
        self._operations += len(parts)
        rank.rows += b"".join(rows)
        rank.lines.frombytes((first + np.flatnonzero(here)).astype(np.int64).tobytes())
        rank.pairs.frombytes(waits.tobytes())
        rank.shorten(len(parts))
        return True

    def _learned(self, text: str, rank: Rank) -> bytes:
        found = self._parsed(1, text.strip(), rank)
        rank.learn(text, found)
        return found

    def _operation(self, number: int, line: str) -> None:
        rank = self.open
        labelled = _LABELLED.fullmatch(line)
        label, text = (labelled[1], labelled[2]) if labelled else (None, line)
        found = self._parsed(number, text, rank)
        if label is not None:
            if rank.find(label) is not None:
                self.fail(number, f'"{label}" is there already', "give each operation a label of its own")
            rank.learn(line.partition(":")[2], found)
        self._operations += 1
        if self._operations > op.MOST_OF_TRACE:
            self.fail(number, f"more than {op.MOST_OF_TRACE:,} operations", "take a part of the trace")
        rank.add(number, label, found)

    def _parsed(self, number: int, text: str, rank: Rank) -> bytes:
        calc = _CALC.fullmatch(text)
        send = None if calc else _SEND.fullmatch(text)
        receive = None if calc or send else _RECEIVE.fullmatch(text)
        match = calc or send or receive
        more = _REST.fullmatch(match["rest"]) if match else None
        if match is None or more is None:
            hint = "write calc 100, send 8b to 1 tag 3, recv 8b from 0 tag 3, or l2 requires l1"
            self.fail(number, f'"{text[:60]}" is no operation of GOAL', hint)
        stream = rank.streams.setdefault(str(int(more["cpu"] or 0)), len(rank.streams))
        if stream >= op.MOST_STREAMS:
            message = f"this rank has more than {op.MOST_STREAMS} processors"
            self.fail(number, message, "use fewer cpu numbers")
        if calc and int(calc[1]) > _MOST_NS:
            self.fail(number, f"a computation of {calc[1]} ns", f"the longest is {_MOST_NS:,} ns")
        if calc:
            return packed(op.WAIT, op.ANY, 0, op.ANY, int(calc[1]) * _PS_PER_NS, stream)
        size, wild = int(match[1]), receive is not None and more["tag"] in _WILD
        tag = op.ANY if wild else int(more["tag"] or 0) if more["tag"] not in _WILD else op.MOST_TAG + 1
        if size > op.MOST_BYTES or (tag > op.MOST_TAG and not wild):
            long = size > op.MOST_BYTES
            what, most = (f"{size} bytes", "2^31 - 1") if long else (f"the tag {more['tag']}", "2^31")
            self.fail(number, f"{what} is more than a message can have", f"the most is {most}")
        peer = op.ANY if match[2] in _WILD and receive else int(match[2])
        if peer != op.ANY and (peer >= self.count or peer == self._rank):
            self.fail(number, f"rank {peer} is no other one of {self.count}", "ranks count from 0")
        size = max(1, size) if send else 0
        return packed(op.SEND if send else op.RECEIVE, peer, size, tag, 0, stream)

    def _needs(self, number: int, match: re.Match[str]) -> None:
        rank, found = self.open, list[int]()
        for label in (match[1], match[3]):
            one = rank.find(label)
            if one is None:
                message = f'there is no operation "{label}" in this rank'
                self.fail(number, message, "labels stand before a colon")
            found.append(one)
        rank.pairs.append(found[0] << 32 | 2 * found[1] | _WAITS[match[2]])


def _meant(chunk: NDArray[np.void], ranks: int, rank: int) -> tuple[NDArray[np.void], NDArray[np.bool_]]:
    """Return operations of a binary file as rows without a stream, and which of them are wrong."""
    kind, peer, size, tag = (chunk[name] for name in ("type", "peer", "size", "tag"))
    calc, send, receive = (kind == one for one in (goal_binary.CALC, goal_binary.SEND, goal_binary.RECEIVE))
    rows = np.zeros(len(chunk), _ROW)
    rows["kind"] = np.select([calc, send], [op.WAIT, op.SEND], op.RECEIVE)
    rows["peer"], rows["tag"] = (np.where(calc, op.ANY, one) for one in (peer, tag))
    rows["size"] = np.where(send, np.clip(size, 1, op.MOST_BYTES), 0)
    rows["amount"] = np.where(calc, np.minimum(size, _MOST_NS) * _PS_PER_NS, 0)
    no_peer, no_tag = (peer >= ranks) | (peer == rank), tag > op.MOST_TAG
    no_message = (
        (size > op.MOST_BYTES) | no_peer & (send | (peer != op.ANY)) | no_tag & (send | (tag != op.ANY))
    )
    return rows, np.where(calc, size > _MOST_NS, no_message | ~(send | receive))


def _place(path: str, lists: bool, terminal: op.Column, row: int) -> Place | None:
    """Return the place of a row of the programs in the trace."""
    rank = int(terminal[row])
    return _Reader(path, lists).place_of(rank, row - int(np.searchsorted(terminal, rank)))


def goal(roles: Roles, settings: op.Settings, draws: Draws) -> Programs:
    """Return the programs of a trace; rank 0 is the first terminal."""
    reader = _Reader(settings["path"], lists=not settings.get("ends_count"))
    reader.read()
    if reader.count > roles.count:
        message = f"the trace is of {reader.count} ranks, the network has {roles.count} terminals"
        raise TrafficError(message, "path", "add terminals")
    ranks = sorted(reader.done)
    done = [reader.done.pop(number) for number in ranks]
    terminal = np.repeat(np.array(ranks, np.int32), [len(one.rows) for one in done])
    of_ranks = (one.rows if one.order is None or not reader.lists else one.rows[one.order] for one in done)
    rows = np.concatenate([np.zeros(0, _ROW), *of_ranks])
    needs = start = None
    if not reader.lists:
        needs = np.concatenate([np.zeros(0, np.uint32), *(one.needs for one in done)])
        counts = np.concatenate([np.zeros(1, np.uint32), *(one.counts for one in done)])
        start = np.cumsum(counts, dtype=np.uint32)
    done.clear()
    columns = (np.ascontiguousarray(rows[name]) for name in ("kind", "peer", "size", "tag", "amount"))
    kind, peer, size, tag, amount = columns
    where = partial(_place, settings["path"], reader.lists, terminal)
    found = Programs(roles.terminals.names, terminal, kind, peer, size, tag, amount, where=where)
    if needs is None or start is None:
        return found
    stream = np.ascontiguousarray(rows["stream"])
    return replace(found, needs=(needs, start), stream=stream if stream.any() else None)
