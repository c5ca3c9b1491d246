"""``[topology]``: switches, terminals and links.

The tables of the families are made from the functions that build them: ``fabriloom.topology.family``.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import AfterValidator, Field, create_model

from fabriloom.scenario.fields import (
    Count,
    FileName,
    Later,
    OneOf,
    RateBitsPerS,
    Section,
    Sha256,
    optional,
    setting,
)
from fabriloom.scenario.sections.run import Replicate
from fabriloom.topology import FAMILIES, KINDS, MOST_PORTS
from fabriloom.topology.family import Family
from fabriloom.topology.kinds import LINKS, NetworkKind, kind_of

# ``[topology]`` of SCI: rings of stations, and switches whose ports are joined by buses.

Buses = Annotated[int, Field(ge=1, le=4)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


MoreCables = Annotated[
    list[Annotated[list[Name], Field(min_length=2, max_length=2)]] | None,
    AfterValidator(lambda cables: cables or None),
    Field(
        description='Cables besides, each between two switches, such as [["s(0,0)", "s(3,3)"]]. Packets are '
        "then routed as in a graph of a file"
    ),
]


class SciRings(Section):
    """Any rings and switches, given here or in a file."""

    kind: Literal["sci-rings"]
    rings: list[list[Name]] | dict[Name, list[Name]] | None = optional(
        'Stations around each ring by name, such as [["t0", "s0", "t1"], ["t2", "s0"]], or a '
        "table of such lists by ring name. Every name that is not a switch is a terminal"
    )
    switches: list[Name] | dict[Name, Buses] | None = optional(
        "Names of the switches, or a table of the number of buses by switch name"
    )
    roles: dict[Name, Literal["sender", "receiver", "both"]] | None = optional(
        'Terminals that only send or only receive, such as {t0 = "sender", t2 = "receiver"}; '
        "all others do both"
    )
    path: FileName | None = optional("File of rings and switches instead, relative to the scenario")
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")
    replicate: Replicate = None


def network_kind(topology: object) -> NetworkKind:
    """Return the kind of a topology, or of its table in a file; of planes, that of one with buses, if any."""
    kind = _of(topology, "kind")
    if kind == "planes":
        planes = _of(topology, "planes")
        kinds = [network_kind(_of(plane, "network")) for plane in planes] if isinstance(planes, list) else []
        return next((one for one in kinds if one.buses), LINKS)
    return kind_of(kind) if isinstance(kind, str) else LINKS


def structure_of(topology: object) -> str:
    """Return the family whose structure a network has: with more cables it is any graph, as one of a file."""
    return "file" if _of(topology, "more_cables") else str(_of(topology, "kind"))


def _of(table: object, name: str) -> object:
    return table.get(name) if isinstance(table, dict) else getattr(table, name, None)


PlaneName = Annotated[str, Field(min_length=1, max_length=200)]


class GraphFile(Section):
    """Any graph, from a file."""

    kind: Literal["file"]
    path: FileName = setting("The file, relative to the scenario")
    format: Literal["graphml", "json", "csv"] | None = optional(
        "Format of the file; by its extension if not given"
    )
    terminals_per_switch: Count | None = optional("Terminals to put at every switch when the file has none")
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")
    attributes: dict[str, str] | None = optional(
        "Attributes of the file that have a meaning here, with the unit of their numbers: "
        'rate = "LinkSpeedRaw bit/s", delay = "latency us" or node_name = "label"; others are ignored'
    )
    more_cables: MoreCables = None
    replicate: Replicate = None


def table_of(family: Family) -> type[Section]:
    """Return the table of a family: its parameters with their limits, defaults and descriptions."""
    hints = get_type_hints(family.build, include_extras=True)
    fields: dict[str, Any] = {"kind": (Literal[family.name], ...)}  # type: ignore[valid-type]
    for name, parameter in inspect.signature(family.build).parameters.items():
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    if kind_of(family.name).cables:
        fields["more_cables"] = (MoreCables, None)
    fields["replicate"] = (Replicate, None)
    words = family.name.replace("_", "-").split("-")
    title = "".join(word.capitalize() for word in words)
    return create_model(title, __base__=Section, __doc__=family.about, **fields)


if TYPE_CHECKING:

    class Topology(Section):
        """What all tables have."""

        kind: str

    Network = Topology
else:
    _OWN = {"file": GraphFile, "sci-rings": SciRings}

    def _table(kind: str) -> Later:
        return Later(lambda: _OWN.get(kind) or table_of(FAMILIES[kind]))

    _TABLES = {kind: _table(kind) for kind in KINDS if kind != "planes"}
    Network = Annotated[Any, OneOf("kind", _TABLES)]


class PlaneTable(Section):
    """One of several networks; terminals have a port in each."""

    name: PlaneName = setting("Name of the plane, and prefix of its switches and links")
    network: Network = setting("A network, as under `[topology]`; all are of links, or all of rings")
    terminals: list[PlaneName] | None = optional(
        "Names of its terminals, in order; the same name in several planes means the same "
        "terminal. If not given: t0, t1, …, or the names in the file"
    )
    ports_per_terminal: Annotated[int, Field(ge=1, le=MOST_PORTS)] = setting(
        "Consecutive terminals of the network that form the ports of one terminal", 1
    )
    link_rate_bits_per_s: RateBitsPerS | None = optional(
        "Bit rate of its links; if not given, the technology's"
    )


class Planes(Section):
    """Several networks, which may differ, joined by terminals that have a port in each."""

    kind: Literal["planes"]
    planes: Annotated[list[PlaneTable], Field(min_length=1, max_length=MOST_PORTS)] = setting("The networks")


if not TYPE_CHECKING:
    Topology = Annotated[Any, OneOf("kind", {**_TABLES, "planes": Later(lambda: Planes)})]
