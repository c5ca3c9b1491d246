"""``fabriloom curve``: latency against throughput, or a sweep."""

from __future__ import annotations

import json as jsonlib
from typing import Annotated, Any

from ...process.libraries import of_extra
from ..exits import Mistake
from ..frame import Call, Loads, command, compiled, flag, loads_of, option
from ..house import Scenario, bars, replays, report, show, store, studies


@command("file settings seed", "jobs json out force csv")
def curve(
    call: Call,
    loads: Loads = None,
    points: Annotated[
        int | None,
        option(
            "--points N",
            "Number of loads: first --loads, or a few from 10 to 100 %, then more where the curve bends.",
            min=4,
            max=500,
        ),
    ] = None,
    published: Annotated[
        bool, flag("--published", "Also show the published numbers of this network.")
    ] = False,
) -> int:
    """Measure latency against throughput over offered loads, or over the scenario's [sweep].

    With --out, finished points are kept if the command is interrupted; the same command continues from there.
    """
    with call.output(store.POINTS):
        scenario = call.scenario()
        asked = loads_of(loads, [scenario])
        paper = _beside(scenario) if published else None
        if not scenario.sweep:
            compiled(scenario)
        with bars.bar("Curve") as bar:
            found = studies.curve(scenario, asked, points=points, **call.parallel, progress=bar.study)

        def shown(html: str) -> str:
            return replays.of_points(html, [(scenario, found.points)])

        if paper is None:
            call.give_study(found, lambda: shown(report.for_curve(found)))
        else:
            rows, printed = paper.rows(found), paper.points(found)

            def tell() -> None:
                show.curve(found)
                show.beside(rows)

            call.give_study(
                found,
                lambda: shown(report.for_curve(found, printed, rows)),
                tell,
                lambda: jsonlib.dumps({**found.summary, "published": rows}, indent=2),
            )
        return call.code_of(found)


def _beside(scenario: Scenario) -> Any:
    """Return what papers print of a network. Raises Mistake, and MissingLibrary without the papers."""
    beside = of_extra("fabriloom_papers.beside", "papers", "published numbers")
    paper = beside.Beside.of(scenario)
    if paper is None:
        known = f"there are some about: {beside.KNOWN}"
        raise Mistake(f"--published: no published numbers about this network are here; {known}")
    return paper
