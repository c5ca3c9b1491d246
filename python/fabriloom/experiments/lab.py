"""Where experiments run: scenarios in, measurements out, each scenario at most once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scenario = dict[str, Any]
"""A scenario in its written form."""
Progress = Callable[[int, int, str], None]
"""Called with runs done, runs in all and the name of the run that has just ended."""


@dataclass(frozen=True)
class Effort:
    """How much to simulate."""

    quick: bool

    def time_ms(self, full_ms: float, quick_ms: float) -> float:
        """One of two simulated times."""
        return quick_ms if self.quick else full_ms

    def choose(self, full: Iterable[Any], quick: Iterable[Any]) -> list[Any]:
        """One of two lists of points."""
        return list(quick if self.quick else full)


@dataclass(frozen=True)
class Measured:
    """What an experiment needs of one run. Throughput is payload accepted by all terminals together."""

    end_reason: str
    accepted_mbytes_per_s: float
    accepted_mbytes_per_s_ci95: float
    latency_ns: float
    latency_ns_ci95: float
    packets: int
    latency_values_ns: NDArray[np.float64]
    latency_counts: NDArray[np.int64]

    def share_longer(self, limit_ns: float) -> float:
        """Share of the measured packets with a longer network latency, to the histogram's resolution."""
        total = int(self.latency_counts.sum())
        return float(self.latency_counts[self.latency_values_ns > limit_ns].sum()) / total if total else 0.0


@dataclass
class Findings:
    """Rows and series of one or more experiments."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        """Append what another experiment found."""
        self.rows += other.rows
        self.series += other.series


def measure_one(scenario: Scenario) -> Measured:
    """Run one scenario. Raises ScenarioError when it is wrong."""
    from ..scenario import Scenario as Checked
    from ..simulate import run

    results = run(Checked.from_dict(scenario))
    summary = results.summary
    latency = summary["latency_ns"]
    return Measured(
        end_reason=results.end_reason,
        accepted_mbytes_per_s=_number(summary["accepted_mbytes_per_s"]),
        accepted_mbytes_per_s_ci95=_number(summary["accepted_mbytes_per_s_ci95"]),
        latency_ns=_number(latency["mean"]),
        latency_ns_ci95=_number(latency["mean_ci95"]),
        packets=int(summary["packets"]["measured"]),
        latency_values_ns=np.asarray(results.native["latency_values_ticks"], np.float64)
        * (results.tick_ps / 1000),
        latency_counts=np.asarray(results.native["latency_counts"], np.int64),
    )


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


class Lab:
    """Runs scenarios side by side and remembers what they gave.

    The engine works without the interpreter's lock, so threads are enough.
    """

    def __init__(self, quick: bool = False, jobs: int = 2, progress: Progress | None = None) -> None:
        self.effort = Effort(quick)
        self._pool = ThreadPoolExecutor(max_workers=max(1, jobs))
        self._progress = progress
        self._known: dict[str, Measured] = {}
        self._asked = 0

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def each(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Something else than a run of the engine, done side by side; not remembered."""
        return list(self._pool.map(function, items))

    def measure(self, scenarios: Iterable[Scenario]) -> list[Measured]:
        """Measurements in the order of the scenarios; what ran before is not run again."""
        scenarios = list(scenarios)
        keys = [json.dumps(scenario, sort_keys=True) for scenario in scenarios]
        new = {key: scenario for key, scenario in zip(keys, scenarios, strict=True) if key not in self._known}
        self._asked += len(new)
        futures: dict[Future[Measured], str] = {
            self._pool.submit(measure_one, scenario): key for key, scenario in new.items()
        }
        for future in as_completed(futures):
            key = futures[future]
            self._known[key] = future.result()
            if self._progress:
                self._progress(len(self._known), self._asked, str(new[key].get("name", "")))
        return [self._known[key] for key in keys]
