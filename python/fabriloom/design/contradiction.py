"""Why nothing meets the requirements: one that no candidate meets, or two that none meets together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ..scenario import ScenarioError
from .schema import Requirements
from .sieve import Looked, Miss


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
    told, paths = [], []
    for meets, breaks in ((first, second), (second, first)):
        some = [one for one in looked if meets not in _names(one) and breaks in _names(one)]
        best = min(some, key=lambda one: (_miss(one, breaks).by, one.cost))
        paths.append(_miss(best, breaks).path)
        told.append(
            f"of those that meet {meets} the nearest is {best.candidate.name}: {_miss(best, breaks).text}"
        )
    message = f"{first} and {second} contradict each other: none of {len(looked):,} candidates meets both"
    error = requirements.error(message, paths[1], told[1], key=True)
    other = requirements.error(f"the other of the two: {second}", paths[0], told[0], key=True)
    error.others = (other,)
    return error
