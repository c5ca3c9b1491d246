"""Buffers and lanes of single links, from a graph file to the engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom import run
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError

LINES = "kind,source,target,buffer,weight,lanes\ncable,a,b,16,2,4\ncable,b,c,,,\n"


def scenario(folder: Path, lines: str = LINES, **technology: object) -> Scenario:
    (folder / "net.csv").write_text(lines)
    return Scenario.from_dict(
        {
            "topology": {"kind": "file", "path": "net.csv", "terminals_per_switch": 1},
            "technology": {"preset": "generic", **technology},
            "traffic": {"load": 0.3},
            "run": {"duration": "20 us"},
        },
        folder,
    )


def test_a_link_has_its_own_buffer_and_lanes(tmp_path: Path) -> None:
    compiled = compile(scenario(tmp_path))
    arrays = compiled.arrays
    usual = arrays["link_input_buffer"][0]
    assert arrays["link_input_buffer"].tolist() == [usual] * 6 + [16, 16, usual, usual]
    assert arrays["lanes"] == 4
    used = set(arrays["group_links"].tolist())
    assert {24, 25, 26, 27} <= used
    assert {lane for lane in used if lane // 4 in (8, 9)} == {32, 36}
    assert run(compiled.scenario).summary["end"]["reason"] != "deadlocked"


def test_a_small_buffer_accepts_less(tmp_path: Path) -> None:
    lines = "source,target,buffer\na,b,{}\n"
    rates = []
    for buffer in (2, 64):
        found = scenario(tmp_path, lines.format(buffer), link_cycles=20).with_settings({"traffic.load": 1.0})
        rates.append(run(found).summary["accepted_mbytes_per_s"])
    assert rates[0] < 0.5 * rates[1]


@pytest.mark.parametrize(
    ("lines", "technology", "message"),
    [
        ("source,target,buffer\na,b,3 B\n", {}, "no whole number of flits"),
        ("source,target,lanes\na,b,17\n", {}, "it goes from 1 to 16"),
        ("source,target,buffer,buffer_bytes\na,b,3,5\n", {}, "say the same"),
        ("source,target,buffer\na,b,3\n", {"switching": "virtual-cut-through"}, "is too small for"),
    ],
)
def test_sizes_that_cannot_be_are_refused(
    lines: str, technology: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError, match=message):
        compile(scenario(tmp_path, lines, **technology))
