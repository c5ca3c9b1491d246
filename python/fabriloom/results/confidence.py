"""The confidence of the means of a run: the watched means, and doubts about their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import statistics, tables
from .figures import ROUNDING, figures

WIDE = 0.1
"""A half-width above this fraction of its mean is reported as wide."""
ALIKE = 2.5758
"""Independent batches exceed this value of von Neumann's test once in 200 times (one-sided)."""
TRENDING = 2.8070
"""Independent batches exceed this value of Kendall's test once in 200 times (two-sided)."""
WIDENED = 1.25
"""Half-widths of runs that ended because they were narrow are wider by this; the engine has it too."""


@dataclass(frozen=True)
class Watched:
    """One mean of a run and its batches."""

    what: str
    ratios: statistics.Floats
    half_width: float
    """Half-width of the 95 % interval divided by the mean; NaN if unknown."""

    @cached_property
    def alike(self) -> bool:
        """Whether neighbouring batches are more alike than by chance."""
        return statistics.neighbours_alike(self.ratios) > ALIKE

    @cached_property
    def trend(self) -> float:
        """Kendall's test of the batches as a standard normal value."""
        return statistics.trend(self.ratios)


def estimate(
    native: Mapping[str, Any], above: statistics.Floats, below: statistics.Floats
) -> statistics.Estimate:
    """Return Σ above / Σ below over the batches; widened if the run ended because intervals were narrow."""
    found = statistics.ratio(above, below)
    return replace(found, ci95=WIDENED * found.ci95) if native.get("ended_at_look") else found


def watched(native: Mapping[str, Any], tick_ns: float) -> list[Watched]:
    """Return accepted throughput, network latency and total latency: the means that ``precision`` watches."""
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
        mean = estimate(native, above, below)
        share = mean.ci95 / mean.mean if mean.mean > 0 else math.nan
        found.append(Watched(what, statistics.merged_ratios(above, below), share))
    return found


def widths(means: list[Watched]) -> str:
    """Return the half-widths as text, the widest last; empty if there are none."""
    known = sorted((one.half_width, one.what) for one in means if not math.isnan(one.half_width))
    return ", ".join(f"{what} ± {percent(half)}" for half, what in known)


def percent(share: float) -> str:
    """Format a share in per cent with two significant digits, without an exponent; rounding is 0."""
    value = 100 * share
    return f"{figures(value if share > ROUNDING else 0.0, 2)} %" if value < 99.5 else f"{value:.0f} %"


def settled(native: Mapping[str, Any], means: list[Watched]) -> list[Watched]:
    """Return the means that a longer run would improve: latencies above saturation grow with its length, a
    run that came to rest is complete, and traffic that begins or ends is never steady.
    """
    reason = str(native["end_reason"])
    if reason in ("drained", "deadlocked", "livelocked", "stopped") or native.get("transient"):
        return []
    return means[:1] if reason == "saturated" else means


def trusted(means: list[Watched]) -> bool:
    """Whether no test rejects the interval of any of these means.

    There are two tests per mean, each with one false alarm in 200 runs of independent batches; six tests
    raise a false alarm in one run in 33.
    """
    return not any(one.alike or abs(one.trend) > TRENDING for one in means)


def doubts(means: list[Watched]) -> list[str]:
    """Return the doubts about the intervals of these means, one sentence each; see :func:`trusted`."""
    wide = [one for one in means if one.half_width > WIDE]
    alike = [one.what for one in means if one.alike]
    moving = [
        f"{one.what} {'rises' if one.trend > 0 else 'falls'}" for one in means if abs(one.trend) > TRENDING
    ]
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
