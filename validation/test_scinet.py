"""The SCINET chapter: a quick subset of its reproduction, and what holds of its tables.

Sources are deterministic and in step, so the quick runs give what the long ones give, but for a packet more
or less at either end of a run. False alarms: seeds are fixed, so what passes passes always.
"""

from __future__ import annotations

import fabriloom_papers
import pytest
from fabriloom.output import Pieces
from fabriloom_papers import published
from fabriloom_papers.lab import Findings
from fabriloom_papers.scinet import networks, parts


@pytest.fixture(scope="module")
def found(finished: Pieces) -> Findings:
    """Everything the quick subset gives."""
    return fabriloom_papers.study("scinet", quick=True, keep=finished)


def test_every_printed_number_has_a_row(found: Findings) -> None:
    """Nothing that the chapter prints is skipped, and no row is there twice."""
    ids = [row["id"] for row in found.rows]
    assert len(ids) == len(set(ids))
    missing = {key for key in published.numbers("scinet") if f"scinet.{key}" not in ids}
    assert not missing
    for row in found.rows:
        assert (row["kind"] == "reported") == bool(row["reason"]) == (row["within"] is None), row["id"]
        assert (row["kind"] == "calibrated") == bool(row["parameter"]), row["id"]


def test_four_parameters_are_calibrated(found: Findings) -> None:
    """The set-up of the bus, the latency of an interface, the memory, and the places of a sender with the
    order of what was busied."""
    rows = [row for row in found.rows if row["kind"] == "calibrated"]
    assert len({row["parameter"] for row in rows}) == 4
    # The interface is set by three latencies, every other one by a single number.
    assert len(rows) == 6


MISSED = (
    "long-latency-above-least",
    "long-latency-above-most",
    "first-latency-above",
    "second-latency",
    "second-latency-above",
)
"""The latency of the second grade does not lie between those of networks with fewer and with more ports on
the way. Above saturation a packet waits behind those of its sender, which are too few for the latencies of
long rings that are printed. The page tells what was tried."""


def test_scored_rows_agree(found: Findings) -> None:
    """What is predicted, calibrated or arithmetic agrees, but for what is known to miss."""
    outside = {row["id"] for row in found.rows if row["within"] is False}
    assert outside == {f"scinet.{key}" for key in MISSED}


def test_long_rings_carry_what_a_memory_takes(found: Findings) -> None:
    """A memory is slower than the link of a sender: 88 B at 600 MB/s, a link of 1 ns and a block of 40 ns."""
    ours = {row["id"]: row["ours"] for row in found.rows}
    rate = 64 / (88 / 600 + 0.001 + 0.040)
    assert rate < 64 * networks.LINK_MBYTES_PER_S / networks.UNIT_BYTES
    assert ours["scinet.long-output"] == pytest.approx(2 * rate, rel=1e-3)
    assert ours["scinet.long-4-output"] == pytest.approx(4 * rate, rel=1e-3)
    offered = 1000 * networks.PAYLOAD_BYTES / networks.UNIT_BYTES
    assert ours["scinet.long-loss"] == pytest.approx(offered - 2 * rate, rel=1e-2)
    assert ours["scinet.long-4-loss"] == pytest.approx(2 * offered - 4 * rate, rel=1e-2)


def test_a_queue_of_one_sender_bounds_the_wait_on_long_rings(found: Findings) -> None:
    """Above saturation a packet waits for at most eight others that its sender has not sent, and eight on
    their way or at the receiver, each for the memory's time, 187.67 ns."""
    ours = {row["id"]: row["ours"] for row in found.rows}
    most_ns = 16 * 187.67
    assert 0 < 1000 * ours["scinet.long-latency-above-most"] - ours["scinet.long-latency"] < most_ns
    assert 0 < ours["scinet.first-latency-above"] - ours["scinet.first-latency"] < most_ns
    assert 0 < 1000 * ours["scinet.second-latency-above"] - ours["scinet.second-latency"] < most_ns


def test_series_can_be_drawn(found: Findings) -> None:
    """Every figure has curves with as many values as places, and published points name a printed number."""
    own = {"A", "B", "C", "D"}
    assert {one["figure"] for one in found.series} == own | {
        "6.17",
        *(f"6.{number}" for number in range(21, 28)),
    }
    printed = published.numbers("scinet")
    for one in found.series:
        assert len(one["x"]) == len(one["y"]) > 0
        assert all(point["id"] in printed for point in one["published"])


def test_long_rings_that_close() -> None:
    """Omega, Flip and both cubes; Baseline and Butterfly need a permutation. Computed on the wiring."""
    closing = {kind for kind in parts.BANYANS if parts.closes(kind)}
    assert closing == {"omega", "flip", "indirect-cube", "generalized-cube"}


@pytest.mark.parametrize(
    "topology",
    [networks.RINGLET_SWITCH, networks.LONG_2, networks.LONG_4, networks.OMEGA, networks.SECOND_GRADE],
)
def test_sweeps_cover_whole_periods(topology: networks.Topology) -> None:
    """The measured time is a whole number of periods at every step of the input, so no packet is cut."""
    from fabriloom_papers.lab import Effort

    for quick in (True, False):
        for gross, run in networks.sweep(Effort(quick), topology, (25, 475)):
            ends = [float(run["run"][key].removesuffix(" us")) for key in ("duration", "warmup")]
            period_us = networks.UNIT_BYTES * networks.senders(topology) / gross
            periods = (ends[0] - ends[1]) / period_us
            assert abs(periods - round(periods)) < 1e-6 * periods
