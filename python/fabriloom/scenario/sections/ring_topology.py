"""``[topology]`` of SCI: rings of stations, and switches whose ports are joined by buses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import FileName, Section, Sha256
from fabriloom.scenario.sections.ports import Replicate
from fabriloom.topology.family import kind_of

Buses = Annotated[int, Field(ge=1, le=4)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class SciRings(Section):
    """Any rings and switches, given here or in a file."""

    kind: Literal["sci-rings"]
    rings: list[list[Name]] | dict[Name, list[Name]] | None = Field(
        default=None,
        description='Stations around each ring by name, such as [["t0", "s0", "t1"], ["t2", "s0"]], or a '
        "table of such lists by ring name. Every name that is not a switch is a terminal",
    )
    switches: list[Name] | dict[Name, Buses] | None = Field(
        default=None, description="Names of the switches, or a table of the number of buses by switch name"
    )
    roles: dict[Name, Literal["sender", "receiver", "both"]] | None = Field(
        default=None,
        description='Terminals that only send or only receive, such as {t0 = "sender", t2 = "receiver"}; '
        "all others do both",
    )
    path: FileName | None = Field(
        default=None, description="File of rings and switches instead, relative to the scenario"
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )
    replicate: Replicate = None


def is_ring(topology: object) -> bool:
    """Whether a topology, or its table in a file, is a network of rings, or of planes and one of these is."""
    kind = _of(topology, "kind")
    if kind == "planes":
        planes = _of(topology, "planes")
        return isinstance(planes, list) and any(is_ring(_of(plane, "network")) for plane in planes)
    return isinstance(kind, str) and kind_of(kind) == "rings"


def _of(table: object, name: str) -> object:
    return table.get(name) if isinstance(table, dict) else getattr(table, name, None)
