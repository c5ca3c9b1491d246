"""Write the results of a paper: ``python -m fabriloom.experiments.page docs/background/macrame.md``.

The hand-written page gets a summary, between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; its other
text does not change. All numbers go to the table of the same name in ``docs/generated``, a picture of them to
``docs/images/papers``.
"""

from __future__ import annotations

import csv
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


def places(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of each table and section of the paper, in the order of the paper."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        place = str(row["where"]).split(",")[0].removeprefix("follows from ")
        found.setdefault(place[0].upper() + place[1:], []).append(row)
    return found


COLUMNS = (
    "where",
    "id",
    "quantity",
    "unit",
    "published",
    "ours",
    "ci95",
    "kind",
    "low",
    "high",
    "agrees",
    "reason",
)


def write_numbers(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write every number of a paper with its place there, and why it is not scored if it is not."""
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(COLUMNS)
        for place, group in places(rows).items():
            table.writerows([place, *_cells(row)] for row in group)


def _cells(row: Mapping[str, Any]) -> list[str]:
    name = str(row["id"]).removeprefix(f"{row['paper']}.")
    interval = f"{row['ci95']:.2g}" if row["ci95"] else ""
    shared = [name, row["quantity"], row["unit"], figure(row["published"]), figure(row["ours"]), interval]
    if row["tolerance"] is None:
        return [*shared, "reported", "", "", "", row["reason"]]
    return [*shared, row["kind"], *map(figure, row["tolerance"]), "yes" if row["within"] else "no", ""]


def draw_numbers(file: Path, numbers: Path) -> None:
    """Draw how far every scored number of a table of :func:`write_numbers` is from the printed one."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    with numbers.open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["kind"] != "reported" and row["ours"] != "-"]
    drawing = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = drawing.subplots()
    for kind, colour in (("arithmetic", "#8a8f98"), ("calibrated", "#e0a030"), ("predicted", "#2b6cb0")):
        of_kind = [row for row in rows if row["kind"] == kind and float(row["published"]) > 0]
        ratios = [min(max(float(row["ours"]) / float(row["published"]), 0.5), 2.0) for row in of_kind]
        label = f"{kind} ({len(of_kind)})"
        axes.plot(
            [float(row["published"]) for row in of_kind], ratios, ".", color=colour, label=label, alpha=0.7
        )
    axes.axhline(1, color="#555", linewidth=0.8)
    axes.set(
        xscale="log", yscale="log", ylim=(0.48, 2.08), xlabel="printed, in its unit", ylabel="ours / printed"
    )
    axes.set_yticks([0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2], minor=False)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axes.grid(axis="y", color="#ddd", linewidth=0.5)
    axes.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.14))
    drawing.savefig(file, dpi=110, metadata={"Software": None})


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one row per place: numbers printed, scored and met."""
    lines = []
    for place, group in places(rows).items():
        one = tally(group)
        lines.append([place, *_counted(one)])
    return markdown(_COUNTED, [*lines, ["all", *_counted(tally(rows))]])


_COUNTED = ("where", "printed", "scored", "agree", "predicted", "predicted that agree")


def _counted(one: Tally) -> list[str]:
    scored = one.within + one.outside
    return [str(value) for value in (one.printed, scored, one.within, one.predicted, one.predicted_within)]


def main(path: Path) -> None:
    """Run the page's whole paper and write its page, numbers and picture, which have its name."""
    paper = path.stem
    sensitivity = import_module(f".{paper.replace('-', '_')}.sensitivity", __package__)
    printed = list(published.numbers(paper))
    rows = sorted(study(paper).rows, key=lambda row: printed.index(number_of(row).partition(".")[2]))
    told = {
        "summary": summary(rows),
        "remarks": remarks.text(paper),
        "sensitivity": markdown(sensitivity.HEADER, sensitivity.table()),
    }
    path.write_text(replace(path.read_text(encoding="utf-8"), told), encoding="utf-8")
    numbers = path.parents[1] / "generated" / f"{paper}.csv"
    write_numbers(numbers, rows)
    draw_numbers(path.parents[1] / "images" / "papers" / f"{paper}.png", numbers)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
