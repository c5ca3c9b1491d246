"""Means with confidence intervals from the batches of one run, and the histogram of its latencies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The latency histogram as an object for plotting libraries (the UHI PlottableHistogram protocol).

BINS_PER_DECADE = 40


class Axis:
    """An axis with bins between ``edges``, shape (bins + 1,)."""

    traits = SimpleNamespace(circular=False, discrete=False)

    def __init__(self, edges: NDArray[np.float64], label: str) -> None:
        self.edges = edges
        self.label = label

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, index: int) -> tuple[float, float]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"bin {index} of an axis with {len(self)} bins")
        index %= len(self)
        return float(self.edges[index]), float(self.edges[index + 1])

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Axis) and np.array_equal(self.edges, other.edges)

    __hash__ = None  # type: ignore[assignment]


class Histogram:
    """Counts in logarithmic bins, for any library that accepts UHI histograms (mplhep, hist, uproot)."""

    kind = "COUNT"

    def __init__(self, edges: NDArray[np.float64], counts: NDArray[np.int64], label: str) -> None:
        self._axis = Axis(edges, label)
        self._counts = counts

    @classmethod
    def of(cls, values: NDArray[np.float64], counts: NDArray[np.int64], label: str) -> Histogram:
        """Make a histogram from ascending values and their counts, with ``BINS_PER_DECADE`` bins per factor
        of ten at fixed edges, so that histograms of different runs can be added.
        """
        positive = np.maximum(values, 1e-3)
        if len(values) == 0:
            return cls(np.array([1.0, 10.0]), np.zeros(1, np.int64), label)
        place = np.floor(np.log10(positive) * BINS_PER_DECADE).astype(np.int64)
        first, last = int(place[0]), int(place[-1])
        edges = 10.0 ** (np.arange(first, last + 2) / BINS_PER_DECADE)
        binned = np.bincount(place - first, weights=counts, minlength=last - first + 1)
        return cls(edges, binned.astype(np.int64), label)

    @property
    def axes(self) -> tuple[Axis]:
        """The one axis."""
        return (self._axis,)

    def values(self) -> NDArray[np.float64]:
        """Return the counts per bin as floats, shape (bins,)."""
        return self._counts.astype(np.float64)

    def counts(self) -> NDArray[np.float64]:
        """Return the counts per bin, equal to ``values()`` because bins have no weights."""
        return self.values()

    def variances(self) -> NDArray[np.float64]:
        """Return the variance of each count, assumed Poisson."""
        return self.values()

    def _to_uhi_(self) -> dict[str, Any]:
        """Return the form from which ``hist.Hist`` and ``boost_histogram.Histogram`` are made."""
        axis = {"type": "variable", "edges": self._axis.edges, "metadata": {"label": self._axis.label}}
        axis |= {"underflow": False, "overflow": False, "circular": False}
        storage = {"type": "int", "values": self._counts}
        return {"uhi_schema": 1, "writer_info": {}, "metadata": {}, "axes": [axis], "storage": storage}

    def __len__(self) -> int:
        return len(self._axis)

    def __repr__(self) -> str:
        return f"Histogram({len(self)} bins, {int(self._counts.sum())} packets, {self._axis.label})"


Floats = NDArray[np.float64]

FEWEST_BATCHES = 20
"""Batches are merged while at least this many remain."""

FEWEST_VALUES = 10
"""Fewer merged batches with anything in them give no interval: a handful of equal packets would say ± 0."""

TAIL_STEPS = 400
"""Approximate maximum number of steps of a thinned tail."""

# Student's t, two-sided 95 %, for 1 to 30 degrees of freedom; any table of the distribution has them.
_T95 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
_Z95 = 1.9599639845


def student_t95(freedom: int) -> float:
    """Return Student's t of a two-sided 95 % interval.

    Above 30 degrees of freedom it is computed by the first two terms of the expansion about the normal
    quantile (Abramowitz and Stegun 26.7.5), with an error below 0.0002.
    """
    if freedom < 1:
        raise ValueError("a confidence interval needs at least two batches")
    if freedom <= len(_T95):
        return _T95[freedom - 1]
    z = _Z95
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def mean_of_runs(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of two or more independent runs and the half-width of its 95 % confidence interval."""
    first = values[0]
    mean = first + sum(value - first for value in values) / len(values)  # equal runs have no spread at all
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return mean, student_t95(len(values) - 1) * spread / math.sqrt(len(values))


def merge(values: Floats) -> Floats:
    """Merge neighbouring batches so that 20 to 39 long batches remain.

    Shape (batches, …) to (merged, …). A remainder is added to the last batch. Fewer than 40 batches are
    returned unchanged.
    """
    together = len(values) // FEWEST_BATCHES
    if together < 2:
        return values
    starts = np.arange(len(values) // together) * together
    return np.add.reduceat(values, starts, axis=0)


@dataclass(frozen=True)
class Estimate:
    """A ratio of sums with the half-width of its 95 % confidence interval; NaN if unknown."""

    mean: float
    ci95: float
    batches: int


def ratio(numerator: Floats, denominator: Floats) -> Estimate:
    """Return Σ numerator / Σ denominator over batches, with its half-width.

    The half-width is that of the classical ratio estimator: the residuals ``n - r d`` of the batches are
    assumed independent, and Student's t is used. Both arguments have shape (batches,); empty batches count.
    """
    below = float(denominator.sum())
    if below <= 0.0:
        return Estimate(math.nan, math.nan, 0)
    mean = float(numerator.sum()) / below
    top, bottom = merge(numerator.astype(np.float64)), merge(denominator.astype(np.float64))
    count = len(top)
    if np.count_nonzero(top) < FEWEST_VALUES:
        return Estimate(mean, math.nan, count)
    residuals = top - mean * bottom
    spread = math.sqrt(float((residuals**2).sum()) / (count - 1) * count)
    return Estimate(mean, student_t95(count - 1) * spread / below, count)


def merged_ratios(numerator: Floats, denominator: Floats) -> Floats:
    """Return the ratios of the merged batches that have one."""
    top, bottom = merge(numerator.astype(np.float64)), merge(denominator.astype(np.float64))
    used = bottom > 0
    return top[used] / bottom[used]


def lag1_correlation(numerator: Floats, denominator: Floats) -> float:
    """Return the correlation of neighbouring merged ratios; NaN for fewer than three or if all are equal."""
    ratios = merged_ratios(numerator, denominator)
    if len(ratios) < 3:
        return math.nan
    about = ratios - ratios.mean()
    total = float((about**2).sum())
    return float((about[1:] * about[:-1]).sum()) / total if total > 0 else math.nan


def neighbours_alike(ratios: Floats) -> float:
    """Return von Neumann's ratio of successive batches as a standard normal value; 0 for fewer than eight.

    It is large if neighbours are similar, so that the half-width is too small. For independent normal values
    the mean is 0 and the variance 1, exactly (J. von Neumann, 1941; G. S. Fishman, 1978, for batch means).
    """
    count = len(ratios)
    spread = float(((ratios - ratios.mean()) ** 2).sum()) if count else 0.0
    if count < 8 or spread <= 0.0:
        return 0.0
    steps = float((np.diff(ratios) ** 2).sum())
    return (1.0 - steps / (2.0 * spread)) * math.sqrt((count**2 - 1) / (count - 2))


@lru_cache(maxsize=64)
def _pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of batches, the earlier one first."""
    return np.triu_indices(count, 1)


def trend(ratios: Floats) -> float:
    """Return Kendall's number of ascending minus descending pairs as a standard normal value: positive if
    values rise; 0 for fewer than eight batches.

    For independent values of any distribution the mean is 0 and the variance 1, less with ties (H. B. Mann,
    1945).
    """
    count = len(ratios)
    if count < 8:
        return 0.0
    later = _pairs(count)
    ordered = float(np.sign(ratios[later[1]] - ratios[later[0]]).sum())
    return ordered / math.sqrt(count * (count - 1) * (2 * count + 5) / 18)


PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}
"""The percentiles of every latency: key of the summary and share."""


def percentiles(values: Floats, counts: NDArray[np.int64], low: float, high: float) -> dict[str, float]:
    """Return the :data:`PERCENTILES` of a histogram, NaN if it is empty.

    The extremes ``low`` and ``high`` are exact, the histogram is not: percentiles are limited to this range.
    """
    found = [
        value
        for share in PERCENTILES.values()
        for value in (percentile(values, counts, share), *percentile_ci95(values, counts, share))
    ]
    # NaN stays.
    return dict(zip(PERCENTILE_KEYS, np.clip(found, low, high).tolist(), strict=True))


def known(value: float) -> float | None:
    """Return a number; None for NaN."""
    return None if math.isnan(value) else float(value)


def ends_of(key: str) -> tuple[str, str]:
    """Return the keys of both ends of the interval of a percentile."""
    return f"{key}_ci95_low", f"{key}_ci95_high"


PERCENTILE_KEYS = tuple(name for key in PERCENTILES for name in (key, *ends_of(key)))
"""The keys of all percentiles and of the ends of their intervals."""


def percentile_ci95(values: Floats, counts: NDArray[np.int64], share: float) -> tuple[float, float]:
    """Return the 95 % confidence interval of a percentile by order statistics, each end NaN if no value is
    that rare: the number of values below the percentile is binomial, whatever their distribution. They are
    taken as independent.
    """
    total = int(counts.sum())
    half = _Z95 * math.sqrt(total * share * (1 - share))
    first, last = math.floor(total * share - half), math.ceil(total * share + half) + 1
    cumulated = np.cumsum(counts)
    low = float(values[int(np.searchsorted(cumulated, first))]) if total and first >= 1 else math.nan
    high = float(values[int(np.searchsorted(cumulated, last))]) if total and last <= total else math.nan
    return low, high


def percentile(values: Floats, counts: NDArray[np.int64], share: float) -> float:
    """Return the smallest value that at least ``share`` of the counts do not exceed; NaN without counts."""
    total = int(counts.sum())
    if total == 0:
        return math.nan
    # The tolerance keeps 0.9 of 10 from becoming the 10th because of the last bit of 0.9.
    rank = max(1, math.ceil(share * total - 1e-9 * total))
    return float(values[int(np.searchsorted(np.cumsum(counts), rank))])


def tail(values: Floats, counts: NDArray[np.int64], steps: int = TAIL_STEPS) -> dict[str, list[float]]:
    """Return ``latency_ns`` and ``share_longer`` of ascending ``values``, thinned to about ``steps`` points,
    with all of the rarest values.
    """
    total = int(counts.sum())
    shares = (total - np.cumsum(counts)) / max(1, total)
    number = np.arange(len(values))
    stride = max(1, 2 * len(values) // steps)
    kept = (number % stride == 0) | (number >= len(values) - steps // 2)
    return {"latency_ns": values[kept].tolist(), "share_longer": shares[kept].tolist()}
