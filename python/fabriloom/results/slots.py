"""The slots of a SpaceWire-D schedule: how much of each is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import units
from ..process.libraries import pl


@dataclass(frozen=True)
class Slot:
    """An entry of the schedule, and how long its transactions took."""

    entry: Mapping[str, Any]
    length_ns: float
    used_ns: list[float]
    """Per epoch, from the beginning of the slot to the last reply."""

    @property
    def longest_ns(self) -> float | None:
        """The longest; none if there was no reply."""
        return max(self.used_ns, default=None)


def slots(marks: pl.DataFrame, program: Mapping[str, Any]) -> list[Slot]:
    """Return the entries of the schedule, in order; empty for other programs.

    ``marks``: one per entry and epoch, at the end of the entry; its number is that of the entry, from 1.
    """
    length_ns = units.parse_time_ps(program.get("slot", "0 s")) / 1000
    found = []
    for place, entry in enumerate(program.get("schedule", [])):
        ended = marks.filter(pl.col("mark") == place + 1)["at_ns"].to_list()
        used = [at - (epoch * 64 + entry["slot"]) * length_ns for epoch, at in enumerate(ended)]
        found.append(Slot(entry, length_ns, used))
    return found
