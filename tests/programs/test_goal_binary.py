"""Traces in binary GOAL: the same programs as from the text."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from fabriloom import Scenario
from fabriloom.compile import compile
from fabriloom.programs.table import Programs
from fabriloom.scenario import ScenarioError

from .common import lists

SEND, RECEIVE, CALC = 1, 2, 3
Rank = tuple[list[tuple[int, int, int, int]], dict[int, list[int]], dict[int, list[int]]]
"""Operations as type, size, peer and tag; those that wait for the end, and for the beginning, of each."""
RANKS: list[Rank] = [
    (
        [(CALC, 100, 0, 0), (SEND, 8, 1, 42), (RECEIVE, 9, 1, 2**32 - 1), (CALC, 5, 0, 0)],
        {0: [1], 2: [3]},
        {1: [2]},
    ),
    ([(RECEIVE, 8, 2**32 - 1, 42), (SEND, 9, 0, 3)], {0: [1]}, {}),
]
TEXT = """num_ranks 2
rank 0 {
a: calc 100
b: send 8b to 1 tag 42
c: recv 9b from 1 tag any
d: calc 5
b requires a
c irequires b
d requires c
}
rank 1 {
a: recv 8b from any tag 42
b: send 9b to 0 tag 3
b requires a
}
"""


def binary(ranks: list[Rank] = RANKS) -> bytes:
    """Return a file as LogGOPSim's own writer lays it out."""
    parts, places, at = [], b"", 6 + 16 * len(ranks)
    for operations, ends, begins in ranks:
        waits = [
            sum(one in more for table in (ends, begins) for more in table.values())
            for one in range(len(operations))
        ]
        roots = [one for one, count in enumerate(waits) if not count]
        part = struct.pack(f"<II{len(roots)}I", len(operations), len(roots), *roots)
        appendix: list[int] = []
        for number, (kind, size, peer, tag) in enumerate(operations):
            part += struct.pack("<IBIQIBB", waits[number], kind, peer, size, tag, 0, 0)
            for table in (ends, begins):
                part += struct.pack("<II", len(table.get(number, [])), len(appendix))
                appendix += table.get(number, [])
        part += struct.pack(f"<{len(appendix)}I", *appendix)
        places += struct.pack("<QQ", at, at + len(part))
        at += len(part)
        parts.append(part)
    return struct.pack("<QIBB", 4223, len(ranks), 0, 0) + places + b"".join(parts)


def programs(folder: Path, content: bytes) -> Programs:
    (folder / "trace.goal").write_bytes(content)
    program = {"kind": "goal", "path": "trace.goal"}
    found = compile(
        Scenario.from_dict({"topology": {"kind": "crossbar", "terminals": 2}, "program": program}, folder)
    ).programs
    assert found is not None
    return found


def test_the_same_as_from_text(tmp_path: Path) -> None:
    ours, theirs = programs(tmp_path, binary()), programs(tmp_path, TEXT.encode())
    assert lists(ours) == lists(theirs)
    assert [one.tolist() for one in ours.needs or ()] == [one.tolist() for one in theirs.needs or ()]


def test_two_receives_at_a_time(tmp_path: Path) -> None:
    """What waits for two receives is a graph, and both are under way from the beginning."""
    graph: Rank = ([(RECEIVE, 8, 1, 0), (RECEIVE, 8, 1, 1), (CALC, 7, 0, 0)], {0: [2], 1: [2]}, {})
    sender: Rank = ([(SEND, 8, 0, 1), (SEND, 8, 0, 0)], {}, {})
    found = programs(tmp_path, binary([graph, sender]))
    assert found.needs is not None
    assert [one.tolist() for one in found.needs[:3]] == [[], [], [0, 2]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (binary()[:-1], "is not in the file"),
        (binary()[:20], "ranks are announced"),
        (binary()[:9], "the file ends after 9 bytes"),
        (binary([([(7, 0, 0, 0)], {}, {})]), "operation 0 is of the unknown type 7"),
        (binary([([(CALC, 1, 0, 0)], {0: [5]}, {})]), "there is no operation 5 of 1"),
        (binary([([(SEND, 8, 3, 0)], {}, {})]), "at byte 42: rank 3 is no other one of 1"),
        (binary([([(CALC, 1, 0, 0), (CALC, 1, 0, 0)], {0: [1], 1: [0]}, {})]), "waits for itself"),
        (
            binary().replace(struct.pack("<IIII", 1, 0, 0, 1), struct.pack("<IIII", 9, 0, 0, 1), 1),
            "more operations wait",
        ),
    ],
)
def test_wrong_files(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=message):
        programs(tmp_path, content)
