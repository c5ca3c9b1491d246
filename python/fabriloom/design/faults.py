"""How many cables or switches have to fail before terminals are cut off, counted on the graph.

By Menger's theorem that is the number of ways between two switches that share no cable, or no switch. It says
what is possible with routing tables made anew after the failure, not what a table of before does.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ..topology import Graph

MOST_WAYS = 17
"""More are not counted."""
Capacities = list[dict[int, int]]


def least_cables(graph: Graph, most: int = MOST_WAYS) -> int:
    """Fewest cables between switches that part two switches with terminals; ``most`` if no fewer do."""
    return _least(graph, most, whole_switches=False)


def least_switches(graph: Graph, most: int = MOST_WAYS) -> int:
    """Fewest other switches that part two switches with terminals; ``most`` if no fewer do."""
    return _least(graph, most, whole_switches=True)


def _least(graph: Graph, most: int, whole_switches: bool) -> int:
    homes = np.unique(graph.terminal_entry_switches).tolist()
    capacities = _by_switch(graph, most) if whole_switches else _by_cable(graph)
    out = graph.switches if whole_switches else 0
    least = most
    for first, start in enumerate(homes):
        # Whatever parts the terminals leaves one of the first ``least + 1`` switches standing: ways from each
        # of these to all others are enough. Cables part every pair alike, so one start is.
        if first > (least if whole_switches else 0):
            break
        for end in homes[first + 1 :]:
            if not (whole_switches and end in capacities[start + out]):
                least = min(least, _ways(capacities, start + out, end, least))
    return least


def _pairs(graph: Graph) -> tuple[list[int], list[int]]:
    links = graph.switch_links
    return graph.link_source[links].tolist(), graph.link_target[links].tolist()


def _by_cable(graph: Graph) -> Capacities:
    """Parallel cables between switches, each used one way at a time."""
    found: Capacities = [{} for _ in range(graph.switches)]
    for source, target in zip(*_pairs(graph), strict=True):
        found[source][target] = found[source].get(target, 0) + 1
    return found


def _by_switch(graph: Graph, most: int) -> Capacities:
    """Every switch as a way in, ``s``, and a way out, ``switches + s``, with one passage between them."""
    found: Capacities = [{graph.switches + s: 1} for s in range(graph.switches)]
    found += [{} for _ in range(graph.switches)]
    for source, target in zip(*_pairs(graph), strict=True):
        found[graph.switches + source][target] = most
    return found


def _ways(capacities: Capacities, start: int, end: int, most: int) -> int:
    """Greatest flow between two vertices, at most ``most``: shortest ways with room left, one by one."""
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
