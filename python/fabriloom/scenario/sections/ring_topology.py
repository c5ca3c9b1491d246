"""``[topology]`` of SCI: rings of stations, switches that are ports joined by buses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import Count, FileName, Section, Sha256

Buses = Annotated[int, Field(ge=1, le=4)]
Ports = Annotated[int, Field(ge=2, le=8)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Controllers = Annotated[
    Literal["shared", "own"],
    Field(
        description="shared: a port is one station, at all buses of its switch; own: a port is a link "
        "controller for every bus, one behind the other on its ring"
    ),
]
_BUSES = Field(default=1, description="Equal buses of every switch")


class SciRing(Section):
    """One ring of terminals."""

    kind: Literal["sci-ring"]
    terminals: Count = Field(description="Number of terminals")


class SciBridge(Section):
    """Two rings of terminals, joined by a switch of two ports."""

    kind: Literal["sci-bridge"]
    terminals: Count = Field(description="Terminals on each of the two rings")
    buses: Buses = _BUSES
    controllers: Controllers = "shared"


class SciSwitch(Section):
    """One switch with a ringlet of terminals at every port."""

    kind: Literal["sci-switch"]
    ports: Ports = Field(default=4, description="Ports of the switch")
    terminals_per_ring: Count = Field(default=1, description="Terminals at each port")
    buses: Buses = _BUSES
    controllers: Controllers = "shared"
    roles: Literal["both", "pairs"] = Field(
        default="both",
        description="both: every terminal sends and receives; pairs: the first half of the ports have "
        "senders P0, P1, …, the second half receivers M0, M1, …",
    )


class SciLongRings(Section):
    """One switch with a long ring through every port: senders, the port, receivers."""

    kind: Literal["sci-long-rings"]
    ports: Ports = Field(default=4, description="Ports of the switch")
    pairs_per_ring: Count = Field(default=1, description="Senders, and as many receivers, on each ring")
    buses: Buses = _BUSES
    controllers: Controllers = "shared"


class SciBanyan(Section):
    """A multistage network of rings from senders P0, P1, … to as many receivers M0, M1, …"""

    kind: Literal["sci-banyan"]
    terminals: Count = Field(default=16, description="Inputs, and as many outputs: a power of the base")
    variant: Literal["omega", "flip", "butterfly", "baseline", "indirect-cube", "generalized-cube"] = Field(
        default="omega", description="How the stages are wired"
    )
    base: Count = Field(default=2, description="Lines that an exchange joins")
    wiring: Literal["ringlet", "long-ring"] = Field(
        default="ringlet",
        description="ringlet: a ring at every line, an exchange is a switch of twice the base's ports; "
        "long-ring: rings pass straight through all stages, an exchange is a switch of the base's ports",
    )
    pairs_per_ring: Count = Field(default=1, description="Senders at each input, receivers at each output")
    buses: Buses = _BUSES
    controllers: Controllers = "shared"


class SciTorus(Section):
    """Rings along every dimension of a torus; the terminals of a switch have a ringlet of their own."""

    kind: Literal["sci-torus"]
    shape: Annotated[list[Count], Field(min_length=1, max_length=7)] = Field(
        description="Switches along each dimension, such as [8, 8]"
    )
    terminals_per_switch: Count = Field(default=1, description="Terminals at each switch")
    buses: Buses = _BUSES


_SEPARATE = Field(
    default=True, description="One bus carries requests and the other responses; false: each carries both"
)


class SciModule(Section):
    """The D515 switch module: four user ports with a ring each, four expansion ports, two buses."""

    kind: Literal["sci-module"]
    terminals_per_ring: Count = Field(default=1, description="Terminals at each user port")
    terminals_per_expansion_ring: Annotated[int, Field(ge=0, le=2**20)] = Field(
        default=0, description="Terminals at each expansion port; 0: these ports are left open"
    )
    separate_buses: bool = _SEPARATE


class SciSwitch16(Section):
    """The 16-port switch of six D515 modules: four with user ports, two that join them."""

    kind: Literal["sci-switch-16"]
    terminals_per_ring: Count = Field(default=1, description="Terminals at each user port")
    separate_buses: bool = _SEPARATE


class SciRings(Section):
    """Any rings and switches, given here or in a file."""

    kind: Literal["sci-rings"]
    rings: list[list[Name]] | dict[Name, list[Name]] | None = Field(
        default=None,
        description='Names around each ring, such as [["t0", "s0", "t1"], ["t2", "s0"]], or a table of them '
        "by the names of the rings; what is not among the switches is a terminal",
    )
    switches: list[Name] | dict[Name, Buses] | None = Field(
        default=None, description="Names of the switches, or a table of their numbers of buses"
    )
    roles: dict[Name, Literal["sender", "receiver", "both"]] | None = Field(
        default=None,
        description='Terminals that only send or only receive, such as {t0 = "sender", t2 = "receiver"}; '
        "all others do both",
    )
    path: FileName | None = Field(
        default=None, description="File of the rings in place of both, relative to the scenario"
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


RingTopology = (
    SciRing | SciBridge | SciSwitch | SciLongRings | SciBanyan | SciTorus | SciModule | SciSwitch16 | SciRings
)


def is_ring(topology: object) -> bool:
    """Whether a topology is one of rings, by its kind or by what is written of it."""
    kind = topology.get("kind") if isinstance(topology, dict) else getattr(topology, "kind", None)
    return isinstance(kind, str) and kind.startswith("sci-")
