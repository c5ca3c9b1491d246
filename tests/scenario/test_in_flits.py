"""Sizes in flits mean the bytes that these carry."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Scenario, ScenarioError

MESH: dict[str, Any] = {
    "topology": {"kind": "grid", "shape": [2, 2]},
    "technology": {"preset": "generic", "flit": "16 B"},
}


@pytest.mark.parametrize(
    ("written", "bytes_"),
    [
        ("5 flits", "80 B"),
        ("1 flit", "16 B"),
        ({"kind": "uniform", "min": "1 flit", "max": "5 flits"}, {"min": "16 B", "max": "80 B"}),
        ({"kind": "table", "lengths": ["1 flit", "64 B"]}, {"lengths": ["16 B", "64 B"]}),
    ],
)
def test_lengths_of_packets(written: Any, bytes_: Any) -> None:
    found = Scenario.from_dict({**MESH, "traffic": {"length": written}}).resolved["traffic"]["length"]
    wanted = bytes_ if isinstance(bytes_, dict) else {"value": bytes_}
    assert {key: found[key] for key in wanted} == wanted


def test_the_flit_of_the_preset_and_of_the_sweep() -> None:
    scenario = Scenario.from_dict(
        {**MESH, "traffic": {"length": "2 flits"}, "sweep": {"technology.flit": ["4 B", "8 B"]}}
    )
    lengths = [one.resolved["traffic"]["length"]["value"] for _, one in scenario.points()]
    assert lengths == ["8 B", "16 B"]


def test_messages_of_programs() -> None:
    program = {"kind": "ping-pong", "size": "3 flits"}
    found = Scenario.from_dict({**MESH, "program": program}).resolved
    assert found["program"]["size"] == "48 B"


def test_links_without_flits() -> None:
    scenario = {**MESH, "technology": {"preset": "ds-link-c104"}, "traffic": {"length": "5 flits"}}
    with pytest.raises(ScenarioError, match='unknown unit "flits" in "5 flits"'):
        Scenario.from_dict(scenario)
