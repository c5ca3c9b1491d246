"""Tables of requirements for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..process.libraries import pl
from ..results.figures import in_percent
from ..results.requirements import GUARANTEED, MISSED, counted, losses, margin, said, without, worst_first
from ..results.signals import left_out
from . import show
from .exits import say
from .house import Bounds, Promise

ROWS = 40
"""Most requirements that are printed, those with the least margin; the files have all."""


def of_run(table: pl.DataFrame) -> None:
    """Print the requirements of a run with their verdicts."""
    rows = sorted(table.to_dicts(), key=worst_first)
    show.table(
        [
            "flow",
            "required",
            "99.99 %",
            "longest",
            "margin seen",
            "guaranteed",
            "margin guaranteed",
            "verdict",
        ],
        [
            [
                row["flow"],
                *(
                    show.us(row[key])
                    for key in ("requirement_ns", "total_latency_ns_p99_99", "total_latency_ns_max")
                ),
                _share(row["margin"]),
                show.us(row["bound_ns"]),
                _share(row["bound_margin"]),
                row["verdict"].upper() if row["verdict"] == MISSED else row["verdict"],
            ]
            for row in rows[:ROWS]
        ],
        [False, *[True] * 6, False],
    )
    _more(len(rows))
    say(f"{said(counted(table))}. Times are from the creation of a packet to its delivery.")
    for sentence in losses(rows):
        say(sentence)
    for sentence in without((row["flow"], row["no_bound"]) for row in rows):
        say(sentence)


def of_completions(table: pl.DataFrame) -> None:
    """Print the flows that begin or end within the run, those not complete first."""
    rows = table.sort("completion_ns", descending=True, nulls_last=False).to_dicts()
    times = ("first_created_ns", "last_delivered_ns", "completion_ns")
    show.table(
        ["flow", "created", "delivered", "lost", "first created", "last delivered", "completed in"],
        [
            [
                row["flow"],
                *(f"{row[key]:,}" for key in ("created", "delivered", "lost")),
                *(show.us(row[key]) for key in times),
            ]
            for row in rows[:ROWS]
        ],
        [False, *[True] * 6],
    )
    _more(len(rows), "that were faster", "--out has")


def of_slots(table: pl.DataFrame) -> None:
    """Print the entries of a schedule, those with the least slack first."""
    rows = sorted(
        table.to_dicts(), key=lambda row: (row["slack_ns_min"] is not None, row["slack_ns_min"] or 0)
    )
    show.table(
        ["slot", "initiator", "target", "transactions", "used at most", "slack", "overruns"],
        [
            [
                str(row["slot"]),
                row["initiator"],
                row["target"],
                f"{row['transactions']} x {row['command']}",
                show.us(row["used_ns_max"]),
                show.us(row["slack_ns_min"]),
                str(row["overruns"]),
            ]
            for row in rows[:ROWS]
        ],
        [True, False, False, False, True, True, True],
    )
    _more(len(rows))


def of_codes(table: pl.DataFrame) -> None:
    """Print codes by terminal, those with the most jitter first."""
    rows = table.sort("jitter_ns", descending=True, nulls_last=True).to_dicts()
    show.table(
        ["code", "from", "to", "taken", "missed", "mean", "longest", "jitter"],
        [
            [
                *(row[key] for key in ("code", "source", "terminal")),
                *(f"{row[key]:,}" for key in ("taken", "missed")),
                *(show.us(row[key]) for key in ("latency_ns_mean", "latency_ns_max", "jitter_ns")),
            ]
            for row in rows[:ROWS]
        ],
        [False] * 3 + [True] * 5,
    )
    _more(len(rows), "with less jitter", "--out has")
    say(f"Jitter: longest less shortest.{left_out(table)}")


def of_bounds(found: Bounds) -> None:
    """Print the requirements of a scenario and what is guaranteed."""
    rows = sorted(found.promises, key=_left)
    show.table(
        ["flow", "packet", "required", "guaranteed", "margin guaranteed", "verdict"],
        [
            [
                one.flow,
                f"{one.packet_bytes} B",
                show.us(one.requirement_ns),
                show.us(one.bound_ns),
                _share(margin(one.requirement_ns, one.bound_ns)),
                _word(one),
            ]
            for one in rows[:ROWS]
        ],
        [False, *[True] * 4, False],
    )
    _more(len(rows))
    kept = sum(_word(one) == GUARANTEED for one in rows)
    say(f"{kept} of {len(rows)} are guaranteed. Times are from the creation of a packet to its delivery.")
    for sentence in without((one.flow, one.no_bound) for one in rows):
        say(sentence)


def document(promises: Sequence[Promise]) -> list[dict[str, Any]]:
    """Return the requirements and what is guaranteed, ready for JSON."""
    return [
        {
            "flow": one.flow,
            "source": one.source,
            "target": one.target,
            "packet_bytes": one.packet_bytes,
            "requirement_ns": one.requirement_ns,
            "verdict": _word(one),
            "bound_ns": one.bound_ns,
            "bound_margin": margin(one.requirement_ns, one.bound_ns),
            "no_bound": one.no_bound,
        }
        for one in promises
    ]


def are_guaranteed(promises: Sequence[Promise]) -> bool:
    """Whether every requirement is guaranteed."""
    return all(_word(one) == GUARANTEED for one in promises)


def _left(one: Promise) -> float:
    """Return the margin of a promise as its sort key; those without a bound come first."""
    left = margin(one.requirement_ns, one.bound_ns)
    return -math.inf if left is None else left


def _word(one: Promise) -> str:
    kept = one.bound_ns is not None and one.bound_ns <= one.requirement_ns
    return GUARANTEED if kept else f"not {GUARANTEED}"


def _more(count: int, which: str = "with larger margins", has: str = "--json and --out have") -> None:
    if count > ROWS:
        say(f"{count - ROWS:,} {which} are not shown; {has} all.")


def _share(value: float | None) -> str:
    return "-" if value is None else in_percent(value)
