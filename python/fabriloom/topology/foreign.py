"""Attributes of other people's graph files: those that the user gives a meaning, and those passed over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import units
from .graph import GraphError

OF_NODES: dict[str, Mapping[str, int] | None] = {
    "node_name": None,
    "kind": None,
    "cycle": {**units.TIME_PS, **units.FREQUENCY_MILLIHZ},
}
OF_LINKS = {
    "rate": {**units.RATE_BITS_PER_S, **units.BYTE_RATE_BITS_PER_S},
    "length": units.LENGTH_M,
    "delay": units.TIME_PS,
    "parallel": None,
    "name": None,
}
"""What an attribute of a file can be read as, and the units that can follow its name."""
MEANINGS = (*OF_NODES, *OF_LINKS)
_SAME = {
    "cycle": ("cycle_ps",),
    "rate": ("rate_bits_per_s",),
    "length": ("length_m", "delay", "delay_ps"),
    "delay": ("delay_ps", "length", "length_m"),
}
"""Our names that say the same as another: if that one is mapped, they are passed over unless mapped too."""
_USUAL = {
    "rate": ("linkspeedraw", "capacity", "bandwidth", "speed", "linkspeed"),
    "delay": ("latency",),
    "length": ("distance", "dist"),
}
_SHOWN = 12


@dataclass(frozen=True)
class Theirs:
    """An attribute of the file, and the unit of its numbers."""

    name: str
    unit: str


@dataclass
class Foreign:
    """How the attributes of one file are read, and which were met."""

    mapped: dict[str, Theirs] = field(default_factory=dict)
    """By our name."""
    met: set[str] = field(default_factory=set)
    """Those of ``mapped`` that the file has."""
    ignored: dict[str, None] = field(default_factory=dict)

    def translated(self, values: Mapping[str, Any], ours: Iterable[str]) -> dict[str, Any]:
        """Return the attributes of an element under our names; ``ours``: those that it can have."""
        if not self.mapped:
            return dict(values)
        wanted = {name: self.mapped[name] for name in ours if name in self.mapped}
        same = {other for name in wanted for other in _SAME.get(name, ())}
        used = {theirs.name for theirs in wanted.values()}
        given: dict[str, Any] = {}
        for name, value in values.items():
            if name not in self.mapped and name not in same:
                given[name] = value
            elif name in same and name not in used and _is_given(value):
                self.ignored.setdefault(name)
        for name, theirs in wanted.items():
            given.pop(theirs.name, None)
            value = values.get(theirs.name)
            if _is_given(value):
                self.met.add(name)
                given[name] = f"{str(value).strip()} {theirs.unit}" if theirs.unit else value
        return given

    def names(self, ours: Iterable[str]) -> list[str]:
        """Return the attributes of the file that are read as one of these."""
        return [self.mapped[name].name for name in ours if name in self.mapped]

    def check(self, origin: str) -> None:
        """Raise GraphError if a mapped attribute occurs nowhere in the file."""
        for name, theirs in self.mapped.items():
            if name not in self.met:
                what = "node" if name in OF_NODES else "cable"
                near = units.nearest(theirs.name, list(self.ignored))
                hint = f'; did you mean "{near}"?' if near else ""
                message = f'{origin}: no {what} has an attribute "{theirs.name}"{hint}'
                raise GraphError(message, f"attributes.{name}")

    def remark(self, origin: str) -> str | None:
        """Return a remark about the attributes that were passed over."""
        if not self.ignored:
            return None
        names = list(self.ignored)
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        listed = ", ".join(f'"{name[:40]}"' for name in names[:_SHOWN])
        lower = {name.lower(): name for name in names}
        open_ = {ours: theirs for ours, theirs in _USUAL.items() if ours not in self.mapped}
        usual = [(ours, lower[one]) for ours, theirs in open_.items() for one in theirs if one in lower]
        offer = "; one can be given a meaning in [topology.attributes]"
        if usual:
            unit = {"rate": "bit/s", "delay": "us", "length": "m"}[usual[0][0]]
            offer += f', such as {usual[0][0]} = "{usual[0][1]} {unit}"'
        return f"{origin}: attributes without a meaning here are ignored: {listed}{more}{offer}"


def _is_given(value: Any) -> bool:
    return value is not None and bool(str(value).strip())


def foreign(attributes: Mapping[str, str] | None) -> Foreign:
    """Return how attributes are read, from entries such as ``rate = "LinkSpeedRaw bit/s"``.

    Raises GraphError for an unknown meaning and for a unit that does not fit it.
    """
    found: dict[str, Theirs] = {}
    for ours, text in (attributes or {}).items():
        if ours not in MEANINGS:
            near = units.nearest(ours, MEANINGS)
            hint = f'did you mean "{near}"?' if near else f"choose from {', '.join(MEANINGS)}"
            raise GraphError(f'"{ours}" is no attribute that can be read from others; {hint}', "attributes")
        found[ours] = _theirs(ours, str(text))
    return Foreign(found)


def _theirs(ours: str, text: str) -> Theirs:
    known = (OF_NODES | OF_LINKS)[ours] or {}
    name, _, unit = text.strip().rpartition(" ")
    if name and unit in known:
        return Theirs(name.strip(), unit)
    if name and known and re.search(r"/s$|^[kMGTmunp]?(?:bit|B|bps|s|m)$", unit):
        message = f'{ours}: "{unit}" in "{text[:60]}" is no unit of it; units: {", ".join(known)}'
        raise GraphError(message, f"attributes.{ours}")
    if not text.strip():
        raise GraphError(f"{ours} names no attribute of the file", f"attributes.{ours}")
    return Theirs(text.strip(), "")


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """Return the attribute of ours that a name is meant to be: one slip away, in long names two.

    In names of four letters and fewer another letter makes another word: ``date`` is no ``rate``.
    """
    plain = _plain(name)
    for one in known:
        other = _plain(one)
        if plain == other:
            return one
        slips = 2 if len(other) >= 9 else 1 if len(other) >= 3 else 0
        if slips and abs(len(plain) - len(other)) <= slips and _distance(plain, other) <= slips:
            if len(other) <= 4 and len(plain) == len(other) and sorted(plain) != sorted(other):
                continue
            return one
    return None


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name.lower())


def _distance(one: str, other: str) -> int:
    """Return the letters to insert, leave out, change or swap with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
