"""Figures 6.25 to 6.27: 16x16 Omega networks of ringlets, and of long rings on bases 2 and 4."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Scenario
from ..published import Number, numbers
from ..rows import predictions
from . import networks
from .curves import Sweep
from .switch import MOST_ABOVE

TOPOLOGIES = {
    "omega": networks.OMEGA,
    "first": networks.FIRST_GRADE,
    "second": networks.SECOND_GRADE,
}
QUICK = {"omega": (25, 100, 125, 300, 500), "first": (25, 425, 450), "second": (25, 425, 450)}
OUTPUT_AT = {"omega": 2000, "first": 7200, "second": 7200}


def _sweeps(effort: Effort) -> dict[str, list[tuple[float, Scenario]]]:
    return {key: networks.sweep(effort, topology, QUICK[key]) for key, topology in TOPOLOGIES.items()}


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of three sweeps."""
    return [run for sweep in _sweeps(effort).values() for _, run in sweep]


def findings(lab: Lab) -> Findings:
    """Compare the numbers of section 6.8 on networks; plot its three figures."""
    printed = numbers("scinet")
    sweeps = {key: Sweep.of(lab, runs) for key, runs in _sweeps(lab.effort).items()}
    return Findings(
        rows=[
            *_throughput_rows(printed, sweeps),
            *_latency_rows(printed, sweeps),
            *_ratio_rows(printed, sweeps),
        ],
        series=_figures(sweeps),
    )


def _throughput_rows(printed: dict[str, Number], sweeps: dict[str, Sweep]) -> list[dict[str, Any]]:
    omega = sweeps["omega"]
    values = {
        f"{key}-output": sweep.at(OUTPUT_AT[key]).accepted_mbytes_per_s for key, sweep in sweeps.items()
    }
    values |= {
        "omega-loss": omega.at(2000).lost_mbytes_per_s,
        "omega-loss-8000": omega.at(8000).lost_mbytes_per_s,
    }
    rates = {key: (value, 0.03) for key, value in values.items()}
    knees = {f"{key}-knee": (sweep.knee(), 0.0) for key, sweep in sweeps.items()}
    return predictions(printed, rates | knees)


def _latency_rows(printed: dict[str, Number], sweeps: dict[str, Sweep]) -> list[dict[str, Any]]:
    below = {key: sweep.latency_below_ns() for key, sweep in sweeps.items()}
    above = {key: sweep.latency_above_ns()[1] for key, sweep in sweeps.items()}
    values = {
        "omega-latency": (below["omega"], 0.08),
        "first-latency": (below["first"], 0.08),
        "second-latency": (below["second"], 0.12),
        "omega-latency-knee": (sweeps["omega"].latency_knee(), 0.0),
        "first-latency-knee": (sweeps["first"].latency_knee(), 0.0),
        "omega-latency-above": (above["omega"], MOST_ABOVE),
        "first-latency-above": (above["first"], MOST_ABOVE),
        "second-latency-above": (above["second"] / 1000, MOST_ABOVE),
    }
    return predictions(printed, values)


def _ratio_rows(printed: dict[str, Number], sweeps: dict[str, Sweep]) -> list[dict[str, Any]]:
    """Compare what the chapter computes from its numbers with the same from ours."""
    output = {key: sweep.at(OUTPUT_AT[key]).accepted_mbytes_per_s for key, sweep in sweeps.items()}
    latency = {key: sweep.latency_below_ns() for key, sweep in sweeps.items()}
    above = {key: sweep.latency_above_ns()[1] for key, sweep in sweeps.items()}
    values = {
        "first-over-ringlet": (output["first"] / output["omega"], 0.03),
        "first-fold": (output["first"] / output["omega"], 0.08),
        "networks-fold": (output["second"] / output["omega"], 0.08),
        "first-latency-share": (100 * latency["first"] / latency["omega"], 0.12),
        "first-latency-above-share": (100 * above["first"] / above["omega"], MOST_ABOVE),
    }
    return predictions(printed, values)


def _figures(sweeps: dict[str, Sweep]) -> list[dict[str, Any]]:
    omega, first, second = sweeps.values()
    labels = {
        "6.25": (omega, "ringlet-connected 16x16 Omega", "ringlets"),
        "6.26": (first, "first-grade optimised 16x16 Omega", "long rings"),
        "6.27": (second, "second-grade optimised 16x16 Omega", "long rings"),
    }
    outputs: dict[str, Any] = {
        "6.25": {
            "output": [(2000, 1412, "omega-output")],
            "losses": [(2000, 112, "omega-loss"), (8000, 4684, "omega-loss-8000")],
        },
        "6.26": {"output": [(7200, 5333, "first-output")]},
        "6.27": {"output": [(7200, 5456, "second-output")]},
    }
    latencies = {
        "6.25": [(1600, 6.670, "omega-latency"), (8000, 20.056, "omega-latency-above")],
        "6.26": [(6800, 1.771, "first-latency"), (8000, 5.067, "first-latency-above")],
        "6.27": [(6800, 1.525, "second-latency"), (8000, 134.0, "second-latency-above")],
    }
    found = []
    for figure, (sweep, title, label) in labels.items():
        found += sweep.throughput(figure, title, label, **outputs[figure])
        found += sweep.latency(figure, title, label, latencies[figure])
    return found
