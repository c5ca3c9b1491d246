"""Bounds by the periods of flows: by hand, never exceeded whatever the arbiter, priorities and time-codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fabriloom import simulate
from fabriloom.bounds import Bounds, bound
from fabriloom.scenario import Scenario, ScenarioError

from .test_requirements import SPACEWIRE, Table, flow, scenario


def ticks(found: Bounds, row: int) -> float:
    total = found.periods.totals[row]
    assert isinstance(total, float)
    return total


def test_two_flows_to_one_terminal_wait_for_one_packet_of_each_other() -> None:
    """By hand: of each flow one packet, which costs its characters, the delays of the links that count, and
    those of its way.
    """
    found = bound(scenario([flow(0, 3, "1 ms"), flow(1, 3, "1 ms"), flow(2, 1, "1 ms")]))
    network, character = found.worst.network, 50_000 // found.compiled.tick_ps
    way = {
        source: [network.out_link[source], found.worst.hops[source][network.out_link[source]][0]]
        for source in (0, 1)
    }
    once = {source: [int(network.costs.once[link]) for link in links] for source, links in way.items()}
    own = 202 * character + 2 * sum(once[0])
    other = 202 * character + sum(once[1]) + once[1][1]
    assert ticks(found, 0) == own + other
    assert [share.packets for share in found.periods.shares[0]] == [1, 1]
    assert ticks(found, 2) == 202 * character + 2 * sum(once[0])


def test_a_shorter_period_lets_more_packets_be_in_the_way() -> None:
    shares = []
    for period in ("1 ms", "100 us", "30 us"):
        found = bound(scenario([flow(0, 3, "1 ms"), flow(1, 3, period)]))
        shares.append(sum(share.packets for share in found.periods.shares[0] if share.row == 1))
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_without_periods_or_with_too_much_there_is_none() -> None:
    random = bound(
        scenario([flow(0, 3, "1 ms"), {"source": 1, "target": 3, "length": "64 B", "rate": "1 Mbit/s"}])
    )
    assert random.periods.totals[0] == "a flow that can be in its way makes packets at random"
    full = bound(scenario([flow(0, 3, "12 us"), flow(1, 3, "12 us")]))
    assert full.periods.totals == ["in the worst case more is made than can leave"] * 2


@pytest.mark.parametrize(
    "more",
    [{"technology": {**SPACEWIRE, "arbiter": "fixed"}}, {"routing": {"high_priority": [1]}}],
    ids=["arbiter", "priorities"],
)
def test_what_the_recursion_leaves_open_has_a_bound_with_periods(more: Table) -> None:
    found = bound(scenario([flow(0, 3, "1 ms", requirement="1 ms"), flow(1, 3, "1 ms")], **more))
    assert "no bound without periods" in found.doubt
    assert found.table["bound_ns"].to_list() == [None, None]
    assert [one.bound_ns for one in found.promises] == [ticks(found, 0) * found.tick_ns]
    with pytest.raises(ScenarioError, match="without periods"):
        bound(scenario([{"source": 0, "target": 3, "length": "64 B", "rate": "1 Mbit/s"}], **more))


def test_a_shaper_makes_its_flow_wait_and_others_less() -> None:
    """By hand: three of eight packets have tokens at once, the others wait 40 us each."""
    many = {**flow(1, 3, "1 ms", requirement="1 s"), "length": "100 B", "packets": 8}
    shaped = {**many, "shaper_rate": "20 Mbit/s", "shaper_burst": "300 B"}
    plain, found = (bound(scenario([flow(0, 3, "1 ms"), one])) for one in (many, shaped))
    assert found.periods.tokens == {0: 0.0, 1: 200_000_000 / found.compiled.tick_ps}
    in_way = [
        next(share.packets for share in one.periods.shares[0] if share.row == 1) for one in (plain, found)
    ]
    assert in_way[0] == 8
    assert 3 <= in_way[1] <= 5
    assert ticks(found, 0) < ticks(plain, 0)
    (promise,) = found.promises
    lines = found.blocked(promise).lines
    assert ("waits for the tokens of its shaper", 200_000.0) in [(line.words, line.time_ns) for line in lines]
    assert sum(line.time_ns for line in lines if not line.depth) == pytest.approx(promise.bound_ns)


def test_a_shaper_bounds_what_random_packets_do_to_others() -> None:
    random = {"source": 1, "target": 3, "length": "64 B", "rate": "1 Mbit/s", "shaper_rate": "2 Mbit/s"}
    found = bound(scenario([flow(0, 3, "1 ms"), random, {**flow(2, 3, "10 us"), "shaper_rate": "1 Mbit/s"}]))
    assert ticks(found, 0) > 0
    assert found.periods.totals[1:] == [
        "in the worst case more is made than its shaper lets through",
        "in the worst case more is made than its shaper lets through",
    ]


def drawn(seed: int) -> Scenario:
    """Periodic flows, on networks with one way between two links and with several, and every arbiter."""
    dice = np.random.default_rng(seed)
    shapes: list[tuple[Table, int, Table]] = [
        ({"kind": "crossbar", "terminals": 6}, 6, {}),
        ({"kind": "grid", "shape": [3, 3], "terminals_per_switch": 1}, 9, {}),
        ({"kind": "grid", "shape": [2, 3], "terminals_per_switch": 2, "links_per_edge": 2}, 12, {}),
        ({"kind": "ring", "switches": 5, "terminals_per_switch": 1}, 5, {"kind": "up*/down*"}),
        ({"kind": "clos", "terminals": 16}, 16, {"adaptive": bool(dice.integers(2))}),
    ]
    topology, terminals, routing = shapes[seed % len(shapes)]
    if dice.random() < 0.4:
        routing = {**routing, "high_priority": dice.choice(terminals, 2, replace=False).tolist()}
    more: Table = {}
    if dice.random() < 0.3:
        more["time_code"] = [
            {"master": int(dice.integers(terminals)), "every": f"{int(dice.integers(5, 60))} us"}
        ]
    flows = [_flow(dice, terminals) for _ in range(int(dice.integers(2, 14)))]
    arbiter = ("fifo", "round-robin", "fixed", "random")[int(dice.integers(4))]
    technology = {**SPACEWIRE, "arbiter": arbiter}
    return scenario(flows, topology=topology, technology=technology, routing=routing, seed=seed, **more)


def _flow(dice: np.random.Generator, terminals: int) -> dict[str, Any]:
    source, target = dice.choice(terminals, 2, replace=False).tolist()
    period_ns = int(dice.integers(60_000, 900_000))
    shaped = {
        "shaper_rate": f"{int(dice.integers(2_000, 40_000))} kbit/s",
        "shaper_burst": f"{int(dice.integers(500, 1500))} B",
    }
    return {
        "source": source,
        "target": target,
        "length": f"{int(dice.integers(1, 500))} B",
        "period": f"{period_ns} ns",
        "jitter": f"{int(dice.integers(0, period_ns))} ns",
        "packets": int(dice.integers(1, 3)),
        "requirement": "1 s",
        **(shaped if dice.random() < 0.3 else {}),
    }


@pytest.mark.seeds
def test_no_packet_takes_longer_than_the_periods_say(seeds: Callable[[int], Iterator[int]]) -> None:
    compared = 0
    for seed in seeds(40):
        one = drawn(seed)
        try:
            found = bound(one)
        except ScenarioError:
            continue
        latest = simulate.run(one).requirements["total_latency_ns_max"].to_list()
        for promise, late in zip(found.promises, latest, strict=True):
            total = found.periods.totals[promise.row]
            if late is not None and isinstance(total, float):
                compared += 1
                assert late <= total * found.tick_ns, f"seed {seed}: {promise.flow}"
    assert compared > 100
