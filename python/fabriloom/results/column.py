"""What a key of a summary and a column of a table is: its name, unit and meaning, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .statistics import PERCENTILES

if TYPE_CHECKING:
    import polars as pl

Value = Callable[[Any], Any]
"""What makes the values of a column of its rows (see ``rows``), or the value of a key of what it is of."""
_TYPES = {"text": "String", "count": "Int64", "number": "Int64", "B": "Int64", "true or false": "Boolean"}
"""Of columns, by their units; all others are Float64."""


@dataclass(frozen=True)
class Column:
    """One key of the summary or one column of a table."""

    name: str
    unit: str
    meaning: str
    value: Value | None = None
    """None: it is made elsewhere, together with others of its table."""

    @property
    def type(self) -> str:
        """The name of its type in Polars, by its unit."""
        return _TYPES.get(self.unit, "Float64")

    def of(self, what: Any) -> Any:
        """Its values, or its value."""
        if self.value is None:
            raise ValueError(f"nothing is said of how {self.name} is made")
        return self.value(what)


def percentile_columns(prefix: str, meaning: str) -> tuple[Column, ...]:
    """Return the keys of the percentiles of a latency; ``{}`` in ``meaning`` stands for the percentage."""
    return tuple(
        Column(f"{prefix}.{key}", "ns", meaning.format(f"{100 * share:g}"))
        for key, share in PERCENTILES.items()
    )


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
        """The data frame, each column made of all rows at once; NaN is null."""
        import polars as pl

        return pl.DataFrame([_series(column, column.of(rows)) for column in self.columns])

    def frame_of(self, each: Iterable[Any]) -> pl.DataFrame:
        """The data frame, each column made row by row."""
        import polars as pl

        things = list(each)
        return pl.DataFrame([_series(column, [column.of(one) for one in things]) for column in self.columns])

    def row_of(self, one: Any) -> dict[str, Any]:
        """One row by the names of the columns."""
        return {column.name: column.of(one) for column in self.columns}

    def fill(self, found: dict[str, Any], what: Any) -> None:
        """Add its keys to a nested dictionary; a dot in a key is one level."""
        for column in self.columns:
            *levels, last = column.name.split(".")
            inner = found
            for level in levels:
                inner = inner.setdefault(level, {})
            inner[last] = column.of(what)


def _series(column: Column, values: Any) -> pl.Series:
    import polars as pl

    kind = getattr(pl, column.type)
    if isinstance(values, pl.Series):
        return values.cast(kind).alias(column.name)
    if isinstance(values, np.ndarray) and values.dtype != object:
        given = values.astype(np.int64 if column.type == "Int64" else np.float64)
        return pl.Series(column.name, given, kind, nan_to_null=True)
    return pl.Series(column.name, list(values), kind, strict=False)


def at(path: str) -> Value:
    """The value at a path of a nested dictionary."""

    def found(summary: Any) -> Any:
        for level in path.split("."):
            summary = summary[level]
        return summary

    return found


def count(name: str) -> Value:
    """What the engine counted under a name."""
    return lambda rows: rows.count(name)


def time_ns(name: str) -> Value:
    """A time that the engine measured under a name."""
    return lambda rows: rows.ns(name)


def share(name: str) -> Value:
    """The same as a share of the measuring window, 0 to 1."""
    return lambda rows: rows.share(name)
