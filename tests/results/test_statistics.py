"""Means with confidence: known values, and how often the interval holds the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fabriloom.results.statistics import (
    FEWEST_BATCHES,
    lag1_correlation,
    mean_of_runs,
    merge,
    percentile,
    ratio,
    student_t95,
)


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (9, 2.2622), (30, 2.0423), (31, 2.0395), (60, 2.0003), (1000, 1.9623)],
)
def test_student_t(freedom: int, expected: float) -> None:
    assert student_t95(freedom) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("count", [2, 3, 7, 49])
def test_equal_runs_have_no_spread(count: int) -> None:
    """Whatever the sum of equal numbers is rounded to."""
    assert mean_of_runs([1404.6666666666667] * count) == (1404.6666666666667, 0.0)


def test_mean_of_runs_is_the_textbook_interval() -> None:
    mean, half = mean_of_runs([1.0, 2.0, 6.0])
    assert mean == pytest.approx(3.0)
    assert half == pytest.approx(4.3027 * math.sqrt(7 / 3), rel=1e-4)


def test_no_interval_from_one_batch() -> None:
    with pytest.raises(ValueError, match="two batches"):
        student_t95(0)
    one = ratio(np.array([6.0]), np.array([2.0]))
    assert one.mean == 3.0
    assert math.isnan(one.ci95)


@pytest.mark.parametrize("count", [1, 19, 20, 39, 40, 59, 60, 127, 1000])
def test_merging_loses_nothing_and_leaves_long_batches(count: int) -> None:
    values = np.arange(count, dtype=float)
    merged = merge(values)
    assert merged.sum() == values.sum()
    assert (
        len(merged) == count
        if count < 2 * FEWEST_BATCHES
        else FEWEST_BATCHES <= len(merged) < 2 * FEWEST_BATCHES
    )


def test_ratio_with_equal_batches_is_the_textbook_interval() -> None:
    """With denominators of 1 it is mean ± t s / sqrt(n); the numbers are worked out by hand."""
    values = np.array([10.0, 12.0, 11.0, 13.0, 9.0] * 2)
    found = ratio(values, np.ones(10))
    assert found.mean == pytest.approx(11.0)
    assert found.ci95 == pytest.approx(2.2622 * math.sqrt(20 / 9 / 10), rel=1e-4)


def test_a_handful_of_values_has_no_interval() -> None:
    """Also among many empty batches: five equal packets would be known to ± 0."""
    latencies, packets = np.zeros(60), np.zeros(60)
    latencies[::13], packets[::13] = 250.0, 1.0
    assert ratio(latencies, packets).mean == 250.0
    assert math.isnan(ratio(latencies, packets).ci95)
    assert math.isnan(ratio(np.full(9, 4.0), np.ones(9)).ci95)
    assert ratio(np.full(10, 4.0), np.ones(10)).ci95 == 0.0


def test_interval_holds_the_truth_as_often_as_it_says() -> None:
    """400 intervals at 95 %: 362 to 394 hold it, or this test fails by chance once in a thousand times."""
    stream = np.random.default_rng(20)
    held = 0
    for _ in range(400):
        packets = stream.poisson(200, 64) + 1.0
        times = np.array([stream.exponential(5.0, int(count)).sum() for count in packets])
        found = ratio(times, packets)
        held += abs(found.mean - 5.0) <= found.ci95
    assert 362 <= held <= 394


def test_correlation_tells_drift_from_noise() -> None:
    stream = np.random.default_rng(3)
    ones = np.ones(400)
    assert abs(lag1_correlation(stream.normal(5, 1, 400), ones)) < 0.5
    assert lag1_correlation(np.linspace(1, 2, 400), ones) > 0.8
    assert math.isnan(lag1_correlation(ones, ones))


def test_percentiles_are_ranks() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    counts = np.array([5, 4, 0, 1])
    assert percentile(values, counts, 0.5) == 1.0
    assert percentile(values, counts, 0.9) == 2.0
    assert percentile(values, counts, 0.91) == 4.0
    assert percentile(values, counts, 1.0) == 4.0
    assert math.isnan(percentile(values[:0], counts[:0], 0.5))
