"""What a run says of every moment: Little's law, the ways of packets, links that work while there is work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fabriloom import Results, Scenario
from fabriloom.compile import compile
from fabriloom.studies.zero_load import zero_load_latency

from . import laws

Seeds = Callable[[int], Iterator[int]]
pytestmark = pytest.mark.seeds
HOPS = 1 << 20
NEVER = 1 << 48


def column(results: Results, name: str) -> np.ndarray:
    return np.asarray(results.native[name], np.int64)


def test_a_shorter_run_is_the_beginning_and_shows_who_is_under_way(seeds: Seeds) -> None:
    """Little's law at every moment: those under way are those that were made and have not arrived.

    How often a run looks for a deadlock, at which it ends, depends on how long it is.
    """
    moments = 0
    for one in laws.drawn(seeds(40), laws.ALL):
        whole = laws.ran(one.written, one.duration_ps)
        made, arrived = (column(whole, f"trace_{name}_ticks") for name in ("created", "delivered"))
        for share in (0.3, 0.7):
            part = laws.ran(one.written, int(one.duration_ps * share))
            end = min(int(run.native["end_time_ticks"]) for run in (part, whole))
            found, seen_there = (laws.deliveries_ps(run, end * run.tick_ps) for run in (whole, part))
            assert np.array_equal(seen_there, found), one.written
            if "program" in one.written or end < part.native["end_time_ticks"]:
                continue  # a packet is made with its message, and counted when it is sent
            moments += 1
            seen = int(((made <= end) & (arrived > end)).sum())
            late = whole.native["in_flight"] + whole.native["lost"] + whole.native["scrubbed"]
            assert seen <= part.native["in_flight"] <= seen + late, one.written
    assert moments > 20


def test_packets_under_way_are_their_rate_times_their_time(seeds: Seeds) -> None:
    """Little's law in the mean: the integral of the count, step by step, beside what the tables say."""
    packets = 0
    for one in laws.drawn(seeds(40), laws.ALL):
        if "program" in one.written:
            continue
        limits = {"duration": f"{one.duration_ps} ps", "warmup": "0 ns", "precision": 0, "drain": True}
        output = {"trace": True, "flows": True}
        results = laws.run(Scenario.from_dict({**one.written, "run": limits, "output": output}))
        if results.end_reason != "drained" or results.native["lost"]:
            continue
        summary, count = results.summary, results.native["delivered"]
        made, arrived = (column(results, f"trace_{name}_ticks") for name in ("created", "delivered"))
        times, steps = np.concatenate([made, arrived]), np.repeat([1, -1], count)
        order = np.argsort(times, kind="stable")
        under_way_ns = (
            float((np.cumsum(steps[order])[:-1] * np.diff(times[order])).sum()) * results.tick_ps / 1e3
        )
        total = summary["packets"]["delivered"] * (summary["total_latency_ns"]["mean"] or 0)
        assert under_way_ns == pytest.approx(total, rel=1e-9), one.written
        flows = results.flows
        per_flow = float((flows["packets"] * flows["latency_ns_mean"]).sum())
        assert per_flow == pytest.approx(count * (summary["latency_ns"]["mean"] or 0), rel=1e-9), one.written
        packets += count
    assert packets > 500


def test_a_replay_shows_the_run(seeds: Seeds) -> None:
    """Keeping the ways of packets changes nothing, and they tell the same."""
    packets = 0
    for one in laws.drawn(seeds(40), laws.ALL):
        plain, kept = (laws.ran(one.written, one.duration_ps, hops) for hops in (0, HOPS))
        if plain.end_reason == kept.end_reason == "deadlocked":
            until = laws.comparable_ps(plain, kept)
            usual, found = (laws.deliveries_ps(results, until) for results in (plain, kept))
            assert np.array_equal(usual, found), one.written
            continue
        ends = [{**results.summary, "engine": None} for results in (plain, kept)]
        assert ends[0] == ends[1], one.written
        assert plain.links.equals(kept.links), one.written
        assert plain.flows.equals(kept.flows), one.written
        assert kept.native["hops_dropped"] == 0
        if kept.graph.rings is not None or kept.native["lost"]:
            continue
        end = column(kept, "hop_end_ticks")  # of some packets it is known before it comes
        known, gone = end >= 0, (end >= 0) & (end <= kept.native["end_time_ticks"])
        told, sent = (
            np.bincount(column(kept, "hop_link")[of], minlength=kept.graph.links) for of in (known, gone)
        )
        counted = column(kept, "link_packets")
        assert ((sent <= counted) & (counted <= told)).all(), one.written
        into = np.isin(column(kept, "hop_link"), np.asarray(kept.graph.terminal_in_links))
        names = ("source", "target", "created_ticks", "started_ticks")
        last = {
            tuple(row) for row in np.stack([column(kept, f"hop_{name}") for name in names], 1)[into].tolist()
        }
        told = {tuple(row) for row in np.stack([column(kept, f"trace_{name}") for name in names], 1).tolist()}
        assert told <= last, one.written
        packets += len(told)
    assert packets > 500


def with_room(one: laws.Drawn) -> dict[str, Any] | None:
    """Its network with long packets and room for all of them ahead; None where other things hold a link."""
    technology = one.written["technology"]
    held = ("watchdog", "watchdog_cycles", "credit_limit", "lane_slots")
    fits = technology.get("lanes", 1) == 1 and technology.get("switching") != "store-and-forward"
    fits &= (
        technology.get("input_queues") != "per-output"
    )  # another queue may have the way through the crossbar
    if not fits or "program" in one.written or any(technology.get(name) for name in held):
        return None
    room = {"input_buffer_flits": 100_000} if "flit" in technology else {"input_buffer": "100000 B"}
    long = {"length": {"kind": "fixed", "value": "2000 B"}}
    return {
        **one.written,
        "technology": {**technology, **room},
        "traffic": {**one.written["traffic"], **long},
        "routing": {**one.written["routing"], "adaptive": False},
    }


def ways_of(results: Results) -> dict[tuple[int, ...], list[tuple[int, int, int]]]:
    """The links of each packet in order, with begin and end, which may be never."""
    names = ("source", "started_ticks", "begin_ticks", "end_ticks", "link")
    kept: dict[tuple[int, ...], list[tuple[int, int, int]]] = defaultdict(list)
    rows = np.stack([column(results, f"hop_{name}") for name in names], 1)
    for source, started, begin, end, link in sorted(rows.tolist()):
        kept[source, started].append((begin, end if end >= 0 else NEVER, link))
    return kept


def idle_ticks(results: Results) -> Iterator[int]:
    """For how long each packet stood before a free link, with nobody before it in its own buffer.

    It can go on when its head is there, the packet before it on the link has gone, and the one before it in
    the buffer, too.
    """
    ways = ways_of(results)
    on_link: dict[int, list[tuple[int, tuple[int, ...], int]]] = defaultdict(list)
    for packet, way in ways.items():
        for step, (begin, _, link) in enumerate(way):
            on_link[link].append((begin, packet, step))
    before: dict[tuple[tuple[int, ...], int], tuple[tuple[int, ...], int] | None] = {}
    for steps in on_link.values():
        steps.sort()
        last = None
        for _, packet, step in steps:
            before[packet, step], last = last, (packet, step)
    for packet, way in ways.items():
        for step in range(1, len(way)):
            ready = [way[step - 1][0]]
            if (other := before[packet, step]) is not None:
                ready.append(ways[other[0]][other[1]][1])
            if (other := before[packet, step - 1]) is not None and other[1] + 1 < len(ways[other[0]]):
                ready.append(ways[other[0]][other[1] + 1][1])
            yield way[step][0] - max(ready)


def test_no_link_is_idle_while_a_packet_waits_that_has_room_ahead(seeds: Seeds) -> None:
    """Within the time that the head of a single packet takes to pass the network, and packets are longer."""
    packets = 0
    for one in laws.drawn(seeds(60)):
        written = with_room(one)
        if written is None:
            continue
        short = {**written["traffic"], "length": {"kind": "fixed", "value": "1 B"}}
        try:
            head_ns = zero_load_latency(compile(Scenario.from_dict({**written, "traffic": short})))["max"]
            results = laws.ran(written, 4 * one.duration_ps, HOPS)
        except laws.REFUSED:
            continue
        idle_ns = np.array([0, *idle_ticks(results)]) * results.tick_ps / 1e3
        assert idle_ns.max() <= head_ns, (idle_ns.max(), head_ns, written)
        packets += len(idle_ns)
    assert packets > 500
