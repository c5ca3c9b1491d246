"""Write the results of a paper: ``python -m fabriloom.experiments.page docs/generated macrame``.

``macrame.csv`` gets every number. ``macrame.md`` counts them by table and section, lists those that do not
agree, and shows what the results depend on. ``docs/background/macrame.md`` is written by hand.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import published
from ..report.tally import Tally, number_of, tally
from . import study

COLUMNS = (
    "id", "where", "quantity", "unit", "published", "ours", "ci95", "deviation_percent", "kind",
    "tolerance_least", "tolerance_most", "agrees", "why_not_scored",
)  # fmt: skip


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def figure(value: float | None) -> str:
    """Return a number with four significant digits, without an exponent where possible."""
    if value is None:
        return "-"
    if value and (abs(value) >= 1e5 or abs(value) < 1e-4):
        return f"{value:.3g}"
    return f"{value:.4g}"


def _record(row: Mapping[str, Any]) -> list[str]:
    """Return a row as ``COLUMNS``; what it has not is empty."""
    return [
        str(row["id"]).removeprefix(f"{row['paper']}."),
        *(str(row[key]) for key in ("where", "quantity", "unit")),
        figure(row["published"]),
        "" if row["ours"] is None else figure(row["ours"]),
        f"{row['ci95']:.2g}" if row["ci95"] else "",
        "" if row["deviation"] is None else f"{100 * row['deviation']:+.1f}",
        str(row["kind"]),
        *(["", ""] if row["tolerance"] is None else map(figure, row["tolerance"])),
        {True: "yes", False: "no", None: ""}[row["within"]],
        str(row["reason"] or ""),
    ]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return every number of a paper as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_record, rows))
    return text.getvalue()


def lines_of(paper: str, text: str) -> list[dict[str, Any]]:
    """Return the lines of such a table, as they are counted (``report.tally``)."""
    found: list[dict[str, Any]] = [dict(line) for line in csv.DictReader(text.splitlines())]
    for line in found:
        line["id"] = f"{paper}.{line['id']}"
        line["tolerance"] = None if line["kind"] == "reported" else line["tolerance_least"]
        line["within"] = {"yes": True, "no": False, "": None}[line["agrees"]]
    return found


def places(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the lines of each table and section of the paper, in the order of the paper."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        place = str(line["where"]).split(",")[0].removeprefix("follows from ")
        found.setdefault(place[0].upper() + place[1:], []).append(line)
    return found


def summary(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return one row per place: numbers printed, scored and met."""
    counted = [[place, *_counted(tally(group))] for place, group in places(lines).items()]
    return markdown(_COUNTED, [*counted, ["all", *_counted(tally(lines))]])


_COUNTED = ("where", "printed", "scored", "agree", "predicted", "predicted that agree")


def _counted(one: Tally) -> list[str]:
    scored = one.within + one.outside
    return [str(value) for value in (one.printed, scored, one.within, one.predicted, one.predicted_within)]


def outside(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the scored numbers that do not agree; the id of a cell of a table says what it is."""
    rows = []
    for line in lines:
        if line["within"] is False:
            name = str(line["id"]).partition(".")[2]
            what = name if "/" in name else f"{name}: {line['quantity']}"
            limits = " to ".join(dict.fromkeys([line["tolerance_least"], line["tolerance_most"]]))
            rows.append([what, *(line[key] for key in ("unit", "published", "ours")), limits])
    return markdown(["number", "unit", "published", "ours", "agrees from"], rows) if rows else "All agree."


def text(paper: str, lines: Sequence[Mapping[str, Any]], sensitivity: str) -> str:
    """Return the generated page of a paper."""
    return _PAGE.format(
        paper=paper,
        module=paper.replace("-", "_"),
        summary=summary(lines),
        outside=outside(lines),
        sensitivity=sensitivity,
    )


_PAGE = """# The numbers of {paper}

Every printed number beside ours: [{paper}.csv]({paper}.csv). How it is modelled: [the page of the
paper](../background/{paper}.md). Why numbers differ: [the
remarks](../../python/fabriloom/experiments/{module}/remarks.md).
`python -m fabriloom.experiments.page docs/generated {paper}` writes this page and the table.

{summary}

## What does not agree

{outside}

## What the results depend on

One assumption is changed at a time.

{sensitivity}
"""


def main(folder: Path, paper: str) -> None:
    """Run a whole paper and write its table and its page."""
    sensitivity = import_module(f".{paper.replace('-', '_')}.sensitivity", __package__)
    printed = list(published.numbers(paper))
    rows = sorted(study(paper).rows, key=lambda row: printed.index(number_of(row).partition(".")[2]))
    numbers = table(rows)
    (folder / f"{paper}.csv").write_text(numbers, encoding="utf-8")
    told = text(paper, lines_of(paper, numbers), markdown(sensitivity.HEADER, sensitivity.table()))
    (folder / f"{paper}.md").write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
