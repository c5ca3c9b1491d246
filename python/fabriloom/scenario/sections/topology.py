"""``[topology]``: which switches, terminals and links there are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import Count, FileName, Section, Several, Sha256
from fabriloom.scenario.sections.ring_topology import RingTopology


class Switched(Section):
    """What networks of equal switches share."""

    terminals_per_switch: Count = Field(default=1, description="Terminals at each switch")
    links_per_edge: Count = Field(default=1, description="Parallel cables between neighbouring switches")


class Crossbar(Section):
    """One switch with all terminals on it."""

    kind: Literal["crossbar"]
    terminals: Count = Field(description="Number of terminals")


class Ring(Switched):
    """Switches in a circle."""

    kind: Literal["ring"]
    switches: Several = Field(description="Number of switches")


class Grid(Switched):
    """Switches on a grid of any number of dimensions."""

    kind: Literal["grid"]
    shape: Annotated[list[Count], Field(min_length=1, max_length=20)] = Field(
        description="Switches along each dimension, such as [8, 8]"
    )


class Torus(Switched):
    """A grid whose borders are joined."""

    kind: Literal["torus"]
    shape: Annotated[list[Count], Field(min_length=1, max_length=20)] = Field(
        description="Switches along each dimension, such as [8, 8]"
    )


class Hypercube(Switched):
    """A switch at every corner of a cube of n dimensions."""

    kind: Literal["hypercube"]
    dimensions: Annotated[int, Field(ge=1, le=20)] = Field(description="Number of dimensions, 2^n switches")


class Clos(Section):
    """A folded Clos network of three stages: terminal switches and centre switches."""

    kind: Literal["clos"]
    terminals: Count = Field(description="Number of terminals: 64, 128, 256, 512 or any other legal size")
    switch_ports: Count = Field(default=32, description="Ports of a switch")
    terminals_per_switch: Count | None = Field(default=None, description="Terminals at each terminal switch")
    centre_switches: Count | None = Field(default=None, description="Number of centre switches")
    links_per_pair: Count | None = Field(
        default=None, description="Parallel cables between each terminal switch and each centre switch"
    )


class Clos5(Section):
    """A folded Clos network of five stages, for 1024 terminals and more."""

    kind: Literal["clos5"]
    terminals: Count = Field(description="Number of terminals")
    switch_ports: Count = Field(default=32, description="Ports of a switch")


class FatTree(Section):
    """A k-ary n-tree."""

    kind: Literal["fat_tree"]
    arity: Several = Field(description="k: links down (and up) of every switch")
    levels: Annotated[int, Field(ge=1, le=20)] = Field(description="n: levels of switches; k^n terminals")


class Banyan(Section):
    """A one-way multistage network with one path between any two terminals."""

    kind: Literal["banyan"]
    terminals: Count = Field(description="Number of terminals, a power of the base")
    variant: Literal["omega", "flip", "butterfly", "baseline", "indirect-cube", "generalized-cube"] = Field(
        default="omega", description="How the stages are wired"
    )
    base: Several = Field(default=2, description="Switches are base x base")


class Star(Switched):
    """Switches around one centre switch."""

    kind: Literal["star"]
    arms: Count = Field(description="Number of switches around the centre")


class Tree(Switched):
    """A tree of switches with terminals at its leaves."""

    kind: Literal["tree"]
    arity: Count = Field(description="Switches below each switch")
    depth: Annotated[int, Field(ge=1, le=20)] = Field(description="Levels below the root")


class GraphFile(Section):
    """Any graph, from a file."""

    kind: Literal["file"]
    path: FileName = Field(description="The file, relative to the scenario")
    format: Literal["graphml", "json", "csv"] | None = Field(
        default=None, description="Format of the file; by its extension if not given"
    )
    terminals_per_switch: Count | None = Field(
        default=None, description="Terminals to put at every switch when the file has none"
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


Topology = Annotated[
    Crossbar
    | Ring
    | Grid
    | Torus
    | Hypercube
    | Clos
    | Clos5
    | FatTree
    | Banyan
    | Star
    | Tree
    | GraphFile
    | RingTopology,
    Field(discriminator="kind"),
]
