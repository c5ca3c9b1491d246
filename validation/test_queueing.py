"""The wait for one link with Poisson arrivals and packets of one length: M/D/1.

Mean wait W = rho T / (2 (1 - rho)) with T the time of a packet on the link (Pollaczek and Khinchine).

What a wanted precision promises, where theory knows the mean: the wait for one link at 90 % load, M/D/1.

Waits there are correlated over some hundred packets, and one run in two is far from steady: intervals of
short batches are several times too narrow.

Head-of-line saturation of an N x N crossbar with one queue per input.

Packets of one length, all inputs always full, destinations uniform over all N outputs, contenders drawn at
random: the throughput is 0.7500, 0.6553, 0.6184 for N = 2, 4, 8 and tends to 2 - sqrt(2) = 0.586 (Karol,
Hluchyj and Morgan 1987).

The theory is slotted. Here it holds exactly although nothing is slotted: all senders start together, a
crossbar at link rate holds an output for exactly one packet time, routing takes no time and buffers hold
many packets, so every grant falls on a multiple of the packet time and all contenders of a slot are seen in
one tick.

Output queueing: a packet meets those to its own output alone. A queue per output, a crossbar that passes one
of each at once, and buffers that never fill are such a switch. Packets of one slot, of which each input makes
one in a slot with probability p, wait (N - 1) / N * p / (2 (1 - p)) slots on average (the same paper).

How much of a burst crosses a Banyan without waiting: the acceptance recurrence.

In an unbuffered Banyan of k x k switches a packet that loses a contention is dropped; if a share q of the
inputs of a stage carries a packet, a share 1 - (1 - q/k)^k of its outputs does (Patel 1981). This network
loses nothing, but has the same quantity: when every terminal sends one packet at the same moment, those
that have never waited reach each stage together, before all others, and contend among themselves only. Of
the packets that never wait, exactly the accepted ones of the unbuffered network are left after each stage:
the share of a burst that crosses in zero-load latency.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fabriloom.results import confidence
from support import FLITS, deliveries, flit_technology, matrix_file, mean_and_error, one_link, simulate


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


PACKET_FLITS = 4
KNOWN = {2: 0.7500, 4: 0.6553, 8: 0.6184}
LIMIT = 2 - 2**0.5


@cache
def throughput(size: int, folder: Path, packets: int = 800_000) -> tuple[float, float]:
    """Share of the outputs' capacity that is used, and its standard error."""
    slots = packets / size / 0.62
    results = simulate(
        {
            "name": f"crossbar {size} x {size}",
            "seed": 5,
            "topology": {"kind": "crossbar", "terminals": 2 * size},
            "technology": flit_technology(arbiter="random"),
            "traffic": {
                "pattern": {"kind": "matrix", "path": matrix_file(folder, size, size)},
                "length": f"{8 * PACKET_FLITS} B",
                "arrivals": "backlog",
                "senders": list(range(size)),
            },
            "run": {
                "duration": f"{slots * PACKET_FLITS:.0f} ns",
                "warmup": f"{slots * PACKET_FLITS / 100:.0f} ns",
                "precision": 0,
            },
        }
    )
    # A flit of 8 bytes in 1 ns is 8000 MB/s.
    capacity = 8000 * size
    summary = results.summary
    return (
        summary["accepted_mbytes_per_s"] / capacity,
        summary["accepted_mbytes_per_s_ci95"] / 2.05 / capacity,
    )


@pytest.mark.parametrize("size", KNOWN)
def test_known_values(size: int, tmp_path: Path) -> None:
    """Within 0.5 % of the theory.

    False alarms: the standard error is asked to be below a fifth of the tolerance, so less than 1 in 10,000.
    """
    share, error = throughput(size, tmp_path)
    assert error < 0.001 * KNOWN[size]
    assert share == pytest.approx(KNOWN[size], rel=0.005)


def test_trend_to_the_limit(tmp_path: Path) -> None:
    """Throughput falls with N towards 0.586, and extrapolated in 1/N it meets it.

    False alarms: differences are several dozen standard errors, the extrapolation is allowed 1 %, five of
    its own standard errors: less than 1 in 10,000.
    """
    shares = {size: throughput(size, tmp_path)[0] for size in (8, 16, 32, 64)}
    values = list(shares.values())
    assert values == sorted(values, reverse=True)
    assert values[-1] > LIMIT
    assert 2 * shares[64] - shares[32] == pytest.approx(LIMIT, rel=0.01)


@pytest.mark.parametrize("size", [2, 4, 16])
@pytest.mark.parametrize("load", [0.5, 0.8])
def test_wait_for_an_output(size: int, load: float, tmp_path: Path) -> None:
    """The mean wait within 5 standard errors, also at a load of 0.8, which one queue does not pass.

    False alarms: by Student's t with 19 or more batches less than 1 in 10,000.
    """
    queues = {"input_queues": "per-output", "crossbar": "fast", "output_buffer_flits": 64}
    whole = {"switching": "virtual-cut-through", "lane_sharing": "packet", "input_buffer_flits": 4096}
    results = simulate(
        {
            "name": f"output-queued {size} x {size}",
            "seed": 5,
            "topology": {"kind": "crossbar", "terminals": 2 * size},
            "technology": flit_technology(**queues, **whole),
            "traffic": {
                "pattern": {"kind": "matrix", "path": matrix_file(tmp_path, size, size)},
                "length": "8 B",
                "arrivals": "bernoulli",
                "load": load,
                "senders": list(range(size)),
            },
            "run": {"duration": f"{800_000 // size} ns", "warmup": f"{16_000 // size} ns", "precision": 0},
        }
    )
    latency = results.summary["latency_ns"]
    error = latency["mean_ci95"] / 2.05
    expected = (size - 1) / size * load / (2 * (1 - load))
    assert error < 0.015 * expected
    assert abs(latency["mean"] - latency["min"] - expected) < 5 * error
    assert results.summary["accepted_mbytes_per_s"] / 8000 / size == pytest.approx(load, rel=0.02)


BURST_NS = 4000
"""From one burst to the next: long enough for the network to empty in between."""


def accepted(base: int, stages: int) -> float:
    """Share of the packets that are accepted when every input offers one."""
    share = 1.0
    for _ in range(stages):
        share = 1 - (1 - share / base) ** base
    return share


def bursts(terminals: int, variant: str, base: int, count: int) -> dict:
    """Every terminal sends one packet to a random other one, all at the same moment, again and again."""
    return {
        "name": f"{variant} {terminals}",
        "seed": 3,
        "topology": {"kind": "banyan", "terminals": terminals, "variant": variant, "base": base},
        "technology": flit_technology(arbiter="random"),
        "traffic": {
            "pattern": "uniform",
            "length": f"{8 * PACKET_FLITS} B",
            "arrivals": {"kind": "wait", "wait": f"{BURST_NS - PACKET_FLITS} ns"},
        },
        "run": {"duration": f"{BURST_NS * count + BURST_NS - 1} ns", "warmup": "0 ns", "precision": 0},
        "output": {"trace": True},
    }


@pytest.mark.parametrize(
    ("terminals", "variant", "base"),
    [
        (16, "omega", 2),
        (64, "omega", 2),
        (64, "flip", 2),
        (64, "butterfly", 2),
        (64, "baseline", 2),
        (64, "indirect-cube", 2),
        (64, "generalized-cube", 2),
        (64, "omega", 4),
        (256, "omega", 4),
    ],
)
def test_share_that_never_waits(terminals: int, variant: str, base: int) -> None:
    """The mean over independent bursts is within 5 standard errors and a bias of 0.2 % of the recurrence.

    The bias: terminals do not send to themselves, which moves the probability of a branch by 1 / (2 N) and
    that of a contention by the square of it. False alarms: 5 normal standard errors, less than 1 in
    1,000,000 per case.
    """
    count = 64_000 // terminals
    trace = deliveries(simulate(bursts(terminals, variant, base, count)))
    latency = trace["delivered"] - trace["started"]
    burst = trace["started"] // (BURST_NS * 1000)
    straight = np.bincount(burst, weights=latency == latency.min())
    sent = np.bincount(burst)
    whole = sent == terminals
    assert whole.sum() >= count - 1, "every terminal sends in every burst"
    mean, error = mean_and_error(straight[whole] / terminals)
    stages = round(np.log(terminals) / np.log(base))
    expected = accepted(base, stages)
    assert abs(mean - expected) < 5 * error + 0.002 * expected
