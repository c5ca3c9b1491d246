"""The saturation throughput of a network, by one of two definitions, with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..arguments import choice, number
from ..compile import compile
from ..process.libraries import pl
from ..results import Provenance
from ..results.figures import measured
from ..results.files import Tabled
from ..scenario import scenario_of
from ..scenario.schema import Scenario
from .curves import SCALE, Curve, load_of, varied
from .points import Advance, Point, run_points
from .store import Out, Store
from .verdict import Judge, of_curve, waits_for_its_packets

Definition = Literal["peak", "backlog"]

DEFINITIONS: dict[str, str] = {
    "backlog": "accepted throughput when every source always has a packet waiting (infinite backlog)",
    "peak": "the largest accepted throughput over the offered loads tried; the sustained load is the "
    "largest at which nothing piled up: what was offered was accepted but for at most 1 % that was lost and "
    "what is always under way, and no link, bus or memory has to do more than it can",
}
RESOLUTION, FINEST = 0.01, 0.001
THROUGHPUT = {"run.precision_of": "throughput"}
"""Runs near the limit would take minutes until their latencies are precise, which nothing here depends on."""
BEYOND_BOUND = 2.0
"""Rates are raised up to this multiple of the scale at which a link, bus or memory is full."""


@dataclass(repr=False)
class Saturation(Tabled):
    """The saturation of a network, its definition, and the runs from which it was computed."""

    definition: str
    accepted_mbytes_per_s: float | None
    """Saturation throughput; None if nothing could be measured."""
    accepted_mbytes_per_s_ci95: float | None
    at_load: float | None
    """Offered load (scale, if rates are given) of that throughput; None for the definition ``backlog``."""
    sustained_load: float | None
    """The largest load tried at which queues stayed bounded, see :class:`Judge`; 0 if even the smallest is
    too much. None for closed-loop sources, which never offer more than is accepted."""
    refused_load: float | None
    """The smallest load tried that was not sustained; None if load 1.0 is sustained."""
    varied: str
    """Path of the setting that was varied: the load, or ``traffic.scale`` if rates are given."""
    points: list[Point]
    provenance: Provenance
    interrupted: bool = False
    verdict: str = ""
    """Up to which load everything is carried, and the limit; for ``backlog``, the limit of its run."""

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers, ready for JSON, see ``results.columns.SATURATION``."""
        names = ("accepted_mbytes_per_s", "accepted_mbytes_per_s_ci95", "at_load", "sustained_load")
        return {
            **self.provenance.named(),
            **{"verdict": self.verdict, "definition": self.definition},
            "definition_text": DEFINITIONS[self.definition],
            **{name: getattr(self, name) for name in (*names, "refused_load", "varied", "interrupted")},
            "points": [{"settings": point.settings, **point.summary} for point in self.points],
        }

    @property
    def table(self) -> pl.DataFrame:
        """One row per run, see ``results.columns.POINTS``."""
        return Curve(self.points, [], self.provenance, len(self.points)).table

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables by file name: the runs."""
        return {"points": self.table}

    def _told(self) -> str:
        rate, half = self.accepted_mbytes_per_s, self.accepted_mbytes_per_s_ci95
        told = "nothing measured" if rate is None else f"{measured(rate, half)} MB/s"
        return f"{told} by {self.definition}{', interrupted' if self.interrupted else ''}"

    def __repr__(self) -> str:
        return f"<Saturation {self.provenance.name!r}: {self._told()}>"

    def _repr_html_(self) -> str:
        from ..pictures import page

        said = [f"{self.verdict}."] if self.verdict else []
        return page(self, f"{self.provenance.name}: {self._told()}", said)


def saturate(
    scenario: Scenario,
    definition: Definition = "peak",
    *,
    jobs: int = 2,
    resolution: float = RESOLUTION,
    out: Out = None,
    progress: Callable[[Advance], None] | None = None,
    on_point: Callable[[Point], None] | None = None,
) -> Saturation:
    """Find the saturation throughput of a scenario.

    ``peak`` narrows the interval of the offered load down to ``resolution``, two loads at a time, and then
    tries loads beside the best one. The largest of several measured throughputs is slightly too large by
    chance. Each run ends when its throughput is precise and it is known whether packets pile up: its
    latencies may be less precise than ``run.precision``.

    Args:
        scenario: the scenario; its ``[sweep]`` is ignored.
        definition: "peak", the largest accepted throughput over all loads, or "backlog", the accepted
            throughput of sources that always have a packet.
        jobs: number of parallel runs; the result does not depend on it.
        resolution: resolution of the sustained load, as a fraction of what a terminal's link carries, from
            0.001 to 1. With rates, whose ``traffic.scale`` is raised: as a fraction of the scale at which a
            link, bus or memory is full.
        out: folder in which finished runs are stored, see :func:`~fabriloom.studies.curve`.
        progress: called at intervals with the progress.
        on_point: called with every finished run.

    Raises:
        ScenarioError: the scenario cannot be run, or its traffic has neither a load nor rates.
        ValueError: the definition is unknown.

    Ctrl-C ends it early: the result holds the finished runs, and ``interrupted`` is set.
    """
    scenario = scenario_of(scenario)
    resolution = number("resolution", resolution, FINEST, 1)
    choice("definition", definition, DEFINITIONS)
    store = Store.of(out)
    options: dict[str, Any] = {"jobs": jobs, "store": store, "progress": progress, "on_point": on_point}
    scenario = scenario.alone()
    if scenario.program is not None:
        message = "saturation is of traffic: a program sets the times of its own messages"
        hint = 'write [sweep] and "program.rate" = ["20 kHz", "40 kHz"], and use `fabriloom curve`'
        raise scenario.error(message, ("program",), hint, key=True)
    if definition == "backlog":
        settings = {"traffic.arrivals": "backlog"}
        if scenario.traffic.pattern.kind == "descriptors":
            message = "there is no backlog: descriptors set their own times"
            raise scenario.error(
                message, ("traffic",), "choose another pattern, or a wait of 0 in the lists", key=True
            )
        if scenario.traffic.is_rated():
            message = "there is no backlog: rates and flows set their own times"
            hint = "take the definition peak, which raises them by traffic.scale"
            raise scenario.error(message, ("traffic",), hint, key=True)
        run = scenario.with_settings({**settings, **THROUGHPUT})
        points, interrupted = run_points([(settings, run)], **options)
        found = [point for point in points if point is not None]
        return _result(scenario, definition, found, interrupted)
    return _peak(scenario, resolution, options)


class _Search:
    """Runs at offered loads; every run counts for the peak."""

    def __init__(self, scenario: Scenario, options: dict[str, Any]) -> None:
        self.scenario = scenario
        self.options = options
        self.tried: dict[float, Point] = {}
        self.interrupted = False
        self.path, self.most = load_of(scenario), 1.0
        full = compile(varied(scenario, {self.path: 1.0}))
        self.judge = Judge.of(full)
        if self.path == SCALE:
            # No source makes more than a packet a grain.
            often = full.demand().per_grain or 0.0
            self.most = min(BEYOND_BOUND * self.judge.bound, 0.999 / often if often else math.inf)

    def run(self, loads: Sequence[float]) -> bool:
        """Run the loads that were not run yet; returns False if interrupted."""
        new = [load for load in loads if load not in self.tried]
        runs = [({self.path: load}, varied(self.scenario, {self.path: load, **THROUGHPUT})) for load in new]
        points, self.interrupted = run_points(runs, **self.options)
        self.tried.update({load: point for load, point in zip(new, points, strict=True) if point is not None})
        return not self.interrupted

    def sustained(self, load: float) -> bool:
        """Whether the network sustained this load."""
        return self.judge.sustained(load, self.tried[load].summary)

    def rounded(self, load: float) -> float:
        """Round a load, for tables and so that the hash of a scenario does not depend on the last bit."""
        return float(f"{load:.4g}") if self.path == SCALE else round(load, 4)

    def ends(self) -> tuple[float, float | None]:
        """Return the load up to which all tried ones were sustained, and the next one; None without."""
        low = 0.0
        for load in sorted(self.tried):
            if not self.sustained(load):
                return low, load
            low = load
        return low, None

    def points(self) -> list[Point]:
        """Return the finished runs by load."""
        return [self.tried[load] for load in sorted(self.tried)]


def _peak(scenario: Scenario, resolution: float, options: dict[str, Any]) -> Saturation:
    """Find the peak and, for open-loop sources, the largest sustained load."""
    search = _Search(scenario, options)
    resolution *= search.most
    if waits_for_its_packets(scenario):
        if search.run([tenth / 10 for tenth in range(1, 11)]):
            _look_beside_the_best(search, 0.05)
        return _result(scenario, "peak", search.points(), search.interrupted)
    if _narrow_down(search, resolution):
        _look_beside_the_best(search, resolution)
    # Interrupted at once nothing is known, of the ends neither.
    ends = search.ends() if search.tried else ()
    return _result(scenario, "peak", search.points(), search.interrupted, *ends)


def _look_beside_the_best(search: _Search, resolution: float) -> None:
    """Try loads halfway between the best load and its neighbours, unless these are near."""
    best = max(search.tried, key=lambda load: search.tried[load].summary["accepted_mbytes_per_s"] or 0.0)
    below = max((load for load in search.tried if load < best), default=0.0)
    above = min((load for load in search.tried if load > best), default=best)
    beside = [(best + load) / 2 for load in (below, above) if abs(best - load) > resolution]
    search.run([search.rounded(load) for load in beside])


def _narrow_down(search: _Search, resolution: float) -> bool:
    """Try loads around the largest sustained one; false if all are, or if interrupted."""
    low, high = 0.0, search.rounded(search.most)
    if search.run([high]) and search.sustained(high):
        return False
    while not search.interrupted and high - low > resolution:
        loads = [search.rounded(low + (high - low) * part) for part in (1 / 3, 2 / 3)]
        if not search.run(loads):
            break
        for load in loads:
            if not search.sustained(load):
                high = load
                break
            low = load
    return not search.interrupted


def _result(
    scenario: Scenario,
    definition: str,
    points: list[Point],
    interrupted: bool,
    low: float | None = None,
    high: float | None = None,
) -> Saturation:
    """Make the result from the point with the largest throughput."""
    measured = [point for point in points if point.summary["accepted_mbytes_per_s"] is not None]
    best = max(measured, key=lambda point: point.summary["accepted_mbytes_per_s"], default=None)
    return Saturation(
        definition=definition,
        accepted_mbytes_per_s=best.summary["accepted_mbytes_per_s"] if best else None,
        accepted_mbytes_per_s_ci95=best.summary["accepted_mbytes_per_s_ci95"] if best else None,
        at_load=best.settings.get(load_of(scenario)) if best else None,
        sustained_load=low,
        refused_load=high,
        varied=load_of(scenario),
        points=points,
        provenance=Provenance.of(scenario),
        interrupted=interrupted,
        verdict=_verdict(scenario, definition, points),
    )


def _verdict(scenario: Scenario, definition: str, points: list[Point]) -> str:
    if definition == "backlog":
        return points[0].summary.get("verdict", "") if points else ""
    path = load_of(scenario)
    return of_curve(varied(scenario, {path: 1.0}), points, path)
