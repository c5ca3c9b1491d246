"""The answer: ranked networks, refused ones with reasons, and what would change the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import combinations, pairwise
from typing import Any

from ..process.libraries import pl
from ..results.columns.studies import CANDIDATES
from ..results.figures import figures, in_percent
from ..results.files import Tabled
from ..scenario import Scenario, ScenarioError
from .schema import Requirements
from .sieve import Looked, Miss
from .trials import Trials

# Why nothing meets the requirements: one that no candidate meets, or two that none meets together.


def check_possible(requirements: Requirements, looked: Sequence[Looked]) -> None:
    """Raise ScenarioError that names what cannot be met; return if some candidate was not tried."""
    broken = [{miss.requirement: miss for miss in one.misses} for one in looked]
    if not all(broken):
        return
    names = list(dict.fromkeys(name for misses in broken for name in misses))
    for name in names:
        if all(name in misses for misses in broken):
            raise _alone(requirements, looked, name)
    for first, second in combinations(names, 2):
        if all(first in misses or second in misses for misses in broken):
            raise _together(requirements, looked, first, second)
    nearest = min(looked, key=_far)
    told = "; ".join(miss.text for miss in nearest.misses)
    message = f"no candidate meets {', '.join(names[:-1])} and {names[-1]} together"
    path = nearest.misses[0].path
    raise requirements.error(message, path, f"the nearest, {nearest.candidate.name}: {told}")


def nearest(looked: Sequence[Looked], name: str = "") -> Looked | None:
    """Return the candidate that is nearest to the requirements, or to one of them."""
    some = [one for one in looked if one.misses and (not name or name in _names(one))]
    return min(some, key=_far, default=None)


def _names(one: Looked) -> list[str]:
    return [miss.requirement for miss in one.misses]


def _far(one: Looked) -> tuple[float, float]:
    return sum(miss.by for miss in one.misses), one.cost


def _miss(one: Looked, name: str) -> Miss:
    return next(miss for miss in one.misses if miss.requirement == name)


def _alone(requirements: Requirements, looked: Sequence[Looked], name: str) -> ScenarioError:
    best = min(looked, key=lambda one: (_miss(one, name).by, one.cost))
    miss = _miss(best, name)
    count = (
        f"no candidate of {len(looked):,} meets" if len(looked) > 1 else "the only candidate does not meet"
    )
    message = f"{count} {name}"
    return requirements.error(message, miss.path, f"the nearest, {best.candidate.name}: {miss.text}")


def _together(requirements: Requirements, looked: Sequence[Looked], first: str, second: str) -> ScenarioError:
    """Return two requirements and, for each, the nearest candidate among those that meet the other."""
    told = list[tuple[str, str, tuple[str | int, ...], str]]()
    for meets, breaks in ((first, second), (second, first)):
        some = [one for one in looked if _meets(one, meets) and breaks in _names(one)]
        best = min(some, key=lambda one: (_miss(one, breaks).by, one.cost), default=None)
        if best is not None:
            near = (
                f"of those that meet {meets} the nearest is {best.candidate.name}: {_miss(best, breaks).text}"
            )
            told.append((meets, breaks, _miss(best, breaks).path, near))
    meets, breaks, path, near = told[-1]
    if len(told) == 1:
        return requirements.error(f"no candidate that meets {meets} meets {breaks}", path, near)
    message = f"{first} and {second} contradict each other: none of {len(looked):,} candidates meets both"
    error = requirements.error(message, path, near, key=True)
    other = requirements.error(f"the other of the two: {second}", told[0][2], told[0][3], key=True)
    error.others = (other,)
    return error


def _meets(one: Looked, name: str) -> bool:
    """Whether a candidate is known to meet a requirement: latencies are looked at only without misses."""
    return name not in _names(one) and (name != "require.latency" or "zero_load_ns" in one.facts)


@dataclass(frozen=True)
class Other:
    """The answer to a question of ``[what-if]``."""

    path: str
    value: Any
    best: Looked | None
    """The cheapest network that meets the changed requirements, or None."""
    nearest: Looked | None
    """Otherwise the nearest one."""


@dataclass(frozen=True)
class Judged:
    """A candidate with its status, for tables."""

    of: Looked
    status: str

    @property
    def miss(self) -> Miss | None:
        """The first broken requirement."""
        return next(iter(self.of.misses), None)


@dataclass(repr=False)
class Design(Tabled):
    """The networks for requirements, the cheapest first."""

    requirements: Requirements
    base: Scenario
    looked: list[Looked]
    """Every candidate, in the order of generation."""
    met: list[Looked]
    """Simulated candidates that meet everything, the cheapest first."""
    tried: int
    """Number of simulated candidates."""
    trials: Trials
    others: list[Other] = field(default_factory=list)
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.interrupted = self.interrupted or self.trials.interrupted

    @property
    def best(self) -> Looked | None:
        """The cheapest network that meets everything."""
        return self.met[0] if self.met else None

    @property
    def nearest(self) -> Looked | None:
        """Of the candidates that break a requirement, the nearest one."""
        return nearest(self.looked)

    def misses(self) -> dict[str, tuple[int, Looked]]:
        """Return, per broken requirement, the number of candidates and the nearest one."""
        names = dict.fromkeys(miss.requirement for one in self.looked for miss in one.misses)
        found = {}
        for name in names:
            some = [one for one in self.looked if any(miss.requirement == name for miss in one.misses)]
            one = nearest(some, name)
            assert one is not None
            found[name] = (len(some), one)
        return found

    def families(self) -> list[dict[str, Any]]:
        """Return, per family, the numbers of candidates: all, built, simulated, and meeting everything."""
        rows = []
        for family in dict.fromkeys(one.candidate.family for one in self.looked):
            mine = [one for one in self.looked if one.candidate.family == family]
            some = [one for one in mine if one.misses]
            near = nearest(some)
            rows.append(
                {
                    "family": family,
                    "candidates": len(mine),
                    "built": sum("bound" in one.facts for one in mine),
                    "simulated": sum(bool(one.facts.get("simulated")) for one in mine),
                    "met": sum(one in self.met for one in mine),
                    "nearest": near.candidate.name if near else None,
                    "why": near.misses[0].text if near else None,
                }
            )
        return rows

    def unsure(self) -> list[str]:
        """Say which runs are too short to tell whether a network carries the traffic or is quick enough."""
        met = [one for one in self.met if one.facts.get("unsure")]
        refused = [one for one in self.looked if one.misses and not any(miss.sure for miss in one.misses)]
        some = [f"{len(met):,} of the networks listed"] if met else []
        some += [f"{len(refused):,} of those refused"] if refused else []
        told = " and of ".join(some)
        return [f"Too short to be sure are runs of {told}: lengthen run.duration."] if some else []

    def failing(self) -> list[str]:
        """Describe the effect of the worst single failure on each network; empty if not required."""
        said = []
        percent = f"{self.requirements.require.percentile:g} % of them within"
        for one in self.met:
            share, after = one.facts.get("after_failure"), one.facts.get("delivered_after")
            if share is None:
                continue
            failed = str(one.facts["worst_failure"])
            own = " between other terminals" if failed.startswith("switch") else ""
            text = f"{one.candidate.name}: after the failure of {failed} "
            text += f"{in_percent(share)} of the packets{own} arrive"
            if after is not None:
                tail_us = figures((one.facts["tail_after_ns"] or 0.0) / 1e3)
                of_all = " of all" if own else ""
                text += f" (simulated: {in_percent(after)}{of_all}, {percent} {tail_us} µs)"
            said.append(f"{text}.")
        return said

    def growing_load(self) -> list[tuple[float, Looked]]:
        """Return up to which multiple of the traffic each finalist is the cheapest."""
        found: list[tuple[float, Looked]] = []
        for one in self.met:
            most = float(one.facts.get("carries") or 0.0)
            if not found or most > found[-1][0]:
                found.append((most, one))
        return found

    def turning(self) -> list[str]:
        """Describe where an answer of ``[what-if]`` changes."""
        said = []
        for path in dict.fromkeys(other.path for other in self.others):
            mine = [other for other in self.others if other.path == path]
            for before, after in pairwise(mine):
                one, two = _name(before.best), _name(after.best)
                if one != two:
                    what = path.rpartition(".")[2].replace("_", " ")
                    said.append(f"{what} {before.value}: {one}; {what} {after.value}: {two}")
        return said

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per candidate, see ``results.columns.CANDIDATES``."""
        return pl.DataFrame([self.row(one) for one in self.looked], infer_schema_length=None, strict=False)

    def row(self, one: Looked) -> dict[str, Any]:
        """Return a candidate as a row of numbers."""
        return CANDIDATES.row_of(Judged(one, self.status(one)))

    def status(self, one: Looked) -> str:
        """Return ``met``, ``refused``, or ``not simulated`` if enough cheaper or likelier ones meet all."""
        if one.misses:
            return "refused"
        return "met" if any(one is other for other in self.met) else "not simulated"

    @property
    def summary(self) -> dict[str, Any]:
        """The answer in numbers, ready for JSON."""
        return {
            "name": self.requirements.name,
            "requirements": self.requirements.raw,
            "interrupted": self.interrupted,
            "candidates": len(self.looked),
            "built": sum("bound" in one.facts for one in self.looked),
            "simulated": self.tried,
            "ranking": [self.row(one) for one in self.met],
            "families": self.families(),
            "misses": {
                name: {"candidates": count, "nearest": self.row(one)}
                for name, (count, one) in self.misses().items()
            },
            "what_if": [
                {
                    "path": other.path,
                    "value": other.value,
                    "best": self.row(other.best) if other.best else None,
                    "nearest": None if other.best or not other.nearest else self.row(other.nearest),
                }
                for other in self.others
            ],
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables by file name: all candidates."""
        return {"candidates": self.table}

    def recommended(self) -> dict[str, Any] | None:
        """Return the scenario of the best candidate at the required traffic."""
        return self.trials.scenario(self.best, 1.0).resolve() if self.best else None

    def _told(self) -> str:
        best = self.best
        return "none meets all" if best is None else f"{best.candidate.name} for {figures(best.cost)}"

    def __repr__(self) -> str:
        return f"<Design {self.requirements.name!r}: {self._told()}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.requirements.name)}: {escape(self._told())}</p>"


def _name(one: Looked | None) -> str:
    return "none" if one is None else one.candidate.name
