"""Who sends to whom."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from fabriloom import topology
from fabriloom.topology import Graph
from fabriloom.traffic import TrafficError, pairs
from fabriloom.traffic.kinds import FIXED, HOT_SPOT, SILENT, UNIFORM, homes
from hypothesis import given
from hypothesis import strategies as st

from .common import build, grid


def partners(graph: Graph, pattern: Any) -> list[int]:
    """Destination of each terminal, -1 for silent ones."""
    columns = build(graph, pattern)
    silent = columns["source_arrival"] == SILENT
    assert np.all(columns["source_target"] == FIXED)
    return np.where(silent, -1, columns["target_fixed"].astype(np.int64)).tolist()


def named(graph: Graph, pattern: Any) -> dict[str, str]:
    """The same by name, without the silent ones."""
    names = graph.terminal_names
    return {names[i]: names[j] for i, j in enumerate(partners(graph, pattern)) if j >= 0}


def test_by_number() -> None:
    crossbar = topology.build("crossbar", terminals=8)
    assert partners(crossbar, {"kind": "shift", "by": 3}) == [3, 4, 5, 6, 7, 0, 1, 2]
    assert partners(crossbar, {"kind": "shift", "by": -1}) == [7, 0, 1, 2, 3, 4, 5, 6]
    assert partners(crossbar, "bit-complement") == [7, 6, 5, 4, 3, 2, 1, 0]
    assert partners(crossbar, "bit-reverse") == [-1, 4, -1, 6, 1, -1, 3, -1]
    assert partners(crossbar, "point-mirror") == [7, 6, 5, 4, 3, 2, 1, 0]
    assert partners(topology.build("crossbar", terminals=4), "transpose") == [-1, 2, 1, -1]
    assert partners(topology.build("crossbar", terminals=3), "point-mirror") == [2, -1, 0]


def test_by_place() -> None:
    graph = grid(2, 3, terminals=2)
    assert named(graph, "point-mirror")["t(0,0).1"] == "t(1,2).1"
    assert named(graph, "point-mirror")["t(0,1).0"] == "t(1,1).0"
    assert named(graph, {"kind": "axis-mirror", "axis": 0})["t(0,2).1"] == "t(1,2).1"
    flipped = named(graph, {"kind": "axis-mirror", "axis": 1})
    assert flipped["t(0,2).1"] == "t(0,0).1"
    assert flipped["t(1,1).0"] == "t(1,1).1", "the middle column is its own image: first and last are paired"
    square = named(grid(3, 3, terminals=2), "transpose")
    assert square["t(0,2).1"] == "t(2,0).1"
    assert "t(1,1).0" not in square


@pytest.mark.parametrize("shape", [(4, 4), (8, 8), (2, 3, 4), (5, 2)])
@pytest.mark.parametrize("pattern", ["point-mirror", {"kind": "axis-mirror", "axis": 1}, "nearest-neighbour"])
def test_pairs_are_mutual(shape: tuple[int, ...], pattern: Any) -> None:
    target = np.array(partners(grid(*shape, terminals=4, links=2), pattern))
    sending = np.flatnonzero(target >= 0)
    assert len(sending)
    assert np.all(target[target[sending]] == sending)
    assert np.all(target[sending] != sending)


def test_nearest_neighbours_fill_every_link_of_the_macrame_grid() -> None:
    """4 x 4 switches, 16 terminals each, 4 links per edge: all 256 terminals and all 192 links are used."""
    graph = grid(4, 4, terminals=16, links=4)
    target = np.array(partners(graph, "nearest-neighbour"))
    assert np.all(target >= 0)
    home = homes(graph)
    used = Counter(zip(home.tolist(), home[target].tolist(), strict=True))
    edges = {
        (int(a), int(b))
        for a, b in zip(graph.link_source, graph.link_target, strict=True)
        if a < graph.switches and b < graph.switches
    }
    assert set(used) == edges
    assert min(used.values()) >= 4


def test_nearest_neighbours_without_neighbouring_terminals() -> None:
    clos = topology.build("clos", terminals=64)
    target = np.array(partners(clos, "nearest-neighbour"))
    home = homes(clos)
    assert np.all(target[target] == np.arange(64))
    assert np.all(home[target] == home ^ 1)
    crossbar = topology.build("crossbar", terminals=5)
    assert partners(crossbar, "nearest-neighbour") == [2, 3, 0, 1, -1]


@given(st.integers(2, 300), st.integers(0, 2**63 - 1))
def test_random_permutations(terminals: int, seed: int) -> None:
    target = pairs.random(terminals, seed)
    assert sorted(target.tolist()) == list(range(terminals))
    assert np.all(target != np.arange(terminals))


def test_random_permutation_is_the_same_everywhere() -> None:
    assert pairs.random(8, 1).tolist() == RANDOM_8
    crossbar = topology.build("crossbar", terminals=8)
    assert partners(crossbar, {"kind": "permutation", "random": True}) == RANDOM_8
    assert partners(crossbar, {"kind": "permutation", "random": True, "seed": 2}) != RANDOM_8


RANDOM_8 = [6, 5, 4, 1, 3, 2, 7, 0]


def test_given_permutation() -> None:
    crossbar = topology.build("crossbar", terminals=4)
    names = crossbar.terminal_names
    assert partners(crossbar, {"kind": "permutation", "map": [1, names[0], "3", 2]}) == [1, 0, 3, 2]
    assert partners(crossbar, {"kind": "permutation", "map": [1, 0, 2, 3]}) == [1, 0, -1, -1]


def test_hot_spot() -> None:
    graph = grid(2, 2)
    columns = build(graph, {"kind": "hot-spot", "target": "t(1,0).0", "share": 0.3})
    assert columns["source_target"].tolist() == [HOT_SPOT, HOT_SPOT, UNIFORM, HOT_SPOT]
    assert columns["target_fixed"].tolist() == [2] * 4
    assert columns["target_share"].tolist() == [0.3] * 4


def test_senders() -> None:
    columns = build(grid(2, 2), senders=["t(0,1).0", 3])
    assert columns["source_arrival"].tolist() == [0, 3, 0, 3]
    assert columns["source_interval_grains"][0] == 0


@pytest.mark.parametrize(
    ("pattern", "parameter"),
    [
        ({"kind": "shift", "by": 12}, "pattern.by"),
        ("transpose", "pattern"),
        ("bit-reverse", "pattern"),
        ({"kind": "axis-mirror", "axis": 2}, "pattern.axis"),
        ({"kind": "hot-spot", "target": 6, "share": 0.5}, "pattern.target"),
        ({"kind": "permutation", "map": [0]}, "pattern.map"),
        ({"kind": "permutation", "map": [1, 0, 3, 2, 5, 9]}, "pattern.map.5"),
        ({"kind": "permutation", "map": [1, 0, 3, 2, 5, 5]}, "pattern.map.5"),
    ],
)
def test_refused(pattern: Any, parameter: str) -> None:
    with pytest.raises(TrafficError) as caught:
        build(grid(2, 3), pattern)
    assert caught.value.parameter == parameter
    assert caught.value.hint


def test_large_networks_take_little_time() -> None:
    graph = grid(32, 32, terminals=16, links=4)
    build(graph)
    for pattern in ("uniform", "point-mirror", "nearest-neighbour", {"kind": "permutation", "random": True}):
        began = time.process_time()
        build(graph, pattern)
        assert time.process_time() - began < 2
