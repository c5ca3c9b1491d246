"""Sensitivity of the results of the retry study: one assumption changed at a time."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Measured, Scenario, one_at_a_time
from . import networks
from .delays import bus_mbytes_per_s, retry_mbytes_per_s

CASES: dict[str, dict[str, Any]] = {
    "as reproduced": {},
    "no phases": {"technology": {"phases": False}},
    "no bandwidth allocation": {"technology": {"bandwidth_allocation": False}},
    "neither": {"technology": {"phases": False, "bandwidth_allocation": False}},
    "neither, store and forward": {
        "technology": {"phases": False, "bandwidth_allocation": False, "forwarding": "store-and-forward"}
    },
    "places for 1 packet each way": {"technology": {"requests_in": 1, "requests_out": 1}},
    "places for 2 packets each way": {"technology": {"requests_in": 2, "requests_out": 2}},
    "places for 8 packets each way": {"technology": {"requests_in": 8, "requests_out": 8}},
    "places for 8 packets to send": {"technology": {"requests_out": 8}},
    "places for 16 packets to send": {"technology": {"requests_out": 16}},
    "places for 32 packets to send": {"technology": {"requests_out": 32}},
    "places for 64 packets to send": {"technology": {"requests_out": 64}},
    "one packet in flight": {"technology": {"in_flight": 1}},
    "two packets in flight": {"technology": {"in_flight": 2}},
    "one rejected packet holds new ones back": {"technology": {"rejected": 1}},
    "a place is free when its packet has left": {"technology": {"hold_until": "sent"}},
    "busied packets before new ones": {"technology": {"retry": {"order": "first"}}},
    "all new packets before busied ones": {"technology": {"retry": {"order": "new-first"}}},
    "delay at the responder": {"technology": {"retry": {"at": "responder"}}},
    "cables of 10 m": {"technology": {"cable_length": "10 m"}},
    "with responses": {"transaction": "nwrite"},
    "one ring alone, places for 24 packets to send": {"alone": True},
    **{
        f"the same with places for {places}": {"alone": True, "technology": {"requests_out": places}}
        for places in (4, 8, 16, 32, 48)
    },
    "one ring alone, one packet in flight": {"alone": True, "technology": {"in_flight": 1}},
    "one ring alone, no bandwidth allocation": {"alone": True, "technology": {"bandwidth_allocation": False}},
    "one ring alone, no phases": {"alone": True, "technology": {"phases": False}},
    "one ring alone, busied packets before new ones": {
        "alone": True,
        "technology": {"retry": {"order": "first"}},
    },
    "one ring alone, all new packets before busied ones": {
        "alone": True,
        "technology": {"retry": {"order": "new-first"}},
    },
}
"""Description of each change, and its settings."""

DELAYS_NS = (1, 400, 3200, 12800, 51200)
HEADER = (
    "changed",
    *(
        f"{ratio}:1, {what} (MB/s)"
        for ratio in networks.RATIOS
        for what in ("bus, no delay", "bus, best delay", "retries, no delay", "retries, that delay")
    ),
)


def table(jobs: int = 2) -> list[list[str]]:
    """Return one line per case, for the exponential strategy."""
    return one_at_a_time(CASES, _runs, _columns, jobs)


def _runs(changed: dict[str, Any]) -> list[Scenario]:
    return [
        networks.scenario(Effort(quick=False), ratio, "exponential", delay, **changed)
        for ratio in networks.RATIOS
        for delay in DELAYS_NS
    ]


def _columns(measured: list[Measured]) -> list[str]:
    found = []
    for at, ratio in enumerate(networks.RATIOS):
        points = measured[at * len(DELAYS_NS) :][: len(DELAYS_NS)]
        ends = (points[0], max(points, key=bus_mbytes_per_s))
        rates = [bus_mbytes_per_s(one) for one in ends] + [retry_mbytes_per_s(one, ratio) for one in ends]
        found += [f"{rate:.0f}" for rate in rates]
    return found
