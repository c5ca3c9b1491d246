"""What these tests share: a small network that runs in some milliseconds."""

from __future__ import annotations

from typing import Any

from fabriloom import Results, Scenario, run


def scenario(**sections: Any) -> Scenario:
    """Two by two switches with three terminals each; sections take the place of its own."""
    base: dict[str, Any] = {
        "name": "Small grid",
        "seed": 7,
        "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 3},
        "traffic": {"pattern": "uniform", "length": "64 B", "load": 0.2},
        "run": {"duration": "2 ms", "warmup": "200 us", "precision": 0.0},
        "output": {"flows": True, "trace": True},
    }
    return Scenario.from_dict({**base, **sections})


def results(**sections: Any) -> Results:
    """Its results."""
    return run(scenario(**sections))


def deadlock() -> Results:
    """A ring of one-way dependencies that stops."""
    return results(
        topology={"kind": "torus", "shape": [5, 5], "terminals_per_switch": 2},
        routing={"kind": "dimension-order", "variant": "minimal"},
        traffic={"pattern": "uniform", "length": "256 B", "arrivals": "backlog"},
        run={"duration": "20 ms", "warmup": "0 us", "precision": 0.0},
    )
