"""Frames, priorities, reservations and tables of lanes, as SpaceFibre and InfiniBand have them.

Links of several physical lanes: columns of words, and lanes that fail while the link goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import Results, Scenario, load, report, run
from fabriloom.compile import compile
from fabriloom.compile.physical_lanes import rate_changes
from fabriloom.results import columns
from fabriloom.simulate import compare
from fabriloom.studies.inspection import inspect, lines
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


def test_packets_for_several_targets_follow_each_other_in_other_lanes() -> None:
    """A lane whose output is not free yet leaves the link to the others, so all of the wire is used."""
    flows = [{"source": 0, "target": target, "length": "256 B", "rate": "70 MB/s"} for target in (1, 2, 3, 4)]
    written = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 5},
            "technology": {"preset": "spacefibre-2g5"},
            "traffic": {"arrivals": "constant", "pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "1 ms", "warmup": "100 us", "precision": 0},
        }
    )
    most = inspect(written)["demanded"]["accepted_mbytes_per_s_bound"]
    assert run(written).summary["accepted_mbytes_per_s"] == pytest.approx(most, rel=1e-3)


def test_what_other_lanes_carry_while_one_hands_over_is_allowed() -> None:
    """One of two lanes has all packets of a trial, while in the network they take both in turn."""
    tech = {
        "preset": "generic",
        "lanes": 2,
        "switching": "virtual-cut-through",
        "input_buffer_flits": 400,
        "router_cycles": 3,
        "lane_arbiter": "reserved",
        "lane_reserved": [0, 0],
        "lane_priority": [2, 0],
        "lane_credit_limit_flits": 4,
    }
    traffic = {"pattern": {"kind": "shift", "by": 2}, "arrivals": "backlog", "length": "18 B", "senders": [0]}
    written = Scenario.from_dict(
        {
            "topology": {"kind": "clos", "terminals": 16, "switch_ports": 8},
            "technology": tech,
            "routing": {"kind": "up-down", "lane_choice": "destination"},
            "traffic": traffic,
            "run": {"duration": "50 us", "warmup": "5 us", "precision": 0},
        }
    )
    found = inspect(written)
    accepted = run(written).summary["accepted_mbytes_per_s"]
    assert 1.3 * found["link"]["payload_mbytes_per_s"] < accepted
    assert accepted <= found["channel_load"]["accepted_mbytes_per_s_bound"] * 1.001


def test_a_lane_with_all_its_credit_carries_more_but_not_more_than_check_allows() -> None:
    """By hand: of 10 flits 8 wait 11 cycles for two credits, and the first two not at all: 10 in 46 cycles.

    In a trial the next packet takes the same lane, and waits, too.
    """
    tech = {"preset": "generic", "lanes": 4, "lane_arbiter": "fixed", "lane_priority": [0, 2, 0, 1]}
    rest = {"input_buffer_flits": 2, "output_buffer_flits": 1, "link_cycles": 5, "router_cycles": 0}
    written = Scenario.from_dict(
        {
            "topology": {"kind": "clos", "terminals": 16, "switch_ports": 8},
            "technology": tech | rest,
            "routing": {"kind": "up-down"},
            "traffic": {"pattern": {"kind": "shift", "by": 5}, "arrivals": "backlog", "length": "80 B"},
            "run": {"duration": "50 us", "warmup": "5 us", "precision": 0},
        }
    )
    found, accepted = inspect(written), run(written).summary["accepted_mbytes_per_s"]
    assert found["link"]["payload_mbytes_per_s"] == pytest.approx(8000 * 2 / 11)
    assert 16 * 8000 * 2 / 11 * 1.1 < accepted <= 16 * 8000 * 10 / 46
    assert found["channel_load"]["accepted_mbytes_per_s_bound"] == pytest.approx(
        16 * 8000 * 10 / 46, rel=0.03
    )


def test_frames_on_a_longer_path_carry_more_but_not_more_than_check_allows() -> None:
    """In small buffers packets wait, and a frame takes several: more before the second of three switches."""
    tech = {
        "preset": "generic",
        "lanes": 3,
        "lane_sharing": "frame",
        "input_buffer_flits": 2,
        "link_cycles": 5,
    }
    rules = {"frame_flits": 64, "frame_start_flits": 2, "frame_end_flits": 1, "output_buffer_flits": 1}
    accepted = []
    for switches in (2, 3):
        written = Scenario.from_dict(
            {
                "topology": {
                    "kind": "grid",
                    "shape": [switches],
                    "terminals_per_switch": 1,
                    "links_per_edge": 4,
                },
                "technology": tech | rules | {"group_choice": "random", "crossbar": "link-rate"},
                "traffic": {
                    "pattern": {"kind": "shift", "by": switches - 1},
                    "arrivals": "backlog",
                    "length": "27 B",
                    "senders": [0],
                },
                "run": {"duration": "100 us", "warmup": "5 us", "precision": 0},
            }
        )
        accepted.append(run(written).summary["accepted_mbytes_per_s"])
        assert accepted[-1] <= inspect(written)["channel_load"]["accepted_mbytes_per_s_bound"] * 1.001
    assert accepted[1] > 1.2 * accepted[0]


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


SHARED = {
    "frame": {"preset": "spacefibre-2g5", "lane_reserved": [0.5, 0.5]},
    "packet": {"preset": "generic", "lane_sharing": "packet"},
    "flit": {"preset": "generic", "lane_sharing": "flit"},
}


@pytest.mark.parametrize("sharing", SHARED)
@pytest.mark.parametrize(("slots", "part"), [(["0-15", "16-63"], 16 / 64), (["1,3,62-63", "4-60"], 4 / 64)])
def test_a_lane_carries_what_check_counts_of_its_time_slots(
    sharing: str, slots: list[str], part: float
) -> None:
    """Two lanes that send as much as each other carry twice what the one with fewer slots does."""
    own = {"lane_slots": slots, "lane_slot_cycles": 1000, **SHARED[sharing]}
    both = two_into_one(length="256 B", **own)
    found = inspect(both)
    wire = found["link"]["wire_mbytes_per_s"]
    assert 2 * part * wire <= found["channel_load"]["accepted_mbytes_per_s_bound"] < 2 * (part + 0.02) * wire
    slot_ns = 1000 * compile(both).technology.character_ps() / 1000
    times = {"duration": f"{64 * 20 * slot_ns} ns", "warmup": f"{64 * 4 * slot_ns} ns", "precision": 0}
    classes = {"traffic_class": [{"from": [0, 1, 2, 3], "lanes": [0]}]}
    alone = Scenario.from_dict({**both.raw, "routing": classes, "run": times})
    most = inspect(alone)["channel_load"]["accepted_mbytes_per_s_bound"]
    assert run(alone).summary["accepted_mbytes_per_s"] == pytest.approx(most, rel=0.03)


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


@pytest.mark.parametrize("sharing", ["packet", "flit"])
def test_weights_hold_beside_pause(sharing: str) -> None:
    """Terminals that are paused one by one share a link by the weights of their lanes."""
    weighted = {"lane_arbiter": "weighted", "lane_low": "0:48,1:16", "lane_sharing": sharing}
    found = parts(two_into_one("ethernet-100m", **weighted))
    assert found[0] / found[1] == pytest.approx(3, rel=0.1)


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


LINK = "s>t.2"


def busy_link(fault: list[dict[str, Any]] | None = None, **own: Any) -> Scenario:
    """Terminals 0 and 1 fill the link to 2 with packets that fill their words."""
    sizes = {"input_buffer_flits": 4096, "output_buffer_flits": 256}
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 3},
            "technology": {"preset": "spacefibre-2g5", **sizes, **own},
            "traffic": {
                "arrivals": "backlog",
                "pattern": {"kind": "hot-spot", "target": 2, "share": 1.0},
                "senders": [0, 1],
                "length": "4094 B",
            },
            "run": {"duration": "4 ms", "warmup": "500 us", "precision": 0},
            **({"fault": fault} if fault else {}),
        }
    )


def words_a_cycle(results: Results) -> float:
    """Words of data that the link carries in the time of a word on one physical lane."""
    words = results.links.filter(results.links["link"] == LINK)["characters"].item()
    return words * 16 / results.summary["measured_ns"]


@pytest.mark.parametrize(("lanes", "columns"), [(1, 66), (2, 34), (3, 24), (4, 18), (16, 6)])
def test_frames_take_whole_columns(lanes: int, columns: int) -> None:
    """64 words between a column that begins a frame and one that ends it."""
    done = run(busy_link(physical_lanes=lanes))
    assert words_a_cycle(done) == pytest.approx(64 / columns, rel=2e-3)


@pytest.mark.parametrize(("failed", "columns"), [(1, 24), (2, 34), (3, 66)])
def test_a_link_goes_on_with_the_lanes_that_are_left(failed: int, columns: int) -> None:
    """Nothing is lost, and the rate is that of a link with so many lanes; a spare one replaces one."""
    fault = [{"link": LINK, "physical_lanes": failed, "at": "0 ns"}]
    done = run(busy_link(fault, physical_lanes=4))
    assert words_a_cycle(done) == pytest.approx(64 / columns, rel=2e-3)
    assert done.summary["packets"]["lost"] == 0
    spared = run(busy_link(fault, physical_lanes=4, spare_physical_lanes=failed))
    assert words_a_cycle(spared) == pytest.approx(64 / 18, rel=2e-3)
    assert spared.summary["faults"]["links"] == 0


def test_the_last_lane_takes_the_link_with_it() -> None:
    """One lane fails, then the other; both come back in turn."""
    times = [("1 ms", "2 ms"), ("1500 us", "2500 us")]
    fault = [{"link": LINK, "physical_lanes": 1, "at": at, "repaired": end} for at, end in times]
    scenario = busy_link(fault, physical_lanes=2)
    done = run(scenario)
    row = done.links.filter(done.links["link"] == LINK).row(0, named=True)
    assert row["down_ns"] == pytest.approx(516e3, rel=0.01)  # with the restart
    assert row["narrow_ns"] == pytest.approx(1503e3, rel=0.01)
    assert done.summary["packets"]["lost"] > 0
    assert compare(scenario).identical


def test_both_engines_agree_on_lanes_that_come_and_go() -> None:
    fault = [{"cable": "all", "physical_lanes": 1, "mtbf": "100 us", "mttr": "30 us"}] * 2
    bits = [{"cable": "all", "bit_error_rate": 1e-7, "replay": True}]
    scenario = busy_link(
        fault + bits, physical_lanes=3, spare_physical_lanes=1, lanes=2, lane_reserved=[0.2, 0.5]
    )
    found = compare(scenario)
    assert found.identical
    assert found.packets > 100


def test_a_lane_less_in_the_middle_of_a_run() -> None:
    """The scenario of the guide: what is left of 470.6 MB/s is 242.4."""
    faults = run(load(ROOT / "scenarios" / "spacefibre-lane-fails.toml")).summary["faults"]
    assert faults["during_mbytes_per_s"] == pytest.approx(242, rel=0.03)
    assert faults["before_mbytes_per_s"] > 360
    assert faults["after_mbytes_per_s"] > 390


def test_check_says_what_is_left() -> None:
    """What check says beforehand is what a run accepts with one lane of two all the time."""
    found = inspect(load(ROOT / "scenarios" / "spacefibre-lane-fails.toml"))
    slower, shown = found["slower"], dict(lines(found))
    assert {f"slower.{name}" for name in slower} == set(columns.SLOWER_CHECK.names)
    assert slower["links"] == ["router-1>router-2", "router-2>router-1"]
    assert (slower["physical_lanes"], slower["of_physical_lanes"]) == (1, 2)
    assert slower["mbytes_per_s_bound"] == pytest.approx(slower["payload_mbytes_per_s"])
    assert shown["slower"].endswith("the slowest router-1>router-2: 241.9 MB/s with 1 of 2 physical lanes")
    assert shown["meanwhile"].startswith("at most 241.9 MB/s in these proportions, at scale 0.605: ")
    overrides = ["traffic.scale=2", "fault.0.at=1 us", "fault.0.repaired=5999 us", "run.warmup=100 us"]
    ran = run(load(ROOT / "scenarios" / "spacefibre-lane-fails.toml", overrides))
    assert ran.summary["accepted_mbytes_per_s"] == pytest.approx(slower["mbytes_per_s_bound"], rel=0.01)


def test_check_without_rates_and_with_spare_lanes() -> None:
    fault = [{"cable": "all", "physical_lanes": 1, "mtbf": "100 us", "mttr": "30 us"}]
    found = inspect(busy_link(fault, physical_lanes=4))
    slower, whole = found["slower"], found["channel_load"]["accepted_mbytes_per_s_bound"]
    assert slower["mbytes_per_s_bound"] / whole == pytest.approx(3 / 4 * (72 / 64) / (24 * 3 / 64))
    assert "slower" not in inspect(busy_link(fault, physical_lanes=4, spare_physical_lanes=1))


def test_changes_that_meet() -> None:
    """What changes in a pause waits for its end; repaired spare lanes cause none."""
    rules = LaneRules(frame_chars=64, physical=2, spare=1)

    def ticks(_: int, left: int) -> int:
        return 100 // left

    lost = [([7], 10, 60, 1), ([7], 12, None, 1), ([7], 80, 90, 1)]
    changes, failures = rate_changes(lost, rules, 5, ticks)
    assert [(one.down, one.up, one.character) for one in changes] == [
        (10, 15, 50), (15, 20, 100), (60, 65, 50), (80, 85, 100), (90, 95, 50),
    ]  # fmt: skip
    assert failures == []
    _, failures = rate_changes([([7], 10, 20, 1), ([7], 12, None, 2)], rules, 5, ticks)
    assert failures == [([7], 12, 20)]
