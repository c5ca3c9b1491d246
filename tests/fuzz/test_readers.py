"""Fuzz targets, one for each reader of files: whatever the bytes, data or a user's error, in bounded time.

In the ordinary tests a few inputs of each kind, and those that are kept. ``make soak``, or
``pytest tests/fuzz -m soak``, finds more by the lines that they reach; with ``FABRILOOM_EXPECT=write`` they
are kept. A failure prints its input, packed as the kept ones are: put it with the name of the reader into
``kept.txt``.

A loop over coverage: an input that reaches lines which none has reached is kept, and changed again. Kept
inputs are in ``kept.txt``, each a line: the name of its reader, and the input, packed.
"""

from __future__ import annotations

import base64
import os
import random
import resource
import signal
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import fabriloom
import pytest
import soaked

from .readers import READERS, damaged

KEPT = Path(__file__).parent / "kept.txt"
OURS = str(Path(fabriloom.__file__).parent)
LONGEST_S = 10.0
"""Of processor time for one input of at most 200 kB; nearly all take milliseconds."""
MOST_BYTES = 1 << 30
"""Of memory that one input may take."""
_MOST_KEPT = 3000
"""Bytes of an input that is kept in a file."""

Line = tuple[CodeType, int]


class TooLongError(BaseException):
    """An input takes too long; nothing that catches errors may catch it."""


def packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


def kept(name: str) -> list[bytes]:
    """The inputs that are kept for a reader."""
    return [zlib.decompress(base64.b64decode(line)) for of, line in _lines() if of == name]


def _lines() -> list[list[str]]:
    return [line.split() for line in KEPT.read_text(encoding="utf-8").splitlines()]


@contextmanager
def limited() -> Iterator[None]:
    """Stop what takes too long, and let nothing take more memory."""

    def stop(*_: Any) -> None:
        raise TooLongError

    status = Path("/proc/self/status").read_text(encoding="ascii")
    used = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData"))
    before = resource.getrlimit(resource.RLIMIT_DATA)
    usual = signal.signal(signal.SIGPROF, stop)
    resource.setrlimit(resource.RLIMIT_DATA, (used + MOST_BYTES, before[1]))
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_DATA, before)
        signal.signal(signal.SIGPROF, usual)


def attempt(name: str, content: bytes, folder: Path) -> None:
    """One file through its reader: anything, or one of its errors."""
    reader = READERS[name]
    file = folder / f"input{reader.suffix}"
    file.write_bytes(content)
    try:
        with limited():
            reader.read(file)
    except reader.errors as error:
        str(error).encode()  # every message can be printed
    except (Exception, TooLongError) as error:
        told = f"{name}: {type(error).__name__}: {error}\n{packed(content)}"
        raise AssertionError(told) from error


class Lines:
    """The lines of ours that have run; a function all of whose lines have run costs no more time."""

    def __init__(self) -> None:
        self.seen: set[Line] = set()
        self._left: dict[CodeType, set[int]] = {}
        self._new: set[Line] = set()

    def _called(self, frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            ours = code.co_filename.startswith(OURS)
            left = {line for _, _, line in code.co_lines() if line is not None} if ours else set()
            left.discard(code.co_firstlineno)
            self._left[code] = left
        if not left:
            return None

        def ran(frame: FrameType, event: str, _: object) -> Any:
            if event == "line" and frame.f_lineno in left:
                self._new.add((code, frame.f_lineno))
            return ran

        return ran

    def of(self, name: str, content: bytes, folder: Path) -> set[Line]:
        """The lines that an input reaches and that none has reached before :meth:`add`."""
        self._new = set()
        sys.settrace(self._called)
        try:
            attempt(name, content, folder)
        finally:
            sys.settrace(None)
        return self._new

    def add(self, new: set[Line]) -> None:
        self.seen |= new
        for code, line in new:
            self._left[code].discard(line)


def explored(name: str, dice: random.Random, folder: Path, pool: list[bytes]) -> Iterator[None]:
    """Try inputs without end, one at each step; those that reach new lines come into the pool."""
    reader, lines = READERS[name], Lines()
    for content in list(pool):
        lines.add(lines.of(name, content, folder))
    while True:
        content = reader.draw(dice, pool)
        new = lines.of(name, content, folder)
        if new:
            content = smaller(name, content, new, lines, folder)
            lines.add(new)
            pool.append(content)
        yield


def smaller(name: str, content: bytes, wanted: set[Line], lines: Lines, folder: Path) -> bytes:
    """The input without pieces that it does not need to reach these lines."""
    piece, trials = len(content) // 2, 40
    while piece >= 4 and trials:
        at = 0
        while at < len(content) and trials:
            fewer, trials = content[:at] + content[at + piece :], trials - 1
            if wanted <= lines.of(name, fewer, folder):
                content = fewer
            else:
                at += piece
        piece //= 2
    return content


def keep(name: str, pool: list[bytes], folder: Path) -> None:
    """Keep the inputs of a pool that reach what good and kept files do not, the shortest first."""
    lines, found = Lines(), kept(name)
    for content in [*READERS[name].good, *found]:
        lines.add(lines.of(name, content, folder))
    for content in sorted({one for one in pool if len(one) <= _MOST_KEPT}, key=lambda one: (len(one), one)):
        if new := lines.of(name, content, folder):
            lines.add(new)
            found.append(content)
    all_lines = [line for line in _lines() if line[0] != name] + [[name, packed(one)] for one in found]
    text = "".join(f"{of} {line}\n" for of, line in sorted(all_lines))
    KEPT.write_text(text, encoding="utf-8")


SEED = os.environ.get("FABRILOOM_SEEDS") or str(time.time_ns())
SOAK_S = float(os.environ.get("FABRILOOM_SOAK_SECONDS", "600")) / (len(READERS) + 1)
"""The share of each target in the time of `make soak`."""


@pytest.mark.parametrize("name", READERS)
def test_some_damaged_files(name: str, tmp_path: Path) -> None:
    for seed in range(40):
        attempt(name, READERS[name].draw(random.Random(seed)), tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_kept_files(name: str, tmp_path: Path) -> None:
    """Those that reach lines that no good file reaches, and those that once were faults."""
    for content in kept(name):
        attempt(name, content, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_files_that_reach_new_lines(name: str, tmp_path: Path) -> None:
    pool = [*READERS[name].good, *kept(name)]
    ends_s, count, first = time.monotonic() + SOAK_S, 0, len(pool)
    for _ in explored(name, random.Random(f"{name} {SEED}"), tmp_path, pool):
        count += 1
        if time.monotonic() > ends_s:
            break
    print(f"{name}: {count} damaged files, {len(pool) - first} of them reach new lines")
    soaked.tried("tests/fuzz/", count)
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        keep(name, pool, tmp_path)


COLUMNS = {
    "source": [0, 1, 3],
    "target": ["1", "t(0,0).0", "3"],
    "length": ["64 B", "8 B", "128 B"],
    "wait": [0, 5, 2**40],
}


def table(dice: random.Random, file: Path) -> None:
    """A table in Parquet of good columns, some of another type, renamed, or with nothing in places."""
    import polars as pl

    kinds = [pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Boolean, pl.String, pl.Binary, pl.Categorical]
    kinds += [pl.Date, pl.Duration, pl.Null, pl.List(pl.String)]
    columns = []
    for name, values in COLUMNS.items():
        column = pl.Series(dice.choice((name, name, name, "", "wéight", "wait_ns")), values)
        if dice.random() < 0.3:
            column = column.cast(dice.choice(kinds), strict=False)
        if dice.random() < 0.1:
            column = pl.Series(column.name, [None, *column.to_list()[1:]], dtype=column.dtype)
        columns.append(column)
    pl.DataFrame({column.name: column for column in columns}).write_parquet(file)


def attempt_parquet(seed: int, folder: Path) -> None:
    """An odd table, or a damaged one, as descriptors or as a matrix."""
    import polars as pl

    dice = random.Random(seed)
    file = folder / "table.parquet"
    try:
        table(dice, file)
    except (pl.exceptions.PolarsError, TypeError):
        return  # no such cast
    if dice.random() < 0.5:
        file.write_bytes(damaged(file.read_bytes(), [file.read_bytes()], dice))
    reader = READERS[dice.choice(("descriptors.csv", "matrix.csv", "program.csv"))]
    try:
        reader.read(file)
    except reader.errors as error:
        str(error).encode()


def test_some_tables_in_parquet(tmp_path: Path) -> None:
    for seed in range(5):
        attempt_parquet(seed, tmp_path)


@pytest.mark.soak
def test_many_tables_in_parquet(tmp_path: Path) -> None:
    """Fewer: each is read by a process of its own."""
    ends_s, count, first = time.monotonic() + SOAK_S, 0, random.Random(SEED).getrandbits(60)
    while time.monotonic() < ends_s:
        attempt_parquet(first + count, tmp_path)
        count += 1
    print(f"parquet: {count} tables")
    soaked.tried("tests/fuzz/", count)
