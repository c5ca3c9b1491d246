"""Routes through rings and buses: the port by which a packet leaves its ring.

A packet travels round its ring until it reaches its target or a port whose table has an entry for the target.
There it crosses the switch's bus and continues from the port in the entry. Routes have the fewest buses and,
among these, the fewest links. Targets are distributed over equal routes; in a torus the lowest dimension
comes first, so that requests cannot wait for each other in a cycle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from ..topology.rings import Rings
from .native import RingCore, numbers
from .table import RoutingError

PASS = 255
"""No entry: packets for this terminal pass the port."""
MOST_TURNS = 64
"""Most tables: the number of distinct transaction identifiers (IEEE 1596)."""
BLOCK = 64
"""Number of terminals per block of entries."""

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class PortRoute:
    """The table of the ports: one row per port, one entry per terminal.

    There may be several tables, which the transactions of a terminal use in turn: their rows follow each
    other, and they take the same packets off the rings. Entries are stored in blocks, and equal blocks only
    once: whole parts of a large network have the same route, and one byte for each of 49,152 ports and 16,384
    terminals would need most of a gigabyte.
    """

    blocks: NDArray[np.uint32]
    """Per table, port and 64 terminals: the number of a block of ``exits``; shape (tables x ports, blocks of
    a row)."""
    exits: NDArray[np.uint8]
    """Per block and terminal of it: the number within its switch of the port by which packets for that
    terminal leave, ``PASS`` where they pass; shape (blocks, 64)."""
    turns: int = 1
    """Number of tables."""

    def tables(self) -> list[PortRoute]:
        """Return each table by itself."""
        return [PortRoute(blocks, self.exits) for blocks in np.split(self.blocks, self.turns)]

    def exit(self, port: int, terminal: int) -> int:
        """Return the entry of a port for a terminal, in the first table."""
        block, place = divmod(terminal, BLOCK)
        return int(self.exits[self.blocks[port, block], place])

    def columns(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return both arrays as the core and the engine take them."""
        return self.blocks.ravel(), self.exits.ravel()


@dataclass(frozen=True)
class RingLoads:
    """The load of each link and bus, in packets per unit of time."""

    requests: Reals
    """Per link: requests."""
    request_echoes: Reals
    """Per link: echoes of requests; an echo travels round the rest of the ring to the sender of the
    packet.
    """
    responses: Reals
    """Per link: responses."""
    response_echoes: Reals
    """Per link: echoes of responses."""
    bus_requests: Reals
    """Per switch: requests over all its buses."""
    bus_responses: Reals
    """Per switch: responses over its buses."""


def port_route(graph: Graph, by_transaction: bool = False) -> PortRoute:
    """Return the table of every port; ``by_transaction``: one table for each of several equal routes.

    Raises ``RoutingError`` if a terminal cannot be reached from one that may send to it.
    """
    tables = [_table(graph, 0)]
    while by_transaction and len(tables) < MOST_TURNS:
        another = _table(graph, len(tables))
        if np.array_equal(another.exits[another.blocks], tables[0].exits[tables[0].blocks]):
            break
        tables.append(another)
    return _together(tables)


def _together(tables: list[PortRoute]) -> PortRoute:
    """Return tables that are used in turn."""
    if len(tables) == 1:
        return tables[0]
    before = np.cumsum([0, *(len(table.exits) for table in tables[:-1])], dtype=np.uint32)
    blocks = [table.blocks + shift for table, shift in zip(tables, before, strict=True)]
    return PortRoute(np.concatenate(blocks), np.concatenate([table.exits for table in tables]), len(tables))


def _table(graph: Graph, turn: int) -> PortRoute:
    """Return one of the tables."""
    rings, core = rings_of(graph), RingCore(graph)
    if graph.family == "sci-torus":
        blocks, exits = core.torus_route(numbers(graph.layout["shape"]))
    else:
        sends, receives = np.zeros((2, graph.terminals), bool)
        sends[rings.terminals_of("sender", graph.terminals)] = True
        receives[rings.terminals_of("receiver", graph.terminals)] = True
        blocks, exits = core.port_route(sends, receives, turn)
    return PortRoute(blocks.reshape(rings.ports, -(-graph.terminals // BLOCK)), exits.reshape(-1, BLOCK))


def evenly_spread(graph: Graph, route: PortRoute) -> PortRoute:
    """Return tables in each of which one controller of every port takes a packet, each in as many of them.

    A packet is taken by the first controller that has a place, so all of them carry the load. For questions
    about loads and about what may wait for what; the engine gets the route itself.
    """
    rings = rings_of(graph)
    if rings.part_of is None:
        return route
    most = int(np.bincount(rings.part_of).max())
    each = [
        _by_one(graph, table, turn)
        for table in route.tables()
        for turn in range(math.lcm(*range(1, most + 1)))
    ]
    return _together(each)


def _by_one(graph: Graph, route: PortRoute, turn: int) -> PortRoute:
    """Return a route in which one controller of every port takes a packet, another one in every turn."""
    rings = rings_of(graph)
    order = np.argsort(rings.port_station)
    follows = rings.yields[order][:-1]
    row = np.concatenate([[0], np.cumsum(~follows)])
    starts = np.flatnonzero(np.concatenate([[True], ~follows]))
    blocks, exits = np.empty_like(route.blocks), []
    for column in range(route.blocks.shape[1]):
        lanes = route.exits[route.blocks[order, column]]
        takes = lanes != PASS
        count = np.add.reduceat(takes, starts, axis=0, dtype=np.int64)[row]
        place = np.cumsum(takes, axis=0) - 1
        place -= (place[starts] - takes[starts] + 1)[row]
        lanes = np.where(place == turn % np.maximum(count, 1), lanes, PASS).astype(np.uint8)
        known, which = np.unique(lanes, axis=0, return_inverse=True)
        blocks[order, column] = which.ravel() + sum(map(len, exits))
        exits.append(known)
    return PortRoute(blocks, np.concatenate(exits))


def rings_of(graph: Graph) -> Rings:
    """Return the rings of a graph; raises ``RoutingError`` if it has none."""
    if not graph.network_kind.buses:
        raise RoutingError(f"a {graph.family} has no rings; its routing is a table of groups", "kind")
    return graph.own_rings


def ring_dependency_cycle(
    graph: Graph, route: PortRoute, pairs: tuple[np.ndarray, np.ndarray] | None = None
) -> list[int] | None:
    """Return a cycle of links whose transmit queues may wait for each other, or None.

    Requests and responses have separate queues and are checked separately. ``pairs``: terminals that send
    and receive; of them, any sends to any.
    """
    core, rings = RingCore(graph, None), rings_of(graph)
    route = evenly_spread(graph, route)
    if pairs is None:
        senders = numbers(rings.terminals_of("sender", graph.terminals))
        receivers = numbers(rings.terminals_of("receiver", graph.terminals))
    else:
        senders, receivers = (numbers(np.unique(ends)) for ends in pairs)
    found = core.dependency_cycle(*route.columns(), senders, receivers)
    if found is None and (rings.role is not None or pairs is not None):
        found = core.dependency_cycle(*route.columns(), receivers, senders)
    return found


def ring_segments(graph: Graph, route: PortRoute, source: int, target: int) -> list[tuple[int, int]]:
    """Return a packet's path as (sending station, receiving station) for every ring on it."""
    rings = rings_of(graph)
    station, home = int(graph.terminal_out_links[source]), int(graph.terminal_out_links[target])
    segments = []
    for _ in range(graph.switches + 1):
        taker, entry = _taker(rings, route, station, home, target)
        segments.append((station, taker))
        if taker == home:
            return segments
        first = rings.port_start[rings.port_switch[rings.station_port[taker]]]
        station = int(rings.port_station[first + entry])
    raise RoutingError(
        f"packets from {graph.terminal_names[source]} to {graph.terminal_names[target]} do not arrive"
    )


def _taker(rings: Rings, route: PortRoute, station: int, home: int, target: int) -> tuple[int, int]:
    """Return the station that takes a packet off the ring, and its entry for the target."""
    at = station
    while True:
        at = int(rings.station_next[at])
        port = int(rings.station_port[at])
        entry = PASS if port < 0 else route.exit(port, target)
        if at in (home, station) or entry != PASS:
            return at, entry
