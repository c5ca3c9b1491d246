"""Lists of packets per terminal from a file, as in the traffic nodes of the Macramé testbed."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriloom import units
from fabriloom.traffic import moments, tables
from fabriloom.traffic.arrivals import places
from fabriloom.traffic.kinds import LIST, SILENT, TIMED, Columns, Ints, Links, Settings, TrafficError
from fabriloom.traffic.lengths import checked
from fabriloom.traffic.names import Terminals

KNOWN = ("source", "target", "length", "length_bytes", "wait", "wait_ns")
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
    table = tables.read(pattern["path"])
    table.only(KNOWN + moments.TIMES)
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
        "source_arrival": np.where(rows > 0, LIST, SILENT).astype(np.uint8),
        "list_start": np.concatenate([[0], np.cumsum(rows)]).astype(np.uint32),
        "list_target": target[order].astype(np.uint32),
        "list_length": length[order].astype(np.uint32),
        "list_wait_ps": wait_ps[order],
        "list_repeat": np.full(count, int(at is None and pattern.get("repeat") is not False), np.uint8),
    }
    return columns if at is None else columns | _open(rows, at[order], settings)


def _times(table: tables.Table, technology: Links, pattern: Settings) -> Ints | None:
    """Return the grain of each row, or None if the table has waits."""
    named = [name for name in table.frame.columns if name in (*moments.TIMES, "wait", "wait_ns")]
    if not any(name in moments.TIMES for name in named):
        return None
    if len(named) > 1:
        message = f'the columns "{named[0]}" and "{named[1]}" both say when a packet is sent'
        raise table.column_error(message, named[1], "keep one of them")
    if pattern.get("repeat"):
        message = f'a list with times is sent once: "{named[0]}" says when'
        raise TrafficError(message, "pattern.repeat", "remove repeat, or give waits instead of times")
    return moments.grains(table, named[0], technology)


def _open(rows: Ints, at: Ints, settings: Settings) -> Columns:
    """Return the columns of lists with times. A mean interval is the time of the last row by those of the
    source.
    """
    last = max(1.0, float(at.max(initial=0)))
    return {
        "source_arrival": np.where(rows > 0, TIMED, SILENT).astype(np.uint8),
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
