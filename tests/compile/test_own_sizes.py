"""Buffers and lanes of single links, from a graph file to the engine.

Clocks of single switches, from a graph file to the engine.

A setting that changes nothing is named; one that matters, or that holds anyway, is not.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from fabriloom import run
from fabriloom.compile import compile
from fabriloom.compile.silent import silent_settings
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.simulate import compare
from fabriloom.topology import GraphError

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


CLOCKS_LINES = "kind,source,target,cycle\nswitch,a,,{}\nswitch,b,,{}\ncable,a,b,\n"
NETWORK_ON_CHIP = {"preset": "generic", "router_cycles": 2, "forward_cycles": 1, "crossbar": "link-rate"}


def clocks_scenario(folder: Path, lines: str, **technology: Any) -> Scenario:
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
    compiled = compile(clocks_scenario(tmp_path, CLOCKS_LINES.format("", "1.3 GHz")))
    arrays = compiled.arrays
    slow, fast = 13, 10
    assert compiled.tick_ps == pytest.approx(1000 / slow)
    assert arrays["switch_decode_ticks"].tolist() == [2 * slow, 2 * fast]
    assert arrays["switch_forward_ticks"].tolist() == [slow, fast]
    # Terminals are attached to a and b in turn, each cable both ways; then a>b and b>a.
    assert arrays["link_character_ticks"].tolist() == [slow] * 4 + [fast] * 4 + [slow, fast]
    assert arrays["grain_ticks"] == slow


def test_one_clock_for_all_is_the_cycle_of_the_technology(tmp_path: Path) -> None:
    own = compile(clocks_scenario(tmp_path, CLOCKS_LINES.format("500 MHz", "2 ns")))
    usual = compile(clocks_scenario(tmp_path, CLOCKS_LINES.format("", ""), cycle="2 ns"))
    timed = [name for name in own.arrays if name.startswith(("link_", "switch_")) and name.endswith("_ticks")]
    for name in timed:
        ours, theirs = (float(one.tick_ps) * one.arrays[name] for one in (own, usual))
        assert ours.tolist() == theirs.tolist()
    assert len(timed) >= 10


@pytest.mark.parametrize("cycle", ["1.3 GHz", "3 ns", "769.2 ps"])
def test_clocks_agree_with_the_twin(cycle: str, tmp_path: Path) -> None:
    assert compare(clocks_scenario(tmp_path, CLOCKS_LINES.format(cycle, "0.7 GHz"))).identical


def test_a_slow_switch_accepts_less(tmp_path: Path) -> None:
    found = {}
    for cycle in ("1 ns", "4 ns"):
        full = clocks_scenario(tmp_path, CLOCKS_LINES.format("1 ns", cycle)).with_settings(
            {"traffic.load": 1.0}
        )
        found[cycle] = run(full).summary["accepted_mbytes_per_s"]
    assert found["4 ns"] < 0.6 * found["1 ns"]


@pytest.mark.parametrize(
    ("lines", "technology", "message"),
    [
        ("source,target,cycle\na,b,2 ns\n", {}, "cycle has no meaning in a line of kind cable"),
        (CLOCKS_LINES.format("2", ""), {}, "give it a unit, or call it cycle_ps"),
        (CLOCKS_LINES.format("1 s", ""), {}, "a cycle is from 1 ps to 1 ms long"),
        (CLOCKS_LINES.format("2 ns", ""), {"preset": "spacewire-200"}, "has no cycle"),
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


SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"

BASE: dict[str, Any] = {
    "topology": {"kind": "grid", "shape": [2, 2]},
    "technology": {"preset": "generic"},
    "traffic": {"load": 0.3, "length": "64 B"},
}


def told(**more: Any) -> list[str]:
    """The settings that change nothing."""
    scenario = Scenario.from_dict({**BASE, **more})
    return [warning.split()[0] for warning in silent_settings(compile(scenario))]


@pytest.mark.parametrize(
    ("more", "silent"),
    [
        ({"technology": {"preset": "generic", "lane_arbiter": "fixed"}}, ["technology.lane_arbiter"]),
        ({"technology": {"preset": "generic", "lane_arbiter": "fixed", "lanes": 2}}, []),
        ({"technology": {"preset": "generic", "cable_delay": "7 ns/m"}}, ["technology.cable_delay"]),
        ({"technology": {"preset": "generic", "cable_delay": "7 ns/m", "cable_length": "10 m"}}, []),
        ({"technology": {"preset": "spacewire-200", "handover": "2 ns"}}, ["technology.handover"]),
        ({"technology": {"preset": "spacewire-200", "handover": "90 ns"}}, []),
        ({"technology": {"preset": "spacewire-200", "cable_length": "2 m"}}, []),
        ({"technology": {"preset": "generic", "mtu": "1 kB"}}, []),
        (
            {
                "traffic": {
                    "load": 0.1,
                    "length": {"kind": "table", "lengths": ["8 B", "1 kB"], "weights": [1, 1]},
                }
            },
            [],
        ),
    ],
)
def test_what_changes_nothing_is_named(more: dict[str, Any], silent: list[str]) -> None:
    assert told(**more) == silent


def test_a_choice_without_a_choice_is_named_once() -> None:
    data = {**BASE, "technology": {"preset": "ds-link-c104", "group_choice": "drawn"}}
    compiled = compile(Scenario.from_dict(data))
    said = [*compiled.warnings, *silent_settings(compiled)]
    assert len([warning for warning in said if "group_choice" in warning]) == 1


def test_a_setting_that_another_needs_changes_something() -> None:
    protocol = {"preset": "verbs-infiniband", "acknowledge": "packet", "resend_after": "100 us"}
    program = {"kind": "random-pairs", "size": "1 MiB"}
    data = {**BASE, "technology": {"preset": "infiniband-4x-edr"}, "protocol": protocol, "program": program}
    assert silent_settings(compile(Scenario.from_dict({**data, "traffic": {}}))) == []


def test_what_is_compared_with_the_run_is_no_setting_without_effect() -> None:
    protocol = {"channels_limit": 8, "requirements": [{"within": "1 ms"}]}
    program = {"kind": "ping-pong", "size": "8 B"}
    data = {**BASE, "protocol": protocol, "program": program, "routing": {"interval_labelling": True}}
    del data["traffic"]
    assert silent_settings(compile(Scenario.from_dict(data))) == []


def test_settings_inside_of_a_kind_are_tried_too() -> None:
    traffic = {"length": "64 B", "load": 0.2, "arrivals": {"kind": "on-off", "burst_packets": 4}}
    assert not told(traffic=traffic)


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.toml")), ids=lambda file: file.stem)
def test_no_ready_scenario_says_what_changes_nothing(file: Path) -> None:
    try:
        scenario = Scenario.from_dict(tomllib.loads(file.read_text("utf-8")), file.parent)
    except ScenarioError:
        return
    assert not silent_settings(compile(scenario))
