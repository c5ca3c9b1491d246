"""The table of requirements: required, guaranteed and simulated delays of flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .ends import STUCK
from .statistics import percentile
from .tables import cells, column

if TYPE_CHECKING:
    import polars as pl

GUARANTEED, MET, MISSED, UNKNOWN = "guaranteed", "met", "missed", "unknown"


class Promise(Protocol):
    """The attributes of a requirement that the table needs (see ``fabriloom.bounds.Promise``)."""

    @property
    def flow(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def packet_bytes(self) -> int: ...
    @property
    def requirement_ns(self) -> float: ...
    @property
    def bound_ns(self) -> float | None: ...
    @property
    def no_bound(self) -> str: ...


class Line(Protocol):
    """A part of a bound as text, with its level (see ``fabriloom.bounds.Line``)."""

    @property
    def depth(self) -> int: ...
    @property
    def time_ns(self) -> float: ...
    @property
    def words(self) -> str: ...


class Blocking(Protocol):
    """The delays of a flow in the worst case (see ``fabriloom.bounds``)."""

    @property
    def flow(self) -> str: ...
    @property
    def lines(self) -> Sequence[Line]: ...
    @property
    def about(self) -> str: ...
    @property
    def links(self) -> Sequence[float]: ...


def requirements(native: Mapping[str, Any], promises: Sequence[Promise], tick_ns: float) -> pl.DataFrame:
    """Return one row per flow with a requirement, in the order of the flows."""
    import polars as pl

    seen = [_seen(native, place, tick_ns) for place in range(len(promises))]
    stuck = str(native["end_reason"]) in STUCK or int(native.get("lost", 0)) > 0
    rows = [
        {
            "flow": one.flow,
            "source": one.source,
            "target": one.target,
            "packet_bytes": one.packet_bytes,
            "requirement_ns": one.requirement_ns,
            "verdict": verdict(one, longest, stuck),
            "packets": packets,
            "total_latency_ns_p99_99": p99_99,
            "total_latency_ns_max": longest,
            "margin": margin(one.requirement_ns, longest),
            "bound_ns": one.bound_ns,
            "bound_margin": margin(one.requirement_ns, one.bound_ns),
            "no_bound": one.no_bound,
        }
        for one, (packets, p99_99, longest) in zip(promises, seen, strict=True)
    ]
    times = ("total_latency_ns_p99_99", "total_latency_ns_max", "margin", "bound_ns", "bound_margin")
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(times, pl.Float64))


def margin(requirement_ns: float, value_ns: float | None) -> float | None:
    """Return the share of a requirement that is left; negative if it is missed."""
    return None if value_ns is None else (requirement_ns - value_ns) / requirement_ns


def verdict(one: Promise, longest_ns: float | None, stuck: bool = False) -> str:
    """Return the verdict, one word. A late packet outweighs any guarantee; ``stuck``: some packets never
    arrived."""
    if longest_ns is not None and longest_ns > one.requirement_ns:
        return MISSED
    if one.bound_ns is not None and one.bound_ns <= one.requirement_ns:
        return GUARANTEED
    return UNKNOWN if stuck or longest_ns is None else MET


def _seen(native: Mapping[str, Any], place: int, tick_ns: float) -> tuple[int, float | None, float | None]:
    """Return the packets of a watched flow and the 99.99 % percentile and maximum of their total latency."""
    packets = int(column(native, "watched_packets")[place])
    if not packets:
        return 0, None, None
    values, counts = cells(native, "watched", place)
    longest = int(column(native, "watched_total_max_ticks")[place])
    most = min(percentile(values, counts, 0.9999), longest)
    return packets, most * tick_ns, longest * tick_ns


def worst_first(row: Mapping[str, Any]) -> tuple[int, float]:
    """Return the sort key of a row: its verdict, then its least margin."""
    known = (row[key] for key in ("margin", "bound_margin") if row[key] is not None)
    return (MISSED, UNKNOWN, MET, GUARANTEED).index(row["verdict"]), min(known, default=0.0)


def counted(table: pl.DataFrame) -> dict[str, int]:
    """Count the requirements by verdict, with the keys of the summary."""
    verdicts = table["verdict"].to_list()
    return {
        "count": len(verdicts),
        **{one: verdicts.count(one) for one in (GUARANTEED, MET, MISSED, UNKNOWN)},
    }


def said(counts: Mapping[str, int]) -> str:
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
