"""Service levels: computed ones have no cycle, given ones are taken as they are, exported ones come back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pytest
from commands import command
from fabriloom import imports, routing, run, simulate, topology
from fabriloom.cli import check_certificate
from fabriloom.compile import Compiled, LinkRoutes, compile
from fabriloom.routing import RouteTable, dumps
from fabriloom.scenario import Scenario
from fabriloom.scenario.errors import ScenarioError
from fabriloom.studies import failures, route_choices
from fabriloom.topology import Graph
from hypothesis import given
from hypothesis import strategies as st

from .common import graphs, proved

KINDS = {"s": "switch", "t": "terminal"}
RING: dict[str, Any] = {"kind": "torus", "shape": [6], "terminals_per_switch": 2}


def waits(graph: Graph, table: RouteTable, level: int) -> nx.DiGraph:
    """What the packets of a level wait for, pair by pair."""
    found = nx.DiGraph()
    assert table.levels is not None
    full = table.full()
    home = graph.terminal_entry_switches
    for source in range(graph.terminals):
        for target in range(graph.terminals):
            if int(table.levels.between(np.array([source]), np.array([target]))[0]) != level:
                continue
            open_links = [int(link) for link in onward(full, int(home[source]), target)]
            seen = set(open_links)
            while open_links:
                link = open_links.pop()
                at = int(graph.link_target[link])
                for further in onward(full, at, target) if at < graph.switches else ():
                    found.add_edge(link, int(further))
                    if int(further) not in seen:
                        seen.add(int(further))
                        open_links.append(int(further))
    return found


def onward(table: RouteTable, switch: int, target: int) -> list[int]:
    entry = int(table.route[switch, table.terminal_class[target]])
    return [] if entry == routing.NONE else table.group(entry >> 1).tolist()


@given(graph=graphs(), adaptive=st.booleans(), lanes=st.integers(1, 8))
def test_computed_levels_have_no_cycle(graph: Graph, adaptive: bool, lanes: int) -> None:
    """Nor have those that are divided among more lanes; no lane is idle then."""
    table = routing.build(graph, "lash", adaptive=adaptive, lanes=lanes)
    assert table.levels is not None
    if table.levels.of.size > 50 * lanes:
        assert table.levels.count >= lanes
    for level in range(table.levels.count):
        assert nx.is_directed_acyclic_graph(waits(graph, table, level))
        assert routing.dependency_cycle(graph, routing.of_level(graph, table, level)) is None


@given(graph=graphs(), seed=st.integers(0, 1000))
def test_any_levels_are_judged_pair_by_pair(graph: Graph, seed: int, tmp_path_factory: Any) -> None:
    dice = Random(seed)
    names, lines = graph.terminal_names, ["source,target,level"]
    for source in names:
        lines += [f"{source},{target},{dice.randint(0, 2)}" for target in names if dice.random() < 0.7]
    file = tmp_path_factory.mktemp("levels") / "levels.csv"
    file.write_text("\n".join(lines))
    table = routing.build(graph, "shortest-path", adaptive=seed % 2 > 0, service_levels={"path": file})
    for level in range(3):
        free = routing.dependency_cycle(graph, routing.of_level(graph, table, level)) is None
        assert free == nx.is_directed_acyclic_graph(waits(graph, table, level))


@pytest.mark.parametrize(
    ("kind", "parameters", "levels"),
    [
        ("slim_fly", {"order": 5, "terminals_per_switch": 4}, 2),
        ("fat_tree", {"arity": 4, "levels": 3}, 1),
        ("torus", {"shape": [8, 8]}, 4),
        ("dragonfly", {"switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}, 2),
    ],
)
def test_families_take_few_levels(kind: str, parameters: dict[str, Any], levels: int) -> None:
    table = routing.build(topology.build(kind, **parameters), "lash")
    assert table.levels is not None
    assert table.levels.count == levels


def scenario(rule: dict[str, Any], base: Path, planes: int = 1, **technology: Any) -> Scenario:
    given: dict[str, Any] = {"preset": "infiniband-4x-edr", "lanes": 2, **technology}
    traffic = {"pattern": "uniform", "load": 0.9, "length": "2000 B"}
    whole = {
        "topology": {**RING, "replicate": planes},
        "routing": rule,
        "technology": given,
        "traffic": traffic,
        "run": {"duration": "100 us"},
    }
    return Scenario.from_dict(whole, base_dir=base)


@pytest.mark.parametrize("planes", [1, 2])
def test_levels_keep_a_ring_going(planes: int, tmp_path: Path) -> None:
    alone = scenario({"kind": "shortest-path", "adaptive": False}, tmp_path, planes)
    assert run(alone).end_reason == "deadlocked"
    by_level = scenario({"kind": "lash"}, tmp_path, planes)
    proved(by_level, 0)
    assert run(by_level).end_reason != "deadlocked"
    with pytest.raises(ScenarioError, match=r"level 1 needs a lane of this number, and links have one lane"):
        compile(scenario({"kind": "lash"}, tmp_path, lanes=1))


@pytest.mark.parametrize(("planes", "head"), [(1, ""), (2, "p1-")])
def test_what_is_exported_comes_back(planes: int, head: str, tmp_path: Path) -> None:
    """By names, by ports, and by the file of levels of a scenario that was read back itself."""
    folder, one = tmp_path / "out", scenario({"kind": "lash"}, tmp_path, planes)
    (tmp_path / "one.json").write_text(json.dumps(one.resolved), encoding="utf-8")
    ended = command("export", tmp_path / "one.json", "--out", folder)
    assert ended.exit_code == 0, ended.output
    before = run(one).links
    for table in ("table.csv", "routing.csv"):
        levels = {"path": f"{head}levels.csv"}
        rule = {"kind": "table", "path": f"{head}{table}", "service_levels": levels}
        again = scenario(rule, folder, planes)
        proved(again, 0)
        assert run(again).links.equals(before)
    dumped = [*folder.glob("*lfts.out"), *sorted(folder.glob("*ibnetdiscover.out"))]
    back = imports.read("ibnetdiscover", *dumped, by_host=True)
    assert isinstance(back, imports.Imported)
    assert [plane.graph.terminals for plane in back.graph.planes] == [12] * planes
    assert back.graph.terminal_names == topology.build(**RING).terminal_names
    assert len(back.routes) == 6 * 10 * planes


@pytest.mark.parametrize("choice", ["round-robin", "destination", "shortest-queue", "first-free", "nominal"])
def test_each_network_has_levels_of_its_own(choice: str) -> None:
    """Of terminals with two ports in a ring and, most of them, one in another network."""
    ring = {"name": "A", "network": RING, "ports_per_terminal": 2}
    other = {"kind": "jellyfish", "switches": 5, "degree": 2, "graph_seed": 1}
    names = ["t0", "t2", "t1", "t5", "t3"]
    planes = [ring, {"name": "B", "network": other, "terminals": names}]
    whole = {
        "topology": {"kind": "planes", "planes": planes},
        "routing": {"kind": "lash"},
        "technology": {"preset": "infiniband-4x-edr", "lanes": 3},
        "ports": {"choice": choice},
        "traffic": {"pattern": "uniform", "load": 0.8, "length": "500 B"},
        "run": {"duration": "20 us", "warmup": "0 ns", "precision": 0},
    }
    given = Scenario.from_dict(whole)
    proved(given, 0)
    compared = simulate.compare(given)
    assert compared.identical
    assert compared.packets > 500


def test_one_file_has_the_rows_of_all_networks_of_cables(tmp_path: Path) -> None:
    """As exported, it gives the same run."""
    rows = ["kind,source,target"]
    rows += [f"terminal,t{at},a{at}" for at in range(5)] + [f"cable,t{at},b{at}" for at in range(1, 5)]
    rows += [f"cable,{ring}{at},{ring}{(at + 1) % 5}" for ring in "ab" for at in range(5)]
    (tmp_path / "net.csv").write_text("\n".join(rows))
    network = {"kind": "file", "path": str(tmp_path / "net.csv")}
    one = scenario({"kind": "lash"}, tmp_path).with_settings({"topology": network})
    (tmp_path / "one.json").write_text(json.dumps(one.resolved), encoding="utf-8")
    folder = tmp_path / "out"
    ended = command("export", tmp_path / "one.json", "--out", folder)
    assert ended.exit_code == 0, ended.output
    rule = {"kind": "table", "path": "table.csv", "service_levels": {"path": "levels.csv"}}
    again = scenario(rule, folder).with_settings({"topology": {"kind": "file", "path": "network.csv"}})
    proved(again, 0)
    assert run(again).links.equals(run(one).links)
    (folder / "wrong.csv").write_text("source,target,level\nt1/1,t2/0,1\n")
    with pytest.raises(ScenarioError, match='there is no terminal or switch "t2/0"'):
        compile(again.with_settings({"routing.service_levels": {"path": "wrong.csv"}}))


@pytest.mark.parametrize("seed", range(6))
def test_packets_keep_their_levels_on_new_tables(seed: int, tmp_path: Path) -> None:
    """In one network and in one of two; what waits for what is as if each pair of a level were named."""
    dice, planes = Random(seed), 1 + seed % 2
    graph = topology.build(**RING)
    pairs = [(one, other) for one in graph.terminal_names for other in graph.terminal_names if one != other]
    rows = [f"{one},{other},{dice.randrange(3)}" for one, other in pairs]
    (tmp_path / "levels.csv").write_text("\n".join(["source,target,level", *rows]))
    kind = ("auto", "shortest-path", "up-star-down-star")[seed // 2]
    rule = {"kind": "up*/down*", "service_levels": {"path": "levels.csv"}, "adaptive": dice.random() < 0.5}
    one = scenario({**rule, "after_fault": {"delay": "500 ns", "kind": kind}}, tmp_path, planes, lanes=3)
    cable = "p1/s(2)>s(3)" if planes == 2 else "s(2)>s(3)"
    one = one.with_settings({"technology.input_queues": "fifo", "fault": [{"cable": cable, "at": "3 us"}]})
    compiled = compile(one.with_settings({"run.duration": "10 us"}))
    routes = compiled.routes
    assert isinstance(routes, LinkRoutes)
    assert simulate.compare(compiled, 10**7).identical
    dead = next(one for one in routes.after_planes if one)
    own, after = routes.planes[-1][1], routes.after_planes[dead][-1]
    assert own.levels is after.levels is not None
    gone = [np.zeros(0, np.int64), np.array(sorted(dead)) - graph.links * (planes - 1)]
    source, target = np.divmod(np.arange(graph.terminals**2), graph.terminals)
    pairs = [own.levels.at(level, (source, target)) for level in range(3)]
    tables = [*zip([own, after], gone, strict=True)]
    cycles = [routing.phases_cycle(graph, [routing.Phase(*one, sent) for one in tables]) for sent in pairs]
    assert compiled.deadlock.free == (cycles == [None] * 3)
    assert routes.is_free(graph, after) or kind == "shortest-path"


def test_new_tables_are_judged_by_level(tmp_path: Path) -> None:
    """Shortest paths on a ring that is cut are those of a line; on a torus each level is looked at."""
    rule = {"kind": "lash", "after_fault": {"delay": "500 ns", "kind": "shortest-path"}}
    one = scenario(rule, tmp_path, lanes=4).with_settings({"topology.shape": [4, 4]})
    assert failures.look(compile(one), "cables", "up-star-down-star")["deadlock_free"]
    whole = failures.look(
        compile(one.with_settings({"routing.kind": "up*/down*"})), "cables", "shortest-path"
    )
    by_level = failures.look(compile(one), "cables", "shortest-path")
    assert 0 < by_level["deadlock_count"] < whole["deadlock_count"]


@pytest.mark.parametrize("planes", [1, 2])
def test_rows_of_a_level_have_lanes_of_their_own(planes: int, tmp_path: Path) -> None:
    """Lanes of the numbers of levels are as with them; on other lanes each is looked at; and what is exported
    comes back."""
    graph = topology.build(**RING)
    table = routing.build(graph, "lash", lanes=3).full()
    assert table.levels is not None
    (tmp_path / "levels.csv").write_text(dumps.levels(graph, table))

    def rows(lane: Any) -> Scenario:
        found = ["switch,terminal,links,level"]
        for switch, target, level in np.ndindex(graph.switches, graph.terminals, 3):
            (link,) = onward(table, switch, target)
            way = f"{graph.link_names[link]}/{lane(level, switch)}"
            found.append(f"{graph.switch_names[switch]},{graph.terminal_names[target]},{way},{level}")
        (tmp_path / "rows.csv").write_text("\n".join(found))
        rule = {"kind": "table", "path": "rows.csv", "service_levels": {"path": "levels.csv"}}
        return scenario(rule, tmp_path, planes, lanes=3)

    same = rows(lambda level, switch: level)
    assert run(same).links.equals(run(scenario({"kind": "lash"}, tmp_path, planes, lanes=3)).links)
    proved(same, 0)
    assert not compile(rows(lambda level, switch: 0)).deadlock.free
    turned = rows(lambda level, switch: (level + switch) % 3)
    assert compile(turned).deadlock.free
    assert simulate.compare(compile(turned), 10**7).identical
    (tmp_path / "one.json").write_text(json.dumps(turned.resolved), encoding="utf-8")
    ended = command("export", tmp_path / "one.json", "--out", tmp_path / "out")
    assert ended.exit_code == 0, ended.output
    head = "" if planes == 1 else "p1-"
    rule = {"kind": "table", "path": f"{head}table.csv", "service_levels": {"path": f"{head}levels.csv"}}
    assert run(scenario(rule, tmp_path / "out", planes, lanes=3)).links.equals(run(turned).links)
    fault = {"switch": "s(0)" if planes == 1 else "p0/s(0)", "at": "1 us"}
    after = {"routing.after_fault": {"delay": "1 us"}, "fault": [fault]}
    with pytest.raises(ScenarioError, match="rows of a level do not go with tables after a fault"):
        compile(turned.with_settings(after))


def broken(rule: dict[str, Any], base: Path, **technology: Any) -> Scenario:
    """A torus with a cable that fails and runs again."""
    one = scenario(rule, base, **{"lanes": 4, "input_queues": "fifo", **technology})
    fault = {"cable": "s(0,0)>s(0,1)", "at": "3 us", "repaired": "8 us"}
    short = {"run.duration": "15 us", "traffic.length": "500 B"}
    return one.with_settings({"topology.shape": [4, 4], "fault": [fault], **short})


def lanes_at(compiled: Compiled, table: int, start: int = 0) -> set[int]:
    """Return the lanes that packets take to other switches by a table, if they started by ``start``."""
    arrays, found = compiled.arrays, set[int]()
    between = np.concatenate([arrays["class_between"], arrays["table_between"]])
    between = between.reshape(-1, len(arrays["class_between"]))[start]
    routes = np.concatenate([arrays["route"], arrays["table_route"]]).reshape(-1, len(arrays["route"]))[table]
    entered = compiled.graph.terminal_entry_switches
    for source, target in np.argwhere(entered[:, None] != entered).tolist():
        place = arrays["port_class_from"][source] + arrays["port_class_to"][target]
        header = arrays["terminal_class"][target] + arrays["class_headers"][between[place]]
        group = int(routes[int(entered[source]) * arrays["classes"] + int(header)]) >> 1
        own = arrays["group_links"][arrays["group_start"][group] : arrays["group_start"][group + 1]]
        found |= set((own % arrays["lanes"]).tolist())
    return found


@pytest.mark.parametrize("planes", [1, 2])
def test_packets_that_start_by_new_tables_have_new_levels(planes: int, tmp_path: Path) -> None:
    """Each table alone has no cycle; one that both close together is said to be of neither."""
    rule = {"kind": "lash", "after_fault": {"delay": "500 ns"}}
    one = broken(rule, tmp_path).with_settings({"topology.replicate": planes})
    if planes == 2:
        one = one.with_settings({"fault.0.cable": "p1/s(0,0)>s(0,1)"})
    compiled = compile(one)
    assert isinstance(compiled.routes, LinkRoutes)
    (tables,) = compiled.routes.after_planes.values()
    before, after = compiled.routes.planes[-1][1], tables[-1]
    assert before.levels is not None is not after.levels
    every = np.divmod(np.arange(32**2), 32)
    changed = before.levels.between(*every) != after.levels.between(*every)
    assert 0 < changed.mean() < 0.5, "most keep theirs"
    graph = compiled.graph.planes[-1].graph
    for level in range(after.levels.count):
        assert nx.is_directed_acyclic_graph(waits(graph, after, level))
    assert compiled.deadlock.between
    assert compiled.deadlock.text().endswith("; the tables before it have none, nor have the new ones alone")
    assert simulate.compare(compiled, 10**7).identical
    kept = compile(one.with_settings({"routing.after_fault.kind": "up-star-down-star"}))
    assert len(kept.arrays["table_between"]) == 0 < len(compiled.arrays["table_between"])


def test_new_levels_come_from_a_file(tmp_path: Path) -> None:
    """All pairs on another lane, once the tables are new."""
    rows = ["source,target,level", *(f"s({a}),s({b}),1" for a in range(6) for b in range(6))]
    (tmp_path / "none.csv").write_text("source,target,level\n")
    (tmp_path / "ones.csv").write_text("\n".join(rows))
    after = {"delay": "500 ns", "kind": "up-star-down-star", "service_levels": {"path": "ones.csv"}}
    rule = {"kind": "up*/down*", "service_levels": {"path": "none.csv"}, "after_fault": after}
    one = broken(rule, tmp_path).with_settings({"topology.shape": [6], "fault.0.cable": "s(0)>s(1)"})
    compiled = compile(one)
    assert simulate.compare(compiled, 10**7).identical
    assert (lanes_at(compiled, 0), lanes_at(compiled, 1), lanes_at(compiled, 1, 1)) == ({0}, {0}, {1})
    again = Scenario.from_dict(one.resolved, base_dir=tmp_path)
    assert again.sha256 == one.sha256
    assert "sha256" in one.resolved["routing"]["after_fault"]["service_levels"]


@pytest.mark.parametrize("kind", ["lash", "minimal-layers", "up*/down*"])
def test_new_tables_with_lanes_of_their_own_close_no_cycle(kind: str, tmp_path: Path) -> None:
    """Packets under way go on by their tables; the next ones have the first lanes again."""
    rule = {"kind": kind, "after_fault": {"delay": "500 ns"}}
    assert compile(broken(rule, tmp_path)).deadlock.between
    rule["after_fault"] = {"delay": "500 ns", "own_lanes": True}
    compiled = compile(broken(rule, tmp_path))
    assert compiled.deadlock.free
    assert "between them, has no cycle" in compiled.deadlock.text()
    assert simulate.compare(compiled, 10**7).identical
    assert (lanes_at(compiled, 0), lanes_at(compiled, 1), lanes_at(compiled, 1, 1)) == (
        {0, 1},
        {0, 1},
        {2, 3},
    )
    with pytest.raises(ScenarioError, match="lanes of their own"):
        compile(broken(rule, tmp_path, lanes=1))


def in_turn(seed: int) -> dict[str, Any]:
    """A network at overload of which a cable fails, and new tables."""
    dice = Random(f"tables in turn {seed}")
    switches = dice.choice([6, 8, 10, 12])
    drawn = nx.random_regular_graph(dice.choice([3, 3, 4]), switches, seed=seed)
    cables = [(f"s{one}", f"s{other}") for one, other in drawn.edges]
    nodes = [{"id": f"{name}{at}", "kind": kind} for name, kind in KINDS.items() for at in range(switches)]
    ends = [*cables, *((f"t{at}", f"s{at}") for at in range(switches))]
    content = {"nodes": nodes, "links": [{"source": one, "target": other} for one, other in ends]}
    topology, broken = {"kind": "inline", "content": json.dumps(content)}, ">".join(dice.choice(cables))
    if dice.random() < 0.3:
        topology, broken = {"kind": "torus", "shape": [dice.choice([5, 6, 7])]}, "s(0)>s(1)"
    kind = dice.choice(["lash", "minimal-layers", "up*/down*", "valiant", "ugal"])
    new = ["auto", "up-star-down-star", "lash" if kind == "lash" else "minimal-layers"]
    after = {
        "kind": dice.choice(new),
        "own_lanes": dice.random() < 0.5,
        "delay": dice.choice(["0 ns", "1 us"]),
    }
    whole, repaired = dice.random() < 0.3, {"repaired": "6 us"} if dice.random() < 0.6 else {}
    technology = {"lanes": dice.choice([2, 4, 6, 8]), "lane_sharing": "flit"}
    technology |= {"input_buffer_flits": 256 if whole else dice.choice([4, 8, 16])}
    technology |= {"switching": "virtual-cut-through"} if whole else {}
    return {
        "topology": topology,
        "technology": {"preset": "generic", **technology},
        "routing": {"kind": kind, "after_fault": after},
        "traffic": {"load": 1.0, "length": dice.choice(["16 B", "64 B", "200 B"])},
        "fault": [{"cable": broken, "at": "2 us", **repaired}],
        "run": {"duration": "15 us", "warmup": "0 ns", "precision": 0},
        "seed": seed,
    }


def test_the_order_of_tables_in_turn_is_one_of_all_of_them(tmp_path: Path) -> None:
    """Without a channel, in another order, or with what is down as if it ran, it proves nothing."""
    rule = {"kind": "lash", "after_fault": {"delay": "500 ns", "own_lanes": True}}
    one = broken(rule, tmp_path)
    (tmp_path / "one.json").write_text(json.dumps(one.resolved), encoding="utf-8")
    proof = tmp_path / "proof.json"
    ended = command("route", tmp_path / "one.json", "--certificate", proof)
    assert ended.exit_code == 0, ended.output
    assert "With the tables after faults a deadlock cannot happen" in ended.output
    assert command("route", tmp_path / "one.json", "--check", proof).exit_code == 0
    *_, part = json.loads(proof.read_text())["parts"]
    assert check_certificate.fault(part) is None
    assert part["before"]
    assert check_certificate.fault({**part, "order": part["order"][::-1]})
    assert check_certificate.fault({**part, "order": part["order"][::2]})
    (tmp_path / "one.json").write_text(
        json.dumps(one.with_settings({"routing.after_fault.own_lanes": False}).resolved), encoding="utf-8"
    )
    ended = command("route", tmp_path / "one.json", "--certificate", tmp_path / "none.json")
    assert ended.exit_code != 0
    assert "nor have the new ones alone" in ended.output
    assert not (tmp_path / "none.json").exists()


@pytest.mark.seeds
def test_what_is_proved_of_tables_in_turn_never_hangs(seeds: Callable[[int], Iterator[int]]) -> None:
    """A few of those that are not proved do, although no table alone has a cycle."""
    free, own, tried = 0, 0, 0
    for seed in seeds(60):
        one = Scenario.from_dict(in_turn(seed))
        try:
            compiled = compile(one)
        except ScenarioError:
            continue
        tried += 1
        parts = route_choices.proofs_in_turn(compiled)
        assert (parts is not None) == compiled.deadlock.free, seed
        if parts is not None:
            assert [check_certificate.fault(part) for part in parts] == [None] * len(parts), seed
            assert run(compiled).end_reason != "deadlocked", seed
        free += compiled.deadlock.free
        own += one.routing.after_fault.own_lanes  # type: ignore[union-attr]
    assert own < free < tried
