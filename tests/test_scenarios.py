"""Every file under ``scenarios/`` loads, runs and keeps its packets; shortened, so that all take seconds."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import fabriloom
import pytest

SCENARIOS = sorted((Path(__file__).resolve().parent.parent / "scenarios").glob("*.toml"))
SHORTER = ["run.duration=400 us", "run.warmup=50 us"]
ENDS = {"time_limit", "precision", "saturated", "drained"}


def shortened(path: Path, *more: str) -> Any:
    """The scenario with a short run; a deadlock stops by itself, and periods take milliseconds."""
    if "deadlock" in path.stem:
        return fabriloom.load(path, list(more))
    has_periods = tomllib.loads(path.read_text(encoding="utf-8")).get("run", {}).get("warmup") == "0 ns"
    return fabriloom.load(path, [*(["run.duration=5 ms"] if has_periods else SHORTER), *more])


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_scenario_runs_and_loses_nothing(path: Path) -> None:
    summary = fabriloom.run(shortened(path)).summary
    stands_still = "deadlock" in path.stem or path.stem == "teaching-credit-loop"
    expected = {"deadlocked"} if stands_still else ENDS
    assert summary["end"]["reason"] in expected
    packets = summary["packets"]
    assert packets["delivered"] > 0
    kept = packets["delivered"] + packets["refused"] + packets["in_flight"]
    assert packets["offered"] == kept + packets.get("lost", 0)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_scenario_is_explained(path: Path) -> None:
    """A scenario to learn from says what it is for and has a name for its report."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert tomllib.loads(text)["name"]


SWEPT = [path for path in SCENARIOS if "[sweep]" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", SWEPT, ids=lambda p: p.stem)
def test_every_value_of_a_sweep_loads(path: Path) -> None:
    sweep = tomllib.loads(path.read_text(encoding="utf-8"))["sweep"]
    for setting, values in sweep.items():
        for value in values:
            shortened(path, f"{setting}={json.dumps(value)}")
