"""Networks of rings and buses (SCI): times, routes of the ports, and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import routing
from ..codes import TRANSACTION, number
from ..routing import RoutingError
from ..routing.distribution import Distribution
from ..routing.own_ports import own_ports
from ..routing.rings import PortRoute, port_route, ring_dependency_cycle
from ..scenario import Scenario
from ..technology import RingTechnology, TechnologyError, ring_technology
from ..technology.model import Ps
from ..technology.rings import PORT_PLACES, Ordered
from ..topology import Graph
from .addresses import NO_ADDRESSES
from .columns import Arrays, Tenths, Times, check_rates, fill, per_link, terminal_links, u32
from .deadlock import Cycle, Pairs, Turn, ports_of
from .times import MOST_DELAY_TICKS, MOST_LINK_TICKS, Durations
from .traffic_classes import TrafficClasses, class_columns, classes_of

if TYPE_CHECKING:
    from ..programs import Programs

_TRANSACTIONS = {
    "nwrite": TRANSACTION.WRITE,
    "dmove": TRANSACTION.MOVE,
    "nread": TRANSACTION.READ,
    "lock": TRANSACTION.LOCK,
}


class RingNetwork:
    """A network of rings with its technology, with the methods of LinkNetwork; errors point into the file."""

    sends_when_asked = False
    is_matched = False
    cable: None = None

    def __init__(self, scenario: Scenario, graph: Graph) -> None:
        self.graph = graph
        self.rings = graph.own_rings
        transaction = scenario.transaction
        try:
            tech = ring_technology(scenario.technology.preset, scenario.technology.overrides())
        except TechnologyError as error:
            raise scenario.located(error, "technology") from error
        self.technology: RingTechnology = tech.carrying(transaction)
        self.classes: TrafficClasses = classes_of(scenario, graph, self.technology)
        """Traffic classes, which have ports of their own."""
        check_rates(scenario, graph, self.technology)
        self._check_rotation(scenario)
        self._routes: RingRoutes | None = None

    def routes(self, scenario: Scenario) -> RingRoutes:
        """Return the routes, made once. Raises ScenarioError."""
        if self._routes is None:
            self._routes = RingRoutes(scenario, self)
        return self._routes

    def kinds(self) -> list[tuple[RingTechnology, NDArray[np.bool_]]]:
        """Return the technologies of links, each with whether a link is of it: one."""
        return [(self.technology, np.ones(self.graph.links, bool))]

    def packets_ps(self, mean_bytes: float) -> NDArray[np.float64]:
        """Return NaN for each link: none is of another technology."""
        return np.full(self.graph.links, np.nan)

    @cached_property
    def times_ps(self) -> Times:
        """Return, per link, ``character``: the time of a symbol, and ``arrival``: until it can be used."""
        tech = self.technology
        return per_link(
            self.graph,
            lambda rate, length, _: {
                "character": tech.symbol_ps(rate),
                "arrival": tech.arrival_ps(rate, length),
            },
        )

    def _check_rotation(self, scenario: Scenario) -> None:
        """Raise ScenarioError for a ring that a token needs longer for than it should."""
        tech, ring = self.technology, self.rings.station_ring
        if not tech.token_rotation_ps:
            return
        ahead = self.times_ps["arrival"] + tech.decode_latency_ps + tech.bypass_latency_ps
        token = np.maximum.reduceat(self.times_ps["character"], np.unique(ring, return_index=True)[1])
        token = token * tech.token_symbols
        rounds = np.bincount(ring, weights=np.asarray(ahead, np.float64))
        least_ps = float((np.maximum(rounds, token) + token).max())
        if tech.token_rotation_ps <= least_ps:
            message = "no station may send: the token is late even if nobody takes it"
            hint = f'write more than "{least_ps / 1e6:g} us", the time of a round and of the token'
            raise scenario.error(message, ("technology", "token", "rotation"), hint)

    def durations(self, beside: Tenths | None = None) -> list[Durations]:
        """Return all durations of links, stations, buses and memories; links are one-way."""
        times = {
            "link_rate": self.times_ps["character"],
            "cable_length": self.times_ps["arrival"],
            **durations_ps(self.technology),
        }
        longer = ("retry.delay", "timeout", "token.rotation")
        return [
            Durations.of(
                f"technology.{name}",
                ("technology", *name.split(".")),
                values,
                MOST_DELAY_TICKS if name in longer else MOST_LINK_TICKS,
            )
            for name, values in times.items()
        ]

    def columns(self, beside: Tenths | None, tick: Ps) -> Arrays:
        """Return the engine's columns of the network. A one-way link has no opposite direction."""
        tech = self.technology
        return {
            "tick_ps": float(tick),
            "grain_ticks": tech.grain_ps // tick,
            "link_source": u32(self.graph.link_source),
            "link_target": u32(self.graph.link_target),
            **{f"link_{name}_ticks": u32(column // tick) for name, column in self.times_ps.items()},
            **terminal_links(self.graph),
            **_protocol(tech, tick),
            **self._stations(tech, tick),
            **self._buses(tech, tick),
            **self._terminals(tech, tick),
        }

    def codes(self, scenario: Scenario) -> None:
        """Return None: rings have no time-codes, and the scenario's checks refuse them."""

    def down_with(self, links: list[int]) -> list[int]:
        """Return the links that are down when these fail: all of their rings, if the technology says so."""
        if self.technology.fault_stops != "ring":
            return links
        ring_of = self.rings.station_ring
        return [int(link) for link in np.flatnonzero(np.isin(ring_of, ring_of[links]))]

    def fault_columns(self, scenario: Scenario, tick: Ps) -> Arrays:
        """Return when senders forget lost packets and when terminals close routes, rounded up to ticks."""
        tech = self.technology
        if not tech.timeout_ps and not all(fault.stops for fault in scenario.fault):
            message = "where rings fail transactions need a time-out: what is lost keeps its number till then"
            raise scenario.error(message, ("fault",), 'write technology.timeout = "100 us"', key=True)
        return {
            "ring_echo_timeout_ticks": -(-tech.echo_timeout_ps // tick),
            "ring_close_after": tech.close_after,
            "ring_closed_ticks": -(-tech.closed_for_ps // tick),
        }

    def _stations(self, tech: RingTechnology, tick: Ps) -> Arrays:
        count, rings = self.rings.stations, self.rings
        places = {
            name: fill(count, getattr(tech, name))
            for name in ("requests_out", "responses_out", "requests_in", "responses_in")
        }
        for name in PORT_PLACES:
            of_port = getattr(tech, name)
            if of_port is not None:
                places[name.removeprefix("port_")][rings.port_station] = of_port
        return {
            "station_next": u32(rings.station_next),
            "station_ring": u32(rings.station_ring),
            "station_decode_ticks": fill(count, tech.decode_latency_ps // tick),
            "station_bypass_ticks": self._bypass_ticks(tech, tick),
            "station_receive_ticks": fill(count, tech.receive_ps // tick),
            "station_transmit_ticks": fill(count, tech.transmit_ps // tick),
            **{f"station_{name}": column for name, column in places.items()},
            "station_in_flight": fill(count, tech.in_flight),
            "station_rejected": fill(count, tech.rejected),
        }

    def _bypass_ticks(self, tech: RingTechnology, tick: Ps) -> np.ndarray:
        """Return the delays of the bypass FIFOs; the first station of a ring keeps the ends of slots until
        the ring holds a whole number of them, or a token until the ring holds it.
        """
        bypass = fill(self.rings.stations, tech.bypass_latency_ps // tick)
        if not tech.slot_bytes and not tech.token_symbols:
            return bypass
        _, firsts, ring = np.unique(self.rings.station_ring, return_index=True, return_inverse=True)
        arrival, symbol = (u32(self.times_ps[name] // tick) for name in ("arrival", "character"))
        ahead = arrival.astype(np.int64) + int(bypass[0]) + int(tech.decode_latency_ps // tick)
        round_ticks, symbol = np.bincount(ring, weights=ahead).astype(np.int64), symbol[firsts]
        if tech.slot_bytes:
            slot = symbol.astype(np.int64) * (tech.slot_bytes // tech.symbol_bytes)
            bypass[firsts] += u32(-round_ticks % slot)
        else:
            token = symbol.astype(np.int64) * tech.token_symbols
            bypass[firsts] += u32(np.maximum(token - round_ticks, 0))
        return bypass

    def _buses(self, tech: RingTechnology, tick: Ps) -> Arrays:
        switches, rings = self.graph.switches, self.rings
        return {
            "port_start": u32(rings.port_start),
            "port_station": u32(rings.port_station),
            "port_yields": rings.yields.astype(np.uint8) if rings.yields.any() else np.zeros(0, np.uint8),
            "bus_count": u32(rings.bus_count),
            "ring_separate_buses": int(rings.separate_buses),
            "bus_setup_ticks": fill(switches, tech.bus_setup_ps // tick),
            "bus_cycle_ticks": fill(switches, tech.bus_cycle_ps // tick),
            "bus_width_bytes": fill(switches, tech.bus_width_bytes),
            "bus_encapsulation_bytes": fill(switches, tech.bus_encapsulation_bytes),
        }

    def _terminals(self, tech: RingTechnology, tick: Ps) -> Arrays:
        count = self.graph.ports
        return {
            "terminal_access_ticks": fill(count, tech.memory_access_ps // tick),
            "terminal_block_ticks": fill(count, tech.memory_block_ps // tick),
            "terminal_host_ticks": fill(count, tech.host_latency_ps // tick),
            "terminal_transactions": fill(count, tech.transactions),
            "terminal_transaction": np.full(count, _TRANSACTIONS[tech.transaction], np.uint8),
        }


class RingRoutes:
    """The routes of a network of rings, with the methods of LinkRoutes; errors point into the file."""

    via = headed = False
    escapes = False
    bubble = False
    distributions: ClassVar[list[Distribution]] = []
    addresses = NO_ADDRESSES

    def __init__(self, scenario: Scenario, network: RingNetwork) -> None:
        self.network, self.graph, self.technology = network, network.graph, network.technology
        self.classes = network.classes
        parameters = scenario.parameters("routing")
        own = parameters.get("path")
        try:
            self.planes = _planes(self.graph, parameters)
            self.port_route = routing.ports_together(self.graph, [route for _, route in self.planes])
        except RoutingError as error:
            raise scenario.located(error, "topology" if own is None else "routing") from error

    @cached_property
    def cycle(self) -> list[int] | None:
        """Return the links of a cycle of transmit queues that can wait for each other, or None."""
        return self._cycle(None)

    def _cycle(self, pairs: Pairs | None) -> list[int] | None:
        for plane, (graph, route) in zip(self.graph.planes, self.planes, strict=True):
            here = None if pairs is None else ports_of(self.graph, plane.port, pairs)
            if found := ring_dependency_cycle(graph, route, here):
                return [link + plane.first_link for link in found]
        return None

    def cycle_names(self) -> list[str]:
        """Return the names of the links of :attr:`cycle`."""
        return [self.graph.link_names[link] for link in self.cycle or []]

    def dead_in_turn(self, scenario: Scenario, columns: Arrays, tick_ps: Ps) -> list[Turn]:
        """Return nothing: rings have one table."""
        return []

    def cycles(
        self, scenario: Scenario, pairs: Pairs | None, turns: list[Turn], alone: bool = False
    ) -> Iterator[Cycle]:
        """Yield a cycle, if there is one, by the names of its links: rings have one table."""
        if found := self.cycle if pairs is None else self._cycle(pairs):
            yield 0, [self.graph.link_names[link] for link in found], ""

    @cached_property
    def columns(self) -> Arrays:
        """The engine's columns of routes."""
        port_route, port_exit = self.port_route.columns()
        return {
            "ring_turns": self.port_route.turns,
            "port_route": port_route,
            "port_exit": port_exit,
            **class_columns(self.classes, self.graph, 0),
        }

    def columns_after(self, scenario: Scenario, columns: Arrays, tick: Ps) -> Arrays:
        """Return no columns: rings have one table."""
        return {}

    def check_programs(self, scenario: Scenario, programs: Programs | None) -> None:
        """Accept every program: any program can run on rings."""

    def warnings(self, arrays: Arrays) -> list[str]:
        """Return a warning where packets that are rejected can keep all slots of a ring."""
        tech, slot = self.technology, int(arrays["ring_slot_symbols"])
        # A full receiver makes room by what it sends itself: by a bus on another ring, or a response.
        sends = self.graph.switches or tech.transaction != "dmove"
        rejects = tech.echo_bytes and tech.when_full == "busy" and arrays["station_requests_in"].any()
        if not (slot and sends and rejects):
            return []
        ring, names = arrays["station_ring"], ("link_arrival", "station_decode", "station_bypass")
        round_ticks = np.bincount(ring, sum(arrays[f"{name}_ticks"].astype(np.float64) for name in names))
        first = np.unique(ring, return_index=True)[1]
        slots = np.rint(round_ticks / (arrays["link_character_ticks"][first] * float(slot)))
        sent = arrays["station_in_flight"].astype(np.float64)
        if arrays["ring_hold_until_echo"]:
            sent = np.minimum(sent, 0.0 + arrays["station_requests_out"] + arrays["station_responses_out"])
        # One that arrives counts until its last symbol, so each sender can fill one slot less again.
        kept = np.bincount(ring, sent - 1)
        hogged = np.flatnonzero(kept - (sent - 1)[first] >= slots)
        if not len(hogged):
            return []
        link, count = self.graph.link_names[int(first[hogged[0]])], int(slots[hogged[0]])
        ring_of = f"on the ring of {link}, of {count} slot{'s' if count > 1 else ''},"
        return [
            f"the network can livelock: {ring_of} packets that are rejected fill their slots again, and none "
            "is left to the station that rejects them; technology.in_flight = 1 passes each on empty"
        ]

    def doubts(self, arrays: Arrays, native: Mapping[str, Any]) -> list[str]:
        """Return no warnings about the results of a run."""
        return []

    def check(self, scenario: Scenario, arrays: Arrays) -> None:
        """Accept every scenario."""

    def check_protocol(self, scenario: Scenario, protocol: dict[str, Any]) -> None:
        """Raise ScenarioError if the protocol sends lost packets again."""
        if protocol["resend_after_ps"]:
            message = "packets are sent again by their protocol in networks of links only"
            hint = (
                "in networks of rings write check_time, and technology.timeout: what times out is sent again"
            )
            raise scenario.error(message, ("protocol", "resend_after"), hint)
        if getattr(scenario.program, "retry_after_ps", None) is not None:
            message = "commands are sent again in networks of links only"
            hint = "in networks of rings write protocol.check_time, and technology.timeout"
            raise scenario.error(message, ("program", "retry_after"), hint)


def _planes(graph: Graph, parameters: dict[str, Any]) -> list[tuple[Graph, PortRoute]]:
    """Return each plane with the table of its ports; planes with the same graph share it."""
    own, by_transaction = parameters.get("path"), bool(parameters.get("by_transaction"))
    known: dict[int, PortRoute] = {}
    for plane in graph.planes:
        if id(plane.graph) not in known:
            known[id(plane.graph)] = (
                port_route(plane.graph, by_transaction) if own is None else own_ports(plane.graph, own)
            )
    return [(plane.graph, known[id(plane.graph)]) for plane in graph.planes]


def durations_ps(tech: RingTechnology) -> dict[str, Ps]:
    """Return every duration except those of links, by its name in a scenario."""
    return {
        "decode_latency": tech.decode_latency_ps,
        "bypass_latency": tech.bypass_latency_ps,
        "interface_latency": tech.interface_latency_ps,
        "receive_latency": tech.receive_ps,
        "transmit_latency": tech.transmit_ps,
        "host_latency": tech.host_latency_ps,
        "bus.setup": tech.bus_setup_ps,
        "bus.rate": tech.bus_cycle_ps,
        "memory.access": tech.memory_access_ps,
        "memory.block": tech.memory_block_ps,
        "token.rotation": tech.token_rotation_ps,
        "retry.delay": tech.retry_delay_ps,
        "timeout": tech.timeout_ps,
    }


def _stations(which: Ordered) -> int:
    word = which if isinstance(which, str) else "all" if which else "none"
    return number("stations", word)


def _protocol(tech: RingTechnology, tick: Ps) -> Arrays:
    return {
        "ring_symbol_bytes": tech.symbol_bytes,
        "ring_when_full": number("when_full", tech.when_full),
        "ring_any_payload": int(tech.payloads == "any"),
        "ring_slot_symbols": tech.slot_bytes // tech.symbol_bytes,
        "ring_token_symbols": tech.token_symbols,
        "ring_token_packets": tech.token_packets,
        "ring_token_rotation_ticks": tech.token_rotation_ps // tick,
        "ring_request_header_bytes": tech.request_header_bytes,
        "ring_response_header_bytes": tech.response_header_bytes,
        "ring_echo_bytes": tech.echo_bytes,
        "ring_send_idle_bytes": tech.send_idle_bytes,
        "ring_echo_idle_bytes": tech.echo_idle_bytes,
        "ring_cut_through": int(tech.forwarding == "cut-through"),
        "ring_hold_until_echo": int(tech.hold_until == "echo"),
        "ring_in_order": _stations(tech.in_order),
        "ring_phases": int(tech.phases),
        "ring_allocation": _stations(tech.bandwidth_allocation),
        "ring_retry_strategy": number("retry", tech.retry_strategy),
        "ring_retry_delay_ticks": tech.retry_delay_ps // tick,
        "ring_retry_at_responder": int(tech.retry_at == "responder"),
        "ring_retry_order": number("retry_order", tech.retry_order),
        "ring_response_first": int(tech.response_priority),
        "ring_interface_occupied": int(tech.interface_occupied),
        "ring_timeout_ticks": tech.timeout_ps // tick,
    }
