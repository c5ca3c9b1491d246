"""Studies of networks of rings: curves, saturation, what can be said before a run, and the slow twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import Scenario, curve, saturate
from fabriloom.compile import compile as compile_scenario
from fabriloom.results import columns
from fabriloom.simulate import compare, run
from fabriloom.studies import failures, inspection


def scenario(kind: str = "sci-switch", traffic: dict[str, Any] | None = None, **topology: Any) -> Scenario:
    """A network of rings with local traffic, some hundred microseconds long."""
    roles = {"roles": "pairs"} if kind == "sci-switch" else {}
    local = {"pattern": "local"} if kind in ("sci-switch", "sci-long-rings", "sci-banyan") else {}
    return Scenario.from_dict(
        {
            "topology": {"kind": kind, **roles, **topology},
            "technology": {"preset": "scinet"},
            "traffic": {"arrivals": "together", "load": 0.2, **local, **(traffic or {})},
            "run": {"duration": "200 us", "warmup": "20 us", "precision": 0.0},
        }
    )


@pytest.mark.parametrize(
    ("preset", "least_ns", "most_ns"),
    [("noc-ring", 3, 9), ("rpr-10g", 5261.8, 36_481.0), ("fddi", 7738, 19_840)],
)
def test_zero_load_of_other_rings(preset: str, least_ns: float, most_ns: float) -> None:
    """By hand, over one link and over seven. On a chip 1 ns a link, 1 ns to the memory and 1 ns there. In a
    town 5003.2 ns a link, 200 ns in each station passed, 18 symbols of 3.2 ns behind the head,
    and 201 ns.
    """
    ring = {
        "topology": {"kind": "sci-ring", "terminals": 8},
        "technology": {"preset": preset},
        "traffic": {"length": "32 B", "transaction": "dmove", "load": 0.1},
    }
    found = inspection.inspect(Scenario.from_dict(ring))["zero_load_latency_ns"]
    assert (found["min"], found["max"]) == pytest.approx((least_ns, most_ns))


@pytest.mark.parametrize(
    ("topology", "transaction", "said"),
    [
        ({"kind": "sci-bridge"}, "dmove", True),
        ({"kind": "sci-ring"}, "lock", True),
        ({"kind": "sci-ring"}, "dmove", False),
    ],
)
def test_waits_for_tokens_are_where_they_happen_to_be(topology: Any, transaction: str, said: bool) -> None:
    """Behind a bus, and with a response."""
    traffic = {"transaction": transaction, "length": "16 B", "load": 0.1}
    ring = {"topology": {**topology, "terminals": 3}, "technology": {"preset": "fddi"}, "traffic": traffic}
    told = dict(inspection.lines(inspection.inspect(Scenario.from_dict(ring))))["zero-load latency"]
    assert ("tokens that it waits for where they happen to be" in told) is said


SLOW_TOWN = {"preset": "rpr-10g", "echo": "4 B", "in_flight": 1}
ALONE = {"senders": [0]}
CHIP = {"preset": "noc-ring", "echo": "4 B", "cable_length": "1 m"}


@pytest.mark.parametrize(
    ("technology", "traffic", "full_first"),
    [
        # One packet a round of 8 links of 1 m: 6 ns each with the station, and the end of the slot.
        ({**CHIP, "in_flight": 1}, {"length": "4 B"}, "the window of t0"),
        ({**CHIP, "in_flight": 3}, {"length": "4 B"}, "the window of t0"),
        (SLOW_TOWN, {"length": "500 B"}, "the window of t0"),
        ({"preset": "sci-1000", "transactions": 1}, {"transaction": "nread", **ALONE}, "the window of t0"),
        ({"preset": "sci-1000", "hold_until": "echo"}, {"pattern": "uniform", **ALONE}, "the window of t0"),
        ({"preset": "fddi", "token": {"packets": 1}}, ALONE, "the window of t0"),
        (
            {
                "preset": "sci-1000",
                "requests_in": 1,
                "memory": {"access": "500 ns"},
                "receive_latency": "2 us",
            },
            ALONE,
            "the input queue of t1",
        ),
    ],
)
def test_the_bound_counts_what_a_station_may_have_under_way(
    technology: Any, traffic: Any, full_first: str
) -> None:
    usual = {"pattern": {"kind": "shift", "by": 1}, "transaction": "dmove", "length": "64 B"}
    ring = Scenario.from_dict(
        {
            "topology": {"kind": "sci-ring", "terminals": 8},
            "technology": technology,
            "traffic": {**usual, "arrivals": "backlog", **traffic},
            "run": {"duration": "2 ms", "precision": 0.0},
        }
    )
    found = inspection.inspect(ring)["channel_load"]
    assert found["busiest_link"] == full_first
    carried = run(ring).summary["accepted_mbytes_per_s"]
    assert 0.97 < carried / found["accepted_mbytes_per_s_bound"] < 1.002


def test_a_place_is_kept_until_the_tail_has_come_at_the_pace_of_its_ring() -> None:
    """Rings of such a module run at 400 MB/s, twice the rate of links between modules."""
    tech = {"preset": "sci-lc1-alpha", "link_rate": "200 MB/s", "requests_in": 1}
    tech |= {"memory": {"access": "1 us"}, "receive_latency": "2 us"}
    traffic = {"pattern": {"kind": "shift", "by": 1}, "transaction": "dmove", "length": "256 B", **ALONE}
    module = Scenario.from_dict(
        {
            "topology": {"kind": "sci-module", "terminals_per_ring": 1, "terminals_per_expansion_ring": 0},
            "technology": tech,
            "traffic": {**traffic, "arrivals": "backlog"},
            "run": {"duration": "2 ms", "precision": 0.0},
        }
    )
    found = inspection.inspect(module)["channel_load"]
    assert found["busiest_link"] == "the input queue of t1"
    # 256 + 16 + 4 B are 138 symbols of 5 ns; it is decided when the first of them has come.
    assert found["accepted_mbytes_per_s_bound"] == pytest.approx(256 / (137 * 0.005 + 2 + 1))
    assert run(module).summary["accepted_mbytes_per_s"] <= found["accepted_mbytes_per_s_bound"]


def test_a_ring_that_closes_routes_can_be_checked() -> None:
    """Its trials are lists, which close none."""
    ring = scenario("sci-ring", {"pattern": "uniform", "load": 0.05}, terminals=4)
    closes = {"close_after": 1, "closed_for": "10 ms", "timeout": "20 us"}
    faulty = {"technology": {**ring.raw["technology"], **closes}, "fault": [{"link": "t0>t1", "at": "0 us"}]}
    alone = [inspection.inspect(one) for one in (ring, Scenario.from_dict({**ring.raw, **faulty}))]
    assert alone[0]["zero_load_latency_ns"] == alone[1]["zero_load_latency_ns"]


def test_the_bound_is_of_each_length_in_whole_symbols() -> None:
    """With 44 B of header 1 and 16 B are 12 and 15 symbols of 3.2 ns; 8.5 B would be 14."""
    lengths = {"kind": "table", "lengths": ["1 B", "16 B"]}
    ring = Scenario.from_dict(
        {
            "topology": {"kind": "sci-ring", "terminals": 8},
            "technology": {"preset": "rpr-10g"},
            "traffic": {"length": lengths, "transaction": "dmove", "arrivals": "backlog"},
            "run": {"duration": "2 ms", "precision": 0.0},
        }
    )
    found = inspection.inspect(ring)
    assert found["link"]["payload_mbytes_per_s"] == pytest.approx(8500 / (13.5 * 3.2))
    bound = found["channel_load"]["accepted_mbytes_per_s_bound"]
    assert bound == pytest.approx(2 * 8500 / (13.5 * 3.2))
    assert run(ring).summary["accepted_mbytes_per_s"] == pytest.approx(bound, rel=0.02)
    # So is a load of 1, and the bound that of two links; of 1 to 8 B four lengths have 12 symbols each.
    assert found["channel_load"]["load_bound"] == pytest.approx(0.25)
    for length, symbols in ((lengths, 13.5), ({"kind": "uniform", "min": "1 B", "max": "8 B"}, 12.5)):
        loaded = ring.with_settings({"traffic": {"transaction": "dmove", "length": length, "load": 0.5}})
        interval = compile_scenario(loaded).arrays["source_interval_grains"]
        assert interval.tolist() == pytest.approx([symbols * 3.2 / 0.5] * 8)


def test_the_memory_is_bounded_by_the_blocks_of_each_length() -> None:
    """Stores of 16 and 256 B take one and four blocks, 2.5 on average; one of 136 B would take three."""
    lengths = {"kind": "table", "lengths": ["16 B", "256 B"]}
    slow = scenario(
        "sci-ring", {"length": lengths, "transaction": "dmove", "pattern": "uniform"}, terminals=4
    )
    slow = slow.with_settings({"technology.memory": {"access": "0 ns", "block": "10 us"}})
    found = inspection.inspect(slow)["channel_load"]
    assert found["busiest_link"] == "the memory of t0"
    assert found["accepted_mbytes_per_s_bound"] == pytest.approx(4 * 136 / 25)


def test_a_curve_has_the_columns_of_rings() -> None:
    found = curve(scenario(), [0.1, 0.5])
    assert found.table.columns == ["traffic.load", *_with_rings()]
    assert found.table["bus_utilisation_max"][1] > 0.95
    assert found.table["end_reason"].to_list() == ["time_limit", "saturated"]


def _with_rings() -> list[str]:
    names = columns.POINTS.names
    place = names.index("packets_lost") + 1
    return [*names[:place], *columns.RING_POINTS.names, *names[place:]]


@pytest.mark.parametrize("definition", ["peak", "backlog"])
def test_saturation_is_the_bound_of_the_bus(definition: Any) -> None:
    """Nothing but the bus is full, so what it carries is what comes out."""
    found = saturate(scenario(), definition, resolution=0.1)
    bound = inspection.inspect(scenario())["channel_load"]
    assert bound["busiest_link"] == "the bus of s0"
    assert found.accepted_mbytes_per_s == pytest.approx(bound["accepted_mbytes_per_s_bound"], rel=0.02)


@pytest.mark.parametrize(
    ("kind", "parameters", "ports", "rings"),
    [
        ("sci-ring", {"terminals": 8}, 0, 1),
        ("sci-bridge", {"terminals": 3}, 2, 2),
        ("sci-switch", {}, 4, 4),
        ("sci-long-rings", {"ports": 2}, 2, 2),
        ("sci-banyan", {"terminals": 16}, 128, 80),
        ("sci-banyan", {"terminals": 16, "wiring": "long-ring"}, 64, 16),
        ("sci-banyan", {"terminals": 16, "wiring": "long-ring", "base": 4}, 32, 16),
        ("sci-torus", {"shape": [3, 3]}, 27, 15),
        ("sci-module", {}, 4, 4),
        ("sci-switch-16", {}, 32, 24),
    ],
)
def test_inspection_counts_ports_and_rings(
    kind: str, parameters: dict[str, Any], ports: int, rings: int
) -> None:
    found = inspection.inspect(scenario(kind, **parameters))
    assert (found["network"]["switch_ports"], found["network"]["rings"]) == (ports, rings)
    assert found["deadlock"]["free"]
    resolved = found.pop("resolved")
    assert resolved["routing"] == {"kind": "fewest-buses", "by_transaction": False}
    shared = [name for name in columns.CHECK.names if name.startswith(("zero_load", "deadlock"))]
    keys = set(columns.flatten(found)) - {"name", "scenario_sha256", "warnings"}
    assert keys == {*columns.RING_CHECK.names, *shared}
    assert inspection.lines(found)


@pytest.mark.parametrize("transaction", ["nwrite", "dmove", "nread", "lock"])
@pytest.mark.parametrize(("kind", "parameters"), [("sci-switch", {}), ("sci-ring", {"terminals": 4})])
def test_no_run_beats_the_bound_and_a_light_one_has_the_zero_load_latency(
    kind: str, parameters: dict[str, Any], transaction: str
) -> None:
    told = inspection.inspect(scenario(kind, {"transaction": transaction}, **parameters))
    bound = told["channel_load"]["accepted_mbytes_per_s_bound"]
    full = run(scenario(kind, {"transaction": transaction, "load": 1.0}, **parameters))
    assert full.summary["accepted_mbytes_per_s"] <= 1.01 * bound
    light = run(scenario(kind, {"transaction": transaction, "load": 0.01}, **parameters))
    assert light.summary["latency_ns"]["min"] == told["zero_load_latency_ns"]["min"]


LENGTHS = {"t0": "16 B", "t1": "256 B", "t2": "64 B", "t4": "256 B"}


def flows(kind: str, transaction: str, silent: tuple[str, ...] = ()) -> Scenario:
    """Flows of unequal lengths and rates, each over some links of the first ring or over another one."""
    ends = {"t0": "t1", "t1": "t3", "t2": "t6", "t4": "t5"}
    told = [
        {"source": one, "target": ends[one], "length": length, "rate": f"{20 + 7 * int(one[1])} MB/s"}
        for one, length in LENGTHS.items()
        if one not in silent
    ]
    traffic = {"pattern": {"kind": "flows", "flows": told}}
    return Scenario.from_dict(
        {
            "topology": {"kind": kind, "terminals": 4 if kind == "sci-bridge" else 8},
            "technology": {"preset": "sci-1000", "requests_out": 16},
            "traffic": {**traffic, "transaction": transaction, "arrivals": "constant"},
            "run": {"duration": "2 ms", "warmup": "0 ns", "precision": 0.0},
        }
    )


@pytest.mark.parametrize("transaction", ["nwrite", "nread", "dmove"])
@pytest.mark.parametrize("kind", ["sci-ring", "sci-bridge", "sci-dual-ring"])
def test_flows_fill_links_by_their_own_lengths(kind: str, transaction: str) -> None:
    """The bound, what the rates demand and the network without a failure say the same, and so does a run."""
    given = flows(kind, transaction)
    told, without = inspection.inspect(given), failures.look(compile_scenario(given))["without"]
    demanded, most = told["demanded"], told["channel_load"]["accepted_mbytes_per_s_bound"]
    assert demanded["accepted_mbytes_per_s_bound"] == pytest.approx(most)
    assert without["accepted_mbytes_per_s_bound"] == pytest.approx(most)
    busy = run(given).links["utilisation"].max()
    assert demanded["busiest_share"] == pytest.approx(busy, rel=0.01)


def test_a_failure_leaves_the_flows_that_do_not_cross_it() -> None:
    """The second ring of a bridge fails, with the two flows that cross it."""
    found = failures.look(compile_scenario(flows("sci-bridge", "nwrite")))
    second = next(one for one in found["failures"] if one["kind"] == "cable" and one["lossy_pairs"] == 2)
    left = inspection.inspect(flows("sci-bridge", "nwrite", silent=("t2", "t4")))
    bound = left["channel_load"]["accepted_mbytes_per_s_bound"]
    assert second["accepted_mbytes_per_s_bound"] == pytest.approx(bound)


@pytest.mark.parametrize(
    ("base", "wiring", "share"), [(2, "ringlet", 1), (2, "long-ring", 1 / 2), (4, "long-ring", 1 / 4)]
)
def test_long_rings_take_fewer_ports(base: int, wiring: str, share: float) -> None:
    network = inspection.inspect(scenario("sci-banyan", base=base, wiring=wiring))["network"]
    assert network["ports_of_ringlets"] == 128
    assert network["switch_ports"] == share * 128


def test_a_ring_of_a_slower_kind_is_full_at_a_load_of_one() -> None:
    """One sender on a 400 MB/s port: its load is of its own link."""
    slow = scenario("sci-module", {"senders": ["t0"], "pattern": {"kind": "shift", "by": 1}})
    assert inspection.inspect(slow)["link"]["payload_mbytes_per_s"] == pytest.approx(500 * 64 / 84)
    compiled = compile_scenario(slow)
    assert compiled.arrays["source_interval_grains"][0] * compiled.grain_ps == pytest.approx(210_000 / 0.2)


def test_the_twin_delivers_the_same() -> None:
    found = compare(scenario("sci-banyan", {"load": 0.5}, terminals=4), duration_ps=30_000_000)
    assert found.identical
    assert found.packets == found.twin_packets > 100


@pytest.mark.parametrize(("kind", "when"), [("flows", "period"), ("descriptors", "at")])
def test_what_is_full_first_counts_the_length_of_each_packet(kind: str, when: str, tmp_path: Path) -> None:
    """A packet of each of four stations; the longest fills the link before it most, as a run counts it."""
    file = tmp_path / "packets.csv"
    rows = ("0,1,256 B", "1,2,16 B", "2,0,16 B", "3,2,64 B")
    file.write_text("\n".join([f"source,target,length,{when}", *(f"{row},100 us" for row in rows), ""]))
    ring = {
        "topology": {"kind": "sci-ring", "terminals": 4},
        "traffic": {"pattern": {"kind": kind, "path": str(file)}},
        "run": {"duration": "200 us", "warmup": "0 s", "precision": 0.0},
    }
    compiled = compile_scenario(Scenario.from_dict(ring))
    found = inspection.inspection_of(compiled).full_first()
    links = run(Scenario.from_dict(ring)).links
    most = max(links["symbols"].to_list()) / {"flows": 2, "descriptors": 1}[kind]
    assert most == (256 + 16 + 8) / 2 + 2 * (16 + 8) / 2 + (64 + 16 + 8) / 2 + 4 * 8
    assert found["accepted_mbytes_per_s_bound"] == pytest.approx(352 / (most * 4e-3))
    assert found["busiest_link"] == "t0>t1"
    assert found["load_bound"] == pytest.approx(140 / most)


@pytest.mark.parametrize("short", [3, 300, 6000])
def test_what_is_full_first_counts_the_packets_of_each_message(short: int) -> None:
    """Long messages one way, and short ones in packets of 16 B the other: no mean packet fills both links."""
    lists = [["send 1 2560 B"] * 60, ["receive 0"] * 60, ["send 3 16 B"] * short, ["receive 2"] * short]
    ring = {
        "topology": {"kind": "sci-ring", "terminals": 4},
        "protocol": {"packet": "256 B", "small_packet": "16 B", "small_below": "64 B"},
        "program": {
            "kind": "operations",
            "terminals": [{"terminal": at, "do": do} for at, do in enumerate(lists)],
        },
    }
    compiled = compile_scenario(Scenario.from_dict(ring))
    found = inspection.inspection_of(compiled).full_first()
    links = run(Scenario.from_dict(ring)).links
    symbols = dict(zip(links["link"], links["symbols"], strict=True))
    assert symbols[found["busiest_link"]] == max(symbols.values())
    carried = 60 * 2560 + 16 * short
    assert found["accepted_mbytes_per_s_bound"] == pytest.approx(carried / (max(symbols.values()) * 4e-3))
