"""Packets that go straight or over a random switch, by the queues at the source's switch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import routing, run, topology
from fabriloom.compile import compile
from fabriloom.scenario import Scenario
from fabriloom.scenario.errors import ScenarioError

DRAGONFLY = {"kind": "dragonfly", "switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}
NEXT = {"kind": "shift", "by": 8}


def scenario(kind: str, load: float, pattern: Any = "uniform", **technology: Any) -> Scenario:
    cut_through = {"switching": "virtual-cut-through", "lane_sharing": "packet", "input_queues": "per-output"}
    buffers = {"input_buffer_flits": 64, "output_buffer_flits": 32, "crossbar": "fast"}
    sections = {
        "topology": DRAGONFLY,
        "technology": {"preset": "generic", "lanes": 8, **cut_through, **buffers, **technology},
        "routing": {"kind": kind},
        "traffic": {"length": "64 B", "load": load, "pattern": pattern},
        "run": {"duration": "6 us", "warmup": "3 us", "precision": 0.0},
    }
    return Scenario.from_dict({"name": "ugal", "seed": 1, **sections})


def accepted(kind: str, load: float, pattern: Any) -> float:
    return float(run(scenario(kind, load, pattern)).summary["accepted_mbytes_per_s"])


def test_uniform_traffic_takes_what_minimal_paths_carry_and_the_worst_what_random_ones_do() -> None:
    uniform = {kind: accepted(kind, 0.9, "uniform") for kind in ("hops", "valiant", "ugal")}
    assert uniform["ugal"] > 0.85 * uniform["hops"] > 1.3 * uniform["valiant"]
    worst = {kind: accepted(kind, 0.55, NEXT) for kind in ("hops", "valiant", "ugal")}
    assert worst["ugal"] > 0.85 * worst["valiant"] > 2.5 * worst["hops"]


def test_with_short_queues_packets_go_straight() -> None:
    """At a low load queues are empty: packets take as many links as on minimal paths."""
    hops, ugal = (run(scenario(kind, 0.02)).summary["latency_ns"]["mean"] for kind in ("hops", "ugal"))
    assert ugal == pytest.approx(hops, rel=0.02)
    far = run(scenario("valiant", 0.02)).summary["latency_ns"]["mean"]
    assert far > 1.3 * ugal


def test_a_threshold_above_all_queues_keeps_packets_straight() -> None:
    always = scenario("ugal", 0.5, NEXT).with_settings({"routing.threshold": 2**31 - 1})
    assert run(always).summary["accepted_mbytes_per_s"] < 1.1 * accepted("hops", 0.5, NEXT)


def test_the_best_share_of_both_ways_is_what_channels_allow() -> None:
    graph = topology.build("dragonfly", switches_per_group=4, global_links=2, terminals_per_switch=2)
    table = routing.build(graph, "ugal", lanes=4)
    assert 1 / routing.channel_loads(graph, table).max() == pytest.approx(1.0, abs=0.01)
    number = np.arange(graph.terminals)
    weights = number, (number + 8) % graph.terminals, np.ones(graph.terminals)
    most = {
        kind: 1 / routing.channel_loads(graph, routing.build(graph, kind, lanes=4), weights).max()
        for kind in ("hops", "valiant", "ugal")
    }
    assert most["ugal"] >= most["valiant"] - 1e-9 > 4 * most["hops"] - 1e-9


@pytest.mark.parametrize(
    ("settings", "place", "message"),
    [
        ({"technology.watchdog_cycles": 500}, "technology.watchdog_cycles", "counts queues by credit"),
        ({"technology.pause_above_flits": 40}, "technology.pause_above_flits", "counts queues by credit"),
        ({"fault": [{"link": "s(0,0)>s(0,1)", "at": "1 us"}]}, "fault", "counts queues by credit"),
        ({"topology": {"kind": "clos", "terminals": 16, "switch_ports": 8}}, "routing.kind", "all ways up"),
        ({"technology.lanes": 2}, "routing.kind", "takes 4 lanes"),
        ({"routing.threshold": -1}, "routing.threshold", "at least 0"),
    ],
)
def test_what_does_not_go_with_it_is_refused(settings: dict[str, Any], place: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message) as error:
        compile(scenario("ugal", 0.1).with_settings(settings))
    assert ".".join(map(str, error.value.path or ())) == place
