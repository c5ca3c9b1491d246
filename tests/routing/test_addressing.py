"""Path, logical and regional addresses: how many characters each link carries, and what follows from that.

Addresses for several terminals: their links, their cycles, their load, and what a run counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom import compile as compiling
from fabriloom import routing, topology
from fabriloom.bounds import bound
from fabriloom.compile import LinkRoutes, compile
from fabriloom.routing import RoutingError
from fabriloom.routing.distribution import distributed_links, distribution, distribution_cycle
from fabriloom.routing.routers import paths_as_csv
from fabriloom.scenario import Scenario
from fabriloom.studies.demanded import demanded
from fabriloom.studies.inspection import inspect

CABLES = """kind,source,target,source_port,target_port,rate
switch,r1,,,,
switch,r2,,,,
switch,r3,,,,
terminal,camera,r1,,1,
terminal,sounder,r2,,1,100 Mbit/s
terminal,memory,r3,,1,
cable,r1,r2,2,2,
cable,r2,r3,3,2,
"""
WAY = ["camera>r1", "r1>r2", "r2>r3", "r3>memory"]
PAYLOAD, END = 10, 1


def scenario(folder: Path, routing: dict[str, Any], **technology: Any) -> Scenario:
    (folder / "cables.csv").write_text(CABLES, encoding="utf-8")
    flows = [
        {"name": "pictures", "source": "camera", "target": "memory", "length": "10 B", "period": "40 us"},
        {"name": "echoes", "source": "sounder", "target": "memory", "length": "10 B", "period": "100 us"},
    ]
    written = {
        "topology": {"kind": "file", "path": "cables.csv"},
        "technology": {"preset": "spacewire-200", "flow_control": "ignored", **technology},
        "routing": {"kind": "shortest-path", "adaptive": False, **routing},
        "traffic": {"pattern": {"kind": "flows", "flows": flows}},
        "run": {"duration": "1 ms", "warmup": "0 ns", "precision": 0, "drain": True},
    }
    return Scenario.from_dict(written, folder)


@pytest.mark.parametrize(
    ("routing", "technology", "headers"),
    [
        ({}, {}, [1, 1, 1, 1]),
        ({}, {"header": "3 B"}, [3, 3, 3, 3]),
        ({}, {"delete_header": True}, [1, 1, 1, 0]),
        ({"addressing": "logical"}, {"header": "2 B", "delete_header": True}, [2, 2, 2, 0]),
        ({"addressing": "path"}, {}, [4, 3, 2, 1]),
        ({"addressing": "path"}, {"header": "0 B"}, [3, 2, 1, 0]),
        ({"addressing": "regional", "regions": [["r1"], ["r2", "r3"]]}, {}, [2, 1, 1, 1]),
        ({"addressing": "regional", "regions": [["r1", "r2"], ["r3"]]}, {}, [2, 2, 1, 1]),
        ({"addressing": "regional", "regions": [["r1"], ["r2"], ["r3"]]}, {}, [3, 2, 1, 1]),
    ],
)
def test_each_link_carries_the_bytes_of_the_address_that_are_left(
    tmp_path: Path, routing: dict[str, Any], technology: dict[str, Any], headers: list[int]
) -> None:
    results = fabriloom.run(scenario(tmp_path, routing, **technology))
    packets = dict(results.links.select("link", "packets").iter_rows())
    characters = dict(results.links.select("link", "characters").iter_rows())
    only_pictures = [characters[link] / packets[link] - PAYLOAD - END for link in WAY[:2]]
    assert only_pictures == headers[:2]
    # Behind r2 packets of the sounder have as many bytes as those of the camera.
    assert [characters[link] / packets[link] - PAYLOAD - END for link in WAY[2:]] == headers[2:]


def test_the_bytes_of_addresses_are_demanded(tmp_path: Path) -> None:
    """At 200 Mbit/s a character takes 50 ns, and an end of packet 20 ns."""
    compiled = compiling.compile(scenario(tmp_path, {"addressing": "path"}, link_rate="200 Mbit/s"))
    found = demanded(compiled)
    assert found is not None
    # r2>r3 is full first: of each packet 10 + 1 + 1 characters and the end.
    assert found["busiest"] == "r2>r3"
    each_ps = 12 * 50_000 + 20_000
    assert found["busiest_share"] == pytest.approx(each_ps / 40e6 + each_ps / 100e6)


ENDS = {"sources": [0, 1], "targets": [6, 7]}


@pytest.mark.parametrize(
    "sent",
    [
        {"traffic": {"arrivals": "backlog", "pattern": {"kind": "shift", "by": 6}, "length": "30 B"}},
        *(
            {"program": {"kind": "fixed-pairs", **ENDS, "size": size, "rounds": 999}}
            for size in ("30 B", "90 B")
        ),
    ],
)
def test_the_bytes_of_addresses_take_their_part_of_what_is_carried(sent: dict[str, Any]) -> None:
    """Beside the rest between packets, and of each packet of a message."""
    if "traffic" in sent:
        sent["traffic"]["senders"] = ENDS["sources"]
    network = {
        "topology": {"kind": "grid", "shape": [4], "terminals_per_switch": 2},
        "technology": {"preset": "spacewire-200", "flow_control": "ignored", "header": "0 B"},
        "routing": {"addressing": "path"},
        "run": {"duration": "1 s" if "program" in sent else "9 ms", "precision": 0},
    }
    protocol = {"protocol": {"preset": "raw", "packet": "64 B"}} if "program" in sent else {}
    several = Scenario.from_dict({**network, **sent, **protocol})
    most = inspect(several)["channel_load"]["accepted_mbytes_per_s_bound"]
    summary = fabriloom.run(several).summary
    carried = summary["messages"]["mbytes_per_s"] if protocol else summary["accepted_mbytes_per_s"]
    assert 0.96 < carried / most < 1.001


def test_no_packet_with_a_path_is_later_than_its_bound(tmp_path: Path) -> None:
    several = [bound(scenario(tmp_path, {"addressing": how}), tries=20) for how in ("logical", "path")]
    for found in several:
        assert all(share <= 1 for share in found.table["found_share"])
        assert all(share <= 1 for share in found.table["periods_found_share"])
        assert found.table["packet_bytes"].to_list() == [PAYLOAD] * 2
    logical, path = (found.table["bound_ns"].to_list() for found in several)
    assert all(longer > shorter for shorter, longer in zip(logical, path, strict=True))


def test_paths_of_a_file_are_taken_and_written_again(tmp_path: Path) -> None:
    """By the second of two cables, which no rule would prefer; the rest by the usual routes."""
    (tmp_path / "two.csv").write_text(CABLES + "cable,r2,r3,4,3,\n", encoding="utf-8")
    (tmp_path / "paths.csv").write_text("source,target,path\ncamera,memory,2 4 1\n", encoding="utf-8")
    graph = topology.build("file", path=str(tmp_path / "two.csv"))
    table = routing.build(graph, "paths", path=str(tmp_path / "paths.csv"))
    pairs = [(0, 2), (1, 2), (2, 0)]
    written = paths_as_csv(graph, table, pairs)
    # What the sounder sends to the memory meets that on r2, and goes on with it.
    assert written.splitlines()[1:] == ["camera,memory,2 4 1", "sounder,memory,4 1", "memory,camera,2 2 1"]
    (tmp_path / "paths.csv").write_text(written, encoding="utf-8")
    again = routing.build(graph, "paths", path=str(tmp_path / "paths.csv"))
    assert paths_as_csv(graph, again, pairs) == written


DISTRIBUTION_CABLES = """kind,source,target,parallel
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
    (tmp_path / "line.csv").write_text(DISTRIBUTION_CABLES, encoding="utf-8")
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
def distribution_scenario() -> fabriloom.Scenario:
    return fabriloom.load("scenarios/spacewire-distribution.toml")


def test_loads_count_one_packet_on_shared_links(distribution_scenario: fabriloom.Scenario) -> None:
    compiled = compile(distribution_scenario)
    assert isinstance(compiled.routes, LinkRoutes)
    spread = compiled.demand().spread
    assert spread is not None
    assert len(spread.source) == 1
    links = distributed_links(compiled.graph, compiled.routes.distributions[0], int(spread.source[0]))
    assert len(links) == 1 + 1 + 4
    # 50 packets of 64 B for four, 100 of 1000 B and 250 of 2000 B in 100 ms.
    demanded = inspect(distribution_scenario)["demanded"]
    assert demanded["offered_mbytes_per_s"] == pytest.approx((50 * 4 * 64 + 100 * 1000 + 250 * 2000) / 1e5)


def test_a_run_counts_packets_by_their_deliveries(distribution_scenario: fabriloom.Scenario) -> None:
    results = fabriloom.run(distribution_scenario)
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
