"""Routing tables that are replaced after faults: the times, the tables and their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import routing
from ..codes import FAULT_KIND
from ..routing import NONE, RouteTable, RoutingError
from ..scenario import Scenario
from ..scenario.sections.routing import AfterFault
from ..technology.model import Ps
from ..topology import Graph
from .columns import Arrays, u32
from .faults import NEVER_TICKS
from .link_routes import LinkRoutes, entry_columns
from .own_sizes import narrowed

Ints = NDArray[np.int64]

MOST_REPLACED = 1000
"""A run cannot replace tables more often than this."""
_ANY = frozenset([-1])
"""Stands for any dead links."""
MOST_ENTRIES = 1 << 26
"""Limit of the entries of all tables together: 256 MB."""


def table_columns(scenario: Scenario, routes: LinkRoutes, columns: Arrays, tick_ps: Ps) -> Arrays:
    """Return the columns of the replacing tables, and of all groups. Raises ScenarioError."""
    after = getattr(scenario.routing, "after_fault", None)
    if after is None or not scenario.fault:
        return {}
    if after.path is not None and len({id(plane.graph) for plane in routes.graph.planes}) > 1:
        message = "a table of your own is for one network, and the terminals of this one join several"
        raise scenario.error(message, ("routing", "after_fault", "path"), "choose another kind")
    moments = _moments(scenario, after, routes, columns, tick_ps)
    if len(moments) > MOST_REPLACED:
        message = f"tables would be replaced {len(moments):,} times, more than {MOST_REPLACED:,}"
        hint = "let less fail, or run.duration be shorter"
        raise scenario.error(message, ("routing", "after_fault"), hint)
    # A table of the user is valid for any dead links.
    needed = [_known_as(after, dead) for _, dead in moments]
    numbers = {frozenset[int](): 0}
    for dead in needed:
        numbers.setdefault(dead, len(numbers))
    entries = len(numbers) * routes.graph.switches * routes.table.classes
    if entries > MOST_ENTRIES:
        message = f"{len(numbers):,} tables have {entries:,} entries, more than {MOST_ENTRIES:,}"
        raise scenario.error(message, ("routing", "after_fault"), "let less fail")
    merged = _Merged(routes.lane_table)
    replacing = [merged.add(_table(scenario, routes, after, dead)) for dead in list(numbers)[1:]]
    return {
        **merged.columns(),
        **entry_columns(routes.lane_table.full()),
        "switch_choice": routes.choices(merged.table()),
        "table_ticks": np.array([tick for tick, _ in moments], np.uint64),
        "table_number": u32([numbers[dead] for dead in needed]),
        "table_route": u32(np.concatenate(replacing)) if replacing else u32([]),
    }


def dead_in_turn(scenario: Scenario, routes: LinkRoutes, columns: Arrays) -> list[frozenset[int]]:
    """Return the links between switches that are dead when tables are replaced, in the order of the
    replacements; if the same ones come again and again, each twice.
    """
    after = getattr(scenario.routing, "after_fault", None)
    if after is None:
        return []
    found = [dead for _, dead in _moments(scenario, after, routes, columns, int(columns["tick_ps"]))]
    each = list(dict.fromkeys(found))
    return found if len(found) <= 2 * len(each) else each + each


def _moments(
    scenario: Scenario, after: AfterFault, routes: LinkRoutes, columns: Arrays, tick_ps: Ps
) -> list[tuple[int, frozenset[int]]]:
    """Return when tables are replaced, and the links between switches that are dead at that time."""
    delay, last = -(-after.delay_ps // tick_ps), scenario.run.duration_ps // tick_ps
    turns: list[tuple[int, int, bool]] = []
    rows = zip(*(columns[name].tolist() for name in _OUTAGES), strict=True)
    of_switches = set(routes.graph.switch_links.tolist())
    for link, down, up, kind in rows:
        if link in of_switches and kind == FAULT_KIND.LINK:
            turns.append((down, link, True))
            if up < NEVER_TICKS:
                turns.append((up, link, False))
    dead: set[int] = set()
    found: dict[int, frozenset[int]] = {}
    for tick, link, fails in sorted(turns, key=lambda turn: (turn[0], turn[2])):
        dead.add(link) if fails else dead.discard(link)
        if tick + delay <= last:
            found[tick + delay] = frozenset(dead)
    return list(found.items())


_OUTAGES = ("fault_link", "fault_down_ticks", "fault_up_ticks", "fault_kind")


def _known_as(after: AfterFault, dead: frozenset[int]) -> frozenset[int]:
    """Return the links by which a table is known."""
    return dead if after.path is None or not dead else _ANY


def tables_after(scenario: Scenario, routes: LinkRoutes, dead: frozenset[int]) -> list[RouteTable]:
    """Return the tables of all planes without dead links, not divided by lanes. Raises ScenarioError."""
    if not dead:
        return [table for _, table in routes.planes]
    after: AfterFault = scenario.routing.after_fault  # type: ignore[union-attr]
    known_as = _known_as(after, dead)
    _table(scenario, routes, after, known_as)
    return routes.after_planes[known_as]


def _table(scenario: Scenario, routes: LinkRoutes, after: AfterFault, dead: frozenset[int]) -> RouteTable:
    """Return the table by lanes without dead links, or the user's table."""
    if dead in routes.after:
        return routes.after[dead]
    lanes, parameters = routes.technology.lanes, _parameters(scenario)
    is_dead = np.zeros(routes.graph.links, bool)
    is_dead[[link for link in dead if link >= 0]] = True
    tables, own = [], []
    try:
        for plane, (graph, table) in zip(routes.graph.planes, routes.planes, strict=True):
            gone = is_dead[plane.links]
            if after.path is not None:
                path = str(scenario.base_dir / after.path)
                found = routing.build(graph, "table", adaptive=parameters["adaptive"], path=path, lanes=lanes)
            else:
                found = _around(routes, graph, gone, after.kind, parameters) if gone.any() else table
            own.append(found)
            tables.append(routes.divide(graph, found, lanes))
        routes.after_planes[dead] = own
        together = routing.together(routes.graph, tables, lanes)
        routes.after[dead] = narrowed(together, routes.graph, routes.network.link_lanes, lanes)
    except RoutingError as error:
        raise scenario.located(error, "routing", ("after_fault",)) from error
    return routes.after[dead]


def _around(
    routes: LinkRoutes, graph: Graph, gone: NDArray[np.bool_], kind: str, parameters: dict[str, Any]
) -> RouteTable:
    """Return the table of a plane without dead links; packets that escape do so by up*/down*."""
    if routes.lane_choice not in routing.ESCAPES:
        return routing.around(graph, gone, kind, lanes=routes.layers, **parameters)
    escape = routing.around(graph, gone, "up-star-down-star", **parameters)
    return routes.with_escape(routing.around(graph, gone, "shortest-path", next_hops="all"), escape)


def _parameters(scenario: Scenario) -> dict[str, Any]:
    given = scenario.parameters("routing")
    names = ("adaptive", "spread", "spread_seed")
    return {name: given[name] for name in names if name in given}


class _Merged:
    """The groups of several tables, without duplicates."""

    def __init__(self, table: RouteTable) -> None:
        self.first = table
        self.switch, self.links = table.group_switch.tolist(), []
        self.known: dict[tuple[int, ...], int] = {}
        for group in range(table.groups):
            self.links.append(tuple(table.group(group).tolist()))
            self.known.setdefault(self.links[-1], group)

    def add(self, table: RouteTable) -> NDArray[np.uint32]:
        """Add a table and return its entries in the common numbering of groups."""
        number = np.zeros(max(1, table.groups), np.int64)
        for group in range(table.groups):
            links = tuple(table.group(group).tolist())
            if links not in self.known:
                self.known[links] = len(self.links)
                self.links.append(links)
                self.switch.append(int(table.group_switch[group]))
            number[group] = self.known[links]
        entry = table.route.astype(np.int64).ravel()
        used = entry != NONE
        entry[used] = 2 * number[entry[used] >> 1] + (entry[used] & 1)
        return entry.astype(np.uint32)

    def table(self) -> RouteTable:
        """Return all groups, with the entries of the first table."""
        start = np.cumsum([0, *(len(links) for links in self.links)])
        flat = [link for links in self.links for link in links]
        first = self.first
        return RouteTable(u32(self.switch), u32(start), u32(flat), first.route, first.terminal_class)

    def columns(self) -> Arrays:
        """Return the columns of the groups."""
        table = self.table()
        return {name: getattr(table, name) for name in ("group_switch", "group_start", "group_links")}
