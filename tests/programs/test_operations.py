"""Operations as they are written and read."""

from __future__ import annotations

import numpy as np
import pytest
from fabriloom.programs import ProgramError
from fabriloom.programs.kinds import ANY, SAME, SEND, SENDER, SENDER_NUMBER, TAGGED
from fabriloom.programs.parse import Operation, parse
from fabriloom.traffic.names import Terminals
from hypothesis import given
from hypothesis import strategies as st

from .common import lists, operations, programs

NAMES = Terminals(["n0", "n1", "any", "two words"])
READ = [
    ("send n1 1 kB tag 3", Operation(SEND, 1, 1000, 3)),
    ("send n1 1kB", Operation(SEND, 1, 1000)),
    ("send 0 2_000 B", Operation(SEND, 0, 2000)),
    ('send "two words" 64 B', Operation(SEND, 3, 64)),
    ("send sender 8 B tag same", Operation(SEND, SENDER, 8, SAME)),
    ("send tagged 8 B tag sender", Operation(SEND, TAGGED, 8, SENDER_NUMBER)),
    ("receive", Operation(1)),
    ("receive any", Operation(1, 2)),
    ("receive tag 7", Operation(1, ANY, 0, 7)),
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
    nested = [
        "repeat 3",
        "send t.1 1 B",
        "repeat 4",
        "send t.2 1 B",
        "end",
        "send t.3 1 B",
        "end",
        "send t.1 1 B",
    ]
    found = programs(operations(t0=nested))
    assert found.times()[found.kind == SEND].tolist() == [3, 12, 3, 1]
    endless = programs(
        operations(t0=["mark", "repeat", "wait 1 us", "send t.1 1 B", "end"], t1=["wait 1 us"])
    )
    assert endless.times().tolist() == [1, 1, np.inf, np.inf, np.inf, 1]


def test_demand_counts_repeats_and_leaves_out_answers() -> None:
    found = programs(operations(**WRITTEN))
    source, target, size, count = found.demand()
    assert list(zip(source, target, size, count, strict=True)) == [(0, 1, 1000, 3), (3, 2, 8, 1)]


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
