"""What lanes change in whole runs: who deadlocks, and what a buffer per output is good for."""

from __future__ import annotations

from typing import Any

import fabriloom
from fabriloom.compile import compile
from fabriloom.scenario import Scenario


def torus(lane_choice: str, **technology: Any) -> dict[str, Any]:
    """The summary of a torus of shortest ways with all that it can take."""
    written = {
        "topology": {"kind": "torus", "shape": [4, 4]},
        "technology": {"preset": "generic", "lanes": 2, **technology},
        "routing": {"kind": "dimension-order", "variant": "minimal", "lane_choice": lane_choice},
        "traffic": {"length": "128 B", "arrivals": "backlog"},
        "run": {"duration": "10 us", "warmup": "2 us", "precision": 0},
    }
    return fabriloom.run(Scenario.from_dict(written)).summary


def test_a_ring_deadlocks_without_a_dateline() -> None:
    """Everybody sends three steps on, packets longer than the buffers of a link."""
    written: dict[str, Any] = {
        "topology": {"kind": "ring", "switches": 8},
        "technology": {"preset": "generic", "lanes": 2},
        "routing": {"kind": "dimension-order", "variant": "minimal", "lane_choice": "any"},
        "traffic": {"length": "512 B", "arrivals": "backlog", "pattern": {"kind": "shift", "by": 3}},
        "run": {"duration": "30 us", "warmup": "2 us", "precision": 0},
    }
    stuck = fabriloom.run(Scenario.from_dict(written)).summary
    assert stuck["end"]["reason"] == "deadlocked"
    assert len(stuck["end"]["cycle"]) >= 8
    written["routing"]["lane_choice"] = "dateline"
    going = fabriloom.run(Scenario.from_dict(written)).summary
    assert going["end"]["reason"] in ("time_limit", "saturated")
    assert going["packets"]["delivered"] > 100


def test_links_count_all_their_lanes() -> None:
    summary = torus("dateline")
    packets = summary["packets"]
    assert packets["offered"] == packets["delivered"] + packets["refused"] + packets["in_flight"]
    assert summary["end"]["reason"] in ("time_limit", "saturated")


def test_escape_lanes_keep_the_others_going() -> None:
    summary = torus("escape", lanes=4, switching="virtual-cut-through", input_buffer_flits=16)
    assert summary["end"]["reason"] in ("time_limit", "saturated")
    assert summary["packets"]["delivered"] > 100


def test_escape_lanes_are_no_proof() -> None:
    """A packet is granted a free lane before there is credit for it, and then waits for that lane alone."""
    written: dict[str, Any] = {
        "seed": 1,
        "topology": {"kind": "grid", "shape": [6, 6]},
        "technology": {
            "preset": "generic",
            "lanes": 2,
            "switching": "virtual-cut-through",
            "input_buffer_flits": 16,
        },
        "routing": {"kind": "dimension-order", "lane_choice": "escape"},
        "traffic": {"length": "64 B", "arrivals": "backlog"},
        "run": {"duration": "40 us", "warmup": "1 us", "precision": 0},
    }
    scenario = Scenario.from_dict(written)
    assert compile(scenario).routes.cycle is not None
    assert fabriloom.run(scenario).summary["end"]["reason"] == "deadlocked"


def test_queues_per_output_pass_a_busy_one() -> None:
    """One queue per input of a crossbar carries about 0.6 of what it could, a queue per output nearly all."""

    def accepted(**technology: Any) -> float:
        written = {
            "topology": {"kind": "crossbar", "terminals": 16},
            "technology": {
                "preset": "generic",
                "switching": "virtual-cut-through",
                "input_buffer_flits": 256,
                "crossbar": "fast",
                "arbiter": "random",
                "router_cycles": 0,
                **technology,
            },
            "traffic": {"length": "128 B", "arrivals": "backlog", "pattern": {"kind": "uniform"}},
            "run": {"duration": "20 us", "warmup": "5 us", "precision": 0},
        }
        return float(fabriloom.run(Scenario.from_dict(written)).summary["accepted_mbytes_per_s"]) / (
            16 * 8000
        )

    in_one, per_output = accepted(input_queues="fifo"), accepted(input_queues="per-output")
    assert in_one < 0.66 < 0.75 < per_output, (in_one, per_output)
