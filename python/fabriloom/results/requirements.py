"""Requirements of flows and messages, their guarantees, and what a run has observed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..process.libraries import pl
from .ends import STUCK
from .statistics import percentile
from .tables import cells, column

if TYPE_CHECKING:
    from ..bounds.found import Promise
    from ..compile.programs import Required

_LOSERS = 6
"""Most flows that are named as losing packets."""
GUARANTEED, MET, MISSED, UNKNOWN = "guaranteed", "met", "missed", "unknown"


@dataclass(frozen=True)
class Seen:
    """A flow with a requirement, and what a run has seen of it."""

    of: Promise | Required
    packets: int
    total_latency_ns_p99_99: float | None
    total_latency_ns_max: float | None
    lost_packets: int
    """Packets that never arrive in the whole run: lost by faults, removed, or refused by a full queue."""
    oldest_ns: float | None
    """The age of the oldest packet that had not arrived when the run ended; None if all had."""
    stuck: bool
    """Whether packets of the run will never arrive."""

    @property
    def verdict(self) -> str:
        """One word. A late packet outweighs any guarantee, and a packet that never arrives is late."""
        one = self.of
        late = max(self.total_latency_ns_max or 0.0, self.oldest_ns or 0.0) > one.requirement_ns
        if late or self.lost_packets:
            return MISSED
        if one.bound_ns is not None and one.bound_ns <= one.requirement_ns:
            return GUARANTEED
        return UNKNOWN if self.stuck or self.total_latency_ns_max is None else MET

    @property
    def margin(self) -> float | None:
        """The share of the requirement that the slowest packet leaves; None if one never arrived."""
        if self.lost_packets or self.total_latency_ns_max is None:
            return None
        return margin(self.of.requirement_ns, max(self.total_latency_ns_max, self.oldest_ns or 0.0))

    @property
    def bound_margin(self) -> float | None:
        """The share of the requirement that the bound leaves."""
        return margin(self.of.requirement_ns, self.of.bound_ns)


def seen(native: Mapping[str, Any], promises: Sequence[Promise], tick_ns: float) -> list[Seen]:
    """Return one per flow with a requirement, in the order of the flows."""
    halted, end = str(native["end_reason"]) in STUCK, int(native["end_time_ticks"])
    lost, refused, oldest = (
        column(native, f"carried_{name}") for name in ("lost", "refused", "oldest_ticks")
    )
    found = []
    for place, one in enumerate(promises):
        gone = int(lost[one.row] if len(lost) else 0) + int(refused[one.row])
        since = int(oldest[one.row])
        age_ns = (end - since) * tick_ns if since >= 0 else None
        found.append(Seen(one, *_seen(native, place, tick_ns), gone, age_ns, halted))
    return found


def margin(requirement_ns: float, value_ns: float | None) -> float | None:
    """Return the share of a requirement that is left; negative if it is missed."""
    return None if value_ns is None else (requirement_ns - value_ns) / requirement_ns


def _seen(native: Mapping[str, Any], place: int, tick_ns: float) -> tuple[int, float | None, float | None]:
    """Return the packets of a watched flow and the 99.99 % percentile and maximum of their total latency."""
    packets = int(column(native, "watched_packets")[place])
    if not packets:
        return 0, None, None
    values, counts = cells(native, "watched", place)
    longest = int(column(native, "watched_total_max_ticks")[place])
    most = min(percentile(values, counts, 0.9999), longest)
    return packets, most * tick_ns, longest * tick_ns


def broken(delays: Iterable[tuple[float | None, float | None]]) -> list[str]:
    """Return a warning if packets took longer than is guaranteed: then the bound or the run is wrong.

    ``delays``: by flow the longest one seen, and the bound.
    """
    late = sum(
        longest is not None and bound is not None and longest > bound * (1 + 1e-9)
        for longest, bound in delays
    )
    if not late:
        return []
    words = "a packet of 1 flow" if late == 1 else f"packets of {late} flows"
    return [
        f"{words} took longer than is guaranteed: this is a fault of Fabriloom. Do not use these delays, "
        "and report it with the scenario"
    ]


def worst_first(row: Mapping[str, Any]) -> tuple[int, float]:
    """Return the sort key of a row: its verdict, then its least margin."""
    known = [row[key] for key in ("margin", "bound_margin") if row[key] is not None]
    left = -math.inf if row.get("lost_packets") else min(known, default=0.0)
    return (MISSED, UNKNOWN, MET, GUARANTEED).index(row["verdict"]), left


def counted(table: pl.DataFrame) -> dict[str, Any]:
    """Count the requirements by verdict, with the least margins, by the keys of the summary."""
    found: dict[str, Any] = {"count": len(table)}
    for word in (GUARANTEED, MET, MISSED, UNKNOWN):
        found[word] = int((table["verdict"] == word).sum())
    for name in ("margin", "bound_margin"):
        found[f"least_{name}"] = None if table[name].null_count() else table[name].min()
    return found


def said(counts: Mapping[str, Any]) -> str:
    """Summarise the verdicts of all requirements in a sentence."""
    parts = {
        GUARANTEED: ("is guaranteed", "are guaranteed"),
        MET: ("was met in this run but is not guaranteed", "were met in this run but are not guaranteed"),
        MISSED: ("is missed", "are missed"),
        UNKNOWN: ("cannot be told", "cannot be told"),
    }
    some = [f"{counts[key]} {words[counts[key] > 1]}" for key, words in parts.items() if counts[key]]
    whole = "requirement" if counts["count"] == 1 else "requirements"
    return f"Of {counts['count']} {whole} {', '.join(some)}"


def losses(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence on the flows of which packets never arrive, if any."""
    lost = [(row["lost_packets"], row["flow"]) for row in rows if row["lost_packets"]]
    if not lost:
        return []
    shown = [f"{count:,} of {flow}" for count, flow in sorted(lost, key=lambda one: (-one[0], one[1]))]
    more = f" and packets of {len(shown) - _LOSERS} more flows" if len(shown) > _LOSERS else ""
    return [f"Packets that never arrive: {', '.join(shown[:_LOSERS])}{more}."]


def without(flows: Iterable[tuple[str, str]]) -> list[str]:
    """Return the reasons for missing guarantees as sentences, each with its flows."""
    found: dict[str, list[str]] = {}
    for flow, why in flows:
        if why:
            found.setdefault(why, []).append(flow)
    sentences = []
    for why, names in found.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        sentences.append(f"No guarantee for {', '.join(names[:3])}{more}: {why}.")
    return sentences


_NEVER_ARRIVES = (*STUCK, "drained", "incomplete")
"""Ends of runs in which nothing that has not arrived does so later."""


def messages_seen(native: Mapping[str, Any], asked: Sequence[Required], tick_ns: float) -> list[Seen]:
    """Return one per requirement on messages."""
    names = ("source", "target", "tag", "made_ticks", "received_ticks") if asked else ()
    columns = [column(native, f"message_{name}").astype(np.int64) for name in names]
    return [_one(native, one, columns, tick_ns) for one in asked]


def _one(
    native: Mapping[str, Any], one: Required, columns: Sequence[NDArray[np.int64]], tick_ns: float
) -> Seen:
    source, target, tag, made, received = columns
    mine = np.ones(len(made), np.bool_)
    for wanted, values in zip(one.chosen, (source, target, tag), strict=True):
        mine &= (values == wanted) | (wanted < 0)
    come = mine & (received >= int(native["measure_start_ticks"]))
    took_ns = (received - made)[come] * tick_ns
    open_ = mine & (received < 0)
    reason, end = str(native["end_reason"]), int(native["end_time_ticks"])
    lost = int(open_.sum()) if reason in _NEVER_ARRIVES else 0
    oldest_ns = float((end - made[open_].min()) * tick_ns) if open_.any() else None
    # What is missing in a full table may have been late.
    unsure = reason in STUCK or int(native["messages_dropped"]) > 0
    if not len(took_ns):
        return Seen(one, 0, None, None, lost, oldest_ns, unsure)
    rank = float(np.quantile(took_ns, 0.9999, method="inverted_cdf"))
    return Seen(one, len(took_ns), rank, float(took_ns.max()), lost, oldest_ns, unsure)
