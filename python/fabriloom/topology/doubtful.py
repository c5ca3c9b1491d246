"""Names of switches that are perhaps misspelt: a line of a cable is enough to make a switch."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .. import units

if TYPE_CHECKING:
    from .raw import RawGraph

_SHOWN = 3


def refuse_undeclared(raw: RawGraph, name: str, where: str, cell: str) -> None:
    """Raise GraphError for a name in the line of a cable that a file with lines of switches does not have."""
    near = units.nearest(name, list(raw.vertices), 0.7)
    hint = f'did you mean "{near}"?' if near else "declare it, or take out the lines of kind switch"
    raw.fail(f'"{name[:60]}" is in no line of kind switch or terminal; {hint}', where, cell)


def remarks(raw: RawGraph) -> list[str]:
    """Return remarks on switches that only cables name: if they have one cable, or nearly the same name."""
    found = [*_alike(raw), *(_ends(raw) if any(one.terminal for one in raw.vertices.values()) else ())]
    more = [f"{raw.origin}: and {len(found) - _SHOWN} more names like these"] if len(found) > _SHOWN else []
    return [*found[:_SHOWN], *more]


def _alike(raw: RawGraph) -> list[str]:
    """Name the switches that only cables name and that differ from another name in capitals alone."""
    seen = {name.lower(): name for name in reversed(raw.vertices) if name not in raw.implied}
    found = []
    for name in raw.implied:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            where = raw.vertices[name].where
            what = f'the switch "{name}" and "{other}" differ in capitals; are they the same?'
            found.append(f"{raw.origin}: {where}: {what}")
    return found


def _ends(raw: RawGraph) -> list[str]:
    """Name the switches that only cables name and that have one cable: no packet can pass them."""
    count = Counter[str]()
    for link in raw.links:
        count[link.source] += not link.back
        count[link.target] += not link.back
    found = []
    lower = Counter(name.lower() for name in raw.vertices)
    for name in raw.implied:
        if count[name] != 1 or lower[name.lower()] > 1:
            continue
        near = units.nearest(name, [other for other in raw.vertices if other != name], 0.8)
        hint = f'; did you mean "{near}"?' if near and len(found) < _SHOWN else ""
        found.append(f'{raw.origin}: {raw.vertices[name].where}: the switch "{name}" has one cable{hint}')
    return found
