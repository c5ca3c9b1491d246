"""Two priorities at the outputs of routers."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Results, Scenario, run
from fabriloom.bounds import bound
from fabriloom.compile import LinkRoutes, compile
from fabriloom.routing import routers
from fabriloom.scenario import ScenarioError
from fabriloom.simulate import compare


def scenario(high: list[str] | None) -> Scenario:
    """Three cameras and a star tracker at one router send to another one over one cable."""
    flows = [{"source": name, "target": 4, "length": "2 kB", "rate": "40 Mbit/s"} for name in range(3)]
    flows.append({"source": 3, "target": 5, "length": "64 B", "rate": "1 Mbit/s"})
    base: dict[str, Any] = {
        "topology": {"kind": "grid", "shape": [1, 2], "terminals_per_switch": 4},
        "technology": {"preset": "spacewire-200"},
        "traffic": {"pattern": {"kind": "flows", "flows": flows}, "arrivals": "poisson"},
        "run": {"duration": "20 ms", "warmup": "0 us", "precision": 0.0},
        "output": {"flows": True},
    }
    if high is not None:
        base["routing"] = {"high_priority": high}
    return Scenario.from_dict(base)


def latency_ns_max(found: Results, target: str) -> float:
    return max(found.flows.filter(found.flows["target"] == target)["latency_ns_max"].to_list())


def test_a_packet_of_high_priority_waits_for_one_other_at_most() -> None:
    computer = "t(0,1).1"
    low, high = run(scenario(None)), run(scenario([computer]))
    # The packet that has the cable: 2000 B and three characters more, of 10.5 bits at most, and the routers.
    one_ns = 2003 * 10.5 * 5
    assert latency_ns_max(high, computer) < one_ns + 64 * 10.5 * 5 + 3000
    assert latency_ns_max(low, computer) > 1.5 * one_ns


def test_the_twin_agrees() -> None:
    found = compare(scenario(["t(0,1).1"]), duration_ps=2 * 10**9)
    assert found.identical
    assert found.packets > 10


def test_no_delay_is_guaranteed_with_two_priorities() -> None:
    with pytest.raises(ScenarioError, match="a packet of the low one can wait without end"):
        bound(scenario(["t(0,1).1"]))


def test_exported_tables_have_the_priority() -> None:
    routes = compile(scenario(["t(0,1).1"])).routes
    assert isinstance(routes, LinkRoutes)
    tables = routers.routers(routes.graph, routes.table, {5})
    lines = routers.as_csv(tables).splitlines()
    assert lines[0].endswith(",priority")
    assert [line.rsplit(",", 1)[1] for line in lines[1:9]] == ["low"] * 5 + ["high"] + ["low"] * 2
    assert "high priority" in routers.as_c(tables, "a network")


def test_without_any_the_resolved_form_says_nothing_of_it() -> None:
    assert "high_priority" not in scenario(None).resolve()["routing"]
    assert scenario(["t(0,1).1"]).resolve()["routing"]["high_priority"] == ["t(0,1).1"]
