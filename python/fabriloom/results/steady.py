"""The steady part of a run of programs: the rate of its events, and whether their latency grows.

The rules are in ``docs/background/statistics.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import statistics

Floats = NDArray[np.float64]

FEWEST = 20
"""Fewest events from which anything is known."""
BEHIND = 0.001
"""Latency that grows by this share of the interval is not yet called growing: it may tend to a limit."""
KEPT_UP = 0.01
"""Latency that grows by less than this share of the interval is that of a network that keeps up."""


@dataclass(frozen=True)
class Steady:
    """The rate of events, and the growth of their latency."""

    per_ns: float
    """The slope of completions over time; NaN if too few events became complete."""
    per_ns_ci95: float
    """Half-width of its 95 % confidence interval; NaN if unknown."""
    growth: float
    """Growth of the latency from one event to the next, as a share of the interval at which they are due."""
    growth_ci95: float
    events: int
    """Completions from which the rate is computed."""

    @property
    def keeps_up(self) -> bool | None:
        """Whether latency stays bounded; None if the run is too short to tell."""
        if math.isnan(self.growth) or math.isnan(self.growth_ci95):
            return None
        if self.growth > max(BEHIND, self.growth_ci95):
            return False
        return True if self.growth + self.growth_ci95 < KEPT_UP else None


_FEWEST_BATCHES = 8


def settled(values: Floats) -> int:
    """Return how many values to leave out at the start so that the others look stationary, at most half: the
    marginal standard error rule (MSER), as for packets.
    """
    count = len(values)
    if count < 2:
        return 0
    backwards = (values - values.mean())[::-1]
    sums, squares = np.cumsum(backwards), np.cumsum(backwards**2)
    number = np.arange(1, count + 1)
    error = (squares - sums**2 / number) / number**2
    kept = number >= max(2, count - count // 2)
    least = np.where(kept, np.maximum(error, 0.0), np.inf)
    # Rounding must not decide between endings that are equally good: the longest is taken.
    good = np.flatnonzero(least <= least.min() + 1e-9 * float(error.max(initial=0.0)))
    return int(count - 1 - good[-1])


def of_events(
    begun_ns: Floats,
    complete_ns: Floats,
    latency_ns: Floats,
    begin_ns: float,
    end_ns: float,
    interval_ns: float | None,
) -> Steady:
    """Return what is known of the events of a run; arrays have a value per event, NaN for what did not come.

    Args:
        begun_ns: when they began.
        complete_ns: when they were complete.
        latency_ns: from due, or else from begun, to complete.
        begin_ns: end of a given warm-up, in addition to what is left out here; 0: none.
        end_ns: when the run ended.
        interval_ns: from one due event to the next; None if nothing is due.
    """
    done = complete_ns >= begin_ns
    if done.sum() < FEWEST:
        return Steady(_simple(complete_ns[done]), math.nan, math.nan, math.nan, int(done.sum()))
    order = np.argsort(complete_ns[done], kind="stable")
    moments, latencies = complete_ns[done][order], latency_ns[done][order]
    inside = moments <= _last(begun_ns, moments, end_ns)
    moments, latencies = moments[inside], latencies[inside]
    kept = moments[settled(latencies) :]
    slope, half = _slope(kept)
    growth = (math.nan, math.nan)
    if interval_ns:
        growth = _growth(latency_ns, begin_ns, end_ns, interval_ns)
        # More than are due are built only by catching up.
        slope = min(slope, 1 / interval_ns)
    return Steady(slope, half, *growth, len(kept))


def _simple(moments: Floats) -> float:
    """Return the completions per time of a few events; NaN for less than two moments."""
    spread = float(np.ptp(moments)) if len(moments) else 0.0
    return float((moments > moments.min()).sum()) / spread if spread > 0 else math.nan


def _last(begun_ns: Floats, moments: Floats, end_ns: float) -> float:
    """Return the time from which on the program runs empty: the last event has begun. If events began long
    before they were built, the last tenth of them is taken as the end.
    """
    begun = begun_ns[~np.isnan(begun_ns)]
    if len(begun) < len(begun_ns):
        return end_ns
    last = float(begun.max())
    return last if (moments <= last).sum() >= len(moments) / 2 else float(np.quantile(moments, 0.9))


def _slope(moments: Floats) -> tuple[float, float]:
    """Return completions per time by least squares, and the half-width from batches of their intervals."""
    if len(moments) < FEWEST or moments[-1] <= moments[0]:
        return _simple(moments), math.nan
    about = moments - moments.mean()
    number = np.arange(len(moments)) - (len(moments) - 1) / 2
    slope = float((about * number).sum() / (about**2).sum())
    gaps = np.diff(moments)
    found = statistics.ratio(np.ones(len(gaps)), gaps)
    return slope, found.ci95


def _growth(latency_ns: Floats, begin_ns: float, end_ns: float, interval_ns: float) -> tuple[float, float]:
    """Return the growth of latency per event and its half-width, as shares of the interval."""
    due = np.arange(len(latency_ns)) * interval_ns
    counted = (due >= begin_ns) & (due < end_ns)
    done = counted & ~np.isnan(latency_ns)
    longest = float(latency_ns[done].max(initial=0.0))
    overdue = int((counted & ~done & (end_ns - due > longest)).sum())
    if overdue >= max(_FEWEST_BATCHES, KEPT_UP * counted.sum()):
        return overdue / int(counted.sum()), 0.0
    waited = latency_ns[done]
    waited = waited[settled(waited) :]
    means = _batches(waited)
    count = len(means)
    if count < _FEWEST_BATCHES:
        return math.nan, math.nan
    size = len(waited) / count
    number = np.arange(count) - (count - 1) / 2
    spread = float((number**2).sum())
    slope = float((number * means).sum()) / spread
    left = means - means.mean() - slope * number
    error = math.sqrt(float((left**2).sum()) / (count - 2) / spread)
    per_event = size * interval_ns
    return slope / per_event, statistics.student_t95(count - 2) * error / per_event


def _batches(values: Floats) -> Floats:
    """Return the means of ten to twenty equal batches; what is left over at the start is left out."""
    each = max(1, len(values) // 10)
    whole = len(values) // each * each
    return values[len(values) - whole :].reshape(-1, each).mean(axis=1)
