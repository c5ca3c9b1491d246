"""The report of a fit: the measurements, the fitted lines, and the model's predictions for other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .page import Axis, Cell, Chart, Page, Prose, Series, Table, Text, number, render
from .sections.shared import deviation_text

_PLACES = 12
"""Number of points with which a line is drawn."""
_MICRO = 1e3


def for_fit(summary: Mapping[str, Any], told: Sequence[str], preset: str) -> str:
    """Return the report of a fit as HTML text, from its summary, its parameters as text and its preset."""
    page = Page(
        title="Fit of measured messages", kind="fit", status=("fitted", "; ".join(summary["sources"]))
    )
    rate = 1e3 / summary["byte_ns"]
    page.facts = [
        ("Link", f"{number(rate)} MB/s", f"G = {number(summary['byte_ns'])} ns a byte"),
        ("Latency", f"{number(summary['latency_ns'] / _MICRO)} µs", "L: network alone, without hosts"),
    ]
    page.sections = [
        _lines(summary),
        Prose("The parameters", "\n".join(_item(line) for line in told)),
        *_predictions(summary["predictions"]),
        Text("The preset", preset, "Name this file as preset_file in [technology] and in [protocol]."),
    ]
    page.provenance = [("Measured", "; ".join(summary["sources"])), ("Fabriloom", summary["version"])]
    return render(page)


def _item(line: str) -> str:
    """Return a line of a list; an indented line belongs to the previous one."""
    return f"{'    ' if line.startswith(' ') else ''}* {line.strip()}"


def _lines(summary: Mapping[str, Any]) -> Chart:
    """Return the values by size, and the fitted lines."""
    series = []
    for name, points in summary["samples"].items():
        values = [[size, value / _MICRO, None, None, ""] for size, value in points if value > 0]
        if values:
            series.append(Series(f"{name.replace('_', ' ')}, measured", values, "points"))
    for name, curve in summary["curves"].items():
        for line in curve["lines"]:
            if not line["table"]:
                series.append(Series(name.replace("_", " "), _drawn(line), "line"))
    note = "Lines go through all points within their noise; points without a line are kept as a table."
    return Chart("Times by size", Axis("message (B)", log=True), Axis("time (µs)", log=True), series, note)


def _drawn(line: Mapping[str, Any]) -> list[list[Any]]:
    """Return points of a line, which is curved if both axes are logarithmic."""
    first, last = line["first"], line["last"]
    sizes = [first * (last / first) ** (step / _PLACES) for step in range(_PLACES + 1)]
    values = [(size, line["base"] + line["slope"] * size) for size in sizes]
    return [[size, value / _MICRO, None, None, ""] for size, value in values if value > 0]


def _predictions(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return one table and one chart of all predictions."""
    if not rows:
        return []
    cells = []
    points: dict[str, list[list[Any]]] = {}
    for row in rows:
        divisor, unit = (_MICRO, "µs") if row["unit"] == "ns" else (1.0, row["unit"])
        values = [row[name] / divisor for name in ("measured", "predicted")]
        shown = [Cell(number(value), None, value) for value in values]
        text = deviation_text(row["deviation"])
        noise = Cell(f"{number(100 * row['noise'], 2)} %", None, row["noise"])
        known = [Cell(row[name]) for name in ("program", "settings", "quantity")]
        cells.append([*known, *shown, Cell(unit), Cell(text, None, row["deviation"]), noise])
        if row["quantity"] == "time of the whole program" and row["measured"] > 0:
            label = f"{row['settings']}: {text}"
            points.setdefault(row["program"], []).append([*values, None, None, label])
    head = ["Program", "Settings", "Quantity", "Measured", "Predicted", "", "Deviation", "Noise"]
    flush = [False, False, False, True, True, False, True, True]
    note = "Nothing was set by these. Noise: the spread of the measured rounds."
    ends = [value for line in points.values() for point in line for value in point[:2]]
    equal = Series("equal", [[value, value, None, None, ""] for value in (min(ends), max(ends))], "line")
    series = [equal, *(Series(name, line, "points") for name, line in points.items())]
    axes = Axis("measured (µs)", log=True), Axis("predicted (µs)", log=True)
    picture = Chart(
        "Time of whole programs", *axes, series, "On the line, prediction and measurement are equal."
    )
    return [picture, Table("Measured and predicted", head, cells, flush, note)]
