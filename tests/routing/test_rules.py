"""Every rule on its family: everything arrives, dependencies are as promised, links are used evenly.

Shortest paths and up*/down* on random graphs, against plain computations.

Dimension order on lattices of any shape, in any order of dimensions.

The most that a network carries however its switches share packets.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from fabriloom import Scenario, routing, topology
from fabriloom.routing import RoutingError
from fabriloom.studies import inspection
from fabriloom.topology import Graph
from hypothesis import given, settings
from hypothesis import strategies as st

from .common import assert_cycle, dependencies, graph_of, graphs

FAMILIES: list[tuple[str, dict[str, Any]]] = [
    ("crossbar", {"terminals": 6}),
    ("ring", {"switches": 7, "terminals_per_switch": 2, "links_per_edge": 2}),
    ("grid", {"shape": [4, 4], "terminals_per_switch": 4, "links_per_edge": 2}),
    ("grid", {"shape": [3, 1, 2, 2]}),
    ("torus", {"shape": [5, 4], "terminals_per_switch": 2}),
    ("torus", {"shape": [2, 3, 4]}),
    ("hypercube", {"dimensions": 4, "terminals_per_switch": 2}),
    ("clos", {"terminals": 64}),
    ("clos", {"terminals": 48, "terminals_per_switch": 12, "centre_switches": 3, "links_per_pair": 2}),
    ("clos5", {"terminals": 64, "switch_ports": 8}),
    ("fat_tree", {"arity": 3, "levels": 3}),
    ("star", {"arms": 4, "terminals_per_switch": 3, "links_per_edge": 2}),
    ("tree", {"arity": 2, "depth": 3, "terminals_per_switch": 2}),
    *[("banyan", {"terminals": 16, "variant": variant}) for variant in ("omega", "flip", "butterfly")],
    *[("banyan", {"terminals": 27, "variant": v, "base": 3}) for v in ("baseline", "indirect-cube")],
]


@pytest.mark.parametrize(("family", "parameters"), FAMILIES)
@pytest.mark.parametrize(
    "how", [{}, {"adaptive": False}, {"adaptive": False, "spread": "runs"}, {"universal": True}]
)
def test_the_family_s_own_rule_arrives_without_a_cycle(
    family: str, parameters: dict[str, Any], how: dict[str, Any]
) -> None:
    graph = topology.build(family, **parameters)
    if how.get("universal") and family in ("crossbar", "banyan"):
        with pytest.raises(RoutingError, match="universal routing needs"):
            routing.build(graph, **how)
        return
    table = routing.build(graph, **how)
    routing.verify(graph, table)
    cycle = routing.dependency_cycle(graph, table)
    if how.get("universal") and "levels" not in graph.layout:
        assert cycle is not None
        assert_cycle(graph, cycle)
    else:
        assert cycle is None
        assert routing.proved(graph, table) == (not how.get("universal")), "all entries show it at once"
    loads = routing.channel_loads(graph, table)
    assert loads.sum() / graph.terminals == pytest.approx(routing.mean_hops(graph, table))
    if not how.get("universal"):
        lengths = [
            len(routing.path(graph, table, a, b))
            for a in range(0, graph.terminals, 5)
            for b in range(graph.terminals)
            if a != b
        ]
        assert min(lengths) >= 2
        assert np.array_equal(table.terminal_class, np.arange(graph.terminals))


@pytest.mark.parametrize("shape", [[5], [8], [4, 4], [5, 6], [3, 4, 5]])
def test_a_minimal_torus_has_a_cycle(shape: list[int]) -> None:
    graph = topology.torus(shape, 2, 2)
    table = routing.build(graph, variant="minimal")
    routing.verify(graph, table)
    cycle = routing.dependency_cycle(graph, table)
    assert cycle is not None
    assert_cycle(graph, cycle)
    shorter = routing.mean_hops(graph, table)
    assert shorter < routing.mean_hops(graph, routing.build(graph, variant="no-edge-transit"))


def test_no_edge_transit_passes_through_no_edge() -> None:
    graph = topology.torus([5, 6], 1)
    table = routing.build(graph, variant="no-edge-transit")
    places = graph.layout["coordinates"]
    for source in range(graph.terminals):
        for target in range(graph.terminals):
            if source == target:
                continue
            path = routing.path(graph, table, source, target)
            way = places[[int(graph.link_target[link]) for link in path[:-1]]]
            for dimension in (0, 1):
                moves = np.flatnonzero(np.diff(way[:, dimension]))
                inner = way[moves[1:], dimension]
                assert not (inner == 0).any(), (way.tolist(), dimension)


def test_the_torus_gains_a_fifth_over_the_grid() -> None:
    bound = {}
    for family in (topology.grid, topology.torus):
        graph = family([8, 8], 16, 4)
        loads = routing.channel_loads(graph, routing.build(graph))
        between = np.maximum(graph.link_source, graph.link_target) < graph.switches
        bound[family.__name__] = 1 / loads[between].max()
    assert 1.15 < bound["torus"] / bound["grid"] < 1.35
    assert bound["grid"] == pytest.approx(1023 / 1024 / 8)


def test_dimensions_are_finished_in_the_given_order() -> None:
    graph = topology.grid([3, 4], 1)
    for order, second in (([0, 1], "s(1,0)"), ([1, 0], "s(0,1)")):
        table = routing.build(graph, order=order)
        path = routing.path(graph, table, 0, 11)
        assert graph.vertex_name(int(graph.link_target[path[1]])) == second
        assert len(path) == 7


def uses(graph: Graph, adaptive: bool, **how: Any) -> list[list[int]]:
    """Return per switch how many remote terminals each link between switches serves."""
    table = routing.build(graph, adaptive=adaptive, **how)
    home = graph.link_source[np.flatnonzero(graph.link_target >= graph.switches)]
    counts = []
    for switch in range(graph.switches):
        groups = table.route[switch, : graph.terminals][home != switch] >> 1
        links = table.group_links[table.group_start[groups]]
        counts.append(np.unique_counts(links).counts.tolist())
    return counts


def test_deterministic_routing_spreads_destinations_evenly() -> None:
    graph = topology.clos(256)
    assert uses(graph, False)[:16] == [[15] * 16] * 16
    grid = topology.grid([8, 8], 16, 4)
    for counts in uses(grid, False):
        assert all(max(four) == min(four) for four in zip(*[iter(sorted(counts))] * 4, strict=True))


@pytest.mark.parametrize("spread", ["turns", "runs"])
@pytest.mark.parametrize("terminals", [64, 128, 256, 512])
def test_deterministic_clos_links_carry_equal_loads(terminals: int, spread: str) -> None:
    graph = topology.clos(terminals)
    table = routing.build(graph, adaptive=False, spread=spread)
    loads = routing.channel_loads(graph, table)
    between = np.maximum(graph.link_source, graph.link_target) < graph.switches
    assert loads[between].max() < 1.05
    if spread == "turns":
        assert loads[between] == pytest.approx(loads[between].mean())


def test_deterministic_fat_tree_links_carry_equal_loads_in_every_level() -> None:
    graph = topology.fat_tree(4, 3)
    loads = routing.channel_loads(graph, routing.build(graph, adaptive=False))
    levels = np.r_[graph.layout["levels"], np.full(graph.terminals, -1)]
    for below in range(2):
        up = (levels[graph.link_source] == below) & (levels[graph.link_target] == below + 1)
        down = (levels[graph.link_source] == below + 1) & (levels[graph.link_target] == below)
        assert loads[up] == pytest.approx(loads[up].mean())
        assert loads[down] == pytest.approx(loads[down].mean())


def test_adaptive_groups_are_all_equivalent_links() -> None:
    graph = topology.clos(256)
    table = routing.build(graph)
    sizes = np.diff(table.group_start)
    assert np.unique(sizes[table.group_switch < 16], return_counts=True)[1].tolist() == [256, 16]
    assert set(sizes[table.group_switch >= 16].tolist()) == {2}
    grid = topology.grid([4, 4], 8, 3)
    sizes = np.diff(routing.build(grid).group_start)
    assert np.unique(sizes, return_counts=True)[0].tolist() == [1, 3]
    assert (sizes == 3).sum() == 48


def test_universal_routing_of_a_clos_goes_over_its_centre() -> None:
    graph = topology.clos(64)
    table = routing.build(graph, universal=True)
    assert [graph.switch_names[s] for s in table.via_switch] == ["centre(0)", "centre(1)"]
    assert routing.intermediates(graph) == [4, 5]
    for via, centre in enumerate(table.via_switch.tolist()):
        path = routing.path(graph, table, 0, 1, via)
        assert int(graph.link_target[path[1]]) == centre
        assert len(path) == 4
        assert (table.route[:4, table.via_class[via]] & 1).all()


def test_terminals_alone_at_their_switch_need_no_way_to_themselves() -> None:
    graph = graph_of(3, [(0, 1), (1, 2)], [0, 2])
    for kind in ("shortest-path", "up*/down*"):
        table = routing.build(graph, kind)
        routing.verify(graph, table)
        assert routing.mean_hops(graph, table) == 4


def test_sixteen_thousand_terminals_are_cheap() -> None:
    graph = topology.grid([32, 32], 16, 4)
    table = routing.build(graph)
    assert table.route.nbytes == 4 * 1024 * 16384
    assert table.groups < 25_000
    routing.verify(graph, table)
    assert routing.dependency_cycle(graph, table) is None
    assert routing.channel_loads(graph, table).max() == pytest.approx(32 * 16384 / 16383)


HOW = st.sampled_from([{}, {"adaptive": False}, {"adaptive": False, "spread": "runs"}])


@settings(max_examples=60)
@given(graphs(), st.sampled_from(["shortest-path", "up*/down*", "auto"]), HOW)
def test_everything_arrives_and_cycles_are_found(graph: topology.Graph, kind: str, how: dict) -> None:
    table = routing.build(graph, kind, **how)
    routing.verify(graph, table)
    cycle = routing.dependency_cycle(graph, table)
    plain = dependencies(graph, table)
    assert (cycle is None) == nx.is_directed_acyclic_graph(plain)
    if cycle is not None:
        assert_cycle(graph, cycle)
        assert all(plain.has_edge(a, b) for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    if kind != "shortest-path":
        assert cycle is None


@settings(max_examples=40)
@given(graphs(), st.booleans())
def test_shortest_paths_are_shortest(graph: topology.Graph, adaptive: bool) -> None:
    table = routing.build(graph, "shortest-path", adaptive=adaptive)
    plain = nx.DiGraph(zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True))
    for source in range(graph.terminals):
        lengths = nx.single_source_shortest_path_length(plain, graph.switches + source)
        for target in range(graph.terminals):
            if source != target:
                path = routing.path(graph, table, source, target)
                assert len(path) == lengths[graph.switches + target]


@settings(max_examples=30)
@given(graphs(), st.sampled_from(["shortest-path", "up*/down*"]), st.booleans())
def test_loads_are_those_of_the_paths(graph: topology.Graph, kind: str, universal: bool) -> None:
    table = routing.build(graph, kind, adaptive=False, universal=universal)
    expected = np.zeros(graph.links)
    share = 1 / (graph.terminals - 1)
    home = [
        int(graph.link_target[graph.link_source == graph.switches + t][0]) for t in range(graph.terminals)
    ]
    for source in range(graph.terminals):
        for target in (t for t in range(graph.terminals) if t != source):
            vias = [None if s == home[source] else v for v, s in enumerate(table.via_switch.tolist())]
            for via in vias or [None]:
                path = routing.path(graph, table, source, target, via)
                expected[path] += share / max(len(vias), 1)
    assert routing.channel_loads(graph, table) == pytest.approx(expected)
    matrix = np.full((graph.terminals, graph.terminals), 2 * share)
    np.fill_diagonal(matrix, 0)
    assert routing.channel_loads(graph, table, matrix) == pytest.approx(2 * expected)


def test_weights_may_be_a_matrix_or_three_columns() -> None:
    graph = topology.ring(4, 2)
    table = routing.build(graph)
    matrix = np.zeros((8, 8))
    matrix[0, 5] = matrix[3, 1] = 0.25
    loads = routing.channel_loads(graph, table, matrix)
    assert loads == pytest.approx(routing.channel_loads(graph, table, ([0, 3], [5, 1], [0.25, 0.25])))
    used = {*routing.path(graph, table, 0, 5), *routing.path(graph, table, 3, 1)}
    assert set(np.flatnonzero(loads).tolist()) == used
    with pytest.raises(routing.RoutingError, match="the weights have shape"):
        routing.channel_loads(graph, table, matrix[:4])
    with pytest.raises(routing.RoutingError, match="terminal that does not exist"):
        routing.channel_loads(graph, table, ([0], [9], [1.0]))


def test_the_root_can_be_chosen() -> None:
    graph = graph_of(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], [0, 1, 2, 3, 4])
    for root in (2, "c"):
        table = routing.build(graph, "up*/down*", root=root)
        # The way between the two switches farthest from the root is closed: 0 to 4 goes over c.
        assert [graph.link_names[link] for link in routing.path(graph, table, 0, 4)][1] in ("a>b#0", "a>e#4")
        assert routing.dependency_cycle(graph, table) is None


def test_auto_turns_to_up_down_where_shortest_paths_could_deadlock() -> None:
    ring = graph_of(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], [0, 1, 2, 3, 4])
    assert routing.dependency_cycle(ring, routing.build(ring, "shortest-path")) is not None
    assert routing.build(ring).kind == "up-star-down-star"
    line = graph_of(3, [(0, 1), (1, 2)], [0, 1, 2])
    assert routing.build(line).kind == "shortest-path"


def test_next_hops_of_shortest_paths() -> None:
    diamond = graph_of(4, [(0, 1), (0, 1), (0, 2), (1, 3), (2, 3)], [0, 3])
    cases: list[tuple[dict[str, Any], int]] = [({}, 3), ({"next_hops": "first"}, 2), ({"adaptive": False}, 1)]
    for how, links in cases:
        table = routing.build(diamond, "shortest-path", **how)
        assert len(table.group(int(table.route[0, 1]) >> 1)) == links


SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=4).filter(lambda shape: 2 <= np.prod(shape) <= 150)


@settings(max_examples=60)
@given(SHAPES, st.data(), st.booleans(), st.integers(1, 3))
def test_lattices_arrive_without_a_cycle(
    shape: list[int], data: st.DataObject, adaptive: bool, parallel: int
) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    for family in (topology.grid, topology.torus):
        graph = family(shape, 2, parallel)
        table = routing.build(graph, order=order, adaptive=adaptive)
        routing.verify(graph, table)
        assert routing.dependency_cycle(graph, table) is None


@settings(max_examples=40)
@given(SHAPES, st.booleans())
def test_minimal_ways_round_are_shortest(shape: list[int], adaptive: bool) -> None:
    graph = topology.torus(shape, 1)
    table = routing.build(graph, variant="minimal", adaptive=adaptive)
    routing.verify(graph, table)
    places, sides = graph.layout["coordinates"], np.array(shape)
    apart = np.abs(places[:, None] - places[None])
    distance = np.where(sides > 2, np.minimum(apart, sides - apart), apart).sum(axis=2)
    mean = distance.sum() / (graph.terminals * (graph.terminals - 1)) + 2
    assert np.isclose(routing.mean_hops(graph, table), mean)
    cycle = routing.dependency_cycle(graph, table)
    if max(shape) > 4:
        assert cycle is not None
        assert_cycle(graph, cycle)
    if max(shape) < 4:
        assert cycle is None


def pairs_of(rows: list[tuple[int, int, float]]) -> tuple[np.ndarray, ...]:
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def test_two_ways_of_different_rates() -> None:
    """Even shares fill the slow way first; the best shares are one to three."""
    graph = topology.grid([2, 2])
    table = routing.build(graph, "shortest-path")
    capacity = np.array([1.0 if "s(0,1)" in name else 3.0 for name in graph.link_names])
    capacity[[*graph.terminal_out_links, *graph.terminal_in_links]] = 100
    one = pairs_of([(0, 3, 1.0)])
    nobody = np.zeros(graph.terminals)
    even = routing.channel_loads(graph, table, one)
    assert float((capacity[even > 0] / even[even > 0]).min()) == 2
    assert routing.most_units(graph, table, one, nobody, capacity) == pytest.approx(4, rel=0.02)


@given(st.integers(0, 2**32 - 1))
def test_no_shares_exceed_the_bound(seed: int) -> None:
    dice = np.random.default_rng(seed)
    graph = topology.build("grid", shape=[int(dice.integers(2, 5)), int(dice.integers(2, 5))])
    table = routing.build(graph, "shortest-path")
    target = dice.permutation(graph.terminals)
    source = np.flatnonzero(target != np.arange(graph.terminals))
    if not len(source):
        return
    packets = source, target[source], dice.random(len(source)) + 0.1
    capacity, even = dice.random(graph.links) + 0.5, dice.random(graph.terminals)
    most = routing.most_units(graph, table, packets, even, capacity)
    assert most is not None
    ways = [routing.channel_loads(graph, table, packets, even)]
    ways += [routing.channel_loads(graph, table, packets, even, dice.random(graph.links)) for _ in range(5)]
    for share in dice.dirichlet(np.ones(len(ways)), 10):
        filled = sum(part * way for part, way in zip(share, ways, strict=True)) / capacity
        assert 1 / filled.max() <= most * (1 + 1e-9)


def test_check_says_what_no_shares_exceed() -> None:
    """It said that at most a third of the load is carried, as in dimension order: a run carried half."""
    scenario = {
        "topology": {"kind": "grid", "shape": [4, 4]},
        "technology": {"preset": "generic", "lanes": 2},
        "routing": {"kind": "dimension-order", "lane_choice": "escape"},
        "traffic": {"pattern": "transpose", "load": 0.5, "length": "64 B"},
    }
    lines = dict(inspection.lines(inspection.inspect(Scenario.from_dict(scenario))))
    assert lines["throughput"] == (
        "at most 96000 MB/s in these proportions, at load 1; 76800 MB/s, at load 0.8, if ways are shared "
        "evenly: s(2,1)>s(1,1) is full first"
    )
    scenario["routing"]["lane_choice"] = "any"
    scenario["routing"]["adaptive"] = False
    lines = dict(inspection.lines(inspection.inspect(Scenario.from_dict(scenario))))
    assert lines["throughput"].startswith("at most 32000 MB/s in these proportions, at load 0.333: ")
