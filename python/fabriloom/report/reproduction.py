"""The page of reproduced papers: the score of all papers, then each paper with its figures and lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..results.shown import with_micro_sign
from ..topology.graph import Graph
from .drawing import fabric_svg
from .page import Cell, Drawing, Heading, Page, Prose, Table, number, render
from .sections import shared as sections
from .tally import HEAD, counts, reasons, said, tally


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
    """At least one line for every published number, see ``experiments.rows.row``."""
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
        [Cell(name), *(Cell(number(value), None, value) for value in values)]
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
        [Cell(paper.name), Cell(number(len(names)), None, len(names)), Cell(reason, below=_some(names))]
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
    drawn: list[Any] = []
    if paper.graph is not None:
        drawn = [Drawing("The network", fabric_svg(paper.graph))]
    about = f"{paper.authors}. {paper.system}"
    return [
        Heading(f"{paper.name}: {paper.title}", about, paper.name),
        *drawn,
        *([Prose("What agrees, and what does not", with_micro_sign(paper.remarks))] if paper.remarks else []),
        *sections.figures(paper.series),
        *sections.records(paper.lines),
    ]
