"""RMAP and CCSDS packets: every byte on every link, goodput by hand, replies in time, wrong settings.

SpaceWire-D: conflicts are named before the run, and what is left of a slot is told after it.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from fabriloom import simulate
from fabriloom.programs.spacewire import rmap_bytes
from fabriloom.results import Results, columns, shown
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.studies.inspection import inspect

SPACEWIRE = {"preset": "spacewire-200", "flow_control": "ignored", "cable_length": "0 m"}
BIT_NS = 5


def scenario(program: dict[str, Any], terminals: int = 2, **more: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": terminals},
            "technology": SPACEWIRE,
            "program": program,
            **more,
        }
    )


def characters(results: Results, link: str) -> int:
    return int(results.links.filter(pl.col("link") == link)["characters"][0])


CASES = {
    # command, data, acknowledged, reply address: bytes of the command and of the reply
    ("write", 256, True, 0): (16 + 256 + 1, 8),
    ("write", 256, False, 0): (16 + 256 + 1, 0),
    ("write", 100, True, 12): (16 + 12 + 100 + 1, 8),
    ("read", 256, True, 0): (16, 12 + 256 + 1),
    ("read", 4, True, 4): (16 + 4, 12 + 4 + 1),
    ("read-modify-write", 4, True, 0): (16 + 8 + 1, 12 + 4 + 1),
}


@pytest.mark.parametrize("case", CASES)
def test_every_byte_of_rmap_is_on_the_link(case: tuple[str, int, bool, int]) -> None:
    """Commands and replies of ten transactions, each with an end of packet."""
    command, data, acknowledged, address = case
    asked, answered = CASES[case]
    assert rmap_bytes(command, data, address, acknowledged) == (asked, answered)
    program = {"kind": "rmap", "command": command, "data": f"{data} B", "rounds": 10}
    given = scenario({**program, "acknowledged": acknowledged, "reply_address_bytes": address})
    results = simulate.run(given)
    assert results.end_reason == "drained"
    assert inspect(given)["program"]["messages"] == results.summary["messages"]["made"]
    assert characters(results, "t.0>s") == 10 * (asked + 1)
    assert characters(results, "t.1>s") == 10 * (answered + 1 if answered else 0)


def test_the_time_of_a_transaction_is_that_of_its_packets_and_of_its_target() -> None:
    """Command there, target's time, reply back; the packets as long as alone."""
    time_ns = {}
    for command, data in (("write", 256), ("read", 256)):
        program = {
            "kind": "rmap",
            "command": command,
            "data": f"{data} B",
            "rounds": 10,
            "target_time": "3 us",
        }
        results = simulate.run(scenario(program, output={"trace": True}))
        time_ns[command] = results.summary["rounds"]["ns_mean"]
        both = results.trace["latency_ns"].unique().sort().to_list()
        assert len(both) == 2
        assert time_ns[command] == pytest.approx(sum(both) + 3000, abs=0.001)
    # As many bytes in all, one after the other over the same way, but for the header and the shorter reply.
    asked, answered = rmap_bytes("read", 256, 0, True)
    more = (16 + 256 + 1 + 8) - (asked + answered)
    assert time_ns["write"] - time_ns["read"] == pytest.approx(more * 10 * BIT_NS)


def test_a_transaction_over_path_addresses_by_hand() -> None:
    """Each of three routers takes 510 ns and deletes a character; then command and reply stream through."""
    program = {"kind": "rmap", "command": "read", "data": "4 B", "rounds": 1, "reply_address_bytes": 4}
    grid = {"kind": "grid", "shape": [3], "terminals_per_switch": 1}
    ends = {"sources": ["t(0).0"], "targets": ["t(2).0"]}
    more = {"topology": grid, "technology": {**SPACEWIRE, "cable_length": "2 m"}}
    results = simulate.run(scenario({**program, **ends}, **more, routing={"addressing": "path"}))
    routers, characters = 2 * 3 * (510 + 50), 16 + 4 + 12 + 4 + 1
    assert results.summary["rounds"]["ns_mean"] == routers + characters * 50 + 2 * (20 + 110 - 50)


def test_goodput_of_writes_without_acknowledgement_by_hand() -> None:
    """Packets back to back: 256 bytes of data in 273 characters and an end of packet."""
    program = {"kind": "rmap", "command": "write", "data": "256 B", "acknowledged": False, "rounds": 2000}
    results = simulate.run(scenario(program, output={"trace": True}))
    started = results.trace["started_ns"].to_list()
    between = (started[-1] - started[0]) / (len(started) - 1)
    # Through a crossbar at link rate a packet of n characters takes n characters and the decoding.
    assert between == pytest.approx(274 * 10 * BIT_NS + 300, rel=1e-4)


def test_goodput_of_ccsds_packets_by_hand() -> None:
    program = {"kind": "ccsds", "packet": "1024 B", "rounds": 50}
    results = simulate.run(scenario(program))
    assert characters(results, "t.0>s") == 50 * (4 + 1024 + 1)
    without = simulate.run(scenario(program, technology={**SPACEWIRE, "header": "0 B"}))
    assert characters(without, "t.0>s") == 50 * (4 + 1024 + 1)


def test_a_requirement_keeps_the_protocol_of_spacewire() -> None:
    program = {"kind": "rmap", "command": "read", "data": "256 B", "rounds": 5}
    required = scenario(program, protocol={"requirements": [{"within": "1 ms"}]})
    assert required.resolved["protocol"]["preset"] == "spacewire"
    assert simulate.run(required).summary["messages"] == simulate.run(scenario(program)).summary["messages"]


def test_several_transactions_at_a_time_take_less() -> None:
    """With a slow target the rounds of one, two and three at a time take three, two and one."""
    times = []
    for outstanding in (1, 2, 3):
        program = {"kind": "rmap", "command": "read", "data": "64 B", "rounds": 20, "target_time": "200 us"}
        found = scenario({**program, "outstanding": outstanding, "sources": 1, "targets": 3}, 4)
        times.append(simulate.run(found).summary["rounds"]["ns_mean"] / 200_000)
        assert simulate.compare(found).identical
    assert times == pytest.approx([3, 2, 1], rel=0.08)


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no reply to a read": ({"acknowledged": False}, {}, "a read always has a reply"),
    "too many at a time": ({"outstanding": 2}, {}, "one transaction with each at a time"),
    "another protocol": ({"data": "64 B"}, {"protocol": {"preset": "raw"}}, "of the protocol have 64 B"),
    "too much": ({"data": "17 MB"}, {}, "of the protocol have 16777216 B"),
    "too much to modify": ({"command": "read-modify-write"}, {}, "of 4 B at most, not of 8 B"),
    "no way back": ({}, {"routing": {"addressing": "path"}}, "addresses have up to 1 B"),
    "rings": (
        {"data": "64 B"},
        {"topology": {"kind": "sci-ring", "terminals": 2}, "technology": {}},
        "not of rings",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_settings_are_refused(name: str) -> None:
    settings, more, message = WRONG[name]
    with pytest.raises(ScenarioError, match=message):
        simulate.run(scenario({"kind": "rmap", "command": "read", "data": "8 B", **settings}, **more))


def retrying(retries: int, faults: list[dict[str, Any]]) -> Results:
    program = {"kind": "rmap", "command": "write", "data": "64 B", "rounds": 10, "target_time": "5 us"}
    program |= {"retry_after": "50 us", "retries": retries}
    more = {"technology": {**SPACEWIRE, "fault_stops": "link"}, "fault": faults} if faults else {}
    return simulate.run(scenario(program, output={"messages": True}, **more))


def outage(link: str, at: str, until: str) -> dict[str, Any]:
    return {"link": link, "at": at, "repaired": until}


def test_without_losses_nothing_is_sent_again() -> None:
    results = retrying(3, [])
    messages = results.summary["messages"]
    assert (results.end_reason, messages["made"], messages["received"]) == ("drained", 20, 20)
    assert (messages["resent"], messages["duplicates"], messages["given_up"]) == (0, 0, 0)


@pytest.mark.parametrize(("link", "executed"), [("s>t.1", 10), ("s>t.0", 11)])
def test_a_command_is_sent_again_and_executed_twice_if_its_reply_was_lost(link: str, executed: int) -> None:
    """One of the two packets of a transaction is lost: command or reply."""
    # A transaction takes some 9.5 us, the command 4.6 of it.
    faults = [outage(link, "31 us", "33 us")] if link == "s>t.1" else [outage(link, "35 us", "38.5 us")]
    results = retrying(3, faults)
    messages = results.summary["messages"]
    assert results.end_reason == "drained"
    assert (messages["resent"], messages["given_up"], messages["lost"]) == (1, 0, 1)
    assert dict(shown.rows(results.summary))["sent again"].startswith("1 packet;")
    assert messages["made"] == messages["received"] + messages["lost"]
    commands = results.messages.filter(pl.col("target") == "t.1", pl.col("received_ns").is_not_null())
    assert commands.height == executed


def test_after_the_last_time_an_initiator_goes_on() -> None:
    results = retrying(1, [outage("s>t.1", "20 us", "140 us")])
    messages = results.summary["messages"]
    assert results.end_reason == "drained"
    assert (messages["resent"], messages["given_up"]) == (messages["lost"] - 1, 1)
    assert f"came to its end, and {messages['lost']} messages were lost" in results.summary["end"]["message"]


WRONG_RETRIES = {
    "nothing tells that it was lost": {"acknowledged": False},
    "one transaction under way": {"outstanding": 2, "targets": ["t.1", "t.2"], "sources": ["t.0"]},
}


@pytest.mark.parametrize("message", WRONG_RETRIES)
def test_what_leaves_open_when_to_send_again_is_refused(message: str) -> None:
    program = {"kind": "rmap", "command": "write", "data": "64 B", "retry_after": "50 us"}
    with pytest.raises(ScenarioError, match=message):
        simulate.run(scenario(program | WRONG_RETRIES[message], 3))


Table = dict[str, Any]


def entry(slot: int, initiator: str, target: str, **more: Any) -> Table:
    return {"slot": slot, "initiator": initiator, "target": target, "data": "256 B"} | more


def schedule_scenario(schedule: list[Table], **program: Any) -> Scenario:
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
    found = schedule_scenario([entry(3, "t(0).0", "t(1).2", transactions=4)], epochs=2, target_time="5 us")
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
        entry(0, "t(1).0", "t(1).1", command="read-modify-write", data="4 B"),
    ]
    results = simulate.run(schedule_scenario(schedule))
    assert results.end_reason == "drained"
    assert results.slots["epochs"].to_list() == [1, 1, 1]


def test_a_slot_that_is_overrun_is_told() -> None:
    results = simulate.run(schedule_scenario([entry(0, "t(0).0", "t(0).1", transactions=50)], epochs=2))
    row = results.slots.row(0, named=True)
    assert row["slack_ns_min"] < 0
    assert row["overruns"] == 2


SCHEDULE_WRONG: dict[str, tuple[list[Table], str]] = {
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


@pytest.mark.parametrize("name", SCHEDULE_WRONG)
def test_what_cannot_be_is_refused(name: str) -> None:
    schedule, message = SCHEDULE_WRONG[name]
    with pytest.raises(ScenarioError, match=message):
        simulate.run(schedule_scenario(schedule))


def test_the_same_entries_in_different_slots_are_run() -> None:
    schedule = [entry(5, "t(0).0", "t(1).1"), entry(6, "t(1).0", "t(0).1")]
    assert simulate.run(schedule_scenario(schedule)).slots["overruns"].sum() == 0


def test_a_watchdog_is_compared_with_packets_that_occur() -> None:
    """The protocol allows packets of 16 MB, of which there are none."""
    program = {"kind": "rmap", "command": "read", "data": "256 B", "rounds": 5}
    watched = {**SPACEWIRE, "watchdog": "20 us"}
    found = simulate.run(scenario(program, technology=watched))
    assert found.summary["messages"] == simulate.run(scenario(program)).summary["messages"]
    with pytest.raises(ScenarioError, match="shorter than the longest packet takes, 13470 ns"):
        simulate.run(scenario(program, technology={**SPACEWIRE, "watchdog": "10 us"}))
