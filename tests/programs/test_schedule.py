"""SpaceWire-D: conflicts are named before the run, and what is left of a slot is told after it."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import simulate
from fabriloom.results import columns
from fabriloom.scenario import Scenario, ScenarioError

Table = dict[str, Any]


def entry(slot: int, initiator: str, target: str, **more: Any) -> Table:
    return {"slot": slot, "initiator": initiator, "target": target, "data": "256 B", **more}


def scenario(schedule: list[Table], **program: Any) -> Scenario:
    """Two routers with three terminals each."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [2], "terminals_per_switch": 3},
            "technology": {"preset": "spacewire-200", "flow_control": "ignored"},
            "program": {"kind": "spacewire-d", "slot": "200 us", "schedule": schedule, **program},
        }
    )


def test_the_slack_of_a_slot_is_what_its_transactions_leave() -> None:
    """By hand: as long as the same reads outside slots, one after the other, in every epoch alike."""
    alone = Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [2], "terminals_per_switch": 3},
            "technology": {"preset": "spacewire-200", "flow_control": "ignored"},
            "program": {
                "kind": "rmap", "command": "read", "data": "256 B", "rounds": 4, "target_time": "5 us",
                "sources": ["t(0).0"], "targets": ["t(1).2"],
            },
        }
    )  # fmt: skip
    read_ns = simulate.run(alone).summary["rounds"]["ns_mean"]
    found = scenario([entry(3, "t(0).0", "t(1).2", transactions=4)], epochs=2, target_time="5 us")
    results = simulate.run(found)
    row = results.slots.row(0, named=True)
    assert row["used_ns_max"] == pytest.approx(4 * read_ns)
    assert row["slack_ns_min"] == pytest.approx(200_000 - 4 * read_ns)
    assert (row["epochs"], row["overruns"]) == (2, 0)
    assert results.marks["at_ns"].to_list() == pytest.approx(
        [(epoch * 64 + 3) * 200_000 + 4 * read_ns for epoch in range(2)]
    )
    assert results.slots.columns == columns.SLOTS.names
    assert simulate.compare(found).identical


def test_other_links_and_the_same_initiator_are_no_conflict() -> None:
    schedule = [
        entry(0, "t(0).0", "t(0).1"),
        entry(0, "t(0).0", "t(0).2", command="write"),
        entry(0, "t(1).0", "t(1).1", command="read-modify-write"),
    ]
    results = simulate.run(scenario(schedule))
    assert results.end_reason == "drained"
    assert results.slots["epochs"].to_list() == [1, 1, 1]


def test_a_slot_that_is_overrun_is_told() -> None:
    results = simulate.run(scenario([entry(0, "t(0).0", "t(0).1", transactions=50)], epochs=2))
    row = results.slots.row(0, named=True)
    assert row["slack_ns_min"] < 0
    assert row["overruns"] == 2


WRONG: dict[str, tuple[list[Table], str]] = {
    "the link between routers": (
        [entry(5, "t(0).0", "t(1).1"), entry(5, "t(1).0", "t(0).1")],
        r"slot 5: t\(1\).0 and t\(0\).0 \(entry 1\) both use the link s\(0\)>s\(1\)",
    ),
    "the link of a target": (
        [entry(5, "t(0).0", "t(1).1"), entry(5, "t(1).0", "t(1).1")],
        r"both use the link t\(1\).1>s\(1\)",
    ),
    "itself": ([entry(0, "t(0).0", "t(0).0")], "would ask itself"),
    "two parts": (
        [entry(0, "t(0).0", "t(0).1"), entry(1, "t(0).1", "t(1).1")],
        "is an initiator and a target",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused(name: str) -> None:
    schedule, message = WRONG[name]
    with pytest.raises(ScenarioError, match=message):
        simulate.run(scenario(schedule))


def test_the_same_entries_in_different_slots_are_run() -> None:
    schedule = [entry(5, "t(0).0", "t(1).1"), entry(6, "t(1).0", "t(0).1")]
    assert simulate.run(scenario(schedule)).slots["overruns"].sum() == 0
