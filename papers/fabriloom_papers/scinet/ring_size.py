"""One ring: its throughput with 2 to 64 stations, and which stations starve without bandwidth allocation.

This is not in the chapter, whose rings have few senders. The ring follows the standard: 1 GB/s, cut-through.
"""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Scenario, sections
from ..rows import series

SIZES = (2, 4, 8, 16, 32, 64)
QUICK_SIZES = (2, 8)
CROWD = 8
"""Stations of the ring on which all send to one."""
ALLOCATION = {"without allocation": False, "with allocation": True}


def _scenario(effort: Effort, stations: int, pattern: Any, allocation: bool) -> Scenario:
    """Return a ring on which every station always has a packet to send."""
    warmup_us, measure_us = effort.time_ms(0.1, 0.02) * 1000, effort.time_ms(0.5, 0.1) * 1000
    kind = pattern if isinstance(pattern, str) else pattern["kind"]
    technology = {"preset": "sci-1000", "bandwidth_allocation": allocation}
    return {
        "name": f"ring of {stations}, {kind}, allocation {'on' if allocation else 'off'}",
        "seed": 1,
        "topology": {"kind": "sci-ring", "terminals": stations},
        "technology": technology,
        "traffic": {
            "pattern": pattern,
            "length": "64 B",
            "arrivals": "backlog",
            "transaction": "dmove",
            "senders": "all" if kind == "uniform" else [f"t{number}" for number in range(1, stations)],
        },
        **sections(warmup_us, measure_us, "us", flows=True),
    }


def _uniform(effort: Effort, allocation: bool) -> list[Scenario]:
    sizes = effort.choose(SIZES, QUICK_SIZES)
    return [_scenario(effort, stations, "uniform", allocation) for stations in sizes]


def _to_one(effort: Effort, allocation: bool) -> Scenario:
    return _scenario(effort, CROWD, {"kind": "hot-spot", "target": "t0", "share": 1.0}, allocation)


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of every size, and of a ring on which all send to one, with and without allocation."""
    return [run for on in ALLOCATION.values() for run in [*_uniform(effort, on), _to_one(effort, on)]]


def findings(lab: Lab) -> Findings:
    """Plot throughput and the smallest share against the size, and throughput by place."""
    found = Findings()
    sizes = lab.effort.choose(SIZES, QUICK_SIZES)
    for label, on in ALLOCATION.items():
        measured = lab.measure(_uniform(lab.effort, on))
        least = [
            min(one.source_mbytes_per_s.get(terminal, 0.0) for terminal in range(stations))
            for one, stations in zip(measured, sizes, strict=True)
        ]
        total = [one.accepted_mbytes_per_s for one in measured]
        shares = [
            mean * stations and 100 * mean * stations / sum_
            for mean, stations, sum_ in zip(least, sizes, total, strict=True)
        ]
        title = "One ring, uniform traffic, every station always sending"
        curves = {"output of the ring (MB/s)": total, "the least of any station, of its share (%)": shares}
        found.series += [
            series("C", title, label, x=sizes, y=y, x_quantity="stations", y_quantity=quantity, log="x")
            for quantity, y in curves.items()
        ]
        (crowd,) = lab.measure([_to_one(lab.effort, on)])
        places = range(1, CROWD)
        behind = series(
            "D",
            "One ring, seven stations sending to the eighth",
            label,
            x=places,
            y=[crowd.source_mbytes_per_s.get(place, 0.0) for place in places],
            x_quantity="stations behind the receiver",
            y_quantity="output of the station (MB/s)",
        )
        found.series.append(behind)
    return found
