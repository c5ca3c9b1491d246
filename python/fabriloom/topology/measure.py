"""Count the parts of a graph, measure its distances, and find the narrowest cut into halves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .family import FAMILIES, Bisection
from .graph import Graph, Ints

MAX_EIGEN_SWITCHES = 1500
MAX_FLOW_SWITCHES = 3000
_ALIKE = 1e-9
"""Part of a cut by which rounding may make an equal one narrower."""
Reals = NDArray[np.float64]


def bisection(graph: Graph, speed: Reals | None = None) -> Bisection:
    """Return the narrowest known cut of the graph into halves of the terminals.

    ``speed``: of each link. Where it differs, the narrowest cut is the slowest.
    """
    if not graph.switches:
        return Bisection(graph.links, "the cable", True)
    if speed is not None and np.ptp(speed) > 0:
        return searched(graph, speed)
    family = FAMILIES.get(graph.family)
    found = family.cut(graph) if family and family.cut else None
    return found if found is not None else searched(graph)


def searched(graph: Graph, speed: Reals | None = None) -> Bisection:
    """Search for a narrow cut in any graph: for several orders of the terminals, find the narrowest cut
    between halves.

    The orders are the terminal numbers and the slowest modes of the graph (Fiedler vectors). For given halves
    of the terminals, maximum flow finds the best half for each switch exactly.
    """
    speed = np.ones(graph.links) if speed is None else speed
    weight = _switch_weights(graph, speed)
    own = np.sort(speed[graph.terminal_out_links] + speed[graph.terminal_in_links])[: graph.terminals // 2]
    best, links, method = float(own.sum()), 2 * len(own), "the terminals' own cables"
    # The other half of an even number is the same cut; only what is found without flow is not.
    ways = (1,) if graph.terminals % 2 == 0 and graph.switches <= MAX_FLOW_SWITCHES else (1, -1)
    for name, order in _orders(graph, weight):
        for way in (order[::step] for step in ways):
            half = np.zeros(graph.terminals, bool)
            half[way[: graph.terminals // 2]] = True
            crossing = _crossing(graph, half, weight, speed)
            if (cut := float(speed[crossing].sum())) < best * (1 - _ALIKE):
                flow = " and maximum flow" if graph.switches <= MAX_FLOW_SWITCHES else ""
                best, links, method = cut, int(crossing.sum()), name + flow
    return Bisection(links, f"best found, not proven: {method}", False, best)


def _switch_weights(graph: Graph, speed: Reals) -> tuple[Ints, Ints, Reals]:
    """Return the pairs of joined switches (lower, higher) and the speed of their links, both directions."""
    links = graph.switch_links
    a, b = graph.link_source[links], graph.link_target[links]
    pairs, place = np.unique(np.minimum(a, b) * graph.switches + np.maximum(a, b), return_inverse=True)
    wide = np.zeros(len(pairs))
    np.add.at(wide, place, speed[links])
    return pairs // graph.switches, pairs % graph.switches, wide


def _orders(graph: Graph, weight: tuple[Ints, Ints, Reals]) -> list[tuple[str, Ints]]:
    """Return named orders of the terminals whose first half may give a small cut."""
    number = np.arange(graph.terminals)
    home = graph.terminal_entry_switches
    found = [("terminals by number", number)]
    if 2 < graph.switches <= MAX_EIGEN_SWITCHES:
        laplacian = np.zeros((graph.switches, graph.switches))
        laplacian[weight[0], weight[1]] = laplacian[weight[1], weight[0]] = -weight[2]
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        modes = np.linalg.eigh(laplacian)[1]
        for mode in range(1, min(4, graph.switches)):
            # Rounding makes equal components equal, so that the order does not depend on the last bit.
            value = np.round(modes[:, mode], 9)
            found.append(("spectral halves", np.lexsort((number, home, value[home]))))
    return found


def _crossing(
    graph: Graph, half: NDArray[np.bool_], weight: tuple[Ints, Ints, Reals], speed: Reals
) -> NDArray[np.bool_]:
    """Return which links join a half of the terminals and the other, with every switch at its best."""
    place = _placed if graph.switches > MAX_FLOW_SWITCHES else _by_flow
    side = np.append(place(graph, half, weight, speed), half)
    return side[graph.link_source] != side[graph.link_target]


def _by_flow(
    graph: Graph, half: NDArray[np.bool_], weight: tuple[Ints, Ints, Reals], speed: Reals
) -> NDArray[np.bool_]:
    """Return the half of each switch, such that the cut is the narrowest."""
    import networkx

    ins, outs = graph.terminal_entry_switches, graph.terminal_exit_switches
    out, into = speed[graph.terminal_out_links], speed[graph.terminal_in_links]
    flow = networkx.Graph()
    for end, chosen in (("one", half), ("other", ~half)):
        count = np.bincount(ins[chosen], out[chosen], graph.switches)
        count += np.bincount(outs[chosen], into[chosen], graph.switches)
        for switch in np.flatnonzero(count).tolist():
            flow.add_edge(end, switch, capacity=float(count[switch]))
    for a, b, count in zip(*(column.tolist() for column in weight), strict=True):
        flow.add_edge(a, b, capacity=count)
    _, (one, _) = networkx.minimum_cut(flow, "one", "other")
    side = np.zeros(graph.switches, bool)
    side[[switch for switch in one if switch != "one"]] = True
    return side


def _placed(
    graph: Graph, half: NDArray[np.bool_], weight: tuple[Ints, Ints, Reals], speed: Reals
) -> NDArray[np.bool_]:
    """Return the half of each switch, so that it joins most of its terminals or neighbours."""
    lean = np.zeros(graph.switches)
    np.add.at(
        lean, graph.terminal_entry_switches, np.where(half, 1.0, -1.0) * speed[graph.terminal_out_links]
    )
    a, b, count = weight
    side = np.sign(lean)
    for _ in range(graph.switches):
        free = side == 0
        if not free.any():
            break
        pull = np.zeros(graph.switches)
        np.add.at(pull, a, side[b] * count)
        np.add.at(pull, b, side[a] * count)
        fresh = np.where(free, np.sign(pull), side)
        if np.array_equal(fresh, side):
            break
        side = fresh
    return side > 0


__all__ = ["Bisection", "Counts", "Distances", "bisection", "counts", "distances", "ports_used"]


@dataclass(frozen=True)
class Counts:
    """The number of parts of a network."""

    switches: int
    terminals: int
    links: int
    """Number of links: two per cable, one per one-way link."""
    cables: int
    """Number of cables, including those of terminals; a one-way link counts as one."""
    terminal_cables: int
    switch_cables: int
    ports_used_min: int
    ports_used_max: int


@dataclass(frozen=True)
class Distances:
    """Distances between terminals: the number of switches on a shortest path, at least 1; 0 on a cable
    between two terminals."""

    mean_switches: float
    """Mean over all ordered pairs of different terminals."""
    diameter_switches: int
    unreachable_pairs: int
    """Ordered pairs without a path; the mean does not include them."""


def counts(graph: Graph) -> Counts:
    forth = (graph.link_reverse < 0) | (graph.link_reverse > np.arange(graph.links))
    between = (graph.link_source < graph.switches) & (graph.link_target < graph.switches)
    ports = ports_used(graph)
    return Counts(
        switches=graph.switches,
        terminals=graph.terminals,
        links=graph.links,
        cables=int(forth.sum()),
        terminal_cables=int((forth & ~between).sum()),
        switch_cables=int((forth & between).sum()),
        ports_used_min=int(ports.min()) if ports.size else 0,
        ports_used_max=int(ports.max()) if ports.size else 0,
    )


def ports_used(graph: Graph) -> Ints:
    """Return the ports used per switch: one per cable; of one-way links one in and one out share a port."""
    paired = graph.link_reverse >= 0
    here = {"minlength": graph.switches + graph.ports}
    cables = np.bincount(graph.link_source[paired], **here)
    leaving = np.bincount(graph.link_source[~paired], **here)
    entering = np.bincount(graph.link_target[~paired], **here)
    return (cables + np.maximum(leaving, entering))[: graph.switches]


def distances(graph: Graph) -> Distances:
    """Measure the distances between all terminals by a search from every switch that terminals send into.

    64 searches share a machine word; lattices are measured by their coordinates.
    """
    if not graph.switches:
        return Distances(mean_switches=0.0, diameter_switches=0, unreachable_pairs=0)
    entering = np.bincount(graph.terminal_entry_switches, minlength=graph.switches)
    leaving = np.bincount(graph.terminal_exit_switches, minlength=graph.switches)
    if "coordinates" in graph.layout:
        return _lattice_distances(graph, int(entering[0]))
    pairs_at = _pairs_by_distance(graph, entering, leaving)
    # A terminal is one switch away from itself only if both its links are on one switch; those pairs do not
    # count.
    own = _own_pairs(graph)
    found = {distance: pairs - own.get(distance, 0) for distance, pairs in pairs_at.items()}
    reached = sum(found.values())
    total = graph.terminals * (graph.terminals - 1)
    return Distances(
        mean_switches=sum(distance * pairs for distance, pairs in found.items()) / max(reached, 1),
        diameter_switches=max((distance for distance, pairs in found.items() if pairs), default=0),
        unreachable_pairs=total - reached,
    )


def _lattice_distances(graph: Graph, per_switch: int) -> Distances:
    """Sum over dimensions the distances between all pairs of coordinates."""
    shape, switches = graph.layout["shape"], graph.switches
    total_steps, farthest = 0, 0
    for side in shape:
        here = np.arange(side)
        steps = np.abs(here[:, None] - here[None, :])
        if graph.layout.get("complete"):
            steps = np.minimum(steps, 1)
        if graph.layout["wrap"] and side > 2:
            steps = np.minimum(steps, side - steps)
        total_steps += int(steps.sum()) * (switches // side) ** 2
        farthest += int(steps.max())
    pairs = graph.terminals * (graph.terminals - 1)
    steps_mean = total_steps * per_switch**2 / pairs
    return Distances(mean_switches=1 + steps_mean, diameter_switches=1 + farthest, unreachable_pairs=0)


def _pairs_by_distance(graph: Graph, entering: Ints, leaving: Ints) -> dict[int, int]:
    """Return, per distance in switches, the number of ordered pairs of terminals, own pairs included."""
    starts = np.flatnonzero(entering)
    links = graph.switch_links
    order = links[np.argsort(graph.link_target[links], kind="stable")]
    sources = graph.link_source[order]
    joined, first = np.unique(graph.link_target[order], return_index=True)

    word, bit = np.divmod(np.arange(len(starts)), 64)
    reached = np.zeros((graph.switches, (len(starts) + 63) // 64), np.uint64)
    reached[starts, word] |= np.uint64(1) << bit.astype(np.uint64)
    masks = _masks(entering[starts], reached.shape[1])
    found: dict[int, int] = {}
    fresh, distance = reached.copy(), 1
    while fresh.any():
        found[distance] = sum(
            weight * int(np.dot(np.bitwise_count(fresh & mask).sum(axis=1, dtype=np.int64), leaving))
            for weight, mask in masks
        )
        spread = np.zeros_like(reached)
        if len(order):
            spread[joined] = np.bitwise_or.reduceat(fresh[sources], first, axis=0)
        fresh = spread & ~reached
        reached |= fresh
        distance += 1
    return found


def _masks(weights: Ints, words: int) -> list[tuple[int, NDArray[np.uint64]]]:
    """Return, for every number of terminals on a switch, the bits of the starts with this number."""
    masks = []
    for weight in np.unique(weights).tolist():
        bits = np.zeros(words * 64, bool)
        bits[: len(weights)] = weights == weight
        packed = np.packbits(bits.reshape(words, 64), axis=1, bitorder="little").view(np.uint64).ravel()
        masks.append((weight, packed))
    return masks


def _own_pairs(graph: Graph) -> dict[int, int]:
    """Return, per distance, how many terminals are that far from themselves: 1, or more if one-way."""
    entry, leave = graph.terminal_entry_switches, graph.terminal_exit_switches
    if np.array_equal(entry, leave):
        return {1: graph.terminals}
    if graph.family == "banyan":
        return {graph.layout["stages"]: graph.terminals}
    found: dict[int, int] = {}
    for start, end in zip(entry.tolist(), leave.tolist(), strict=True):
        distance = _search(graph, start, end)
        if distance:
            found[distance] = found.get(distance, 0) + 1
    return found


def _search(graph: Graph, start: int, end: int) -> int:
    """Return the number of switches on a shortest path, 0 if there is none."""
    links = graph.switch_links
    source, target = graph.link_source[links], graph.link_target[links]
    seen = np.zeros(graph.switches, bool)
    seen[start] = True
    distance, frontier = 1, seen.copy()
    while not seen[end]:
        frontier_next = np.zeros_like(seen)
        frontier_next[target[frontier[source]]] = True
        frontier = frontier_next & ~seen
        if not frontier.any():
            return 0
        seen |= frontier
        distance += 1
    return distance
