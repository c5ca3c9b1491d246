"""Operations as they are written and read.

Every ready program: what it is made of, and that nothing of it is lost on fabrics of both kinds.

Messages that are announced and sent when their receive is posted, and room for those that are not.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import run
from fabriloom.programs import ProgramError
from fabriloom.programs import kinds as op
from fabriloom.programs.operations import Operation, parse
from fabriloom.results import Results
from fabriloom.scenario import ScenarioError
from fabriloom.traffic.names import Terminals
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from .common import CLOS, CROSSBAR, READY, RING, lists, operations, programs, results, scenario
from .test_runs import random_programs

NAMES = Terminals(["n0", "n1", "any", "two words"])
READ = [
    ("send n1 1 kB tag 3", Operation(op.SEND, 1, 1000, 3)),
    ("send n1 1kB", Operation(op.SEND, 1, 1000)),
    ("send 0 2_000 B", Operation(op.SEND, 0, 2000)),
    ('send "two words" 64 B', Operation(op.SEND, 3, 64)),
    ("send sender 8 B tag same", Operation(op.SEND, op.SENDER, 8, op.SAME)),
    ("send tagged 8 B tag sender", Operation(op.SEND, op.TAGGED, 8, op.SENDER_NUMBER)),
    ("receive", Operation(1)),
    ("receive any", Operation(1, 2)),
    ("receive tag 7", Operation(1, op.ANY, 0, 7)),
    ("receive n0 tag any", Operation(1, 0)),
    ("wait 5 us", Operation(2, amount=5_000_000)),
    ("compute 1.5us", Operation(2, amount=1_500_000)),
    ("until 1 ms", Operation(3, amount=10**9)),
    ("repeat", Operation(4)),
    ("repeat for ever", Operation(4)),
    ("  repeat   12 ", Operation(4, amount=12)),
    ("end", Operation(5)),
    ("barrier", Operation(6)),
    ("mark", Operation(7, tag=0)),
    ("mark 9", Operation(7, tag=9)),
    ("read n1 4 KiB", Operation(8, 1, 4096)),
    ("flush", Operation(9)),
]


@pytest.mark.parametrize(("text", "operation"), READ)
def test_reads(text: str, operation: Operation) -> None:
    assert parse(text, "", NAMES) == operation


WRONG = [
    ("sned n1 1 kB", (0, 4)),
    ("send n9 1 kB", (5, 2)),
    ("send n1", (7, 1)),
    ("send n1 1 kX", (8, 4)),
    ("send n1 0 B", (8, 3)),
    ("send n1 3 GB", (8, 4)),
    ("send n1 1 kB tag", (16, 1)),
    ("send n1 1 kB tag -1", (17, 2)),
    ("send n1 1 kB now please", (13, 10)),
    ("receive n1 tag sender", (15, 6)),
    ("repeat for a while", (7, 3)),
    ("repeat -3", (7, 2)),
    ("wait", (4, 1)),
    ("wait 5", (5, 1)),
    ("barrier 3", (8, 1)),
    ("", (0, 1)),
]


@pytest.mark.parametrize(("text", "span"), WRONG)
def test_a_mistake_points_at_its_word(text: str, span: tuple[int, int]) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(text, "terminals.0.do.0", NAMES)
    assert caught.value.span == span
    assert caught.value.parameter == "terminals.0.do.0"


@given(st.text(st.sampled_from(list('sendrcivtaguipb 01"kBµ\n-.')), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text, "", NAMES)
    except ProgramError as error:
        start, length = error.span or (0, 0)
        assert 0 <= start <= len(text)
        assert length >= 1


WRITTEN = {
    "t0": ["repeat 3", "send t.1 1 kB tag 2", "wait 5 us", "end", "until 1 ms", "flush", "mark 4"],
    "t1": ["receive t.0 tag 2", "repeat 2", "receive any", "send sender 8 B tag same", "end", "barrier"],
    "t2": ["receive any", "send tagged 8 B tag sender"],
    "t3": ["send t.2 8 B tag 0"],
}


def test_what_is_written_is_what_is_shown() -> None:
    """A deadlock names operations as their author wrote them."""
    found = programs(operations(**WRITTEN))
    assert lists(found)[:4] == list(WRITTEN.values())


def test_times_of_operations() -> None:
    text = "repeat 3; send t.1 1 B; repeat 4; send t.2 1 B; end; send t.3 1 B; end; send t.1 1 B"
    found = programs(operations(t0=text.split("; ")))
    assert found.times()[found.kind == op.SEND].tolist() == [3, 12, 3, 1]
    endless = programs(
        operations(t0=["mark", "repeat", "wait 1 us", "send t.1 1 B", "end"], t1=["wait 1 us"])
    )
    assert endless.times().tolist() == [1, 1, np.inf, np.inf, np.inf, 1]


def demanded(program: dict[str, Any]) -> tuple[list[tuple[int, int, int, float]], bool]:
    """Return source, target, bytes and number of the messages of a program, and whether these are all."""
    found = programs(program)
    rows = zip(*(column.tolist() for column in found.demand), strict=True)
    return [tuple(row) for row in rows], found.is_told


def test_demand_counts_repeats_and_answers() -> None:
    """The terminal that a tag names is known only in a run."""
    found, all_told = demanded(operations(**WRITTEN))
    assert found == [(0, 1, 1000, 3), (3, 2, 8, 1), (1, 0, 8, 2)]
    assert not all_told


def test_answers_are_shared_among_those_who_ask() -> None:
    """A server answers every second message, of which one terminal sends three times as many as the other."""
    server = ["repeat", "receive any", "receive any", "send sender 1 kB", "end"]
    asks = {"t1": ["repeat 6", "send t.0 8 B", "end"], "t2": ["send t.0 8 B", "send t.0 8 B"]}
    assert demanded(operations(t0=server, **asks)) == (
        [(1, 0, 8, 6), (2, 0, 8, 1), (2, 0, 8, 1), (0, 1, 1000, 3), (0, 2, 1000, 1)],
        True,
    )


def test_answers_to_answers_are_not_told() -> None:
    asked = {
        "t0": ["send t.1 8 B", "receive any", "send sender 8 B"],
        "t1": ["receive any", "send sender 8 B"],
    }
    assert demanded(operations(**asked)) == ([(0, 1, 8, 1), (1, 0, 8, 1)], False)


def test_fragments_are_counted_from_the_sends() -> None:
    program = operations(t0=["repeat 2", "send t.1 1 B tag 0", "end", "send t.1 1 B tag 1"])
    found = programs({**program, "events": 2, "rate": "1 kHz"})
    assert found.events.fragments.tolist() == [2, 1]
    assert found.events.due_ps.tolist() == [0, 10**9]


def test_several_terminals_may_share_a_list() -> None:
    found = programs(
        {
            "kind": "operations",
            "terminals": [
                {"terminal": [0, "t.1"], "do": ["send t.2 1 B"]},
                {"terminal": 2, "do": ["repeat 2", "receive any", "end"]},
            ],
        }
    )
    assert lists(found)[:3] == [["send t.2 1 B"], ["send t.2 1 B"], ["repeat 2", "receive any", "end"]]


FABRICS = {"crossbar": CROSSBAR, "clos": CLOS, "ring": RING}
PROTOCOLS = {"raw": {}, "virtual-link": {"preset": "virtual-link"}, "pio": {"preset": "pio"}}
TOGETHER = [
    (fabric, protocol)
    for fabric in FABRICS
    for protocol in PROTOCOLS
    if (fabric == "ring") == (protocol == "pio") or protocol == "raw"
]


@pytest.mark.parametrize(("fabric", "protocol"), TOGETHER)
@pytest.mark.parametrize("name", READY)
def test_nothing_is_lost(name: str, fabric: str, protocol: str) -> None:
    """Every message arrives and every event is complete; the same run again gives the same."""
    settings = PROTOCOLS[protocol]
    if fabric == "ring" and protocol == "raw":
        settings = {"messages_at_once": 4}
    found = results(READY[name], FABRICS[fabric], protocol=settings, output={"messages": True})
    summary, messages = found.summary, found.summary["messages"]
    assert summary["end"]["reason"] == "drained", summary["end"]["message"]
    assert messages["made"] == messages["sent"] == messages["received"] == messages["measured"] > 0
    assert summary["events"]["complete"] == summary["events"]["count"]
    assert summary["events"]["incomplete"] == 0
    assert len(found.messages) == messages["made"]
    hosts = found.hosts
    assert hosts["bytes_sent"].sum() == hosts["bytes_received"].sum() == found.messages["bytes"].sum()
    assert hosts["blocked_share"].is_between(0, 1).all()
    assert (found.messages["latency_ns"] > 0).all()


@pytest.mark.parametrize("name", READY)
def test_as_many_are_received_as_are_sent(name: str) -> None:
    """Where all targets are known, each terminal's receives are its messages; others serve for ever."""
    found = programs(READY[name])
    times = found.times()
    sends, receives = found.kind == op.SEND, found.kind == op.RECEIVE
    if np.any(found.peer[sends] >= op.FIRST_SPECIAL):
        return
    sent, taken = Counter[int](), Counter[int]()
    for target, count in zip(found.peer[sends].tolist(), times[sends].tolist(), strict=True):
        sent[target] += int(count)
    for terminal, count in zip(found.terminal[receives].tolist(), times[receives].tolist(), strict=True):
        taken[terminal] += int(count)
    assert sent == taken


def test_all_to_all_orders() -> None:
    def targets(order: str | None) -> list[list[str]]:
        given = {"order": order} if order else {}
        found = programs({"kind": "all-to-all", "size": "8 B", "terminals": 4, **given})
        return [[text.split()[1] for text in do if text.startswith("send")] for do in lists(found)[:4]]

    assert targets("rotating")[1] == ["t.2", "t.3", "t.0"]
    assert targets("same")[1] == ["t.0", "t.2", "t.3"]
    assert [sorted(one) for one in targets("random")] == [sorted(one) for one in targets("same")]
    assert targets(None) == targets("random") != targets("rotating")


def test_random_choices_hang_on_the_seed_alone() -> None:
    again = [programs(READY["level-2"], seed=seed).peer.tolist() for seed in (3, 3, 4)]
    assert again[0] == again[1] != again[2]


def test_level_2_sources_are_different_and_round_robin_fair() -> None:
    base: dict[str, Any] = {"kind": "level-2", "block": "1 kB", "events": 40, "blocks_per_event": 3}
    found = programs({**base, "source_choice": "random"})
    sends = found.kind == op.SEND
    pairs = list(zip(found.tag[sends].tolist(), found.terminal[sends].tolist(), strict=True))
    assert len(set(pairs)) == len(pairs) == 120, "no source twice in an event"
    turn = programs({**base, "source_choice": "round-robin"})
    assert np.bincount(turn.terminal[turn.kind == op.SEND], minlength=4)[:4].tolist() == [30] * 4
    targets = Counter(turn.peer[turn.kind == op.SEND].tolist())
    assert set(targets.values()) == {30}


def test_blocks_are_shared_equally() -> None:
    found = programs(
        {"kind": "level-2", "block": "1 kB", "events": 1, "blocks_per_event": 1, "sources_per_block": 3}
    )
    assert sorted(found.size_bytes[found.kind == op.SEND].tolist()) == [333, 333, 334]


def test_round_robin_of_some_goes_through_whole_groups() -> None:
    """As the GPMIMD paper tells it of five of 21: what is left over does not send."""
    program = {"kind": "level-3", "fragment": "8 B", "events": 3, "sources_per_event": 2, "sources": 5}
    found = programs({**program, "targets": 3, "source_choice": "round-robin"})
    sends = found.kind == op.SEND
    assert [found.terminal[sends][found.tag[sends] == event].tolist() for event in range(3)] == [
        [0, 1],
        [2, 3],
        [0, 1],
    ]


def test_events_are_due_at_their_rate() -> None:
    base = {"kind": "level-3", "fragment": "8 B", "events": 4, "rate": "40 kHz"}
    found = programs(base)
    assert found.events.due_ps.tolist() == [0, 25_000_000, 50_000_000, 75_000_000]
    assert (
        found.amount[(found.kind == op.UNTIL) & (found.terminal == 0)].tolist()
        == found.events.due_ps.tolist()
    )
    moments = programs({**base, "events": 1000, "arrivals": "random"}).events.due_ps
    assert np.all(np.diff(moments) >= 0)
    assert moments[-1] < 1000 * 25_000_000
    assert 0.4 < moments.mean() / moments[-1] < 0.6


def test_a_barrel_shifter_never_sends_twice_to_one_place() -> None:
    """In each slot all sources that send do so to different destinations."""
    found = programs({"kind": "barrel-shifter", "fragment": "8 B", "events": 12, "slot": "10 us"})
    slots: dict[int, list[int]] = {}
    for row in np.flatnonzero(found.kind == op.SEND).tolist():
        slots.setdefault(int(found.amount[row - 1]), []).append(int(found.peer[row]))
    assert len(slots) == 15
    assert all(len(set(targets)) == len(targets) for targets in slots.values())


def test_credit_keeps_assignments_within_their_number() -> None:
    """No destination is ever sent fragments of more events than it has given credit for."""
    program = {"kind": "credit", "fragment": "500 B", "events": 30, "sources": 3, "credits": 1}
    found = results(program, output={"messages": True})
    messages = found.messages.to_dicts()
    fragments = [one for one in messages if one["bytes"] == 500]
    assert len(fragments) == 90
    for target in {one["target"] for one in fragments}:
        mine = [one for one in fragments if one["target"] == target]
        events = sorted({one["event"] for one in mine})
        ends = [max(one["received_ns"] for one in mine if one["event"] == event) for event in events]
        begins = [min(one["made_ns"] for one in mine if one["event"] == event) for event in events]
        assert all(begin > end for begin, end in zip(begins[1:], ends[:-1], strict=True))


def test_pulled_requests_stay_within_their_number() -> None:
    program = {"kind": "pull-level-3", "fragment": "500 B", "events": 4, "requests_at_once": 1, "targets": 1}
    messages = results({**program, "sources": 4}, output={"messages": True}).messages.to_dicts()
    answers = [one for one in messages if one["bytes"] == 500]
    assert len(answers) == 16
    order = sorted(messages, key=lambda one: one["made_ns"])
    assert [one["bytes"] for one in order] == [8, 500] * 16


def test_a_list_is_replayed(tmp_path: Any) -> None:
    rows = ["source,target,length,wait", "t.0,t.1,1 kB,10 us", "t.2,t.0,200 B,0 ns", "t.0,t.2,64 B,1 us"]
    (tmp_path / "list.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    program = {"kind": "descriptors", "path": str(tmp_path / "list.csv")}
    found = results(program, output={"messages": True})
    assert found.summary["end"]["reason"] == "drained"
    sent = found.messages.sort("source", "made_ns").select("source", "target", "bytes").rows()
    assert sent == [("t.0", "t.1", 1000), ("t.0", "t.2", 64), ("t.2", "t.0", 200)]
    again = results({**program, "repeat": True}, protocol={"messages_at_once": 1}, run={"duration": "1 ms"})
    assert again.summary["messages"]["received"] > 30


def test_streams_of_a_terminal_share_its_messages() -> None:
    """By hand: while stream 0 waits, stream 1 answers; who posts first receives first."""
    program = operations(t1=["send 0 64 B", "receive 0 tag 2", "mark 1", "receive 0 tag 1", "mark 2"])
    program["terminals"] += [
        {"terminal": 0, "do": ["wait 50 us", "send 1 64 B tag 1", "receive any", "mark 3"]},
        {"terminal": 0, "stream": 1, "do": ["receive any", "send sender 64 B tag 2"]},
        {"terminal": 2, "do": ["wait 99 us", "send 0 64 B"]},
    ]
    found = results(program)
    assert found.summary["end"]["reason"] == "drained"
    marks = dict(found.marks.select("mark", "at_ns").iter_rows())
    assert marks[1] < 20_000 < 50_000 < marks[2] < 99_000 < marks[3]


def test_a_stream_is_named_once() -> None:
    program = operations(t0=["send 1 64 B"], t1=["receive 0"])
    program["terminals"].append({"terminal": 0, "do": ["wait 1 us"]})
    with pytest.raises(ScenarioError, match="has a program already"):
        programs(program)
    program["terminals"][-1] = {"terminal": 0, "stream": 1, "do": ["repeat", "send 1 8 B", "end"]}
    with pytest.raises(ScenarioError, match="endless repeat that never waits"):
        programs(program, protocol={"messages_at_once": 0})
    program["terminals"][-1] = {"terminal": 0, "stream": 1, "do": ["send sender 8 B"]}
    with pytest.raises(ScenarioError, match="nothing was received before"):
        programs(program)
    program["terminals"][-1] = {"terminal": 0, "stream": 1, "do": ["repeat 2", "wait 1 us", "end", "mark 1"]}
    assert programs(program).stream is not None
    with pytest.raises(ScenarioError, match="cannot go through the layer"):
        programs(program, protocol={"layer": "control-word"})


LONG = "2 kB"


def announcing(limit: str = "1 kB", **more: Any) -> dict[str, Any]:
    return {"preset": "raw", "eager_limit": limit, **more}


def latency_ns(size: str, program: dict[str, Any] | None = None, **protocol: Any) -> float:
    """The latency of one message from terminal 0 to terminal 1, from its send to its last packet."""
    program = program or operations(t0=[f"send 1 {size}"], t1=["receive 0"])
    technology = {"preset": "infiniband-4x-edr"}
    found = results(
        program, protocol=announcing(**protocol), technology=technology, output={"messages": True}
    )
    assert found.summary["end"]["reason"] == "drained"
    return float(found.messages["latency_ns"][0])


@pytest.mark.parametrize("posted_us", [0, 1, 500])
def test_a_message_waits_for_announcement_receive_and_answer(posted_us: int) -> None:
    program = operations(t0=[f"send 1 {LONG}"], t1=[f"wait {posted_us} us", "receive 0"])
    short, whole = latency_ns("32 B"), latency_ns(LONG, limit="0 B")
    expected = max(short, posted_us * 1e3) + short + whole
    assert latency_ns(LONG, program) == pytest.approx(expected, abs=0.01)
    assert latency_ns(LONG, program, limit=LONG) == pytest.approx(whole, abs=0.01)
    wider = max(latency_ns("640 B"), posted_us * 1e3) + latency_ns("640 B") + whole
    assert latency_ns(LONG, program, announcement="640 B") == pytest.approx(wider, abs=0.01)


@pytest.mark.parametrize("topology", [CROSSBAR, RING], ids=["links", "rings"])
@pytest.mark.parametrize("name", READY)
def test_ready_programs_end_with_announced_messages(name: str, topology: dict[str, Any]) -> None:
    found = results(READY[name], topology, protocol=announcing("50 B")).summary
    assert found["end"]["reason"] == "drained"
    assert found["messages"]["received"] == found["messages"]["made"] >= found["messages"]["announced"] > 0


@pytest.mark.parametrize("topology", [CROSSBAR, RING], ids=["links", "rings"])
@settings(max_examples=15, deadline=None, phases=[Phase.generate], derandomize=True)
@given(data=st.data())
def test_programs_without_a_circle_end(topology: dict[str, Any], data: st.DataObject) -> None:
    program = data.draw(random_programs(8))
    limit = data.draw(st.sampled_from(["1 B", "63 B", "64 B", "500 B"]))
    preset = data.draw(st.sampled_from(["raw", "virtual-link", "verbs-infiniband"]))
    if topology is RING:
        preset = "pio"
    found = run(scenario(program, topology, protocol=announcing(limit, preset=preset))).summary
    assert found["end"]["reason"] == "drained", found["end"]["message"]
    assert found["messages"]["received"] == found["messages"]["made"]


def test_a_trace_waits_for_the_end_of_its_sends(tmp_path: Path) -> None:
    trace = tmp_path / "exchange.goal"
    rank = "rank {0} {{\nl1: send 2000b to {1}\nl2: recv 2000b from {1}\nl2 requires l1\n}}\n"
    trace.write_text("num_ranks 2\n" + rank.format(0, 1) + rank.format(1, 0))
    for limit, reason in ((LONG, "drained"), ("1 kB", "deadlocked")):
        found = results({"kind": "goal", "path": str(trace)}, protocol=announcing(limit)).summary["end"]
        assert found["reason"] == reason
    assert len(found["waiting"]) == 4
    trace.write_text(trace.read_text().replace("l2 requires l1\n", ""))
    found = results({"kind": "goal", "path": str(trace)}, protocol=announcing()).summary["end"]
    assert found["reason"] == "drained"


def exchange(limit: str) -> Results:
    each = {f"t{one}": [f"send {1 - one} {LONG}", "flush", f"receive {1 - one}"] for one in (0, 1)}
    return results(operations(**each), protocol=announcing(limit))


def test_two_that_send_first_are_named() -> None:
    assert exchange(LONG).summary["end"]["reason"] == "drained"
    end = exchange("1 kB").summary["end"]
    assert end["reason"] == "deadlocked"
    assert [text.split(": ")[1] for text in end["waiting"]] == [
        "flush",
        "flush",
        *(f"message of 2000 B to t.{to}" for to in (1, 0)),
    ]


def test_announcements_have_times_by_size_as_well() -> None:
    row = {"message": "32 B", "send_time": "0 ns", "receive_time": "0 ns", "send_gap_time": "0 ns"}
    slow = [{**row, "packet_time": "5 us"}, {**row, "message": LONG, "packet_time": "0 ns"}]
    fast = [{**one, "packet_time": "0 ns"} for one in slow]
    assert latency_ns(LONG, by_size=slow) - latency_ns(LONG, by_size=fast) == pytest.approx(10_000, abs=0.01)


def test_a_full_buffer_is_named() -> None:
    give = [f"send 1 100 B tag {tag}" for tag in (1, 2, 3)]
    program = operations(t0=give, t1=["wait 1 ms", *(f"receive 0 tag {tag}" for tag in (3, 2, 1))])
    for room, most in (("150 B", 100), ("200 B", 200)):
        protocol = {"preset": "virtual-link", "unexpected_buffer": room}
        found = results(program, protocol=protocol).summary
        assert found["hosts"]["unexpected_bytes_max"] == most
        assert found["end"]["reason"] == ("deadlocked" if most == 100 else "drained")
        full = "t.1: protocol.unexpected_buffer is full, 1 wait for room in it"
        assert (full in found["end"]["waiting"]) == (most == 100)


@pytest.mark.parametrize("window", [0, 1, 4, 5, 8])
@pytest.mark.parametrize("size", [2000, 10_000])
def test_a_receive_takes_a_message_of_which_all_packets_wait(size: int, window: int) -> None:
    """It needs no room then, whether some or all of its packets have arrived."""
    program = operations(t0=[f"send 1 {size} B"], t1=["wait 100 us", "receive 0"])
    protocol = {
        "preset": "raw",
        "packet": "2 kB",
        "acknowledge": "packet",
        "packets_per_channel": window,
        "unexpected_buffer": "1 kB",
    }
    end = results(program, CROSSBAR, protocol=protocol).summary["end"]
    assert end["reason"] == "drained"


@pytest.mark.parametrize("topology", [CROSSBAR, RING], ids=["links", "rings"])
@pytest.mark.parametrize("name", READY)
def test_ready_programs_end_with_room_for_a_message(name: str, topology: dict[str, Any]) -> None:
    protocol = {"preset": "raw", "acknowledge": "packet", "unexpected_buffer": "2000 B"}
    found = results(READY[name], topology, protocol=protocol).summary
    assert found["end"]["reason"] == "drained"
    assert found["hosts"]["unexpected_bytes_max"] <= 2000


@pytest.mark.parametrize(("preset", "limit_bytes"), [("mpi-infiniband", 8192), ("mpi-tcp", 65536)])
def test_presets_announce_what_is_longer_than_their_limit(preset: str, limit_bytes: int) -> None:
    for size, announced in ((limit_bytes, 0), (limit_bytes + 1, 1)):
        program = operations(t0=[f"send 1 {size} B"], t1=["receive 0"])
        topology = {"technology": {"preset": "infiniband-4x-edr"}}
        found = results(program, protocol={"preset": preset}, **topology)
        assert found.summary["messages"]["announced"] == announced
