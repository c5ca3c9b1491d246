"""Messages over links that fail: each is received once, however often its packets are sent and lost.

Wrong bits on links with credits, terminals that stop for good, sources that fall silent in a packet.
"""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Results, Scenario, run
from fabriloom.simulate import compare
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

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
