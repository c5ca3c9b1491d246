"""Lists of packets per terminal from a file, as in the traffic nodes of the Macramé testbed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabriloom import units
from fabriloom.codes import ARRIVAL
from fabriloom.process.libraries import pl
from fabriloom.traffic import tables
from fabriloom.traffic.kinds import Columns, Ints, Links, Settings, TrafficError, in_units
from fabriloom.traffic.names import Terminals
from fabriloom.traffic.packets import checked, places
from fabriloom.traffic.tables import Table

# When the packets of a list are created: the columns ``at``, ``at_ns`` and ``cycle`` of a file.
#
# A trace has another time in each of its rows. Times are therefore converted column by column; the parser of
# units gets only the values that are not plain, and says what is wrong with them.

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


def _plain(series: pl.Series, each: int) -> tuple[Ints, NDArray[np.bool_]]:
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


KNOWN = ("source", "target", "length", "length_bytes", "wait", "wait_ns")
_WORDS = {**dict.fromkeys(KNOWN + TIMES, ()), "length": ("size", "packet size", "packet length", "payload")}
"""Columns, each with the words that spreadsheets have for it."""
_MOST_ROWS = 2**32 - 1


def descriptors(terminals: Terminals, technology: Links, sending: np.ndarray, settings: Settings) -> Columns:
    """Return the ``list_*`` columns and the arrivals from a CSV or Parquet file: ``settings["pattern"]``.

    Columns of the file: ``source`` and ``target`` (number or name), ``length`` ("64 B", or whole bytes),
    ``wait`` ("2 us", or whole nanoseconds; 0 if missing), which follows the packet. The rows of a source are
    sent in the order of the file.

    Instead of waits the file may have times, ``at`` or ``cycle``. Then the rows may be in any order, and
    those of equal time at one source are sent in the order of the file.
    """
    pattern = settings["pattern"]
    table = tables.read(pattern["path"]).called(_WORDS)
    if table.column("flits"):
        hint = "`fabriloom import packets FILE` reads lengths in flits, and writes them as bytes"
        raise table.column_error('the column "flits" has no unit of bytes', "flits", hint)
    table.only(KNOWN + TIMES)
    source = table.terminals(table.need("source")[0], terminals)
    target = table.terminals(table.need("target")[0], terminals)
    length = table.convert(table.need("length", "length_bytes")[0], lambda value: _length(technology, value))
    if not len(source):
        raise TrafficError(f"{table.path.name} has no packets", "pattern.path", "add rows below the header")
    if len(source) > _MOST_ROWS:
        message = f"{table.path.name} has {len(source):,} packets; the most are {_MOST_ROWS:,}"
        raise TrafficError(message, "pattern.path", "take a part of it")
    wait_ps, at = np.zeros(len(source), np.int64), _times(table, technology, pattern)
    if at is None and (waits := table.column("wait", "wait_ns")) is not None:
        wait_ps = table.convert(waits[0], wait_ps_of)
    kept = np.flatnonzero(sending[source])
    order = kept[
        np.argsort(source[kept], kind="stable") if at is None else np.lexsort((at[kept], source[kept]))
    ]
    count = len(terminals.names)
    rows = np.bincount(source[kept], minlength=count)
    columns = {
        "source_arrival": np.where(rows > 0, ARRIVAL.LIST, ARRIVAL.SILENT).astype(np.uint8),
        "list_start": np.concatenate([[0], np.cumsum(rows)]).astype(np.uint32),
        "list_target": target[order].astype(np.uint32),
        "list_length": length[order].astype(np.uint32),
        "list_wait_ps": wait_ps[order],
        "list_repeat": np.full(count, int(at is None and pattern.get("repeat") is not False), np.uint8),
    }
    return columns if at is None else columns | _open(rows, at[order], settings)


def _times(table: tables.Table, technology: Links, pattern: Settings) -> Ints | None:
    """Return the grain of each row, or None if the table has waits."""
    named = [name for name in table.frame.columns if name in (*TIMES, "wait", "wait_ns")]
    if not any(name in TIMES for name in named):
        return None
    if len(named) > 1:
        message = f'the columns "{named[0]}" and "{named[1]}" both say when a packet is sent'
        raise table.column_error(message, named[1], "keep one of them")
    if pattern.get("repeat"):
        message = f'a list with times is sent once: "{named[0]}" says when'
        raise TrafficError(message, "pattern.repeat", "remove repeat, or give waits instead of times")
    return grains(table, named[0], technology)


def _open(rows: Ints, at: Ints, settings: Settings) -> Columns:
    """Return the columns of lists with times. A mean interval is the last time by the rows of the source."""
    last = max(1.0, float(at.max(initial=0)))
    return {
        "source_arrival": np.where(rows > 0, ARRIVAL.TIMED, ARRIVAL.SILENT).astype(np.uint8),
        "source_interval_grains": np.divide(last, rows, out=np.zeros(len(rows)), where=rows > 0),
        "source_queue": np.full(len(rows), places(settings), np.uint32),
        "list_at_grains": at.astype(np.uint64),
    }


def _length(technology: Links, value: Any) -> int:
    return checked(technology, with_unit(value, "B", units.parse_bytes))


def wait_ps_of(value: Any) -> int:
    """Parse a wait from a file; returns picoseconds."""
    return with_unit(value, "ns", units.parse_time_ps)


def with_unit(value: Any, unit: str, parse: Any) -> int:
    """Parse a string with a unit, or a whole number in ``unit``, with ``parse``."""
    text = value.strip() if isinstance(value, str) else str(value)
    return parse(f"{text} {unit}" if text.lstrip("-").isdecimal() else text)
