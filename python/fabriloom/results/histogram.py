"""The latency histogram as an object for plotting libraries (the UHI PlottableHistogram protocol)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS_PER_DECADE = 40


@dataclass(frozen=True)
class Traits:
    """The kind of axis, in the words of the protocol."""

    circular: bool = False
    discrete: bool = False


class Axis:
    """An axis with bins between ``edges``, shape (bins + 1,)."""

    def __init__(self, edges: NDArray[np.float64], label: str) -> None:
        self.edges = edges
        self.label = label

    @property
    def traits(self) -> Traits:
        """Neither circular nor discrete."""
        return Traits()

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
