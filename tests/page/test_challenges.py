"""The challenge at the end of each lesson has the answer that we think, by the controls of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import Results, load
from fabriloom.page.choices import controls
from fabriloom.simulate import run

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def ran(name: str, **settings: Any) -> Results:
    """A run of a lesson, with settings whose dots are written as two underscores."""
    scenario = load(SCENARIOS / f"teaching-{name}.toml")
    return run(scenario.with_settings({path.replace("__", "."): one for path, one in settings.items()}))


def end(name: str, **settings: Any) -> str:
    return str(ran(name, **settings).end_reason)


def keeps_up(name: str, load: float, **settings: Any) -> bool:
    short = {"run__duration": "50 ms", "traffic__load": load}
    return bool(ran(name, **short, **settings).summary["keeps_up"])


def event_ns(**settings: Any) -> float:
    return float(ran("incast-40", **settings).summary["events"]["latency_ns"]["mean"])


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("teaching-*.toml")), ids=lambda path: path.stem)
def test_each_lesson_ends_with_a_challenge(path: Path) -> None:
    *_, last = load(path).description.strip().splitlines()
    assert last.startswith("Challenge: ")


def test_a_load_is_the_last_that_is_carried() -> None:
    assert keeps_up("head-of-line", 0.55)
    assert not keeps_up("head-of-line", 0.75)
    assert keeps_up("adaptive", 0.3, routing__adaptive=False)
    assert not keeps_up("adaptive", 0.4, routing__adaptive=False)


def test_shorter_packets_or_longer_buffers_let_a_run_complete() -> None:
    assert end("torus-deadlock") == end("credit-loop") == "deadlocked"
    assert end("torus-deadlock", traffic__length="32 B") == "time_limit"
    assert end("torus-deadlock", technology__input_buffer="256 B") == "time_limit"
    assert end("credit-loop", traffic__length="16 B") == "time_limit"
    assert end("credit-loop", technology__input_buffer_flits=32) == "time_limit"


def test_what_helps_events_and_what_does_not() -> None:
    built = [
        ran("incast", **settings).summary["events"]["achieved_per_s"]
        for settings in (
            {"program__fragment": "256 B"},
            {"technology__link_rate": "200 Mbit/s"},
            {},
            {"technology__input_buffer": "512 B"},
        )
    ]
    assert min(built[:2]) > 4950 > 4500 > built[2] > 1.3 * built[3]
    usual = event_ns()
    assert event_ns(program__fragment="2048 B") < 0.55 * usual
    assert event_ns(technology__cycle="2560 ps") < 0.55 * usual
    assert event_ns(routing__adaptive=False) == pytest.approx(usual, rel=0.01)


def test_stations_are_alike_at_a_small_load() -> None:
    rates = ran("sci-starvation", traffic__load=0.1).flows["mbytes_per_s"]
    assert len(rates) == 7
    assert rates.min() == pytest.approx(rates.max(), rel=0.01)


def test_a_length_at_which_no_worm_is_cut() -> None:
    assert ran("cut-worm").summary["packets"]["lost"] > 0
    assert ran("cut-worm", traffic__length="16 B").summary["packets"]["lost"] == 0


def test_longer_buffers_are_no_help_to_others() -> None:
    accepted = [
        ran("stuck-receiver", technology__input_buffer=size).summary["accepted_mbytes_per_s"]
        for size in ("64 B", "512 B")
    ]
    assert accepted[0] == pytest.approx(accepted[1], rel=0.01)
    largest = {c["label"]: c for c in controls(load(SCENARIOS / "teaching-pause.toml"))}[
        "Input buffer (flits)"
    ]
    for_others = [
        ran("pause", **option["settings"]).flows.filter(target="t(2).1")["latency_ns_mean"].mean()
        for option in (largest["options"][0], largest["options"][-1])
    ]
    assert for_others[0] == pytest.approx(for_others[1], rel=0.01)


def test_rates_that_spacefibre_carries() -> None:
    shares = [
        one.summary["accepted_mbytes_per_s"] / one.summary["offered_mbytes_per_s"]
        for one in (ran("spacefibre"), ran("spacefibre", traffic__scale=0.7))
    ]
    assert shares[0] < 0.7 < 0.95 < shares[1]
