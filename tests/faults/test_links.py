"""Which links fail, and from when to when they are down.

Failures that are drawn: as often as they should be, and the same for the same seed.

Tables that lead around what has failed, and runs in which they replace the first ones.

Messages over links that fail: each is received once, however often its packets are sent and lost.

Wrong bits on links with credits, terminals that stop for good, sources that fall silent in a packet.
"""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from fabriloom import Results, Scenario, routing, run, topology
from fabriloom.compile import LinkRoutes, compile
from fabriloom.faults import STUCK, Outage, Rules, drawn, mtbf_of_bits_ps, outages
from fabriloom.simulate import compare
from fabriloom.topology import Graph
from fabriloom.topology.named import UnknownPartError, each_of, links_of
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

GRAPH = topology.build(kind="grid", shape=[2, 2], terminals_per_switch=1, links_per_edge=2)
CABLE = Rules(disconnect=10, restart=100, stops_cable=True)
LINK = Rules(disconnect=10, restart=100, stops_cable=False)


def named(kind: str, name: str | int) -> list[str]:
    return [GRAPH.link_names[link] for link in links_of(GRAPH, kind, name)]


def test_what_fails_together() -> None:
    assert named("link", "s(0,0)>s(0,1)#1") == ["s(0,0)>s(0,1)#1"]
    assert named("link", "s(0,0) -> s(0,1)#1") == ["s(0,0)>s(0,1)#1"]
    assert named("cable", "s(0,1)>s(0,0)#1") == ["s(0,0)>s(0,1)#1", "s(0,1)>s(0,0)#1"]
    assert named("terminal", 0) == ["t(0,0).0>s(0,0)", "s(0,0)>t(0,0).0"]
    assert len(named("switch", "s(0,0)")) == 2 + 4 * 2


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("link", "s(0,0)>s(0,1)", "2 links lead from"),
        ("link", "s(0,0)>s(9,9)#1", "there is no link"),
        ("switch", "s(0,9)", "there is no switch"),
        ("terminal", 4, "there is no terminal number 4"),
    ],
)
def test_what_is_not_there(kind: str, name: str | int, words: str) -> None:
    with pytest.raises(UnknownPartError, match=words):
        links_of(GRAPH, kind, name)


def test_silence_stops_the_other_direction() -> None:
    [link] = links_of(GRAPH, "link", "s(0,0)>s(0,1)#1")
    reverse = int(GRAPH.link_reverse[link])
    found = outages(GRAPH, [([link], 1000, 5000)], CABLE)
    assert found == [Outage(1000, link, 1010, 5100), Outage(1010, reverse, 1020, 5100)]
    assert outages(GRAPH, [([link], 1000, 5000)], LINK) == [Outage(1000, link, 1010, 5100)]


def test_a_repair_counts_from_when_both_ends_have_noticed() -> None:
    assert outages(GRAPH, [([0], 1000, 1001)], LINK) == [Outage(1000, 0, 1010, 1110)]
    assert outages(GRAPH, [([0, 1], 1000, 1001)], CABLE)[0].up == 1120


def test_a_link_that_fails_while_it_is_stuck_is_not_stuck_then() -> None:
    found = outages(GRAPH, [([0], 500, 900)], LINK, [([0], 100, 2000), ([1], 300, 400)])
    assert found == [
        Outage(100, 0, 101, 500, kind=STUCK),
        Outage(300, 1, 301, 400, kind=STUCK),
        Outage(500, 0, 510, 1000),
        Outage(1000, 0, 1001, 2000, kind=STUCK),
    ]
    assert outages(GRAPH, [([0], 500, None)], LINK, [([0], 600, 2000)]) == [Outage(500, 0, 510, None)]


def test_faults_that_overlap_are_one() -> None:
    twice = [([0], 100, 500), ([0], 300, 900), ([0], 5000, None), ([0], 6000, 7000)]
    assert outages(GRAPH, twice, LINK) == [Outage(100, 0, 110, 1000), Outage(5000, 0, 5010, None)]


MS = 10**9
RATES_GRAPH = topology.build(kind="grid", shape=[2, 2], terminals_per_switch=1)


def test_mean_times_are_those_asked_for() -> None:
    """Ten thousand times each: 4 standard errors are 4 %, so this fails by chance once in 16,000."""
    found = list(drawn("1", 30_000 * MS, 2 * MS, MS))
    assert 9_600 < len(found) < 10_400
    down = sum(repaired - at for at, repaired in found if repaired is not None)
    assert down / len(found) == pytest.approx(MS, rel=0.04)
    assert all(at <= repaired for at, repaired in found if repaired is not None)
    assert all(one[1] <= other[0] for one, other in pairwise(found) if one[1])


def test_equal_seeds_draw_the_same() -> None:
    assert list(drawn("1/0/a", 10**10, MS, MS)) == list(drawn("1/0/a", 10**10, MS, MS))
    assert list(drawn("1/0/a", 10**10, MS, MS)) != list(drawn("1/0/b", 10**10, MS, MS))


def test_what_is_never_repaired_fails_once() -> None:
    found = list(drawn("1", 10**12, MS, None))
    assert len(found) == 1
    assert found[0][1] is None


def test_bit_errors_come_as_often_as_bits() -> None:
    # 1e-9 at 100 Mbit/s: one in 10 s.
    assert mtbf_of_bits_ps(1e-9, 1e8) == pytest.approx(10 * 10**12)


@pytest.mark.parametrize(("kind", "count"), [("link", 16), ("cable", 8), ("switch", 4), ("terminal", 4)])
def test_all_is_each(kind: str, count: int) -> None:
    assert (
        len(each_of(RATES_GRAPH, kind, "all"))
        == count
        == len({name for name, _ in each_of(RATES_GRAPH, kind, "all")})
    )


def test_a_rate_gives_outages_of_each_cable() -> None:
    base = {"topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1}, "seed": 3}
    fault = {"cable": "all", "bit_error_rate": 1e-6}
    compiled = compile(Scenario.from_dict({**base, "fault": [fault], "run": {"duration": "20 ms"}}))
    arrays = compiled.arrays
    # Eight cables, both ways 200 Mbit/s: one in 5 ms each, 32 in 20 ms, of two links each.
    assert 20 < len(arrays["fault_link"]) / 2 < 46
    up, down = (arrays[f"fault_{name}_ticks"].astype(float) * compiled.tick_ps for name in ("up", "down"))
    # Each lasts as long as it takes to notice at both ends and to start again.
    assert up - down == pytest.approx((19.2 + 2 * 0.85) * 1e6, rel=1e-3)


US = 10**6
MESH = {"kind": "grid", "shape": [3, 3], "terminals_per_switch": 1}
FLOW = {"source": "t(1,0).0", "target": "t(1,2).0", "rate": "60 Mbit/s"}
CUT = {"cable": "s(1,0)>s(1,1)", "at": "1 ms", "repaired": "3 ms"}


def replaced(delay: str = "300 us", fault: dict[str, Any] = CUT, **after: Any) -> Results:
    return run(
        Scenario.from_dict(
            {
                "topology": MESH,
                "technology": {"preset": "spacewire-200"},
                "routing": {"after_fault": {"delay": delay, **after}},
                "traffic": {
                    "pattern": {"kind": "flows", "flows": [FLOW]},
                    "length": "200 B",
                    "arrivals": "constant",
                },
                "fault": [fault],
                "run": {"duration": "5 ms"},
            }
        )
    )


def dead_of(graph: Graph, names: list[str]) -> np.ndarray:
    return np.isin(graph.link_names, names)


def test_what_has_failed_is_not_used() -> None:
    graph = topology.build(**MESH)
    dead = dead_of(graph, ["s(1,0)>s(1,1)"])
    table = routing.around(graph, dead)
    names = np.array(graph.link_names)
    # Of a cable that fails one way the other way is not used either.
    assert not {"s(1,0)>s(1,1)", "s(1,1)>s(1,0)"} & set(names[table.group_links])
    routing.verify(graph, table)
    assert routing.dependency_cycle(graph, table) is None


@settings(max_examples=40)
@given(data=st.data())
def test_whatever_fails_all_that_is_reached_is_led_there(data: st.DataObject) -> None:
    """On networks in parts, too: a breadth-first search says which switches are reached."""
    graph = topology.build(kind="torus", shape=[3, 3], terminals_per_switch=1)
    between = graph.switch_links.tolist()
    dead = np.zeros(graph.links, bool)
    dead[data.draw(st.lists(st.sampled_from(between), max_size=30))] = True
    table = routing.around(graph, dead, data.draw(st.sampled_from(routing.AROUND[::2])))
    left = np.zeros((graph.switches, graph.switches), bool)
    lost = dead | dead[graph.link_reverse]
    alive = np.array([link for link in between if not lost[link]], np.int64)
    left[graph.link_source[alive], graph.link_target[alive]] = True
    for _ in range(graph.switches):
        left |= np.eye(graph.switches, dtype=bool) | (left.astype(int) @ left.astype(int) > 0)
    home = graph.terminal_exit_switches
    assert np.array_equal(table.route != routing.NONE, left[:, home])
    if left.all():
        routing.verify(graph, table)
        assert routing.dependency_cycle(graph, table) is None


def test_tables_come_after_the_delay_and_go_after_the_repair() -> None:
    scenario = Scenario.from_dict(
        {"topology": MESH, "routing": {"after_fault": {"delay": "300 us"}}, "fault": [CUT]}
    )
    compiled = compile(scenario)
    moments = compiled.arrays["table_ticks"].astype(float) * compiled.tick_ps / US
    # The cable runs again 19.2 us after its repair.
    assert moments == pytest.approx([1300, 3319.2], abs=0.01)
    assert compiled.arrays["table_number"].tolist() == [1, 0]
    assert isinstance(compiled.routes, LinkRoutes)
    assert len(compiled.arrays["table_route"]) == compiled.routes.table.route.size


@pytest.mark.parametrize("seed", range(6))
def test_packets_escape_over_what_is_left(seed: int) -> None:
    dice = Random(seed)
    ring, graph = {"kind": "torus", "shape": [6]}, {"kind": "jellyfish", "switches": 8, "degree": 3}
    kind = dice.choice(["up*/down*", "dimension-order"]) if seed % 2 else "up*/down*"
    table = {
        "seed": seed,
        "topology": ring if seed % 2 else graph,
        "technology": {"preset": "generic", "lanes": dice.choice([3, 4])},
        "routing": {"kind": kind, "lane_choice": "escape", "after_fault": {"delay": "1 us"}}
        | ({"variant": "minimal"} if kind == "dimension-order" else {}),
        "traffic": {"pattern": "uniform", "length": "32 B", "load": dice.choice([0.1, 0.4])},
        "fault": [{"cable": "s(0)>s(1)", "at": "5 us"}],
        "run": {"duration": "40 us", "warmup": "7 us", "precision": 0},
    }
    compiled = compile(Scenario.from_dict(table))
    assert isinstance(compiled.routes, LinkRoutes)
    ((after,),) = compiled.routes.after_planes.values()
    assert (after.route != routing.NONE).all()
    gone = dead_of(compiled.graph, ["s(0)>s(1)", "s(1)>s(0)"])
    assert not gone[after.group_links].any()
    routing.verify(compiled.graph, after)
    found = compare(compiled, 15_000_000)
    assert found.identical
    assert found.packets > 1000


@pytest.mark.parametrize("choice", ["dateline", "wide-dateline", "kept-dateline"])
def test_a_torus_with_datelines_goes_on_without_them(choice: str) -> None:
    """New tables have layers of lanes, or up*/down*; the first ones come back with all links."""
    table = {
        "topology": {"kind": "torus", "shape": [4, 4]},
        "technology": {"preset": "generic", "lanes": 2},
        "routing": {
            "kind": "dimension-order",
            "lane_choice": choice,
            "variant": "minimal",
            "after_fault": {"delay": "1 us"},
        },
        "traffic": {"pattern": "uniform", "length": "32 B", "arrivals": "backlog"},
        "fault": [{"cable": "s(0,0)>s(0,1)", "at": "3 us", "repaired": "8 us"}],
        "run": {"duration": "40 us", "warmup": "7 us", "precision": 0},
    }
    compiled = compile(Scenario.from_dict(table))
    assert isinstance(compiled.routes, LinkRoutes)
    ((after,),) = compiled.routes.after_planes.values()
    assert (after.route != routing.NONE).all()
    assert compiled.routes.is_free(compiled.graph.planes[0].graph, after)
    verdict = compiled.deadlock
    assert verdict.free or verdict.when.endswith("while packets are under way by the tables before it")
    found = compare(compiled, 13_000_000)
    assert found.identical
    assert found.packets > 1000


def test_classes_have_their_lanes_on_new_tables() -> None:
    """Each on its own lanes, as before; and what waits for what on them is looked at."""
    own = [{"from": ["t(0).0", "t(1).0"], "lanes": [1]}, {"from": ["t(4).0"], "lanes": [0, 2]}]
    table = {
        "topology": {"kind": "torus", "shape": [5], "terminals_per_switch": 2},
        "technology": {"preset": "generic", "lanes": 4},
        "routing": {"kind": "up*/down*", "traffic_class": own, "after_fault": {"delay": "1 us"}},
        "traffic": {"pattern": "uniform", "length": "32 B", "load": 0.3},
        "fault": [{"cable": "s(0)>s(1)", "at": "5 us"}],
        "run": {"duration": "40 us", "warmup": "7 us", "precision": 0},
    }
    compiled = compile(Scenario.from_dict(table))
    assert compiled.deadlock.tables == 2
    found = compare(compiled, 15_000_000)
    assert found.identical
    assert found.packets > 1000


def test_only_what_comes_before_new_tables_is_lost() -> None:
    found = replaced()
    lost = found.summary["packets"]["lost"]
    # A packet of 200 B each 26.7 us for 300 us, and one on the cable.
    assert 10 <= lost <= 13
    assert found.summary["packets"]["delivered"] == pytest.approx(5000 / 26.67 - lost, abs=2)
    assert replaced("0 us").summary["packets"]["lost"] <= 1
    never = replaced("4.5 ms").summary["packets"]["lost"]
    assert never == pytest.approx(2019 / 26.67, abs=2)


def test_what_no_way_leads_to_is_discarded() -> None:
    found = replaced(fault={"switch": "s(1,2)", "at": "1 ms"})
    faults = found.summary["faults"]
    assert faults["discarded"] > 140
    by_link = found.links.filter(found.links["discarded_packets"] > 0)["link"].to_list()
    # At the first switch already, once it knows.
    assert "t(1,0).0>s(1,0)" in by_link


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    graph = topology.build(**MESH)
    table = routing.around(graph, dead_of(graph, ["s(1,0)>s(1,1)"]))
    path = tmp_path / "around.csv"
    with path.open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["switch", "terminal", "links"])
        for switch, terminal in np.ndindex(table.route.shape):
            links = table.group(int(table.route[switch, terminal]) >> 1)
            names = " ".join(graph.link_names[link] for link in links)
            rows.writerow([graph.switch_names[switch], graph.terminal_names[terminal], names])
    own = replaced(kind="table", path=str(path))
    assert own.summary["packets"] == replaced().summary["packets"]


CLOS = {"kind": "clos", "terminals": 8, "terminals_per_switch": 4, "centre_switches": 2}
VIRTUAL = {"preset": "virtual-link", "resend_after": "100 us", "resend_limit": 20}


def built(fault: list[dict[str, Any]], **protocol: Any) -> Results:
    """Events of which every fragment has to come."""
    program = {"kind": "level-3", "events": 30, "fragment": "100 B", "sources": 5, "targets": [5, 6, 7]}
    tables = {"topology": CLOS, "program": program, "protocol": VIRTUAL | protocol, "fault": fault}
    return run(Scenario.from_dict({**tables, "run": {"duration": "50 ms"}}))


@settings(max_examples=15, phases=[Phase.explicit, Phase.generate])
@given(
    kind=st.sampled_from(["link", "cable", "switch"]),
    mtbf=st.sampled_from(["1 ms", "5 ms"]),
    mttr=st.sampled_from(["1 us", "50 us"]),
    backoff=st.sampled_from([1, 2]),
    after=st.sampled_from(["30 us", "300 us"]),
)
def test_every_event_is_complete_on_links_that_come_back(
    kind: str, mtbf: str, mttr: str, backoff: int, after: str
) -> None:
    found = built([{kind: "all", "mtbf": mtbf, "mttr": mttr}], resend_backoff=backoff, resend_after=after)
    messages, packets = found.summary["messages"], found.summary["packets"]
    assert found.summary["end"]["reason"] == "drained", found.summary["end"]
    assert messages["received"] == messages["made"] == 150
    assert (messages["lost"], messages["given_up"]) == (0, 0)
    assert found.summary["events"]["complete"] == 30
    # Four packets a message and as many acknowledgements; what is more is copies and what came of them.
    assert packets["offered"] == packets["delivered"] + packets["lost"]
    assert packets["delivered"] <= 2 * (4 * 150 + messages["duplicates"])


def test_without_sending_again_an_event_is_missed() -> None:
    fault = [{"cable": "all", "mtbf": "2 ms", "mttr": "20 us"}]
    found = built(fault, resend_after="0 ns")
    assert found.summary["messages"]["lost"] > 0
    assert found.summary["events"]["complete"] < 30


def test_what_never_comes_back_is_given_up() -> None:
    fault = [{"terminal": 7, "at": "1 us"}]
    found = built(fault, resend_limit=2)
    messages = found.summary["messages"]
    assert messages["given_up"] == messages["lost"] == 50
    assert messages["received"] == messages["made"] - 50
    assert found.summary["events"]["complete"] == 20
    # Four packets a message at most are sent three times each.
    assert messages["resent"] <= 50 * 4 * 2


FLIT_BITS, FLITS = 512, 32


def credits(fault: dict[str, Any], *, duration: str = "2 ms", **changes: Any) -> Scenario:
    """Four terminals at a switch that send 2 kB to each other, with one fault."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 4},
            "technology": {"preset": "infiniband-4x-edr"},
            "traffic": {"pattern": "uniform", "length": "2 kB", "load": 0.3},
            "run": {"duration": duration},
            "fault": [fault],
        }
        | changes
    )


def test_a_packet_is_lost_as_often_as_one_of_its_bits_is_wrong() -> None:
    """A packet crosses two links. Losses are binomial: five deviations fail once in a million."""
    rate = 1e-6
    summary = run(credits({"cable": "all", "bit_error_rate": rate}, duration="4 ms")).summary
    packets, lost = summary["packets"]["offered"], summary["faults"]["cut"]
    expected = packets * 2 * FLITS * FLIT_BITS * rate
    assert lost == pytest.approx(expected, abs=5 * expected**0.5)
    assert packets == summary["packets"]["delivered"] + lost + summary["packets"]["in_flight"]


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("technology", [{"preset": "infiniband-4x-edr"}, {"preset": "generic", "lanes": 2}])
def test_the_twin_finds_the_same(technology: dict[str, Any], replay: bool) -> None:
    fault = {"cable": "all", "bit_error_rate": 1e-5, "replay": replay}
    traffic = {"pattern": "uniform", "length": "256 B", "load": 0.6}
    found = compare(credits(fault, technology=technology, traffic=traffic, duration="40 us"), 40_000_000)
    assert found.identical
    assert found.packets > 100


def test_a_replay_loses_nothing_and_takes_the_way_there_and_back() -> None:
    """One packet on an idle network: it is late by the loop of the cable, once for each wrong flit."""
    quiet = {
        "pattern": {
            "kind": "flows",
            "flows": [{"source": 0, "target": 1, "period": "10 us", "phase": "0 ns"}],
        }
    }
    one = {"traffic": quiet | {"length": "64 B"}, "duration": "4 ms"}
    fault = {"link": "s>t.1", "bit_error_rate": 2e-4, "replay": True}
    clean, wrong = run(credits({"link": "t.2>s", "at": "1 ns"}, **one)), run(credits(fault, **one))
    assert wrong.summary["packets"]["delivered"] == clean.summary["packets"]["delivered"]
    least = clean.summary["latency_ns"]["min"]
    assert wrong.summary["latency_ns"]["min"] == least
    once = wrong.summary["latency_ns"]["max"] - least
    share = (wrong.summary["latency_ns"]["mean"] - least) / once
    # A flit of 512 bits is wrong in a tenth of the times: 400 packets, five deviations.
    assert share == pytest.approx(0.1, abs=0.075)


@pytest.mark.parametrize("cable", ["t.0>s", "s>t.1"])
def test_a_run_lasts_its_full_duration_whatever_cable_fails(cable: str) -> None:
    """Also if the only source has given a packet to a link that never runs again: it makes more."""
    flow = {"source": 0, "target": 1, "length": "100 B", "period": "1 ms", "phase": "0 s"}
    found = run(
        {
            "topology": {"kind": "crossbar", "terminals": 2},
            "technology": {"preset": "spacewire-200"},
            "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
            "fault": [{"cable": cable, "at": "1.9 ms"}],
            "run": {"duration": "5 ms", "warmup": "0 ns"},
        }
    )
    assert found.summary["simulated_ns"] == pytest.approx(5e6)
    assert float(found.flows["mbytes_per_s"].sum()) == pytest.approx(2 * 100 / 5000)


def test_a_run_in_which_all_waits_for_a_stuck_terminal_ends_as_stopped() -> None:
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "clos", "terminals": 33, "terminals_per_switch": 11, "centre_switches": 2},
            "technology": {"preset": "ds-link-c104"},
            "protocol": {"preset": "virtual-link"},
            "program": {"kind": "level-3", "events": 6, "fragment": "64 B", "sources": 8, "targets": 4},
            "run": {"duration": "20 ms"},
            "fault": [{"terminal": 31, "stuck": True, "at": "100 us"}],
        }
    )
    results = run(scenario)
    assert results.end_reason == "stopped"
    name = results.graph.terminal_names[31]
    assert (
        f"everything waits for {name}, which accepts nothing from 0.1 ms on"
        in results.summary["end"]["message"]
    )
    assert results.summary["verdict"].startswith("Stopped")
    assert 0 < results.summary["events"]["complete"] < 6
    assert compare(scenario, 20_000_000_000).identical


def test_a_watchdog_frees_what_a_silent_source_holds() -> None:
    """A source stops in the middle of a long packet: others wait until the watchdog ends it."""
    rates = {}
    for watchdog in ("0 ns", "100 us"):
        scenario = Scenario.from_dict(
            {
                "topology": {"kind": "crossbar", "terminals": 4},
                "technology": {"preset": "spacewire-200", "watchdog": watchdog},
                "traffic": {
                    "pattern": {
                        "kind": "flows",
                        "flows": [
                            {"source": 0, "target": 3, "period": "1 ms", "phase": "0 ns", "length": "1 kB"},
                            {"source": 1, "target": 3, "period": "100 us", "phase": "0 ns", "length": "64 B"},
                        ],
                    }
                },
                "run": {"duration": "1 ms"},
                "fault": [{"terminal": 0, "silent": True, "at": "30 us"}],
            }
        )
        rates[watchdog] = run(scenario).summary["packets"]["delivered"]
        assert compare(scenario, 1_000_000_000).identical
    assert rates["0 ns"] <= 1
    assert rates["100 us"] >= 8


def test_a_deadlock_before_a_failure_is_the_same_to_the_twin() -> None:
    """The failure would cut a packet of the cycle, which the twin sees as it goes on to the end."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "ring", "switches": 6, "terminals_per_switch": 2},
            "technology": {"preset": "generic"},
            "routing": {"kind": "shortest-path", "after_fault": {"delay": "10 us"}},
            "traffic": {"arrivals": "backlog", "length": "200 B"},
            "run": {"duration": "100 us"},
            "fault": [{"cable": "s(0)>s(1)", "at": "50 us"}],
        }
    )
    found = compare(scenario)
    assert found.end_reason == "deadlocked"
    assert found.identical


@pytest.mark.parametrize("preset", ["ds-link-c104", "generic", "infiniband-4x-edr", "spacefibre-2g5"])
def test_a_burst_ends_before_a_failure_that_cuts_nothing(preset: str) -> None:
    data = {
        "topology": {"kind": "ring", "switches": 3, "terminals_per_switch": 2},
        "routing": {"kind": "up*/down*"},
        "technology": {"preset": preset},
        "traffic": {"length": "64 B", "arrivals": {"kind": "burst", "packets": 20}},
    }
    late = {"cable": "s(0)>s(1)", "at": "2 ms", "repaired": "5 ms"}
    usual, fails = (run(Scenario.from_dict({**data, "fault": fault})) for fault in ([], [late]))
    assert fails.end_reason == usual.end_reason == "drained"
    assert fails.summary["simulated_ns"] == usual.summary["simulated_ns"] < 1_000_000


@pytest.mark.parametrize("technology", [{"preset": "infiniband-4x-edr"}, {"preset": "generic", "lanes": 2}])
def test_a_run_does_not_last_until_a_watchdog_that_meets_no_packet(technology: dict[str, Any]) -> None:
    data = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "program": {"kind": "ping-pong", "size": "1 kB", "rounds": 5},
    }
    usual, watched = (
        run(Scenario.from_dict({**data, "technology": {**technology, "watchdog_cycles": cycles}}))
        for cycles in (0, 1_000_000)
    )
    assert watched.end_reason == usual.end_reason == "drained"
    assert watched.summary["messages"] == usual.summary["messages"]
