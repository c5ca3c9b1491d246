"""Presets are complete and sourced, and the arithmetic of the published links comes out exactly.

Each setting of each preset of links changes what is simulated, or is refused: none is passed over.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.technology import TechnologyError, presets, technology
from fabriloom.technology.presets import KINDS, is_ring, settings


@pytest.mark.parametrize("name", presets())
def test_every_number_has_a_kind_and_a_source(name: str) -> None:
    preset = presets()[name]
    assert preset.title
    assert preset.about.endswith(".")
    for key, entry in preset.entries.items():
        assert entry.kind in KINDS, key
        assert len(entry.source) > 15, f"{key}: say where the number comes from"


def test_ds_link_arithmetic() -> None:
    """100 Mbit/s, 10-bit data, 4-bit control characters, one flow-control character for 8 characters."""
    link = technology("ds-link-c104")
    assert link.character_ps() == 105_000
    assert link.end_ps() == 45_000
    assert link.flow_control_ps() == 40_000
    assert link.data_bytes_per_s() == pytest.approx(9.5238e6, rel=1e-5)
    assert 256 * link.data_bytes_per_s() == pytest.approx(2.44e9, rel=2e-3)
    assert 32 * link.data_bytes_per_s() == pytest.approx(305e6, rel=2e-3)
    assert link.packet_ps(64) == 66 * 105_000 + 45_000


@pytest.mark.parametrize("header_bytes", [1, 2])
def test_saturation_of_the_macrame_clos_is_57_percent(header_bytes: int) -> None:
    """1.35 GB/s of 256 links at the 64 B packet rate is printed as 57 %; both header lengths round to it."""
    link = technology("ds-link-c104", {"header_bytes": header_bytes})
    assert round(100 * 1.35e9 / (256 * link.payload_bytes_per_s(64))) == 57


def test_flow_control_ignored() -> None:
    link = technology("ds-link-c104", {"flow_control": "ignored"})
    assert (link.character_ps(), link.end_ps()) == (100_000, 40_000)
    assert link.data_bytes_per_s() == 10e6


def test_times_along_the_cable() -> None:
    link = technology("ds-link-c104", {"cable_length_m": 10.0, "receiver_latency_ps": 7, "turn_around_ps": 9})
    assert link.arrival_ps() == 105_000 + 50_000 + 7
    assert link.credit_ps() == 40_000 + 50_000 + 9
    assert link.arrival_ps(length_m=0.0) == 105_007
    assert link.character_ps(50_000_000) == 210_000


def test_published_buffers() -> None:
    found = {name: technology(name) for name in presets() if name.startswith("ds-link")}
    sizes = {name: (t.input_buffer_chars, t.output_buffer_chars) for name, t in found.items()}
    assert sizes["ds-link-c104"] == (43, 23)
    assert sizes["ds-link-c104-32-32"] == (32, 32)
    assert sum(sizes["ds-link-c104-70"]) == 70
    for other in found.values():
        same = dataclasses.replace(other, preset="", input_buffer_chars=43, output_buffer_chars=23)
        assert same == dataclasses.replace(found["ds-link-c104"], preset="")


def test_spacewire_constants() -> None:
    """ECSS-E-ST-50-12C: 10-bit data, 4-bit control characters, 8 per FCT, at most 56 outstanding."""
    link = technology("spacewire-200")
    assert link.character_ps() == 52_500
    assert link.input_buffer_chars == link.credit_limit_chars == 56
    assert link.credit_quantum_chars == 8
    assert link.crossbar_ps == 50_000, "flow control does not cross"


def test_generic_packet_of_n_flits_takes_n_cycles() -> None:
    link = technology(
        "generic", {"cycle_ps": 500, "flit_bytes": 4, "link_cycles": 3, "turn_around_cycles": 2}
    )
    for flits in range(1, 20):
        assert link.packet_ps(4 * flits) == 500 * flits
        assert link.payload_chars(4 * flits) == link.payload_chars(4 * flits - 3) == flits - 1
    assert link.character_ps() == link.end_ps() == link.crossbar_ps == 500
    assert link.arrival_ps() == 1500
    assert link.credit_ps() == (2 + 3) * 500, "a credit is on its way as long as a flit"
    assert link.release_ps == link.front_ps == 500
    assert link.decode_latency_ps == 500


def test_a_stage_at_the_input_is_of_switches() -> None:
    link = technology("generic", {"link_cycles": 2, "input_cycles": 3})
    assert link.arrival_ps() == 2000
    assert link.arrival_ps() - link.receiver_latency_ps + link.receiver_ps() == 5000
    assert link.credit_ps() == 3000, "a credit passes no such stage"


def test_rates_and_cycles_are_exact_fractions() -> None:
    """A third of a nanosecond is exact; what no short tick holds is rounded by less than a millionth."""
    assert technology("ds-link-c104").rounded() == 0
    odd = technology("ds-link-c104", {"link_rate_bits_per_s": 333_000_000})
    assert 0 < odd.rounded() < 1e-6
    assert odd.character_ps() == Fraction(3153153, 100)
    third = technology("generic", {"cycle_ps": Fraction(1000, 3)})
    assert (third.character_ps(), third.rounded()) == (Fraction(1000, 3), 0)
    cables = technology("generic", {"cycle_ps": Fraction(10000, 13), "cable_length_m": 200.0})
    assert abs(cables.cable_ps() / 10**6 - 1) < 1e-6
    assert (cables.cable_ps() / (cables.grain_ps / 1000)).denominator == 1, "a short tick divides both"


@pytest.mark.parametrize(
    ("preset", "overrides", "words", "parameter"),
    [
        ("ds-link", {}, 'did you mean "ds-link-c104"', "preset"),
        ("ds-link-c104", {"header": 1}, "has no setting", "header"),
        ("ds-link-c104", {"input_buffer_bytes": 4}, "smaller than one credit", "input_buffer"),
        ("ds-link-c104", {"output_buffer_bytes": 0}, "holds no character", "output_buffer"),
        ("ds-link-c104", {"header_bytes": 60}, "cannot hold a header", "input_buffer"),
        ("ds-link-c104", {"header_bytes": 37}, "a header could wait for itself", "input_buffer"),
        ("generic", {"cycle_ps": 0}, "above zero", "cycle"),
        ("generic", {"cycle_ps": 7, "flit_bytes": 1}, "less than 10 ps", "cycle"),
    ],
)
def test_refused(preset: str, overrides: dict[str, Any], words: str, parameter: str) -> None:
    with pytest.raises(TechnologyError) as caught:
        technology(preset, overrides)
    assert words in f"{caught.value} {caught.value.hint}"
    assert caught.value.parameter == parameter


@pytest.mark.parametrize(
    ("preset", "rate", "hint"),
    [
        ("ethernet-100g", 2 * 10**12, 'write at most "800 Gbit/s", or take a technology of longer flits'),
        ("spacewire-200", 10**12, 'write at most "400 Gbit/s"'),
    ],
)
def test_a_cable_too_fast_for_a_preset(preset: str, rate: int, hint: str) -> None:
    with pytest.raises(TechnologyError) as caught:
        technology(preset).check_rate(rate)
    assert caught.value.hint == hint


def test_none_leaves_the_preset() -> None:
    assert technology("generic", dict.fromkeys(settings("generic"))) == technology("generic")


def test_links_of_the_gpmimd_machine() -> None:
    """9.26 MB/s: 32 B in a packet, and the flow control for the acknowledgement that comes back."""
    link = technology("t9000-c104", {"flow_control": "ignored"})
    assert link.packet_ps(32) == 3_440_000
    assert link.packet_ps(0) == 240_000
    header_ps = link.header_chars * link.character_ps()
    assert header_ps + link.decode_latency_ps + link.forward_latency_ps == 1_000_000


def test_a_credit_limit_that_would_be_felt_is_refused() -> None:
    """49 ends of packets of 20 ns are under way for 1 us: up to some 80 m the buffer alone decides."""
    large = {"input_buffer_bytes": 512}
    technology("spacewire-200", large).check_credit(length_m=50.0)
    technology("spacewire-200").check_credit(length_m=5000.0)
    with pytest.raises(TechnologyError, match="credit ends at credit_limit, 56 characters"):
        technology("spacewire-200", large).check_credit(length_m=500.0)


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
LANES = ("spare_physical_lanes", "realign_cycles")
"""Settings of physical lanes that fail."""
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
    if name in LANES and presets()[preset].entries["frame_flits"].value:
        beside |= {"physical_lanes": 2}
        more = {"fault": [{**BASE["fault"][0], "physical_lanes": 1}]}
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
