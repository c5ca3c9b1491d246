"""Bounds of the lanes that minimal paths need, against every choice of paths and lanes of small graphs."""

from __future__ import annotations

from itertools import product
from typing import Any

import networkx as nx
import pytest
from fabriloom import routing, topology
from fabriloom.topology import Graph


def drawn(seed: int, switches: int = 5) -> Graph:
    for more in range(100):
        network = nx.gnm_random_graph(switches, switches + seed % 3, seed=100 * seed + more)
        if nx.is_connected(network):
            return topology.from_networkx(network, terminals_per_switch=1)
    raise AssertionError("no connected graph was drawn")


def fits(graph: Graph, lanes: int, thin: bool) -> bool:
    """Whether some choice has no cycle: every destination by itself, then all combinations of them."""
    network = nx.DiGraph()
    for link in graph.switch_links:
        network.add_edge(int(graph.link_source[link]), int(graph.link_target[link]))
    per_destination = [choices(network, to, lanes, thin) for to in network]
    return any(
        nx.is_directed_acyclic_graph(nx.DiGraph([arc for arcs in combined for arc in arcs]))
        for combined in product(*per_destination)
    )


def choices(network: Any, to: int, lanes: int, thin: bool) -> list[frozenset[Any]]:
    """Return the dependencies of every choice for a destination, but for supersets."""
    far = nx.single_source_shortest_path_length(network.reverse(), to)
    others = [switch for switch in network if switch != to]
    nearer = {one: [n for n in network.successors(one) if far[n] == far[one] - 1] for one in others}
    ways = [[[n] for n in nearer[one]] if thin else [nearer[one]] for one in others]
    found = set()
    for taken in product(*ways):
        following = dict(zip(others, taken, strict=True))
        for given in product(range(lanes), repeat=len(others)):
            lane = dict(zip(others, given, strict=True))
            if any(n != to and lane[n] < lane[one] for one in others for n in following[one]):
                continue
            found.add(
                frozenset(
                    ((lane[one], one, n), (lane[n], n, after))
                    for one in others
                    for n in following[one]
                    if n != to and lane[n] == lane[one]
                    for after in following[n]
                )
            )
    return [one for one in found if not any(other < one for other in found)]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("thin", [False, True])
def test_small_graphs_are_exact(seed: int, thin: bool) -> None:
    graph = drawn(seed)
    low, high = routing.lanes_needed(graph, thin)
    assert low == high
    assert fits(graph, low, thin)
    assert low == 1 or not fits(graph, low - 1, thin)


@pytest.mark.parametrize(
    ("kind", "parameters", "every", "one"),
    [
        ("ring", {"switches": 3}, (1, 1), (1, 1)),
        ("ring", {"switches": 4}, (2, 2), (1, 1)),
        ("ring", {"switches": 5}, (2, 2), (2, 2)),
        ("grid", {"shape": [3, 3]}, (2, 2), (1, 1)),
        ("torus", {"shape": [3, 3]}, (2, 2), (1, 1)),
        ("polarfly", {"order": 3}, (2, 2), (2, 2)),
        ("slim_fly", {"order": 5}, (2, 2), (2, 2)),
        ("hyperx", {"shape": [3, 3]}, (2, 2), (1, 1)),
        ("dragonfly", {"switches_per_group": 4, "global_links": 2}, (2, 2), (2, 2)),
        ("kautz", {"degree": 2, "length": 3}, (2, 2), (2, 2)),
    ],
)
def test_of_families(
    kind: str, parameters: dict[str, Any], every: tuple[int, int], one: tuple[int, int]
) -> None:
    """Dimension order needs one lane, rings of five need a dateline, single paths of two links two lanes."""
    graph = topology.build(kind, **parameters)
    assert routing.lanes_needed(graph, thin=False) == every
    assert routing.lanes_needed(graph, thin=True) == one


def test_bounds_hold_what_the_rule_takes() -> None:
    for seed in range(12):
        drawn_ = nx.random_regular_graph(3 + seed % 3, 12 + 2 * (seed % 5), seed=seed)
        graph = topology.from_networkx(drawn_, terminals_per_switch=1 + seed % 2)
        for thin in (False, True):
            low, high = routing.lanes_needed(graph, thin)
            assert 1 <= low <= high <= routing.layers_needed(graph, thin)
        assert routing.lanes_needed(graph, True)[0] <= routing.lanes_needed(graph, False)[1]


def test_a_network_without_switches_needs_one_lane() -> None:
    assert routing.lanes_needed(topology.crossbar(4), thin=True) == (1, 1)
