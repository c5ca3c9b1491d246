"""A rank of a trace in GOAL while it is read: its operations, packed, and their labels."""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabriloom.programs import kinds as op

ROW = np.dtype(
    [
        *(("kind", "u1"), ("peer", "<u4"), ("size", "<i4"), ("tag", "<u4"), ("amount", "<i8")),
        ("stream", "u1"),
    ]
)
"""An operation: the amount is a duration in ps."""
packed = struct.Struct("<BIiIqB").pack
"""Pack the numbers of an operation."""
_MOST_KNOWN = 1 << 12
"""Most operations of a rank whose meaning is kept."""
_MOST_LABELS = 1 << 16
"""Labels that are held; from then on those that count on, as l1, l2 and so on, are known by their number."""


@dataclass
class Rank:
    """The operations of a rank and their labels."""

    rows: bytearray = field(default_factory=bytearray)
    lines: array[int] = field(default_factory=lambda: array("q"))
    streams: dict[str, int] = field(default_factory=dict)
    """The stream of each processor, in order of appearance."""
    pairs: array[int] = field(default_factory=lambda: array("q"))
    """Who waits for whom: an operation times 2^32, plus what it waits for, as in :class:`Programs`."""
    known: dict[str | bytes, bytes] = field(default_factory=dict)
    """What texts without their label mean, or binary operations; of the first :data:`_MOST_KNOWN`."""
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

    def learn(self, what: str | bytes, meaning: bytes) -> None:
        """Keep what an operation means."""
        if len(self.known) < _MOST_KNOWN:
            self.known[what] = meaning

    def add(self, line: int, label: str | None, row: bytes) -> None:
        """Add an operation; its label must be new."""
        if label is not None:
            self.labels[label] = len(self.lines)
            if len(self.labels) == _MOST_LABELS:
                self._forget()
        self.rows += row
        self.lines.append(line)

    def _forget(self) -> None:
        """Forget the labels if they and those before count on."""
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
        """Return the operations as rows."""
        return np.frombuffer(bytes(self.rows), ROW)

    def needs(self) -> tuple[NDArray[np.uint32], op.Ints]:
        """Return what operations wait for; the end of an operation includes its beginning."""
        pairs = np.unique(np.frombuffer(self.pairs, np.int64)) if self.pairs else np.zeros(0, np.int64)
        twice = (pairs[1:] % 2 == 1) & (pairs[1:] - 1 == pairs[:-1])
        pairs = pairs[np.concatenate([[True], ~twice])] if len(pairs) else pairs
        start = np.searchsorted(pairs, np.arange(len(self.lines) + 1, dtype=np.int64) << 32)
        return (pairs & (2**32 - 1)).astype(np.uint32), start


def _number(digits: str) -> int:
    """Return a number as it is written after a stem, or -1."""
    plain = digits.isascii() and digits.isdecimal() and (digits[0] != "0" or digits == "0")
    return int(digits) if plain and len(digits) < 19 else -1


def ordered(needs: NDArray[np.uint32], start: op.Ints) -> list[int]:
    """Return the operations of a rank in an order that its graph allows, without what waits for itself."""
    before = needs >> 1
    behind = np.repeat(np.arange(len(start) - 1), np.diff(start))
    place = np.lexsort((behind, before))
    after = behind[place].tolist()
    first = np.searchsorted(before[place], np.arange(len(start))).tolist()
    waits = np.diff(start).tolist()
    free = [number for number, count in enumerate(waits) if not count]
    for number in free:  # the list grows in the loop
        for one in after[first[number] : first[number + 1]]:
            waits[one] -= 1
            if not waits[one]:
                free.append(one)
    return free


def only_back(needs: NDArray[np.uint32], start: op.Ints) -> bool:
    """Whether all operations wait for such as stand before them."""
    return bool((needs >> 1 < np.repeat(np.arange(len(start) - 1), np.diff(start))).all())


def is_list(streams: int, kinds: list[int], order: list[int], needs: list[int], start: list[int]) -> bool:
    """Whether no operation of a rank can overlap a receive or a calculation."""
    if streams > 1:
        return False
    last, sent = -1, set[int]()
    for number in order:
        waits = needs[start[number] : start[number + 1]]
        if any(one % 2 and kinds[one >> 1] != op.SEND for one in waits):
            return False
        before = {one >> 1 for one in waits}
        if not (last < 0 or last in before or before & sent):
            return False
        if kinds[number] == op.SEND:
            sent.add(number)
        else:
            last, sent = number, set()
    return True
