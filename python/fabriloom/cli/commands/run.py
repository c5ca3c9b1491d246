"""``fabriloom run``: one run, the same with several seeds, or beside the twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from .. import exits
from ..exits import Mistake
from ..frame import Call, code_of_ends, command, compiled, flag, option
from ..house import Scenario, bars, report, show, simulate, store, studies


@command("file settings seed json out force csv", "jobs")
def run(
    call: Call,
    twin: Annotated[bool, flag("--twin", "Compare every delivery with the slow second engine.")] = False,
    seeds: Annotated[
        int | None,
        option(
            "--seeds N", "Run with N seeds; print the means over the runs and their spread.", min=2, max=1000
        ),
    ] = None,
    strict: Annotated[
        bool,
        flag("--strict", "Exit code 1 if a requirement is missed or cannot be told, in any run."),
    ] = False,
) -> int:
    """Run a scenario once, or with several seeds.

    --seeds uses the seed of the scenario and the following ones. With --seeds and --out, finished runs are
    kept if the command is interrupted; the same command continues from there.
    """
    if twin and (seeds or strict):
        other = "--seeds" if seeds else "--strict"
        raise Mistake(f"--twin and {other}: choose one; --twin compares one run")
    with call.output(store.POINTS if seeds else ""):
        scenario = call.scenario()
        if twin:
            return _beside_twin(call, scenario)
        if seeds:
            code, summaries = _with_seeds(call, scenario, seeds)
        else:
            with bars.bar("Running") as bar:
                results = simulate.run(compiled(scenario), progress=bar.run)
            call.give_run(results, scenario=scenario)
            code, summaries = code_of_ends([results.summary["end"]]), [results.summary]
    asked = [one.get("requirements", {}) for one in summaries]
    failed = any(one.get(word) for one in asked for word in ("missed", "unknown"))
    return exits.DISAGREES if strict and failed and code == exits.OK else code


def _with_seeds(call: Call, scenario: Scenario, seeds: int) -> tuple[int, Sequence[Mapping[str, Any]]]:
    """Run with several seeds; return the exit code and the summaries of all runs."""
    compiled(scenario)
    with bars.bar("Seeds") as bar:
        found = studies.repeat(scenario, seeds, **call.parallel, progress=bar.study)
    call.give_study(found, lambda: report.for_seeds(found), lambda: show.seeds(found))
    return call.code_of(found), [point.summary for point in found.points]


def _beside_twin(call: Call, scenario: Scenario) -> int:
    """Compare the engine with its slow twin."""
    found = simulate.compare(scenario)
    same = "identical, packet by packet" if found.identical else "NOT THE SAME"
    ratio = found.twin_wall_s / found.wall_s if found.wall_s else 0.0
    lines = [
        ("deliveries", same),
        ("compared", f"up to {found.until_ps / 1e9:.6g} ms; the engine ended {found.end_reason}"),
        ("packets", f"{found.packets:,}; the twin {found.twin_packets:,}"),
        ("time", f"{found.wall_s:.3f} s; the twin {found.twin_wall_s:.3f} s, {ratio:.1f} times as long"),
    ]
    call.tell(asdict(found), lambda: show.pairs(lines))
    return exits.OK if found.identical else exits.DISAGREES
