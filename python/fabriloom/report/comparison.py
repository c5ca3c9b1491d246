"""The report that compares several scenarios."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..results.columns import flatten
from ..results.figures import settings_text
from ..results.shown import from_and_to, of_programs, program_latency
from .fabric import fabric
from .page import Cell, Drawing, Page, Prose, Table, amount, json_text, micro, micros, plus_minus, render
from .sections import programs as program_sections
from .sections import shared as sections

if TYPE_CHECKING:
    from ..studies.comparison import Comparison

_TITLES = ("name", "description")


def for_comparison(comparison: Comparison) -> str:
    names = list(comparison.parts)
    page = Page(title=" vs. ".join(names) if len(names) < 4 else "A comparison", kind="comparison")
    page.verdicts = comparison.verdicts
    missing = comparison.runs - len(comparison.points)
    if comparison.interrupted:
        page.interrupt(f"{missing} of {comparison.runs} points are missing: run it again.")
    version = comparison.provenance.version
    hashes = [(name, f"SHA-256 {part.scenario_sha256}") for name, part in comparison.parts.items()]
    page.provenance = [*hashes, ("Fabriloom", version), _again(comparison)]
    if comparison.points:
        page.sections += [_beside(comparison), *charts(comparison)]
    page.sections += [*_different(comparison), *_fabrics(comparison)]
    if comparison.points and not _of_programs(comparison):
        page.sections.append(sections.points_table(comparison.points, comparison.varied))
    page.sections += [
        json_text(f"{name}, with every default filled in", part.resolved)
        for name, part in comparison.parts.items()
    ]
    return render(page)


def _again(comparison: Comparison) -> tuple[str, str]:
    """Return how to repeat the comparison from what the report contains."""
    loads = sorted(
        {one for point in comparison.points for path, one in point.settings.items() if path in sections.LOADS}
    )
    option = f" --loads {','.join(f'{load:g}' for load in loads)}" if loads else ""
    files = " ".join(f"{number}.json" for number in range(1, len(comparison.parts) + 1))
    how = f"fabriloom compare {files}{option}"
    return (
        "To run it again",
        f"copy the scenarios with every default filled in, below, into {files}, and: {how}",
    )


def _of_programs(comparison: Comparison) -> bool:
    return of_programs(*(point.summary for point in comparison.points))


def charts(comparison: Comparison) -> list[Any]:
    """Return the charts of a comparison, among tables of programs."""
    points, varied = comparison.points, comparison.varied
    if _of_programs(comparison):
        beside = [] if program_sections.RATE in varied else program_sections.beside_charts(points)
        return [*beside, *program_sections.curve_sections(points, varied)]
    named = ((str(point.settings[varied[0]]), point.summary["latency_ns"]) for point in points)
    note = f"Latency is {from_and_to(named)}."
    middle = [group[len(group) // 2] for name in comparison.parts if (group := comparison.of(name))]
    return [
        sections.latency_against_throughput(points, varied, (), note),
        *sections.accepted_against_load(points, varied),
        *sections.tails_of(middle, len(middle)),
    ]


def _beside(comparison: Comparison) -> Table:
    """Return one row per scenario: its maximum throughput, and its latency at light load."""
    rows, programs = [], _of_programs(comparison)
    for name, graph in comparison.graphs.items():
        points = [p for p in comparison.of(name) if p.summary["accepted_mbytes_per_s"] is not None]
        size = map(amount, (graph.terminals, graph.switches, graph.links))
        rows.append([Cell(name), *size, *(_best_program(points) if programs else _best(points))])
    head = ["Scenario", "Terminals", "Switches", "Links"]
    if programs:
        head += ["Events (1/s)", "Messages (MB/s)", "Mean latency (µs)", "99 % (µs)"]
        note = (
            "Rates: at the point with the most messages per second. Latency: of events, or of messages where "
            "there are no events, at the point with the lowest mean."
        )
    else:
        head += ["Throughput (MB/s)", "Per terminal (MB/s)", "Mean latency (µs)", "99 % (µs)"]
        note = "Throughput: the highest of all points. Latency: at the point with the lowest mean."
    return Table("Side by side", head, rows, [False] + [True] * 7, note)


def _best_program(points: Sequence[Any]) -> list[Cell]:
    """Return the rates and the latency of a program."""
    if not points:
        return [Cell("–")] * 4
    most = max(points, key=lambda point: point.summary["messages"]["mbytes_per_s"] or 0.0).summary
    found = [program_latency(point.summary) for point in points]
    least = min(found, key=lambda latency: latency["mean"] or float("inf"))
    events, rate = most["events"]["achieved_per_s"], most["messages"]["mbytes_per_s"]
    return [*map(amount, (events, rate, *(micro(least[key]) for key in ("mean", "p99"))))]


def _best(points: Sequence[Any]) -> list[Cell]:
    if not points:
        return [Cell("–")] * 4
    most = max(points, key=lambda point: point.summary["accepted_mbytes_per_s"]).summary
    least = min(points, key=lambda point: point.summary["latency_ns"]["mean"] or float("inf")).summary
    accepted, each = most["accepted_mbytes_per_s"], most["accepted_mbytes_per_s_per_terminal"]
    return [
        Cell(plus_minus(accepted, most["accepted_mbytes_per_s_ci95"]), None, accepted),
        amount(each),
        *(micros(least["latency_ns"][key]) for key in ("mean", "p99")),
    ]


def _different(comparison: Comparison) -> list[Table]:
    flat = {name: _told(part.resolved) for name, part in comparison.parts.items()}
    paths = list(dict.fromkeys(path for settings in flat.values() for path in settings))
    rows = []
    for path in paths:
        values = [settings.get(path, "–") for settings in flat.values()]
        if len(set(values)) > 1 and path not in _TITLES:
            rows.append([Cell(path), *(Cell(value) for value in values)])
    if not rows:
        return []
    note = "All other settings are the same. A dash: there is no such setting."
    return [Table("What is different", ["Setting", *flat], rows, [False] * (len(flat) + 1), note)]


def _told(settings: dict[str, Any]) -> dict[str, str]:
    """Return the settings by their paths, as short texts."""
    found: dict[str, str] = {}
    for path, value in flatten(settings).items():
        if path.rpartition(".")[2] not in ("sweep", "variants", "study"):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            found[path] = text if len(text) <= 80 else f"{text[:79]}…"
    return found


def _fabrics(comparison: Comparison) -> list[Drawing | Prose]:
    """Return the drawing of each scenario's network at its highest throughput."""
    drawn = []
    for name, graph in comparison.graphs.items():
        points = [p for p in comparison.of(name) if p.summary["accepted_mbytes_per_s"] and p.utilisation]
        if points:
            best = max(points, key=lambda point: point.summary["accepted_mbytes_per_s"])
            when = f" at {settings_text(best.settings)}"
            drawn += [
                replace(one, title=f"The fabric of {name}")
                for one in fabric(graph, best.utilisation, when, limit=best.summary.get("limit"))
            ]
    return drawn
