"""Columns of tables are declared once: name, unit, meaning, and how they are made.

Numbers for reading: significant digits, intervals, no exponents.

Means with confidence: known values, and how often the interval holds the truth.
"""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fabriloom.results import columns, statistics
from fabriloom.results.columns.column import Column, Table
from fabriloom.results.confidence import percent
from fabriloom.results.figures import figures, in_percent, measured
from hypothesis import given
from hypothesis import strategies as st

PYTHON = Path(columns.__file__).resolve().parents[1]
FRAMES = [table for table in columns.TABLES if not table.is_json]


@pytest.mark.parametrize("table", FRAMES, ids=[table.name for table in FRAMES])
def test_a_column_says_how_it_is_made(table: Table) -> None:
    assert [column.name for column in table.columns if column.value is None] == []


def test_no_table_is_made_elsewhere() -> None:
    """A data frame with the names of its columns written out is a second place for each of them."""
    written = []
    for room in ("results", "bounds", "studies", "design"):
        for file in sorted((PYTHON / room).glob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "pl.DataFrame":
                    written += [
                        f"{file.name}:{node.lineno}" for one in node.args if isinstance(one, ast.Dict)
                    ]
    assert written == []


def test_units_give_the_types() -> None:
    table = Table(
        "some",
        "Some",
        "One row per letter.",
        (
            Column("name", "text", "It.", lambda rows: list(rows)),
            Column("place", "count", "Where.", lambda rows: range(len(rows))),
            Column("wait_ns", "ns", "How long.", lambda rows: [None if one == "a" else 2.0 for one in rows]),
        ),
    )
    found = table.frame("ab")
    assert found.schema == {"name": pl.String, "place": pl.Int64, "wait_ns": pl.Float64}
    assert found["wait_ns"].to_list() == [None, 2.0]
    assert table.frame("").schema == found.schema
    with pytest.raises(ValueError, match="nothing is said of how later is made"):
        Column("later", "ns", "When.").of(None)


def test_what_is_not_known_is_null_in_columns_of_any_type() -> None:
    known = (Column("count", "count", "How many.", np.array), Column("wait_ns", "ns", "How long.", np.array))
    found = Table("some", "Some", "One row per number.", known).frame([2.0, math.nan])
    assert found.to_dict(as_series=False) == {"count": [2, None], "wait_ns": [2.0, None]}


def test_dotted_keys_are_levels() -> None:
    found = {"network": {"links": 4}}
    keys = (Column("network.rings", "count", "Rings.", len), Column("sci.busied", "count", "Busied.", max))
    Table("some", "Some", "Keys.", keys, is_json=True).fill(found, [1, 2, 3])
    assert found == {"network": {"links": 4, "rings": 3}, "sci": {"busied": 3}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (17570.4, "17570"),
        (17.574, "17.57"),
        (0.00123456, "0.001235"),
        (80.29, "80.29"),
        (7, "7"),
        (None, "-"),
        (float("nan"), "-"),
        (-3.14159, "-3.142"),
        (999.96, "1000"),
    ],
)
def test_four_figures(value: float | None, text: str) -> None:
    assert figures(value) == text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (13.5, 0.12, "13.50 ± 0.12"),
        (1103.2, 9.8, "1103.2 ± 9.8"),
        (17570.4, 123.0, "17570 ± 123"),
        (381.0, 0.0, "381 ± 0"),
        (1.9003, 3.8e-05, "1.900 ± 0.000038"),
        (1513.6, 1.4e-12, "1514 ± 0"),
        (2.0, None, "2"),
    ],
)
def test_a_value_has_the_decimals_of_its_interval(value: float, half: float | None, text: str) -> None:
    assert measured(value, half) == text


def test_a_width_of_nothing_but_rounding_is_0() -> None:
    assert [percent(share) for share in (5.1e-17, 0.00123, 0.9999)] == ["0 %", "0.12 %", "100 %"]


def test_what_is_less_than_all_is_not_100_percent() -> None:
    assert [in_percent(share) for share in (1.0, 0.99996, 0.0345678, 0.0)] == [
        "100 %",
        "99.9 %",
        "3.46 %",
        "0 %",
    ]


@given(st.floats(1e-4, 1e14), st.one_of(st.none(), st.floats(1e-4, 1e14)))
def test_never_an_exponent_and_never_far_off(value: float, half: float | None) -> None:
    text = measured(value, half)
    assert re.fullmatch(r"[0-9.]+( ± [0-9.]+)?", text)
    shown = float(text.split(" ")[0])
    assert abs(shown - value) <= max(6e-4 * value, 0.06 * (half or 0.0))


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (9, 2.2622), (30, 2.0423), (31, 2.0395), (60, 2.0003), (1000, 1.9623)],
)
def test_student_t(freedom: int, expected: float) -> None:
    assert statistics.student_t95(freedom) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("count", [2, 3, 7, 49])
def test_equal_runs_have_no_spread(count: int) -> None:
    """Whatever the sum of equal numbers is rounded to."""
    assert statistics.mean_of_runs([1404.6666666666667] * count) == (1404.6666666666667, 0.0)


def test_mean_of_runs_is_the_textbook_interval() -> None:
    mean, half = statistics.mean_of_runs([1.0, 2.0, 6.0])
    assert mean == pytest.approx(3.0)
    assert half == pytest.approx(4.3027 * math.sqrt(7 / 3), rel=1e-4)


def test_no_interval_from_one_batch() -> None:
    with pytest.raises(ValueError, match="two batches"):
        statistics.student_t95(0)
    one = statistics.ratio(np.array([6.0]), np.array([2.0]))
    assert one.mean == 3.0
    assert math.isnan(one.ci95)


@pytest.mark.parametrize("count", [1, 19, 20, 39, 40, 59, 60, 127, 1000])
def test_merging_loses_nothing_and_leaves_long_batches(count: int) -> None:
    values = np.arange(count, dtype=float)
    merged = statistics.merge(values)
    assert merged.sum() == values.sum()
    assert (
        len(merged) == count
        if count < 2 * statistics.FEWEST_BATCHES
        else statistics.FEWEST_BATCHES <= len(merged) < 2 * statistics.FEWEST_BATCHES
    )


def test_ratio_with_equal_batches_is_the_textbook_interval() -> None:
    """With denominators of 1 it is mean ± t s / sqrt(n); the numbers are worked out by hand."""
    values = np.array([10.0, 12.0, 11.0, 13.0, 9.0] * 2)
    found = statistics.ratio(values, np.ones(10))
    assert found.mean == pytest.approx(11.0)
    assert found.ci95 == pytest.approx(2.2622 * math.sqrt(20 / 9 / 10), rel=1e-4)


def test_a_handful_of_values_has_no_interval() -> None:
    """Also among many empty batches: five equal packets would be known to ± 0."""
    latencies, packets = np.zeros(60), np.zeros(60)
    latencies[::13], packets[::13] = 250.0, 1.0
    assert statistics.ratio(latencies, packets).mean == 250.0
    assert math.isnan(statistics.ratio(latencies, packets).ci95)
    assert math.isnan(statistics.ratio(np.full(9, 4.0), np.ones(9)).ci95)
    assert statistics.ratio(np.full(10, 4.0), np.ones(10)).ci95 == 0.0


def test_interval_holds_the_truth_as_often_as_it_says() -> None:
    """400 intervals at 95 %: 362 to 394 hold it, or this test fails by chance once in a thousand times."""
    stream = np.random.default_rng(20)
    held = 0
    for _ in range(400):
        packets = stream.poisson(200, 64) + 1.0
        times = np.array([stream.exponential(5.0, int(count)).sum() for count in packets])
        found = statistics.ratio(times, packets)
        held += abs(found.mean - 5.0) <= found.ci95
    assert 362 <= held <= 394


def test_correlation_tells_drift_from_noise() -> None:
    stream = np.random.default_rng(3)
    ones = np.ones(400)
    assert abs(statistics.lag1_correlation(stream.normal(5, 1, 400), ones)) < 0.5
    assert statistics.lag1_correlation(np.linspace(1, 2, 400), ones) > 0.8
    assert math.isnan(statistics.lag1_correlation(ones, ones))


def test_percentiles_are_ranks() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    counts = np.array([5, 4, 0, 1])
    assert statistics.percentile(values, counts, 0.5) == 1.0
    assert statistics.percentile(values, counts, 0.9) == 2.0
    assert statistics.percentile(values, counts, 0.91) == 4.0
    assert statistics.percentile(values, counts, 1.0) == 4.0
    assert math.isnan(statistics.percentile(values[:0], counts[:0], 0.5))
