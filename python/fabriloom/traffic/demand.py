"""How many packets each pair of terminals exchanges, for bounds on the throughput."""

from __future__ import annotations

import numpy as np

from fabriloom.traffic.kinds import FIXED, HOT_SPOT, LIST, SILENT, UNIFORM, WEIGHTED, Columns

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
_MOST_PAIRS = 2**22


def demand(columns: Columns) -> Pairs | None:
    """Source, destination and packets (the busiest source sends 1 in all), or None if all is uniform.

    For a hot spot, or some senders only, of more than 2048 terminals the uniform part is left out: a bound
    made of the rest still holds, but is looser. Descriptors are counted, whatever their waits.
    """
    arrival, kind = columns["source_arrival"], columns["source_target"]
    count = len(arrival)
    rate = _rates(columns)
    if np.all((kind == UNIFORM) & (rate == 1)):
        return None
    parts: list[Pairs] = []
    active = rate > 0
    fixed = np.flatnonzero(active & (kind == FIXED) & (arrival != LIST))
    parts.append((fixed, columns["target_fixed"][fixed], rate[fixed]))
    hot = np.flatnonzero(active & (kind == HOT_SPOT))
    parts.append((hot, columns["target_fixed"][hot], rate[hot] * columns["target_share"][hot]))
    even = np.flatnonzero(active & np.isin(kind, (UNIFORM, HOT_SPOT)) & (arrival != LIST))
    if len(even) * count <= _MOST_PAIRS:
        parts.append(
            _uniform(even, count, rate * (1 - np.where(kind == HOT_SPOT, columns["target_share"], 0)))
        )
    if np.any(kind == WEIGHTED):
        parts.append(_weighted(columns, rate))
    if len(columns["list_start"]):
        parts.append(_listed(columns))
    source, target, packets = (np.concatenate([part[i] for part in parts]) for i in range(3))
    some = packets > 0
    return source[some].astype(np.int64), target[some].astype(np.int64), packets[some].astype(np.float64)


def _rates(columns: Columns) -> np.ndarray:
    """Packets of each source relative to the busiest; equal where nothing else is known."""
    interval, arrival = columns["source_interval_ticks"], columns["source_arrival"]
    rate = (arrival != SILENT).astype(np.float64)
    timed = (rate > 0) & (interval > 0) & ~np.isin(arrival, (LIST,))
    period = interval + np.divide(
        columns["source_gap_ticks"],
        columns["source_burst"],
        out=np.zeros_like(interval),
        where=columns["source_burst"] > 0,
    )
    if np.any(timed) and np.all(columns["source_target"] == WEIGHTED):
        rate[timed] = period[timed].min() / period[timed]
    return rate


def _uniform(sources: np.ndarray, count: int, rate: np.ndarray) -> Pairs:
    source = np.repeat(sources, count)
    target = np.tile(np.arange(count), len(sources))
    other = source != target
    source, target = source[other], target[other]
    return source, target, rate[source] / max(1, count - 1)


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
