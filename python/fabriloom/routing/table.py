"""The routing table: for every switch and class, the group of links by which a packet may leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..reading import DescriptionError

NONE = 0xFFFF_FFFF
"""No entry: packets of this class never reach this switch."""
OWN = NONE - 3
"""The entry of a column at the switch that its classes lead to: each class has its own."""

MOST_ENTRIES = 1 << 27
"""Most entries of a table, 512 MB."""

MOST_WAYS = 32
"""Most ways to one terminal: the engine's classes of packets."""


class RoutingError(DescriptionError):
    """A routing that cannot be built. ``parameter``: the setting at fault, or None."""

    def __init__(
        self,
        message: str,
        parameter: str | None = None,
        named: Sequence[tuple[str, int]] = (),
        cell: str | None = None,
        lanes: int | None = None,
    ) -> None:
        super().__init__(message, parameter, cell)
        if lanes is not None:
            self.hint = f"set technology.lanes = {lanes}"
        self.lanes = lanes
        """How many lanes would do, where too few are the reason."""
        self.named = tuple(named)
        """Kind and number of the switches, terminals and links in the message, in order."""


def check_size(switches: int, columns: int, parameter: str | None, shared: bool = False) -> None:
    """Raise ``RoutingError`` if the table would be too large."""
    if switches * columns > MOST_ENTRIES:
        to, fewer = ("destination switches", "") if shared else ("destinations", " or terminals")
        message = f"a routing table of {switches:,} switches by {columns:,} {to} has "
        message += f"{switches * columns:,} entries, more than the {MOST_ENTRIES:,} that are made; "
        raise RoutingError(f"{message}take fewer switches{fewer}", parameter)


@dataclass(frozen=True)
class Shared:
    """Columns of a table that classes share: the terminals of a switch are reached over the same groups."""

    column: NDArray[np.uint32]
    """Per class: its column."""
    exit: NDArray[np.uint32]
    """Per class: its entry at the switch where that of its column is ``OWN``."""


@dataclass(frozen=True)
class Runs:
    """Rows of a large table: neighbouring columns with the same entry are a run."""

    start: NDArray[np.uint32]
    """Start of the runs of each switch, and the end of the last; shape (switches + 1,)."""
    end: NDArray[np.uint32]
    """Per run: the column after its last one."""

    @cached_property
    def switch(self) -> NDArray[np.int64]:
        """Per run: its switch."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start.astype(np.int64)))

    @cached_property
    def begin(self) -> NDArray[np.int64]:
        """Per run: its first column."""
        found = np.concatenate([[0], self.end[:-1].astype(np.int64)])
        found[self.start[:-1].astype(np.int64)] = 0
        return found

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        return self.switch * int(self.end[-1]) + self.end

    def of(self, switch: NDArray[Any], column: NDArray[Any]) -> NDArray[np.int64]:
        """Return the runs of switches with these columns."""
        place = switch.astype(np.int64) * int(self.end[-1]) + column
        return np.searchsorted(self._place, place, side="right")


@dataclass(frozen=True)
class ByPair:
    """A small number for each pair of sender and target, such as a service level."""

    row: NDArray[np.uint32]
    """Per terminal: its row of ``of``, as a sender."""
    column: NDArray[np.uint32]
    """Per terminal: its column, as a target."""
    of: NDArray[np.uint8]
    """The number by row and column."""

    @property
    def count(self) -> int:
        """How many numbers there are, 0 to the largest."""
        return int(self.of.max(initial=0)) + 1

    def between(self, source: NDArray[Any], target: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the numbers of packets from terminals to others."""
        return self.of[self.row[source], self.column[target]]

    def at(self, number: int, pairs: tuple[NDArray[Any], NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return those of some pairs that have a number."""
        here = self.between(*pairs) == number
        return pairs[0][here], pairs[1][here]


@dataclass(frozen=True)
class RouteTable:
    """Groups of links, and the group for every switch and class."""

    group_switch: NDArray[np.uint32]
    """Per group: its switch."""
    group_start: NDArray[np.uint32]
    """Start of each group in ``group_links``, and the end of the last; shape (groups + 1,)."""
    group_links: NDArray[np.uint32]
    """Links of all groups, in order of preference."""
    rows: NDArray[np.uint32]
    """Group * 2 + (1 if the front header is deleted on output), or ``NONE``; shape (switches, classes), or
    (switches, columns) where classes share columns, or (runs,)."""
    terminal_class: NDArray[np.uint32]
    """Per terminal: class of the header that leads to it; then again per terminal for each further way."""
    via_switch: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    """Switches that universal routing may choose; empty: no universal routing."""
    via_class: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    """Per entry of ``via_switch``: class of the header that leads there."""
    group_lanes: NDArray[np.int64] | None = None
    """Per entry of ``group_links``: the only allowed lane, or -1 for any; None: any lane everywhere."""
    shared: Shared | None = None
    """Columns that classes share; None: each class has one."""
    runs: Runs | None = None
    """The runs of ``rows``, if these have an entry for each run of shared columns."""
    layer: NDArray[np.uint8] | None = None
    """Layer of lanes of a packet, of the shape of ``rows``; None: no layers."""
    threshold: int | None = None
    """By how much the queue to the destination, times its hops, may be longer than that to the random switch
    before a packet goes there; None: every packet goes."""
    entered: Literal["by-senders", "anywhere", "where-known"] = "by-senders"
    """Where packets come into it: where terminals send, at any switch, or where it has an entry for them."""
    levels: ByPair | None = None
    """Service levels: packets of a level have the lane of its number on every link; None: there are none."""
    by_source: ByPair | None = None
    """Which way to its target a packet takes, if senders have several; None: each target has one."""
    ring_of: NDArray[np.uint32] | None = None
    """Per link: its one-way ring, into which packets come only where a place stays free, or ``NONE``."""
    kind: str = ""
    """The rule of the table; "auto" is replaced by the chosen one."""
    note: str = ""
    """What the rule took of what it may take, for a reader; mostly empty."""

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.group_switch)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.rows.shape[1] if self.shared is None else len(self.shared.column)

    @property
    def terminals(self) -> int:
        """Number of terminals, or of ports."""
        return len(self.terminal_class) // (1 if self.by_source is None else self.by_source.count)

    def aims(self, source: NDArray[Any], target: NDArray[Any]) -> NDArray[np.int64]:
        """Return the places in ``terminal_class`` of packets from terminals to others."""
        if self.by_source is None:
            return np.broadcast_to(target, np.broadcast_shapes(np.shape(source), np.shape(target)))
        return target + self.by_source.between(source, target) * np.int64(self.terminals)

    def classes_between(self, source: NDArray[Any], target: NDArray[Any]) -> NDArray[np.uint32]:
        """Return the classes of packets from terminals to others."""
        return self.terminal_class[self.aims(source, target)]

    @property
    def cells(self) -> int:
        """Number of entries that the table has without runs."""
        return self.rows.size if self.runs is None else (len(self.runs.start) - 1) * int(self.runs.end[-1])

    @cached_property
    def uniform_loads(self) -> list[NDArray[np.float64]]:
        """Packets per link where each terminal sends one, evenly to all others; empty until needed."""
        return []

    @cached_property
    def route(self) -> NDArray[np.uint32]:
        """The entries by switch and class. Raises ``RoutingError`` if these are too many."""
        if self.shared is None:
            return self.rows
        switches = len(self.rows) if self.runs is None else len(self.runs.start) - 1
        check_size(switches, self.classes, None)
        wide = self.by_column().rows[:, self.shared.column]
        return np.where(wide == OWN, self.shared.exit, wide)

    def by_column(self) -> RouteTable:
        """Return the table with an entry for each column, without runs; there are ``cells``."""
        if self.runs is None:
            return self
        count, shape = self.runs.end - self.runs.begin, (len(self.runs.start) - 1, -1)
        kept = (self.rows, self.layer)
        rows, layer = (None if one is None else np.repeat(one, count).reshape(shape) for one in kept)
        return replace(self, rows=rows, layer=layer, runs=None)

    def full(self) -> RouteTable:
        """Return the table with a column for each class. Raises ``RoutingError`` if it is too large."""
        if self.shared is None:
            return self
        rows, layer = self.route, self.by_column().layer
        if layer is not None:
            layer = np.ascontiguousarray(layer[:, self.shared.column])
        return replace(self, rows=rows, layer=layer, shared=None, runs=None)

    def entries(self, switch: NDArray[np.int64], classes: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the entries of switches for classes."""
        if self.shared is None:
            return self.rows[switch, classes]
        column = self.shared.column[classes]
        found = self.rows[(switch, column) if self.runs is None else self.runs.of(switch, column)]
        return np.where(found == OWN, self.shared.exit[classes], found)

    def group(self, group: int) -> NDArray[np.uint32]:
        """Return the links of a group, in order of preference."""
        return self.group_links[self.group_start[group] : self.group_start[group + 1]]


# Lanes by traffic class: the packets of some terminals have lanes of their own on every link.
def on_lanes(table: RouteTable, own: Sequence[int], lanes: int) -> RouteTable:
    """Return a table of ``len(own)`` lanes per link as one of ``lanes``; lane ``v`` becomes ``own[v]``."""
    link, lane = np.divmod(table.group_links.astype(np.int64), len(own))
    return replace(table, group_links=(link * lanes + np.asarray(own)[lane]).astype(np.uint32))


def by_class(tables: Sequence[RouteTable]) -> RouteTable:
    """Return one table with the routing classes of several tables of one network, one table after the other.

    A packet of traffic class ``c`` adds ``c`` times the number of classes of one table to the class of each
    header.
    """
    if len(tables) == 1:
        return tables[0]
    tables = [table.full() for table in tables]
    first = tables[0]
    check_size(len(first.route), sum(table.classes for table in tables), "traffic_class")
    groups = np.cumsum([0, *(table.groups for table in tables)])
    starts = np.cumsum([0, *(len(table.group_links) for table in tables)])
    routes = []
    for table, before in zip(tables, groups, strict=False):
        entries = table.route.astype(np.int64)
        routes.append(np.where(entries == NONE, NONE, entries + 2 * before))
    ends = [table.group_start[:-1].astype(np.int64) + starts[at] for at, table in enumerate(tables)]
    return replace(
        first,
        group_switch=np.concatenate([table.group_switch for table in tables]),
        group_start=np.concatenate([*ends, starts[-1:]]).astype(np.uint32),
        group_links=np.concatenate([table.group_links for table in tables]),
        rows=np.concatenate(routes, axis=1).astype(np.uint32),
    )
