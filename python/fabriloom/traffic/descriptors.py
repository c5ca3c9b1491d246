"""Lists of packets per terminal from a file, as in the traffic nodes of the Macramé testbed."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriloom import units
from fabriloom.traffic import tables
from fabriloom.traffic.errors import TrafficError
from fabriloom.traffic.kinds import LIST, SILENT, Columns, Links, Settings
from fabriloom.traffic.lengths import checked
from fabriloom.traffic.names import Terminals

KNOWN = ("source", "target", "length", "length_bytes", "wait", "wait_ns")


def descriptors(terminals: Terminals, technology: Links, sending: np.ndarray, pattern: Settings) -> Columns:
    """Return the ``list_*`` columns and the arrivals from a CSV or Parquet file.

    Columns of the file: ``source`` and ``target`` (number or name), ``length`` ("64 B", or whole bytes),
    ``wait`` ("2 us", or whole nanoseconds; 0 if missing), which follows the packet. The rows of a source are
    sent in the order of the file.
    """
    table = tables.read(pattern["path"])
    table.only(KNOWN)
    source = table.terminals(table.need("source")[0], terminals)
    target = table.terminals(table.need("target")[0], terminals)
    length = table.convert(table.need("length", "length_bytes")[0], lambda value: _length(technology, value))
    waits = table.column("wait", "wait_ns")
    wait_ps = table.convert(waits[0], wait_ps_of) if waits else np.zeros(len(source), np.int64)
    if not len(source):
        raise TrafficError(f"{table.path.name} has no packets", "pattern.path", "add rows below the header")
    return _columns(len(terminals.names), source, target, length, wait_ps, sending, pattern)


def _columns(
    count: int,
    source: np.ndarray,
    target: np.ndarray,
    length: np.ndarray,
    wait_ps: np.ndarray,
    sending: np.ndarray,
    pattern: Settings,
) -> Columns:
    kept = sending[source]
    order = np.argsort(source[kept], kind="stable")
    rows = np.bincount(source[kept], minlength=count)
    return {
        "source_arrival": np.where(rows > 0, LIST, SILENT).astype(np.uint8),
        "list_start": np.concatenate([[0], np.cumsum(rows)]).astype(np.uint32),
        "list_target": target[kept][order].astype(np.uint32),
        "list_length": length[kept][order].astype(np.uint32),
        "list_wait_ps": wait_ps[kept][order],
        "list_repeat": np.full(count, int(pattern.get("repeat", True)), np.uint8),
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
