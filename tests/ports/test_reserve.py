"""Ports in reserve: what goes on by them when a link fails, what each single failure leaves, and bounds.

Requirements of flows of terminals with several ports: what each flow was seen to need is its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import polars as pl
import pytest
from fabriloom import Scenario, bound, load, run
from fabriloom.compile import compile
from fabriloom.simulate import compare
from fabriloom.studies import inspection
from fabriloom.studies.failures import look

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "nominal-and-redundant.toml"


def scenario(
    choice: str = "nominal", faults: list[dict[str, Any]] | None = None, **topology: Any
) -> Scenario:
    data: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 4, "replicate": 2, **topology},
        "technology": {"preset": "spacewire-200"},
        "ports": {"choice": choice},
        "traffic": {"load": 0.3, "length": "64 B"},
        "run": {"duration": "1 ms", "warmup": "0 s"},
        "output": {"trace": True},
        "fault": faults or [],
    }
    return Scenario.from_dict(data)


def test_the_redundant_port_takes_over_and_the_nominal_one_takes_back() -> None:
    results = fabriloom.run(load(SCENARIO))
    packets = results.summary["packets"]
    nominal, redundant = results.planes["packets"].to_list()
    assert 0 < redundant < nominal
    links = dict(zip(results.links["link"], results.links["cut_packets"], strict=True))
    assert links["p0/t.0>s"] == 1
    # 60 Mbit/s of packets of 64 B from 100 us and 850 ns to 250 us and 19.2 us.
    assert redundant == pytest.approx(168 * 60 / 8 / 64, abs=3)
    assert packets["offered"] == packets["delivered"] + packets["lost"] + packets["in_flight"]


@pytest.mark.parametrize("choice", ["round-robin", "destination", "shortest-queue", "first-free", "nominal"])
def test_a_port_that_is_down_is_not_chosen(choice: str) -> None:
    """A packet or two stand in front of the dead link of one sender of four; nothing else waits."""
    fails = {"terminal": "p0/t.1", "at": "200 us"}
    given = scenario(choice, [fails])
    assert compare(given, 500_000_000).identical
    results = fabriloom.run(given)
    late = results.trace.filter(results.trace["created_ns"] > 210_000)
    assert (late["source"] == "t.1").sum() > 50
    assert results.summary["packets"]["in_flight"] < 12


def test_programs_go_on_by_the_other_port() -> None:
    own = [{"terminal": "t.0", "do": ["repeat 100", "send t.1 320 B", "wait 10 us", "end"]}]
    data = scenario("nominal", [{"cable": "p0/t.0>s", "at": "200 us", "repaired": "600 us"}]).resolve()
    del data["traffic"], data["output"]
    data["program"] = {
        "kind": "operations",
        "terminals": [*own, {"terminal": "t.1", "do": ["repeat for ever", "receive any", "end"]}],
    }
    data["run"]["duration"] = "3 ms"
    results = fabriloom.run(Scenario.from_dict(data))
    messages = results.summary["messages"]
    assert messages["lost"] <= 1
    assert messages["received"] >= 98
    assert 10 < results.planes["packets"][1] < results.planes["packets"][0]


@pytest.mark.parametrize("choice", ["nominal", "destination", "round-robin"])
def test_single_failures_of_replicated_networks(choice: str) -> None:
    """A switch that fails is known to all who are at it; a cable only to its terminal."""
    found = look(compile(scenario(choice)))
    rows = {(row["kind"], row["name"]): row for row in found["failures"]}
    for plane in ("p0", "p1"):
        switch = rows["switch", f"{plane}/s"]
        assert (switch["cut_off_pairs"], switch["lossy_pairs"]) == (0, 0)
        assert switch["delivered_share"] == pytest.approx(1)
        cable = rows["cable", f"{plane}/t.0>s"]
        into = {"nominal": 3 * (plane == "p0"), "destination": 3 * (plane == "p0"), "round-robin": 0}
        assert cable["cut_off_pairs"] == into[choice]
        assert cable["lossy_pairs"] == (3 if choice == "round-robin" else into[choice])
    assert found["without"]["delivered_share"] == pytest.approx(1)


def test_what_single_failures_leave_is_what_runs_lose() -> None:
    fails = {"cable": "p0/t.0>s", "at": "1 us"}
    [row] = [
        row
        for row in look(compile(scenario("round-robin")), "cables")["failures"]
        if row["name"] == fails["cable"]
    ]
    packets = fabriloom.run(scenario("round-robin", [fails])).summary["packets"]
    assert packets["lost"] / packets["offered"] == pytest.approx(1 - row["delivered_share"], abs=0.03)


def test_check_says_which_port_a_packet_takes() -> None:
    for choice, words in (("nominal", "leaves by the first port"), ("round-robin", "each port in turn")):
        told = dict(inspection.lines(inspection.inspect(scenario(choice))))
        assert words in told["terminals"]
        assert f"(choice {choice})" in told["terminals"]


def test_with_nominal_ports_bounds_are_those_of_the_nominal_network() -> None:
    one, two = (bound(scenario("nominal", replicate=planes) if planes > 1 else alone()) for planes in (1, 2))
    assert two.table["bound_ns"].to_list() == one.table["bound_ns"].to_list()


def alone() -> Scenario:
    data = scenario().resolve()
    del data["topology"]["replicate"], data["ports"]
    return Scenario.from_dict(data)


def test_by_destination_no_packet_is_later_than_its_bound() -> None:
    given = scenario(
        "destination", kind="clos", terminals=8, terminals_per_switch=4, centre_switches=2
    ).resolve()
    given["topology"]["links_per_pair"] = 1
    given["routing"]["adaptive"] = False
    whole = Scenario.from_dict(given)
    found = bound(whole, tries=2)
    limits = {(row["source"], row["target"]): row["bound_ns"] for row in found.table.to_dicts()}
    trace = fabriloom.run(whole).trace
    late = trace["delivered_ns"] - trace["started_ns"]
    own = np.array([limits[pair] for pair in zip(trace["source"], trace["target"], strict=True)])
    assert (late.to_numpy() <= own).all()
    assert (found.table["found_ns"] <= found.table["bound_ns"]).all()
    one = {
        (row["source"], row["target"]): row["bound_ns"]
        for row in bound(Scenario.from_dict(given | {"ports": {"choice": "nominal"}})).table.to_dicts()
    }
    assert all(limits[pair] <= one[pair] for pair in one)


CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")
LANES: dict[str, Any] = {"preset": "generic", "lanes": 2}


def flow(source: int, target: int, length: str, period: str) -> dict[str, Any]:
    return {"source": source, "target": target, "length": length, "period": period, "requirement": "1 ms"}


@pytest.mark.parametrize("technology", [{"preset": "spacewire-200"}, LANES], ids=["links", "lanes"])
@pytest.mark.parametrize("choice", CHOICES)
def test_what_a_flow_was_seen_to_need_is_its_own(choice: str, technology: dict[str, Any]) -> None:
    flows = [flow(0, 2, "1 kB", "100 us"), flow(1, 2, "64 B", "300 us"), flow(2, 0, "16 B", "500 us")]
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 3, "replicate": 2},
            "technology": technology,
            "ports": {"choice": choice},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "3 ms", "warmup": "0 s", "precision": 0},
            "output": {"trace": True},
        }
    )
    results = run(scenario)
    total = pl.col("delivered_ns") - pl.col("created_ns")
    traced = results.trace.group_by("source", "target").agg(total.max(), pl.len().alias("packets"))
    longest = {(a, b): (packets, most) for a, b, most, packets in traced.rows()}
    seen = results.requirements.select("source", "target", "packets", "total_latency_ns_max").rows()
    assert {(a, b): tuple(rest) for a, b, *rest in seen} == longest
    assert min(packets for _, _, packets, _ in seen) >= 6
