"""Overhead, stored packets and pause: what a frame costs, and what buffers must hold."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from fabriloom import Scenario, run
from fabriloom.compile import compile
from fabriloom.scenario import ScenarioError
from fabriloom.simulate import compare
from fabriloom.technology import presets, technology
from fabriloom.traffic.packets import Filling, mean_chars

ETHERNET = [name for name in presets() if name.startswith("ethernet-")]


def scenario(folder: Path | None = None, **more: Any) -> Scenario:
    written: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 3},
        "technology": {"preset": "ethernet-100m"},
        "traffic": {"arrivals": "backlog", "pattern": {"kind": "hot-spot", "target": 2, "share": 1}},
        "run": {"duration": "200 ms", "warmup": "0 ns", "precision": 0},
    }
    return Scenario.from_dict({**written, **more}, folder)


@pytest.mark.parametrize(("payload", "wire"), [(1, 84), (46, 84), (47, 85), (1500, 1538)])
def test_a_frame_takes_its_bytes_on_the_wire(payload: int, wire: int) -> None:
    for name in ETHERNET:
        tech = technology(name)
        flit = int(tech.data_bits) // 8  # a frame is as long as the next whole flit
        assert tech.packet_ps(payload) == -(-wire // flit) * tech.character_ps()


@pytest.mark.parametrize(("payload", "credits"), [(1, 1), (38, 1), (39, 2), (2048, 33)])
def test_a_packet_of_infiniband_takes_credits_for_its_headers(payload: int, credits: int) -> None:
    tech = technology("infiniband-4x-edr", {"overhead_bytes": 26})
    assert tech.payload_chars(payload) + 1 == credits


def test_a_switch_stores_a_frame_or_cuts_through() -> None:
    """A wire, or two if stored; the cables of 10 m, a cycle to route and the pipeline of the switch."""
    lone = {"pattern": {"kind": "shift", "by": 1}, "arrivals": "constant", "load": 0.001, "length": "1500 B"}
    for switching, wires in (("store-and-forward", 2), ("virtual-cut-through", 1)):
        own = {"preset": "ethernet-100m", "switching": switching}
        summary = run(scenario(traffic=lone, technology=own)).summary
        header = 80 if wires == 1 else 0  # the head flit is on the first wire, too
        expected_ns = wires * 1538 * 80 + header + 2 * 50 + 80 + 50 * 80
        assert summary["latency_ns"]["min"] == pytest.approx(expected_ns)


def test_mean_characters_are_those_of_each_length() -> None:
    dice = Random(7)
    for _ in range(200):
        drawn = dice.choice([0, 3, 26]), dice.choice([0, 20])
        filling = Filling(dice.randint(1, 9), dice.random() < 0.5, *drawn)
        low = dice.randint(0, 30)
        high = low + dice.randint(0, 40)
        size, at_end, overhead, least = filling
        each = [max(0, -(-max(n + overhead, least) // size) - at_end) for n in range(low, high + 1)]
        assert mean_chars(low, high, filling) == pytest.approx(np.mean(each))


def test_a_paused_sender_keeps_within_the_headroom() -> None:
    """Two senders share a link: each buffer reaches its threshold, and at most the headroom above it."""
    found = run(scenario())
    arrays = compile(scenario()).arrays
    above, longest = 32768, 1538
    late = int(arrays["link_arrival_ticks"][0] + arrays["link_credit_ticks"][0])
    headroom = 2 * longest + -(-late // int(arrays["link_character_ticks"][0]))
    stored = found.links.filter(found.links["target"] == "s")["stored_most"].to_list()
    assert [above < one <= above + headroom for one in stored[:2]] == [True, True]
    assert stored[2] == longest
    # The link into the target is never idle: a paused sender goes on in time.
    assert found.links.filter(found.links["link"] == "s>t.2")["utilisation"].item() > 0.995
    assert found.warnings == []


def test_a_buffer_without_headroom_is_told_before_and_after() -> None:
    small = {"preset": "ethernet-100m", "pause_above_flits": 60000, "input_buffer_flits": 60100}
    found = run(scenario(technology=small))
    before, after = found.warnings
    assert "may need 3,228 flits above pause_above_flits and has 100" in before
    assert "held 61" in after
    assert "would have lost packets" in after


def test_a_stuck_receiver_pauses_all_that_is_behind_it() -> None:
    """The frame that has begun is sent to its end, the buffers fill, and nothing is lost."""
    stuck = scenario(fault=[{"terminal": 2, "stuck": True, "at": "50 ms", "repaired": "150 ms"}])
    found = run(stuck)
    assert compare(stuck, 60_000_000_000).identical
    assert found.summary["packets"]["lost"] == 0
    carried = [
        one.links.filter(one.links["link"] == "s>t.2")["packets"].item() for one in (found, run(scenario()))
    ]
    assert carried[0] == pytest.approx(carried[1] / 2, abs=1)


def test_a_cable_that_is_down_from_the_beginning() -> None:
    network = {"kind": "grid", "shape": [1, 2], "terminals_per_switch": 2, "links_per_edge": 2}
    down = scenario(topology=network, fault=[{"cable": "s(0,0)>s(0,1)#0", "at": "0 s"}])
    assert compile(down).warnings == []
    used = run(down).links
    assert compare(down, 2_000_000_000).identical
    assert used.filter(used["link"].str.contains("#0"))["packets"].sum() == 0


def test_a_spine_dies_and_new_tables_lead_round_it() -> None:
    """Until then packets for it are discarded at the leaves; then none is, and all goes on at full load."""
    dies: dict[str, Any] = {
        "topology": {"kind": "clos", "terminals": 8, "switch_ports": 4},
        "technology": {"preset": "ethernet-100g", "pause_above_flits": 4000, "pause_until_flits": 2000},
        "traffic": {"arrivals": "backlog", "pattern": "uniform", "length": "500 B"},
        "fault": [{"switch": "centre(0)", "at": "2 us"}],
        "run": {"duration": "40 us", "warmup": "0 ns", "precision": 0},
    }
    lost = []
    for after in ({}, {"after_fault": {"delay": "1 us"}}):
        one = scenario(**dies, routing={"adaptive": False, **after})
        verdict, found = compile(one).deadlock, run(one).summary
        assert verdict.free
        assert compare(one, 5_000_000).identical
        lost.append(found["packets"]["lost"])
        assert found["end"]["reason"] == "time_limit"
    assert 4 * lost[1] < lost[0]


def test_congestion_control_keeps_buffers_of_paused_senders_short() -> None:
    """With it the far sender of an incast is not paused as long; and a receiver may be stuck meanwhile."""
    incast: dict[str, Any] = {
        "topology": {"kind": "grid", "shape": [2], "terminals_per_switch": 4},
        "technology": {"preset": "ethernet-100g", "input_queues": "per-output"},
        "traffic": {"arrivals": "backlog", "pattern": {"kind": "hot-spot", "target": 7, "share": 1}},
        "run": {"duration": "300 us", "warmup": "0 ns", "precision": 0},
    }
    calm = {"threshold": 15, "ccti_timer": "10 us", "becn_delay": "1 us"}
    stored = []
    for own in ({}, {"congestion_control": calm}):
        stuck = [{"terminal": 7, "stuck": True, "at": "8 us", "repaired": "14 us"}]
        one = scenario(**incast, **own, fault=stuck)
        assert compare(one, 24_000_000).identical
        stored.append(run(one).links.filter(pl.col("target") == "s(1)")["stored_most"].sum())
    assert stored[1] < stored[0]


DROPS = {"pause_above_flits": 0, "pause_until_flits": 0, "drop_when_full": True}


@pytest.mark.parametrize(("room", "lost"), [(3 * 1538, 0), (3 * 1538 - 1, 1)])
def test_a_frame_is_dropped_for_want_of_a_byte(room: int, lost: int) -> None:
    """The first of three frames waits for those of two other senders when the third one comes."""
    own = {"preset": "ethernet-100m", **DROPS, "input_buffer_flits": room}
    to = {"target": 2, "length": "1500 B"}
    flows = [{"source": one, "count": 1, **to} for one in (1, 3)]
    flows += [{"source": 0, "count": 3, "start": "1 us", **to}]
    more = {"topology": {"kind": "crossbar", "terminals": 4}, "run": {"duration": "1 ms", "warmup": "0 ns"}}
    found = run(scenario(technology=own, traffic={"pattern": {"kind": "flows", "flows": flows}}, **more))
    assert found.summary["packets"]["offered"] == 5
    assert found.summary["packets"]["lost"] == lost


def test_without_pause_what_finds_no_room_is_lost() -> None:
    """Two senders share a link, so half of all is dropped; buffers are full, and never fuller."""
    to_one = {
        "arrivals": "backlog",
        "pattern": {"kind": "hot-spot", "target": 2, "share": 1},
        "senders": [0, 1],
    }
    dropping = scenario(technology={"preset": "ethernet-100m", **DROPS}, traffic=to_one)
    found = run(dropping)
    summary, links = found.summary, found.links
    assert compare(dropping, 20_000_000_000).identical
    assert summary["packets"]["lost"] == pytest.approx(summary["packets"]["offered"] / 2, rel=0.06)
    assert links["discarded_packets"].sum() == summary["packets"]["lost"] == summary["faults"]["discarded"]
    assert links["stored_most"].max() == 65536 // 1538 * 1538
    assert links.filter(links["link"] == "s>t.2")["utilisation"].item() > 0.995
    assert compile(dropping).deadlock.free


def test_what_comes_after_a_pause_that_is_late_is_lost() -> None:
    small = {"preset": "ethernet-1g", "pause_above_flits": 50000, "input_buffer_flits": 52000}
    small |= {"cable_length": "10 km"}
    lossless, lossy = (
        run(scenario(technology={**small, "drop_when_full": drops})) for drops in (False, True)
    )
    assert "packets can be dropped there" in lossy.warnings[0]
    assert 0 < lossy.summary["packets"]["lost"] < lossy.summary["packets"]["delivered"] / 4
    assert lossless.links["stored_most"].max() > 52000 >= lossy.links["stored_most"].max()


def test_a_torus_that_drops_cannot_deadlock() -> None:
    """The same torus waits for ever where packets wait for credit."""
    network = {"kind": "torus", "shape": [5, 5], "terminals_per_switch": 2}
    own = {"preset": "ethernet-100m", "input_buffer_flits": 1600}
    traffic = {"arrivals": "backlog", "pattern": "uniform"}
    credit = {"pause_above_flits": 0, "pause_until_flits": 0}
    hangs, drops = (
        scenario(
            topology=network,
            technology={**own, **rule},
            traffic=traffic,
            routing={"kind": "dimension-order", "variant": "minimal"},
        )
        for rule in (credit, DROPS)
    )
    assert [compile(one).deadlock.free for one in (hangs, drops)] == [False, True]
    assert [run(one).summary["end"]["reason"] for one in (hangs, drops)] == ["deadlocked", "time_limit"]


def test_what_was_dropped_is_sent_again() -> None:
    own = {"preset": "ethernet-100m", **DROPS, "input_buffer_flits": 3100}
    again = {"preset": "verbs-roce", "acknowledge": "packet", "resend_after": "5 ms"}
    program = {"kind": "funnel-in", "size": "20 kB", "rounds": 1}
    written = {"topology": {"kind": "crossbar", "terminals": 5}, "technology": own, "protocol": again}
    found = run(Scenario.from_dict({**written, "program": program, "run": {"duration": "10 s"}}))
    messages = found.summary["messages"]
    assert found.summary["packets"]["lost"] > 10
    assert (messages["received"], messages["lost"]) == (messages["made"], 0)


BYTE_NS = {"100m": 80.0, "1g": 8.0, "10g": 0.8, "100g": 0.08, "400g": 0.02, "800g": 0.01, "1600g": 0.005}
"""What a byte takes on the links of each preset."""


def shared(dice: Random, pauses: bool) -> dict[str, Any]:
    """Return a memory that ports share, for packets of at most 540 B, or none."""
    if dice.random() < 0.5:
        return {}
    own = {
        "flits": dice.choice([8000, 20_000, 60_000]),
        "reserved_flits": dice.choice([0, 300, 540]),
        "headroom_flits": dice.choice([0, 540]) * pauses,
        "offset_flits": dice.choice([0, 100, 2000]) * pauses,
    }
    alpha = dice.choice([0.125, 0.5, 1.0, 8.0])
    return {f"shared_buffer_{name}": value for name, value in own.items()} | {"shared_buffer_alpha": alpha}


@pytest.mark.seeds
def test_engine_and_twin_pause_alike(seeds: Callable[[int], Iterator[int]]) -> None:
    paused = dropped = kept = 0
    for seed in seeds(24):
        dice = Random(seed)
        above = dice.randint(100, 2000)
        own = {
            "preset": dice.choice(ETHERNET),
            "switching": dice.choice(["store-and-forward", "store-and-forward", "virtual-cut-through"]),
            "input_buffer_flits": 4096,
            "output_buffer_flits": dice.choice([600, 1539]),
            "forward_cycles": dice.choice([0, 20]),
            "turn_around_cycles": dice.choice([1, 148, 900]),
            "pause_above_flits": above,
            "pause_until_flits": dice.randint(0, above),
            "input_queues": dice.choice(["fifo", "per-output"]),
            "lanes": dice.choice([1, 1, 2]),
        }
        network = dice.choice(
            [
                {"kind": "crossbar", "terminals": 4},
                {"kind": "tree", "arity": 2, "depth": 2, "terminals_per_switch": 2},
                {"kind": "grid", "shape": [2, 3]},
            ]
        )
        traffic = {"arrivals": "backlog", "length": {"kind": "uniform", "min": "1 B", "max": "500 B"}}
        duration_ns = 40_000 * BYTE_NS[own["preset"].removeprefix("ethernet-")]
        runs = {"duration": f"{duration_ns:g} ns", "warmup": "0 ns", "precision": 0}
        other = Random(f"faults {seed}")
        own |= {"lane_sharing": other.choice(["flit", "packet"])} if own["lanes"] > 1 else {}
        own |= other.choice(
            [{}, {}, {"crossbar": "link-rate"}, {"watchdog_cycles": other.choice([2000, 9000])}]
        )
        what = {"terminal": 0, other.choice(["stuck", "silent"]): True}
        faults = [
            {
                **other.choice([what, what, {"terminal": 1}, {"switch": "all"}, {"cable": "all"}]),
                "at": f"{at * duration_ns:.3f} ns",
                "repaired": f"{end * duration_ns:.3f} ns",
            }
            for at, end in [sorted((dice.random(), dice.random()))] * dice.choice([0, 1])
        ]
        tables = (
            {"after_fault": {"delay": f"{duration_ns / 20:g} ns"}} if faults and other.random() < 0.5 else {}
        )
        more: dict[str, Any] = {"run": runs, "seed": seed % 1000, "fault": faults, "routing": tables}
        drops = other.choice([{}, {"drop_when_full": True}, DROPS])
        drawn = scenario(topology=network, technology=own, traffic=traffic, **more)
        for memory in ({}, shared(Random(f"memory {seed}"), pauses=drops is not DROPS)):
            with contextlib.suppress(ScenarioError):  # not beside all of these
                dropping = scenario(
                    topology=network, technology=own | drops | memory, traffic=traffic, **more
                )
                drawn = compile(dropping).scenario
        compared = compare(drawn)
        assert compared.identical, f"seed {seed}"
        found = run(drawn)
        paused += int(max(found.links["stored_most"].to_list()) > above)
        dropped += found.summary["packets"].get("lost", 0) * bool(drawn.technology.drop_when_full)
        kept += int("memory_most" in found.links.columns)
        assert not compile(drawn).deadlock.free or found.summary["end"]["reason"] != "deadlocked"
    assert paused > 0
    assert dropped > 0
    assert kept > 0


@pytest.mark.parametrize(
    ("technology_", "more", "message"),
    [
        ({"switching": "wormhole"}, {}, "not within one as with wormhole"),
        ({"pause_until_flits": 40000}, {}, "would never be paused"),
        ({"pause_above_flits": 0}, {}, "no meaning while packets wait for credit"),
        ({"pause_above_flits": 65537}, {}, "above the 65536 flits of the input buffer"),
        ({"input_buffer_flits": 1000, "pause_above_flits": 9, "pause_until_flits": 0}, {}, "too small for"),
    ],
)
def test_what_cannot_be_paused_is_refused(
    technology_: dict[str, Any], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        compile(scenario(technology={"preset": "ethernet-100m", **technology_}, **more))
