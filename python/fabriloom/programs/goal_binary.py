"""GOAL as LogGOPSim runs it: the binary form of a trace, told as the lines of the text form.

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

from fabriloom.programs.kinds import MOST_OPERATIONS
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
_CHUNK = 1 << 14
_HINT = "is the file cut short, or of another version?"


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of the text form, each with its place in bytes. Raises ReadError."""
    size = path.stat().st_size - len(MAGIC)
    with path.open("rb") as file:
        (ranks,) = _numbers(file, 0, 1, "<u4")
        yield 0, f"num_ranks {ranks}"
        if 6 + 16 * int(ranks) > size:
            raise ReadError(f"{path}: {ranks:,} ranks are announced, more than the file holds", _HINT)
        left = MOST_OPERATIONS
        for rank in range(int(ranks)):
            begin, end = (int(one) for one in _numbers(file, 6 + 16 * rank, 2, "<u8"))
            if not begin + 8 <= end <= size:
                raise ReadError(f"{path}: the part of rank {rank} is not in the file", _HINT)
            part = _Part(path, file, rank, begin, end)
            left -= part.count
            if left < 0:
                raise ReadError(
                    f"{path}: more than {MOST_OPERATIONS:,} operations", "take a part of the trace"
                )
            yield begin, f"rank {rank} {{"
            yield from part.operations()
            yield from part.needs()
            yield end, "}"


def _numbers(file: BinaryIO, at: int, count: int, dtype: str | np.dtype[np.void]) -> NDArray[np.void]:
    file.seek(len(MAGIC) + at)
    kind = np.dtype(dtype)
    content = file.read(count * kind.itemsize)
    if len(content) < count * kind.itemsize:
        raise ReadError(f"{file.name}: the file ends after {len(MAGIC) + at + len(content):,} bytes", _HINT)
    return np.frombuffer(content, kind)


class _Part:
    """The part of a rank."""

    def __init__(self, path: Path, file: BinaryIO, rank: int, begin: int, end: int) -> None:
        self.file, self.name = file, f"{path}: rank {rank}"
        self.count, roots = (int(one) for one in _numbers(file, begin, 2, "<u4"))
        self.first = begin + 8 + 4 * roots
        self.appendix = self.first + _OPERATION.itemsize * self.count
        self.links = (end - self.appendix) // 4
        if self.appendix > end:
            raise ReadError(f"{self.name} announces {self.count:,} operations, more than it holds", _HINT)

    def _chunks(self) -> Iterator[tuple[int, NDArray[np.void]]]:
        for at in range(0, self.count, _CHUNK):
            where = self.first + at * _OPERATION.itemsize
            yield at, _numbers(self.file, where, min(_CHUNK, self.count - at), _OPERATION)

    def operations(self) -> Iterator[tuple[int, str]]:
        """Yield an operation a line."""
        for at, chunk in self._chunks():
            rows = zip(
                *(chunk[name].tolist() for name in ("type", "size", "peer", "tag", "cpu")), strict=True
            )
            for number, (kind, *values) in enumerate(rows, at):
                if kind not in _TEXT:
                    raise ReadError(f"{self.name}: operation {number} is of the unknown type {kind}", _HINT)
                yield self.first + number * _OPERATION.itemsize, f"l{number}: {_TEXT[kind].format(*values)}"

    def needs(self) -> Iterator[tuple[int, str]]:
        """Yield who waits for whom."""
        left = self.links
        for at, chunk in self._chunks():
            for name, word in (("after", "requires"), ("beside", "irequires")):
                some = np.flatnonzero(chunk[name])
                left -= int(chunk[name].sum(dtype=np.int64))
                first = chunk[f"first_{name}"].astype(np.int64)
                if left < 0 or (first[some] + chunk[name][some] > self.links).any():
                    raise ReadError(f"{self.name}: more operations wait than its part holds", _HINT)
                for one in some.tolist():
                    where = self.appendix + 4 * int(first[one])
                    for other in _numbers(self.file, where, int(chunk[name][one]), "<u4").tolist():
                        if other >= self.count:
                            raise ReadError(
                                f"{self.name}: there is no operation {other} of {self.count}", _HINT
                            )
                        yield where, f"l{other} {word} l{at + one}"
