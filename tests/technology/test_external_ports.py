"""External ports of a router: the formulas that the manual of the SpW-10X prints (2008, pages 133 to 135).

Delays in the clocks of a data sheet: a packet through routers needs what the manual's formula says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import Results, simulate
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.studies.inspection import inspect
from fabriloom.technology import TechnologyError, technology

RATE = 200
"""Of SpaceWire links, in Mbit/s; external ports have 300, a character in each period of 30 MHz."""
SYS_NS, BIT_NS = 1e3 / 30, 1e3 / RATE
RX_NS = TX_NS = 2 * BIT_NS
PRINTED_NS = {
    "spacewire to spacewire": 5 * RX_NS + 8 * SYS_NS + 23 * TX_NS,
    "spacewire to external": 5 * RX_NS + 8 * SYS_NS,
    "external to spacewire": 4 * SYS_NS + 23 * TX_NS,
    "external to external": 5 * SYS_NS,
}
CODES_NS = {
    "spacewire to spacewire": 5 * RX_NS + 6 * SYS_NS + 16 * TX_NS,
    "external to spacewire": 6 * SYS_NS + 16 * TX_NS,
    "spacewire to external": 5 * RX_NS + 8 * SYS_NS,
}
FROM_FIRST = "external to external"
"""The formula that counts the period in which the header is written; the others begin at its end. No sum of
delays of ports meets all four from its end."""


def scenario(folder: Path, ways: str, **sections: Any) -> Scenario:
    """Two terminals of a router, each at an external port or at a link, without delays of their own."""
    kinds = dict(zip("ab", ways.split(" to "), strict=True))
    rows = ["kind,source,target,rate,length", "switch,r,,,"]
    rows += [f"terminal,{a},r,{300 if kind == 'external' else RATE} Mbit/s,0 m" for a, kind in kinds.items()]
    (folder / "cables.csv").write_text("\n".join(rows))
    external = [name for name, kind in kinds.items() if kind == "external"]
    chips = [{"preset": "external-port", "terminals": external}] if external else []
    flow = {"source": "a", "target": "b", "length": "1 B", "period": "1 ms", "phase": "0 s"}
    base: dict[str, Any] = {
        "topology": {"kind": "file", "path": "cables.csv"},
        "technology": {"preset": "spw-10x", "flow_control": "ignored"},
        "interface": [*chips, {"receive": "0 ns", "time_code_receive": "0 ns"}],
        "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
        "run": {"duration": "100 us", "warmup": "0 ns", "precision": 0},
        "output": {"trace": True},
    }
    return Scenario.from_dict({**base, **sections}, folder)


def results(folder: Path, ways: str, **sections: Any) -> Results:
    return simulate.run(scenario(folder, ways, **sections))


@pytest.mark.parametrize("ways", PRINTED_NS)
def test_a_packet_has_the_latency_that_the_manual_prints(tmp_path: Path, ways: str) -> None:
    """From the last bit of the header in to its last bit out; before it is the header, behind it a byte."""
    source, target = ways.split(" to ")
    header_ns = {"external": SYS_NS, "spacewire": 10 * BIT_NS}[source] if ways != FROM_FIRST else 0
    rest_ns = 2 * SYS_NS if target == "external" else (10 + 4) * BIT_NS
    found = float(results(tmp_path, ways).trace["latency_ns"][0]) - header_ns - rest_ns
    assert found == pytest.approx(PRINTED_NS[ways], abs=0.01)


@pytest.mark.parametrize("ways", CODES_NS)
def test_a_time_code_has_the_latency_that_the_manual_prints(tmp_path: Path, ways: str) -> None:
    own_ns = SYS_NS if ways.startswith("external") else 14 * BIT_NS
    tech = {"preset": "spw-10x", "flow_control": "ignored", "time_code_jitter": "0 ns"}
    codes = [{"master": "a", "every": "10 us"}]
    [row] = results(tmp_path, ways, technology=tech, time_code=codes).codes.iter_rows(named=True)
    assert row["latency_ns_max"] - own_ns == pytest.approx(CODES_NS[ways], abs=0.01)


@pytest.mark.parametrize("ways", PRINTED_NS)
def test_engine_and_twin_agree_on_external_ports(tmp_path: Path, ways: str) -> None:
    busy = {"pattern": "uniform", "length": "60 B", "load": 0.6}
    for flow_control in ("ignored", "average"):
        tech = {"preset": "spw-10x", "flow_control": flow_control}
        codes = [{"master": "a", "every": "7 us"}] if flow_control == "average" else []
        compared = simulate.compare(scenario(tmp_path, ways, traffic=busy, technology=tech, time_code=codes))
        assert compared.identical, compared
        assert compared.packets > 30


def test_characters_of_an_external_port_are_parallel(tmp_path: Path) -> None:
    """An end of packet takes as long as a character, and flow control takes nothing."""
    backlog = {"pattern": "uniform", "length": "99 B", "arrivals": "backlog"}
    tech = {"preset": "spw-10x", "flow_control": "average"}
    longer = {"duration": "2 ms", "warmup": "0 ns", "precision": 0}
    found = results(tmp_path, "external to external", traffic=backlog, technology=tech, run=longer)
    # A header, 99 bytes and an end in 101 periods of 30 MHz, for the crossbar feeds a port as fast; and three
    # of the four periods of the switching, in which nothing crosses.
    assert found.summary["accepted_mbytes_per_s"] / 2 == pytest.approx(99 / 104 * 30, rel=0.003)


@pytest.mark.parametrize(
    ("technology", "message"),
    [
        ({"preset": "spacewire-200", "crossbar": "clock"}, "there is none"),
        ({"preset": "generic", "crossbar": "clock"}, "of routers of characters"),
        ({"preset": "spw-10x", "router_switching": "0.5 sys"}, "last period of the switching"),
    ],
)
def test_a_crossbar_in_a_clock_that_is_not_there_is_refused(technology: dict[str, str], message: str) -> None:
    base = {"topology": {"kind": "crossbar", "terminals": 2}, "traffic": {"load": 0.1}}
    with pytest.raises(ScenarioError, match=message):
        simulate.run(Scenario.from_dict({**base, "technology": technology}))


def test_a_router_without_external_ports_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="do not say what a SpaceWire port alone takes"):
        results(tmp_path, "external to external", technology={"preset": "spacewire-200"})


RATES = {"a": 200, "b": 100, "c": 50}
SYS_PS = 1e6 / 30


def latency_ns(folder: Path, routers: int, rates_mbit: list[int], **tech: Any) -> float:
    """Of the only packet through routers in a row; ``rates_mbit`` of their links, one more than routers."""
    names = ["source", *(f"r{n}" for n in range(routers)), "sink"]
    lines = ["kind,source,target,rate,length", f"terminal,source,r0,{rates_mbit[0]} Mbit/s,0 m"]
    lines += [f"switch,r{n},,," for n in range(routers)]
    lines += [f"cable,r{n},r{n + 1},{rates_mbit[n + 1]} Mbit/s,0 m" for n in range(routers - 1)]
    lines += [f"terminal,sink,r{routers - 1},{rates_mbit[-1]} Mbit/s,0 m"]
    assert len(names) == routers + 2
    (folder / "cables.csv").write_text("\n".join(lines))
    flow = {"source": "source", "target": "sink", "length": "1 B", "period": "1 ms", "phase": "0 s"}
    written = {
        "topology": {"kind": "file", "path": "cables.csv"},
        "technology": {"preset": "spw-10x", "flow_control": "ignored", "crossbar": "fast", **tech},
        "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
        "run": {"duration": "100 us", "warmup": "0 ns", "precision": 0},
        "output": {"trace": True},
    }
    return float(simulate.run(Scenario.from_dict(written, folder)).trace["latency_ns"][0])


def manual_ns(rate_in: int, rate_out: int) -> float:
    """5 Trx + 8 Tsys + 23 Ttx of the manual of the SpW-10X; Trx and Ttx are two bit times."""
    return (5 * 2e6 / rate_in + 8 * SYS_PS + 23 * 2e6 / rate_out) / 1000


@pytest.mark.parametrize("rate", [10, 50, 100, 200])
def test_each_router_more_adds_the_latency_that_the_manual_prints(tmp_path: Path, rate: int) -> None:
    two, three = (latency_ns(tmp_path, count, [rate] * (count + 1)) for count in (2, 3))
    assert three - two == pytest.approx(manual_ns(rate, rate), abs=0.01)


def test_the_first_clock_is_of_the_link_in_and_the_last_of_the_link_out(tmp_path: Path) -> None:
    """A slow last link: 23 slower Ttx, and the rest of the packet, a byte and an end, at the slow rate."""
    fast, slow = latency_ns(tmp_path, 1, [200, 200]), latency_ns(tmp_path, 1, [200, 50])
    rest_bits = 10 + 4
    assert slow - fast == pytest.approx(
        manual_ns(200, 50) - manual_ns(200, 200) + rest_bits * (20 - 5), abs=0.01
    )


def test_a_data_sheet_of_ones_own(tmp_path: Path) -> None:
    """Other numbers than those of the preset, in the same three settings."""
    own = {"router_clock": "50 MHz", "router_latency": "4 rx + 6 sys + 12.5 tx", "router_switching": "2 sys"}
    two, three = (latency_ns(tmp_path, count, [100] * (count + 1), **own) for count in (2, 3))
    assert three - two == pytest.approx((4 * 20 + 6 * 20 + 12.5 * 20), abs=0.01)
    tech = technology("spacewire-200", {"router_latency": "9 tx", "link_rate_bits_per_s": 10**8})
    assert (tech.decode_latency_ps, tech.transmitter_ps()) == (0, 80_000)


WRONG = {
    "5 rx + 8 sys + 23 txx": 'there is no clock "txx"',
    "5 rx + 8": "is no number of periods",
    "5 rx + 5 rx": "rx is there twice",
    "5 rx + 8 sys + 4 tx": "at least 5 tx",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_latency_is_refused(text: str) -> None:
    with pytest.raises(TechnologyError, match=WRONG[text]):
        technology("spw-10x", {"router_latency": text})


def test_a_clock_can_count_for_time_codes_alone() -> None:
    own = {"router_clock": "30 MHz", "time_code_latency": "5 rx + 8 sys + 23 tx"}
    written = {
        "topology": {"kind": "crossbar", "terminals": 2},
        "technology": {"preset": "spacewire-200", **own},
        "traffic": {"load": 0.1},
        "time_code": [{"master": 0, "every": "100 us"}],
    }
    scenario = Scenario.from_dict(written)
    without = Scenario.from_dict({**written, "technology": {"preset": "spacewire-200"}})
    assert inspect(scenario)["zero_load_latency_ns"] == inspect(without)["zero_load_latency_ns"]
    with pytest.raises(ScenarioError, match="router_clock has no effect"):
        simulate.run(scenario.with_settings({"technology.time_code_latency": "5 rx + 23 tx"}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"router_latency": "8 sys + 23 tx"}, "there is none"),
        ({"router_clock": "30 MHz"}, "router_clock has no effect without router_latency"),
        ({"router_latency": "23 tx", "router_switching": "4 sys"}, "some of the 0 sys"),
        ({"router_latency": "23 tx", "decode_latency": "1 us"}, "decode_latency is a part of router_latency"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, str], message: str) -> None:
    written = {"topology": {"kind": "crossbar", "terminals": 2}, "traffic": {"load": 0.1}}
    technology = {"preset": "spacewire-200", **settings}
    with pytest.raises(ScenarioError, match=message):
        simulate.run(Scenario.from_dict({**written, "technology": technology}))
