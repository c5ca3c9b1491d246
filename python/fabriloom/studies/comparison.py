"""Compare several scenarios at the same offered loads, in one table and one chart."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from ..arguments import numbers
from ..compile import graph_of
from ..results import Provenance
from ..scenario import scenario_of
from ..scenario.schema import Scenario
from ..topology import Graph
from .curves import LOAD, LOADS, SCALE, Curve, load_of, varied, verdicts_of
from .points import Advance, Point, run_points
from .store import Out, Store

NAME = "scenario"
"""Column of the table of points that names the scenario."""


@dataclass(repr=False)
class Comparison(Curve):
    """The finished points of all scenarios, scenario by scenario."""

    parts: dict[str, Provenance] = field(default_factory=dict)
    """Provenance of each scenario, by its name in the comparison."""
    graphs: dict[str, Graph] = field(default_factory=dict)
    """Network of each scenario, by name."""

    @classmethod
    def between(
        cls, points: list[Point], scenarios: Mapping[str, Scenario], *, runs: int, interrupted: bool
    ) -> Comparison:
        """Make a comparison of ``scenarios`` by name, from the finished ``points`` out of ``runs``."""
        raised = [path for path in (LOAD, SCALE) if any(path in point.settings for point in points)]
        return cls(
            points=points,
            varied=[NAME, *raised],
            provenance=Provenance.of(next(iter(scenarios.values()))),
            runs=runs,
            interrupted=interrupted,
            parts={name: Provenance.of(scenario) for name, scenario in scenarios.items()},
            graphs={name: graph_of(scenario) for name, scenario in scenarios.items()},
            verdicts={name: _verdict(name, scenario, points) for name, scenario in scenarios.items()},
        )

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of a curve, and the hash of each scenario."""
        hashes = {name: part.scenario_sha256 for name, part in self.parts.items()}
        return {**super().summary, "scenarios": hashes}

    def _named(self) -> str:
        return " vs. ".join(self.parts) if len(self.parts) < 4 else f"{len(self.parts)} scenarios"

    def of(self, name: str) -> list[Point]:
        """Return the points of one scenario."""
        return [point for point in self.points if point.settings[NAME] == name]


def _verdict(name: str, scenario: Scenario, points: Sequence[Point]) -> str:
    """Return the verdict of a scenario from its points over loads or rates of events, or from its single run;
    empty if its points differ in something else.
    """
    own = [
        replace(point, settings={path: value for path, value in point.settings.items() if path != NAME})
        for point in points
        if point.settings[NAME] == name
    ]
    if len(own) < 2:
        return own[0].summary.get("verdict", "") if own else ""
    paths = list(dict.fromkeys(path for point in own for path in point.settings))
    found = verdicts_of(scenario.alone(), own, load_of(scenario), paths)
    return next(iter(found.values())) if len(found) == 1 else ""


def variants(scenario: Scenario) -> dict[str, Scenario]:
    """Return a scenario, under its own name if no other has it, and its ``[variants]``."""
    base = scenario.alone()
    first = unlike(Provenance.of(base).name, scenario.variants)
    others = {name: base.with_settings(settings) for name, settings in scenario.variants.items()}
    return {first: base, **others}


def _named(scenarios: Any) -> dict[str, Scenario]:
    """Return scenarios by name: as given, from a list by their own names, or one with its variants."""
    if not isinstance(scenarios, Mapping | list | tuple):
        scenarios = variants(scenario_of(scenarios))
    if not scenarios:
        raise ValueError("nothing to compare: give scenarios by names, such as {'fast': one, 'slow': other}")
    pairs = scenarios.items() if isinstance(scenarios, Mapping) else [("", one) for one in scenarios]
    found: dict[str, Scenario] = {}
    for given, scenario in pairs:
        scenario = scenario_of(scenario)
        found[unlike(str(given) or Provenance.of(scenario).name, found)] = scenario
    return found


def unlike(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken, with a number behind it if need be."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def compare(
    scenarios: Mapping[str, Scenario] | Sequence[Scenario] | Scenario,
    loads: Sequence[float] | None = None,
    *,
    jobs: int = 2,
    out: Out = None,
    progress: Callable[[Advance], None] | None = None,
) -> Comparison:
    """Run every scenario at every load; a scenario whose traffic has no load runs once.

    Args:
        scenarios: scenarios by name; or a list of scenarios with different names; or one scenario with
            ``[variants]``. Their sweeps are ignored.
        loads: offered loads, each above 0 and at most 1; if not given, the usual ones.
        jobs: number of parallel runs; the points do not depend on it.
        out: folder in which finished points are stored, see :func:`~fabriloom.studies.curve`.
        progress: called at intervals with the progress.

    Raises:
        ScenarioError: a scenario cannot be run.
        ValueError: there is nothing to compare.

    Ctrl-C ends it early: the result holds the finished points, and ``interrupted`` is set.
    """
    runs, named = [], _named(scenarios)
    tried = LOADS if loads is None else numbers("loads", loads)
    for name, scenario in named.items():
        base = scenario.alone()
        if base.needs_load or load_of(base) == SCALE:
            path = load_of(base)
            runs += [({NAME: name, path: load}, varied(base, {path: load})) for load in tried]
        else:
            runs.append(({NAME: name}, base))
    points, interrupted = run_points(runs, jobs=jobs, store=Store.of(out), progress=progress)
    finished = [point for point in points if point is not None]
    return Comparison.between(finished, named, runs=len(runs), interrupted=interrupted)
