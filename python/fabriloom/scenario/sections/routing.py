"""``[routing]``: which links a packet may take."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from fabriloom.scenario.fields import FileName, OneOf, Section, Sha256, Terminal, TimePs, optional, setting
from fabriloom.topology import MOST_PORTS
from fabriloom.topology.port_addresses import LAST_NUMBER


class Distribution(Section):
    """A multicast address: switches copy its packets to several links at once."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = setting(
        "Name that flows give as their target"
    )
    address: Annotated[int, Field(ge=0, le=LAST_NUMBER)] | None = optional(
        "Logical address in the routing tables; if not given, a free one"
    )
    senders: Annotated[list[Terminal], Field(min_length=1, max_length=4096, alias="from")] = setting(
        "Terminals that send to the address"
    )
    to: Annotated[list[Terminal], Field(min_length=1, max_length=4096)] = setting(
        "Terminals that receive a copy each"
    )


class TrafficClass(Section):
    """Packets from some terminals, or to some, that have lanes or ports of their own. Give from or to, and
    lanes or ports.
    """

    senders: Annotated[list[Terminal], Field(min_length=1, max_length=4096)] | None = optional(
        "Terminals that send them; all if not given", alias="from"
    )
    to: Annotated[list[Terminal], Field(min_length=1, max_length=4096)] | None = optional(
        "Terminals that they are sent to; all if not given"
    )
    lanes: Annotated[list[Annotated[int, Field(ge=0, le=15)]], Field(min_length=1, max_length=16)] | None = (
        setting(
            "Lanes that these packets take on every link between switches and to terminals, and "
            "no others do; if not given, those that no class has",
            None,
        )
    )
    ports: (
        Annotated[list[Annotated[int, Field(ge=0, lt=MOST_PORTS)] | str], Field(min_length=1, max_length=16)]
        | None
    ) = optional(
        "Of terminals with several ports those by which these packets leave, in order of "
        "preference: numbers from 0, or names of planes; all if not given. [ports] selects among them"
    )


TrafficClasses = Annotated[list[TrafficClass], Field(min_length=1, max_length=16)] | None


class ServiceLevels(Section):
    """Lanes of packets by source and target, as a subnet manager gives them to paths: a CSV file with the
    columns source, target (terminals, or switches for all of theirs) and level. Other packets have level 0.
    """

    path: FileName = setting("The file, relative to the scenario")
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


class AfterFault(Section):
    """Routing tables that replace those of a network after links between switches fail or run again."""

    delay_ps: TimePs = setting("Time from a link failing or running again to the new tables")
    kind: Literal["auto", "shortest-path", "up-star-down-star", "minimal-layers", "lash", "table"] = setting(
        "auto: shortest paths through the remaining links, in dragonflies hops where the lanes suffice; if "
        "these could deadlock, in layers of lanes, or up*/down* if there are too few; with escape lanes "
        "up*/down* for these; after lash: lash; "
        "lash: shortest paths with new service levels, for packets that start from then on; "
        "table: the table of path whenever a link is down",
        "auto",
    )
    service_levels: ServiceLevels | None = optional(
        "New service levels of packets that start by the new tables; if not given, pairs keep theirs"
    )
    own_lanes: bool | None = optional(
        "true: packets by the new tables have the upper half of the lanes, those by the next tables the "
        "lower half again, and so on; packets under way keep tables and lanes (Double Scheme)"
    )
    path: FileName | None = optional('With kind = "table": the file, relative to the scenario')
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


LaneChoice = Literal[
    "any", "destination", "dateline", "wide-dateline", "kept-dateline", "bubble", "escape", "escape-with-room"
]  # fmt: skip


class AnyRouting(Section):
    """Settings that all routings share."""

    adaptive: bool = setting(
        "true: a packet takes any free link of its group; false: each destination has one fixed link", True
    )
    spread: Literal["turns", "runs", "random"] | None = optional(
        "With adaptive = false: how destinations are distributed over the links of a group. "
        "turns: in turn (d-mod-k); runs: in blocks of consecutive destinations; random: each switch draws a "
        "link for each destination"
    )
    spread_seed: Annotated[int, Field(ge=0, lt=2**63)] | None = optional(
        'Seed of spread = "random"; 0 if not given'
    )
    universal: bool = setting("Every packet first goes to a random intermediate switch", False)
    lane_choice: LaneChoice | None = optional(
        "Which lanes of a link a packet may take. any (default): any free lane; destination: lane number = "
        "destination modulo lanes; dateline, wide-dateline, kept-dateline: on a torus, lanes by where the "
        "link that closes a ring is; bubble: any free lane, but into a ring of a torus only where a place "
        "stays free; escape, escape-with-room: any shortest path, and the lowest lane (two on a torus) in "
        "dimension order or by up*/down*: [rules](../background/wormhole-model.md#which-lane)"
    )
    high_priority: Annotated[list[Terminal], Field(min_length=1, max_length=4096)] | None = optional(
        "Terminals whose packets are served first wherever several wait for the same output. "
        "A packet that is being sent is not interrupted"
    )
    traffic_class: TrafficClasses = optional(
        "Traffic classes: packets from some terminals, or to some, have lanes of their own, or leave by "
        "ports of their own. lane_choice then selects among the lanes of a class"
    )
    service_levels: ServiceLevels | None = optional(
        "Lanes by source and target: packets of level n take lane n of every link, and no other"
    )
    distribution: Annotated[list[Distribution], Field(min_length=1, max_length=222)] | None = optional(
        "Packet distribution (multicast): addresses that stand for several terminals"
    )
    addressing: Literal["logical", "path", "regional"] | None = optional(
        "SpaceWire: the bytes in front of the header. logical (default): none; path: one byte "
        "for each switch on the path, which deletes it; regional: one byte for each region that the packet "
        "leaves, deleted where it leaves"
    )
    regions: Annotated[list[list[int | str]], Field(min_length=1, max_length=4096)] | None = optional(
        'With addressing = "regional": the switches of each region, such as '
        '[["router-a", "router-b"], ["router-c"]]'
    )
    after_fault: AfterFault | None = optional(
        "Routing tables after faults: delay, kind, path, service_levels and own_lanes, "
        "see [faults](faults.md#tables-after-a-fault)"
    )
    interval_labelling: bool = setting(
        "true: refuse a routing that interval labels, one interval per group, cannot express", False
    )


class Auto(AnyRouting):
    """The usual routing of the topology."""

    kind: Literal["auto"] = "auto"


class DimensionOrder(AnyRouting):
    """Dimension-order routing, for grids, tori and hypercubes."""

    kind: Literal["dimension-order"]
    order: list[Annotated[int, Field(ge=0, le=31)]] | None = optional(
        "Order in which dimensions are corrected; if not given, ascending"
    )
    variant: Literal["minimal", "no-edge-transit"] | None = optional(
        "For a torus or ring. minimal: the shorter direction, can deadlock; no-edge-transit: one "
        "column and one row carry no transit traffic, cannot deadlock"
    )


class UpDown(AnyRouting):
    """Up to a common switch, then down, for Clos networks and fat trees."""

    kind: Literal["up-down"]


class SelfRouting(AnyRouting):
    """The digits of the destination select the outputs, for Banyan networks."""

    kind: Literal["self-routing"]


class ShortestPath(AnyRouting):
    """A shortest path, on any graph."""

    kind: Literal["shortest-path"]
    next_hops: Literal["all", "first"] | None = optional(
        "all: the group holds every link on a shortest path; first: only the links to one neighbour"
    )


class MinimalLayers(AnyRouting):
    """Minimal paths in layers of lanes, up*/down* where the lanes do not suffice, on any graph; cannot
    deadlock.
    """

    kind: Literal["minimal-layers"]
    root: Annotated[int, Field(ge=0)] | str | None = optional(
        "The root of up*/down* paths; if not given, the most central switch"
    )


class Lash(AnyRouting):
    """Minimal paths, with a lane for the whole way of each pair, on any graph; cannot deadlock."""

    kind: Literal["lash"]
    adaptive: bool = setting(
        "true: lanes for all minimal paths of a pair, many of them; false: each destination has a fixed link",
        False,
    )


class Hops(AnyRouting):
    """Minimal paths on which a packet takes the next lane with every hop, on any graph; cannot deadlock."""

    kind: Literal["hops"]
    count: Literal["links", "global-links"] | None = optional(
        "What a hop is. links: each link between switches; global-links: each link between "
        "groups, and paths have the fewest of these. If not given, global-links where the family has groups"
    )


class Valiant(AnyRouting):
    """Over a switch that every packet draws for itself, with lanes of their own for both parts of the path,
    on any graph of two-way cables; cannot deadlock.
    """

    kind: Literal["valiant"]
    root: Annotated[int, Field(ge=0)] | str | None = optional(
        "The root of up*/down* paths where lanes are too few for minimal ones; if not given, the "
        "most central switch"
    )


class Ugal(AnyRouting):
    """Straight or over a random switch, by the queues at the source's switch (UGAL-L), with the lanes of
    valiant; cannot deadlock.
    """

    kind: Literal["ugal"]
    root: Annotated[int, Field(ge=0)] | str | None = optional(
        "The root of up*/down* paths where lanes are too few for minimal ones; if not given, the "
        "most central switch"
    )
    threshold: Annotated[int, Field(ge=0, lt=2**31)] | None = optional(
        "A packet goes straight while the characters queued on that way, times its hops, are not "
        "more than those of the way over the random switch, times its hops, and this; 0 if not given"
    )


class UpStarDownStar(AnyRouting):
    """up*/down*: no upward link after a downward link, on any graph; cannot deadlock."""

    kind: Literal["up-star-down-star"]
    root: Annotated[int, Field(ge=0)] | str | None = optional(
        "The root switch; if not given, the most central one"
    )


class Interval(AnyRouting):
    """Interval labels, as in the C104, compiled from another routing."""

    kind: Literal["interval"]
    of: Literal["auto", "dimension-order", "up-down", "shortest-path", "up-star-down-star"] = setting(
        "The routing to express as intervals", "auto"
    )


class FewestBuses(Section):
    """The path with the fewest buses and, among these, the fewest links, for rings."""

    kind: Literal["fewest-buses"]
    by_transaction: bool = setting(
        "true: the transactions of a terminal take equally good paths in turn; false: each "
        "destination has a fixed path",
        False,
    )
    traffic_class: TrafficClasses = optional(
        "Traffic classes: packets from some terminals, or to some, leave by ports of their own"
    )


class Table(AnyRouting):
    """Your own routing table: a CSV file with the columns switch, terminal, links; or router,
    logical_address, ports, or arrays in C (.c, .h), as fabriloom export writes both; for rings with the
    columns switch, ring, terminal, to."""

    kind: Literal["table"]
    path: FileName = setting("The file, relative to the scenario")
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


class Paths(AnyRouting):
    """Your own path addresses: a CSV file with the columns source, target and path, as fabriloom export
    writes it. With addressing = "path", and on links of flits, senders have paths of their own, which may
    meet and part again. Pairs that are not in the file take the usual routes with one link each."""

    kind: Literal["paths"]
    path: FileName = setting("The file, relative to the scenario")
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


ALIASES = {"up*/down*": "up-star-down-star", "destination-tag": "self-routing", "e-cube": "dimension-order"}
"""Synonyms of kinds."""


def _in_our_words(table: object) -> object:
    """Return a routing with its kind, which may be left out or a synonym, in the spelling of the schema."""
    if not isinstance(table, dict):
        return table
    words = {name: table[name] for name in ("kind", "of") if isinstance(table.get(name), str)}
    return {"kind": "auto", **table, **{name: ALIASES.get(word, word) for name, word in words.items()}}


Routing = Annotated[
    Auto
    | DimensionOrder
    | UpDown
    | SelfRouting
    | ShortestPath
    | UpStarDownStar
    | MinimalLayers
    | Lash
    | Hops
    | Valiant
    | Ugal
    | Interval
    | FewestBuses
    | Table
    | Paths,
    OneOf("kind"),
    BeforeValidator(_in_our_words),
]
