"""``[routing]``: by which links a packet may go."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import DefaultTag, FileName, Section, Sha256, Terminal, TimePs
from fabriloom.topology.raw import FIRST_ADDRESS, LAST_ADDRESS


class Distribution(Section):
    """An address of which every switch on the way sends a copy of each packet to several links at once."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        description="What flows name as their target"
    )
    address: Annotated[int, Field(ge=FIRST_ADDRESS, le=LAST_ADDRESS)] | None = Field(
        default=None, description="Logical address, for the tables of routers; a free one if not given"
    )
    senders: Annotated[list[Terminal], Field(min_length=1, max_length=4096, alias="from")] = Field(
        description="Terminals, by number or name, that send to it"
    )
    to: Annotated[list[Terminal], Field(min_length=1, max_length=4096)] = Field(
        description="Terminals that get a copy each"
    )


class AfterFault(Section):
    """Tables that replace those of a network some time after links between switches fail or run again."""

    delay_ps: TimePs = Field(
        alias="delay", description="From a link failing or running again to the tables that know of it"
    )
    kind: Literal["auto", "shortest-path", "up-star-down-star", "table"] = Field(
        default="auto",
        description="auto: shortest paths through what is left, or up*/down* if these could deadlock; "
        "table: the one of path whenever anything is down",
    )
    path: FileName | None = Field(
        default=None, description='With kind = "table": the file, relative to the scenario'
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class AnyRouting(Section):
    """What all routings share."""

    adaptive: bool = Field(
        default=True,
        description="true: any free link of a group of parallel links; false: one fixed link per destination",
    )
    spread: Literal["turns", "runs", "random"] | None = Field(
        default=None,
        description="With adaptive = false: destinations dealt out to a group's links in turn (d-mod-k), in "
        "runs, or each to a link drawn at random in every switch",
    )
    spread_seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description='Seed of spread = "random", which is another table for each; 0 if not given'
    )
    universal: bool = Field(
        default=False, description="Send every packet through a random intermediate switch first"
    )
    lane_choice: Literal["any", "destination", "dateline", "escape"] | None = Field(
        default=None,
        description="Which lanes of a link a packet may take. any: each that is free, as if not given; "
        "destination: the one with the number of its destination modulo the lanes; dateline: on the rings of "
        "a torus the lower half of the lanes up to the link that closes the ring, then the upper half; "
        "escape: the lowest lane (two on a torus) in dimension order, the others on any shortest path",
    )
    high_priority: Annotated[list[Terminal], Field(min_length=1, max_length=4096)] | None = Field(
        default=None,
        description="Terminals, by number or name, whose packets go before others wherever several wait for "
        "one output; none of them if not given. A packet that is being sent is not interrupted",
    )
    distribution: Annotated[list[Distribution], Field(min_length=1, max_length=222)] | None = Field(
        default=None,
        description="Packet distribution (multicast): targets of flows that stand for several terminals",
    )
    addressing: Literal["logical", "path", "regional"] | None = Field(
        default=None,
        description="SpaceWire: what stands in front of the header. logical: nothing, as if not given; path: "
        "a byte for each switch on the way, which that switch deletes; regional: a byte for each region that "
        "a packet leaves, deleted on the way out of it",
    )
    regions: Annotated[list[list[int | str]], Field(min_length=1, max_length=4096)] | None = Field(
        default=None,
        description='With addressing = "regional": the switches of each region, by name, such as '
        '[["router-a", "router-b"], ["router-c"]]',
    )
    after_fault: AfterFault | None = Field(
        default=None,
        description="Tables that replace the first ones after faults: delay, kind and path, see "
        "[faults](faults.md#tables-after-a-fault)",
    )
    interval_labelling: bool = Field(
        default=False,
        description="Refuse a routing that interval labels, one interval per group, cannot express",
    )


class Auto(AnyRouting):
    """The usual routing of the topology."""

    kind: Literal["auto"] = "auto"


class DimensionOrder(AnyRouting):
    """One dimension after the other, for grids, tori and hypercubes."""

    kind: Literal["dimension-order"]
    order: list[Annotated[int, Field(ge=0, le=31)]] | None = Field(
        default=None,
        description="Dimensions in the order in which they are corrected; the first one first if not given",
    )
    variant: Literal["minimal", "no-edge-transit"] | None = Field(
        default=None,
        description="For a torus or ring. minimal: the shorter direction, which can deadlock; "
        "no-edge-transit: one column and one row carry no transit, which cannot",
    )


class UpDown(AnyRouting):
    """Up to a common switch and down again, for Clos networks and fat trees."""

    kind: Literal["up-down"]


class SelfRouting(AnyRouting):
    """By the digits of the destination, for Banyan networks."""

    kind: Literal["self-routing"]


class ShortestPath(AnyRouting):
    """By a shortest path, on any graph."""

    kind: Literal["shortest-path"]
    next_hops: Literal["all", "first"] | None = Field(
        default=None,
        description="all: every link on a shortest path is in the group; first: only those to one neighbour",
    )


class UpStarDownStar(AnyRouting):
    """up*/down*: no link up after a link down, on any graph; never deadlocks."""

    kind: Literal["up-star-down-star"]
    root: Annotated[int, Field(ge=0)] | str | None = Field(
        default=None,
        description="The switch at the top, by number or name; the most central one if not given",
    )


class Interval(AnyRouting):
    """Interval labels as the C104 has them, compiled from another routing."""

    kind: Literal["interval"]
    of: Literal["auto", "dimension-order", "up-down", "shortest-path", "up-star-down-star"] = Field(
        default="auto", description="The routing whose table is expressed as intervals"
    )


class FewestBuses(Section):
    """Over the fewest buses and then the fewest links, for rings."""

    kind: Literal["fewest-buses"]
    by_transaction: bool = Field(
        default=False,
        description="Transactions of a terminal take equally good paths "
        "in turn; false: each destination has its own path",
    )


class Table(AnyRouting):
    """A table of your own: a CSV file with the columns switch, terminal, links; for rings with the columns
    switch, ring, terminal, to."""

    kind: Literal["table"]
    path: FileName = Field(description="The file, relative to the scenario")
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class Paths(AnyRouting):
    """Path addresses of your own: a CSV file with the columns source, target and path, as fabriloom export
    writes it. Where it has none, the usual routes with one link each."""

    kind: Literal["paths"]
    path: FileName = Field(description="The file, relative to the scenario")
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


_ALIASES = {"up*/down*": "up-star-down-star", "destination-tag": "self-routing", "e-cube": "dimension-order"}


class RoutingTag(DefaultTag):
    """The kind may be left out, and may be written as other people call it."""

    def fill(self, value: object) -> object:
        """The table with its kind, as the schema spells it."""
        value = super().fill(value)
        if not isinstance(value, dict):
            return value
        words = {name: value[name] for name in ("kind", "of") if isinstance(value.get(name), str)}
        return {**value, **{name: _ALIASES.get(word, word) for name, word in words.items()}}


Routing = Annotated[
    Auto
    | DimensionOrder
    | UpDown
    | SelfRouting
    | ShortestPath
    | UpStarDownStar
    | Interval
    | FewestBuses
    | Table
    | Paths,
    Field(discriminator="kind"),
    RoutingTag("kind", "auto"),
]
