"""The definition of a key of a summary or a column of a table: its name, unit, meaning and computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from ...process.libraries import pl
from ..statistics import PERCENTILES, ends_of

Value = Callable[[Any], Any]
"""Computes the values of a column from its rows (see ``rows``), or the value of a key from its object."""
_TYPES = {"text": "String", "count": "Int64", "number": "Int64", "B": "Int64", "true or false": "Boolean"}
"""Types of columns, by their units; all others are Float64."""


@dataclass(frozen=True)
class Column:
    """One key of the summary or one column of a table."""

    name: str
    unit: str
    meaning: str
    value: Value | None = None
    """None: a key that is computed elsewhere."""

    @property
    def type(self) -> str:
        """Return the name of its type in Polars, by its unit."""
        return _TYPES.get(self.unit, "Float64")

    def of(self, what: Any) -> Any:
        if self.value is None:
            raise ValueError(f"nothing is said of how {self.name} is made")
        return self.value(what)


Said = str | tuple[str, Value]
"""``"unit | meaning | where from"``, or ``"unit | meaning"`` and the computation.

Where from: a path of attributes and keys, such as ``of.flow``; or ``engine NAME``, what the engine counted
under that name. Without it: the attribute of the rows that is called as the column is.
"""
_BY_UNIT = {"ns": "ns", "0…1": "share", "MB/s": "rate_of", "text": "named"}
"""The methods of rows that make a column of a unit from what the engine has counted; all others: counts."""


def percentiles(prefix: str, meaning: str) -> dict[str, Said]:
    """Return the keys of the percentiles of a latency; ``{}`` in ``meaning`` stands for the percentage."""
    found: dict[str, Said] = {}
    for key, share in PERCENTILES.items():
        found[f"{prefix}.{key}"] = f"ns | {meaning.format(f'{100 * share:g}')}"
        for end, name in zip(("Lower", "Upper"), ends_of(key), strict=True):
            found[f"{prefix}.{name}"] = f"ns | {end} end of its 95 % confidence interval."
    return found


@dataclass(frozen=True)
class Table:
    """One table of a result: how to obtain it, the meaning of a row, and its columns."""

    name: str
    title: str
    row: str
    columns: tuple[Column, ...]
    is_json: bool = False
    """True for a dictionary of keys, false for a data frame of columns."""

    @property
    def names(self) -> list[str]:
        """Names of the keys or columns, in order."""
        return [column.name for column in self.columns]

    def frame(self, rows: Any) -> pl.DataFrame:
        """Return the data frame, each column computed from all rows at once; NaN becomes null."""
        return pl.DataFrame([_series(column, column.of(rows)) for column in self.columns])

    def frame_of(self, each: Iterable[Any]) -> pl.DataFrame:
        """Return the data frame, each column computed row by row."""
        things = list(each)
        return pl.DataFrame([_series(column, [column.of(one) for one in things]) for column in self.columns])

    def row_of(self, one: Any) -> dict[str, Any]:
        """Return one row by the names of the columns."""
        return {column.name: column.of(one) for column in self.columns}

    def fill(self, found: dict[str, Any], what: Any) -> None:
        """Add its keys to a nested dictionary; a dot in a key is one level."""
        for column in self.columns:
            *levels, last = column.name.split(".")
            inner = found
            for level in levels:
                inner = inner.setdefault(level, {})
            inner[last] = column.of(what)


def table(
    name: str,
    title: str,
    row: str,
    said: Mapping[str, Said],
    *,
    is_json: bool = False,
    maker: Callable[[str], Value] = attrgetter,
) -> Table:
    """Return the table of the columns of ``said``, by name; ``maker``: of a column that does not say how."""
    columns = []
    for key, one in said.items():
        text, value = one if isinstance(one, tuple) else (one, None if is_json else maker(key))
        unit, meaning, *where = text.split(" | ")
        columns.append(Column(key, unit, meaning, _from(where[0], unit, is_json) if where else value))
    return Table(name, title, row, tuple(columns), is_json)


def _from(where: str, unit: str, is_json: bool) -> Value:
    """Return the maker of what stands somewhere; null behind what is null."""
    kind, _, name = where.rpartition(" ")
    if kind == "engine":
        method = _BY_UNIT.get(unit, "count")
        return lambda rows: int(rows.raw(name).sum()) if is_json else getattr(rows, method)(name)

    def found(what: Any) -> Any:
        for step in where.split("."):
            if what is not None:
                what = what[step] if isinstance(what, Mapping) else getattr(what, step)
        return what

    return found


def _series(column: Column, values: Any) -> pl.Series:
    kind = getattr(pl, column.type)
    if isinstance(values, pl.Series):
        return values.cast(kind).alias(column.name)
    if isinstance(values, np.ndarray) and values.dtype != object:
        # A number that is not known is null, also in a column of whole numbers.
        return pl.Series(column.name, values, nan_to_null=True).cast(kind)
    return pl.Series(column.name, list(values), kind, strict=False)


def of_summary(unit: str, **paths: str) -> dict[str, Said]:
    """Return the columns that repeat keys of the summary, each with the path of its key."""
    return {name: f"{unit} | See the summary, `{path}`. | {path}" for name, path in paths.items()}
