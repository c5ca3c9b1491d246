"""Configurations of BookSim, and what of them has no counterpart."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from fabriloom import imports, routing, run
from fabriloom.compile import compile
from fabriloom.compile.link_routes import LinkRoutes
from fabriloom.reading import ReadError
from fabriloom.scenario import load

from .common import brought

CONFIG = """// a mesh
topology = mesh; k = 4;
n = 2; routing_function = dor;
num_vcs = 2; vc_buf_size = 6; speculative = 1;
vc_allocator = separable_input_first; sw_allocator = islip;
routing_delay = 0; credit_delay = 1;
traffic = transpose; packet_size = 5; injection_rate = 0.02;
sample_period = 2000; warmup_periods = 2; max_samples = 3; seed = 7;
"""
ALLOCATORS = "vc_allocator = separable_input_first; sw_allocator = separable_input_first;"
REST = f"{ALLOCATORS} num_vcs = 2; packet_size = {{{{1,5}}}};"


def written(folder: Path, text: str) -> tuple[imports.Configuration, dict[str, Any]]:
    (folder / "config").write_text(text)
    found = imports.read("booksim", folder / "config")
    assert isinstance(found, imports.Configuration)
    brought(found, folder)
    return found, tomllib.loads((folder / "scenario.toml").read_text())


def test_a_mesh(tmp_path: Path) -> None:
    found, scenario = written(tmp_path, CONFIG)
    assert found.summary() == [("switches", "16"), ("terminals", "16"), ("cables", "40")]
    assert found.remarks == (
        "line 5: sw_allocator = islip has no counterpart; "
        "taken: every input nominates a lane, every output takes one",
        "line 7: 4 nodes that would send to themselves are silent",
    )
    assert scenario["topology"] == {"kind": "grid", "shape": [4, 4]}
    technology = scenario["technology"]
    pipeline = {"router": 0, "input": 1, "link": 2, "handover": 1, "next_head": 1, "turn_around": 1}
    assert {name: technology[f"{name}_cycles"] for name in pipeline} == pipeline
    assert technology["lanes"] == 2
    assert scenario["traffic"]["load"] == 0.1
    assert scenario["run"] == {"warmup": "4000 ns", "duration": "10000 ns", "precision": 0}
    assert scenario["seed"] == 7
    assert run(load(tmp_path / "scenario.toml")).summary["latency_ns"]["mean"] > 6


def test_nodes_have_their_places(tmp_path: Path) -> None:
    """Node 1 of BookSim is the next along the first dimension: here terminal 4 of a mesh of 4 x 4."""
    _, scenario = written(tmp_path, CONFIG.replace("transpose", "neighbor"))
    ahead = scenario["traffic"]["pattern"]["map"]
    assert (ahead[0], ahead[4], ahead[15]) == (5, 9, 0)
    _, scenario = written(tmp_path, CONFIG.replace("transpose", "tornado"))
    assert scenario["traffic"]["pattern"] == {"kind": "tornado"}
    _, scenario = written(tmp_path, CONFIG.replace("transpose", "hotspot({1})"))
    assert set(scenario["traffic"]["pattern"]["map"]) == {4}
    written(tmp_path, CONFIG.replace("transpose", "hotspot({1,7},{3})"))
    rows = (tmp_path / "traffic.csv").read_text().splitlines()
    assert rows[:5] == ["source,target,weight", "0,4,3", "0,13,1", "4,4,3", "4,13,1"]
    assert run(load(tmp_path / "scenario.toml")).summary["accepted_mbytes_per_s"]


def test_classes_send_each_at_the_rate(tmp_path: Path) -> None:
    two = CONFIG.replace("packet_size = 5", "classes = 2; packet_size = {{1},{4}}")
    assert written(tmp_path, two)[1]["traffic"]["load"] == 0.1


NETWORKS = [
    ("topology = torus; k = 4; n = 2; routing_function = dim_order;", 1, 16),
    ("topology = torus; k = 3; n = 2; routing_function = dim_order;", 0, 9),
    ("topology = torus; k = 2; n = 2; routing_function = dim_order;", 1, 4),
    ("topology = torus; k = 2; n = 1; routing_function = valiant; num_vcs = 1;", 2, 2),
    ("topology = torus; k = 5; n = 1; routing_function = dim_order_bal; num_vcs = 1;", 2, 5),
    ("topology = cmesh; k = 2; n = 2; c = 4; routing_function = dor_no_express; use_noc_latency = 0;", 0, 16),
    ("topology = fly; k = 2; n = 3; routing_function = dest_tag;", 0, 8),
    ("topology = fattree; k = 2; n = 3; routing_function = anca;", 1, 8),
    ("topology = fattree; k = 2; n = 3; routing_function = nca;", 0, 8),
    ("topology = flatfly; k = 2; n = 2; c = 2; routing_function = ran_min; use_noc_latency = 0;", 0, 8),
    ("topology = flatfly; k = 2; n = 2; c = 2; routing_function = ugal; use_noc_latency = 0;", 1, 8),
    ("topology = mesh; k = 2; n = 2; routing_function = valiant;", 1, 4),
    ("topology = dragonflynew; k = 1; n = 1; routing_function = min;", 1, 6),
    ("topology = dragonflynew; k = 1; n = 1; routing_function = min; num_vcs = 1;", 2, 6),
    ("topology = dragonflynew; k = 1; n = 1; routing_function = ugal; num_vcs = 3;", 1, 6),
    ("topology = anynet; network_file = net; routing_function = min;", 0, 3),
    ("topology = mesh; k = 3; n = 1; routing_function = planar_adapt; sim_power = 1; new_field = 2;", 2, 3),
]


@pytest.mark.parametrize(("text", "remarks", "terminals"), NETWORKS)
def test_a_network(text: str, remarks: int, terminals: int, tmp_path: Path) -> None:
    """Every kind compiles, and only what differs is remarked."""
    (tmp_path / "net").write_text("router 0 node 0 node 1 router 1 4\nrouter 1 node 2 router 0 4\n")
    found, _ = written(tmp_path, REST + text)
    assert len(found.remarks) == remarks, found.remarks
    assert compile(load(tmp_path / "scenario.toml")).network.graph.terminals == terminals


def test_a_torus_of_two_has_two_cables_between_neighbours(tmp_path: Path) -> None:
    """BookSim joins them by a channel each way round."""
    text = "topology = torus; k = 2; n = 2; routing_function = dim_order;"
    found, scenario = written(tmp_path, REST + text)
    assert found.summary()[2] == ("cables", "12")
    assert scenario["routing"] == {"kind": "dimension-order"}
    assert scenario["technology"]["group_choice"] == "drawn"
    assert run(load(tmp_path / "scenario.toml")).summary["packets"]["delivered"] > 0


def test_ugal_of_a_flattened_butterfly_has_the_threshold_of_booksim(tmp_path: Path) -> None:
    text = "topology = flatfly; k = 2; n = 2; c = 2; routing_function = ugal;"
    _, scenario = written(tmp_path, REST + text)
    assert scenario["routing"] == {"kind": "ugal", "threshold": 2}


ORDERS = [
    ("topology = mesh; routing_function = dor;", "s(1,0)"),
    ("topology = torus; routing_function = dim_order; use_noc_latency = 0;", "s(1,0)"),
    ("topology = cmesh; c = 1; routing_function = dor_no_express;", "s(0,1)"),
    ("topology = flatfly; c = 1; routing_function = ran_min;", "s(0,1)"),
]


@pytest.mark.parametrize(("text", "first"), ORDERS)
def test_the_dimension_that_node_numbers_run_along_comes_first(text: str, first: str, tmp_path: Path) -> None:
    """From node 0 to node 5 of 4 x 4, BookSim goes by router 1."""
    written(tmp_path, REST + "k = 4; n = 2;" + text)
    found = compile(load(tmp_path / "scenario.toml"))
    assert isinstance(found.routes, LinkRoutes)
    links = routing.path(found.graph, found.routes.table, 0, 5)
    assert found.graph.link_names[links[1]] == f"s(0,0)>{first}"


def test_a_network_of_any_shape_goes_the_ways_of_booksim(tmp_path: Path) -> None:
    """The shorter of two ways has more links; of equal ones, that of the lower router is found first."""
    text = "router 0 node 0 router 2 9 router 1\nrouter 1 router 2 3\nrouter 2 node 2 router 3\n"
    (tmp_path / "net").write_text(text + "Router 3 node 3\trouter 1 1\r\nnode 1 router 1\n")
    written(tmp_path, REST + "topology = anynet; network_file = net; routing_function = min;")
    rows = (tmp_path / "routes.csv").read_text().splitlines()
    assert {"r0,n2,r0>r1", "r1,n2,r1>r3", "r2,n0,r2>r0", "r3,n0,r3>r1", "r1,n1,r1>n1"} <= {*rows}
    assert len(rows) == 17
    assert compile(load(tmp_path / "scenario.toml")).graph.links == 18


def test_a_latency_behind_a_node_is_not_what_booksim_takes(tmp_path: Path) -> None:
    (tmp_path / "net").write_text("router 0 node 0 router 1\nrouter 1 node 1 5\nrouter 1 node 2 1\n")
    [remark] = imports.read("anynet", tmp_path / "net").remarks
    assert remark.endswith(
        "net:2: the latency behind node 1 (and 1 more) is taken for that of its link; BookSim gives it to a "
        "channel from router 1 to router 1, and adds one if there is none"
    )


def test_a_large_network_of_any_shape_has_no_routes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("fabriloom.imports.anynet"), "_MOST_ROUTES", 3)
    (tmp_path / "net").write_text("router 0 node 0 router 1 4\nrouter 1 node 1\n")
    found, scenario = written(
        tmp_path, REST + "topology = anynet; network_file = net; routing_function = min;"
    )
    assert "too large for BookSim's routes" in found.remarks[0]
    assert scenario["routing"] == {"kind": "shortest-path", "next_hops": "first"}
    assert compile(load(tmp_path / "scenario.toml")).graph.terminals == 2


def test_latencies_of_channels(tmp_path: Path) -> None:
    found, scenario = written(tmp_path, REST + NETWORKS[0][0])
    assert scenario["topology"]["path"] == "network.csv"
    graph = compile(load(tmp_path / "scenario.toml")).network.graph
    inner = (graph.link_source < graph.switches) & (graph.link_target < graph.switches)
    assert set(graph.attributes["delay_ps"][inner].tolist()) == {1000}
    assert set(graph.attributes["delay_ps"][~inner].tolist()) == {0}
    assert found.network.graph.layout["shape"] == graph.layout["shape"]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("k = 8;\ntopology = ring;\n", 'topology = "ring" is not read', 2),
        ("topology = mesh;\nk = 8\nn = 2;\n", '"k = 8" is no field', 2),
        ("topology = mesh;\nk = -8;\n", 'k = "-8" is no whole number', 2),
        ("topology = mesh;\nk = 64; n = 9;\n", "nodes, the most are 65,536", 2),
        ("topology = mesh; k = 3;\ntraffic = bitrev;\n", "needs a power of 2", 2),
        ("topology = mesh;\n\ntraffic = taper64;\n", "has no counterpart", 3),
        ("topology = mesh;\ntraffic = hotspot({64});\n", "no node 64 of 64", 2),
        ("topology = mesh;\npacket_size = 0;\n", "no number of flits", 2),
        ("topology = mesh;\ninjection_rate = 0.0;\n", "no number above 0", 2),
        ("topology = anynet;\n", "without a network_file", 1),
        ("topology = flatfly; k = 1; c = 8;\nrouting_function = ugal;\n", "and this network has one", 2),
    ],
)
def test_wrong_configurations(text: str, message: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(ReadError, match=message.replace("(", r"\(")) as caught:
        imports.read("booksim", tmp_path / "config")
    assert caught.value.place is not None
    assert caught.value.place[1] == line


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("k = 8;\n")
    with pytest.raises(ReadError, match="no topology"):
        imports.read("booksim", tmp_path / "config")
