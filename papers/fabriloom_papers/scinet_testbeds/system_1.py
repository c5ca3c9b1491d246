"""System 1, and the parts of both systems: Pentium Pro PCs, block by block writes and reads."""

from __future__ import annotations

from typing import Any

from fabriloom.technology import ring_technology

from ..lab import Findings, Lab, Scenario, between_us
from ..published import Number, numbers
from ..rows import calibrated, inputs, near, predicted, reported, series
from . import hosts

RATE = "byte_time of the preset pio-testbed-1"
HALF = "host_latency of the preset sci-testbed-1"
SIZES = hosts.BLOCKS[:11]
LARGE, HALF_BLOCK = 4096, 64
TITLES = {"6.2": "Throughput on system 1", "6.3": "Latencies of remote read and write on system 1"}
AXES = {"6.2": "throughput (MB/s)", "6.3": "latency (us)"}


def findings(lab: Lab) -> Findings:
    """Compare the numbers of system 1; plot figures 6.2 and 6.3."""
    printed = numbers("scinet-testbeds")
    sizes = lab.effort.choose(SIZES, (8, 64, 128, 256, 4096))
    writes = hosts.throughputs(lab, 1, sizes)
    took_us = lab.each(between_us, map(reads, sizes))
    fetched = [size / us for size, us in zip(sizes, took_us, strict=True)]
    began = {
        "write": lab.each(between_us, [hosts.arrived(1, size) for size in sizes]),
        "read": took_us,
    }
    write, read = (dict(zip(sizes, rates, strict=True)) for rates in (writes, fetched))
    set_up = max(began["write"][0], began["read"][0])
    rows = [*_inputs(printed), *_rows(printed, write, read, set_up), *_bounds(printed, began["write"][0])]
    curves = [
        *_curves("6.2", sizes, {"remote write": writes, "remote read": fetched}),
        *_curves("6.3", sizes, {f"remote {way}": values for way, values in began.items()}),
    ]
    return Findings(rows=rows, series=curves)


def reads(size_bytes: int) -> Scenario:
    """Return a block read: its transactions go one after the other, because the processor waits for each."""
    programs = {"t0": ["mark", f"read t1 {size_bytes} B", "mark"]}
    return hosts.scenario(1, size_bytes, programs, streams=1)


def _inputs(printed: dict[str, Number]) -> list[dict[str, Any]]:
    return inputs(
        printed,
        {
            "testbed-pcs": 2,
            "testbed-1-clock": float("nan"),
            "testbed-2-clock": float("nan"),
            "testbed-link-rate": ring_technology("sci-testbed-1").link_rate_bits_per_s / 8e6,
            "bridge-buffers": hosts.BUFFERS,
            "bridge-masters": float("nan"),
            "bridge-combining": hosts.BUFFERS,
            "bridge-buffer-size": hosts.BUFFER_BYTES,
            "testbed-2-alignment": hosts.BUFFER_BYTES,
        },
    )


def _rows(
    printed: dict[str, Number], write: dict[int, float], read: dict[int, float], set_up_us: float
) -> list[dict[str, Any]]:
    most, half = printed["testbed-max"], printed["testbed-1-half-share"]
    full, slower = printed["testbed-1-full-block"], printed["testbed-1-read-slower"]
    share = 100 * write[HALF_BLOCK] / max(write.values())
    ratio = write[LARGE] / read[LARGE]
    from_bytes = hosts.full_from(list(write), list(write.values()))
    setup = printed["testbed-1-setup"]
    return [
        calibrated(most, write[LARGE], near(most, 0.03), RATE),
        calibrated(half, share, (45, 55), HALF),
        reported(printed["testbed-1-half-block"], HALF_BLOCK, "see its share"),
        predicted(full, from_bytes, near(full, 0.0)),
        predicted(slower, ratio, near(slower, 0.10)),
        predicted(setup, set_up_us, (0, setup["value"])),
    ]


def _bounds(printed: dict[str, Number], small_us: float) -> list[dict[str, Any]]:
    return [
        predicted(printed[key], small_us, (0, printed[key]["value"]))
        for key in ("testbed-latency", "testbed-latency-summary")
    ]


def _curves(figure: str, sizes: list[int], curves: dict[str, list[float]]) -> list[dict[str, Any]]:
    return [
        series(
            figure,
            TITLES[figure],
            label,
            x=sizes,
            y=values,
            x_quantity="block (B)",
            y_quantity=AXES[figure],
            log="x",
        )
        for label, values in curves.items()
    ]
