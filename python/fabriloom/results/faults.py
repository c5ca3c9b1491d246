"""Effects of failed links on a run: lost packets by place and cause, and down times of links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import FAULT_KIND
from . import tables
from .figures import figures, in_percent

CAUSES = ("cut", "discarded", "timed_out")


def has_faults(native: Mapping[str, Any]) -> bool:
    """Whether a run has faults, or switches with a watchdog or without room for packets."""
    return len(tables.column(native, "link_cut")) > 0


def outages(native: Mapping[str, Any]) -> list[NDArray[np.int64]]:
    """Return link, begin and end in ticks of everything but single wrong bits."""
    lasts = tables.column(native, "fault_kind") <= FAULT_KIND.STUCK
    names = ("link", "down_ticks", "up_ticks")
    return [tables.column(native, f"fault_{name}")[lasts].astype(np.int64) for name in names]


def narrowed(native: Mapping[str, Any]) -> list[NDArray[np.int64]]:
    """Return the same of links while they have fewer physical lanes than at first."""
    changes = np.flatnonzero(tables.column(native, "fault_kind") == FAULT_KIND.RATE)
    open_since, found = dict[int, int](), list[tuple[int, int, int]]()
    for row in changes.tolist():
        link, down = int(native["fault_link"][row]), int(native["fault_down_ticks"][row])
        slower = native["fault_character_ticks"][row] > native["link_character_ticks"][link]
        if slower:
            open_since.setdefault(link, down)
        elif link in open_since:
            found.append((link, open_since.pop(link), int(native["fault_up_ticks"][row])))
    found += [(link, down, int(native["end_time_ticks"])) for link, down in open_since.items()]
    return list(np.array(found, np.int64).reshape(-1, 3).T)


def within(native: Mapping[str, Any], links: int, times: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return, per link, how many ticks of the measuring window such times cover."""
    end = int(native["end_time_ticks"])
    start = end - tables.window_ticks(native)
    link, down, up = times
    inside = np.clip(up, start, end) - np.clip(down, start, end)
    found = np.zeros(links, np.int64)
    np.add.at(found, link, inside)
    return np.minimum(found, end - start)  # what is behind a link of a ring can be stuck while it is down


RECOVERED = 0.95
"""Share of the earlier throughput that counts as recovered."""
LEAST_BATCHES = 4
"""Fewest batches from which a throughput is computed."""


def _span(native: Mapping[str, Any]) -> tuple[int, int]:
    """Return when the first link fails or slows down, and when all run as before; if never, the end.

    The second is 0 if none does.
    """
    end = int(native["end_time_ticks"])
    down, up = (np.concatenate(both) for both in zip(outages(native)[1:], narrowed(native)[1:], strict=True))
    return min(int(down.min(initial=end)), end), min(int(up.max(initial=0)), end)


def moments(native: Mapping[str, Any], tick_ns: float) -> dict[str, float]:
    """Return the times in ns of the first failure and of the last repair, by name, those within the run."""
    end, (first, last) = int(native["end_time_ticks"]), _span(native)
    found = {"first failure": first, "last repair": last}
    return {name: ticks * tick_ns for name, ticks in found.items() if 0 < ticks < end}


AROUND = ("before_mbytes_per_s", "during_mbytes_per_s", "after_mbytes_per_s", "recovery_ns")


def around(native: Mapping[str, Any], tick_ns: float) -> dict[str, float | None]:
    """Return the throughput before, during and after the failures, and the time to recover."""
    first, last = _span(native)
    if not last:
        return dict.fromkeys(AROUND)
    inside, starts, ends = tables.batch_bounds(native)
    size = tables.column(native, "batch_bytes")[inside].astype(np.float64)
    rates = tables.per(size * 1e3, (ends - starts) * tick_ns)
    parts = {"before": ends <= first, "during": (starts < last) & (ends > first), "after": starts >= last}

    def mean(part: NDArray[np.bool_]) -> float | None:
        length_ns = float((ends - starts)[part].sum()) * tick_ns
        return float(size[part].sum()) * 1e3 / length_ns if part.sum() >= LEAST_BATCHES else None

    found = dict(zip(AROUND, (*map(mean, parts.values()), None), strict=True))
    before, recovery_ns = found["before_mbytes_per_s"], None
    if before is not None:
        again = np.flatnonzero(parts["after"] & (rates >= RECOVERED * before))
        recovery_ns = float(ends[again[0]] - last) * tick_ns if len(again) else None
    return {**found, "recovery_ns": recovery_ns}


def around_text(faults: Mapping[str, Any]) -> str:
    """Return a sentence about the throughput around the failures; empty if it is unknown."""
    before, during, after = (faults[f"{name}_mbytes_per_s"] for name in ("before", "during", "after"))
    if before is None or during is None:
        return ""
    text = f"{figures(before)} MB/s before, {figures(during)} from the first failure to the last repair"
    if after is None:
        return text
    recovery_ns = faults["recovery_ns"]
    soon = "" if recovery_ns is None else f", 95 % of that before within {figures(recovery_ns / 1e3)} µs"
    return f"{text}, {figures(after)} after it{soon}"


def lost_text(faults: Mapping[str, Any]) -> str:
    """Return numbers, causes and places of lost packets as a part of a sentence."""
    worst = f"; most at {faults['worst_link']}" if faults["worst_link"] else ""
    timed_out = f", {faults['timed_out']:,} timed out" if faults["timed_out"] else ""
    return f"{faults['cut']:,} cut, {faults['discarded']:,} discarded{timed_out}{worst}"


def verdict(summary: Mapping[str, Any]) -> str:
    """Summarise a run with failures in a sentence."""
    faults, offered = summary["faults"], summary["offered_mbytes_per_s"]
    accepted = summary["accepted_mbytes_per_s"]
    down = f"{faults['links']} of {summary['network']['links']:,} links down, stuck or slower for a time"
    hit = "wrong bits" if faults["cut"] else "full buffers" if faults["discarded"] else "a watchdog"
    links = down if faults["links"] else hit
    share = f", {in_percent(accepted / offered)} of what was offered" if offered else ""
    if offered and accepted > offered:
        share = (
            f", more than the {figures(offered)} MB/s offered meanwhile: the run is too short to compare them"
        )
    return f"With {links}, accepts {figures(accepted)} MB/s{share}; lost: {lost_text(faults)}"
