"""Run the points of a study with any number of workers, until all are finished or it is stopped."""

from __future__ import annotations

import errno
import math
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from ..reading import UserError
from ..results.statistics import mean_of_runs
from .asked import Asked
from .folder import Folder
from .plan import Plan
from .points import Advance, Watch, computed, key, look
from .pool import Pool, Stopped, close
from .search import rounds
from .store import Key, Store, program

LEAST_REPLICATIONS = 3
PRECISE = ("accepted_mbytes_per_s", "latency_ns_mean")
"""Columns whose means over seeds must reach ``study.precision``."""
_COMMIT_S = 1.0
_AHEAD = 4
"""Tasks running or waiting per worker."""


@dataclass(frozen=True)
class Done:
    """The report of a worker about a point that it has stored."""

    number: int
    content: str = ""
    error: str = ""
    """The error, if the point could not be run."""
    fault: bool = False
    """Whether the error is a fault of the program, not a mistake in the scenario."""


@dataclass
class Outcome:
    """The end of a study."""

    points: int
    finished: dict[int, str] = field(default_factory=dict)
    """Content hashes of the finished points, by number."""
    failed: list[Done] = field(default_factory=list)
    wanted: int = 0
    """Number of points that the precision requires; all, without a precision."""
    why: str = ""
    """Reason for an early end: ``interrupted`` or ``budget``; otherwise empty."""


class Workers(Protocol):
    """Workers that run points: threads, or processes of a cluster."""

    places: int
    """Workers."""

    @property
    def chunk(self) -> int:
        """Points per task."""
        ...

    def submit(self, numbers: list[int]) -> Future[list[Done]]:
        """Submit points."""
        ...

    def close(self) -> None:
        """Abandon running work; no more files are written afterwards."""
        ...


Team = Callable[[Plan, Store, Watch], Workers]
"""Makes the workers when there is something to run."""


def one(plan: Plan, number: int, store: Store, look: Callable[[Any], None]) -> Done:
    """Run and store a point, unless it is in the store already."""
    try:
        scenario = plan.point(number)
        of = key(scenario)
        if store.get(of) is None:
            computed(plan.settings(number), scenario, store, look)
        return Done(number, of.content)
    except UserError as error:
        return Done(number, error=str(error))
    except MemoryError:
        return Done(number, error="there is not enough memory for this network")
    except OSError:
        raise
    except Exception as error:
        if isinstance(error, Stopped):
            raise
        return Done(number, error=f"{type(error).__name__}: {error}", fault=True)


class Threads:
    """Worker threads in this process; the engine releases Python's lock."""

    def __init__(self, jobs: int, plan: Plan, store: Store, watch: Watch) -> None:
        self.places = jobs
        self._plan, self._store, self._watch = plan, store, watch
        self._pool = Pool(jobs)

    @property
    def chunk(self) -> int:
        """One point per task: threads take the next at once."""
        return 1

    def submit(self, numbers: list[int]) -> Future[list[Done]]:
        """Submit points."""
        looks = [partial(look, self._pool, self._watch, number) for number in numbers]
        each = list(zip(numbers, looks, strict=True))
        return self._pool.submit(
            0, lambda: [one(self._plan, at, self._store, looking) for at, looking in each]
        )

    def close(self) -> None:
        """End the threads."""
        self._pool.close()


def run(
    folder: Folder,
    asked: Asked,
    workers: Team,
    *,
    progress: Callable[[Advance], None] | None = None,
    budget_s: float = math.inf,
) -> Outcome:
    """Run the unfinished points of a study. After Ctrl-C or the end of the budget, a later call continues.

    Raises OSError if the folder is full; the stored points are complete.
    """
    plan = asked.plan
    outcome = Outcome(len(plan))
    watch = Watch(len(plan), progress)
    if plan.search is None:  # its trials are chosen again, from what is stored
        outcome.finished |= folder.contents(asked)
        for number in outcome.finished:
            watch.finished(number, 0)
    team: Workers | None = None
    until = time.monotonic() + budget_s
    try:
        for numbers in _rounds(folder, asked, plan, outcome):
            todo = [number for number in numbers if number not in outcome.finished]
            if todo:
                team = team or workers(plan, folder.store, watch)
                _run_all(folder, asked, team, todo, outcome, watch, until)
            if outcome.why:
                break
    except KeyboardInterrupt:
        outcome.why = "interrupted"
    except sqlite3.Error as error:
        raise OSError(errno.ENOSPC, f"the index takes no more: {error}") from error
    finally:
        if team is not None:
            close(team)
        folder.index.commit()
    outcome.wanted = outcome.wanted or len(plan)
    return outcome


def _rounds(folder: Folder, asked: Asked, plan: Plan, outcome: Outcome) -> Iterator[list[int]]:
    """Yield all points; with a precision, replication by replication, for points that still need one.

    This is decided after complete rounds, so that it does not depend on the order in which runs finish.
    """
    precision = plan.scenario.study.precision
    if plan.search is not None:
        yield from rounds(plan, partial(_rows, folder, outcome), partial(folder.keep, asked))
        return
    if not precision:
        yield [number for replication in range(plan.replications) for number in plan.round(replication)]
        return
    precise: set[int] = set()
    for replication in range(plan.replications):
        numbers = [number for number in plan.round(replication) if number - replication not in precise]
        if replication >= LEAST_REPLICATIONS:
            cells = folder.index.cells()
            new = [n for n in numbers if _precise(cells, outcome, n, replication, precision)]
            precise |= {number - replication for number in new}
            numbers = [number for number in numbers if number not in new]
        outcome.wanted += len(numbers)
        yield numbers


def _rows(folder: Folder, outcome: Outcome) -> dict[int, dict[str, Any]]:
    """Return the rows of the finished points, by number."""
    cells = folder.index.cells()
    return {number: cells[content] for number, content in outcome.finished.items() if content in cells}


def _precise(
    cells: dict[str, dict[str, Any]], outcome: Outcome, number: int, count: int, precision: float
) -> bool:
    """Whether the first ``count`` replications of a point suffice."""
    rows = [cells.get(outcome.finished.get(number - back, "")) for back in range(1, count + 1)]
    return None not in rows and all(
        _narrow([row[name] for row in rows if row], precision) for name in PRECISE
    )


def _narrow(values: Sequence[float | None], precision: float) -> bool:
    """Whether the half-width of the mean is below a fraction of it; True without any value."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return not known
    mean, half = mean_of_runs(known)
    return half <= precision * abs(mean)


def _run_all(
    folder: Folder, asked: Asked, team: Workers, todo: list[int], outcome: Outcome, watch: Watch, until: float
) -> None:
    """Submit points, some ahead of the workers, and record their results."""
    waiting = deque(todo)
    under_way: set[Future[list[Done]]] = set()
    noted_s, new = time.monotonic(), []
    try:
        while True:
            while waiting and len(under_way) < _AHEAD * team.places:
                size = max(1, min(team.chunk, len(waiting) // (2 * team.places)))
                under_way.add(team.submit([waiting.popleft() for _ in range(size)]))
            if not under_way:
                return
            done, under_way = wait(under_way, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                new += _note(folder, outcome, watch, future.result())
            watch.show()
            if time.monotonic() > until:
                outcome.why = "budget"
                return
            if time.monotonic() - noted_s > _COMMIT_S:
                folder.index.planned(asked.fingerprint, new)
                folder.index.commit()
                noted_s, new = time.monotonic(), []
    finally:
        folder.index.planned(asked.fingerprint, new)


def _note(folder: Folder, outcome: Outcome, watch: Watch, found: list[Done]) -> list[tuple[int, str]]:
    new = []
    for done in found:
        if done.error:
            outcome.failed.append(done)
        else:
            folder.finished(Key("point", program(), done.content).name)
            outcome.finished[done.number] = done.content
            new.append((done.number, done.content))
        watch.finished(done.number, 0)
    return new
