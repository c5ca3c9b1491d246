"""Frames, priorities, reservations and tables of lanes, as SpaceFibre and InfiniBand have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import Scenario, load, report, run
from fabriloom.compile import compile
from fabriloom.scenario import ScenarioError
from fabriloom.studies.inspection import inspect
from fabriloom.technology import technology
from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.lanes import LaneRules

ROOT = Path(__file__).resolve().parents[2]
BLOCK = 1024
"""Bytes of a packet in the tests of tables: it is 16 credits."""


def two_into_one(preset: str, length: str = f"{BLOCK} B", **own: Any) -> Scenario:
    """Terminals 0 and 1 send all they can to 3, on lanes 0 and 1."""
    classes = [{"from": [0, 2, 3], "lanes": [0]}, {"from": [1], "lanes": [1]}]
    pattern = {"kind": "hot-spot", "target": 3, "share": 1.0}
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 4},
            "technology": {"preset": preset, "lanes": 2, **own},
            "routing": {"traffic_class": classes},
            "traffic": {"arrivals": "backlog", "pattern": pattern, "senders": [0, 1], "length": length},
            "run": {"duration": "4 ms", "warmup": "500 us", "precision": 0},
        }
    )


def parts(scenario: Scenario) -> list[float]:
    """The part of the shared link that each lane had."""
    lanes = run(scenario).lanes
    return lanes.filter(lanes["link"] == "s>t.3")["utilisation"].to_list()


@pytest.mark.parametrize("reserved", [(0.5, 0.5), (0.8, 0.2), (0.25, 0.75), (0.9, 0.02)])
def test_greedy_lanes_get_what_is_reserved(reserved: tuple[float, float]) -> None:
    """What nobody has reserved goes to who has overdrawn least; a limit leaves both at it in the end."""
    found = parts(two_into_one("spacefibre-2g5", lane_reserved=list(reserved)))
    assert sum(found) == pytest.approx(1, abs=0.003)
    if sum(reserved) == 1:
        assert found == pytest.approx(reserved, abs=0.003)
    else:
        assert found[0] > reserved[0] - 0.003
        assert found[1] > reserved[1]


def test_reservation_by_words_of_frames() -> None:
    """A busy link sends 64 words of 66: its goodput is exact but for the packets at both ends."""
    done = run(two_into_one("spacefibre-2g5", "4094 B", lane_reserved=[0.5, 0.5]))
    assert done.summary["accepted_mbytes_per_s"] == pytest.approx(250 * 64 / 66 * 4094 / 4096, rel=0.01)
    words = done.links.filter(done.links["link"] == "s>t.3")["characters"].item()
    assert words * 16e-9 / 3.5e-3 == pytest.approx(64 / 66, rel=2e-3)


def test_check_counts_frames() -> None:
    """The most that check allows is what a run of more than that reaches, but for the packets at its ends."""
    written = load(ROOT / "scenarios" / "spacefibre-mass-memory.toml")
    [cable, _] = inspect(written)["demanded"]["over"]
    accepted = run(written).summary["accepted_mbytes_per_s"]
    assert accepted == pytest.approx(cable["possible_mbytes_per_s"], rel=0.01)
    assert technology("spacefibre-2g5").data_bytes_per_s() == pytest.approx(250e6 * 64 / 66)


def test_a_report_has_what_each_lane_had() -> None:
    written = load(ROOT / "scenarios" / "spacefibre-mass-memory.toml")
    text = report.for_run(run(written))
    assert "Beyond that" in text
    assert "router-1&gt;router-2" in text
    assert "Beyond that" not in report.for_run(run(two_into_one("infiniband-4x-edr")))


def test_the_camera_keeps_its_part_beside_a_greedy_radar() -> None:
    written = load(ROOT / "scenarios" / "spacefibre-mass-memory.toml")
    found = run(written).flows
    rate = dict(zip(found["source"], found["mbytes_per_s"], strict=True))
    assert rate["camera"] == pytest.approx(162.5, rel=0.02), "all that it sends"
    assert 70 < rate["radar"] < 85, "the rest"


@pytest.mark.parametrize(
    ("tables", "second"),
    [
        ({"lane_low": "0:64,1:192"}, 3 / 4),
        ({"lane_low": "0:16,1:16"}, 1 / 2),
        ({"lane_high": "1:4", "lane_low": "0:64", "lane_high_limit": 0}, 1 / 2),
        ({"lane_high": "1:4", "lane_low": "0:64", "lane_high_limit": 1}, 4 / 5),
        ({"lane_high": "1:4", "lane_low": "0:64", "lane_high_limit": 255}, 1),
    ],
)
def test_tables_of_infiniband_divide_a_link(tables: dict[str, Any], second: float) -> None:
    """Weights of 16 are a packet of 1024 B; a limit of 4096 B are four, then one of low priority."""
    found = parts(two_into_one("infiniband-4x-edr", lane_arbiter="weighted", **tables))
    assert found == pytest.approx([1 - second, second], abs=0.005)


def test_infiniband_takes_turns_unless_tables_are_given() -> None:
    arrays = compile(two_into_one("infiniband-4x-edr")).arrays
    rules = ("lane_priority", "lane_share_millionths", "lane_table_lane", "link_frame_start_ticks")
    assert not any(len(arrays[name]) for name in rules)
    assert len(run(two_into_one("infiniband-4x-edr")).lanes) == 0


def test_more_than_the_link_is_told() -> None:
    found = compile(two_into_one("spacefibre-2g5", lane_reserved=[0.9, 0.6])).warnings
    assert [one for one in found if "lane_reserved promises 150 %" in one]
    assert compile(two_into_one("spacefibre-2g5", lane_reserved=[0.4, 0.6])).warnings == []


def test_both_rates_have_the_same_delays() -> None:
    slow, fast = technology("spacefibre-2g5"), technology("spacefibre-6g25")
    for name in ("decode_latency_ps", "forward_latency_ps"):
        assert float(getattr(fast, name)) == pytest.approx(float(getattr(slow, name)), rel=0.06)
    assert float(fast.arrival_ps() - slow.arrival_ps()) == pytest.approx(0, abs=20_000)


@pytest.mark.parametrize(
    "text", ["1", ":", "a:1", "1:b", "1:256", "-1:4", "1:-4", "1:4;2:4", "99999999:1", "١:2"]
)
def test_odd_tables_are_refused(text: str) -> None:
    with pytest.raises(TechnologyError, match="is no lane with a weight"):
        LaneRules(low=text).tables  # noqa: B018


@pytest.mark.parametrize("text", ["", "64", "3-2", "-1", "1-", "a", "0--3", "0-64", "1,,2", "٣"])
def test_odd_time_slots_are_refused(text: str) -> None:
    with pytest.raises(TechnologyError, match="is no time-slot"):
        LaneRules(slots=(text,)).slot_bits  # noqa: B018


def test_time_slots_divide_a_link() -> None:
    """A lane with a quarter of the slots has a quarter, but for the frame at the end of each of its slots."""
    own = {"lane_slots": ["0-15", "16-63"], "lane_slot_cycles": 1000, "lane_reserved": [0.5, 0.5]}
    assert LaneRules(slots=("0-15", "16-63")).slot_bits == [2**16 - 1, 2**64 - 2**16]
    scenario = two_into_one("spacefibre-2g5", **own)
    run_for = {"duration": "5.12 ms", "warmup": "1.024 ms", "precision": 0}
    whole_rounds = Scenario.from_dict({**scenario.raw, "run": run_for})
    assert parts(whole_rounds) == pytest.approx([0.25, 0.75], abs=0.01)


def test_time_slots_are_met_by_chance_without_classes() -> None:
    own = {"preset": "spacefibre-2g5", "lanes": 2, "lane_reserved": [0.5, 0.5], "lane_slot_cycles": 6250}
    slots = [("0-31", "32-63"), ("0-31", "0-31")]
    data = {"topology": {"kind": "ring", "switches": 3}, "traffic": {"load": 0.1}}
    by_chance, alike = (
        compile(Scenario.from_dict({**data, "technology": {**own, "lane_slots": list(one)}})) for one in slots
    )
    assert any("lanes with different time-slots" in text for text in by_chance.warnings)
    assert not any("time-slots" in text for text in alike.warnings)
    classes = [{"from": [0], "lanes": [0]}, {"from": [1, 2], "lanes": [1]}]
    named = {"kind": "up*/down*", "traffic_class": classes}
    own = {**own, "lane_slots": list(slots[0])}
    told = compile(Scenario.from_dict({**data, "routing": named, "technology": own})).warnings
    assert not any("time-slots" in text for text in told)


def test_weights_hold_beside_pause() -> None:
    """Terminals that are paused one by one share a link by the weights of their lanes."""
    weighted = {"lane_arbiter": "weighted", "lane_low": "0:48,1:16"}
    found = parts(two_into_one("ethernet-100m", **weighted))
    assert found[0] / found[1] == pytest.approx(3, rel=0.1)


def test_pause_is_not_within_packets() -> None:
    own = {"preset": "ethernet-100m", "lanes": 2, "lane_sharing": "flit"}
    with pytest.raises(ScenarioError, match="pause"):
        compile(Scenario.from_dict({"topology": {"kind": "crossbar", "terminals": 3}, "technology": own}))


def test_a_cable_of_frames_with_the_rate_of_its_wire_is_a_warning(tmp_path: Path) -> None:
    """A lane of 2.5 Gbit/s has 2 Gbit/s of data, which the rates of cables count."""
    file = tmp_path / "cables.csv"

    def warned(rate: str, preset: str = "spacefibre-2g5") -> list[str]:
        file.write_text(f"kind,source,target,rate\nterminal,a,r,{rate}\nterminal,b,r,\n")
        topology = {"kind": "file", "path": str(file)}
        return list(
            compile(Scenario.from_dict({"topology": topology, "technology": {"preset": preset}})).warnings
        )

    assert ["coded 8b10b carries 2 Gbit/s" in one for one in warned("2.5 Gbit/s")] == [True]
    assert warned("2 Gbit/s") == warned("") == warned("125 Gbit/s", "infiniband-4x-edr") == []
