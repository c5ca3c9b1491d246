"""When a run is called saturated, and when it is only short."""

from __future__ import annotations

import pytest
from fabriloom.scenario import Scenario
from fabriloom.simulate import run


def end(load: float, duration: str, seed: int) -> str:
    """Why a grid of eight terminals ended."""
    scenario = {
        "name": "grid",
        "seed": seed,
        "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2},
        "technology": {"preset": "ds-link-c104"},
        "traffic": {"pattern": "uniform", "length": "64 B", "load": load, "arrivals": "poisson"},
        "run": {"duration": duration, "precision": 0.0},
    }
    return run(Scenario.from_dict(scenario)).summary["end"]["reason"]


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_run_of_a_few_packets_is_not_called_saturated(seed: int) -> None:
    """Six packets per source: one more that waits is chance."""
    assert end(0.2, "200 us", seed) == "time_limit"


@pytest.mark.parametrize("seed", range(1, 4))
def test_too_much_is_found(seed: int) -> None:
    """Sources that make more than the grid carries, some 0.6 of its links, fall behind without end."""
    assert end(0.75, "4 ms", seed) == "saturated"
