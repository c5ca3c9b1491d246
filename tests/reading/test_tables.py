"""Tables in files of users: Parquet in a process with limits, CSV with columns that can be told apart."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fabriloom.compile import compile
from fabriloom.reading import ReadError
from fabriloom.reading.parquet import MOST_ROWS, parquet
from fabriloom.scenario import Scenario, ScenarioError

GRID = {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1}


def descriptors(path: Path) -> object:
    pattern = {"kind": "descriptors", "path": path.name}
    return compile(Scenario.from_dict({"topology": GRID, "traffic": {"pattern": pattern}}, path.parent))


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["0", "1", "2"]), pl.String, pl.UInt64, pl.Int8])
def test_terminals_in_columns_of_any_sensible_type(kind: pl.DataType, tmp_path: Path) -> None:
    source = (
        pl.Series(["0", "1"]).cast(kind)
        if kind in (pl.UInt64, pl.Int8)
        else pl.Series(["0", "1"], dtype=kind)
    )
    frame = pl.DataFrame({"source": source, "target": [1, 2], "length": ["64 B", "8 B"]})
    frame.write_parquet(tmp_path / "packets.parquet")
    assert descriptors(tmp_path / "packets.parquet")


def test_a_small_file_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    file = tmp_path / "bomb.parquet"
    pl.select(pl.repeat(0, MOST_ROWS + 1, dtype=pl.Int8).alias("source")).write_parquet(file)
    assert file.stat().st_size < 100_000
    with pytest.raises(ReadError, match="33,554,433 rows; at most 33,554,432 are read"):
        parquet(file, file.stat().st_size)


def test_a_long_cell(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("source,target,length\n0,1," + "9" * 200_000 + "\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"long\.csv"):
        descriptors(file)


def test_wide_header_and_short_lines(tmp_path: Path) -> None:
    """They would be filled up to ten thousand million cells."""
    file = tmp_path / "wide.csv"
    file.write_text(",".join(f"c{i}" for i in range(50_000)) + "\n0" * 200_000 + "\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="50,000 columns, but the lines that follow are shorter"):
        descriptors(file)
