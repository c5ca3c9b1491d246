"""The measured event building of an XC40: what is found in it, and the frozen numbers for more senders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fabriloom.experiments import event_building
from fabriloom.published import measured

PAGE = Path(__file__).resolve().parents[2] / "docs" / "generated" / "event-building-xc40.md"
SUMMARY = PAGE.parents[1] / "background" / PAGE.name


def test_the_gap_and_the_change_of_protocol_are_found() -> None:
    (curve,) = event_building.model().curves.values()
    first, change = curve.lines[0], curve.jumps()[-1]
    assert (first.first, first.last) == (2.0, 1024.0)
    assert first.base == pytest.approx(2352, abs=1)
    assert first.slope * 256 < 0.02 * first.base
    assert change == (4096.0, 8192.0, pytest.approx(-first.base, rel=0.01))
    assert len(measured(event_building.DATA)) == 22


def test_the_page_has_the_numbers_of_the_model() -> None:
    """Those of 16 senders by the model's own arithmetic, all others by runs of some sizes."""
    rows = {
        int(cells[0].replace(",", "")): [float(re.sub(r"[^\d.+-]", "", cell)) for cell in cells]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if re.match(r"\| [\d,]+ \|", line)
        for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
    }
    assert list(rows) == [int(row["bytes"]) for row in measured(event_building.DATA)]
    for size in (2, 4096, 8192):
        (ours,) = event_building.table([size])
        keys = (
            "measured_us",
            "16_us",
            "",
            "32_us",
            "40_us",
            "16_mbytes_per_s",
            "32_mbytes_per_s",
            "40_mbytes_per_s",
        )
        for told, key in zip(rows[size][1:], keys, strict=True):
            assert not key or told == pytest.approx(ours[key], rel=1e-3), (size, key)


def test_the_page_shows_rows_of_the_table() -> None:
    def rows(page: Path) -> set[str]:
        return set(re.findall(r"^\| [\d,]+ \|.*", page.read_text(encoding="utf-8"), re.MULTILINE))

    assert len(rows(SUMMARY)) == 6
    assert rows(SUMMARY) <= rows(PAGE)


def test_the_order_of_the_receivers_makes_no_difference() -> None:
    assert event_building.round_us(16, 8192, "same") == pytest.approx(
        event_building.round_us(16, 8192), rel=0.01
    )
