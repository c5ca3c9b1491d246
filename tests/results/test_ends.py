"""Event builders are judged by their steady state, and a run says what it cannot tell.

What is measured when a run ends early, stands still, or tells its rounds.

Rings on which packets are sent again and again and nothing gets on, and those that only look so.

What lanes change in whole runs: who deadlocks, and what a buffer per output is good for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import Results, Scenario, curve, run, simulate
from fabriloom.compile import compile
from fabriloom.compile import compile as compiled_of
from fabriloom.page.live import Live
from fabriloom.report.page import number, plus_minus
from fabriloom.results import statistics
from fabriloom.results.limit import alike
from fabriloom.results.signals import covered
from fabriloom.results.steady import of_events, settled

INTERVAL = 10_000.0


def judged(latency: np.ndarray, **more: float) -> Any:
    due = np.arange(len(latency)) * INTERVAL
    end = float(np.nanmax(due + latency))
    return of_events(due, due + latency, latency, more.get("begin", 0.0), more.get("end", end), INTERVAL)


def test_equal_latencies_keep_up_and_few_events_cannot_tell() -> None:
    assert judged(np.full(1000, 33_720.0)).keeps_up is True
    assert judged(np.full(10, 33_720.0)).keeps_up is None
    assert judged(np.full(1000, 33_720.0)).per_ns == pytest.approx(1 / INTERVAL)


def test_latency_that_grows_falls_behind_and_one_that_levels_off_does_not() -> None:
    number = np.arange(400)
    behind = judged(30_000 + 3000.0 * number)
    assert behind.keeps_up is False
    assert behind.growth == pytest.approx(0.3)
    assert behind.per_ns == pytest.approx(1 / (INTERVAL + 3000))
    assert judged(30_000 * (1 - np.exp(-number / 20))).keeps_up is True


def test_noise_is_not_growth() -> None:
    """At 95 % a steady run is called growing in at most 2.5 of 100 runs; 200 runs of a fixed seed."""
    dice = np.random.default_rng(1)
    verdicts = [judged(dice.exponential(30_000, 300)).keeps_up for _ in range(200)]
    assert verdicts.count(False) <= 12
    slowly = [judged(dice.exponential(30_000, 3000) + 500 * np.arange(3000)).keeps_up for _ in range(20)]
    assert slowly == [False] * 20


def test_events_that_are_never_complete_count_with_their_age() -> None:
    latency = np.full(100, 30_000.0)
    latency[50:] = np.nan
    assert judged(latency, end=2e6).keeps_up is False
    latency[50:97] = 30_000.0
    assert judged(latency, end=1e6).keeps_up is True, "three are still being built"


def test_the_warm_up_that_is_left_out_is_the_transient() -> None:
    values = np.concatenate([np.full(20, 1.0), np.full(80, 9.0)])
    assert settled(values) == 20
    assert settled(np.full(50, 2.0)) == 0


BARREL = {
    "topology": {"kind": "crossbar", "terminals": 8},
    "technology": {"preset": "infiniband-4x-edr"},
    "program": {
        "kind": "barrel-shifter",
        "events": 10,
        "fragment": "10 kB",
        "slot": "10 us",
        "sources": 4,
        "targets": [4, 5, 6, 7],
    },
}


def test_ten_events_tell_nothing_and_two_hundred_do() -> None:
    few, many = (run(Scenario.from_dict(BARREL).with_settings({"program.events": n})) for n in (10, 200))
    assert "too short to tell whether their latency grows" in few.summary["verdict"]
    assert many.summary["verdict"].startswith("Keeps up: builds 100,000")
    for found in (few, many):
        assert found.summary["events"]["achieved_per_s"] == pytest.approx(1e5)


def test_a_builder_that_falls_behind_names_its_cause() -> None:
    """Eight boards send to one of four builders at a time: packets wait for the link into it."""
    program = {
        "kind": "level-3",
        "events": 150,
        "fragment": "400 B",
        "rate": "20 kHz",
        "sources": 8,
        "targets": [8, 9, 10, 11],
    }
    protocol = {"preset": "virtual-link", "messages_at_once": 2}
    given = {"topology": {"kind": "crossbar", "terminals": 12}, "technology": {"preset": "ds-link-c104"}}
    base = Scenario.from_dict({**given, "program": program, "protocol": protocol, "run": {"duration": "1 s"}})
    summary = run(base).summary
    assert summary["keeps_up"] is False
    assert summary["verdict"].startswith("Falls behind: builds ")
    assert summary["limit"]["what"] in ("incast", "link")
    slow = base.with_settings({"protocol.send_time": "100 us"})
    limit = run(slow).summary["limit"]
    assert (limit["what"], limit["reached"]) == ("host", True)
    far = {"topology.kind": "crossbar"}
    narrow = base.with_settings({**far, "protocol.ack_time": "60 us", "protocol.messages_at_once": 1})
    assert run(narrow).summary["limit"]["what"] in ("window", "incast")


def test_what_faults_leave_undone_is_no_deadlock() -> None:
    program = {**BARREL["program"], "events": 40, "targets": [4, 5, 6, 7]}
    fault = [{"link": "s>t.5", "at": "101 us", "repaired": "105 us"}]
    summary = run(Scenario.from_dict({**BARREL, "program": program, "fault": fault})).summary
    assert summary["packets"]["lost"] > 0
    assert summary["end"]["reason"] == "incomplete"
    assert "lost by faults and is not sent again" in summary["end"]["message"]
    assert summary["verdict"].startswith("Faults left gaps: ")
    assert summary["events"]["complete"] >= 36


def test_a_link_is_named_only_if_it_stands_out() -> None:
    packets = np.full(16, 400.0)
    busy = np.linspace(0.60, 0.64, 16)
    assert len(alike(busy, packets, 15, np.arange(16))) == 16
    busy[3] = 0.95
    assert alike(busy, packets, 3, np.arange(16)).tolist() == [3]
    assert alike(np.array([0.1, 0.0]), np.array([500.0, 0.0]), 0, np.arange(2)).tolist() == [0]


def test_links_without_packets_are_not_like_one_with_a_few() -> None:
    flows = [{"source": 0, "target": 1, "period": "1 us", "length": "64 B", "count": 3}]
    few = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "generic"},
        "traffic": {"pattern": {"kind": "flows", "flows": flows}},
    }
    assert run(Scenario.from_dict(few)).summary["limit"]["name"] == "t.0>s"


def test_of_links_in_use_all_the_time_that_limits_for_which_packets_wait() -> None:
    """The target of all others sends, too: its own link out is full, and in nobody's way."""
    incast = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "ethernet-100g"},
        "traffic": {"pattern": {"kind": "hot-spot", "target": 3, "share": 1.0}, "arrivals": "backlog"},
        "run": {"duration": "100 us"},
    }
    found = run(Scenario.from_dict(incast))
    assert found.links.filter(link="t.3>s")["utilisation"].item() == 1
    assert found.summary["limit"]["name"] == "s>t.3"


def test_order_statistics_enclose_a_percentile() -> None:
    """Of 400 samples of 300 values, 95 in 100 intervals enclose the true median; the seed is fixed."""
    dice, hit = np.random.default_rng(3), 0
    for _ in range(400):
        values = np.sort(dice.exponential(1.0, 300))
        low, high = statistics.percentile_ci95(values, np.ones(300, np.int64), 0.5)
        hit += low <= np.log(2) <= high
    assert 365 <= hit <= 396
    few = np.sort(dice.random(50))
    assert np.isnan(statistics.percentile_ci95(few, np.ones(50, np.int64), 0.99)[1])


def test_a_jitter_of_few_codes_is_said_to_be_of_few() -> None:
    assert covered(7) == 0.75
    assert covered(39) == 0.95


def test_closed_sources_are_followed_not_saturated() -> None:
    given = {
        "topology": {"kind": "crossbar", "terminals": 8},
        "technology": {"preset": "ds-link-c104"},
        "traffic": {"arrivals": {"kind": "random-wait"}, "load": 0.5, "length": "64 B"},
        "run": {"duration": "2 ms", "precision": 0.0},
    }
    (verdict,) = curve(Scenario.from_dict(given), [0.1, 0.5, 1.0]).verdicts.values()
    assert verdict.startswith("Follows its sources up to ")
    assert "of the links), load 1; they wait " in verdict


SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize("warmup", ["100 us", "1 ms", "3 ms", "9 ms"])
def test_a_deadlock_before_a_warm_up_measures_no_negative_time(tmp_path: Path, warmup: str) -> None:
    """All but one terminal press on until the torus stands; that one sends again only after the warm-up."""
    names = [f"t({x},{y}).{k}" for x in range(5) for y in range(5) for k in range(2)]
    draw, lines = np.random.default_rng(1), ["source,target,length,wait"]
    for name in names[1:]:
        others = [other for other in names if other != name]
        lines += [f'"{name}","{others[at]}",64 B,0 ns' for at in draw.integers(len(others), size=200)]
    lines += [f'"{names[0]}","{names[1]}",64 B,5 ms'] * 2
    path = tmp_path / "packets.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    traffic = f"traffic={{pattern={{kind='descriptors',path='{path}'}}}}"
    results = fabriloom.run(fabriloom.load(SCENARIOS / "deadlock.toml", [traffic, f"run.warmup={warmup}"]))
    summary = results.summary
    assert summary["end"]["reason"] == "deadlocked"
    assert summary["measured_ns"] > 0
    assert summary["warmup_ns"] + summary["measured_ns"] == pytest.approx(summary["simulated_ns"])
    assert summary["accepted_mbytes_per_s"] >= 0
    assert summary["offered_mbytes_per_s"] >= 0
    ends = results.batches["end_ns"].to_list()
    assert not ends or max(ends) <= summary["simulated_ns"], "no batch ends after the run"


def test_the_page_says_what_the_report_says() -> None:
    """Also of runs with a warm-up, whose packets are not measured."""
    scenario = fabriloom.load(SCENARIOS / "hot-spot.toml", ["run.duration=1 ms", "run.warmup=200 us"])
    results = simulate.run(scenario)
    picture, summary = Live(compiled_of(scenario)).end(results), results.summary
    facts, latency = {name: value for name, value, _ in picture["facts"]}, summary["latency_ns"]
    mean = plus_minus(latency["mean"] / 1e3, latency["mean_ci95"] / 1e3)
    accepted = plus_minus(summary["accepted_mbytes_per_s"], summary["accepted_mbytes_per_s_ci95"])
    assert facts["Mean latency"] == f"{mean} µs"
    assert facts["99 % within"] == f"{number(latency['p99'] / 1e3)} µs"
    assert facts["Accepted"] == f"{accepted} MB/s"
    assert facts["Offered"] == f"{number(summary['offered_mbytes_per_s'])} MB/s"
    assert picture["packets"] == summary["packets"]["measured"] < summary["packets"]["delivered"]


def test_loads_of_rings_add_up() -> None:
    results = fabriloom.run(fabriloom.load(SCENARIOS / "sci-retry-ring.toml", ["run.duration=1 ms"]))
    links, rings = results.links, results.rings
    assert rings["ring"].to_list() == list(results.graph.rings.ring_names)  # type: ignore[union-attr]
    assert rings["stations"].sum() == len(links)
    assert np.allclose(links["mbytes_per_s"], 500 * links["utilisation"], rtol=1e-3)
    assert np.allclose(links["retry_mbytes_per_s"], 500 * links["retry_share"], rtol=1e-3)
    assert rings["mbytes_per_s_max"].max() == results.summary["sci"]["link_mbytes_per_s_max"]
    summary = results.summary
    size = 64 * 1e3 / summary["measured_ns"]
    left = (
        summary["offered_mbytes_per_s"] - summary["refused_mbytes_per_s"] - summary["accepted_mbytes_per_s"]
    )
    assert abs(left) <= size * 100, "what is neither lost nor accepted is under way"


def test_time_per_round_is_between_marks() -> None:
    results = fabriloom.run(fabriloom.load(SCENARIOS / "ping-pong.toml"))
    rounds, marks = results.summary["rounds"], results.marks["at_ns"]
    assert rounds["count"] == 20
    assert rounds["ns_mean"] == pytest.approx((marks[-1] - marks[0]) / 20)
    assert rounds["ns_min"] <= rounds["ns_mean"] <= rounds["ns_max"]


def test_a_ring_that_keeps_up_is_not_said_to_stand_still() -> None:
    for settings in (["technology.phases=false"], ["technology.retry.strategy=linear"]):
        results = fabriloom.run(fabriloom.load(SCENARIOS / "sci-retry-ring.toml", settings))
        assert not [told for told in results.summary["warnings"] if "stood still" in told]


def test_a_sentence_tells_what_was_watched() -> None:
    base = {"topology": {"kind": "crossbar", "terminals": 4}, "traffic": {"length": "32 B", "load": 0.3}}
    short = fabriloom.run(Scenario.from_dict({**base, "run": {"duration": "1 ms"}})).summary["end"]
    assert short["reason"] == "time_limit"
    assert "before the wanted precision of 1 % was reached: " in short["message"]
    full = {**base["traffic"], "load": 1.0}
    saturated = fabriloom.run(Scenario.from_dict({**base, "traffic": full, "run": {"duration": "5 ms"}}))
    assert "precision is of throughput alone: throughput ± " in saturated.summary["end"]["message"]


def test_the_host_of_a_supervisor_is_named_although_its_messages_are_short() -> None:
    """Assignments of 8 B cost it a host's time each; a builder has as few messages as events."""
    program = {"kind": "credit", "events": 60, "fragment": "4 kB", "sources": 12, "targets": [12, 13, 14, 15]}
    given = {"topology": {"kind": "crossbar", "terminals": 17}, "technology": {"preset": "infiniband-4x-edr"}}
    times = {"send_time": "500 ns", "receive_time": "100 ns"}
    protocol = {"preset": "verbs-infiniband", **times}
    scenario = Scenario.from_dict({**given, "program": program, "protocol": protocol})
    limit = run(scenario).summary["limit"]
    assert (limit["what"], limit["name"]) == ("host", "t.16")


NO_ALLOCATION = {"bandwidth_allocation": False}
REQUESTS_FIRST = {**NO_ALLOCATION, "response_priority": False}
"""What the target itself sends may hold its responses back."""


def overloaded(
    terminals: int, technology: dict[str, Any], duration: str = "5 ms", **settings: Any
) -> Results:
    """All stations of a ring store into the memory of one of them, as fast as they can."""
    settings = {"duration": duration, "warmup": "0 ns", "precision": 0.0}
    return run(
        Scenario.from_dict(
            {
                "topology": {"kind": "sci-ring", "terminals": terminals},
                "technology": {"preset": "sci-lc2", **technology},
                "traffic": {
                    "pattern": {"kind": "hot-spot", "target": 0, "share": 1.0},
                    "transaction": "nwrite",
                    "length": "64 B",
                    "load": 1.0,
                    "source_queue": "none",
                },
                "run": settings,
            }
        )
    )


def test_a_ring_full_of_retries_is_livelocked() -> None:
    """The station that rejects all cannot send its responses, which would make room."""
    found = overloaded(16, REQUESTS_FIRST)
    end, native = found.summary["end"], found.native
    assert end["reason"] == "livelocked"
    assert found.summary["simulated_ns"] < 5e6, "it ends when it is clear"
    assert "no station accepted a packet" in end["message"]
    assert "sent again, most at the end of t15>t0" in end["message"]
    assert native["livelock_busied"] > 10_000
    last_ns = native["livelock_ticks"] * found.tick_ps / 1000
    alone = overloaded(16, REQUESTS_FIRST, duration=f"{found.summary['simulated_ns'] - last_ns:.0f} ns")
    assert alone.end_reason == "saturated"
    assert alone.summary["packets"]["delivered"] == found.summary["packets"]["delivered"]


@pytest.mark.parametrize(
    ("in_flight", "cable", "transaction", "livelocks"),
    [
        (2, "1 m", "nwrite", True),
        (1, "1 m", "nwrite", False),
        (2, "150 m", "nwrite", False),  # of three slots one is left
        (2, "1 m", "dmove", False),  # to which nobody responds
    ],
)
def test_a_ring_warns_of_rejected_packets_that_keep_all_its_slots(
    in_flight: int, cable: str, transaction: str, livelocks: bool
) -> None:
    slots = {"slot": "300 B", "forwarding": "cut-through", "bandwidth_allocation": False}
    ring = Scenario.from_dict(
        {
            "topology": {"kind": "sci-ring", "terminals": 2},
            "technology": {"preset": "sci-retry", **slots, "in_flight": in_flight, "cable_length": cable},
            "traffic": {"arrivals": "backlog", "length": "64 B", "transaction": transaction},
            "run": {"duration": "3 ms", "precision": 0.0},
        }
    )
    assert any("can livelock: on the ring of t0>t1" in each for each in compile(ring).warnings) == livelocks
    assert (run(ring).end_reason == "livelocked") == livelocks


def test_packets_that_pass_full_stations_are_not_said_to_be_sent_again() -> None:
    ring: dict[str, Any] = {
        "topology": {"kind": "sci-ring", "terminals": 8},
        "technology": {"preset": "noc-ring", "memory": {"access": "5 ns"}},
        "traffic": {
            "pattern": {"kind": "hot-spot", "target": 0, "share": 0.9},
            "length": "32 B",
            "load": 0.4,
        },
        "run": {"duration": "50 us"},
    }
    end = run(Scenario.from_dict(ring)).summary["end"]
    assert end["reason"] == "livelocked"
    assert "while packets passed full stations 1,936 times, most at the end of t7>t0" in end["message"]
    assert "retry delays" not in end["message"]
    ring["traffic"]["transaction"] = "dmove"
    assert "packets found full and passed" in run(Scenario.from_dict(ring)).summary["limit"]["text"]


def test_a_livelock_at_the_end_of_the_time_is_told() -> None:
    whole = overloaded(16, REQUESTS_FIRST).summary["simulated_ns"]
    brief = overloaded(16, REQUESTS_FIRST, duration=f"{1.01 * whole:.0f} ns")
    assert brief.end_reason == "livelocked"


@pytest.mark.parametrize(
    ("what", "technology"),
    {
        "bandwidth allocation": {},
        "responses first": NO_ALLOCATION,
        "a delay that doubles": {**NO_ALLOCATION, "retry": {"strategy": "exponential", "delay": "1 ns"}},
        "long delays": {"retry": {"strategy": "constant", "delay": "1 ms"}},
        "long delays at the responder": {
            "retry": {"strategy": "linear", "delay": "300 us", "at": "responder"}
        },
        "a slow memory": {**NO_ALLOCATION, "memory": {"access": "4 ms"}},
        "a slow host": {**NO_ALLOCATION, "host_latency": "4 ms"},
    }.items(),
)
def test_what_only_waits_is_not_livelocked(what: str, technology: dict[str, Any]) -> None:
    found = overloaded(8, technology, duration="12 ms")
    assert found.end_reason == "saturated", what


def test_the_same_run_ends_at_the_same_tick() -> None:
    ends = [overloaded(16, REQUESTS_FIRST).native["end_time_ticks"] for _ in range(2)]
    assert ends[0] == ends[1]


def torus(lane_choice: str, **technology: Any) -> dict[str, Any]:
    """The summary of a torus of shortest ways with all that it can take."""
    written = {
        "topology": {"kind": "torus", "shape": [4, 4]},
        "technology": {"preset": "generic", "lanes": 2, **technology},
        "routing": {"kind": "dimension-order", "variant": "minimal", "lane_choice": lane_choice},
        "traffic": {"length": "128 B", "arrivals": "backlog"},
        "run": {"duration": "10 us", "warmup": "2 us", "precision": 0},
    }
    return fabriloom.run(Scenario.from_dict(written)).summary


def test_a_ring_deadlocks_without_a_dateline() -> None:
    """Everybody sends three steps on, packets longer than the buffers of a link."""
    written: dict[str, Any] = {
        "topology": {"kind": "ring", "switches": 8},
        "technology": {"preset": "generic", "lanes": 2},
        "routing": {"kind": "dimension-order", "variant": "minimal", "lane_choice": "any"},
        "traffic": {"length": "512 B", "arrivals": "backlog", "pattern": {"kind": "shift", "by": 3}},
        "run": {"duration": "30 us", "warmup": "2 us", "precision": 0},
    }
    stuck = fabriloom.run(Scenario.from_dict(written)).summary
    assert stuck["end"]["reason"] == "deadlocked"
    assert len(stuck["end"]["cycle"]) >= 8
    written["routing"]["lane_choice"] = "dateline"
    going = fabriloom.run(Scenario.from_dict(written)).summary
    assert going["end"]["reason"] in ("time_limit", "saturated")
    assert going["packets"]["delivered"] > 100


def test_links_count_all_their_lanes() -> None:
    summary = torus("dateline")
    packets = summary["packets"]
    assert packets["offered"] == packets["delivered"] + packets["refused"] + packets["in_flight"]
    assert summary["end"]["reason"] in ("time_limit", "saturated")


def test_escape_lanes_keep_the_others_going() -> None:
    summary = torus("escape", lanes=4, switching="virtual-cut-through", input_buffer_flits=16)
    assert summary["end"]["reason"] in ("time_limit", "saturated")
    assert summary["packets"]["delivered"] > 100


def test_escape_lanes_are_no_proof() -> None:
    """A packet is granted a free lane before there is credit for it, and then waits for that lane alone."""
    written: dict[str, Any] = {
        "seed": 1,
        "topology": {"kind": "grid", "shape": [6, 6]},
        "technology": {
            "preset": "generic",
            "lanes": 2,
            "switching": "virtual-cut-through",
            "input_buffer_flits": 16,
        },
        "routing": {"kind": "dimension-order", "lane_choice": "escape"},
        "traffic": {"length": "64 B", "arrivals": "backlog"},
        "run": {"duration": "40 us", "warmup": "1 us", "precision": 0},
    }
    scenario = Scenario.from_dict(written)
    assert compile(scenario).routes.cycle is not None
    assert fabriloom.run(scenario).summary["end"]["reason"] == "deadlocked"


def test_queues_per_output_pass_a_busy_one() -> None:
    """One queue per input of a crossbar carries about 0.6 of what it could, a queue per output nearly all."""

    def accepted(**technology: Any) -> float:
        written = {
            "topology": {"kind": "crossbar", "terminals": 16},
            "technology": {
                "preset": "generic",
                "switching": "virtual-cut-through",
                "input_buffer_flits": 256,
                "crossbar": "fast",
                "arbiter": "random",
                "router_cycles": 0,
                **technology,
            },
            "traffic": {"length": "128 B", "arrivals": "backlog", "pattern": {"kind": "uniform"}},
            "run": {"duration": "20 us", "warmup": "5 us", "precision": 0},
        }
        return float(fabriloom.run(Scenario.from_dict(written)).summary["accepted_mbytes_per_s"]) / (
            16 * 8000
        )

    in_one, per_output = accepted(input_queues="fifo"), accepted(input_queues="per-output")
    assert in_one < 0.66 < 0.75 < per_output, (in_one, per_output)
