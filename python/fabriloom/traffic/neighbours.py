"""Fixed pairs of terminals at neighbouring switches: the systematic traffic with the highest throughput.

Each edge between two switches gets one pair of terminals per parallel link, as long as the switches have
terminals. Remaining terminals, for example at the border of a grid, are also paired along edges and share the
links. On the 4 x 4 grid with 16 terminals per switch and 4 links per edge, all 256 terminals and all 192
links between switches are then busy: 192 x 9.3 MB/s, the 1.8 GB/s of the Macrame paper.
"""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np

from fabriloom.traffic.kinds import Ints, Network, TrafficError, homes

Edge = tuple[int, int]


def nearest_neighbour(network: Network) -> Ints:
    """Return the destination of every terminal; -1 for terminals without a partner."""
    if network.terminals < 2:
        raise TrafficError("nearest-neighbour needs at least two terminals", "pattern", "add terminals")
    if not network.network_kind.cables:
        message = "nearest-neighbour is for networks of links, not of rings"
        raise TrafficError(message, "pattern", "use local, shift or a permutation")
    home = homes(network)
    free = np.bincount(home, minlength=network.switches)
    edges = _edges(network, free)
    if not edges:
        return _by_switch(home)
    target = np.full(network.terminals, -1, np.int64)
    start = np.concatenate([[0], np.cumsum(free)])
    order = np.argsort(home, kind="stable")
    used = [0] * network.switches
    for (a, b), count in _pairs_per_edge(free.tolist(), edges).items():
        left = order[start[a] + used[a] : start[a] + used[a] + count]
        right = order[start[b] + used[b] : start[b] + used[b] + count]
        target[left], target[right] = right, left
        used[a] += count
        used[b] += count
    return target


def _edges(network: Network, free: Ints) -> dict[Edge, int]:
    """Return the pairs of switches with terminals, with the number of links from the first to the second."""
    source, target = network.link_source, network.link_target
    inside = (source < network.switches) & (target < network.switches) & (source != target)
    source, target = source[inside], target[inside]
    both = (free[source] > 0) & (free[target] > 0)
    low, high = np.minimum(source[both], target[both]), np.maximum(source[both], target[both])
    forth = source[both] < target[both]
    keys, counts = np.unique(np.stack([low[forth], high[forth]], 1), axis=0, return_counts=True)
    return {(int(a), int(b)): int(n) for (a, b), n in zip(keys, counts, strict=True)}


def _pairs_per_edge(free: list[int], edges: dict[Edge, int]) -> dict[Edge, int]:
    """Return the number of pairs per edge: first a fair share of its links, then the rest."""
    neighbours: dict[int, list[int]] = defaultdict(list)
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    rounds = min(free[switch] // len(around) for switch, around in neighbours.items())
    found: dict[Edge, int] = {}
    for (a, b), links in edges.items():
        count = min(rounds, links)
        found[a, b] = count
        free[a] -= count
        free[b] -= count
    _left_over(free, neighbours, found)
    return found


def _left_over(free: list[int], neighbours: dict[int, list[int]], found: dict[Edge, int]) -> None:
    """Pair the remaining terminals, the switch with the fewest possible partners first."""

    def partners(switch: int) -> list[int]:
        return [other for other in neighbours[switch] if free[other]]

    heap = [(len(partners(s)), s) for s in neighbours if free[s]]
    heapq.heapify(heap)
    while heap:
        count, switch = heapq.heappop(heap)
        around = partners(switch) if free[switch] else []
        if not around or count != len(around):
            if around:
                heapq.heappush(heap, (len(around), switch))
            continue
        other = min(around, key=lambda o: (len(partners(o)), o))
        taken = max(1, min(free[switch], free[other]) // len(around))
        edge = (min(switch, other), max(switch, other))
        found[edge] = found.get(edge, 0) + taken
        free[switch] -= taken
        free[other] -= taken
        for again in (switch, other, *neighbours[switch], *neighbours[other]):
            if free[again] and (ways := len(partners(again))):
                heapq.heappush(heap, (ways, again))


def _by_switch(home: Ints) -> Ints:
    """Pair the first switch with the second, and so on, if no two switches with terminals are neighbours.

    Terminals without a partner on the other switch get one on their own.
    """
    target = np.full(len(home), -1, np.int64)
    order = np.argsort(home, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(home[order])) + 1)
    for index in range(0, len(groups), 2):
        left, right = groups[index], groups[index + 1] if index + 1 < len(groups) else groups[index][:0]
        count = min(len(left), len(right))
        for rest in (left[count:], right[count:]):
            half = len(rest) // 2
            target[rest[:half]], target[rest[half : 2 * half]] = rest[half : 2 * half], rest[:half]
        target[left[:count]], target[right[:count]] = right[:count], left[:count]
    return target
