"""A dragonfly and a Slim Fly at full load: channel loads by formula, and runs that keep below them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from fabriloom.experiments import low_diameter as here

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLE = DOCS / "generated" / "low-diameter.csv"
PAGE = DOCS / "background" / "low-diameter.md"
LARGE = [case for case in here.CASES if case.network is here.LARGE]


def kept() -> list[dict[str, str]]:
    """The table that is kept."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("case", LARGE, ids=lambda case: f"{case.routing}-{case.to_next}")
def test_channel_loads_are_those_of_the_formulas(case: here.Case) -> None:
    """Exact with minimal paths; a random switch may be one of the two groups, so a little more is carried."""
    assert case.formula is not None
    tolerance = 1e-9 if case.routing == "hops" else 0.02
    assert here.by_channel_load(case) == pytest.approx(case.formula, rel=tolerance)


def test_the_table_has_the_numbers_of_today() -> None:
    for case, line in zip(here.CASES, kept(), strict=True):
        assert float(line["by_channel_load"]) == pytest.approx(here.by_channel_load(case), abs=1e-4)
        assert 0 < float(line["accepted"]) <= 1.02 * float(line["by_channel_load"])


def test_a_run_accepts_what_the_table_says() -> None:
    """The quickest of the runs: minimal paths to the next group."""
    case = next(
        one for one in here.CASES if one.network is here.SMALL and one.to_next and one.routing == "hops"
    )
    line = kept()[here.CASES.index(case)]
    assert here.accepted(case) == pytest.approx(float(line["accepted"]), abs=0.002)


def test_the_page_shows_the_table() -> None:
    shown = re.findall(r"^\| (?:dragonfly|slim_fly).*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown]
    assert cells == [list(line.values()) for line in kept()]
