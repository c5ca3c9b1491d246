"""The jobs of a worker: examine scenarios, run them, compute a saturation curve."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import studies
from ..compile import compile, graph_of
from ..output import encoded, file
from ..report import for_comparison, for_curve, for_run
from ..report.page import micro
from ..results import Results
from ..scenario import Scenario
from ..simulate import Progress, run
from ..studies import Comparison, Curve, Point
from ..studies.comparison import NAME
from ..studies.curves import LOADS, load_of, varied
from ..studies.verdict import Judge, waits_for_its_packets
from . import limits
from .choices import Chosen, chosen
from .limits import Refusal
from .live import Live, describe, title_of
from .recording import record, together

Emit = Callable[[dict[str, Any]], None]


class Clock:
    """Decides when a job has to end: when it is cancelled or takes too long."""

    def __init__(self, stop: threading.Event, most_s: float) -> None:
        self._stop = stop
        self._until = time.monotonic() + most_s
        self.cancelled = False
        self.late = False

    def check(self) -> None:
        """Raise KeyboardInterrupt, which ends a run with partial results, if the job has to end."""
        self.cancelled = self.cancelled or self._stop.is_set()
        self.late = self.late or time.monotonic() > self._until
        if self.cancelled or self.late:
            raise KeyboardInterrupt

    def why(self) -> str:
        """Return the reason for an early end as text; empty otherwise."""
        if self.cancelled:
            return "cancelled"
        minutes = f"Stopped after {limits.RUN_S / 60:g} minutes; `fabriloom run` has no such limit."
        return minutes if self.late else ""


def do_look(job: Mapping[str, Any], emit: Emit, stop: threading.Event) -> None:
    """Describe one or two fabrics."""
    emit({"type": "look", "sides": [describe(one) for one in _sides(job)]})


def do_run(job: Mapping[str, Any], emit: Emit, stop: threading.Event) -> None:
    """Run one or two fabrics at the same time."""
    scenarios = _named(job)
    clock = Clock(stop, limits.RUN_S)
    results: dict[str, Results] = {}
    faults: list[BaseException] = []

    def one(side: int, name: str, scenario: Scenario) -> None:
        try:
            results[name] = _watched(side, scenario, emit, clock)
        except BaseException as error:
            faults.append(error)

    threads = [
        threading.Thread(target=one, args=(side, name, scenario))
        for side, (name, scenario) in enumerate(scenarios.items())
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults and not clock.cancelled:
        raise faults[0]
    if clock.cancelled:
        emit({"type": "done", "why": clock.why(), "report": False})
        return
    points = [Point.of({NAME: name}, results[name]) for name in scenarios]
    _finish(job, emit, clock, for_run(*results.values()) if len(points) == 1 else _beside(points, scenarios))


def _finish(job: Mapping[str, Any], emit: Emit, clock: Clock, report: str) -> None:
    with file(Path(job["report"])) as out:
        out.write(encoded(report))
    emit({"type": "done", "why": clock.why(), "report": True})


def do_replay(job: Mapping[str, Any], emit: Emit, stop: threading.Event) -> None:
    """Run one or two fabrics again and return the paths of their packets.

    These are the last packets before the end, or those from a given time on.
    """
    clock = Clock(stop, limits.RUN_S)
    since_ps = None if job["from_ms"] is None else round(job["from_ms"] * 1e9)
    scenarios, recordings = list(_named(job).values()), []

    def told(share: float) -> None:
        emit({"type": "recording", "share": min(1.0, (len(recordings) + share) / len(scenarios))})

    for scenario in scenarios:
        limits.check_size(graph_of(scenario))
        recordings.append(record(scenario, since_ps, clock.check, told))
    if since_ps is None:
        recordings = together(scenarios, recordings, clock.check, told)
    for side, one in enumerate(recordings):
        emit({"type": "replay", "side": side, **one})
    emit({"type": "done", "why": clock.why(), "report": Path(job["report"]).is_file()})


def _watched(side: int, scenario: Scenario, emit: Emit, clock: Clock) -> Results:
    """Run a scenario and report its state meanwhile."""
    limits.check_size(graph_of(scenario))
    compiled = compile(scenario)
    live = Live(compiled)

    def progress(state: Progress) -> None:
        picture = live.look(state)
        if picture is not None:
            emit({"type": "live", "side": side, **picture})
        clock.check()

    results = run(compiled, progress)
    emit({"type": "live", "side": side, **live.end(results)})
    return results


def _sides(job: Mapping[str, Any]) -> list[Chosen]:
    """Return the scenarios of one or two fabrics, both with the traffic of the first.

    Raises ScenarioError and Refusal.
    """
    first, beside = chosen(job["first"]), job.get("beside")
    return [first] if beside is None else [first, chosen(beside, first)]


def _named(job: Mapping[str, Any]) -> dict[str, Scenario]:
    """Return the scenarios of a job by unique names."""
    named: dict[str, Scenario] = {}
    for one in _sides(job):
        name = title_of(one.scenario)
        named[f"{name} (second)" if name in named else name] = one.scenario
    return named


def _beside(points: list[Point], scenarios: Mapping[str, Scenario], interrupted: bool = False) -> str:
    """Return the report of points of several scenarios, as a comparison."""
    return for_comparison(Comparison.between(points, scenarios, runs=len(points), interrupted=interrupted))


def do_curve(job: Mapping[str, Any], emit: Emit, stop: threading.Event) -> None:
    """Compute throughput and latency of one or two fabrics over the usual loads."""
    scenarios = _named(job)
    clock = Clock(stop, limits.STUDY_S)
    curves: dict[str, Curve] = {}
    for side, (name, scenario) in enumerate(scenarios.items()):
        limits.check_size(graph_of(scenario))
        if not scenario.needs_load and not scenario.traffic.is_rated():
            raise Refusal("This traffic sets its own times, so there is no load to raise.")
        curve = curves[name] = _curve(side, len(scenarios), scenario, emit, clock, Path(job["report"]).parent)
        said = " ".join(f"{text}." for text in curve.verdicts.values() if text)
        if curve.points:
            emit({"type": "verdict", "side": side, "text": said})
    if clock.cancelled or not any(curve.points for curve in curves.values()):
        emit({"type": "done", "why": clock.why(), "report": False})
        return
    if len(curves) == 1:
        _finish(job, emit, clock, for_curve(next(iter(curves.values()))))
        return
    points = [
        Point({NAME: name, **point.settings}, point.summary, point.tail, point.utilisation)
        for name, curve in curves.items()
        for point in curve.points
    ]
    interrupted = any(curve.interrupted for curve in curves.values())
    _finish(job, emit, clock, _beside(points, scenarios, interrupted))


def _curve(side: int, of: int, scenario: Scenario, emit: Emit, clock: Clock, kept: Path) -> Curve:
    path, base = load_of(scenario), scenario.alone()
    judge, waits = Judge.of(varied(base, {path: 1.0})), waits_for_its_packets(scenario)

    def on_point(point: Point) -> None:
        summary, load = point.summary, point.settings[path]
        emit(
            {
                "type": "point",
                "side": side,
                "number": LOADS.index(load),
                "load": load,
                "offered": summary["offered_mbytes_per_s"],
                "accepted": summary["accepted_mbytes_per_s"],
                "accepted_ci95": summary["accepted_mbytes_per_s_ci95"],
                "latency_us": micro(summary["latency_ns"]["mean"]),
                "latency_ci95_us": micro(summary["latency_ns"]["mean_ci95"]),
                "total_us": micro(summary["total_latency_ns"]["mean"]),
                "p99_us": micro(summary["latency_ns"]["p99"]),
                "sustained": not waits and judge.sustained(load, summary),
                "waits": waits,
                "end": summary["end"]["reason"],
                "busy": [round(1000 * share) for share in point.utilisation],
            }
        )

    def progress(state: Any) -> None:
        share = (side + state.share) / of
        emit({"type": "study", "share": share, "finished": state.finished, "runs": state.runs})
        clock.check()

    return studies.curve(scenario, LOADS, jobs=2, out=kept, progress=progress, on_point=on_point)


JOBS: dict[str, Callable[[Mapping[str, Any], Emit, threading.Event], None]] = {
    "look": do_look,
    "run": do_run,
    "curve": do_curve,
    "replay": do_replay,
}
