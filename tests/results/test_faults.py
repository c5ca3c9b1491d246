"""Results of runs in which links fail."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Results
from fabriloom.report.pages import for_run
from fabriloom.results import columns
from fabriloom.simulate import compare

from .common import results, scenario

CUT = {"cable": "s(0,0)>s(0,1)", "at": "100 us", "repaired": "300 us"}
SHORT = {"duration": "500 us", "warmup": "0 us", "precision": 0.0}


def failing(*faults: dict[str, Any], **sections: Any) -> Results:
    return results(fault=list(faults), run=SHORT, **sections)


@pytest.fixture(scope="module")
def cut() -> Results:
    return failing(CUT, traffic={"pattern": "uniform", "length": "256 B", "load": 0.8})


def test_every_key_and_column_is_defined(cut: Results) -> None:
    defined = [*columns.SUMMARY.names, *columns.FAULT_SUMMARY.names]
    assert sorted(columns.flatten(cut.summary)) == sorted(defined)
    assert cut.links.columns == [*columns.LINKS.names, *columns.FAULT_LINKS.names]


def test_what_is_lost_is_counted_by_place_and_cause(cut: Results) -> None:
    packets, faults = cut.summary["packets"], cut.summary["faults"]
    assert packets["offered"] == sum(packets[key] for key in ("delivered", "refused", "in_flight", "lost"))
    assert packets["lost"] == faults["cut"] + faults["discarded"] > 0
    assert faults["links"] == 2
    # Dimension order has no other way: what comes to the cable's switches for the other side is discarded.
    assert faults["discarded"] > faults["cut"] >= 1
    table = cut.links
    assert table["cut_packets"].sum() == faults["cut"]
    assert table["discarded_packets"].sum() == faults["discarded"]
    # Down for 200 us, and for the exchange of silence before it runs again.
    down = table.filter(table["down_ns"] > 0)
    assert down["down_ns"].to_list() == [219_200.0] * 2
    assert faults["availability"] == pytest.approx(1 - 2 * 219.2 / 500 / len(table))


def test_verdict_and_report_say_what_was_lost(cut: Results) -> None:
    lost = f"{cut.summary['faults']['cut']} cut, {cut.summary['faults']['discarded']} discarded"
    assert lost in cut.summary["verdict"]
    page = for_run(cut)
    assert "Packets discarded at its end" in page
    assert lost in page


def test_only_flows_that_lost_packets_missed_their_requirement() -> None:
    flows = [
        {"name": name, "source": source, "target": target, "rate": "80 Mbit/s", "requirement": "1 s"}
        for name, source, target in (("over it", 0, 3), ("beside it", 6, 7))
    ]
    found = failing(CUT, traffic={"pattern": {"kind": "flows", "flows": flows}, "length": "64 B"})
    over, beside = found.requirements.iter_rows(named=True)
    assert over["lost_packets"] == found.summary["packets"]["lost"] > 0
    assert (over["verdict"], beside["verdict"], beside["lost_packets"]) == ("missed", "met", 0)
    assert over["margin"] is None, "a packet that never arrives leaves none"
    page = for_run(found)
    assert f"Packets that never arrive: {over['lost_packets']} of over it." in page
    assert "first failure, at 0.1 ms" in page
    assert "last repair, at 0.3" in page


def test_a_terminal_that_is_cut_off_keeps_its_packets() -> None:
    found = failing({"terminal": 0, "at": "100 us"}, traffic={"pattern": "uniform", "load": 0.2})
    links, name = found.links, found.graph.terminal_names[0]
    [out] = links.filter(links["source"] == name).iter_rows(named=True)
    assert out["cut_packets"] <= 1
    assert out["down_ns"] == 400_000.0
    assert found.summary["packets"]["in_flight"] > 10
    assert found.summary["faults"]["discarded"] > 10


def test_nothing_is_left_to_do_but_what_waits_for_ever() -> None:
    mirror = {"pattern": {"kind": "map", "map": list(reversed(range(12)))}, "arrivals": "backlog"}
    faults = [{"terminal": terminal, "at": "20 us"} for terminal in (0, 5)]
    found = failing(*faults, traffic={**mirror, "senders": [0, 5]})
    assert found.end_reason == "drained"
    assert "wait at terminals whose links never run again" in found.summary["end"]["message"]


def test_a_stuck_terminal_blocks_others_until_a_watchdog_ends_its_packets() -> None:
    stuck = {"terminal": 0, "stuck": True, "at": "50 us", "repaired": "450 us"}
    traffic = {"pattern": "uniform", "length": "64 B", "load": 0.4}
    blocked, watched = (
        failing(stuck, traffic=traffic, technology={"preset": "spacewire-200", "watchdog": watchdog})
        for watchdog in ("0 ns", "20 us")
    )
    assert blocked.summary["packets"]["lost"] == 0
    assert watched.summary["faults"]["timed_out"] == watched.summary["packets"]["lost"] > 10
    # Packets for it end, those behind them go on.
    accepted = [found.summary["accepted_mbytes_per_s"] for found in (blocked, watched)]
    assert accepted[1] > 1.5 * accepted[0]
    table = watched.links
    assert table["timed_out_packets"].sum() == watched.summary["faults"]["timed_out"]
    [into] = table.filter(table["target"] == watched.graph.terminal_names[0]).iter_rows(named=True)
    assert into["down_ns"] == 400_000.0
    assert into["timed_out_packets"] > 0


def test_a_watchdog_that_ends_nothing_is_as_none() -> None:
    summary = results(technology={"preset": "spacewire-200", "watchdog": "10 ms"}, run=SHORT).summary
    assert summary["verdict"].startswith("Accepts")
    assert summary["faults"]["recovery_ns"] is summary["faults"]["before_mbytes_per_s"] is None


def test_a_watchdog_breaks_a_deadlock() -> None:
    """The torus of the guide on deadlocks goes on, at the cost of some packets."""
    found = results(
        topology={"kind": "torus", "shape": [5, 5], "terminals_per_switch": 2},
        routing={"kind": "dimension-order", "variant": "minimal"},
        traffic={"pattern": "uniform", "length": "256 B", "arrivals": "backlog"},
        technology={"preset": "ds-link-c104", "watchdog": "100 us"},
        run={"duration": "2 ms", "warmup": "0 us", "precision": 0.0},
    )
    assert found.end_reason in ("time_limit", "saturated")
    assert found.summary["faults"]["timed_out"] > 0
    assert found.summary["verdict"].startswith("With a watchdog, accepts")
    assert found.summary["packets"]["delivered"] > 1000


@pytest.mark.parametrize("preset", ["spacewire-200", "generic"])
def test_the_twin_agrees(preset: str) -> None:
    short = {**SHORT, "duration": "60 us" if preset == "spacewire-200" else "2 us"}
    at = ("20 us", "30 us") if preset == "spacewire-200" else ("500 ns", "1 us")
    fault = {"link": "s(0,0)>s(0,1)", "at": at[0], "repaired": at[1]}
    found = compare(scenario(technology={"preset": preset}, fault=[fault], run=short))
    assert found.identical
    assert found.packets > 5


def test_a_cold_redundant_router_takes_over_when_it_has_power() -> None:
    """The nominal router fails for good at 100 us; the redundant one is off until 300 us: packets wait."""
    pair = {"topology": {"kind": "crossbar", "terminals": 4, "replicate": 2}, "ports": {"choice": "nominal"}}
    flows = [{"source": 0, "target": 3, "rate": "20 Mbit/s"}, {"source": 1, "target": 2, "rate": "20 Mbit/s"}]
    hot, cold = (
        failing(
            {"switch": "p0/s", "at": "100 us"},
            *off,
            **pair,
            technology={"preset": "spacewire-200"},
            traffic={"length": "64 B", "pattern": {"kind": "flows", "flows": flows}},
        )
        for off in ((), ({"switch": "p1/s", "at": "0 us", "repaired": "300 us"},))
    )
    for found in (hot, cold):
        packets = found.summary["packets"]
        assert packets["in_flight"] + packets["lost"] <= 4, (
            "at most two of each sender are at the dead router"
        )
        assert packets["delivered"] > 30
    assert hot.summary["total_latency_ns"]["max"] < 50_000
    assert 150_000 < cold.summary["total_latency_ns"]["max"] < 220_000
