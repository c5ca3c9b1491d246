"""Run a study from Python: any points of a scenario, stored in a folder, as one table."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

from ..arguments import number, whole
from ..process.libraries import pl
from ..results.files import Tabled
from ..results.statistics import student_t95
from ..scenario import scenario_of
from ..scenario.schema import Scenario
from .asked import Asked
from .cluster import Cluster
from .folder import Folder
from .plan import Plan
from .points import Advance, of_one_type
from .pool import MOST_JOBS
from .run import Done, Outcome, Team, Threads, run
from .search import Searched, judged
from .seeds import SEED

MEANS = ("accepted_mbytes_per_s", "latency_ns_mean", "latency_ns_p99", "total_latency_ns_mean")
"""Columns with means over seeds."""


@dataclass(repr=False)
class Study(Tabled):
    """The finished points of a study, in the order of the study."""

    name: str
    varied: list[str]
    """Paths of the settings that were varied."""
    runs: int
    """Number of points of the study; more than are finished if it was interrupted."""
    table: pl.DataFrame
    """One row per point: the settings that were varied, then ``results.columns.POINTS``."""
    failed: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    """Points that could not be run: their settings and the error."""
    why: str = ""
    """Reason for an early end: ``interrupted`` or ``budget``; otherwise empty."""
    fault: bool = False
    """Whether a point failed because of a fault of the program."""
    search: Searched | None = None
    """Its trials and the best of them, if it is a search."""

    @property
    def interrupted(self) -> bool:
        """Whether points are missing that can still be run."""
        return self.why != ""

    @cached_property
    def means(self) -> pl.DataFrame:
        """One row per point, over its seeds: number of runs, and for some columns the mean and, as ``_ci95``,
        the half-width of its 95 % confidence interval by Student's t.
        """
        by = [path for path in self.varied if path != SEED]
        parts = [pl.len().alias("runs")]
        for name in MEANS:
            count = pl.col(name).count()
            t95 = count.replace_strict({n: student_t95(n - 1) for n in range(2, 10_001)}, default=math.nan)
            half = t95 * pl.col(name).std() / count.sqrt()
            parts += [pl.col(name).mean(), half.alias(f"{name}_ci95")]
        grouped = (
            self.table.group_by(by, maintain_order=True) if by else self.table.group_by(pl.lit(1).alias("_"))
        )
        return grouped.agg(parts).drop("_", strict=False)

    @property
    def summary(self) -> dict[str, Any]:
        """Progress and all rows, ready for JSON."""
        return {
            "name": self.name,
            "varied": self.varied,
            "runs": self.runs,
            "finished": len(self.table),
            "failed": [{"settings": settings, "why": why} for settings, why in self.failed],
            "ended_early": self.why or None,
            **({"search": self.search.summary} if self.search else {}),
            "points": self.table.to_dicts(),
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables by file name."""
        means = {"means": self.means} if SEED in self.varied and len(self.table) else {}
        return {"points": self.table, **means, **({"trials": self.search.table} if self.search else {})}

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {len(self.table)} of {self.runs} points>"

    def _repr_html_(self) -> str:
        heading = f"<p>{escape(repr(self))}</p>"
        if self.search is None:
            return f"{heading}{self.table._repr_html_()}"
        from ..pictures import charts

        answer = f"<p><b>{escape(self.search.verdict)}.</b></p>"
        return f"{heading}{answer}{charts(self)._repr_html_()}{self.search.table._repr_html_()}"


def finished(folder: Folder, asked: Asked, outcome: Outcome | None = None) -> Study:
    """Return the finished points of a study."""
    plan = asked.plan
    cells = folder.index.cells()
    contents = outcome.finished if outcome else folder.contents(asked)
    numbers = [n for n in sorted(contents) if contents[n] in cells and n < plan.known]
    failed = sorted(outcome.failed, key=lambda done: done.number) if outcome else []
    rows = {number: cells[contents[number]] for number in numbers}
    return Study(
        name=asked.name,
        varied=plan.varied,
        runs=outcome.wanted if outcome else len(plan),
        table=_table(plan, rows),
        failed=[(plan.settings(done.number), done.error) for done in failed],
        why=outcome.why if outcome else "",
        fault=any(done.fault for done in failed),
        search=_searched(plan, rows, failed),
    )


def _searched(plan: Plan, rows: Mapping[int, Mapping[str, Any]], failed: list[Done]) -> Searched | None:
    """Return the trials of a search of which all runs have ended."""
    if plan.search is None:
        return None
    each, why = plan.replications, {}
    for done in failed:
        why.setdefault(done.number // each + 1, done.error.partition("\n")[0])
    trials = []
    for one in judged(plan, rows):
        if one.number in why:
            trials.append(replace(one, why=f"{one.why}: {why[one.number]}"))
        elif all(number in rows for number in range((one.number - 1) * each, one.number * each)):
            trials.append(one)
    return Searched(plan.search, trials)


def _table(plan: Plan, rows: Mapping[int, Mapping[str, Any]]) -> pl.DataFrame:
    """Return the table of points; building it by columns takes a tenth of the time."""
    names = dict.fromkeys(name for cells in rows.values() for name in cells)
    settings = [plan.settings(number) for number in rows]
    columns = {path: of_one_type([one[path] for one in settings]) for path in plan.varied}
    columns |= {name: [cells.get(name) for cells in rows.values()] for name in names if name not in columns}
    return pl.DataFrame(columns, strict=False)


def run_asked(
    folder: Folder,
    asked: Asked,
    workers: Team,
    progress: Callable[[Advance], None] | None = None,
    budget_s: float = math.inf,
) -> Study:
    """Run the missing points of a study in its folder. Raises OSError if the folder is full."""
    outcome = run(folder, asked, workers, progress=progress, budget_s=budget_s)
    return finished(folder, asked, outcome)


def study(
    scenario: Scenario,
    out: str | Path | None = None,
    *,
    sweep: Mapping[str, Any] | None = None,
    zipped: Mapping[str, Sequence[Any]] | None = None,
    sample: Mapping[str, Any] | None = None,
    jobs: int = 2,
    on: str | None = None,
    budget_s: float = math.inf,
    progress: Callable[[Advance], None] | None = None,
    **settings: Any,
) -> Study:
    """Run all points of a scenario: its ``[variants]``, ``[sweep]`` and ``[study]``, or those given here.

    Args:
        scenario: the scenario.
        out: folder in which finished points are stored, and from which the same call continues. It may hold
            several studies, which share their points. Without a folder, points are kept in memory only.
        sweep: values, or a range, by path, instead of ``[sweep]``: all combinations are run.
        zipped: values by path, instead of ``[study.zip]``: the first values of all form a point, and so on.
        sample: distributions by path, instead of ``[study.sample]``.
        jobs: number of parallel runs; the points do not depend on it.
        on: a cluster instead of threads: ``local-cluster``, ``slurm``, ``htcondor``, ``tls://ADDRESS:PORT``
            or ``dask://ADDRESS:PORT``; ``out`` must be on a disk that its machines share.
        budget_s: time limit in seconds; the points that are then finished are spread over the whole study.
        progress: called at intervals with the progress.
        settings: further settings of ``[study]``: ``samples``, ``sampling``, ``replications``, ``precision``,
            ``search``.

    Raises:
        ScenarioError: the scenario or a point cannot be run.
        StudyError: the folder cannot be used.
        OSError: the folder is full.

    Ctrl-C ends it early: the result holds the finished points, and ``interrupted`` is set.
    """
    scenario = scenario_of(scenario)
    workers, budget_s = team(jobs, on), number("budget_s", budget_s, 0)
    given = {
        "study.zip": zipped,
        "study.sample": sample,
        **{f"study.{name}": v for name, v in settings.items()},
    }
    changed = {"sweep": sweep, **given}
    wanted = scenario.with_settings({path: value for path, value in changed.items() if value is not None})
    with ExitStack() as stack:
        place = Path(out) if out is not None else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder = stack.enter_context(Folder(place, take=True, make=True))
        return run_asked(folder, folder.ask(wanted), workers, progress, budget_s)


def team(jobs: int, on: str | None, *batch: Any) -> Team:
    """Return the workers: threads, or a cluster; ``batch``: further fields of :class:`Cluster`."""
    whole("jobs", jobs, 1, MOST_JOBS)
    return partial(Threads, jobs) if on is None else Cluster(on, jobs, *batch).workers
