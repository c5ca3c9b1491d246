"""``fabriloom design``: a ranked list of networks that meet requirements, see ``docs/guides/design.md``."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import TYPE_CHECKING

from ..results.figures import figures
from . import bars, exits, show
from .work import give

if TYPE_CHECKING:
    from ..design import Design
    from ..design.sieve import Looked
    from ..output import Output


def design(
    file: Path,
    settings: list[str],
    finalists: int,
    jobs: int,
    json: bool,
    out: Path | None,
    force: bool,
    csv: bool,
) -> int:
    """Find networks for a file of requirements; print and write them."""
    from .. import design as room
    from ..studies.store import POINTS
    from . import folders

    with folders.taken(out, "design", force, POINTS, csv=csv) as folder:
        with bars.bar("Design") as bar:
            found = room.design(
                room.load(file, settings),
                finalists=finalists,
                jobs=jobs,
                out=folder and folder.kept,
                progress=bar.study,
                say=lambda what, done, of: bar.steps(done, of or max(done, 1), what),
            )
        return _give(found, json, folder, csv)


def _give(found: Design, json: bool, folder: Output | None, csv: bool) -> int:
    from ..report.design import for_design

    def write(at: Output) -> None:
        _write(at, found, for_design(found), csv)

    give(folder, json, found.to_json, lambda: _tell(found), write, finished=not found.interrupted)
    if found.interrupted:
        exits.complain("Interrupted: this is what was known; the same command continues from here.")
        return exits.INTERRUPTED
    return exits.OK


def _write(files: Output, found: Design, html: str, csv: bool) -> None:
    from ..results.files import put_text, write_tables
    from .folders import forms

    for form in forms(csv):
        write_tables(found.tables(), files, form)
    best = found.recommended()
    if best is not None:
        put_text(files, "recommended.json", jsonlib.dumps(best, indent=2, ensure_ascii=False) + "\n")
    put_text(files, "report.html", html)
    put_text(files, "summary.json", found.to_json())


def _tell(found: Design) -> None:
    """Print the ranking, the refused networks with their reasons, and what would change the answer."""
    built = sum("bound" in one.facts for one in found.looked)
    name = found.requirements.name or "design"
    show.line(f"{name}: {len(found.looked):,} candidates, {built:,} built, {found.tried:,} simulated")
    unit, asked = found.requirements.cost.unit, found.requirements.require
    tail = f"{asked.percentile:g} % µs"
    head = ["", "network", f"cost {unit}".rstrip(), "switches", "ports", "cables", "carries", tail]
    rows = [_row(number, one) for number, one in enumerate(found.met, 1)]
    show.table(head, rows, [True, False, *[True] * 6], folds=False)
    show.line("carries: times the traffic that is asked for.")
    for sentence in found.failing():
        show.line(sentence)
    _tell_refused(found)
    for most, one in found.growing_load():
        show.line(
            f"Up to {figures(most, 3)} times the traffic the cheapest of these is {one.candidate.name}."
        )
    for other in found.others:
        best = "none meets all" if other.best is None else other.best.candidate.name
        cost = "" if other.best is None else f", {figures(other.best.cost)} {unit}".rstrip()
        show.line(f"With {other.path} = {other.value}: {best}{cost}")


def _row(number: int, one: Looked) -> list[str]:
    facts = one.facts
    tail, half = facts.get("tail_ns"), facts.get("tail_ns_ci95")
    return [
        str(number),
        one.candidate.name,
        figures(one.cost),
        f"{facts['switches']:,}",
        f"{facts['ports']:,}",
        f"{facts['cables']:,}",
        figures(facts.get("carries"), 3),
        show.time(1e3, tail, half),
    ]


def _tell_refused(found: Design) -> None:
    rows = [
        [row["family"], f"{row['candidates']:,}", f"{row['met']:,}", row["nearest"], row["why"]]
        for row in found.families()
        if row["why"]
    ]
    if rows:
        head = ["family", "candidates", "met", "nearest of those refused", "because it"]
        show.table(head, rows, [False, True, True, False, False], "Refused, of each family the nearest")
