"""Several scenarios beside each other: the same offered loads, one table, one picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..compile import graph_of
from ..results import Provenance
from ..scenario import needed
from .curves import LOAD, LOADS, SCALE, Curve, load_of, varied
from .points import Advance, Point, run_points
from .store import Out, Store
from .verdict import of_curve

if TYPE_CHECKING:
    from ..scenario.schema import Scenario
    from ..topology import Graph

NAME = "scenario"
"""What the table of points calls the column that says which scenario a point is of."""


@dataclass(repr=False)
class Comparison(Curve):
    """The finished points of all scenarios, those of a scenario together, in their order."""

    parts: dict[str, Provenance] = field(default_factory=dict)
    """Where each scenario comes from, by its name here."""
    graphs: dict[str, Graph] = field(default_factory=dict)
    """The network of each."""

    @classmethod
    def between(
        cls, points: list[Point], scenarios: Mapping[str, Scenario], *, runs: int, interrupted: bool
    ) -> Comparison:
        """The finished ``points`` out of ``runs`` of the ``scenarios``, by their names."""
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
        """That of a curve, and the hash of each scenario."""
        hashes = {name: part.scenario_sha256 for name, part in self.parts.items()}
        return {**super().summary, "scenarios": hashes}

    def of(self, name: str) -> list[Point]:
        """The points of one scenario."""
        return [point for point in self.points if point.settings[NAME] == name]


def _verdict(name: str, scenario: Scenario, points: Sequence[Point]) -> str:
    """What a scenario's points say of it: over loads, or of its one run."""
    own, path, base = [p for p in points if p.settings[NAME] == name], load_of(scenario), scenario.alone()
    if len(own) > 1 and all(path in point.settings for point in own):
        return of_curve(varied(base, {path: 1.0}), own, path)
    return own[0].summary.get("verdict", "") if own else ""


def variants(scenario: Scenario) -> dict[str, Scenario]:
    """A scenario as it is, under its own name, and its ``[variants]``."""
    base = scenario.alone()
    first = Provenance.of(base).name
    others = {name: base.with_settings(settings) for name, settings in scenario.variants.items()}
    return {first: base, **others}


def _named(scenarios: Any) -> dict[str, Scenario]:
    """Scenarios by names: as given, those of a list under their own, or one with its variants."""
    if not isinstance(scenarios, Mapping | list | tuple):
        needed(scenarios)
        scenarios = variants(scenarios)
    if not scenarios:
        raise ValueError("nothing to compare: give scenarios by names, such as {'fast': one, 'slow': other}")
    pairs = scenarios.items() if isinstance(scenarios, Mapping) else [("", one) for one in scenarios]
    found: dict[str, Scenario] = {}
    for given, scenario in pairs:
        needed(scenario)
        first = name = str(given) or Provenance.of(scenario).name
        number = 1
        while name in found:
            number += 1
            name = f"{first} ({number})"
        found[name] = scenario
    return found


def compare(
    scenarios: Mapping[str, Scenario] | Sequence[Scenario] | Scenario,
    loads: Sequence[float] | None = None,
    *,
    jobs: int = 2,
    out: Out = None,
    progress: Callable[[Advance], None] | None = None,
) -> Comparison:
    """Run every scenario at every load; one whose traffic has no load, once.

    Args:
        scenarios: what to compare, by names; or a list, whose scenarios have names of their own; or one
            scenario with ``[variants]``. A sweep in them is left out.
        loads: offered loads, each above 0 and up to 1; the usual ones when none are named.
        jobs: runs at a time; the points do not depend on it.
        out: folder in which every finished point is kept at once, see :func:`~fabriloom.studies.curve`.
        progress: called from time to time with the progress.

    Ctrl-C ends it early with the finished points and ``interrupted`` set. Raises ScenarioError, and
    ValueError for nothing to compare.
    """
    runs, named = [], _named(scenarios)
    for name, scenario in named.items():
        base = scenario.alone()
        if base.needs_load or load_of(base) == SCALE:
            path = load_of(base)
            runs += [({NAME: name, path: load}, varied(base, {path: load})) for load in loads or LOADS]
        else:
            runs.append(({NAME: name}, base))
    store = Store.of(out)
    points, interrupted = run_points(runs, jobs=jobs, store=store, progress=progress)
    finished = [point for point in points if point is not None]
    return Comparison.between(finished, named, runs=len(runs), interrupted=interrupted)
