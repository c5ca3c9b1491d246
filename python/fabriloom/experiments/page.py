"""Write tables of results into a page: ``python -m fabriloom.experiments.page docs/background/macrame.md``.

A table stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` and is replaced; the text around it
is kept.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import study


def replace(text: str, tables: Mapping[str, str]) -> str:
    """The page with its tables replaced. Raises ValueError when a table has no place in it."""
    for name, table in tables.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text, found = pattern.subn(lambda match, table=table: f"{match[1]}{table}\n{match[2]}", text)
        if found != 1:
            raise ValueError(f"the page has {found} places for the table {name}, it must have one")
    return text


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def figure(value: float | None) -> str:
    """Four significant digits, without an exponent where one can do without."""
    if value is None:
        return "-"
    if value and (abs(value) >= 1e5 or abs(value) < 1e-4):
        return f"{value:.3g}"
    return f"{value:.4g}"


def results(rows: Sequence[Mapping[str, Any]]) -> str:
    """Published beside ours, one line per row."""
    lines = []
    for row in rows:
        ours = figure(row["ours"]) + (f" ± {row['ci95']:.2g}" if row["ci95"] else "")
        deviation = "" if row["deviation"] is None else f"{100 * row['deviation']:+.1f} %"
        tolerance = row["tolerance"]
        agrees = "" if tolerance is None else ("yes" if row["within"] else "**no**")
        limits = "" if tolerance is None else f"{figure(tolerance[0])} to {figure(tolerance[1])}"
        unit = row["unit"]
        printed = figure(row["published"])
        lines.append([row["quantity"], unit, printed, ours, deviation, row["kind"], limits, agrees])
    return markdown(
        ["quantity", "unit", "published", "ours", "deviation", "kind", "agrees from", "agrees"], lines
    )


def main(path: Path) -> None:
    """Run everything and rewrite the page."""
    from .macrame import sensitivity

    rows = study("macrame").rows
    told = {"results": results([row for row in rows if row["kind"] != "reported"])}
    told["reported"] = results([row for row in rows if row["kind"] == "reported"])
    told["sensitivity"] = markdown(sensitivity.HEADER, sensitivity.table())
    path.write_text(replace(path.read_text(encoding="utf-8"), told), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
