"""Messages that are announced and sent when their receive is posted, and room for those that are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import run
from fabriloom.results import Results
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from .common import CROSSBAR, READY, RING, operations, results, scenario
from .test_runs import random_programs

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
