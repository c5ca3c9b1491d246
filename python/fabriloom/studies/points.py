"""Run many independent scenarios in parallel, and store each as soon as it is finished."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .. import simulate
from ..arguments import whole
from ..results import Results
from ..results.columns.features import FLIT_POINTS
from ..results.columns.programs import PROGRAM_POINTS
from ..results.columns.rings import RING_POINTS
from ..results.columns.studies import POINTS, REQUIREMENT_POINTS
from ..scenario.schema import Scenario
from .pool import MOST_JOBS, Pool, close
from .store import Key, Store, program

MOST_LINKS = 1 << 13
"""Most links of a network whose utilisations a point keeps."""


@dataclass(frozen=True)
class Point:
    """One finished run of a study: its varied settings and its results."""

    settings: dict[str, Any]
    """Varied settings by path."""
    summary: dict[str, Any]
    """The summary of the run, see ``results.columns.SUMMARY``, without ``engine.wall_s``, so that equal
    points are equal bytes."""
    tail: dict[str, list[float]]
    """Complementary cumulative latency, ``latency_ns`` and ``share_longer``, thinned for drawing: of packets;
    for programs of events, or of messages if there are no events."""
    utilisation: list[float] = field(default_factory=list)
    """Utilisation per link, 0 to 1; empty for large networks."""

    @classmethod
    def of(cls, settings: dict[str, Any], results: Results) -> Point:
        """Make a point from the results of a run."""
        busy = results.utilisation.round(4).tolist() if results.graph.links <= MOST_LINKS else []
        engine = {name: value for name, value in results.summary["engine"].items() if name != "wall_s"}
        return cls(settings, {**results.summary, "engine": engine}, _tail(results), busy)

    @property
    def measured(self) -> dict[str, Any]:
        """Return the parts of the point that depend on the run alone, not on how it was requested."""
        return {"summary": self.summary, "tail": self.tail, "utilisation": self.utilisation}


def point_row(point: Point) -> dict[str, Any]:
    """Return a row of the table of points, see ``results.columns.POINTS``."""
    row = POINTS.row_of(point.summary)
    own = {name: row.pop(name) for name in ("scenario_sha256", "seed")}
    for part, table in _PARTS.items():
        row |= table.row_of(point.summary) if part in point.summary else {}
    return {**point.settings, **row, **own}


def of_one_type(values: list[Any]) -> list[Any]:
    """Return settings of one type unchanged; tables, lists and mixed types as text."""
    kinds = {float if type(value) is int else type(value) for value in values if value is not None}
    if kinds <= {float} or kinds <= {str} or kinds <= {bool}:
        return values
    as_they_are = (str, type(None))
    return [one if isinstance(one, as_they_are) else json.dumps(one, ensure_ascii=False) for one in values]


_PARTS = {
    "sci": RING_POINTS, "flits": FLIT_POINTS, "messages": PROGRAM_POINTS, "requirements": REQUIREMENT_POINTS
}  # fmt: skip
"""The columns that some points have besides, by the part of the summary that they are of."""


def _tail(results: Results) -> dict[str, list[float]]:
    program = results.program
    if program is None:
        return results.thinned_tail()
    return program.event_tail() if results.summary["events"]["count"] else program.message_tail()


@dataclass(frozen=True)
class Advance:
    """The progress of a study."""

    finished: int
    runs: int
    share: float
    """Finished share, 0 to 1, including parts of running runs."""
    events: int
    """Events that all runs have processed so far."""

    def of_more(self, before: int, runs: int) -> Advance:
        """Return the progress as a part of more runs, some of which were finished before."""
        share = (before + self.share * self.runs) / runs
        return Advance(before + self.finished, runs, share, self.events)


class Watch:
    """Collects the progress of runs in several threads."""

    def __init__(self, runs: int, progress: Callable[[Advance], None] | None) -> None:
        self._lock = threading.Lock()
        self._begun: dict[int, tuple[float, int]] = {}
        self._finished = self._events = 0
        self._runs = runs
        self._progress = progress

    def running(self, number: int, state: Any) -> None:
        """Record the progress of a run."""
        with self._lock:
            self._begun[number] = (float(state.share), int(state.events))

    def finished(self, number: int, events: int) -> None:
        """Record the end of a run."""
        with self._lock:
            self._begun.pop(number, None)
            self._finished += 1
            self._events += events

    def show(self) -> None:
        """Report the progress to the caller, always from the caller's thread."""
        if self._progress is None:
            return
        with self._lock:
            share = (self._finished + sum(part for part, _ in self._begun.values())) / max(self._runs, 1)
            events = self._events + sum(count for _, count in self._begun.values())
            advance = Advance(self._finished, self._runs, share, events)
        self._progress(advance)


def key(scenario: Scenario) -> Key:
    """Return the key under which this program version stores the point of a scenario."""
    return Key("point", program(), scenario.sha256)


def kept(settings: dict[str, Any], scenario: Scenario, store: Store) -> Point | None:
    """Return the finished point of a scenario, or None if it is not in the store."""
    found = store.get(key(scenario)) if store.keeps else None
    return None if found is None else Point(settings, **found)


def computed(
    settings: dict[str, Any], scenario: Scenario, store: Store, look: Callable[[Any], None]
) -> Point:
    """Run a scenario and store its point before it is reported. ``look`` may raise to end the run.

    Raises KeyboardInterrupt if Ctrl-C or the end of a batch job has cut the run short: that is no point.
    """
    results = simulate.run(scenario, progress=look)
    if results.end_reason == "interrupted":
        raise KeyboardInterrupt
    point = Point.of(settings, results)
    if store.keeps:
        store.put(key(scenario), point.measured)
    return point


def run_points(
    runs: Sequence[tuple[dict[str, Any], Scenario]],
    *,
    jobs: int = 2,
    store: Store | None = None,
    progress: Callable[[Advance], None] | None = None,
    on_point: Callable[[Point], None] | None = None,
) -> tuple[list[Point | None], bool]:
    """Run scenarios in ``jobs`` parallel threads (the engine releases Python's lock).

    Returns the points in the order of ``runs``, None for unfinished ones, and whether Ctrl-C stopped it.
    Every run is one thread with its own random streams, so the points do not depend on the number of jobs.
    ``progress`` and ``on_point`` are called from the caller's thread.
    """
    whole("jobs", jobs, 1, MOST_JOBS)
    store = store or Store(None)
    points: list[Point | None] = [None] * len(runs)
    watch = Watch(len(runs), progress)
    for number, (settings, scenario) in enumerate(runs):
        if (point := kept(settings, scenario, store)) is not None:
            points[number] = point
            watch.finished(number, 0)
            if on_point:
                on_point(point)
    waiting = [number for number, point in enumerate(points) if point is None]
    pool = Pool(min(jobs, max(1, len(waiting))))
    futures: dict[Future[Point], int] = {}
    interrupted = False
    try:
        for number in waiting:
            looking = partial(look, pool, watch, number)
            futures[pool.submit(number, partial(computed, *runs[number], store, looking))] = number
        for future in _as_finished(futures, watch):
            number, point = futures[future], future.result()
            points[number] = point
            watch.finished(number, point.summary["engine"]["events"])
            if on_point:
                on_point(point)
        watch.show()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        close(pool)
    for future, number in futures.items():  # what was finished while the others were abandoned
        if not future.cancelled() and future.done() and not future.exception():
            points[number] = future.result()
    return points, interrupted


def look(pool: Pool, watch: Watch, number: int, state: Any) -> None:
    """Record the progress of a run. Raises Stopped if it is to end."""
    pool.look()
    watch.running(number, state)


def _as_finished(futures: dict[Future[Point], int], watch: Watch) -> Iterator[Future[Point]]:
    """Yield futures as they finish, showing progress in between; Ctrl-C is passed on."""
    left = set(futures)
    while left:
        done, left = wait(left, timeout=0.1, return_when=FIRST_COMPLETED)
        watch.show()
        yield from sorted(done, key=lambda future: futures[future])
