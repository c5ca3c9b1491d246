"""The evidence for reproduced papers: every printed number with its row, our remarks and our drawing.

``python -m fabriloom_papers.evidence FULL.json QUICK.json docs/reproduction`` writes the small copy that
is kept with the sources. The two inputs are the outputs of ``fabriloom reproduce all --json``, without and
with ``--quick``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabriloom.report import Reproduced
from fabriloom.report.tally import HEAD, counts, number_of, said, tally
from fabriloom.topology import build

from .lab import Findings
from .page import as_csv, markdown, remarks_of
from .published import load
from .rows import reported
from .sci_retry.networks import four_rings

Line = dict[str, Any]

INTERRUPTED = "not run yet: the reproduction was interrupted"
LEFT_OUT = "left out of the quick runs"
NO_EXPERIMENT = "no experiment computes it"

_SYSTEMS = {
    "macrame": "A test bed of up to 1024 nodes on DS-Links of 100 Mbit/s and STC104 packet switches, wired "
    "as grids, tori and folded Clos networks, and loaded with random and with fixed traffic. Drawn: the "
    "folded Clos network of 256 nodes.",
    "scinet": "Rings of SCI, joined by switches whose ports sit on a bus, with ringlets or long rings "
    "between them, up to multistage networks of 16 processors and 16 memories.",
    "sci-retry": "Four rings of SCI with fast senders, and a switch whose ports are slow receivers: what is "
    "rejected is sent again, after a delay that stays, grows by steps or doubles from one rejection to the "
    "next. Drawn: the rings with three senders each.",
    "gpmimd": "T9000 transputers on boards of eight, each link of theirs on a Clos network of C104 packet "
    "switches of its own: messages in packets of 32 B that are acknowledged one by one, between pairs and in "
    "the patterns of level II and level III triggers. Drawn: one of the four networks.",
    "atlas-sci": "PCs whose processors store through PCI-SCI cards into each other's memory, in all settings "
    "of processor and card; four Alpha boards that pass messages on a ring; and a switch of 16 ports of six "
    "modules. Drawn: the switch.",
    "scinet-testbeds": "Two PCs on a ring, with cards whose write buffers are combined as far as a block "
    "fills them, in two systems: remote writes, remote reads, and writes that software checks.",
}
_DRAWN: dict[str, dict[str, Any]] = {
    "macrame": {"kind": "clos", "terminals": 256},
    "scinet": {"kind": "sci-banyan", "terminals": 16, "wiring": "long-ring"},
    "sci-retry": four_rings(3),
    "gpmimd": {
        "kind": "clos",
        "terminals": 48,
        "terminals_per_switch": 8,
        "centre_switches": 2,
        "links_per_pair": 2,
    },
    "atlas-sci": {"kind": "sci-switch-16"},
    "scinet-testbeds": {"kind": "sci-ring", "terminals": 2},
}


def lines_of(paper: str, found: Findings, quick: bool = False) -> list[Line]:
    """Return the rows of a paper, and a line with a reason for every printed number without a row."""
    covered = {number_of(one) for one in found.rows}
    reason = INTERRUPTED if found.unfinished else LEFT_OUT if quick else NO_EXPERIMENT
    return found.rows + [
        reported(number, None, reason)
        for number in load(paper)["numbers"]
        if f"{paper}.{number['id']}" not in covered
    ]


def reproduced(paper: str, found: Findings, lines: Sequence[Line]) -> Reproduced:
    """Return what the page shows of a paper."""
    about, drawn = load(paper)["paper"], _DRAWN.get(paper)
    return Reproduced(
        name=paper,
        title=str(about.get("title", paper)),
        authors=str(about.get("authors", "")),
        system=_SYSTEMS[paper],
        graph=build(**drawn) if drawn else None,
        lines=lines,
        series=found.series,
        remarks=remarks_of(paper),
    )


_COLUMNS = ("id", "unit", "kind", "published", "ours", "within", "reason")


def table_of(lines: Sequence[Line]) -> str:
    """Return the lines as CSV; computed values have six significant figures."""
    rows: list[Sequence[str]] = [_COLUMNS]
    for line in lines:
        within = {True: "yes", False: "no", None: ""}[line["within"]]
        values = [_six(line["published"]), _six(line["ours"]), within, line["reason"] or ""]
        rows.append([line["id"], line["unit"], line["kind"], *values])
    return as_csv(rows)


def _six(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def by_paper(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Return the lines of each paper."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(str(line["paper"]), []).append(line)
    return groups


def page_of(lines: Sequence[Line]) -> str:
    """Return, as markdown, the counts of all papers."""
    groups = by_paper(lines)
    rows = [[paper, *map(str, values)] for paper, values in counts(groups)]
    return _PAGE.format(
        said=said(tally(lines)),
        counts=markdown([name.lower() for name in HEAD], rows),
    )


_PAGE = """# What agrees with the papers

`make reproduce` computes every number and figure of the papers again and writes
`out/reproduction/reproduction.html`, a page with the curves and every line. The table below is of the full
runs. [numbers.csv](numbers.csv) has the lines of the quick runs (`fabriloom reproduce all --quick`); the
tests compute them again.

A printed number counts once, however many readings of it have a line. It is within its tolerance when every
scored line is. The [table of each paper](../generated) says which agree, and why a number is not scored; its
page in [background](../README.md) says what does not agree, and why. A number is one of these:

* *arithmetic*: follows from rates, characters or wiring, and must be right to the printed digits;
* *calibrated*: the number was used to set a parameter, which is named (`parameter` in `--json`);
* *predicted*: follows from the model, no parameter was set by it;
* *reported*: shown and not scored, for the reason given (`reason` in `--json`).

**{said}.**

{counts}
"""


def main(full: Path, quick: Path, folder: Path) -> None:
    """Write the copy."""
    folder.mkdir(parents=True, exist_ok=True)
    table = table_of(json.loads(quick.read_text(encoding="utf-8")))
    (folder / "numbers.csv").write_text(table, encoding="utf-8")
    (folder / "README.md").write_text(page_of(json.loads(full.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
