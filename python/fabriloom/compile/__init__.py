"""From a scenario to the flat arrays of the engine: graph, routes and traffic, checked and joined.

``links`` and ``rings`` have the columns of the two kinds of network, ``columns`` what they share,
``programs`` what terminals do when they are no sources.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from .. import topology, traffic
from ..programs import Programs
from ..scenario import Scenario, needed
from ..technology import RingTechnology, Technology
from ..topology import Graph, GraphError
from ..traffic import TrafficError
from .columns import Arrays, unused
from .links import LinkParts
from .programs import packet_demand, program_columns, programs_of
from .rings import RingParts

__all__ = ["Arrays", "Compiled", "LinkParts", "RingParts", "compile", "graph_of"]

_MAX_TICKS = 2**62


@dataclass(frozen=True)
class Compiled:
    """A scenario ready to run."""

    scenario: Scenario
    parts: LinkParts | RingParts
    """The network by its kind, with its routes."""
    technology: Technology | RingTechnology
    arrays: Arrays
    """The columns of the engine (their meaning: ``crates/engine/src/fabric``) and its scalars."""
    warnings: list[str] = field(default_factory=list)
    programs: Programs | None = None
    """What terminals do; none: they are sources."""

    @property
    def graph(self) -> Graph:
        """The network."""
        return self.parts.graph

    @property
    def tick_ps(self) -> int:
        """Picoseconds of one tick of the engine."""
        return int(self.arrays["tick_ps"])

    @property
    def reverse_load(self) -> Fraction:
        """How busy opposite directions are taken to be, see ``Technology.reverse_load``."""
        return self.technology.reverse_load

    def beside(self, reverse_load: Fraction) -> Compiled:
        """The same network, sources included, with opposite directions that are this busy."""
        if isinstance(self.parts, RingParts):
            return self
        tech = self.parts.technology.beside(reverse_load)
        columns = _joined(self.scenario, self.parts, self.parts.columns(tech), self.programs)
        return Compiled(self.scenario, self.parts, tech, columns, self.warnings, self.programs)

    @property
    def cycle(self) -> list[int] | None:
        """Links of a cycle in the channel dependency graph; none if the routing cannot deadlock."""
        return self.parts.cycle

    def demand(self) -> traffic.Demand:
        """What each terminal sends to each other, the busiest 1 in all."""
        if self.programs is None:
            return traffic.demand(self.arrays)
        return packet_demand(self.programs, self.arrays)

    def cycle_names(self) -> list[str]:
        """Names of the links of :attr:`cycle`."""
        return [self.graph.link_names[link] for link in self.cycle or []]


def graph_of(scenario: Scenario) -> Graph:
    """The network of a scenario alone. Raises ScenarioError."""
    try:
        return topology.build(**scenario.parameters("topology"))
    except GraphError as error:
        raise scenario.located(error, "topology") from error


def compile(scenario: Scenario) -> Compiled:
    """Build and check everything a run needs.

    Raises:
        ScenarioError: the scenario describes something that cannot be built; it says where and why.
        TypeError: this is no scenario.
    """
    needed(scenario)
    graph = graph_of(scenario)
    if scenario.of_rings:
        parts = RingParts(scenario, graph)
        columns = parts.columns()
    else:
        parts = LinkParts(scenario, graph)
        columns = parts.columns(parts.technology)
    programs = programs_of(scenario, graph)
    arrays = _joined(scenario, parts, columns, programs)
    compiled = Compiled(scenario, parts, parts.technology, arrays, programs=programs)
    if compiled.cycle:
        names = compiled.cycle_names()
        shown = " -> ".join([*names[:8], *(["…"] if len(names) > 8 else []), names[0]])
        message = f"the routing can deadlock: packets can wait for each other along {shown}"
        compiled.warnings.append(message)
    return compiled


def _joined(
    scenario: Scenario, parts: LinkParts | RingParts, columns: Arrays, programs: Programs | None
) -> Arrays:
    """All arrays: of the network and of its terminals, whose loads are of the parts' technology."""
    tick_ps = int(columns["tick_ps"])
    if scenario.run.duration_ps // tick_ps > _MAX_TICKS:
        raise scenario.error("the run is too long", ("run", "duration"), "shorten it")
    if programs is None:
        terminals = _sources(scenario, parts, tick_ps)
    else:
        terminals = program_columns(scenario, parts, programs, tick_ps)
    counts = {"switches": parts.graph.switches, "terminals": parts.graph.terminals, "seed": scenario.seed}
    return {**unused(), **counts, **columns, **terminals}


def _sources(scenario: Scenario, parts: LinkParts | RingParts, tick_ps: int) -> Arrays:
    try:
        return traffic.build(
            parts.graph,
            parts.technology,
            scenario.parameters("traffic"),
            tick_ps=tick_ps,
            seed=scenario.seed,
            via=parts.via,
        )
    except TrafficError as error:
        raise scenario.located(error, "traffic") from error
