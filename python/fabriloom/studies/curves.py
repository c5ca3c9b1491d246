"""Curves of latency against throughput over offered loads, and sweeps over any settings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..compile import graph_of
from ..process.libraries import pl
from ..results import Provenance
from ..results.figures import settings_text
from ..results.files import Tabled
from ..scenario import scenario_of
from ..scenario.schema import Scenario
from ..topology import Graph
from . import bends
from .points import Advance, Point, point_row, run_points
from .store import Out, Store
from .verdict import of_curve

LOADS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Offered loads of a curve if the scenario has no ``[sweep]`` and the caller gives none."""

LOAD = "traffic.load"
SCALE = "traffic.scale"
"""Setting that a curve varies if rates or flows are given instead of a load."""


@dataclass(repr=False)
class Curve(Tabled):
    """The finished points of a curve or sweep, in the order of the varied settings."""

    points: list[Point]
    varied: list[str]
    """Paths of the settings that were varied."""
    provenance: Provenance
    """Provenance of the scenario that was varied."""
    runs: int
    """Number of points of the curve; more than are finished if it was interrupted."""
    interrupted: bool = False
    graph: Graph | None = None
    """The network, if it is the same for all points."""
    verdicts: dict[str, str] = field(default_factory=dict)
    """Up to which load everything is carried, and the limit: a sentence for each combination of the settings
    other than the load. Empty for sweeps without a load and for programs."""

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per point, see ``results.columns.POINTS``."""
        return pl.DataFrame(
            [point_row(point) for point in self.points], infer_schema_length=None, strict=False
        )

    @property
    def summary(self) -> dict[str, Any]:
        """Provenance and the summaries of all points, ready for JSON."""
        return {
            **self.provenance.named(),
            "varied": self.varied,
            "verdicts": self.verdicts,
            "runs": self.runs,
            "interrupted": self.interrupted,
            "points": [{"settings": point.settings, **point.summary} for point in self.points],
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables by file name: the points."""
        return {"points": self.table}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._named()!r}: {self._counted()}>"

    def _repr_html_(self) -> str:
        from ..pictures import page

        said = [f"{name}: {text}." if name else f"{text}." for name, text in self.verdicts.items() if text]
        return page(self, f"{self._named()}: {self._counted()}", said)

    def _named(self) -> str:
        return self.provenance.name

    def _counted(self) -> str:
        points = f"{len(self.points)} point{'' if len(self.points) == 1 else 's'}"
        return f"{points}, interrupted" if self.interrupted else points


def settings_of(sweep: dict[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of a sweep's values, the last path varying fastest."""
    return [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]


def varied(scenario: Scenario, settings: dict[str, Any]) -> Scenario:
    """Return the scenario with settings replaced. Raises ScenarioError, also if a load would have no
    effect.
    """
    if LOAD in settings and scenario.program is not None:
        message = "offered loads have no effect: a program sets the times of its own messages"
        hint = 'give a [sweep] of its settings, such as "program.rate"'
        raise scenario.error(message, ("program",), hint, key=True)
    if LOAD in settings and scenario.traffic.is_rated():
        message = "offered loads have no effect: this traffic is given as rates"
        raise scenario.error(message, ("traffic",), "vary traffic.scale, which multiplies them", key=True)
    changed = scenario.with_settings(settings)
    traffic = changed.traffic
    if LOAD in settings and not changed.needs_load:
        kind = traffic.pattern.kind if traffic.pattern.kind == "descriptors" else traffic.arrivals.kind
        message = f"offered loads have no effect: {kind} traffic sets its own times"
        raise scenario.error(message, ("traffic",), "choose arrivals with a load, such as poisson", key=True)
    return changed


def load_of(scenario: Scenario) -> str:
    """Return the path of the setting that scales the traffic: the load, or the scale of rates."""
    return SCALE if scenario.program is None and scenario.traffic.is_rated() else LOAD


def curve(
    scenario: Scenario,
    loads: Sequence[float] | None = None,
    *,
    points: int | None = None,
    jobs: int = 2,
    out: Out = None,
    progress: Callable[[Advance], None] | None = None,
    on_point: Callable[[Point], None] | None = None,
) -> Curve:
    """Run a scenario at every load, or over its ``[sweep]``, or over the usual loads.

    Args:
        scenario: the scenario; its ``[sweep]`` may vary any settings, and all combinations are run.
        loads: offered loads, each above 0 and at most 1, instead of ``traffic.load`` in ``[sweep]``; with
            rates or flows, values of ``traffic.scale``, which may exceed 1.
        points: number of loads for every combination of the other settings: first ``loads``, or a few from
            10 to 100 %, then more where the curve bends (see ``bends``).
        jobs: number of parallel runs; the points do not depend on it.
        out: folder in which finished points are stored. A stored point of the same resolved scenario and
            version is not run again.
        progress: called at intervals with the progress.
        on_point: called with every finished point.

    Raises:
        ScenarioError: the scenario or a point cannot be run.

    Ctrl-C ends it early: the result holds the finished points, and ``interrupted`` is set.
    """
    scenario = scenario_of(scenario)
    sweep: dict[str, Sequence[Any]] = dict(scenario.sweep or {})
    raised = load_of(scenario)
    if loads is not None:
        sweep = {**{path: values for path, values in sweep.items() if path != raised}, raised: list(loads)}
    if points is not None:
        sweep[raised] = sorted(sweep.pop(raised, bends.FIRST))
    elif not sweep:
        sweep = {raised: list(LOADS)}
    base, todo = scenario.alone(), settings_of(sweep)
    wanted = len(todo) if points is None else len(todo) // len(sweep[raised]) * points
    options: dict[str, Any] = {"jobs": jobs, "store": Store.of(out), "on_point": on_point}
    before = 0

    def shown(advance: Advance) -> None:
        if progress:
            progress(advance.of_more(before, wanted))

    def run(settings: list[dict[str, Any]]) -> bends.Found:
        nonlocal before
        ended = run_points([(one, varied(base, one)) for one in settings], progress=shown, **options)
        before += len(settings)
        return ended

    found, interrupted = run(todo)
    finished = [point for point in found if point is not None]
    if points is not None and not interrupted:
        finished, interrupted = bends.refined(finished, raised, points, run)
        wanted = wanted if interrupted else len(finished)
    graph = None if any(path.startswith("topology.") for path in sweep) else graph_of(base)
    verdicts = _verdicts(base, finished, raised, list(sweep))
    return Curve(finished, list(sweep), Provenance.of(scenario), wanted, interrupted, graph, verdicts)


def _verdicts(base: Scenario, points: list[Point], raised: str, varied_paths: list[str]) -> dict[str, str]:
    """Return a sentence for each line of the chart, that is, for points that differ only in the load."""
    if raised not in varied_paths or base.program is not None:
        return {}
    groups: dict[str, list[Point]] = {}
    for point in points:
        others = {path: value for path, value in point.settings.items() if path != raised}
        groups.setdefault(settings_text(others), []).append(point)
    found = {}
    for name, group in groups.items():
        full = varied(base, {**group[0].settings, raised: 1.0})
        found[name] = of_curve(full, group, raised)
    return found
