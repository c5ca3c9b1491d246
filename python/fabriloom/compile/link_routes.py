"""Networks of links with their routing tables, by lanes, and what can wait for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _native, routing
from ..codes import number
from ..routing import RouteTable, RoutingError
from ..routing.distribution import distribution_cycle, with_distributions
from ..routing.up_down import shortest_path
from ..scenario import Scenario
from ..scenario.resolve import fill_routing
from ..technology import TechnologyError
from ..technology.lanes import check_queues
from ..technology.model import Ps
from ..topology import Graph
from ..units import format_time_ps
from . import congestion
from .addresses import addresses_of, distributions_of
from .columns import Arrays, u32
from .deadlock import Cycle, Pairs, Turn, phases_of, ports_of
from .drawn import ONE_EACH, parts_of, sources_in_a_row, without_parts
from .own_sizes import coded, merged, narrowed, promised, slots_by_chance
from .schedule import check_reply_addresses, check_schedule
from .traffic_classes import by_pair, class_columns, in_halves, with_advice

if TYPE_CHECKING:
    from ..programs import Programs
    from .links import LinkNetwork

_ELSEWHERE = ("after_fault", "high_priority", "traffic_class", "distribution", "addressing", "regions")
"""Routing settings that other modules read."""


class LinkRoutes:
    """The routes of a network of links; every error points into the scenario's file."""

    def __init__(self, scenario: Scenario, network: LinkNetwork) -> None:
        self.network, self.graph, self.technology = network, network.graph, network.technology
        self.classes, graph = network.classes, network.graph
        try:
            parameters = scenario.parameters("routing")
            self.lane_choice: str | None = parameters.pop("lane_choice", None)
            self.after_planes: dict[frozenset[int], list[RouteTable]] = {}
            """Tables of each plane after faults, not divided by lanes, by the set of dead links."""
            for name in _ELSEWHERE:
                parameters.pop(name, None)
            lanes, after = self.technology.lanes, getattr(scenario.routing, "after_fault", None)
            if after is not None and after.own_lanes:
                self.classes = in_halves(self.classes, self.technology)
            # What the user says of lanes goes before the layers that auto would take.
            own = self.lane_choice not in (None, "any") and scenario.routing.kind in ("auto", "interval")
            layers = 1 if own or parameters.get("service_levels") else self.layers
            parameters["lanes"] = lanes if scenario.routing.kind == "table" else layers
            if scenario.routing.kind == "paths":
                parameters["by_source"] = scenario.routing.addressing == "path" or self.technology.in_flits
            self.planes = planes_with(graph, parameters)
            """Per plane of the graph: its graph and table."""
            self.classes = by_pair(scenario, graph, self.classes, [one for _, one in self.planes], lanes)
            self._escape: dict[int, RouteTable] = {}
            """Tables of escape lanes, by the table of the other lanes."""
            if self.lane_choice in routing.ESCAPES:
                self.planes = self._with_escapes()
            if self.bubble:
                self.planes = self._in_rings()
            tables = [table for _, table in self.planes]
            self.table = routing.together(graph, tables)
            self.headed = self.via and self.table.threshold is None  # of ugal's packets only some have one
            self._divided: dict[tuple[int, int, int | None], RouteTable] = {}
            """Tables of planes by lanes, by the table, the number of lanes, and the half of senders."""
            self.lane_table = self.by_lanes(tables)
            self._free: set[tuple[int, int]] = set()
            """Tables of planes, and numbers of lanes, that are known to be without a dependency cycle."""
            self._check_arrival()
        except RoutingError as error:
            raise with_advice(error, scenario, self.classes, self.technology) from error
        self.distributions = distributions_of(scenario, graph, self.technology, self.table)
        """Targets that stand for several terminals."""
        self.addresses = addresses_of(scenario, graph, self.technology, self.table)
        """Address bytes in front of headers, deleted on the path."""

    def _check_arrival(self) -> None:
        """Raise RoutingError if packets do not arrive.

        Where all entries of a table prove that none wait in a cycle, they prove that too; the packets of
        other tables are followed.
        """
        for graph, table in {id(table): (graph, table) for graph, table in self.planes}.values():
            apart = self.waiting_apart(at_first=True)
            ways = {_alike(table, own): self.as_waited_for(graph, table, own) for own in apart}
            proved = [own for own, (way, lanes) in ways.items() if routing.proved(graph, way, lanes)]
            free = {(id(table), own) for own in proved}
            if not free or table.levels is not None:
                routing.verify(graph, table)
            self._free |= free

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

        A packet that keeps its wire while it waits blocks all lanes of that wire. Escape lanes free of cycles
        are enough (J. Duato 1993) only where lanes are granted with room: otherwise a packet is granted any
        free lane before there is credit for it, and then waits for the credit of that lane alone.
        """
        if self.distributions:
            return distribution_cycle(self.graph, self.table, self.distributions)
        return next((cycle for _, cycle in self.lane_cycles), None)

    @cached_property
    def lane_cycles(self) -> list[tuple[str, list[int]]]:
        """Return each plane with a cycle, and one by lanes."""
        cycles = []
        for plane, (graph, table) in zip(self.graph.planes, self.planes, strict=True):
            for own in self.waiting_apart(at_first=True):
                if (id(table), _alike(table, own)) in self._free:
                    continue
                way, lanes = self.as_waited_for(graph, table, own)
                if self.lane_choice == "escape":
                    # Packets that escape by detours may come back, which is a cycle and no error.
                    at = routing.phases_cycle(graph, [routing.Phase(way, np.zeros(0, np.int64))], lanes)
                    found = None if at is None else at[1]
                else:
                    found = routing.dependency_cycle(graph, way, lanes, tried=True)
                if found is not None:
                    cycles.append((plane.name, self._lanes_of(found, own[:lanes], plane.first_link)))
                    break
        return cycles

    def is_free(self, graph: Graph, table: RouteTable) -> bool:
        """Return whether packets by another table of a plane cannot wait for each other in a cycle."""
        ways = (self.as_waited_for(graph, table, own) for own in self.waiting_apart(at_first=True))
        return all(routing.dependency_cycle(graph, way, lanes) is None for way, lanes in ways)

    def dead_in_turn(self, scenario: Scenario, columns: Arrays, tick_ps: Ps) -> list[Turn]:
        """Return the links that are dead when tables are replaced, in the order of the replacements."""
        if not scenario.fault:
            return []
        from .faults import dead_in_turn

        return dead_in_turn(scenario, self, columns, tick_ps)

    def cycles(
        self, scenario: Scenario, pairs: Pairs | None, turns: list[Turn], alone: bool = False
    ) -> Iterator[Cycle]:
        """Yield, for each plane with a cycle of links or lanes, the number of the table with which it
        appears, 0 for the first, their names, and its own.

        ``pairs``: terminals between which packets are sent; None: between any. ``alone``: whether the first
        table is left out.
        """
        if (not turns and (pairs is None or self.via)) or self.distributions or self.with_room:
            found = [("", self.lane_cycle or [])] if self.distributions else self.lane_cycles
            yield from ((0, self._named(cycle), name) for name, cycle in found if cycle)
            return
        first = [] if alone else [Turn(frozenset())]
        for at, plane in enumerate(self.graph.planes):
            here = None if pairs is None else ports_of(self.graph, plane.port, pairs)
            for own in self.waiting_apart():
                phases = phases_of(scenario, self, at, own, [*first, *turns], here)
                found = routing.phases_cycle(plane.graph, phases, len(own))
                if found is not None:
                    place, cycle = found
                    yield place, self._named(self._lanes_of(cycle, own, plane.first_link)), plane.name
                    break

    def waiting_apart(self, at_first: bool = False) -> list[list[int]]:
        """Return lanes of a link whose packets never wait for those of others: a packet of one class never
        waits for a lane of another class, but one that keeps its wire while it waits blocks all lanes.
        ``at_first``: without the lanes of packets by other tables alone.
        """
        if self.technology.holds_wire:
            return [[0]]
        lanes = self.classes.lanes
        return lanes[: len(lanes) // 2] if at_first and self.classes.twice else lanes

    def _in_rings(self) -> list[tuple[Graph, RouteTable]]:
        """Return each plane with the rings of its table."""
        if len(self.classes.lanes) > 1:
            message = "a bubble is for packets that may take any lane: leave the lanes of traffic classes out"
            raise RoutingError(message, "lane_choice")
        found = {id(table): routing.in_rings(graph, table) for graph, table in self.planes}
        return [(graph, found[id(table)]) for graph, table in self.planes]

    def _with_escapes(self) -> list[tuple[Graph, RouteTable]]:
        """Return each plane with the shortest paths of its packets, and keep the tables of their escapes."""
        found: dict[int, RouteTable] = {}
        for graph, escape in self.planes:
            if id(graph) not in found:
                ways = shortest_path(graph, "adaptive", [], next_hops="all")
                found[id(graph)] = self.with_escape(ways, escape)
        return [(graph, found[id(graph)]) for graph, _ in self.planes]

    def with_escape(self, ways: RouteTable, escape: RouteTable) -> RouteTable:
        """Return the paths of packets that escape by another table."""
        found = replace(ways, kind=escape.kind, note=f"any shortest path, with {escape.kind} as escape")
        self._escape[id(found)] = escape
        return found

    def divide(self, graph: Graph, table: RouteTable, lanes: int, half: int | None = None) -> RouteTable:
        """Return a table of a plane by lanes; one after a fault follows no rings, so it has no dateline."""
        escape = self._escape.get(id(table))
        ways, choice = None if escape is None else table, self.lane_choice
        if choice in routing.DATELINES and not any(table is usual for _, usual in self.planes):
            choice = None
        return routing.divide(graph, escape or table, lanes, choice, half, ways)

    @property
    def escapes(self) -> bool:
        """Whether a packet can take an escape lane as long as it waits."""
        return self.lane_choice == "escape-with-room"

    @property
    def with_room(self) -> bool:
        """Whether lanes are granted to packets only with room behind them."""
        return self.escapes or self.bubble

    @property
    def bubble(self) -> bool:
        """Whether packets come into rings only where a place stays free."""
        return self.lane_choice == "bubble"

    def as_waited_for(self, graph: Graph, table: RouteTable, own: list[int]) -> tuple[RouteTable, int]:
        """Return a table by these lanes of each link, or by whole links where packets that wait hold them,
        and for how many of the lanes it is: where packets can always escape, for the escape lanes.
        """
        if self.technology.holds_wire:
            if self.lane_choice not in routing.ESCAPES:
                return table, len(own)
            # What waits on a free lane holds the wire of the escape lane, too.
            known = table if id(table) in self._escape else None
            return known or shortest_path(graph, "adaptive", [], next_hops="all"), len(own)
        if self.escapes:
            return routing.escape_part(graph, self._escape[id(table)], len(own))
        if table.levels is not None:
            return routing.of_level(graph, table, own[0]), 1
        known = self._divided.get((id(table), len(own), None))
        return known or self.divide(graph, table, len(own)), len(own)

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
            (graph, *self.as_waited_for(graph, table, own))
            for graph, table in self.planes
            for own in self.waiting_apart(at_first=True)
        ]

    def by_lanes(self, tables: Sequence[RouteTable], upper: Sequence[RouteTable] = ()) -> RouteTable:
        """Return one table of those of all planes, by lanes and classes of packets; ``upper``: those of the
        upper half of the sets of lanes, if these are others.
        """
        halves, graphs = self.classes.halves or (None,), [plane.graph for plane in self.graph.planes]
        lower = len(self.classes.lanes) // (2 if upper else 1)
        made = [[*zip(graphs, own, strict=True)] for own in (tables, upper or tables)]
        ways = [
            self._on_lanes(made[at >= lower], own, half)
            for at, own in enumerate(self.classes.lanes)
            for half in halves
        ]
        return merged(routing.by_class(ways), self.graph)

    def _on_lanes(
        self, planes: Sequence[tuple[Graph, RouteTable]], own: list[int], half: int | None
    ) -> RouteTable:
        """Return the groups for the packets of a traffic class, which may use some lanes of each link."""
        lanes = self.technology.lanes
        if len(own) < lanes and any(table.group_lanes is not None for _, table in planes):
            what = "after_fault.own_lanes" if self.classes.twice else "service_levels"
            what = "traffic_class" if self.classes.by_pair is None else what
            raise RoutingError(f"the table names lanes itself: leave {what} out", what)
        try:
            for plane, table in planes:
                key = (id(table), len(own), half)
                if key not in self._divided:
                    self._divided[key] = self.divide(plane, table, len(own), half)
            divided = [self._divided[id(table), len(own), half] for _, table in planes]
        except RoutingError as error:
            if len(own) == lanes:
                raise
            numbers = f"lane {own[0]}" if len(own) == 1 else f"lanes {', '.join(map(str, own))}"
            message = f"the traffic class of {numbers}: {error}"
            raise RoutingError(message, error.parameter, error.named, lanes=error.lanes) from error
        together = routing.together(self.graph, [routing.on_lanes(one, own, lanes) for one in divided], lanes)
        return narrowed(together, self.graph, self.network.link_lanes, lanes)

    def check_programs(self, scenario: Scenario, programs: Programs | None) -> None:
        """Raise ScenarioError for programs of SpaceWire that do not fit the routes."""
        check_schedule(scenario, self.graph, self.table, programs)
        check_reply_addresses(scenario, self.graph, self.addresses, programs)

    def check_protocol(self, scenario: Scenario, protocol: dict[str, Any]) -> None:
        """Raise ScenarioError if packets are sent again too early for an acknowledgement, or twice."""
        after_ps, tech = protocol["resend_after_ps"], self.technology
        least_ps = round(tech.packet_ps(protocol["packet_bytes"]) + tech.packet_ps(0))
        if 0 < after_ps < least_ps:
            message = f"a resend_after of {format_time_ps(after_ps)} is shorter than the longest packet and "
            message += f"its acknowledgement take on one link, {format_time_ps(least_ps)}: each packet would "
            message += "be sent again"
            raise scenario.error(message, ("protocol", "resend_after"), "make it some times as long")
        if after_ps and getattr(scenario.program, "retry_after_ps", None) is not None:
            message = "the protocol sends packets again already, and would hide from the program what is lost"
            raise scenario.error(message, ("program", "retry_after"), "remove it, or protocol.resend_after")

    @cached_property
    def columns(self) -> Arrays:
        """The engine's columns of routes."""
        table, classes = self.lane_table, self.classes
        sets = len(classes.lanes) * (len(classes.halves) or 1)
        return {
            "switch_choice": self.choices(table),
            **_route_columns(table),
            **class_columns(classes, self.graph, table.classes // sets),
            "link_deletes_address": self.addresses.deletes,
            "via_switch": u32(table.via_switch),
            "via_class": u32(table.via_class),
            "via_by_queue": 0 if table.threshold is None else table.threshold + 1,
            "grant_with_room": int(self.with_room),
            "link_ring": self._link_rings(),
            **self._distributed(),
        }

    def columns_after(self, scenario: Scenario, columns: Arrays, tick: Ps) -> Arrays:
        """Return the tables that replace others after faults, parts of groups, and congestion control."""
        found = congestion.columns_of(scenario, self.technology, tick)
        if scenario.fault:
            from .faults import table_columns

            found |= table_columns(scenario, self, columns, tick)
        choice = self.technology.group_choice
        if choice in ONE_EACH:
            found |= parts_of(columns | found, sources_in_a_row(self.graph) if choice == "source" else None)
        return found

    def check(self, scenario: Scenario, arrays: Arrays) -> None:
        """Raise ScenarioError if a buffer cannot hold a whole packet where it must, or memory the queues."""
        try:
            longest, buffers = self._longest_chars(arrays), self.network.buffers[self.network.usual]
            least = self.technology
            if len(buffers):
                least = replace(least, input_buffer_chars=int(buffers.min()))
            least.check_whole_packets(longest, self.via, 2 if self.bubble else 1)
            self.technology.check_watchdog(longest, self.via)
            congestion.check_pace(arrays, self.graph.link_names)
            congestion.check_drops(scenario, arrays)
            congestion.check_shared(self.technology, arrays, self.graph.switch_names, longest + 1)
            if self.with_room:
                self._check_room(scenario, arrays)
            congestion.check(scenario, arrays)
            if self.technology.group_choice in ONE_EACH and self.lane_choice in (*routing.ESCAPES, "bubble"):
                message = f"{self.lane_choice} is for packets that take any free lane of those that they may"
                raise TechnologyError(message, "group_choice", "choose another one")
            if arrays["output_queues"]:
                check_queues(_native.queues(arrays))
        except TechnologyError as error:
            raise scenario.located(error, "technology") from error

    def _check_room(self, scenario: Scenario, arrays: Arrays) -> None:
        """Raise ScenarioError if lanes cannot be granted with room, or links may fail."""
        if scenario.fault or len(arrays["link_pause_above"]):
            what = "faults" if scenario.fault else "switches that pause senders or drop packets"
            message = f"{self.lane_choice} is not simulated together with {what}"
            hint = f'write lane_choice = "{"dateline" if self.bubble else "escape"}"'
        elif not _native.is_by_packet(arrays):
            message, hint = f"{self.lane_choice} grants lanes to whole packets", congestion.WHOLE
        else:
            return
        raise scenario.error(message, ("routing", "lane_choice"), hint)

    def _longest_chars(self, arrays: Arrays) -> int:
        """Return the payload characters of the longest packet."""
        names = ("length_min", "length_max", "length_values", "list_length", "flow_length")
        longest = max((int(arrays[name].max()) for name in names if len(arrays[name])), default=0)
        packet = max(arrays["message_packet_bytes"], arrays["message_small_packet_bytes"])
        return self.technology.payload_chars(max(longest, packet))

    def warnings(self, arrays: Arrays) -> list[str]:
        """Return warnings about a network that can be computed."""
        room = congestion.headroom(arrays, self.graph.link_names, self._longest_chars(arrays) + 1)
        lanes = [*promised(self.technology), *slots_by_chance(self.technology, arrays)]
        lanes += [*coded(self.technology, self.graph), *without_parts(self.technology.group_choice, arrays)]
        return [*self.network.roundings(), *room, *lanes]

    def doubts(self, arrays: Arrays, native: Mapping[str, Any]) -> list[str]:
        """Return warnings about the results of a run."""
        return congestion.overfull(arrays, self.graph.link_names, native)

    def _link_rings(self) -> NDArray[np.uint32]:
        """Return, per link, its one-way ring; empty if packets go into rings as anywhere."""
        if not self.bubble:
            return u32([])
        found, count = np.full(self.graph.links, routing.NONE, np.uint32), 0
        for plane, (graph, table) in zip(self.graph.planes, self.planes, strict=True):
            assert table.ring_of is not None
            own = np.flatnonzero(table.ring_of != routing.NONE)
            found[plane.first_link + own] = table.ring_of[own] + count
            count += graph.links
        return found

    def _distributed(self) -> Arrays:
        """Return the columns of distributions, and the routes extended by theirs."""
        if not self.distributions:
            return {}
        table, spread = with_distributions(self.lane_table, self.distributions)
        counts = [len(one.receivers) for one in self.distributions]
        return {
            **_route_columns(table),
            "group_all": spread,
            "distribution_start": u32([0, *np.cumsum(counts)]),
            "distribution_port": u32([port for one in self.distributions for port in one.receivers]),
        }

    def choices(self, table: RouteTable) -> NDArray[np.uint8]:
        """Return, per switch, how a free lane is chosen; empty if no group has several lanes."""
        several = np.diff(table.group_start) > 1
        found = np.full(self.graph.switches, number("choice", "first"), np.uint8)
        if not self.escapes and self.technology.group_choice not in ONE_EACH:
            found[np.asarray(table.group_switch)[several]] = number("choice", self.technology.group_choice)
        return found


def _alike(table: RouteTable, own: list[int]) -> int:
    """Return a number that sets of lanes have in common on which packets wait in the same way."""
    return len(own) if table.levels is None else own[0]


def planes_with(graph: Graph, parameters: dict[str, Any]) -> list[tuple[Graph, RouteTable]]:
    """Return each plane with its table; planes with the same graph share a table."""
    known: dict[int, RouteTable] = {}
    graphs = {id(plane.graph): plane.graph for plane in graph.planes}
    names = {at: {*one.switch_names, *one.terminal_names} for at, one in graphs.items() if len(graphs) > 1}
    for plane in graph.planes:
        if id(plane.graph) not in known:
            others = set().union(*names.values())
            own = {**parameters, "elsewhere": others - names.get(id(plane.graph), others)}
            fill_routing(own, plane.graph.family)
            table = routing.build(plane.graph, **own)
            known[id(plane.graph)] = table
    return [(plane.graph, known[id(plane.graph)]) for plane in graph.planes]


def _route_columns(table: RouteTable) -> Arrays:
    """Return the columns of groups and routes."""
    return {
        "group_switch": u32(table.group_switch),
        "group_start": u32(table.group_start),
        "group_links": u32(table.group_links),
        "terminal_class": u32(table.terminal_class[: table.terminals]),
        **entry_columns(table),
    }


def entry_columns(table: RouteTable) -> Arrays:
    """Return the columns of the entries."""
    shared, runs = table.shared, table.runs
    return {
        "classes": table.classes,
        "route": u32(table.rows).ravel(),
        "route_start": u32([] if runs is None else runs.start),
        "route_end": u32([] if runs is None else runs.end),
        "class_column": u32([] if shared is None else shared.column),
        "class_exit": u32([] if shared is None else shared.exit),
    }
