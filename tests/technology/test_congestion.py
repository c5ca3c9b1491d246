"""Congestion control: what it does to a hot spot and its victims, and the engine beside its twin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from fabriloom import Scenario, load, run
from fabriloom.report.sections import links as link_sections
from fabriloom.results import columns

from tests.twin import drawing

SIX = {"t(0).0", "t(0).1", "t(0).2", "t(1).2", "t(1).3", "t(1).4"}
"""Those that send to the hot spot."""
ROOT = Path(__file__).resolve().parents[2]


def hot_spot() -> Scenario:
    """Six senders to one terminal, and a stream that shares a cable with three of them."""
    return load(ROOT / "scenarios" / "infiniband-congestion.toml")


def gbits(found: Any, name: str, of: str) -> float:
    """What all flows carry whose source or target has a name."""
    return found.flows.filter(pl.col(of) == name)["mbytes_per_s"].sum() * 8 / 1000


def test_victims_of_a_hot_spot_are_spared() -> None:
    """Without control the buffers before the shared cable are full of packets for the hot spot."""
    controlled = run(hot_spot())
    without = run(hot_spot().with_settings({"congestion_control.ccti_increase": 0}))
    assert gbits(without, "t(0).3", "source") < 10
    assert gbits(controlled, "t(0).3", "source") > 35
    assert gbits(without, "t(1).0", "target") > 99
    assert gbits(controlled, "t(1).0", "target") > 85


def test_what_was_marked_and_who_rested() -> None:
    found = run(hot_spot())
    said = found.summary["congestion"]
    assert found.congestion.columns == columns.CONGESTION.names
    assert found.links.columns == [*columns.LINKS.names, *columns.CONGESTION_LINKS.names]
    assert found.links["marked"].sum() == said["marked"] > said["notified"] > 1000
    assert found.congestion["notified"].sum() == said["notified"]
    assert found.congestion["ccti_highest"].max() == said["ccti_highest"] > 5
    rested = found.congestion.filter(pl.col("rest_share") > 0.3)["terminal"].to_list()
    assert set(rested) == SIX


def test_the_report_names_those_that_rested_longest() -> None:
    [table] = link_sections.congestion(run(hot_spot()).congestion)
    assert {row[0].text for row in table.rows[:6]} == SIX


def test_a_port_rests_as_its_table_says() -> None:
    """Two senders to one terminal whose index stays where the first BECN puts it: a rest of 3 packets."""
    network = {
        "topology": {"kind": "crossbar", "terminals": 3},
        "technology": {"preset": "infiniband-4x-edr", "lanes": 1},
        "traffic": {"arrivals": "backlog", "pattern": {"kind": "hot-spot", "target": 2, "share": 1.0}},
        "run": {"duration": "1 ms", "warmup": "100 us", "precision": 0},
        "congestion_control": {"ccti_timer": "1 s", "ccti_limit": 1, "cct": [0, 3], "marking_rate": 0},
    }
    found = run(network)
    assert found.congestion["ccti_highest"].to_list() == [1, 1, 0]
    busy = found.links.filter(pl.col("source").str.starts_with("t"))["utilisation"].to_list()[:2]
    assert busy == pytest.approx([0.25, 0.25], abs=0.002)
    assert found.congestion["rest_share"].to_list() == pytest.approx([0.75, 0.75, 0], abs=0.002)


def test_a_hot_spot_is_controlled_again_after_a_failure() -> None:
    """The hot spot fails for a time, in which what is sent to it is discarded."""
    hot = {"terminal": "t(1).0", "at": "2 ms", "repaired": "2.2 ms"}
    found = run(hot_spot().with_settings({"fault": [hot]}))
    said = found.summary["congestion"]
    assert found.summary["packets"]["lost"] > 1000
    assert said["marked"] > said["notified"] > 1000
    assert gbits(found, "t(0).3", "source") > 35


def faults(dice: Random, terminals: int) -> drawing.Table:
    """Some faults of terminals or of all cables, and new tables after some of them."""
    where = {"at": f"{dice.randint(5, 60)} us", "repaired": "80 us"}
    fault = dice.choice(
        [
            {"terminal": dice.randrange(terminals), **where, **dice.choice([{}, {"stuck": True}])},
            {"cable": "all", **where},
            {"cable": "all", "bit_error_rate": 1e-7, "replay": dice.random() < 0.5},
        ]
    )
    return {"fault": [fault], "routing": dice.choice([{}, {"after_fault": {"delay": "2 us"}}])}


def drawn(seed: int) -> drawing.Table:
    """A small network that passes packets whole, with congestion control, and faults in some."""
    dice = Random(f"congestion {seed}")
    beside = {} if dice.random() < 0.5 else faults(dice, 5)
    return {
        **beside,
        "seed": seed,
        "topology": dice.choice(
            [
                {"kind": "crossbar", "terminals": 5},
                {"kind": "grid", "shape": [3, 2], "terminals_per_switch": 2},
                {"kind": "clos", "terminals": 16, "switch_ports": 8},
            ]
        ),
        "technology": {
            "preset": dice.choice(["infiniband-4x-edr", "infiniband-4x-hdr"]),
            "lanes": dice.choice([1, 2, 4]),
            "switching": dice.choice(["virtual-cut-through", "store-and-forward"]),
            **dice.choice([{}, {}, {"lane_sharing": "flit"}, {"watchdog_cycles": 2000}]),
        },
        "traffic": {
            "pattern": {"kind": "hot-spot", "target": 0, "share": dice.choice([0.2, 0.6, 1.0])},
            "length": dice.choice(["64 B", "2048 B", {"kind": "uniform", "min": "8 B", "max": "2 kB"}]),
            "load": dice.choice([0.3, 0.9]),
        },
        "congestion_control": {
            "threshold": dice.randint(1, 15),
            "marking_rate": dice.choice([0, 1, 3]),
            "victim_mask": dice.choice(["none", "all"]),
            "becn_delay": dice.choice(["1 ns", "300 ns", "2 us"]),
            "ccti_increase": dice.choice([1, 4]),
            "ccti_timer": dice.choice(["1 us", "10 us"]),
            **dice.choice([{}, {"ccti_limit": 3, "cct": [0, 0.125, 2, 8]}]),
        },
        "run": {"duration": "200 us"},
    }


@pytest.mark.seeds
def test_engine_and_twin_deliver_the_same(seeds: Callable[[int], Iterator[int]]) -> None:
    for seed in seeds(6):
        compared = drawing.compare(drawn(seed))
        assert compared is not None
        assert compared.identical, f"seed {seed}: {compared}\n{drawn(seed)}"
        assert compared.packets > 10
