"""What holds a network back, and the verdicts that say so.

Networks of flits say the same in flits per node and cycle, and in cycles.

Throughput over time by flow: whose it is, and that it is that of all together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario, compare, curve, run, saturate
from fabriloom.report.page import units_of
from fabriloom.report.pages import for_run
from fabriloom.results import columns
from fabriloom.simulate import wanted
from fabriloom.traffic import Demand

from .common import results

BRIEF = {"duration": "1 ms", "warmup": "100 us", "precision": 0.0}
CROSSBAR = {"kind": "crossbar", "terminals": 8}
TO_ONE = {"kind": "hot-spot", "target": 0, "share": 1.0}


def scenario(topology: dict[str, Any], load: float, **traffic: Any) -> Scenario:
    given = {"length": "64 B", "load": load, **traffic}
    return Scenario.from_dict({"topology": topology, "traffic": given, "run": BRIEF})


def test_a_full_link_is_named() -> None:
    summary = run(scenario(CROSSBAR, 0.9, pattern=TO_ONE)).summary
    assert (summary["limit"]["what"], summary["limit"]["name"], summary["keeps_up"]) == (
        "link",
        "s>t.0",
        False,
    )
    assert summary["verdict"].startswith("Past saturation: accepts ")
    assert "limited by the link s>t.0, in use 99.9 % of the time" in summary["verdict"]


def test_blocking_is_told_from_a_full_link() -> None:
    """Random traffic on one switch: no wire is full, and packets hold their links while they wait."""
    summary = run(scenario(CROSSBAR, 0.9)).summary
    assert summary["limit"]["what"] == "blocking"
    assert 0.5 < summary["limit"]["share"] < 0.9
    assert summary["limit"]["name"] == "", "which of them is first is chance"
    assert "mostly for all 8 links into terminals alike" in summary["verdict"]


def test_packets_that_wait_for_no_other_are_said_to_wait_for_the_switch() -> None:
    """One sender: between two packets its link waits until the switch has read the next header."""
    flow = {"source": 0, "target": 1, "length": "60 B", "rate": "25 MB/s"}
    traffic = {"pattern": {"kind": "flows", "flows": [flow]}}
    given = {"topology": CROSSBAR, "technology": {"preset": "spacewire-200"}, "traffic": traffic}
    summary = run(Scenario.from_dict({**given, "run": BRIEF})).summary
    assert (summary["limit"]["what"], summary["limit"]["name"]) == ("blocking", "t.0>s")
    assert "% of the time, mostly t.0>s, until a head is routed or credit comes; no" in summary["verdict"]


def test_a_full_bus_is_named() -> None:
    topology = {"kind": "sci-switch", "roles": "pairs"}
    summary = run(scenario(topology, 0.5, pattern="local", arrivals="together")).summary
    assert summary["limit"]["what"] == "bus"
    assert summary["limit"]["share"] > 0.95


def test_a_bus_in_use_more_than_any_link_is_named_before_it_is_full() -> None:
    topology = {"kind": "sci-switch", "roles": "pairs"}
    found = run(scenario(topology, 0.15, pattern="local", arrivals="together")).summary
    limit, sci = found["limit"], found["sci"]
    assert (limit["what"], limit["name"], limit["reached"]) == ("bus", "the bus of s0", False)
    assert 0.1 < sci["link_utilisation_max"] < limit["share"] == sci["bus_utilisation_max"] < 0.9
    assert "nearest to its limit is the bus of s0, in use " in found["verdict"]


def test_half_used_links_of_a_token_ring_are_not_said_to_have_room() -> None:
    ring = {"topology": {"kind": "sci-ring", "terminals": 4}, "technology": {"preset": "fddi"}}
    traffic = {"length": "512 B", "transaction": "dmove", "arrivals": "backlog"}
    found = run(Scenario.from_dict({**ring, "traffic": traffic, "run": {"duration": "50 ms"}})).summary
    assert found["limit"]["share"] < 0.6
    assert found["verdict"].endswith("of the time; a packet keeps all links of a token ring")


def test_what_rejects_is_named_when_retries_fill_the_ring() -> None:
    rings = {"kind": "sci-ring", "terminals": 9}
    slow = {"memory": {"access": "20 us"}}
    given = {"topology": rings, "technology": slow, "traffic": {"pattern": TO_ONE, "load": 0.5}, "run": BRIEF}
    summary = run(Scenario.from_dict(given)).summary
    assert summary["limit"]["what"] == "queue"
    assert "receive queue of" in summary["verdict"]


def test_a_light_load_is_carried() -> None:
    summary = run(scenario(CROSSBAR, 0.1)).summary
    assert summary["keeps_up"]
    assert summary["verdict"].startswith("Carries all that is offered, ")
    assert "nearest to their limit are all 8 links into terminals alike" in summary["verdict"]


def test_a_short_run_says_that_it_cannot_tell() -> None:
    summary = run(scenario(CROSSBAR, 0.6).with_settings({"run.duration": "200 us"})).summary
    assert summary["keeps_up"] is None
    assert "the run is too short to tell whether queues stay bounded" in summary["verdict"]


@pytest.mark.parametrize(
    ("arrivals", "begins"), [("backlog", "Accepts"), ({"kind": "random-wait"}, "Accepts")]
)
def test_sources_that_wait_are_said_to(arrivals: Any, begins: str) -> None:
    load = {} if arrivals == "backlog" else {"load": 0.5}
    given = {"topology": CROSSBAR, "traffic": {"length": "64 B", "arrivals": arrivals, **load}, "run": BRIEF}
    verdict = run(Scenario.from_dict(given)).summary["verdict"]
    assert verdict.startswith(begins)
    assert "offered" not in verdict


def test_a_curve_says_up_to_where_everything_is_carried() -> None:
    found = curve(scenario(CROSSBAR, 0.5, pattern=TO_ONE), [0.05, 0.1, 0.3, 0.6])
    (verdict,) = found.verdicts.values()
    assert verdict.startswith("Carries everything up to load 0.1 (")
    assert "limited by the link s>t.0" in verdict.split("At load 0.3 it accepts")[1]
    assert found.summary["verdicts"] == found.verdicts


def test_every_line_of_a_chart_has_its_verdict() -> None:
    swept = scenario(CROSSBAR, 0.5).with_settings({})
    swept = Scenario.from_dict({**swept.resolve(), "sweep": {"traffic.length": ["16 B", "64 B"]}})
    found = curve(swept, [0.1, 0.9])
    assert list(found.verdicts) == ["length 16 B", "length 64 B"]


def test_a_saturation_and_a_comparison_have_verdicts() -> None:
    one = scenario(CROSSBAR, 0.5)
    assert saturate(one, resolution=0.1).verdict.startswith("Carries everything up to load ")
    assert saturate(one, "backlog").verdict.startswith("Accepts ")
    found = compare({"a": one, "b": scenario(CROSSBAR, 0.5, pattern=TO_ONE)}, [0.1, 0.8])
    assert list(found.verdicts) == ["a", "b"]


def mesh(**technology: Any) -> Scenario:
    """A mesh of 16 nodes."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [4, 4], "terminals_per_switch": 1},
            "technology": {"preset": "generic", "cycle": "2 ns", "flit": "4 B", **technology},
            "traffic": {"pattern": "uniform", "length": "32 B", "load": 0.1},
            "run": {"duration": "40 us"},
        }
    )


def test_throughput_and_latency_in_flits_and_cycles() -> None:
    results = run(mesh())
    flits, summary = results.summary["flits"], results.summary
    assert (flits["cycle_ns"], flits["flit_bytes"]) == (2.0, 4)
    # Counted another way: a link out of a terminal that is in use carries one flit in each cycle.
    sent = results.utilisation[results.graph.link_source >= results.graph.switches]
    assert flits["accepted_per_node_cycle"] == pytest.approx(sent.mean(), rel=0.02)
    assert flits["latency_cycles_mean"] == summary["latency_ns"]["mean"] / 2
    assert flits["total_latency_cycles_mean"] == summary["total_latency_ns"]["mean"] / 2


def test_a_load_is_flits_per_node_and_cycle() -> None:
    found = curve(mesh(), [0.05, 0.2]).table
    assert found["offered_flits_per_node_cycle"].to_list() == pytest.approx([0.05, 0.2], rel=0.1)
    assert found["latency_cycles_mean"].to_list() == (found["latency_ns_mean"] / 2).to_list()


def test_charts_of_flits_have_axes_of_flits() -> None:
    of_flits = run(mesh()).summary
    plain = run({"topology": {"kind": "crossbar", "terminals": 4}, "run": {"duration": "20 us"}}).summary
    assert "flits" not in plain
    assert "flits" not in run(mesh(preset="infiniband-4x-edr", cycle="5.12 ns", flit="64 B")).summary
    assert units_of([of_flits]).of_flits
    assert not units_of([of_flits, plain]).of_flits
    assert not units_of([]).of_flits


FLOWS = [
    {"source": 0, "target": 5, "rate": "20 Mbit/s"},
    {"source": 0, "target": 6, "rate": "10 Mbit/s"},
    {"source": 3, "target": 5, "rate": "5 Mbit/s"},
]


def of_pairs(pairs: list[tuple[int, int]], even: float = 0.0) -> Demand:
    """Between 40 terminals."""
    source, target = (np.array(ends) for ends in zip(*pairs, strict=True))
    return Demand(source, target, np.ones(len(pairs)), np.full(40, even))


def test_few_flows_are_flows_and_many_are_terminals_or_groups_of_them() -> None:
    names = [f"t{number}" for number in range(40)]
    few = of_pairs([(3, 1), (0, 2)])
    assert wanted(names, few) == ({"pairs": [(0, 2), (3, 1)]}, ["t0 to t2", "t3 to t1"])
    many = of_pairs([(0, target) for target in range(1, 20)])
    for demand in (many, None, of_pairs([(0, 1)], even=1.0)):
        found, called = wanted(names, demand)
        assert found == {"sources": [number // 5 for number in range(40)]}
        assert (len(called), called[0], called[-1]) == (8, "t0 … t4", "t35 … t39")
    assert wanted(names[:4], None) == ({"sources": [0, 1, 2, 3]}, names[:4])


@pytest.mark.parametrize("pattern", [{"kind": "flows", "flows": FLOWS}, "uniform"])
def test_the_rows_of_a_batch_are_all_of_it(pattern: Any) -> None:
    traffic = {"pattern": pattern, "length": "64 B", "arrivals": "poisson"}
    if pattern == "uniform":
        traffic["load"] = 0.3
    found = results(traffic=traffic, run={"duration": "2 ms", "warmup": "100 us", "precision": 0.0})
    table, batches = found.over_time, found.batches
    assert table.columns == columns.OVER_TIME.names
    assert len(table) == len(batches) * (3 if pattern != "uniform" else 6)
    sums = table.drop("of").group_by("start_ns").sum().sort("start_ns")
    assert sums["packets"].to_list() == batches["packets"].to_list()
    assert sums["mbytes_per_s"].to_numpy() == pytest.approx(batches["accepted_mbytes_per_s"].to_numpy())
    assert "Through the run, by flow" in for_run(found)


def test_a_single_flow_has_no_table() -> None:
    pattern = {"kind": "flows", "flows": FLOWS[:1]}
    assert not len(results(traffic={"pattern": pattern, "length": "64 B"}).over_time)


def test_a_run_that_ends_before_its_first_batch_has_no_rows() -> None:
    program = {
        "kind": "operations",
        "terminals": [{"terminal": "t.0", "do": ["send t.1 64 B", "send t.2 64 B"]}],
    }
    topology = {"kind": "crossbar", "terminals": 3}
    found = run(Scenario.from_dict({"topology": topology, "program": program}))
    assert found.end_reason == "drained"
    assert not len(found.over_time)


def test_a_hot_spot_that_takes_everything_has_flows() -> None:
    pattern = {"kind": "hot-spot", "target": 0, "share": 1.0}
    traffic = {"pattern": pattern, "senders": [1, 2, 3, 4], "load": 0.1}
    data = {"topology": {"kind": "crossbar", "terminals": 5}, "traffic": traffic}
    found = run(Scenario.from_dict({**data, "run": {"duration": "1 ms", "precision": 0.0}}))
    assert found.over_time["of"].unique(maintain_order=True).to_list() == [
        f"{name} to {found.graph.terminal_names[0]}" for name in found.graph.terminal_names[1:]
    ]
