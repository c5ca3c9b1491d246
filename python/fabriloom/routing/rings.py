"""Ways through rings and buses: by which port of its switch a packet leaves the ring it is on.

A packet travels round its ring until it comes to its target or to a port whose table has an entry for the
target; there it crosses the switch's bus and goes on from the port that the entry names. Ways are the ones
with the fewest buses and, of those, with the fewest links. Where several are equal, targets are dealt out
among them; in a torus the lowest dimension goes first, so that no circle of requests can wait for itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from ..topology.rings import Rings
from .table import RoutingError

Bytes = NDArray[np.uint8]
Costs = NDArray[np.uint32]

PASS = 255
"""No entry: packets for this terminal pass the port."""

BUS = np.uint32(1 << 16)
"""Cost of a bus, in links: more than any way has, as a way uses no link twice."""
FAR = np.uint32(3 << 30)
"""Cost of what is not reached."""
BLOCK = 64
"""Targets worked on at a time, so that a block stays near the processor."""


def port_route(graph: Graph) -> Bytes:
    """Return the table of every port, shape (ports, terminals), uint8: the number within its switch of the
    port by which packets for that terminal leave, ``PASS`` where they pass.

    Raises ``RoutingError`` if a terminal cannot be reached from one that may send to it.
    """
    rings = rings_of(graph)
    station = graph.terminal_out_links
    route = np.full((rings.ports, graph.terminals), PASS, np.uint8)
    for start in range(0, graph.terminals, BLOCK):
        block = np.arange(start, min(start + BLOCK, graph.terminals))
        cost = _costs(rings, station[block])
        _check_reached(graph, cost, block)
        if rings.ports:
            route[:, block] = _entries(rings, cost, block, graph.family != "sci-torus")
    return route


def rings_of(graph: Graph) -> Rings:
    """Return the rings of a graph; raises ``RoutingError`` if it has none."""
    if graph.rings is None:
        raise RoutingError(f"a {graph.family} has no rings; its routing is a table of groups", "kind")
    return graph.rings


def _costs(rings: Rings, targets: NDArray[np.int64]) -> Costs:
    """Return the cost of the way on from when a packet comes to each station, shape (stations, targets)."""
    cost = np.full((rings.stations, len(targets)), FAR, np.uint32)
    cost[targets, np.arange(len(targets))] = 0
    hops = _jumps(rings)
    _round(cost, hops)
    while rings.ports:
        before = cost[rings.port_station]
        through = _bus_costs(rings, cost)[rings.port_switch]
        if (through >= before).all():
            break
        cost[rings.port_station] = np.minimum(before, through)
        _round(cost, hops)
    return cost


def _jumps(rings: Rings) -> list[NDArray[np.int64]]:
    """Return which station is 1, 2, 4, … links on, until that is once round the longest ring."""
    jumps, longest = [rings.station_next], int(np.diff(rings.ring_start).max())
    while 1 << len(jumps) < longest:
        jumps.append(jumps[-1][jumps[-1]])
    return jumps


def _round(cost: Costs, jumps: list[NDArray[np.int64]]) -> None:
    """Let every station pass packets on where that costs less."""
    for power, jump in enumerate(jumps):
        np.minimum(cost, cost[jump] + np.uint32(1 << power), out=cost)
    np.minimum(cost, FAR, out=cost)


def _leaving(rings: Rings, cost: Costs) -> Costs:
    """Return what it costs to be sent on by each port, shape (ports, targets)."""
    return cost[rings.station_next[rings.port_station]] + np.uint32(1)


def _bus_costs(rings: Rings, cost: Costs) -> Costs:
    """Return what it costs to be taken to the best port of each switch, shape (switches, targets)."""
    best = np.minimum.reduceat(_leaving(rings, cost), rings.port_start[:-1], axis=0)
    return np.minimum(best + BUS, FAR)


def _entries(rings: Rings, cost: Costs, block: NDArray[np.int64], spread: bool) -> Bytes:
    """Return the rows of the table for a block of targets."""
    leaving = _leaving(rings, cost)
    best = np.minimum.reduceat(leaving, rings.port_start[:-1], axis=0)
    equal = leaving == best[rings.port_switch]
    wanted = np.zeros(best.shape, np.uint8)
    if spread:
        ways = np.add.reduceat(equal, rings.port_start[:-1], axis=0, dtype=np.uint8)
        wanted = (block.astype(np.uint32) % ways).astype(np.uint8)
    number = np.arange(rings.ports) - rings.port_start[rings.port_switch]
    chosen = np.zeros(best.shape, np.uint8)
    seen = np.zeros(best.shape, np.uint8)
    for place in range(int(number.max()) + 1):
        ports = np.flatnonzero(number == place)
        switch = rings.port_switch[ports]
        hit = equal[ports]
        chosen[switch] = np.where(hit & (seen[switch] == wanted[switch]), place, chosen[switch])
        seen[switch] += hit
    here = cost[rings.port_station]
    takes = (np.minimum(best + BUS, FAR)[rings.port_switch] == here) & (here < FAR)
    return np.where(takes, chosen[rings.port_switch], np.uint8(PASS))


def _check_reached(graph: Graph, cost: Costs, block: NDArray[np.int64]) -> None:
    rings = rings_of(graph)
    targets = np.isin(block, rings.terminals_of("receiver", graph.terminals))
    sources = rings.terminals_of("sender", graph.terminals)
    lost = (cost[rings.station_next[graph.terminal_out_links[sources]]] >= FAR) & targets
    if lost.any():
        source, target = np.argwhere(lost)[0]
        raise RoutingError(
            f"no way leads from {graph.terminal_names[sources[source]]} to "
            f"{graph.terminal_names[block[target]]}: no switch joins their rings",
            "kind",
        )
