"""What links, buses and memories of rings carry, and which of them is full first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, replace
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
from ...traffic import Demand, given_lengths
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


def ports_of(routes: RingRoutes, choice: str) -> int:
    """Return the ports by which the busiest source sends one packet each, see :class:`Carried`."""
    return 1 if routes.graph.several is None else int(parallel(routes, choice).max())


def carried(routes: RingRoutes, choice: str, demand: Demand) -> Carried:
    """Return what a network carries for a demand and a choice of ports."""
    graph = routes.graph
    if graph.several is None:
        loads = ring_loads(graph, routes.port_route, demand.pairs, demand.even)
        return Carried(loads, demand.sent(), demand.received())
    ports = ports_of(routes, choice)
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

    def needs(self, tech: RingTechnology) -> dict[str, float]:
        """Return what a packet is on average in payload, symbols, and ps of a bus and of a memory."""
        request_ps, response_ps = over_bus_ps(tech, self)
        return {
            "packets": 1.0,
            "bytes": self.mean_bytes,
            "request": self.mean(tech.request_symbols),
            "response": self.mean(tech.response_symbols),
            "bus_request": request_ps,
            "bus_response": response_ps,
            "access": tech.memory_access_ps
            + self.mean(lambda length: tech.memory_block_ps * max(1, -(-round(length) // 64))),
        }


Needs = dict[str, tuple[Demand, float]]
"""Per need of packets, see :meth:`Packets.needs`: a demand in it, but for a factor."""


def weighed(routes: RingRoutes, compiled: Compiled, demand: Demand) -> Needs:
    """Return a demand in what packets need. Where flows, lists or messages have lengths of their own, their
    mean says nothing of a link that some of them use.
    """
    tech, arrays = routes.technology, compiled.arrays
    own = given_lengths(arrays) is not None
    if not isinstance(compiled.sources, Sources):
        own, demand = True, compiled.sources.by_packets(arrays)
    payload = demand.payload
    if not own or payload is None or not len(payload.bytes):
        return {name: (demand, need) for name, need in Packets.of(compiled).needs(tech).items()}
    sent = payload.bytes if compiled.programs is None else payload.chars
    lengths, place = np.unique(sent, return_inverse=True)
    count = np.bincount(place.ravel(), weights=demand.packets)
    means = np.bincount(place.ravel(), weights=demand.packets * payload.bytes) / count
    alone = zip(means.tolist(), lengths[:, None], strict=True)
    each = [Packets(mean, length, np.ones(1)).needs(tech) for mean, length in alone]
    if len(each) == 1:
        return {name: (demand, need) for name, need in each[0].items()}
    needs = {name: np.array([one[name] for one in each])[place.ravel()] for name in each[0]}
    return {
        name: (replace(demand, packets=demand.packets * need, payload=None), 1.0)
        for name, need in needs.items()
    }


@dataclass(frozen=True)
class Needed:
    """What a network needs per unit of time, see :class:`Carried`."""

    busy_ps: dict[str, Reals]
    """Busy time of every link, of the buses of every switch, of the memory behind every port, and of every
    terminal's host if messages are sent."""
    asked: Reals
    """Per port of a terminal: requests that it sends."""
    payload: Reals
    """Per port: their bytes."""
    unit_symbols: float
    """Symbols of the requests of the busiest source."""


def needed(routes: RingRoutes, needs: Needs, carry: Callable[[Demand], Carried]) -> Needed:
    """Return what a network needs; ``carry``: what it carries of a demand, the same one for many needs."""
    tech, known = routes.technology, dict[int, Carried]()
    unit, symbols = needs["request"]
    for demand, _ in needs.values():
        if id(demand) not in known:
            known[id(demand)] = carry(demand)

    def of(name: str, of_one: Callable[[Carried], Reals]) -> Reals:
        demand, factor = needs[name]
        return of_one(known[id(demand)]) * factor

    # A token is with one station at a time: a packet keeps all links of its ring.
    token, echo = bool(tech.token_symbols), tech.echo_symbols
    back = of("response" if token else "packets", lambda one: one.loads.response_echoes)
    echoes = of("request" if token else "packets", lambda one: one.loads.request_echoes)
    echoes = echoes + back * bool(tech.response_bytes(0))
    packets = of("request", lambda one: one.loads.requests) + of("response", lambda one: one.loads.responses)
    buses = of("bus_request", lambda one: one.loads.bus_requests)
    buses = buses + of("bus_response", lambda one: one.loads.bus_responses)
    accesses = of("access", lambda one: one.served)
    if tech.transaction in ("nread", "lock"):
        accesses = accesses + of("access", lambda one: one.asked)
    busy_ps = {
        "link": (packets + echoes * (1 if token else echo)) * routes.network.times_ps["character"],
        "bus": buses / routes.network.rings.bus_count,
        "memory": accesses,
    }
    asked, payload = (of(name, lambda one: one.asked) for name in ("packets", "bytes"))
    return Needed(busy_ps, asked, payload, float(unit.sent().max(initial=0.0)) * symbols)


def of_plane(plane: Plane, needed: Needed) -> Needed:
    """Return what one plane needs."""
    switches = slice(plane.first_switch, plane.first_switch + plane.graph.switches)
    rows: dict[str, slice | Ints] = {"link": plane.links, "bus": switches, "memory": plane.port}
    rows["host"] = np.zeros(0, np.int64)  # it works for all planes

    def alone(flow: Reals, own: slice | Ints) -> Reals:
        found = np.zeros_like(flow)
        found[own] = flow[own]
        return found

    busy_ps = {what: alone(times, rows[what]) for what, times in needed.busy_ps.items()}
    asked, payload = (alone(flow, plane.port) for flow in (needed.asked, needed.payload))
    return Needed(busy_ps, asked, payload, needed.unit_symbols)


def bound(routes: RingRoutes, needed: Needed) -> dict[str, Any]:
    """Return the link, bus, memory or host that is full first, and the throughput at which it is.

    Loads are relative, see :class:`Carried`.
    """
    busy, graph = needed.busy_ps, routes.graph
    name, most_ps = max(
        ((what, float(times.max(initial=0.0))) for what, times in busy.items()), key=lambda pair: pair[1]
    )
    if most_ps <= 0:
        none = ("busiest_link", "load_bound", "accepted_mbytes_per_s_bound", "shared_load_bound")
        return {**dict.fromkeys(none), "load": 0.0}
    sending = graph.terminal_out_links[needed.asked > 0]
    unit_ps = needed.unit_symbols * float(routes.network.times_ps["character"][sending].min())
    full_at = min(1.0, unit_ps / most_ps)
    return {
        "busiest_link": names_of(graph, name)[int(np.argmax(busy[name]))],
        "load": most_ps / unit_ps,
        "load_bound": full_at,
        "shared_load_bound": full_at,
        "accepted_mbytes_per_s_bound": float(needed.payload.sum()) / most_ps * 1e6,
    }


def names_of(graph: Graph, what: str) -> list[str]:
    """Return the names of all links, buses, memories or hosts."""
    if what == "link":
        return graph.link_names
    owners = {"bus": graph.switch_names, "memory": graph.port_names, "host": graph.terminal_names}
    return [f"the {what} of {name}" for name in owners[what]]


def over_bus_ps(tech: RingTechnology, packets: Packets) -> tuple[float, float]:
    """Return the mean time on a bus of a request and of its response, in ps; 0 without a response."""

    def of_request(length: float) -> float:
        return float(tech.bus_transfer_ps(round(tech.request_bytes(length))))

    def of_response(length: float) -> float:
        size = tech.response_bytes(length)
        return float(tech.bus_transfer_ps(round(size))) if size else 0.0

    return packets.mean(of_request), packets.mean(of_response)
