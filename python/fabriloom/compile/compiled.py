"""A scenario that is ready to run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import traffic
from ..scenario import Scenario
from ..scenario.resolve import listed
from ..scenario.schema import CODES
from ..technology import RingTechnology, Technology
from ..technology.model import Ps
from ..topology import Graph
from ..units import format_cycle, format_time_ps
from .arrays import arrays_of
from .columns import Arrays, Tenths
from .deadlock import Deadlock, deadlock_of
from .networks import Network, Routes
from .several import check_pairs
from .sources import Packets
from .times import Times, times_of

if TYPE_CHECKING:
    from ..programs import Programs
    from .programs import Messages, Required

FEW_FLOWS = 512
"""Most flows whose bounds are computed with every run: this takes no noticeable time."""


@dataclass(frozen=True)
class Compiled:
    """A scenario that is ready to run."""

    times: Times
    arrays: Arrays
    """The engine's columns (described in ``crates/engine/src/fabric``) and scalars."""
    warnings: list[str] = field(default_factory=list)

    @property
    def scenario(self) -> Scenario:
        """The scenario itself."""
        return self.times.scenario

    @property
    def routes(self) -> Routes:
        """The routes of the network."""
        return self.times.routes

    @property
    def network(self) -> Network:
        """The network with its technology."""
        return self.routes.network

    @property
    def sources(self) -> Packets | Messages:
        """What the terminals send."""
        return self.times.sources

    @property
    def programs(self) -> Programs | None:
        """The programs of the terminals; None if terminals are sources."""
        return self.sources.programs

    @property
    def graph(self) -> Graph:
        """Return the network."""
        return self.routes.graph

    @property
    def technology(self) -> Technology | RingTechnology:
        """Return the technology with which loads and bounds are computed."""
        return self.routes.technology

    @property
    def tick_ps(self) -> int | float:
        """Return the engine's tick in picoseconds."""
        tick = float(self.arrays["tick_ps"])
        return int(tick) if tick.is_integer() else tick

    def required_rows(self) -> list[int]:
        """Return the rows of the flows that have a requirement."""
        return np.flatnonzero(self.sources.given.get("flow_requirement_ps", np.zeros(0)) > 0).tolist()

    @property
    def required_messages(self) -> Sequence[Required]:
        """Return the requirements on messages of programs."""
        return self.sources.required

    @property
    def grain_ps(self) -> Ps:
        """Return the grain in picoseconds; durations that are not exact are rounded down to whole grains."""
        return self.technology.grain_ps

    def grain_ticks(self, time_ps: int) -> int:
        """Return a duration in ticks, rounded down to whole grains."""
        return time_ps // self.grain_ps * int(self.arrays["grain_ticks"])

    @property
    def reverse_load(self) -> float:
        """Return the assumed load of opposite directions, averaged over the links; bounds assume 1."""
        beside = self.times.beside
        if not self.graph.network_kind.hears_back:
            return 0.0
        return 1.0 if beside is None else float(beside.mean()) / 10

    @property
    def is_matched(self) -> bool:
        """Whether characters take their share of flow control by the load of opposite directions."""
        return self.network.is_matched

    def beside(self, reverse_tenths: Tenths) -> Compiled:
        """Return the same network and sources with this load on the opposite directions."""
        if not self.graph.network_kind.hears_back:
            return self
        times = times_of(self.sources, reverse_tenths)
        return Compiled(times, arrays_of(times), self.warnings)

    @property
    def cycle(self) -> list[int] | None:
        """Return links of a cycle in the channel dependency graph; None if the routing cannot deadlock."""
        return self.routes.cycle

    def cycle_names(self) -> list[str]:
        """Return the names of the links of :attr:`cycle`, with their lanes if links have several."""
        return self.routes.cycle_names()

    def target_names(self) -> list[str]:
        """Return the names of the terminals, then those of the distributions."""
        return [*self.graph.terminal_names, *(one.label for one in self.routes.distributions)]

    def demand(self) -> traffic.Demand:
        """Return what each terminal sends to each terminal and distribution, scaled to 1 for the busiest."""
        return self.sources.demand(self.arrays)

    @cached_property
    def has_few_flows(self) -> bool:
        """Whether sources send to at most ``FEW_FLOWS`` targets in all; many are not counted one by one."""
        even = int(traffic.to_all(self.arrays).sum()) * (self.graph.terminals - 1)
        return even <= FEW_FLOWS and even + len(self.demand().source) <= FEW_FLOWS

    @cached_property
    def mean_packet_bytes(self) -> float:
        """Return the mean payload of a packet in bytes."""
        return self.sources.mean_packet(self.arrays)[0]

    @cached_property
    def mean_packet_chars(self) -> float:
        """Return the mean characters before the end of a packet; those of a message's packets count full."""
        return self.sources.mean_packet(self.arrays)[1]

    @property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the payloads of packets in bytes, and which part of all packets has each."""
        return self.sources.lengths(self.arrays)

    @cached_property
    def deadlock(self) -> Deadlock:
        """Whether packets or programs can wait for each other for ever."""
        return deadlock_of(self)

    def checked(self) -> Compiled:
        """Return this with its warnings. Raises ScenarioError for what only all arrays together show."""
        routes, scenario = self.routes, self.scenario
        routes.check(scenario, self.arrays)
        remarks = [*self.graph.remarks, *roundings(scenario, self.grain_ps)]
        if self.graph.several is not None or routes.classes.named:
            check_pairs(scenario, routes, self.demand())
        packets = self.sources if isinstance(self.sources, Packets) else self.sources.packets
        held = [] if packets is None else packets.warnings()
        self.warnings.extend([*remarks, *held, *self.deadlock.warnings(), *routes.warnings(self.arrays)])
        return self


# Warnings for times of the user that whole grains change: a grain is 1 ns, or the time of a flit on a link.
_WORTH = 0.01
"""Part of a time from which its change is reported."""
_MOST = 3


def roundings(scenario: Scenario, grain_ps: Ps) -> list[str]:
    """Return a warning for each time that changes by more than 1 %."""
    found = []
    grain = format_cycle(grain_ps)
    a_period = "a period of " if grain.endswith("Hz") else ""
    for name, time_ps, becomes_ps in _times(scenario, Fraction(grain_ps)):
        if abs(becomes_ps - time_ps) > _WORTH * time_ps:
            becomes = "0" if becomes_ps == 0 else format_time_ps(round(becomes_ps))
            message = (
                f"{name} of {format_time_ps(time_ps)} becomes {becomes}: such times are whole multiples "
            )
            found.append(f"{message}of {a_period}{grain}")
    return found[:_MOST]


def _times(scenario: Scenario, grain_ps: Fraction) -> Iterator[tuple[str, int, Any]]:
    """Yield times that are rounded down to grains: their names, and what they become, in ps."""
    sections: list[tuple[str, Any]] = [("run", scenario.run)]
    sections += [(f"{name}[{place}]", one) for (name, place), one in listed(scenario, "fault", *CODES)]
    for section, model in sections:
        for name, time_ps in model.written("mtbf_ps", "mttr_ps").items():
            if name.endswith("_ps") and isinstance(time_ps, int) and time_ps > 0:
                yield f"{section}.{name[:-3]}", time_ps, time_ps // grain_ps * grain_ps
    arrivals = scenario.traffic.arrivals
    wait_ps = getattr(arrivals, "wait_ps", None)
    if scenario.program is None and arrivals.kind == "random-wait" and wait_ps:
        # The mean of an exponential time that is rounded down; 0 where a grain is thousands of such times.
        grains = float(grain_ps / wait_ps)
        becomes_ps = grain_ps * math.exp(-grains) / -math.expm1(-grains)
        yield "the mean traffic.arrivals.wait", wait_ps, becomes_ps
