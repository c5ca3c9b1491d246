"""One verdict on deadlock: of what is sent, of all tables in turn, and of programs."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Scenario, run
from fabriloom.compile import compile
from fabriloom.programs.waits import waits_for_ever
from fabriloom.studies.inspection import inspect
from hypothesis import given, settings
from hypothesis import strategies as st

TORUS = {
    "topology": {"kind": "torus", "shape": [8, 8]},
    "technology": {"preset": "generic"},
    "routing": {"kind": "dimension-order", "variant": "minimal"},
}


def flows(*ends: tuple[int, int]) -> dict[str, Any]:
    each = [{"source": source, "target": target, "rate": "100 MB/s"} for source, target in ends]
    return {"traffic": {"pattern": {"kind": "flows", "flows": each}}, "run": {"duration": "20 us"}}


def test_what_is_sent_can_be_free_where_other_traffic_is_not() -> None:
    found = inspect(Scenario.from_dict({**TORUS, **flows((0, 1), (1, 2))}))["deadlock"]
    assert (found["free"], found["cycle"], found["any_traffic_free"]) == (True, [], False)
    assert len(found["any_traffic_cycle"]) == 8
    assert "in this traffic" in found["text"]
    assert "in other traffic it can" in found["text"]


def test_flows_that_close_the_circle_are_not_free() -> None:
    """Eight flows of four hops go once round a row of eight: each holds links that the next needs."""
    ends = [(x, (x + 3) % 8) for x in range(8)]
    found = inspect(Scenario.from_dict({**TORUS, **flows(*ends)}))["deadlock"]
    assert not found["free"]
    assert len(found["cycle"]) == 8
    assert not any(
        "deadlock" in text for text in compile(Scenario.from_dict({**TORUS, **flows((0, 1))})).warnings
    )


def broken(kind: str, **more: Any) -> Scenario:
    after = {"delay": "1 us", "kind": kind}
    return Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [4, 4]},
            "technology": {"preset": "generic"},
            "routing": {"kind": "dimension-order", "after_fault": after},
            "traffic": {"pattern": "uniform", "length": "64 B", "load": 0.4},
            "run": {"duration": "200 us"},
            "fault": [{"cable": "s(1,1)>s(1,2)", "at": "5 us", **more}],
        }
    )


def test_tables_after_a_fault_are_part_of_the_verdict() -> None:
    scenario = broken("shortest-path")
    found = inspect(scenario)["deadlock"]
    assert not found["free"]
    assert found["text"].startswith("can happen after the failure of s(1,1)>s(1,2); a cycle: ")
    assert run(scenario).summary["end"]["reason"] == "deadlocked"
    early = scenario.with_settings({"run.duration": "5.5 us"})
    assert inspect(early)["deadlock"]["free"], "no table is replaced within the run"


def test_packets_under_way_by_two_tables_can_close_a_cycle() -> None:
    """Both tables alone are free of cycles; together they allow turns that neither does."""
    found = inspect(broken("up-star-down-star"))["deadlock"]
    assert not found["free"]
    assert "while packets are under way by the tables before it" in found["text"]


def test_a_repair_is_named_too() -> None:
    """After the repair, packets by the way round meet those by the first table again."""
    scenario = broken("up-star-down-star", repaired="50 us").with_settings(
        {"traffic.pattern": {"kind": "flows", "flows": [{"source": 0, "target": 5, "rate": "1 MB/s"}]}}
    )
    assert inspect(scenario)["deadlock"]["free"], "one flow waits for nobody"


def operations(*programs: list[str]) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": max(2, len(programs))},
            "technology": {"preset": "generic"},
            "protocol": {"packet": "64 B"},
            "program": {
                "kind": "operations",
                "terminals": [{"terminal": number, "do": do} for number, do in enumerate(programs)],
            },
        }
    )


@pytest.mark.parametrize(
    ("programs", "stuck"),
    [
        ([["receive 1", "send 1 64 B"], ["receive 0", "send 0 64 B"]], 2),
        ([["send 1 64 B", "receive 1"], ["receive 0", "send 0 64 B"]], 0),
        ([["send 1 64 B tag 1"], ["receive 0 tag 1", "repeat", "receive any", "end"]], 0),
        ([["repeat 3", "send 1 64 B", "end", "barrier"], ["repeat 2", "receive 0", "end", "barrier"]], 0),
        ([["barrier", "receive 1", "send 1 8 B"], ["receive 0", "barrier", "send 0 8 B"]], 2),
        ([["send 1 8 B", "receive sender"], ["receive any", "send sender 8 B"]], 0),
    ],
)
def test_programs_that_wait_for_each_other_are_found_before_they_run(
    programs: list[list[str]], stuck: int
) -> None:
    if programs[0][-1] == "receive sender":
        programs = [["send 1 8 B", "receive 1"], programs[1]]
    compiled = compile(operations(*programs))
    assert compiled.programs is not None
    assert len(waits_for_ever(compiled.programs)) == stuck
    assert compiled.deadlock.free == (stuck == 0)
    ended = run(compiled).summary["end"]["reason"]
    assert (ended == "deadlocked") == (stuck > 0)


_STEP = st.tuples(st.sampled_from(["send", "receive"]), st.integers(1, 2))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(_STEP, max_size=4), min_size=3, max_size=3))
def test_what_is_found_without_times_is_what_a_run_finds(steps: list[list[tuple[str, int]]]) -> None:
    programs = []
    for me, own in enumerate(steps):
        words = [(word, (me + away) % 3) for word, away in own]
        programs.append(
            [f"{word} {peer}{' 8 B' if word == 'send' else ''}" for word, peer in words] or ["wait 1 us"]
        )
    try:
        compiled = compile(operations(*programs))
    except ValueError:
        return  # a receive for which nothing is sent is refused before
    reason = run(compiled).summary["end"]["reason"]
    assert (reason == "deadlocked") == (not compiled.deadlock.free)
