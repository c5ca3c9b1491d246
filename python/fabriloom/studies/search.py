"""A search for the best values of some fields: its trials, their ranking, and the best one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..process.libraries import pl
from ..results.columns.column import Column
from ..results.columns.programs import PROGRAM_POINTS
from ..results.columns.studies import POINTS, REQUIREMENT_POINTS, TRIALS
from ..results.ends import BAD
from ..results.figures import figures
from ..results.kinds import KINDS
from ..scenario.schema import Scenario
from ..scenario.sections.study import Search
from ..units import nearest
from .plan import Plan, Settings
from .sampler import Axis, axes_of, batch, first, needed, spread
from .seeds import SEED

Rows = Sequence[Mapping[str, Any] | None]
"""The rows of all runs of a trial; None for a run that was refused."""
_MET, _LATE, _STUCK, _REFUSED = range(4)


@dataclass(frozen=True)
class Trial:
    """One trial: its settings and their results."""

    number: int
    """Number of the trial in the order of the search, from 1."""
    settings: Settings
    values: dict[str, float | None]
    """Mean over the runs of the goal and of every column with a limit."""
    why: str
    """Why it cannot be the best; empty if it can."""
    order: tuple[int, float]
    """The smaller, the better."""

    @property
    def met(self) -> bool:
        """Whether it keeps all limits."""
        return not self.why


@dataclass(frozen=True)
class Searched:
    """The results of a search."""

    search: Search
    trials: list[Trial]
    """The finished trials, in the order of the search."""

    @property
    def goal(self) -> str:
        """The column or path to minimise or maximise."""
        return self.search.minimise or self.search.maximise or ""

    @property
    def spread(self) -> int:
        """The number of trials spread over the ranges before results decide."""
        return first(self.search)

    @cached_property
    def axes(self) -> dict[str, Axis]:
        """The fields by path, as numbers."""
        return axes_of(self.search)

    @property
    def columns(self) -> list[str]:
        """The columns of results that it looks at: the goal, unless a field, and those with limits."""
        return [name for name in dict.fromkeys((self.goal, *self.search.limits)) if name not in self.axes]

    def label(self, name: str) -> str:
        """Return the name of a column or a path, a path with its unit."""
        unit = self.axes[name].unit if name in self.axes else ""
        return f"{name} ({unit})" if unit else name

    @cached_property
    def ranked(self) -> list[Trial]:
        """The trials, the best first; equal trials in the order of the search."""
        return sorted(self.trials, key=lambda one: (one.order, one.number))

    @property
    def best(self) -> Trial | None:
        """The best trial that keeps all limits."""
        return self.ranked[0] if self.ranked and self.ranked[0].met else None

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        if not self.ranked:
            return "No trial is finished yet"
        best = self.ranked[0]
        others = best.settings.items() if not best.met else self._others(best)
        where = ", ".join(f"{path} = {value}" for path, value in others)
        if not best.met:
            return f"No trial keeps all limits; the nearest is {where}: {best.why}"
        extreme = "least" if self.search.minimise else "greatest"
        value = best.settings.get(self.goal, figures(best.values[self.goal]))
        at = f", at {where}" if where else ""
        return f"The {extreme} {self.goal} is {value}{at} (trial {best.number} of {len(self.trials)})"

    def _others(self, one: Trial) -> list[tuple[str, Any]]:
        return [(path, value) for path, value in one.settings.items() if path != self.goal]

    @property
    def table(self) -> pl.DataFrame:
        """One row per trial: its settings and values, then the columns ``results.columns.TRIALS``."""
        best = self.best
        rows = [{**one.settings, **one.values, **TRIALS.row_of((one, one is best))} for one in self.trials]
        frame = pl.DataFrame(rows, infer_schema_length=None, strict=False)
        return frame.select("trial", pl.exclude("trial")) if rows else frame

    @property
    def summary(self) -> dict[str, Any]:
        """The goal, the answer and the best trial, ready for JSON."""
        best = self.best
        found = None if best is None else {"trial": best.number, "settings": best.settings, **best.values}
        return {"goal": self.goal, "verdict": self.verdict, "best": found, "trials": len(self.trials)}


def checked(scenario: Scenario) -> None:
    """Check that the goal and the limits of a search are numbers of a run. Raises ScenarioError, and
    StudyError without optuna.
    """
    search = scenario.study.search
    if search is None:
        return
    tables = [
        POINTS,
        *KINDS[scenario.network_kind].points,
        *([REQUIREMENT_POINTS] if scenario.traffic.pattern.kind == "flows" else []),
        *([PROGRAM_POINTS] if scenario.program else []),
    ]
    numbers = [column.name for table in tables for column in table.columns if _is_number(column)]
    goal = "minimise" if search.minimise is not None else "maximise"
    asked = [(getattr(search, goal), (goal,), [*numbers, *search.over])]
    asked += [(name, ("limits", name), numbers) for name in search.limits]
    for name, place, known in asked:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
            message = f"{name} is no number of a run of this scenario"
            raise scenario.error(message, ("study", "search", *place), hint, key=len(place) == 2)
    needed()


def _is_number(column: Column) -> bool:
    return column.unit not in ("text", "true or false") and column.name != SEED


def judged(plan: Plan, cells: Mapping[int, Mapping[str, Any]], count: int | None = None) -> list[Trial]:
    """Return the first trials, or all. ``cells``: rows of the table of points, by number of the point."""
    assert plan.search is not None
    each = plan.replications
    return [
        _judged(plan.search, at, settings, [cells.get(at * each + run) for run in range(each)])
        for at, settings in enumerate(plan.tried[:count])
    ]


def _judged(search: Search, at: int, settings: Settings, rows: Rows) -> Trial:
    goal = search.minimise or search.maximise or ""
    known = [row for row in rows if row is not None]
    values: dict[str, float | None] = {name: _mean(known, name) for name in (goal, *search.limits)}
    if goal in search.over:
        values[goal] = Axis(search.over[goal]).number(settings[goal])
    why, order = _standing(search, values[goal], values, rows)
    return Trial(at + 1, settings, values, why, order)


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    found = [value for row in rows if (value := row.get(name)) is not None]
    return float(sum(found)) / len(found) if found and len(found) == len(rows) else None


def _standing(
    search: Search, value: float | None, values: Mapping[str, float | None], rows: Rows
) -> tuple[str, tuple[int, float]]:
    """Return why a trial cannot be the best, and its place in the order."""
    if None in rows:
        return "it cannot be run", (_REFUSED, 0.0)
    ends = {row["end_reason"] for row in rows if row is not None}
    if stuck := sorted(ends & set(BAD)):
        return f"it ended {stuck[0]}", (_STUCK, 0.0)
    missing = [name for name, found in values.items() if found is None]
    if value is None or missing:
        return f"{missing[0]} could not be measured", (_STUCK, 0.0)
    said, excess = _misses(search, values)
    if said:
        return said, (_LATE, excess)
    return "", (_MET, value if search.minimise is not None else -value)


def _misses(search: Search, values: Mapping[str, float | None]) -> tuple[str, float]:
    """Return the limits that are not kept, and the sum of what is missing, each as a share of its limit."""
    said, excess = [], 0.0
    for name, limit in search.limits.items():
        value = values[name] or 0.0
        for bound, missing, words in (
            (limit.at_most, value - (limit.at_most or 0.0), "at most"),
            (limit.at_least, (limit.at_least or 0.0) - value, "at least"),
        ):
            if bound is not None and missing > 0:
                said.append(f"{name} is {figures(value)}, {words} {figures(bound)} is allowed")
                excess += missing / (abs(bound) or 1.0)
    return "; ".join(said), excess


def rounds(plan: Plan, cells: Any, keep: Any) -> Iterator[list[int]]:
    """Yield the points of a search, batch by batch, each chosen from all results before it.

    ``cells`` returns the rows of finished points by number; ``keep`` stores the trials before they are run.
    """
    search = plan.search
    assert search is not None
    needed()
    done = 0
    while done < search.trials:
        until = min(search.trials, done + search.batch if done else first(search))
        if until > len(plan.tried):
            seed = plan.scenario.seed
            if not done:
                new = spread(search, seed)
            else:
                trials = judged(plan, cells(), done)
                places = {one.number: rank for rank, one in enumerate(Searched(search, trials).ranked)}
                new = batch(search, seed, plan.tried[:done], [places[one.number] for one in trials])
            plan.tried[done:] = new[: until - done]
            keep()
        yield [number for trial in range(done, until) for number in _runs(plan, trial)]
        done = until


def _runs(plan: Plan, trial: int) -> range:
    return range(trial * plan.replications, (trial + 1) * plan.replications)
