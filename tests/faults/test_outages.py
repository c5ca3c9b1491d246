"""Which links fail, and from when to when they are down."""

from __future__ import annotations

import pytest
from fabriloom import topology
from fabriloom.faults.outages import STUCK, Outage, Rules, outages
from fabriloom.topology.named import UnknownPartError, links_of

GRAPH = topology.build(kind="grid", shape=[2, 2], terminals_per_switch=1, links_per_edge=2)
CABLE = Rules(disconnect=10, restart=100, stops_cable=True)
LINK = Rules(disconnect=10, restart=100, stops_cable=False)


def named(kind: str, name: str | int) -> list[str]:
    return [GRAPH.link_names[link] for link in links_of(GRAPH, kind, name)]


def test_what_fails_together() -> None:
    assert named("link", "s(0,0)>s(0,1)#1") == ["s(0,0)>s(0,1)#1"]
    assert named("link", "s(0,0) -> s(0,1)#1") == ["s(0,0)>s(0,1)#1"]
    assert named("cable", "s(0,1)>s(0,0)#1") == ["s(0,0)>s(0,1)#1", "s(0,1)>s(0,0)#1"]
    assert named("terminal", 0) == ["t(0,0).0>s(0,0)", "s(0,0)>t(0,0).0"]
    assert len(named("switch", "s(0,0)")) == 2 + 4 * 2


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("link", "s(0,0)>s(0,1)", "2 links lead from"),
        ("link", "s(0,0)>s(9,9)#1", "there is no link"),
        ("switch", "s(0,9)", "there is no switch"),
        ("terminal", 4, "there is no terminal number 4"),
    ],
)
def test_what_is_not_there(kind: str, name: str | int, words: str) -> None:
    with pytest.raises(UnknownPartError, match=words):
        links_of(GRAPH, kind, name)


def test_silence_stops_the_other_direction() -> None:
    [link] = links_of(GRAPH, "link", "s(0,0)>s(0,1)#1")
    reverse = int(GRAPH.link_reverse[link])
    found = outages(GRAPH, [([link], 1000, 5000)], CABLE)
    assert found == [Outage(1000, link, 1010, 5100), Outage(1010, reverse, 1020, 5100)]
    assert outages(GRAPH, [([link], 1000, 5000)], LINK) == [Outage(1000, link, 1010, 5100)]


def test_a_repair_counts_from_when_both_ends_have_noticed() -> None:
    assert outages(GRAPH, [([0], 1000, 1001)], LINK) == [Outage(1000, 0, 1010, 1110)]
    assert outages(GRAPH, [([0, 1], 1000, 1001)], CABLE)[0].up == 1120


def test_a_link_that_fails_while_it_is_stuck_is_not_stuck_then() -> None:
    found = outages(GRAPH, [([0], 500, 900)], LINK, [([0], 100, 2000), ([1], 300, 400)])
    assert found == [
        Outage(100, 0, 101, 500, kind=STUCK),
        Outage(300, 1, 301, 400, kind=STUCK),
        Outage(500, 0, 510, 1000),
        Outage(1000, 0, 1001, 2000, kind=STUCK),
    ]
    assert outages(GRAPH, [([0], 500, None)], LINK, [([0], 600, 2000)]) == [Outage(500, 0, 510, None)]


def test_faults_that_overlap_are_one() -> None:
    twice = [([0], 100, 500), ([0], 300, 900), ([0], 5000, None), ([0], 6000, 7000)]
    assert outages(GRAPH, twice, LINK) == [Outage(100, 0, 110, 1000), Outage(5000, 0, 5010, None)]
