"""Traffic beside programs: terminals that run a program and are sources as well."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Results, Scenario, run
from fabriloom.simulate import compare

from .common import READY, operations, scenario

FLOWS = [
    {"source": 0, "target": 1, "length": "1 kB", "rate": "40 Mbit/s", "requirement": "1 ms", "name": "up"},
    {"source": 4, "target": 5, "length": "64 B", "period": "20 us", "phase": "0 us", "name": "clock"},
]
TRAFFIC: dict[str, Any] = {"pattern": {"kind": "flows", "flows": FLOWS}, "arrivals": "constant"}


def beside(program: dict[str, Any], **sections: Any) -> Scenario:
    return scenario(program, **{"traffic": TRAFFIC, **sections})


@pytest.mark.parametrize("name", READY)
def test_the_twin_delivers_the_same(name: str) -> None:
    traffic = TRAFFIC if len(name) % 2 else {"load": 0.2, "length": "100 B"}
    found = compare(beside(READY[name], traffic=traffic, protocol={"preset": "virtual-link"}))
    assert found.identical
    assert found.packets > 20


def test_both_are_measured_apart() -> None:
    alone = run(scenario(READY["ping-pong"])).summary
    results: Results = run(beside(READY["ping-pong"]))
    both = results.summary
    assert both["end"]["reason"] == "drained"
    assert both["messages"]["received"] == alone["messages"]["received"]
    assert both["packets"]["delivered"] == alone["packets"]["delivered"] + sum(
        results.completions["delivered"]
    )
    assert results.completions["flow"].to_list() == ["up", "clock"]
    assert results.requirements["flow"].to_list() == ["up"]
    assert both["requirements"]["met"] == 1


def test_a_program_waits_behind_the_packet_of_a_source() -> None:
    """The link is busy with 64 B from 0; the message of the program is made at 1 us and follows it."""
    program = operations(t4=["wait 1 us", "send t.5 64 B"], t5=["receive t.4"])
    output = {"trace": True}
    clock = {"pattern": {"kind": "flows", "flows": FLOWS[1:]}}
    first, second = (
        run(beside(program, traffic=clock, output=output)).trace.sort("started_ns").rows(named=True)
    )
    assert (first["created_ns"], second["created_ns"]) == (0, 1000)
    twice = {"pattern": {"kind": "flows", "flows": [{**FLOWS[1], "packets": 2}]}}
    wait = operations(t4=["wait 1 us"])
    alone = run(beside(wait, traffic=twice, output=output)).trace.sort("started_ns").rows(named=True)
    assert second["started_ns"] == alone[1]["started_ns"] > 6000


def test_they_take_turns() -> None:
    """Both have ten packets at once: a terminal's link carries them one after the other from each."""
    flow = {**FLOWS[1], "packets": 10, "period": "10 ms"}
    program = operations(t4=["send t.6 640 B"], t6=["receive t.4"])
    sections = {"protocol": {"preset": "raw", "packet": "64 B"}, "output": {"trace": True}}
    found = run(beside(program, traffic={"pattern": {"kind": "flows", "flows": [flow]}}, **sections))
    order = found.trace.sort("started_ns")["target"].to_list()
    assert order[:8] == ["t.6", "t.5"] * 4


def test_the_traffic_ends_with_the_programs() -> None:
    program = operations(t4=["wait 90 us"])
    found = run(beside(program, traffic={"pattern": {"kind": "flows", "flows": FLOWS[1:]}}))
    assert found.completions["created"].to_list() == [5]
    assert found.end_reason == "drained"


def test_programs_that_wait_for_ever_are_found_beside_endless_traffic() -> None:
    program = operations(t0=["receive t.1", "send t.1 8 B"], t1=["receive t.0", "send t.0 8 B"])
    found = run(beside(program))
    assert found.end_reason == "deadlocked"
    assert len(found.summary["end"]["waiting"]) == 2


def test_resolving_keeps_both() -> None:
    once = beside(READY["ping-pong"])
    again = Scenario.from_dict(once.resolve())
    assert again.sha256 == once.sha256
    assert again.has_traffic
    assert not scenario(READY["ping-pong"]).has_traffic
