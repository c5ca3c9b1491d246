"""Rings on which packets are sent again and again and nothing gets on, and those that only look so."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Results, Scenario, run

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
