"""Simulate candidates: whether they carry the traffic, how late packets are, and how much more they carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..results.ends import STUCK
from ..results.figures import figures
from ..results.limit import seems_to_keep_up
from ..results.statistics import mean_of_runs
from ..scenario import Scenario
from ..studies.points import Advance, Point, run_points
from ..studies.store import Store
from .schema import PERCENTILES, Requirements
from .sieve import Looked, Miss

BEYOND = 8.0
"""Upper limit of the search, as a multiple of the margin."""
RESOLUTION = 0.05
"""Precision of the maximum that is carried, as a fraction of it."""
KEPT_UP = 0.99
"""Fraction of the events due in the measuring window that must become complete in it."""
BY_CHANCE = 1.5
"""Number of events that may be missing nevertheless: a window begins and ends between two."""
BROKEN = 0.0
"""Instead of a factor: the required traffic, with the worst failure."""
SEEDS = 3
"""Runs of a finalist at the required traffic."""

_UNSURE = ", perhaps by chance: the run is too short to tell"

Wanted = tuple[Looked, float, int]
"""A candidate, the multiple of the traffic, and the offset of the seed."""


class Trials:
    """Runs of candidates, kept in a store, so that each is done once."""

    def __init__(
        self,
        requirements: Requirements,
        base: Scenario,
        store: Store,
        jobs: int,
        progress: Callable[[Advance], None] | None = None,
    ) -> None:
        self._asked, self._base = requirements, base
        self._store, self._jobs, self._progress = store, jobs, progress
        self._points: dict[tuple[int, float, int], Point] = {}
        self.interrupted = False

    def scenario(self, looked: Looked, factor: float, seed: int = 0) -> Scenario:
        """Return the candidate at ``factor`` times the traffic.

        ``factor`` 0 stands for the required traffic with the candidate's worst failure.
        """
        if factor == BROKEN:
            return self.scenario(looked, 1.0, seed).with_settings({"fault": [looked.facts["failure"]]})
        asked = self._asked
        changed: dict[str, Any] = {"seed": self._base.seed + seed}
        if asked.program is None:
            changed["traffic.scale"] = float(f"{factor:.4g}")
        else:  # events to the end of the run, or what is late would be made up for after the last
            rate_hz = getattr(asked.program, "rate_millihz", 0) / 1000 * factor
            changed["program.rate"] = f"{rate_hz:.6g} Hz"
            changed["program.events"] = max(1, math.ceil(rate_hz * self._base.run.duration_ps / 1e12))
        return looked.candidate.scenario(self._base, changed)

    def run(self, wanted: Iterable[Wanted]) -> bool:
        """Run what has not run yet; false if interrupted."""
        new = [one for one in wanted if (id(one[0]), *one[1:]) not in self._points]
        runs = [({"factor": factor}, self.scenario(looked, factor, seed)) for looked, factor, seed in new]
        points, stopped = run_points(runs, jobs=self._jobs, store=self._store, progress=self._progress)
        for (looked, factor, seed), point in zip(new, points, strict=True):
            if point is not None:
                self._points[id(looked), factor, seed] = point
        self.interrupted = self.interrupted or stopped
        return not self.interrupted

    def point(self, looked: Looked, factor: float, seed: int = 0) -> Point:
        return self._points[id(looked), factor, seed]

    def judge(self, batch: Sequence[Looked]) -> list[Looked]:
        """Return those that carry the traffic with its margin, quickly enough; record why others do not."""
        margin = self._asked.require.margin
        if not self.run((one, margin, 0) for one in batch):
            return []
        carrying = []
        for one in batch:
            summary = self.point(one, margin).summary
            one.facts["unsure"] = summary["keeps_up"] is None
            if carried(summary):
                carrying.append(one)
            else:
                one.misses.append(_too_much(summary, margin))
        if not self.run((one, 1.0, 0) for one in carrying):
            return []
        for one in carrying:
            point = self.point(one, 1.0)
            one.facts |= tail_of(point.summary, self._asked)
            if miss := _too_late(one.facts, self._asked):
                one.misses.append(miss)
        return [one for one in carrying if not one.misses]

    def most(self, batch: Sequence[Looked]) -> None:
        """Find, for all in parallel, the multiple of the traffic that each carries, by bisection."""
        margin = self._asked.require.margin
        ends = {id(one): [margin, max(margin, min(one.bound, BEYOND * margin))] for one in batch}
        while True:
            tries = []
            for one in batch:
                low, high = ends[id(one)]
                if high - low > RESOLUTION * high:
                    tries.append((one, float(f"{(low + high) / 2:.3g}"), 0))
            if not tries or not self.run(tries):
                break
            for one, factor, _ in tries:
                summary = self.point(one, factor).summary
                ends[id(one)][0 if carried(summary) else 1] = factor
        for one in batch:
            one.facts["carries"] = ends[id(one)][0]

    def broken(self, batch: Sequence[Looked]) -> None:
        """Simulate the worst failure of each: what arrives, and how late; routing tables do not change."""
        hit = [one for one in batch if one.facts.get("failure") and not one.misses]
        if not self.run((one, BROKEN, 0) for one in hit):
            return
        for one in hit:
            summary = self.point(one, BROKEN).summary
            packets = summary["packets"]
            one.facts["delivered_after"] = 1.0 - packets["lost"] / max(1, packets["offered"])
            one.facts["tail_after_ns"] = tail_of(summary, self._asked)["tail_ns"]

    def confirm(self, batch: Sequence[Looked]) -> None:
        """Run more seeds: the tail with its interval, and whether every seed carries the traffic."""
        margin = self._asked.require.margin
        if not self.run((one, factor, s) for one in batch for factor in (margin, 1.0) for s in range(SEEDS)):
            return
        for one in batch:
            one.facts["unsure"] = False
            for seed in range(SEEDS):
                summary = self.point(one, margin, seed).summary
                one.facts["unsure"] |= summary["keeps_up"] is None
                if not carried(summary) and not one.misses:
                    one.misses.append(_too_much(summary, margin))
            runs = [self.point(one, 1.0, seed).summary for seed in range(SEEDS)]
            seen = [tail_of(summary, self._asked) for summary in runs]
            accepted = [summary["accepted_mbytes_per_s"] for summary in runs]
            one.facts["mean_ns"], _ = _mean([found["mean_ns"] for found in seen])
            one.facts["tail_ns"], one.facts["tail_ns_ci95"] = _mean([found["tail_ns"] for found in seen])
            one.facts["accepted_mbytes_per_s"], one.facts["accepted_mbytes_per_s_ci95"] = _mean(accepted)
            if not one.misses and (miss := _too_late(one.facts, self._asked)):
                one.misses.append(miss)


def carried(summary: Mapping[str, Any]) -> bool:
    """Return whether no queue grew."""
    if "events" not in summary:
        return seems_to_keep_up(summary)
    events = summary["events"]
    if summary["end"]["reason"] in STUCK or not events["achieved_per_s"]:
        return False
    seconds = summary["measured_ns"] / 1e9
    due, built = events["attempted_per_s"] * seconds, events["achieved_per_s"] * seconds
    return bool(due - built <= max(BY_CHANCE, (1 - KEPT_UP) * due))


def tail_of(summary: Mapping[str, Any], asked: Requirements) -> dict[str, Any]:
    """Return the mean latency and the required percentile, from the creation of packets or events."""
    spread = summary["events"]["latency_ns"] if "events" in summary else summary["total_latency_ns"]
    limit = summary.get("limit") or {}
    name = PERCENTILES[float(asked.require.percentile)]
    held_by = f"{limit['what']}: {limit['name']}" if limit.get("name") else ""
    low = spread.get(f"{name}_ci95_low")
    return {"mean_ns": spread["mean"], "tail_ns": spread[name], "tail_low_ns": low, "held_by": held_by}


def _too_much(summary: Mapping[str, Any], margin: float) -> Miss:
    if "events" in summary:
        have, need = summary["events"]["achieved_per_s"] or 0.0, summary["events"]["attempted_per_s"] or 1.0
        told = f"builds {figures(have)} of {figures(need)} events a second"
    else:
        have, need = summary["accepted_mbytes_per_s"] or 0.0, summary["offered_mbytes_per_s"] or 1.0
        told = f"accepts {figures(have)} of {figures(need)} MB/s"
    share = min(have / need, 1.0) * margin
    sure = summary["keeps_up"] is not None
    text = f"in simulation {told} at {figures(margin, 3)} times the traffic{'' if sure else _UNSURE}"
    return Miss(("require", "margin"), share, margin, text, sure)


def _too_late(facts: Mapping[str, Any], asked: Requirements) -> Miss | None:
    most_ps, tail_ns = asked.require.latency_ps, facts["tail_ns"]
    if most_ps is None or tail_ns is None:
        return None
    half_ns = facts.get("tail_ns_ci95")
    late_us, need_us = (tail_ns + (half_ns or 0.0)) / 1e3, most_ps / 1e6
    if late_us <= need_us:
        return None
    low_ns = facts.get("tail_low_ns") if half_ns is None else tail_ns - half_ns
    sure = low_ns is not None and low_ns / 1e3 > need_us
    text = f"{asked.require.percentile:g} % within {figures(late_us)} us, {figures(need_us)} us are asked"
    return Miss(("require", "latency"), late_us, need_us, f"{text}{'' if sure else _UNSURE}", sure)


def _mean(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the mean over seeds and the half-width of its 95 % interval."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return (known[0] if known else None), None
    return mean_of_runs(known)
