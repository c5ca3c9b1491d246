"""Flows in the report of a run (their table, their throughput over time), and time-codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...process.libraries import pl
from ...results import Results, signals
from ..page import (
    Axis,
    Cell,
    Chart,
    Columns,
    Series,
    Table,
    amount,
    listed,
    micro,
    micros,
    number,
    spot,
    table_of,
)
from . import shared as sections
from .shared import moments


def flows(table: pl.DataFrame, most: int = 10, of: str = "packets") -> list[Table]:
    """Return the pairs with the highest and the lowest throughput, ``of`` "packets" or "messages"."""
    if not len(table):
        return []
    ordered = table.sort("mbytes_per_s", descending=True, maintain_order=True)
    shown = ordered if len(ordered) <= 2 * most else ordered[:most].vstack(ordered[-most:])
    top = float(ordered["mbytes_per_s"][0])
    columns: Columns = {
        "From": ("source", Cell),
        "To": ("target", Cell),
        "MB/s": ("mbytes_per_s", lambda rate: Cell(number(rate), rate / top if top else 0.0, rate)),
        "Share": ("share", lambda share: Cell(f"{number(100 * share, 3)} %", None, share)),
        of.capitalize(): (of, amount),
        "Mean latency (µs)": ("latency_ns_mean", micros),
        "Longest (µs)": ("latency_ns_max", micros),
    }
    some = f"The {most} fastest and the {most} slowest of {number(len(ordered))}"
    which = "All" if len(shown) == len(ordered) else some
    note = f"{which} pairs of terminals, by throughput. Latency is that of {of}."
    if "bound_ns" in shown.columns and shown["bound_ns"].null_count() == 0:
        columns["Guaranteed (µs)"] = ("bound_ns", micros)
        note += " Guaranteed: no packet takes longer, in any run; fabriloom bound says what it consists of."
    return listed("Flows" if of == "packets" else "Messages by pair", columns, shown, note)


def completions(table: pl.DataFrame | None, most: int = 40) -> list[Table]:
    """Return the flows that begin or end within the run, incomplete ones first."""
    if table is None:
        return []
    shown = table.sort("completion_ns", descending=True, nulls_last=False).head(most)
    longest = float(shown["completion_ns"].max() or 0.0)  # type: ignore[arg-type]
    columns: Columns = {
        "Flow": ("flow", Cell),
        "Created": ("created", amount),
        "Delivered": ("delivered", amount),
        "Lost": ("lost", amount),
        "Under way": ("under_way", amount),
        "First created (µs)": ("first_created_ns", lambda value: amount(micro(value))),
        "Last delivered (µs)": ("last_delivered_ns", lambda value: amount(micro(value))),
        "Completed in (µs)": (
            "completion_ns",
            lambda took: Cell(number(micro(took)), took / longest if took else None, took),
        ),
    }
    note = (
        "The whole run. A flow is complete when it has ended and every packet has arrived; others come first."
    )
    if len(shown) < len(table):
        note += f" {most} of {number(len(table))}."
    return [table_of("Completion of flows", columns, shown, note)]


_MOST_POINTS = 32
"""Points on a line: of a single batch there are too few packets of a flow."""


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
    return spot(middle, mean)


# Parts of reports for runs with time-codes, interrupts or broadcasts.

MOST_ROWS = 200


def codes(results: Results) -> list[Any]:
    """Return the latency tails of codes, and a table with a row per terminal."""
    if not results.has_codes:
        return []
    table, said = results.codes, signals.text(results.summary["codes"])[1]
    note = f"{said}. From when a code is made until a terminal takes it."
    tails = signals.tails(results.native, results.tick_ps / 1000)
    return [*sections.tail(tails, note, signals.TITLE), *_table(table)]


def _table(table: pl.DataFrame) -> list[Table]:
    most = max((value for value in table["jitter_ns"] if value is not None), default=0.0) or 1.0
    shown = table.sort("jitter_ns", descending=True, nulls_last=True).head(MOST_ROWS)
    columns: Columns = {
        "Code": ("code", Cell),
        "From": ("source", Cell),
        "To": ("terminal", Cell),
        "Taken": ("taken", amount),
        "Missed": ("missed", lambda count: Cell(number(count), None, count, "bad" if count > 1 else "")),
        "Shortest (µs)": ("latency_ns_min", _time),
        "Mean (µs)": ("latency_ns_mean", _time),
        "99 % (µs)": ("latency_ns_p99", _time),
        "Longest (µs)": ("latency_ns_max", _time),
        "Jitter (µs)": ("jitter_ns", lambda jitter: _time(jitter, most)),
    }
    note = (
        f"Jitter is the longest less the shortest time.{signals.left_out(table)} "
        "Missed: made and not taken; the last one may still be on its way."
    )
    if len(table) > len(shown):
        note += f" The {number(len(shown))} of {number(len(table))} rows with most jitter."
    return [table_of(f"{signals.TITLE} by terminal", columns, shown, note)]


def _time(value_ns: float | None, most_ns: float = 0.0) -> Cell:
    share = value_ns / most_ns if most_ns and value_ns is not None else None
    return Cell(number(micro(value_ns)), share, -1.0 if value_ns is None else value_ns)
