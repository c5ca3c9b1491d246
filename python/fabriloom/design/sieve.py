"""Checks without simulation: arithmetic on parts and bottlenecks, then the built network and its failures."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compile import Compiled, compile
from ..results.figures import figures, in_percent
from ..routing import RoutingError
from ..scenario import Scenario, ScenarioError
from ..scenario.errors import Path
from ..studies.demanded import demanded
from ..studies.inspection import why_unbounded
from ..studies.kinds import inspection_of
from ..studies.zero_load import zero_load_latency
from ..topology import Graph, kind_of
from .candidates import Candidate
from .schema import Cost, Requirements

MOST_WAYS = 17
"""Most paths that are counted."""
_NEARLY = 1 - 1e-9
"""A bound that is exactly what is needed may be less by rounding."""
Capacities = list[dict[int, int]]


def least_cables(graph: Graph, most: int = MOST_WAYS) -> int:
    """Return the fewest cables between switches whose failure separates two terminals, at most ``most``."""
    return _least(graph, most, whole_switches=False)


def least_switches(graph: Graph, most: int = MOST_WAYS) -> int:
    """Return the fewest switches whose failure separates two terminals, or all switches of a terminal with
    several ports, at most ``most``. The switch of a terminal with one port does not count.
    """
    return _least(graph, most, whole_switches=True)


def _least(graph: Graph, most: int, whole_switches: bool) -> int:
    # Terminals that are at several switches come first.
    homes = sorted(_homes(graph), key=lambda home: (len(home) == 1, home))
    if len(homes) == 1:
        return len(homes[0]) if whole_switches else most
    capacities = _by_switch(graph, most) if whole_switches else _by_cable(graph)
    out = graph.switches if whole_switches else 0
    ends = [_end(capacities, home, out, most) for home in homes]
    least = most
    for first, home in enumerate(homes):
        # Switches part terminals that are at others: one of the first ``least + 1`` is still there, and ways
        # from each of these to all others are enough. Cables do not fail with terminals, nor do terminals at
        # several switches: so one start is enough.
        if first > (least if whole_switches and len(homes[0]) == 1 else 0):
            break
        start = _start(capacities, home, out, most)
        for end in ends[first + 1 :]:
            if not (whole_switches and end in capacities[start]):
                least = min(least, _ways(capacities, start, end, least))
    return least


def _homes(graph: Graph) -> set[tuple[int, ...]]:
    """Return the switches that the ports of each terminal are connected to."""
    entry = graph.terminal_entry_switches.tolist()
    if graph.several is None:
        return {(switch,) for switch in entry}
    at: list[set[int]] = [set() for _ in range(graph.terminals)]
    for terminal, switch in zip(graph.several.terminal.tolist(), entry, strict=True):
        at[terminal].add(switch)
    return {tuple(sorted(switches)) for switches in at}


def _start(capacities: Capacities, home: tuple[int, ...], out: int, most: int) -> int:
    """Return the vertex from which terminals send; a new one if they are connected to several switches."""
    if len(home) == 1:
        return home[0] + out
    capacities.append(dict.fromkeys(home, most))
    return len(capacities) - 1


def _end(capacities: Capacities, home: tuple[int, ...], out: int, most: int) -> int:
    """Return the vertex at which terminals receive. A new vertex has no output: terminals forward nothing."""
    if len(home) == 1:
        return home[0]
    capacities.append({})
    for switch in home:
        capacities[switch + out][len(capacities) - 1] = most
    return len(capacities) - 1


def _pairs(graph: Graph) -> tuple[list[int], list[int]]:
    links = graph.switch_links
    return graph.link_source[links].tolist(), graph.link_target[links].tolist()


def _by_cable(graph: Graph) -> Capacities:
    """Return the parallel cables between switches, each used in one direction at a time."""
    found: Capacities = [{} for _ in range(graph.switches)]
    for source, target in zip(*_pairs(graph), strict=True):
        found[source][target] = found[source].get(target, 0) + 1
    return found


def _by_switch(graph: Graph, most: int) -> Capacities:
    """Return every switch as an input ``s`` and an output ``switches + s``, joined by one edge."""
    found: Capacities = [{graph.switches + s: 1} for s in range(graph.switches)]
    found += [{} for _ in range(graph.switches)]
    for source, target in zip(*_pairs(graph), strict=True):
        found[graph.switches + source][target] = most
    return found


def _ways(capacities: Capacities, start: int, end: int, most: int) -> int:
    """Return the maximum flow between two vertices, at most ``most``, by shortest augmenting paths."""
    flow: dict[tuple[int, int], int] = {}
    back: dict[int, set[int]] = {}
    for ways in range(most):
        before = {start: start}
        waiting = deque([start])
        while waiting and end not in before:
            here = waiting.popleft()
            for there in (*capacities[here], *back.get(here, ())):
                room = capacities[here].get(there, 0) - flow.get((here, there), 0)
                if room > 0 and there not in before:
                    before[there] = here
                    waiting.append(there)
        if end not in before:
            return ways
        there = end
        while there != start:
            here = before[there]
            flow[here, there] = flow.get((here, there), 0) + 1
            flow[there, here] = flow.get((there, here), 0) - 1
            back.setdefault(there, set()).add(here)
            there = here
    return most


@dataclass(frozen=True)
class Miss:
    """A requirement that is broken."""

    path: Path
    """Its place in the requirements."""
    have: float
    need: float
    text: str
    """What is wrong, in a few words."""
    sure: bool = True
    """Whether its run is long enough to tell."""

    @property
    def requirement(self) -> str:
        return ".".join(str(step) for step in self.path)

    @property
    def by(self) -> float:
        """Return how far away it is, as a fraction of the requirement: 0.2 is a fifth too little or much."""
        return abs(self.have - self.need) / abs(self.need) if self.need else abs(self.have)


@dataclass
class Looked:
    """A candidate and what is known about it."""

    candidate: Candidate
    cost: float
    """Without the metres of cables as long as it is not built."""
    misses: list[Miss] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """Of the built network."""

    @property
    def bound(self) -> float:
        """Return the multiple of the traffic at which something would be full; 0 if it was not built."""
        return float(self.facts.get("bound") or 0.0)

    @property
    def room(self) -> float:
        """Return the same as far as it is known: before it is built, from the bottlenecks of its family."""
        return float(self.facts.get("bound") or self.facts.get("narrow") or np.inf)


def _over(path: Path, what: str, have: float, most: float | None) -> list[Miss]:
    if most is None or have <= most:
        return []
    need = figures(float(most))
    text = f"{figures(float(have))} {what}, {in_percent(have / most - 1)} more than {need}" if most else what
    return [Miss(path, float(have), float(most), text)]


class Arithmetic:
    """The first sieve, for candidates that share ``[vary]``."""

    def __init__(self, requirements: Requirements, base: Scenario) -> None:
        self._requirements, self._base = requirements, base
        self._full: dict[tuple[Any, ...], float | None] = {}

    def look(self, candidate: Candidate) -> Looked:
        """Check parts, cost and bottlenecks."""
        asked, shape, count = self._requirements, candidate.shape, candidate.networks
        limits = asked.limits
        used = candidate.ports_each * asked.require.terminals
        spare = shape.terminals - used if kind_of(shape.family).cables else 0
        cables, ports = count * (shape.cables - spare), count * (shape.ports - spare)
        cost = _cost(asked.cost, count * shape.switches, ports, cables, count * used)
        unit = f" {asked.cost.unit}".rstrip() + (" without the metres of cables" if asked.cost.metre else "")
        looked = Looked(candidate, cost)
        looked.misses += _over(
            ("limits", "switch_ports"), "ports at a switch", shape.ports_max, limits.switch_ports
        )
        looked.misses += _over(("limits", "switches"), "switches", count * shape.switches, limits.switches)
        looked.misses += _over(("limits", "cables"), "cables", cables, limits.cables)
        looked.misses += _over(("limits", "cost"), f"cost{unit}", cost, limits.cost)
        narrow = self._narrow(candidate)
        if narrow is not None and narrow < asked.require.margin * _NEARLY:
            looked.misses.append(short_of_margin(narrow, asked.require.margin, "its narrowest place"))
        facts = {"cables": cables, "ports": ports, "switches": count * shape.switches, "narrow": narrow}
        looked.facts.update(facts)
        return looked

    def _narrow(self, candidate: Candidate) -> float | None:
        """Return the multiple of the traffic at which a bottleneck of the family is full; None if unknown."""
        if not candidate.shape.cuts or (full := self._terminal_full_at(candidate)) is None:
            return None
        # A terminal sends from one of its ports in a network to the same one of another terminal.
        each = candidate.ports_each
        count, found = candidate.shape.terminals // each, full
        for inside, links in candidate.shape.cuts:
            crossing = inside * (count - math.ceil(inside / each)) / (count - 1)
            found = min(found, full * links / crossing) if crossing > 0 else found
        return found * candidate.networks * each

    def _terminal_full_at(self, candidate: Candidate) -> float | None:
        """Return the multiple of the traffic at which a terminal's link is full; None if uneven."""
        key = tuple((path, str(value)) for path, value in candidate.settings.items())
        if key not in self._full:
            own = {path: value for path, value in candidate.settings.items() if not path.startswith("ports.")}
            scenario = self._base.with_settings(own)
            even = scenario.program is None and scenario.traffic.pattern.kind == "uniform"
            found = demanded(compile(scenario)) if even and scenario.network_kind.cables else None
            everyone = even and scenario.traffic.senders == "all"
            self._full[key] = found["scale_bound"] if found and everyone else None
        return self._full[key]


def short_of_margin(have: float, need: float, where: str) -> Miss:
    """Return the broken requirement of a network that the traffic overloads."""
    text = f"carries at most {figures(have)} times the traffic, not {figures(need)}: {where} is full"
    return Miss(("require", "margin"), have, need, text)


def _cost(cost: Cost, switches: int, ports: int, cables: int, terminals: int) -> float:
    return switches * cost.switch + ports * cost.port + cables * cost.cable + terminals * cost.terminal


def metres(graph: Graph, pitch_m: float) -> float:
    """Return the length of all cables between switches, along rows and columns of the drawing."""
    if graph.several is not None:
        return sum(metres(plane.graph, pitch_m) for plane in graph.planes)
    if graph.positions is None:
        return 0.0
    links = graph.switch_links
    links = links[(graph.link_reverse[links] < 0) | (graph.link_reverse[links] > links)]
    apart = graph.positions[graph.link_source[links]] - graph.positions[graph.link_target[links]]
    return float(np.abs(apart).sum()) * pitch_m


def build(requirements: Requirements, base: Scenario, looked: Looked) -> None:
    """Apply the second sieve to the built network, cheap checks first, until a requirement is broken."""
    candidate, asked = looked.candidate, requirements.require
    try:
        compiled = compile(
            candidate.scenario(base, {"traffic.scale": 1.0} if requirements.program is None else {})
        )
    except (ScenarioError, RoutingError) as error:
        message = getattr(error, "message", str(error))
        looked.misses.append(Miss(("families",), 0.0, 1.0, f"cannot be built: {message}"))
        return
    graph = compiled.graph
    looked.cost += requirements.cost.metre * metres(graph, requirements.cost.pitch_m)
    unit = f" {requirements.cost.unit}".rstrip()
    looked.misses += _over(("limits", "cost"), f"cost{unit}", looked.cost, requirements.limits.cost)
    bound, busiest = _bound(compiled)
    if bound < asked.margin * _NEARLY:  # with ways shared evenly; better shares take longer to find
        bound, busiest = _bound(compiled, shared=True)
    looked.facts |= {"bound": bound, "busiest": busiest}
    if bound < asked.margin * _NEARLY:
        looked.misses.append(short_of_margin(bound, asked.margin, busiest))
    if compiled.cycle:
        text = "its routing can deadlock: " + " -> ".join(compiled.cycle_names()[:3]) + " …"
        looked.misses.append(Miss(("require", "terminals"), 0.0, 1.0, text))
    if not looked.misses:
        _survives(requirements, looked, graph)
    if not looked.misses:
        _quick(requirements, looked, compiled)


def _bound(compiled: Compiled, shared: bool = False) -> tuple[float, str]:
    """Return the multiple of the traffic at which a link, bus or memory is full, and which.

    ``shared``: the one that no shares of ways exceed, where it is known.
    """
    if compiled.programs is None:
        found = demanded(compiled, shared)
        assert found is not None
        most = found["shared_scale_bound"] or found["scale_bound"] or np.inf
        return float(most), str(found["full_first"])
    if why_unbounded(compiled):
        return float("inf"), "nothing"
    load = inspection_of(compiled).full_first(shared)
    counted, events = compiled.programs.counted(), len(compiled.programs.events.due_ps)
    rate = compiled.programs.events.rate_per_s
    more = (load.get("shared_load_bound") or load["load_bound"] or 1.0) / (load["load_bound"] or 1.0)
    most = more * (load["accepted_mbytes_per_s_bound"] or 0.0)
    if not (counted["message_bytes"] and events and rate and most):
        return float("inf"), "nothing"
    asked = counted["message_bytes"] / events * rate / 1e6
    return float(most) / asked, str(load["busiest_link"])


def _survives(requirements: Requirements, looked: Looked, graph: Graph) -> None:
    """Check failures, counted over all networks together."""
    for path, least in (("survive_links", least_cables), ("survive_switches", least_switches)):
        need, cables = getattr(requirements.require, path), graph.network_kind.cables
        if need or not cables:
            # A ring that is cut carries nothing.
            looked.facts[path] = have = least(graph, need + 1) - 1 if cables else 0
            if have < need:
                looked.misses.append(_fragile(path, have, need))


def _fragile(path: str, have: int, need: int) -> Miss:
    what = "cable" if path == "survive_links" else "switch"
    text = f"the failure of {have + 1} {what}{'' if have == 0 else 's' if what == 'cable' else 'es'} "
    return Miss(
        ("require", path),
        have,
        need,
        f"{text}can part terminals, and {need} {'has' if need == 1 else 'have'} to be survived",
    )


def _quick(requirements: Requirements, looked: Looked, compiled: Compiled) -> None:
    """Check the latency of packets in an empty network."""
    if compiled.programs is not None:
        return
    asked, kind = requirements.require, inspection_of(compiled)
    found = zero_load_latency(kind)
    looked.facts["zero_load_ns"] = found["mean"]
    if (short := _needed_bytes(compiled, float(asked.percentile))) < found["length_bytes"]:
        found = zero_load_latency(kind, short)
    least_ns = found["min"]  # which pairs are far apart and talk is not known here
    if asked.latency_ps is None or least_ns is None or least_ns * 1000 <= asked.latency_ps:
        return
    have_us, need_us = least_ns / 1e3, asked.latency_ps / 1e6
    text = (
        f"{figures(have_us)} us is its least latency without other traffic, {figures(need_us)} us are asked"
    )
    looked.misses.append(Miss(("require", "latency"), have_us, need_us, text))


def _needed_bytes(compiled: Compiled, percentile: float) -> int:
    """Return a payload as long as which some of these per cent of all packets are at least."""
    sizes, share = compiled.lengths
    order = np.argsort(sizes, kind="stable")
    short = np.cumsum(share[order]) < percentile / 100 - 1e-9
    return int(sizes[order[min(int(short.sum()), len(order) - 1)]])
