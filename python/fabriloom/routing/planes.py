"""Combine the tables of several planes, of links or of rings."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from .table import NONE, RouteTable, RoutingError, check_size

if TYPE_CHECKING:
    from ..topology.graph import Graph, Ints
    from .rings import PortRoute


def together(graph: Graph, tables: Sequence[RouteTable], lanes: int = 1) -> RouteTable:
    """Return one table for all planes of a graph; ``lanes`` is the number per link if groups are of lanes.

    Ports of one class keep it in every plane, so a header is the same in each. Raises ``RoutingError`` if
    planes have different numbers of intermediate switches.
    """
    planes = graph.planes
    if graph.several is None:
        return tables[0]
    tables = [table.full() for table in tables]
    if len({len(table.via_switch) for table in tables}) > 1:
        raise RoutingError("universal routing needs planes of the same number of switches", "universal")
    classes = max(table.classes for table in tables)
    check_size(graph.switches, classes, "kind")
    route = np.full((graph.switches, classes), NONE, np.uint32)
    port_class = np.zeros(graph.ports, np.uint32)
    groups = np.cumsum([0, *(table.groups for table in tables)])
    starts = np.cumsum([0, *(len(table.group_links) for table in tables)])
    for number, (plane, table) in enumerate(zip(planes, tables, strict=True)):
        rows = slice(plane.first_switch, plane.first_switch + plane.graph.switches)
        entries = table.route.astype(np.int64)
        moved = np.where(entries == NONE, NONE, entries + 2 * groups[number])
        route[rows, : table.classes] = moved
        port_class[plane.port] = table.terminal_class
    pairs = list(zip(planes, tables, strict=True))
    ends = [table.group_start[:-1].astype(np.int64) + starts[at] for at, table in enumerate(tables)]
    given = [table.group_lanes for table in tables]
    return RouteTable(
        group_switch=_numbers([table.group_switch + plane.first_switch for plane, table in pairs]),
        group_start=_numbers([*ends, starts[-1:]]),
        group_links=_numbers([table.group_links + plane.first_link * lanes for plane, table in pairs]),
        rows=route,
        terminal_class=port_class,
        via_switch=_numbers([table.via_switch + plane.first_switch for plane, table in pairs]),
        via_class=_numbers([table.via_class for table in tables]),
        group_lanes=None
        if given[0] is None
        else np.concatenate([lane for lane in given if lane is not None]),
        threshold=tables[0].threshold,
        kind=tables[0].kind,
        note=tables[0].note,
    )


def _numbers(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts).astype(np.uint32)


def ports_together(graph: Graph, routes: Sequence[PortRoute]) -> PortRoute:
    """Return one table of the switches' ports for all planes: each takes packets for ports of its own plane.

    Raises ``RoutingError`` if planes have tables in numbers that do not go together.
    """
    if graph.several is None:
        return routes[0]
    from .rings import BLOCK, MOST_TURNS, PortRoute

    turns = lcm(*(route.turns for route in routes))
    if turns > MOST_TURNS:
        message = (
            f"planes with different numbers of equal routes need {turns} tables; at most {MOST_TURNS} are"
        )
        raise RoutingError(f"{message} built", "by_transaction")
    width = -(-graph.ports // BLOCK)
    blocks, exits, known = [], list[np.ndarray](), 0
    for turn in range(turns):
        for plane, route in zip(graph.planes, routes, strict=True):
            own = np.split(route.blocks, route.turns)[turn % route.turns]
            place = np.full(width * BLOCK, -1)
            place[plane.port] = np.arange(len(plane.port))
            found = np.empty((len(own), width), np.uint32)
            for column, terminals in enumerate(place.reshape(width, BLOCK)):
                lanes, which = _lanes(route, own, terminals)
                found[:, column] = which + known
                exits.append(lanes)
                known += len(lanes)
            blocks.append(found)
    return PortRoute(np.concatenate(blocks), np.concatenate(exits), turns)


def _lanes(route: PortRoute, own: np.ndarray, terminals: Ints) -> tuple[np.ndarray, Ints]:
    """Return the different rows of entries for terminals of a plane (-1: of another), and each port's row."""
    from .rings import BLOCK, PASS

    used = np.flatnonzero(terminals >= 0)
    if not len(own) or not len(used):
        return np.full((1, BLOCK), PASS, np.uint8), np.zeros(len(own), np.int64)
    columns, column = np.unique(terminals[used] // BLOCK, return_inverse=True)
    kinds, which = np.unique(own[:, columns], axis=0, return_inverse=True)
    lanes = np.full((len(kinds), BLOCK), PASS, np.uint8)
    lanes[:, used] = route.exits[kinds[:, column], terminals[used] % BLOCK]
    return lanes, which.ravel()
