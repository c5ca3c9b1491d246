"""Write job arrays for batch systems as plain files."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from ..output import encoded, file
from .asked import MARK, Asked, StudyError, asked_of
from .folder import Folder, store_at
from .run import Done, one

_SLURM = """#!/bin/sh
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time={walltime}
#SBATCH --output={jobs}/%a.out
{queue}exec {command} --part "$SLURM_ARRAY_TASK_ID" --of {count}
"""
_CONDOR = """executable = {program}
arguments = "{arguments} --part $(Process) --of {count}"
request_cpus = 1
request_memory = 2 GB
+MaxRuntime = {seconds}
output = {jobs}/$(Process).out
error = {jobs}/$(Process).err
log = {jobs}/condor.log
{queue}queue {count}
"""


def written(
    folder: Folder, asked: Asked, kind: str, count: int, walltime_min: int, queue: str
) -> tuple[Path, str]:
    """Write a job array of ``count`` jobs into the folder; returns its file and the command that submits
    it. Raises StudyError for a search.
    """
    if asked.plan.search is not None:
        message = "the jobs of an array do not wait for one another, and a search chooses from results"
        raise StudyError(f"--emit {kind}: {message}; use --on {'slurm' if kind == 'slurm' else 'htcondor'}")
    place = folder.path.resolve()
    jobs = place / "jobs"
    jobs.mkdir(exist_ok=True)
    program = Path(sys.executable).with_name("fabriloom")
    words = ["study", "work", str(place), "--study", asked.name]
    if kind == "slurm":
        path, how = jobs / "slurm.sh", "sbatch"
        text = _SLURM.format(
            name=f"fabriloom-{asked.name}",
            last=count - 1,
            walltime=f"{walltime_min // 60:02}:{walltime_min % 60:02}:00",
            jobs=jobs,
            queue=f"#SBATCH --partition={queue}\n" if queue else "",
            command=shlex.join([str(program), *words]),
            count=count,
        )
    else:
        path, how = jobs / "condor.sub", "condor_submit"
        text = _CONDOR.format(
            program=program,
            arguments=" ".join(f"'{word}'" if " " in word else word for word in words),
            count=count,
            seconds=60 * walltime_min,
            jobs=jobs,
            queue=f"+JobQueue = {queue}\n" if queue else "",
        )
    with file(path) as out:
        out.write(encoded(text))
    return path, f"{how} {path}"


def work_on(path: Path, which: str | None, part: int, of: int) -> tuple[int, int]:
    """Run a part of the studies of a folder; returns the numbers of finished points and of those that failed.

    Points are dealt to the parts in turn, so that each has long and short runs. A job writes points and takes
    no lock. Raises StudyError and OSError.
    """
    if part >= of:
        raise StudyError(f"--part {part} of {of}: parts are counted from 0")
    if not (path / MARK).is_file():
        raise StudyError(
            f"{path}: this is not a study folder, or its disk is not mounted on {os.uname().nodename}"
        )
    store, ends = store_at(path), list[Done]()
    for asked in asked_of(path, which):
        plan = asked.plan
        numbers = [number for replication in range(plan.replications) for number in plan.round(replication)]
        ends += [one(plan, number, store, lambda _: None) for number in numbers[part::of]]
    failed = sum(bool(end.error) for end in ends)
    return len(ends) - failed, failed
