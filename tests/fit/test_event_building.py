"""The measured event building of an XC40: what is found in it, and the frozen numbers for more senders."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from fabriloom.experiments import event_building
from fabriloom.published import measured

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLE = DOCS / "generated" / "event-building-xc40.csv"
PAGE = DOCS / "background" / "event-building-xc40.md"


def test_the_gap_and_the_change_of_protocol_are_found() -> None:
    (curve,) = event_building.model().curves.values()
    first, change = curve.lines[0], curve.jumps()[-1]
    assert (first.first, first.last) == (2.0, 1024.0)
    assert first.base == pytest.approx(2352, abs=1)
    assert first.slope * 256 < 0.02 * first.base
    assert change == (4096.0, 8192.0, pytest.approx(-first.base, rel=0.01))
    assert len(measured(event_building.DATA)) == 22


def rows() -> list[dict[str, float]]:
    """The table that is kept."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def test_the_table_has_the_numbers_of_the_model() -> None:
    """Those of 16 senders by the model's own arithmetic, all others by runs of some sizes."""
    kept = {row["bytes"]: row for row in rows()}
    assert list(kept) == [int(row["bytes"]) for row in measured(event_building.DATA)]
    for size in (2, 4096, 8192):
        (ours,) = event_building.table([size])
        assert kept[size] == pytest.approx(ours, rel=1e-3), size


def test_the_page_shows_rows_of_the_table() -> None:
    shown = re.findall(r"^\| [\d,]+ \|.*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    kept = [list(row.values()) for row in rows()]
    assert len(shown) == 6
    for line in shown:
        cells = [float(re.sub(r"[^\d.+-]", "", cell)) for cell in line.strip("|").split("|")]
        deviation = cells.pop(3)
        assert cells in kept
        assert deviation == pytest.approx(100 * (cells[2] / cells[1] - 1), abs=0.15)


def test_the_order_of_the_receivers_makes_no_difference() -> None:
    assert event_building.round_us(16, 8192, "same") == pytest.approx(
        event_building.round_us(16, 8192), rel=0.01
    )
