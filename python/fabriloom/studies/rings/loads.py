"""What links, buses and memories of rings carry, and which of them is full first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from ... import _native
from ...compile import Compiled, RingRoutes
from ...compile.several import parallel
from ...compile.sources import Packets as Sources
from ...routing.even import ring_loads
from ...routing.rings import RingLoads
from ...technology import RingTechnology
from ...topology import Graph
from ...topology.graph import Plane
from ...traffic import Demand, given_lengths
from ..port_loads import Ints, Reals, are_alike, by_ports, in_planes, spread_evenly
from ..zero_load import of_lists

_MOST_SENDERS, _TRIED = 8, 512
"""Most terminals that are tried alone, and packets of each; the first quarter is passed over."""
_EXACT = 0.005
"""Part by which such a trial may be wrong."""
_ENDLESS, _MOST_STEPS = 1 << 50, 200
"""Ticks that no trial takes, and steps of 65,536 events after which one is given up."""
_LIMITS = ("station_requests_out", "station_responses_out", "station_in_flight", "terminal_transactions")
"""Arrays of places and of packets under way."""
_GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it are spread evenly between whole numbers."""


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
        """Return what a packet is on average in payload, symbols, ps of a bus, a memory and a place, and the
        symbols that arrive while it keeps that.
        """
        request_ps, response_ps = over_bus_ps(tech, self)
        places = tech.requests_in or np.inf  # endless ones are never full
        follows = tech.forwarding == "cut-through"
        return {
            "packets": 1.0,
            "bytes": self.mean_bytes,
            "request": self.mean(tech.request_symbols),
            "response": self.mean(tech.response_symbols),
            "bus_request": request_ps,
            "bus_response": response_ps,
            "access": self.mean(lambda length: _access_ps(tech, length)),
            "place": self.mean(lambda length: tech.receive_ps + _access_ps(tech, length)) / places,
            "place_behind": self.mean(lambda length: tech.request_symbols(length) - 1) * follows / places,
        }


def _access_ps(tech: RingTechnology, length: float) -> float:
    return tech.memory_access_ps + tech.memory_block_ps * max(1, -(-round(length) // 64))


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
    """Busy time of every link, of the buses of every switch, of the memory and the input queue behind every
    port, and of every terminal's windows, and host if messages are sent."""
    asked: Reals
    """Per port of a terminal: requests that it sends."""
    payload: Reals
    """Per port: their bytes."""
    unit_symbols: float
    """Symbols of the requests of the busiest source."""


def windows(compiled: Compiled, demand: Demand) -> Reals:
    """Return, per terminal, how long its packets of a demand take if it alone sends, one close behind the
    other, in ps; 0 for most of many terminals.

    So long are limits of packets under way, transactions and places in queues, order, and rounds of tokens.
    """
    routes, found = compiled.routes, np.zeros(compiled.graph.terminals)
    assert isinstance(routes, RingRoutes)
    if not isinstance(compiled.sources, Sources):
        demand = compiled.sources.by_packets(compiled.arrays)
    sent, ports = demand.sent(), ports_of(routes, compiled.scenario.port_choice)
    for terminal in spread_evenly(np.flatnonzero(sent), _MOST_SENDERS).tolist():
        found[terminal] = ports * sent[terminal] * (1 - _EXACT) * _alone_ps(compiled, demand, terminal)
    return found


def _alone_ps(compiled: Compiled, demand: Demand, terminal: int) -> float:
    """Return the mean time from packet to packet of a terminal that sends alone.

    It is the shorter one of that with the places that receivers have, which may make packets go round again,
    and that with places for all, in which more of them wait behind each other. When a token comes depends on
    others, too, so there a packet is always ready for it.
    """
    own, even = demand.source == terminal, np.full(compiled.graph.terminals, demand.even[terminal])
    even[terminal] = 0.0
    share = np.concatenate((demand.packets[own], even / max(1, len(even) - 1)))
    target = np.concatenate((demand.target[own], np.arange(len(even))))
    # Each pair as often as it sends, in equal distances.
    count = np.diff(np.rint(_TRIED * np.cumsum(share) / share.sum()), prepend=0.0).astype(np.int64)
    pair, first = np.repeat(np.arange(len(target)), count), np.repeat(np.cumsum(count) - count, count)
    pair = pair[np.argsort((np.arange(len(pair)) - first + 0.5) / count[pair], kind="stable")]
    if given_lengths(compiled.arrays) is None and compiled.programs is None:
        lengths, part = compiled.lengths
        length = lengths[np.searchsorted(np.cumsum(part)[:-1], np.arange(len(pair)) * _GOLDEN % part.sum())]
    else:
        assert demand.payload is not None
        sent = demand.payload.bytes if compiled.programs is None else demand.payload.chars
        length = np.rint(sent[own][pair])
    per_terminal, arrays = np.zeros(compiled.graph.terminals, np.int64), compiled.arrays
    per_terminal[terminal] = len(pair)
    listed = of_lists(arrays, per_terminal, target[pair], length, np.zeros(len(pair)))
    roomy = {name: np.zeros_like(arrays[name]) for name in ("station_requests_in", "station_responses_in")}
    kinds = [listed, {**listed, **roomy, "ring_phases": 0}]
    if arrays["ring_token_symbols"]:
        ready = {name: np.full_like(arrays[name], len(pair)) for name in _LIMITS}
        kinds.append({**kinds[1], **ready, "ring_in_order": 0})
    tried = [_from_packet_to_packet(one, len(pair)) for one in kinds]
    return min(tried) * float(compiled.tick_ps) if np.isfinite(min(tried)) else 0.0


def _from_packet_to_packet(arrays: dict[str, Any], packets: int) -> float:
    """Return the mean ticks from one to the next of the later packets of a list; infinite without end."""
    limits = {"precision": 0.0, "packets": packets, "drain": False, "flows": 0, "trace": packets}
    simulation = _native.Simulation(arrays, until=_ENDLESS, warmup=0, batch=_ENDLESS, **limits)
    for _ in range(_MOST_STEPS):
        if simulation.advance(1 << 16):
            break
    ticks = np.asarray(simulation.result()["trace_delivered_ticks"], np.float64)
    if len(ticks) < packets:
        return np.inf
    quarter = packets // 4
    early, late = ticks[quarter : 2 * quarter].mean(), ticks[-quarter:].mean()
    return float(late - early) / (packets - 2 * quarter)


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
    symbol_ps = routes.network.times_ps["character"][routes.graph.terminal_in_links]
    if tech.transaction in ("nread", "lock"):
        accesses = accesses + of("access", lambda one: one.asked)
    busy_ps = {
        "link": (packets + echoes * (1 if token else echo)) * routes.network.times_ps["character"],
        "bus": buses / routes.network.rings.bus_count,
        "memory": accesses,
        "place": of("place", lambda one: one.served) + of("place_behind", lambda one: one.served) * symbol_ps,
    }
    asked, payload = (of(name, lambda one: one.asked) for name in ("packets", "bytes"))
    return Needed(busy_ps, asked, payload, float(unit.sent().max(initial=0.0)) * symbols)


def of_plane(plane: Plane, needed: Needed) -> Needed:
    """Return what one plane needs."""
    switches = slice(plane.first_switch, plane.first_switch + plane.graph.switches)
    rows: dict[str, slice | Ints] = {"link": plane.links, "bus": switches}
    rows["memory"] = rows["place"] = plane.port
    rows["host"] = rows["window"] = np.zeros(0, np.int64)  # they are of all planes

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
    if what == "place":
        return [f"the input queue of {name}" for name in graph.port_names]
    own = graph.terminal_names
    owners = {"bus": graph.switch_names, "memory": graph.port_names, "host": own, "window": own}
    return [f"the {what} of {name}" for name in owners[what]]


def over_bus_ps(tech: RingTechnology, packets: Packets) -> tuple[float, float]:
    """Return the mean time on a bus of a request and of its response, in ps; 0 without a response."""

    def of_request(length: float) -> float:
        return float(tech.bus_transfer_ps(round(tech.request_bytes(length))))

    def of_response(length: float) -> float:
        size = tech.response_bytes(length)
        return float(tech.bus_transfer_ps(round(size))) if size else 0.0

    return packets.mean(of_request), packets.mean(of_response)
