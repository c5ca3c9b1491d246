"""System 2: Pentium PCs with the cards' driver; write buffers are combined, software checks the blocks."""

from __future__ import annotations

from typing import Any

from ..lab import Findings, Lab, between_us
from ..published import Number, numbers
from ..rows import calibrated, near, noted, predicted, predictions, row, series
from . import hosts

PAPER = "scinet-testbeds"
ONE_STREAM = "host_latency of the preset sci-testbed-2"
CHECK = "7600 ns"
CHECKED = "CHECK: what the software check of a block takes"
COMBINED = "what is needed to fill these buffers: the rule of the model"
NOT_SLOWER = "eight buffers are not slower in the model"
STREAMS = (1, 2, 4, 8)
FIGURES = {1: ("6.4", "6.5"), 2: ("6.6", "6.9"), 4: ("6.7", "6.10"), 8: ("6.8", "6.11")}
LARGE = 4096


def findings(lab: Lab) -> Findings:
    """Compare the numbers of system 2; plot figures 6.4 to 6.11."""
    printed = numbers(PAPER)
    sizes = lab.effort.choose(hosts.BLOCKS, (8, 64, 128, 256, 512, 4096, 65536))
    rates = {count: hosts.throughputs(lab, 2, sizes, count) for count in STREAMS}
    checked = hosts.throughputs(lab, 2, sizes, 1, check_time=CHECK)
    took = {
        count: lab.each(between_us, [hosts.arrived(2, size, count) for size in sizes]) for count in STREAMS
    }
    slow = lab.each(between_us, [hosts.checked(2, size, 1, check_time=CHECK) for size in sizes])
    found = Findings(
        rows=[*_streams(printed, sizes, rates), *_checks(printed, sizes, checked, took[1][0], slow[0])]
    )
    for count in STREAMS:
        for figure, values, software in zip(FIGURES[count], (rates, took), (checked, slow), strict=True):
            found.series += _curves(figure, sizes, values[count], software if count == 1 else None)
    return found


def _streams(
    printed: dict[str, Number], sizes: list[int], rates: dict[int, list[float]]
) -> list[dict[str, Any]]:
    one, two, four, eight = (rates[count][sizes.index(LARGE)] for count in STREAMS)
    full = {count: hosts.full_from(sizes, values) for count, values in rates.items()}
    number = printed["testbed-2-one-stream"]
    rows = [calibrated(number, one, near(number, 0.03), ONE_STREAM)]
    scored = {
        "testbed-2-two-streams": (two / one, 0.1),
        "testbed-2-four-streams": (four / one, 0.1),
        "testbed-2-eight-streams": (eight, 0.1),
        "testbed-2-full-block": (full[1], 0.0),
        "testbed-2-block-growth": ((full[4] / full[1]) ** 0.5, 0.0),
    }
    shown = {
        "testbed-2-two-block": (full[2], COMBINED),
        "testbed-2-four-block": (full[4], COMBINED),
        "testbed-2-eight-block": (None, NOT_SLOWER),
    }
    return [*rows, *predictions(printed, scored), *noted(printed, shown)]


def _checks(
    printed: dict[str, Number], sizes: list[int], checked: list[float], small_us: float, slow_us: float
) -> list[dict[str, Any]]:
    block = printed["testbed-2-software-block"]
    full = hosts.full_from(sizes, checked) / 1024
    rows = [predicted(block, full, near(block, 0.0))]
    for name, ours, note in (("latency", small_us, ""), ("software", slow_us, CHECKED)):
        ends = [printed[f"testbed-2-{name}-{end}"] for end in ("least", "most")]
        limits = (float(ends[0]["value"]), float(ends[1]["value"]))
        kind = "calibrated" if note else "predicted"
        rows += [row(end, ours, kind=kind, tolerance=limits, note=note) for end in ends]
    return rows


def _curves(
    figure: str, sizes: list[int], plain: list[float], checked: list[float] | None
) -> list[dict[str, Any]]:
    rate = figure in {first for first, _ in FIGURES.values()}
    curves = {"hardware": plain} | ({"hardware and software": checked} if checked else {})
    return [
        series(
            figure,
            f"{'Throughput' if rate else 'Latency'} of remote write on system 2",
            f"correction by {label}",
            x=sizes,
            y=values,
            x_quantity="block (B)",
            y_quantity="throughput (MB/s)" if rate else "latency (us)",
            log="x" if rate else "xy",
        )
        for label, values in curves.items()
    ]
