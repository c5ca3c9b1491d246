"""Running a study: its points by any number of workers, until all are there or it is stopped."""

from __future__ import annotations

import errno
import math
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..results.statistics import mean_of_runs
from .folder import Asked, Folder
from .plan import Plan
from .points import Advance, Watch, computed, key
from .pool import Pool
from .store import Key, Store, program

LEAST_REPLICATIONS = 3
PRECISE = ("accepted_mbytes_per_s", "latency_ns_mean")
"""Columns whose means over seeds ``study.precision`` is about."""
_COMMIT_S = 1.0
_AHEAD = 4
"""Tasks under way or waiting for each worker."""


@dataclass(frozen=True)
class Done:
    """What a worker says of a point, which it has stored before."""

    number: int
    content: str = ""
    error: str = ""
    """Why it could not be run, instead."""
    fault: bool = False
    """Whether that is a fault of the program and not a mistake in the scenario."""


@dataclass
class Outcome:
    """How a study ended."""

    points: int
    finished: dict[int, str] = field(default_factory=dict)
    """The contents of the points that are there, by number."""
    failed: list[Done] = field(default_factory=list)
    wanted: int = 0
    """Points that the precision asked for; all, without one."""
    why: str = ""
    """Why it ended early: ``interrupted`` or ``budget``; empty when it did not."""


class Workers(Protocol):
    """Who runs points: threads here, or processes of a cluster."""

    places: int
    """Workers."""

    @property
    def chunk(self) -> int:
        """Points that are handed over at once."""
        ...

    def submit(self, numbers: list[int]) -> Future[list[Done]]:
        """Have points run."""
        ...

    def close(self) -> None:
        """Abandon what is under way; after this nothing is written any more."""
        ...


Team = Callable[[Plan, Store, Watch], Workers]
"""Who is called when there is something to run."""


def one(plan: Plan, number: int, store: Store, look: Callable[[Any], None]) -> Done:
    """Run a point, unless it is in the store already, and store it."""
    from ..routing import RoutingError
    from ..scenario import ScenarioError
    from ..technology import TechnologyError
    from ..topology import GraphError

    try:
        scenario = plan.point(number)
        of = key(scenario)
        if store.get(of) is None:
            computed(plan.settings(number), scenario, store, look)
        return Done(number, of.content)
    except (ScenarioError, GraphError, RoutingError, TechnologyError) as error:
        return Done(number, error=str(error))
    except MemoryError:
        return Done(number, error="there is not enough memory for this network")
    except OSError:
        raise
    except Exception as error:
        from .pool import Stopped

        if isinstance(error, Stopped):
            raise
        return Done(number, error=f"{type(error).__name__}: {error}", fault=True)


class Threads:
    """Workers in this process: the engine lets go of Python's lock."""

    def __init__(self, plan: Plan, store: Store, jobs: int, watch: Watch) -> None:
        self.places = jobs
        self._plan, self._store, self._watch = plan, store, watch
        self._pool = Pool(jobs)

    @property
    def chunk(self) -> int:
        """One point: threads take the next at once."""
        return 1

    def submit(self, numbers: list[int]) -> Future[list[Done]]:
        """Have points run."""
        return self._pool.submit(0, lambda: [self._one(number) for number in numbers])

    def _one(self, number: int) -> Done:
        def look(state: Any) -> None:
            self._pool.look()
            self._watch.running(number, state)

        return one(self._plan, number, self._store, look)

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
    """Run what is not finished of a study. Ctrl-C and the end of the budget leave the rest for later.

    Raises OSError when the folder takes no more; what is there is whole.
    """
    plan = asked.plan
    outcome = Outcome(len(plan))
    watch = Watch(len(plan), progress)
    there = folder.index.contents(program())
    for number, content in folder.index.plan(asked.fingerprint).items():
        if content in there:
            outcome.finished[number] = content
            watch.finished(number, 0)
    team: Workers | None = None
    until = time.monotonic() + budget_s
    try:
        for numbers in _rounds(folder, plan, outcome):
            todo = [number for number in numbers if number not in outcome.finished]
            if todo:
                team = team or workers(plan, folder.store, watch)
                _run_all(folder, asked, team, todo, outcome, watch, until)
            if outcome.why:
                break
    except KeyboardInterrupt:
        outcome.why = "interrupted"
    except sqlite3.OperationalError as error:
        raise OSError(errno.ENOSPC, f"the index takes no more: {error}") from error
    finally:
        if team is not None:
            _close(team)
        folder.index.commit()
    outcome.wanted = outcome.wanted or len(plan)
    return outcome


def _close(team: Workers) -> None:
    """Impatience, another Ctrl-C, loses no finished point."""
    while True:
        try:
            return team.close()
        except KeyboardInterrupt:
            continue


def _rounds(folder: Folder, plan: Plan, outcome: Outcome) -> Iterator[list[int]]:
    """All points; with a precision replication by replication, of those groups that still need one.

    Whether they do depends on whole rounds, so not on the order in which runs are finished.
    """
    precision = plan.scenario.study.precision
    if not precision:
        yield [number for replication in range(plan.replications) for number in plan.round(replication)]
        return
    precise: set[int] = set()
    for replication in range(plan.replications):
        numbers = [number for number in plan.round(replication) if number - replication not in precise]
        if replication >= LEAST_REPLICATIONS:
            cells = folder.index.cells(program())
            new = [n for n in numbers if _precise(cells, outcome, n, replication, precision)]
            precise |= {number - replication for number in new}
            numbers = [number for number in numbers if number not in new]
        outcome.wanted += len(numbers)
        yield numbers


def _precise(
    cells: dict[str, dict[str, Any]], outcome: Outcome, number: int, count: int, precision: float
) -> bool:
    """Whether the ``count`` replications before a point are enough."""
    rows = [cells.get(outcome.finished.get(number - back, "")) for back in range(1, count + 1)]
    return None not in rows and all(
        _narrow([row[name] for row in rows if row], precision) for name in PRECISE
    )


def _narrow(values: Sequence[float | None], precision: float) -> bool:
    """Whether the half-width of the mean is below a fraction of it; what was never measured is."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return not known
    mean, half = mean_of_runs(known)
    return half <= precision * abs(mean)


def _run_all(
    folder: Folder,
    asked: Asked,
    team: Workers,
    todo: list[int],
    outcome: Outcome,
    watch: Watch,
    until: float,
) -> None:
    """Hand points over, some ahead of the workers, and note what comes back."""
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
