"""Columns of tables are declared once: name, unit, meaning, and how they are made."""

from __future__ import annotations

import ast
from pathlib import Path

import polars as pl
import pytest
from fabriloom.results import columns
from fabriloom.results.columns import Column, Table

PYTHON = Path(columns.__file__).resolve().parents[1]
FRAMES = [table for table in columns.TABLES if not table.is_json]


@pytest.mark.parametrize("table", FRAMES, ids=[table.name for table in FRAMES])
def test_a_column_says_how_it_is_made(table: Table) -> None:
    assert [column.name for column in table.columns if column.value is None] == []


def test_no_table_is_made_elsewhere() -> None:
    """A data frame with the names of its columns written out is a second place for each of them."""
    written = []
    for room in ("results", "bounds", "studies", "design"):
        for file in sorted((PYTHON / room).glob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "pl.DataFrame":
                    written += [
                        f"{file.name}:{node.lineno}" for one in node.args if isinstance(one, ast.Dict)
                    ]
    assert written == []


def test_units_give_the_types() -> None:
    table = Table(
        "some",
        "Some",
        "One row per letter.",
        (
            Column("name", "text", "It.", lambda rows: list(rows)),
            Column("place", "count", "Where.", lambda rows: range(len(rows))),
            Column("wait_ns", "ns", "How long.", lambda rows: [None if one == "a" else 2.0 for one in rows]),
        ),
    )
    found = table.frame("ab")
    assert found.schema == {"name": pl.String, "place": pl.Int64, "wait_ns": pl.Float64}
    assert found["wait_ns"].to_list() == [None, 2.0]
    assert table.frame("").schema == found.schema
    with pytest.raises(ValueError, match="nothing is said of how later is made"):
        Column("later", "ns", "When.").of(None)


def test_dotted_keys_are_levels() -> None:
    found = {"network": {"links": 4}}
    keys = (Column("network.rings", "count", "Rings.", len), Column("sci.busied", "count", "Busied.", max))
    Table("some", "Some", "Keys.", keys, is_json=True).fill(found, [1, 2, 3])
    assert found == {"network": {"links": 4, "rings": 3}, "sci": {"busied": 3}}
