"""Fuzz targets, one for each reader of files: whatever the bytes, data or a user's error, in bounded time.

In the ordinary tests a few inputs of each kind, and those that are kept. ``make soak``, or
``pytest tests/fuzz -m soak``, finds more by the lines that they reach; with ``FABRILOOM_EXPECT=write`` they
are kept. A failure prints its input, packed as the kept ones are: put it with the name of the reader into
``kept.txt``.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
import soaked

from . import guided
from .guided import attempt
from .mutations import damaged
from .readers import READERS

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
    for content in guided.kept(name):
        attempt(name, content, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_files_that_reach_new_lines(name: str, tmp_path: Path) -> None:
    pool = [*READERS[name].good, *guided.kept(name)]
    ends_s, count, first = time.monotonic() + SOAK_S, 0, len(pool)
    for _ in guided.explored(name, random.Random(f"{name} {SEED}"), tmp_path, pool):
        count += 1
        if time.monotonic() > ends_s:
            break
    print(f"{name}: {count} damaged files, {len(pool) - first} of them reach new lines")
    soaked.tried("tests/fuzz/", count)
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        guided.keep(name, pool, tmp_path)


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
