"""Flows in the report of a run (their table, their throughput over time), and time-codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...process.libraries import pl
from ...results import Results, signals
from ..page import Axis, Cell, Chart, Series, Table, number
from . import shared as sections
from .shared import moments


def flows(table: pl.DataFrame, most: int = 10, of: str = "packets") -> list[Table]:
    """Return the pairs with the highest and the lowest throughput, ``of`` "packets" or "messages"."""
    if not len(table):
        return []
    ordered = table.sort("mbytes_per_s", descending=True, maintain_order=True)
    shown = ordered if len(ordered) <= 2 * most else ordered[:most].vstack(ordered[-most:])
    top = float(ordered["mbytes_per_s"][0])
    bounds = "bound_ns" in shown.columns and shown["bound_ns"].null_count() == 0
    rows = [
        [
            Cell(row["source"]),
            Cell(row["target"]),
            Cell(number(row["mbytes_per_s"]), row["mbytes_per_s"] / top if top else 0.0, row["mbytes_per_s"]),
            Cell(number(100 * row["share"], 3) + " %", None, row["share"]),
            Cell(number(row[of]), None, row[of]),
            Cell(number(row["latency_ns_mean"] / 1e3), None, row["latency_ns_mean"]),
            Cell(number(row["latency_ns_max"] / 1e3), None, row["latency_ns_max"]),
            *([Cell(number(row["bound_ns"] / 1e3), None, row["bound_ns"])] if bounds else []),
        ]
        for row in shown.iter_rows(named=True)
    ]
    some = f"The {most} fastest and the {most} slowest of {number(len(ordered))}"
    which = "All" if len(shown) == len(ordered) else some
    head = ["From", "To", "MB/s", "Share", of.capitalize(), "Mean latency (µs)", "Longest (µs)"]
    note = f"{which} pairs of terminals, by throughput. Latency is that of {of}."
    if bounds:
        head.append("Guaranteed (µs)")
        note += " Guaranteed: no packet takes longer, in any run; fabriloom bound says what it consists of."
    title = "Flows" if of == "packets" else "Messages by pair"
    return [Table(title, head, rows, [False, False] + [True] * (len(head) - 2), note)]


def completions(table: pl.DataFrame | None, most: int = 40) -> list[Table]:
    """Return the flows that begin or end within the run, incomplete ones first."""
    if table is None:
        return []
    shown = table.sort("completion_ns", descending=True, nulls_last=False).head(most)
    longest = float(shown["completion_ns"].max() or 0.0)  # type: ignore[arg-type]
    rows = []
    for row in shown.iter_rows(named=True):
        took = row["completion_ns"]
        counts = (row[key] for key in ("created", "delivered", "lost", "under_way"))
        times = (
            None if row[key] is None else row[key] / 1e3 for key in ("first_created_ns", "last_delivered_ns")
        )
        rows.append(
            [
                Cell(row["flow"]),
                *(Cell(number(count), None, count) for count in counts),
                *(Cell(number(time), None, time) for time in times),
                Cell(number(None if took is None else took / 1e3), took / longest if took else None, took),
            ]
        )
    head = ["Flow", "Created", "Delivered", "Lost", "Under way"]
    head += ["First created (µs)", "Last delivered (µs)", "Completed in (µs)"]
    note = (
        "The whole run. A flow is complete when it has ended and every packet has arrived; others come first."
    )
    if len(shown) < len(table):
        note += f" {most} of {number(len(table))}."
    return [Table("Completion of flows", head, rows, [False] + [True] * 7, note)]


_MOST_POINTS = 32
"""Number of points on a line: single batches have too few packets of a flow to show more than their
number."""


def over_time(table: pl.DataFrame, moments_ns: Mapping[str, float]) -> list[Chart]:
    """Return throughput over simulated time by flow, or by sending terminal.

    ``moments_ns``: vertical lines by name.
    """
    batches = table["start_ns"].n_unique()
    if batches < 3:
        return []
    each = -(-batches // _MOST_POINTS)
    series = []
    for (name,), rows in table.group_by("of", maintain_order=True):
        points = [_mean(rows[first : first + each]) for first in range(0, batches, each)]
        series.append(Series(str(name), points, "line"))
    series += moments(moments_ns, max(point[1] for one in series for point in one.points))
    of = "one batch" if each == 1 else f"{each} batches"
    note = (
        "Each line is a flow; with more than 8 flows, a terminal that sends; with more than 8 terminals, "
        f"some of them together. Each point is {of}. A click on a name hides its line."
    )
    axes = Axis("simulated time (ms)"), Axis("throughput (MB/s)")
    return [Chart("Through the run, by flow", *axes, series, note)]


def _mean(rows: pl.DataFrame) -> list[Any]:
    """Return consecutive batches as one point of a chart."""
    length = rows["end_ns"] - rows["start_ns"]
    middle = (rows["start_ns"][0] + rows["end_ns"][-1]) / 2e6
    mean = float((rows["mbytes_per_s"] * length).sum()) / float(length.sum())
    return [middle, mean, None, None, ""]


# Parts of reports for runs with time-codes or interrupts.

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
