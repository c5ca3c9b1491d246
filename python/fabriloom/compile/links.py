"""Networks of links and switches with buffers: times, routing tables and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _native, routing
from ..codes import number
from ..routing import RouteTable, RoutingError
from ..scenario import Scenario
from ..scenario.resolve import fill_routing
from ..technology import Technology, TechnologyError, technology
from ..technology.model import Ps, Rate, check_queues
from ..topology import Graph, GraphError
from ..topology.port_addresses import check_limits
from ..units import format_bytes, format_time_ps
from . import pauses
from .addresses import addresses_of
from .clocks import Clocks, clocks_of, with_rates
from .columns import (
    Arrays,
    Tenths,
    Times,
    check_rates,
    per_link,
    u32,
    with_lengths,
)
from .deadlock import Pairs, ports_of
from .distributions import distributions_of
from .interfaces import interfaces_of
from .link_columns import links, routes, timeouts
from .link_times import durations_ps, times_of
from .newest import Newest
from .own_sizes import buffers_of, lanes_of, narrowed, with_most_lanes
from .schedule import check_schedule
from .ticks import MOST_LINK_TICKS, Durations
from .traffic_classes import TrafficClasses, class_columns, classes_of, high_ports

if TYPE_CHECKING:
    from ..programs import Programs
    from .codes import Codes

_SHARING = {"flit": number("sharing", "character"), "packet": number("sharing", "packet")}

_KEPT = 4
"""Number of times tables that are kept for one network; with matched flow control a run has a few."""


_ELSEWHERE = ("after_fault", "high_priority", "traffic_class", "distribution", "addressing", "regions")
"""Routing settings that other modules read."""


@dataclass(frozen=True)
class _Timed:
    """The times of a network for one load of the opposite directions, and what is computed from them."""

    times_ps: Times
    durations: list[Durations]
    columns: dict[Ps, Arrays] = field(default_factory=dict)
    """Columns by tick in ps."""


class LinkParts:
    """The compiled parts of a network of links; every error points into the scenario's file."""

    hears_back = True
    """Whether flow control of one direction takes time on the other."""
    unbounded = ""
    """Why packets of this kind of network have no bounded delay; empty: the delay can be bounded."""
    by_port_tables = ""
    """Why routings of this kind of network are not compared; empty: they are."""
    bit_errors_disconnect = True

    @property
    def sends_when_asked(self) -> bool:
        """Whether links send nothing between packets, so that a wrong bit may be one of nothing."""
        return self.technology.flow_control_bits == 0

    """Whether a bit error takes a link down for a while; if not, it damages the packet on the link."""

    def __init__(self, scenario: Scenario, graph: Graph) -> None:
        try:
            self.technology: Technology = technology(
                scenario.technology.preset, scenario.technology.overrides()
            )
        except TechnologyError as error:
            raise scenario.located(error, "technology") from error
        try:
            check_limits(graph, self.technology)
        except GraphError as error:
            raise scenario.located(error, "topology") from error
        check_rates(scenario, graph, self.technology)
        self.graph = graph = with_lengths(scenario, graph, self.technology)
        self.buffers = buffers_of(scenario, graph, self.technology)
        """Per link: characters of its input buffer."""
        usual_lanes = self.technology.lanes
        self.technology = with_most_lanes(scenario, graph, self.technology)
        self.link_lanes = lanes_of(graph, usual_lanes, self.technology.lanes)
        """Per link: its lanes; None if all have as many."""
        self.clocks: Clocks = clocks_of(scenario, graph, self.technology)
        """The technology at the clock of each switch, and of each link."""
        self._given = graph
        """The graph without the rates that follow from clocks."""
        self.graph = graph = with_rates(graph, self.clocks)
        self._check_credit(scenario)
        self.interfaces = interfaces_of(scenario, graph, self.technology)
        """The interface chips of terminals."""
        self._times_of = lru_cache(maxsize=4096)(times_of)
        self._known = Newest[bytes | None, _Timed](_KEPT)
        self._known_columns = Newest[Ps, Arrays](_KEPT)
        self._high = high_ports(scenario, graph)
        self.classes: TrafficClasses = classes_of(scenario, graph, self.technology)
        """The lanes and ports that each class of packets may use."""
        try:
            parameters = scenario.parameters("routing")
            self.lane_choice: str | None = parameters.pop("lane_choice", None)
            self.after: dict[frozenset[int], RouteTable] = {}
            """Tables that replace ``lane_table`` after faults, by the set of dead links."""
            self.after_planes: dict[frozenset[int], list[RouteTable]] = {}
            """The same tables of each plane, not divided by lanes."""
            for name in _ELSEWHERE:
                parameters.pop(name, None)
            lanes = self.technology.lanes
            parameters["lanes"] = lanes if scenario.routing.kind == "table" else self.layers
            self.planes = _planes(graph, parameters)
            """Per plane of the graph: its graph and table."""
            tables = [table for _, table in self.planes]
            self.table = routing.together(graph, tables)
            self.lane_table = routing.by_class([self._on_lanes(own) for own in self.classes.lanes])
        except RoutingError as error:
            raise scenario.located(error, "routing") from error
        self.distributions = distributions_of(scenario, graph, self.technology, self.table)
        """Targets that stand for several terminals."""
        self.addresses = addresses_of(scenario, graph, self.technology, self.table)
        """Address bytes in front of headers, deleted on the path."""

    @property
    def layers(self) -> int:
        """How many lanes a packet can wait in without keeping those in others from moving."""
        return 1 if self.technology.holds_wire else min(map(len, self.classes.lanes))

    @property
    def via(self) -> bool:
        """Whether packets carry a header for a random intermediate switch."""
        return len(self.table.via_switch) > 0

    @cached_property
    def cycle(self) -> list[int] | None:
        """Return links of a cycle in the channel dependency graph; None if the routing cannot deadlock."""
        found = self.lane_cycle
        return None if found is None else [lane // self.technology.lanes for lane in found]

    @cached_property
    def lane_cycle(self) -> list[int] | None:
        """Return the same cycle by lanes.

        A packet that keeps its wire while it waits blocks all lanes of that wire. With escape lanes, only
        those must be free of cycles, provided that a packet waits in one buffer at a time: a waiting packet
        then holds nothing that a packet on an escape lane waits for (J. Duato 1993).
        """
        if self.distributions:
            from ..routing.distribution import distribution_cycle

            return distribution_cycle(self.graph, self.table, self.distributions)
        for plane, (graph, table) in zip(self.graph.planes, self.planes, strict=True):
            for own in self._waiting_apart():
                found = routing.dependency_cycle(graph, self._as_waited_for(graph, table, own), len(own))
                if found is not None:
                    return self._lanes_of(found, own, plane.first_link)
        return None

    def dead_in_turn(self, scenario: Scenario, columns: Arrays) -> list[frozenset[int]]:
        """Return the links that are dead when tables are replaced, in the order of the replacements."""
        if not scenario.fault:
            return []
        from .tables import dead_in_turn

        return dead_in_turn(scenario, self, columns)

    def cycle_of(
        self,
        scenario: Scenario,
        pairs: Pairs | None,
        replaced: list[frozenset[int]],
        alone: bool = False,
    ) -> tuple[int, list[str]]:
        """Return a cycle of links or lanes by name, and the number of the table with which it appears, 0 for
        the first.

        Args:
            scenario: that of the tables after faults.
            pairs: terminals between which packets are sent; None: between any.
            replaced: the links that are dead when a table replaces the one before.
            alone: whether the first table is left out.
        """
        if (pairs is None and not replaced) or self.distributions or self.via:
            return 0, self._named(self.lane_cycle or [])
        from .tables import tables_after

        sets = [*([] if alone else [frozenset[int]()]), *replaced]
        tables = [tables_after(scenario, self, dead) for dead in sets]
        for at, (plane, (graph, _)) in enumerate(zip(self.graph.planes, self.planes, strict=True)):
            here = None if pairs is None else ports_of(self.graph, plane.port, pairs)
            dead = [np.array([link - plane.first_link for link in one], np.int64) for one in sets]
            dead = [one[(one >= 0) & (one < graph.links)] for one in dead]
            for own in self._waiting_apart():
                phases = [self._as_waited_for(graph, table[at], own) for table in tables]
                found = routing.phases_cycle(graph, phases, dead, len(own), here)
                if found is not None:
                    place, cycle = found
                    return place, self._named(self._lanes_of(cycle, own, plane.first_link))
        return 0, []

    def _waiting_apart(self) -> list[list[int]]:
        """Return lanes of a link whose packets never wait for those of others: a packet of one class never
        waits for a lane of another class, but one that keeps its wire while it waits blocks all lanes.
        """
        return [[0]] if self.technology.holds_wire else self.classes.lanes

    def _as_waited_for(self, graph: Graph, table: RouteTable, own: list[int]) -> RouteTable:
        """Return a table by these lanes of each link, without those that packets need not wait for."""
        tech = self.technology
        if tech.holds_wire:
            return table
        if self.lane_choice == "escape" and tech.switching != "wormhole":
            return routing.escape_lanes(graph, table, len(own))
        return routing.divide(graph, table, len(own), self.lane_choice)

    def _lanes_of(self, found: list[int], own: list[int], first_link: int) -> list[int]:
        """Return the lanes of the whole network of those of some lanes of a plane's links."""
        return [
            (lane // len(own) + first_link) * self.technology.lanes + own[lane % len(own)] for lane in found
        ]

    def cycle_names(self) -> list[str]:
        """Return the names of the links of :attr:`cycle`, with their lanes if links have several."""
        return self._named(self.lane_cycle or [])

    def _named(self, lanes: list[int]) -> list[str]:
        names, each = self.graph.link_names, self.technology.lanes
        if each == 1:
            return [names[lane // each] for lane in lanes]
        return [f"{names[lane // each]} lane {lane % each}" for lane in lanes]

    def waited_for(self) -> list[tuple[Graph, RouteTable, int]]:
        """Return, per plane and class, the table of lanes that packets wait for, and its number of lanes."""
        return [
            (graph, self._as_waited_for(graph, table, own), len(own))
            for graph, table in self.planes
            for own in self._waiting_apart()
        ]

    def _on_lanes(self, own: list[int]) -> RouteTable:
        """Return the groups for the packets of a traffic class, which may use some lanes of each link."""
        lanes = self.technology.lanes
        if len(own) < lanes and any(table.group_lanes is not None for _, table in self.planes):
            message = "the table names lanes itself: leave traffic_class out"
            raise RoutingError(message, "traffic_class")
        try:
            divided = [
                routing.divide(plane, table, len(own), self.lane_choice) for plane, table in self.planes
            ]
        except RoutingError as error:
            if len(own) == lanes:
                raise
            numbers = f"lane {own[0]}" if len(own) == 1 else f"lanes {', '.join(map(str, own))}"
            message = f"the traffic class of {numbers}: {error}"
            raise RoutingError(message, error.parameter, error.named) from error
        together = routing.together(self.graph, [routing.on_lanes(one, own, lanes) for one in divided], lanes)
        return narrowed(together, self.graph, self.link_lanes, lanes)

    def check_programs(self, scenario: Scenario, programs: Programs | None) -> None:
        """Raise ScenarioError if two initiators of a schedule may use one link in the same slot."""
        check_schedule(scenario, self.graph, self.table, programs)

    def codes(self, scenario: Scenario) -> Codes | None:
        """Return the codes that are sent besides packets, or None. Raises ScenarioError."""
        if not (scenario.time_code or scenario.interrupt):
            return None
        from .codes import codes_of

        return codes_of(scenario, self.graph, self.technology, self.interfaces)

    def down_with(self, links: list[int]) -> list[int]:
        """Return the links that are down when these fail: no others."""
        return links

    def fault_columns(self, scenario: Scenario, tick: Ps) -> Arrays:
        """Return no columns besides the outages."""
        return {}

    def check_protocol(self, scenario: Scenario, protocol: dict[str, Any]) -> None:
        """Raise ScenarioError if packets are sent again too early for an acknowledgement, or twice."""
        after_ps, tech = protocol["resend_after_ps"], self.technology
        if 0 < tech.mtu_bytes < protocol["packet_bytes"]:
            mtu = format_bytes(tech.mtu_bytes)
            message = f"a packet of {format_bytes(protocol['packet_bytes'])} is longer than the MTU, {mtu}"
            hint = f'write packet = "{mtu}" or less, or raise technology.mtu'
            raise scenario.error(message, ("protocol", "packet"), hint)
        least_ps = round(tech.packet_ps(protocol["packet_bytes"]) + tech.packet_ps(0))
        if 0 < after_ps < least_ps:
            message = f"a resend_after of {format_time_ps(after_ps)} is shorter than the longest packet and "
            message += f"its acknowledgement take on one link, {format_time_ps(least_ps)}: each packet would "
            message += "be sent again"
            raise scenario.error(message, ("protocol", "resend_after"), "make it some times as long")
        if after_ps and getattr(scenario.program, "retry_after_ps", None) is not None:
            message = "the protocol sends packets again already, and would hide from the program what is lost"
            hint = "remove it, or protocol.resend_after"
            raise scenario.error(message, ("program", "retry_after"), hint)

    def switch_columns(self, scenario: Scenario, columns: Arrays, tick: Ps) -> Arrays:
        """Return the time-outs of switches, and the tables that replace others after faults."""
        found = timeouts(self.graph, self.technology, tick)
        if not scenario.fault:
            return found
        from .tables import table_columns

        return found | table_columns(scenario, self, columns, tick)

    def check(self, scenario: Scenario, arrays: Arrays, sources: Arrays) -> None:
        """Raise ScenarioError if a buffer cannot hold a packet that needs credit for all of it, or if queues
        per output would not fit into memory."""
        try:
            longest = self._longest_chars(arrays)
            least = replace(self.technology, input_buffer_chars=int(self.buffers.min(initial=1 << 30)))
            (least if len(self.buffers) else self.technology).check_whole_packets(longest, self.via)
            self.technology.check_watchdog(longest, self.via)
            if self.technology.pause_above_chars:
                pauses.check_network(_native.is_by_packet(arrays))
            if arrays["output_queues"]:
                check_queues(_native.queues(arrays))
        except TechnologyError as error:
            raise scenario.located(error, "technology") from error

    def _longest_chars(self, arrays: Arrays) -> int:
        """Return the payload characters of the longest packet."""
        names = ("length_min", "length_max", "length_values", "list_length", "flow_length")
        longest = max((int(arrays[name].max()) for name in names if len(arrays[name])), default=0)
        packet = max(arrays["message_packet_bytes"], arrays["message_small_packet_bytes"])
        return self.technology.payload_chars(max(longest, packet))

    def warnings(self, arrays: Arrays) -> list[str]:
        """Return warnings about a network that can be computed."""
        return pauses.headroom(arrays, self.graph.link_names, self._longest_chars(arrays) + 1)

    def doubts(self, arrays: Arrays, native: Mapping[str, Any]) -> list[str]:
        """Return warnings about the results of a run."""
        return pauses.overfull(arrays, self.graph.link_names, native["link_most_stored"])

    def times_ps(self, beside: Tenths | None) -> Times:
        """Return every link's durations for a load of its opposite direction; None: as bounds assume."""
        return self._timed(beside).times_ps

    def _timed(self, beside: Tenths | None) -> _Timed:
        """Return the times for one load of the opposite directions; runs of one network share them."""
        key = None if beside is None else np.ascontiguousarray(beside, np.int64).tobytes()
        if (found := self._known.get(key)) is not None:
            return found
        times = self._times_ps(beside)
        durations = [
            Durations.of(f"technology.{name}", ("technology", name), values, MOST_LINK_TICKS)
            for name, values in durations_ps(self.clocks.technologies, times).items()
        ]
        return self._known.keep(key, _Timed(times, durations))

    def _times_ps(self, beside: Tenths | None) -> Times:
        def times_at(clock: Technology) -> Times:
            def one(rate: Rate | None, length: float | None, tenths: int) -> dict[str, Ps]:
                return self._times_of(clock, None if beside is None else tenths, rate, length)

            return per_link(self._given, one, beside)

        times = self.clocks.per_link(times_at)
        switches, tech = self.graph.switches, self.technology
        if tech.receive_bits is not None:
            external = self.interfaces.external(self.graph)
            into = (np.asarray(self.graph.link_target) < switches) & ~external
            out = (np.asarray(self.graph.link_source) < switches) & ~external
            more = into * (times["receiver"] - tech.receiver_latency_ps) + out * times["transmitter"]
            times["arrival"] = times["arrival"] + more
        times |= self.interfaces.wired(self.graph, tech, times)
        times |= self.interfaces.spaced(self.graph, tech, times)
        times["arrival"] = times["arrival"] + self.interfaces.added_ps(self.graph, tech, "character")
        return {name: times[name] for name in ("character", "end", "arrival", "credit", "flow_control")}

    def _check_credit(self, scenario: Scenario) -> None:
        def checked(rate: Rate | None, length: float | None, _: int) -> dict[str, int]:
            self.technology.check_credit(rate, length)
            return {"nothing": 0}

        try:
            per_link(self.graph, checked)
        except TechnologyError as error:
            raise scenario.located(error, "technology") from error

    def durations(self, beside: Tenths | None) -> list[Durations]:
        """Return all durations of links and switches."""
        return self._timed(beside).durations

    def columns(self, beside: Tenths | None, tick_ps: Ps) -> Arrays:
        """Return the engine's columns of the network."""
        timed = self._timed(beside)
        if tick_ps not in timed.columns:
            times = {f"link_{name}_ticks": u32(column // tick_ps) for name, column in timed.times_ps.items()}
            timed.columns[tick_ps] = {**self._fixed(tick_ps), **times}
        return timed.columns[tick_ps]

    def _fixed(self, tick_ps: Ps) -> Arrays:
        """Return the columns that do not depend on the load of opposite directions."""
        if (found := self._known_columns.get(tick_ps)) is not None:
            return found
        fixed = links(self.graph, self.technology, self.buffers) | self._switches(tick_ps)
        return self._known_columns.keep(tick_ps, {**fixed, **self._distributed()})

    def _switches(self, tick: Ps) -> Arrays:
        graph, table, tech = self.graph, self.lane_table, self.technology

        def ticks(duration: Callable[[Technology], Ps]) -> NDArray[np.uint32]:
            return u32(self.clocks.per_switch(duration) // tick)

        return {
            "lanes": tech.lanes,
            "lane_sharing": _SHARING[tech.lane_sharing],
            "lane_arbiter": number("arbiter", tech.lane_arbiter) if tech.lanes > 1 else 0,
            "whole_packet_credit": int(tech.switching != "wormhole"),
            "store_and_forward": int(tech.switching == "store-and-forward"),
            "output_queues": int(tech.input_queues == "per-output"),
            "tick_ps": float(tick),
            "grain_ticks": tech.grain_ps // tick,
            "character_bytes": tech.character_bytes,
            "overhead_bytes": tech.overhead_bytes,
            "least_bytes": tech.least_bytes,
            "end_carries_data": int(tech.end_carries_data),
            "header_chars": tech.header_chars,
            "via_header_chars": tech.via_header_chars,
            "switch_decode_ticks": ticks(lambda tech: tech.decode_latency_ps),
            "switch_crossbar_ticks": ticks(lambda tech: tech.crossbar_ps),
            "switch_forward_ticks": ticks(lambda tech: tech.forward_latency_ps),
            "switch_handover_ticks": ticks(lambda tech: tech.release_ps),
            "switch_next_head_ticks": ticks(lambda tech: tech.front_ps),
            "switch_arbiter": np.full(graph.switches, number("arbiter", tech.arbiter), np.uint8),
            "switch_choice": self.choices(table),
            **routes(table),
            "port_priority": self._high,
            **class_columns(self.classes, graph, table.classes // len(self.classes.lanes)),
            "link_deletes_address": self.addresses.deletes,
            "via_switch": u32(table.via_switch),
            "via_class": u32(table.via_class),
        }

    def _distributed(self) -> Arrays:
        """Return the columns of distributions, and the routes extended by theirs."""
        if not self.distributions:
            return {}
        from ..routing.distribution import with_distributions

        table, spread = with_distributions(self.lane_table, self.distributions)
        counts = [len(one.receivers) for one in self.distributions]
        return {
            **routes(table),
            "group_all": spread,
            "distribution_start": u32([0, *np.cumsum(counts)]),
            "distribution_port": u32([port for one in self.distributions for port in one.receivers]),
        }

    def choices(self, table: RouteTable) -> NDArray[np.uint8]:
        """Return, per switch, how a free lane is chosen; empty if no group has several lanes."""
        several = np.diff(table.group_start) > 1
        found = np.full(self.graph.switches, number("choice", "first"), np.uint8)
        found[np.asarray(table.group_switch)[several]] = number("choice", self.technology.group_choice)
        return found


def _planes(graph: Graph, parameters: dict[str, Any]) -> list[tuple[Graph, RouteTable]]:
    """Return each plane with its table; planes with the same graph share a table."""
    known: dict[int, RouteTable] = {}
    for plane in graph.planes:
        if id(plane.graph) not in known:
            own = dict(parameters)
            fill_routing(own, plane.graph.family)
            table = routing.build(plane.graph, **own)
            routing.verify(plane.graph, table)
            known[id(plane.graph)] = table
    return [(plane.graph, known[id(plane.graph)]) for plane in graph.planes]
