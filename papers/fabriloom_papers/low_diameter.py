"""A dragonfly and a Slim Fly at full load: what their channels allow, beside what a run accepts.

The page is ``docs/background/low-diameter.md``. ``python -m fabriloom_papers.low_diameter TABLE.csv``
computes its table in an hour.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fabriloom import routing, simulate, topology
from fabriloom.scenario import Scenario

COLUMNS = ("network", "traffic", "routing", "lanes", "formula", "by_channel_load", "load", "accepted")

LARGE = {"kind": "dragonfly", "switches_per_group": 8, "global_links": 4, "terminals_per_switch": 4}
"""a = 2 p = 2 h, 33 groups and 1056 terminals: the example of the topology's paper."""
SMALL = {"kind": "dragonfly", "switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}
"""The same proportions with 9 groups and 72 terminals."""
LINK_MBYTES_PER_S = 8000
"""A flit of 8 B each nanosecond, the cycle of the preset."""
SLIM_FLY = {"kind": "slim_fly", "order": 5}


@dataclass(frozen=True)
class Case:
    """A network with a routing and traffic."""

    network: dict[str, Any]
    to_next: bool
    """Whether packets go from each group to the next one, instead of anywhere."""
    routing: str
    lanes: int
    """As few as the routing needs."""
    formula: float | None
    """By formula, the share of a link that each terminal may send."""
    load: float = 1.0
    """What terminals send in a run, as a share of their links."""

    @property
    def measured_us(self) -> float:
        """Return the measured part of the run, as long as the warm-up."""
        return 2.5 if self.network is LARGE else 10.0


def _dragonflies() -> Iterator[Case]:
    """Minimal paths carry uniform traffic at 1, and 1 / (a h) to the next group; over a random switch both
    are carried at 1 / 2 (J. Kim, W. J. Dally, S. Scott and D. Abts, ISCA 2008). The better of both for each
    is what UGAL aims at.
    """
    for network in (LARGE, SMALL):
        cables = int(network["switches_per_group"]) * int(network["global_links"])
        for engine, lanes in (("hops", 2), ("valiant", 4)):
            for to_next in (False, True):
                formula = 0.5 if engine == "valiant" else 1 / cables if to_next else 1.0
                yield Case(network, to_next, engine, lanes, formula)
    yield Case(LARGE, True, "ugal", 4, 0.5, load=0.53)
    yield Case(SMALL, False, "ugal", 4, 1.0)
    yield Case(SMALL, True, "ugal", 4, 0.5, load=0.5)
    yield Case(SMALL, True, "ugal", 4, 0.5)


CASES = (
    *_dragonflies(),
    Case(SLIM_FLY, False, "minimal-layers", 2, None),
    Case(SLIM_FLY, False, "up-star-down-star", 1, None),
    Case(SLIM_FLY, False, "valiant", 4, None, load=0.5),
    Case(SLIM_FLY, False, "ugal", 4, None, load=0.8),
)


def graph_of(case: Case) -> topology.Graph:
    """Return the network of a case."""
    return topology.build(**case.network)


def shift(case: Case) -> int:
    """Return the distance in terminals from a group to the next one; 0: uniform traffic."""
    size = int(case.network.get("switches_per_group", 0)) * int(case.network.get("terminals_per_switch", 0))
    return size if case.to_next else 0


def by_channel_load(case: Case) -> float:
    """Return the share of a link that each terminal may send until the busiest channel is full."""
    graph = graph_of(case)
    table = routing.build(graph, case.routing, lanes=case.lanes)
    number = np.arange(graph.terminals)
    weights = (number, (number + shift(case)) % graph.terminals, np.ones(graph.terminals))
    return float(1 / routing.channel_loads(graph, table, weights if case.to_next else None).max())


def scenario(case: Case, measured_us: float) -> Scenario:
    """Return a run in which every terminal sends as fast as its link, or at the load of the case.

    Each lane of a layer has a second one beside it, and switches have a queue per output, a fast crossbar and
    output buffers, so that little but the channels limits the network.
    """
    sections: dict[str, Any] = {
        "name": f"{case.network['kind']}, {case.routing}",
        "seed": 1,
        "topology": case.network,
        "technology": {
            "preset": "generic",
            "lanes": 2 * case.lanes,
            "switching": "virtual-cut-through",
            "lane_sharing": "packet",
            "input_queues": "per-output",
            "crossbar": "fast",
            "next_head_cycles": 0,
            "input_buffer_flits": 128,
            "output_buffer_flits": 64,
        },
        "routing": {"kind": case.routing},
        "traffic": {"length": "64 B", "load": case.load, "arrivals": "bernoulli"},
        "run": {"duration": f"{2 * measured_us} us", "warmup": f"{measured_us} us", "precision": 0.0},
        "output": {"links": False, "flows": False},
    }
    if case.to_next:
        sections["traffic"]["pattern"] = {"kind": "shift", "by": shift(case)}
    return Scenario.from_dict(sections)


def accepted(case: Case, measured_us: float = 10.0) -> float:
    """Return the share of a link that each terminal's packets take when all send at the load of the case.

    Payload only: the header of a random switch, a flit more on the way to it, does not count.
    """
    summary = simulate.run(scenario(case, measured_us)).summary
    return float(summary["accepted_mbytes_per_s"]) / (graph_of(case).terminals * LINK_MBYTES_PER_S)


def lines() -> Iterator[list[str]]:
    """Yield the lines of the table."""
    yield list(COLUMNS)
    for case in CASES:
        yield [
            f"{case.network['kind']} of {graph_of(case).terminals}",
            "to the next group" if case.to_next else "uniform",
            case.routing,
            str(case.lanes),
            "" if case.formula is None else f"{case.formula:.4g}",
            f"{by_channel_load(case):.4f}",
            f"{case.load:.4g}",
            f"{accepted(case, case.measured_us):.3f}",
        ]


if __name__ == "__main__":
    from .page import as_csv

    Path(sys.argv[1]).write_text(as_csv(lines()), encoding="utf-8")
