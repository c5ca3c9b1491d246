"""``fabriloom saturate``: the saturation throughput."""

from __future__ import annotations

from typing import Annotated, Any

from ..exits import Mistake
from ..frame import Call, command, compiled, option, words
from ..house import bars, replays, report, saturation, show, store, studies


@command("file settings seed", "jobs json out force csv")
def saturate(
    call: Call,
    definition: Annotated[
        str,
        option(
            "--definition peak|backlog",
            "peak: largest accepted throughput over all loads; backlog: throughput with sources that "
            "always have a packet.",
            autocompletion=words("peak", "backlog"),
        ),
    ] = "peak",
) -> int:
    """Find the saturation throughput, with its confidence interval."""
    with call.output(store.POINTS):
        scenario = call.scenario()
        if definition not in saturation.DEFINITIONS:
            raise Mistake(f"--definition {definition}: choose {' or '.join(sorted(saturation.DEFINITIONS))}")
        chosen: Any = definition
        compiled(scenario)
        with bars.bar("Saturation") as bar:
            found = studies.saturate(scenario, chosen, **call.parallel, progress=bar.study)
        call.give_study(
            found,
            lambda: replays.of_points(report.for_saturation(found), [(scenario, found.points)]),
            lambda: show.saturation(found),
        )
        return call.code_of(found)
