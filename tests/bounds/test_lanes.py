"""Guaranteed delays on links of several lanes, with credit of whole packets, frames and pause: by hand, and
never exceeded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import simulate
from fabriloom.bounds import STARVED, Bounds, bound
from fabriloom.cli.app import app
from fabriloom.report import for_run
from fabriloom.routing import NONE
from fabriloom.scenario import Scenario, ScenarioError
from typer.testing import CliRunner

Table = dict[str, Any]
FLITS = 400
"""Of the longest packets: long beside all delays, so that a bound that forgets something is exceeded."""
TWO: list[Table] = [{"from": [0], "lanes": [0]}, {"from": [1], "lanes": [1]}]


def written(flows: list[Table], classes: list[Table] | None = None, **technology: Any) -> Table:
    return {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "generic", "crossbar": "fast", **technology},
        "routing": {"traffic_class": classes} if classes else {},
        "traffic": {"pattern": {"kind": "flows", "flows": flows}},
        "run": {"duration": "60 us", "warmup": "0 ns", "precision": 0},
    }


def scenario(flows: list[Table], classes: list[Table] | None = None, **technology: Any) -> Scenario:
    return Scenario.from_dict(written(flows, classes, **technology))


def flow(source: int, target: int, flits: int, period: str = "20 us", **more: Any) -> Table:
    return {"source": source, "target": target, "length": f"{8 * flits} B", "period": period, **more}


def both(**technology: Any) -> Bounds:
    """Two flows of which each has a lane of the link that both take last."""
    return bound(scenario([flow(0, 3, 60), flow(1, 3, 20)], TWO, lanes=2, **technology))


def last_link(found: Bounds, flow: int) -> int:
    worst = found.worst
    return worst.hops[flow][worst.first(flow)][0]


def test_a_class_has_its_lane_and_its_own_link_has_all() -> None:
    found = both()
    assert [link % 2 for link in (last_link(found, 0), last_link(found, 1))] == [0, 1]
    assert last_link(found, 0) // 2 == last_link(found, 1) // 2
    assert found.worst.hops[0][NONE] == (0, 1)


@pytest.mark.parametrize(
    ("technology", "flit", "once"),
    [
        ({}, 2, 1),
        (
            {"lane_sharing": "frame", "frame_flits": 30, "output_buffer_flits": 99, "input_buffer_flits": 99},
            2,
            30,
        ),
        ({"lane_sharing": "packet", "switching": "virtual-cut-through", "input_buffer_flits": 61}, 1, 20),
    ],
    ids=["flit", "frame", "packet"],
)
def test_a_lane_waits_for_one_turn_of_the_other(technology: Table, flit: int, once: int) -> None:
    """By hand: a flit, a frame of 30, or the longest packet of the other lane, 20 flits; each lane has
    half of the wire but for whole packets.
    """
    found = both(**technology)
    alone = bound(scenario([flow(0, 3, 60), flow(0, 2, 20)], lanes=1, **technology))
    link = last_link(found, 0)
    costs, other = found.worst.network.costs, alone.worst.network.costs
    character = int(other.character[link // 2])
    assert costs.character[link] == flit * character
    header = 3 * (costs.character[link] - character)
    assert costs.once[link] - header == other.once[link // 2] + once * character


def test_a_packet_that_is_stored_crosses_each_wire_whole() -> None:
    through, stored = (
        bound(scenario([flow(0, 3, 60)], switching=switching, input_buffer_flits=61))
        for switching in ("virtual-cut-through", "store-and-forward")
    )
    first = through.worst.first(0)
    ticks = 60 * int(through.worst.network.costs.character[first])
    assert stored.worst.service[first, 0] == through.worst.service[first, 0] + ticks


def test_a_pause_leaves_more_in_a_buffer_than_its_threshold() -> None:
    paused = {"pause_above_flits": 100, "input_buffer_flits": 400, "lane_sharing": "packet"}
    found = bound(scenario([flow(0, 3, 60)], switching="store-and-forward", **paused))
    assert found.worst.ahead[found.worst.first(0)] == 1 + (100 + 2 * 60 + 2 - 1) // 60
    with pytest.raises(ScenarioError, match="a real switch can lose packets"):
        bound(
            scenario([flow(0, 3, 60)], switching="store-and-forward", **paused | {"input_buffer_flits": 150})
        )


def test_the_highest_priority_waits_for_a_turn_and_the_others_for_packets() -> None:
    """Without periods only the former has a bound, whatever the others send."""
    greedy = {"source": 1, "target": 3, "length": "480 B", "rate": "1 Gbit/s"}
    ranks = {"lanes": 2, "lane_priority": [0, 1], "output_buffer_flits": 4}
    found = bound(scenario([flow(0, 3, 60, requirement="1 us"), greedy], TWO, **ranks))
    link = last_link(found, 0)
    assert found.sent(1) is None
    assert found.waited[1] == STARVED
    assert found.worst.network.costs.character[link] == 1, "of the lower ones, one flit alone is in the way"
    periodic = bound(scenario([flow(0, 3, 60), flow(1, 3, 60)], TWO, **ranks))
    low = periodic.periods.shares[1]
    assert {share.row: share.packets for share in low} == {0: 1, 1: 1}
    assert next(share.ticks for share in low if share.row == 0) == 60, "nothing but its flits on the wire"
    random = scenario(
        [greedy, greedy | {"source": 0}], TWO, lanes=2, lane_arbiter="weighted", lane_low="0:1,1:9"
    )
    with pytest.raises(ScenarioError, match=STARVED):
        bound(random)


WHOLE: Table = {
    "lanes": 2,
    "lane_sharing": "packet",
    "switching": "virtual-cut-through",
    "input_buffer_flits": 40,
}
PARALLEL: Table = {"kind": "grid", "shape": [2], "terminals_per_switch": 2, "links_per_edge": 2}
REFUSED: dict[str, tuple[Table, Table, str]] = {
    "crossbar": ({"lanes": 2, "crossbar": "link-rate"}, {}, "share a crossbar as fast as a link"),
    "packets": ({"lanes": 2, "lane_sharing": "packet"}, {}, "keeps a link from other lanes while it cannot"),
    "drawn": ({"lanes": 2, "group_choice": "drawn"}, {"topology": PARALLEL}, "draw a link of several lanes"),
    "room": (
        WHOLE,
        {"topology": PARALLEL, "routing": {"lane_choice": "escape-with-room"}},
        "waits for room behind a lane",
    ),
    "congestion": (
        {"input_queues": "per-output", **WHOLE},
        {"congestion_control": {}},
        "no bound with congestion control",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_bound_is_refused(name: str) -> None:
    technology, more, words = REFUSED[name]
    with pytest.raises(ScenarioError, match=words):
        bound(Scenario.from_dict(written([flow(0, 3, 8)], **technology) | more))


def test_a_command_and_a_report_name_the_lanes(tmp_path: Path) -> None:
    """Lanes have more numbers than links."""
    flows = [flow(0, 3, 60, requirement="5 us"), flow(1, 3, 20, requirement="5 us")]
    found = scenario(flows, TWO, lanes=2)
    (tmp_path / "net.json").write_text(json.dumps(found.resolve()))
    ran = CliRunner().invoke(app, ["bound", str(tmp_path / "net.json"), "--tries", "0", "--strict", "--json"])
    assert ran.exit_code == 0, ran.output
    document = json.loads(ran.stdout)
    assert [one["verdict"] for one in document["requirements"]] == ["guaranteed"] * 2
    links = {part["link"] for part in document["largest"]["parts"]}
    assert links == {"lane 0 of t.0>s", "lane 0 of s>t.3"}
    results = simulate.run(found)
    assert results.blocking is not None
    assert len(results.blocking.links) == results.graph.links
    assert set(results.requirements["verdict"]) == {"guaranteed"}
    assert "Who delays" in for_run(results)


def test_a_negative_number_of_tries_is_an_error() -> None:
    with pytest.raises(ValueError, match="tries is -1; give a whole number from 0"):
        bound(scenario([flow(0, 3, 8)]), tries=-1)


def _wires(dice: np.random.Generator, lanes: int, longest: int) -> Table:
    """How lanes share links, and how packets are switched."""
    pick: Callable[..., Any] = lambda *some: some[int(dice.integers(len(some)))]  # noqa: E731
    found: Table = {"lanes": lanes, "lane_sharing": pick("flit", "packet", "frame")}
    found |= {"output_buffer_flits": pick(1, 2, 64), "input_buffer_flits": pick(2, 8, 64)}
    by_packet = found["lane_sharing"] == "packet"
    found["switching"] = pick("wormhole", "virtual-cut-through", "store-and-forward")
    if by_packet and lanes > 1 and found["switching"] == "wormhole":
        found["switching"] = "virtual-cut-through"
    if found["switching"] != "wormhole":
        found |= {"input_buffer_flits": longest * pick(1, 2), "input_queues": pick("fifo", "per-output")}
        if by_packet and dice.random() < 0.4:
            found |= {"pause_above_flits": pick(1, longest), "input_buffer_flits": 4 * longest}
    if found["lane_sharing"] == "frame":
        found |= {"frame_flits": pick(1, 16), "frame_start_flits": pick(0, 1), "physical_lanes": pick(1, 3)}
        found |= {"output_buffer_flits": 64, "frame_end_flits": pick(0, 2)}
    order = pick("turns", "turns", "turns", "fixed", "reserved", "weighted") if lanes > 1 else "turns"
    if order == "reserved":
        shares = [pick(0, 0.1, 0.4) for _ in range(lanes)]
        found |= {"lane_arbiter": order, "lane_reserved": shares, "lane_credit_limit_flits": pick(4, 1024)}
    elif order == "weighted":
        found |= {
            "lane_arbiter": order,
            "lane_low": ",".join(f"{lane}:{pick(1, 9)}" for lane in range(lanes)),
        }
    elif order == "fixed":
        found["lane_arbiter"] = order
    if order in ("turns", "reserved") and dice.random() < 0.4:
        found["lane_priority"] = [pick(0, 1, 2) for _ in range(lanes)]
    return found


def _star(dice: np.random.Generator, terminals: int) -> Table:
    """Terminals at one switch, by cables of several rates."""
    rates = dice.choice(["64 Gbit/s", "32 Gbit/s", "16 Gbit/s"], terminals).tolist()
    nodes = [{"id": f"t{at}", "kind": "terminal"} for at in range(terminals)]
    cables = [{"source": f"t{at}", "target": "s", "rate": rate} for at, rate in enumerate(rates)]
    return {"nodes": [*nodes, {"id": "s", "kind": "switch"}], "links": cables}


def drawn(seed: int) -> Scenario:
    """Long packets that meet at once, on small networks of all kinds of links."""
    dice = np.random.default_rng(seed)
    terminals, lanes = int(dice.integers(2, 6)), int(dice.integers(1, 5))
    longest = int(dice.choice([30, FLITS]))
    pairs = [dice.choice(terminals, 2, replace=False).tolist() for _ in range(int(dice.integers(1, 6)))]
    flows = [
        flow(source, 0 if source and dice.random() < 0.7 else target, longest, f"{dice.integers(9, 40)} us")
        for source, target in pairs
    ]
    senders = sorted({one["source"] for one in flows})
    classes = [
        {"from": [source], "lanes": [lane]} for lane, source in zip(range(1, lanes), senders, strict=False)
    ]
    found = written(flows, classes if dice.random() < 0.7 else [], **_wires(dice, lanes, longest))
    per_switch = -(-terminals // 2)
    line = {"kind": "grid", "shape": [2], "terminals_per_switch": per_switch}
    found["topology"] = {"kind": "crossbar", "terminals": terminals} if dice.random() < 0.6 else line
    if dice.random() < 0.3 and found["technology"]["lane_sharing"] != "frame":
        found["topology"] = {"kind": "inline", "content": json.dumps(_star(dice, terminals))}
    return Scenario.from_dict({**found, "seed": seed, "output": {"flows": True, "trace": True}})


@pytest.mark.seeds
def test_no_packet_exceeds_its_bound(seeds: Callable[[int], Iterator[int]]) -> None:
    compared, largest = 0, 0.0
    for seed in seeds(40):
        try:
            found = bound(drawn(seed), tries=4)
        except ScenarioError:
            continue
        shares = [found.table[name].drop_nulls() for name in ("found_share", "periods_found_share")]
        compared += sum(map(len, shares))
        largest = max([largest, *(share.max() for share in shares if len(share))])
        assert all((share <= 1).all() for share in shares), f"seed {seed}"
        for number in range(len(found.worst.flows)):
            if (sent := found.sent(number)) is not None:
                assert sum(part.ticks for part in found.blocking(number, 2)) == sent, f"seed {seed}"
        table = simulate.run(found.compiled).flows
        assert (table["latency_ns_max"] <= table["bound_ns"]).all(), f"seed {seed}"
    print(f"{compared} bounds, the longest time {largest:.2f} of its bound")
    assert compared > 40
