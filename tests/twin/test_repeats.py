"""The same scenario gives the same results: again, in its resolved form, with other jobs, over long times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import simulate
from fabriloom.routing import RoutingError
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.technology import TechnologyError
from fabriloom.topology import GraphError

from . import drawing

Seeds = Callable[[int], Iterator[int]]
REFUSALS = (ScenarioError, RoutingError, TechnologyError, GraphError)


def counted(scenario: Scenario) -> dict[str, Any]:
    """All that the engine counts, and the end; no clock."""
    return {key: np.asarray(value).tolist() for key, value in simulate.run(scenario).native.items()}


@pytest.mark.seeds
@pytest.mark.parametrize("draw", [drawing.links, drawing.rings], ids=["links", "rings"])
def test_a_scenario_repeats(draw: Callable[[int], drawing.Table], seeds: Seeds) -> None:
    """Also from its resolved form, in which every default is written out."""
    compared = 0
    for seed in seeds(10):
        run = {"duration": "20 us", "warmup": "0 ns", "precision": 0}
        try:
            scenario = Scenario.from_dict({**draw(seed), "run": run})
            first = counted(scenario)
        except REFUSALS:
            continue
        assert counted(scenario) == first, f"seed {seed}"
        assert counted(Scenario.from_dict(scenario.resolve())) == first, f"seed {seed}, resolved"
        compared += 1
    assert compared > 0


@pytest.mark.soak
def test_a_study_is_the_same_with_any_number_of_jobs() -> None:
    """Ten ready scenarios, their curves with one, two and three jobs."""
    folder = Path(__file__).resolve().parents[2] / "scenarios"
    ready = [fabriloom.load(file) for file in sorted(folder.glob("*.toml"))]
    for loaded in [one for one in ready if one.needs_load][:10]:
        short = {"run.duration": "50 us", "run.warmup": "0 ns", "run.precision": 0}
        scenario = loaded.alone().with_settings(short)
        tables = [fabriloom.curve(scenario, jobs=jobs).table for jobs in (1, 2, 3)]
        steady = [table.drop([name for name in table.columns if "wall" in name]) for table in tables]
        assert all(steady[0].equals(other) for other in steady[1:]), loaded.name


def test_simulated_time_does_not_overflow() -> None:
    """53 days in fractions of a nanosecond; the last packet takes as long as the first."""
    flow = {"source": 0, "target": 1, "length": "64 B", "period": "3600 s"}
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 3},
            "technology": {"preset": "spacewire-200"},
            "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
            "run": {"duration": f"{53 * 24 * 3600} s", "warmup": "0 ns", "precision": 0},
        }
    )
    summary = simulate.run(scenario).summary
    assert summary["packets"]["delivered"] == 53 * 24
    assert summary["latency_ns"]["min"] == summary["latency_ns"]["max"]
