"""Fixed destinations by the position of the switch: mirrored, transposed, half way round, adjacent."""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import Any

import numpy as np

from fabriloom.traffic import pairs
from fabriloom.traffic.kinds import Ints, Network, TrafficError, homes


def point_mirror(network: Network) -> Ints:
    """Return the destinations mirrored about the centre: terminal k of a switch to terminal k of the opposite
    switch.

    A switch in the centre is its own opposite; its terminals are paired first with last. Without coordinates
    the numbers of the terminals are mirrored.
    """
    place = _places(network)
    if place is None:
        return pairs.mirror(network.terminals)
    coordinates, shape = place
    return _moved(network, shape - 1 - coordinates, shape, "point-mirror")


def axis_mirror(network: Network, axis: int) -> Ints:
    """Return the destinations mirrored along dimension ``axis``: terminal k of a switch to terminal k."""
    place = _places(network)
    if place is None:
        if axis:
            message = (
                f"axis {axis}: this network has no coordinates, only axis 0 (the numbers of the terminals)"
            )
            raise TrafficError(message, "pattern.axis", "use axis = 0")
        return pairs.mirror(network.terminals)
    coordinates, shape = place
    if axis >= len(shape):
        message = f"axis {axis}: the network has {len(shape)} dimension{'s' if len(shape) > 1 else ''}"
        raise TrafficError(message, "pattern.axis", f"use an axis from 0 to {len(shape) - 1}")
    target = coordinates.copy()
    target[:, axis] = shape[axis] - 1 - target[:, axis]
    return _moved(network, target, shape, "axis-mirror")


def transpose(network: Network) -> Ints:
    """Return the transposed destinations: on a square grid terminal k of (x, y) to terminal k of (y, x);
    elsewhere by terminal number."""
    place = _places(network)
    if place is None or len(place[1]) != 2 or place[1][0] != place[1][1]:
        return pairs.transpose(network.terminals)
    coordinates, shape = place
    return _moved(network, coordinates[:, ::-1], shape, "transpose", reverse_own=False)


def tornado(network: Network) -> Ints:
    """Return the destinations ceil(k / 2) - 1 switches along each dimension of k, terminal k to terminal k;
    without coordinates the k terminals are one dimension (Dally and Towles 2004, table 3.1).
    """
    place = _places(network)
    if place is None:
        return pairs.without_self(
            (np.arange(network.terminals) + _half(network.terminals)) % network.terminals
        )
    coordinates, shape = place
    return _moved(network, (coordinates + _half(shape)) % shape, shape, "tornado", reverse_own=False)


def _half(length: Any) -> Any:
    return (length + 1) // 2 - 1


def _places(network: Network) -> tuple[Ints, Ints] | None:
    """Return the coordinates of each switch and the shape of the lattice, if the network is one."""
    layout = network.layout
    if "coordinates" not in layout or "shape" not in layout or not network.network_kind.cables:
        return None
    return np.asarray(layout["coordinates"], np.int64), np.asarray(layout["shape"], np.int64)


def _moved(network: Network, target: Ints, shape: Ints, name: str, reverse_own: bool = True) -> Ints:
    """Return the destinations from terminal k of each switch to terminal k of the switch at ``target``."""
    coordinates, _ = _places(network) or (target, shape)
    switch_at = np.full(int(np.prod(shape)), -1, np.int64)
    switch_at[np.ravel_multi_index(tuple(coordinates.T), tuple(shape))] = np.arange(len(coordinates))
    other = switch_at[np.ravel_multi_index(tuple(target.T), tuple(shape))]
    home = homes(network)
    counts = np.bincount(home, minlength=network.switches)
    order = np.argsort(home, kind="stable")
    start = np.concatenate([[0], np.cumsum(counts)])
    within = np.empty(len(home), np.int64)
    within[order] = np.arange(len(home)) - start[home[order]]
    goal = other[home]
    if np.any(counts[goal] != counts[home]):
        raise TrafficError(f"{name} needs as many terminals at each switch", "pattern", "use another pattern")
    own = goal == home
    if reverse_own:
        within = np.where(own, counts[home] - 1 - within, within)
    return pairs.without_self(order[start[goal] + within])


# Fixed pairs of terminals at neighbouring switches: the systematic traffic with the highest throughput.
#
# Each edge between two switches gets one pair of terminals per parallel link, as long as the switches have
# terminals. Remaining terminals, for example at the border of a grid, are also paired along edges and share
# the links. On the 4 x 4 grid with 16 terminals per switch and 4 links per edge, all 256 terminals and all
# 192 links between switches are then busy: 192 x 9.3 MB/s, the 1.8 GB/s of the Macrame paper.

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
