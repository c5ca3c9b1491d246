"""Choose the next points of a curve: in the intervals where it bends.

An interval between two points is rated by the areas of the triangles that its ends form with their
neighbours, in a space in which load, accepted throughput and the logarithm of latency each go from 0 to 1,
and slightly by its length. Runs that do not keep up are placed at the top, because their latency depends on
the length of the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .points import Point

FIRST = (0.1, 0.4, 0.7, 1.0)
"""Number of loads with which a curve begins."""
AT_A_TIME = 4
"""New points per round, independent of the number of jobs, so that the points are too."""
NARROWEST = 1 / 256
"""Intervals narrower than this share of the whole are not split."""
_BY_LENGTH = 0.02

Place = tuple[float, float, float]
Settings = dict[str, Any]
Found = tuple[list[Point | None], bool]


def places(
    loads: Sequence[float], accepted: Sequence[float], latencies: Sequence[float | None]
) -> list[Place]:
    """Return the points of the space by load. ``latencies``: None for a run that does not keep up."""
    logs = [None if not late or late <= 0 else math.log(late) for late in latencies]
    known = [log for log in logs if log is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    most, span = max(accepted) or 1.0, loads[-1] - loads[0] or 1.0
    # What does not keep up stands above all that does.
    wide = (high - low) * 1.5 or 1.0
    heights = [1.0 if log is None else (log - low) / wide for log in logs]
    return [
        ((load - loads[0]) / span, rate / most, height)
        for load, rate, height in zip(loads, accepted, heights, strict=True)
    ]


def splits(found: Sequence[Place], most: int) -> list[int]:
    """Return the intervals to split, the best first; interval ``n`` begins at point ``n``."""
    areas = [0.0, *(_area(*found[at : at + 3]) for at in range(len(found) - 2)), 0.0]
    worth: dict[int, float] = {}
    for at, (one, other) in enumerate(pairwise(found)):
        if other[0] - one[0] > NARROWEST:
            length = math.dist(one, other) + other[0] - one[0]
            worth[at] = math.sqrt((areas[at] + areas[at + 1]) / 2) + _BY_LENGTH * length
    return sorted(worth, key=lambda at: (-worth[at], at))[:most]


def _area(a: Place, b: Place, c: Place) -> float:
    """Return the area of a triangle in space."""
    one, other = [y - x for x, y in zip(a, b, strict=True)], [y - x for x, y in zip(a, c, strict=True)]
    across = sum(x * y for x, y in zip(one, other, strict=True)) ** 2
    return math.sqrt(max(0.0, sum(x * x for x in one) * sum(x * x for x in other) - across)) / 2


def middle(low: float, high: float) -> float:
    """Return the load in the middle of an interval, with few digits."""
    return float(f"{(low + high) / 2:.4g}")


def refined(
    points: Sequence[Point], path: str, wanted: int, run: Callable[[list[Settings]], Found]
) -> tuple[list[Point], bool]:
    """Add points until there are ``wanted`` along ``path`` for each combination of the other settings.

    ``run`` runs settings and also returns whether it was interrupted; so does this function.
    """
    lines: dict[str, list[Point]] = {}
    for point in points:
        lines.setdefault(_others(point, path), []).append(point)
    interrupted = False
    while not interrupted:
        new = [settings for line in lines.values() for settings in _between(line, path, wanted)]
        if not new:
            break
        found, interrupted = run(new)
        for point in found:
            if point is not None:
                lines[_others(point, path)].append(point)
        for line in lines.values():
            line.sort(key=lambda point: point.settings[path])
    return [point for line in lines.values() for point in line], interrupted


def _others(point: Point, path: str) -> str:
    return repr({name: value for name, value in point.settings.items() if name != path})


def _between(line: list[Point], path: str, wanted: int) -> list[Settings]:
    """Return the settings of the next points of a line, whose points are sorted."""
    loads = [float(point.settings[path]) for point in line]
    rates = [point.summary["accepted_mbytes_per_s"] or 0.0 for point in line]
    summaries = [point.summary for point in line]
    late = [one["total_latency_ns"]["mean"] if one["keeps_up"] is not False else None for one in summaries]
    most = min(AT_A_TIME, wanted - len(line))
    if most <= 0 or len(line) < 2:
        return []
    parts = splits(places(loads, rates, late), most)
    return [{**line[at].settings, path: middle(loads[at], loads[at + 1])} for at in parts]
