"""The ways of packets: whole, in order, and the same as everything else that is counted about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario, run
from fabriloom.page.choices import chosen
from fabriloom.page.recording import recording
from fabriloom.results import Results

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


def test_the_newest_are_kept() -> None:
    everything, some = recording(results("clos")), recording(results("clos", hops=200))
    assert 100 <= some["rows"] <= 200 + 64
    assert some["dropped"] > everything["rows"] / 2
    assert some["link"][-90:] == everything["link"][-90:]


def test_a_deadlock_shows_the_packets_that_stand_in_its_circle() -> None:
    found = run(chosen({"shelf": "teaching-torus-deadlock.toml"}).scenario, hops=12_000)
    shown = recording(found)
    assert shown["reason"] == "deadlocked"
    standing = {link for link, end in zip(shown["link"], shown["end"], strict=True) if end < 0}
    assert set(shown["cycle"]) <= standing
    assert max(shown["begin"]) <= shown["until_ns"]
