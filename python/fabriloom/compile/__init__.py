"""Compile a scenario to the flat arrays of the engine: build graph, routes and traffic, check them, join
them.

``links`` and ``rings`` make the columns of the two kinds of network, ``columns`` those that both kinds share,
``programs`` those of terminals that run programs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .. import topology, traffic
from ..scenario import Scenario, scenario_of
from ..technology import RingTechnology, Technology
from ..technology.model import Ps
from ..topology import Graph, GraphError
from ..traffic import TrafficError
from .columns import Arrays, Tenths, ports, unused
from .deadlock import Deadlock, deadlock_of
from .distributions import check_distributions
from .kinds import KINDS, Parts
from .links import LinkParts
from .newest import Newest
from .rings import RingParts
from .rounding import roundings
from .several import check_graph, check_pairs, parallel, port_pairs
from .ticks import MOST_WAIT_TICKS, Durations, tick_ps

if TYPE_CHECKING:
    from ..programs import Programs

FEW_FLOWS = 512
"""Most flows whose bounds are computed with every run: this takes no noticeable time."""

__all__ = ["Arrays", "Compiled", "LinkParts", "Parts", "RingParts", "compile", "graph_of", "port_pairs"]


@dataclass(frozen=True)
class Compiled:
    """A scenario that is ready to run."""

    scenario: Scenario
    parts: Parts
    """The network with its routes."""
    arrays: Arrays
    """The engine's columns (described in ``crates/engine/src/fabric``) and scalars."""
    warnings: list[str] = field(default_factory=list)
    programs: Programs | None = None
    """The programs of the terminals; None if terminals are sources."""
    sources: Arrays = field(default_factory=dict)
    """The sources' columns, with waits in ps, names and requirements of flows; empty for programs."""
    reverse_tenths: Tenths | None = None
    """Assumed load of the opposite direction per link; None: full load, as loads and bounds assume."""

    @property
    def graph(self) -> Graph:
        """Return the network."""
        return self.parts.graph

    @property
    def technology(self) -> Technology | RingTechnology:
        """Return the technology with which loads and bounds are computed."""
        return self.parts.technology

    @property
    def tick_ps(self) -> int | float:
        """Return the engine's tick in picoseconds."""
        tick = float(self.arrays["tick_ps"])
        return int(tick) if tick.is_integer() else tick

    def required_rows(self) -> list[int]:
        """Return the rows of the flows that have a requirement."""
        return np.flatnonzero(self.sources.get("flow_requirement_ps", np.zeros(0)) > 0).tolist()

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
        if not self.parts.hears_back:
            return 0.0
        return 1.0 if self.reverse_tenths is None else float(self.reverse_tenths.mean()) / 10

    def beside(self, reverse_tenths: Tenths) -> Compiled:
        """Return the same network and sources with this load on the opposite directions."""
        if not self.parts.hears_back:
            return self
        arrays = _joined(self.scenario, self.parts, self.programs, self.sources, reverse_tenths)
        return replace(self, arrays=arrays, reverse_tenths=reverse_tenths)

    @property
    def cycle(self) -> list[int] | None:
        """Return links of a cycle in the channel dependency graph; None if the routing cannot deadlock."""
        return self.parts.cycle

    def target_names(self) -> list[str]:
        """Return the names of the terminals, then those of the distributions."""
        return [*self.graph.terminal_names, *(one.label for one in self.parts.distributions)]

    def demand(self) -> traffic.Demand:
        """Return what each terminal sends to each terminal and distribution, scaled to 1 for the busiest."""
        if self.programs is None:
            return traffic.demand(self.arrays)
        from .programs import packet_demand

        return packet_demand(self.programs, self.arrays)

    @cached_property
    def has_few_flows(self) -> bool:
        """Whether sources send to at most ``FEW_FLOWS`` targets in all; many are not counted one by one."""
        even = int(traffic.to_all(self.arrays).sum()) * (self.graph.terminals - 1)
        return even <= FEW_FLOWS and even + len(self.demand().source) <= FEW_FLOWS

    @property
    def mean_packet_bytes(self) -> float:
        """Return the mean payload of a packet in bytes."""
        if self.programs is not None:
            from .programs import mean_packet_bytes

            return mean_packet_bytes(self.programs, self.arrays)
        return traffic.mean_length(self.arrays)[0]

    @property
    def mean_packet_chars(self) -> float:
        """Return the mean characters before the end of a packet; those of a message's packets count full."""
        if self.programs is not None:
            return self.technology.payload_chars(round(self.mean_packet_bytes))
        return traffic.mean_length(self.arrays)[1]

    def cycle_names(self) -> list[str]:
        """Return the names of the links of :attr:`cycle`, with their lanes if links have several."""
        return self.parts.cycle_names()

    @cached_property
    def deadlock(self) -> Deadlock:
        """Whether packets or programs can wait for each other for ever."""
        return deadlock_of(self)


def graph_of(scenario: Scenario) -> Graph:
    """Return the network of a scenario. Raises ScenarioError."""
    try:
        return topology.build(**scenario.parameters("topology"))
    except GraphError as error:
        raise scenario.located(error, "topology") from error


def compile(scenario: Scenario | Mapping[str, object]) -> Compiled:
    """Build and check everything that a run needs.

    Raises:
        ScenarioError: the scenario cannot be built; the message gives the place and the reason.
        TypeError: the argument is not a scenario.
    """
    scenario = scenario_of(scenario)
    parts = _parts(scenario)
    check_graph(scenario, parts.graph)
    check_distributions(scenario)
    programs = _programs_of(scenario, parts.graph)
    parts.check_programs(scenario, programs)
    sources = _sources(scenario, parts) if programs is None else {}
    arrays = _joined(scenario, parts, programs, sources)
    parts.check(scenario, arrays, sources)
    remarks = [*parts.graph.remarks, *roundings(scenario, parts.technology.grain_ps)]
    compiled = Compiled(scenario, parts, arrays, remarks, programs=programs, sources=sources)
    if parts.graph.several is not None or parts.classes.named:
        check_pairs(scenario, parts, compiled.demand())
    compiled.warnings.extend([*compiled.deadlock.warnings(), *parts.warnings(arrays)])
    return compiled


_NOT_OF_ENGINE = ("list_wait_ps", "flow_name", "flow_requirement_ps")
"""Columns of sources that the engine does not get."""
_MOST_KNOWN, _MOST_TERMINALS = 8, 4096
_known: Newest[str, Parts] = Newest(_MOST_KNOWN)
"""The networks that were built last, by everything that determines them: the runs of a study share a few."""


def _parts(scenario: Scenario) -> Parts:
    """Return the network of a scenario with its routes. Raises ScenarioError."""
    made_of = _made_of(scenario)
    if (known := _known.get(made_of)) is not None:
        return known
    graph = graph_of(scenario)
    check_graph(scenario, graph)
    parts = KINDS[graph.kind](scenario, graph)
    if made_of and graph.terminals <= _MOST_TERMINALS:
        _known.keep(made_of, parts)
    return parts


def _programs_of(scenario: Scenario, graph: Graph) -> Programs | None:
    """Return the programs of a scenario, or None if its terminals are sources. Raises ScenarioError."""
    if scenario.program is None:
        return None
    from .programs import programs_of

    return programs_of(scenario, graph)


def _made_of(scenario: Scenario) -> str:
    """Return all that determines a network, files by checksum; empty if a part cannot be resolved."""
    try:
        sections = [scenario.resolved[name] for name in ("topology", "routing", "technology")]
    except (OSError, ValueError):  # the function that needs the wrong value reports it with its place
        return ""
    return json.dumps([*sections, scenario.resolved.get("interface"), scenario.transaction])


def _joined(
    scenario: Scenario, parts: Parts, programs: Programs | None, sources: Arrays, beside: Tenths | None = None
) -> Arrays:
    """Return all columns of the network and of its terminals.

    ``beside`` is the load of the opposite directions in the network's columns. The loads of terminals are
    computed with the full share of flow control.
    """
    own = _durations(scenario, programs, sources)
    codes = parts.codes(scenario)
    own += [] if codes is None else codes.durations()
    tick = tick_ps(scenario, [*parts.durations(beside), *own], parts.technology.grain_ps)
    terminals = _terminals(scenario, parts, programs, sources, tick)
    counts = {"switches": parts.graph.switches, "terminals": parts.graph.terminals, "seed": scenario.seed}
    several = ports(parts.graph, scenario.port_choice)
    columns = {**unused(), **counts, **several, **parts.columns(beside, tick), **terminals}
    if scenario.fault:
        from .faults import fault_columns

        columns |= fault_columns(scenario, parts, tick)
    columns |= {} if codes is None else codes.columns(tick)
    return columns | parts.switch_columns(scenario, columns, tick)


def _durations(scenario: Scenario, found: Programs | None, sources: Arrays) -> list[Durations]:
    """Return the durations of the terminals, which run programs or are sources."""
    if found is not None:
        from .programs import program_durations

        return program_durations(scenario, found)
    waits_ps, arrivals = _waits_ps(sources), scenario.traffic.arrivals
    own = [Durations.of("a wait of the list", ("traffic", "pattern"), waits_ps, MOST_WAIT_TICKS)]
    if arrivals.kind == "wait" and arrivals.wait_ps is not None:
        own.append(Durations.of("a wait", ("traffic", "arrivals", "wait"), arrivals.wait_ps, MOST_WAIT_TICKS))
    return own


def _terminals(scenario: Scenario, parts: Parts, found: Programs | None, sources: Arrays, tick: Ps) -> Arrays:
    """Return the columns of the terminals, which run programs or are sources."""
    if found is not None:
        from .programs import program_columns

        return program_columns(scenario, parts, found, tick)
    terminals = {name: column for name, column in sources.items() if name not in _NOT_OF_ENGINE}
    return {**terminals, "list_wait_ticks": (_waits_ps(sources) // tick).astype(np.uint64)}


def _waits_ps(sources: Arrays) -> np.ndarray:
    return sources.get("list_wait_ps", np.empty(0, np.int64))


def _sources(scenario: Scenario, parts: Parts) -> Arrays:
    try:
        return traffic.build(
            parts.graph.face,
            parts.technology,
            scenario.parameters("traffic"),
            seed=scenario.seed,
            via=parts.via,
            ports=parallel(parts, scenario.port_choice),
            distributions=parts.distributions,
        )
    except TrafficError as error:
        raise scenario.located(error, "traffic") from error
