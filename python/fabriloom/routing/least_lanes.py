"""The least number of lanes for minimal paths without a cycle: bounds from both sides, exact where small.

A packet keeps its lane or changes to a higher one; which it takes depends on the switch and the destination,
as in ``layers.py``. In each lane the dependencies must have no cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import numpy as np

from ..topology.graph import Graph
from .check import dependency_cycle
from .layers import layers_needed
from .table import NONE, RouteTable
from .up_down import shortest_path

MOST_SWITCHES = 24
"""Larger networks are not searched."""
MOST_STEPS = 20_000
"""A search that takes more steps is left: about a second."""
MOST_FORCED = 4000
"""In networks of more switches it is not looked which dependencies cannot be avoided."""

Pair = tuple[int, int]


def lanes_needed(graph: Graph, thin: bool, most: int | None = None) -> tuple[int, int]:
    """Return a lower and an upper bound of the lanes for minimal paths; if equal, they are exact.

    ``thin``: for one path of each pair of terminals at least; otherwise for all shortest paths. The upper
    bound is what ``minimal_layers`` needs, or less if a search finds it; the lower one is 2 where even one
    lane of paths that cannot be avoided closes a cycle, or more if a search shows that fewer do not suffice.
    ``most``: what ``layers_needed`` found.
    """
    high, low = layers_needed(graph, thin) if most is None else most, 1
    if high > 1:
        table = shortest_path(graph, "adaptive", [])
        low = 2 if (_forced_cycle if thin else dependency_cycle)(graph, table) else 1
    if graph.switches > MOST_SWITCHES or not _everywhere(graph):
        return low, high
    while low < high:
        fits = _Search(graph, high - 1, thin).fits()
        if fits is None:
            break
        low, high = (low, high - 1) if fits else (high, high)
    return low, high


def _everywhere(graph: Graph) -> bool:
    """Whether terminals send and receive at every switch: then packets go on every path."""
    every = set(range(graph.switches))
    return every == set(graph.terminal_entry_switches.tolist()) == set(graph.terminal_exit_switches.tolist())


def _neighbours(graph: Graph) -> list[list[int]]:
    links = graph.switch_links
    pairs = np.unique(np.stack([graph.link_source[links], graph.link_target[links]], axis=1), axis=0)
    found: list[list[int]] = [[] for _ in range(graph.switches)]
    for source, target in pairs.tolist():
        found[source].append(target)
    return found


def _nearer(
    graph: Graph, to: int, out: list[list[int]], back: list[list[int]]
) -> list[tuple[int, list[int]]]:
    """Return the switches that reach another, nearest first, and the next switches of each on its paths."""
    distance, order = {to: 0}, [to]
    for switch in order:
        for source in back[switch]:
            if source not in distance:
                distance[source] = distance[switch] + 1
                order.append(source)
    return [
        (one, [next_ for next_ in out[one] if distance.get(next_, -1) == distance[one] - 1])
        for one in order[1:]
    ]


def _ways(graph: Graph) -> list[tuple[int, list[tuple[int, list[int]]]]]:
    out = _neighbours(graph)
    back: list[list[int]] = [[] for _ in out]
    for source, targets in enumerate(out):
        for target in targets:
            back[target].append(source)
    ends = np.unique(graph.terminal_exit_switches).tolist()
    return [(to, _nearer(graph, to, out, back)) for to in ends]


def _forced_cycle(graph: Graph, table: RouteTable) -> bool:
    """Whether dependencies that no choice among the shortest paths avoids close a cycle in one lane."""
    if graph.switches > MOST_FORCED:
        return False
    ends = graph.link_target[table.group_links].astype(np.int32)
    first, last = (end.reduceat(ends, table.group_start[:-1]) for end in (np.minimum, np.maximum))
    # Per group: the only switch that it leads to, or one behind all of them.
    single = np.where((first == last) & (first < graph.switches), first, graph.switches)
    some = np.unique(graph.terminal_exit_switches, return_index=True)[1]
    classes = np.tile(table.terminal_class[some], graph.switches)
    entry = table.entries(np.repeat(np.arange(graph.switches), len(some)), classes)
    entry = entry.reshape(graph.switches, -1)
    next_ = np.append(single, graph.switches)[np.where(entry == NONE, len(single), entry >> 1)]
    next_ = np.vstack([next_, np.full_like(next_[:1], graph.switches)])
    after = np.take_along_axis(next_, next_, axis=0)
    sends = np.append(np.isin(np.arange(graph.switches), graph.terminal_entry_switches), False)
    switch, column = np.nonzero((after < graph.switches) & sends[:, None])
    forced = np.stack([switch, next_[switch, column], after[switch, column]])
    waits = TopologicalSorter[Pair]()
    for one, two, three in np.unique(forced, axis=1).T.tolist():
        waits.add((one, two), (two, three))
    try:
        waits.prepare()
    except CycleError:
        return True
    return False


@dataclass
class _Search:
    """A search for lanes and, if ``thin``, next switches such that no lane has a cycle."""

    graph: Graph
    lanes: int
    thin: bool
    steps: int = 0
    waits: dict[tuple[int, Pair], dict[Pair, int]] = field(default_factory=dict)
    """Per lane and pair of switches: the pairs that a packet may wait for, and how many routes do."""

    def fits(self) -> bool | None:
        """Return whether the lanes suffice, or None if the search is too long."""
        places = [(to, switch, following) for to, ways in _ways(self.graph) for switch, following in ways]
        # Per destination and switch: the lane, and the next switches.
        chosen: dict[Pair, tuple[int, list[int]]] = {}
        options = [iter(self._options(places, 0, chosen))] if places else []
        added: list[list[tuple[int, Pair, Pair]]] = []
        while options:
            if len(options) > len(places):
                return True
            self.steps += 1
            if self.steps > MOST_STEPS:
                return None
            at = len(options) - 1
            to, switch, _ = places[at]
            taken = next(options[-1], None)
            if taken is None:
                options.pop()
                if added:
                    self._take_back(added.pop())
                continue
            found = self._added(chosen, to, switch, taken)
            if found is None:
                continue
            chosen[to, switch] = taken
            added.append(found)
            options.append(iter(self._options(places, at + 1, chosen) if at + 1 < len(places) else []))
        return not places

    def _options(
        self, places: list[tuple[int, int, list[int]]], at: int, chosen: dict[Pair, tuple[int, list[int]]]
    ) -> list[tuple[int, list[int]]]:
        """Return the lanes and next switches to try: on the last link the highest lane is as good as any."""
        to, _, following = places[at]
        found = []
        for one in [[single] for single in following] if self.thin else [following]:
            most = self.lanes - 1
            if one != [to]:
                most = min(chosen[to, next_][0] for next_ in one)
            lanes = [most] if one == [to] else range(most, -1, -1)
            found += [(lane, one) for lane in lanes]
        return found

    def _added(
        self, chosen: dict[Pair, tuple[int, list[int]]], to: int, switch: int, taken: tuple[int, list[int]]
    ) -> list[tuple[int, Pair, Pair]] | None:
        """Add what packets of a switch may wait for; None, and nothing added, if that closes a cycle."""
        lane, following = taken
        found: list[tuple[int, Pair, Pair]] = []
        for middle in following:
            if middle == to or chosen[to, middle][0] != lane:
                continue
            for after in chosen[to, middle][1]:
                held, wanted = (switch, middle), (middle, after)
                if self._reaches(lane, wanted, held):
                    self._take_back(found)
                    return None
                counts = self.waits.setdefault((lane, held), {})
                counts[wanted] = counts.get(wanted, 0) + 1
                found.append((lane, held, wanted))
        return found

    def _take_back(self, found: list[tuple[int, Pair, Pair]]) -> None:
        for lane, held, wanted in found:
            counts = self.waits[lane, held]
            counts[wanted] -= 1
            if not counts[wanted]:
                del counts[wanted]

    def _reaches(self, lane: int, start: Pair, end: Pair) -> bool:
        open_, seen = [start], {start}
        while open_:
            one = open_.pop()
            if one == end:
                return True
            fresh = [after for after in self.waits.get((lane, one), {}) if after not in seen]
            seen.update(fresh)
            open_ += fresh
        return False
