"""Flows that share links, against counts by hand and against the load of links."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from fabriloom import Scenario, routing, topology
from fabriloom.compile import compile
from fabriloom.scenario import ScenarioError
from fabriloom.studies import inspection
from fabriloom.studies.links import bisection as effective_bisection
from fabriloom.traffic import exchanging


def test_a_star_shares_its_arms() -> None:
    """Two terminals on each of three arms of one cable: what leaves an arm shares its cable."""
    graph = topology.build("star", arms=3, terminals_per_switch=2)
    table = routing.build(graph, adaptive=False)
    # 0 and 1 on arm 0, and so on; both of arm 0 talk to arm 1, the two of arm 2 to each other.
    found = effective_bisection.shares(graph, table, np.array([2, 3, 0, 1, 5, 4]))
    assert found.tolist() == [0.5, 0.5, 0.5, 0.5, 1.0, 1.0]


@pytest.mark.parametrize("spread", ["turns", "runs", "random"])
def test_flows_are_as_many_as_the_load_of_links_says(spread: str) -> None:
    graph = topology.build("clos", terminals=32, switch_ports=16)
    table = routing.build(graph, adaptive=False, spread=spread)
    target = exchanging(32, 4)
    loads = routing.channel_loads(graph, table, (np.arange(32), target, np.ones(32)))
    found = effective_bisection.shares(graph, table, target)
    for source in range(32):
        way = routing.path(graph, table, source, int(target[source]))
        assert found[source] == pytest.approx(1 / loads[way].max())


def test_a_group_is_as_wide_as_its_links() -> None:
    """Adaptive: with as many cables up as terminals, and as many down, even counts give everyone a link."""
    graph = topology.build("clos", terminals=64, switch_ports=32)
    found = effective_bisection.shares(graph, routing.build(graph), exchanging(64, 1))
    assert np.allclose(found, 1.0)


def test_random_tables_arrive_and_are_other_ones_for_another_seed() -> None:
    graph = topology.build("clos", terminals=64, switch_ports=16)
    one, two, again = (
        routing.build(graph, adaptive=False, spread="random", spread_seed=seed) for seed in (1, 2, 1)
    )
    routing.verify(graph, one)
    assert routing.dependency_cycle(graph, one) is None
    assert np.array_equal(one.route, again.route)
    assert not np.array_equal(one.route, two.route)
    # Each destination takes any of the 8 cables up of a switch with equal chances: chi-square of 7 degrees of
    # freedom, by chance above 24.3 once in 1,000; the seeds are fixed.
    links = one.group_links[one.route[0, 8:] >> 1]
    counts = np.unique(links, return_counts=True)[1]
    expected = Fraction(int(counts.sum()), 8)
    assert sum((int(count) - expected) ** 2 / expected for count in counts) < Fraction(243, 10)


def test_pairs_exchange() -> None:
    for terminals, seed in ((8, 1), (9, 2), (64, 3)):
        target = exchanging(terminals, seed)
        some = np.flatnonzero(target >= 0)
        assert len(some) == terminals // 2 * 2
        assert np.array_equal(target[target[some]], some)
        assert np.all(target[some] != some)


def test_every_pair_is_equally_likely() -> None:
    """Six terminals: each of 15 pairs is in a fifth of the pairings. Of 3,000 pairings a count is off by more
    than 4.5 of its standard deviations once in ten thousand; the seeds are fixed."""
    counts = np.zeros((6, 6))
    for seed in range(3000):
        counts[np.arange(6), exchanging(6, seed)] += 1
    off = counts[~np.eye(6, dtype=bool)] - 600
    assert np.abs(off).max() < 4.5 * np.sqrt(3000 * 0.2 * 0.8)


def test_check_counts_it_and_says_where_it_does_not() -> None:
    data = {"topology": {"kind": "clos", "terminals": 64}, "routing": {"adaptive": False}}
    found = inspection.inspect(Scenario.from_dict(data), 20)
    told = found["effective_bisection"]
    assert told["pairings"] == 20
    assert told["least_flow"] <= told["least_pairing"] <= told["mean_share"] <= told["greatest_pairing"] <= 1
    assert dict(inspection.lines(found))["effective bisection"].endswith("%")
    ring = inspection.inspect(Scenario.from_dict({"topology": {"kind": "sci-ring", "terminals": 4}}), 5)
    assert ring["effective_bisection"] is None


def test_a_seed_of_tables_needs_random_ones() -> None:
    data = {"topology": {"kind": "clos", "terminals": 64}, "routing": {"spread_seed": 3}}
    with pytest.raises(ScenarioError, match="spread_seed is for spread"):
        compile(Scenario.from_dict(data))
