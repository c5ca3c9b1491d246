"""How far the means of a run can be trusted: what is watched, and what speaks against an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import statistics, tables

WIDE = 0.1
"""A half-width above this share of its mean is reported as wide."""
ALIKE = 2.5758
"""Independent batches look more alike than this once in 200 times (von Neumann, one side)."""
TRENDING = 2.8070
"""Independent batches rise or fall more than this once in 200 times (Kendall, both sides)."""


@dataclass(frozen=True)
class Watched:
    """One mean of a run and its batches."""

    what: str
    ratios: statistics.Floats
    """Of the merged batches."""
    half_width: float
    """Of the 95 % interval, as a share of the mean; NaN where it cannot be had."""


def watched(native: Mapping[str, Any], tick_ns: float) -> list[Watched]:
    """Accepted throughput, network latency and total latency: what ``precision`` is of."""
    inside, starts, ends = tables.batch_bounds(native)
    packets = tables.column(native, "batch_packets")[inside].astype(np.float64)
    sums = {
        "throughput": ("batch_bytes", (ends - starts).astype(np.float64) * tick_ns),
        "network latency": ("batch_latency_sum_ticks", packets),
        "total latency": ("batch_total_sum_ticks", packets),
    }
    found = []
    for what, (name, below) in sums.items():
        above = tables.column(native, name)[inside].astype(np.float64)
        estimate = statistics.ratio(above, below)
        share = estimate.ci95 / estimate.mean if estimate.mean > 0 else math.nan
        found.append(Watched(what, statistics.merged_ratios(above, below), share))
    return found


def widths(means: list[Watched]) -> str:
    """The half-widths in words, the widest last; empty if there are none."""
    known = sorted((one.half_width, one.what) for one in means if not math.isnan(one.half_width))
    return ", ".join(f"{what} ± {percent(half)}" for half, what in known)


def percent(share: float) -> str:
    """A share as per cent in two figures, without an exponent."""
    value = 100 * share
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %"


def settled(native: Mapping[str, Any], means: list[Watched]) -> list[Watched]:
    """Those of the means that a longer run would tell better: latencies above saturation grow with it, and
    what came to rest is counted whole.
    """
    reason = str(native["end_reason"])
    if reason in ("drained", "deadlocked", "livelocked"):
        return []
    return means[:1] if reason == "saturated" else means


def trusted(means: list[Watched]) -> bool:
    """Whether neither test speaks against the interval of any of these means.

    Two tests for each mean, each with one false alarm in 200 runs of independent batches: of six tests, one
    run in 33 is doubted without a reason.
    """
    return not _alike(means) and not _moving(means)


def _alike(means: list[Watched]) -> list[str]:
    return [one.what for one in means if statistics.neighbours_alike(one.ratios) > ALIKE]


def _moving(means: list[Watched]) -> list[str]:
    trends = {one.what: statistics.trend(one.ratios) for one in means}
    return [
        f"{what} {'rises' if value > 0 else 'falls'}"
        for what, value in trends.items()
        if abs(value) > TRENDING
    ]


def doubts(means: list[Watched]) -> list[str]:
    """What speaks against the intervals of these means, a sentence each; see :func:`trusted`."""
    wide = [one for one in means if one.half_width > WIDE]
    alike, moving = _alike(means), _moving(means)
    longer = "make the run longer (run.duration), or repeat it with other seeds (--seeds 10)"
    found = []
    if wide:
        found.append(f"wide 95 % intervals: {widths(wide)}; {longer}")
    if alike:
        found.append(
            f"do not trust ± of {' and '.join(alike)}: successive batches are more alike than by "
            f"chance, so the interval is too narrow; {longer}"
        )
    if moving:
        found.append(
            f"not steady: {' and '.join(moving)} through the run more than by chance; lengthen the "
            "warm-up (run.warmup) or the run (run.duration)"
        )
    return found
