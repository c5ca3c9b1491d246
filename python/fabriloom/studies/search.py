"""A search for the best values of some fields: its trials, their ranking, and the best one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from ..process.libraries import pl
from ..results.columns.programs import PROGRAM_POINTS
from ..results.columns.studies import POINTS, REQUIREMENT_POINTS, TRIALS
from ..results.ends import BAD
from ..results.figures import figures
from ..results.kinds import KINDS
from ..results.statistics import mean_of_runs
from ..scenario.schema import Scenario
from ..scenario.sections.study import Search, Sought, amount, ends, quantity
from ..units import nearest
from .asked import StudyError
from .plan import Plan, Settings, samples
from .seeds import SEED

# Choose the trials of a search: spread over all ranges first, then by optuna's Parzen estimator (TPE).
#
# A batch is a pure function of the search, its seed and the results of the trials before it. So it depends
# neither on the number of jobs nor on how often the search was interrupted.

FIRST, FIRST_PER_FIELD = 4, 2
"""Number of trials spread over the ranges before results decide: a constant, and more for each field."""


@dataclass(frozen=True)
class Axis:
    """One field of a search, as numbers."""

    sought: Sought

    @cached_property
    def _ends(self) -> tuple[float, float, str, bool]:
        return ends(self.sought.low, self.sought.high, self.sought.scale)

    @cached_property
    def step(self) -> float:
        """The distance between values; 0 without one."""
        if self.sought.step is not None:
            return amount(self.sought.step)[0]
        return 1.0 if self._ends[3] else 0.0

    def number(self, value: Any) -> float:
        """Return a setting as a number, limited to the range and rounded to the nearest step."""
        low, high = self._ends[:2]
        found = min(max(amount(value)[0], low), high)
        return low + self.step * self._place(found) if self.step else found

    def _place(self, number: float) -> int:
        low, high = self._ends[:2]
        return min(round((number - low) / self.step), int((high - low) / self.step + 1e-9))

    @property
    def unit(self) -> str:
        """The unit of the field in the scenario."""
        return self._ends[2]

    def part(self, value: Any, count: int) -> int:
        """Return the index of the part that contains a setting, of ``count`` equal parts on its scale."""
        low, high = self._ends[:2]
        number = self.number(value)
        share = (number - low) / (high - low)
        if self.sought.scale == "log":
            share = math.log(number / low) / math.log(high / low)
        return min(int(count * share), count - 1)

    def parts(self, count: int) -> list[str]:
        """Return the lower ends of these parts as text, without the unit."""
        low, high = self._ends[:2]
        shares = [place / count for place in range(count)]
        log = self.sought.scale == "log"
        return [figures(low * (high / low) ** s if log else low + (high - low) * s, 3) for s in shares]

    def setting(self, number: float) -> Any:
        """Return a number as a scenario writes it."""
        whole = self._ends[3] and self.step.is_integer()
        return quantity(self.number(number), self._ends[2], whole)

    def distribution(self, optuna: Any) -> Any:
        """Return the range for optuna: with a step, the indices of its values."""
        low, high = self._ends[:2]
        log = self.sought.scale == "log"
        if self.step and log:
            return optuna.distributions.IntDistribution(int(low), int(high), log=True)
        if self.step:
            return optuna.distributions.IntDistribution(0, self._place(high))
        return optuna.distributions.FloatDistribution(low, high, log=log)

    def asked(self, value: Any) -> float:
        """Return a setting as a value of the distribution."""
        number = self.number(value)
        if not self.step:
            return number
        return int(number) if self.sought.scale == "log" else self._place(number)

    def answered(self, value: float) -> Any:
        """Return a value of the distribution as a setting."""
        low = 0.0 if self.sought.scale == "log" or not self.step else self._ends[0]
        scale = self.step if self.step and self.sought.scale != "log" else 1.0
        return self.setting(low + scale * value)


def axes_of(search: Search) -> dict[str, Axis]:
    """Return the fields of a search by path."""
    return {path: Axis(sought) for path, sought in search.over.items()}


def needed() -> Any:
    """Return optuna. Raises StudyError if it is not installed."""
    try:
        optuna = import_module("optuna")
    except ImportError:
        message = "a search needs optuna, which is not installed; `make setup-search` installs it, or"
        raise StudyError(f"{message} `pip install fabriloom[search]`") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def first(search: Search) -> int:
    """Return the number of trials that do not depend on results."""
    return FIRST + FIRST_PER_FIELD * len(search.over)


def spread(search: Search, seed: int) -> list[Settings]:
    """Return the first trials: a Latin hypercube over all ranges."""
    axes = axes_of(search)
    drawn = samples(dict(search.over), first(search), "latin-hypercube", seed)
    return [{path: axes[path].setting(amount(one[path])[0]) for path in axes} for one in drawn]


def batch(search: Search, seed: int, tried: Sequence[Settings], ranks: Sequence[int]) -> list[Settings]:
    """Return the next trials. ``ranks``: rank of each trial so far; the best is 0.

    The estimator uses only the order of the trials, so limits need no weights: trials that break a limit
    come after all trials that keep them.
    """
    optuna = needed()
    axes = axes_of(search)
    ranges = {path: axis.distribution(optuna) for path, axis in axes.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(
            seed=(seed + 1_000_003 * len(tried)) % 2**32,
            n_startup_trials=1,
            multivariate=True,
            constant_liar=True,
        )
        study = optuna.create_study(sampler=sampler)
        for settings, rank in zip(tried, ranks, strict=True):
            values = {path: axes[path].asked(settings[path]) for path in axes}
            made = optuna.trial.create_trial(params=values, distributions=ranges, value=float(rank))
            study.add_trial(made)
        asked = [study.ask(ranges).params for _ in range(search.batch)]
    return [{path: axes[path].answered(one[path]) for path in axes} for one in asked]


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
        shown = [path for path in best.settings if path != self.goal or not best.met]
        where = ", ".join(f"{path} = {best.settings[path]}" for path in shown)
        if not best.met:
            return f"No trial keeps all limits; the nearest is {where}: {best.why}"
        extreme = "least" if self.search.minimise else "greatest"
        value = best.settings.get(self.goal, figures(best.values[self.goal]))
        at = f", at {where}" if where else ""
        return f"The {extreme} {self.goal} is {value}{at} (trial {best.number} of {len(self.trials)})"

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
    """Raise ScenarioError for a goal or limit that is no number of a run, StudyError without optuna."""
    search = scenario.study.search
    if search is None:
        return
    tables = [
        POINTS,
        *KINDS[scenario.network_kind].points,
        *([REQUIREMENT_POINTS] if scenario.traffic.pattern.kind == "flows" else []),
        *([PROGRAM_POINTS] if scenario.program else []),
    ]
    columns = [column for table in tables for column in table.columns if column.name != SEED]
    numbers = [column.name for column in columns if column.unit not in ("text", "true or false")]
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
    said, excess = _misses(search, values, [row for row in rows if row is not None])
    if said:
        return said, (_LATE, excess)
    return "", (_MET, value if search.minimise is not None else -value)


def _misses(
    search: Search, values: Mapping[str, float | None], rows: Sequence[Mapping[str, Any]]
) -> tuple[str, float]:
    """Return the limits that are not kept, and the sum of what is missing, each as a share of its limit."""
    said, excess = [], 0.0
    for name, limit in search.limits.items():
        value = values[name] or 0.0
        for bound, missing, words in (
            (limit.at_most, value - (limit.at_most or 0.0), "at most"),
            (limit.at_least, (limit.at_least or 0.0) - value, "at least"),
        ):
            if bound is not None and missing > 0:
                chance = ", perhaps by chance" if missing <= _half_width(name, rows) else ""
                said.append(f"{name} is {figures(value)}, {words} {figures(bound)} is allowed{chance}")
                excess += missing / (abs(bound) or 1.0)
    return "; ".join(said), excess


def _half_width(name: str, rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the half-width of the 95 % interval of a mean over runs, or of a single run if it has one."""
    if len(rows) > 1:
        return mean_of_runs([float(row[name]) for row in rows])[1]
    return float(rows[0].get(f"{name}_ci95") or 0.0)


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
        yield list(range(done * plan.replications, until * plan.replications))
        done = until
