"""The published testbed: a quick subset of its reproduction, and what holds of its tables.

The quick runs are short, so a row may stray: a scored row must be within its tolerance widened by its own
confidence half-width. False alarms: seeds are fixed, so what passes passes always. A change that leaves
the model alike draws new runs; a row in the middle of its tolerance, which is several half-widths wide,
then fails with less than 1 in 10,000.
"""

from __future__ import annotations

from typing import Any

import fabriloom_papers
import pytest
from fabriloom.output import Pieces
from fabriloom_papers import published
from fabriloom_papers.lab import Findings
from fabriloom_papers.macrame.size import neighbour_pairs

KEYS = {
    "id",
    "paper",
    "where",
    "quantity",
    "unit",
    "published",
    "ours",
    "ci95",
    "deviation",
    "kind",
    "tolerance",
    "within",
    "parameter",
    "reason",
}


@pytest.fixture(scope="module")
def found(finished: Pieces) -> Findings:
    """Everything the quick subset gives."""
    return fabriloom_papers.study("macrame", quick=True, keep=finished)


def test_rows_have_their_keys_and_their_reasons(found: Findings) -> None:
    """Every row is whole, no id occurs twice, and what is not scored says why."""
    ids = [row["id"] for row in found.rows]
    assert len(ids) == len(set(ids))
    for row in found.rows:
        assert set(row) == KEYS, row["id"]
        assert (row["kind"] == "reported") == bool(row["reason"]) == (row["within"] is None), row["id"]
        assert (row["kind"] == "calibrated") == bool(row["parameter"]), row["id"]


def test_every_printed_number_has_a_row(found: Findings) -> None:
    """The three on packet length need the whole curve, which the quick subset leaves out."""
    known = {key for key in published.numbers("macrame") if not key.startswith("length-")}
    missing = {key for key in known if not any(row["id"].startswith(f"macrame.{key}") for row in found.rows)}
    assert not missing


def test_scored_rows_agree(found: Findings) -> None:
    """What is predicted, calibrated or arithmetic is what the paper prints, within its tolerance."""

    def agrees(row: dict[str, Any]) -> bool:
        slack = row["ci95"] or 0.0
        return row["tolerance"][0] - slack <= row["ours"] <= row["tolerance"][1] + slack

    scored = [row for row in found.rows if row["tolerance"] is not None]
    wrong = {row["id"]: row["ours"] for row in scored if not agrees(row)}
    assert not wrong


def test_series_can_be_drawn(found: Findings) -> None:
    """Every figure has curves with as many values as places, and published points name a printed number."""
    assert {one["figure"] for one in found.series} == {"3", "4", "5", "6", "7"}
    printed = published.numbers("macrame")
    for one in found.series:
        assert len(one["x"]) == len(one["y"]) > 0
        assert one["ci"] is None or len(one["ci"]) == len(one["x"])
        assert all(point["id"] in printed for point in one["published"])


@pytest.mark.parametrize("side", [2, 4, 6, 8])
def test_neighbour_pairs(side: int) -> None:
    """Partners are each other's, sit on neighbouring switches, and fill the four links of every edge."""
    partner = neighbour_pairs(side, 16)
    edges: dict[tuple[int, int], int] = {}
    for node, other in enumerate(partner):
        if other is None:
            continue
        assert partner[other] == node
        here, there = sorted((node // 16, other // 16))
        assert there - here in (1, side)
        edges[here, there] = edges.get((here, there), 0) + 1
    assert len(edges) == 2 * side * (side - 1)
    assert min(edges.values()) >= 2 * 4


def test_a_wrong_row_is_refused() -> None:
    """A reported row without a reason, and a paper that is not there."""
    from fabriloom_papers.rows import row

    with pytest.raises(ValueError, match="note"):
        row(published.numbers("macrame")["latency-10"], 1.0, kind="reported")
    with pytest.raises(KeyError, match="there is no paper"):
        fabriloom_papers.reproduce("another")
    with pytest.raises(KeyError, match="no published numbers"):
        published.numbers("another")
