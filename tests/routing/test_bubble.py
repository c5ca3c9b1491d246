"""Tori of one lane on minimal paths, into whose rings packets come only where a place stays free."""

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

LONGEST = 8
"""Flits of the longest packet drawn here, with header and end."""


def network(topology: dict[str, Any], routing: dict[str, Any] | None = None, **more: Any) -> Scenario:
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


def drawn(seed: int) -> Scenario:
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
    return network({**dice.choice([ring, torus, torus]), **more}, **technology)


def end_of(scenario: Scenario | Compiled) -> str:
    return str(run(scenario).summary["end"]["reason"])


@pytest.mark.seeds
def test_no_drawn_torus_deadlocks_but_without_the_rule(seeds: Callable[[int], Iterator[int]]) -> None:
    count = stuck = 0
    for count, seed in enumerate(seeds(40), 1):  # noqa: B007
        compiled = proved(drawn(seed), seed)
        assert end_of(compiled) in ("time_limit", "saturated"), seed
        compiled.arrays["link_ring"][:] = routing.NONE
        stuck += end_of(compiled) == "deadlocked"
    assert stuck > count / 4


GRID = {"kind": "grid", "shape": [4, 4]}
RING = {"kind": "ring", "switches": 6, "links_per_edge": 2}


def certificate(topology: dict[str, Any]) -> dict[str, Any]:
    (part,) = route_choices.proofs(compile(network(topology))) or []
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
        scenario = network({"kind": "torus", "shape": [5, 5]}, plain, lane_sharing=sharing, lanes=2)
        others = route_choices.look(scenario)["others"]
        found = [one["free"] for one in others if one["note"].endswith("a free place in each ring")]
        assert found == [True] * offered
    said = route_choices.verdict(route_choices.look(network({"kind": "torus", "shape": [5, 5]})))
    assert said.startswith("cannot deadlock (dimension-order with a free place in each ring)")


def test_the_rings_of_planes_are_apart() -> None:
    shapes = {"a": [4, 3], "b": [3, 4]}
    planes = [{"name": name, "network": {"kind": "torus", "shape": one}} for name, one in shapes.items()]
    compiled = compile(network({"kind": "planes", "planes": planes}, {"variant": None}))
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
def test_what_cannot_be(
    topology: dict[str, Any], routing: dict[str, Any], technology: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        compile(network(topology, routing, **technology))
