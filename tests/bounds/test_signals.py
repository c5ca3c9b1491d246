"""Guarantees beside time-codes and interrupts: by hand, never exceeded, and refused where there are none.

Bounds beside codes where much goes wrong at once: slow links, short packets, small and large buffers, data
sheets with clocks, and codes whose first times are searched with those of the packets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fabriloom import simulate
from fabriloom.bounds import Bounds, bound
from fabriloom.routing import RoutingError
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.topology import GraphError

from .test_requirements import SPACEWIRE, Table, flow, scenario

CODE_NS = 14 / 0.2


def added_ns(found: list[Bounds]) -> list[float]:
    """What codes add to both bounds of the first flow."""
    plain, coded = found
    by_recursion = [one.worst.delay(0) for one in (plain, coded)]
    by_periods = [float(one.periods.totals[0]) for one in (plain, coded)]
    return [(after - before) * plain.tick_ns for before, after in (by_recursion, by_periods)]


def test_a_code_adds_its_time_on_each_link_that_it_takes() -> None:
    """By hand: of the two links of the packet, a code from elsewhere takes only the second; and so long a
    period lets one code come.
    """
    flows = [flow(0, 3, "1 ms")]

    def beside(**more: Any) -> list[float]:
        return added_ns([bound(scenario(flows)), bound(scenario(flows, **more))])

    assert beside(time_code=[{"master": 1, "every": "1 ms"}]) == pytest.approx([CODE_NS] * 2)
    assert beside(time_code=[{"master": 0, "every": "1 ms"}]) == pytest.approx([2 * CODE_NS] * 2)
    assert beside(time_code=[{"master": 3, "every": "1 ms"}]) == [0, 0], "it goes the other way"
    interrupts = [{"source": source, "number": 5, "every": "1 ms"} for source in (0, 1)]
    assert beside(interrupt=interrupts) == pytest.approx([3 * CODE_NS] * 2)


def test_the_codes_of_a_long_delay_are_counted() -> None:
    """By hand: the packet of 200 B needs 10 us, a code every 2 us comes six times, and one is on its way."""
    flows = [flow(0, 3, "1 ms")]
    coded = bound(scenario(flows, time_code=[{"master": 1, "every": "2 us"}]))
    plain = bound(scenario(flows))
    by_recursion, by_periods = (round(one / CODE_NS) for one in added_ns([plain, coded]))
    delay_us = coded.worst.delay(0) * coded.tick_ns / 1e3
    assert delay_us // 2 + 1 <= by_recursion <= delay_us // 2 + 2
    assert by_periods == 7


def test_codes_are_a_part_of_each_explanation() -> None:
    flows = [flow(0, 3, "1 ms", requirement="1 ms"), flow(1, 3, "900 us")]
    found = bound(scenario(flows, time_code=[{"master": 1, "every": "3 us"}]))
    parts = found.blocking(0, 2)
    assert parts[-1].kind == "codes"
    assert sum(part.ticks for part in parts) == found.worst.delay(0)
    lines = found.blocked(found.promises[0]).lines
    assert [line.words for line in lines if line.depth == 0][-1] == "time-codes and interrupts"
    assert sum(line.time_ns for line in lines if line.depth == 0) == pytest.approx(found.promises[0].bound_ns)


def test_a_bound_of_hours_is_prolonged_as_well() -> None:
    """Short packets and long buffers: the recursion counts hundreds of packets ahead at each of six
    routers.
    """
    flows = [flow(source, target, "1 ms", length="1 B") for source in range(6) for target in range(6)]
    flows = [one for one in flows if one["source"] != one["target"]]
    more: Table = {
        "topology": {"kind": "grid", "shape": [1, 6]},
        "technology": {**SPACEWIRE, "input_buffer": "2000 B"},
    }
    plain, coded = (
        bound(scenario(flows, time_code=codes, **more)) for codes in ([], [{"master": 0, "every": "1 ms"}])
    )
    delay_ns = plain.worst.delay(0) * plain.tick_ns
    assert delay_ns > 3600e9
    assert all(share < 1e-3 for share in bound(coded.compiled, tries=1).table["found_share"].drop_nulls())
    # Codes go one way: over five links of packets, at most, in a network of one path.
    assert delay_ns * (1 + 0.5 * 5 * CODE_NS / 1e6) < coded.worst.delay(0) * coded.tick_ns < 1.001 * delay_ns


CROSSED: Table = {"kind": "grid", "shape": [1, 2], "terminals_per_switch": 2, "links_per_edge": 2}


@pytest.mark.parametrize(
    ("more", "message", "hint"),
    [
        (
            {"time_code": [{"master": 0, "every": "400 ns"}], "topology": {"kind": "grid", "shape": [3, 3]}},
            "beside time-codes that come this often there is no bound: they take most",
            "less often",
        ),
        (
            {"time_code": [{"master": 0, "every": "1 us"}], "topology": CROSSED},
            "beside time-codes that come this often there is no bound: copies",
            "less often",
        ),
        (
            {
                "interrupt": [{"source": 0, "number": 1, "every": "1 us"}],
                "topology": CROSSED,
                "technology": {**SPACEWIRE, "interrupt_hold": "1300 ns"},
            },
            "beside interrupts that come this often there is no bound: copies",
            "interrupt_hold",
        ),
    ],
    ids=["busy", "time-codes", "interrupts"],
)
def test_codes_that_come_too_often_are_refused(more: Table, message: str, hint: str) -> None:
    with pytest.raises(ScenarioError, match=message) as caught:
        bound(scenario([flow(0, 3, "1 ms"), flow(1, 2, "1 ms")], **more))
    assert hint in str(caught.value.hint)


def drawn(seed: int) -> Scenario:
    """Flows with periods beside many codes, on networks with one path between two terminals and several."""
    dice = np.random.default_rng(seed)
    cables = int(dice.integers(1, 3))
    side = [int(side) for side in dice.integers(1, 4, 2)]
    shapes: list[tuple[Table, int]] = [
        ({"kind": "crossbar", "terminals": 6}, 6),
        ({"kind": "grid", "shape": side, "terminals_per_switch": 2, "links_per_edge": cables}, 0),
        ({"kind": "ring", "switches": 5, "terminals_per_switch": 1, "links_per_edge": cables}, 5),
        ({"kind": "tree", "arity": 2, "depth": 2, "terminals_per_switch": 2}, 0),
        ({"kind": "star", "arms": 3, "terminals_per_switch": 2}, 6),
        ({"kind": "clos", "terminals": 16, "switch_ports": 8}, 16),
    ]
    topology, terminals = shapes[int(dice.integers(len(shapes)))]
    terminals = terminals or (2 * side[0] * side[1] if topology["kind"] == "grid" else 8)
    routing: Table = {"kind": "up*/down*"} if topology["kind"] == "ring" else {}
    if dice.random() < 0.1:
        routing["high_priority"] = [int(dice.integers(terminals))]
    # Sources that are often full: the recursion counts from the dispatch.
    scale = float(dice.choice([0.3, 1, 1, 3]))
    flows = [_flow(dice, terminals, scale) for _ in range(int(dice.integers(1, 12)))]
    arbiter = str(dice.choice(["fifo", "round-robin"] * 4 + ["fixed", "random"]))
    technology = {**SPACEWIRE, "arbiter": arbiter}
    if dice.random() < 0.3:
        technology |= {"output_buffer": "64 B", "input_buffer": "64 B"}
    codes = _codes(dice, terminals)
    if codes:
        technology["interrupt_hold"] = f"{int(dice.integers(2, 12))} us"
    run = {"duration": "1 ms", "warmup": "0 ns", "precision": 0}
    more: Table = {"topology": topology, "technology": technology, "routing": routing, "run": run}
    return scenario(flows, seed=seed, output={"flows": True}, **more, **codes)


def _flow(dice: np.random.Generator, terminals: int, scale: float) -> Table:
    source, target = dice.choice(terminals, 2, replace=False).tolist()
    period_ns = int(dice.integers(60_000, 500_000) * scale)
    return {
        "source": source,
        "target": target,
        "length": f"{int(dice.integers(1, 400))} B",
        "period": f"{period_ns} ns",
        "phase": f"{int(dice.integers(0, 2) * dice.integers(0, period_ns))} ns",
        "jitter": f"{int(dice.integers(0, 2) * dice.integers(0, period_ns))} ns",
        "packets": int(dice.integers(1, 3)),
        "requirement": "1 s",
    }


def _codes(dice: np.random.Generator, terminals: int) -> Table:
    """One master of time and up to three interrupts, often as frequent as links can carry them."""

    def often(place: str) -> Table:
        every_ns = int(500 * 2 ** dice.uniform(0, 7))
        first_ns = int(dice.integers(0, 2) * dice.integers(0, every_ns)) + 1
        return {place: int(dice.integers(terminals)), "every": f"{every_ns} ns", "first": f"{first_ns} ns"}

    found: Table = {}
    if dice.random() < 0.8:
        found["time_code"] = [often("master")]
    numbers = dice.permutation(32)[: int(dice.integers(0, 4))].tolist()
    if numbers:
        found["interrupt"] = [{**often("source"), "number": number} for number in numbers]
    return found


@pytest.mark.seeds
def test_no_packet_takes_longer_beside_codes(seeds: Callable[[int], Iterator[int]]) -> None:
    compared = 0
    for seed in seeds(40):
        one = drawn(seed)
        try:
            found = bound(one, tries=1)
        except (ScenarioError, GraphError, RoutingError):
            continue
        ran = simulate.run(one)
        for promise, late in zip(found.promises, ran.requirements["total_latency_ns_max"], strict=True):
            waited, kept = found.waited[promise.row], found.periods.totals[promise.row]
            for total in (waited, kept):
                if late is not None and not isinstance(total, str):
                    compared += 1
                    assert late <= total * found.tick_ns, f"seed {seed}: {promise.flow}"
        most = found.table.group_by("source", "target").agg(pl.col("bound_ns").max())
        late = ran.flows.join(most, on=["source", "target"])
        assert (late["latency_ns_max"] <= late["bound_ns"]).all(), f"seed {seed}"
        for name in ("found_share", "periods_found_share"):
            assert (found.table[name].drop_nulls() <= 1).all(), f"seed {seed}"
    print(f"{compared} bounds")
    assert compared > 100


RATES = (2, 10, 20, 50, 50, 100, 100, 200, 200, 200)


def cables(dice: np.random.Generator, terminals: int) -> tuple[str, float]:
    """A tree of one to five routers, sometimes with more cables; and its slowest rate in Mbit/s."""
    routers = int(dice.integers(1, 6))
    ends = [(int(dice.integers(at)), at) for at in range(1, routers)]
    if routers > 1 and dice.random() < 0.3:
        ends.append(tuple(dice.choice(routers, 2, replace=False).tolist()))
    alike = dice.random() < 0.4
    lines, slowest = ["kind,source,target,rate,length"], 200.0
    joined = [("cable", f"r{a}", f"r{b}") for a, b in ends]
    joined += [("terminal", f"t{at}", f"r{int(dice.integers(routers))}") for at in range(terminals)]
    for kind, source, target in joined:
        rate = 200 if alike else int(dice.choice(RATES))
        slowest = min(slowest, rate)
        lines.append(f"{kind},{source},{target},{rate} Mbit/s,{int(dice.integers(1, 30))} m")
    return "\n".join(lines) + "\n", slowest


def technology(dice: np.random.Generator) -> Table:
    found: Table = {"preset": str(dice.choice(["spacewire-200"] * 3 + ["spw-10x", "shimafuji-router"]))}
    if found["preset"] == "spacewire-200" and dice.random() < 0.7:
        found["input_buffer"] = f"{int(dice.choice([8, 9, 16, 56, 200]))} B"
        found["output_buffer"] = f"{int(dice.choice([1, 8, 64]))} B"
        found["delete_header"] = bool(dice.integers(2))
    return found | {"arbiter": str(dice.choice(["fifo", "round-robin"]))}


def late_codes_drawn(seed: int, folder: Path) -> Scenario:
    dice = np.random.default_rng([77, seed])
    terminals = int(dice.integers(3, 9))
    text, slowest = cables(dice, terminals)
    (folder / "cables.csv").write_text(text, encoding="utf-8")
    longest = 20 if dice.random() < 0.75 else 300
    scale = float(dice.choice([0.1, 0.3, 1, 3])) * 200 / slowest

    def flow() -> Table:
        source, target = dice.choice(terminals, 2, replace=False).tolist()
        period_ns = int(dice.integers(30_000, 400_000) * scale)
        return {
            "source": f"t{source}",
            "target": f"t{target}",
            "length": f"{int(dice.integers(1, longest))} B",
            "period": f"{period_ns} ns",
            "jitter": f"{int(dice.integers(2) * dice.integers(period_ns))} ns",
            "packets": int(dice.integers(1, 4)),
            "requirement": "1 s",
        }

    def often(place: str) -> Table:
        every_ns = int(14e3 / slowest * 2 ** dice.uniform(1.5, 8))
        return {place: f"t{int(dice.integers(terminals))}", "every": f"{every_ns} ns", "first": "1 ns"}

    interrupts = dice.permutation(32)[: int(dice.integers(0, 4))].tolist()
    hold = {"interrupt_hold": f"{int(dice.integers(2, 12) * 200 / slowest)} us"} if interrupts else {}
    return Scenario.from_dict(
        {
            "topology": {"kind": "file", "path": str(folder / "cables.csv")},
            "technology": technology(dice) | hold,
            "interface": [{"preset": "spacewire-light"}] if dice.random() < 0.2 else [],
            "routing": {"kind": "up*/down*", "adaptive": bool(dice.integers(2))},
            "traffic": {"pattern": {"kind": "flows", "flows": [flow() for _ in range(dice.integers(1, 10))]}},
            "time_code": [often("master")] if dice.random() < 0.8 else [],
            "interrupt": [{**often("source"), "number": number} for number in interrupts],
            "seed": seed,
        }
    )


@pytest.mark.seeds
def test_no_search_finds_a_packet_later_than_its_bound(
    seeds: Callable[[int], Iterator[int]], tmp_path: Path
) -> None:
    compared, largest = 0, 0.0
    for seed in seeds(60):
        try:
            found = bound(late_codes_drawn(seed, tmp_path), tries=8)
        except (ScenarioError, GraphError, RoutingError):
            continue
        shares = seen(found)
        compared += len(shares)
        largest = max([largest, *shares])
        assert all(share <= 1 for share in shares), f"seed {seed}: {max(shares)}"
    print(f"{compared} bounds, at most {largest:.2f} of one")
    assert compared > 50


def seen(found: Bounds) -> list[float]:
    """The longest time found as a share of each bound."""
    names = ("found_share", "periods_found_share")
    return [share for name in names for share in found.table[name].drop_nulls().to_list()]
