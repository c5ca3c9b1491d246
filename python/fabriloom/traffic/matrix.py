"""Destinations by weights from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriloom.traffic import tables
from fabriloom.traffic.errors import TrafficError
from fabriloom.traffic.kinds import Columns, Settings
from fabriloom.traffic.lengths import cumulative
from fabriloom.traffic.names import Terminals, repeated


def matrix(terminals: Terminals, pattern: Settings) -> tuple[Columns, np.ndarray]:
    """The ``weight_*`` columns, and per terminal the share of the load that it offers (0: silent).

    The file is either terminals x terminals numbers, one row per source, or has the columns ``source``,
    ``destination`` and ``weight``.
    """
    source, target, weight = _entries(terminals, pattern["path"])
    keep = weight > 0
    source, target, weight = source[keep], target[keep], weight[keep]
    if not len(source):
        raise TrafficError("all weights are zero", "pattern.path", "give at least one above zero")
    order = np.lexsort((target, source))
    source, target, weight = source[order], target[order], weight[order]
    count = len(terminals.names)
    rows = np.bincount(source, minlength=count)
    start = np.concatenate([[0], np.cumsum(rows)])
    sums = np.bincount(source, weights=weight, minlength=count)
    columns = {
        "weight_start": start.astype(np.uint32),
        "weight_target": target.astype(np.uint32),
        "weight_cumulative": _by_row(weight, start),
    }
    if pattern.get("rows") == "proportional":
        return columns, sums / sums.max()
    return columns, (sums > 0).astype(np.float64)


def _by_row(weight: np.ndarray, start: np.ndarray) -> np.ndarray:
    parts = [
        cumulative(weight[a:b]) for a, b in zip(start[:-1].tolist(), start[1:].tolist(), strict=True) if b > a
    ]
    return np.concatenate(parts)


def _entries(terminals: Terminals, path: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = tables.read(path)
    names = {name.strip().lower() for name in table.frame.columns}
    if names & {"source", "destination", "weight"}:
        table.only(("source", "destination", "weight"))
        source = table.terminals(table.need("source")[0], terminals)
        target = table.terminals(table.need("destination")[0], terminals)
        return source, target, _floats(table, table.need("weight")[0])
    return _dense(terminals, table if not table.is_csv else tables.read(path, header=False))


def _dense(terminals: Terminals, table: tables.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(terminals.names)
    height, width = table.frame.shape
    if (height, width) != (count, count):
        message = f"{table.path.name} has {height} rows and {width} columns for {count} terminals"
        hint = f"write {count} x {count} numbers, or the columns source, destination, weight"
        raise TrafficError(message, "pattern.path", hint)
    weights = np.stack([_floats(table, name) for name in table.frame.columns], axis=1)
    source, target = np.nonzero(weights)
    return source, target, weights[source, target]


def _floats(table: tables.Table, name: str) -> np.ndarray:
    import polars as pl

    series = table.frame.get_column(name)
    text = series.str.strip_chars() if series.dtype == pl.String else series
    numbers = text.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = np.flatnonzero(~np.isfinite(numbers) | (numbers < 0))
    if len(bad):
        row = int(bad[0])
        value: Any = series[row]
        shown = "nothing" if value is None else f'"{str(value)[:40]}"'
        message = f"{shown} is not a weight"
        raise table.error(message, row, name, "weights are numbers of zero or more")
    return numbers


def permutation(terminals: Terminals, path: str) -> np.ndarray:
    """Destinations from a file with the columns ``source`` and ``destination``; -1 for the rest."""
    table = tables.read(path)
    table.only(("source", "destination"))
    source = table.terminals(table.need("source")[0], terminals)
    target = table.terminals(table.need("destination")[0], terminals)
    for name, values in (("source", source), ("destination", target)):
        row = repeated(values)
        if row is not None:
            word = terminals.names[int(values[row])]
            raise table.error(
                f'"{word}" is a {name} twice', row, name, "a permutation names each terminal once"
            )
    found = np.full(len(terminals.names), -1, np.int64)
    found[source] = target
    return found
