"""Scenarios in which the engine once delivered less than its twin: links were blocked for ever."""

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
