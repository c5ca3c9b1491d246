"""Links of several physical lanes: columns of words, and lanes that fail while the link goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import Results, Scenario, load, run
from fabriloom.compile.physical_lanes import rate_changes
from fabriloom.results import columns
from fabriloom.simulate import compare
from fabriloom.studies.inspection import inspect, lines
from fabriloom.technology.lanes import LaneRules

ROOT = Path(__file__).resolve().parents[2]
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
