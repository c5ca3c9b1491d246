"""What is sustained: it does not depend on a packet under way, and never exceeds what check proves."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Scenario, ScenarioError, run, saturate, simulate
from fabriloom.studies import inspection
from fabriloom.studies.verdict import Judge

RING = {"kind": "sci-rings", "rings": [["a", "b"]]}
ONE = {"pattern": {"kind": "shift", "by": 1}, "senders": ["a"], "length": "64 B"}
CHIP = {"preset": "generic"}
NETWORKS: dict[str, dict[str, Any]] = {
    "one sender on a ring": {"topology": RING, "traffic": ONE},
    "moves on a ring": {"topology": RING, "traffic": {**ONE, "transaction": "dmove"}},
    "ring of four": {"topology": {"kind": "sci-ring", "terminals": 4}, "traffic": {"length": "64 B"}},
    "two terminals": {
        "topology": {"kind": "crossbar", "terminals": 2},
        "technology": CHIP,
        "traffic": {"length": "64 B"},
    },
    "line": {
        "topology": {"kind": "grid", "shape": [2], "terminals_per_switch": 4},
        "technology": CHIP,
        "traffic": {"length": "64 B"},
    },
    "hot spot": {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": CHIP,
        "traffic": {"pattern": {"kind": "hot-spot", "target": 0, "share": 0.5}, "length": "64 B"},
    },
}
"""Both kinds; in all but the ring of four nothing but one link, bus or memory limits what is carried."""


def scenario(name: str, arrivals: str, duration_us: int = 2000, load: float = 0.5) -> Scenario:
    """On a chip everything is some hundred times quicker, and a run as much shorter."""
    network = NETWORKS[name]
    traffic = {"arrivals": arrivals, "load": load, **network["traffic"]}
    shorter = 40 if "technology" in network else 1
    run = {"duration": f"{duration_us // shorter} us", "precision": 0.0}
    return Scenario.from_dict({**network, "traffic": traffic, "run": run})


@pytest.mark.parametrize("duration_us", [100, 500, 2000])
def test_one_packet_under_way_is_no_pile(duration_us: int) -> None:
    """Packets at equal intervals leave a half-width of 0, and one may be under way at the end."""
    found = saturate(scenario("one sender on a ring", "constant", duration_us))
    bound = inspection.inspect(scenario("one sender on a ring", "constant"))["channel_load"]["load_bound"]
    assert found.sustained_load is not None
    assert bound - 0.01 <= found.sustained_load <= bound


@pytest.mark.parametrize("arrivals", ["poisson", "constant"])
@pytest.mark.parametrize("name", NETWORKS)
def test_never_more_than_check_proves(name: str, arrivals: str) -> None:
    found = saturate(scenario(name, arrivals, 1000), resolution=0.05)
    bound = inspection.inspect(scenario(name, arrivals))["channel_load"]["load_bound"]
    assert found.sustained_load is not None
    assert 0 < found.sustained_load <= bound * (1 + 1e-9)


@pytest.mark.parametrize("name", ["one sender on a ring", "hot spot"])
def test_the_bound_is_where_runs_themselves_begin_to_pile_up(name: str) -> None:
    """The same question with no knowledge of the bound: 3 % below it is sustained, 3 % above it is not.

    Packets at equal intervals, so that no chance is in it but the destinations of the hot spot.
    """
    judge = Judge.of(scenario(name, "constant", load=1.0))
    for share, sustained in ((0.97, True), (1.03, False)):
        load = share * judge.bound
        summary = simulate.run(scenario(name, "constant", 10_000, load)).summary
        assert Judge(1.0).sustained(load, summary) is sustained, (name, share)


def test_rates_are_raised_by_their_scale() -> None:
    """Flows of 2 and 1 MB/s into one terminal, sustained until its link is nearly full, never
    above the scale that `check` gives.
    """
    flows = [
        {"source": 0, "target": 2, "length": "64 B", "rate": "2 MB/s"},
        {"source": 1, "target": 2, "length": "64 B", "rate": "1 MB/s"},
    ]
    rated = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 3},
            "technology": {"preset": "spacewire-200"},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "4 ms", "precision": 0},
        }
    )
    bound = inspection.inspect(rated)["demanded"]["scale_bound"]
    found = saturate(rated, resolution=0.02)
    assert found.varied == "traffic.scale"
    assert found.sustained_load is not None
    assert 0.75 * bound < found.sustained_load <= bound * (1 + 1e-9)
    assert found.summary["varied"] == "traffic.scale"
    assert all(set(point.settings) == {"traffic.scale"} for point in found.points)
    with pytest.raises(ScenarioError, match="there is no backlog: rates and flows"):
        saturate(rated, "backlog")


def test_runs_end_when_throughput_is_known() -> None:
    """Near the limit, latencies are known much later: a run for them has many more events."""
    given = {
        "topology": {"kind": "grid", "shape": [3, 3]},
        "technology": {"preset": "generic"},
        "traffic": {"length": "16 B", "load": 0.5},
    }
    events = {}
    for what in ("throughput", "all"):
        ends = {"duration": "1 ms", "precision_of": what}
        summary = run(Scenario.from_dict({**given, "run": ends})).summary
        events[what] = summary["engine"]["events"]
        assert summary["end"]["reason"] == "precision"
        assert ("total latency" in summary["end"]["message"]) == (what == "all")
        assert summary["keeps_up"]
    assert 2 * events["throughput"] < events["all"]
