"""Rates, flows, slots and bursts: packets are made when they should be, whatever the network does."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fabriloom import topology
from fabriloom.codes import ARRIVAL, TARGET
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.simulate import compare, run
from fabriloom.studies import curve, failures, saturate
from fabriloom.studies.inspection import inspect
from fabriloom.technology import technology
from fabriloom.traffic import TrafficError, demand
from fabriloom.traffic.kinds import rates_of
from hypothesis import given, settings
from hypothesis import strategies as st

from .common import GRAIN_PS, build, grid

GRID = {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2}
RING = {"kind": "sci-ring", "terminals": 4}


def scenario(traffic: dict[str, Any], folder: Path | str = ".", **sections: Any) -> Scenario:
    """Traffic on a small network, every packet kept."""
    run_for = {"duration": "2 ms", "precision": 0.0, "warmup": "0 ns", **sections.pop("run", {})}
    data = {"topology": GRID, "traffic": traffic, "run": run_for, "output": {"trace": True}, **sections}
    return Scenario.from_dict(data, folder)


def created_us(found: Scenario, source: str) -> np.ndarray:
    """When the packets of a terminal that arrived were made, in order."""
    trace = run(found).trace
    return np.sort(trace.filter(pl.col("source") == source)["created_ns"].to_numpy()) / 1000


def test_the_usual_length_is_only_for_flows_without_one() -> None:
    """On a chip, whose packets have at most 32 B, the default of 64 B is none."""
    flow = {"source": 0, "target": 1, "length": "32 B", "rate": "1 GB/s"}
    chip = {"topology": RING, "technology": {"preset": "noc-ring"}, "run": {"duration": "1 us"}}

    def found(*flows: dict[str, Any]) -> Scenario:
        return scenario({"transaction": "dmove", "pattern": {"kind": "flows", "flows": flows}}, **chip)

    assert run(found(flow)).trace["delivered_ns"].len() == pytest.approx(1000 / 32, abs=2)
    with pytest.raises(ScenarioError, match="64 B is longer than the MTU, 32 B") as error:
        compile(found(flow, {**flow, "length": None}))
    assert "flows" in str(error.value.path)


LINES = """\
source,target,length,rate,period,phase,jitter,packets
1,2,64 B,,10 us,3 us,1 us,4
0,1,,8 Mbit/s,,,,
1,0,32 B,500 packets/s,,,,2
"""


def columns_of(path: Path | str, **more: Any) -> dict[str, Any]:
    return build(grid(2, 2), {"kind": "flows", "path": str(path)}, load=None, **more)


def test_flows_of_a_file_as_columns(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(LINES)
    found = columns_of(tmp_path / "flows.csv")
    assert found["source_arrival"].tolist() == [ARRIVAL.FLOWS, ARRIVAL.FLOWS, ARRIVAL.SILENT, ARRIVAL.SILENT]
    assert found["flow_start"].tolist() == [0, 1, 3, 3, 3]
    assert found["flow_target"].tolist() == [1, 2, 0]
    assert found["flow_length"].tolist() == [64, 64, 32]
    assert found["flow_packets"].tolist() == [1, 4, 2]
    assert found["flow_interval_grains"] * GRAIN_PS / 1e6 == pytest.approx([64, 10, 4000])
    assert found["flow_phase_grains"].tolist() == [-1, 3000, -1]
    assert found["flow_jitter_grains"].tolist() == [0, 1000, 0]
    per_us = np.array([1 / 64, 4 / 10 + 2 / 4000])
    assert 1 / found["source_interval_grains"][:2] == pytest.approx(per_us * GRAIN_PS / 1e6)
    twice = columns_of(tmp_path / "flows.csv", scale=2.0)
    for name in ("source_interval", "flow_interval", "flow_jitter"):
        assert twice[f"{name}_grains"] == pytest.approx(found[f"{name}_grains"] / 2)
    assert twice["flow_phase_grains"].tolist() == [-1, 1500, -1]


def test_a_shaper_holds_back_its_flow_alone() -> None:
    picture = {"source": 0, "target": 3, "length": "100 B", "period": "500 us", "phase": "0 us", "packets": 8}
    command = {"source": 0, "target": 2, "length": "8 B", "period": "50 us", "phase": "7 us"}
    shaped = {**picture, "shaper_rate": "20 Mbit/s", "shaper_burst": "300 B"}
    found = scenario({"pattern": {"kind": "flows", "flows": [shaped, command]}}, run={"drain": True})
    trace = run(found).trace.sort("started_ns")
    mine = trace.filter(pl.col("length_bytes") == 100)
    made, began = (mine[name].to_numpy() for name in ("created_ns", "started_ns"))
    assert made.tolist() == [n * 500_000 for n in range(5) for _ in range(8)]
    for first in range(0, len(made), 8):
        # Three fit the bucket and follow at the rate of the link; then one every 40 us (100 B at 20 Mbit/s).
        assert (began[first + 3 : first + 8] - made[first]).tolist() == [40_000 * n for n in range(1, 6)]
    others = trace.filter(pl.col("length_bytes") == 8)
    assert (others["started_ns"] - others["created_ns"]).to_numpy().max() < 26_000, (
        "behind three packets at most"
    )


@pytest.mark.parametrize(
    ("shaper", "match"),
    [
        ({"shaper_burst": "64 B"}, "a burst without a rate"),
        ({"shaper_rate": "1 Mbit/s", "shaper_burst": "63 B"}, "never passes a bucket of 63 B"),
        ({"shaper_rate": "1 Mbit/s", "length": "0 B"}, "carry no payload"),
        ({"shaper_rate": "1 bit/s", "shaper_burst": "1 GB"}, "the shaper of a flow is too long"),
    ],
)
def test_shapers_that_shape_nothing(shaper: dict[str, Any], match: str) -> None:
    flow = {"source": 0, "target": 3, "length": "64 B", "period": "500 us", **shaper}
    with pytest.raises(ScenarioError, match=match):
        compile(scenario({"pattern": {"kind": "flows", "flows": [flow]}}))


def test_plain_numbers_have_their_unit_in_the_name(tmp_path: Path) -> None:
    frame = {"source": [1], "target": [2], "length_bytes": [64], "period_ns": [10_000], "phase_ns": [3000]}
    pl.DataFrame(frame).write_parquet(tmp_path / "flows.parquet")
    (tmp_path / "flows.csv").write_text("source,target,length,period,phase\n1,2,64 B,10 us,3 us\n")
    one, other = columns_of(tmp_path / "flows.parquet"), columns_of(tmp_path / "flows.csv")
    assert all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("line", "message", "column"),
    [
        ("1,1,,,1 us,,,", '"t(0,1).0" would send to itself', 3),
        ("1,2,,,,,,", "a flow has neither a rate nor a period", 6),
        ("1,2,,1 MB/s,1 us,,,", "a flow has a rate and a period", 6),
        ("1,2,,1 MB/s,,1 us,,", "phase is of flows with a period", 13),
        ("1,2,,,1 us,,2 us,", "the jitter is longer than the period", 13),
        ("1,2,,10,,,,", '"10" has no unit; expected a rate', 6),
        ("1,2,0 B,1 MB/s,,,,", "packets of 0 B carry no payload", 9),
        ("1,2,,,1 us,,,0", '"0" is no number of packets', 14),
        ("1,2,,,0 s,,,", '"0 s" is zero', 7),
    ],
)
def test_a_wrong_flow_is_pointed_at(line: str, message: str, column: int, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(f"{LINES.splitlines()[0]}\n{line}\n")
    with pytest.raises(TrafficError) as caught:
        columns_of(tmp_path / "flows.csv")
    assert message in str(caught.value)
    assert caught.value.place is not None
    assert caught.value.place[1] == 2


def flow(**more: Any) -> dict[str, Any]:
    return {"source": 0, "target": 1, **more}


def test_a_period_is_kept_and_jitter_only_makes_late() -> None:
    periodic = flow(period="10 us", phase="3 us", jitter="4 us")
    found = created_us(scenario({"pattern": {"kind": "flows", "flows": [periodic]}}), "t(0,0).0")
    late = found - (3 + 10 * np.arange(len(found)))
    assert len(found) >= 199
    assert late.min() >= -0.01
    assert late.max() < 4
    assert late.std() == pytest.approx(4 / 12**0.5, rel=0.2)


def test_what_is_made_does_not_depend_on_the_network() -> None:
    """Open loop: the same packets at the same moments, on a fast network and on one that cannot take them."""
    flows = [flow(rate="40 Mbit/s"), flow(target=2, period="20 us", jitter="10 us", packets=2, length="32 B")]
    made = [
        created_us(
            scenario(
                {"pattern": {"kind": "flows", "flows": flows}},
                technology={"preset": "spacewire-200", "link_rate": rate, "flow_control": "ignored"},
                run={"drain": True},
            ),
            "t(0,0).0",
        )
        for rate in ("200 Mbit/s", "20 Mbit/s")
    ]
    assert len(made[0]) > 300
    assert made[0] == pytest.approx(made[1], abs=0.11)


@pytest.mark.parametrize(("top", "count"), [(GRID, 8), (RING, 4)])
@pytest.mark.parametrize("rate", ["8 Mbit/s", "1 MB/s", "15625 packets/s"])
def test_a_rate_is_what_is_offered(top: dict[str, Any], count: int, rate: str) -> None:
    """Poisson: 5 standard deviations are left once in 1.7 million runs; the seed is fixed."""
    found = scenario({"rate": rate}, topology=top, run={"duration": "20 ms"})
    wanted = count * 15625 * 20e-3
    assert abs(run(found).summary["packets"]["offered"] - wanted) < 5 * wanted**0.5


@given(
    st.lists(
        st.fixed_dictionaries(
            {"source": st.integers(0, 3), "target": st.integers(4, 7)},
            optional={"packets": st.integers(1, 5), "length": st.sampled_from(["0 B", "1 B", "200 B"])},
        ),
        min_size=1,
        max_size=6,
    ),
    st.data(),
)
@settings(max_examples=25)
def test_flows_are_conserved_and_agree_with_the_twin(
    flows: list[dict[str, Any]], data: st.DataObject
) -> None:
    when = st.sampled_from(
        [
            {"rate": "3000 packets/s"},
            {"period": "70 us"},
            {"period": "33.3 us", "phase": "5 us", "jitter": "33.3 us"},
        ]
    )
    found = scenario(
        {"pattern": {"kind": "flows", "flows": [one | data.draw(when) for one in flows]}},
        run={"duration": "300 us"},
    )
    packets = run(found).summary["packets"]
    assert packets["offered"] == packets["delivered"] + packets["refused"] + packets["in_flight"]
    assert compare(found).identical


def test_equal_weights_offer_equal_rates_on_unequal_links(tmp_path: Path) -> None:
    """They offered 1.83 and 0.088 MB/s on links of 200 and 10 Mbit/s."""
    (tmp_path / "net.csv").write_text(
        "kind,source,target,rate\nterminal,fast,s,200 Mbit/s\nterminal,slow,s,10 Mbit/s\nterminal,sink,s,\n"
    )
    (tmp_path / "weights.csv").write_text("source,target,weight\nfast,sink,1\nslow,sink,1\n")
    graph = topology.file(tmp_path / "net.csv")
    pattern = {"kind": "matrix", "path": str(tmp_path / "weights.csv"), "rows": "proportional"}
    tech = technology("spacewire-200")
    found = build(graph, pattern, technology=tech, load=0.5)
    assert found["source_interval_grains"][0] == pytest.approx(found["source_interval_grains"][1])
    packet_grains = tech.mean_packet_ps(64, 10**7) / GRAIN_PS
    assert found["source_interval_grains"][1] == pytest.approx(packet_grains / 0.5)
    assert rates_of(graph)[:2].tolist() == [2e8, 1e7]


def test_a_matrix_of_rates_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / "dense.csv").write_text("0,10,20\n5,0,0\n0,0,0\n")
    (tmp_path / "sparse.csv").write_text("source,target,rate\n0,1,10\n0,2,20\n1,0,5\n")
    for name in ("dense.csv", "sparse.csv"):
        pattern = {"kind": "matrix", "path": str(tmp_path / name), "unit": "Mbit/s"}
        found = build(topology.build("crossbar", terminals=3), pattern, load=None)
        per_s = 1e12 / GRAIN_PS / found["source_interval_grains"][:2]
        assert per_s * 512 / 1e6 == pytest.approx([30, 5])
        asked = demand(found)
        assert asked.packets.tolist() == pytest.approx([1 / 3, 2 / 3, 1 / 6])
        assert asked.per_grain == pytest.approx(30e6 / 512 * GRAIN_PS / 1e12)


def test_packets_to_oneself_are_as_many_as_to_any_other() -> None:
    found = build(grid(2, 2), {"kind": "uniform", "include_self": True})
    assert (found["source_target"] == TARGET.ANY).all()
    asked = demand(found)
    assert asked.sent().tolist() == pytest.approx([1] * 4)
    assert asked.received().tolist() == pytest.approx([1] * 4)
    pattern = {"kind": "uniform", "include_self": True}
    trace = run(scenario({"pattern": pattern, "load": 0.6}, run={"duration": "4 ms"})).trace
    own = trace.filter(pl.col("source") == pl.col("target")).height
    # Binomial with 1/8: 5 standard deviations.
    assert abs(own - trace.height / 8) < 5 * (trace.height * 7 / 64) ** 0.5


def test_slots_have_a_packet_or_none() -> None:
    noc = {"topology": GRID, "technology": {"preset": "generic"}}
    traffic = {"arrivals": "bernoulli", "load": 0.25, "length": "32 B"}
    found = scenario(traffic, run={"duration": "40 us"}, **noc)
    made = created_us(found, "t(0,0).0") * 1000
    assert made == pytest.approx(np.round(made)), "a slot is a cycle of 1 ns"
    assert np.diff(made).min() > 0.5
    columns = build(grid(2, 2), arrivals={"kind": "bernoulli", "slot_ps": 10**6}, load=0.1)
    assert (columns["source_arrival"] == ARRIVAL.BERNOULLI).all()
    assert (columns["source_gap_grains"] == 10**6 / GRAIN_PS).all()
    with pytest.raises(TrafficError, match="more than one packet would have to be made in a slot"):
        build(grid(2, 2), arrivals={"kind": "bernoulli", "slot_ps": 10**9}, load=0.9)


def test_a_burst_is_made_at_once_and_drains() -> None:
    found = Scenario.from_dict(
        {
            "topology": RING,
            "traffic": {"arrivals": {"kind": "burst", "packets": 7, "at": "5 us"}},
            "run": {"duration": "1 ms"},
        }
    )
    results = run(found)
    assert results.summary["end"]["reason"] == "drained"
    assert results.summary["packets"]["delivered"] == 4 * 7
    again = scenario({"arrivals": {"kind": "burst", "packets": 3, "every": "500 us", "at": "100 us"}})
    assert created_us(again, "t(0,0).0").tolist() == [100] * 3 + [600] * 3 + [1100] * 3 + [1600] * 3
    columns = build(grid(2, 2), arrivals={"kind": "burst", "packets": 3, "at_ps": 0}, load=None)
    assert (columns["source_arrival"] == ARRIVAL.BURSTS).all()


@pytest.mark.parametrize("top", [GRID, RING])
def test_a_random_map_may_name_a_target_twice(top: dict[str, Any]) -> None:
    parameters = {key: value for key, value in top.items() if key != "kind"}
    graph = topology.build(top["kind"], **parameters)
    maps = [
        build(graph, {"kind": "map", "random": True, "seed": seed})["target_fixed"] for seed in range(200)
    ]
    count = graph.terminals
    for found in maps:
        assert (found != np.arange(count)).all()
    assert any(len(set(found.tolist())) < count for found in maps)
    again = build(graph, {"kind": "map", "random": True, "seed": 7})["target_fixed"]
    assert again.tolist() == maps[7].tolist()
    # Each of the others equally likely: 200 draws of 1 / (count - 1), 5 standard deviations.
    share = 1 / (count - 1)
    drawn = np.bincount([int(found[0]) for found in maps], minlength=count)[1:]
    assert (np.abs(drawn - 200 * share) < 5 * (200 * share * (1 - share)) ** 0.5).all()


def test_check_says_which_link_is_asked_for_too_much() -> None:
    flows = [flow(rate="50 Mbit/s"), flow(source=2, rate="60 Mbit/s", length="1 kB")]
    found = inspect(scenario({"pattern": {"kind": "flows", "flows": flows}}))["demanded"]
    assert found["offered_mbytes_per_s"] == pytest.approx(110 / 8)
    assert found["busiest"] == "s(0,0)>t(0,0).1"
    assert [link["what"] for link in found["over"]] == ["s(0,0)>t(0,0).1"]
    tech = technology("ds-link-c104").beside(Fraction(0))  # no data go the other way, so no credit comes back
    busy = 50e6 / 512 * tech.packet_ps(64) + 60e6 / 8000 * tech.packet_ps(1000)
    assert found["busiest_share"] == pytest.approx(busy / 1e12)
    [link] = found["over"]
    assert link["asked_mbytes_per_s"] == pytest.approx(110 / 8)
    assert link["possible_mbytes_per_s"] == pytest.approx(110 / 8 / link["share"])
    most = [(one["source"], one["mbytes_per_s"]) for one in link["most"]]
    assert most == [("t(0,1).0", pytest.approx(60 / 8)), ("t(0,0).0", pytest.approx(50 / 8))]
    ring = inspect(scenario({"rate": "100 MB/s"}, topology=RING))["demanded"]
    assert ring["offered_mbytes_per_s"] == pytest.approx(400)
    half = inspect(scenario({"rate": "100 MB/s", "scale": 0.5}, topology=RING))["demanded"]
    assert half["busiest_share"] == pytest.approx(ring["busiest_share"] / 2)
    assert half["scale_bound"] == pytest.approx(ring["scale_bound"])


@pytest.mark.parametrize("topology", [{"kind": "crossbar", "terminals": 3}, RING])
def test_what_shapers_keep_back_is_not_carried(topology: dict[str, Any]) -> None:
    """At three times its rate each is shaped. Without a shaper the second grows until a link is full."""
    shaped = {"length": "64 B", "rate": "200 kB/s", "target": 0}
    flows = [
        {**shaped, "source": 1, "shaper_rate": "400 kB/s"},
        {**shaped, "source": 2, "shaper_rate": "600 kB/s"},
    ]
    found = inspect(scenario({"pattern": {"kind": "flows", "flows": flows}}, topology=topology))["demanded"]
    assert (found["full_first"], found["scale_bound"]) == ("every shaper", pytest.approx(3))
    assert found["accepted_mbytes_per_s_bound"] == pytest.approx(1)
    del flows[1]["shaper_rate"]
    one = scenario({"pattern": {"kind": "flows", "flows": flows}}, topology=topology)
    found = inspect(one)["demanded"]
    scale = found["shared_scale_bound"]
    assert found["accepted_mbytes_per_s_bound"] == pytest.approx(0.4 + 0.2 * scale, rel=1e-5)
    below = run(one.with_settings({"traffic.scale": 0.98 * scale, "run.duration": "20 ms"}))
    assert below.summary["accepted_mbytes_per_s"] == pytest.approx(0.4 + 0.2 * 0.98 * scale, rel=0.02)
    above = run(one.with_settings({"traffic.scale": 1.5 * scale, "run.duration": "20 ms"}))
    assert above.summary["accepted_mbytes_per_s"] < 1.001 * found["accepted_mbytes_per_s_bound"]


def test_a_link_without_data_the_other_way_carries_what_check_says() -> None:
    """20 MB/s but for header and end; with the credit of a full opposite direction it would be 19.05."""
    flows = [flow(source=0, target=1, length="4 kB", rate="19.6 MB/s")]
    rated = scenario(
        {"pattern": {"kind": "flows", "flows": flows}, "arrivals": "constant"},
        topology={"kind": "crossbar", "terminals": 2},
        technology={"preset": "spacewire-200"},
        run={"duration": "50 ms"},
    )
    bound = inspect(rated)["demanded"]["accepted_mbytes_per_s_bound"]
    assert bound == pytest.approx(20 * 4000 / 4001.25, rel=1e-3)
    assert 19.5 < run(rated).summary["accepted_mbytes_per_s"] < bound


def test_a_shaper_slower_than_its_flow_is_told_and_limits_what_is_asked() -> None:
    flows = [
        flow(source=0, target=1, length="1000 B", rate="900 MB/s", shaper_rate="100 MB/s"),
        flow(source=2, target=1, length="1000 B", rate="600 MB/s"),
    ]
    found = scenario(
        {"pattern": {"kind": "flows", "flows": flows}},
        topology={"kind": "crossbar", "terminals": 4},
        technology={"preset": "ethernet-10g"},
        run={"duration": "40 ms"},
    )
    assert (
        compile(found).warnings[0].startswith("flow t.0 -> t.1: the shaper lets 11.1 % of the packets pass")
    )
    assert inspect(found)["demanded"]["offered_mbytes_per_s"] == pytest.approx(700)
    summary = run(found).summary
    assert (summary["keeps_up"], summary["end"]["reason"]) == (False, "saturated")


def test_flows_that_are_sent_once_count_with_all_their_packets() -> None:
    """A thousand packets of 1 kB between two terminals, and short single ones of two others to a third."""
    flows = [flow(source=0, target=1, length="1000 B", count=1000)]
    flows += [flow(source=one, target=4, length="100 B", count=1) for one in (2, 3)]
    found = scenario({"pattern": {"kind": "flows", "flows": flows}}, technology={"preset": "ethernet-100g"})
    seen = inspect(found)
    assert seen["link"]["mean_packet_bytes"] == pytest.approx((1000 * 1000 + 200) / 1002)
    carried = run(found).summary["accepted_mbytes_per_s"]
    assert 0.97 < carried / seen["demanded"]["accepted_mbytes_per_s_bound"] < 1


def test_planes_and_failures_count_bytes_and_not_packets(tmp_path: Path) -> None:
    """Of 9 MB/s, 8 go to one terminal in long packets, and 1 in short ones, which are as many, to another."""
    flows = [
        flow(source=0, target=1, length="4 kB", rate="8 MB/s"),
        flow(source=0, target=2, length="500 B", rate="1 MB/s"),
    ]
    cables = "kind,source,target\nterminal,a,s\nterminal,b,s\nterminal,c,s\ncable,a,r\ncable,b,r\ncable,c,r\n"
    (tmp_path / "cables.csv").write_text(cables + "switch,s,\nswitch,r,\n")
    found = scenario(
        {"pattern": {"kind": "flows", "flows": flows}},
        topology={"kind": "file", "path": str(tmp_path / "cables.csv")},
        technology={"preset": "spacewire-200"},
        ports={"choice": "nominal"},
    )
    seen = inspect(found)
    bound = seen["demanded"]["accepted_mbytes_per_s_bound"]
    assert seen["planes"][0]["accepted_mbytes_per_s_bound"] == pytest.approx(bound, rel=1e-3)
    arrives = {row["name"]: row["delivered_share"] for row in failures.look(compile(found))["failures"]}
    assert arrives["b>s"] == pytest.approx(1 / 9, rel=0.01)


def test_check_says_it_of_even_traffic_without_pairs_to_name() -> None:
    topology = {"kind": "crossbar", "terminals": 4}
    traffic = {"pattern": "uniform", "length": "64 B", "rate": "30 MB/s"}
    found = inspect(Scenario.from_dict({"topology": topology, "traffic": traffic}))
    assert [link["most"] for link in found["demanded"]["over"]] == [[]] * 8


def test_a_curve_raises_the_scale_of_rates() -> None:
    found = scenario({"rate": "8 Mbit/s", "arrivals": "constant"}, output={})
    table = curve(found, [0.5, 1, 4]).table
    assert table["traffic.scale"].to_list() == [0.5, 1, 4]
    assert table["offered_mbytes_per_s"].to_list() == pytest.approx([4, 8, 32], rel=0.05)
    with pytest.raises(ScenarioError, match="there is no backlog: rates and flows set their own times"):
        saturate(found, "backlog")


def test_other_words_of_the_ends_and_the_file(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("from,destination,length,period\n1,2,64 B,1 ms\n")
    pattern = {"kind": "flows", "file": "flows.csv"}
    listed = {"kind": "flows", "flows": [{"from": 1, "to": 2, "length": "64 B", "period": "1 ms"}]}
    (one, other) = (scenario({"pattern": given}, tmp_path) for given in (pattern, listed))
    for found in (one, other):
        arrays = compile(found).arrays
        assert (arrays["flow_start"].tolist()[:4], arrays["flow_target"].tolist()) == ([0, 0, 1, 1], [2])
    twice = {"kind": "flows", "flows": [{"from": 1, "to": 2, "destination": 3, "period": "1 ms"}]}
    with pytest.raises(ScenarioError, match="unknown key"):
        scenario({"pattern": twice}, tmp_path)


@pytest.mark.parametrize("listed", [True, False])
def test_a_range_of_terminals_is_each_of_them(listed: bool, tmp_path: Path) -> None:
    """From each of a range to each of another, by number or by name, and never to itself."""
    rows = [("0..1", "1..2"), ("t(0,0).0..t(0,1).0", "t(1,1).0")]
    if listed:
        flows = [{"source": one, "target": other, "rate": "1 Mbit/s"} for one, other in rows]
        pattern: dict[str, Any] = {"kind": "flows", "flows": flows}
    else:
        lines = "".join(f'"{one}","{other}",1 Mbit/s\n' for one, other in rows)
        (tmp_path / "flows.csv").write_text(f"source,target,rate\n{lines}")
        pattern = {"kind": "flows", "path": str(tmp_path / "flows.csv")}
    found = build(grid(2, 2), pattern, load=None)
    assert found["flow_start"].tolist() == [0, 3, 5, 5, 5]
    assert found["flow_target"].tolist() == [1, 2, 3, 2, 3]
    assert len({*found["flow_name"]}) == 5


def test_flows_of_a_named_range_have_names_of_their_own() -> None:
    flow = {"source": "0..1", "target": 3, "rate": "1 Mbit/s", "name": "video"}
    found = build(grid(2, 2), {"kind": "flows", "flows": [flow]}, load=None)
    assert found["flow_name"].tolist() == ["video, t(0,0).0 -> t(1,1).0", "video, t(0,1).0 -> t(1,1).0"]


@pytest.mark.parametrize("wrong", ["3..1", "0..4", "0..nobody", "..", "1..", "0..1..2"])
def test_what_is_no_range_is_no_terminal(wrong: str) -> None:
    flow = {"source": wrong, "target": 3, "rate": "1 Mbit/s"}
    with pytest.raises(TrafficError, match="no terminal") as refused:
        build(grid(2, 2), {"kind": "flows", "flows": [flow]}, load=None)
    assert refused.value.parameter == "pattern.flows.0.source"


def test_ranges_of_senders_and_of_programs() -> None:
    arrivals = build(grid(2, 2), senders=["1..2", 3])["source_arrival"]
    assert np.flatnonzero(arrivals != ARRIVAL.SILENT).tolist() == [1, 2, 3]
    with pytest.raises(TrafficError, match="named twice") as refused:
        build(grid(2, 2), senders=[0, "1..2", "2..3"])
    assert refused.value.parameter == "senders.2"


def test_ranges_in_programs_are_the_terminals_one_by_one() -> None:
    program = {"kind": "barrel-shifter", "fragment": "100 B", "slot": "50 us", "events": 3}
    given = [
        Scenario.from_dict({"topology": GRID, "program": {**program, "sources": one, "targets": other}})
        for one, other in ((["0..3"], ["4..7"]), ([0, 1, 2, 3], [4, 5, 6, 7]))
    ]
    one, other = (compile(each).arrays for each in given)
    assert all(np.array_equal(one[name], other[name]) for name in other)
