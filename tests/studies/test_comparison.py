"""Scenarios beside each other: the points of each are those of its own curve."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Scenario, ScenarioError, curve, studies
from fabriloom.cli import show
from fabriloom.report import for_comparison


def small(**sections: Any) -> Scenario:
    """A crossbar of eight terminals, beside it one of four, and one whose sources never wait."""
    base: dict[str, Any] = {
        "name": "eight",
        "topology": {"kind": "crossbar", "terminals": 8},
        "traffic": {"pattern": "uniform", "length": "32 B", "load": 0.2},
        "run": {"duration": "500 us", "warmup": "100 us", "precision": 0.0},
        "variants": {"four": {"topology.terminals": 4}, "full": {"traffic.arrivals": "backlog"}},
    }
    return Scenario.from_dict({**base, **sections})


def test_points_are_those_of_the_curves() -> None:
    found = studies.compare(studies.variants(small()), [0.1, 0.4])
    assert [point.settings for point in found.points] == [
        {"scenario": "eight", "traffic.load": 0.1},
        {"scenario": "eight", "traffic.load": 0.4},
        {"scenario": "four", "traffic.load": 0.1},
        {"scenario": "four", "traffic.load": 0.4},
        {"scenario": "full"},
    ]
    alone = curve(small(variants={}), [0.1, 0.4])
    for one, other in zip(alone.points, found.of("eight"), strict=True):
        assert one.summary["latency_ns"] == other.summary["latency_ns"]
    assert found.graphs["four"].terminals == 4
    assert found.table["scenario"].to_list() == ["eight"] * 2 + ["four"] * 2 + ["full"]


def test_what_is_finished_is_kept(tmp_path: Any) -> None:
    named = studies.variants(small())
    first = studies.compare(named, [0.1], out=tmp_path)
    again = studies.compare(named, [0.1], out=tmp_path)
    assert first.table.equals(again.table)
    assert len(list((tmp_path / "points").glob("*.json"))) == 3


def test_the_report_names_what_is_different() -> None:
    page = for_comparison(studies.compare(studies.variants(small()), [0.1]))
    assert "topology.terminals" in page
    assert "traffic.arrivals.kind" in page
    assert "run.duration" not in page.split("What is different")[1].split("</table>")[0]


@pytest.mark.parametrize(
    ("variants", "says"),
    [
        ({"a": {"topology.terminal": 4}}, "terminal"),
        ({"a": {"topology.terminals": "many"}}, "terminals"),
        ({"a": {"sweep": {}}}, "variants cannot change the sweep"),
        ({"a": {"name.first": 1}}, "name is a single value"),
    ],
)
def test_wrong_variants_are_refused(variants: dict[str, Any], says: str) -> None:
    with pytest.raises(ScenarioError, match=says):
        small(variants=variants)


def test_a_variant_can_be_another_network() -> None:
    found = studies.variants(small(variants={"ring": {"topology": {"kind": "ring", "switches": 4}}}))
    assert found["ring"].topology.kind == "ring"


def pings(size: str) -> Scenario:
    """A program: one message to and fro."""
    return Scenario.from_dict(
        {
            "name": size,
            "topology": {"kind": "crossbar", "terminals": 2},
            "program": {"kind": "ping-pong", "size": size, "rounds": 3},
        }
    )


@pytest.mark.parametrize("first", ["program", "traffic"])
def test_a_program_beside_traffic_shows_what_both_have(
    first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    both = {"program": pings("64 B"), "traffic": small(variants={})}
    found = studies.compare({first: both.pop(first), **both}, [0.1])
    show.points(found.points, found.varied, "both")
    assert "accepted MB/s" in capsys.readouterr().out
    assert "Latency against throughput" in for_comparison(found)


def test_programs_beside_each_other_show_their_messages(capsys: pytest.CaptureFixture[str]) -> None:
    found = studies.compare({size: pings(size) for size in ("64 B", "1 kB")})
    show.points(found.points, found.varied, "both")
    assert "messages 1/s" in capsys.readouterr().out
    assert "Waited" in for_comparison(found)
