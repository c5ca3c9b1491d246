"""Questions of the text without printed answers: locality from 0 to 100 %, and more buses in a switch.

The chapter shows 100 % ("to demonstrate the upper limit") and says that without locality long rings and
ringlets are alike.
"""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Scenario
from ..rows import series
from . import networks

SHARES = tuple(tenth / 10 for tenth in range(11))
QUICK_SHARES = (0.0, 1.0)
NETWORKS = {
    "ringlets": networks.OMEGA,
    "first-grade": networks.FIRST_GRADE,
    "second-grade": networks.SECOND_GRADE,
}
BUSES = (1, 2, 3, 4)
QUICK_BUSES = (1, 4)
LIGHT, FULL = 25, 500
"""Gross input per sender: far below every knee, and the full rate of a link."""


def _by_share(effort: Effort, topology: dict[str, Any], gross: float) -> list[Scenario]:
    shares = effort.choose(SHARES, QUICK_SHARES)
    # Random destinations already make packets meet by chance; sources in step would add a pattern.
    return [
        networks.sweep_point(effort, topology, gross, share=share, arrivals="constant") for share in shares
    ]


def _by_buses(effort: Effort, topology: dict[str, Any], share: float) -> list[Scenario]:
    topologies = [topology | {"buses": buses} for buses in effort.choose(BUSES, QUICK_BUSES)]
    return [networks.sweep_point(effort, one, FULL, share=share, arrivals="constant") for one in topologies]


def _buses(effort: Effort) -> dict[str, list[Scenario]]:
    return {
        f"{label}, {round(100 * share)} % local": _by_buses(effort, topology, share)
        for label, topology in NETWORKS.items()
        for share in ((1.0, 0.0) if label == "ringlets" else (0.0,))
    }


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of all networks and localities, and with one to four buses at full load."""
    runs = [
        run
        for topology in NETWORKS.values()
        for gross in (LIGHT, FULL)
        for run in _by_share(effort, topology, gross)
    ]
    return runs + [run for curve in _buses(effort).values() for run in curve]


def findings(lab: Lab) -> Findings:
    """Plot throughput and mean latency against locality, and throughput against the number of buses."""
    found = Findings()
    percent = [100 * share for share in lab.effort.choose(SHARES, QUICK_SHARES)]
    for label, topology in NETWORKS.items():
        full = lab.measure(_by_share(lab.effort, topology, FULL))
        light = lab.measure(_by_share(lab.effort, topology, LIGHT))
        found.series += [
            series(
                "A",
                "16x16 Omega networks, 8 GB/s gross",
                label,
                x=percent,
                y=[one.accepted_mbytes_per_s for one in full],
                x_quantity="locality (%)",
                y_quantity="output (MB/s)",
                log="y",
            ),
            series(
                "A",
                "16x16 Omega networks, 400 MB/s gross",
                label,
                x=percent,
                y=[one.made_ns / 1000 for one in light],
                x_quantity="locality (%)",
                y_quantity="mean latency from making to storing (us)",
            ),
        ]
    for label, runs in _buses(lab.effort).items():
        found.series.append(
            series(
                "B",
                "16x16 Omega networks with several buses in every switch, 8 GB/s gross",
                label,
                x=lab.effort.choose(BUSES, QUICK_BUSES),
                y=[one.accepted_mbytes_per_s for one in lab.measure(runs)],
                x_quantity="buses per switch",
                y_quantity="output (MB/s)",
                log="y",
            )
        )
    return found
