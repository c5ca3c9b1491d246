"""The replay inside a report of the command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .house import Results, Scenario, Side, comparison, fabric, replay_file

_MOST = 2


def with_replay(report: str, shown: Iterable[tuple[Scenario, Results | None, str]]) -> str:
    """Return a report with a replay of one run or of the first two, where their networks can be drawn."""
    found: list[tuple[Scenario, Side]] = []
    for one in shown:
        side = replay_file.side_in_report(*one) if len(found) < _MOST else None
        if side is not None and side.replay["rows"]:
            found.append((one[0], side))
    if not found:
        return report
    sides = [side for _, side in found]
    sides = replay_file.on_one_clock([scenario for scenario, _ in found], sides, lambda _: None)
    # How it ends stands in the report: a run so short may see a deadlock at another moment.
    said = " ".join(side.replay["part"] for side in sides)
    return fabric.with_replay(report, replay_file.replay_html(sides), said)


def of_points(report: str, studied: Iterable[tuple[Scenario, Sequence[Any]]]) -> str:
    """Return the report of a study with a replay of the point of each scenario that accepted most."""
    shown = []
    for scenario, points in studied:
        measured = [point for point in points if point.summary["accepted_mbytes_per_s"] is not None]
        if measured:
            best = max(measured, key=lambda point: point.summary["accepted_mbytes_per_s"])
            settings = {path: value for path, value in best.settings.items() if path != comparison.NAME}
            name = str(best.settings.get(comparison.NAME, ""))
            shown.append((scenario.alone().with_settings(settings), None, name))
    return with_replay(report, shown)
