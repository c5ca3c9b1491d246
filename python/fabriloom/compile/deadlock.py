"""Whether packets, or programs, can wait for each other for ever: of a compiled scenario, before it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import routing, traffic
from ..routing import Phase
from ..topology import MOST_PORTS, Graph
from ..topology.graph import Ints
from ..traffic import Demand
from .congestion import pauses

if TYPE_CHECKING:
    from ..scenario import Scenario
    from . import Compiled
    from .link_routes import LinkRoutes

Pairs = tuple[Ints, Ints]
"""Sources and targets of packets, as terminals."""
Cycle = tuple[int, list[str], str]
"""Number of a set of tables, names of links or lanes, and the name of their plane."""
_NO_CYCLE: Cycle = (0, [], "")
NOBODY: Pairs = (np.zeros(0, np.int64), np.zeros(0, np.int64))
"""No packets."""


@dataclass(frozen=True)
class Turn:
    """When tables replace others."""

    dead: frozenset[int]
    """The links between switches that are down."""
    upper: bool = False
    """Whether packets by these tables have the upper half of the lanes, where each half has tables."""


MOST_PAIRS = 1 << 22
"""With more pairs of terminals that send, any is taken to send to any."""
DEADLOCKS = ("the routing can deadlock", "the programs deadlock")
"""How warnings about deadlock begin."""
_NAMED = 3


@dataclass(frozen=True)
class Deadlock:
    """What waits for what."""

    cycle: list[str]
    """Links, or lanes, that packets of the given traffic hold while they wait for the next; empty: none."""
    any_cycle: list[str]
    """The same of any traffic over the same routing tables."""
    when: str
    """Which tables :attr:`cycle`, or else :attr:`any_cycle`, is of; empty: those at the start."""
    tables: int
    """Number of sets of routing tables that are in use one after the other."""
    waiting: list[str]
    """What programs wait for that never happens in any network."""
    escapes: bool = False
    """Whether these are cycles of escape lanes, any of which a packet can take as long as it waits."""
    bubble: bool = False
    """Whether a place stays free in each ring, which counts as one link."""
    drops: bool = False
    """Whether full buffers drop packets and stop no sender."""
    where: str = ""
    """In which planes there is such a cycle, and in which not, where they differ."""
    between: bool = False
    """Whether there is such a cycle between tables that have none alone."""

    @property
    def free(self) -> bool:
        """Whether no deadlock can happen with the given traffic."""
        return not self.cycle and not self.waiting

    def warnings(self) -> list[str]:
        """Return a warning if the scenario can deadlock."""
        found = []
        if self.cycle:
            shown = " -> ".join([*self.cycle[:8], *(["…"] if len(self.cycle) > 8 else []), self.cycle[0]])
            when = f" {self.when}" if self.when else ""
            found.append(f"{DEADLOCKS[0]}{when}: packets can wait for each other along {shown}")
        if self.waiting:
            found.append(f"{DEADLOCKS[1]}: {'; '.join(self.waiting[:_NAMED])}")
        return found

    def text(self) -> str:
        """Return the verdict as a sentence."""
        if self.waiting:
            more = f"; {len(self.waiting) - _NAMED} more" if len(self.waiting) > _NAMED else ""
            return f"happens in any network: the programs wait: {'; '.join(self.waiting[:_NAMED])}{more}"
        when = self.where + (f" {self.when}" if self.when else "")
        alone = "; the tables before it have none, nor have the new ones alone" if self.between else ""
        if self.cycle:
            return f"can happen{when}; a cycle: {_round(self.cycle)}{alone}"
        if self.any_cycle:
            return (
                "cannot happen in this traffic, whose packets do not wait for each other in a cycle; "
                f"in other traffic it can{when}: {_round(self.any_cycle)}{alone}"
            )
        if self.drops:
            return "cannot happen: full buffers drop packets, so none waits for another one's"
        if self.escapes:
            return "cannot happen: packets can always escape by lanes whose dependency graph has no cycle"
        if self.bubble:
            return (
                "cannot happen: a place stays free in each one-way ring, and the channel dependency graph "
                "with each ring as one channel has no cycle"
            )
        which = f", of any of the {self.tables} sets of tables and between them," if self.tables > 1 else ""
        return f"cannot happen: the channel dependency graph{which} has no cycle"


def _round(cycle: list[str]) -> str:
    return " -> ".join([*cycle, cycle[0]])


def deadlock_of(compiled: Compiled) -> Deadlock:
    """Return the verdict over tables at the start and after each fault, what is sent, and programs."""
    routes, sent = compiled.routes, pairs_of(compiled)
    scenario = compiled.scenario
    turns = routes.dead_in_turn(scenario, compiled.arrays, compiled.times.tick_ps)
    drops = bool(compiled.arrays["drops"]) and not pauses(compiled.arrays)
    others = iter(()) if drops else routes.cycles(scenario, None, turns)
    found = first = next(others, _NO_CYCLE)
    cycle = first[1]
    if sent is not None and first[1]:
        own = routes.cycles(scenario, sent, turns)
        _, cycle, _ = in_traffic = next(own, _NO_CYCLE)
        found, others = (in_traffic, own) if cycle else (first, others)
    place, when, between = found[0], "", False
    if place:
        alone = routes.cycles(scenario, sent if cycle else None, [turns[place - 1]], alone=True)
        between = next(alone, None) is None
        when = _moment(compiled.graph, [turn.dead for turn in turns], place, not between)
    where = in_planes(compiled.graph, [found, *others] if found[1] else [])
    tables, kinds = 1 + len({turn.dead for turn in turns}), (routes.escapes, routes.bubble, drops)
    return Deadlock(cycle, first[1], when, tables, _waiting(compiled), *kinds, where, between)


def phases_of(
    scenario: Scenario, routes: LinkRoutes, at: int, own: list[int], turns: Sequence[Turn], sent: Pairs | None
) -> list[Phase]:
    """Return the tables of a plane in turn, for packets that wait for some lanes of each link.

    Args:
        scenario: that of the tables after faults.
        routes: the routes.
        at: number of the plane.
        own: the lanes.
        turns: when tables replace others, and before.
        sent: terminals of the plane between which packets are sent; None: between any.
    """
    from .faults import tables_after

    plane, (graph, table) = routes.graph.planes[at], routes.planes[at]
    classes, wire = routes.classes, routes.technology.holds_wire
    half = len(classes.lanes) // 2 if classes.twice else 0
    upper = bool(half) and classes.lanes.index(own) >= half
    found = list[Phase]()
    for turn in turns:
        starts = not half or turn.upper == upper
        if starts:
            table = tables_after(scenario, routes, turn.dead)[at]
        level = own[0] - half * upper
        by_level = table.levels is not None and not wire
        waited_for = table if by_level else routes.as_waited_for(graph, table, own)[0]
        # Packets with tables of their own also keep those, and may go on over links that run again.
        down = np.array([] if half else [link - plane.first_link for link in turn.dead], np.int64)
        pairs = sent if starts else NOBODY
        if starts and table.levels is not None and not wire:
            pairs = routing.pairs_at(graph, table, level) if sent is None else table.levels.at(level, sent)
        found.append(Phase(waited_for, down[(down >= 0) & (down < graph.links)], pairs))
    return found


def in_planes(graph: Graph, cycles: Iterable[Cycle]) -> str:
    """Return in which planes there are cycles, and in which not, in words; empty where planes are alike."""
    if len({id(plane.graph) for plane in graph.planes}) == 1 or len(graph.planes) > MOST_PORTS:
        return ""
    found = [plane for _, _, plane in cycles]
    free = [plane.name for plane in graph.planes if plane.name not in found]
    beside = f", not in {' and '.join(free)}" if free else ""
    return f" in {' and '.join(found)}{beside}" if all(found) and found else ""


def _waiting(compiled: Compiled) -> list[str]:
    if compiled.programs is None:
        return []
    from ..programs.check import waits_for_ever

    return waits_for_ever(compiled.programs)


def _moment(graph: Graph, replaced: Sequence[frozenset[int]], place: int, alone: bool) -> str:
    """Return since when a cycle is possible; ``alone``: with packets of the new tables only."""
    before = replaced[place - 2] if place > 1 else frozenset[int]()
    dead = replaced[place - 1]
    fails, links = ("failure", dead - before) if dead - before else ("repair", before - dead)
    names = _cables(graph, links)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    of = f"after the {fails} of {', '.join(names[:_NAMED])}{more}"
    return of if alone else f"{of}, while packets are under way by the tables before it"


def _cables(graph: Graph, links: frozenset[int]) -> list[str]:
    """Return the names of links, one for both directions of a cable."""
    reverse = np.asarray(graph.link_reverse)
    return [graph.link_names[one] for one in sorted(links) if reverse[one] not in links or one < reverse[one]]


def pairs_of(compiled: Compiled) -> Pairs | None:
    """Return the pairs of terminals that packets are sent between; None: any, or unknown before the run."""
    found = _pairs_in(compiled.demand(), compiled.graph.terminals)
    if compiled.programs is None or found is None:
        return found
    from ..programs.kinds import TAGGED

    if np.any(compiled.programs.peer == TAGGED):
        return None
    # Acknowledgements and answers go back.
    source, target = np.concatenate([found[0], found[1]]), np.concatenate([found[1], found[0]])
    if compiled.sources.given:
        beside = _pairs_in(traffic.demand(compiled.arrays), compiled.graph.terminals)
        if beside is None:
            return None
        source, target = np.concatenate([source, beside[0]]), np.concatenate([target, beside[1]])
    return _once(source, target)


def _pairs_in(demand: Demand, terminals: int) -> Pairs | None:
    even = np.flatnonzero(demand.even > 0)
    if len(even) == terminals or len(even) * terminals > MOST_PAIRS or len(demand.source) > MOST_PAIRS:
        return None
    others = np.tile(np.arange(terminals), len(even))
    source = np.concatenate([demand.source, np.repeat(even, terminals)])
    target = np.concatenate([demand.target, others])
    return _once(source, target)


def _once(source: Ints, target: Ints) -> Pairs:
    found = np.unique((source.astype(np.int64) << 32 | target)[source != target])
    return found >> 32, found & (1 << 32) - 1


def ports_of(graph: Graph, port: Ints, pairs: Pairs) -> Pairs:
    """Return pairs of terminals as pairs of those of one plane; ``port``: the numbers of its ports."""
    if graph.several is None:
        return pairs
    terminal = graph.several.terminal[port]
    own = [np.flatnonzero(terminal == one) for one in range(graph.terminals)]
    found = [
        (source, target)
        for one, other in zip(*(ends.tolist() for ends in pairs), strict=True)
        for source in own[one].tolist()
        for target in own[other].tolist()
    ]
    columns = np.array(found, np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]
