"""When the packets of a list are created: the columns ``at``, ``at_ns`` and ``cycle`` of a file.

A trace has another time in each of its rows. Times are therefore converted column by column; the parser of
units gets only the values that are not plain, and says what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabriloom import units
from fabriloom.process.libraries import pl
from fabriloom.traffic.kinds import Ints, Links, in_units
from fabriloom.traffic.tables import Table

if TYPE_CHECKING:
    from polars import Series

TIMES = ("at", "at_ns", "cycle")
"""Columns for the time of a row; a file has one of them."""

_LAST_GRAIN = 10**15
"""As ``LAST_GRAIN`` of the engine."""
_PLAIN = r"^\s*(\d{1,15})(?:\.(\d{1,12}))?\s*([pnum]?s)?\s*$"
_DECIMALS = 12
"""Of a second, the longest unit, in picoseconds."""


def grains(table: Table, name: str, technology: Links) -> Ints:
    """Return the grain in which each row's packet is created: the last one that begins up to its time.

    Raises TrafficError for values that are no times, and for cycles where the technology has none.
    """
    if name == "cycle":
        if not getattr(technology, "in_flits", False):
            message = "cycles are of technologies with flits, such as generic; this one has none"
            raise table.column_error(message, name, 'name the column "at", and write times such as 2 us')
        found = _numbers(table, name, 1, _cycle)
    else:
        times_ps = _numbers(table, name, 1000, _ns if name == "at_ns" else _ps)
        found = in_units(times_ps, technology.grain_ps)
    late = np.flatnonzero(found > _LAST_GRAIN)
    if len(late):
        raise table.error("this is later than the end of any run", int(late[0]), name, "count from the start")
    return found


def _numbers(table: Table, name: str, each: int, parse: Callable[[Any], int]) -> Ints:
    """Return a column as whole numbers: times in ps, or cycles. A number without a unit counts ``each``."""
    series = table.frame.get_column(name)
    if series.dtype.is_integer():
        plain = ((series >= 0) & (series < 2**62 // each)).fill_null(False).to_numpy()
        found = np.zeros(len(series), np.int64)
        found[plain] = series.to_numpy()[plain].astype(np.int64) * each
    elif str(series.dtype) == "String":
        found, plain = _plain(series, each)
    else:
        return table.convert(name, parse)  # which says what it is
    if not plain.all():
        others = replace(table, frame=table.frame.filter(~plain), rows=table.rows[~plain])
        found[~plain] = others.convert(name, parse)
    return found


def _plain(series: Series, each: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the numbers of a column of strings, and which of them are plain; others have any number."""
    parts = pl.DataFrame({"text": series}).select(
        pl.col("text").str.extract(_PLAIN, group).alias(str(group)) for group in (1, 2, 3)
    )
    whole = parts["1"].cast(pl.Int64).fill_null(-1).to_numpy().copy()
    unit = parts["3"]
    size = (
        unit.replace_strict(units.TIME_PS, default=each, return_dtype=pl.Int64)
        if each > 1
        else unit.is_null().cast(pl.Int64)  # cycles have none, and then this is 0
    ).to_numpy()
    behind = parts["2"].fill_null("").str.pad_end(_DECIMALS, "0").cast(pl.Int64).to_numpy()
    part = 10**_DECIMALS // np.maximum(size, 1)
    plain = (parts["2"].is_null() | unit.is_not_null()).to_numpy()
    plain &= (whole >= 0) & (size > 0) & (behind % part == 0) & (whole < 2**62 // np.maximum(size, 1))
    return np.where(plain, whole, 0) * size + behind // part, plain


def _ps(value: Any) -> int:
    text = value.strip() if isinstance(value, str) else str(value)
    return units.parse_time_ps(f"{text} ns" if text.lstrip("-").isdecimal() else text)


def _ns(value: Any) -> int:
    """Return the picoseconds of a time in nanoseconds, which may be written with its unit."""
    try:
        return units.parse_time_ps(f"{value} ns")
    except units.UnitError:
        return _ps(value)


def _cycle(value: Any) -> int:
    text = value.strip() if isinstance(value, str) else str(value)
    if not (text.isascii() and text.isdecimal() and len(text) < 18):
        raise units.UnitError(f'"{text[:40]}" is no cycle', "write whole numbers from 0")
    return int(text)
