"""The number of cables or switches whose failure cuts off terminals, counted on the graph.

By Menger's theorem it is the number of paths between two terminals that share no cable, or no switch. It
says what is possible with routing tables rebuilt after the failure, not with the earlier ones.
"""

from __future__ import annotations

from collections import deque

from ..topology import Graph

MOST_WAYS = 17
"""Most paths that are counted."""
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
