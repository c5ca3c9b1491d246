"""Service levels of an InfiniBand subnet, from its path records as ``saquery PathRecord`` prints them.

A record has the LIDs of both ends and a level, one item a line: ``dlid....................12``. Others are
passed over. The file of a large subnet is long, so it is never held as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from .common import Level, Stream

_HEAD = "PathRecord dump:"
_ITEM = re.compile(r"\s*(dlid|slid|sl)\.+(0x[0-9A-Fa-f]{1,4}|\d{1,5})\s*")
_OTHER = re.compile(r"\s*\w+\.+\S*\s*")
_MOST_LEVEL = 15


def is_records(path: Path) -> bool:
    """Whether a file begins with a path record. Raises ReadError if it cannot be read."""
    return next(iter(Stream(path)), "").strip() == _HEAD


def path_records(files: Sequence[Path], terminals: Mapping[int, str]) -> list[Level]:
    """Return source, target and level of all records between terminals, given by LID. Raises ReadError."""
    found: dict[tuple[str, str], int] = {}
    for file in files:
        _read(Stream(file), terminals, found)
    return [(source, target, level) for (source, target), level in found.items()]


def _read(lines: Stream, terminals: Mapping[int, str], found: dict[tuple[str, str], int]) -> None:
    record = dict[str, int]()
    for line in lines:
        if line.strip() == _HEAD:
            _take(lines, record, terminals, found)
            record.clear()
        elif item := _ITEM.fullmatch(line):
            record[item[1]] = int(item[2], 0)
        elif not _OTHER.fullmatch(line):
            lines.fail(f'"{line[:60]}" is no line of a path record', "name what saquery PathRecord prints")
    _take(lines, record, terminals, found)


def _take(
    lines: Stream, record: dict[str, int], terminals: Mapping[int, str], found: dict[tuple[str, str], int]
) -> None:
    """Enter a whole record; one of switches, or of a further LID of a port, says nothing of terminals."""
    if not record:
        return
    missing = [name for name in ("dlid", "slid", "sl") if name not in record]
    if missing:
        lines.fail(f"the record before has no {missing[0]}", "is the file cut short? print it again")
    if record["sl"] > _MOST_LEVEL:
        lines.fail(f"the record before has level {record['sl']}", f"levels are 0 to {_MOST_LEVEL}")
    source, target = (terminals.get(record[name]) for name in ("slid", "dlid"))
    if source is None or target is None or source == target:
        return
    if found.setdefault((source, target), record["sl"]) != record["sl"]:
        message = f'the record before gives another level from "{source}" to "{target}" than an earlier one'
        lines.fail(message, "keep one of the two")
