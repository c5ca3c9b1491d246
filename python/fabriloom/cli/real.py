"""The commands for real machines; each function returns an exit code."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import bars, exits, folders, show, work
from .exits import Mistake

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..measure import Settings
    from ..output import Output
    from ..scenario import Scenario
    from ..studies.comparison import Comparison

RUNNERS = ("auto", "c", "python")


def settings_of(
    ranks: int | None,
    hosts: Path | None,
    runner: str,
    warm_ups: int,
    rounds: int,
    oversubscribe: bool,
    patience_s: int,
) -> Settings:
    """Return the settings of a measurement from the options of the command."""
    from ..measure import Settings

    if runner not in RUNNERS:
        raise Mistake(f"--runner {runner}: choose from {', '.join(RUNNERS)}")
    return Settings(ranks, hosts, runner, warm_ups, rounds, oversubscribe, patience_s)


def measure(scenario: Scenario, how: Settings, json: bool, folder: Output | None, csv: bool) -> int:
    """Measure a scenario; print and write the results."""
    from .. import measure as room
    from ..report import for_curve

    try:
        with bars.bar("Measuring") as bar:
            found = room.measure(scenario, how, kept=folder and folder.kept, progress=bar.steps)
    except room.MeasureError as error:
        raise Mistake(str(error)) from error
    if found.run is not None:
        results = found.run
        for warning in results.summary["warnings"]:
            exits.complain(f"warning: {warning}")

        def write(at: Output) -> None:
            folders.write_run(at, results, csv)

        work.give(
            folder, json, results.to_json, lambda: show.run(results), write, finished=not found.interrupted
        )
    elif found.curve is not None:
        curve = found.curve
        for warning in _warnings(curve):
            exits.complain(f"warning: {warning}")

        def write(at: Output) -> None:
            folders.write_study(at, curve, for_curve(curve, (), []), csv)

        work.give(
            folder, json, curve.to_json, lambda: show.curve(curve), write, finished=not found.interrupted
        )
    if found.interrupted:
        exits.complain(work.interrupted(len(found.curve.points) if found.curve else 0, folder))
        return exits.INTERRUPTED
    return exits.OK


def fit(paths: list[Path], json: bool, folder: Output | None, csv: bool) -> int:
    """Fit parameters; print and write them with the predictions."""
    from .. import fit as room
    from ..report import for_fit

    try:
        with bars.bar("Predicting") as bar:
            found = room.fit(paths, bar.steps)
    except room.FitError as error:
        raise Mistake(str(error)) from error

    def text() -> str:
        return jsonlib.dumps(found.summary, indent=2, ensure_ascii=False)

    def tell() -> None:
        for line in found.told():
            show.line(line)
        if found.predictions:
            show.line()
            show.predictions(found.predictions)

    def write(at: Output) -> None:
        from ..results.files import put_text, write_tables

        put_text(at, "fitted.toml", found.text)
        for form in folders.forms(csv) if found.predictions else ():
            write_tables({"predictions": found.table}, at, form)
        put_text(at, "report.html", for_fit(found.summary, found.told(), found.text))
        put_text(at, "summary.json", text() + "\n")

    work.give(folder, json, text, tell, write)
    return exits.OK


def results_of(paths: Sequence[Path], names: Sequence[str]) -> dict[str, tuple[Scenario, list[Any]]]:
    """Read result folders as scenarios with finished points, under unique names."""
    from ..fit import FitError
    from ..fit.samples import read_folder
    from ..scenario import Scenario
    from ..studies.comparison import NAME
    from ..studies.points import Point

    found: dict[str, tuple[Scenario, list[Any]]] = {}
    for path in paths:
        try:
            folder = read_folder(path)
        except FitError as error:
            raise Mistake(str(error)) from error
        measured = any("measured" in summary for _, summary in folder.points)
        first = name = f"{path.name}, measured" if measured else path.name
        number = 1
        while name in (*names, *found):
            number += 1
            name = f"{first} ({number})"
        tail: dict[str, list[float]] = {"latency_ns": [], "share_longer": []}
        points = [Point({NAME: name, **settings}, summary, tail) for settings, summary in folder.points]
        found[name] = (Scenario.from_dict(folder.scenario({})), points)
    return found


def beside(
    found: Comparison | None, named: Mapping[str, Scenario], theirs: Mapping[str, tuple[Scenario, list[Any]]]
) -> Comparison:
    """Add existing results to a comparison."""
    from ..studies.comparison import NAME, Comparison

    more = [point for _, points in theirs.values() for point in points]
    scenarios = {**named, **{name: scenario for name, (scenario, _) in theirs.items()}}
    points, runs = [*(found.points if found else []), *more], (found.runs if found else 0) + len(more)
    both = Comparison.between(points, scenarios, runs=runs, interrupted=bool(found and found.interrupted))
    swept = {path: None for point in more for path in point.settings if path != NAME}
    both.varied += [path for path in swept if path not in both.varied]
    return both


def _warnings(curve: Any) -> list[str]:
    """Collect the warnings of all points, each once."""
    told = {warning: None for point in curve.points for warning in point.summary["warnings"]}
    return list(told)[:5]
