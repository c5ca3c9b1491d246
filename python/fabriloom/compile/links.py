"""Networks of links and switches with buffers: clocks, times, columns, no routes; and a cache of results."""

from __future__ import annotations

import contextlib
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..codes import number
from ..routing import NONE
from ..scenario import Scenario
from ..scenario.resolve import has_codes
from ..technology import Technology, TechnologyError, technology
from ..technology.model import Ps, Rate
from ..technology.presets import unpadded
from ..topology import Graph, GraphError
from ..topology.graph import Ints
from ..topology.port_addresses import check_limits
from ..topology.raw import CYCLE
from ..units import format_time_ps
from .columns import (
    Arrays,
    Tenths,
    Times,
    check_rates,
    fill,
    per_link,
    terminal_links,
    u32,
    whole,
    with_lengths,
)
from .congestion import pause_columns
from .interfaces import interfaces_of
from .link_routes import LinkRoutes
from .own_sizes import buffers_of, cable_of, lane_rules, lanes_of, with_most_lanes
from .physical_lanes import fewest, slower_ps
from .times import MOST_LINK_TICKS, Durations, coarsest_ps
from .traffic_classes import TrafficClasses, classes_of, high_ports

if TYPE_CHECKING:
    from .codes import Codes


# A cache of the results that were used last.

Key = TypeVar("Key")
Value = TypeVar("Value")


class Newest(Generic[Key, Value]):
    """Values by key, those used last; safe for several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, or None."""
        with contextlib.suppress(KeyError):  # another thread may have dropped it
            self._made.move_to_end(key)
            return self._made[key]
        return None

    def keep(self, key: Key, value: Value) -> Value:
        """Keep a value, drop the one that was unused longest, and return the value."""
        self._made[key] = value
        while len(self._made) > self._most:
            with contextlib.suppress(KeyError):
                self._made.popitem(last=False)
        return value


_FINEST = 10**6
"""A cycle of a file is the fraction of at most this denominator that is nearest to its number in ps."""


@dataclass(frozen=True)
class Clocks:
    """The technology at every clock of a network: delays in cycles are longer where the clock is slower."""

    technologies: list[Technology]
    """By number; number 0 is the clock of the scenario."""
    of_link: Ints
    """Per link: the number of the clock of the switch or terminal that it leaves."""
    of_switch: Ints
    has_cables: bool = False
    """Whether the last one is that of cables of another technology."""

    @property
    def several(self) -> bool:
        """Whether links of the network's own technology have several clocks."""
        return len(self.technologies) - self.has_cables > 1

    def per_switch(self, duration: Callable[[Technology], Ps]) -> NDArray[Any]:
        """Return a duration of every switch, in ps."""
        return whole([duration(one) for one in self.technologies])[self.of_switch]

    def per_link(self, times_at: Callable[[Technology], Times]) -> Times:
        """Return the times of every link, from those that all links would have at each clock."""
        times = times_at(self.technologies[0])
        for clock, one in enumerate(self.technologies[1:], 1):
            here, own = self.of_link == clock, times_at(one)
            times = {name: np.where(here, own[name], column) for name, column in times.items()}
        return times


def clocks_of(scenario: Scenario, graph: Graph, tech: Technology) -> Clocks:
    """Return the clocks of a graph. Raises ScenarioError for links that have no cycle."""
    given = graph.attributes.get(CYCLE)
    if given is None:
        return Clocks([tech], np.zeros(graph.links, np.int64), np.zeros(graph.switches, np.int64))
    if not tech.in_flits:
        message = f"{scenario.technology.preset} has no cycle, so the file can give a switch none"
        raise scenario.error(message, ("topology",), "give its cables a rate, or choose generic")
    values, of_link = np.unique(given, return_inverse=True)
    kinds, numbers = [tech], []
    for value in values.tolist():
        numbers.append(0 if math.isnan(value) else len(kinds))
        if not math.isnan(value):
            cycle_ps = Fraction(value).limit_denominator(_FINEST)
            kinds.append(replace(_at(scenario, cycle_ps), lanes=tech.lanes))
    of_link = np.asarray(numbers, np.int64)[of_link.ravel()]
    of_switch = np.zeros(graph.switches, np.int64)
    source = np.asarray(graph.link_source)
    of_switch[source[source < graph.switches]] = of_link[source < graph.switches]
    return Clocks(kinds, of_link, of_switch)


def with_cables(clocks: Clocks, graph: Graph, cable: Technology | None) -> Clocks:
    """Return the clocks with those of cables of another technology, the last ones."""
    if cable is None:
        return clocks
    of_link = np.where(graph.usual_links, clocks.of_link, len(clocks.technologies))
    return replace(clocks, technologies=[*clocks.technologies, cable], of_link=of_link, has_cables=True)


def _at(scenario: Scenario, cycle_ps: Fraction) -> Technology:
    own = scenario.technology.overrides() | {"cycle_ps": cycle_ps}
    try:
        return technology(scenario.technology.preset, own)
    except TechnologyError as error:
        raise scenario.located(error, "topology") from error


def with_rates(graph: Graph, clocks: Clocks) -> Graph:
    """Return the graph with the rates that follow from the clocks, for links that the file gives none."""
    if len(clocks.technologies) == 1:
        return graph
    rates = np.array([np.nan, *(float(one.link_rate_bits_per_s) for one in clocks.technologies[1:])])
    given = graph.attributes.get("rate_bits_per_s", np.full(graph.links, np.nan))
    rates = np.where(np.isnan(given), rates[clocks.of_link], given)
    return replace(graph, attributes={**graph.attributes, "rate_bits_per_s": rates})


_PARTS = 100
"""Rounded characters have at least this many steps."""
_KEPT = 4
"""Number of times tables that are kept for one network; with matched flow control a run has a few."""


@dataclass(frozen=True)
class _Timed:
    """The times of a network for one load of the opposite directions, and what is computed from them."""

    times_ps: Times
    durations: list[Durations]
    columns: dict[Ps, Arrays] = field(default_factory=dict)
    """Columns by tick in ps."""


class LinkNetwork:
    """A network of links with its technology; every error points into the scenario's file."""

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
        self.cable = cable_of(scenario, graph, self.technology)
        """The technology of the cables that have another one; None if there are none."""
        self.usual = graph.usual_links
        """Per link: whether it is of the network's own technology."""
        self.buffers = buffers_of(scenario, graph, self.technology, self.cable)
        """Per link: characters of its input buffer."""
        usual_lanes = self.technology.lanes
        self.technology = with_most_lanes(scenario, graph, self.technology)
        self.link_lanes = lanes_of(graph, usual_lanes, self.technology.lanes)
        """Per link: its lanes; None if all have as many."""
        self.clocks: Clocks = with_cables(clocks_of(scenario, graph, self.technology), graph, self.cable)
        """The technology at the clock of each switch, and of each link."""
        self._given = graph
        """The graph without the rates that follow from clocks."""
        self.graph = graph = with_rates(graph, self.clocks)
        self._check_credit(scenario)
        self.interfaces = interfaces_of(scenario, graph, self.technology)
        """The interface chips of terminals."""
        self._times_of = lru_cache(maxsize=4096)(_times_of)
        self._fewest = fewest(scenario, self.technology.lane_rules)
        self._known = Newest[bytes | None, _Timed](_KEPT)
        self._known_columns = Newest[Ps, Arrays](_KEPT)
        self._round_times()
        self._high = high_ports(scenario, graph)
        self.classes: TrafficClasses = classes_of(scenario, graph, self.technology)
        """The lanes and ports that each class of packets may use."""
        self._routes: LinkRoutes | None = None

    def _round_times(self) -> None:
        """Round the times of characters and cables to steps if a cable is too long beside exact ones."""
        times, exact_ps = self.times_ps(None), coarsest_ps(self.durations(None), self.technology.grain_ps)
        longest_ps, shortest_ps = times["arrival"].max(), times["character"].min()
        if longest_ps // exact_ps <= MOST_LINK_TICKS:
            return
        most = MOST_LINK_TICKS - 16  # the sum of some rounded times may be some steps longer
        steps = (Fraction(first) * Fraction(10) ** power for power in range(-6, 4) for first in (1, 2, 5))
        step_ps = next((step for step in steps if longest_ps < most * step), shortest_ps)
        if _PARTS * step_ps <= shortest_ps:
            rounded = [replace(one, step_ps=step_ps) for one in self.clocks.technologies]
            self.technology, self.clocks = rounded[0], replace(self.clocks, technologies=rounded)
            self.cable = self.cable and rounded[-1]
            self._known = Newest[bytes | None, _Timed](_KEPT)

    def roundings(self) -> list[str]:
        """Return a warning if characters and cables are rounded to steps."""
        step_ps = self.technology.step_ps
        if not step_ps:
            return []
        rates = set(np.asarray(self.graph.attributes.get("rate_bits_per_s", np.nan)).ravel().tolist())
        most = max(self.technology.rounded(None if math.isnan(rate) else Fraction(rate)) for rate in rates)
        return [
            f"times of characters and cables are whole multiples of {format_time_ps(step_ps)}, as the "
            f"longest cable is very long beside a character: characters change by up to {100 * most:.2g} %"
        ]

    @property
    def is_matched(self) -> bool:
        """Whether characters take their share of flow control by the load of the opposite direction."""
        return any(one.flow_control == "matched" for one in self.clocks.technologies)

    @property
    def sends_when_asked(self) -> bool:
        """Whether links send nothing between packets, so that a wrong bit may be one of nothing."""
        return self.technology.flow_control_bits == 0

    def routes(self, scenario: Scenario) -> LinkRoutes:
        """Return the routes, made once. Raises ScenarioError."""
        if self._routes is None:
            self._routes = LinkRoutes(scenario, self)
        return self._routes

    def codes(self, scenario: Scenario) -> Codes | None:
        """Return the codes that are sent besides packets, or None. Raises ScenarioError."""
        if not has_codes(scenario):
            return None
        from .codes import codes_of

        return codes_of(scenario, self.graph, self.technology, self.interfaces, self.usual)

    def down_with(self, links: list[int]) -> list[int]:
        """Return the links that are down when these fail: no others."""
        return links

    def fault_columns(self, scenario: Scenario, tick: Ps) -> Arrays:
        """Return no columns besides the outages."""
        return {}

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
            for name, values in _durations_ps(self.clocks.technologies, times, self._fewest).items()
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
            more = into * times["receiver"] + out * times["transmitter"]
            times["arrival"] = times["arrival"] + more
        times |= self.interfaces.wired(self.graph, tech, times)
        times |= self.interfaces.spaced(self.graph, tech, times)
        times["arrival"] = times["arrival"] + self.interfaces.added_ps(self.graph, tech, "character")
        kept = {name: times[name] for name in ("character", "end", "arrival", "credit", "flow_control")}
        if tech.lane_rules.frame_chars:
            kept |= {name: times[name] for name in ("frame_start", "frame_end")}
            kept |= {"column": times["column"]} if tech.lane_rules.physical > 1 else {}
        return kept | ({} if self.cable is None else {"padding": times["padding"]})

    def kinds(self) -> list[tuple[Technology, NDArray[np.bool_]]]:
        """Return the technologies of links, each with whether a link is of it."""
        others = [] if self.cable is None else [(self.cable, ~self.usual)]
        return [(self.technology, self.usual), *others]

    def packets_ps(self, mean_bytes: float) -> NDArray[np.float64]:
        """Return, per link, the mean time of packets of this mean payload on cables of another technology,
        beside a full opposite direction; NaN for other links.
        """
        if (cable := self.cable) is None:
            return np.full(self.graph.links, np.nan)
        chars = unpadded(cable, mean_bytes)
        times = per_link(
            self.graph, lambda rate, _, __: {"packet": Fraction(cable.mean_packet_ps(chars, rate))}
        )
        return np.where(self.usual, np.nan, times["packet"].astype(np.float64))

    def _check_credit(self, scenario: Scenario) -> None:
        def checked(rate: Rate | None, length: float | None, most: int) -> dict[str, int]:
            one = self.technology
            if most and self.cable is not None:
                one = replace(self.cable, input_buffer_chars=most)
            one.check_credit(rate, length)
            return {"nothing": 0}

        try:
            per_link(self.graph, checked, np.where(self.usual, 0, self.buffers))
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
        fixed = _links(self.graph, self.technology, self.buffers) | self._switches(tick_ps)
        if self.cable is not None:
            other, lanes = ~self.usual, self.technology.lanes
            for name, size in (("output_buffer", "output_buffer_chars"), ("quantum", "credit_quantum_chars")):
                fixed[f"link_{name}"][other] = getattr(self.cable, size)
            fixed["link_lanes"] = u32(np.where(other, 1, lanes))
        return self._known_columns.keep(tick_ps, fixed)

    def _switches(self, tick: Ps) -> Arrays:
        graph, tech = self.graph, self.technology
        # In which order lanes send that nothing else puts in order.
        turns = "fixed" if tech.lane_arbiter == "fixed" else "round-robin"
        sharing = "character" if tech.lane_sharing == "flit" else tech.lane_sharing
        timeouts = [-(-tech.watchdog_ps // tick)] * graph.switches if tech.watchdog_ps else []

        def ticks(duration: Callable[[Technology], Ps]) -> NDArray[np.uint32]:
            return u32(self.clocks.per_switch(duration) // tick)

        return {
            "lanes": tech.lanes,
            "lane_sharing": number("sharing", sharing),
            "lane_arbiter": number("arbiter", turns) if tech.lanes > 1 else 0,
            **lane_rules(tech, tick),
            "whole_packet_credit": int(tech.switching != "wormhole"),
            "store_and_forward": int(tech.switching == "store-and-forward"),
            "output_queues": int(tech.input_queues == "per-output"),
            "drops": int(tech.drop_when_full),
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
            "port_priority": self._high,
            "switch_timeout_ticks": np.array(timeouts, np.uint64),
        }


def _times_of(
    tech: Technology, tenths: int | None, rate: Rate | None, length_m: float | None
) -> dict[str, Ps]:
    """Return the durations of a link whose opposite direction has this load."""
    tech = tech if tenths is None else tech.beside(Fraction(tenths, 10))
    rules, character_ps = tech.lane_rules, tech.character_ps(rate)
    return {
        "character": character_ps,
        "end": tech.end_ps(rate),
        "arrival": tech.arrival_ps(rate, length_m),
        "credit": tech.credit_ps(rate, length_m),
        "flow_control": tech.flow_control_ps(rate),
        "receiver": tech.receiver_ps(rate) - tech.receiver_latency_ps,
        "transmitter": tech.transmitter_ps(rate),
        "padding": tech.padding_ps(rate),
        "frame_start": rules.frame_start_chars * rules.physical * character_ps,
        "frame_end": rules.frame_end_chars * rules.physical * character_ps,
        "column": rules.physical * character_ps,
    }


def _durations_ps(technologies: Sequence[Technology], times: Times, least: int) -> dict[str, Any]:
    """Return every duration, zeros too, by its main setting; ``technologies`` has one per clock, and links
    never have fewer physical lanes than ``least``.
    """

    def each(duration: Callable[[Technology], Ps]) -> Any:
        return whole([duration(one) for one in technologies])

    tech = technologies[0]
    of_wires = [times[name] for name in ("character", "end", "flow_control", "padding") if name in times]
    characters = np.concatenate(of_wires)
    if tech.in_flits:
        slower = slower_ps(times, least, tech.lane_rules.physical)
        return {
            "cycle": np.concatenate(
                [characters, slower, each(lambda tech: tech.crossbar_ps), each(lambda tech: tech.grain_ps)]
            ),
            "router_cycles": each(lambda tech: tech.decode_latency_ps),
            "forward_cycles": each(lambda tech: tech.forward_latency_ps),
            "link_cycles": times["arrival"],
            "turn_around_cycles": times["credit"],
            "handover_cycles": each(lambda tech: tech.release_ps),
            "next_head_cycles": each(lambda tech: tech.front_ps),
        }
    return {
        "link_rate": np.append(characters, whole([tech.crossbar_ps])),
        "decode_latency": tech.decode_latency_ps,
        "forward_latency": tech.forward_latency_ps,
        "handover": [tech.release_ps, tech.front_ps],
        "cable_length": times["arrival"],
        "turn_around": times["credit"],
    }


def _links(graph: Graph, tech: Technology, buffers: NDArray[np.int64]) -> Arrays:
    """Return the ends and buffers of links."""
    source, target = np.asarray(graph.link_source), np.asarray(graph.link_target)
    to_terminal = target >= graph.switches
    return {
        "link_source": u32(source),
        "link_target": u32(target),
        "link_output_buffer": fill(graph.links, tech.output_buffer_chars),
        "link_input_buffer": u32(buffers),
        "link_quantum": fill(graph.links, tech.credit_quantum_chars),
        "link_reverse": u32(np.where(graph.link_reverse < 0, NONE, graph.link_reverse)),
        "link_deletes_header": (to_terminal & tech.delete_header).astype(np.uint8),
        **pause_columns(graph, tech),
        **terminal_links(graph),
    }
