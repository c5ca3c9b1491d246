"""Many independent runs, some at a time, each kept as soon as it is finished."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output import Pieces

if TYPE_CHECKING:
    from ..results import Results
    from ..scenario.schema import Scenario

POINTS = "points"
"""The folder of finished points in an output folder."""
Out = str | Path | Pieces | None
"""Where finished points are kept: an output folder, what a command has of one, or nowhere."""
MOST_LINKS = 1 << 13
"""A point of a network with more links than this does not keep how busy each was."""


@dataclass(frozen=True)
class Point:
    """One finished run of a study: what was varied and what came out."""

    settings: dict[str, Any]
    """Varied settings by their path in the scenario."""
    summary: dict[str, Any]
    """The summary of the run, see ``results.columns.SUMMARY``."""
    tail: dict[str, list[float]]
    """Complementary cumulative latency: ``latency_ns`` and ``share_longer``, thinned for drawing."""
    utilisation: list[float] = field(default_factory=list)
    """Per link, 0 to 1: how busy its wire was; empty for large networks."""

    @classmethod
    def of(cls, settings: dict[str, Any], results: Results) -> Point:
        """What is kept of a run."""
        busy = results.utilisation.round(4).tolist() if results.graph.links <= MOST_LINKS else []
        return cls(settings, results.summary, results.thinned_tail(), busy)


@dataclass(frozen=True)
class Advance:
    """How far a study is, for a progress bar."""

    finished: int
    runs: int
    share: float
    """0 to 1: finished runs and the begun parts of the others."""
    events: int
    """Events worked off so far by all runs."""


class Stopped(Exception):
    """Raised inside a run that is abandoned because the study was interrupted."""


class Store:
    """Finished points as files, one each, named by the hash of their scenario; nothing is lost when
    interrupted.
    """

    def __init__(self, pieces: Pieces | None) -> None:
        self._pieces = pieces

    @classmethod
    def of(cls, out: Out) -> Store:
        """In an output folder, or nowhere."""
        return cls(out if out is None or isinstance(out, Pieces) else Pieces.at(Path(out) / POINTS))

    @staticmethod
    def _name(sha256: str) -> str:
        return f"{sha256[:24]}.json"

    def get(self, settings: dict[str, Any], sha256: str, version: str) -> Point | None:
        """The kept point of this very scenario and version, if there is one that can be read."""
        text = None if self._pieces is None else self._pieces.get(self._name(sha256))
        if text is None:
            return None
        try:
            kept = json.loads(text)
            summary = kept["summary"]
            same = summary["scenario_sha256"] == sha256 and summary["version"] == version
            return Point(settings, summary, kept["tail"], kept["utilisation"]) if same else None
        except (ValueError, KeyError, TypeError):
            return None  # a file cut short by an interruption: the run is made again

    def put(self, point: Point) -> None:
        """Keep a point, if there is room for it."""
        if self._pieces is not None:
            text = json.dumps(asdict(point), ensure_ascii=False)
            self._pieces.put(self._name(point.summary["scenario_sha256"]), text)


class _Watch:
    """Collects the progress of runs in several threads."""

    def __init__(self, runs: int, progress: Callable[[Advance], None] | None) -> None:
        self.stop = threading.Event()
        self._lock = threading.Lock()
        self._begun: dict[int, tuple[float, int]] = {}
        self._finished = 0
        self._runs = runs
        self._progress = progress

    def running(self, number: int) -> Callable[[Any], None]:
        """What a run calls now and then; it ends the run when the study was stopped."""

        def report(state: Any) -> None:
            if self.stop.is_set():
                raise Stopped
            with self._lock:
                self._begun[number] = (float(state.share), int(state.events))

        return report

    def finished(self, number: int, events: int) -> None:
        """A run is complete."""
        with self._lock:
            self._begun[number] = (1.0, events)
            self._finished += 1

    def show(self) -> None:
        """Tell the caller how far it is; always from the caller's own thread."""
        if self._progress is None:
            return
        with self._lock:
            share = sum(part for part, _ in self._begun.values()) / max(self._runs, 1)
            events = sum(count for _, count in self._begun.values())
            advance = Advance(self._finished, self._runs, share, events)
        self._progress(advance)


def _one(scenario: Scenario, settings: dict[str, Any], report: Callable[[Any], None]) -> Point:
    from .. import simulate

    return Point.of(settings, simulate.run(scenario, progress=report))


def run_points(
    runs: Sequence[tuple[dict[str, Any], Scenario]],
    *,
    jobs: int = 2,
    store: Store | None = None,
    progress: Callable[[Advance], None] | None = None,
    on_point: Callable[[Point], None] | None = None,
) -> tuple[list[Point | None], bool]:
    """Run every scenario, ``jobs`` at a time in threads (the engine lets go of Python's lock).

    Returns the points in the order of ``runs`` and whether Ctrl-C stopped it; a run that was not finished is
    ``None``. Every run is one thread and owns its random streams, so the points are the same for any number
    of jobs. ``progress`` and ``on_point`` are called from the caller's thread.
    """
    from .. import __version__

    store = store or Store(None)
    points: list[Point | None] = [None] * len(runs)
    watch = _Watch(len(runs), progress)
    waiting: list[int] = []
    for number, (settings, scenario) in enumerate(runs):
        points[number] = store.get(settings, scenario.sha256, __version__)
        if (kept := points[number]) is None:
            waiting.append(number)
        else:
            watch.finished(number, 0)
            if on_point:
                on_point(kept)
    with ThreadPoolExecutor(max(1, jobs), thread_name_prefix="run") as pool:
        futures = {pool.submit(_one, runs[n][1], runs[n][0], watch.running(n)): n for n in waiting}
        try:
            for future in _as_finished(futures, watch):
                number, point = futures[future], future.result()
                points[number] = point
                store.put(point)
                watch.finished(number, point.summary["engine"]["events"])
                if on_point:
                    on_point(point)
        except BaseException as error:
            watch.stop.set()
            _end(pool)
            if not isinstance(error, KeyboardInterrupt):
                raise
            return points, True
    watch.show()
    return points, False


def _end(pool: ThreadPoolExecutor) -> None:
    """Wait for the runs under way to be abandoned; impatience, another Ctrl-C, loses no finished point."""
    while True:
        try:
            return pool.shutdown(wait=True, cancel_futures=True)
        except KeyboardInterrupt:
            continue


def _as_finished(futures: dict[Future[Point], int], watch: _Watch) -> Iterator[Future[Point]]:
    """Futures as they are finished; progress is shown in between, and Ctrl-C gets through."""
    left = set(futures)
    while left:
        done, left = wait(left, timeout=0.1, return_when=FIRST_COMPLETED)
        watch.show()
        yield from sorted(done, key=lambda future: futures[future])
