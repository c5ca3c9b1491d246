"""Curves of latency against throughput over offered loads, and sweeps over any settings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from ..arguments import numbers, whole, wrong
from ..compile import graph_of
from ..process.libraries import pl
from ..results import Provenance
from ..results.figures import settings_text
from ..results.files import Tabled
from ..scenario import scenario_of
from ..scenario.schema import Scenario
from ..topology import Graph
from .points import Advance, Point, of_one_type, point_row, run_points
from .store import Out, Store
from .verdict import of_curve, of_events

# Choose the next points of a curve: in the intervals where it bends.
#
# An interval between two points is rated by the areas of the triangles that its ends form with their
# neighbours, in a space in which load, accepted throughput and the logarithm of latency each go from 0 to 1,
# and slightly by its length. Runs that do not keep up are placed at the top, because their latency depends on
# the length of the run.

FIRST = (0.1, 0.4, 0.7, 1.0)
"""Number of loads with which a curve begins."""
MOST_POINTS = 500
"""Most loads of a curve for each combination of the other settings."""
AT_A_TIME = 4
"""New points per round, independent of the number of jobs, so that the points are too."""
NARROWEST = 1 / 256
"""Intervals narrower than this share of the whole are not split."""
_BY_LENGTH = 0.02

Place = tuple[float, float, float]
Settings = dict[str, Any]
Found = tuple[list[Point | None], bool]


def places(
    loads: Sequence[float], accepted: Sequence[float], latencies: Sequence[float | None]
) -> list[Place]:
    """Return the points of the space by load. ``latencies``: None for a run that does not keep up."""
    logs = [None if not late or late <= 0 else math.log(late) for late in latencies]
    known = [log for log in logs if log is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    most, span = max(accepted) or 1.0, loads[-1] - loads[0] or 1.0
    # What does not keep up stands above all that does.
    wide = (high - low) * 1.5 or 1.0
    heights = [1.0 if log is None else (log - low) / wide for log in logs]
    return [
        ((load - loads[0]) / span, rate / most, height)
        for load, rate, height in zip(loads, accepted, heights, strict=True)
    ]


def splits(found: Sequence[Place], most: int) -> list[int]:
    """Return the intervals to split, the best first; interval ``n`` begins at point ``n``."""
    areas = [0.0, *(_area(*found[at : at + 3]) for at in range(len(found) - 2)), 0.0]
    worth: dict[int, float] = {}
    for at, (one, other) in enumerate(pairwise(found)):
        if other[0] - one[0] > NARROWEST:
            length = math.dist(one, other) + other[0] - one[0]
            worth[at] = math.sqrt((areas[at] + areas[at + 1]) / 2) + _BY_LENGTH * length
    return sorted(worth, key=lambda at: (-worth[at], at))[:most]


def _area(a: Place, b: Place, c: Place) -> float:
    """Return the area of a triangle in space."""
    one, other = [y - x for x, y in zip(a, b, strict=True)], [y - x for x, y in zip(a, c, strict=True)]
    across = sum(x * y for x, y in zip(one, other, strict=True)) ** 2
    return math.sqrt(max(0.0, sum(x * x for x in one) * sum(x * x for x in other) - across)) / 2


def middle(low: float, high: float) -> float:
    """Return the load in the middle of an interval, with few digits."""
    return float(f"{(low + high) / 2:.4g}")


def refined(
    points: Sequence[Point], path: str, wanted: int, run: Callable[[list[Settings]], Found]
) -> tuple[list[Point], bool]:
    """Add points until there are ``wanted`` along ``path`` for each combination of the other settings.

    ``run`` runs settings and also returns whether it was interrupted; so does this function.
    """
    lines: dict[str, list[Point]] = {}
    for point in points:
        lines.setdefault(_others(point, path), []).append(point)
    interrupted = False
    while not interrupted:
        new = [settings for line in lines.values() for settings in _between(line, path, wanted)]
        if not new:
            break
        found, interrupted = run(new)
        for point in found:
            if point is not None:
                lines[_others(point, path)].append(point)
        for line in lines.values():
            line.sort(key=lambda point: point.settings[path])
    return [point for line in lines.values() for point in line], interrupted


def _others(point: Point, path: str) -> str:
    return repr({name: value for name, value in point.settings.items() if name != path})


def _between(line: list[Point], path: str, wanted: int) -> list[Settings]:
    """Return the settings of the next points of a line, whose points are sorted."""
    loads = [float(point.settings[path]) for point in line]
    rates = [point.summary["accepted_mbytes_per_s"] or 0.0 for point in line]
    summaries = [point.summary for point in line]
    late = [one["total_latency_ns"]["mean"] if one["keeps_up"] is not False else None for one in summaries]
    most = min(AT_A_TIME, wanted - len(line))
    if most <= 0 or len(line) < 2:
        return []
    parts = splits(places(loads, rates, late), most)
    return [{**line[at].settings, path: middle(loads[at], loads[at + 1])} for at in parts]


LOADS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Offered loads of a curve if the scenario has no ``[sweep]`` and the caller gives none."""

LOAD = "traffic.load"
SCALE = "traffic.scale"
_EVENTS = "program.rate"
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
        rows = [point_row(point) for point in self.points]
        for path in self.varied:
            for row, value in zip(rows, of_one_type([row.get(path) for row in rows]), strict=True):
                row |= {} if value is None else {path: value}
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

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


_SWEEP_RATES = 'write [sweep] and below it its values, such as "program.rate" = ["20 kHz", "40 kHz"]'
_SWEEP_OTHERS = (
    'write [sweep] and below it other settings, such as "technology.cable_length" = ["1 m", "100 m"]'
)


def settings_of(sweep: dict[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of a sweep's values, the last path varying fastest."""
    return [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]


def varied(scenario: Scenario, settings: dict[str, Any]) -> Scenario:
    """Return the scenario with settings replaced. Raises ScenarioError, also for a load without effect."""
    if LOAD in settings and scenario.program is not None:
        message = "offered loads have no effect: a program sets the times of its own messages"
        rated = hasattr(scenario.program, "rate_millihz")
        raise scenario.error(message, ("program",), _SWEEP_RATES if rated else _SWEEP_OTHERS, key=True)
    if LOAD in settings and scenario.traffic.is_rated():
        message = "offered loads have no effect: this traffic is given as rates"
        raise scenario.error(message, ("traffic",), "vary traffic.scale, which multiplies them", key=True)
    changed = scenario.with_settings(settings)
    traffic = changed.traffic
    if LOAD in settings and not changed.needs_load:
        kind = traffic.pattern.kind if traffic.pattern.kind == "descriptors" else traffic.arrivals.kind
        message = f"offered loads have no effect: {kind} traffic sets its own times"
        hint = _SWEEP_OTHERS if kind == "descriptors" else "choose arrivals with a load, such as poisson"
        raise scenario.error(message, ("traffic",), hint, key=True)
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
        points: number of loads for every combination of the other settings, at most 500: first ``loads``, or
            four from 10 to 100 %, then more where the curve bends.
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
        sweep = {
            **{path: values for path, values in sweep.items() if path != raised},
            raised: numbers("loads", loads),
        }
    if points is not None:
        sweep[raised] = first = sorted(sweep.pop(raised, FIRST))
        if len(first) < 2:
            raise wrong("loads", first, "two or more, between which points can be added")
        whole("points", points, len(first), MOST_POINTS)
    elif not sweep:
        sweep = {raised: list(LOADS)}
    base, todo = scenario.alone(), settings_of(sweep)
    wanted = len(todo) if points is None else len(todo) // len(sweep[raised]) * points
    options: dict[str, Any] = {"jobs": jobs, "store": Store.of(out), "on_point": on_point}
    before = 0

    def shown(advance: Advance) -> None:
        if progress:
            progress(advance.of_more(before, wanted))

    def run(settings: list[dict[str, Any]]) -> Found:
        nonlocal before
        ended = run_points([(one, varied(base, one)) for one in settings], progress=shown, **options)
        before += len(settings)
        return ended

    found, interrupted = run(todo)
    finished = [point for point in found if point is not None]
    if points is not None and not interrupted:
        finished, interrupted = refined(finished, raised, points, run)
        wanted = wanted if interrupted else len(finished)
    graph = None if any(path.startswith("topology.") for path in sweep) else graph_of(base)
    verdicts = verdicts_of(base, finished, raised, list(sweep))
    return Curve(finished, list(sweep), Provenance.of(scenario), wanted, interrupted, graph, verdicts)


def verdicts_of(base: Scenario, points: list[Point], raised: str, varied_paths: list[str]) -> dict[str, str]:
    """Return a sentence for each line of the chart: for points that differ only in the load, or in the rate
    of a program's events.
    """
    raised = raised if base.program is None else _EVENTS
    if raised not in varied_paths:
        return {}
    groups: dict[str, list[Point]] = {}
    for point in points:
        others = {path: value for path, value in point.settings.items() if path != raised}
        groups.setdefault(settings_text(others), []).append(point)
    found = {}
    for name, group in groups.items():
        if base.program is not None:
            found[name] = of_events(group)
        else:
            full = varied(base, {**group[0].settings, raised: 1.0})
            found[name] = of_curve(full, group, raised)
    return found
