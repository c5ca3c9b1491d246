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
    for row in rows:
        row["verdict"] = row["verdict"].upper() if row["verdict"] == MISSED else row["verdict"]
    columns = {
        "flow": ("flow", str),
        "required": ("requirement_ns", show.us),
        "99.99 %": ("total_latency_ns_p99_99", show.us),
        "longest": ("total_latency_ns_max", show.us),
        "margin seen": ("margin", _share),
        "guaranteed": ("bound_ns", show.us),
        "margin guaranteed": ("bound_margin", _share),
        "verdict": ("verdict", str),
    }
    _first(columns, rows)
    say(f"{said(counted(table))}. Times are from the creation of a packet to its delivery.")
    for sentence in (*losses(rows), *without((row["flow"], row["no_bound"]) for row in rows)):
        say(sentence)


def of_completions(table: pl.DataFrame) -> None:
    """Print the flows that begin or end within the run, those not complete first."""
    columns = {
        "flow": ("flow", str),
        **{name: (name, _count) for name in ("created", "delivered", "lost")},
        "first created": ("first_created_ns", show.us),
        "last delivered": ("last_delivered_ns", show.us),
        "completed in": ("completion_ns", show.us),
    }
    rows = table.sort("completion_ns", descending=True, nulls_last=False).to_dicts()
    _first(columns, rows, "that were faster", "--out has")


def of_slots(table: pl.DataFrame) -> None:
    """Print the entries of a schedule, those with the least slack first."""
    rows = sorted(
        table.to_dicts(), key=lambda row: (row["slack_ns_min"] is not None, row["slack_ns_min"] or 0)
    )
    for row in rows:
        row["transactions"] = f"{row['transactions']} x {row['command']}"
    columns = {
        "slot": ("slot", "{}".format),
        "initiator": ("initiator", str),
        "target": ("target", str),
        "transactions": ("transactions", str),
        "used at most": ("used_ns_max", show.us),
        "slack": ("slack_ns_min", show.us),
        "overruns": ("overruns", "{}".format),
    }
    _first(columns, rows)


def of_codes(table: pl.DataFrame) -> None:
    """Print codes by terminal, those with the most jitter first."""
    columns = {
        "code": ("code", str),
        "from": ("source", str),
        "to": ("terminal", str),
        "taken": ("taken", _count),
        "missed": ("missed", _count),
        "mean": ("latency_ns_mean", show.us),
        "longest": ("latency_ns_max", show.us),
        "jitter": ("jitter_ns", show.us),
    }
    rows = table.sort("jitter_ns", descending=True, nulls_last=True).to_dicts()
    _first(columns, rows, "with less jitter", "--out has")
    say(f"Jitter: longest less shortest.{left_out(table)}")


def of_bounds(found: Bounds) -> None:
    """Print the requirements of a scenario and what is guaranteed, those without a bound first."""
    columns = {
        "flow": ("flow", str),
        "packet": ("packet_bytes", "{} B".format),
        "required": ("requirement_ns", show.us),
        "guaranteed": ("bound_ns", show.us),
        "margin guaranteed": ("bound_margin", _share),
        "verdict": ("verdict", str),
    }
    rows = document(found.promises)
    rows.sort(key=lambda row: -math.inf if row["bound_margin"] is None else row["bound_margin"])
    _first(columns, rows)
    kept = sum(row["verdict"] == GUARANTEED for row in rows)
    say(f"{kept} of {len(rows)} are guaranteed. Times are from the creation of a packet to its delivery.")
    for sentence in without((row["flow"], row["no_bound"]) for row in rows):
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


def _word(one: Promise) -> str:
    kept = one.bound_ns is not None and one.bound_ns <= one.requirement_ns
    return GUARANTEED if kept else f"not {GUARANTEED}"


def _first(
    columns: show.Columns,
    rows: Sequence[dict[str, Any]],
    which: str = "with larger margins",
    has: str = "--json and --out have",
) -> None:
    """Print the first rows, and how many there are besides."""
    show.listed(columns, rows[:ROWS])
    if len(rows) > ROWS:
        say(f"{len(rows) - ROWS:,} {which} are not shown; {has} all.")


def _count(number: int) -> str:
    return f"{number:,}"


def _share(value: float | None) -> str:
    return "-" if value is None else in_percent(value)
