"""Shortest paths that cannot deadlock: with up*/down* or dimension order as escape, by Duato's proof; and
tori of one lane, into whose rings packets come only where a place stays free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario, ScenarioError, routing, run
from fabriloom.cli import check_certificate
from fabriloom.compile import Compiled, compile
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


def test_there_is_no_proof_where_an_escape_closes_a_cycle() -> None:
    """On the way packets may come back to a switch, which is a cycle and no error."""
    tree = {"kind": "fat_tree", "arity": 2, "levels": 3}
    compiled = compile(network(tree, {"kind": "up*/down*", "lane_choice": "escape"}, lanes=4))
    assert compiled.cycle is not None
    assert route_choices.proofs(compiled) is None


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


LONGEST = 8
"""Flits of the longest packet drawn here, with header and end."""


def bubble_network(topology: dict[str, Any], routing: dict[str, Any] | None = None, **more: Any) -> Scenario:
    """All terminals send as much as they can, short packets and long ones."""
    whole = {"switching": "virtual-cut-through", "lane_sharing": "packet", "crossbar": "fast"}
    minimal = {"kind": "dimension-order", "variant": "minimal", "lane_choice": "bubble", **(routing or {})}
    lengths = {"kind": "table", "lengths": ["8 B", "24 B", "64 B", "64 B"]}
    sections: dict[str, Any] = {
        "topology": topology,
        "technology": {"preset": "generic", **whole, "input_buffer_flits": 2 * LONGEST, **more},
        "routing": {name: value for name, value in minimal.items() if value is not None},
        "traffic": {"length": lengths, "arrivals": "backlog"},
        "run": {"duration": "15 us", "warmup": "1 us", "precision": 0},
    }
    return Scenario.from_dict({"name": "bubble", "seed": 1, **sections})


def drawn_torus(seed: int) -> Scenario:
    dice = Random(f"bubble {seed}")
    shape = [dice.randint(4, 6), *(dice.randint(2, 5) for _ in range(dice.choice([0, 1, 1, 2])))]
    ring = {"kind": "ring", "switches": dice.randint(4, 12)}
    torus = {"kind": "torus", "shape": shape}
    more = {"terminals_per_switch": dice.randint(1, 2), "links_per_edge": dice.choice([1, 1, 2])}
    quantum = dice.choice([1, 1, 4])
    technology = {
        "lanes": dice.choice([1, 1, 2, 3]),
        "credit_quantum_flits": quantum,
        "input_buffer_flits": 2 * LONGEST + quantum - 1 + dice.choice([0, 0, 5, 10, 30]),
        "output_buffer_flits": dice.choice([2, 9]),
        "router_cycles": dice.randint(0, 2),
        "arbiter": dice.choice(["round-robin", "random", "oldest-first", "fixed"]),
        "group_choice": dice.choice(["first", "least-recent", "random"]),
        "input_queues": dice.choice(["fifo", "per-output"]),
        "switching": dice.choice(["virtual-cut-through", "store-and-forward"]),
    }
    return bubble_network({**dice.choice([ring, torus, torus]), **more}, **technology)


def end_of(scenario: Scenario | Compiled) -> str:
    return str(run(scenario).summary["end"]["reason"])


@pytest.mark.seeds
def test_no_drawn_torus_deadlocks_but_without_the_rule(seeds: Callable[[int], Iterator[int]]) -> None:
    """If more than a quarter is stuck without the rule, 20 see a rule that is not kept but once in 300."""
    count = stuck = 0
    for count, seed in enumerate(seeds(20), 1):  # noqa: B007
        compiled = proved(drawn_torus(seed), seed)
        assert end_of(compiled) in ("time_limit", "saturated"), seed
        compiled.arrays["link_ring"][:] = routing.NONE
        stuck += end_of(compiled) == "deadlocked"
    assert stuck > count / 4


GRID = {"kind": "grid", "shape": [4, 4]}
RING = {"kind": "ring", "switches": 6, "links_per_edge": 2}


def certificate(topology: dict[str, Any]) -> dict[str, Any]:
    (part,) = route_choices.proofs(compile(bubble_network(topology))) or []
    assert check_certificate.fault(part) is None
    return part


def test_a_certificate_names_each_ring_once() -> None:
    part = certificate({"kind": "torus", "shape": [5, 4, 2]})
    assert sorted(map(len, part["rings"])) == [4] * 20 + [5] * 16
    ordered = {tuple(channel) for channel in part["order"]}
    assert all(len(ordered & {tuple(channel) for (channel,) in ring}) == 1 for ring in part["rings"])


def changed(part: dict[str, Any], change: Callable[[dict[str, Any]], Any]) -> str | None:
    other = deepcopy(part)
    change(other)
    return check_certificate.fault(other)


def test_a_wrong_certificate_of_rings_is_refused() -> None:
    part = certificate(RING)
    first, second = part["rings"]
    free = next(hop for hop in first if not any(channel in part["order"] for channel in hop))[0]
    wrong: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
        # Without one cable of two the ring is a circle, and that cable is not in the order.
        ("may be waited for", lambda it: [hop.remove(free) for hop in it["rings"][0] if free in hop]),
        ("not in the order once", lambda it: it.update(rings=[[*first, *second]])),
        ("is not one circle", lambda it: it.update(rings=[first[1:], second])),
        ("is not one circle", lambda it: it.update(rings=[[[], *first[1:]], second])),
        ("not in the order once", lambda it: it["order"].insert(0, free)),
        ("not in the order once", lambda it: it.update(rings=[first, second, first])),
        ("may be waited for", lambda it: it.pop("rings")),
        # With one cable of two a packet may wait for the full one.
        ("may be waited for", lambda it: [route[2].pop() for route in it["routes"] if len(route[2]) > 1]),
        ("may be waited for", lambda it: it["order"].reverse()),
    ]
    messages = [changed(part, change) or "" for _, change in wrong]
    assert all(said in message for (said, _), message in zip(wrong, messages, strict=True)), messages


def test_route_offers_it_for_tori_of_whole_packets() -> None:
    plain = {"lane_choice": "any"}
    for sharing, offered in (("packet", True), ("flit", False)):
        scenario = bubble_network({"kind": "torus", "shape": [5, 5]}, plain, lane_sharing=sharing, lanes=2)
        others = route_choices.look(scenario)["others"]
        found = [one["free"] for one in others if one["note"].endswith("a free place in each ring")]
        assert found == [True] * offered
    found = route_choices.look(bubble_network({"kind": "torus", "shape": [5, 5]}))
    said = route_choices.verdict(found["present"])
    assert said.startswith("cannot deadlock (dimension-order with a free place in each ring)")


def test_the_rings_of_planes_are_apart() -> None:
    shapes = {"a": [4, 3], "b": [3, 4]}
    planes = [{"name": name, "network": {"kind": "torus", "shape": one}} for name, one in shapes.items()]
    compiled = compile(bubble_network({"kind": "planes", "planes": planes}, {"variant": None}))
    rings = np.asarray(compiled.arrays["link_ring"])
    of_plane = [set(half[half != routing.NONE].tolist()) for half in np.split(rings, 2)]
    assert [len(one) for one in of_plane] == [14, 14]
    assert not of_plane[0] & of_plane[1]


@pytest.mark.parametrize(
    ("topology", "routing", "technology", "message"),
    [
        (GRID, {"variant": None}, {}, "a bubble is for the rings of a torus; this grid has none"),
        (RING, {"kind": "shortest-path", "variant": None}, {}, "dimension-order routing"),
        (RING, {"adaptive": False}, {}, "any of the cables between two switches: write adaptive = true"),
        (RING, {"universal": True}, {}, "does not go with universal routing"),
        (RING, {"traffic_class": [{"from": [0], "lanes": [0]}]}, {"lanes": 2}, "lanes of traffic classes"),
        (RING, {}, {"input_buffer_flits": 15}, "a bubble, which takes 2 packets: the longest packet has 8"),
        (RING, {}, {"lanes": 2, "lane_sharing": "flit"}, "bubble grants lanes to whole packets"),
        (RING, {}, {"switching": "wormhole"}, "bubble grants lanes to whole packets"),
        (RING, {}, {"pause_above_flits": 9, "pause_until_flits": 5}, "not simulated together with switches"),
    ],
)
def test_where_no_bubble_can_be(
    topology: dict[str, Any], routing: dict[str, Any], technology: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        compile(bubble_network(topology, routing, **technology))
