"""Laws over the whole way from a description to its result, on drawn scenarios.

A mirrored network with its traffic mirrored delivers the same, and no traffic is more than the bound.

What enters a switch leaves it, what cannot deadlock does not with faults, and more room delays nobody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from fabriloom import Results, Scenario, run
from fabriloom.codes import ARRIVAL
from fabriloom.compile import compile
from fabriloom.scenario.schema import CODES
from fabriloom.studies.kinds import inspection_of
from fabriloom.studies.zero_load import zero_load_latency

from . import laws
from .test_moments import column

Seeds = Callable[[int], Iterator[int]]
pytestmark = pytest.mark.seeds
HEADERS = 8
"""Most characters that are added to a packet."""
EXACT = 1e-12
"""Of a time as a float."""


def without_load(one: laws.Drawn) -> dict[str, object]:
    """Return its description with sources that always have a packet waiting."""
    traffic = {key: value for key, value in one.written["traffic"].items() if key not in laws.AMOUNTS}
    return {**one.written, "traffic": {**traffic, "arrivals": "backlog"}}


def fits(one: laws.Drawn) -> bool:
    """Whether the longest packet has all of its credit at once."""
    arrays = one.compiled.arrays
    sizes = [arrays["length_max"], arrays["length_values"], arrays["flow_length"]]
    longest = max(int(size.max(initial=0)) for size in sizes)
    return bool(longest + HEADERS <= arrays["link_input_buffer"].min())


def whole_credits(one: laws.Drawn) -> bool:
    """Whether credits are whole in buffers, and single or never waited for; else what earlier packets left
    of a credit decides whether a long one waits."""
    arrays = one.compiled.arrays
    whole = not (arrays["link_input_buffer"] % arrays["link_quantum"]).any()
    return whole and (fits(one) or arrays["link_quantum"].max() == 1)


def test_half_the_speed_takes_twice_the_time(seeds: Seeds) -> None:
    """Random times are drawn in whole ns on links of characters, so that sources are always full there."""
    packets = 0
    for one in laws.drawn(seeds(60)):
        written = one.written
        if "interface" in written or "router_latency" in written["technology"]:
            continue  # its delays are rounded to ps, one by one
        if not one.compiled.technology.in_flits and len(one.compiled.arrays["group_part_start"]):
            continue  # ports are drawn by the time in grains, whole ns there
        if not one.compiled.technology.in_flits and "traffic" in written:
            if "program" in written:
                continue  # sources beside programs are never always full
            written = without_load(one)
        runs = laws.ran(written, one.duration_ps), laws.ran(laws.slower(written, 2), 2 * one.duration_ps)
        until = min(laws.comparable_ps(runs[0]), laws.comparable_ps(runs[1]) / 2)
        usual, slow = (laws.deliveries_ps(each, until * (1 + at)) for at, each in enumerate(runs))
        usual[:, :3] *= 2
        assert np.array_equal(usual, slow), written
        packets += len(usual)
    assert packets > 1000


def test_a_fault_that_never_comes_changes_nothing(seeds: Seeds) -> None:
    """Networks with faults may be simulated in another way, which finds a deadlock sooner or later; what they
    deliver before is the same."""
    packets = 0
    for one in laws.drawn(seeds(60)):
        graph = one.compiled.graph
        if one.compiled.arrays["grant_with_room"]:
            continue  # is not simulated with faults
        link = graph.link_names[int(graph.terminal_out_links[0])]
        fault = [{"link": link, "at": f"{one.duration_ps - 1000} ps"}]
        usual = laws.ran(one.written, one.duration_ps)
        faulty = laws.ran({**one.written, "fault": fault}, one.duration_ps)
        ends = [
            one.duration_ps,
            *(int(each.native["end_time_ticks"]) * each.tick_ps for each in (usual, faulty)),
        ]
        until_ps = min(ends) - 2000
        found = laws.deliveries_ps(usual, until_ps)
        assert np.array_equal(found, laws.deliveries_ps(faulty, until_ps)), one.written
        if usual.end_reason == "drained" and not one.written.keys() & CODES:
            assert ends[1] == ends[2], one.written
        packets += len(found)
    assert packets > 1000


def test_no_link_carries_more_than_its_wire(seeds: Seeds) -> None:
    for one in laws.drawn(seeds(60)):
        links = laws.ran(one.written, one.duration_ps).links
        assert links["utilisation"].max() <= 1, one.written


def test_single_packets_take_what_check_says(seeds: Seeds) -> None:
    """A terminal that waits long after each packet meets none of its own.

    A code that holds the wire lets credits gather: frames become longer, and a packet has fewer of them.
    """
    packets = to_one = 0
    for one in laws.drawn(seeds(60)):
        if "program" in one.written or one.written["routing"]["universal"] or not whole_credits(one):
            continue
        traffic = {key: value for key, value in one.written["traffic"].items() if key not in laws.AMOUNTS}
        traffic |= {"length": f"{one.compiled.arrays['length_max'].max()} B", "senders": [0]}
        try:
            tried = {**one.written, "traffic": {**traffic, "arrivals": "backlog"}}
            said = zero_load_latency(inspection_of(compile(Scenario.from_dict(tried))))
        except laws.REFUSED:
            continue
        if said["max"] is None:
            continue  # the first sends to nobody
        wait_ps = max(one.duration_ps // 8, 3 * round(1000 * said["max"]))
        written = {
            **one.written,
            "traffic": {**traffic, "arrivals": {"kind": "wait", "wait": f"{wait_ps} ps"}},
        }
        found = laws.deliveries_ps(laws.ran(written, 8 * wait_ps))
        latency_ns = (found[:, 0] - found[:, 2]) / 1000
        least, most = said["min"] * (1 - EXACT), said["max"] * (1 + EXACT)
        technology, codes = one.written["technology"], len(one.compiled.arrays["code_port"]) > 0
        gathers = codes and technology.get("lane_sharing") == "frame" and not fits(one)
        assert gathers or (latency_ns >= least).all(), written
        waits = technology.get("lane_slots") or codes
        assert waits or (latency_ns <= most).all(), written
        packets += len(found)
        to_one += least > most * (1 - 4 * EXACT)
    assert packets > 100
    assert to_one > 1  # whose time is known to the tick


def test_what_cannot_deadlock_does_not(seeds: Seeds) -> None:
    for one in laws.drawn(seeds(60)):
        if "program" in one.written:
            continue
        written = without_load(one)
        if compile(Scenario.from_dict(written)).deadlock.free:
            end = laws.ran(written, one.duration_ps).summary["end"]
            assert end["reason"] != "deadlocked", written


def flows_on(one: laws.Drawn, shape: list[int], dice: Random) -> list[dict[str, Any]]:
    """Flows of which no two packets are made at one time: then nothing is decided by numbers of ports."""
    terminals = int(np.prod(shape))
    count = min(40, terminals * (terminals - 1))
    bytes_of = dice.choice([8, 64, 200])
    apart_ns = 2 + int(one.compiled.technology.grain_ps / 1000)  # more than that to which times are rounded
    period_ns = max(apart_ns * 100, one.duration_ps // 1000 // 12)
    moments = dice.sample(range(0, period_ns - apart_ns, apart_ns), count)
    pairs = [(a, b) for a in range(terminals) for b in range(terminals) if a != b]
    return [
        {
            "source": source,
            "target": target,
            "length": f"{bytes_of} B",
            "period": f"{period_ns} ns",
            "phase": f"{moment} ns",
        }
        for moment, (source, target) in zip(moments, dice.sample(pairs, count), strict=True)
    ]


def test_a_mirrored_grid_delivers_the_same(seeds: Seeds) -> None:
    """Packets that compete are of different ages, and the oldest goes first."""
    packets = 0
    for number, one in enumerate(laws.drawn(seeds(60))):
        if "program" in one.written:
            continue
        dice = Random(number)
        kind = dice.choice(["grid", "torus"])
        shape = [dice.choice([2, 3, 4] if kind == "grid" else [3, 5]) for _ in range(dice.choice([2, 2, 3]))]
        axis = dice.randrange(len(shape))
        places = list(np.ndindex(*shape))
        mirror = [places.index((*at[:axis], shape[axis] - 1 - at[axis], *at[axis + 1 :])) for at in places]
        found = flows_on(one, shape, dice)
        mirrored = [{**flow, **{end: mirror[flow[end]] for end in ("source", "target")}} for flow in found]
        technology = laws.free_of_numbers(one.written["technology"], "oldest-first")
        routing: dict[str, Any] = {"kind": "dimension-order", "adaptive": False}
        if kind == "torus":
            routing["variant"] = "minimal"
        base = {
            "seed": number,
            "topology": {"kind": kind, "shape": shape, "terminals_per_switch": 1},
            "technology": technology,
            "routing": routing,
        }
        both = []
        for flows in (found, mirrored):
            written = {**base, "traffic": {"pattern": {"kind": "flows", "flows": flows}}}
            try:
                both.append(laws.deliveries_ps(laws.ran(written, one.duration_ps)))
            except laws.REFUSED:
                break
        if len(both) < 2:
            continue
        usual, other = both
        other[:, 3:5] = np.array(mirror)[other[:, 3:5].astype(int)]
        other = other[np.lexsort(other.T[::-1])]
        assert np.array_equal(usual, other), (written, len(usual), len(other))
        packets += len(usual)
    assert packets > 500


def test_overload_carries_no_more_than_the_bound(seeds: Seeds) -> None:
    """Where every sender has one receiver, the slowest gets no more than its part of what `check` says."""
    packets = near = 0
    for number, one in enumerate(laws.drawn(seeds(48), laws.ALL)):
        if "program" in one.written or one.written["routing"].get("universal"):
            continue
        count, of_rings = one.compiled.graph.terminals, not hasattr(one.compiled.routes, "table")
        pairs = {"kind": "permutation", "random": True} if count > 2 else {"kind": "shift", "by": 1}
        length = {"kind": "fixed", "value": f"{one.compiled.lengths[0].max()} B"}
        traffic = {"pattern": pairs, "length": length, "arrivals": "backlog"}
        if number % 3 == 2:
            traffic["senders"] = [0]  # whom no other holds back
        if of_rings:
            traffic["transaction"] = one.written["traffic"]["transaction"]
        written = {**one.written, "traffic": traffic}
        try:
            compiled = compile(Scenario.from_dict(written))
            network = inspection_of(compiled).network()
            results = laws.ran(written, 4 * one.duration_ps)
        except laws.REFUSED:
            continue
        sent = np.bincount(column(results, "trace_source"), column(results, "trace_length"), count)
        sends = compiled.arrays["source_arrival"] != ARRIVAL.SILENT
        load, of_wire = network["channel_load"], network["link"].get("limited_by", "wire") == "wire"
        if load["shared_load_bound"] is None or (one.written["routing"].get("traffic_class") and not of_wire):
            continue
        exact = 1e-9 if of_wire else 0.01  # what else limits a path is found by a run of one, without classes
        more = load["shared_load_bound"] / load["load_bound"] * (1 + exact)
        # A run that ends within a turn of the time-slots may have had more open than closed ones.
        turn_ns = SLOTS * float(compiled.arrays["lane_slot_ticks"]) * float(compiled.tick_ps) / 1000
        most = more * load["accepted_mbytes_per_s_bound"] * (results.summary["simulated_ns"] + turn_ns) / 1e3
        # Where credit limits a path, the credit at the beginning lets a packet more pass. On rings requests
        # under way owe their responses, and until buffers on the way are full, nothing waits for a window.
        owes = of_rings or load["busiest_link"].startswith("the window")
        spare = results.summary["packets"]["in_flight"] if owes else int(not of_wire)
        spare *= int(compiled.arrays["length_max"].max())
        assert sent[sends].min() <= most / sends.sum() + spare, written
        if load["shared_load_bound"] == 1:
            assert sent.sum() <= most, written
        near += sent[sends].min() > 0.8 * most / sends.sum()
        packets += results.native["delivered"]
    assert packets > 500
    assert near > 3


SLOTS = 64
"""Time-slots of a turn."""
ROOM = ("input_buffer_flits", "input_buffer", "output_buffer_flits", "output_buffer")


def test_packets_are_conserved_at_every_switch_and_terminal(seeds: Seeds) -> None:
    """The end of a packet that a watchdog cuts leaves the switch, and is not among what enters it."""
    packets = 0
    for one in laws.drawn(seeds(40)):
        if "program" in one.written:
            continue
        graph, native = one.compiled.graph, laws.ran(one.written, one.duration_ps).native
        vertices, passed = graph.switches + graph.ports, np.asarray(native["link_packets"])
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
            more = np.bincount(laws.owners(graph), seen[graph.switches :], graph.terminals) - told
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
    kind = dice.choice(["auto", "shortest-path", "up-star-down-star"])
    after = {"kind": kind, "own_lanes": Random(f"own {fault}").random() < 0.3}
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
        waits = traffic["arrivals"]["kind"] in ("backlog", "wait", "random-wait")
        if waits or "program" in one.written or one.written["routing"]["universal"]:
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


def drawn_program(draw: Random) -> dict[str, Any]:
    """Return messages on a ring or on links, of hosts with windows and times of their own."""
    of_rings, size = draw.random() < 0.4, draw.choice([8, 64, 200, 1000, 3200])
    kind = draw.choice(["fixed-pairs", "all-to-all", "out-farming", "funnel-in", "ping-pong"])
    if of_rings:
        topology = {"kind": draw.choice(["sci-ring", "sci-banyan"]), "terminals": 4}
        technology = {"preset": draw.choice(["scinet", "sci-lx-d310"])}
        protocol = {"preset": draw.choice(["pio", "dma", "pio-lx-d310", "pio-bx-d321"])}
    else:
        switches = draw.choice([1, 2, 4])
        topology = {"kind": "grid", "shape": [switches], "terminals_per_switch": 4 // switches}
        preset = draw.choice(
            ["ds-link-c104", "spacewire-200", "generic", "infiniband-4x-edr", "ethernet-10g"]
        )
        technology = {"preset": preset, "cable_length": draw.choice(["1 m", "10 m", "100 m"])}
        protocol = {"preset": "raw", "packet": f"{draw.choice([64, 256])} B", "acknowledge": "packet"}
        windows = {"messages_at_once": [1, 2, 4], "packets_per_channel": [1, 2], "packets_at_once": [1, 3, 8]}
        chosen = draw.sample(sorted(windows), draw.randrange(3))
        protocol |= {name: draw.choice(windows[name]) for name in chosen}
        protocol["acknowledge_from"] = draw.choice(["end", "head"])
    times = draw.sample(["send_time", "receive_time", *([] if of_rings else ["ack_time", "resume_time"])], 2)
    protocol |= {name: f"{draw.choice([100, 500, 2000])} ns" for name in times}
    if draw.random() < 0.2:
        protocol["shaper_rate"] = "5 MB/s"
    if draw.random() < 0.3:
        protocol["eager_limit"] = "10 B"
    program = {"kind": kind, "size": f"{size} B", "rounds": 40}
    sections = {"topology": topology, "technology": technology, "protocol": protocol, "program": program}
    return {**sections, "run": {"duration": "1 s"}}


def test_programs_carry_no_more_than_the_bound(seeds: Seeds) -> None:
    """Wires, buffers, hand-overs, hosts, windows of protocols and token buckets, before the run and in it."""
    near = known = 0
    for seed in seeds(24):
        written = drawn_program(Random(seed))
        compiled = compile(Scenario.from_dict(written))
        network = inspection_of(compiled).network()
        most = network["channel_load"]["accepted_mbytes_per_s_bound"]
        results = run(Scenario.from_dict(written))
        if results.summary["end"]["reason"] != "drained":
            continue  # a livelock of retries
        carried = results.summary["messages"]["mbytes_per_s"]
        # Single packets may find less of their credit left than those of the run.
        assert carried <= most * 1.001, written
        near, known = near + (carried > 0.8 * most), known + 1
    assert known > 12
    assert near > known / 3
