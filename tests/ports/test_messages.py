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
    program: dict[str, Any], planes: int = 4, choice: str | None = None, per: str = "message", **protocol: Any
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
        data["ports"] = {"choice": choice, "per": per}
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


ONE_AT_A_TIME = operations(
    a=["repeat 20", "send t(1).0 3200 B", "flush", "end"], b=["repeat 20", "receive t(0).0", "end"]
)


def test_one_message_uses_four_links_if_each_packet_gets_one() -> None:
    one = fabriloom.run(scenario(ONE_AT_A_TIME, 1))
    whole = fabriloom.run(scenario(ONE_AT_A_TIME, 4, "round-robin"))
    assert rate(whole) == pytest.approx(rate(one), rel=0.01)
    for choice in ("first-free", "round-robin", "shortest-queue"):
        spread = fabriloom.run(scenario(ONE_AT_A_TIME, 4, choice, "packet"))
        assert rate(spread) == pytest.approx(4 * rate(one), rel=0.03), choice
        # 100 packets and as many acknowledgements of each message.
        assert spread.planes["packets"].to_list() == [20 * 25 * 2] * 4
        assert spread.summary["messages"]["overtaken"] == 0


def test_packets_of_a_message_that_overtake_are_counted(tmp_path: Path) -> None:
    """The second network has links of half the rate: what goes there comes late."""
    pair = {"kind": "crossbar", "terminals": 2}
    planes = [{"name": "fast", "network": pair}, {"name": "slow", "network": pair, "link_rate": "50 Mbit/s"}]
    program = {"kind": "operations", "terminals": [{"terminal": "t0", "do": ["send t1 100 kB"]}]}
    found = {}
    for choice in ("round-robin", "first-free"):
        data = {
            "topology": {"kind": "planes", "planes": planes},
            "technology": {"preset": "ds-link-c104"},
            "ports": {"choice": choice, "per": "packet"},
            "protocol": {"preset": "raw", "packet": "1000 B"},
            "program": program,
            "run": {"duration": "40 ms", "warmup": "0 s"},
            "output": {"messages": True},
        }
        found[choice] = fabriloom.run(Scenario.from_dict(data))
    turns, free = found["round-robin"], found["first-free"]
    assert turns.planes["packets"].to_list() == [50, 50]
    late = turns.summary["packets"]["overtaken"]
    assert late > 20
    assert any(f"{late} packets" in one for one in turns.summary["warnings"])
    # Of 100 packets the slow network gets a third, and the message is there as early as can be.
    assert free.planes["packets"].to_list() == pytest.approx([67, 33], abs=1)
    times = [one.messages["received_ns"][0] for one in (turns, free)]
    assert times[1] == pytest.approx(times[0] * 2 / 3, rel=0.03)


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
@pytest.mark.parametrize("per", ["message", "packet"])
def test_events_over_two_rails_are_complete(choice: str, per: str) -> None:
    program = {"kind": "level-3", "events": 40, "fragment": "500 B", "sources": 4, "targets": [4, 5, 6, 7]}
    given = scenario(program, 2, choice, per, messages_at_once=2, receive_at_once=3, send_time="1 us")
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
    programs = {"x": ["send y 64 kB tag 1", "send z 32 B tag 2"], "y": ["receive x"], "z": ["receive x"]}
    table = fabriloom.run(on_two_switches(tmp_path, "x-s y-s x-r z-r", programs)).messages
    assert table.sort("received_ns")["tag"].to_list() == [2, 1]


def test_a_target_that_a_message_names_can_be_out_of_reach(tmp_path: Path) -> None:
    """Before the run nobody knows it: ``x`` tells ``y`` the number of a terminal that ``y`` cannot reach."""
    programs = {"x": ["send y 8 B tag 2"], "y": ["receive any", "send tagged 8 B"], "z": ["receive any"]}
    given = on_two_switches(tmp_path, "x-s y-s x-r z-r", programs)
    with pytest.raises(fabriloom.ScenarioError) as caught:
        fabriloom.run(given)
    assert '"y" sends to "z"' in str(caught.value)
