"""Asks ``fabriloom design`` what three papers answer; the answers and their figures go to one page.

``python benches/designs.py [NAME…]``, a name of ``scenarios/design``. Finished runs stay in ``out/designs``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from common import Rows, put
from fabriloom.design import Design, design, load
from fabriloom.report.design import front
from fabriloom.report.page import number, plus_minus
from fabriloom.report.plot import drawn
from fabriloom.results.figures import figures

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "background" / "papers-as-requirements.md"
MOST = 6
NAMES = ("macrame-random", "macrame-neighbours", "scinet", "gpmimd-level-3")


def ranking(found: Design) -> Rows:
    """The cheapest networks that meet everything; the figure has them all."""
    unit, percent = found.requirements.cost.unit, found.requirements.require.percentile
    shown = found.met[:MOST]
    alike, names = divided([one.candidate.name for one in shown])
    facts = ["switches", "ports", "cables", "carries"]
    rows: Rows = [[alike or "network", f"cost ({unit})", *facts, f"{percent:g} % (µs)"]]
    for name, one in zip(names, shown, strict=True):
        parts = [number(one.facts[what]) for what in facts[:3]]
        half = one.facts.get("tail_ns_ci95")
        late = plus_minus(one.facts["tail_ns"] / 1e3, None if half is None else half / 1e3)
        rows.append([name, number(one.cost), *parts, figures(one.facts["carries"], 3), late])
    return rows


def divided(names: list[str]) -> tuple[str, list[str]]:
    """Return the parts that all names have, and each name without them."""
    parts = [name.split(", ") for name in names]
    alike = [part for part in parts[0] if all(part in other for other in parts)]
    return ", ".join(alike), [", ".join(part for part in one if part not in alike) for one in parts]


def refused(found: Design) -> Rows:
    """Of each family the nearest that was refused."""
    rows: Rows = [["refused", "because it"]]
    return rows + [[row["nearest"], row["why"]] for row in found.families() if row["why"]]


def asked_besides(found: Design) -> list[Rows]:
    """The cheapest for each value of ``[what-if]``."""
    if not found.others:
        return []
    rows: Rows = [[found.others[0].path, "cheapest", f"cost ({found.requirements.cost.unit})"]]
    for other in found.others:
        best = other.best
        answer = [best.candidate.name if best else "none", number(best.cost if best else None)]
        if rows[-1][1:] == answer:
            rows[-1][0] += f"; {other.value}"
        else:
            rows.append([str(other.value), *answer])
    return [rows]


def write(name: str) -> None:
    """Find the answer; put its tables on the page and its figure beside it."""
    asked = load(ROOT / "scenarios" / "design" / f"{name}.toml")
    found = design(asked, out=ROOT / "out" / "designs" / name)
    put(PAGE, f"design: {name}", [ranking(found), refused(found), *asked_besides(found)])
    images = ROOT / "docs" / "images" / "designs"
    images.mkdir(exist_ok=True)
    (images / f"{name}.svg").write_bytes(drawn(front(found), "svg"))


if __name__ == "__main__":
    for one in sys.argv[1:] or NAMES:
        print(one, flush=True)
        write(one)
