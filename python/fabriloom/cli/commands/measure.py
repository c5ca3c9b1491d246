"""``fabriloom measure``: a scenario's program on real machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .. import exits
from ..exits import Mistake
from ..frame import Call, command, flag, interrupted, option, path_option, words
from ..house import bars, report, store
from ..house import measure as room

RUNNERS = ("auto", "c", "python")


@command("file settings seed", "json out force csv")
def measure(
    call: Call,
    ranks: Annotated[
        int | None,
        option("--ranks N", "Most processes; each terminal that takes part needs one.", min=1, max=2**20),
    ] = None,
    hosts: Annotated[
        Path | None, path_option("--hosts FILE", "Host file, one machine per line: name:processes.")
    ] = None,
    runner: Annotated[
        str,
        option(
            "--runner auto|c|python",
            "Program that runs on each rank; auto: the one in C, if it can be compiled.",
            autocompletion=words(*RUNNERS),
        ),
    ] = "auto",
    warm_ups: Annotated[int, option("--warm-ups N", "Rounds before the measurement.", min=0, max=1000)] = 2,
    rounds: Annotated[
        int, option("--rounds N", "Measured rounds; the median is reported.", min=1, max=1000)
    ] = 5,
    oversubscribe: Annotated[
        bool,
        flag("--oversubscribe", "Allow more processes than cores, as a test only: times mean nothing."),
    ] = False,
    patience: Annotated[
        int, option("--patience S", "Give up after S seconds without progress.", min=1, max=10**6)
    ] = 60,
) -> int:
    """Run a scenario's program on this machine or a cluster, over MPI, and time every message.

    With a [sweep], every point is measured. With --out, finished points are kept if the command is
    interrupted; the same command continues from there.
    """
    if runner not in RUNNERS:
        raise Mistake(f"--runner {runner}: choose from {', '.join(RUNNERS)}")
    how = room.Settings(ranks, hosts, runner, warm_ups, rounds, oversubscribe, patience)
    with call.output(store.POINTS) as folder:
        scenario = call.scenario()
        with bars.bar("Measuring") as bar:
            found = room.measure(scenario, how, kept=folder and folder.kept, progress=bar.steps)
        if found.run is not None:
            call.give_run(found.run, finished=not found.interrupted)
        elif found.curve is not None:
            curve = found.curve
            told = {warning: None for point in curve.points for warning in point.summary["warnings"]}
            for warning in list(told)[:5]:
                exits.complain(f"warning: {warning}")
            call.give_study(curve, lambda: report.for_curve(curve, (), []))
        if found.interrupted:
            exits.complain(interrupted(len(found.curve.points) if found.curve else 0, folder))
            return exits.INTERRUPTED
    return exits.OK
