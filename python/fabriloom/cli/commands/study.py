"""``fabriloom study``: many runs in one folder, which can be interrupted; see ``docs/guides/studies.md``."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Annotated

import typer

from .. import exits
from ..exits import Mistake, say
from ..frame import (
    Call,
    ForceFile,
    StudyCommands,
    check_file,
    command,
    document,
    flag,
    option,
    path_argument,
    path_option,
    words,
)
from ..house import Team, files, output, run_all, show, store, studied
from ..house import emit as emitted
from ..house import folder as study_folder

Place = Annotated[Path, path_argument("DIR", "A study folder.")]
Which = Annotated[str | None, option("--study NAME", "Only this study of the folder.")]
Jobs = Annotated[
    int,
    option("--jobs N", "Parallel runs; 0: one per processor.", "-j", min=0, max=1024),
]
Budget = Annotated[
    str | None,
    option("--budget TIME", "Stop after a time such as 90s, 10min or 2h; finished points are kept."),
]
On = Annotated[
    str | None,
    option(
        "--on WHERE",
        "Run on local-cluster, slurm, htcondor or tls://ADDRESS:PORT; needs fabriloom[cluster].",
        autocompletion=words("local-cluster", "slurm", "htcondor", "tls://", "dask://"),
    ),
]
Walltime = Annotated[int, option("--walltime MINUTES", "Time limit of each batch job.", min=10)]
Queue = Annotated[str, option("--queue NAME", "Queue or partition of the batch system.")]


@command("file", "settings json", group=StudyCommands)
def run(
    call: Call,
    place: Annotated[
        Path | None,
        path_option(
            "--out DIR",
            "Study folder; FILE.study if not given. Studies in the same folder share their points.",
        ),
    ] = None,
    jobs: Jobs = 0,
    budget: Budget = None,
    on: On = None,
    walltime: Walltime = 60,
    queue: Queue = "",
    emit: Annotated[
        str | None, option("--emit slurm|condor", "Write a job array into DIR/jobs instead of running.")
    ] = None,
) -> int:
    """Run all points of a scenario: its [variants], [sweep] and [study].

    Points that are finished are not run again.
    """
    budget_s = seconds(budget)
    for name, given in (("--on", on), ("--budget", budget)):
        if emit is not None and given is not None:
            raise Mistake(f"{name} {given}: --emit runs nothing; leave one of the two out")
    scenario = call.scenario()
    with study_folder.Folder(place or Path(f"{call.file.stem}.study"), take=True, make=True) as folder:
        asked = folder.ask(scenario)
        if emit is None:
            return studied.run(folder, [asked], _team(jobs, on, walltime, queue), budget_s, call.json)
        if emit not in ("slurm", "condor"):
            raise Mistake(f"--emit {emit}: choose slurm or condor")
        path, how = emitted.written(folder, asked, emit, jobs or 10, walltime, queue)
        say(f"Written to {path}. Submit it with `{how}`; when the jobs have ended,")
        say(f"`fabriloom study resume {folder.path}` runs what they left, and shows everything.")
        return exits.OK


@command("", "json", group=StudyCommands)
def resume(
    call: Call,
    place: Place,
    which: Which = None,
    jobs: Jobs = 0,
    budget: Budget = None,
    on: On = None,
    walltime: Walltime = 60,
    queue: Queue = "",
) -> int:
    """Continue the studies of a folder."""
    budget_s = seconds(budget)
    with study_folder.Folder(place, take=True, mend=True) as folder:
        team = _team(jobs, on, walltime, queue)
        return studied.run(folder, folder.studies(which), team, budget_s, call.json)


@command("", "json", group=StudyCommands)
def status(call: Call, place: Place) -> None:
    """Show the progress of the studies of a folder, also while they run."""
    with study_folder.Folder(place) as folder:
        rows = []
        for asked in folder.studies():
            done = len(folder.contents(asked))
            rows.append({"study": asked.name, "points": len(asked.plan), "finished": done})
        programs = folder.index.programs()
        others = sum(count for name, count in programs.items() if name != store.program())
        stored = {"points": sum(programs.values()), "of_other_versions": others}
        stored |= {"in_segments": len(folder.segments.names())}
    if call.json:
        return say(document({"studies": rows, "store": stored}))
    cells = []
    for row in rows:
        share = f"{math.floor(1000 * row['finished'] / row['points']) / 10:g} %"
        cells.append([row["study"], f"{row['points']:,}", f"{row['finished']:,}", share])
    show.table(["study", "points", "finished", ""], cells, [False, True, True, True])
    told = f"{stored['points']:,} points are kept, {stored['in_segments']:,} of them in segments"
    return say(f"{told}; {others:,} are of another version and are not used." if others else f"{told}.")


@command("", "json", name="show", group=StudyCommands)
def show_study(call: Call, place: Place, which: Which = None) -> None:
    """Print the finished points of the studies of a folder, also while they run."""
    with study_folder.Folder(place) as folder:
        for asked in folder.studies(which):
            found = run_all.finished(folder, asked)
            say(found.to_json().rstrip("\n")) if call.json else studied.tell(found, place)


@command(group=StudyCommands)
def export(
    call: Call,
    place: Place,
    to: Annotated[Path, path_argument("FILE", "File to write, .parquet or .csv.")],
    which: Which = None,
    means: Annotated[bool, flag("--means", "Write means over seeds instead of single runs.")] = False,
    trials: Annotated[bool, flag("--trials", "Write the trials of a search instead of single runs.")] = False,
    force: ForceFile = False,
) -> None:
    """Write all points of a study as one table."""
    if to.suffix not in (".parquet", ".csv"):
        raise Mistake(f"{to}: a table is written as .parquet or .csv; name it so")
    check_file(to, force)
    with study_folder.Folder(place) as folder:
        found = folder.studies(which)
        if len(found) > 1:
            names = ", ".join(asked.name for asked in found)
            raise Mistake(f"{place}: there are several studies; choose one with --study: {names}")
        result = run_all.finished(folder, found[0])
    if trials and result.search is None:
        raise Mistake(f"--trials: {found[0].name} is no search; leave it out")
    table = result.search.table if trials and result.search else result.means if means else result.table
    files.write_table(output.Plain(to.parent), to.name, table)
    say(f"Written to {to}: {len(result.table):,} of {result.runs:,} points")


@command(group=StudyCommands)
def pack(call: Call, place: Place) -> None:
    """Combine finished points, one file each, into segments of some thousands."""
    with study_folder.Folder(place, take=True) as folder:
        packed, segments = folder.pack(), len(folder.segments.stamps)
        hold = "segment holds" if segments == 1 else "segments hold"
        say(f"{packed:,} points were packed; {segments:,} {hold} {len(folder.segments.names()):,}")


@command(group=StudyCommands)
def clean(
    call: Call,
    place: Place,
    forget: Annotated[str | None, option("--forget NAME", "Give up this study of the folder first.")] = None,
) -> None:
    """Remove points that no study of the folder needs: those of other versions and of earlier forms of a
    study.
    """
    with study_folder.Folder(place, take=True) as folder:
        gone, kept = folder.clean(forget)
    say(f"{gone:,} points were removed, {kept:,} are kept")


@command(group=StudyCommands, hidden=True)
def work(
    call: Call,
    place: Place,
    which: Which = None,
    part: Annotated[int, typer.Option("--part", min=0, help="Which part, from 0.")] = 0,
    of: Annotated[int, typer.Option("--of", min=1, help="Of how many.")] = 1,
) -> int:
    """Run and store a part of a study, as a job of an array."""
    done, failed = emitted.work_on(place, which, part, of)
    say(f"Part {part} of {of}: {done:,} points are finished, {failed:,} cannot be run")
    return exits.OK if not failed else exits.MISTAKE


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
        raise Mistake(f"--budget {text}: write a time such as 90s, 10min or 2h") from None


def _team(jobs: int, on: str | None, walltime: int, queue: str) -> Team:
    """Return the workers that run the points."""
    return run_all.team(jobs or len(os.sched_getaffinity(0)), on, walltime, queue)
