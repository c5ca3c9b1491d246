"""Run the scenarios of experiments, each at most once, and return measurements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fabriloom.output import Pieces
from fabriloom.results.tables import column
from fabriloom.scenario import Scenario as Checked
from fabriloom.simulate import run
from fabriloom.studies.pool import Pool, Stopped
from fabriloom.studies.store import Key, Store, program
from numpy.typing import NDArray

HERE = Path(__file__)
Scenario = dict[str, Any]
"""A scenario in its written form."""
Progress = Callable[[int, int, str], None]
"""Called with runs done, runs in all, and the name of the last run."""


@dataclass(frozen=True)
class Effort:
    """How much to simulate."""

    quick: bool

    def time_ms(self, full_ms: float, quick_ms: float) -> float:
        """Return one of two simulated times."""
        return quick_ms if self.quick else full_ms

    def choose(self, full: Iterable[Any], quick: Iterable[Any]) -> list[Any]:
        """Return one of two lists of points."""
        return list(quick if self.quick else full)


def sections(warmup: float, measure: float, unit: str = "ms", *, flows: bool = False) -> Scenario:
    """Return ``[run]`` and ``[output]`` of a run that is measured for a time, after a time to settle."""
    times = {"duration": f"{warmup + measure:.6g} {unit}", "warmup": f"{warmup:.6g} {unit}"}
    return {"run": {**times, "precision": 0.0}, "output": {"links": False, "flows": flows}}


@dataclass(frozen=True)
class Measured:
    """The results of one run. Throughput is the payload accepted by all terminals together."""

    end_reason: str
    accepted_mbytes_per_s: float
    accepted_mbytes_per_s_ci95: float
    latency_ns: float
    latency_ns_ci95: float
    packets: int
    latency_values_ns: NDArray[np.float64]
    latency_counts: NDArray[np.int64]
    offered_mbytes_per_s: float
    """Throughput of the packets that sources created, including those refused for lack of room."""
    refused_share: float
    """Fraction of these packets that was refused, over the whole run."""
    made_ns: float
    """Mean latency from the creation of a packet to its storage."""
    least_ns: float
    """The smallest of these latencies, exactly."""
    most_ns: float
    """The largest of these latencies, exactly."""
    link_shares: dict[str, NDArray[np.float64]]
    """For rings, per link: fractions of the time for "busy", "retry" and "echo". Empty for other networks."""
    source_mbytes_per_s: dict[int, float]
    """Accepted throughput of each source, if flows were requested."""
    events_per_s: float = float("nan")
    """For a program: complete events per second."""

    def plain(self) -> dict[str, Any]:
        """Return the same as numbers, strings, lists and mappings."""
        return {
            **vars(self),
            "latency_values_ns": self.latency_values_ns.tolist(),
            "latency_counts": self.latency_counts.tolist(),
            "link_shares": {what: shares.tolist() for what, shares in self.link_shares.items()},
            "source_mbytes_per_s": list(self.source_mbytes_per_s.items()),
        }

    @classmethod
    def of_plain(cls, kept: Mapping[str, Any]) -> Measured:
        """Return the measurement from the output of :meth:`plain`."""
        arrays = {
            "latency_values_ns": np.asarray(kept["latency_values_ns"], np.float64),
            "latency_counts": np.asarray(kept["latency_counts"], np.int64),
            "link_shares": {what: np.asarray(shares) for what, shares in kept["link_shares"].items()},
            "source_mbytes_per_s": dict(kept["source_mbytes_per_s"]),
        }
        return cls(**{**kept, **arrays})

    def accepted(self, scale: float = 1.0) -> dict[str, Any]:
        """Return the throughput with its half-width, times ``scale``, as a row takes them."""
        return {"ours": self.accepted_mbytes_per_s * scale, "ci95": self.accepted_mbytes_per_s_ci95 * scale}

    @property
    def lost_mbytes_per_s(self) -> float:
        """Return created minus accepted: the losses, if equal amounts are under way at both ends."""
        return self.offered_mbytes_per_s - self.accepted_mbytes_per_s

    def share_longer(self, limit_ns: float) -> float:
        """Return the fraction of packets with a longer network latency, to histogram resolution."""
        total = int(self.latency_counts.sum())
        return float(self.latency_counts[self.latency_values_ns > limit_ns].sum()) / total if total else 0.0


@dataclass
class Findings:
    """Rows and series of one or more experiments."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, Any]] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    """Experiments without findings, because they were interrupted."""

    def add(self, other: Findings) -> None:
        """Append the findings of another experiment."""
        self.rows += other.rows
        self.series += other.series
        self.unfinished += other.unfinished


def measure(scenario: Checked, look: Callable[[Any], None]) -> Measured:
    """Run one scenario; ``look`` is called from time to time with its progress, and may raise to end it."""
    results = run(scenario, progress=look)
    summary, native = results.summary, results.native
    latency, made, packets = summary["latency_ns"], summary["total_latency_ns"], summary["packets"]
    return Measured(
        end_reason=results.end_reason,
        accepted_mbytes_per_s=_number(summary["accepted_mbytes_per_s"]),
        accepted_mbytes_per_s_ci95=_number(summary["accepted_mbytes_per_s_ci95"]),
        latency_ns=_number(latency["mean"]),
        latency_ns_ci95=_number(latency["mean_ci95"]),
        packets=int(packets["measured"]),
        latency_values_ns=np.asarray(native["latency_values_ticks"], np.float64) * (results.tick_ps / 1000),
        latency_counts=np.asarray(native["latency_counts"], np.int64),
        offered_mbytes_per_s=_number(summary["offered_mbytes_per_s"]),
        refused_share=packets["refused"] / packets["offered"] if packets["offered"] else 0.0,
        made_ns=_number(made["mean"]),
        least_ns=_number(made["min"]),
        most_ns=_number(made["max"]),
        link_shares=_link_shares(native, summary["measured_ns"] * 1000 / results.tick_ps),
        source_mbytes_per_s=_by_source(native, summary["measured_ns"]),
        events_per_s=_number(summary.get("events", {}).get("achieved_per_s")),
    )


def _link_shares(native: Mapping[str, Any], window_ticks: float) -> dict[str, NDArray[np.float64]]:
    if not len(column(native, "link_retry_ticks")):
        return {}
    return {what: column(native, f"link_{what}_ticks") / window_ticks for what in ("busy", "retry", "echo")}


def _by_source(native: Mapping[str, Any], window_ns: float) -> dict[int, float]:
    """Return the payload rate per source; one byte per nanosecond is 1000 MB/s."""
    found: dict[int, float] = {}
    for source, size in zip(column(native, "flow_source"), column(native, "flow_bytes"), strict=True):
        found[int(source)] = found.get(int(source), 0.0) + 1000 * float(size) / window_ns
    return found


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


class Unfinished(Exception):
    """A run that an experiment needs was interrupted."""


class Lab:
    """Runs scenarios in parallel and remembers their results, also in files if it has a folder."""

    def __init__(
        self,
        quick: bool = False,
        jobs: int = 2,
        progress: Progress | None = None,
        keep: Pieces | None = None,
    ) -> None:
        self.effort = Effort(quick)
        self.order = 0
        """Order of the requests that come now; runs of a lower order go first."""
        self._pool = Pool(jobs)
        self._store = Store(keep)
        self._progress = progress
        self._runs: dict[str, Future[Measured]] = {}
        self._others: dict[Key, Future[Any]] = {}
        self._asked = 0
        self._done: list[str] = []

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    @property
    def stopped(self) -> bool:
        """Whether only finished results are still available."""
        return self._pool.stopped

    def stop(self) -> None:
        """Start no more runs, and interrupt those in progress."""
        self._pool.stop()

    def each(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Return the results of a function that is not a run of the engine, computed in parallel, once per
        item.

        Numbers are stored under the function's name and the item. The results of a closure are not stored,
        because its name does not say what it encloses.
        """
        futures = [self._once(function, item) for item in items]
        self._wait(futures)
        return [future.result() for future in futures]

    def ask(self, scenarios: Iterable[Scenario]) -> None:
        """Start scenarios that will be measured later."""
        for scenario in scenarios:
            self._run(scenario)

    def measure(self, scenarios: Iterable[Scenario]) -> list[Measured]:
        """Return measurements in the order of the scenarios; a scenario that has run before is not run again.

        Raises:
            ScenarioError: one is wrong.
            Unfinished: the lab was stopped before all were finished.
        """
        futures = [self._run(scenario) for scenario in scenarios]
        self._wait(futures)
        return [future.result() for future in futures]

    def _run(self, scenario: Scenario) -> Future[Measured]:
        name = json.dumps(scenario, sort_keys=True)
        if name not in self._runs:
            self._runs[name] = self._submit(scenario)
        return self._runs[name]

    def _submit(self, scenario: Scenario) -> Future[Measured]:
        checked = Checked.from_dict(scenario)
        key = Key("measured", program(HERE), checked.sha256)

        def work() -> Measured:
            measured = measure(checked, self._pool.look)
            self._store.put(key, measured.plain())
            return measured

        kept = self._store.get(key)
        known = None if kept is None else Measured.of_plain(kept)
        return self._counted(str(scenario.get("name", "")), known, work)

    def _once(self, function: Callable[[Any], Any], item: Any) -> Future[Any]:
        name = f"{function.__module__}.{function.__qualname__}"
        if function.__closure__:
            return self._counted(name, None, lambda: function(item))
        key = Key(name, program(HERE.parent), json.dumps(item, sort_keys=True))

        def work() -> Any:
            value = function(item)
            if isinstance(value, int | float):
                self._store.put(key, value)
            return value

        if key not in self._others:
            self._others[key] = self._counted(name, self._store.get(key), work)
        return self._others[key]

    def _counted(self, name: str, known: Any, work: Callable[[], Any]) -> Future[Any]:
        """Return the future of some work, or of its known result, and count it when it is done."""
        self._asked += 1
        if known is None:
            future = self._pool.submit(self.order, work)
        else:
            future = Future()
            future.set_result(known)
        future.add_done_callback(lambda _: self._done.append(name))
        return future

    def _wait(self, futures: Iterable[Future[Any]]) -> None:
        """Wait until all are done, or one has failed. Raises the exception of that one."""
        left = set(futures)
        while left:
            done, left = wait(left, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                if future.cancelled() or isinstance(future.exception(), Stopped):
                    raise Unfinished
                future.result()
            if self._progress and self._done and not self.stopped:
                self._progress(len(self._done), self._asked, self._done[-1])


def one_at_a_time(
    cases: Mapping[str, Any],
    runs: Callable[[Any], list[Scenario]],
    line: Callable[[list[Measured]], list[str]],
    jobs: int,
) -> list[list[str]]:
    """Return a line per case: its name, and what ``line`` makes of its ``runs``."""
    every = {name: runs(case) for name, case in cases.items()}
    with Lab(jobs=jobs) as lab:
        lab.ask(run for some in every.values() for run in some)
        return [[name, *line(lab.measure(some))] for name, some in every.items()]


# Runs of a few messages, measured between the marks of their programs, or until their end.
def between_us(scenario: Scenario) -> float:
    """Return the us from the first mark of a run to its last. Raises ValueError for fewer than two."""
    results = _run(scenario)
    ticks = results.native["mark_ticks"]
    if len(ticks) < 2:
        raise ValueError(f"{scenario.get('name', 'a run')} {results.end_reason} with {len(ticks)} marks")
    return float(ticks.max() - ticks.min()) * results.tick_ps / 1e6


def lasted_us(scenario: Scenario) -> float:
    """Return the microseconds until all programs ended. Raises ValueError if they did not end."""
    results = _run(scenario)
    if results.end_reason != "drained":
        raise ValueError(f"{scenario.get('name', 'a run')} {results.end_reason}")
    return float(results.native["end_time_ticks"]) * results.tick_ps / 1e6


def _run(scenario: Scenario) -> Any:
    return run(Checked.from_dict(scenario))
