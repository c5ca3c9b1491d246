"""The same scenario gives the same results: again, in its resolved form, with other jobs, over long times.

How runs end, beside the twin: deadlocked ones agree up to their end, one that stands still does not.

Scenarios in which the engine once delivered less than its twin, or later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import _native, simulate
from fabriloom.cli import exits
from fabriloom.cli.app import app
from fabriloom.routing import RoutingError
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.technology import TechnologyError
from fabriloom.topology import GraphError
from typer.testing import CliRunner

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
    # Faults would come after the end of a run as short as these.
    for loaded in [one for one in ready if one.needs_load and not one.fault][:10]:
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


ROOT = Path(__file__).resolve().parent.parent.parent
DEADLOCK = ROOT / "scenarios" / "deadlock.toml"
SMALL = {
    "topology": {"kind": "grid", "shape": [2, 2]},
    "traffic": {"pattern": "uniform", "load": 0.1},
    "run": {"duration": "100 us", "warmup": "0 ns", "precision": 0},
}


def test_deadlocked_runs_are_compared_up_to_their_end() -> None:
    scenario = fabriloom.load(DEADLOCK)
    compared = simulate.compare(scenario)
    assert compared.end_reason == "deadlocked"
    assert compared.until_ps < scenario.run.duration_ps
    assert compared.identical
    assert compared.packets > 0


class Frozen:
    """The engine, saying that a link does not send."""

    def __init__(self, arrays: dict[str, Any], **options: Any) -> None:
        self._real = _REAL(arrays, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def result(self) -> dict[str, Any]:
        fault = {"end_reason": "stalled", "standstill": (0, 1, 2, "Unsent")}
        return self._real.result() | fault


_REAL = _native.Simulation


def test_a_run_that_stands_still_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_native, "Simulation", Frozen)
    scenario = fabriloom.Scenario.from_dict(SMALL)
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL), encoding="utf-8")
    shown = CliRunner().invoke(app, ["run", str(path)])
    assert shown.exit_code == exits.FAULT
    link = simulate.compile(scenario).graph.link_names[0]
    message = f"the link {link} has characters to send and credit for them, and does not send (a packet from"
    assert f"fault: The engine stalled after 100 µs of simulated time: {message}" in shown.stderr
    assert "This is a fault of Fabriloom, not of the network: do not use these numbers" in shown.stderr
    assert "stalled" in shown.stdout
    assert not simulate.compare(scenario).identical


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
    "credit of many packets on a long cable": {
        "topology": {"kind": "grid", "shape": [3], "terminals_per_switch": 2},
        "technology": {
            "preset": "generic",
            "switching": "virtual-cut-through",
            "input_queues": "per-output",
            "lanes": 2,
            "cable_length": "1 km",
            "input_buffer_flits": 2000,
        },
        "traffic": {"length": "64 B", "arrivals": "backlog"},
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
    f"{name}, with a watchdog": {**found, "technology": {**found["technology"], "watchdog_cycles": 100_000}}
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
