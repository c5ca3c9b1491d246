"""The most that a network carries however its switches share packets."""

from __future__ import annotations

import numpy as np
import pytest
from fabriloom import Scenario, routing, topology
from fabriloom.studies import inspection
from hypothesis import given
from hypothesis import strategies as st


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
