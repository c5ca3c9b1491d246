"""Programs on terminals of several ports: what messages go by which, and that all of it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom import Scenario
from fabriloom.simulate import compare

CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")


def scenario(
    program: dict[str, Any], planes: int = 4, choice: str | None = None, **protocol: Any
) -> Scenario:
    data: dict[str, Any] = {
        "topology": {"kind": "clos", "terminals": 8, "terminals_per_switch": 4, "centre_switches": 2},
        "technology": {"preset": "t9000-c104"},
        "protocol": {"preset": "virtual-link", **protocol},
        "program": program,
        "run": {"duration": "40 ms", "warmup": "0 s"},
        "output": {"messages": True},
    }
    data["topology"] |= {"links_per_pair": 1, "replicate": planes}
    if choice is not None:
        data["ports"] = {"choice": choice}
    return Scenario.from_dict(data)


def operations(**programs: list[str]) -> dict[str, Any]:
    """Programs by terminal, of which ``a`` and ``b`` stand for two on different switches."""
    names = {"a": "t(0).0", "b": "t(1).0"}
    rows = [{"terminal": names[name], "do": do} for name, do in programs.items()]
    return {"kind": "operations", "terminals": rows}


STREAM = operations(a=["repeat 400", "send t(1).0 320 B", "end"], b=["repeat 400", "receive t(0).0", "end"])


def rate(found: Any) -> float:
    """Messages received per millisecond until the last one."""
    last = found.messages["received_ns"].max()
    return len(found.messages) / last * 1e6


def test_virtual_links_on_four_links_carry_four_times_as_much() -> None:
    one = fabriloom.run(scenario(STREAM, 1, messages_at_once=1))
    for choice in ("first-free", "round-robin", "shortest-queue"):
        four = fabriloom.run(scenario(STREAM, 4, choice, messages_at_once=4))
        assert rate(four) == pytest.approx(4 * rate(one), rel=0.02), choice
        assert (four.planes["packets"] == four.planes["packets"][0]).all()
    for choice in ("destination", "nominal"):
        found = fabriloom.run(scenario(STREAM, 4, choice, messages_at_once=4))
        assert rate(found) < 1.1 * rate(one), choice
        assert (found.planes["packets"] > 0).sum() == 1


def test_a_message_is_there_when_all_its_packets_are() -> None:
    """Ten packets of 32 B and their acknowledgements, all in the plane of their message."""
    found = fabriloom.run(scenario(STREAM, 4, "round-robin", messages_at_once=4))
    assert found.summary["messages"]["received"] == 400
    assert found.planes["packets"].to_list() == [400 // 4 * 10 * 2] * 4
    assert found.summary["messages"]["overtaken"] == 0


def test_what_overtakes_is_counted_and_said() -> None:
    program = operations(
        a=["repeat 20", "send t(1).0 3200 B", "send t(1).0 32 B", "end"],
        b=["repeat 40", "receive any", "end"],
    )
    found = fabriloom.run(scenario(program, 2, "round-robin", messages_at_once=4))
    received = found.messages["received_ns"].to_list()
    late = sum(time > min(received[at:]) for at, time in enumerate(received))
    assert found.summary["messages"]["overtaken"] == late > 0
    assert any(f"{late} messages" in warning for warning in found.summary["warnings"])
    kept = fabriloom.run(scenario(program, 2, "destination", messages_at_once=4))
    assert kept.summary["messages"]["overtaken"] == 0
    assert "overtaken" not in kept.summary["packets"]


@pytest.mark.parametrize("choice", CHOICES)
def test_events_over_two_rails_are_complete(choice: str) -> None:
    program = {"kind": "level-3", "events": 40, "fragment": "500 B", "sources": 4, "targets": [4, 5, 6, 7]}
    given = scenario(program, 2, choice, messages_at_once=2, receive_at_once=3, send_time="1 us")
    found = compare(given, 400_000_000_000)
    assert found.identical
    results = fabriloom.run(given)
    assert results.summary["events"]["complete"] == 40
    assert results.summary["messages"]["received"] == 160


def on_two_switches(tmp_path: Path, cables: str, programs: dict[str, list[str]]) -> Scenario:
    """Terminals with these cables to the switches ``s`` and ``r``, which nothing else joins."""
    rows = ["kind,source,target", "switch,s,", "switch,r,", *(f"terminal,{name}," for name in programs)]
    rows += [f"cable,{ends.replace('-', ',')}" for ends in cables.split()]
    (tmp_path / "own.csv").write_text("\n".join(rows) + "\n")
    terminals = [{"terminal": name, "do": do} for name, do in programs.items()]
    data = {
        "topology": {"kind": "file", "path": "own.csv"},
        "program": {"kind": "operations", "terminals": terminals},
        "run": {"duration": "20 ms", "warmup": "0 s"},
        "output": {"messages": True},
    }
    return Scenario.from_dict(data, base_dir=tmp_path)


def test_a_message_goes_where_its_target_is(tmp_path: Path) -> None:
    """A memory on the second network gets its message while the first network is full."""
    programs = {
        "x": ["send y 64 kB tag 1", "send z 32 B tag 2"],
        "y": ["receive x"],
        "z": ["receive x"],
    }
    table = fabriloom.run(on_two_switches(tmp_path, "x-s y-s x-r z-r", programs)).messages
    assert table.sort("received_ns")["tag"].to_list() == [2, 1]


def test_a_target_that_a_message_names_can_be_out_of_reach(tmp_path: Path) -> None:
    """Before the run nobody knows it: ``x`` tells ``y`` the number of a terminal that ``y`` cannot reach."""
    programs = {"x": ["send y 8 B tag 2"], "y": ["receive any", "send tagged 8 B"], "z": ["receive any"]}
    given = on_two_switches(tmp_path, "x-s y-s x-r z-r", programs)
    with pytest.raises(fabriloom.ScenarioError) as caught:
        fabriloom.run(given)
    assert '"y" sends to "z"' in str(caught.value)
