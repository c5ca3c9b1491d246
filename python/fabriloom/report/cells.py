"""Numbers, times and data as the parts of a report: cells, tables of data frames, points of charts, texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..process.libraries import pl
from .page import Cell, Table, Text, number


def micro(value_ns: float | None) -> float | None:
    """Return a time in µs."""
    return None if value_ns is None else value_ns / 1e3


def amount(value: float | None, digits: int = 4) -> Cell:
    """Return the cell of a number."""
    return Cell(number(value, digits), None, value)


def micros(value_ns: float | None) -> Cell:
    """Return the cell of a time in µs."""
    return Cell(number(micro(value_ns)), None, value_ns)


def percent(share: float | None) -> Cell:
    """Return the cell of a share in per cent, with its bar; a dash for None."""
    return Cell("–" if share is None else f"{number(100 * share, 3)} %", share, share)


Columns = dict[str, tuple[str, Callable[[Any], Cell]]]
"""Per heading the column of a data frame, and what makes a cell of its value: ``Cell`` of a text."""


def listed(title: str, columns: Columns, rows: pl.DataFrame, note: str) -> list[Table]:
    """Return columns of a data frame as a table; none without rows."""
    return [table_of(title, columns, rows, note)] if len(rows) else []


MOST = 20
"""Most rows of a table of the first ones."""


def first(rows: pl.DataFrame, by: str | pl.Expr) -> pl.DataFrame:
    """Return the rows with the largest values of a column, or of an expression, the largest first."""
    return rows.sort(by, descending=True, maintain_order=True).head(MOST)


def busiest(title: str, columns: Columns, rows: pl.DataFrame, by: str, note: str) -> list[Table]:
    """Return the first rows by a column as a table, with a note that says of how many they are the busiest.

    ``note``: begins with what they are.
    """
    shown = first(rows, by)
    return listed(title, columns, shown, f"The {len(shown)} busiest of {number(len(rows))} {note}")


def table_of(title: str, columns: Columns, rows: pl.DataFrame, note: str) -> Table:
    """Return columns of a data frame as a table."""
    cells = [[made(row[name]) for name, made in columns.values()] for row in rows.iter_rows(named=True)]
    return Table(title, [*columns], cells, [made is not Cell for _, made in columns.values()], note)


def spot(x: Any, y: Any, label: str = "", half: float | None = None) -> list[Any]:
    """Return a point of a chart, with the half-width of its interval if it is known."""
    low, high = (None, None) if y is None or half is None else (y - half, y + half)
    return [x, y, low, high, label]


def json_text(title: str, data: Any) -> Text:
    """Return data as indented JSON, collapsed at first."""
    return Text(title, json.dumps(data, indent=2, ensure_ascii=False), folded=True)
