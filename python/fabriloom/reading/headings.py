"""Columns by the words of a spreadsheet: ``Port from``, ``Speed (Mbps)``, ``Deadline [ms]``.

A unit in brackets belongs to every number below it that has none of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

_IN_BRACKETS = re.compile(r"^(.*?)\s*[(\[]\s*([^()\[\]]+?)\s*[)\]]$")
_NUMBER = re.compile(r"^\s*\d+(?:[.,]\d+)?\s*$")
_BETWEEN = re.compile(r"[\s_-]+")
_UNITS = {
    **{f"{k}{b}": f"{k}bit/s" for k in ("k", "M", "G") for b in ("bps", "b/s", "bits/s", "bit/s")},
    **{one: one for one in ("ns", "us", "ms", "s", "mm", "cm", "m", "km")},
    **{one: one for one in ("B", "kB", "KiB", "MB", "kB/s", "MB/s", "GB/s")},
    **dict.fromkeys(("byte", "bytes", "octets"), "B"),
    **dict.fromkeys(("µs", "μs"), "us"),
    **dict.fromkeys(("sec", "seconds"), "s"),
    **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
}  # fmt: skip


@dataclass(frozen=True)
class Heading:
    """The name of a column as we call it, and the unit of its numbers; empty: they have their own."""

    name: str
    unit: str = ""

    def with_unit(self, cell: str) -> str:
        """Return a cell with the unit of its column, if it is a number alone."""
        return f"{cell.strip()} {self.unit}" if self.unit and _NUMBER.match(cell) else cell


def headings(
    written: Sequence[str], words: Mapping[str, Sequence[str]], of_unit: Collection[str] = ()
) -> list[Heading]:
    """Return the columns of a header under our names; those without a meaning stay as they are written.

    ``words``: our names, each with its other words. ``of_unit``: names that are only found under another
    word if a unit is in brackets behind it.
    """
    plain = [name.strip().lower() for name in written]
    meant = {_plain(word): name for name, others in words.items() for word in (name, *others)}
    found: list[Heading] = []
    for name, word in zip(written, plain, strict=True):
        one = Heading(word) if word in words else _meant(name, meant, of_unit)
        taken = one is not None and one.name != word and (one.name in plain or one.name in _names(found))
        found.append(Heading(name.strip()) if one is None or taken else one)
    return found


def _meant(written: str, meant: Mapping[str, str], of_unit: Collection[str]) -> Heading | None:
    bracket = _IN_BRACKETS.match(written.strip())
    unit = _UNITS.get(bracket[2]) if bracket else None
    if bracket and unit is None:
        return None
    name = meant.get(_plain(bracket[1] if bracket else written))
    if name is None or (name in of_unit and unit is None):
        return None
    return Heading(name, unit or "")


def _names(found: Sequence[Heading]) -> list[str]:
    return [heading.name for heading in found]


def _plain(word: str) -> str:
    return _BETWEEN.sub("", word.strip().lower())
