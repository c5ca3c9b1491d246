"""Figure 6: how many packets are later than a given time, 256-node Clos, random traffic, at several loads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...published import Number, numbers
from ...results.statistics import student_t95
from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..rows import row, series
from . import networks
from .latency import curve

LOADS = (0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Pooled:
    """Several runs that differ in the seed only."""

    runs: list[Measured]

    def mean_us(self) -> tuple[float, float]:
        """Mean latency and its half-width."""
        return _with_ci([run.latency_ns / 1000 for run in self.runs])

    def share_longer(self, times_mean: float) -> tuple[float, float]:
        """Share of packets, in per cent, later than a multiple of the mean, and its half-width."""
        limit_ns = times_mean * self.mean_us()[0] * 1000
        return _with_ci([100 * run.share_longer(limit_ns) for run in self.runs])

    def ccdf(self) -> tuple[list[float], list[float]]:
        """Latency in us and share of packets that are later, thinned to what can be seen."""
        values = np.concatenate([run.latency_values_ns for run in self.runs]) / 1000
        counts = np.concatenate([run.latency_counts for run in self.runs])
        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        later = 1 - np.cumsum(counts) / counts.sum()
        keep = np.unique(np.linspace(0, len(values) - 1, 400).astype(int))
        keep = keep[later[keep] > 1e-9]
        return values[keep].tolist(), later[keep].tolist()


def _with_ci(values: list[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return mean, student_t95(len(values) - 1) * spread / math.sqrt(len(values))


def _loads(effort: Effort) -> list[float]:
    return effort.choose(LOADS, (0.1, 0.5))


def scenarios(effort: Effort) -> list[Scenario]:
    """The curve that says which waits give which load; the long runs follow from it."""
    return curve(effort, 256)


def findings(lab: Lab) -> Findings:
    """Means and tails at 10 % and 50 % load; one series per load."""
    printed = numbers("macrame")
    found = Findings()
    loads = _loads(lab.effort)
    runs = [_runs(lab, load) for load in loads]
    measured = lab.measure([scenario for one in runs for scenario in one])
    each = len(runs[0])
    pooled = {load: Pooled(measured[i * each : (i + 1) * each]) for i, load in enumerate(loads)}
    published = {0.1: [(33, 1e-4, "tail-10")], 0.5: [(105, 7e-3, "tail-50")]}
    for load, pool in pooled.items():
        x, y = pool.ccdf()
        found.series.append(
            series(
                "6",
                "Packets later than a given time, Clos 256, 64-byte packets",
                f"{round(100 * load)} % load",
                x=x,
                y=y,
                x_quantity="network latency (us)",
                y_quantity="share of packets that are later",
                published=published.get(load, []),
                log="y",
            )
        )
    found.rows += _rows(printed, pooled[0.1], "10", 3.0, 0.06) + _rows(printed, pooled[0.5], "50", 5.0, 0.12)
    return found


def _runs(lab: Lab, accepted: float) -> list[Scenario]:
    """Runs at an accepted load; the nominal one, which blocked nodes fall behind, is read off the curve."""
    runs = curve(lab.effort, 256)[:-1]
    nominal = [run["traffic"]["load"] for run in runs]
    reached = [networks.load_of(networks.clos(256), one.accepted_mbytes_per_s) for one in lab.measure(runs)]
    load = round(float(np.interp(accepted, [0.0, *reached], [0.0, *nominal])), 4)
    times = {
        "warmup_ms": 1.0,
        "measure_ms": lab.effort.time_ms(12.0 / accepted if accepted > 0.3 else 80.0, 6.0),
    }
    seeds = lab.effort.choose(SEEDS, SEEDS[:2])
    return [networks.scenario(networks.clos(256), load=load, seed=seed, **times) for seed in seeds]


def _rows(
    printed: dict[str, Number], pool: Pooled, load: str, times: float, part: float
) -> list[dict[str, Any]]:
    mean, mean_ci = pool.mean_us()
    share, share_ci = pool.share_longer(times)
    value = float(printed[f"latency-{load}"]["value"])
    note = "the tail hangs on the order of waiting heads, which is not published; FIFO is taken"
    return [
        row(
            "macrame",
            printed[f"latency-{load}"],
            mean,
            ci95=mean_ci,
            kind="predicted",
            tolerance=(value * (1 - part), value * (1 + part)),
        ),
        row("macrame", printed[f"tail-{load}"], share, ci95=share_ci, kind="reported", note=note),
    ]
