"""Runs of a few messages, measured between the marks of their programs, or until their end."""

from __future__ import annotations

from typing import Any

from ..scenario import Scenario as Checked
from ..simulate import run
from .lab import Scenario


def between_us(scenario: Scenario) -> float:
    """Return the us from the first mark of a run to its last. Raises ValueError for fewer than two."""
    results = _run(scenario)
    ticks = results.native["mark_ticks"]
    if len(ticks) < 2:
        raise ValueError(f"{scenario.get('name', 'a run')} {results.end_reason} with {len(ticks)} marks")
    return float(ticks.max() - ticks.min()) * results.tick_ps / 1e6


def lasted_us(scenario: Scenario) -> float:
    """Return the microseconds until all programs ended. Raises ValueError if they did not end."""
    results = _run(scenario)
    if results.end_reason != "drained":
        raise ValueError(f"{scenario.get('name', 'a run')} {results.end_reason}")
    return float(results.native["end_time_ticks"]) * results.tick_ps / 1e6


def _run(scenario: Scenario) -> Any:
    return run(Checked.from_dict(scenario))
