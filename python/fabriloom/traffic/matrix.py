"""Targets by weights or rates from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriloom.process.libraries import pl
from fabriloom.traffic import tables
from fabriloom.traffic.kinds import Columns, Settings, TrafficError
from fabriloom.traffic.lengths import cumulative
from fabriloom.traffic.names import Terminals, repeated


def matrix(terminals: Terminals, pattern: Settings) -> tuple[Columns, np.ndarray]:
    """Return the ``weight_*`` columns, and the sum of each terminal's row (0: silent).

    The file is either terminals x terminals numbers, one row per source, or has the columns ``source``,
    ``target`` and ``weight``, with a unit ``rate``.
    """
    value = "rate" if pattern.get("unit") else "weight"
    source, target, weight = _entries(terminals, pattern["path"], value, bool(pattern.get("include_self")))
    keep = weight > 0
    source, target, weight = source[keep], target[keep], weight[keep]
    if not len(source):
        raise TrafficError(f"all {value}s are zero", "pattern.path", "give at least one above zero")
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
    return columns, sums


def _by_row(weight: np.ndarray, start: np.ndarray) -> np.ndarray:
    parts = [
        cumulative(weight[a:b]) for a, b in zip(start[:-1].tolist(), start[1:].tolist(), strict=True) if b > a
    ]
    return np.concatenate(parts)


_NAMES = {"source", "target", "from", "to", "destination", "weight", "rate"}


def _entries(
    terminals: Terminals, path: str, value: str, include_self: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first = tables.first_line(path)
    table = tables.read(path, header=first is None or not _NAMES.isdisjoint(first))
    if _NAMES.isdisjoint(first or table.frame.columns):
        return _dense(terminals, table, value, include_self)
    table.only(("source", "target", value))
    source = table.terminals(table.need("source")[0], terminals)
    target = table.terminals(table.need("target")[0], terminals)
    weight = _floats(table, table.need(value)[0], value)
    again = np.flatnonzero((source == target) & (weight > 0))
    if len(again) and not include_self:
        raise _of_itself(table, int(again[0]), value, terminals.names[int(source[again[0]])])
    return source, target, weight


def _dense(
    terminals: Terminals, table: tables.Table, value: str, include_self: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(terminals.names)
    height, width = table.frame.shape
    if (height, width) != (count, count):
        message = f"{table.path.name} has {height} rows and {width} columns for {count} terminals"
        hint = f"write {count} x {count} numbers, or the columns source, target, {value}"
        raise TrafficError(message, "pattern.path", hint)
    weights = np.stack([_floats(table, name, value) for name in table.frame.columns], axis=1)
    again = np.flatnonzero(np.diagonal(weights))
    if len(again) and not include_self:
        raise _of_itself(table, int(again[0]), int(again[0]), terminals.names[int(again[0])])
    source, target = np.nonzero(weights)
    return source, target, weights[source, target]


def _of_itself(table: tables.Table, row: int, column: str | int, name: str) -> TrafficError:
    """Return the error of a number on the diagonal."""
    message = f'"{name}" would send to itself'
    return table.error(message, row, column, "write 0 there, or include_self = true in the pattern")


def _floats(table: tables.Table, name: str, value: str) -> np.ndarray:
    series = table.frame.get_column(name)
    text = series.str.strip_chars() if series.dtype == pl.String else series
    numbers = text.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = np.flatnonzero(~np.isfinite(numbers) | (numbers < 0))
    if len(bad):
        row = int(bad[0])
        found: Any = series[row]
        unit = ", in the unit of the pattern" if value == "rate" else ""
        hint = f"{value}s are numbers of zero or more{unit}"
        if found is None:
            raise table.error(f"there is no {value}", row, name, f"{hint}; is the line cut short?")
        raise table.error(f'"{str(found)[:40]}" is not a {value}', row, name, hint)
    return numbers


def pairs(terminals: Terminals, path: str, different: bool) -> np.ndarray:
    """Return targets from a file with the columns ``source`` and ``target``; -1 for the others.

    ``different``: no two may be equal, as in a permutation.
    """
    table = tables.read(path)
    table.only(("source", "target"))
    source = table.terminals(table.need("source")[0], terminals)
    target = table.terminals(table.need("target")[0], terminals)
    for name, values in (("source", source), ("target", target))[: 2 if different else 1]:
        row = repeated(values)
        if row is not None:
            word = terminals.names[int(values[row])]
            hint = "a permutation names each terminal once" if different else "a map names each sender once"
            raise table.error(f'"{word}" is a {name} twice', row, name, hint)
    found = np.full(len(terminals.names), -1, np.int64)
    found[source] = target
    return found
