"""Laws over the whole way from a description to its result, on drawn scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from fabriloom import Scenario
from fabriloom.compile import compile
from fabriloom.studies.zero_load import zero_load_latency

from . import laws

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


def whole_credits(one: laws.Drawn) -> bool:
    """Whether credits are whole in buffers, and in packets that wait for them; else what earlier packets
    left of a credit decides whether a long one waits."""
    arrays = one.compiled.arrays
    sizes = [arrays["length_max"], arrays["length_values"], arrays["flow_length"]]
    fits = max(int(size.max(initial=0)) for size in sizes) + HEADERS <= arrays["link_input_buffer"].min()
    whole = not (arrays["link_input_buffer"] % arrays["link_quantum"]).any()
    return whole and (fits or one.compiled.technology.in_flits or arrays["link_quantum"].max() == 1)


def test_half_the_speed_takes_twice_the_time(seeds: Seeds) -> None:
    """Random times are drawn in whole ns on links of characters, so that sources are always full there."""
    packets = 0
    for one in laws.drawn(seeds(60)):
        written = one.written
        if "interface" in written or "router_latency" in written["technology"]:
            continue  # its delays are rounded to ps, one by one
        if "program" not in written and not one.compiled.technology.in_flits:
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
        packets += len(found)
    assert packets > 1000


def test_no_link_carries_more_than_its_wire(seeds: Seeds) -> None:
    for one in laws.drawn(seeds(60)):
        links = laws.ran(one.written, one.duration_ps).links
        assert links["utilisation"].max() <= 1, one.written


def test_single_packets_take_what_check_says(seeds: Seeds) -> None:
    """A terminal that waits long after each packet meets none of its own."""
    packets = to_one = 0
    for one in laws.drawn(seeds(60)):
        if "program" in one.written or one.written["routing"]["universal"] or not whole_credits(one):
            continue
        traffic = {key: value for key, value in one.written["traffic"].items() if key not in laws.AMOUNTS}
        traffic |= {"length": f"{one.compiled.arrays['length_max'].max()} B", "senders": [0]}
        try:
            said = zero_load_latency(
                compile(Scenario.from_dict({**one.written, "traffic": {**traffic, "arrivals": "backlog"}}))
            )
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
        assert (latency_ns >= least).all(), written
        waits_for_slots = bool(one.written["technology"].get("lane_slots"))
        assert waits_for_slots or (latency_ns <= most).all(), written
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
