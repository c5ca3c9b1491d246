"""Clocks that a graph file gives to single switches and terminals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scenario import Scenario
from ..technology import Technology, TechnologyError, technology
from ..technology.model import Ps
from ..topology import Graph
from ..topology.graph import Ints
from ..topology.raw import CYCLE
from .columns import Times, whole

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

    def per_switch(self, duration: Callable[[Technology], Ps]) -> NDArray[Any]:
        """Return a duration of every switch, in ps."""
        return whole([duration(one) for one in self.technologies])[self.of_switch]

    def per_link(self, times_at: Callable[[Technology], Times]) -> Times:
        """Return the times of every link, from those that all links would have at each clock."""
        times = times_at(self.technologies[0])
        for number, one in enumerate(self.technologies[1:], 1):
            here, own = self.of_link == number, times_at(one)
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
