"""``fabriloom compare``: several scenarios, or the variants of one, at the same loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from ..exits import Mistake, complain
from ..frame import Call, Loads, command, loads_of, path_argument
from ..house import Comparison, Scenario, bars, comparison, replays, report, samples, store, studies
from ..house import scenario as room


@command("", "settings seed jobs json out force csv")
def compare(
    call: Call,
    files: Annotated[
        list[Path],
        path_argument(
            "FILE…", "Scenarios, or one with [variants]; also result folders of measure, run or curve."
        ),
    ],
    loads: Loads = None,
) -> int:
    """Compare several scenarios, or the [variants] of one, at the same loads.

    With --out, finished points are kept if the command is interrupted; the same command continues from there.
    """
    with call.output(store.POINTS):
        own = [file for file in files if not file.is_dir()]
        scenarios = [call.scenario(file) for file in own]
        results = [file for file in files if file.is_dir()]
        asked = loads_of(loads, scenarios)
        for file, scenario in zip(own, scenarios, strict=True):
            if scenario.sweep:
                message = (
                    "compare runs no [sweep], but all scenarios at the same loads; curve and study run it"
                )
                complain(f"warning: {file}: {message}")
        if len(scenarios) == 1 and not scenarios[0].variants and not results:
            raise Mistake(
                "one scenario without [variants] has nothing to be compared with; name another file"
            )
        with bars.bar("Comparison") as bar:
            named = _named(scenarios)
            theirs = _results_of(results, list(named))
            found = studies.compare(named, asked, **call.parallel, progress=bar.study) if named else None
            found = _beside(found, named, theirs) if theirs or found is None else found
        studied = [(one, found.of(name)) for name, one in named.items()]
        call.give_study(found, lambda: replays.of_points(report.for_comparison(found), studied))
        return call.code_of(found)


def _named(scenarios: Sequence[Scenario]) -> dict[str, Scenario]:
    """Return all scenarios and their variants by name; equal names get a number."""
    named: dict[str, Scenario] = {}
    for scenario in scenarios:
        for name, one in studies.variants(scenario).items():
            again = sum(other == name or other.startswith(f"{name} (") for other in named)
            named[f"{name} ({again + 1})" if again else name] = one
    return named


def _results_of(paths: Sequence[Path], names: Sequence[str]) -> dict[str, tuple[Scenario, list[Any]]]:
    """Read result folders as scenarios with finished points, under unique names."""
    found: dict[str, tuple[Scenario, list[Any]]] = {}
    for path in paths:
        folder = samples.read_folder(path)
        measured = any("measured" in summary for _, summary in folder.points)
        name = comparison.unlike(f"{path.name}, measured" if measured else path.name, (*names, *found))
        tail: dict[str, list[float]] = {"latency_ns": [], "share_longer": []}
        points = [
            studies.Point({comparison.NAME: name, **settings}, summary, tail)
            for settings, summary in folder.points
        ]
        found[name] = (room.Scenario.from_dict(folder.scenario({})), points)
    return found


def _beside(
    found: Comparison | None, named: Mapping[str, Scenario], theirs: Mapping[str, tuple[Scenario, list[Any]]]
) -> Comparison:
    """Add existing results to a comparison."""
    more = [point for _, points in theirs.values() for point in points]
    scenarios = {**named, **{name: scenario for name, (scenario, _) in theirs.items()}}
    points, runs = [*(found.points if found else []), *more], (found.runs if found else 0) + len(more)
    both = studies.Comparison.between(
        points, scenarios, runs=runs, interrupted=bool(found and found.interrupted)
    )
    swept = {path: None for point in more for path in point.settings if path != comparison.NAME}
    both.varied += [path for path in swept if path not in both.varied]
    return both
