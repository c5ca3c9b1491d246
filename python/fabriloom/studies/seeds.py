"""Run a scenario with several seeds: means over seeds and their spread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import whole
from ..compile import graph_of
from ..process.libraries import pl
from ..results import Provenance
from ..results.columns.studies import SEEDS
from ..results.statistics import mean_of_runs
from ..scenario import scenario_of
from ..scenario.schema import Scenario
from .curves import Curve, varied
from .points import Advance, Point, run_points
from .store import Out, Store

SEED = "seed"
MOST_SEEDS = 1000
_NOT_MEASURED = (SEED, "end_reason", "scenario_sha256", "trusted")
_HALF = "_ci95"


@dataclass(frozen=True)
class OverSeeds:
    """One number of several runs, where it could be measured."""

    name: str
    values: NDArray[np.float64]
    mean: float
    half: float | None
    """Half-width of the interval of the mean; none of a single run."""
    holding: int | None
    """In how many runs the interval of the run itself holds the mean; none if a run has none."""


@dataclass(repr=False)
class Repetition(Curve):
    """The finished runs of one scenario, by seed."""

    @cached_property
    def means(self) -> pl.DataFrame:
        """One row per quantity of a run, see ``results.columns.SEEDS``."""
        names = [name for name in self.table.columns if name not in _NOT_MEASURED and _HALF not in name]
        found = [one for one in map(self._of, names) if len(one.values)]
        return pl.DataFrame([SEEDS.row_of(one) for one in found], infer_schema_length=None)

    def _of(self, name: str) -> OverSeeds:
        """Return one number of each run."""
        values = self.table[name].drop_nulls().to_numpy().astype(np.float64)
        mean, half = 0.0, None
        if len(values) > 1:
            mean, half = mean_of_runs(values.tolist())
        elif len(values):
            mean = float(values[0])
        return OverSeeds(name, values, mean, half, self._holding(name, mean))

    def _holding(self, name: str, mean: float) -> int | None:
        """Count the runs whose own interval contains the mean over seeds; None if a run has no interval."""
        if f"{name}{_HALF}" not in self.table.columns:
            return None
        rows = self.table.select(name, f"{name}{_HALF}").drop_nulls(name).rows()
        if any(half is None for _, half in rows):
            return None
        return sum(abs(value - mean) <= half for value, half in rows)

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of a curve, and the means over seeds."""
        return {**super().summary, "means": self.means.to_dicts()}

    def _repr_html_(self) -> str:
        from ..pictures import page

        table = self.means if len(self.points) > 1 else self.table
        return page(self, f"{self.provenance.name}: {self._counted()}", [], table)

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables by file name: the runs and the means over them."""
        return {**super().tables(), "seeds": self.means}


def repeat(
    scenario: Scenario,
    seeds: int = 10,
    *,
    jobs: int = 2,
    out: Out = None,
    progress: Callable[[Advance], None] | None = None,
    on_point: Callable[[Point], None] | None = None,
) -> Repetition:
    """Run a scenario with its own seed and the following seeds.

    The runs are independent, so the mean over seeds has a valid interval (Student's t, for runs of equal
    length). It does not show an error that all runs share, such as a warm-up that is too short.

    Args:
        scenario: the scenario; its ``[sweep]`` is ignored.
        seeds: number of runs, 2 to 1000.
        jobs: number of parallel runs; the results do not depend on it.
        out: folder in which finished runs are stored, see :func:`~fabriloom.studies.curve`.
        progress: called at intervals with the progress.
        on_point: called with every finished run.

    Raises:
        ScenarioError: the scenario cannot be run.
        ValueError: ``seeds`` is out of range.

    Ctrl-C ends it early: the result holds the finished runs, and ``interrupted`` is set.
    """
    scenario = scenario_of(scenario)
    whole("seeds", seeds, 2, MOST_SEEDS)
    base = scenario.alone()
    settings = [{SEED: base.seed + number} for number in range(seeds)]
    runs = [(one, varied(base, one)) for one in settings]
    points, interrupted = run_points(
        runs, jobs=jobs, store=Store.of(out), progress=progress, on_point=on_point
    )
    finished = [point for point in points if point is not None]
    return Repetition(finished, [SEED], Provenance.of(scenario), len(runs), interrupted, graph_of(base))
