"""Replay lists of messages per terminal from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriloom import units
from fabriloom.programs.draws import Draws
from fabriloom.programs.kinds import MOST_BYTES, SEND, WAIT, Ints, Settings
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import ProgramError, Programs, Rows
from fabriloom.traffic import TrafficError, tables
from fabriloom.traffic.descriptors import KNOWN, TIMES, wait_ps_of, with_unit

_LAST = 2**40


def descriptors(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return the messages of a CSV or Parquet file that has the columns of descriptor traffic.

    Each source sends its rows in the order of the file. Terminals without rows receive any message, the
    others do so after their list. A list that repeats never ends.
    """
    try:
        columns = _read(roles, settings["path"])
    except TrafficError as error:
        error.parameter = "path"
        raise
    return _programs(roles, *columns, repeat=bool(settings["repeat"]))


def _read(roles: Roles, path: str) -> tuple[Ints, Ints, Ints, Ints]:
    """Return source, target, bytes and wait in ps of each row."""
    table = tables.read(path)
    timed = table.column(*TIMES)
    if timed is not None:
        message = "messages of a program have no times: they wait for what the program waits for"
        hint = "write [traffic] with this pattern, or waits between the messages"
        raise table.column_error(message, timed[0], hint)
    table.only(KNOWN)
    source = table.terminals(table.need("source")[0], roles.terminals)
    target = table.terminals(table.need("target")[0], roles.terminals)
    size = table.convert(table.need("length", "length_bytes")[0], _size)
    waits = table.column("wait", "wait_ns")
    wait_ps = table.convert(waits[0], wait_ps_of) if waits else np.zeros(len(source), np.int64)
    if not len(source):
        raise ProgramError(f"{table.path.name} has no messages", "path", "add rows below the header")
    itself = np.flatnonzero(source == target)
    if len(itself):
        name = roles.terminals.names[int(source[itself[0]])]
        raise table.error(f'"{name}" sends to itself', int(itself[0]), "target", "name another terminal")
    return source, target, size, wait_ps


def _programs(roles: Roles, source: Ints, target: Ints, size: Ints, wait_ps: Ints, repeat: bool) -> Programs:
    rows, senders, place = Rows(), np.unique(source), np.arange(len(source))
    rows.loop(senders, -1, 0 if repeat else 1)
    rows.add(source, 2 * place, SEND, peer=target, size_bytes=size)
    pauses = wait_ps > 0
    rows.add(source[pauses], 2 * place[pauses] + 1, WAIT, amount=wait_ps[pauses])
    rows.end(senders, _LAST)
    counts = np.bincount(target, minlength=roles.count)
    takers = np.flatnonzero(counts)
    if repeat:
        takers = np.setdiff1d(takers, senders)
        rows.receives(takers, 0, 0)
    else:
        rows.receives(takers, _LAST + 1, counts[takers])
    return rows.programs(roles.terminals.names)


def _size(value: Any) -> int:
    size_bytes = with_unit(value, "B", units.parse_bytes)
    if not 0 < size_bytes <= MOST_BYTES:
        raise units.UnitError(f"a message cannot have {size_bytes} bytes", "from 1 to 2^31 - 1 bytes")
    return size_bytes
