"""Choose the trials of a search: spread over all ranges first, then by optuna's Parzen estimator (TPE).

A batch is a pure function of the search, its seed and the results of the trials before it. So it depends
neither on the number of jobs nor on how often the search was interrupted.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from ..results.figures import figures
from ..scenario.sections.study import Search, Sought, amount, ends, quantity
from .asked import StudyError
from .plan import Settings, samples

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
