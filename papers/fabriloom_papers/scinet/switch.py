"""Figures 6.21 to 6.24: one switch with ringlets, and with long rings of two and of four senders."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Scenario
from ..published import Number, numbers
from ..rows import calibrated, near, predicted, predictions, reported, row
from . import networks
from .curves import Sweep

SETUP = "technology.bus.setup"
LATENCY = "technology.interface_latency"
MEMORY = "technology.memory.access"
ORDER = "technology.requests_out, technology.retry.order"
LEAST = "just above saturation the queues are still filling"
MOST_ABOVE = 0.15
"""Allowed deviation of the largest latency above saturation, as a fraction."""
QUICK = {"ringlet": (25, 100, 125, 500), "long-2": (25, 425, 450, 500), "long-4": (25, 425, 450, 500)}
WITHOUT = 250
"""Gross input per sender for traffic without locality, far above the bus bandwidth."""


def _sweeps(effort: Effort) -> dict[str, list[tuple[float, Scenario]]]:
    topologies = {
        "ringlet": networks.RINGLET_SWITCH,
        "long-2": networks.LONG_2,
        "long-4": networks.LONG_4,
    }
    return {key: networks.sweep(effort, topology, QUICK[key]) for key, topology in topologies.items()}


def _without_locality(effort: Effort) -> list[Scenario]:
    """Return two senders on ringlets and on long rings, with all receivers on other rings."""
    switches = (networks.RINGLET_SWITCH, networks.LONG_2)
    return [networks.sweep_point(effort, topology, WITHOUT, share=0.0) for topology in switches]


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of three sweeps, and two runs without locality."""
    return [run for sweep in _sweeps(effort).values() for _, run in sweep] + _without_locality(effort)


def findings(lab: Lab) -> Findings:
    """Compare the numbers of section 6.8 on one switch; plot its four figures."""
    printed = numbers("scinet")
    sweeps = {key: Sweep.of(lab, runs) for key, runs in _sweeps(lab.effort).items()}
    ringlet, two, four = sweeps.values()
    return Findings(
        rows=[
            *_throughput_rows(printed, ringlet, two, four),
            *_latency_rows(printed, ringlet, two, four),
            *_ratio_rows(printed, ringlet, two, four),
            _without_row(lab, printed["no-locality"]),
        ],
        series=_figures(ringlet, two, four),
    )


def _throughput_rows(
    printed: dict[str, Number], ringlet: Sweep, two: Sweep, four: Sweep
) -> list[dict[str, Any]]:
    outputs = {
        "ringlet-output": (ringlet.at(1000), "calibrated", SETUP),
        "long-output": (two.at(900), "calibrated", MEMORY),
        "long-4-output": (four.at(1800), "predicted", ""),
    }
    losses = {
        "ringlet-loss": (ringlet.at(1000).lost_mbytes_per_s, 0.03),
        "long-loss": (two.at(1000).lost_mbytes_per_s, 0.03),
        "long-4-loss": (four.at(2000).lost_mbytes_per_s, 0.03),
    }
    knees = {
        "ringlet-knee": (ringlet.knee(), 0.0),
        "long-knee": (two.knee(), 0.0),
        "long-4-knee": (four.knee(), 0.0),
    }
    rows = []
    for key, (one, kind, note) in outputs.items():
        limits = near(printed[key], 0.03)
        rows.append(row(printed[key], one.accepted_mbytes_per_s, kind=kind, tolerance=limits, note=note))
    return [*rows, *predictions(printed, losses), *predictions(printed, knees)]


def _latency_rows(
    printed: dict[str, Number], ringlet: Sweep, two: Sweep, four: Sweep
) -> list[dict[str, Any]]:
    below = {"ringlet-latency": ringlet, "long-latency": two, "long-4-latency": four}
    least, most = ringlet.latency_above_ns()
    number = printed["ringlet-latency-above-most"]
    ends = zip(("least", "most"), two.latency_above_ns(), strict=True)
    return [
        *(
            calibrated(printed[key], sweep.latency_below_ns(), near(printed[key], 0.08), LATENCY)
            for key, sweep in below.items()
        ),
        *predictions(printed, {"ringlet-latency-knee": (ringlet.latency_knee(), 0.0)}),
        reported(printed["ringlet-latency-above-least"], least, LEAST),
        calibrated(number, most, near(number, MOST_ABOVE), ORDER),
        *predictions(
            printed, {f"long-latency-above-{end}": (value / 1000, MOST_ABOVE) for end, value in ends}
        ),
    ]


def _ratio_rows(printed: dict[str, Number], ringlet: Sweep, two: Sweep, four: Sweep) -> list[dict[str, Any]]:
    """Compare what the chapter computes from its numbers with the same from ours."""
    slow, fast, faster = (one.accepted_mbytes_per_s for one in (ringlet.at(1000), two.at(900), four.at(1800)))
    ringlet_ns, long_ns = ringlet.latency_below_ns(), two.latency_below_ns()
    values = {
        "long-over-ringlet": (fast / slow, 0.03),
        "long-4-over-ringlet": (faster / slow, 0.03),
        "long-latency-decrease": (100 * (1 - long_ns / ringlet_ns), 0.08),
        "long-latency-half": (ringlet_ns / long_ns, 0.08),
        "loss-factor": (ringlet.at(1000).lost_mbytes_per_s / two.at(1000).lost_mbytes_per_s, 0.08),
        "over-sevenfold": (faster / slow, (7.0, 8.0)),
    }
    return predictions(printed, values)


def _without_row(lab: Lab, printed: Number) -> dict[str, Any]:
    ringlet, long = (one.accepted_mbytes_per_s for one in lab.measure(_without_locality(lab.effort)))
    # They are equal except for packets cut at the ends of the measured time: two in a thousand.
    return predicted(printed, long / ringlet, (0.998, 1.002))


def _figures(ringlet: Sweep, two: Sweep, four: Sweep) -> list[dict[str, Any]]:
    title, of_four = (f"4-port switch, {many} senders and {many} receivers" for many in ("two", "four"))
    return [
        *ringlet.throughput(
            "6.21",
            title,
            "ringlets",
            output=[(250, 176, "ringlet-output")],
            losses=[(1000, 585, "ringlet-loss")],
        ),
        *two.throughput(
            "6.21", title, "long rings", output=[(900, 682, "long-output")], losses=[(1000, 80, "long-loss")]
        ),
        *ringlet.latency("6.22", title, "ringlets", [(200, 2.344, "ringlet-latency")]),
        *two.latency("6.23", title, "long rings", [(850, 1.127, "long-latency")]),
        *four.throughput(
            "6.24",
            of_four,
            "long rings",
            output=[(1800, 1365, "long-4-output")],
            losses=[(2000, 160, "long-4-loss")],
        ),
        *four.latency("6.24", of_four, "long rings", [(1700, 1.127, "long-4-latency")]),
    ]
