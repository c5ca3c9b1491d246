"""Clocks of single switches, from a graph file to the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import run
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.simulate import compare
from fabriloom.topology import GraphError

LINES = "kind,source,target,cycle\nswitch,a,,{}\nswitch,b,,{}\ncable,a,b,\n"
NETWORK_ON_CHIP = {"preset": "generic", "router_cycles": 2, "forward_cycles": 1, "crossbar": "link-rate"}


def scenario(folder: Path, lines: str, **technology: Any) -> Scenario:
    (folder / "net.csv").write_text(lines)
    return Scenario.from_dict(
        {
            "topology": {"kind": "file", "path": "net.csv", "terminals_per_switch": 2},
            "technology": NETWORK_ON_CHIP | technology,
            "traffic": {"load": 0.3, "length": "64 B"},
            "run": {"duration": "50 us"},
        },
        folder,
    )


def test_a_switch_and_the_links_that_leave_it_have_its_clock(tmp_path: Path) -> None:
    compiled = compile(scenario(tmp_path, LINES.format("", "1.3 GHz")))
    arrays = compiled.arrays
    slow, fast = 13, 10
    assert compiled.tick_ps == pytest.approx(1000 / slow)
    assert arrays["switch_decode_ticks"].tolist() == [2 * slow, 2 * fast]
    assert arrays["switch_forward_ticks"].tolist() == [slow, fast]
    # Terminals are attached to a and b in turn, each cable both ways; then a>b and b>a.
    assert arrays["link_character_ticks"].tolist() == [slow] * 4 + [fast] * 4 + [slow, fast]
    assert arrays["grain_ticks"] == slow


def test_one_clock_for_all_is_the_cycle_of_the_technology(tmp_path: Path) -> None:
    own = compile(scenario(tmp_path, LINES.format("500 MHz", "2 ns")))
    usual = compile(scenario(tmp_path, LINES.format("", ""), cycle="2 ns"))
    timed = [name for name in own.arrays if name.startswith(("link_", "switch_")) and name.endswith("_ticks")]
    for name in timed:
        ours, theirs = (float(one.tick_ps) * one.arrays[name] for one in (own, usual))
        assert ours.tolist() == theirs.tolist()
    assert len(timed) >= 10


@pytest.mark.parametrize("cycle", ["1.3 GHz", "3 ns", "769.2 ps"])
def test_clocks_agree_with_the_twin(cycle: str, tmp_path: Path) -> None:
    assert compare(scenario(tmp_path, LINES.format(cycle, "0.7 GHz"))).identical


def test_a_slow_switch_accepts_less(tmp_path: Path) -> None:
    found = {}
    for cycle in ("1 ns", "4 ns"):
        full = scenario(tmp_path, LINES.format("1 ns", cycle)).with_settings({"traffic.load": 1.0})
        found[cycle] = run(full).summary["accepted_mbytes_per_s"]
    assert found["4 ns"] < 0.6 * found["1 ns"]


@pytest.mark.parametrize(
    ("lines", "technology", "message"),
    [
        ("source,target,cycle\na,b,2 ns\n", {}, "cycle has no meaning in a line of kind cable"),
        (LINES.format("2", ""), {}, "give it a unit, or call it cycle_ps"),
        (LINES.format("1 s", ""), {}, "a cycle is from 1 ps to 1 ms long"),
        (LINES.format("2 ns", ""), {"preset": "spacewire-200"}, "has no cycle"),
    ],
)
def test_clocks_that_cannot_be_are_refused(
    lines: str, technology: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "net.csv").write_text(lines)
    topology = {"kind": "file", "path": "net.csv", "terminals_per_switch": 1}
    technology = {"preset": "generic"} | technology
    wrong = Scenario.from_dict({"topology": topology, "technology": technology}, tmp_path)
    with pytest.raises((ScenarioError, GraphError), match=message):
        compile(wrong)
