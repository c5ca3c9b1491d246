"""Families of graphs against what their papers say of them: order, degree, diameter, paths, cuts."""

from __future__ import annotations

from itertools import combinations
from math import factorial, prod

import numpy as np
import pytest
from fabriloom import topology
from fabriloom.topology import Graph, measure
from fabriloom.topology.slim_fly import FiniteField


def adjacency(graph: Graph) -> np.ndarray:
    """Return the number of links from each switch to each other."""
    found = np.zeros((graph.switches, graph.switches), np.int64)
    links = graph.switch_links
    np.add.at(found, (graph.link_source[links], graph.link_target[links]), 1)
    return found


def paths(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance between all switches in links, and the number of paths of that length."""
    step = adjacency(graph).astype(np.float64)  # products of integers take far longer
    distance, ways = np.full(step.shape, -1), np.zeros(step.shape, np.int64)
    walks, length = np.eye(len(step)), 0
    while walks.any() and (distance < 0).any():
        fresh = (walks > 0) & (distance < 0)
        distance[fresh], ways[fresh] = length, walks[fresh]
        walks, length = walks @ step, length + 1
        assert length <= graph.switches
        assert walks.max() < 2**53
    return distance, ways


def degrees(graph: Graph) -> list[int]:
    return sorted(set(adjacency(graph).sum(axis=1).tolist()))


@pytest.mark.parametrize("order", [2, 3, 4, 5, 7, 8, 9, 16, 25, 27])
def test_a_finite_field_keeps_the_laws(order: int) -> None:
    field, all_of_them = FiniteField(order), np.arange(order)
    assert (np.sort(field.sum, axis=1) == all_of_them).all()
    assert (np.sort(field.product[1:, 1:], axis=1) == all_of_them[1:]).all()
    a, b, c = (axis.ravel() for axis in np.meshgrid(all_of_them, all_of_them, all_of_them, indexing="ij"))
    add, times = field.sum, field.product
    assert (add[add[a, b], c] == add[a, add[b, c]]).all()
    assert (times[times[a, b], c] == times[a, times[b, c]]).all()
    assert (times[a, add[b, c]] == add[times[a, b], times[a, c]]).all()
    assert sorted(field.powers.tolist()) == list(range(1, order))


@pytest.mark.parametrize("order", [3, 4, 5, 7, 8, 9, 11, 13, 16, 17])
def test_slim_fly(order: int) -> None:
    """Besta and Hoefler, SC 2014, section II-B: 2 q^2 routers of (3 q - d) / 2 neighbours, diameter 2."""
    graph = topology.slim_fly(order, 1)
    rest = {0: 0, 1: 1, 3: -1}[order % 4]
    assert graph.switches == 2 * order**2
    assert degrees(graph) == [(3 * order - rest) // 2]
    assert paths(graph)[0].max() == 2


def test_the_slim_fly_of_order_five_is_the_graph_of_hoffman_and_singleton() -> None:
    """50 vertices of degree 7 and diameter 2 are as many as there can be, so every path is the only one."""
    graph = topology.slim_fly(5)
    assert (graph.switches, degrees(graph), graph.terminals) == (50, [7], 200)
    distance, ways = paths(graph)
    assert (np.bincount(distance.ravel()) == [50, 50 * 7, 50 * 42]).all()
    assert ways.max() == 1


@pytest.mark.parametrize("order", [2, 3, 4, 5, 7, 8, 9, 11])
def test_polarfly(order: int) -> None:
    """Lakhotia et al., SC 2022, section IV: q^2 + q + 1 routers, q + 1 of them quadrics; one path of at most
    two links between any two."""
    graph = topology.polarfly(order)
    assert graph.switches == order**2 + order + 1
    degree = adjacency(graph).sum(axis=1)
    assert np.bincount(degree)[order:].tolist() == [order + 1, order**2]
    distance, ways = paths(graph)
    assert distance.max() == 2
    assert ways.max() == 1


@pytest.mark.parametrize("given", [([4, 4], [1, 1]), ([2, 3, 4], [1, 1, 1]), ([4, 2], [1, 3])])
def test_hyperx(given: tuple[list[int], list[int]]) -> None:
    """Ahn et al., SC 2009: one link per dimension, in any order of them and by any of the parallel links."""
    shape, cables = given
    graph = topology.hyperx(shape, 2, cables)
    assert degrees(graph) == [sum((s - 1) * k for s, k in zip(shape, cables, strict=True))]
    distance, ways = paths(graph)
    place = graph.layout["coordinates"]
    apart = place[:, None, :] != place[None, :, :]
    assert (distance == apart.sum(axis=2)).all()
    parallel = np.where(apart, np.array(cables), 1).prod(axis=2)
    assert (ways == np.vectorize(factorial)(apart.sum(axis=2)) * parallel).all()


@pytest.mark.parametrize("given", [([4, 4], [1, 1]), ([4, 2], [1, 3]), ([2, 2, 2], [1, 1, 1]), ([6], [1])])
def test_the_cut_of_a_hyperx_is_the_least_of_all(given: tuple[list[int], list[int]]) -> None:
    graph = topology.hyperx(given[0], 64, given[1])
    joined, switches = adjacency(graph), graph.switches
    if switches <= 8:
        halves = [list(half) for half in combinations(range(switches), switches // 2)]
        others = [[one for one in range(switches) if one not in half] for half in halves]
        cuts = [joined[np.ix_(a, b)].sum() for a, b in zip(halves, others, strict=True)]
        assert measure.bisection(graph).links == 2 * min(cuts)
    laplacian = np.diag(joined.sum(axis=1)) - joined
    second = np.sort(np.linalg.eigvalsh(laplacian))[1]
    assert measure.bisection(graph).links == pytest.approx(2 * second * switches / 4)


def test_the_cut_of_a_hyperx_of_one_switch() -> None:
    assert measure.bisection(topology.hyperx([1, 1], 4)).links == 4


@pytest.mark.parametrize("arrangement", ["relative", "absolute", "circulant"])
@pytest.mark.parametrize(("a", "h"), [(4, 2), (3, 1), (2, 2), (3, 3)])
def test_canonical_dragonflies(arrangement: str, a: int, h: int) -> None:
    """Kim et al., ISCA 2008: g = a h + 1 groups, one cable between any two, at most local, global, local."""
    graph = topology.build("dragonfly", switches_per_group=a, global_links=h, arrangement=arrangement)
    assert degrees(graph) == [a - 1 + h]
    assert paths(graph)[0].max() <= 3
    joined = _between_groups(graph)
    assert (joined == 1 - np.eye(a * h + 1)).all()


def test_arrangements_are_those_of_hastings_and_others() -> None:
    """Figure 1 of CLUSTER 2015: a = 4, h = 2, group 0; where the cables of its four switches lead."""

    def led(arrangement: str, group: int) -> list[list[int]]:
        graph = topology.build("dragonfly", switches_per_group=4, global_links=2, arrangement=arrangement)
        groups = graph.layout["groups"]
        links = graph.switch_links
        source, target = graph.link_source[links], groups[graph.link_target[links]]
        return [sorted(set(target[source == 4 * group + one].tolist()) - {group}) for one in range(4)]

    assert led("absolute", 0) == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert led("absolute", 3) == [[0, 1], [2, 4], [5, 6], [7, 8]]
    assert led("relative", 3) == [[4, 5], [6, 7], [0, 8], [1, 2]]
    assert led("circulant", 0) == [[1, 8], [2, 7], [3, 6], [4, 5]]


def _between_groups(graph: Graph) -> np.ndarray:
    groups, links = graph.layout["groups"], graph.switch_links
    found = np.zeros((groups.max() + 1, groups.max() + 1), np.int64)
    ends = groups[graph.link_source[links]], groups[graph.link_target[links]]
    np.add.at(found, ends, ends[0] != ends[1])
    return found


@pytest.mark.parametrize("arrangement", ["relative", "absolute", "circulant"])
def test_dragonfly_plus(arrangement: str) -> None:
    """Shpiner et al., HiPINEB 2017: leaves reach those of other groups over one spine of each group."""
    graph = topology.build(
        "dragonfly_plus", leaves=3, spines=4, global_links=2, terminals_per_switch=2, arrangement=arrangement
    )
    assert (graph.switches, graph.terminals) == (9 * 7, 9 * 3 * 2)
    assert (_between_groups(graph) == 1 - np.eye(9)).all()
    leaf = np.unique(graph.terminal_entry_switches)
    distance, ways = paths(graph)
    within = graph.layout["groups"][leaf][:, None] == graph.layout["groups"][leaf][None, :]
    assert (distance[np.ix_(leaf, leaf)][~within] == 3).all()
    assert (ways[np.ix_(leaf, leaf)][~within] == 1).all()
    own = within & ~np.eye(len(leaf), dtype=bool)
    assert (distance[np.ix_(leaf, leaf)][own] == 2).all()
    assert (ways[np.ix_(leaf, leaf)][own] == 4).all()


@pytest.mark.parametrize(("switches", "degree"), [(20, 3), (9, 3), (6, 5), (40, 6), (8, 2)])
@pytest.mark.parametrize("graph_seed", [1, 2, 3])
def test_jellyfish_is_regular_and_the_same_for_a_seed(switches: int, degree: int, graph_seed: int) -> None:
    graph = topology.jellyfish(switches, degree, graph_seed=graph_seed)
    joined = adjacency(graph)
    assert joined.max() == 1
    left = degree - joined.sum(axis=1)
    assert left.sum() == switches * degree % 2
    assert paths(graph)[0].min() == 0
    assert topology.jellyfish(switches, degree, graph_seed=graph_seed) == graph


def test_jellyfish_stays_as_it_is() -> None:
    graph = topology.jellyfish(8, 3, graph_seed=5)
    links = graph.switch_links[::2]
    pairs = list(zip(graph.link_source[links].tolist(), graph.link_target[links].tolist(), strict=True))
    assert pairs == PINNED
    assert topology.jellyfish(8, 3, graph_seed=6) != graph


PINNED = [
    *((0, 2), (0, 3), (0, 6), (1, 3), (1, 4), (1, 6)),
    *((2, 4), (2, 5), (3, 5), (4, 7), (5, 7), (6, 7)),
]


@pytest.mark.parametrize("a", [2, 3, 4, 6, 8])
def test_twisted_torus(a: int) -> None:
    """Cámara et al. 2010: the rectangular twisted torus has diameter a, and its mean distance is shorter."""
    twisted, plain = topology.twisted_torus([a, 2 * a], [a]), topology.torus([a, 2 * a])
    assert paths(twisted)[0].max() == a
    if a > 2:
        assert degrees(twisted) == [4]
        assert paths(plain)[0].max() == a // 2 + a
        assert paths(twisted)[0].mean() < paths(plain)[0].mean()


@pytest.mark.parametrize("shape", [[4, 5], [3, 4, 5]])
def test_a_torus_without_a_twist_is_a_torus(shape: list[int]) -> None:
    twisted = topology.twisted_torus(shape, [0] * (len(shape) - 1))
    assert (adjacency(twisted) == adjacency(topology.torus(shape))).all()


@pytest.mark.parametrize(("side", "diameter"), [(2, 4), (4, 8)])
def test_hammingmesh(side: int, diameter: int) -> None:
    """Hoefler et al., SC 2022, table II: the small clusters of Hx2Mesh and Hx4Mesh have diameters 4 and 8."""
    graph = topology.hammingmesh([side, side], [3, 3])
    assert graph.terminals == (3 * side) ** 2
    places = np.arange(graph.terminals)
    assert paths(graph)[0][np.ix_(places, places)].max() == diameter
    assert (adjacency(graph).sum(axis=1)[places] == 4).all()


def test_a_hammingmesh_of_single_places_has_two_cables_to_each_switch() -> None:
    joined = adjacency(topology.hammingmesh([1, 1], [3, 2]))
    assert set(joined[:6, 6:].ravel().tolist()) == {0, 2}


@pytest.mark.parametrize(("degree", "length"), [(2, 2), (2, 4), (3, 3), (4, 2)])
def test_words(degree: int, length: int) -> None:
    """(d + 1) d^(n - 1) and d^n words, diameter n; a shortest path is the only one (Kautz; de Bruijn)."""
    kautz, bruijn = topology.kautz(degree, length), topology.de_bruijn(degree, length)
    assert (kautz.switches, bruijn.switches) == ((degree + 1) * degree ** (length - 1), degree**length)
    for graph in (kautz, bruijn):
        distance, ways = paths(graph)
        assert distance.min() == 0
        assert distance.max() == length
        assert ways.max() == 1
    assert degrees(kautz) == [degree]
    assert sorted(set(adjacency(kautz).sum(axis=0).tolist())) == [degree]
    assert degrees(bruijn) == [degree - 1, degree]


@pytest.mark.parametrize(
    ("children", "parents"), [([4, 4], [1, 2]), ([2, 2, 3], [1, 2, 2]), ([3, 2, 2], [1, 1, 4]), ([5], [1])]
)
def test_xgft(children: list[int], parents: list[int]) -> None:
    """Öhring et al., IPPS 1995: between terminals that meet at level l there are w_1 … w_l shortest paths."""
    graph = topology.xgft(children, parents)
    assert graph.terminals == prod(children)
    widths = [prod(children[level + 1 :]) * prod(parents[: level + 1]) for level in range(len(children))]
    assert np.bincount(graph.layout["levels"]).tolist() == widths
    distance, ways = paths(graph)
    leaf = np.arange(widths[0])
    # The level at which two meet is one above the last at which their subtrees differ.
    below = [leaf // prod(children[1 : level + 1]) for level in range(len(children))]
    height = sum((one[:, None] != one[None, :]).astype(np.int64) for one in below)
    assert (distance[np.ix_(leaf, leaf)] == 2 * height).all()
    wide = np.array([prod(parents[: level + 1]) for level in range(len(children))])
    assert (ways[np.ix_(leaf, leaf)] == wide[height]).all()


def test_the_k_ary_n_tree_is_an_xgft() -> None:
    tree, same = topology.fat_tree(2, 3), topology.xgft([2, 2, 2], [1, 2, 2])
    assert (tree.switches, tree.terminals, tree.links) == (same.switches, same.terminals, same.links)
    assert (np.sort(paths(tree)[1].ravel()) == np.sort(paths(same)[1].ravel())).all()
