"""Papers on SCI: a quick subset of the retry delay study, the order of its three strategies, the ATLAS note.

Of the note and the test beds, tables count by their mean deviations, and the text by its numbers.

False alarms: seeds are fixed, so what passes passes always. A change that leaves the model alike draws new
runs. Runs of one case scatter by 0.2 to 4 MB/s, so means over seeds are compared. The closest, of linear and
exponential delays at 12.8 us and three senders, differ by 2.2 MB/s, which is four standard errors: one alarm
in some ten thousand.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

import fabriloom_papers
import pytest
from fabriloom.output import Pieces
from fabriloom_papers import published
from fabriloom_papers.lab import Findings, Lab
from fabriloom_papers.sci_retry import networks
from fabriloom_papers.sci_retry.delays import retry_mbytes_per_s

SEEDS = 8
MISSED = (
    "raw-9-none",
    "raw-9",
    "raw-9-asymptote",
    "gain-9",
    "raw-9-none.plain-queue",
    "raw-9.plain-queue",
    "raw-9-none.one-ring-alone",
    "raw-9.one-ring-alone",
    "raw-9-asymptote.one-ring-alone",
    "gain-9.one-ring-alone",
)
"""Nine senders carry more here than the study prints, by each of three readings of its networks. The page
tells what was tried."""


@pytest.fixture(scope="module")
def found(finished: Pieces) -> Findings:
    """Everything the quick subset gives."""
    return fabriloom_papers.study("sci-retry", quick=True, keep=finished)


def test_every_printed_number_has_a_row(found: Findings) -> None:
    """Nothing that the paper prints is skipped, and what is not scored says why."""
    ids = [row["id"] for row in found.rows]
    assert len(ids) == len(set(ids))
    missing = {
        key
        for key in published.numbers("sci-retry")
        if not any(name == f"sci-retry.{key}" or name.startswith(f"sci-retry.{key}.") for name in ids)
    }
    assert not missing
    for row in found.rows:
        assert (row["kind"] == "reported") == bool(row["reason"]) == (row["within"] is None), row["id"]


def test_scored_rows_agree(found: Findings) -> None:
    """What is predicted or arithmetic is what the paper prints, but for what is known to miss."""
    outside = {row["id"] for row in found.rows if row["within"] is False}
    assert outside == {f"sci-retry.{key}" for key in MISSED}


def test_series_can_be_drawn(found: Findings) -> None:
    """Every figure has its curves, and published points name a printed number."""
    assert {one["figure"] for one in found.series} == {"4.10", "4.11", "4.12"}
    printed = published.numbers("sci-retry")
    for one in found.series:
        assert len(one["x"]) == len(one["y"]) > 0
        assert all(point["id"] in printed for point in one["published"])


@pytest.mark.parametrize("senders", networks.RATIOS)
@pytest.mark.parametrize("delay_ns", [3200, 6400, 12800])
def test_order_of_the_strategies(senders: int, delay_ns: float) -> None:
    """Exponential delays make less retry traffic than linear ones, those less than constant ones.

    Short initial delays do not tell them apart: packets are then sent again whenever the ring lets them.
    """
    with Lab(quick=True) as lab:
        constant, linear, exponential = (
            _mean_retry_mbytes_per_s(lab, senders, strategy, delay_ns) for strategy in networks.STRATEGIES
        )
    assert exponential < linear < constant


def _mean_retry_mbytes_per_s(lab: Lab, senders: int, strategy: str, delay_ns: float) -> float:
    seeds = range(1, SEEDS + 1)
    runs = [networks.scenario(lab.effort, senders, strategy, delay_ns, seed=seed) for seed in seeds]
    return fmean(retry_mbytes_per_s(one, senders) for one in lab.measure(runs))


Row = dict[str, Any]
PREDICTED = (2, 3, 5, 6, 8, 9, 13)
CALIBRATED = (1, 4, 7, 10)


@pytest.fixture(scope="module")
def rows(finished: Pieces) -> dict[str, Row]:
    """All lines of the note by their ids."""
    return {
        row["id"].removeprefix("atlas-sci."): row
        for row in fabriloom_papers.study("atlas-sci", keep=finished).rows
    }


@pytest.fixture(scope="module")
def beds(finished: Pieces) -> dict[str, Row]:
    """All lines of the test beds by their ids."""
    found = fabriloom_papers.study("scinet-testbeds", keep=finished).rows
    return {row["id"].removeprefix("scinet-testbeds."): row for row in found}


def mean_deviation(rows: dict[str, Row], table: int) -> float:
    """Of the cells of a table that are scored."""
    cells = [row for key, row in rows.items() if key.startswith(f"table-{table}/")]
    parts = [abs(row["deviation"]) for row in cells if row["kind"] != "reported"]
    return sum(parts) / len(parts)


@pytest.mark.parametrize("table", PREDICTED)
def test_predicted_tables_are_within_four_per_cent(rows: dict[str, Row], table: int) -> None:
    assert mean_deviation(rows, table) <= 0.04


@pytest.mark.parametrize("table", CALIBRATED)
def test_the_tables_that_were_calibrated_on(rows: dict[str, Row], table: int) -> None:
    assert mean_deviation(rows, table) <= 0.09


def test_damaged_cells_are_not_scored(rows: dict[str, Row]) -> None:
    damaged = [row for row in rows.values() if (row["reason"] or "").startswith("damaged")]
    assert len(damaged) == 23
    assert all(row["within"] is None for row in damaged)


def test_a_node_gives_and_takes_what_is_printed(rows: dict[str, Row]) -> None:
    assert rows["sender-output"]["ours"] == pytest.approx(77, rel=0.03)
    assert rows["node-output"]["ours"] == pytest.approx(86, rel=0.06)
    assert rows["node-input"]["ours"] == pytest.approx(82, rel=0.05)


def test_the_benchmarks_have_the_shapes_of_the_text(rows: dict[str, Row]) -> None:
    assert rows["ping-pong-pairs-gain"]["ours"] == pytest.approx(2, rel=0.01)
    assert rows["funnel-in-worse"]["ours"] == 3
    # "Almost three times" in the text; ours stays below, and the page of the paper says why.
    assert 2 < rows["all-to-all-gain"]["ours"] < 3


def test_the_test_beds(beds: dict[str, Row]) -> None:
    assert beds["testbed-max"]["ours"] == pytest.approx(45, rel=0.03)
    assert beds["testbed-1-full-block"]["ours"] == 256
    assert beds["testbed-1-read-slower"]["ours"] == pytest.approx(3.5, rel=0.1)
    assert beds["testbed-2-two-streams"]["ours"] == pytest.approx(2, rel=0.02)
    assert beds["testbed-2-four-streams"]["ours"] == pytest.approx(4, rel=0.1)
