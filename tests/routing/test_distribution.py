"""Addresses for several terminals: their links, their cycles, their load, and what a run counts."""

from __future__ import annotations

from pathlib import Path

import fabriloom
import pytest
from fabriloom import routing, topology
from fabriloom.compile import LinkRoutes, compile
from fabriloom.routing import RoutingError
from fabriloom.routing.distribution import distributed_links, distribution, distribution_cycle
from fabriloom.studies.inspection import inspect

CABLES = """kind,source,target,parallel
switch,a,,
switch,b,,
switch,c,,
terminal,a0,a,
terminal,a1,a,
terminal,b0,b,
terminal,b1,b,
terminal,c0,c,
cable,a,b,2
cable,b,c,1
"""


@pytest.fixture
def line(tmp_path: Path) -> topology.Graph:
    (tmp_path / "line.csv").write_text(CABLES, encoding="utf-8")
    return topology.build("file", path=str(tmp_path / "line.csv"))


def _names(graph: topology.Graph, links: list[int]) -> list[str]:
    return sorted(graph.link_names[link] for link in links)


def test_one_copy_on_each_link_of_the_way(line: topology.Graph) -> None:
    table = routing.build(line)
    one = distribution(line, table, "all", None, [0], [1, 2, 3, 4])
    # By one of the two parallel cables, although the groups of single terminals have both.
    ways = ["a0>a", "a>a1", "a>b#0", "b>b0", "b>b1", "b>c", "c>c0"]
    assert _names(line, distributed_links(line, one, 0)) == ways
    assert sorted(map(len, one.links.values())) == [1, 2, 3]


def test_senders_that_need_different_ports_are_refused(line: topology.Graph) -> None:
    table = routing.build(line)
    distribution(line, table, "right", None, [0, 1, 2, 3], [4])
    with pytest.raises(RoutingError, match="from a0 and from c0 would leave b by different ports"):
        distribution(line, table, "both", None, [0, 4], [1, 2, 3])


def test_a_second_way_to_one_switch_is_refused() -> None:
    """The two terminals of the switch opposite in a ring of four, one by each direction."""
    ring = topology.build("ring", switches=4, terminals_per_switch=2)
    table = routing.build(ring, kind="shortest-path", adaptive=False)
    distribution(ring, table, "neighbours", None, [0], [2, 4, 7])
    table.route[0, 4], table.route[0, 5] = table.route[0, 2], table.route[0, 7]
    with pytest.raises(RoutingError, match="by two ways, and arrive twice"):
        distribution(ring, table, "opposite", None, [0], [4, 5])


def test_distributions_from_two_leaves_can_deadlock_and_from_the_root_cannot(line: topology.Graph) -> None:
    """Each of two leaves sends to a terminal of its own switch and to one of the other: whoever has the first
    link waits for what others hold that wait for it."""
    table = routing.build(line)
    assert routing.dependency_cycle(line, table) is None
    apart = [
        distribution(line, table, "one", None, [0], [1, 4]),
        distribution(line, table, "two", None, [4], [0, 2]),
    ]
    assert distribution_cycle(line, table, apart) is not None
    alone = [distribution(line, table, "root", None, [2], [0, 3, 4])]
    assert distribution_cycle(line, table, alone) is None


@pytest.fixture
def scenario() -> fabriloom.Scenario:
    return fabriloom.load("scenarios/spacewire-distribution.toml")


def test_loads_count_one_packet_on_shared_links(scenario: fabriloom.Scenario) -> None:
    compiled = compile(scenario)
    assert isinstance(compiled.routes, LinkRoutes)
    spread = compiled.demand().spread
    assert spread is not None
    assert len(spread.source) == 1
    links = distributed_links(compiled.graph, compiled.routes.distributions[0], int(spread.source[0]))
    assert len(links) == 1 + 1 + 4
    # 50 packets of 64 B for four, 100 of 1000 B and 250 of 2000 B in 100 ms.
    demanded = inspect(scenario)["demanded"]
    assert demanded["offered_mbytes_per_s"] == pytest.approx((50 * 4 * 64 + 100 * 1000 + 250 * 2000) / 1e5)


def test_a_run_counts_packets_by_their_deliveries(scenario: fabriloom.Scenario) -> None:
    results = fabriloom.run(scenario)
    flows = results.flows.filter(results.flows["source"] == "computer")
    assert dict(zip(flows["target"], flows["packets"], strict=True)) == {
        "camera-1": 50,
        "camera-2": 50,
        "camera-3": 50,
        "star-tracker": 50,
    }
    assert results.requirements["verdict"].to_list() == ["met"]
    links = dict(zip(results.links["link"], results.links["packets"], strict=True))
    assert links["router-platform>router-instruments"] == 50 + 100
    assert results.summary["packets"]["offered"] == 50 * 4 + 100 + 250
