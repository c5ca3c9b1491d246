"""Write the results of a paper: ``python -m fabriloom.experiments.page docs/background/macrame.md``.

The hand-written page gets a summary, between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; its other
text does not change. All numbers go to the generated page of the same name in ``docs/generated``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import published
from ..report.tally import Tally, number_of, tally
from . import remarks, study


def replace(text: str, tables: Mapping[str, str]) -> str:
    """Return the page with its tables replaced. Raises ValueError if the page has no place for a table."""
    for name, table in tables.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text, found = pattern.subn(lambda match, table=table: f"{match[1]}{table}\n{match[2]}", text)
        if found != 1:
            raise ValueError(f"the page has {found} places for the table {name}, it must have one")
    return text


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


def _compared(row: Mapping[str, Any]) -> list[str]:
    """Return the columns that both tables share."""
    ours = figure(row["ours"]) + (f" ± {row['ci95']:.2g}" if row["ci95"] else "")
    deviation = "" if row["deviation"] is None else f"{100 * row['deviation']:+.1f} %"
    name = str(row["id"]).removeprefix(f"{row['paper']}.")
    return [f"`{name}`", row["quantity"], row["unit"], figure(row["published"]), ours, deviation]


_SHARED = ["id", "quantity", "unit", "published", "ours", "deviation"]


def _scored(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return published and computed numbers, with their agreement."""
    lines = []
    for row in rows:
        low, high = row["tolerance"]
        limits = figure(low) if low == high else f"{figure(low)} to {figure(high)}"
        lines.append([*_compared(row), row["kind"], limits, "yes" if row["within"] else "**no**"])
    return markdown([*_SHARED, "kind", "tolerance", "agrees"], lines)


def _reported(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return published and computed numbers, with the reason why they are not scored."""
    return markdown([*_SHARED, "why not scored"], [[*_compared(row), row["reason"]] for row in rows])


def places(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of each table and section of the paper, in the order of the paper."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        place = str(row["where"]).split(",")[0].removeprefix("follows from ")
        found.setdefault(place[0].upper() + place[1:], []).append(row)
    return found


def tables(paper: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the generated page of a paper: every number, under the table or section that prints it."""
    parts = [_HEAD.format(paper=paper)]
    for place, group in places(rows).items():
        parts.append(f"## {place}")
        with_tolerance = [row for row in group if row["kind"] != "reported"]
        without = [row for row in group if row["kind"] == "reported"]
        parts += [_scored(with_tolerance)] if with_tolerance else []
        parts += [f"Not scored:\n\n{_reported(without)}"] if without else []
    return "\n\n".join(parts) + "\n"


_HEAD = """# Every number of {paper}

`python -m fabriloom.experiments.page docs/background/{paper}.md` writes this page.
[The page of the paper](../background/{paper}.md) says how each number is modelled and why some disagree."""


def summary(paper: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one row per place: numbers printed, scored and met, with a link to all of them."""
    lines = []
    for place, group in places(rows).items():
        one = tally(group)
        anchor = re.sub(r"[^\w -]", "", place.lower()).replace(" ", "-")
        link = f"[{place}](../generated/{paper}.md#{anchor})"
        lines.append([link, *_counted(one)])
    return markdown(_COUNTED, [*lines, ["all", *_counted(tally(rows))]])


_COUNTED = ("where", "printed", "scored", "agree", "predicted", "predicted that agree")


def _counted(one: Tally) -> list[str]:
    scored = one.within + one.outside
    return [str(value) for value in (one.printed, scored, one.within, one.predicted, one.predicted_within)]


def main(path: Path) -> None:
    """Run the page's whole paper and write both pages, which have its name."""
    paper = path.stem
    sensitivity = import_module(f".{paper.replace('-', '_')}.sensitivity", __package__)
    printed = list(published.numbers(paper))
    rows = sorted(study(paper).rows, key=lambda row: printed.index(number_of(row).partition(".")[2]))
    told = {
        "summary": summary(paper, rows),
        "remarks": remarks.text(paper),
        "sensitivity": markdown(sensitivity.HEADER, sensitivity.table()),
    }
    path.write_text(replace(path.read_text(encoding="utf-8"), told), encoding="utf-8")
    generated = path.parents[1] / "generated" / path.name
    generated.write_text(tables(paper, rows), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
