"""Reports of other things than runs: of a check, for an operator or a review, of a fit, of a reproduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.figures import in_percent
from ..results.shown import with_micro_sign
from ..topology.graph import Graph
from .drawing import fabric_svg
from .fabric import fabric
from .page import (
    Axis,
    Cell,
    Chart,
    Drawing,
    Heading,
    Page,
    Prose,
    Series,
    Table,
    Text,
    amount,
    number,
    render,
    signed,
    spot,
)
from .pages import provenance_of, scenario_texts
from .sections import shared as sections
from .tally import HEAD, counts, reasons, said, tally

if TYPE_CHECKING:
    from ..studies.inspection import Checked


@dataclass(frozen=True)
class Reproduced:
    """A paper and its computed results."""

    name: str
    title: str
    authors: str
    system: str
    """Description of the system that was built or simulated."""
    graph: Graph | None
    """A network of the paper, to draw."""
    lines: Sequence[Mapping[str, Any]]
    """At least one line for every published number, see ``rows.row`` of the papers."""
    series: Sequence[Mapping[str, Any]]
    remarks: str = ""
    """Paragraphs in Markdown: agreements, disagreements and their reasons."""


def for_reproduction(
    papers: Sequence[Reproduced], *, version: str, warnings: Sequence[str] = (), quick: bool = False
) -> str:
    """Return published and computed results as one HTML document."""
    lines = [line for paper in papers for line in paper.lines]
    total = tally(lines)
    scored = total.within + total.outside
    short = "These are quick runs, fewer and shorter ones: some numbers are left out, others less precise."
    page = Page(
        title=papers[0].title if len(papers) == 1 else "Published and computed results",
        kind="reproduction",
        verdicts={"": said(total)},
        status=(
            f"{total.within} of {scored} agree",
            "A number agrees if every scored line of it is within its stated tolerance.",
        ),
        status_mark="bad" if total.outside else "good",
        warnings=[*([short] if quick else []), *warnings],
        provenance=[
            ("Fabriloom", version),
            ("To run it again", _again(papers, quick)),
            *((one.name, f"{one.authors}: {one.title}") for one in papers),
        ],
    )
    page.sections = [_counts(papers), *_outside(lines), *_reasons(papers)]
    for paper in papers:
        page.sections += _paper(paper)
    return render(page)


def _again(papers: Sequence[Reproduced], quick: bool) -> str:
    return f"fabriloom reproduce {papers[0].name if len(papers) == 1 else 'all'}{' --quick' if quick else ''}"


def _counts(papers: Sequence[Reproduced]) -> Table:
    note = (
        "Each published number counts once. Arithmetic: follows from rates and wiring. Calibrated: used to "
        "set a parameter. Predicted: follows from the model alone. These three are scored: within or outside "
        "their tolerance."
    )
    rows = [
        [Cell(name), *map(amount, values)]
        for name, values in counts({paper.name: paper.lines for paper in papers})
    ]
    return Table("What agrees", HEAD, rows, [False] + [True] * 8, note)


def _outside(lines: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return the disagreements, which come first."""
    outside = [line for line in lines if line.get("within") is False]
    return [
        Table(f"Outside the tolerance: {table.title.lower()}", table.head, table.rows, table.numbers)
        for table in sections.records(outside)
    ]


def _reasons(papers: Sequence[Reproduced]) -> list[Table]:
    rows = [
        [Cell(paper.name), amount(len(names)), Cell(reason, below=_some(names))]
        for paper in papers
        for reason, names in reasons(paper.lines).items()
    ]
    if not rows:
        return []
    return [Table("Not scored, and why", ["Paper", "Numbers", "Why, and which"], rows, [False, True, False])]


def _some(names: Sequence[str], most: int = 8) -> str:
    """Return the first names; the tables of the paper have all of them."""
    more = f"; and {len(names) - most} more, see below" if len(names) > most else ""
    return "; ".join(names[:most]) + more


def _paper(paper: Reproduced) -> list[Any]:
    about = f"{paper.authors}. {paper.system}"
    return [
        Heading(f"{paper.name}: {paper.title}", about, paper.name),
        *([Drawing("The network", fabric_svg(paper.graph))] if paper.graph is not None else []),
        *([Prose("What agrees, and what does not", with_micro_sign(paper.remarks))] if paper.remarks else []),
        *sections.figures(paper.series),
        *sections.records(paper.lines),
    ]


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
        # An indented line belongs to the previous one.
        Prose(
            "The parameters", "\n".join(f"{'    ' * line.startswith(' ')}* {line.strip()}" for line in told)
        ),
        *_predictions(summary["predictions"]),
        Text("The preset", preset, "Name this file as preset_file in [technology] and in [protocol]."),
    ]
    page.provenance = [("Measured", "; ".join(summary["sources"])), ("Fabriloom", summary["version"])]
    return render(page)


def _lines(summary: Mapping[str, Any]) -> Chart:
    """Return the values by size, and the fitted lines."""
    series = []
    for name, points in summary["samples"].items():
        values = [spot(size, value / _MICRO) for size, value in points if value > 0]
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
    return [spot(size, value / _MICRO) for size, value in values if value > 0]


def _predictions(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return one table and one chart of all predictions."""
    if not rows:
        return []
    cells = []
    points: dict[str, list[list[Any]]] = {}
    for row in rows:
        divisor, unit = (_MICRO, "µs") if row["unit"] == "ns" else (1.0, row["unit"])
        measured, predicted = (row[name] / divisor for name in ("measured", "predicted"))
        text = signed(row["deviation"])
        noise = Cell(f"{number(100 * row['noise'], 2)} %", None, row["noise"])
        known = [Cell(row[name]) for name in ("program", "settings", "quantity")]
        shown = [amount(measured), amount(predicted), Cell(unit)]
        cells.append([*known, *shown, Cell(text, None, row["deviation"]), noise])
        if row["quantity"] == "time of the whole program" and row["measured"] > 0:
            label = f"{row['settings']}: {text}"
            points.setdefault(row["program"], []).append(spot(measured, predicted, label))
    head = ["Program", "Settings", "Quantity", "Measured", "Predicted", "", "Deviation", "Noise"]
    flush = [False, False, False, True, True, False, True, True]
    note = "Nothing was set by these. Noise: the spread of the measured rounds."
    ends = [value for line in points.values() for point in line for value in point[:2]]
    equal = Series("equal", [spot(value, value) for value in (min(ends), max(ends))], "line")
    series = [equal, *(Series(name, line, "points") for name, line in points.items())]
    axes = Axis("measured (µs)", log=True), Axis("predicted (µs)", log=True)
    line = "On the line, prediction and measurement are equal."
    picture = Chart("Time of whole programs", *axes, series, line)
    return [picture, Table("Measured and predicted", head, cells, flush, note)]


_NAMED = 6
"""Terminals that are named of those behind a link; the CSV has all."""


def for_check(checked: Checked) -> str:
    """Return the report of ``fabriloom check`` as HTML."""
    found, failed, origin = checked.found, checked.failed, checked.provenance
    page = Page(
        title=origin.name,
        kind="check",
        description=origin.description,
        verdicts={"": f"Deadlock {found['deadlock']['text']}"},
        warnings=checked.warnings,
        facts=_facts(checked),
    )
    cycle = found["deadlock"]["cycle"] or ()
    known = [[Cell(name), Cell(value)] for name, value in checked.lines]
    page.sections = [
        *fabric(checked.graph, checked.used, checked.when, cycle=cycle),
        Table("What is known without a run", ["What", "Value"], known, [False, False]),
        _fullest(checked),
        *([] if failed is None else [_failures(checked)]),
        *scenario_texts(origin),
    ]
    fault = "" if failed is None else f" --fault {failed['kinds']}"
    how = f"fabriloom check scenario.json{fault} --out check.html"
    page.provenance = provenance_of(origin, [("To run it again", how)])
    return render(page)


def _facts(checked: Checked) -> list[tuple[str, str, str]]:
    found, failed = checked.found, checked.failed
    network, load, latency = found["network"], found["channel_load"], found["zero_load_latency_ns"]
    most, shared = load["accepted_mbytes_per_s_bound"], load["shared_load_bound"]
    rate = most * (shared or load["load_bound"]) / load["load_bound"] if most else 0.0
    more = shared and number(rate) != number(most or 0.0)
    evenly = f"{number(most)} MB/s with ways shared evenly: " if more else ""
    parts = f"{number(network['switches'])} switches", f"{number(network['terminals'])} terminals"
    facts = [
        ("Parts", *parts),
        (
            "At most" if shared else "With ways shared evenly",
            f"{number(rate)} MB/s",
            f"{evenly}{load['busiest_link']} is full first" if most else "",
        ),
    ]
    if latency["pairs"]:
        facts.append(("Latency without other traffic", f"{number(latency['mean'] / 1e3)} µs", "mean"))
    if failed is not None:
        cut_off = f"{number(failed['cut_off_count'])} cut terminals off"
        facts.append(("Single failures", cut_off, f"of {number(failed['count'])}"))
    return facts


def _fullest(checked: Checked) -> Table:
    used, names = checked.used, checked.graph.link_names
    order = [at for at in checked.leads_to if used[at] > 0]
    top = max((float(used[at]) for at in order), default=1.0)
    rows = [
        [
            Cell(names[at]),
            Cell(in_percent(float(used[at])), float(used[at]) / top, float(used[at])),
            _named(checked.leads_to[at]),
        ]
        for at in order
    ]
    many = number(int(np.count_nonzero(used)))
    note = (
        f"{len(rows)} of {many} links with traffic; utilisation{checked.when}. Packets for these terminals "
        "share the link, as the table of the switch before it says."
    )
    head = ["Link", "Utilisation", "Leads to"]
    return Table("Links that carry most", head, rows, [False, True, False], note)


def _named(names: list[str]) -> Cell:
    """Return how many terminals these are, and the first of them."""
    more = ", …" if len(names) > _NAMED else ""
    return Cell(f"{len(names)}: {', '.join(names[:_NAMED])}{more}" if names else "–", sort=", ".join(names))


def _failures(checked: Checked) -> Table:
    """Return every single failure that matters, the worst first."""
    said, head, rows = checked.failure_table()
    cells = [[Cell(cell) for cell in row] for row in rows]
    return Table("Single failures", head, cells, [False, *[True] * 5, False], said)
