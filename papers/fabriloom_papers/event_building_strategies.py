"""Event building on 50 and 500 nodes by strategies, and by hosts: the table of the page
``docs/guides/which-event-building-strategy.md``.

``python -m fabriloom_papers.event_building_strategies TABLE.csv PICTURE.svg`` runs all of it again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriloom import simulate
from fabriloom.report.page import Axis, Chart, Series
from fabriloom.scenario import Scenario

COLUMNS = ("nodes", "strategy", "host", "kHz", "mean_us", "p99_us", "waiting")
RATE_KHZ = 700
FRAGMENT_KB = 16
SLOT_NS = 1429
"""An event in each slot: the same rate."""
HOST = "verbs-infiniband"
_DRIFT = {"start": "10 us", "drift_ppm": 50}
_PUSHED: dict[str, Any] = {"kind": "level-3", "rate": f"{RATE_KHZ} kHz"}
_SHIFTED: dict[str, Any] = {"kind": "barrel-shifter", "slot": f"{SLOT_NS} ns"}
STRATEGIES: dict[str, dict[str, Any]] = {
    "push": _PUSHED,
    "push, random order": {**_PUSHED, "order": "random"},
    "push, rotating order": {**_PUSHED, "order": "rotating"},
    "barrel shift": _SHIFTED,
    "barrel shift, clocks apart": {**_SHIFTED, "clocks": _DRIFT},
    "pull, 8 at a time": {"kind": "pull-level-3", "rate": f"{RATE_KHZ} kHz", "requests_at_once": 8},
    "supervisor, 2 credits": {"kind": "credit", "rate": f"{RATE_KHZ} kHz"},
}
"""By name, the program of each, as it differs from the others."""
SIZES = {50: 10, 500: 20}
"""By nodes, those of a switch; a fat tree of two levels has as many switches above."""
EVENTS = {50: 10, 500: 2}
"""By nodes, the events that each builder builds."""
AT_SIZE = tuple(name for name in STRATEGIES if "supervisor" not in name)
"""The strategies that run on 500 nodes: a supervisor builds a tenth of what it does on 50."""


@dataclass(frozen=True)
class Case:
    """A strategy on a number of nodes with a kind of host."""

    nodes: int
    strategy: str
    host: str = HOST


CASES = (
    *(Case(50, strategy) for strategy in STRATEGIES),
    *(Case(500, strategy) for strategy in AT_SIZE),
    Case(50, "push", "tcp"),
    Case(50, "barrel shift", "tcp"),
)


def scenario(case: Case) -> Scenario:
    """Return a run: each node is a terminal that sends and one that receives; one is the supervisor."""
    each = SIZES[case.nodes]
    program = {
        **STRATEGIES[case.strategy],
        "events": EVENTS[case.nodes] * case.nodes,
        "fragment": f"{FRAGMENT_KB} kB",
        "sources": case.nodes,
        "targets": case.nodes,
    }
    return Scenario.from_dict(
        {
            "name": f"{case.nodes} nodes, {case.strategy}",
            "seed": 1,
            "topology": {
                "kind": "clos",
                "terminals": 2 * case.nodes + each,
                "terminals_per_switch": each,
                "centre_switches": each,
                "switch_ports": 4 * each,
            },
            "technology": {
                "preset": "infiniband-4x-edr",
                "mtu": "4096 B",
                "input_buffer_flits": 264,
                "output_buffer_flits": 66,
                "overhead": "26 B",
            },
            "routing": {"kind": "auto", "adaptive": False},
            "protocol": {"preset": case.host},
            "program": program,
            "run": {"duration": "1 s"},
            "output": {"links": False, "flows": False},
        }
    )


def line(case: Case) -> list[str]:
    """Return a line of the table."""
    results = simulate.run(scenario(case))
    summary = results.summary
    found, latency = summary["events"], summary["events"]["latency_ns"]
    assert found["complete"] == EVENTS[case.nodes] * case.nodes
    # The last of all events, from the first moment: what the whole task takes.
    rate = found["complete"] / summary["simulated_ns"] * 1e6
    waiting = summary["hosts"]["blocked_share_mean"]
    numbers = [f"{rate:.0f}", *(f"{latency[key] / 1e3:.0f}" for key in ("mean", "p99")), f"{waiting:.0%}"]
    return [str(case.nodes), case.strategy, case.host, *numbers]


def lines(cases: Sequence[Case] = CASES) -> Iterator[list[str]]:
    """Yield the lines of the table, the names of its columns first."""
    yield list(COLUMNS)
    for case in cases:
        yield line(case)


def picture(rows: Sequence[Sequence[str]]) -> Chart:
    """Return a chart of the mean and of the longest latency of events against nodes, a line a strategy."""
    series = []
    for strategy in STRATEGIES:
        points = [
            [float(row[0]), float(row[4]), None, None, ""]
            for row in rows
            if row[1] == strategy and row[2] == HOST
        ]
        series.append(Series(strategy, points, "line"))
    axes = Axis("nodes", log=True), Axis("event latency, mean (µs)", log=True, top=30_000)
    note = f"Messages of {FRAGMENT_KB} kB at {RATE_KHZ} kHz, 90 % of a builder's link."
    return Chart("Event building by strategy", *axes, series, note)


if __name__ == "__main__":
    from fabriloom.report import plot

    from .page import as_csv

    table, drawing = (Path(name) for name in sys.argv[1:])
    found = list(lines())
    table.write_text(as_csv(found), encoding="utf-8")
    drawing.write_bytes(plot.drawn(picture(found[1:]), "svg"))
