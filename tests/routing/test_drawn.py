"""A packet waits for one link of its group: one that it draws, or its source's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import run
from fabriloom.bounds import bound
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError

Table = dict[str, Any]
STAR: Table = {"kind": "star", "arms": 2, "terminals_per_switch": 4, "links_per_edge": 3}


def scenario(choice: str = "drawn", topology: Table = STAR, **more: Any) -> Scenario:
    routing, traffic = more.pop("routing", {}), more.pop("traffic", {"load": 0.02, "length": "64 B"})
    return Scenario.from_dict(
        {
            "seed": 1,
            "topology": topology,
            "technology": {"preset": "generic", "group_choice": choice, **more},
            "routing": routing,
            "traffic": traffic,
            "run": {"duration": "400 us", "warmup": "0 ns", "precision": 0},
        }
    )


WHOLE: Table = {"switching": "virtual-cut-through", "lane_sharing": "packet", "crossbar": "fast"}


@pytest.mark.parametrize(
    "technology",
    [
        {},
        {"lanes": 2},
        {**WHOLE, "output_buffer_flits": 9, "input_queues": "per-output"},
        {"switching": "store-and-forward", "lanes": 2, "input_queues": "per-output"},
    ],
    ids=["wormhole", "lanes", "whole packets", "lanes and queues"],
)
def test_links_of_a_group_carry_equal_shares(technology: Table) -> None:
    """Also at a load at which the first link is nearly always free."""
    technology = {"input_buffer_flits": 32, **technology}
    links = run(scenario(**technology)).links
    packets = links.filter(links["target"] == "centre").sort("link")["packets"].to_numpy().reshape(-1, 3)
    mean = packets.sum(axis=1, keepdims=True) / 3
    assert (mean > 300).all()
    assert (np.abs(packets - mean) < 4 * np.sqrt(mean * 2 / 3)).all(), packets


def test_a_packet_waits_for_its_link_while_others_are_free() -> None:
    """Two packets at a time for two links: half of the pairs draw one link."""
    assert (
        run(scenario()).summary["latency_ns"]["mean"] > run(scenario("first")).summary["latency_ns"]["mean"]
    )


def test_a_bound_has_every_input_wait_for_the_same_link() -> None:
    """With as many links as inputs none waits for a free one; that which it draws may be wanted by all."""
    flows = [
        {"source": f"t(0).{k}", "target": f"t(1).{k}", "length": "64 B", "period": "9 us"} for k in range(3)
    ]
    two = {"kind": "grid", "shape": [2], "terminals_per_switch": 3, "links_per_edge": 3}
    drawn, first = (
        bound(scenario(choice, two, traffic={"pattern": {"kind": "flows", "flows": flows}})).worst
        for choice in ("drawn", "first")
    )
    own = drawn.first(0)
    links = drawn.hops[0][own]
    held = {came: most for came, (most, _) in drawn.competing[links[0]].items()}
    more = drawn.asked(own, links, 0) - first.asked(own, links, 0)
    assert more == sum(held.values()) - held[own] > 0
    assert drawn.delay(0) >= first.delay(0) + more


TREES: dict[str, Table] = {
    "of three levels": {"kind": "fat_tree", "arity": 4, "levels": 3},
    "thinner above": {"kind": "xgft", "children": [4, 4, 3], "parents": [1, 2, 2]},
    "with parallel cables": {
        "kind": "clos",
        "terminals": 32,
        "terminals_per_switch": 8,
        "centre_switches": 4,
    },
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_all_packets_of_a_source_go_up_by_the_same_links(tree: Table) -> None:
    """s-mod-k: and each link up serves as many sources as the others of its level."""
    found = compile(scenario("source", tree))
    graph, arrays = found.graph, found.arrays
    level = np.asarray(graph.layout["levels"])
    assert len(arrays["group_parts"])
    sources = [set[int]() for _ in range(graph.links)]
    for source in range(graph.terminals):
        for target in range(graph.terminals):
            switch = int(graph.terminal_entry_switches[source])
            own = list[int]()
            while switch < graph.switches:
                own.append(link_of(arrays, switch, target, source))
                switch = int(graph.link_target[own[-1]])
            assert switch == graph.switches + target
            for link in own[:-1]:
                if level[graph.link_target[link]] > level[graph.link_source[link]]:
                    sources[link].add(source)
    inner = graph.switch_links
    up = inner[level[graph.link_target[inner]] > level[graph.link_source[inner]]]
    for height in range(int(level.max())):
        shares = {len(sources[link]) for link in up.tolist() if level[graph.link_source[link]] == height}
        assert len(shares) == 1, (height, shares)


def link_of(arrays: Table, switch: int, target: int, source: int) -> int:
    """The link that a packet takes, from the columns of the engine."""
    classes = len(arrays["route"]) // len(arrays["switch_choice"])
    group = int(arrays["route"][switch * classes + int(arrays["terminal_class"][target])]) >> 1
    first, last = arrays["group_part_start"][group : group + 2]
    if last > first:
        place = source // int(arrays["group_part_sources"][group]) % int(last - first)
        group = int(arrays["group_parts"][first + place])
    (lane,) = arrays["group_links"][slice(*arrays["group_start"][group : group + 2])]
    return int(lane)


def test_without_a_choice_of_links_it_says_so() -> None:
    warnings = compile(scenario(routing={"adaptive": False})).warnings
    assert any(warning.startswith('group_choice = "drawn" has no effect') for warning in warnings)
    assert not any("drawn" in warning for warning in compile(scenario()).warnings)


@pytest.mark.parametrize("lane_choice", ["escape", "escape-with-room"])
def test_not_where_a_packet_must_be_able_to_take_any(lane_choice: str) -> None:
    torus = {"kind": "torus", "shape": [3, 3], "links_per_edge": 2}
    routing = {"kind": "dimension-order", "variant": "minimal", "lane_choice": lane_choice}
    more = {**WHOLE, "lanes": 3, "input_buffer_flits": 60, "output_buffer_flits": 33}
    with pytest.raises(ScenarioError, match=f"{lane_choice} is for packets that take any free lane"):
        compile(scenario(topology=torus, routing=routing, **more))
