"""Path addresses of one's own: what senders write is what packets do, and what is said of it is right."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import fabriloom
import networkx as nx
import numpy as np
import pytest
from fabriloom import routing, simulate, topology
from fabriloom.bounds import bound
from fabriloom.cli import check_certificate
from fabriloom.compile import Compiled, LinkRoutes, compile
from fabriloom.compile.several import port_pairs
from fabriloom.routing.check import certificate
from fabriloom.routing.routers import paths_as_csv, ports
from fabriloom.scenario import Scenario
from fabriloom.studies import route_choices
from fabriloom.studies.demanded import busy
from fabriloom.studies.failures import look
from fabriloom.studies.links.inspection import LinkInspection
from fabriloom.topology import Graph
from hypothesis import assume, given
from hypothesis import strategies as st

from .common import assert_cycle, graphs

SQUARE = """kind,source,target,source_port,target_port
switch,r1,,,
switch,r2,,,
switch,r3,,,
switch,r4,,,
terminal,camera,r1,,1
terminal,sounder,r1,,2
terminal,memory,r4,,1
cable,r1,r2,3,1
cable,r1,r3,4,1
cable,r2,r4,2,3
cable,r3,r4,2,4
"""
PATHS = """source,target,path
camera,memory,3 2 1
sounder,memory,4 2 1
memory,camera,4 1 1
memory,sounder,3 1 2
"""


def walk(graph: Graph, source: int, target: int, dice: Random) -> list[int]:
    """A path drawn without coming to a switch twice: the links after the first."""
    todo: list[list[int]] = [[]]
    while todo:
        links = todo.pop(dice.randrange(len(todo)))
        at = int(graph.link_target[links[-1]]) if links else int(graph.terminal_entry_switches[source])
        if at == graph.switches + target:
            return links
        seen = {int(graph.link_source[link]) for link in links}
        ahead = np.flatnonzero(graph.link_source == at).tolist() if at < graph.switches else []
        todo += [[*links, link] for link in ahead if int(graph.link_target[link]) not in seen]
    raise AssertionError


def drawn(graph: Graph, seed: int, part: float) -> dict[tuple[int, int], list[int]]:
    dice = Random(seed)
    pairs = [(one, other) for one in range(graph.terminals) for other in range(graph.terminals)]
    return {pair: walk(graph, *pair, dice) for pair in pairs if pair[0] != pair[1] and dice.random() < part}


def written(graph: Graph, paths: dict[tuple[int, int], list[int]]) -> str:
    names, port = graph.terminal_names, ports(graph)
    rows = [
        f"{names[a]},{names[b]},{' '.join(str(port[link]) for link in way)}" for (a, b), way in paths.items()
    ]
    return "\n".join(["source,target,path", *rows, ""])


@given(graph=graphs(), seed=st.integers(0, 10_000), part=st.sampled_from([1.0, 0.6]))
def test_each_pair_has_its_path(graph: Graph, seed: int, part: float, tmp_path_factory: Any) -> None:
    paths = drawn(graph, seed, part)
    file = tmp_path_factory.mktemp("paths") / "paths.csv"
    file.write_text(written(graph, paths))
    try:
        table = routing.build(graph, "paths", path=str(file), by_source=True)
    except routing.RoutingError:
        assume(False)  # a pair that is not in the file would go in a circle
        raise
    for pair, way in paths.items():
        assert routing.path(graph, table, *pair)[1:] == way
    assert paths_as_csv(graph, table, paths) == written(graph, paths)
    pairs = [(one, other) for one in range(graph.terminals) for other in range(graph.terminals)]
    whole = {pair: routing.path(graph, table, *pair) for pair in pairs if pair[0] != pair[1]}
    waits = nx.DiGraph(edge for way in whole.values() for edge in pairwise(way))
    cycle = routing.dependency_cycle(graph, table)
    assert (cycle is None) == nx.is_directed_acyclic_graph(waits)
    if cycle is None:
        proof = certificate(graph, table)
        assert proof is not None
        assert check_certificate.fault(proof) is None
    else:
        assert_cycle(graph, cycle)
    weights = np.random.default_rng(seed).random((graph.terminals, graph.terminals))
    np.fill_diagonal(weights, 0)
    loads, even = np.zeros(graph.links), np.zeros(graph.links)
    for pair, way in whole.items():
        loads[way] += weights[pair]
        even[way] += 1 / (graph.terminals - 1)
    assert routing.channel_loads(graph, table, weights) == pytest.approx(loads)
    assert routing.channel_loads(graph, table) == pytest.approx(even)


def scenario(folder: Path, addressing: str = "path", **more: Any) -> Scenario:
    (folder / "square.csv").write_text(SQUARE, encoding="utf-8")
    (folder / "paths.csv").write_text(PATHS, encoding="utf-8")
    flows = [
        {"source": source, "target": "memory", "length": "100 B", "period": "20 us"}
        for source in ("camera", "sounder")
    ]
    whole = {
        "topology": {"kind": "file", "path": "square.csv"},
        "technology": {"preset": "spacewire-200"},
        "routing": {"kind": "paths", "path": "paths.csv", "addressing": addressing},
        "traffic": {"pattern": {"kind": "flows", "flows": flows}},
        "run": {"duration": "1 ms", "warmup": "0 ns", "precision": 0, "drain": True},
        **more,
    }
    return Scenario.from_dict(whole, folder)


def test_paths_of_two_senders_part_and_meet(tmp_path: Path) -> None:
    results = fabriloom.run(scenario(tmp_path))
    packets = dict(results.links.select("link", "packets").iter_rows())
    assert packets["r1>r2"] == packets["r1>r3"] == packets["r4>memory"] / 2 > 40


def test_a_failure_cuts_off_who_sends_over_it(tmp_path: Path) -> None:
    found = {one["name"]: one for one in look(compile(scenario(tmp_path)))["failures"]}
    assert found["r1>r2"]["delivered_share"] == pytest.approx(0.5)
    assert found["r1>r2"]["cut_off_pairs"] == 1
    assert found["memory>r4"]["delivered_share"] == pytest.approx(0.0)


def test_each_is_bounded_on_its_own_path(tmp_path: Path) -> None:
    found = bound(scenario(tmp_path), tries=20).table
    assert all(share <= 1 for share in found["found_share"])


LONG_ENOUGH = {"spacewire-200": "200 us", "generic": "20 us"}
"""Runs in which hundreds of packets arrive."""


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("preset", LONG_ENOUGH)
def test_engine_and_twin_take_the_same_paths(seed: int, preset: str, tmp_path: Path) -> None:
    dice = Random(seed)
    graph = topology.build("jellyfish", switches=6, degree=3, terminals_per_switch=2, graph_seed=seed)
    paths = drawn(graph, seed, 1.0)
    (tmp_path / "paths.csv").write_text(written(graph, paths))
    whole = {
        "topology": graph,
        "technology": {"preset": preset},
        "routing": {"kind": "paths", "path": "paths.csv"},
        "traffic": {"pattern": "uniform", "load": dice.choice([0.1, 0.5]), "length": "40 B"},
        "run": {"duration": LONG_ENOUGH[preset], "warmup": "0 ns", "precision": 0},
    }
    if preset == "spacewire-200":
        whole["routing"]["addressing"] = "path"
    compared = simulate.compare(Scenario.from_dict(whole, tmp_path))
    assert compared.identical
    assert compared.packets > 20


def test_a_table_does_not_know_where_packets_come_from(tmp_path: Path) -> None:
    with pytest.raises(fabriloom.ScenarioError, match="does not know where they come from"):
        compile(scenario(tmp_path, "logical"))


def strapped(folder: Path, **more: Any) -> Scenario:
    """The same with a second port of the camera and of the memory, and a path between these."""
    whole = scenario(folder, **more)
    (folder / "square.csv").write_text(SQUARE + "cable,camera,r2,,5\ncable,memory,r3,,5\n", encoding="utf-8")
    paths = PATHS.replace("camera", "camera/0").replace("memory", "memory/0")
    (folder / "paths.csv").write_text(paths + "camera/1,memory/1,1 4 5\n", encoding="utf-8")
    return Scenario.from_dict({**whole.raw, "ports": {"choice": "nominal"}}, folder)


def test_a_redundant_port_has_paths_of_its_own(tmp_path: Path) -> None:
    """With as many bytes of address as its path has routers, in the engine and in what is demanded."""
    fails = {"link": "camera>r1", "at": "500 us"}
    results = fabriloom.run(strapped(tmp_path, fault=[fails], technology={"preset": "spacewire-200"}))
    links = {row["link"]: row for row in results.links.to_dicts()}
    redundant = [links[name] for name in ("camera>r2", "r2>r1")]
    assert {row["packets"] for row in redundant} == {25}
    assert [row["characters"] / row["packets"] - 100 - 1 for row in redundant] == [4, 3]
    found = bound(strapped(tmp_path), tries=20)
    assert all(share <= 1 for share in found.table["found_share"])
    given = strapped(tmp_path, technology={"preset": "spacewire-200", "flow_control": "ignored"})
    said = busy(compile(given))
    assert said is not None
    for link, share in fabriloom.run(given).links.select("link", "utilisation").iter_rows():
        assert share == pytest.approx(said[link], rel=0.05)


def of_cables(folder: Path, seed: int, preset: str, choice: str) -> Scenario:
    """Terminals of one cable or two to a ring of routers, or the second to another; paths of all pairs drawn,
    and levels or traffic classes on links of flits.
    """
    dice, rings = Random(seed), "ab"[: 1 + seed % 2]
    rows = ["kind,source,target"]
    rows += [f"terminal,t{at},a{dice.randrange(4)}" for at in range(6)]
    rows += [f"cable,t{at},{rings[-1]}{dice.randrange(4)}" for at in range(6) if dice.random() < 0.7]
    rows += [f"cable,{ring}{at},{ring}{(at + 1) % 4}" for ring in rings for at in range(4)]
    (folder / "net.csv").write_text("\n".join(rows), encoding="utf-8")
    planes = [plane.graph for plane in topology.build("file", path=str(folder / "net.csv")).planes]
    assert len(planes) == len(rings)
    lines = [line for graph in planes for line in written(graph, drawn(graph, seed, 1.0)).splitlines()[1:]]
    (folder / "paths.csv").write_text("\n".join(["source,target,path", *lines]), encoding="utf-8")
    names = [
        (one, other) for graph in planes for one in graph.terminal_names for other in graph.terminal_names
    ]
    levels = [f"{one},{other},{dice.randrange(1 + seed % 4)}" for one, other in names if one != other]
    (folder / "levels.csv").write_text("\n".join(["source,target,level", *levels]), encoding="utf-8")
    in_flits = preset == "generic"
    rule: dict[str, Any] = {"addressing": "path"}
    if in_flits and seed % 3:
        rule = {"service_levels": {"path": "levels.csv"}}
    elif in_flits:
        own = {"from": ["t0", "t1"], "lanes": [1]}, {"from": ["t2"], "to": ["t3"], "lanes": [0]}
        rule = {"traffic_class": list(own)}
    whole = {
        "topology": {"kind": "file", "path": "net.csv"},
        "technology": {"preset": preset, **({"lanes": 3} if in_flits else {})},
        "routing": {"kind": "paths", "path": "paths.csv", **rule},
        "ports": {"choice": choice},
        "traffic": {"pattern": "uniform", "load": 0.2, "length": "40 B"},
        "run": {"duration": LONG_ENOUGH[preset], "warmup": "0 ns", "precision": 0},
    }
    return Scenario.from_dict(whole, folder)


def taken(compiled: Compiled, source: int, target: int) -> tuple[int, set[int]]:
    """The link after that of a port, and the lanes of it, that the engine takes for a packet."""
    arrays = compiled.arrays
    pair = int(arrays["port_class_from"][source] + arrays["port_class_to"][target])
    added = arrays["class_headers"][arrays["class_between"][pair]]
    switch = int(arrays["link_target"][arrays["terminal_out_link"][source]])
    entry = arrays["route"].reshape(arrays["switches"], -1)[switch, arrays["terminal_class"][target] + added]
    first, last = arrays["group_start"][entry // 2 : entry // 2 + 2]
    links, lanes = np.divmod(arrays["group_links"][first:last], arrays["lanes"])
    assert len({*links.tolist()}) == 1
    return int(links[0]), {*lanes.tolist()}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("preset", LONG_ENOUGH)
def test_each_pair_of_ports_has_its_path_and_level(seed: int, preset: str, tmp_path: Path) -> None:
    """What a run does, the loads, the certificate, and what each failure leaves: by following each pair."""
    choice = ["round-robin", "nominal", "destination"][seed % 3]
    compiled = compile(of_cables(tmp_path, seed, preset, choice))
    compared = simulate.compare(compiled)
    assert compared.identical
    assert compared.packets > 20
    routes, graph = compiled.routes, compiled.graph
    assert isinstance(routes, LinkRoutes)
    assert max(routes.classes.ways) > 0
    way: dict[tuple[int, int], list[int]] = {}
    waits = nx.DiGraph()
    for plane, (own, table) in zip(graph.planes, routes.planes, strict=True):
        for one, other in product(range(own.terminals), repeat=2):
            if one != other:
                links = [plane.first_link + link for link in routing.path(own, table, one, other)]
                way[int(plane.port[one]), int(plane.port[other])] = links
                level = 0 if table.levels is None else int(table.levels.of[one, other])
                own_lanes = {0} if preset == "spacewire-200" else {level} if table.levels else None
                ends = own.terminal_names[one][:2], own.terminal_names[other][:2]
                own_lanes = own_lanes or (
                    {1} if ends[0] in ("t0", "t1") else {0} if ends == ("t2", "t3") else {2}
                )
                assert taken(compiled, int(plane.port[one]), int(plane.port[other])) == (links[1], own_lanes)
                waits.add_edges_from(pairwise((link, level) for link in links))
    assert (routes.cycle is None) == nx.is_directed_acyclic_graph(waits)
    proofs = route_choices.proofs(compiled)
    assert (proofs is None) == (routes.cycle is not None)
    assert all(check_certificate.fault(proof) is None for proof in proofs or [])
    sent, loads = compiled.demand().matrix(), np.zeros(graph.links)
    sources, targets = np.nonzero(sent)
    pair, port, to = port_pairs(routes, choice, sources, targets)
    parts = sent[sources, targets][pair] / np.bincount(pair)[pair]
    for one, other, part in zip(port.tolist(), to.tolist(), parts.tolist(), strict=True):
        loads[way[one, other]] += part
    found = LinkInspection(compiled)
    told = found._loads(compiled.demand())
    assert told / told.sum() == pytest.approx(loads / loads.sum())
    for link in graph.switch_links.tolist():
        left = found.ways().after("link", graph.link_names[link], np.array([link]))
        assert left.delivered_share == pytest.approx(1 - loads[link] / sent.sum())
    rerouted = found.ways("auto")
    for link in graph.switch_links.tolist():
        left = rerouted.after("cable", graph.link_names[link], np.array([link, graph.link_reverse[link]]))
        assert left.delivered_share == pytest.approx(1)  # each ring is a chain then
    assert rerouted.deadlocks == 0
