"""The axes of charts: one rule for reports, figures for papers and the laboratory.

The wait of packets before the network may be thousands of times as long as their way through it, and would
press the curve of the network flat. So the axis ends a little above the solid lines and the published points,
and a dashed line leaves it at the top. ``plots.js`` applies the same rule to points that are still coming in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .page import Series

MOST_ON_A_LINE = 30
"""If solid points differ by more than this factor, the axis is logarithmic, so that low ones stay visible."""
ROOM, ROOM_LOG = 2, 10
"""An axis that a dashed line leaves ends at this multiple of the highest solid point."""
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def is_log(series: Sequence[Series]) -> bool:
    """Return whether a vertical axis is logarithmic."""
    heights = [y for y in _heights(series, dashed=False) if y > 0]
    return bool(heights) and max(heights) > MOST_ON_A_LINE * min(heights)


def top(series: Sequence[Series], log: bool) -> float | None:
    """Return where a vertical axis ends; None: where its points end."""
    end = (ROOM_LOG if log else ROOM) * max(_heights(series, dashed=False), default=0.0)
    if not end or max(_heights(series, dashed=True), default=0.0) <= end:
        return None
    power = 10.0 ** math.floor(math.log10(end))
    return next(step * power for step in _ROUND if step * power >= end * 0.999999)


def _heights(series: Sequence[Series], dashed: bool) -> list[float]:
    chosen = (one for one in series if (one.style == "dashed") == dashed)
    return [point[1] for one in chosen for point in one.points if point[1] is not None]


@dataclass(frozen=True)
class Units:
    """The units of throughput and latency on the axes of charts."""

    accepted: str
    latency: str
    of_flits: bool = False

    def throughput(self, summary: Mapping[str, Any], end: str = "") -> float | None:
        """Return the accepted throughput of a run, or its half-width (``end="_ci95"``)."""
        if self.of_flits:
            return summary["flits"][f"accepted_per_node_cycle{end}"]
        return summary[f"accepted_mbytes_per_s{end}"]

    def time(self, summary: Mapping[str, Any], value_ns: float | None) -> float | None:
        """Return a time of a run."""
        if value_ns is None:
            return None
        return value_ns / (summary["flits"]["cycle_ns"] if self.of_flits else 1e3)


USUAL = Units("accepted throughput (MB/s)", "mean latency (µs)")
_FLITS = Units("accepted (flits/node/cycle)", "mean latency (cycles)", of_flits=True)


def units_of(summaries: Iterable[Mapping[str, Any]]) -> Units:
    """Return flits and cycles where all runs are of flits; else MB/s and µs."""
    found = [*summaries]
    return _FLITS if found and all("flits" in summary for summary in found) else USUAL
