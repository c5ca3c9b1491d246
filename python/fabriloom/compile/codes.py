"""The columns of time-codes and interrupts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..codes import number
from ..scenario import Scenario
from ..scenario.errors import Path
from ..scenario.resolve import listed
from ..scenario.schema import CODES
from ..technology import Technology
from ..technology.model import Ps, Rate
from ..topology import Graph
from .columns import Arrays, Times, fill, per_link, u32, vertices_named
from .interfaces import Interfaces
from .times import MOST_DELAY_TICKS, MOST_LINK_TICKS, Durations

MOST_CODES = 10_000_000
"""A run cannot have more codes than this."""


@dataclass(frozen=True)
class Source:
    """A port that sends codes; times in ps."""

    port: int
    number: int | None
    """The engine's number of an interrupt or a broadcast; None for time-codes."""
    first_ps: int
    every_ps: int
    until_ps: int
    path: Path
    """The source's place in the scenario."""

    @property
    def count(self) -> int:
        """Return the number of codes that it sends."""
        return max(0, -(-(self.until_ps - self.first_ps) // self.every_ps))


def _sources(scenario: Scenario, graph: Graph) -> list[Source]:
    """Return all ports that send codes. Raises ScenarioError."""
    found, duration_ps = [], scenario.run.duration_ps
    for place, one in enumerate(scenario.time_code):
        path: Path = ("time_code", place)
        first_ps = one.every_ps if one.first_ps is None else one.first_ps
        until_ps = min(one.until_ps or duration_ps, duration_ps)
        for port in _ports(scenario, graph, one.master, (*path, "master")):
            found.append(Source(port, None, first_ps, one.every_ps, until_ps, path))
    for path, other in listed(scenario, "interrupt", "broadcast"):
        every_ps = other.every_ps or duration_ps
        for port in _ports(scenario, graph, other.source, (*path, "source")):
            found.append(Source(port, other.number, other.first_ps, every_ps, duration_ps, path))
    _check_masters(scenario, graph, found)
    _check_count(scenario, found)
    return found


def _ports(scenario: Scenario, graph: Graph, name: str | int, path: Path) -> list[int]:
    return [one - graph.switches for one in vertices_named(scenario, graph, "terminal", name, path)]


def _check_masters(scenario: Scenario, graph: Graph, sources: list[Source]) -> None:
    """Refuse two masters of time that are active at the same time on one network."""
    masters = [one for one in sources if one.number is None]
    for place, one in enumerate(masters):
        for before in masters[:place]:
            if one.path == before.path or _plane(graph, one.port) != _plane(graph, before.port):
                continue
            if one.first_ps < before.until_ps and before.first_ps < one.until_ps:
                message = f"{graph.port_names[before.port]} is the master of time on this network already: "
                message += "time-codes of two would not follow each other"
                hint = "keep one, or have one end with until before the other begins with first"
                raise scenario.error(message, (*one.path, "master"), hint)


def _plane(graph: Graph, port: int) -> int:
    return 0 if graph.several is None else int(graph.several.plane[port])


def _check_count(scenario: Scenario, sources: list[Source]) -> None:
    for one in sources:
        if one.count > MOST_CODES:
            message = f"{one.count:,} of them in the run are more than {MOST_CODES:,}"
            raise scenario.error(message, (*one.path, "every"), "send them less often, or shorten the run")


def _times_ps(graph: Graph, tech: Technology, interfaces: Interfaces) -> Times:
    """Return, per link, how long a code takes on its wire, and when it has arrived.

    An external port passes a code as a character, and has no delay of a receiver or a transmitter.
    """
    source, target = np.asarray(graph.link_source), np.asarray(graph.link_target)
    external, switches = interfaces.external(graph), graph.switches
    ends = 4 * external + 2 * (source < switches) + (target < switches)

    def times_of(rate: Rate | None, length_m: float | None, end: int) -> dict[str, Ps]:
        if end & 4:
            character_ps = tech.beside(Fraction(0)).character_ps(rate)
            late_ps = 0 if end & 1 else tech.receiver_latency_ps  # which receive replaces
            return {"code": character_ps, "code_arrival": character_ps + tech.cable_ps(length_m) + late_ps}
        arrival = tech.code_arrival_ps(bool(end & 1), bool(end & 2), rate, length_m)
        return {"code": tech.code_ps(rate), "code_arrival": arrival}

    times = per_link(graph, times_of, ends.astype(np.int64))
    times["code_arrival"] = times["code_arrival"] + interfaces.added_ps(graph, tech, "code")
    return times


@dataclass(frozen=True)
class Codes:
    """The codes that a network sends besides packets."""

    sources: list[Source]
    times_ps: Times
    tech: Technology
    switches: int

    def durations(self) -> list[Durations]:
        """Return the durations that the tick has to divide."""
        path = ("technology",)
        every = [*self.times_ps["code"], *self.times_ps["code_arrival"], self.tech.code_forward_ps]
        return [
            Durations.of("technology.time_code_bits", path, every, MOST_LINK_TICKS),
            Durations.of("technology.interrupt_hold", path, self.tech.interrupt_hold_ps, MOST_DELAY_TICKS),
        ]

    def columns(self, tick_ps: Ps) -> Arrays:
        """Return the engine's columns."""
        tech, sources = self.tech, self.sources
        grain_ticks = tech.grain_ps // tick_ps

        def moments(values_ps: list[int]) -> np.ndarray:
            return np.array([value // tech.grain_ps * grain_ticks for value in values_ps], np.uint64)

        early = tech.code_jitter_ps // tick_ps
        numbers = [number("signal", "time") if one.number is None else one.number for one in sources]
        return {
            **{f"link_{name}_ticks": u32(column // tick_ps) for name, column in self.times_ps.items()},
            "switch_code_ticks": fill(self.switches, tech.code_forward_ps // tick_ps),
            **({"code_jitter_ticks": early} if early else {}),
            "interrupt_hold_ticks": tech.interrupt_hold_ps // tick_ps,
            "code_port": u32([one.port for one in sources]),
            "code_number": np.array(numbers, np.uint8),
            "code_first_ticks": moments([one.first_ps for one in sources]),
            "code_period_ticks": moments([one.every_ps for one in sources]),
            "code_count": np.array([one.count for one in sources], np.uint64),
        }


def codes_of(
    scenario: Scenario, graph: Graph, tech: Technology, interfaces: Interfaces, carry: NDArray[np.bool_]
) -> Codes:
    """Return the codes that a scenario sends, checked; ``carry``: which links do. Raises ScenarioError."""
    times = _times_ps(graph, tech, interfaces)
    times["code"] = np.where(carry, times["code"], 0)
    times["code_arrival"] = np.where(carry, times["code_arrival"], times["code_arrival"][carry][0])
    sources = _sources(scenario, graph)
    for one in sources:
        if not carry[graph.terminal_out_links[one.port]]:
            message = f"{graph.port_names[one.port]} is at a cable of another technology, without broadcasts"
            raise scenario.error(message, (*one.path, "source"), "name a terminal with a cable of SpaceFibre")
    _check_rate(scenario, sources, int(times["code"].max()))
    if scenario.interrupt or scenario.broadcast:
        _check_hold(scenario, graph, tech, times)
    return Codes(sources, times, tech, graph.switches)


def _check_rate(scenario: Scenario, sources: list[Source], code_ps: int) -> None:
    """Refuse more codes than the slowest wire can carry."""
    busy = {one.path: code_ps / one.every_ps for one in sources}
    if sum(busy.values()) > 0.5:
        worst = max(busy, key=lambda path: busy[path])
        message = f"codes would take {sum(busy.values()):.0%} of the slowest link"
        raise scenario.error(message, (*worst, "every"), "send them less often: half of it is the most")


def _check_hold(scenario: Scenario, graph: Graph, tech: Technology, times: Times) -> None:
    """Refuse interrupts that could circulate for ever."""
    vertices = graph.switches + len(graph.port_names)
    if graph.links <= 2 * (vertices - len(graph.planes)):
        return
    slowest = graph.attributes.get("rate_bits_per_s")
    rate = None if slowest is None or np.isnan(slowest).all() else round(float(np.nanmin(slowest)))
    others = sum(len(getattr(scenario, name)) for name in CODES)
    hop_ps = int((others * times["code"] + times["code_arrival"]).max())
    hop_ps += tech.code_forward_ps + tech.character_ps(rate)
    least_ps = hop_ps * (graph.switches + 1)
    if tech.interrupt_hold_ps < least_ps:
        hold, least = "interrupt_hold", f'"{-(-least_ps // 1_000_000)} us"'
        if tech.in_flits:
            cycle_ps = tech.grain_ps * tech.lane_rules.physical
            hold, least = "broadcast_hold_cycles", str(-(-least_ps // cycle_ps))
        message = "it could go round in the circles of this network for ever: it is forgotten before it has "
        message += "come everywhere"
        path: Path = ("technology", hold)
        if hold not in scenario.raw.get("technology", {}):
            path = ("interrupt" if scenario.interrupt else "broadcast",)
        raise scenario.error(message, path, f"write technology.{hold} = {least}")
