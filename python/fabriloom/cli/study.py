"""``fabriloom study``: many runs in one folder, which can be interrupted; see ``docs/guides/studies.md``."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import exits, options
from .options import File, ForceFile, Json, Set, at_home

if TYPE_CHECKING:
    from ..studies import Study
    from ..studies.asked import Asked
    from ..studies.folder import Folder
    from ..studies.run import Team


class Commands(options.Commands):
    """The commands of ``fabriloom study``."""


study = typer.Typer(
    cls=Commands,
    help="Run many points in one folder, continuing after any interruption.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


Place = Annotated[
    Path, typer.Argument(metavar="DIR", help="A study folder.", show_default=False, callback=at_home)
]
Which = Annotated[str | None, typer.Option("--study", metavar="NAME", help="Only this study of the folder.")]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", metavar="N", min=0, max=1024, help="Parallel runs; 0: one per processor."),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Stop after a time such as 90s, 10min or 2h; finished points are kept.",
    ),
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="WHERE",
        help="Run on local-cluster, slurm, htcondor or tls://ADDRESS:PORT; needs fabriloom[cluster].",
        autocompletion=options.words("local-cluster", "slurm", "htcondor", "tls://", "dask://"),
    ),
]
Walltime = Annotated[
    int, typer.Option("--walltime", metavar="MINUTES", min=10, help="Time limit of each batch job.")
]
Queue = Annotated[
    str, typer.Option("--queue", metavar="NAME", help="Queue or partition of the batch system.")
]
SHOWN = 40
"""Most rows that are printed; ``study export`` writes all."""


@Commands.command("run")
@exits.guarded
def run(
    file: File,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Study folder; FILE.study if not given. Studies in the same folder share their points.",
            callback=at_home,
        ),
    ] = None,
    settings: Set = None,
    jobs: Jobs = 0,
    budget: Budget = None,
    on: On = None,
    walltime: Walltime = 60,
    queue: Queue = "",
    emit: Annotated[
        str | None,
        typer.Option(
            "--emit", metavar="slurm|condor", help="Write a job array into DIR/jobs instead of running."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Run all points of a scenario: its [variants], [sweep] and [study].

    Points that are finished are not run again.
    """
    from ..scenario import load
    from ..studies.folder import Folder

    budget_s = seconds(budget)
    for name, given in (("--on", on), ("--budget", budget)):
        if emit is not None and given is not None:
            raise exits.Mistake(f"{name} {given}: --emit runs nothing; leave one of the two out")
    scenario = load(file, settings or [])
    with Folder(out or Path(f"{file.stem}.study"), take=True, make=True) as folder:
        asked = folder.ask(scenario)
        if emit is not None:
            return _emit(folder, asked, emit, jobs, walltime, queue)
        return _run(folder, [asked], _team(jobs, on, walltime, queue), budget_s, json)


@Commands.command("resume")
@exits.guarded
def resume(
    place: Place,
    which: Which = None,
    jobs: Jobs = 0,
    budget: Budget = None,
    on: On = None,
    walltime: Walltime = 60,
    queue: Queue = "",
    json: Json = False,
) -> int:
    """Continue the studies of a folder."""
    from ..studies.folder import Folder

    budget_s = seconds(budget)
    with Folder(place, take=True, mend=True) as folder:
        return _run(folder, folder.studies(which), _team(jobs, on, walltime, queue), budget_s, json)


@Commands.command("status")
@exits.guarded
def status(place: Place, json: Json = False) -> int:
    """Show the progress of the studies of a folder, also while they run."""
    import json as jsonlib

    from ..studies.folder import Folder
    from ..studies.store import program
    from . import show

    with Folder(place) as folder:
        rows = []
        for asked in folder.studies():
            done = len(folder.contents(asked))
            rows.append({"study": asked.name, "points": len(asked.plan), "finished": done})
        programs = folder.index.programs()
        others = sum(count for name, count in programs.items() if name != program())
        stored = {"points": sum(programs.values()), "of_other_versions": others}
        stored |= {"in_segments": len(folder.segments.names())}
    if json:
        show.line(jsonlib.dumps({"studies": rows, "store": stored}, indent=2))
        return exits.OK
    cells = [[row["study"], f"{row['points']:,}", f"{row['finished']:,}", _share(row)] for row in rows]
    show.table(["study", "points", "finished", ""], cells, [False, True, True, True])
    told = f"{stored['points']:,} points are kept, {stored['in_segments']:,} of them in segments"
    show.line(f"{told}; {others:,} are of another version and are not used." if others else f"{told}.")
    return exits.OK


def _share(row: dict[str, Any]) -> str:
    return f"{math.floor(1000 * row['finished'] / row['points']) / 10:g} %"


@Commands.command("show")
@exits.guarded
def show_study(place: Place, which: Which = None, json: Json = False) -> int:
    """Print the finished points of the studies of a folder, also while they run."""
    from ..studies.folder import Folder
    from ..studies.study import finished
    from . import show

    with Folder(place) as folder:
        for asked in folder.studies(which):
            found = finished(folder, asked)
            show.line(found.to_json().rstrip("\n")) if json else _tell(found, place)
    return exits.OK


@Commands.command("export")
@exits.guarded
def export(
    place: Place,
    to: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="File to write, .parquet or .csv.", show_default=False, callback=at_home
        ),
    ],
    which: Which = None,
    means: Annotated[
        bool, typer.Option("--means", help="Write means over seeds instead of single runs.")
    ] = False,
    trials: Annotated[
        bool, typer.Option("--trials", help="Write the trials of a search instead of single runs.")
    ] = False,
    force: ForceFile = False,
) -> int:
    """Write all points of a study as one table."""
    from ..output import Plain
    from ..results.files import write_table
    from ..studies.folder import Folder
    from ..studies.study import finished
    from . import show

    if to.suffix not in (".parquet", ".csv"):
        raise exits.Mistake(f"{to}: a table is written as .parquet or .csv; name it so")
    if os.path.lexists(to) and not force:
        raise exits.Mistake(f"{to}: the file exists; name another one, or add --force to replace it")
    with Folder(place) as folder:
        found = folder.studies(which)
        if len(found) > 1:
            names = ", ".join(asked.name for asked in found)
            raise exits.Mistake(f"{place}: there are several studies; choose one with --study: {names}")
        result = finished(folder, found[0])
    if trials and result.search is None:
        raise exits.Mistake(f"--trials: {found[0].name} is no search; leave it out")
    table = result.search.table if trials and result.search else result.means if means else result.table
    write_table(Plain(to.parent), to.name, table)
    show.line(f"Written to {to}: {len(result.table):,} of {result.runs:,} points")
    return exits.OK


@Commands.command("pack")
@exits.guarded
def pack(place: Place) -> int:
    """Combine finished points, one file each, into segments of some thousands."""
    from ..studies.folder import Folder
    from . import show

    with Folder(place, take=True) as folder:
        packed = folder.pack()
        show.line(
            f"{packed:,} points were packed; {len(folder.segments.stamps):,} segments hold "
            f"{len(folder.segments.names()):,}"
        )
    return exits.OK


@Commands.command("clean")
@exits.guarded
def clean(
    place: Place,
    forget: Annotated[
        str | None, typer.Option("--forget", metavar="NAME", help="Give up this study of the folder first.")
    ] = None,
) -> int:
    """Remove points that no study of the folder needs: those of other versions and of earlier forms of a
    study.
    """
    from ..studies.folder import Folder
    from . import show

    with Folder(place, take=True) as folder:
        gone, kept = folder.clean(forget)
    show.line(f"{gone:,} points were removed, {kept:,} are kept")
    return exits.OK


_TIME = re.compile(r"\s*([0-9.]+)\s*(s|sec|min|h)\s*")


def seconds(text: str | None) -> float:
    """Parse the time after ``--budget``; infinite without one. Raises Mistake."""
    if text is None:
        return math.inf
    found = _TIME.fullmatch(text)
    try:
        assert found is not None
        return float(found[1]) * {"s": 1, "sec": 1, "min": 60, "h": 3600}[found[2]]
    except (AssertionError, ValueError):
        raise exits.Mistake(f"--budget {text}: write a time such as 90s, 10min or 2h") from None


def _team(jobs: int, on: str | None, walltime: int, queue: str) -> Team:
    """Return the workers that run the points."""
    from ..studies.study import threads

    count = jobs or len(os.sched_getaffinity(0))
    if on is None:
        return threads(count)
    from ..studies.cluster import Cluster

    return Cluster(on, count, walltime, queue).workers


def _emit(folder: Folder, asked: Asked, emit: str, jobs: int, walltime: int, queue: str) -> int:
    """Write a job array."""
    from ..studies.emit import written
    from . import show

    if emit not in ("slurm", "condor"):
        raise exits.Mistake(f"--emit {emit}: choose slurm or condor")
    path, how = written(folder, asked, emit, jobs or 10, walltime, queue)
    show.line(f"Written to {path}. Submit it with `{how}`; when the jobs have ended,")
    show.line(f"`fabriloom study resume {folder.path}` runs what they left, and shows everything.")
    return exits.OK


@Commands.command("work", hidden=True)
@exits.guarded
def work(
    place: Place,
    which: Which = None,
    part: Annotated[int, typer.Option("--part", min=0, help="Which part, from 0.")] = 0,
    of: Annotated[int, typer.Option("--of", min=1, help="Of how many.")] = 1,
) -> int:
    """Run and store a part of a study, as a job of an array."""
    from ..studies.emit import work_on
    from . import show

    done, failed = work_on(place, which, part, of)
    show.line(f"Part {part} of {of}: {done:,} points are finished, {failed:,} cannot be run")
    return exits.OK if not failed else exits.MISTAKE


def _run(folder: Folder, studies: list[Asked], team: Team, budget_s: float, json: bool) -> int:
    """Run studies one after another; returns the exit code of the worst."""
    from ..studies.segments import MOST
    from ..studies.study import run_asked
    from . import bars, searched, show

    codes = []
    for asked in studies:
        with bars.bar("Study") as bar:
            found = run_asked(folder, asked, team, bar.study, budget_s)
        show.line(found.to_json().rstrip("\n")) if json else _tell(found, folder.path)
        if found.search is not None and not json:
            searched.write(asked, found, folder.path)
        codes.append(_code(found, folder.path))
        if codes[-1] == exits.INTERRUPTED:
            break
    folder.pack(MOST)
    return max(codes)


def _tell(found: Study, place: Path) -> None:
    from ..results import html
    from ..results.figures import measured
    from . import searched, show

    show.line(f"{found.name}: {len(found.table):,} of {found.runs:,} points are finished")
    if found.search is not None:
        searched.tell(found.search, place)
    if not len(found.table) or found.search is not None:
        return
    table = found.means if "seed" in found.varied else found.table
    paths = [path for path in found.varied if path in table.columns]
    unit, divisor = html.time_unit(min(table["latency_ns_mean"].drop_nulls().to_list(), default=None))
    head = [*paths, "accepted MB/s", f"latency {unit}", f"99 % {unit}"]
    failed = "packets_lost" in table.columns and bool(table["packets_lost"].sum())
    head += ["lost by faults"] if failed else []
    head += ["runs"] if "runs" in table.columns else ["ended"]
    cells = []
    for row in table.head(SHOWN).iter_rows(named=True):
        half, wide = row.get("accepted_mbytes_per_s_ci95"), row.get("latency_ns_mean_ci95")
        cells.append(
            [
                *(show.setting(row[path]) for path in paths),
                measured(row["accepted_mbytes_per_s"], half),
                show.time(divisor, row["latency_ns_mean"], wide),
                show.time(divisor, row["latency_ns_p99"]),
                *([measured(row["packets_lost"])] if failed else []),
                str(row["runs"] if "runs" in row else row["end_reason"]),
            ]
        )
    flush = [*(False for _ in paths), *(True for _ in head[len(paths) : -1]), False]
    show.table(head, cells, flush, folds=False)
    if len(table) > SHOWN:
        show.line(f"and {len(table) - SHOWN:,} more: `fabriloom study export {place} points.csv`")


def _code(found: Study, place: Path) -> int:
    """Return the exit code of a study, and print a line for each problem."""
    from ..results.ends import STUCK

    if found.failed:
        settings, why = found.failed[0]
        which = ", ".join(f"{path} = {value}" for path, value in settings.items())
        many = (
            f"{len(found.failed):,} of {found.runs:,} points cannot be run; the first"
            if len(found.failed) > 1
            else "1 point cannot be run"
        )
        exits.complain(f"{'fault' if found.fault else 'error'}: {many}, with {which}:\n{why}")
    if found.why:
        missing = found.runs - len(found.table) - len(found.failed)
        what = "Interrupted" if found.why == "interrupted" else "The budget is used up"
        exits.complain(
            f"{what}: {missing:,} points are left. `fabriloom study resume {place}` continues from here."
        )
    if found.failed:
        return exits.FAULT if found.fault else exits.MISTAKE
    if found.why == "interrupted":
        return exits.INTERRUPTED
    ends = set(found.table["end_reason"].unique()) if len(found.table) else set()
    if "stalled" in ends:
        return exits.FAULT
    return exits.OK if ends.isdisjoint(STUCK) else exits.DEADLOCK
