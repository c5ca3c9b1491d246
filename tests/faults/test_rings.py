"""Rings of which a station, a link or a switch fails: what is down, what is lost, what closed routes save."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import Results, Scenario, run
from fabriloom.compile import compile

SWITCH = {"kind": "sci-switch", "ports": 4, "terminals_per_ring": 2}
DEAD = {"terminal": 0, "at": "200 us", "repaired": "700 us"}


def scenario(*faults: dict[str, Any], load: float = 0.05, **technology: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": SWITCH,
            "technology": {"preset": "sci-lc2", "timeout": "50 us", **technology},
            "traffic": {"length": "64 B", "load": load},
            "fault": list(faults),
            "run": {"duration": "1 ms"},
        }
    )


def down(*faults: dict[str, Any], **technology: Any) -> dict[str, list[int]]:
    """Names of the links that fail, and for how many nanoseconds each time."""
    compiled = compile(scenario(*faults, **technology))
    columns, found = compiled.arrays, {}
    lasts = columns["fault_up_ticks"].astype(np.int64) - columns["fault_down_ticks"].astype(np.int64)
    for link, ticks in zip(columns["fault_link"], lasts * compiled.tick_ps, strict=True):
        found.setdefault(compiled.graph.link_names[link], []).append(int(ticks) // 1000)
    return found


@pytest.mark.parametrize("fault", [{"terminal": 0}, {"link": "t0>t1"}, {"cable": "s0>t0"}])
def test_what_fails_takes_its_ring_down_until_that_has_started_again(fault: dict[str, Any]) -> None:
    moments = {"at": "200 us", "repaired": "300 us"}
    ring = {"s0>t0": [110_000], "t0>t1": [110_000], "t1>s0": [110_000]}
    assert down({**fault, **moments}) == ring
    alone = down({**fault, **moments}, fault_stops="link", restart="1 us")
    assert all(lasts == [101_000] for lasts in alone.values())
    assert len(alone) == (2 if "terminal" in fault else 1)


def test_a_switch_takes_all_its_rings_down() -> None:
    assert len(down({"switch": "s0", "at": "200 us"})) == 12


def test_a_wrong_bit_costs_no_more_than_what_is_on_the_link() -> None:
    errors = {"link": "all", "bit_error_rate": 1e-5}
    lasts = [ns for each in down(errors).values() for ns in each]
    assert len(lasts) > 100
    assert max(lasts) <= 2
    summary = run(scenario(errors)).summary
    # Links are in use for a seventh of the time.
    assert 0 < summary["faults"]["cut"] < len(lasts) / 2
    assert summary["packets"]["lost"] == summary["faults"]["cut"]


def through(results: Results) -> dict[str, float]:
    return {name: results.summary["faults"][f"{name}_mbytes_per_s"] for name in ("before", "during", "after")}


def test_a_dead_ring_slows_others_down_unless_routes_to_it_are_closed() -> None:
    open_ = run(scenario(DEAD))
    closed = run(scenario(DEAD, close_after=2, closed_for="100 us"))
    for results in (open_, closed):
        packets = results.summary["packets"]
        parts = (packets[name] for name in ("delivered", "refused", "in_flight", "lost"))
        assert packets["offered"] == sum(parts)
        rates = through(results)
        assert rates["after"] == pytest.approx(rates["before"], rel=0.1)
        # Of 8 terminals 6 can still send, each to 5 of 7 others.
        assert rates["during"] < 0.6 * rates["before"]
    assert open_.summary["faults"]["discarded"] == 0 < closed.summary["faults"]["discarded"]
    assert through(closed)["during"] > 0.9 * 6 / 8 * 5 / 7 * through(closed)["before"]
    assert through(open_)["during"] < 0.8 * through(closed)["during"]


def test_losses_are_where_they_happened() -> None:
    results = run(scenario({"link": "t0>t1", "at": "200 us"}, fault_stops="link", close_after=1))
    links = {row["link"]: row for row in results.links.to_dicts()}
    assert {name for name, row in links.items() if row["cut_packets"]} == {"t0>t1"}
    # Terminals discard at their own links.
    assert all(name.startswith("t") for name, row in links.items() if row["discarded_packets"])
    assert results.summary["faults"]["worst_link"]


def kept(results: Results) -> bool:
    """Whether nothing was lost, and every packet is somewhere."""
    packets = results.summary["packets"]
    parts = (packets[name] for name in ("delivered", "refused", "in_flight"))
    return packets["lost"] == 0 and packets["offered"] == sum(parts)


def test_a_stuck_terminal_busies_what_comes_and_loses_nothing() -> None:
    stuck = run(scenario({**DEAD, "stuck": True}, timeout="0 s"))
    assert kept(stuck)
    healthy = run(scenario({"terminal": 0, "stuck": True, "at": "999 us", "repaired": "1000 us"}))
    assert stuck.summary["sci"]["busied"] > 10 * healthy.summary["sci"]["busied"]
    rates = through(stuck)
    # What has waited comes as well.
    assert rates["before"] < rates["after"] < 1.3 * rates["before"]
    # Packets for it fill the queues of the switch, and others wait behind them: the rings run.
    assert rates["during"] < 0.5 * rates["before"]
    assert stuck.summary["faults"]["links"] == 1


def test_stuck_means_that_nothing_is_stored() -> None:
    data = {
        "topology": {"kind": "sci-ring", "terminals": 2},
        "technology": {"preset": "sci-lc2"},
        "traffic": {
            "length": "64 B",
            "pattern": {"kind": "flows", "flows": [{"source": 0, "target": 1, "rate": "400 MB/s"}]},
        },
        "fault": [{"terminal": 1, "stuck": True, "at": "20 us", "repaired": "60 us"}],
        "run": {"duration": "100 us"},
        "output": {"trace": True},
    }
    delivered_ns = np.asarray(run(Scenario.from_dict(data)).trace["delivered_ns"])
    while_stuck = delivered_ns[(delivered_ns > 20_000) & (delivered_ns < 60_000)]
    # What is served when it becomes stuck comes to its end.
    assert len(while_stuck) <= 1
    assert (delivered_ns > 60_000).sum() > 50


def test_a_bus_that_fails_parts_the_rings() -> None:
    flows = [{"source": 0, "target": 1}, {"source": 2, "target": 4}]
    data = {
        "topology": SWITCH,
        "technology": {"preset": "sci-lc2"},
        "traffic": {
            "length": "64 B",
            "pattern": {"kind": "flows", "flows": [{**one, "rate": "20 MB/s"} for one in flows]},
        },
        "fault": [{"bus": "s0", "at": "200 us", "repaired": "600 us"}],
        "run": {"duration": "1 ms"},
        "output": {"trace": True},
    }
    results = run(Scenario.from_dict(data))
    assert kept(results)
    trace = results.trace
    inside = trace.filter((trace["delivered_ns"] > 205_000) & (trace["delivered_ns"] < 600_000))
    # The pair on one ring goes on; of the other a transfer that was on the bus may come to its end.
    counts = dict(inside.group_by("source").len().iter_rows())
    assert counts.get(2, counts.get("t2", 0)) == 0
    assert sum(counts.values()) > 100


def test_buses_fail_again_and_again() -> None:
    results = run(scenario({"bus": "all", "mtbf": "200 us", "mttr": "50 us"}))
    assert kept(results)
    assert results.summary["faults"]["links"] == 4
    for_good = run(scenario({"bus": "s0", "at": "100 us"}))
    assert for_good.summary["faults"]["availability"] < 1
    assert kept(for_good)


def messages(check_time: str, *faults: dict[str, Any], **technology: Any) -> Results:
    """One terminal sends messages of 1 kB to another one on another ring, one after the other."""
    program = ["repeat 40", "send t2 1 kB", "flush", "end"]
    data = {
        "topology": SWITCH,
        "technology": {"preset": "sci-lc2", "timeout": "50 us", **technology},
        "protocol": {"preset": "pio", "check_time": check_time, "messages_at_once": 1},
        "program": {
            "kind": "operations",
            "terminals": [
                {"terminal": "t0", "do": program},
                {"terminal": "t2", "do": ["repeat 40", "receive t0", "end"]},
            ],
        },
        "fault": list(faults),
        "run": {"duration": "10 ms", "warmup": "0 s"},
        "output": {"messages": True},
    }
    return run(Scenario.from_dict(data))


def test_a_checked_message_is_sent_again_until_it_is_there() -> None:
    errors = {"link": "all", "bit_error_rate": 3e-6}
    checked, healthy = messages("1 us", errors), messages("1 us")
    found = checked.summary["messages"]
    assert found["received"] == 40 == healthy.summary["messages"]["received"]
    assert found["repeated"] > 3
    assert found["lost"] == 0
    assert healthy.summary["messages"]["repeated"] == 0
    # Each time costs the time-out and the message once more.
    last = [results.messages["sent_ns"].max() for results in (checked, healthy)]
    once = last[1] / 40
    assert last[0] - last[1] == pytest.approx(found["repeated"] * (50_000 + once), rel=0.2)
    unchecked = messages("0 s", errors)
    assert unchecked.summary["messages"]["received"] < 40
    assert unchecked.summary["end"]["reason"] == "incomplete"


def test_a_dead_ring_is_asked_again_until_it_is_repaired() -> None:
    results = messages("1 us", {"cable": "s0>t2", "at": "20 us", "repaired": "600 us"})
    found = results.summary["messages"]
    assert found["received"] == 40
    # From 20 to 610 us: the 16 packets of a message time out eight at a time, then comes the check.
    assert found["repeated"] == pytest.approx(590 / (2 * 50 + 1), abs=1)


def funnel(timeout: str) -> Results:
    """Two stations that send two messages each to a third one, by PIO."""
    return run(
        Scenario.from_dict(
            {
                "topology": {"kind": "sci-ring", "terminals": 3},
                "technology": {"preset": "sci-lc2", "timeout": timeout},
                "protocol": {"preset": "pio-lx-d310"},
                "program": {"kind": "funnel-in", "size": "64 B", "rounds": 2},
            }
        )
    )


def test_a_run_does_not_last_until_time_outs_that_nothing_awaits() -> None:
    usual, watched = funnel("0 ns"), funnel("10 ms")
    assert watched.end_reason == usual.end_reason == "drained"
    assert watched.summary["messages"] == usual.summary["messages"]


def test_programs_that_wait_for_given_up_transactions_say_so() -> None:
    late = funnel("500 ns")
    assert late.end_reason == "incomplete"
    assert "4 transactions were given up after technology.timeout" in late.summary["end"]["message"]
    assert "4 messages were received, 0 not" in late.summary["verdict"]


def test_a_run_does_not_last_until_a_repair_that_nobody_awaits() -> None:
    """The terminal is stuck while it serves its last packet."""
    data = {
        "topology": {"kind": "sci-ring", "terminals": 3},
        "technology": {"preset": "sci-lc2", "memory": {"access": "300 ns"}},
        "program": {"kind": "funnel-in", "size": "64 B", "rounds": 2},
    }
    stuck = {"terminal": 0, "stuck": True, "at": "1500 ns", "repaired": "1 ms"}
    usual, late = (run(Scenario.from_dict({**data, "fault": faults})) for faults in ([], [stuck]))
    assert late.summary["simulated_ns"] == usual.summary["simulated_ns"] < 10_000
