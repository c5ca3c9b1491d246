"""Interface chips of terminals: what their manuals print, and what they add to packets and time-codes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom import simulate
from fabriloom.scenario import Scenario
from fabriloom.studies.inspection import inspect
from fabriloom.technology import TechnologyError, interface, presets, technology
from fabriloom.technology.protocols import interfaces

CHIPS = ("shimafuji-codec", "spacewire-light")
SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
WORST_NULL_BITS = 8


def scenario(chips: list[dict[str, Any]], **sections: Any) -> Scenario:
    """Two terminals of a router, which has no cable delay and no flow control, and one packet of a byte."""
    flow = {"source": 0, "target": 1, "length": "1 B", "period": "1 ms", "phase": "0 s"}
    base: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 2},
        "technology": {"preset": "shimafuji-router", "cable_length": "0 m", "flow_control": "ignored"},
        "interface": chips,
        "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
        "run": {"duration": "200 us", "warmup": "0 ns", "precision": 0},
        "output": {"trace": True},
    }
    return Scenario.from_dict({**base, **sections})


def latency_ns(chips: list[dict[str, Any]], **sections: Any) -> float:
    return float(simulate.run(scenario(chips, **sections)).trace["latency_ns"][0])


NONE = [{"preset": "plain", "receive": "0 ns", "time_code_receive": "0 ns"}]
ROUTER_NS = 26 * 10 + 60 + 9 * 20
"""The latency of the preset shimafuji-router, at 100 MHz and 100 Mbit/s."""
CODE_ROUTER_NS = 4 * 10 + 48 + 11 * 20
SYS_NS = {"shimafuji-codec": 10, "spacewire-light": 1e3 / 60}
TRANSMIT_NS = {"shimafuji-codec": 7 * 10 + 30 + 4 * 20, "spacewire-light": 3 * 1e3 / 60 + 10 + 6.5 * 20}
RECEIVE_NS = {"shimafuji-codec": 4 * 10 + 30, "spacewire-light": 6 * 1e3 / 60 + 25 + 0.5 * 20}
CODE_TRANSMIT_NS = {"shimafuji-codec": 30 + 4 * 20, "spacewire-light": 1e3 / 60 + 10 + 6.5 * 20}
CODE_RECEIVE_NS = {"shimafuji-codec": 3 * 10 + 18, "spacewire-light": 4 * 1e3 / 60 + 25 + 1.5 * 20}


@pytest.mark.parametrize("chip", CHIPS)
def test_a_packet_has_the_delays_of_its_chips_and_of_the_router(chip: str) -> None:
    # A header of 10 bits to the router, there its delay, which has 10 bits of the way out; a byte and an end.
    bits_ns = (10 + 10 + 4) * 10
    assert latency_ns(NONE) == pytest.approx(bits_ns + ROUTER_NS)
    expected = bits_ns + ROUTER_NS + TRANSMIT_NS[chip] + RECEIVE_NS[chip]
    assert latency_ns([{"preset": chip}]) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("chip", CHIPS)
def test_each_side_of_a_packet_has_its_own_chip(chip: str) -> None:
    from_it = [{"preset": chip, "terminals": [0]}, *NONE]
    to_it = [{"preset": chip, "terminals": [1]}, *NONE]
    none_ns = latency_ns(NONE)
    assert latency_ns(from_it) - none_ns == pytest.approx(TRANSMIT_NS[chip], abs=0.01)
    assert latency_ns(to_it) - none_ns == pytest.approx(RECEIVE_NS[chip], abs=0.01)


@pytest.mark.parametrize("chip", CHIPS)
def test_a_time_code_has_its_own_delays(chip: str) -> None:
    found = simulate.run(scenario([{"preset": chip}], time_code=[{"master": 0, "every": "10 us"}]))
    [row] = found.codes.iter_rows(named=True)
    expected = 14 * 10 + CODE_ROUTER_NS + CODE_TRANSMIT_NS[chip] + CODE_RECEIVE_NS[chip]
    assert row["latency_ns_min"] == pytest.approx(expected, abs=0.01)
    assert row["jitter_ns"] == 0


def test_characters_follow_each_other_as_without_chips() -> None:
    """A chip delays the first character; the others keep their distance."""
    flow = {"source": 0, "target": 1, "length": "100 B", "period": "1 ms", "phase": "0 s"}
    long = {"pattern": {"kind": "flows", "flows": [flow]}}
    more_ns = latency_ns([{"preset": "shimafuji-codec"}], traffic=long) - latency_ns(NONE, traffic=long)
    assert more_ns == pytest.approx(TRANSMIT_NS["shimafuji-codec"] + RECEIVE_NS["shimafuji-codec"])


def test_engine_and_twin_agree_on_chips() -> None:
    traffic = {"pattern": "uniform", "length": "40 B", "load": 0.7}
    chips = [{"preset": "spacewire-light", "terminals": [0, 3]}, {"preset": "shimafuji-codec"}]
    grid = {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2}
    for codes in ([], [{"master": 0, "every": "20 us"}]):
        written = scenario(chips, traffic=traffic, topology=grid, time_code=codes)
        compared = simulate.compare(written)
        assert compared.identical, compared
        assert compared.packets > 100


def test_a_data_sheet_of_ones_own() -> None:
    own = interface("plain", {"clock_millihz": 25 * 10**9, "transmit": "2 sys + 1.5 tx", "receive": "3 rx"})
    assert own.delay_ps("transmit", 50 * 10**6) == 2 * 40_000 + 3 * 20_000
    assert own.delay_ps("receive", 50 * 10**6) == 6 * 20_000
    with pytest.raises(TechnologyError, match="is no number of periods"):
        interface("plain", {"transmit": "many sys"})


def source(preset: str, setting: str) -> str:
    found = interfaces() if preset in interfaces() else presets()
    return found[preset].entries[setting].source


def test_every_number_of_a_chip_says_where_it_stands() -> None:
    for chip in (*CHIPS, "shimafuji-router"):
        entries = (interfaces() if chip in CHIPS else presets())[chip].entries
        for name, entry in entries.items():
            if entry.kind == "counted":
                assert re.search(r"\w+\.vhdl?\b", entry.source), (chip, name)
            elif "IP Core" in entry.source or "SpaceWire Light manual" in entry.source:
                assert re.search(r"sections? [\d.]+.* \(pages? \d+", entry.source), (chip, name)


# What the manual of the CODEC prints (ver. 0.40): constants of a clock, rates, sizes.


@pytest.mark.parametrize(("clock_mhz", "printed"), [(100, 0b001001), (50, 0b000100), (10, 0b000000)])
def test_the_codec_starts_at_10_mbit_per_s(clock_mhz: int, printed: int) -> None:
    """Section 7 (page 11): the divider of TransmitClock is f / 10 MHz - 1; section 10.2 has three."""
    assert clock_mhz / 10 - 1 == printed
    assert clock_mhz / (printed + 1) == 10


def test_the_codecs_times_are_those_of_the_standard() -> None:
    """Section 7 (page 11): 850 ns, 6.4 us and 12.8 us in periods, 141, 320 and 640; section 10.2: 71."""
    assert int(850e-9 * 166.6e6) == 141
    assert round(850e-9 * 83.3e6) == 71
    assert [round(time * 50e6) for time in (6.4e-6, 12.8e-6)] == [320, 640]
    spacewire = technology("shimafuji-router")
    assert spacewire.disconnect_ps == 850_000


def test_the_codecs_receive_clock_samples_often_enough() -> None:
    """Section 10.2 (page 15): about 1.5 times the rate."""
    for receive_mhz, rate_mbit in ((166.6, 100), (83.3, 50)):
        assert receive_mhz / rate_mbit == pytest.approx(1.666, abs=0.001)


def test_credit_and_buffers_of_the_codec() -> None:
    """Sections 4.1 (page 3), 4.7 and 4.8 (page 5): 8 per FCT, at most 56 outstanding, FIFOs of 56."""
    tech, chip = technology("shimafuji-router"), interface("shimafuji-codec")
    assert (tech.credit_quantum_chars, tech.credit_limit_chars, tech.input_buffer_chars) == (8, 56, 56)
    assert chip.receive_buffer_bytes == 56
    assert tech.link_rate_bits_per_s == chip.highest_rate_bits_per_s == 100 * 10**6


def test_time_codes_of_the_codec_are_25_bits_apart() -> None:
    """Section 6.3 (page 10): TickIn not more often than every 25 bits; we refuse more than half of a wire."""
    assert 14 + WORST_NULL_BITS < 25 < 2 * 14


# The manual of the router (ver. 0.30).


@pytest.mark.parametrize(("clock_mhz", "step_us", "most_s"), [(50, 80, 80), (100, 40, 40)])
def test_the_time_outs_of_the_router(clock_mhz: int, step_us: int, most_s: int) -> None:
    """Section 10.4.7 (page 20): steps of 80 us to 80 s at 50 MHz. They are 4096 cycles, TimeOutCount.vhdl."""
    assert 4096 / clock_mhz == pytest.approx(step_us, rel=0.03)
    assert 4096 / clock_mhz * 2**20 / 1e6 == pytest.approx(most_s, rel=0.08)


@pytest.mark.parametrize(("clock_mhz", "register", "printed_us"), [(50, 0xFF, 5.12), (100, 0xFF, 2.56)])
def test_the_period_of_automatic_time_codes(clock_mhz: int, register: int, printed_us: float) -> None:
    """Section 10.4.11 (page 21). It prints 1.3 s and 650 ms for 0xFFFF; by its own formula a 1000th."""
    assert (register + 1) / clock_mhz == pytest.approx(printed_us)
    from_formula_ms = (0xFFFF + 1) / 50 / 1e3
    assert from_formula_ms == pytest.approx(1.3, abs=0.02)


def test_the_crossbar_of_the_router_is_faster_than_its_links() -> None:
    """A character in 2 cycles of SpaceWirePort.vhdl."""
    tech = technology("shimafuji-router")
    assert tech.character_ps() > 2 * 10_000
    assert tech.crossbar == "fast"


# The manual of SpaceWire Light (version 20130504).


def test_the_transmitter_of_spacewire_light_needs_no_null() -> None:
    """Section 3.2 (page 4): 5 txclk + 3 sysclk <= 20 bits, which holds up to 5 times the system clock."""
    tx_ns, sys_ns, bit_ns = 5.0, SYS_NS["spacewire-light"], 5.0
    assert 5 * tx_ns + 3 * sys_ns <= 20 * bit_ns
    for times in (4, 5, 6):
        assert (5 + 3 * times <= 20) == (times <= 5)


def test_the_rates_of_spacewire_light() -> None:
    """Section 10.1 (page 22): the lower of rxclk and rxchunk times the system clock; txclk."""
    rxclk_mhz, txclk_mhz, system_mhz, rxchunk = 200, 200, 60, 4
    assert min(rxclk_mhz, rxchunk * system_mhz, txclk_mhz) == 200
    assert interface("spacewire-light").highest_rate_bits_per_s == 200 * 10**6
    assert interface("spacewire-light").clock_millihz == system_mhz * 10**9


def test_the_fifos_of_spacewire_light() -> None:
    """Section 4.3 (page 6): 2 to the power of 6 to 14 bytes, 11 by default."""
    assert interface("spacewire-light").receive_buffer_bytes == 2**11
    light = {"preset": "spacewire-light", "receive_buffer": "64 B"}
    assert latency_ns([light]) == latency_ns([{"preset": "spacewire-light"}])


def test_payload_of_spacewire_light_at_200_mbit_per_s() -> None:
    """Section 10.1 (page 22) measures 18 MB/s; 20 MB/s are the bits alone, the rest is in its test's host."""
    backlog = {"pattern": {"kind": "map", "map": [1, 0]}, "length": "1000 B", "arrivals": "backlog"}
    fast = {"preset": "spacewire-200"}
    run = {"duration": "1 ms", "warmup": "100 us", "precision": 0}
    chips = [{"preset": "spacewire-light"}]
    found = simulate.run(scenario(chips, technology=fast, traffic=backlog, run=run))
    each = found.summary["accepted_mbytes_per_s"] / 2
    assert 18 < each < 19.05


def test_the_data_sheet_in_twenty_lines_is_that_of_the_presets() -> None:
    """Of the guide: settings that a user writes give what the presets give."""
    written = fabriloom.load(SCENARIOS / "spacewire-data-sheet.toml", ["run.duration=2 ms"])
    raw = tomllib.loads((SCENARIOS / "spacewire-data-sheet.toml").read_text(encoding="utf-8"))
    assert len(raw["technology"]) + len(raw["interface"][0]) <= 20
    chips = [{"preset": "spacewire-light", "terminals": [0, 2, 3, 4, 5]}, raw["interface"][1]]
    router = {"technology": {"preset": "shimafuji-router"}, "interface": chips, "run": {"duration": "2 ms"}}
    by_presets = Scenario.from_dict({**raw, **router})
    mine, theirs = (simulate.run(one) for one in (written, by_presets))
    assert mine.requirements.equals(theirs.requirements)
    assert mine.codes.equals(theirs.codes)


SLOW_FLOW = {"source": 0, "target": 1, "length": "100 B", "period": "1 ms", "phase": "0 s"}
SLOW = {"pattern": {"kind": "flows", "flows": [SLOW_FLOW]}}


@pytest.mark.parametrize(("rate", "character_ns"), [("2 MB/s", 500), ("12 MB/s", 84), ("3 MB/s", 334)])
def test_a_terminal_that_reads_slowly_spaces_its_characters(rate: str, character_ns: int) -> None:
    """By hand: header, 100 characters and end take a reading each, in whole ns, where that is longer than
    their 10 and 4 bits. The other direction is as it was.
    """
    slow = [{"preset": "plain", "terminals": [1], "read_rate": rate}]
    plain_ns, slow_ns = (latency_ns(chips, traffic=SLOW) for chips in ([], slow))
    more_ns = 101 * (max(100, character_ns) - 100) + (max(40, character_ns) - 40)
    assert slow_ns == pytest.approx(plain_ns + more_ns, abs=0.01)
    back = {"pattern": {"kind": "flows", "flows": [{**SLOW_FLOW, "source": 1, "target": 0}]}}
    assert latency_ns(slow, traffic=back) == latency_ns([], traffic=back)


def test_check_knows_how_fast_terminals_read() -> None:
    slow = [{"preset": "plain", "terminals": [1], "read_rate": "2 MB/s"}]
    fast = {"preset": "spacewire-200", "flow_control": "ignored"}
    found = inspect(scenario(slow, technology=fast, traffic={"load": 0.1, "length": "1000 B"}))[
        "channel_load"
    ]
    assert found["busiest_link"] == "s>t.1"
    # Header, 1000 bytes and end take 500 ns each; on the wire 50 ns, the end 20.
    assert found["load_bound"] == pytest.approx((1001 * 50 + 20) / (1002 * 500))


@pytest.mark.parametrize("flow_control", ["matched", "average", "ignored"])
@pytest.mark.parametrize(
    "chip", [{"read_rate": "40 Mbit/s"}, {"read_rate": "158 Mbit/s"}, {"receive_buffer": "8 B"}]
)
def test_what_check_says_of_a_chip_is_carried(chip: dict[str, Any], flow_control: str) -> None:
    """Two senders overload it; of the characters for credit those fit between others that it takes slowly."""
    each = [{"source": source, "target": 2, "period": "600 ns"} for source in (0, 1)]
    given = {
        "topology": {"kind": "crossbar", "terminals": 3},
        "technology": {"preset": "spacewire-200", "flow_control": flow_control},
        "interface": [{"preset": "plain", "terminals": [2], **chip}],
        "traffic": {"length": "20 B", "pattern": {"kind": "flows", "flows": each}},
        "run": {"duration": "2 ms", "warmup": "100 us"},
    }
    bound = inspect(Scenario.from_dict(given))["demanded"]["accepted_mbytes_per_s_bound"]
    carried = float(simulate.run(given).flows["mbytes_per_s"].sum())
    assert carried == pytest.approx(bound, rel=0.005)


def test_a_small_receive_fifo_spaces_characters_by_its_credit() -> None:
    """By hand, at 200 Mbit/s without a cable: a character of 50 ns and 50 ns to be read, a flow-control
    character of 20 ns and the turn-around. With one of them on its way, eight characters take seven of 50 ns
    and this loop; with four not even ends of packets wait.
    """
    fast = {"preset": "spacewire-200", "flow_control": "ignored", "cable_length": "0 m"}
    fast["turn_around"] = "40 ns"
    backlog = {"pattern": {"kind": "map", "map": [1, 0]}, "length": "200 B", "arrivals": "backlog"}

    def mbytes_per_s(size: str) -> float:
        chips = [{"preset": "plain", "receive_buffer": size}] if size else []
        run = {"duration": "10 ms", "warmup": "2 ms", "precision": 0}
        found = simulate.run(scenario(chips, technology=fast, traffic=backlog, run=run))
        return float(found.summary["accepted_mbytes_per_s"]) / 2

    loop_ns = 50 + 50 + 20 + 40
    spacing_ns = -(-(7 * 50 + loop_ns) // 8)
    assert mbytes_per_s("8 B") == pytest.approx(200 / (202 * spacing_ns) * 1e3, rel=5e-3)
    assert mbytes_per_s("15 B") == mbytes_per_s("8 B")
    assert mbytes_per_s("56 B") == mbytes_per_s("32 B") == mbytes_per_s("")


def test_a_link_starts_with_characters_at_10_mbit_per_s() -> None:
    """Sections 4.1 and 4.3 (pages 3 and 4) of the CODEC's manual: 6.4 us and 12.8 us; a NULL, which has come
    when the next one has begun, and an FCT, 8 + 8 + 4 bits of 100 ns."""
    tech = technology("shimafuji-router", {"cable_length_m": 10.0})
    way_us = 0.05 + 0.05
    assert tech.start_ps / 1e6 == pytest.approx((8 + 8 + 4) * 0.1 + way_us)
    assert tech.running_ps / 1e6 == pytest.approx(6.4 + 12.8 + 2 + way_us)
    assert technology("shimafuji-router", {"cable_length_m": 200.0}).start_ps / 1e6 == pytest.approx(
        2.8 + 1.05
    )
    assert technology("ds-link-c104").start_ps == 0
    cut = [{"cable": "t.0>s", "at": "50 us", "repaired": "80 us"}]
    found = simulate.run(scenario(NONE, fault=cut)).links
    down = found.filter(found["down_ns"] > 0)
    assert down["down_ns"].to_list() == [30_000 + 19_200 + 2000 + 50] * 2
