"""Write the results of a paper: ``python -m fabriloom_papers.page docs/generated macrame``.

``macrame.csv`` gets every number, ``macrame-depends.csv`` what the results depend on. The site adds what both
say to the page of the paper, ``docs/background/macrame.md``: see ``added``.
"""

from __future__ import annotations

import csv
import fnmatch
import io
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from fabriloom.report.tally import Tally, number_of, tally

from . import published, study

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


def as_csv(lines: Iterable[Sequence[str]]) -> str:
    """Return lines of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return every number of a paper as CSV."""
    return as_csv([COLUMNS, *map(_record, rows)])


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


# Remarks on the numbers of a paper: where they agree, where not, and why.
# A paper's ``remarks.md`` has them as paragraphs in markdown without links. A line ``<!-- ID ID -->`` in
# front of a paragraph lists the printed numbers that it explains; ``*`` in an ID stands for any text.
_ABOUT = re.compile(r"^<!-- (.*) -->\n", re.MULTILINE)


def remarks_of(paper: str) -> str:
    """Return the paragraphs of a paper; empty if it has none."""
    return _ABOUT.sub("", _file(paper)).strip()


def explained(paper: str) -> set[str]:
    """Return the ids of the printed numbers that paragraphs explain, and those that no number has."""
    printed = list(published.numbers(paper))
    asked = {name for names in _ABOUT.findall(_file(paper)) for name in names.split()}
    return {number for name in asked for number in fnmatch.filter(printed, name) or [name]}


def _file(paper: str) -> str:
    folder = resources.files("fabriloom_papers").joinpath(paper.replace("-", "_"))
    file = folder.joinpath("remarks.md")
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def added(folder: Path, paper: str) -> str:
    """Return what a site adds to the page of a paper, from the tables in ``folder`` and from its remarks."""
    numbers = (folder / f"{paper}.csv").read_text(encoding="utf-8")
    lines = lines_of(paper, numbers)
    return _ADDED.format(
        summary=summary(lines),
        outside=outside(lines),
        depends=_shown((folder / f"{paper}-depends.csv").read_text(encoding="utf-8")),
        remarks=remarks_of(paper),
        numbers=_shown(numbers),
    )


def _shown(text: str) -> str:
    header, *rows = csv.reader(text.splitlines())
    return markdown(header, [[cell.replace("|", "\\|") for cell in row] for row in rows])


_ADDED = """
## The numbers

{summary}

### What does not agree

{outside}

### Why numbers differ

{remarks}

### What the results depend on

One assumption is changed at a time.

{depends}

### Every number

{numbers}
"""


def main(folder: Path, paper: str) -> None:
    """Run a whole paper and write its tables."""
    sensitivity = import_module(f".{paper.replace('-', '_')}.sensitivity", __package__)
    printed = list(published.numbers(paper))
    rows = sorted(study(paper).rows, key=lambda row: printed.index(number_of(row).partition(".")[2]))
    (folder / f"{paper}.csv").write_text(table(rows), encoding="utf-8")
    depends = as_csv([sensitivity.HEADER, *sensitivity.table()])
    (folder / f"{paper}-depends.csv").write_text(depends, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
