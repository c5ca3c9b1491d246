"""Combine the tables of several planes, of links or of rings."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from .rings import BLOCK, MOST_TURNS, PASS, PortRoute
from .table import NONE, ByPair, RouteTable, RoutingError, check_size

if TYPE_CHECKING:
    from ..topology.graph import Graph, Ints


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
    ways = [len(table.terminal_class) // table.terminals for table in tables]
    each = [table.classes // own for table, own in zip(tables, ways, strict=True)]
    classes = max(each)
    check_size(graph.switches, classes * max(ways), "kind")
    route = np.full((graph.switches, max(ways), classes), NONE, np.uint32)
    port_class = np.repeat(classes * np.arange(max(ways), dtype=np.uint32)[:, None], graph.ports, axis=1)
    groups = np.cumsum([0, *(table.groups for table in tables)])
    starts = np.cumsum([0, *(len(table.group_links) for table in tables)])
    for number, (plane, table) in enumerate(zip(planes, tables, strict=True)):
        rows = slice(plane.first_switch, plane.first_switch + plane.graph.switches)
        entries = table.route.astype(np.int64)
        moved = np.where(entries == NONE, NONE, entries + 2 * groups[number])
        shape = len(moved), ways[number], each[number]
        route[rows, : ways[number], : each[number]] = moved.reshape(shape)
        port_class[:, plane.port] += table.terminal_class[: table.terminals]
    pairs = list(zip(planes, tables, strict=True))
    ends = [table.group_start[:-1].astype(np.int64) + starts[at] for at, table in enumerate(tables)]
    given = [table.group_lanes for table in tables]
    every = [
        np.full(len(one.group_links), -1) if own is None else own
        for one, own in zip(tables, given, strict=True)
    ]
    return RouteTable(
        group_switch=_numbers([table.group_switch + plane.first_switch for plane, table in pairs]),
        group_start=_numbers([*ends, starts[-1:]]),
        group_links=_numbers([table.group_links + plane.first_link * lanes for plane, table in pairs]),
        rows=route.reshape(graph.switches, max(ways) * classes),
        terminal_class=port_class.ravel(),
        via_switch=_numbers([table.via_switch + plane.first_switch for plane, table in pairs]),
        via_class=_numbers([table.via_class for table in tables]),
        group_lanes=None if all(lanes is None for lanes in given) else np.concatenate(every),
        threshold=tables[0].threshold,
        by_source=pairs_together(graph, [table.by_source for table in tables]),
        kind=tables[0].kind,
        note=tables[0].note,
    )


def pairs_together(graph: Graph, pairs: Sequence[ByPair | None]) -> ByPair | None:
    """Return numbers by pair of ports from those of each plane; None: of 0 in this plane, or in all of them.

    No packet goes from one plane to another.
    """
    if graph.several is None or all(pair is None for pair in pairs):
        return pairs[0]
    none = np.zeros(graph.ports, np.uint32)
    every = [ByPair(none, none, np.zeros((1, 1), np.uint8)) if pair is None else pair for pair in pairs]
    row, column = none.copy(), none.copy()
    width, first = max(pair.of.shape[1] for pair in every), 0
    known: dict[int, int] = {}
    for plane, pair in zip(graph.planes, every, strict=True):
        if id(pair) not in known:
            known[id(pair)], first = first, first + len(pair.of)
        row[plane.port] = pair.row[: len(plane.port)] + known[id(pair)]
        column[plane.port] = pair.column[: len(plane.port)]
    each = {id(pair): np.pad(pair.of, ((0, 0), (0, width - pair.of.shape[1]))) for pair in every}
    return ByPair(row, column, np.concatenate(list(each.values())))


def _numbers(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts).astype(np.uint32)


def ports_together(graph: Graph, routes: Sequence[PortRoute]) -> PortRoute:
    """Return one table of the switches' ports for all planes: each takes packets for ports of its own plane.

    Raises ``RoutingError`` if planes have tables in numbers that do not go together.
    """
    if graph.several is None:
        return routes[0]
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
    used = np.flatnonzero(terminals >= 0)
    if not len(own) or not len(used):
        return np.full((1, BLOCK), PASS, np.uint8), np.zeros(len(own), np.int64)
    columns, column = np.unique(terminals[used] // BLOCK, return_inverse=True)
    kinds, which = np.unique(own[:, columns], axis=0, return_inverse=True)
    lanes = np.full((len(kinds), BLOCK), PASS, np.uint8)
    lanes[:, used] = route.exits[kinds[:, column], terminals[used] % BLOCK]
    return lanes, which.ravel()
