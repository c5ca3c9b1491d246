"""The cut of a network into two halves with as many terminals each, in number of links.

A cut counts every link that leads from one half into the other, both directions; terminals' links count too,
so the cut never has more links than terminals (rounded up to even). Times the rate of a link it is the
bidirectional data rate that can pass between the halves: 256 links for a Clos of 256 terminals, 32 for a 4 x
4 grid with 4 cables per edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .graph import Graph, Ints

MAX_EIGEN_SWITCHES = 1500
MAX_FLOW_SWITCHES = 3000


@dataclass(frozen=True)
class Bisection:
    """Links cut between two halves of the terminals."""

    links: int
    """One-way links that cross, both directions together."""
    method: str
    """How the cut was found."""
    exact: bool
    """True if no cut into halves has fewer links; false if this is the best cut found, an upper bound."""


def bisection(graph: Graph) -> Bisection:
    """Return the narrowest known cut of the graph into halves of the terminals."""
    known = _KNOWN.get(graph.family)
    found = known(graph) if known else None
    return found if found is not None else searched(graph)


def _limited(graph: Graph, cables: int, method: str, exact: bool = True) -> Bisection:
    """Take the terminals' own cables where they are fewer than the family's cut."""
    own = graph.terminals // 2
    if own < cables:
        return Bisection(2 * own, "the terminals' own cables are the narrowest place", exact)
    return Bisection(2 * cables, method, exact)


def _crossbar(graph: Graph) -> Bisection:
    return _limited(graph, graph.terminals, "")


def _lattice(graph: Graph) -> Bisection | None:
    """Cut across the longest side: exact if it is even, for then shortest paths load no other cables more."""
    longest = max(graph.layout["shape"])
    if longest % 2 or longest == 1:
        return None
    across = 2 if graph.layout["wrap"] and longest > 2 else 1
    cables = across * prod(graph.layout["shape"]) // longest * graph.layout["links_per_edge"]
    return _limited(graph, cables, "plane across the longest side")


def _clos(graph: Graph) -> Bisection:
    """Cut every centre switch's cables in halves, however the terminal switches are divided."""
    parameters: dict[str, Any] = graph.layout["parameters"]
    up = parameters["centre_switches"] * parameters["links_per_pair"]
    edges = graph.terminals // parameters["terminals_per_switch"]
    if edges % 2 == 0:
        return _limited(
            graph, edges // 2 * up, "half of the terminal switches and of the centre switches each"
        )
    # The odd switch stays on one side and half of its terminals' cables are cut: both terms of the cost are
    # linear in the number of switches on a side, so nothing between this and cutting all terminals' cables
    # is narrower.
    cables = (edges - 1) // 2 * up + parameters["terminals_per_switch"] // 2
    return _limited(graph, cables, "half of the switches, one terminal switch's terminals divided")


def _full(graph: Graph) -> Bisection:
    """Every stage of these has as many cables as there are terminals: no cut is narrower than the terminals'
    own."""
    return Bisection(2 * (graph.terminals // 2), "as many cables upwards on every level as terminals", True)


def _star(graph: Graph) -> Bisection | None:
    arms = graph.layout["parameters"]["arms"]
    if arms % 2:
        return None
    cables = arms // 2 * graph.layout["parameters"]["links_per_edge"]
    return _limited(graph, cables, "half of the arms")


def _tree(graph: Graph) -> Bisection | None:
    arity = graph.layout["parameters"]["arity"]
    if arity % 2:
        return None
    cables = arity // 2 * graph.layout["parameters"]["links_per_edge"]
    return _limited(graph, cables, "half of the branches at the root")


_KNOWN: dict[str, Callable[[Graph], Bisection | None]] = {
    "crossbar": _crossbar,
    "ring": _lattice,
    "grid": _lattice,
    "torus": _lattice,
    "hypercube": _lattice,
    "clos": _clos,
    "clos5": _full,
    "fat_tree": _full,
    "star": _star,
    "tree": _tree,
}


def searched(graph: Graph) -> Bisection:
    """Look for a narrow cut in any graph: several orders of the terminals, then for each the least cut
    between halves.

    The orders are the numbers of the terminals and those of the slowest modes of the graph (Fiedler
    vectors). Given the halves of the terminals, where each switch belongs is decided exactly, by maximum
    flow.
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
    """Return the pairs of switches that are joined (lower, higher) and by how many links, both directions."""
    links = graph.switch_links
    a, b = graph.link_source[links], graph.link_target[links]
    pairs, count = np.unique(np.minimum(a, b) * graph.switches + np.maximum(a, b), return_counts=True)
    return pairs // graph.switches, pairs % graph.switches, count


def _orders(graph: Graph, weight: tuple[Ints, Ints, Ints]) -> list[tuple[str, Ints]]:
    """Return named orders of the terminals whose first half may be a good half."""
    number = np.arange(graph.terminals)
    home = graph.terminal_entry_switches
    found = [("terminals by number", number)]
    if 2 < graph.switches <= MAX_EIGEN_SWITCHES:
        laplacian = np.zeros((graph.switches, graph.switches))
        laplacian[weight[0], weight[1]] = laplacian[weight[1], weight[0]] = -weight[2]
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        modes = np.linalg.eigh(laplacian)[1]
        for mode in range(1, min(4, graph.switches)):
            # Rounding keeps equal components equal, so that the order does not hang on the last bit.
            value = np.round(modes[:, mode], 9)
            found.append(("spectral halves", np.lexsort((number, home, value[home]))))
    return found


def _least_cut(graph: Graph, half: NDArray[np.bool_]) -> int:
    """Return the links between the given half of the terminals and the other, switches placed at best."""
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
    """Count the links of a cut in which every switch goes with most of its terminals, or of its
    neighbours."""
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
