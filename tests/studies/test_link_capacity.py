"""What ``check`` says that a link carries is what a run carries, and it names what limits it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom.scenario import Scenario
from fabriloom.studies.inspection import inspect
from fabriloom.technology import presets, technology
from fabriloom.technology.presets import is_ring

LINKS = [name for name in presets() if not is_ring(name)]


def of(topology: dict[str, Any], tech: dict[str, Any], traffic: dict[str, Any]) -> Scenario:
    backlog = {"arrivals": "backlog", "pattern": {"kind": "shift", "by": 1}}
    run = {"duration": "100 ms", "precision": 0.003}
    return Scenario.from_dict(
        {"topology": topology, "technology": tech, "traffic": backlog | traffic, "run": run}
    )


def told(scenario: Scenario) -> tuple[float, float, str]:
    """The rates of one link and of the throughput that ``check`` prints, and what limits."""
    found = inspect(scenario)
    bound = found["channel_load"]["accepted_mbytes_per_s_bound"]
    return found["link"]["payload_mbytes_per_s"], bound, found["link"]["limited_by"]


@pytest.mark.parametrize("preset", LINKS)
@pytest.mark.parametrize("length", ["1 B", "63 B", "65 B", "100 B", "128 B", "1001 B", "2048 B"])
def test_a_cable_carries_what_is_said_to_be_its_payload(preset: str, length: str) -> None:
    longest = technology(preset).mtu_bytes
    if 0 < longest < int(length.split()[0]):
        length = f"{longest} B"
    scenario = of({"kind": "cable"}, {"preset": preset}, {"length": length})
    one, bound, _ = told(scenario)
    accepted = fabriloom.run(scenario).summary["accepted_mbytes_per_s"]
    assert accepted == pytest.approx(bound, rel=0.01)
    assert 2 * one == pytest.approx(bound, rel=0.01)


CASES = [
    ({}, "8 B", 4000, "hand-over"),
    ({}, "64 B", 7111, "hand-over"),
    ({"lanes": 3}, "8 B", 8000, "wire"),
    ({"link_cycles": 400, "input_buffer_flits": 64}, "64 B", 640, "buffer"),
    ({"cable_length": "80 m", "input_buffer_flits": 64}, "64 B", 640, "buffer"),
    ({"forward_cycles": 30, "router_cycles": 1}, "64 B", 7111, "hand-over"),
]


@pytest.mark.parametrize(("changed", "length", "rate", "limit"), CASES)
def test_what_limits_a_link_is_named(changed: dict[str, Any], length: str, rate: float, limit: str) -> None:
    tech = {"preset": "generic", "output_buffer_flits": 64, "input_buffer_flits": 64, **changed}
    scenario = of({"kind": "crossbar", "terminals": 2}, tech, {"length": length, "senders": [0]})
    one, bound, limited_by = told(scenario)
    accepted = fabriloom.run(scenario).summary["accepted_mbytes_per_s"]
    assert (one, bound, accepted) == pytest.approx((rate, rate, rate), rel=0.01)
    assert limited_by == limit


def test_padding_is_no_payload() -> None:
    """65 B take two flits of 64 B; the rate asked for is of the 65."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 2},
            "technology": {"preset": "infiniband-4x-edr"},
            "traffic": {"length": "65 B", "rate": "100 MB/s"},
            "run": {"duration": "1 ms", "warmup": "0 s", "precision": 0.0},
        }
    )
    found = fabriloom.run(scenario).summary
    assert found["packets"]["offered"] == pytest.approx(2 * 1e8 / 65 / 1000, rel=0.05)
    assert found["offered_mbytes_per_s"] == pytest.approx(200, rel=0.05)
    assert "50.8 %" in inspect(scenario)["link"]["flits"]


def test_a_small_packet_is_sent_in_every_cycle_of_the_infiniband_preset() -> None:
    """A latency is no occupancy: 64 B back to back through a switch are 100 Gbit/s, with one lane as well."""
    for lanes in (1, 4):
        tech = {"preset": "infiniband-4x-edr", "lanes": lanes}
        scenario = of({"kind": "crossbar", "terminals": 2}, tech, {"length": "64 B", "senders": [0]})
        accepted = fabriloom.run(scenario).summary["accepted_mbytes_per_s"]
        assert accepted == pytest.approx(12_500, rel=0.01)
    assert technology("infiniband-4x-edr").mtu_bytes == 2048


@pytest.mark.parametrize(
    ("preset", "gbit_per_s", "switch_ns"), [("fdr", 600 / 11, 188), ("hdr", 200, 131), ("ndr", 400, 131)]
)
def test_infiniband_of_other_rates(preset: str, gbit_per_s: float, switch_ns: float) -> None:
    """From 1 B to the MTU a link carries whole flits back to back, as check says; a switch adds its delay."""
    tech = {"preset": f"infiniband-4x-{preset}"}
    pair = {"kind": "crossbar", "terminals": 2}
    for size in (1, 64, 65, 1000, 2048):
        scenario = of(pair, tech, {"length": f"{size} B", "senders": [0]})
        accepted = fabriloom.run(scenario).summary["accepted_mbytes_per_s"]
        assert accepted == pytest.approx(gbit_per_s * 125 * size / (64 * math.ceil(size / 64)), rel=0.01)
        assert accepted == pytest.approx(told(scenario)[0], rel=0.01)
    near = {"kind": "grid", "shape": [1, 2], "terminals_per_switch": 1}
    times = [
        inspect(of(network, {**tech, "cable_length": "0 m"}, {"length": "64 B", "senders": [0]}))[
            "zero_load_latency_ns"
        ]["min"]
        for network in (pair, near)
    ]
    assert times[1] - times[0] == pytest.approx(switch_ns, rel=0.01)


def test_links_of_other_rates_have_their_share(tmp_path: Path) -> None:
    """The usual rate of this preset is a fraction; half of the rate is half of the throughput."""
    bounds = []
    for rate in ("100 Gbit/s", "50 Gbit/s"):
        lines = [f"terminal,t{at},s,{rate}" for at in (0, 1)]
        text = "\n".join(["kind,source,target,rate", *lines, ""])
        (tmp_path / "net.csv").write_text(text, encoding="utf-8")
        topology = {"kind": "file", "path": str(tmp_path / "net.csv")}
        bounds.append(told(of(topology, {"preset": "infiniband-4x-edr"}, {"length": "2048 B"}))[1])
    assert bounds[0] == pytest.approx(25_000, rel=0.01)
    assert bounds[1] == pytest.approx(bounds[0] / 2, rel=0.01)
