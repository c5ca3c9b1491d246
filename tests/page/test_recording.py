"""The ways of packets: whole, in order, and the same as everything else that is counted about them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario, run
from fabriloom.compile import compile
from fabriloom.page.choices import chosen
from fabriloom.page.live import Live
from fabriloom.page.recording import record, recording
from fabriloom.results import Results, shown

FABRICS: dict[str, dict[str, Any]] = {
    "clos": {"topology": {"kind": "clos", "terminals": 16, "switch_ports": 8}},
    "universal": {
        "topology": {"kind": "grid", "shape": [3, 3], "terminals_per_switch": 2},
        "routing": {"universal": True},
    },
    "ring": {"topology": {"kind": "sci-ring", "terminals": 6}},
    "bridge": {"topology": {"kind": "sci-bridge", "terminals": 3}},
}


def results(name: str, load: float = 0.3, hops: int = 1 << 20, **run_settings: Any) -> Results:
    brief = {"duration": "200 us", "warmup": "0 us", "precision": 0.0, **run_settings}
    scenario = {"traffic": {"length": "64 B", "load": load}, "run": brief, "output": {"trace": True}}
    return run(Scenario.from_dict({**FABRICS[name], **scenario}), hops=hops)


def ways(found: Results) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """Per packet, by source and start, its links with begin and end; of rings the requests sent once."""
    native, kept = found.native, {}
    columns = ("source", "started_ticks", "begin_ticks", "end_ticks", "link", "kind")
    rows = zip(*(np.asarray(native[f"hop_{name}"]).tolist() for name in columns), strict=True)
    for source, started, begin, end, link, kind in sorted(rows):
        if kind == 0:
            kept.setdefault((source, started), []).append((begin, end, link))
    return kept


@pytest.mark.parametrize("name", FABRICS)
def test_every_delivered_packet_went_from_its_source_to_its_target(name: str) -> None:
    found = results(name)
    native, graph, kept = found.native, found.graph, ways(found)
    delivered = np.asarray(native["trace_delivered_ticks"])
    assert len(delivered) > 30
    for row, (source, target, started) in enumerate(
        zip(native["trace_source"], native["trace_target"], native["trace_started_ticks"], strict=True)
    ):
        way = kept[int(source), int(started)]
        links = [link for _, _, link in way]
        assert links[0] == graph.terminal_out_links[source]
        assert way[0][0] == started
        begins = [begin for begin, _, _ in way]
        assert begins == sorted(begins)
        assert all(begin < end <= delivered[row] for begin, end, _ in way)
        if graph.rings is None:
            assert links[-1] == graph.terminal_in_links[target]
            ends = [graph.link_target[link] for link in links[:-1]]
            assert ends == [graph.link_source[link] for link in links[1:]]


@pytest.mark.parametrize("name", ["clos", "universal"])
def test_links_are_held_as_long_as_their_counts_say(name: str) -> None:
    found = results(name)
    native = found.native
    held = np.zeros(found.graph.links)
    ended = np.asarray(native["hop_end_ticks"]) >= 0
    begin, end = (np.asarray(native[f"hop_{what}_ticks"])[ended] for what in ("begin", "end"))
    np.add.at(held, np.asarray(native["hop_link"])[ended], end - begin)
    busy = np.asarray(native["link_busy_ticks"]) + np.asarray(native["link_stalled_ticks"])
    assert held.tolist() == busy.tolist()


def test_keeping_the_ways_changes_nothing() -> None:
    kept, plain = results("clos"), results("clos", hops=0)
    assert not len(plain.native["hop_link"])
    assert kept.summary["latency_ns"] == plain.summary["latency_ns"]
    assert kept.summary["engine"]["events"] == plain.summary["engine"]["events"]


def test_buses_are_held_as_long_as_their_counts_say() -> None:
    found = results("bridge")
    native, rings = found.native, found.graph.rings
    assert rings is not None
    kind, link, target = (np.asarray(native[f"hop_{name}"]) for name in ("kind", "link", "target"))
    bus = kind & 8 > 0
    assert bus.sum() == np.asarray(native["bus_transfers"]).sum() > 30
    begin, end = (np.asarray(native[f"hop_{what}_ticks"])[bus] for what in ("begin", "end"))
    assert (end - begin).sum() == np.asarray(native["bus_busy_ticks"]).sum()
    # From one port of a switch to another one of it.
    assert (rings.station_port[link[bus]] >= 0).all()
    assert (found.graph.link_source[link[bus]] == found.graph.link_source[target[bus]]).all()
    assert (link[bus] != target[bus]).all()


def test_a_packet_that_crosses_a_bus_goes_on_from_the_port_it_came_to() -> None:
    shown = recording(results("bridge"))
    ways: dict[int, list[tuple[int, int]]] = {}
    for packet, link, bus, kind in zip(
        *(shown[name] for name in ("packet", "link", "bus", "kind")), strict=True
    ):
        if packet >= 0 and not kind & 4:
            ways.setdefault(packet, []).append((link, bus))
    crossed = 0
    for way in ways.values():
        for (_, bus), (following, _) in pairwise(way):
            if bus >= 0:
                assert following == bus
                crossed += 1
    assert crossed > 30


def stays(shown: dict[str, Any]) -> set[tuple[int, float, int]]:
    """Link, begin since the start of the run, kind."""
    begins = (round(shown["from_ns"] + begin, 1) for begin in shown["begin"])
    return set(zip(shown["link"], begins, shown["kind"], strict=True))


@pytest.mark.parametrize("name", FABRICS)
def test_any_part_of_a_run_can_be_shown(name: str) -> None:
    """Whole, and nothing but what is on the links then or waits behind them."""
    found = results(name)
    whole = recording(found, most=1 << 20)
    everything = stays(whole)
    following: dict[tuple[int, float, int], float] = {}
    newest: dict[int, tuple[int, float, int]] = {}
    for packet, *stay in zip(*(whole[name] for name in ("packet", "link", "begin", "kind")), strict=True):
        here = stay[0], round(whole["from_ns"] + stay[1], 1), stay[2]
        if packet in newest:
            following[newest[packet]] = here[1]
        newest[packet] = here
    for since_ps in (0, 50_000_000):
        part = recording(found, since_ps, most=150)
        first, last = part["from_ns"], part["from_ns"] + part["until_ns"]
        assert first == since_ps / 1000
        begun = {stay for stay in everything if first <= stay[1] < last - 0.1}
        assert begun <= stays(part) <= everything
        behind = [end is not None and end < 0 for end in part["end"]]
        rows = zip(behind, part["link"], part["begin"], part["kind"], strict=True)
        left = [(link, round(first + begin, 1), kind) for waits, link, begin, kind in rows if waits]
        assert all(following[stay] >= first for stay in left)
    last_ones = recording(found, None, most=150)
    assert {stay for stay in everything if stay[1] >= last_ones["from_ns"]} <= stays(last_ones)


def test_a_replay_is_the_run_itself() -> None:
    """Also where flow control was measured first, a warm-up ends, or a precision is reached."""
    scenario = chosen({"shelf": "macrame-clos-256.toml"}).scenario
    told: list[float] = []
    shown = record(scenario, None, lambda: None, told.append)
    watched = run(scenario)
    end_ns = int(watched.native["end_time_ticks"]) * watched.tick_ps / 1000
    assert shown["until_ns"] + shown["from_ns"] == end_ns
    assert watched.summary["end"]["message"] in shown["said"]
    assert told == sorted(told)
    assert max(told) <= 1


def test_recording_ends_when_there_is_enough() -> None:
    scenario = chosen({"shelf": "teaching-head-of-line.toml"}).scenario
    shown = record(scenario, 10**9, lambda: None, lambda share: None)
    assert 11_000 < shown["rows"] <= 12_000
    assert (shown["from_ns"], shown["cycle"]) == (1e6, [])
    assert "of simulated time" not in shown["said"]
    late = record(scenario.with_settings({"run.duration": "1 ms"}), 10**12, lambda: None, lambda share: None)
    assert late["rows"] == 0
    assert "after 1 ms" in late["said"]


def test_a_deadlock_shows_the_packets_that_stand_in_its_circle() -> None:
    found = run(chosen({"shelf": "teaching-torus-deadlock.toml"}).scenario, hops=1 << 17)
    assert recording(found, 0, most=1000)["cycle"] == []
    shown = recording(found)
    assert "deadlocked" in shown["said"]
    standing = {link for link, end in zip(shown["link"], shown["end"], strict=True) if end is None}
    assert set(shown["cycle"]) <= standing
    assert max(shown["begin"]) <= shown["until_ns"]


def test_every_loss_of_a_run_with_faults_is_recorded() -> None:
    """Once each, where and when it was, and with the links that were down."""
    scenario = chosen({"shelf": "teaching-cut-worm.toml"}).scenario
    shown = record(scenario, 0, lambda: None, lambda share: None)
    faults = run(scenario).summary["faults"]
    lost = faults["cut"] + faults["discarded"]
    assert len(shown["losses"]) == lost > 0
    packets = [packet for _, _, packet in shown["losses"]]
    assert len(set(packets)) == len(packets)
    assert sorted({down for _, down, _, _ in shown["outages"]})[0] == 150_000
    assert {link for _, link, _ in shown["losses"]} <= {link for link, *_ in shown["outages"]}
    blocked = record(scenario.with_settings({"routing.adaptive": False}), 0, lambda: None, lambda share: None)
    assert len(blocked["losses"]) > 2 * lost, "those that belong on the cable are discarded"


def test_time_codes_are_recorded_on_every_link_of_their_way() -> None:
    """From the terminal to the switch and on to the three others; each arrives after it has begun."""
    scenario = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "spacewire-200"},
        "traffic": {"length": "64 B", "load": 0.2},
        "time_code": [{"master": "t.1", "every": "10 us"}],
        "run": {"duration": "100 us", "warmup": "0 us", "precision": 0.0},
    }
    found = run(Scenario.from_dict(scenario), hops=1 << 20)
    shown = recording(found)
    sent = dict(zip(found.graph.link_names, found.native["link_codes_sent"].tolist(), strict=True))
    begins: dict[str, list[float]] = {name: [] for name in sent}
    for begin, end, link in shown["codes"]:
        assert end > begin
        begins[found.graph.link_names[int(link)]].append(begin)
    assert {name: len(times) for name, times in begins.items()} == sent
    assert sent["t.1>s"] == sent["s>t.0"] >= 9
    assert sent["s>t.1"] == 0
    assert all(later > first for first, later in zip(begins["t.1>s"], begins["s>t.0"], strict=True))
    assert max(shown["kind"]) == 0


ENGINES: dict[str, dict[str, Any]] = {
    "worms": {},
    "lanes": {"preset": "generic", "lanes": 2},
    "cut through": {"preset": "infiniband-4x-edr"},
}


@pytest.mark.parametrize("name", ENGINES)
def test_queues_are_those_of_the_creation_times(name: str) -> None:
    """As many as the engine counts in the end; hardly any where links are idle."""
    scenario = {
        **FABRICS["clos"],
        "technology": ENGINES[name],
        "traffic": {"length": "64 B", "load": 1.0},
        "run": {"duration": "200 us" if name == "worms" else "4 us", "warmup": "0 us", "precision": 0.0},
    }
    full = Scenario.from_dict(scenario)
    found = run(full, hops=1 << 20)
    queues = recording(found, 0, most=1 << 20)["queues"]
    waiting = sum(len(created) - len(started) for created, started in queues.values())
    assert waiting == len(found.native["wait_terminal"]) > 20
    assert waiting <= found.summary["packets"]["in_flight"]
    for created, started in queues.values():
        assert created == sorted(created)
        assert all(begin > made for made, begin in zip(created, started, strict=False))
    idle = recording(run(full.with_settings({"traffic.load": 0.02}), hops=1 << 20), 0)["queues"]
    assert sum(len(created) for created, _ in idle.values()) < 30


def test_one_event_has_no_rate_and_is_shown() -> None:
    program = {"kind": "level-3", "fragment": "100 B", "events": 1}
    compiled = compile(
        Scenario.from_dict({"topology": {"kind": "crossbar", "terminals": 4}, "program": program})
    )
    found = run(compiled)
    facts = {name: value for name, value, _ in Live(compiled).end(found)["facts"]}
    assert facts["Events built"] == "–"
    assert shown.event_rate(found.summary["events"]).startswith("too few to tell")
