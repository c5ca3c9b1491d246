"""Shortest paths with up*/down* or dimension order as escape: Duato's proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from fabriloom import Scenario, ScenarioError, run
from fabriloom.cli import check_certificate
from fabriloom.compile import compile
from fabriloom.studies import route_choices

from .common import proved

WHOLE = {"preset": "generic", "switching": "virtual-cut-through", "lane_sharing": "packet"}


def network(topology: dict[str, Any], routing: dict[str, Any], **more: Any) -> Scenario:
    """All terminals send as much as they can, through buffers of a few packets."""
    technology = {**WHOLE, "crossbar": "fast", "lanes": 2, "input_buffer_flits": 16, **more}
    sections: dict[str, Any] = {
        "topology": topology,
        "technology": technology,
        "routing": {"lane_choice": "escape-with-room", **routing},
        "traffic": {"length": "64 B", "arrivals": "backlog"},
        "run": {"duration": "40 us", "warmup": "1 us", "precision": 0},
    }
    return Scenario.from_dict({"name": "escape", "seed": 1, **sections})


def drawn(seed: int) -> Scenario:
    dice = Random(f"escape {seed}")
    topology = dice.choice(
        [
            {"kind": "jellyfish", "switches": 2 * dice.randint(3, 8), "degree": 3, "graph_seed": seed},
            {"kind": "slim_fly", "order": 3, "terminals_per_switch": dice.randint(1, 3)},
            {"kind": "dragonfly", "switches_per_group": 3, "global_links": 1},
            {"kind": "fat_tree", "arity": 3, "levels": 2},
            {"kind": "torus", "shape": [dice.randint(3, 6), dice.randint(3, 6)]},
            {"kind": "grid", "shape": [dice.randint(2, 6), dice.randint(2, 6)]},
        ]
    )
    shaped = topology["kind"] in ("torus", "grid") and dice.random() < 0.5
    routing = {"kind": "dimension-order" if shaped else "up*/down*"}
    least = 3 if shaped and topology["kind"] == "torus" else 2
    quantum = dice.choice([1, 3])
    technology = {
        "lanes": dice.randint(least, 4),
        "credit_quantum_flits": quantum,
        "input_buffer_flits": 9 + quantum - 1 + dice.choice([0, 1, 7, 30]),
        "output_buffer_flits": dice.randint(2, 9),
        "input_queues": dice.choice(["fifo", "per-output"]),
        "switching": dice.choice(["virtual-cut-through", "store-and-forward"]),
    }
    return network(topology, routing, **technology)


@pytest.mark.seeds
def test_what_can_escape_never_deadlocks(seeds: Callable[[int], Iterator[int]]) -> None:
    for seed in seeds(16):
        scenario = drawn(seed)
        proved(scenario, seed)
        summary = run(scenario).summary
        assert summary["end"]["reason"] in ("time_limit", "saturated"), (seed, summary["end"])
        assert summary["packets"]["delivered"] > 100, seed


def test_what_waits_for_a_packet_before_its_wire_is_no_deadlock() -> None:
    """The search once took this network to be deadlocked after 20 us; a longer run of it went on."""
    assert run(drawn(1286)).summary["end"]["reason"] == "time_limit"


def test_the_grid_that_deadlocks_without_room_does_not_with_it() -> None:
    grid = {"kind": "grid", "shape": [6, 6]}
    ends = [
        run(network(grid, {"kind": "dimension-order", "lane_choice": choice})).summary["end"]["reason"]
        for choice in ("escape", "escape-with-room")
    ]
    assert ends[0] == "deadlocked" != ends[1]


def test_a_certificate_has_escapes_from_switches_without_terminals() -> None:
    """Packets come to the roots of a tree by the other lanes, and may escape from there."""
    compiled = compile(network({"kind": "fat_tree", "arity": 3, "levels": 2}, {"kind": "up*/down*"}))
    (part,) = route_choices.proofs(compiled) or []
    pairs = {(vertex, destination) for vertex, destination, _ in part["routes"]}
    graph = compiled.graph
    ends = range(graph.switches, graph.switches + graph.terminals)
    assert pairs == {(switch, end) for switch in range(graph.switches) for end in ends}
    assert {lane for _, lane in part["order"]} == {0}
    part["order"].reverse()
    assert check_certificate.fault(part)


def test_packets_take_shortest_paths_while_there_is_room() -> None:
    """At a low load they arrive as early as by shortest paths, and links carry as much at most."""
    jellyfish = {"kind": "jellyfish", "switches": 40, "degree": 3, "terminals_per_switch": 2}
    few = {"traffic": {"length": "64 B", "load": 0.01}}
    kinds: list[dict[str, Any]] = [
        {"kind": "up*/down*"},
        {"kind": "up*/down*", "lane_choice": "any"},
        {"kind": "shortest-path", "lane_choice": "any"},
    ]
    scenarios = [network(jellyfish, kind).with_settings(few) for kind in kinds]
    escape, tree, shortest = (run(one).summary["latency_ns"]["mean"] for one in scenarios)
    assert escape == pytest.approx(shortest, rel=0.02)
    assert tree > 1.02 * escape
    looks = [route_choices.look(one)["present"]["mean_links"] for one in scenarios]
    assert looks[0] == looks[2] < looks[1]


def test_route_offers_it_where_packets_are_computed_as_one() -> None:
    jellyfish = {"kind": "jellyfish", "switches": 20, "degree": 4, "terminals_per_switch": 2}
    plain = {"kind": "shortest-path", "lane_choice": "any"}
    for sharing, offered in (("packet", True), ("flit", False)):
        others = route_choices.look(network(jellyfish, plain, lane_sharing=sharing))["others"]
        found = [one for one in others if "lane_choice" in one["settings"]["routing"]]
        assert [one["free"] for one in found] == [True] * offered


@pytest.mark.parametrize(
    ("routing", "technology", "message"),
    [
        ({"kind": "shortest-path"}, {}, "dimension-order or up-star-down-star routing"),
        ({"kind": "up*/down*"}, {"lanes": 1}, "takes at least 2 lanes, not 1"),
        ({"kind": "up*/down*"}, {"lane_sharing": "flit"}, "grants lanes to whole packets"),
        ({"kind": "up*/down*"}, {"switching": "wormhole"}, "grants lanes to whole packets"),
        (
            {"kind": "up*/down*"},
            {"pause_above_flits": 10, "pause_until_flits": 5},
            "not simulated together with switches that pause",
        ),
    ],
)
def test_what_cannot_be(routing: dict[str, Any], technology: dict[str, Any], message: str) -> None:
    jellyfish = {"kind": "jellyfish", "switches": 10, "degree": 3}
    with pytest.raises(ScenarioError, match=message):
        compile(network(jellyfish, routing, **technology))
