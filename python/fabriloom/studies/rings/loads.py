"""What links, buses and memories of rings carry, and which of them is full first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from ...compile import Compiled, RingRoutes
from ...compile.several import parallel
from ...compile.sources import Packets as Sources
from ...routing.even import ring_loads
from ...routing.rings import RingLoads
from ...technology import RingTechnology
from ...topology import Graph
from ...topology.graph import Plane
from ...traffic import OWN_LENGTHS, Demand
from ..port_loads import Ints, Reals, are_alike, by_ports, in_planes


@dataclass(frozen=True)
class Carried:
    """What a network carries per unit of time, in which the busiest source sends one packet by each of its
    ports, so that it fills all of them at a load of 1."""

    loads: RingLoads
    asked: Reals
    """Per port of a terminal: requests that it sends."""
    served: Reals
    """Per port of a terminal: requests that it receives."""


def carried(routes: RingRoutes, choice: str, demand: Demand) -> Carried:
    """Return what a network carries for a demand and a choice of ports."""
    graph = routes.graph
    if graph.several is None:
        loads = ring_loads(graph, routes.port_route, demand.pairs, demand.even)
        return Carried(loads, demand.sent(), demand.received())
    ports = int(parallel(routes, choice).max())
    if are_alike(routes, choice):
        share = ports / len(routes.planes)
        one = ring_loads(*routes.planes[0], demand.pairs, demand.even)
        loads = RingLoads(*(np.tile(flow * share, len(routes.planes)) for flow in astuple(one)))
        own = graph.several.terminal
        return Carried(loads, (demand.sent() * share)[own], (demand.received() * share)[own])
    return of_ports(routes, by_ports(routes, choice, demand.pairs, demand.even), ports)


def of_ports(routes: RingRoutes, told_all: Iterable[tuple[Ints, Ints, Reals]], ports: int) -> Carried:
    """Return what a network carries of packets between ports: sending and receiving ports, and packets of a
    source that sends 1, which counts once for each of this many ports."""
    graph = routes.graph
    links, buses = np.zeros((4, graph.links)), np.zeros((2, graph.switches))
    asked, served = np.zeros((2, graph.ports))
    for told in told_all:
        source, target, packets = told
        asked += ports * np.bincount(source, weights=packets, minlength=graph.ports)
        served += ports * np.bincount(target, weights=packets, minlength=graph.ports)
        for number, pairs in in_planes(graph, told):
            plane, nobody = graph.planes[number], np.zeros(graph.planes[number].graph.terminals)
            switches = slice(plane.first_switch, plane.first_switch + plane.graph.switches)
            found = astuple(ring_loads(*routes.planes[number], pairs, nobody))
            links[:, plane.links] += ports * np.stack(found[:4])
            buses[:, switches] += ports * np.stack(found[4:])
    return Carried(RingLoads(*links, *buses), asked, served)


@dataclass(frozen=True)
class Packets:
    """The lengths of packets: what a mean length needs is not the mean of what all lengths need, in whole
    symbols, cycles of a bus and blocks of a memory."""

    mean_bytes: float
    """Mean payload."""
    length_bytes: Ints
    share: Reals
    """Of all packets, per length."""

    @classmethod
    def of(cls, compiled: Compiled) -> Packets:
        """Return those of the scenario."""
        length, place = np.unique(compiled.lengths[0], return_inverse=True)
        share = np.bincount(place.ravel(), weights=compiled.lengths[1]).astype(np.float64)
        return cls(compiled.mean_packet_bytes, length, share)

    def mean(self, of: Callable[[float], float]) -> float:
        """Return the mean of what depends on the length."""
        return float(self.share @ [of(length) for length in self.length_bytes.tolist()])


Part = tuple[Carried, Packets]
"""What a network carries of packets of some lengths."""


def by_lengths(compiled: Compiled, demand: Demand) -> list[tuple[Demand, Packets]]:
    """Return the traffic of each length where flows, lists or messages give them; else all of it, mixed."""
    own = any(len(compiled.arrays[name]) for name in OWN_LENGTHS)
    if not isinstance(compiled.sources, Sources):
        own, demand = True, compiled.sources.by_packets(compiled.arrays)
    payload = demand.payload
    if not own or payload is None or not len(payload.bytes):
        return [(demand, Packets.of(compiled))]
    sent = payload.chars if compiled.programs is not None else payload.bytes
    found = []
    for length in np.unique(sent).tolist():
        some = sent == length
        mean = float(np.average(payload.bytes[some], weights=demand.packets[some]))
        found.append((demand.rows_of(some), Packets(mean, np.array([length]), np.ones(1))))
    return found


def unit_symbols(compiled: Compiled) -> float:
    """Return the symbols of the requests of the busiest source, per unit of time."""
    assert isinstance(compiled.routes, RingRoutes)
    tech, demand = compiled.routes.technology, compiled.demand()
    sent = [
        part.sent() * tech.request_symbols(packets.mean_bytes)
        for part, packets in by_lengths(compiled, demand)
    ]
    return float(np.sum(sent, axis=0).max(initial=0.0))


def parts_of(compiled: Compiled, demand: Demand) -> list[Part]:
    """Return what the network of a scenario carries for a demand, by the lengths of its packets."""
    assert isinstance(compiled.routes, RingRoutes)
    routes, choice = compiled.routes, compiled.scenario.port_choice
    return [(carried(routes, choice, part), packets) for part, packets in by_lengths(compiled, demand)]


def busy_of(routes: RingRoutes, parts: Sequence[Part]) -> dict[str, Reals]:
    """Return what :func:`busy_ps` does, of all parts together."""
    each = [busy_ps(routes, carried, packets) for carried, packets in parts]
    return {what: np.sum([times[what] for times in each], axis=0) for what in each[0]}


def of_plane(plane: Plane, carried: Carried) -> Carried:
    """Return what one plane carries."""
    switches = slice(plane.first_switch, plane.first_switch + plane.graph.switches)

    def alone(flow: Reals, rows: slice | Ints) -> Reals:
        found = np.zeros_like(flow)
        found[rows] = flow[rows]
        return found

    links, buses = astuple(carried.loads)[:4], astuple(carried.loads)[4:]
    return Carried(
        RingLoads(*(alone(flow, plane.links) for flow in links), *(alone(flow, switches) for flow in buses)),
        alone(carried.asked, plane.port),
        alone(carried.served, plane.port),
    )


def bound(routes: RingRoutes, parts: Sequence[Part], unit: float) -> dict[str, Any]:
    """Return the link, bus or memory that is full first, and the throughput at which it is.

    Loads are relative, see :class:`Carried`. ``unit``: from :func:`unit_symbols`.
    """
    busy = busy_of(routes, parts)
    name, most_ps = max(
        ((what, float(times.max(initial=0.0))) for what, times in busy.items()), key=lambda pair: pair[1]
    )
    if most_ps <= 0:
        none = ("busiest_link", "load_bound", "accepted_mbytes_per_s_bound", "shared_load_bound")
        return {**dict.fromkeys(none), "load": 0.0}
    place, graph = int(np.argmax(busy[name])), routes.graph
    sending = graph.terminal_out_links[np.sum([carried.asked for carried, _ in parts], axis=0) > 0]
    unit_ps = unit * float(routes.network.times_ps["character"][sending].min())
    payload = sum(float(carried.asked.sum()) * packets.mean_bytes for carried, packets in parts)
    full_at = min(1.0, unit_ps / most_ps)
    return {
        "busiest_link": names_of(graph, name)[place],
        "load": most_ps / unit_ps,
        "load_bound": full_at,
        "shared_load_bound": full_at,
        "accepted_mbytes_per_s_bound": payload / most_ps * 1e6,
    }


def names_of(graph: Graph, what: str) -> list[str]:
    """Return the names of all links, buses or memories."""
    if what == "link":
        return graph.link_names
    owners = graph.switch_names if what == "bus" else graph.port_names
    return [f"the {what} of {name}" for name in owners]


def busy_ps(routes: RingRoutes, carried: Carried, packets: Packets) -> dict[str, np.ndarray]:
    """Return the busy time per unit of time, in ps, of every link, of the buses of every switch and of the
    memory behind every port of a terminal."""
    tech, loads = routes.technology, carried.loads
    units = packets.mean(tech.request_symbols), packets.mean(tech.response_symbols)
    echo = tech.echo_symbols
    # A token is with one station at a time: a packet keeps all links of its ring.
    echoes = units if tech.token_symbols else (echo, echo if units[1] else 0.0)
    symbols = loads.link_time(units[0], echoes[0], units[1], echoes[1])
    buses = loads.bus_time(*over_bus_ps(tech, packets))
    access_ps = tech.memory_access_ps + packets.mean(
        lambda length: tech.memory_block_ps * max(1, -(-round(length) // 64))
    )
    accesses = carried.served
    if tech.transaction in ("nread", "lock"):
        accesses = accesses + carried.asked
    return {
        "link": symbols * routes.network.times_ps["character"],
        "bus": buses / routes.network.rings.bus_count,
        "memory": accesses * access_ps,
    }


def over_bus_ps(tech: RingTechnology, packets: Packets) -> tuple[float, float]:
    """Return the mean time on a bus of a request and of its response, in ps; 0 without a response."""

    def of_request(length: float) -> float:
        return float(tech.bus_transfer_ps(round(tech.request_bytes(length))))

    def of_response(length: float) -> float:
        size = tech.response_bytes(length)
        return float(tech.bus_transfer_ps(round(size))) if size else 0.0

    return packets.mean(of_request), packets.mean(of_response)
