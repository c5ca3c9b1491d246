"""Rings on which packets are sent again and again and nothing gets on, and those that only look so.

What lanes change in whole runs: who deadlocks, and what a buffer per output is good for.
"""

from __future__ import annotations

from typing import Any

import fabriloom
import pytest
from fabriloom import Results, Scenario, run
from fabriloom.compile import compile

NO_ALLOCATION = {"bandwidth_allocation": False}
REQUESTS_FIRST = {**NO_ALLOCATION, "response_priority": False}
"""What the target itself sends may hold its responses back."""


def overloaded(
    terminals: int, technology: dict[str, Any], duration: str = "5 ms", **settings: Any
) -> Results:
    """All stations of a ring store into the memory of one of them, as fast as they can."""
    settings = {"duration": duration, "warmup": "0 ns", "precision": 0.0}
    return run(
        Scenario.from_dict(
            {
                "topology": {"kind": "sci-ring", "terminals": terminals},
                "technology": {"preset": "sci-lc2", **technology},
                "traffic": {
                    "pattern": {"kind": "hot-spot", "target": 0, "share": 1.0},
                    "transaction": "nwrite",
                    "length": "64 B",
                    "load": 1.0,
                    "source_queue": "none",
                },
                "run": settings,
            }
        )
    )


def test_a_ring_full_of_retries_is_livelocked() -> None:
    """The station that rejects all cannot send its responses, which would make room."""
    found = overloaded(16, REQUESTS_FIRST)
    end, native = found.summary["end"], found.native
    assert end["reason"] == "livelocked"
    assert found.summary["simulated_ns"] < 5e6, "it ends when it is clear"
    assert "no station accepted a packet" in end["message"]
    assert "sent again, most at the end of t15>t0" in end["message"]
    assert native["livelock_busied"] > 10_000
    last_ns = native["livelock_ticks"] * found.tick_ps / 1000
    alone = overloaded(16, REQUESTS_FIRST, duration=f"{found.summary['simulated_ns'] - last_ns:.0f} ns")
    assert alone.end_reason == "saturated"
    assert alone.summary["packets"]["delivered"] == found.summary["packets"]["delivered"]


def test_a_livelock_at_the_end_of_the_time_is_told() -> None:
    whole = overloaded(16, REQUESTS_FIRST).summary["simulated_ns"]
    brief = overloaded(16, REQUESTS_FIRST, duration=f"{1.01 * whole:.0f} ns")
    assert brief.end_reason == "livelocked"


@pytest.mark.parametrize(
    ("what", "technology"),
    {
        "bandwidth allocation": {},
        "responses first": NO_ALLOCATION,
        "a delay that doubles": {**NO_ALLOCATION, "retry": {"strategy": "exponential", "delay": "1 ns"}},
        "long delays": {"retry": {"strategy": "constant", "delay": "1 ms"}},
        "long delays at the responder": {
            "retry": {"strategy": "linear", "delay": "300 us", "at": "responder"}
        },
        "a slow memory": {**NO_ALLOCATION, "memory": {"access": "4 ms"}},
        "a slow host": {**NO_ALLOCATION, "host_latency": "4 ms"},
    }.items(),
)
def test_what_only_waits_is_not_livelocked(what: str, technology: dict[str, Any]) -> None:
    found = overloaded(8, technology, duration="12 ms")
    assert found.end_reason == "saturated", what


def test_the_same_run_ends_at_the_same_tick() -> None:
    ends = [overloaded(16, REQUESTS_FIRST).native["end_time_ticks"] for _ in range(2)]
    assert ends[0] == ends[1]


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
