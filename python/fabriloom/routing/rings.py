"""Ways through rings and buses: by which port of its switch a packet leaves the ring it is on.

A packet travels round its ring until it comes to its target or to a port whose table has an entry for the
target; there it crosses the switch's bus and goes on from the port that the entry names. Ways are the ones
with the fewest buses and, of those, with the fewest links. Where several are equal, targets are dealt out
among them; in a torus the lowest dimension goes first, so that no circle of requests can wait for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from ..topology.rings import Rings
from .native import RingCore, numbers
from .table import RoutingError

PASS = 255
"""No entry: packets for this terminal pass the port."""
MAX_ENTRIES = 1 << 30
"""More entries than this (one byte each) are refused."""

PortRoute = NDArray[np.uint8]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class RingLoads:
    """How much goes over each link and bus, in packets per unit of time of the weights."""

    requests: Reals
    """Per link: requests."""
    request_echoes: Reals
    """Per link: echoes of requests; an echo goes round the rest of the ring, back to who sent the packet."""
    responses: Reals
    """Per link: responses."""
    response_echoes: Reals
    """Per link: echoes of responses."""
    bus_requests: Reals
    """Per switch: requests over its buses, all together."""
    bus_responses: Reals
    """Per switch: responses over its buses."""

    def link_time(self, request: float, request_echo: float, response: float, response_echo: float) -> Reals:
        """Return per link the time (or symbols) that it is busy, from that of one unit of each kind."""
        packets = request * self.requests + response * self.responses
        return packets + request_echo * self.request_echoes + response_echo * self.response_echoes

    def bus_time(self, request: float, response: float) -> Reals:
        """Return per switch the time that its buses are busy, all together, from that of one transfer."""
        return request * self.bus_requests + response * self.bus_responses


def port_route(graph: Graph) -> PortRoute:
    """Return the table of every port, shape (ports, terminals), uint8: the number within its switch of the
    port by which packets for that terminal leave, ``PASS`` where they pass.

    Raises ``RoutingError`` if a terminal cannot be reached from one that may send to it.
    """
    rings = rings_of(graph)
    entries = rings.ports * graph.terminals
    if entries > MAX_ENTRIES:
        raise RoutingError(
            f"{rings.ports:,} ports and {graph.terminals:,} terminals make a table of {entries:,} entries; "
            f"at most {MAX_ENTRIES:,} are built",
            "kind",
        )
    sends, receives = np.zeros((2, graph.terminals), bool)
    sends[rings.terminals_of("sender", graph.terminals)] = True
    receives[rings.terminals_of("receiver", graph.terminals)] = True
    # A response goes back the way that the table has for the sender, so both ends must be reached.
    route = RingCore(graph).port_route(graph.family != "sci-torus", sends, receives)
    return route.reshape(rings.ports, graph.terminals)


def rings_of(graph: Graph) -> Rings:
    """Return the rings of a graph; raises ``RoutingError`` if it has none."""
    if graph.rings is None:
        raise RoutingError(f"a {graph.family} has no rings; its routing is a table of groups", "kind")
    return graph.rings


def ring_dependency_cycle(graph: Graph, route: PortRoute) -> list[int] | None:
    """Return a cycle of links whose transmit queues may wait for the next, the last for the first.

    Requests and responses have queues of their own and are looked at one after the other.
    """
    core, rings = RingCore(graph, None), rings_of(graph)
    senders = numbers(rings.terminals_of("sender", graph.terminals))
    receivers = numbers(rings.terminals_of("receiver", graph.terminals))
    found = core.dependency_cycle(route.ravel(), senders, receivers)
    if found is None and rings.role is not None:
        found = core.dependency_cycle(route.ravel(), receivers, senders)
    return found


def ring_loads(graph: Graph, route: PortRoute, pairs: tuple[Any, Any, Any] | None = None) -> RingLoads:
    """Return the loads of all links and buses if every request is answered once.

    ``pairs``: source, target, requests per unit. None: every sender sends one request per unit, to each
    receiver but itself with equal probability.
    """
    core = RingCore(graph, "weights")
    source, target, rate = uniform(graph) if pairs is None else pairs
    requests = core.loads(route.ravel(), source, target, rate)
    responses = core.loads(route.ravel(), target, source, rate)
    return RingLoads(requests[0], requests[1], responses[0], responses[1], requests[2], responses[2])


def uniform(graph: Graph) -> tuple[Any, Any, Any]:
    """Return uniform traffic as three columns."""
    rings = rings_of(graph)
    senders = rings.terminals_of("sender", graph.terminals)
    receivers = rings.terminals_of("receiver", graph.terminals)
    source, target = (column.ravel() for column in np.meshgrid(senders, receivers, indexing="ij"))
    apart = source != target
    source, target = source[apart], target[apart]
    rate = 1.0 / np.bincount(source, minlength=graph.terminals)[source]
    return numbers(source), numbers(target), rate


def ring_segments(graph: Graph, route: PortRoute, source: int, target: int) -> list[tuple[int, int]]:
    """Return a packet's way as (station that sends it, station that takes it) for every ring it is on."""
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
        entry = PASS if port < 0 else int(route[port, target])
        if at in (home, station) or entry != PASS:
            return at, entry


def ring_path(graph: Graph, route: PortRoute, source: int, target: int) -> list[int]:
    """Return the links of a packet's way."""
    rings = rings_of(graph)
    links = []
    for station, taker in ring_segments(graph, route, source, target):
        links.append(station)
        while (onward := int(rings.station_next[links[-1]])) != taker:
            links.append(onward)
    return links
