"""The wait for one link with Poisson arrivals and packets of one length: M/D/1.

Mean wait W = rho T / (2 (1 - rho)) with T the time of a packet on the link (Pollaczek and Khinchine).

What a wanted precision promises, where theory knows the mean: the wait for one link at 90 % load, M/D/1.

Waits there are correlated over some hundred packets, and one run in two is far from steady: intervals of
short batches are several times too narrow.
"""

from __future__ import annotations

import pytest
from fabriloom.results import confidence
from support import FLITS, one_link


@pytest.mark.parametrize("load", [0.3, 0.5, 0.8])
def test_waiting_time(load: float) -> None:
    """Latency from creation less that of an undisturbed packet is the wait for the source's link.

    False alarms: the mean may be 5 standard errors off, by Student's t with 19 or more batches less than 1
    in 10,000. The run must be long enough for a standard error of 1.5 %, or the test says nothing.
    """
    packets = 400_000
    duration_ns = packets * FLITS / load
    results = one_link(11, load, packets, 0, warmup=f"{duration_ns / 50:.0f} ns")
    total, network = results.summary["total_latency_ns"], results.summary["latency_ns"]
    assert network["min"] == network["max"], "beyond its source link nothing holds a packet up"
    wait = total["mean"] - network["mean"]
    error = total["mean_ci95"] / 2.05
    expected = load * FLITS / (2 * (1 - load))
    assert error < 0.015 * expected
    assert abs(wait - expected) < 5 * error


LOAD = 0.9
WAIT_NS = LOAD * FLITS / (2 * (1 - LOAD))


def test_the_interval_of_a_run_that_reached_its_precision_holds_the_mean() -> None:
    """30 runs to 10 %; seeds 0 to 29.

    Of 200 runs, 189 hold the mean. When runs looked every eighth batch and intervals were not widened for it,
    83 of 100 did. False alarms: fewer than 25 of 30 have a chance of 1 in 200 if 945 of 1000 hold it.
    """
    held = 0
    for seed in range(30):
        summary = one_link(seed, LOAD, 1e6, 0.1).summary
        assert summary["end"]["reason"] == "precision"
        total = summary["total_latency_ns"]
        assert total["mean_ci95"] <= 0.1 * total["mean"]
        assert "total latency ± " in summary["end"]["message"]
        wait = total["mean"] - summary["latency_ns"]["mean"]
        held += abs(wait - WAIT_NS) <= total["mean_ci95"]
    assert held >= 25


def test_the_engine_and_the_summary_agree_about_half_widths() -> None:
    """What ended the run is what the summary says: one estimator in two languages."""
    results = one_link(3, 0.5, 1e6, 0.02)
    assert results.end_reason == "precision"
    watched = confidence.watched(results.native, results.tick_ps / 1000)
    assert [one.what for one in watched] == ["throughput", "network latency", "total latency"]
    assert max(one.half_width for one in watched) <= 0.02
    batches = len(results.native["batch_end_ticks"])
    assert batches in (64, 96)
    look = {64: 48, 96: 64}[batches]  # a look after 96 batches half as long, or after 64
    shorter = {**results.native, "batch_end_ticks": results.native["batch_end_ticks"][:look]}
    for name in ("packets", "bytes", "latency_sum_ticks", "total_sum_ticks"):
        shorter[f"batch_{name}"] = results.native[f"batch_{name}"][:look]
    before = confidence.watched(shorter, results.tick_ps / 1000)
    narrow = all(one.half_width <= 0.02 for one in before)
    alike = any(confidence.statistics.neighbours_alike(one.ratios) > 1.2816 for one in before)
    assert not narrow or alike, "it could have ended a look earlier"


def test_steady_runs_are_rarely_doubted() -> None:
    """100 runs at 30 % load, in which batches are independent; seeds 1000 to 1099.

    Six tests with one false alarm in 200 each: at most 3 runs in 100 on average. False alarms of this test:
    more than 9 have a chance of 1 in 1000.
    """
    runs = [one_link(seed, 0.3, 2e4, 0.0, warmup="100 us") for seed in range(1000, 1100)]
    assert sum(run.summary["statistics"]["trusted"] is False for run in runs) <= 9


@pytest.mark.parametrize("seed", range(4))
def test_a_run_too_short_for_its_queue_is_doubted(seed: int) -> None:
    """3000 packets at 97 % load never settle: batches are correlated, or drift, or the interval is wide."""
    results = one_link(seed, 0.97, 3000, 0.0, warmup="0 ns")
    assert results.summary["warnings"]
