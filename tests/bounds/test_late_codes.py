"""Bounds beside codes where much goes wrong at once: slow links, short packets, small and large buffers, data
sheets with clocks, and codes whose first times are searched with those of the packets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fabriloom.bounds import Bounds, bound
from fabriloom.routing import RoutingError
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.topology import GraphError

from .test_requirements import Table

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


def drawn(seed: int, folder: Path) -> Scenario:
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
            found = bound(drawn(seed, tmp_path), tries=8)
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
