"""A setting that changes nothing is named; one that matters, or that holds anyway, is not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from fabriloom.compile import compile
from fabriloom.compile.silent import silent_settings
from fabriloom.scenario import Scenario, ScenarioError

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"

BASE: dict[str, Any] = {
    "topology": {"kind": "grid", "shape": [2, 2]},
    "technology": {"preset": "generic"},
    "traffic": {"load": 0.3, "length": "64 B"},
}


def told(**more: Any) -> list[str]:
    """The settings that change nothing."""
    scenario = Scenario.from_dict({**BASE, **more})
    return [warning.split()[0] for warning in silent_settings(compile(scenario))]


@pytest.mark.parametrize(
    ("more", "silent"),
    [
        ({"technology": {"preset": "generic", "lane_arbiter": "fixed"}}, ["technology.lane_arbiter"]),
        ({"technology": {"preset": "generic", "lane_arbiter": "fixed", "lanes": 2}}, []),
        ({"technology": {"preset": "generic", "cable_delay": "7 ns/m"}}, ["technology.cable_delay"]),
        (
            {"technology": {"preset": "generic", "cable_delay": "7 ns/m", "cable_length": "10 m"}},
            [],
        ),
        ({"technology": {"preset": "spacewire-200", "handover": "2 ns"}}, ["technology.handover"]),
        ({"technology": {"preset": "spacewire-200", "handover": "90 ns"}}, []),
        ({"technology": {"preset": "spacewire-200", "cable_length": "2 m"}}, []),
        ({"technology": {"preset": "generic", "mtu": "1 kB"}}, []),
    ],
)
def test_what_changes_nothing_is_named(more: dict[str, Any], silent: list[str]) -> None:
    assert told(**more) == silent


def test_settings_inside_of_a_kind_are_tried_too() -> None:
    traffic = {"length": "64 B", "load": 0.2, "arrivals": {"kind": "on-off", "burst_packets": 4}}
    assert not told(traffic=traffic)


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.toml")), ids=lambda file: file.stem)
def test_no_ready_scenario_says_what_changes_nothing(file: Path) -> None:
    try:
        scenario = Scenario.from_dict(tomllib.loads(file.read_text("utf-8")), file.parent)
    except ScenarioError:
        return
    assert not silent_settings(compile(scenario))
