"""Nothing is lost and nothing overtakes, in networks and under traffic drawn at random.

Properties that hold always: there is no false alarm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support import deliveries, simulate

TOPOLOGIES: list[dict[str, Any]] = [
    {"kind": "crossbar", "terminals": 5},
    {"kind": "grid", "shape": [3, 2], "terminals_per_switch": 2, "links_per_edge": 2},
    {"kind": "torus", "shape": [4, 3], "terminals_per_switch": 1, "links_per_edge": 1},
    {"kind": "clos", "terminals": 64},
    {"kind": "hypercube", "dimensions": 3, "terminals_per_switch": 1, "links_per_edge": 2},
    {"kind": "banyan", "terminals": 8, "variant": "omega", "base": 2},
    {"kind": "tree", "arity": 2, "depth": 2, "terminals_per_switch": 2, "links_per_edge": 2},
]
ARRIVALS: list[dict[str, Any]] = [
    {"arrivals": "poisson", "load": 0.3},
    {"arrivals": "poisson", "load": 1.0, "source_queue": 2},
    {"arrivals": "random-wait", "load": 0.6},
    {"arrivals": {"kind": "on-off", "burst_packets": 4}, "load": 0.4},
    {"arrivals": "backlog"},
]
TECHNOLOGIES: list[dict[str, Any]] = [
    {"preset": "ds-link-c104"},
    {"preset": "ds-link-c104", "input_buffer": "9 B", "output_buffer": "1 B", "arbiter": "random"},
    {"preset": "spacewire-200"},
    {"preset": "generic", "arbiter": "fixed"},
]
LENGTHS: list[Any] = ["8 B", "64 B", "300 B", {"kind": "uniform", "min": "1 B", "max": "100 B"}]


@st.composite
def scenarios(draw: st.DrawFn, adaptive: bool) -> dict[str, Any]:
    """A small network with some traffic, deterministic or adaptive."""
    return {
        "name": "drawn at random",
        "seed": draw(st.integers(0, 2**32)),
        "topology": draw(st.sampled_from(TOPOLOGIES)),
        "technology": draw(st.sampled_from(TECHNOLOGIES)),
        "routing": {"kind": "auto", "adaptive": adaptive},
        "traffic": {
            "pattern": draw(st.sampled_from(["uniform", {"kind": "permutation", "random": True}])),
            "length": draw(st.sampled_from(LENGTHS)),
            **draw(st.sampled_from(ARRIVALS)),
        },
        "run": {
            "duration": f"{draw(st.integers(20, 200))} us",
            "warmup": "0 ns",
            "precision": 0,
            "drain": draw(st.booleans()),
        },
        "output": {"trace": True, "flows": True},
    }


@settings(max_examples=25)
@given(scenarios(adaptive=True))
def test_nothing_is_lost(scenario: dict[str, Any]) -> None:
    """Offered = delivered + refused + in flight; flows and histogram add up to the total."""
    native = simulate(scenario).native
    assert native["offered"] == native["delivered"] + native["refused"] + native["in_flight"]
    assert len(native["trace_source"]) + native["trace_dropped"] == native["delivered"]
    if native["end_reason"] == "drained":
        assert native["in_flight"] == 0
    assert int(np.sum(native["flow_packets"])) == native["measured_packets"]
    assert int(np.sum(native["flow_bytes"])) == native["measured_delivered_bytes"]
    assert int(np.sum(native["latency_counts"])) == native["measured_packets"]


@settings(max_examples=25)
@given(scenarios(adaptive=False))
def test_pairs_keep_their_order(scenario: dict[str, Any]) -> None:
    """With deterministic routing the packets of a pair arrive in the order in which they were sent."""
    trace = deliveries(simulate(scenario))
    order = np.lexsort((trace["delivered"], trace["target"], trace["source"]))
    source, target, started = (trace[name][order] for name in ("source", "target", "started"))
    same = (source[1:] == source[:-1]) & (target[1:] == target[:-1])
    assert (started[1:][same] > started[:-1][same]).all()


@settings(max_examples=8)
@given(scenarios(adaptive=True))
def test_the_same_scenario_gives_the_same_run(scenario: dict[str, Any]) -> None:
    """Run twice, every packet arrives at the same tick."""
    first, second = (deliveries(simulate(scenario)) for _ in range(2))
    assert all(np.array_equal(first[name], second[name]) for name in first)
