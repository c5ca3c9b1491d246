"""The verdict of a curve in one sentence: up to which load the network carries everything, and its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..compile import Compiled
from ..results.figures import figures, in_percent, measured
from ..results.limit import WAITS, arrivals, held_by, seems_to_keep_up
from ..scenario.schema import Scenario
from . import inspection
from .points import Point

IN_PROPORTION = 0.02
"""Relative shortfall of the throughput at which the load of closed-loop sources still counts as carried."""


@dataclass(frozen=True)
class Judge:
    """Decides which offered loads a network sustains."""

    bound: float
    """The load at which a link, bus or memory is full."""

    @classmethod
    def of(cls, scenario: Scenario | Compiled) -> Judge:
        """Make the judge of a scenario from its form at load 1. Raises ScenarioError."""
        return cls(inspection.load_bound(scenario))

    def sustained(self, load: float, summary: dict[str, Any]) -> bool:
        """Whether a run kept up and its load is within the bound, which it may be too short to show."""
        return load <= self.bound * (1 + 1e-9) and seems_to_keep_up(summary)


def waits_for_its_packets(scenario: Scenario) -> bool:
    """Whether sources are closed-loop: they offer less if the network accepts less."""
    return arrivals(scenario.resolve()) in WAITS


def of_curve(full: Scenario, points: Sequence[Point], path: str) -> str:
    """Return the verdict for the points of a scenario over the setting ``path``; ``full``: it at load 1."""
    known = [point for point in points if point.summary["accepted_mbytes_per_s"]]
    in_order = sorted(known, key=lambda point: point.settings[path])
    if not in_order:
        return ""
    return _of_waiting(in_order, path) if waits_for_its_packets(full) else _of_load(in_order, path, full)


def of_events(points: Sequence[Point]) -> str:
    """Return the verdict for points of a program over the rate of its events; empty without events."""
    rates = [(point.summary["events"]["attempted_per_s"], point) for point in points]
    in_order = sorted(((rate, point) for rate, point in rates if rate), key=lambda one: one[0])
    known = [point for _, point in in_order]
    below = _unbroken(known, [_builds_all(point.summary) for point in known])
    if not below:
        return str(known[0].summary["verdict"]) if known else ""
    said = f"Keeps up with {_events(below[-1], 'attempted')} events a second"
    if len(below) == len(known):
        return f"{said}, the most that was tried{_held(below[-1])}"
    above = known[len(below)]
    return f"{said}; of {_events(above, 'attempted')} it builds {_events(above, 'achieved')}{_held(above)}"


def _builds_all(summary: dict[str, Any]) -> bool:
    """Whether a program kept up; in a run too short to tell, whether it built nearly all events in time."""
    events, known = summary["events"], summary["keeps_up"]
    almost_all = (1 - IN_PROPORTION) * events["attempted_per_s"]
    return bool((events["achieved_per_s"] or 0) >= almost_all if known is None else known)


def _events(point: Point, which: str) -> str:
    rate = point.summary["events"][f"{which}_per_s"] or 0.0
    return f"{rate:,.0f}" if rate >= 1000 else figures(rate)


def _of_load(points: Sequence[Point], path: str, full: Scenario) -> str:
    """Return the verdict for points with open-loop sources."""
    judge = Judge.of(full)
    below = _unbroken(points, [judge.sustained(point.settings[path], point.summary) for point in points])
    if not below:
        return f"Does not carry even {_at(points[0], path)}: it {_falls_short(points[0])}{_held(points[0])}"
    said = f"Carries everything up to {_at(below[-1], path)} ({_rate(below[-1])})"
    if len(below) == len(points):
        return f"{said}, the most that was tried{_held(below[-1])}"
    above = points[len(below)]
    return f"{said}. At {_at(above, path)} it {_falls_short(above)}{_held(above)}"


def _of_waiting(points: Sequence[Point], path: str) -> str:
    """Return the verdict for points with closed-loop sources, whose offered traffic is always accepted: the
    peak, for how much of the time the sources then wait for the network, and the load up to which they hardly
    do.
    """
    accepted = [point.summary["accepted_mbytes_per_s"] for point in points]
    per_load = accepted[0] / points[0].settings[path]
    follows = [
        rate >= (1 - IN_PROPORTION) * per_load * point.settings[path]
        for rate, point in zip(accepted, points, strict=True)
    ]
    below = _unbroken(points, follows)
    most = max(points, key=lambda point: point.summary["accepted_mbytes_per_s"])
    peak = most.summary["accepted_mbytes_per_s"]
    # At the lowest load hardly any source waits, and load 1 is all that its link carries.
    share = f" ({in_percent(peak / per_load)} of the links)" if path.endswith("load") else ""
    waits = in_percent(max(0.0, 1 - peak / (per_load * most.settings[path])))
    said = f"Follows its sources up to {_rate(most)}{share}, {_at(most, path)}; they wait {waits} of the time"
    if len(below) < len(points) and below[-1] is not most:
        said += f", up to {_at(below[-1], path)} at most {in_percent(IN_PROPORTION)}"
    return f"{said}{_held(most)}"


def _held(point: Point) -> str:
    """Return the limit as the end of a sentence; empty for a point of an earlier version."""
    return held_by(point.summary.get("limit"))


def _unbroken(points: Sequence[Point], carried: Sequence[bool]) -> Sequence[Point]:
    """Return the points before the first load that is not carried."""
    return points[: carried.index(False)] if False in carried else points


def _at(point: Point, path: str) -> str:
    return f"{path.rsplit('.', 1)[-1]} {figures(point.settings[path])}"


def _rate(point: Point) -> str:
    summary = point.summary
    return f"{measured(summary['accepted_mbytes_per_s'], summary['accepted_mbytes_per_s_ci95'])} MB/s"


def _falls_short(point: Point) -> str:
    summary = point.summary
    if summary["end"]["reason"] in ("deadlocked", "livelocked"):
        return str(summary["end"]["reason"])
    accepted, offered = (summary[f"{what}_mbytes_per_s"] for what in ("accepted", "offered"))
    if accepted > offered:
        return f"accepts {figures(accepted)} MB/s in a run that is too short to show what it offers"
    return f"accepts {figures(accepted)} of {figures(offered)} MB/s"
