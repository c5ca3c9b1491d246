"""One scenario with several seeds: what the mean over seeds is, and how far one run can be from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile import graph_of
from ..results import Provenance
from ..results.statistics import mean_of_runs
from ..scenario import needed
from .curves import Curve, varied
from .points import Advance, Point, run_points
from .store import Out, Store

if TYPE_CHECKING:
    import polars as pl

    from ..scenario.schema import Scenario

SEED = "seed"
MOST_SEEDS = 1000
_NOT_MEASURED = (SEED, "end_reason", "scenario_sha256", "trusted")
_HALF = "_ci95"


@dataclass(repr=False)
class Repetition(Curve):
    """The finished runs of one scenario, by seed."""

    @cached_property
    def means(self) -> pl.DataFrame:
        """One row per number of a run, see ``results.columns.SEEDS``."""
        import polars as pl

        names = [name for name in self.table.columns if name not in _NOT_MEASURED and _HALF not in name]
        rows = [self._mean(name) for name in names]
        return pl.DataFrame([row for row in rows if row is not None], infer_schema_length=None)

    def _mean(self, name: str) -> dict[str, Any] | None:
        """One row: the mean over seeds, their spread, the interval, and how many single intervals hold it."""
        column = self.table[name]
        values = column.drop_nulls().to_numpy().astype(np.float64)
        if not len(values):
            return None
        count = len(values)
        mean, half = mean_of_runs(values.tolist()) if count > 1 else (float(values[0]), None)
        spread = float(values.std(ddof=1)) if count > 1 else None
        return {
            "quantity": name,
            "runs": count,
            "mean": mean,
            "ci95": half,
            "spread": spread,
            "least": float(values.min()),
            "greatest": float(values.max()),
            "holding": self._holding(name, mean),
        }

    def _holding(self, name: str, mean: float) -> int | None:
        """In how many runs the interval of the run itself holds the mean over seeds; None if it has none."""
        if f"{name}{_HALF}" not in self.table.columns:
            return None
        rows = self.table.select(name, f"{name}{_HALF}").drop_nulls().iter_rows()
        return sum(abs(value - mean) <= half for value, half in rows)

    @property
    def summary(self) -> dict[str, Any]:
        """That of a curve, and the means over seeds."""
        return {**super().summary, "means": self.means.to_dicts()}

    def tables(self) -> dict[str, pl.DataFrame]:
        """The runs and the means over them, by the names of their files."""
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
    """Run ``scenario`` with its own seed and those that follow it.

    Runs are independent whatever is correlated within them, so the mean over seeds has an honest interval (by
    Student's t, of runs of equal length); what all of them share, a warm-up that is too short, it does not
    show.

    Args:
        scenario: what to run; its ``[sweep]`` is left out.
        seeds: how many runs, 2 to 1000.
        jobs: runs at a time; the results do not depend on it.
        out: folder in which every finished run is kept at once, see :func:`~fabriloom.studies.curve`.
        progress: called from time to time with the progress.
        on_point: called with every run as it is finished.

    Ctrl-C ends it early with the finished runs and ``interrupted`` set. Raises ScenarioError, and ValueError
    for a number of seeds out of range.
    """
    needed(scenario)
    if not 2 <= seeds <= MOST_SEEDS:
        raise ValueError(f"seeds: {seeds} is not from 2 to {MOST_SEEDS:,}; 10 show how far runs differ")
    base = scenario.alone()
    settings = [{SEED: base.seed + number} for number in range(seeds)]
    runs = [(one, varied(base, one)) for one in settings]
    points, interrupted = run_points(
        runs, jobs=jobs, store=Store.of(out), progress=progress, on_point=on_point
    )
    finished = [point for point in points if point is not None]
    return Repetition(finished, [SEED], Provenance.of(scenario), len(runs), interrupted, graph_of(base))
