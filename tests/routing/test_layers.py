"""Minimal paths in layers of lanes: none can deadlock, and the certificate proves it to anybody."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from fabriloom import load, routing, topology
from fabriloom.cli import check_certificate
from fabriloom.compile import compile
from fabriloom.routing.certificate import certificate
from fabriloom.studies import route_choices
from fabriloom.topology import Graph

DRAGONFLY = {"switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}


def random_graph(seed: int) -> Graph:
    degree, switches = 3 + seed % 4, 12 + 2 * (seed % 9)
    network = nx.random_regular_graph(degree, switches, seed=seed)
    return topology.from_networkx(network, terminals_per_switch=1)


def distances(graph: Graph) -> np.ndarray:
    """Links on a shortest path, by switch of the source and terminal."""
    network = nx.DiGraph(zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True))
    found = np.zeros((graph.switches, graph.terminals))
    for terminal in range(graph.terminals):
        near = nx.single_source_shortest_path_length(network.reverse(copy=False), graph.switches + terminal)
        found[:, terminal] = [near[switch] for switch in range(graph.switches)]
    return found


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("lanes", [1, 2, 3, 8])
def test_random_graphs_cannot_deadlock_with_any_number_of_lanes(seed: int, lanes: int) -> None:
    graph = random_graph(seed)
    table = routing.build(graph, "minimal-layers", adaptive=seed % 3 > 0, lanes=lanes)
    routing.verify(graph, table)
    divided = routing.divide(graph, table, lanes)
    assert routing.dependency_cycle(graph, divided, lanes) is None
    proof = certificate(graph, divided, lanes)
    assert proof is not None
    assert check_certificate.fault(proof) is None
    if lanes >= routing.layers_needed(graph):
        ways = [len(routing.path(graph, table, 0, target)) - 1 for target in range(1, graph.terminals)]
        assert ways == distances(graph)[0, 1:].tolist()


def test_as_many_lanes_as_the_longest_path_has_links_always_suffice() -> None:
    for seed in range(40):
        graph = random_graph(seed)
        assert routing.layers_needed(graph, thin=False) <= distances(graph).max() - 1


def test_a_dragonfly_takes_minimal_paths_in_two_lanes() -> None:
    graph = topology.build("dragonfly", **DRAGONFLY)
    assert routing.layers_needed(graph, thin=False) == 2
    table = routing.build(graph, lanes=3)
    assert (table.kind, table.note) == ("minimal-layers", "all minimal paths in 2 layers of lanes")
    assert routing.build(graph).kind == "up-star-down-star"
    between = (graph.link_source < graph.switches) & (graph.link_target < graph.switches)
    loads = routing.channel_loads(graph, table)[between]
    assert 1 / loads.max() == pytest.approx(0.755, abs=0.001)


def test_layers_do_not_go_with_other_choices_of_lanes() -> None:
    graph = topology.build("dragonfly", **DRAGONFLY)
    table = routing.build(graph, "minimal-layers", lanes=2)
    with pytest.raises(routing.RoutingError, match="leave lane_choice out"):
        routing.divide(graph, table, 2, "destination")
    with pytest.raises(routing.RoutingError, match="needs 2 lanes, and there are 1"):
        routing.divide(graph, routing.build(graph, "minimal-layers", lanes=2), 1, None)
    with pytest.raises(routing.RoutingError, match=r"set technology\.lanes = 2"):
        routing.build(graph, "minimal-layers", universal=True, lanes=1)


def written(folder: Path, text: str) -> Path:
    file = folder / "net.toml"
    file.write_text(text, encoding="utf-8")
    return file


RING = """
[topology]
kind = "torus"
shape = [5, 5]
[technology]
preset = "generic"
[routing]
kind = "shortest-path"
[traffic]
pattern = "uniform"
length = "64 B"
load = 0.3
"""


def test_the_smallest_change_of_a_routing_that_can_deadlock(tmp_path: Path) -> None:
    found = route_choices.look(load(written(tmp_path, RING)))
    assert not found["present"]["free"]
    assert "Smallest change: " in route_choices.verdict(found)
    free = [one for one in found["others"] if one["free"]]
    kinds = {"dimension-order", "up-star-down-star", "minimal-layers", "hops", "valiant"}
    assert {one["kind"] for one in free} >= kinds
    assert found["lanes_needed"][0][1] <= found["lanes_enough"][0]
    assert "Lanes for minimal paths" in route_choices.lanes_said(found)
    for one in free:
        compiled = compile(load(tmp_path / "net.toml").with_settings(one["settings"]))
        assert compiled.routes.cycle is None


def test_a_certificate_has_the_links_of_all_terminals_of_a_switch(tmp_path: Path) -> None:
    """Packets for them take the same paths, which are followed once."""
    text = RING.replace("shape = [5, 5]", "shape = [5, 5]\nterminals_per_switch = 3")
    text = text.replace('"shortest-path"', '"dimension-order"\nvariant = "no-edge-transit"')
    proofs = route_choices.proofs(compile(load(written(tmp_path, text))))
    assert proofs is not None
    assert [check_certificate.fault(proof) for proof in proofs] == [None]


def test_a_certificate_is_checked_by_a_program_of_its_own(tmp_path: Path) -> None:
    text = RING.replace('kind = "shortest-path"', "").replace('"generic"', '"generic"\nlanes = 2')
    parts = route_choices.proofs(compile(load(written(tmp_path, text))))
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps({"parts": parts}), encoding="utf-8")
    check = [sys.executable, str(Path(check_certificate.__file__)), str(proof)]
    said = subprocess.run(check, capture_output=True, text=True, check=True)
    assert said.stdout.startswith("proved: order of ")
    assert parts is not None
    parts[0]["order"].reverse()
    proof.write_text(json.dumps({"parts": parts}), encoding="utf-8")
    said = subprocess.run(check, capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert "may be waited for" in said.stdout
