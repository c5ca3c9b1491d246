"""Counts, cuts and distances, against the testbed's paper, closed forms and a plain search."""

from __future__ import annotations

from itertools import combinations, product

import networkx
import numpy as np
import pytest
from fabriloom import topology
from fabriloom.topology import Graph, measure
from fabriloom.topology.bisect import searched

from .common import EXAMPLES, example_id

SMALL = [example for example in EXAMPLES if topology.build(example[0], **example[1]).terminals <= 64]


def test_cables_of_the_testbeds_grid():
    count = measure.counts(topology.grid([8, 8], 16, 4))
    assert (count.cables, count.terminal_cables, count.switch_cables) == (1472, 1024, 448)
    assert (count.ports_used_min, count.ports_used_max) == (24, 32)


@pytest.mark.parametrize(
    ("graph", "links", "mbytes_per_s"),
    [(topology.clos(256), 256, 2440), (topology.grid([4, 4], 16, 4), 32, 305)],
    ids=["clos", "grid"],
)
def test_cross_sectional_bandwidth_of_the_testbed(graph, links, mbytes_per_s):
    half = measure.bisection(graph)
    assert half.links == links
    assert half.exact
    # 100 Mbit/s, 10 bits per byte and one 4-bit flow-control character per 8 bytes.
    assert links * 100 / (10 + 4 / 8) == pytest.approx(mbytes_per_s, rel=2e-3)


def least_cut(graph: Graph) -> int:
    """Try all placements of switches for all halves of the terminals that differ in numbers per switch
    only."""
    home, leave = graph.terminal_entry_switches, graph.terminal_exit_switches
    assert np.array_equal(home, leave)
    per_switch = np.bincount(home, minlength=graph.switches)
    links = graph.switch_links
    a, b = graph.link_source[links], graph.link_target[links]
    best = graph.links
    for sides in product((0, 1), repeat=graph.switches):
        side = np.array(sides)
        crossing = int((side[a] != side[b]).sum())
        surplus = abs(int(per_switch[side == 1].sum()) - graph.terminals // 2)
        if graph.terminals % 2:
            surplus = min(surplus, abs(int(per_switch[side == 1].sum()) - graph.terminals // 2 - 1))
        best = min(best, crossing + 2 * surplus)
    return best


TINY = [
    ("ring", {"switches": 6, "terminals_per_switch": 2, "links_per_edge": 3}),
    ("ring", {"switches": 8, "terminals_per_switch": 4}),
    ("grid", {"shape": [4, 2], "terminals_per_switch": 3, "links_per_edge": 1}),
    ("grid", {"shape": [4, 3], "terminals_per_switch": 5, "links_per_edge": 2}),
    ("torus", {"shape": [4, 3], "terminals_per_switch": 5, "links_per_edge": 1}),
    ("hypercube", {"dimensions": 3, "terminals_per_switch": 3}),
    ("clos", {"terminals": 8, "switch_ports": 4}),
    ("clos", {"terminals": 20, "terminals_per_switch": 4, "centre_switches": 1, "links_per_pair": 1}),
    ("clos", {"terminals": 15, "terminals_per_switch": 3, "centre_switches": 2, "links_per_pair": 1}),
    ("fat_tree", {"arity": 2, "levels": 3}),
    ("star", {"arms": 6, "terminals_per_switch": 3}),
    ("tree", {"arity": 2, "depth": 2, "terminals_per_switch": 4}),
]


@pytest.mark.parametrize("example", TINY, ids=example_id)
def test_an_exact_bisection_is_the_least_of_all_cuts(example):
    graph = topology.build(example[0], **example[1])
    found = measure.bisection(graph)
    assert found.exact
    assert found.links == least_cut(graph)
    assert searched(graph).links >= found.links


@pytest.mark.parametrize("example", SMALL, ids=example_id)
def test_the_search_never_beats_an_exact_cut(example):
    graph = topology.build(example[0], **example[1])
    known = measure.bisection(graph)
    looked = searched(graph)
    assert not looked.exact
    assert "not proven" in looked.method
    if known.exact:
        assert looked.links >= known.links


def test_a_long_thin_file_graph_is_cut_at_its_waist():
    waist = networkx.barbell_graph(6, 0)
    graph = topology.from_networkx(waist, terminals_per_switch=2)
    assert measure.bisection(graph).links == 2


@pytest.mark.parametrize("example", SMALL, ids=example_id)
def test_distances_against_a_plain_search(example):
    graph = topology.build(example[0], **example[1])
    plain = networkx.DiGraph(topology.to_networkx(graph))
    lengths = {
        (a, b): networkx.shortest_path_length(plain, a, b) - 1
        for a, b in combinations(graph.terminal_names, 2)
    }
    lengths |= {(b, a): networkx.shortest_path_length(plain, b, a) - 1 for a, b in list(lengths)}
    found = measure.distances(graph)
    assert found.diameter_switches == max(lengths.values())
    assert found.mean_switches == pytest.approx(sum(lengths.values()) / len(lengths))


def test_distances_of_a_one_way_ring_from_a_file(tmp_path):
    path = tmp_path / "ring.csv"
    ring = "".join(f"link,s{i},s{(i + 1) % 5},,{'' if i else 'x'}\n" for i in range(1, 5))
    terminals = "".join(f"terminal,t{i},s{i},,\n" for i in range(5))
    path.write_text("kind,source,target,name,cable\n" + terminals + ring + "link,s0,s1,,\n")
    graph = topology.file(path)
    assert (graph.link_reverse < 0).sum() == 5
    found = measure.distances(graph)
    assert (found.mean_switches, found.diameter_switches, found.unreachable_pairs) == (3.5, 5, 0)
    assert (measure.ports_used(graph) == 2).all()


def test_pairs_without_a_path_are_counted():
    links = networkx.DiGraph([("a", "b"), ("x", "a"), ("a", "x"), ("y", "b"), ("b", "y")])
    links.add_nodes_from("xy", kind="terminal")
    graph = topology.from_networkx(links)
    found = measure.distances(graph)
    assert (found.mean_switches, found.unreachable_pairs) == (2.0, 1)
