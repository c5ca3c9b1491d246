"""One verdict on deadlock: of what is sent, of all tables in turn, and of programs.

Minimal paths in layers of lanes: none can deadlock, and the certificate proves it to anybody.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from commands import command
from fabriloom import Scenario, ScenarioError, load, routing, run, topology
from fabriloom.cli import check_certificate
from fabriloom.compile import compile
from fabriloom.programs.check import waits_for_ever
from fabriloom.simulate import compare
from fabriloom.studies import route_choices
from fabriloom.studies.inspection import inspect
from fabriloom.topology import Graph
from hypothesis import given, settings
from hypothesis import strategies as st

from .test_engines import proved

TORUS = {
    "topology": {"kind": "torus", "shape": [8, 8]},
    "technology": {"preset": "generic"},
    "routing": {"kind": "dimension-order", "variant": "minimal"},
}


def flows(*ends: tuple[int, int]) -> dict[str, Any]:
    each = [{"source": source, "target": target, "rate": "100 MB/s"} for source, target in ends]
    return {"traffic": {"pattern": {"kind": "flows", "flows": each}}, "run": {"duration": "20 us"}}


def test_what_is_sent_can_be_free_where_other_traffic_is_not() -> None:
    found = inspect(Scenario.from_dict({**TORUS, **flows((0, 1), (1, 2))}))["deadlock"]
    assert (found["free"], found["cycle"], found["any_traffic_free"]) == (True, [], False)
    assert len(found["any_traffic_cycle"]) == 8
    assert "in this traffic" in found["text"]
    assert "in other traffic it can" in found["text"]


def test_flows_that_close_the_circle_are_not_free() -> None:
    """Eight flows of four hops go once round a row of eight: each holds links that the next needs."""
    ends = [(x, (x + 3) % 8) for x in range(8)]
    found = inspect(Scenario.from_dict({**TORUS, **flows(*ends)}))["deadlock"]
    assert not found["free"]
    assert len(found["cycle"]) == 8
    assert not any(
        "deadlock" in text for text in compile(Scenario.from_dict({**TORUS, **flows((0, 1))})).warnings
    )


def test_planes_that_differ_are_judged_each() -> None:
    """The first, the last, or each of two rings; in the traffic that is sent, too."""
    ring, line = {"kind": "torus", "shape": [6]}, {"kind": "grid", "shape": [6]}
    for networks, said in (
        ((ring, line), " in a, not in b"),
        ((line, ring), " in b, not in a"),
        ((ring, {**ring, "links_per_edge": 2}), " in a and b"),
    ):
        planes = [{"name": name, "network": own} for name, own in zip("ab", networks, strict=True)]
        whole = {"topology": {"kind": "planes", "planes": planes}, "routing": {"kind": "shortest-path"}}
        one = Scenario.from_dict({**whole, "technology": {"preset": "generic"}})
        assert f"can happen{said}; a cycle: " in inspect(one)["deadlock"]["text"]
        assert f"can deadlock{said} (shortest-path): " in route_choices.verdict(
            route_choices.look(one)["present"]
        )
        text = inspect(one.with_settings(flows((0, 1))))["deadlock"]["text"]
        assert f"in other traffic it can{said}: " in text


def broken(kind: str, **more: Any) -> Scenario:
    after = {"delay": "1 us", "kind": kind}
    return Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [4, 4]},
            "technology": {"preset": "generic"},
            "routing": {"kind": "dimension-order", "after_fault": after},
            "traffic": {"pattern": "uniform", "length": "64 B", "load": 0.4},
            "run": {"duration": "200 us"},
            "fault": [{"cable": "s(1,1)>s(1,2)", "at": "5 us", **more}],
        }
    )


def test_tables_after_a_fault_are_part_of_the_verdict() -> None:
    scenario = broken("shortest-path")
    found = inspect(scenario)["deadlock"]
    assert not found["free"]
    assert found["text"].startswith("can happen after the failure of s(1,1)>s(1,2); a cycle: ")
    assert run(scenario).summary["end"]["reason"] == "deadlocked"
    early = scenario.with_settings({"run.duration": "5.5 us"})
    assert inspect(early)["deadlock"]["free"], "no table is replaced within the run"


def test_tables_after_a_fault_where_a_tick_is_less_than_a_picosecond() -> None:
    scenario = broken("shortest-path").with_settings(
        {"technology.cycle": "7 GHz", "technology.cable_length": "0.0002 m"}
    )
    assert compile(scenario).tick_ps == pytest.approx(1 / 7)
    assert inspect(scenario)["deadlock"]["text"].startswith("can happen after the failure of s(1,1)>s(1,2)")


def test_packets_under_way_by_two_tables_can_close_a_cycle() -> None:
    """Both tables alone are free of cycles; together they allow turns that neither does."""
    found = inspect(broken("up-star-down-star"))["deadlock"]
    assert not found["free"]
    assert "while packets are under way by the tables before it" in found["text"]


@pytest.mark.parametrize("kind", ["valiant", "ugal"])
def test_a_dragonfly_with_new_tables_needs_lanes_of_their_own(kind: str) -> None:
    """Both tables have lanes for each part of a path, but go round a broken cable on others."""
    table = {
        "topology": {"kind": "dragonfly", "switches_per_group": 4, "global_links": 2},
        "technology": {"preset": "generic", "lanes": 8},
        "routing": {"kind": kind, "after_fault": {"delay": "1 us"}},
        "traffic": {"length": "64 B", "load": 0.1},
        "fault": [{"cable": "s(0,0)>s(0,1)", "at": "1 us"}],
        "run": {"duration": "5 us", "warmup": "0 us", "precision": 0},
    }
    mixed = Scenario.from_dict(table)
    assert "the tables before it have none, nor have the new ones alone" in compile(mixed).deadlock.text()
    own = compile(mixed.with_settings({"routing.after_fault.own_lanes": True}))
    assert own.deadlock.free
    (part,) = [one for one in route_choices.proofs_in_turn(own) or [] if one["before"]][:1]
    assert check_certificate.fault(part) is None
    assert check_certificate.fault({**part, "order": part["order"][::-1]})
    assert compare(own, 5_000_000).identical


DEAD, BROKEN = {"switch": "s(2)"}, {"cable": "s(0)>s(1)"}


@pytest.mark.parametrize(
    ("kind", "fault", "before", "until", "after"),
    [
        ("valiant", DEAD, {5: 16, 6: 20, 8: 14}, {5: 20, 6: 18}, {5: 62, 6: 38}),
        ("valiant", BROKEN, {5: 16, 6: 20, 8: 14}, {8: 12}, {7: 36, 8: 64}),
        ("ugal", DEAD, {5: 50}, {5: 50}, {5: 100}),
        ("ugal", BROKEN, {5: 50}, {8: 12}, {7: 100}),
    ],
)
def test_new_tables_lead_over_other_switches(
    kind: str, fault: Any, before: Any, until: Any, after: Any
) -> None:
    """Three switches in a ring: straight a packet takes 5 ns; one more link takes 2 more, a header 1 more.

    Packets that drew the dead switch are lost, and by the new tables go straight. The queue of a broken cable
    is full: packets that drew the third switch go round it, and others are lost.
    """
    flow = {"source": 0, "target": 1, "rate": "80 MB/s"}
    one = Scenario.from_dict(
        {
            "seed": 1,
            "topology": {"kind": "torus", "shape": [3]},
            "technology": {
                "preset": "generic",
                "lanes": 2,
                "switching": "virtual-cut-through",
                "input_buffer_flits": 16,
            },
            "routing": {"kind": kind, "after_fault": {"delay": "5 us"}},
            "traffic": {
                "pattern": {"kind": "flows", "flows": [flow]},
                "length": "8 B",
                "arrivals": "constant",
            },
            "fault": [{**fault, "at": "5.05 us"}],
            "output": {"trace": True},
            "run": {"duration": "20 us", "warmup": "0 us", "precision": 0},
        }
    )
    compiled, found = compile(one), run(one).native
    assert (compiled.deadlock.free, compiled.deadlock.tables) == (True, 2)
    begun, ended = (np.asarray(found[f"trace_{name}_ticks"]) for name in ("started", "delivered"))
    for first, last, latencies in ((0, 5050, before), (5050, 10050, until), (10050, 20000, after)):
        some = (begun >= first) & (begun < last)
        latency, count = np.unique((ended - begun)[some], return_counts=True)
        assert dict(zip(latency.tolist(), count.tolist(), strict=True)) == latencies
    assert compare(compiled, 20_000_000).identical


def test_a_repair_is_named_too() -> None:
    """After the repair, packets by the way round meet those by the first table again."""
    scenario = broken("up-star-down-star", repaired="50 us").with_settings(
        {"traffic.pattern": {"kind": "flows", "flows": [{"source": 0, "target": 5, "rate": "1 MB/s"}]}}
    )
    assert inspect(scenario)["deadlock"]["free"], "one flow waits for nobody"


def operations(*programs: list[str]) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": max(2, len(programs))},
            "technology": {"preset": "generic"},
            "protocol": {"packet": "64 B"},
            "program": {
                "kind": "operations",
                "terminals": [{"terminal": number, "do": do} for number, do in enumerate(programs)],
            },
        }
    )


@pytest.mark.parametrize(
    ("programs", "stuck"),
    [
        ([["receive 1", "send 1 64 B"], ["receive 0", "send 0 64 B"]], 2),
        ([["send 1 64 B", "receive 1"], ["receive 0", "send 0 64 B"]], 0),
        ([["send 1 64 B tag 1"], ["receive 0 tag 1", "repeat", "receive any", "end"]], 0),
        ([["repeat 3", "send 1 64 B", "end", "barrier"], ["repeat 2", "receive 0", "end", "barrier"]], 0),
        ([["barrier", "receive 1", "send 1 8 B"], ["receive 0", "barrier", "send 0 8 B"]], 2),
        ([["send 1 8 B", "receive sender"], ["receive any", "send sender 8 B"]], 0),
    ],
)
def test_programs_that_wait_for_each_other_are_found_before_they_run(
    programs: list[list[str]], stuck: int
) -> None:
    if programs[0][-1] == "receive sender":
        programs = [["send 1 8 B", "receive 1"], programs[1]]
    compiled = compile(operations(*programs))
    assert compiled.programs is not None
    assert len(waits_for_ever(compiled.programs)) == stuck
    assert compiled.deadlock.free == (stuck == 0)
    ended = run(compiled).summary["end"]["reason"]
    assert (ended == "deadlocked") == (stuck > 0)


_STEP = st.tuples(st.sampled_from(["send", "receive"]), st.integers(1, 2))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(_STEP, max_size=4), min_size=3, max_size=3))
def test_what_is_found_without_times_is_what_a_run_finds(steps: list[list[tuple[str, int]]]) -> None:
    programs = []
    for me, own in enumerate(steps):
        words = [(word, (me + away) % 3) for word, away in own]
        programs.append(
            [f"{word} {peer}{' 8 B' if word == 'send' else ''}" for word, peer in words] or ["wait 1 us"]
        )
    try:
        compiled = compile(operations(*programs))
    except ValueError:
        return  # a receive for which nothing is sent is refused before
    reason = run(compiled).summary["end"]["reason"]
    assert (reason == "deadlocked") == (not compiled.deadlock.free)


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
    proved(graph, table, lanes)
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
    table = routing.build(graph, "minimal-layers", lanes=3)
    assert table.note == "all minimal paths in 2 layers of lanes"
    between = (graph.link_source < graph.switches) & (graph.link_target < graph.switches)
    loads = routing.channel_loads(graph, table)[between]
    assert 1 / loads.max() == pytest.approx(0.755, abs=0.001)
    assert routing.build(graph).kind == "up-star-down-star"


def test_the_cycle_of_a_large_network_is_one_that_packets_can_close() -> None:
    """It is looked for before all packets have been followed."""
    graph = topology.build("dragonfly", switches_per_group=12, global_links=6, terminals_per_switch=1)
    table = routing.build(graph, "shortest-path").full()
    cycle = routing.dependency_cycle(graph, table)
    assert cycle is not None
    group = np.repeat(np.arange(table.groups), np.diff(table.group_start))

    def aims(link: int) -> np.ndarray:
        """The terminals for which packets take a link."""
        entries = table.rows[graph.link_source[link]]
        holds = np.zeros(table.groups, bool)
        holds[group[table.group_links == link]] = True
        return (entries != routing.NONE) & holds[np.minimum(entries >> 1, table.groups - 1)]

    for before, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        assert graph.link_target[before] == graph.link_source[after]
        assert (aims(before) & aims(after)).any()


@pytest.mark.parametrize("lanes", [2, 3, 8])
def test_paths_between_groups_take_one_link_between_groups_with_lanes(lanes: int) -> None:
    graph = topology.build("dragonfly", **DRAGONFLY)
    table = routing.build(graph, lanes=lanes)
    assert (table.kind, table.note) == ("hops", "minimal paths, a lane per global link, in 2 layers of lanes")
    between = (graph.link_source < graph.switches) & (graph.link_target < graph.switches)
    assert routing.channel_loads(graph, table)[between].max() <= 1


def test_layers_do_not_go_with_other_choices_of_lanes() -> None:
    graph = topology.build("dragonfly", **DRAGONFLY)
    table = routing.build(graph, "minimal-layers", lanes=2)
    with pytest.raises(routing.RoutingError, match="leave lane_choice out"):
        routing.divide(graph, table, 2, "destination")
    with pytest.raises(routing.RoutingError, match="needs 2 lanes, and there are 1"):
        routing.divide(graph, routing.build(graph, "minimal-layers", lanes=2), 1, None)
    with pytest.raises(routing.RoutingError, match="need a lane each, and there is one") as found:
        routing.build(graph, "minimal-layers", universal=True, lanes=1)
    assert (found.value.lanes, found.value.hint) == (2, "set technology.lanes = 2")


@pytest.mark.parametrize(
    ("technology", "more", "advised"),
    [
        ({"preset": "spacewire-200"}, {}, "links of spacewire-200 have one lane"),
        ({"preset": "generic"}, {}, "set technology.lanes = 2"),
        (
            {"preset": "generic", "lane_sharing": "packet"},
            {},
            'set technology.lane_sharing = "flit" and technology.lanes = 2',
        ),
        (
            {"preset": "generic", "lanes": 2, "lane_sharing": "packet"},
            {},
            'set technology.lane_sharing = "flit": a packet that waits keeps the wire from other lanes',
        ),
        (
            {"preset": "generic", "lanes": 2},
            {"traffic_class": [{"from": [0], "lanes": [0]}]},
            "give each traffic class 2 of technology.lanes = 4",
        ),
        (
            {"preset": "generic", "lanes": 2},
            {"after_fault": {"delay": "1 us", "own_lanes": True}},
            "set technology.lanes = 4",
        ),
    ],
)
def test_what_is_advised_where_lanes_are_too_few(
    technology: dict[str, Any], more: dict[str, Any], advised: str
) -> None:
    given = {"topology": {"kind": "torus", "shape": [4, 4]}, "technology": technology}
    with pytest.raises(ScenarioError) as found:
        compile(Scenario.from_dict({**given, "routing": {"kind": "valiant", **more}, **flows((0, 1))}))
    assert found.value.hint.startswith(advised)


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
    assert "Smallest change: " in route_choices.smallest_change(found)
    free = [one for one in found["others"] if one["free"]]
    kinds = {"dimension-order", "up-star-down-star", "minimal-layers", "hops", "valiant"}
    assert {one["kind"] for one in free} >= kinds
    assert found["lanes_needed"][0][1] <= found["lanes_enough"][0]
    assert "Lanes for minimal paths" in route_choices.lanes_said(found)
    for one in free:
        compiled = compile(load(tmp_path / "net.toml").with_settings(one["settings"]))
        assert compiled.routes.cycle is None


def test_what_is_to_write_leaves_nothing_of_another_routing(tmp_path: Path) -> None:
    minimal = 'kind = "dimension-order"\nvariant = "minimal"'
    path = written(tmp_path, RING.replace('kind = "shortest-path"', minimal))
    others = [
        one for one in route_choices.look(load(path))["others"] if "technology.lanes" not in one["settings"]
    ]
    assert "\"routing={kind='up-star-down-star'}\"" in [one["write"] for one in others]
    for one in others:
        words = [one["write"].strip('"')] if one["write"].startswith('"') else one["write"].split()
        said = command("route", path, "--json", *(part for word in words for part in ("--set", word)))
        assert json.loads(said.stdout)["present"]["free"] == one["free"]


def test_only_networks_with_switches_have_routes_to_choose(tmp_path: Path) -> None:
    ends, cable = [{"id": name, "kind": "terminal"} for name in "ab"], [{"source": "a", "target": "b"}]
    by = [{"source": "a", "target": "s"}, {"source": "s", "target": "b"}]
    (tmp_path / "cable.json").write_text(json.dumps({"nodes": ends, "links": cable}))
    (tmp_path / "by.json").write_text(
        json.dumps({"nodes": [*ends, {"id": "s", "kind": "switch"}], "links": by})
    )
    text = 'topology = { kind = "file", path = "cable.json" }\ntraffic = { load = 0.1 }\n'
    with pytest.raises(ScenarioError, match="on a cable between two terminals nothing is routed"):
        route_choices.look(load(written(tmp_path, text)))
    planes = ", ".join(
        f'{{ name = "{name}", network = {{ kind = "file", path = "{name}.json" }} }}'
        for name in ("cable", "by")
    )
    text = f'topology = {{ kind = "planes", planes = [{planes}] }}\ntraffic = {{ load = 0.1 }}\n'
    assert route_choices.look(load(written(tmp_path, text)))["lanes_needed"] == [[1, 1], [1, 1]]


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


def test_packets_that_escape_by_detours_and_come_back_are_a_cycle() -> None:
    ring = {"topology": {"kind": "torus", "shape": [6]}, "technology": {"preset": "generic", "lanes": 4}}
    routing = {"kind": "up*/down*", "lane_choice": "escape"}
    found = compile(Scenario.from_dict({**ring, "routing": routing, "run": {"duration": "20 us"}}))
    assert len(found.deadlock.cycle) > 2


def test_the_links_on_a_way_are_those_of_the_traffic_by_all_planes() -> None:
    """Three links between switches and two of terminals on the ring, and two over the crossbar."""
    networks = {"ring": {"kind": "ring", "switches": 6}, "bar": {"kind": "crossbar", "terminals": 6}}
    planes = [{"name": name, "network": one} for name, one in networks.items()]
    traffic = {"pattern": {"kind": "shift", "by": 3}, "load": 0.1}
    several = Scenario.from_dict({"topology": {"kind": "planes", "planes": planes}, "traffic": traffic})
    found = route_choices.look(several)["present"]["mean_links"]
    assert found == pytest.approx((5 + 2) / 2)
    assert found == inspect(several)["network"]["mean_links_on_the_way"]
