"""Counts, cuts and distances, against the testbed's paper, closed forms and a plain search.

A cable between two terminals is a network: it is counted, drawn, run and compared like any other.
"""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from fabriloom import compile as compiling
from fabriloom import simulate, topology
from fabriloom.report.drawing import fabric_svg
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.studies.inspection import inspect
from fabriloom.topology import Graph, measure
from fabriloom.topology.measure import searched

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


def test_the_narrowest_cut_is_the_slowest():
    """A ring of four switches: eight links at a tenth of the rate are narrower than four at all of it."""
    ring = networkx.MultiGraph([(0, 1), (1, 2), (1, 2), (2, 3), (3, 0), (3, 0)])
    graph = topology.from_networkx(ring, terminals_per_switch=2)
    ends = np.sort(np.stack((graph.link_source, graph.link_target)), axis=0)
    slow = (ends[0] == 1) & (ends[1] == 2) | (ends[0] == 0) & (ends[1] == 3)
    found = measure.bisection(graph, np.where(slow, 0.1, 1.0))
    assert measure.bisection(graph).links == 4
    assert (found.links, found.width) == (8, pytest.approx(0.8))


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


WRITTEN: dict[str, Any] = {
    "topology": {"kind": "cable"},
    "technology": {"preset": "spacewire-200"},
    "traffic": {"pattern": "uniform", "length": "64 B", "load": 0.5},
    "run": {"duration": "200 us", "warmup": "0 ns", "precision": 0},
}


def test_it_is_counted_and_drawn() -> None:
    graph = topology.build("cable")
    counted, apart, cut = measure.counts(graph), measure.distances(graph), measure.bisection(graph)
    assert (counted.cables, counted.terminal_cables, counted.ports_used_max) == (1, 1, 0)
    assert (apart.mean_switches, apart.unreachable_pairs) == (0.0, 0)
    assert (cut.links, cut.exact) == (2, True)
    assert fabric_svg(graph).count("<circle") == 2
    assert fabric_svg(graph, [0.1, 0.9]).count("<path") == 2


@pytest.mark.parametrize("preset", ["spacewire-200", "ds-link-c104", "generic"])
@pytest.mark.parametrize("arrivals", ["backlog", "poisson"])
def test_a_packet_takes_its_characters_and_the_twin_agrees(preset: str, arrivals: str) -> None:
    traffic = {"pattern": "uniform", "length": "64 B", "arrivals": arrivals}
    compiled = compiling.compile(
        Scenario.from_dict({**WRITTEN, "technology": {"preset": preset}, "traffic": traffic})
    )
    found = simulate.compare(compiled, 1_000_000_000)
    assert found.identical
    assert found.packets > 50
    # Nothing comes the other way: characters without a share of flow control.
    alone = compiled.beside(np.zeros(2, np.int64))
    columns, tick = alone.arrays, alone.tick_ps
    character, end, arrival = (
        int(columns[f"link_{name}_ticks"][0]) for name in ("character", "end", "arrival")
    )
    payload = compiled.technology.payload_chars(int(columns["length_max"][0]))
    characters = payload + int(columns["header_chars"])
    expected = (characters * character + end + arrival - character) * tick / 1000
    shown = inspect(compiled.scenario)["zero_load_latency_ns"]
    assert shown["min"] == shown["max"] == pytest.approx(expected)


def test_a_file_may_join_two_terminals(tmp_path: Path) -> None:
    (tmp_path / "pair.csv").write_text(
        "kind,source,target\nterminal,camera,\nterminal,memory,\ncable,camera,memory\n"
    )
    own = {**WRITTEN, "topology": {"kind": "file", "path": "pair.csv"}}
    found = inspect(Scenario.from_dict(own, tmp_path))
    assert found["network"]["switches"] == 0
    assert found["channel_load"]["busiest_link"] == "camera>memory"


@pytest.mark.parametrize(
    ("routing", "message"),
    [
        ({"kind": "shortest-path"}, "nothing is routed"),
        ({"interval_labelling": True}, "nothing is routed"),
        ({"universal": True}, "needs more than one switch"),
    ],
)
def test_there_is_nothing_to_route(routing: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        compiling.compile(Scenario.from_dict({**WRITTEN, "routing": routing}))
