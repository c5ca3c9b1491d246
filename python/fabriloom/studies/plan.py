"""The points of a study: the settings of each, in the order of their numbers."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..compile import compile
from ..scenario.schema import Scenario
from ..scenario.sections.study import Between, Search, ends, quantity
from ..scenario.studies import MOST_POINTS
from .comparison import NAME, variants
from .curves import varied
from .failures import failures
from .seeds import SEED

Settings = dict[str, Any]
FAILURE = "failure"
"""Name of the column of failures."""
NO_FAILURE = "none"


@dataclass(frozen=True)
class Plan:
    """Points by number; replications of a point have consecutive numbers."""

    scenario: Scenario
    """The scenario, with its variations."""
    tried: list[Settings] = field(default_factory=list)
    """Of a search, the settings of the trials so far; see ``search``."""

    @cached_property
    def _variants(self) -> dict[str, Scenario]:
        return variants(self.scenario)

    @property
    def _groups(self) -> list[Settings]:
        """Settings of all points, without replications."""
        return self.tried if self.search else self._combined

    @property
    def search(self) -> Search | None:
        """The search that chooses the points, if it is one."""
        return self.scenario.study.search

    @cached_property
    def _combined(self) -> list[Settings]:
        return [group for name, base in self._variants.items() for group in self._groups_of(name, base)]

    def _groups_of(self, name: str, base: Scenario) -> list[Settings]:
        study = self.scenario.study
        axes: list[Sequence[Settings]] = [[{NAME: name}]] if len(self._variants) > 1 else []
        axes += [[{path: value} for value in values] for path, values in self.scenario.sweep.items()]
        if study.zipped:
            rows = zip(*study.zipped.values(), strict=True)
            axes.append([dict(zip(study.zipped, row, strict=True)) for row in rows])
        if study.samples:
            axes.append(samples(study.sample, study.samples, study.sampling, self.scenario.seed))
        if study.failures:
            axes.append([{FAILURE: failure} for failure in _failures(base, study.failures)])
        return [
            {path: value for part in parts for path, value in part.items()}
            for parts in itertools.product(*axes)
        ]

    @property
    def replications(self) -> int:
        """Runs per point."""
        return self.scenario.study.replications

    @cached_property
    def varied(self) -> list[str]:
        """Paths of the settings that are varied."""
        paths = self.search.over if self.search else self._groups[0]
        return [*paths, *([SEED] if self.replications > 1 else [])]

    def __len__(self) -> int:
        return (self.search.trials if self.search else len(self._groups)) * self.replications

    @property
    def known(self) -> int:
        """The number of points whose settings are known; less than all while a search runs."""
        return len(self._groups) * self.replications

    def settings(self, number: int) -> Settings:
        """Return the varied settings of a point."""
        group, replication = divmod(number, self.replications)
        seed = {SEED: self.scenario.seed + replication} if self.replications > 1 else {}
        return {**self._groups[group], **seed}

    def point(self, number: int) -> Scenario:
        """Return the scenario of a point. Raises ScenarioError."""
        settings = self.settings(number)
        base = self._variants[settings.pop(NAME)] if NAME in settings else next(iter(self._variants.values()))
        kind, _, name = settings.pop(FAILURE, NO_FAILURE).partition(" ")
        if name:
            at = f"{self.scenario.study.failures_at_ps} ps"
            settings["fault"] = [*base.raw.get("fault", []), {kind: name, "at": at}]
        return varied(base, settings)

    def round(self, replication: int) -> list[int]:
        """Return the points of a replication in an order in which any first part is spread over the whole."""
        return [group * self.replications + replication for group in spread(len(self._groups))]


def _failures(base: Scenario, kinds: str) -> list[str]:
    """Return no failure and every single failure. Raises ScenarioError."""
    which = failures(compile(base).graph, kinds)
    if len(which) >= MOST_POINTS:
        message = f"a study of {len(which):,} failures is more than {MOST_POINTS:,}"
        raise base.error(message, ("study", "failures"), "take a smaller network")
    return [NO_FAILURE, *(f"{kind} {name}" for kind, name, _ in which)]


def spread(count: int) -> list[int]:
    """Return the numbers below ``count`` in bit-reversed order: coarse steps first, then those between."""
    bits = max(1, (count - 1).bit_length())
    reverse = (int(f"{number:0{bits}b}"[::-1], 2) for number in range(1 << bits))
    return [number for number in reverse if number < count]


def samples(drawn: dict[str, Any], count: int, sampling: str, seed: int) -> list[Settings]:
    """Draw ``count`` values for every path; each path has its own random stream, derived from the seed.

    A Latin hypercube (McKay, Beckman, Conover 1979) has one value in each of ``count`` equal parts of every
    range, in an order that is independent from path to path.
    """
    columns = {}
    for path, source in drawn.items():
        dice = random.Random(f"{seed} {path}")
        if sampling == "random":
            shares = [dice.random() for _ in range(count)]
        else:
            shares = [(part + dice.random()) / count for part in shuffled(count, dice)]
        columns[path] = [_at(source, share) for share in shares]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def shuffled(count: int, dice: random.Random) -> list[int]:
    """Return the numbers below ``count`` in random order, the same in every version of Python."""
    numbers = list(range(count))
    for last in range(count - 1, 0, -1):
        other = int(dice.random() * (last + 1))
        numbers[last], numbers[other] = numbers[other], numbers[last]
    return numbers


def _at(source: Between | list[Any], share: float) -> Any:
    """Return a quantile of the distribution or list."""
    if not isinstance(source, Between):
        return copy.deepcopy(source[int(share * len(source))])
    low, high, unit, whole = ends(source.low, source.high, source.scale)
    if whole:  # every whole number of the range is equally likely
        low, high = (low, high + 1) if source.scale == "linear" else (low - 0.5, high + 0.5)
    value = low * (high / low) ** share if source.scale == "log" else low + (high - low) * share
    return quantity(int(value) if whole and source.scale == "linear" else value, unit, whole)
