"""Fuzz targets, one for each reader of files: whatever the bytes, data or a user's error, in bounded time.

In the ordinary tests a few inputs of each kind; ``FABRILOOM_FUZZ=100000 pytest tests/fuzz -m soak`` draws as
many, other ones for each ``FABRILOOM_FUZZ_SEED``. A failure names the seed of its input, see ``draw``.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from .mutations import damaged
from .readers import READERS

MANY = int(os.environ.get("FABRILOOM_FUZZ", "100000"))
FIRST = int(os.environ.get("FABRILOOM_FUZZ_SEED", "1")) * 10**9
SOAK_S = float(os.environ.get("FABRILOOM_SOAK_SECONDS", "inf")) / (len(READERS) + 1)
"""The share of each target in the time of `make soak`."""
LONGEST_S = 10.0
"""Of processor time for one input of at most 200 kB; nearly all take milliseconds."""


def attempt(name: str, seed: int, folder: Path) -> None:
    """One damaged file through its reader."""
    reader = READERS[name]
    content = reader.draw(random.Random(seed))
    file = folder / f"input{reader.suffix}"
    file.write_bytes(content)
    began = time.process_time()
    try:
        reader.read(file)
    except reader.errors as error:
        str(error).encode()  # every message can be printed
    except Exception as error:
        raise AssertionError(f"{name}, seed {seed}: {type(error).__name__}: {error}") from error
    took_s = time.process_time() - began
    assert took_s < LONGEST_S, f"{name}, seed {seed}: {took_s:.1f} s"


@pytest.mark.parametrize("name", READERS)
def test_some_damaged_files(name: str, tmp_path: Path) -> None:
    for seed in range(40):
        attempt(name, seed, tmp_path)


def test_a_carriage_return_by_itself(tmp_path: Path) -> None:
    """It ends a line for one reader of CSV and not for the other: two columns without a name were a fault."""
    attempt("permutation.csv", 700010364, tmp_path)


def test_half_a_character_in_a_label(tmp_path: Path) -> None:
    """JSON can contain it; the library that draws fails on it."""
    attempt("report.html", 77000003547, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_many_damaged_files(name: str, tmp_path: Path) -> None:
    ends_s, count = time.monotonic() + SOAK_S, 0
    while count < MANY and time.monotonic() < ends_s:
        attempt(name, FIRST + count, tmp_path)
        count += 1
    print(f"{name}: {count} damaged files")


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
    ends_s, count = time.monotonic() + SOAK_S, 0
    while count < MANY // 50 and time.monotonic() < ends_s:
        attempt_parquet(FIRST + count, tmp_path)
        count += 1
    print(f"parquet: {count} tables")
