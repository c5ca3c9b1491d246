"""Write tables of results into a page: ``python -m fabriloom.experiments.page docs/background/macrame.md``.

A table stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` and is replaced; the text around it
is kept.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from . import remarks, study


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


def _compared(row: Mapping[str, Any]) -> list[str]:
    """The columns that both tables share."""
    ours = figure(row["ours"]) + (f" ± {row['ci95']:.2g}" if row["ci95"] else "")
    deviation = "" if row["deviation"] is None else f"{100 * row['deviation']:+.1f} %"
    return [row["quantity"], row["unit"], figure(row["published"]), ours, deviation]


def scored(rows: Sequence[Mapping[str, Any]]) -> str:
    """Published beside ours, with what agrees."""
    lines = []
    for row in rows:
        low, high = row["tolerance"]
        limits = figure(low) if low == high else f"{figure(low)} to {figure(high)}"
        lines.append([*_compared(row), row["kind"], limits, "yes" if row["within"] else "**no**"])
    header = ["quantity", "unit", "published", "ours", "deviation", "kind", "tolerance", "agrees"]
    return markdown(header, lines)


def reported(rows: Sequence[Mapping[str, Any]]) -> str:
    """Published beside ours, with the reason why it is not scored."""
    lines = [[*_compared(row), row["reason"]] for row in rows]
    return markdown(["quantity", "unit", "published", "ours", "deviation", "why not scored"], lines)


def main(path: Path) -> None:
    """Run everything that the page's paper has and rewrite the page, which is named after it."""
    sensitivity = import_module(f".{path.stem.replace('-', '_')}.sensitivity", __package__)
    rows = study(path.stem).rows
    told = {"results": scored([row for row in rows if row["kind"] != "reported"])}
    told["reported"] = reported([row for row in rows if row["kind"] == "reported"])
    told["remarks"] = remarks.text(path.stem)
    told["sensitivity"] = markdown(sensitivity.HEADER, sensitivity.table())
    path.write_text(replace(path.read_text(encoding="utf-8"), told), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
