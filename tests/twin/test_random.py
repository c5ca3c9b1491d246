"""Whole scenarios at random deliver the same in the engine and in its twin, or are refused by a message.

Engine and twin deliver the same for every pair of settings that may stand beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random
from typing import get_args

import pytest
from fabriloom import compile as compiling
from fabriloom import simulate
from fabriloom.scenario import Scenario
from fabriloom.scenario.fields import tables
from fabriloom.scenario.sections.routing import AnyRouting
from fabriloom.scenario.sections.technology import CharacterLinks, Generic
from fabriloom.scenario.sections.traffic import Arrivals, Pattern, Traffic

from . import cover, drawing

Seeds = Callable[[int], Iterator[int]]


@pytest.mark.seeds
@pytest.mark.parametrize(
    "draw",
    [drawing.links, drawing.lanes, drawing.streams, drawing.rings],
    ids=["links", "lanes", "streams", "rings"],
)
def test_engine_and_twin_deliver_the_same(draw: Callable[[int], drawing.Table], seeds: Seeds) -> None:
    refused = packets = count = 0
    for count, seed in enumerate(seeds(40), 1):  # noqa: B007
        written = draw(seed)
        compared = drawing.compare(written)
        refused += compared is None
        if compared is not None:
            assert compared.identical, f"seed {seed}: {compared}\n{written}"
            packets += compared.packets
    print(f"{count} scenarios of {draw.__name__}, {refused} of them refused; {packets:,} packets")
    assert refused < 0.4 * count + 1
    assert packets > count


@pytest.mark.parametrize(
    "more",
    [
        {"lane_slot_cycles": 40},
        {"lane_slot_cycles": 1, "switching": "store-and-forward", "input_buffer_flits": 20},
    ],
)
def test_a_single_lane_is_closed_outside_its_time_slots(more: drawing.Table) -> None:
    """It was open: with one lane packets were simulated whole, without slots, or without the end of one."""
    slots = {"preset": "generic", "lanes": 1, "lane_slots": ["0-31"], **more}
    fabric = {"topology": {"kind": "grid", "shape": [3]}, "technology": slots}
    compared = drawing.compare(fabric | {"traffic": {"load": 0.2, "length": "100 B"}})
    assert compared is not None
    assert compared.identical
    assert compared.packets > 0


@pytest.mark.seeds
def test_long_packets_wait_for_the_credit_of_long_cables_and_for_codes(seeds: Seeds) -> None:
    """Few random networks have both; all links of such a packet are computed at once at its terminal, up to
    the next code, and after that has passed all of them."""
    packets = 0
    for seed in seeds(12):
        dice = Random(seed)
        shape = dice.choice([[3, 3], [5]])
        technology = {
            "preset": dice.choice(["spacewire-200", "ds-link-c104"]) if seed % 2 else "spacewire-200",
            "cable_length": dice.choice(["100 m", "300 m", "1 km", "3 km"] if seed % 2 else ["1 m", "30 m"]),
            "flow_control": dice.choice(["matched", "average"]),
        }
        length = dice.choice(["300 B", "1000 B", {"kind": "uniform", "min": "8 B", "max": "1500 B"}])
        written: drawing.Table = {
            "seed": seed,
            "topology": {"kind": "grid", "shape": shape, "terminals_per_switch": 2},
            "technology": technology,
            "traffic": {"length": length, "load": dice.choice([0.05, 0.15, 0.5])},
            "run": {"duration": "1 ms", "warmup": "0 ns", "precision": 0},
        }
        if seed % 2 == 0:
            first, second = ("t(0,0).0", "t(2,1).1") if len(shape) == 2 else ("t(0).0", "t(3).1")
            every = dice.choice(["7 us", "31 us", "100 us"])
            written["time_code"] = [{"master": first, "every": every}]
            written["interrupt"] = [{"source": second, "number": 3, "every": "43 us"}]
        compared = simulate.compare(compiling.compile(Scenario.from_dict(written)))
        assert compared.identical, f"seed {seed}: {compared}\n{written}"
        packets += compared.packets
    assert packets > 0


PARTS = 4
"""Parts of the scenarios of a family, for several processors."""
KEPT = lru_cache(len(cover.FAMILIES))(lambda family, seed: list(cover.rows(cover.FAMILIES[family], seed)))
"""The scenarios of a family: to find them takes as long as to run a part of them."""
READ = {"matrix", "flows", "descriptors"}
"""Patterns that are files or lists."""


@pytest.mark.seeds
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("family", cover.FAMILIES)
def test_every_pair_of_settings(
    family: str, part: int, seeds: Callable[[int], Iterator[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "CHARACTERS", (8_000,))
    legal = cover.pairs(cover.FAMILIES[family])
    for seed in seeds(1):
        covered, packets, rows = set(), 0, KEPT(family, seed)
        for number, (written, new) in enumerate(rows):
            covered |= new
            if number * PARTS // len(rows) == part:
                compared = drawing.compare(written)
                assert compared is not None, f"refused, but by no rule:\n{written}"
                assert compared.identical, f"seed {seed}: {compared}\n{written}"
                packets += compared.packets
        print(f"{len(rows)} scenarios cover {len(covered)} of {len(legal)} pairs of settings of {family}")
        assert len(covered) > 0.99 * len(legal)
        assert packets > 2 * len(rows) / PARTS  # many have few, with 8,000 characters


def test_every_setting_is_drawn_or_left_out_with_a_reason() -> None:
    for family, technology in (("flits", Generic), ("characters", CharacterLinks)):
        drawn = {name.partition(".")[2] for name in cover.FAMILIES[family]} | set(cover.LEFT_OUT)
        for section in (technology, AnyRouting, Traffic):
            names = {field.alias or name for name, field in section.model_fields.items()}
            lanes = {"lane_choice", "traffic_class"} if family == "characters" else set()
            assert not names - drawn - lanes, family


def test_every_pattern_and_arrival_is_drawn() -> None:
    for name, union in (("traffic.pattern", Pattern), ("traffic.arrivals", Arrivals)):
        kinds = {kind for model in get_args(get_args(union)[0]) for kind in tables(model, "kind")}
        drawn = {value["kind"] if isinstance(value, dict) else value for value in cover.TRAFFIC[name]}
        assert drawn == kinds - READ
