"""Checks of ``[sweep]``, ``[variants]`` and ``[study]``: paths, values and the number of points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from fabriloom.scenario.errors import Path
from fabriloom.scenario.schema import Scenario
from fabriloom.scenario.sections.study import OTHERS, Between, Search

MOST_POINTS = 100_000
_MOST_ENTRIES = 20_000_000
"""Limit of sweep values times scenario entries: the scenario is checked for each value, at most for some
tens of seconds."""
Tried = tuple[Mapping[str, Any], Path, Path]
"""Values by dotted path, the table with these paths as its keys, and the steps from a key to its value."""


def alone(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a scenario without what adds points to it."""
    return {name: value for name, value in data.items() if name not in OTHERS}


def tried(scenario: Scenario) -> Iterator[Tried]:
    """Check a study and yield, for a check of their own, all values that it tries. Raises ScenarioError."""
    _check_sweep(scenario)
    yield from _each(scenario.sweep, ("sweep",))
    yield from ((settings, ("variants", name), ()) for name, settings in scenario.variants.items())
    study = scenario.study
    _check_study(scenario)
    yield from _each(study.zipped, ("study", "zip"))
    for path, drawn in study.sample.items():
        at = ("study", "sample")
        yield from _ends(path, drawn, at) if isinstance(drawn, Between) else _each({path: drawn}, at)
    for path, sought in study.search.over.items() if study.search else ():
        yield from _ends(path, sought, ("study", "search", "over"))


def _each(lists: Mapping[str, list[Any]], place: Path) -> Iterator[Tried]:
    for path, values in lists.items():
        yield from (({path: value}, place, (index,)) for index, value in enumerate(values))


def _ends(path: str, between: Between, place: Path) -> Iterator[Tried]:
    yield {path: between.low}, place, ("from",)
    yield {path: between.high}, place, ("to",)


def _check_sweep(scenario: Scenario) -> None:
    count = math.prod(len(values) for values in scenario.sweep.values())
    if count > MOST_POINTS:
        message = f"{count:,} combinations are more than {MOST_POINTS:,}"
        raise scenario.error(message, ("sweep",), "shorten the lists")
    entries, values = _entries(alone(scenario.raw)), sum(map(len, scenario.sweep.values()))
    if values * entries > _MOST_ENTRIES:
        message = f"{values} values of a scenario with lists of {entries:,} entries are too many to check"
        raise scenario.error(message, ("sweep",), "put the long lists into a file, or shorten the sweep")


def _entries(data: Any) -> int:
    """Count the values in tables and lists, at all levels."""
    if not isinstance(data, dict | list):
        return 1
    return sum(_entries(inner) for inner in (data.values() if isinstance(data, dict) else data))


def _check_study(scenario: Scenario) -> None:
    """Check that a study can be run. Raises ScenarioError."""
    study = scenario.study
    lengths = {path: len(values) for path, values in study.zipped.items()}
    if len(set(lengths.values())) > 1:
        told = " and ".join(f"{length} of {path}" for path, length in list(lengths.items())[:2])
        message = f"lists that are taken together have different lengths: {told}"
        raise scenario.error(message, ("study", "zip"), "give them the same length, or use [sweep]")
    _check_samples(scenario)
    _check_twice(scenario)
    _check_failures(scenario)
    if study.search is not None:
        _check_search(scenario, study.search)
    count = points_of(scenario)
    if count > MOST_POINTS:
        message = f"a study of {count:,} points is more than {MOST_POINTS:,}"
        hint = (
            "shorten the lists, take fewer samples or replications, or draw values instead of combining all"
        )
        raise scenario.error(message, ("study",), hint, key=True)


def points_of(scenario: Scenario) -> int:
    """Return the number of points in the study of a scenario."""
    study = scenario.study
    if study.search is not None:
        return study.search.trials * study.replications
    parts = [1 + len(scenario.variants), *(len(values) for values in scenario.sweep.values())]
    parts += [len(next(iter(study.zipped.values()), [0])), max(1, study.samples), study.replications]
    return math.prod(parts)


def _check_search(scenario: Scenario, search: Search) -> None:
    """Check that a search has one goal, chooses all points itself, and has limits that can be kept."""
    at = ("study", "search")
    for place, given in (
        (("sweep",), scenario.sweep),
        (("variants",), scenario.variants),
        *((("study", name), getattr(scenario.study, _NAMES.get(name, name))) for name in _NOT_SEARCHED),
    ):
        if given:
            message = f"a search chooses its points itself, and there is {'.'.join(place)} besides"
            raise scenario.error(message, place, "remove it, or remove [study.search]", key=True)
    goals = [name for name in ("minimise", "maximise") if getattr(search, name) is not None]
    if len(goals) != 1:
        hint = "keep one" if goals else 'write such as minimise = "latency_ns_p99"'
        raise scenario.error("a search has one goal: minimise or maximise", at, hint, key=True)
    if "seed" in search.over:
        message = "the best seed is the luckiest one"
        raise scenario.error(message, (*at, "over", "seed"), "write replications = 3 under [study]", key=True)
    for name, limit in search.limits.items():
        least, most = limit.at_least, limit.at_most
        if least is None and most is None:
            hint = "write at_least, at_most or both"
            raise scenario.error(f"the limit of {name} has no value", (*at, "limits", name), hint, key=True)
        if least is not None and most is not None and least > most:
            message = f"{name} cannot be at least {least:g} and at most {most:g}"
            raise scenario.error(message, (*at, "limits", name), "exchange the two, or leave one out")


_NAMES = {"zip": "zipped"}
_NOT_SEARCHED = ("zip", "sample", "failures", "precision")
"""Settings of a study whose points are known in advance."""


def _check_samples(scenario: Scenario) -> None:
    study = scenario.study
    if study.samples and not study.sample:
        message = f"{study.samples} samples of nothing"
        raise scenario.error(message, ("study", "samples"), "say in [study.sample] what is drawn")
    if study.sample and not study.samples:
        message = "it is not said how many samples are drawn"
        raise scenario.error(message, ("study", "sample"), "write samples = 100 under [study]", key=True)


def _check_failures(scenario: Scenario) -> None:
    study = scenario.study
    if study.failures is None:
        if study.failures_at_ps:
            message = "nothing fails in this study"
            hint = 'write failures = "cables" beside it, or remove it'
            raise scenario.error(message, ("study", "failures_at"), hint, key=True)
        return
    if not scenario.network_kind.cables:
        message = "failures are looked at of networks of links, not of rings"
        raise scenario.error(message, ("study", "failures"), "remove it", key=True)
    for place, paths in (
        (("sweep",), scenario.sweep), (("study", "zip"), study.zipped), (("study", "sample"), study.sample)
    ):  # fmt: skip
        for path in paths:
            if path.partition(".")[0] in ("topology", "fault"):
                message = f"with [study] failures {path} cannot be varied: other networks have other links"
                raise scenario.error(message, (*place, path), "write [variants], one for each", key=True)


def _check_twice(scenario: Scenario) -> None:
    """Check that no path gets values from two tables. Raises ScenarioError."""
    study = scenario.study
    places: dict[str, tuple[str, ...]] = {}
    found: list[tuple[str, tuple[str, ...]]] = [(path, ("sweep",)) for path in scenario.sweep]
    found += [(path, ("study", "zip")) for path in study.zipped]
    found += [(path, ("study", "sample")) for path in study.sample]
    if study.replications > 1:
        found.insert(0, ("seed", ("study", "replications")))
    for path, place in found:
        if path in places:
            message = f"{path} has values from [{'.'.join(place)}] and from [{'.'.join(places[path])}]"
            raise scenario.error(message, (*place, path), "leave one of them out", key=True)
        places[path] = place
