"""Traces in GOAL as programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom import Results, Scenario, run
from fabriloom.compile import compile
from fabriloom.scenario import ScenarioError

from .common import lists

RING = """num_ranks 3
// each waits for the one before it
rank 0 {
    l1: calc 100 cpu 0
    l2: send 8b to 1 tag 42 cpu 0 nic 0
    l3: recv 1000b from 2 tag 7
    l2 requires l1
    l3 requires l2
    l4: calc 5
    l4 requires l3
}
rank 1 {
    a: recv 8b from 0 tag 42
    c: calc 50
    b: send 0b to 2
    b requires c
    c requires a
}
rank 2
{
    recv 0b from any
    x: send 1000b to 0 tag 7
}
"""


def scenario(folder: Path, text: str, terminals: int = 4) -> Scenario:
    (folder / "trace.goal").write_text(text, encoding="utf-8")
    program = {"kind": "goal", "path": "trace.goal"}
    return Scenario.from_dict(
        {"topology": {"kind": "crossbar", "terminals": terminals}, "program": program}, folder
    )


def results(folder: Path, text: str) -> Results:
    return run(scenario(folder, text))


def test_a_trace_is_a_program(tmp_path: Path) -> None:
    text = RING.replace("x: send 1000b to 0 tag 7", "x: send 1000b to 0 tag 7\n y: calc 1\n y requires x")
    text = text.replace("recv 0b from any", "r: recv 0b from any").replace(
        "y: calc", "x requires r\n y: calc"
    )
    found = compile(scenario(tmp_path, text)).programs
    assert found is not None
    assert lists(found)[:3] == [
        ["wait 100 ns", "send t.1 8 B tag 42", "receive t.2 tag 7", "wait 5 ns"],
        ["receive t.0 tag 42", "wait 50 ns", "send t.2 1 B tag 0"],
        ["receive any tag 0", "send t.0 1 kB tag 7", "wait 1 ns"],
    ]
    ran = results(tmp_path, text).summary
    assert ran["end"]["reason"] == "drained"
    assert ran["messages"]["received"] == 3


def test_what_follows_a_receive_has_to_wait_for_it(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="nothing says that this comes after line 21"):
        compile(scenario(tmp_path, RING))


def test_the_checksum_is_that_of_the_trace(tmp_path: Path) -> None:
    text = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"
    first = scenario(tmp_path, text).sha256
    assert scenario(tmp_path, text.replace("8b", "9b")).sha256 != first
