"""How many packets each pair of terminals exchanges, for bounds on the throughput."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabriloom.traffic.kinds import FIXED, HOT_SPOT, LIST, SILENT, UNIFORM, WEIGHTED, Columns

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Demand:
    """Packets per unit of time; the busiest source sends 1 in all."""

    source: np.ndarray
    """Per listed pair: the terminal that sends."""
    target: np.ndarray
    packets: np.ndarray
    even: np.ndarray
    """Per terminal: what it sends to all others alike, besides; a list of all pairs would be too long."""

    @property
    def pairs(self) -> Pairs:
        """The listed pairs as columns."""
        return self.source, self.target, self.packets

    def sent(self) -> np.ndarray:
        """Per terminal: what it sends."""
        return self.even + np.bincount(self.source, weights=self.packets, minlength=len(self.even))

    def received(self) -> np.ndarray:
        """Per terminal: what is sent to it."""
        others = (self.even.sum() - self.even) / max(1, len(self.even) - 1)
        return others + np.bincount(self.target, weights=self.packets, minlength=len(self.even))


def demand(columns: Columns) -> Demand:
    """What each terminal sends to each other. Descriptors are counted, whatever their waits."""
    arrival, kind = columns["source_arrival"], columns["source_target"]
    rate = _rates(columns)
    parts: list[Pairs] = []
    active = (rate > 0) & (arrival != LIST)
    fixed = np.flatnonzero(active & (kind == FIXED))
    parts.append((fixed, columns["target_fixed"][fixed], rate[fixed]))
    hot = np.flatnonzero(active & (kind == HOT_SPOT))
    parts.append((hot, columns["target_fixed"][hot], rate[hot] * columns["target_share"][hot]))
    if np.any(kind == WEIGHTED):
        parts.append(_weighted(columns, rate))
    if len(columns["list_start"]):
        parts.append(_listed(columns))
    source, target, packets = (np.concatenate([part[i] for part in parts]) for i in range(3))
    some = packets > 0
    cold = 1 - np.where(kind == HOT_SPOT, columns["target_share"], 0.0)
    even = np.where(active & np.isin(kind, (UNIFORM, HOT_SPOT)), rate * cold, 0.0)
    return Demand(
        source[some].astype(np.int64), target[some].astype(np.int64), packets[some].astype(np.float64), even
    )


def _rates(columns: Columns) -> np.ndarray:
    """Packets of each source relative to the busiest; equal where nothing else is known."""
    interval, arrival = columns["source_interval_grains"], columns["source_arrival"]
    rate = (arrival != SILENT).astype(np.float64)
    timed = (rate > 0) & (interval > 0) & ~np.isin(arrival, (LIST,))
    period = interval + np.divide(
        columns["source_gap_grains"],
        columns["source_burst"],
        out=np.zeros_like(interval),
        where=columns["source_burst"] > 0,
    )
    if np.any(timed) and np.all(columns["source_target"] == WEIGHTED):
        rate[timed] = period[timed].min() / period[timed]
    return rate


def _weighted(columns: Columns, rate: np.ndarray) -> Pairs:
    start = columns["weight_start"].astype(np.int64)
    source = np.repeat(np.arange(len(start) - 1), np.diff(start))
    share = np.diff(columns["weight_cumulative"], prepend=0.0)
    first = start[:-1][np.diff(start) > 0]
    share[first] = columns["weight_cumulative"][first]
    return source, columns["weight_target"], share * rate[source]


def _listed(columns: Columns) -> Pairs:
    start = columns["list_start"].astype(np.int64)
    rows = np.diff(start)
    source = np.repeat(np.arange(len(rows)), rows)
    return source, columns["list_target"], np.full(len(source), 1.0 / max(1, rows.max()))
