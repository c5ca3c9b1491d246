"""Parts of reports for runs with time-codes or interrupts."""

from __future__ import annotations

from typing import Any

from ...results import Results, signals
from ..page import Cell, Table, number
from . import shared as sections

MOST_ROWS = 200


def codes(results: Results) -> list[Any]:
    """Return the latency tails of time-codes and interrupts, and a table with a row per terminal."""
    if not results.has_codes:
        return []
    table, said = results.codes, signals.text(results.summary["codes"])
    note = f"{said}. From when a code is made until a terminal takes it."
    tails = signals.tails(results.native, results.tick_ps / 1000)
    return [*sections.tail(tails, note, "Time-codes and interrupts"), *_table(table)]


def _table(table: Any) -> list[Table]:
    most = max((value for value in table["jitter_ns"] if value is not None), default=0.0) or 1.0
    rows = [
        [
            Cell(row["code"]),
            Cell(row["source"]),
            Cell(row["terminal"]),
            Cell(number(row["taken"]), None, row["taken"]),
            Cell(number(row["missed"]), None, row["missed"], "bad" if row["missed"] > 1 else ""),
            *(_time(row[f"latency_ns_{what}"]) for what in ("min", "mean", "p99", "max")),
            _time(row["jitter_ns"], most),
        ]
        for row in table.sort("jitter_ns", descending=True, nulls_last=True)
        .head(MOST_ROWS)
        .iter_rows(named=True)
    ]
    times = [f"{what} (µs)" for what in ("Shortest", "Mean", "99 %", "Longest", "Jitter")]
    head = ["Code", "From", "To", "Taken", "Missed", *times]
    note = "Jitter is the longest less the shortest time. Missed: made and not taken; the last one may still "
    note += "be on its way."
    if len(table) > len(rows):
        note += f" The {number(len(rows))} of {number(len(table))} rows with most jitter."
    return [Table("Time-codes and interrupts by terminal", head, rows, [False] * 3 + [True] * 7, note)]


def _time(value_ns: float | None, most_ns: float = 0.0) -> Cell:
    share = value_ns / most_ns if most_ns and value_ns is not None else None
    return Cell(
        number(None if value_ns is None else value_ns / 1e3), share, -1.0 if value_ns is None else value_ns
    )
