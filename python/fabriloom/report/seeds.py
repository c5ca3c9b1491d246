"""The report of one scenario run with several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .page import Axis, Cell, Chart, Page, Series, Table, amount, number, plus_minus, render, spot
from .pages import again, provenance_of, scenario_texts
from .sections import shared as sections

if TYPE_CHECKING:
    from ..studies import Repetition

_FACTS = {
    "accepted_mbytes_per_s": ("Accepted", "MB/s", 1.0),
    "latency_ns_mean": ("Mean latency", "µs", 1e3),
    "total_latency_ns_mean": ("With the wait at the source", "µs", 1e3),
    "events_achieved_per_s": ("Events", "1/s", 1.0),
    "event_latency_ns_mean": ("Event latency", "µs", 1e3),
}
_CHARTS = {
    "accepted_mbytes_per_s": ("Throughput, seed by seed", sections.ACCEPTED, 1.0),
    "latency_ns_mean": ("Network latency, seed by seed", sections.LATENCY, 1e3),
    "total_latency_ns_mean": ("Total latency, seed by seed", "mean total latency (µs)", 1e3),
}


def for_seeds(repetition: Repetition) -> str:
    provenance, missing = repetition.provenance, repetition.runs - len(repetition.points)
    page = Page(
        title=provenance.name or "Several seeds",
        kind="seeds",
        description=provenance.description,
        status=("seeds", f"{len(repetition.points)} runs that differ only in their seed."),
        facts=_facts(repetition),
        provenance=provenance_of(provenance, [again("run", f"--seeds {repetition.runs}")]),
    )
    if repetition.interrupted:
        page.interrupt(f"{missing} of {repetition.runs} runs are missing: run it again.")
    if repetition.points:
        page.sections = [
            *charts(repetition),
            _means(repetition),
            *sections.tails_of(repetition.points),
            sections.points_table(repetition.points, repetition.varied),
        ]
    page.sections += scenario_texts(provenance)
    return render(page)


def _rows(repetition: Repetition) -> dict[str, dict[str, Any]]:
    return {row["quantity"]: row for row in repetition.means.to_dicts()} if repetition.points else {}


def _over(value: float | None, divisor: float) -> float | None:
    return None if value is None else value / divisor


def _facts(repetition: Repetition) -> list[tuple[str, str, str]]:
    """Return averages over seeds, and the deviation of single runs."""
    rows, found = _rows(repetition), []
    for name, (what, unit, divisor) in _FACTS.items():
        if name in rows:
            keys = ("mean", "ci95", "least", "greatest")
            mean, half, low, high = (_over(rows[name][key], divisor) for key in keys)
            note = f"{number(low)} to {number(high)} by seed"
            found.append((what, f"{plus_minus(mean, half)} {unit}", note))
    return found


def charts(repetition: Repetition) -> list[Chart]:
    """Return each run with its own interval, and the average over seeds with its interval."""
    rows, table = _rows(repetition), repetition.table
    found = []
    for name, (title, label, divisor) in _CHARTS.items():
        if name not in rows:
            continue
        columns = ("seed", name, f"{name}_ci95")
        runs = [
            spot(seed, value / divisor, half=_over(half, divisor))
            for seed, value, half in table.select(columns).iter_rows()
            if value is not None
        ]
        mean, half = (_over(rows[name][key], divisor) for key in ("mean", "ci95"))
        seeds = [point[0] for point in runs]
        level = [spot(seed, mean) for seed in (min(seeds), max(seeds))]
        series = [Series("runs", runs, "points"), Series("mean over seeds", level, "line")]
        note = (
            f"Bars are the 95 % interval of each run alone. The mean over seeds is {plus_minus(mean, half)}: "
            "where many bars do not reach its line, the runs are too short for their bars to be trusted."
        )
        found.append(Chart(title, Axis("seed"), Axis(label), series, note))
    return found


def _means(repetition: Repetition) -> Table:
    head = ["Number", "Runs", "Mean over seeds", "Spread", "Least", "Greatest"]
    head.append("Intervals that contain the mean")
    rows: list[Sequence[Cell]] = []
    for row in repetition.means.iter_rows(named=True):
        held = "–" if row["holding"] is None else f"{row['holding']} of {row['runs']}"
        rows.append(
            [
                Cell(row["quantity"]),
                amount(row["runs"]),
                Cell(plus_minus(row["mean"], row["ci95"]), None, row["mean"]),
                *(amount(row[key]) for key in ("spread", "least", "greatest")),
                Cell(held, None, row["holding"]),
            ]
        )
    note = (
        "± is half of a 95 % interval over seeds (Student's t); spread is the standard deviation from seed "
        "to seed. About 19 of 20 intervals of single runs should contain the mean. Units as in the table of "
        "points."
    )
    return Table("Means over seeds", head, rows, [False] + [True] * 6, note)
