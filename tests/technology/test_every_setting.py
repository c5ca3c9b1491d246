"""Each setting of each preset of links changes what is simulated, or is refused: none is passed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.technology import presets
from fabriloom.technology.presets import is_ring

OTHER: dict[str, Any] = {
    "crossbar": ["fast", "link-rate"],
    "arbiter": ["fifo", "round-robin"],
    "group_choice": ["first", "random"],
    "flow_control": ["average", "ignored"],
    "fault_stops": ["cable", "link"],
    "lane_sharing": ["flit", "packet"],
    "lane_arbiter": ["round-robin", "fixed"],
    "lane_priority": [[1, 0]],
    "lane_reserved": [[0.5, 0.3]],
    "lane_slots": [["0-31", "32-63"]],
    "lane_high": ["1:1"],
    "lane_low": ["0:1,1:2"],
    "switching": ["wormhole", "virtual-cut-through", "store-and-forward"],
    "input_queues": ["fifo", "per-output"],
    "router_latency": ["40 sys + 9 tx"],
    "router_switching": ["7 sys"],
    "router_receive": ["3 sys"],
    "time_code_latency": ["6 sys + 11 tx"],
}
NOT_IN_ARRAYS = {
    "first_port": "limit of what a file may give",
    "last_port": "limit of what a file may give",
    "first_address": "limit of what a file may give",
    "last_address": "limit of what a file may give",
    "credit_limit": "refused where it would be felt",
    "mtu": "the default length of packets, and their limit",
    "character_bytes": "no setting",
    "end_carries_data": "no setting",
}
BASE: dict[str, Any] = {
    "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2, "links_per_edge": 2},
    "traffic": {"length": "256 B", "load": 0.2},
    "routing": {"kind": "up*/down*", "adaptive": True},
    "fault": [{"link": "s(0,0)>s(0,1)#0", "at": "10 us", "repaired": "400 us"}],
    "run": {"duration": "1 ms"},
}
BESIDE: dict[str, dict[str, Any]] = {
    "cable_delay": {"cable_length": "10 m"},
    "lane_arbiter": {"lanes": 2},
    "lane_priority": {"lanes": 2},
    "lane_slots": {"lanes": 2},
}
"""Settings without which another one matters to nothing."""
CASES = [
    (preset, name)
    for preset in presets()
    if not is_ring(preset)
    for name in presets()[preset].entries
    if name not in NOT_IN_ARRAYS
]


def other(name: str, value: Any) -> list[Any]:
    """Values that differ from the preset's."""
    if name in OTHER:
        return [one for one in OTHER[name] if one != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value * 2 or 4]
    number, unit = str(value).split()
    amount = float(number)
    more = [amount * 2, amount + 1, amount * 64] if amount else [8.0, 500.0]
    return [f"{one:g} {unit}" for one in more]


def arrays(technology: dict[str, Any], **more: Any) -> dict[str, Any]:
    return compile(Scenario.from_dict({**BASE, "technology": technology, **more})).arrays


def differ(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return any(not np.array_equal(np.asarray(one[name]), np.asarray(two[name])) for name in one)


@pytest.mark.parametrize(("preset", "name"), CASES)
def test_a_setting_has_an_effect(preset: str, name: str) -> None:
    more: dict[str, Any] = {}
    if name.startswith("time_code") or name == "interrupt_hold":
        more = {
            "time_code": [{"master": 0, "every": "100 us"}],
            "interrupt": [{"source": 1, "number": 3, "every": "400 us"}],
            "fault": [],
        }
    if name == "via_header":
        more = {"routing": {"kind": "shortest-path", "universal": True}, "fault": []}
    beside = {key: value for key, value in BESIDE.get(name, {}).items() if key in presets()[preset].entries}
    if "lanes" in beside and presets()[preset].entries["lane_reserved"].value:
        beside |= {"lane_reserved": [0.5, 0.5]}
    if name.startswith("pause"):
        more = {"fault": []}
    elif "pause_above_flits" in presets()[preset].entries:
        beside |= {"pause_above_flits": 0, "pause_until_flits": 0}
    usual = arrays({"preset": preset, **beside}, **more)
    told: list[str] = []
    for value in other(name, presets()[preset].entries[name].value):
        try:
            changed = arrays({"preset": preset, **beside, name: value}, **more)
        except ScenarioError as error:
            told.append(str(error))
            continue
        if differ(usual, changed):
            return
    assert told, f"{name} has no effect in {preset}"
