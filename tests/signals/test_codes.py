"""Time-codes and interrupts: when they come, what is missed, and what they do to packets.

Two priorities at the outputs of routers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import Results, Scenario, ScenarioError, run
from fabriloom.bounds import bound
from fabriloom.compile import LinkRoutes, compile
from fabriloom.report.pages import for_run
from fabriloom.results import columns
from fabriloom.routing import routers
from fabriloom.simulate import compare

EVERY = {"master": 0, "every": "10 us"}
TWO_ROUTERS = {"kind": "grid", "shape": [1, 2], "terminals_per_switch": 1}
ALIGNED = {"preset": "spw-10x", "time_code_jitter": "0 ns"}
RING = {"kind": "ring", "switches": 4, "terminals_per_switch": 1}


def scenario(**sections: Any) -> Scenario:
    base: dict[str, Any] = {
        "seed": 3,
        "topology": TWO_ROUTERS,
        "technology": {"preset": "spw-10x"},
        "traffic": {"pattern": "uniform", "load": 1e-6},
        "time_code": [EVERY],
        "run": {"duration": "200 us"},
    }
    return Scenario.from_dict({**base, **sections})


def results(**sections: Any) -> Results:
    return run(scenario(**sections))


def test_an_idle_network_has_the_latency_that_the_manual_prints() -> None:
    # 14 bits to the first router and, at each, 5 rx + 6 sys + 16 tx from the last bit in to the last bit out,
    # with two bits of 200 Mbit/s and periods of 30 MHz; three times 2 m of cable at 5 ns/m, and the receiver.
    router_ns = 5 * 10 + 6 * 1e3 / 30 + 16 * 10
    found = results(technology=ALIGNED)
    [row] = found.codes.iter_rows(named=True)
    assert row["latency_ns_max"] == pytest.approx(70 + 2 * router_ns + 3 * 10 + 50)
    assert (row["taken"], row["missed"], row["jitter_ns"]) == (19, 0, 0.0)
    assert "all latencies are equal" in for_run(found)


def test_broadcasts_go_between_the_words_of_frames() -> None:
    """Four words of 16 ns, 32 cycles more to the end of a link, 5 m of cable; 12 cycles in a router. All
    words begin with one clock here, so beside frames none has to be waited for."""
    alone_ns = 3 * (4 * 16 + 32 * 16 + 25) + 2 * 12 * 16
    sections: dict[str, Any] = {
        "technology": {"preset": "spacefibre-2g5"},
        "time_code": [],
        "broadcast": [{"source": 0, "channel": 7, "every": "10 us"}],
    }
    [row] = results(**sections).codes.iter_rows(named=True)
    assert (row["code"], row["taken"]) == ("broadcast 7", 20)
    assert row["latency_ns_min"] == row["latency_ns_max"] == alone_ns
    beside = results(**sections, traffic={"load": 0.7, "length": "1000 B"})
    [row] = beside.codes.iter_rows(named=True)
    assert row["latency_ns_max"] == alone_ns
    assert "Time-codes, interrupts and broadcasts" in for_run(beside)


def test_a_broadcast_is_of_whole_columns_of_words() -> None:
    """A word on each of three wires to begin and to end, and its two words in a column between."""
    written = scenario(
        technology={"preset": "spacefibre-2g5", "physical_lanes": 3},
        time_code=[],
        broadcast=[{"source": 0, "channel": 0}],
    )
    found = compile(written)
    assert set(found.arrays["link_code_ticks"] * found.tick_ps) == {3 * 16_000}


def test_a_port_takes_each_code_from_one_port_of_its_master(tmp_path: Path) -> None:
    """Two routers, cross-strapped: each port gets every code twice and misses none."""
    units = [f"terminal,{unit},a\ncable,{unit},b\n" for unit in ("clock", "camera", "memory")]
    (tmp_path / "cables.csv").write_text(f"kind,source,target\n{''.join(units)}cable,a,b\n")
    data = scenario(
        topology={"kind": "file", "path": str(tmp_path / "cables.csv")},
        ports={"choice": "nominal"},
        time_code=[{"master": "clock", "every": "10 us"}],
        interrupt=[{"source": "camera", "number": 3, "first": "20 us"}],
    )
    found = run(data)
    rows = {(row["source"], row["terminal"]): row for row in found.codes.iter_rows(named=True)}
    units = ["camera/0", "camera/1", "memory/0", "memory/1"]
    assert [port for source, port in rows if source == "clock"] == units
    for port in units:
        row = rows["clock", port]
        assert (row["made"], row["taken"], row["missed"]) == (19, 19, 0)
        assert row["latency_ns_min"] <= row["latency_ns_mean"] <= row["latency_ns_max"]
    assert rows["camera", "clock/1"]["taken"] == 1
    assert found.summary["codes"]["made"] == 20


def busy(**sections: Any) -> Results:
    traffic = {"pattern": "uniform", "length": "200 B", "load": 0.6}
    return results(**{"traffic": traffic, "topology": RING, **sections})


def test_every_key_and_column_is_defined() -> None:
    found = busy()
    defined = [*columns.SUMMARY.names, *columns.CODE_SUMMARY.names]
    assert sorted(columns.flatten(found.summary)) == sorted(defined)
    assert found.codes.columns == columns.CODES.names
    assert found.links.columns == [*columns.LINKS.names, *columns.CODE_LINKS.names]
    assert "Time-codes, interrupts and broadcasts by terminal" in for_run(found)
    assert "19 made, 57 times taken, " in found._repr_html_()


def test_a_code_waits_for_one_character_on_each_link_at_most() -> None:
    found = busy(technology=ALIGNED)
    # To the other side of the ring: from the master, two between switches, to the terminal. With flow control
    # a character has 10.5 bits.
    assert 0 < found.summary["codes"]["jitter_ns_max"] <= 4 * 10.5 * 5
    # It comes by both sides there, and the second time it is known.
    assert found.summary["codes"]["duplicates"] >= found.summary["codes"]["made"] - 1


@pytest.mark.parametrize("aligned", [True, False])
def test_the_jitter_behind_a_router_is_what_the_manual_prints(aligned: bool) -> None:
    """2 Tsys + 5 Ttx a router, two bits of 200 Mbit/s in a Ttx: how clocks are aligned, and the character on
    the wire out."""
    backlog = {"pattern": {"kind": "map", "map": [0, 2, 2]}, "senders": [1], "arrivals": "backlog"}
    found = results(
        topology={"kind": "crossbar", "terminals": 3},
        technology={
            "preset": "spw-10x",
            "flow_control": "ignored",
            "time_code_jitter": "0 ns" if aligned else "2 sys",
        },
        traffic={**backlog, "length": "100 B"},
        time_code=[{"master": 0, "every": "777 ns"}],
        run={"duration": "4 ms"},
    )
    jitter_ns = found.codes.filter(found.codes["terminal"] == "t.2")["jitter_ns"].item()
    printed_ns = 5 * 10 + (0 if aligned else 2 * 1e3 / 30)
    assert 0.9 * printed_ns <= jitter_ns <= printed_ns
    assert printed_ns == pytest.approx(50 if aligned else 116.67, abs=0.01)


def test_clocks_that_are_not_aligned_make_codes_earlier_and_never_later() -> None:
    """On an idle network, by how much is drawn anew at each router."""
    [worst], [drawn] = (
        results(technology={"preset": "spw-10x", "time_code_jitter": jitter}).codes.rows(named=True)
        for jitter in ("0 ns", "2 sys")
    )
    most_ns = 2 * 2 * 1e3 / 30
    assert worst["latency_ns_max"] - most_ns <= drawn["latency_ns_min"]
    assert drawn["latency_ns_min"] < drawn["latency_ns_max"] <= worst["latency_ns_max"]
    assert 0.3 * most_ns < drawn["jitter_ns"] <= most_ns


def test_a_jitter_that_is_no_part_of_the_latency_is_refused() -> None:
    for settings, message in (
        ({"preset": "spw-10x", "time_code_jitter": "7 sys"}, "some of the 6 sys of time_code_latency"),
        ({"preset": "spacewire-200", "time_code_jitter": "2 sys"}, "no effect without time_code_latency"),
    ):
        with pytest.raises(ScenarioError, match=message):
            results(technology=settings)


def test_codes_take_time_from_packets() -> None:
    often = [{"master": 0, "every": "300 ns"}]
    run_to = {"duration": "200 us", "warmup": "0 us", "precision": 0.0}
    mirror = {"kind": "map", "map": [1, 0]}
    backlog = {"pattern": mirror, "senders": [0], "length": "200 B", "arrivals": "backlog"}
    # A code every 300 ns has the wire for 70 ns of them.
    with_codes = results(time_code=often, traffic=backlog, run=run_to)
    without = results(time_code=[], traffic=backlog, run=run_to)
    [full, more] = (found.summary["accepted_mbytes_per_s"] for found in (with_codes, without))
    assert full / more == pytest.approx(1 - 70 / 300, abs=0.05)


def test_the_twin_agrees() -> None:
    fails = [{"cable": "s(0)>s(1)", "at": "50 us", "repaired": "70 us"}]
    interrupts = [{"source": 2, "number": 7, "every": "13 us"}]
    traffic = {"pattern": "uniform", "length": "64 B", "load": 0.5}
    technology = {"preset": "spw-10x", "time_code_jitter": "2 sys"}
    described = scenario(
        topology=RING, traffic=traffic, fault=fails, interrupt=interrupts, technology=technology
    )
    found = compare(described)
    assert found.identical
    assert found.packets > 50


def test_a_lost_time_code_is_missed_again_at_every_router() -> None:
    cut = [{"cable": "t(0,0).0>s(0,0)", "at": "45 us", "repaired": "46 us"}]
    found = results(fault=cut, topology={"kind": "grid", "shape": [1, 3], "terminals_per_switch": 1})
    rows = {row["terminal"]: row for row in found.codes.iter_rows(named=True)}
    lost = found.links["lost_codes"].sum()
    # It takes 20.9 us until the link runs again.
    assert lost == 2
    assert [rows[name]["missed"] - lost for name in ("t(0,1).0", "t(0,2).0")] == [3, 4]
    assert found.summary["codes"]["invalid"] == 1 + 2 + 2


def test_each_plane_may_have_its_master() -> None:
    twice = {**TWO_ROUTERS, "replicate": 2}
    found = results(topology=twice, time_code=[{**EVERY, "master": "t(0,0).0"}])
    assert len(found.codes) == 2
    assert found.codes["taken"].to_list() == [19, 19]


def test_a_redundant_master_takes_over() -> None:
    one = {"master": 0, "every": "10 us", "until": "100 us"}
    other = {"master": 1, "every": "10 us", "first": "100 us"}
    found = results(time_code=[one, other])
    assert found.codes["missed"].to_list() == [0, 0]
    assert found.summary["codes"]["invalid"] == 0


def test_a_program_ends_its_run_beside_time_codes() -> None:
    ping = {"kind": "ping-pong", "size": "64 B", "rounds": 10}
    base = {"topology": TWO_ROUTERS, "technology": {"preset": "spw-10x"}, "time_code": [EVERY]}
    found = run(Scenario.from_dict({**base, "program": ping, "protocol": {"preset": "spacewire"}}))
    assert found.end_reason == "drained"
    assert found.summary["simulated_ns"] < 1e6
    assert found.summary["codes"]["taken"] > 0


def priorities_scenario(high: list[str] | None) -> Scenario:
    """Three cameras and a star tracker at one router send to another one over one cable."""
    flows = [{"source": name, "target": 4, "length": "2 kB", "rate": "40 Mbit/s"} for name in range(3)]
    flows.append({"source": 3, "target": 5, "length": "64 B", "rate": "1 Mbit/s"})
    base: dict[str, Any] = {
        "topology": {"kind": "grid", "shape": [1, 2], "terminals_per_switch": 4},
        "technology": {"preset": "spacewire-200"},
        "traffic": {"pattern": {"kind": "flows", "flows": flows}, "arrivals": "poisson"},
        "run": {"duration": "20 ms", "warmup": "0 us", "precision": 0.0},
        "output": {"flows": True},
    }
    if high is not None:
        base["routing"] = {"high_priority": high}
    return Scenario.from_dict(base)


def latency_ns_max(found: Results, target: str) -> float:
    return max(found.flows.filter(found.flows["target"] == target)["latency_ns_max"].to_list())


def test_a_packet_of_high_priority_waits_for_one_other_at_most() -> None:
    computer = "t(0,1).1"
    low, high = run(priorities_scenario(None)), run(priorities_scenario([computer]))
    # The packet that has the cable: 2000 B and three characters more, of 10.5 bits at most, and the routers.
    one_ns = 2003 * 10.5 * 5
    assert latency_ns_max(high, computer) < one_ns + 64 * 10.5 * 5 + 3000
    assert latency_ns_max(low, computer) > 1.5 * one_ns


def test_the_twin_agrees_of_priorities() -> None:
    found = compare(priorities_scenario(["t(0,1).1"]), duration_ps=2 * 10**9)
    assert found.identical
    assert found.packets > 10


def test_no_delay_is_guaranteed_with_two_priorities() -> None:
    with pytest.raises(ScenarioError, match="a packet of the low one can wait without end"):
        bound(priorities_scenario(["t(0,1).1"]))


def test_exported_tables_have_the_priority() -> None:
    routes = compile(priorities_scenario(["t(0,1).1"])).routes
    assert isinstance(routes, LinkRoutes)
    tables = routers.routers(routes.graph, routes.table, {5})
    lines = routers.as_csv(tables).splitlines()
    assert lines[0].endswith(",priority")
    assert [line.rsplit(",", 1)[1] for line in lines[1:9]] == ["low"] * 5 + ["high"] + ["low"] * 2
    assert "high priority" in routers.as_c(tables, "a network")


def test_without_any_the_resolved_form_says_nothing_of_it() -> None:
    assert "high_priority" not in priorities_scenario(None).resolve()["routing"]
    assert priorities_scenario(["t(0,1).1"]).resolve()["routing"]["high_priority"] == ["t(0,1).1"]
