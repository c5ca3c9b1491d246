"""The cut of a network into two halves with equal numbers of terminals, in links.

A cut counts every link from one half to the other, in both directions, including terminals' links, so it
never has more links than terminals (rounded up to even). Multiplied by the link rate, it is the bidirectional
data rate between the halves: 256 links for a Clos of 256 terminals, 32 for a 4 x 4 grid with 4 cables per
edge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .family import FAMILIES, Bisection
from .graph import Graph, Ints

MAX_EIGEN_SWITCHES = 1500
MAX_FLOW_SWITCHES = 3000


def bisection(graph: Graph) -> Bisection:
    """Return the smallest known cut of the graph into halves of the terminals."""
    if not graph.switches:
        return Bisection(graph.links, "the cable", True)
    family = FAMILIES.get(graph.family)
    found = family.cut(graph) if family and family.cut else None
    return found if found is not None else searched(graph)


def searched(graph: Graph) -> Bisection:
    """Search for a small cut in any graph: for several orders of the terminals, find the smallest cut between
    halves.

    The orders are the terminal numbers and the slowest modes of the graph (Fiedler vectors). For given halves
    of the terminals, maximum flow finds the best half for each switch exactly.
    """
    weight = _switch_weights(graph)
    best, method = graph.terminals // 2 * 2, "the terminals' own cables"
    for name, order in _orders(graph, weight):
        for way in (order, order[::-1]):
            half = np.zeros(graph.terminals, bool)
            half[way[: graph.terminals // 2]] = True
            cut = _least_cut(graph, half)
            if cut < best:
                best, method = (
                    cut,
                    name + (" and maximum flow" if graph.switches <= MAX_FLOW_SWITCHES else ""),
                )
    return Bisection(best, f"best found, not proven: {method}", False)


def _switch_weights(graph: Graph) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of joined switches (lower, higher) and their number of links, both directions."""
    links = graph.switch_links
    a, b = graph.link_source[links], graph.link_target[links]
    pairs, count = np.unique(np.minimum(a, b) * graph.switches + np.maximum(a, b), return_counts=True)
    return pairs // graph.switches, pairs % graph.switches, count


def _orders(graph: Graph, weight: tuple[Ints, Ints, Ints]) -> list[tuple[str, Ints]]:
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


def _least_cut(graph: Graph, half: NDArray[np.bool_]) -> int:
    """Return the links between a half of the terminals and the other, with every switch at its best."""
    if graph.switches > MAX_FLOW_SWITCHES:
        return _placed_cut(graph, half)
    import networkx

    ins, outs = graph.terminal_entry_switches, graph.terminal_exit_switches
    flow = networkx.Graph()
    for side, chosen in (("one", half), ("other", ~half)):
        count = np.bincount(ins[chosen], minlength=graph.switches)
        count += np.bincount(outs[chosen], minlength=graph.switches)
        for switch in np.flatnonzero(count).tolist():
            flow.add_edge(side, switch, capacity=int(count[switch]))
    for a, b, count in zip(*(column.tolist() for column in _switch_weights(graph)), strict=True):
        flow.add_edge(a, b, capacity=count)
    return int(networkx.maximum_flow_value(flow, "one", "other"))


def _placed_cut(graph: Graph, half: NDArray[np.bool_]) -> int:
    """Count the links of a cut in which every switch joins most of its terminals or neighbours."""
    lean = np.zeros(graph.switches)
    np.add.at(lean, graph.terminal_entry_switches, np.where(half, 1.0, -1.0))
    a, b, count = _switch_weights(graph)
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
    side = side > 0
    own = np.where(half, 1, -1)
    cut = (side[graph.terminal_entry_switches] != (own > 0)).sum()
    cut += (side[graph.terminal_exit_switches] != (own > 0)).sum()
    return int(cut + count[side[a] != side[b]].sum())
