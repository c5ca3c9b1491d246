"""Printed numbers of a paper, compared with a curve of the same network."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fabriloom.scenario import Scenario
from fabriloom.studies import Curve, Point

from .macrame.latency import CROSSBAR, SATURATION_GBYTES_PER_S
from .macrame.tail import MEAN_TOLERANCES
from .published import Number, numbers
from .rows import near, predicted, reported, row

KNOWN = "a Clos network of 256 terminals with uniform random traffic of 64-byte packets (macrame)"
PAPER = "macrame"
LOAD = "traffic.load"
_LATENCIES = {0.1: "latency-10", 0.5: "latency-50"}
"""Offered load, and the id of the printed mean network latency at this load."""
_SATURATION = "clos-256-saturation"
_OFFERED, _ACCEPTED = "load read as offered", "load read as accepted"
_NOT_SCORED = "the paper's load is read as the one that is set; a set load of 50 % accepts less"


@dataclass(frozen=True)
class Beside:
    """The printed numbers of one network."""

    printed: dict[str, Number]

    @classmethod
    def of(cls, scenario: Scenario) -> Beside | None:
        """Return the printed numbers for a scenario's network and traffic, or None."""
        resolved = scenario.resolve()
        topology, traffic = resolved["topology"], resolved["traffic"]
        clos = topology.get("kind") == "clos" and topology.get("terminals") == 256
        uniform = traffic["pattern"] in ("uniform", {"kind": "uniform"})
        return cls(numbers(PAPER)) if clos and uniform else None

    def points(self, curve: Curve) -> list[dict[str, Any]]:
        """Return printed latencies as points of latency against throughput, for both readings of the printed
        load.

        If the load means accepted load, it gives the throughput. If it means offered load, the throughput is
        what our network accepts at that load.
        """
        per_load = _offered_per_load(curve)
        found = []
        for load, key in _LATENCIES.items():
            point = _at(curve, load)
            readings = {
                "load read as accepted": None if per_load is None else load * per_load,
                "load read as offered": point and point.summary["accepted_mbytes_per_s"],
            }
            found += [
                {
                    "accepted_mbytes_per_s": accepted,
                    "latency_us": self.printed[key]["value"],
                    "label": f"{100 * load:g} % load, {self.printed[key]['where']}",
                    "reading": reading,
                }
                for reading, accepted in readings.items()
                if accepted is not None
            ]
        return found

    def rows(self, curve: Curve) -> list[dict[str, Any]]:
        """Return printed and computed numbers as a reproduction does, with tolerances.

        A latency at a load comes twice: with the load read as offered, which is scored, and as accepted.
        """
        found, per_load = [], _offered_per_load(curve)
        for load, key in _LATENCIES.items():
            point = _at(curve, load)
            latency = point.summary["latency_ns"] if point else {"mean": None, "mean_ci95": None}
            printed = self.printed[key]
            mean, half = (_part(latency[name]) for name in ("mean", "mean_ci95"))
            limits = near(printed, MEAN_TOLERANCES[load])
            between = None if per_load is None else _part(_latency_at(curve, load * per_load))
            found += [
                predicted(printed, mean, limits, ci95=half, variant=_OFFERED),
                reported(printed, between, _NOT_SCORED, variant=_ACCEPTED),
            ]
        summary = _fastest(curve)
        if summary is not None:
            value, half = (summary[f"accepted_mbytes_per_s{end}"] for end in ("", "_ci95"))
            known = {"kind": "calibrated", "note": CROSSBAR, "tolerance": SATURATION_GBYTES_PER_S}
            found.append(row(self.printed[_SATURATION], _part(value), ci95=_part(half), **known))
        return found


def _at(curve: Curve, load: float) -> Point | None:
    return next((p for p in curve.points if abs(p.settings.get(LOAD, -1) - load) < 1e-9), None)


def _latency_at(curve: Curve, accepted: float) -> float | None:
    """Return our mean latency at a throughput, by linear interpolation."""
    known = [(p.summary["accepted_mbytes_per_s"], p.summary["latency_ns"]["mean"]) for p in curve.points]
    for (low, before), (high, after) in pairwise(known):
        if None not in (low, before, high, after) and low <= accepted <= high and low < high:
            return float(before + (after - before) * (accepted - low) / (high - low))
    return None


def _offered_per_load(curve: Curve) -> float | None:
    """Return the offered MB/s at load 1, from the smallest load, where blocking hardly delays sources."""
    loaded = [point for point in curve.points if LOAD in point.settings]
    measured = [point for point in loaded if point.summary["offered_mbytes_per_s"]]
    if not measured:
        return None
    least: Point = min(measured, key=lambda point: point.settings[LOAD])
    return least.summary["offered_mbytes_per_s"] / least.settings[LOAD]


def _fastest(curve: Curve) -> dict[str, Any] | None:
    """Return the summary of the point with the highest accepted throughput."""
    measured = [p.summary for p in curve.points if p.summary["accepted_mbytes_per_s"] is not None]
    return max(measured, key=lambda summary: summary["accepted_mbytes_per_s"], default=None)


def _part(value: float | None) -> float | None:
    """Return a value in the unit of the printed numbers, which is a thousand times as large."""
    return None if value is None else value / 1e3
