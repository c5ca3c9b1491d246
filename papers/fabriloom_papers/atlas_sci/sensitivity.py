"""Mean deviation of the tables, as reproduced and with one assumption changed at a time."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Lab, Scenario, between_us
from ..published import Number
from . import bx, hosts, tables

CASES: dict[str, dict[str, Any]] = {
    "as reproduced": {},
    "nothing stored ahead": {"protocol": {"ahead": "0 B"}},
    "no bus at the receiver": {"protocol": {"bus_packet_time": "0 ns", "bus_byte_time": "0 ns"}},
    "MB of 10^6 B": {"mb": 10**6},
}
"""Description of each change, and its settings."""
TABLES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13)
HEADER = ("changed", *(f"Table {table} (%)" for table in TABLES))


def table(jobs: int = 2) -> list[list[str]]:
    """Return one line per case: the mean deviation of the undamaged cells."""
    runs = _runs(Effort(quick=False))
    with Lab(jobs=jobs) as lab:
        return [[name, *_deviations(lab, runs, changed)] for name, changed in CASES.items()]


def _runs(effort: Effort) -> list[tuple[Number, Scenario, float]]:
    """Return cells, their runs, and the factor of a microsecond; if negative, the run's time divides it."""
    found = bx.runs(effort)
    for one in tables.cells(effort):
        cell = tables.Cell.of(one)
        rate = cell.table in tables.BANDWIDTHS
        found.append((one, tables.scenario(cell), -tables.value(cell, 1.0) if rate else 1.0))
    return [run for run in found if "damaged" not in run[0]]


def _deviations(lab: Lab, runs: list[tuple[Number, Scenario, float]], changed: dict[str, Any]) -> list[str]:
    altered = [
        run | {part: run[part] | changed.get(part, {}) for part in ("protocol", "technology")}
        for _, run, _ in runs
    ]
    took = lab.each(between_us, altered)
    parts: dict[int, list[float]] = {}
    for (one, _, counts), us in zip(runs, took, strict=True):
        ours = counts * us if counts > 0 else -counts / us * hosts.MB / changed.get("mb", hosts.MB)
        table = int(one["id"].split("/")[0][6:])
        parts.setdefault(table, []).append(abs(ours / one["value"] - 1))
    return [f"{100 * sum(parts[table]) / len(parts[table]):.1f}" for table in TABLES]
