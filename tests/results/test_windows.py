"""What is measured when a run ends early, stands still, or tells its rounds."""

from __future__ import annotations

from pathlib import Path

import fabriloom
import numpy as np
import pytest
from fabriloom import Scenario, simulate
from fabriloom.compile import compile as compiled_of
from fabriloom.page.live import Live
from fabriloom.report.page import number, plus_minus

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize("warmup", ["100 us", "1 ms", "3 ms", "9 ms"])
def test_a_deadlock_before_a_warm_up_measures_no_negative_time(tmp_path: Path, warmup: str) -> None:
    """All but one terminal press on until the torus stands; that one sends again only after the warm-up."""
    names = [f"t({x},{y}).{k}" for x in range(5) for y in range(5) for k in range(2)]
    draw, lines = np.random.default_rng(1), ["source,target,length,wait"]
    for name in names[1:]:
        others = [other for other in names if other != name]
        lines += [f'"{name}","{others[at]}",64 B,0 ns' for at in draw.integers(len(others), size=200)]
    lines += [f'"{names[0]}","{names[1]}",64 B,5 ms'] * 2
    path = tmp_path / "packets.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    traffic = f"traffic={{pattern={{kind='descriptors',path='{path}'}}}}"
    results = fabriloom.run(fabriloom.load(SCENARIOS / "deadlock.toml", [traffic, f"run.warmup={warmup}"]))
    summary = results.summary
    assert summary["end"]["reason"] == "deadlocked"
    assert summary["measured_ns"] > 0
    assert summary["warmup_ns"] + summary["measured_ns"] == pytest.approx(summary["simulated_ns"])
    assert summary["accepted_mbytes_per_s"] >= 0
    assert summary["offered_mbytes_per_s"] >= 0
    ends = results.batches["end_ns"].to_list()
    assert not ends or max(ends) <= summary["simulated_ns"], "no batch ends after the run"


def test_the_page_says_what_the_report_says() -> None:
    """Also of runs with a warm-up, whose packets are not measured."""
    scenario = fabriloom.load(SCENARIOS / "hot-spot.toml", ["run.duration=1 ms", "run.warmup=200 us"])
    results = simulate.run(scenario)
    picture, summary = Live(compiled_of(scenario)).end(results), results.summary
    facts, latency = {name: value for name, value, _ in picture["facts"]}, summary["latency_ns"]
    mean = plus_minus(latency["mean"] / 1e3, latency["mean_ci95"] / 1e3)
    accepted = plus_minus(summary["accepted_mbytes_per_s"], summary["accepted_mbytes_per_s_ci95"])
    assert facts["Mean latency"] == f"{mean} µs"
    assert facts["99 % within"] == f"{number(latency['p99'] / 1e3)} µs"
    assert facts["Accepted"] == f"{accepted} MB/s"
    assert facts["Offered"] == f"{number(summary['offered_mbytes_per_s'])} MB/s"
    assert picture["packets"] == summary["packets"]["measured"] < summary["packets"]["delivered"]


def test_loads_of_rings_add_up() -> None:
    results = fabriloom.run(fabriloom.load(SCENARIOS / "sci-retry-ring.toml", ["run.duration=1 ms"]))
    links, rings = results.links, results.rings
    assert rings["ring"].to_list() == list(results.graph.rings.ring_names)  # type: ignore[union-attr]
    assert rings["stations"].sum() == len(links)
    assert np.allclose(links["mbytes_per_s"], 500 * links["utilisation"], rtol=1e-3)
    assert np.allclose(links["retry_mbytes_per_s"], 500 * links["retry_share"], rtol=1e-3)
    assert rings["mbytes_per_s_max"].max() == results.summary["sci"]["link_mbytes_per_s_max"]
    summary = results.summary
    size = 64 * 1e3 / summary["measured_ns"]
    left = (
        summary["offered_mbytes_per_s"] - summary["refused_mbytes_per_s"] - summary["accepted_mbytes_per_s"]
    )
    assert abs(left) <= size * 100, "what is neither lost nor accepted is under way"


def test_time_per_round_is_between_marks() -> None:
    results = fabriloom.run(fabriloom.load(SCENARIOS / "ping-pong.toml"))
    rounds, marks = results.summary["rounds"], results.marks["at_ns"]
    assert rounds["count"] == 20
    assert rounds["ns_mean"] == pytest.approx((marks[-1] - marks[0]) / 20)
    assert rounds["ns_min"] <= rounds["ns_mean"] <= rounds["ns_max"]


def test_a_ring_that_keeps_up_is_not_said_to_stand_still() -> None:
    for settings in (["technology.phases=false"], ["technology.retry.strategy=linear"]):
        results = fabriloom.run(fabriloom.load(SCENARIOS / "sci-retry-ring.toml", settings))
        assert not [told for told in results.summary["warnings"] if "stood still" in told]


def test_a_sentence_tells_what_was_watched() -> None:
    base = {"topology": {"kind": "crossbar", "terminals": 4}, "traffic": {"length": "32 B", "load": 0.3}}
    short = fabriloom.run(Scenario.from_dict({**base, "run": {"duration": "1 ms"}})).summary["end"]
    assert short["reason"] == "time_limit"
    assert "before the wanted precision of 1 % was reached: " in short["message"]
    full = {**base["traffic"], "load": 1.0}
    saturated = fabriloom.run(Scenario.from_dict({**base, "traffic": full, "run": {"duration": "5 ms"}}))
    assert "precision is of throughput alone: throughput ± " in saturated.summary["end"]["message"]
