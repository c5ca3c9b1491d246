"""Figure 6: how many packets exceed a given latency, 256-node Clos, random traffic, at several loads.

A load gives the waits between packets, because the paper varies "the network load" and measures "the
corresponding throughput". A node that is blocked sends less; 50 % accepted load is reported too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from fabriloom.results.statistics import mean_of_runs

from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..published import Number, numbers
from ..rows import predicted, reported, series
from . import networks
from .latency import curve

LOADS = (0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Pooled:
    """Several runs that differ in the seed only."""

    runs: list[Measured]

    def mean_us(self) -> tuple[float, float]:
        """Return the mean latency and its half-width."""
        return mean_of_runs([run.latency_ns / 1000 for run in self.runs])

    def share_longer(self, times_mean: float) -> tuple[float, float]:
        """Return the percentage of packets later than a multiple of the mean, and its half-width."""
        limit_ns = times_mean * self.mean_us()[0] * 1000
        return mean_of_runs([100 * run.share_longer(limit_ns) for run in self.runs])

    def ccdf(self) -> tuple[list[float], list[float]]:
        """Return latency in us and the fraction of packets that exceed it, thinned for drawing."""
        values = np.concatenate([run.latency_values_ns for run in self.runs]) / 1000
        counts = np.concatenate([run.latency_counts for run in self.runs])
        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        later = 1 - np.cumsum(counts) / counts.sum()
        keep = np.unique(np.linspace(0, len(values) - 1, 400).astype(int))
        keep = keep[later[keep] > 1e-9]
        return values[keep].tolist(), later[keep].tolist()


MEAN_TOLERANCES = {0.1: 0.06, 0.5: 0.12}
"""Per load: the allowed deviation from a printed mean, as a fraction of it."""


def _loads(effort: Effort) -> list[float]:
    return effort.choose(LOADS, (0.1, 0.5))


def _runs(effort: Effort, load: float, **technology: Any) -> list[Scenario]:
    """Return the same load with several seeds; light loads run longer, because few packets are late."""
    measure_ms = effort.time_ms(80.0 if load < 0.3 else 25.0, 6.0)
    return [
        networks.scenario(
            networks.clos(256),
            load=load,
            seed=seed,
            technology=technology,
            warmup_ms=1.0,
            measure_ms=measure_ms,
        )
        for seed in effort.choose(SEEDS, SEEDS[:2])
    ]


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of every load, of two with fixed priority, and of the curve of accepted load."""
    runs = [run for load in _loads(effort) for run in _runs(effort, load)]
    fixed = [run for load in (0.1, 0.5) for run in _runs(effort, load, arbiter="fixed")]
    return [*runs, *fixed, *curve(effort, 256)]


def findings(lab: Lab) -> Findings:
    """Compare means and tails at 10 % and 50 % load; plot one series per load."""
    printed = numbers("macrame")
    found = Findings()
    pooled = {load: Pooled(lab.measure(_runs(lab.effort, load))) for load in _loads(lab.effort)}
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
    for load, key, times in ((0.1, "10", 3.0), (0.5, "50", 5.0)):
        found.rows.append(_mean_row(printed[f"latency-{key}"], pooled[load], MEAN_TOLERANCES[load]))
        found.rows.append(_tail_row(printed[f"tail-{key}"], pooled[load], times, ""))
        fixed = Pooled(lab.measure(_runs(lab.effort, load, arbiter="fixed")))
        found.rows.append(_tail_row(printed[f"tail-{key}"], fixed, times, "fixed priority"))
    accepted = Pooled(lab.measure(_runs(lab.effort, _load_that_accepts(lab, 0.5))))
    found.rows.append(_mean_row(printed["latency-50"], accepted, None))
    found.rows.append(_tail_row(printed["tail-50"], accepted, 5.0, "50 % accepted"))
    return found


def _load_that_accepts(lab: Lab, accepted: float) -> float:
    """Return the load to set for a given accepted load, by the curve."""
    runs = curve(lab.effort, 256)[:-1]
    nominal = [run["traffic"]["load"] for run in runs]
    reached = [networks.load_of(networks.clos(256), one.accepted_mbytes_per_s) for one in lab.measure(runs)]
    return round(float(np.interp(accepted, [0.0, *reached], [0.0, *nominal])), 4)


def _mean_row(printed: Number, pool: Pooled, part: float | None) -> dict[str, Any]:
    """Compare a mean; ``part`` is the allowed deviation as a fraction, None for a run at an accepted load."""
    mean, ci95 = pool.mean_us()
    if part is None:
        note = "the paper's load is read as the one that is set; a set load of 50 % accepts less"
        return reported(printed, mean, note, ci95=ci95, variant="50 % accepted")
    value = float(printed["value"])
    return predicted(printed, mean, (value * (1 - part), value * (1 + part)), ci95=ci95)


def _tail_row(printed: Number, pool: Pooled, times: float, variant: str) -> dict[str, Any]:
    share, ci95 = pool.share_longer(times)
    order = "the tail depends on the order of waiting heads, which is not published; FIFO is taken"
    note = "shows what the tail depends on" if variant else order
    return reported(printed, share, note, ci95=ci95, variant=variant)
