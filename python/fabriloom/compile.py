"""From a scenario to the flat arrays of the engine: graph, routing table and traffic, checked and joined."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native, routing, topology, traffic
from .routing import RouteTable, RoutingError
from .scenario import Scenario
from .technology import Technology, TechnologyError, technology
from .topology import Graph, GraphError
from .traffic import TrafficError

Arrays = dict[str, Any]

_NONE = 0xFFFF_FFFF
_MAX_TICKS = 2**62
_ARBITERS = {"fifo": 0, "round-robin": 1, "fixed": 2, "random": 3}
_DTYPES = {"u8": np.uint8, "u32": np.uint32, "u64": np.uint64, "f64": np.float64}
_CHOICES = {"first": 0, "least-recent": 1, "random": 2}


@dataclass(frozen=True)
class Compiled:
    """A scenario ready to run."""

    scenario: Scenario
    graph: Graph
    table: RouteTable
    technology: Technology
    arrays: Arrays
    """The columns of the engine (their meaning: ``crates/engine/src/fabric``) and its scalars."""
    parts: Parts
    warnings: list[str] = field(default_factory=list)

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
        tech = self.parts.technology.beside(reverse_load)
        arrays = self.parts.arrays(tech)
        return Compiled(self.scenario, self.graph, self.table, tech, arrays, self.parts, self.warnings)

    @cached_property
    def cycle(self) -> list[int] | None:
        """Links of a cycle in the channel dependency graph; none if the routing cannot deadlock."""
        return routing.dependency_cycle(self.graph, self.table)

    def cycle_names(self) -> list[str]:
        """Names of the links of :attr:`cycle`."""
        return [self.graph.link_names[link] for link in self.cycle or []]


def graph_of(scenario: Scenario) -> Graph:
    """The network of a scenario alone. Raises ScenarioError."""
    try:
        return topology.build(**_for_file(scenario.parameters("topology")))
    except GraphError as error:
        raise scenario.located(error, "topology") from error


def compile(scenario: Scenario) -> Compiled:
    """Build and check everything a run needs.

    Raises:
        ScenarioError: the scenario describes something that cannot be built; it says where and why.
    """
    parts = Parts(scenario)
    arrays = parts.arrays(parts.technology)
    compiled = Compiled(scenario, parts.graph, parts.table, parts.technology, arrays, parts)
    if compiled.cycle:
        names = compiled.cycle_names()
        shown = " -> ".join([*names[:8], *(["…"] if len(names) > 8 else []), names[0]])
        message = f"the routing can deadlock: packets can wait for each other along {shown}"
        compiled.warnings.append(message)
    return compiled


class Parts:
    """The parts of a scenario, built one after the other; each mistake points into the file."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        try:
            self.technology = technology(scenario.technology.preset, scenario.technology.overrides())
        except TechnologyError as error:
            raise scenario.located(error, "technology") from error
        self.graph = graph_of(scenario)
        try:
            self.table = routing.build(self.graph, **_for_file(scenario.parameters("routing")))
            routing.verify(self.graph, self.table)
        except RoutingError as error:
            raise scenario.located(error, "routing") from error

    def arrays(self, tech: Technology) -> Arrays:
        """The engine's arrays with the link times of ``tech``; loads stay those of :attr:`technology`."""
        times_ps = link_times(self.graph, tech)
        tick_ps = _tick(times_ps, tech)
        scenario = self.scenario
        try:
            columns = traffic.build(
                self.graph,
                self.technology,
                scenario.parameters("traffic"),
                tick_ps=tick_ps,
                seed=scenario.seed,
                via=len(self.table.via_switch) > 0,
            )
        except TrafficError as error:
            raise scenario.located(error, "traffic") from error
        if scenario.run.duration_ps // tick_ps > _MAX_TICKS:
            raise scenario.error("the run is too long", ("run", "duration"), "shorten it")
        return {**unused(), **_network(self, tech, times_ps, tick_ps), **columns}


def unused() -> Arrays:
    """Every column of the engine empty and every scalar 0: what a network has not."""
    return {
        **{name: 0 for name, _ in _native.scalars()},
        **{name: np.empty(0, _DTYPES[kind]) for name, kind in _native.columns()},
    }


def _for_file(parameters: dict[str, Any]) -> dict[str, Any]:
    """Settings for a builder: a checksum has been compared when the scenario was read."""
    return {name: value for name, value in parameters.items() if name != "sha256"}


def link_times(graph: Graph, tech: Technology) -> dict[str, NDArray[np.int64]]:
    """Per link, in ps: ``character``, ``end``, ``arrival``, ``credit``, ``flow_control``.

    A graph file may give links a rate and a length of their own.
    """
    rates = graph.attributes.get("rate_bits_per_s")
    lengths = graph.attributes.get("length_m")
    rate = np.full(graph.links, np.nan) if rates is None else np.asarray(rates, np.float64)
    length = np.full(graph.links, np.nan) if lengths is None else np.asarray(lengths, np.float64)
    pairs = np.stack([np.nan_to_num(rate, nan=-1.0), np.nan_to_num(length, nan=-1.0)], axis=1)
    kinds, kind_of = np.unique(pairs, axis=0, return_inverse=True)
    rows = [_times_of(tech, *kind) for kind in kinds]
    return {name: np.array([row[name] for row in rows], np.int64)[kind_of.ravel()] for name in rows[0]}


def _times_of(tech: Technology, rate_bits_per_s: float, length_m: float) -> dict[str, int]:
    rate = None if rate_bits_per_s < 0 else round(rate_bits_per_s)
    length = None if length_m < 0 else float(length_m)
    return {
        "character": tech.character_ps(rate),
        "end": tech.end_ps(rate),
        "arrival": tech.arrival_ps(rate, length),
        "credit": tech.credit_ps(rate, length),
        "flow_control": tech.flow_control_ps(rate),
    }


def _tick(times: dict[str, NDArray[np.int64]], tech: Technology) -> int:
    """The longest tick of which every duration is a whole number."""
    tick = gcd(tech.decode_latency_ps, tech.forward_latency_ps, tech.crossbar_ps)
    return int(np.gcd.reduce(np.concatenate([np.unique(column) for column in times.values()]), initial=tick))


def _network(parts: Parts, tech: Technology, times_ps: dict[str, NDArray[np.int64]], tick: int) -> Arrays:
    graph, table = parts.graph, parts.table
    vertices = graph.switches + np.arange(graph.terminals)
    source, target = np.asarray(graph.link_source), np.asarray(graph.link_target)
    to_terminal = target >= graph.switches
    per_link = {f"link_{name}_ticks": _u32(column // tick) for name, column in times_ps.items()}
    return {
        "tick_ps": tick,
        "switches": graph.switches,
        "terminals": graph.terminals,
        "classes": table.route.shape[1],
        "header_chars": tech.header_chars,
        "via_header_chars": tech.via_header_chars,
        "seed": parts.scenario.seed,
        "switch_decode_ticks": _fill(graph.switches, tech.decode_latency_ps // tick),
        "switch_crossbar_ticks": _fill(graph.switches, tech.crossbar_ps // tick),
        "switch_forward_ticks": _fill(graph.switches, tech.forward_latency_ps // tick),
        "switch_arbiter": np.full(graph.switches, _ARBITERS[tech.arbiter], np.uint8),
        "switch_choice": np.full(graph.switches, _CHOICES[tech.group_choice], np.uint8),
        "link_source": _u32(source),
        "link_target": _u32(target),
        **per_link,
        "link_output_buffer": _fill(graph.links, tech.output_buffer_chars),
        "link_input_buffer": _fill(graph.links, tech.input_buffer_chars),
        "link_quantum": _fill(graph.links, tech.credit_quantum_chars),
        "link_reverse": _u32(np.where(graph.link_reverse < 0, _NONE, graph.link_reverse)),
        "link_deletes_header": (to_terminal & tech.delete_header).astype(np.uint8),
        "group_switch": _u32(table.group_switch),
        "group_start": _u32(table.group_start),
        "group_links": _u32(table.group_links),
        "route": np.ascontiguousarray(table.route, np.uint32).ravel(),
        "terminal_class": _u32(table.terminal_class),
        "terminal_out_link": _link_of(source, vertices),
        "terminal_in_link": _link_of(target, vertices),
        "via_switch": _u32(table.via_switch),
        "via_class": _u32(table.via_class),
    }


def _link_of(ends: NDArray[np.int64], vertices: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The link at each terminal's vertex; every terminal has exactly one."""
    order = np.argsort(ends, kind="stable")
    return _u32(order[np.searchsorted(ends, vertices, sorter=order)])


def _u32(values: Any) -> NDArray[np.uint32]:
    return np.ascontiguousarray(values, np.uint32)


def _fill(count: int, value: int) -> NDArray[np.uint32]:
    return np.full(count, value, np.uint32)
