"""``fabriloom design``: a ranked list of networks that meet requirements, see ``docs/guides/design.md``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .. import exits
from ..exits import say
from ..frame import Call, command, document, option, path_argument
from ..house import Design, Looked, Output, bars, files, folders, report, show, store
from ..house import design as room


@command("", "settings jobs json out force csv")
def design(
    call: Call,
    file: Annotated[Path, path_argument("FILE", "Requirements: TOML, YAML or JSON.")],
    finalists: Annotated[
        int, option("--finalists N", "How many networks that meet all to look for.", min=1, max=50)
    ] = 6,
) -> int:
    """Find the networks that meet a file of requirements, the cheapest first.

    With --out, finished runs are kept if the command is interrupted; the same command continues from there.
    """
    with call.output(store.POINTS):
        with bars.bar("Design") as bar:
            found = room.design(
                room.load(file, call.settings or []),
                finalists=finalists,
                progress=bar.study,
                say=lambda what, done, of: bar.steps(done, of or max(done, 1), what),
                **call.parallel,
            )
        call.give(
            found.to_json,
            lambda: _tell(found),
            lambda at: _write(at, found, call.csv),
            finished=not found.interrupted,
        )
    if found.interrupted:
        exits.complain("Interrupted: this is what was known; the same command continues from here.")
        return exits.INTERRUPTED
    return exits.OK


def _write(at: Output, found: Design, csv: bool) -> None:
    html = report.for_design(found)
    folders.write_tables(at, found.tables(), csv)
    best = found.recommended()
    if best is not None:
        files.put_text(at, "recommended.json", document(best) + "\n")
    files.put_text(at, "report.html", html)
    files.put_text(at, "summary.json", found.to_json())


def _tell(found: Design) -> None:
    """Print the ranking, the refused networks with their reasons, and what would change the answer."""
    built = sum("bound" in one.facts for one in found.looked)
    name = found.requirements.name or "design"
    say(f"{name}: {len(found.looked):,} candidates, {built:,} built, {found.tried:,} simulated")
    unit, asked = found.requirements.cost.unit, found.requirements.require
    tail = f"{asked.percentile:g} % µs"
    head = ["", "network", f"cost {unit}".rstrip(), "switches", "ports", "cables", "carries", tail]
    rows = [_row(number, one) for number, one in enumerate(found.met, 1)]
    show.table(head, rows, [True, False, *[True] * 6])
    say("carries: times the traffic that is asked for.")
    for sentence in (*found.unsure(), *found.failing()):
        say(sentence)
    _tell_refused(found)
    for most, one in found.growing_load():
        more = show.figures(most, 3)
        say(f"Up to {more} times the traffic the cheapest of these is {one.candidate.name}.")
    for other in found.others:
        best = "none meets all" if other.best is None else other.best.candidate.name
        cost = "" if other.best is None else f", {show.figures(other.best.cost)} {unit}".rstrip()
        say(f"With {other.path} = {other.value}: {best}{cost}")


def _row(number: int, one: Looked) -> list[str]:
    facts = one.facts
    tail, half = facts.get("tail_ns"), facts.get("tail_ns_ci95")
    return [
        str(number),
        one.candidate.name,
        show.figures(one.cost),
        f"{facts['switches']:,}",
        f"{facts['ports']:,}",
        f"{facts['cables']:,}",
        show.figures(facts.get("carries"), 3),
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
