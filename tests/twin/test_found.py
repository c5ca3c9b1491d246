"""Scenarios in which the engine once delivered less than its twin, or later."""

from __future__ import annotations

from typing import Any

import fabriloom
import pytest
from fabriloom import simulate

SHORT_GENERIC = {
    "preset": "generic",
    "credit_quantum_flits": 2,
    "input_buffer_flits": 6,
    "output_buffer_flits": 4,
    "router_cycles": 4,
    "turn_around_cycles": 3,
    "crossbar": "fast",
}
FOUND: dict[str, dict[str, Any]] = {
    "small buffers in a Clos": {
        "topology": {"kind": "clos", "terminals": 64},
        "technology": SHORT_GENERIC,
        "traffic": {"length": {"kind": "uniform", "min": "75 B", "max": "145 B"}, "load": 0.8},
        "run": {"duration": "10 us"},
    },
    "a grid of C104": {
        "topology": {"kind": "grid", "shape": [4, 4], "terminals_per_switch": 3},
        "technology": {"preset": "ds-link-c104-70"},
        "traffic": {"length": "64 B", "arrivals": "poisson", "load": 0.3},
        "run": {"duration": "300 us"},
    },
    "a torus of C104": {
        "seed": 616106,
        "topology": {"kind": "torus", "shape": [3, 5], "terminals_per_switch": 4, "links_per_edge": 2},
        "technology": {"preset": "ds-link-c104"},
        "traffic": {"length": "187 B", "arrivals": "poisson", "load": 0.306},
        "run": {"duration": "100 us"},
    },
    "credit that returns earlier than credit that is known": {
        "topology": {"kind": "tree", "arity": 2, "depth": 2, "terminals_per_switch": 2},
        "technology": {"preset": "infiniband-4x-edr", "lanes": 1},
        "traffic": {"length": "2048 B", "arrivals": "backlog"},
        "run": {"duration": "60 us"},
    },
    "a lane that is released after the next head has asked for it": {
        "topology": {"kind": "grid", "shape": [4, 4], "links_per_edge": 2},
        "technology": {
            "preset": "generic",
            "switching": "virtual-cut-through",
            "input_queues": "per-output",
            "input_buffer_flits": 27,
            "router_cycles": 0,
            "link_cycles": 7,
            "turn_around_cycles": 4,
            "handover_cycles": 2,
            "output_buffer_flits": 2,
            "crossbar": "fast",
        },
        "traffic": {"length": "64 B", "arrivals": "backlog"},
        "run": {"duration": "10 us"},
    },
}
# Packets are computed as one, or with a watchdog character by character.
FOUND |= {
    f"{name}, with a watchdog": {
        **found,
        "technology": {**found["technology"], "watchdog_cycles": 100_000},
    }
    for name, found in FOUND.items()
    if "router_cycles" in found["technology"] or "lanes" in found["technology"]
}


@pytest.mark.parametrize("name", FOUND)
def test_engine_and_twin_deliver_the_same(name: str) -> None:
    found = FOUND[name]
    run = {"warmup": "0 ns", "precision": 0, **found["run"]}
    traffic = {"pattern": "uniform", "arrivals": "random-wait", **found["traffic"]}
    scenario = fabriloom.Scenario.from_dict({"seed": 1, **found, "traffic": traffic, "run": run})
    compared = simulate.compare(scenario)
    assert compared.packets == compared.twin_packets > 60
    assert compared.identical
    assert compared.end_reason in ("time_limit", "saturated")
