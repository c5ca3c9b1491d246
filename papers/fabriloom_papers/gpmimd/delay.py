"""Section 4.2, figure 10: level III with slower sources, attempted rates, and more sources."""

from __future__ import annotations

from typing import Any

from fabriloom.technology import protocol

from ..lab import Effort, Findings, Lab, Scenario
from ..rows import series
from . import level2, level3, networks

EXTRA_US = (0, 10, 20, 50, 100, 200, 500)
QUICK_EXTRA_US = (0, 100)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
QUICK_SHARES = (0.2, 0.6)
COUNTS = (3, 6, 12, 18, 21)


def _slower(effort: Effort, size: int) -> dict[int, Scenario]:
    """Return runs in which a message takes its sender more time."""
    send_us = protocol(networks.PROTOCOL)["send_time_ps"] / 1e6
    extra = effort.choose(EXTRA_US, QUICK_EXTRA_US)
    return {us: level3.run(effort, size, protocol={"send_time": f"{send_us + us:.6g} us"}) for us in extra}


def _attempted(effort: Effort, size: int) -> dict[float, Scenario]:
    most_khz = 1000 * networks.theory_mbytes_per_s(networks.MOST_LINKS) / size
    rates = [share * most_khz for share in effort.choose(SHARES, QUICK_SHARES)]
    return {khz: level3.run(effort, size, khz=khz) for khz in rates}


def _larger(effort: Effort, size: int) -> dict[int, Scenario]:
    """Return runs with equal numbers of sources and destinations, and a fixed length from each source."""
    counts = effort.choose(COUNTS, COUNTS[1::2])
    return {some: level3.run(effort, size * some // 21, some, counts=(some, some)) for some in counts}


_FIGURES = {
    "10a": (_slower, "slower sources", "time added to the latency of a message (us)"),
    "10b": (_attempted, "attempted and achieved event rate", level2.ATTEMPTED),
    "10b, text": (_larger, "connected sources", "sources, and destinations"),
}


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of three figures for every block size."""
    return [
        one
        for runs, _, _ in _FIGURES.values()
        for size in level3.sizes(effort)
        for one in runs(effort, size).values()
    ]


def findings(lab: Lab) -> Findings:
    """Return the curves; the paper prints no numbers for them."""
    found = Findings()
    for figure, (runs_of, what, x_quantity) in _FIGURES.items():
        for size in level3.sizes(lab.effort):
            runs: dict[Any, Scenario] = runs_of(lab.effort, size)
            curve = series(
                figure,
                f"Level III, all sources in every event: {what}",
                f"{size // 1000} KB",
                x=list(runs),
                y=[one.events_per_s / 1000 for one in lab.measure(runs.values())],
                x_quantity=x_quantity,
                y_quantity="achieved event rate (kHz)",
            )
            found.series.append(curve)
    return found
