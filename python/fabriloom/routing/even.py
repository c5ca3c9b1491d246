"""Loads of terminals that send evenly to all others, without a list of all pairs.

16,384 terminals have 268 million pairs. Packets that start or end next to each other take the same paths, so
each group of them is followed once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from ..topology.rings import Rings
from .native import Core, RingCore, columns, numbers
from .rings import BLOCK, PortRoute, RingLoads, evenly_spread, rings_of
from .table import RouteTable

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]
Pairs = tuple[Ints, Ints, Reals]
Flows = tuple[Reals, Reals, Reals]
"""Packets and echoes per link, transfers per switch."""

_PAIRS_AT_ONCE = 2**21


def even_loads(graph: Graph, table: RouteTable, even: Reals, lengths: Reals | None = None) -> Reals:
    """Return the packets per link if terminal ``t`` sends ``even[t]`` in total, evenly to all others.

    ``lengths``: see :func:`channel_loads`.
    """
    core, told = Core(graph, "weights"), columns(table)
    least = float(even.min())
    loads = least * _uniform(core, table, lengths) if least > 0 else np.zeros(graph.links)
    rest = even - least
    if np.any(rest > 0):
        for source, target, rate in _by_switch(graph, rest / max(1, graph.terminals - 1)):
            loads += core.loads(told, (source, target, rate), lengths)
        loads[graph.terminal_out_links] = even
    return loads


def _uniform(core: Core, table: RouteTable, lengths: Reals | None) -> Reals:
    """Return the packets per link if each terminal sends one, evenly to all others."""
    if lengths is not None:
        return np.asarray(core.loads(columns(table), None, lengths))
    if not table.uniform_loads:
        table.uniform_loads.append(np.asarray(core.loads(columns(table), None, None)))
    return table.uniform_loads[0]


def _by_switch(graph: Graph, each: Reals) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.uint32], Reals]]:
    """Yield pairs of one terminal per switch, for all terminals that send to it, and every target."""
    switch = graph.terminal_entry_switches  # on a cable between two terminals the other one
    vertices = graph.switches + graph.terminals
    together = np.bincount(switch, weights=each, minlength=vertices)
    senders = np.flatnonzero(each)
    switches, first = np.unique(switch[senders], return_index=True)
    place = np.full(vertices, -1)
    place[switches] = np.arange(len(switches))
    for targets in _parts(graph.terminals, len(switches)):
        rate = np.repeat(together[switches][None, :], len(targets), axis=0)
        home = place[switch[targets]]
        some = np.flatnonzero(home >= 0)
        rate[some, home[some]] -= each[targets[some]]  # no terminal sends to itself
        source = np.tile(senders[first], len(targets))
        yield numbers(source), numbers(np.repeat(targets, len(switches))), np.maximum(rate, 0.0).ravel()


def _parts(count: int, beside: int) -> Iterator[Ints]:
    """Yield the numbers below ``count`` in order, in blocks of a limited number of pairs."""
    size = max(1, _PAIRS_AT_ONCE // max(1, beside))
    for first in range(0, count, size):
        yield np.arange(first, min(count, first + size))


def ring_loads(graph: Graph, route: PortRoute, pairs: Pairs, even: Reals) -> RingLoads:
    """Return the loads of links and buses if every request is answered once.

    ``pairs``: source, target, requests per unit. ``even``: per terminal, the requests that it sends evenly to
    all others in addition; only for networks in which every terminal sends and receives. Several tables share
    the load equally.
    """
    each = [_ring_loads(graph, table, pairs, even) for table in evenly_spread(graph, route).tables()]
    return RingLoads(*(np.mean(flows, axis=0) for flows in zip(*each, strict=True)))


def _ring_loads(graph: Graph, route: PortRoute, pairs: Pairs, even: Reals) -> tuple[Reals, ...]:
    """Return the fields of the loads with one table."""
    requests, responses = _even_flows(graph, route, even)
    if len(pairs[0]):
        core, told = RingCore(graph, "weights"), route.columns()
        source, target, rate = numbers(pairs[0]), numbers(pairs[1]), pairs[2]
        requests = _sum(requests, core.loads(*told, source, target, rate))
        responses = _sum(responses, core.loads(*told, target, source, rate))
    return requests[0], requests[1], responses[0], responses[1], requests[2], responses[2]


def _even_flows(graph: Graph, route: PortRoute, even: Reals) -> tuple[Flows, Flows]:
    """Return requests and responses between all terminals."""
    if not np.any(even):
        none = np.zeros(graph.links), np.zeros(graph.links), np.zeros(graph.switches)
        return none, none
    each, once = even / max(1, graph.terminals - 1), np.ones(graph.terminals)
    groups = _Groups(graph, route)
    requests = groups.flows(each, once)
    return requests, requests if np.ptp(even) == 0 else groups.flows(once, each)


def _sum(flows: Flows, more: Flows) -> Flows:
    packets, echoes, transfers = (one + other for one, other in zip(flows, more, strict=True))
    return packets, echoes, transfers


class _Groups:
    """Terminals grouped by equal paths.

    Packets for another ring take the same path from all terminals between two ports. They take the same path
    to all terminals between two ports for which all ports have the same entries. Packets that stay on their
    ring pass all ports.
    """

    def __init__(self, graph: Graph, route: PortRoute) -> None:
        rings = rings_of(graph)
        self.core, self.route, self.rings = RingCore(graph, "weights"), route, rings
        self.station = graph.terminal_out_links
        self.order = np.argsort(self.station)
        self.ring = rings.station_ring[self.station]
        stretch, far = _stretches(rings, self.station)
        self.source, self.source_stands = _first_of_each(stretch, -far)
        self.target, self.target_stands = _first_of_each(stretch, far, _alike(route, graph.terminals))

    def flows(self, sends: Reals, takes: Reals) -> Flows:
        """Return the loads if terminal ``s`` sends ``sends[s] * takes[t]`` packets to each other ``t``."""
        rings = self.rings
        tally = _Tally(rings)
        sent, taken = (np.bincount(self.ring, weights=part, minlength=rings.rings) for part in (sends, takes))
        stay = sends * (taken[self.ring] - takes)
        leave, come = sends * (takes.sum() - taken[self.ring]), takes * (sends.sum() - sent[self.ring])
        tally.add(self.station, stay)
        tally.add(self.station, -takes * (sent[self.ring] - sends))
        before = self._sum_before(takes)
        tally.into_first += np.bincount(self.ring, weights=sends * before, minlength=rings.rings)
        # From the source to the representative of its group, and from there to the target.
        stands, ends = self.station[self.source_stands], self.station[self.target_stands]
        tally.arcs(self.station, stands, leave)
        tally.arcs(ends, self.station, come)
        packets = tally.packets()
        echoes = np.bincount(self.ring, weights=stay, minlength=rings.rings)[rings.station_ring] - packets
        flows = packets, echoes, np.zeros(len(rings.bus_count))
        for part in self._between(sends, takes):
            flows = _sum(flows, part)
        return flows

    def _sum_before(self, values: Reals) -> Reals:
        """Return, per terminal, the sum over the terminals before it on its ring."""
        sorted_values, ring = values[self.order], self.ring[self.order]
        total = np.cumsum(sorted_values) - sorted_values
        starts = np.searchsorted(ring, ring, side="left")
        found = np.empty(len(values))
        found[self.order] = total - total[starts]
        return found

    def _between(self, sends: Reals, takes: Reals) -> Iterator[Flows]:
        """Yield the loads of the packets for other rings, from one terminal of each group to one of each."""
        count = len(self.ring)
        sent = np.bincount(self.source_stands, weights=sends, minlength=count)
        taken = np.bincount(self.target_stands, weights=takes, minlength=count)
        for part in _parts(len(self.target), len(self.source)):
            source, target = np.tile(self.source, len(part)), np.repeat(self.target[part], len(self.source))
            away = (self.ring[source] != self.ring[target]) & (sent[source] > 0)
            source, target = source[away], target[away]
            rate = sent[source] * taken[target]
            yield self.core.loads(*self.route.columns(), numbers(source), numbers(target), rate)


def _stretches(rings: Rings, station: Ints) -> tuple[Ints, Ints]:
    """Return, per terminal, the number of its stretch of stations between two ports, and its place in it."""
    is_port = np.zeros(rings.stations, bool)
    is_port[rings.port_station] = True
    first = np.searchsorted(rings.station_ring, np.arange(rings.rings))
    size = np.bincount(rings.station_ring, minlength=rings.rings)
    last_port = np.maximum.accumulate(np.where(is_port, np.arange(rings.stations), -1))
    behind = last_port >= first[rings.station_ring]
    # Stations before the first port of a ring follow its last port.
    last = last_port[first + size - 1]
    around = np.where(last >= first, last, first)[rings.station_ring]
    start = np.where(behind, last_port, around)
    far = (np.arange(rings.stations) - start) % size[rings.station_ring]
    return start[station], far[station]


def _alike(route: PortRoute, terminals: int) -> Ints:
    """Return, per terminal, a number that is equal for terminals with equal entries in all ports."""
    found = np.empty(terminals, np.int64)
    for block in range(-(-terminals // BLOCK)):
        first, last = block * BLOCK, min(terminals, (block + 1) * BLOCK)
        used = route.exits[np.unique(route.blocks[:, block])][:, : last - first]
        found[first:last] = first + np.unique(used, axis=1, return_inverse=True)[1].ravel()
    return found


def _first_of_each(stretch: Ints, far: Ints, alike: Ints | None = None) -> tuple[Ints, Ints]:
    """Return the first terminal of every group and, per terminal, the representative of its group."""
    alike = np.zeros_like(stretch) if alike is None else alike
    order = np.lexsort((far, alike, stretch))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(stretch[order]) != 0) | (np.diff(alike[order]) != 0)
    firsts = order[new]
    stands = np.empty_like(order)
    stands[order] = firsts[np.cumsum(new) - 1]
    return firsts, stands


class _Tally:
    """Arcs of rings, stored as changes at their two ends."""

    def __init__(self, rings: Rings) -> None:
        self.rings = rings
        self.change = np.zeros(rings.stations)
        self.into_first = np.zeros(rings.rings)
        """Per ring: packets on the link to its first station."""

    def add(self, station: Ints, rate: Reals) -> None:
        """Add packets that begin at stations; negative numbers end there."""
        self.change += np.bincount(station, weights=rate, minlength=self.rings.stations)

    def arcs(self, start: Ints, end: Ints, rate: Reals) -> None:
        """Add packets from station to station; none if both are the same."""
        self.add(start, rate)
        self.add(end, -rate)
        ring = self.rings.station_ring[start]
        over = np.where(end < start, rate, 0.0)
        self.into_first += np.bincount(ring, weights=over, minlength=self.rings.rings)

    def packets(self) -> Reals:
        """Return the packets per link."""
        total, ring = np.cumsum(self.change), self.rings.station_ring
        first = np.searchsorted(ring, np.arange(self.rings.rings))
        before = (total - self.change)[first]
        return total - before[ring] + self.into_first[ring]
