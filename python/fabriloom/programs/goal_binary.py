"""GOAL as LogGOPSim runs it: the binary form of a trace, in blocks of operations.

Little endian and packed: the number 4223 in 8 bytes; ranks (4), processors and network interfaces (1 each);
per rank where its part begins and ends, counted from behind the first 8 bytes. A part: operations and roots
(4 each), the roots (4 each), the operations (``_OPERATION``), and the numbers of operations that wait for the
end or the beginning of another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from fabriloom.programs.kinds import MOST_OF_TRACE
from fabriloom.reading import ReadError

MAGIC = (4223).to_bytes(8, "little")
_OPERATION = np.dtype(
    [
        *(("waits_for", "<u4"), ("type", "u1"), ("peer", "<u4"), ("size", "<u8"), ("tag", "<u4")),
        *(("cpu", "u1"), ("nic", "u1"), ("after", "<u4"), ("first_after", "<u4")),
        *(("beside", "<u4"), ("first_beside", "<u4")),
    ]
)
_TEXT = {1: "send {}b to {} tag {} cpu {}", 2: "recv {}b from {} tag {} cpu {}", 3: "calc {0} cpu {3}"}
"""An operation in the text form, by its type."""
CALC, SEND, RECEIVE = 3, 1, 2
_CHUNK = 1 << 14
_BLOCK = 1 << 20
_HINT = "is the file cut short, or of another version?"


def begins(path: Path) -> bool:
    """Whether a file begins like the binary form."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False  # the reader of text says why


def announced(path: Path, file: BinaryIO) -> int:
    """Return the number of ranks. Raises ReadError for more than the file can hold."""
    (ranks,) = _numbers(file, 0, 1, "<u4").tolist()
    if 6 + 16 * ranks > path.stat().st_size - len(MAGIC):
        raise ReadError(f"{path}: {ranks:,} ranks are announced, more than the file holds", _HINT)
    return ranks


def parts(path: Path, file: BinaryIO, ranks: int) -> Iterator[Part]:
    """Yield the part of each rank. Raises ReadError."""
    left, size = MOST_OF_TRACE, path.stat().st_size - len(MAGIC)
    for rank in range(ranks):
        begin, end = (int(one) for one in _numbers(file, 6 + 16 * rank, 2, "<u8"))
        if not begin + 8 <= end <= size:
            raise ReadError(f"{path}: the part of rank {rank} is not in the file", _HINT)
        part = Part(path, file, rank, begin, end)
        left -= part.count
        if left < 0:
            raise ReadError(f"{path}: more than {MOST_OF_TRACE:,} operations", "take a part of the trace")
        yield part


def _numbers(file: BinaryIO, at: int, count: int, dtype: str | np.dtype[np.void]) -> NDArray[np.void]:
    file.seek(len(MAGIC) + at)
    kind = np.dtype(dtype)
    content = file.read(count * kind.itemsize)
    if len(content) < count * kind.itemsize:
        raise ReadError(f"{file.name}: the file ends after {len(MAGIC) + at + len(content):,} bytes", _HINT)
    return np.frombuffer(content, kind)


class Part:
    """The part of a rank."""

    def __init__(self, path: Path, file: BinaryIO, rank: int, begin: int, end: int) -> None:
        self.file, self.name = file, f"{path}: rank {rank}"
        self.count, roots = (int(one) for one in _numbers(file, begin, 2, "<u4"))
        self.first = begin + 8 + 4 * roots
        self.appendix = self.first + _OPERATION.itemsize * self.count
        self.links = (end - self.appendix) // 4
        if self.appendix > end:
            raise ReadError(f"{self.name} announces {self.count:,} operations, more than it holds", _HINT)

    def chunks(self) -> Iterator[tuple[int, NDArray[np.void]]]:
        """Yield the operations in turn, each time with the number of the first."""
        for at in range(0, self.count, _CHUNK):
            where = self.first + at * _OPERATION.itemsize
            yield at, _numbers(self.file, where, min(_CHUNK, self.count - at), _OPERATION)

    def place(self, number: int) -> int:
        """Return where an operation stands in the file."""
        return self.first + _OPERATION.itemsize * number

    def told(self, number: int, one: np.void) -> str:
        """Return an operation as the text form has it. Raises ReadError."""
        kind = int(one["type"])
        if kind not in _TEXT:
            raise ReadError(f"{self.name}: operation {number} is of the unknown type {kind}", _HINT)
        return _TEXT[kind].format(*(int(one[name]) for name in ("size", "peer", "tag", "cpu")))

    def needs(self) -> Iterator[NDArray[np.int64]]:
        """Yield who waits for whom, as the pairs of a rank that is read. Raises ReadError."""
        left = self.links
        for at, chunk in self.chunks():
            for begins, name in enumerate(("after", "beside")):
                some = np.flatnonzero(chunk[name])
                if not len(some):
                    continue
                count, first = (chunk[one][some].astype(np.int64) for one in (name, f"first_{name}"))
                left -= int(count.sum())
                if left < 0 or (first + count > self.links).any():
                    raise ReadError(f"{self.name}: more operations wait than its part holds", _HINT)
                ends = np.flatnonzero(np.diff(np.cumsum(count) // _BLOCK)) + 1
                for rows in np.split(np.arange(len(some)), ends):
                    waiting = self._waiting(first[rows], count[rows])
                    yield waiting << 32 | 2 * np.repeat(at + some[rows], count[rows]) | begins

    def _waiting(self, first: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the operations in some stretches of the appendix."""
        whole, low = int(count.sum()), int(first.min())
        span = int((first + count).max()) - low
        if span <= 2 * whole:
            place = np.repeat(first - low - np.cumsum(count) + count, count) + np.arange(whole)
            found = _numbers(self.file, self.appendix + 4 * low, span, "<u4")[place]
        else:
            each = zip(first.tolist(), count.tolist(), strict=True)
            read = [_numbers(self.file, self.appendix + 4 * at, size, "<u4") for at, size in each]
            found = np.concatenate(read)
        found = found.astype(np.int64)
        wrong = np.flatnonzero(found >= self.count)
        if len(wrong):
            other = int(found[wrong[0]])
            raise ReadError(f"{self.name}: there is no operation {other} of {self.count}", _HINT)
        return found
