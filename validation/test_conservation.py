"""Nothing is lost and nothing overtakes, in networks and under traffic drawn at random.

Properties that hold always: there is no false alarm.

Equal terminals of a symmetric network get equal service.

In each network every terminal can take the place of every other one. Under uniform random traffic of one seed
the terminals differ by chance only, so over seeds the ranks of a terminal among all are those of a random
order (Friedman's test, which assumes nothing of how service is distributed). Each of twenty tests fails with
a probability of 10^-5 although nothing is wrong; seeds are fixed, so it does not fail from time to time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
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


SEEDS = 24
FALSE_ALARM = 1e-5
NETWORKS: dict[str, dict[str, Any]] = {
    "crossbar": {"kind": "crossbar", "terminals": 8},
    "torus": {"kind": "torus", "shape": [3, 3], "terminals_per_switch": 1},
    "hypercube": {"kind": "hypercube", "dimensions": 3, "terminals_per_switch": 1},
    "fat tree": {"kind": "fat_tree", "arity": 2, "levels": 3},
    "ring": {"kind": "sci-ring", "terminals": 8},
}


def rank_sums_probability(service: np.ndarray) -> float:
    """Of ranks as unequal as these of seeds times terminals, by chance (Friedman)."""
    seeds, terminals = service.shape
    order = service.argsort(axis=1, kind="stable").argsort(axis=1)
    sums = order.sum(axis=0) - seeds * (terminals - 1) / 2
    found = 12 * float((sums**2).sum()) / (seeds * terminals * (terminals + 1))
    return chi_square_tail(found, terminals - 1)


def chi_square_tail(value: float, degrees: int) -> float:
    """The probability of a larger value, by integration of its density."""
    x = np.linspace(value, value + 400, 400_001)
    density = x ** (degrees / 2 - 1) * np.exp(-(x - value) / 2)
    whole = np.linspace(1e-9, 400, 400_001)
    every = whole ** (degrees / 2 - 1) * np.exp(-whole / 2)
    return float(np.trapezoid(density, x) / np.trapezoid(every, whole) * np.exp(-value / 2))


def by_terminal(name: str, load: float, **technology: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Per end of packets: a row of terminals for each seed, of latency below saturation, else of packets."""
    links: dict[str, Any] = {"technology": {"preset": "generic", **technology}}
    if name == "torus":
        links["technology"] |= {"lanes": 2}
        links["routing"] = {"kind": "dimension-order", "variant": "minimal", "lane_choice": "dateline"}
    if name == "ring":
        links = {}
    rows: dict[str, list[np.ndarray]] = {"source": [], "target": []}
    for seed in range(SEEDS):
        scenario = {
            "seed": seed,
            "topology": NETWORKS[name],
            **links,
            "traffic": {"pattern": "uniform", "length": "64 B", "arrivals": "poisson", "load": load},
            "run": {"duration": "20 us" if links else "500 us", "warmup": "0 ns", "precision": 0},
            "output": {"trace": True},
        }
        found = deliveries(simulate(scenario))
        for end, row in rows.items():
            count = np.bincount(found[end])
            latency = np.bincount(found[end], found["delivered"] - found["started"]) / count
            noise = np.random.default_rng(seed).random(len(count)) * 1e-6  # equals have ranks by chance
            row.append((latency if load < 1 else count) + noise)
    for end, row in rows.items():
        yield end, np.array(row)


@pytest.mark.parametrize("load", [0.4, 1.0])
@pytest.mark.parametrize("name", NETWORKS)
def test_equal_terminals_get_equal_service(name: str, load: float) -> None:
    """Below saturation by latency, at overload by throughput, both by sender and by receiver."""
    for end, service in by_terminal(name, load):
        chance = rank_sums_probability(service)
        assert chance > FALSE_ALARM, f"by {end}: {service.mean(axis=0)}, {chance:.1e}"


def test_unequal_service_is_seen() -> None:
    """An arbiter with a fixed order serves the first inputs sooner."""
    found = {end: rank_sums_probability(rows) for end, rows in by_terminal("crossbar", 1.0, arbiter="fixed")}
    assert found["source"] < FALSE_ALARM
