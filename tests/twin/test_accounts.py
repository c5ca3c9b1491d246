"""What enters a switch leaves it, what cannot deadlock does not with faults, and more room delays nobody."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from fabriloom import Results, Scenario
from fabriloom.compile import compile

from . import laws
from .test_laws import without_load

Seeds = Callable[[int], Iterator[int]]
pytestmark = pytest.mark.seeds
ROOM = ("input_buffer_flits", "input_buffer", "output_buffer_flits", "output_buffer")


def test_packets_are_conserved_at_every_switch_and_terminal(seeds: Seeds) -> None:
    """The end of a packet that a watchdog cuts leaves the switch, and is not among what enters it."""
    packets = 0
    for one in laws.drawn(seeds(40)):
        if "program" in one.written:
            continue
        graph, native = one.compiled.graph, laws.ran(one.written, one.duration_ps).native
        vertices, passed = graph.switches + graph.terminals, np.asarray(native["link_packets"])
        entered = np.bincount(np.asarray(graph.link_target), passed, vertices)
        left = np.bincount(np.asarray(graph.link_source), passed, vertices)
        inside = (entered - left)[: graph.switches]
        ended = {
            name: np.bincount(np.asarray(native[f"trace_{name}"]), minlength=graph.terminals)
            for name in ("source", "target")
        }
        on_their_way = native["in_flight"] + native["lost"]
        assert inside.min(initial=0) >= -native["lost"], one.written
        assert inside.sum() <= on_their_way, one.written
        for seen, told in ((entered, ended["target"]), (left, ended["source"])):
            more = seen[graph.switches :] - told
            assert more.min() >= 0, one.written
            assert more.sum() <= on_their_way, one.written
        packets += len(native["trace_target"])
    assert packets > 500


def with_faults(one: laws.Drawn, dice: Random) -> dict[str, Any]:
    """Links that fail, some for a while, and perhaps tables after that."""
    graph, written = one.compiled.graph, without_load(one)
    between = [
        name
        for name, source, target in zip(graph.link_names, graph.link_source, graph.link_target, strict=True)
        if max(source, target) < graph.switches
    ]
    if not between:
        return written
    repaired = {"repaired": f"{one.duration_ps // 2} ps"} if dice.random() < 0.5 else {}
    fault = [{"link": dice.choice(between), "at": f"{one.duration_ps // 4} ps", **repaired}]
    after = {"kind": dice.choice(["auto", "shortest-path", "up-star-down-star"])}
    tables = {"after_fault": {**after, "delay": f"{one.duration_ps // 10} ps"}} if dice.random() < 0.6 else {}
    return {**written, "fault": fault, "routing": {**one.written["routing"], **tables}}


def test_what_cannot_deadlock_does_not_with_faults_tables_and_programs(seeds: Seeds) -> None:
    count = 0
    for number, one in enumerate(laws.drawn(seeds(60))):
        written = one.written if "program" in one.written else with_faults(one, Random(number))
        try:
            free = compile(Scenario.from_dict(written)).deadlock.free
        except laws.REFUSED:
            continue
        if free:
            count += 1
            assert laws.ran(written, one.duration_ps).end_reason != "deadlocked", written
    assert count > 5


def delivered_by_packet(results: Results) -> dict[tuple[float, float], list[float]]:
    """Return when packets arrived in ps, by when they were made and their target."""
    found: dict[tuple[float, float], list[float]] = defaultdict(list)
    for delivered, created, _, target, *_ in laws.deliveries_ps(results).tolist():
        found[created, target].append(delivered)
    return found


def test_more_room_makes_no_packet_of_a_single_sender_later(seeds: Seeds) -> None:
    """With several, or several lanes, it may: who is sooner at one switch can meet others at the next.

    So may a source that refuses packets: with more room it takes others, and the next ones wait behind these.
    And so may frames: one that ends sooner leaves the next packet to another, which begins with own flits.
    And so may time-slots, with queues per output: who is sooner at one that is open goes before another.
    """
    packets = 0
    for number, one in enumerate(laws.drawn(seeds(60))):
        traffic = one.written.get("traffic", {"arrivals": {"kind": "backlog"}})
        if (
            traffic["arrivals"]["kind"] in ("backlog", "wait", "random-wait")
            or one.written["routing"]["universal"]
        ):
            continue
        dice, technology = Random(number), one.written["technology"]
        if technology.get("lanes", 1) > 1 or technology.get("lane_sharing") == "frame":
            continue
        if technology.get("lane_slots") and technology["input_queues"] == "per-output":
            continue
        name = dice.choice([name for name in ROOM if name in technology])
        size, more = technology[name], dice.choice([1, 8, 50])
        larger = size + more if isinstance(size, int) else f"{int(size.split()[0]) + more} B"
        routing = {**one.written["routing"], "adaptive": False}
        traffic = {**traffic, "senders": [0]}
        traffic.pop("source_queue", None)
        written = {**one.written, "traffic": traffic, "routing": routing}
        try:
            roomy = laws.ran({**written, "technology": {**technology, name: larger}}, one.duration_ps)
            usual = laws.ran(written, one.duration_ps)
        except laws.REFUSED:
            continue
        late, soon = (delivered_by_packet(results) for results in (usual, roomy))
        for packet, times in late.items():
            sooner = soon.get(packet, [])
            assert len(sooner) >= len(times), (name, larger, written)
            assert all(a <= b for a, b in zip(sooner, times, strict=False)), (name, larger, written)
        packets += len(late)
    assert packets > 100
