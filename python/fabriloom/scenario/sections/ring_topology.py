"""``[topology]`` of SCI: rings of stations, and switches whose ports are joined by buses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import FileName, Section, Sha256, setting
from fabriloom.scenario.sections.run import Replicate
from fabriloom.topology.kinds import LINKS, NetworkKind, kind_of

Buses = Annotated[int, Field(ge=1, le=4)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class SciRings(Section):
    """Any rings and switches, given here or in a file."""

    kind: Literal["sci-rings"]
    rings: list[list[Name]] | dict[Name, list[Name]] | None = setting(
        'Stations around each ring by name, such as [["t0", "s0", "t1"], ["t2", "s0"]], or a '
        "table of such lists by ring name. Every name that is not a switch is a terminal",
        None,
    )
    switches: list[Name] | dict[Name, Buses] | None = setting(
        "Names of the switches, or a table of the number of buses by switch name", None
    )
    roles: dict[Name, Literal["sender", "receiver", "both"]] | None = setting(
        'Terminals that only send or only receive, such as {t0 = "sender", t2 = "receiver"}; '
        "all others do both",
        None,
    )
    path: FileName | None = setting("File of rings and switches instead, relative to the scenario", None)
    sha256: Sha256 | None = setting("Checksum that the file must have; filled in when resolved", None)
    replicate: Replicate = None


def network_kind(topology: object) -> NetworkKind:
    """Return the kind of a topology, or of its table in a file; of planes, that of one with buses, if any."""
    kind = _of(topology, "kind")
    if kind == "planes":
        planes = _of(topology, "planes")
        kinds = [network_kind(_of(plane, "network")) for plane in planes] if isinstance(planes, list) else []
        return next((one for one in kinds if one.buses), LINKS)
    return kind_of(kind) if isinstance(kind, str) else LINKS


def _of(table: object, name: str) -> object:
    return table.get(name) if isinstance(table, dict) else getattr(table, name, None)
