"""Requirements of flows, their guarantees, and what a run has observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .ends import STUCK
from .statistics import percentile
from .study_columns import REQUIREMENT_SUMMARY
from .tables import cells, column

if TYPE_CHECKING:
    import polars as pl

_LOSERS = 6
"""Most flows that are named as losing packets."""
GUARANTEED, MET, MISSED, UNKNOWN = "guaranteed", "met", "missed", "unknown"


class Promise(Protocol):
    """The attributes of a requirement that the table needs (see ``fabriloom.bounds.Promise``)."""

    @property
    def row(self) -> int: ...
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


@dataclass(frozen=True)
class Seen:
    """A flow with a requirement, and what a run has seen of it."""

    of: Promise
    packets: int
    p99_99_ns: float | None
    longest_ns: float | None
    lost: int | None
    """Packets that faults lost in the whole run; None if they were counted only together."""
    stuck: bool
    """Whether some packets never arrived, or may not have."""

    @property
    def verdict(self) -> str:
        """One word."""
        return verdict(self.of, self.longest_ns, self.stuck)

    def margin(self, value_ns: float | None) -> float | None:
        """Return the fraction of the requirement that a time leaves."""
        return margin(self.of.requirement_ns, value_ns)


def seen(native: Mapping[str, Any], promises: Sequence[Promise], tick_ns: float) -> list[Seen]:
    """Return one per flow with a requirement, in the order of the flows."""
    halted, of_all = str(native["end_reason"]) in STUCK, int(native.get("lost", 0))
    by_row = column(native, "flow_lost") if "flow_lost" in native else ()
    found = []
    for place, one in enumerate(promises):
        lost = int(by_row[one.row]) if len(by_row) else (None if of_all else 0)
        found.append(Seen(one, *_seen(native, place, tick_ns), lost, halted or lost != 0))
    return found


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
    known = (row[key] for key in ("margin", "bound_margin") if row[key] is not None)
    return (MISSED, UNKNOWN, MET, GUARANTEED).index(row["verdict"]), min(known, default=0.0)


def counted(table: pl.DataFrame) -> dict[str, Any]:
    """Count the requirements by verdict, with the least margins, by the keys of the summary."""
    found: dict[str, Any] = {}
    REQUIREMENT_SUMMARY.fill(found, table)
    return found["requirements"]


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
    """Return a sentence on the flows that lost packets, if any did."""
    lost = [(row["lost_packets"], row["flow"]) for row in rows if row["lost_packets"]]
    if not lost:
        return []
    shown = [f"{count:,} of {flow}" for count, flow in sorted(lost, key=lambda one: (-one[0], one[1]))]
    more = f" and packets of {len(shown) - _LOSERS} more flows" if len(shown) > _LOSERS else ""
    return [f"Packets lost by faults: {', '.join(shown[:_LOSERS])}{more}."]


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
