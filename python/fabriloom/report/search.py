"""The report of a search: the best trial, how it was found, and where good values lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import heat_map
from .page import Axis, Cell, Chart, Drawing, Page, Series, Table, amount, json_text, number, render, spot
from .pages import again, provenance_of, scenario_texts

if TYPE_CHECKING:
    from ..results import Provenance
    from ..studies.run_all import Study
    from ..studies.search import Searched, Trial

_PARTS = 8
"""Number of parts of each range in the map."""


def for_search(study: Study, provenance: Provenance, best: dict[str, Any] | None) -> str:
    """Return the report as HTML text. ``best``: the resolved scenario of the best trial."""
    searched = study.search
    assert searched is not None
    page = Page(
        title=provenance.name,
        kind="search",
        description=provenance.description,
        verdicts={"": searched.verdict},
        facts=_facts(searched),
        provenance=provenance_of(
            provenance, [("Varied", ", ".join(searched.search.over)), again("study run")]
        ),
    )
    if study.why:
        page.interrupt(f"{study.runs - len(study.table)} of {study.runs} runs are missing.")
    page.sections = [*charts(searched), _trials(searched)] if searched.trials else []
    page.sections += scenario_texts(provenance)
    if best is not None:
        page.sections.append(json_text("The scenario of the best trial, with every default filled in", best))
    return render(page)


def _facts(searched: Searched) -> list[tuple[str, str, str]]:
    """Return the facts of the best trial: goal, fields and limited columns."""
    best, limits = searched.best, searched.search.limits
    kept = f"{sum(one.met for one in searched.trials)} keep all limits"
    found = [("Trials", number(len(searched.trials)), kept if limits else "")]
    if best is None:
        return found
    extreme = "least" if searched.search.minimise else "greatest"
    value = best.settings.get(searched.goal) or number(best.values[searched.goal])
    told = [(searched.goal, str(value), f"the {extreme}, trial {best.number}")]
    told += [(path, str(setting), "") for path, setting in best.settings.items() if path != searched.goal]
    for name, limit in limits.items():
        bounds = ((limit.at_least, "at least"), (limit.at_most, "at most"))
        words = ", ".join(f"{word} {number(bound)}" for bound, word in bounds if bound is not None)
        told.append((name, number(best.values[name]), f"{words} is asked"))
    return [*told, *found]


def charts(searched: Searched) -> list[Any]:
    """Return the charts of the goal: by trial, over each field, and over both fields if there are two."""
    measured = [one for one in searched.trials if one.values[searched.goal] is not None]
    if not measured:
        return []
    found: list[Any] = [_by_trial(searched, measured)]
    if len(searched.search.over) == 2:
        found += _map(searched)
    return [
        *found,
        *(_over(searched, measured, path) for path in searched.search.over if path != searched.goal),
    ]


def _spot(searched: Searched, one: Trial, x: float) -> list[Any]:
    label = ", ".join(f"{path} = {value}" for path, value in one.settings.items())
    return spot(x, one.values[searched.goal], f"trial {one.number}: {label}")


def _clouds(searched: Searched, spots: list[tuple[Trial, list[Any]]]) -> list[Series]:
    """Return the points of trials within the limits, of the others, and of the best one."""
    best = searched.best
    parts = {
        "keeps all limits" if searched.search.limits else "trials": [
            p for one, p in spots if one.met and one is not best
        ],
        "refused": [point for one, point in spots if not one.met],
        "the best": [point for one, point in spots if one is best],
    }
    styles = {"the best": "published"}
    return [Series(name, points, styles.get(name, "points")) for name, points in parts.items() if points]


def _by_trial(searched: Searched, measured: list[Trial]) -> Chart:
    """Draw the goal of every trial in the order of the search, and the best value so far."""
    steps, best = [], None
    for one in searched.trials:
        if one.met and (best is None or one.order < best.order):
            best = one
        if best is not None:
            steps.append(spot(one.number, best.values[searched.goal]))
    clouds = _clouds(searched, [(one, _spot(searched, one, one.number)) for one in measured])
    series = [*clouds, *([Series("the best so far", steps, "step")] if len(steps) > 1 else [])]
    note = (
        f"The first {searched.spread} trials are spread over the ranges; those after them are chosen from "
        "the results before."
    )
    return Chart("Trial by trial", Axis("trial"), Axis(searched.label(searched.goal)), series, note)


def _over(searched: Searched, measured: list[Trial], path: str) -> Chart:
    """Draw the goal over one field."""
    axis = searched.axes[path]
    spots = [(one, _spot(searched, one, axis.number(one.settings[path]))) for one in measured]
    x, y = Axis(searched.label(path), axis.sought.scale == "log"), Axis(searched.label(searched.goal))
    return Chart(f"Over {path}", x, y, _clouds(searched, spots))


def _map(searched: Searched) -> list[Drawing]:
    """Draw the best value in each part of two ranges."""
    paths = list(searched.search.over)
    cells = np.full((_PARTS, _PARTS), np.nan)
    for one in reversed(searched.ranked):  # the best of a cell is written last
        if one.met:
            down, across = (searched.axes[path].part(one.settings[path], _PARTS) for path in paths)
            cells[down, across] = one.values[searched.goal]
    if not np.isfinite(cells).any():
        return []
    names = [searched.axes[path].parts(_PARTS) for path in paths]
    extreme = "least" if searched.search.minimise else "greatest"
    note = (
        "Rows and columns are equal parts of both ranges, named by their lower ends. A cell has the "
        f"{extreme} value of its trials that keep all limits; an empty cell has none."
    )
    title = f"The {extreme} {searched.goal} over both fields"
    return [heat_map.drawn(title, note, cells, names, [searched.label(path) for path in paths])]


def _trials(searched: Searched) -> Table:
    """Return the table of all trials, the best first."""
    paths, columns = list(searched.search.over), searched.columns
    rows = []
    for one in searched.ranked:
        settings = [
            Cell(str(one.settings[path]), None, searched.axes[path].number(one.settings[path]))
            for path in paths
        ]
        values = [amount(one.values[name]) for name in columns]
        mark = "good" if one is searched.best else ""
        rows.append([Cell(str(one.number), None, one.number, mark), *settings, *values, Cell(one.why)])
    head = ["Trial", *paths, *columns, "Refused because"]
    numbers = [*[True for _ in head[1:]], False]
    note = "A value is the mean over the runs of its trial."
    return Table("Trials, the best first", head, rows, numbers, note)
