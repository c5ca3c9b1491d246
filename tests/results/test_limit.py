"""What holds a network back, and the verdicts that say so."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Scenario, compare, curve, run, saturate

BRIEF = {"duration": "1 ms", "warmup": "100 us", "precision": 0.0}
CROSSBAR = {"kind": "crossbar", "terminals": 8}
TO_ONE = {"kind": "hot-spot", "target": 0, "share": 1.0}


def scenario(topology: dict[str, Any], load: float, **traffic: Any) -> Scenario:
    given = {"length": "64 B", "load": load, **traffic}
    return Scenario.from_dict({"topology": topology, "traffic": given, "run": BRIEF})


def test_a_full_link_is_named() -> None:
    summary = run(scenario(CROSSBAR, 0.9, pattern=TO_ONE)).summary
    assert (summary["limit"]["what"], summary["limit"]["name"], summary["keeps_up"]) == (
        "link",
        "s>t.0",
        False,
    )
    assert summary["verdict"].startswith("Past saturation: accepts ")
    assert "limited by the link s>t.0, in use 99.9 % of the time" in summary["verdict"]


def test_blocking_is_told_from_a_full_link() -> None:
    """Random traffic on one switch: no wire is full, and packets hold their links while they wait."""
    summary = run(scenario(CROSSBAR, 0.9)).summary
    assert summary["limit"]["what"] == "blocking"
    assert 0.5 < summary["limit"]["share"] < 0.9
    assert summary["limit"]["name"] == "", "which of them is first is chance"
    assert "mostly for all 8 links into terminals alike" in summary["verdict"]


def test_a_full_bus_is_named() -> None:
    topology = {"kind": "sci-switch", "roles": "pairs"}
    summary = run(scenario(topology, 0.5, pattern="local", arrivals="together")).summary
    assert summary["limit"]["what"] == "bus"
    assert summary["limit"]["share"] > 0.95


def test_what_rejects_is_named_when_retries_fill_the_ring() -> None:
    rings = {"kind": "sci-ring", "terminals": 9}
    slow = {"memory": {"access": "20 us"}}
    given = {"topology": rings, "technology": slow, "traffic": {"pattern": TO_ONE, "load": 0.5}, "run": BRIEF}
    summary = run(Scenario.from_dict(given)).summary
    assert summary["limit"]["what"] == "queue"
    assert "receive queue of" in summary["verdict"]


def test_a_light_load_is_carried() -> None:
    summary = run(scenario(CROSSBAR, 0.1)).summary
    assert summary["keeps_up"]
    assert summary["verdict"].startswith("Carries all that is offered, ")
    assert "nearest to their limit are all 8 links into terminals alike" in summary["verdict"]


def test_a_short_run_says_that_it_cannot_tell() -> None:
    summary = run(scenario(CROSSBAR, 0.6).with_settings({"run.duration": "200 us"})).summary
    assert summary["keeps_up"] is None
    assert "the run is too short to tell whether queues stay bounded" in summary["verdict"]


@pytest.mark.parametrize(
    ("arrivals", "begins"),
    [("backlog", "Accepts"), ({"kind": "random-wait"}, "Accepts")],
)
def test_sources_that_wait_are_said_to(arrivals: Any, begins: str) -> None:
    load = {} if arrivals == "backlog" else {"load": 0.5}
    given = {"topology": CROSSBAR, "traffic": {"length": "64 B", "arrivals": arrivals, **load}, "run": BRIEF}
    verdict = run(Scenario.from_dict(given)).summary["verdict"]
    assert verdict.startswith(begins)
    assert "offered" not in verdict


def test_a_curve_says_up_to_where_everything_is_carried() -> None:
    found = curve(scenario(CROSSBAR, 0.5, pattern=TO_ONE), [0.05, 0.1, 0.3, 0.6])
    (verdict,) = found.verdicts.values()
    assert verdict.startswith("Carries everything up to load 0.1 (")
    assert "limited by the link s>t.0" in verdict
    assert "At load 0.3 it accepts" in verdict
    assert found.summary["verdicts"] == found.verdicts


def test_every_line_of_a_chart_has_its_verdict() -> None:
    swept = scenario(CROSSBAR, 0.5).with_settings({})
    swept = Scenario.from_dict({**swept.resolve(), "sweep": {"traffic.length": ["16 B", "64 B"]}})
    found = curve(swept, [0.1, 0.9])
    assert list(found.verdicts) == ["length 16 B", "length 64 B"]


def test_a_saturation_and_a_comparison_have_verdicts() -> None:
    one = scenario(CROSSBAR, 0.5)
    assert saturate(one, resolution=0.1).verdict.startswith("Carries everything up to load ")
    assert saturate(one, "backlog").verdict.startswith("Accepts ")
    found = compare({"a": one, "b": scenario(CROSSBAR, 0.5, pattern=TO_ONE)}, [0.1, 0.8])
    assert list(found.verdicts) == ["a", "b"]
