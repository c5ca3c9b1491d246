"""Presets of rings: the arithmetic of packets, links and buses, and what cannot be.

Presets of protocols: every number with its source, and what cannot be.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest
from fabriloom.scenario.sections.protocol import Protocol as Section
from fabriloom.technology import (
    RingTechnology,
    TechnologyError,
    presets,
    protocol,
    ring_technology,
    technology,
)
from fabriloom.technology.presets import KINDS, is_ring
from fabriloom.technology.protocols import protocols
from fabriloom.technology.rings import PAYLOADS_BYTES, Transaction

RINGS = [name for name in presets() if is_ring(name)]


NO_ECHO: dict[str, Any] = {
    "echo_bytes": 0,
    "echo_idle_bytes": 0,
    "phases": False,
    "hold_until": "sent",
    "requests_in": 0,
    "responses_in": 0,
}
SLOTS: dict[str, Any] = {"slot_bytes": 128, "bandwidth_allocation": False}


def test_the_presets_of_rings() -> None:
    assert RINGS[:5] == ["scinet", "sci-retry", "sci-1000", "sci-lc2", "scinet-dmove"]
    machines = ["sci-lx-d310", "sci-bx-d321", "sci-lc1-alpha", "sci-testbed-1", "sci-testbed-2"]
    assert RINGS[5:] == [*machines, "rpr-10g", "noc-ring", "fddi"]
    assert set(PAYLOADS_BYTES) == set(get_args(Transaction))


def test_a_request_of_64_bytes() -> None:
    """84 B at 500 MB/s are 168 ns, and 64/84 of the link is payload."""
    scinet = ring_technology("scinet")
    assert scinet.symbol_ps() == 4000
    assert scinet.request_bytes(64) + scinet.send_idle_bytes == 84
    assert scinet.packet_ps(64) == 168_000
    assert scinet.payload_bytes_per_s(64) == pytest.approx(500e6 * 64 / 84)


@pytest.mark.parametrize(
    ("transaction", "request_bytes", "response_bytes"),
    [("nwrite", 80, 16), ("dmove", 80, 0), ("nread", 16, 80), ("lock", 32, 32)],
)
def test_what_transactions_carry(transaction: Transaction, request_bytes: int, response_bytes: int) -> None:
    ring = ring_technology("sci-1000").carrying(transaction)
    length = 16 if transaction == "lock" else 64
    assert ring.request_bytes(length) == request_bytes
    assert ring.response_bytes(length) == response_bytes
    assert length in ring.legal_payloads_bytes
    assert ring.packet_ps(length) == (request_bytes + ring.send_idle_bytes) // 2 * 2000


def test_a_transfer_over_the_bus() -> None:
    """64 B of payload in 12 cycles of 12.5 ns are the 425 MB/s that the D515 carries inside a module."""
    lc2 = ring_technology("sci-lc2")
    assert lc2.bus_cycle_ps == 12_500
    assert lc2.bus_transfer_ps(80) == 12 * 12_500
    assert 64 / (lc2.bus_transfer_ps(80) / 1e6) == pytest.approx(425, rel=0.01)


def test_a_header_from_port_to_port() -> None:
    """Address decoder, queue, bus and queue: the 250 ns that the D515 is specified with."""
    lc2 = ring_technology("sci-lc2")
    through = lc2.decode_latency_ps + lc2.receive_ps + lc2.bus_transfer_ps(16) + lc2.transmit_ps
    assert through / 1000 == pytest.approx(250, rel=0.05)


def test_interfaces_add_to_both_ways() -> None:
    given = ring_technology("scinet", {"interface_latency_ps": 0})
    fitted = ring_technology("scinet")
    assert (given.receive_ps, given.transmit_ps) == (106_000, 82_000)
    assert (fitted.receive_ps, fitted.transmit_ps) == (309_000, 285_000)


def test_cables() -> None:
    ring = ring_technology("scinet", {"cable_length_m": 20.0, "cable_delay_ps_per_m": 5000})
    assert ring.arrival_ps() == 4000 + 100_000
    assert ring.arrival_ps(rate_bits_per_s=8 * 400_000_000, length_m=1.0) == 5000 + 5000


def test_kinds_are_not_mixed() -> None:
    with pytest.raises(TechnologyError, match="is of rings"):
        technology("scinet")
    with pytest.raises(TechnologyError, match="is not of rings"):
        ring_technology("generic")


@pytest.mark.parametrize(
    ("overrides", "words", "parameter"),
    [
        ({"requests_out": 0}, "at least 1", "requests_out"),
        ({"symbol_bytes": 32}, "whole number of symbols of 32 B", "request_header"),
        ({"when_full": "pass"}, "reserve places", "phases"),
        (NO_ECHO | {"phases": True}, "needs echoes", "phases"),
        (NO_ECHO | {"in_order": True}, "needs echoes", "in_order"),
        (NO_ECHO | {"echo_idle_bytes": 2}, "no idles after them", "echo_idle"),
        (NO_ECHO | {"hold_until": "echo"}, "held until one", "hold_until"),
        (NO_ECHO | {"requests_in": 1}, "a queue can be full", "when_full"),
        (SLOTS | {"slot_bytes": 127}, "whole number of symbols", "slot"),
        (SLOTS | {"slot_bytes": 24}, "holds no data", "slot"),
        (SLOTS | {"forwarding": "store-and-forward"}, "without being stored", "forwarding"),
        (SLOTS | {"bandwidth_allocation": True}, "slots have none", "bandwidth_allocation"),
        ({"transactions": 0}, "at least 1", "transactions"),
        ({"request_header_bytes": 15}, "whole number of symbols", "request_header"),
        ({"echo_bytes": 64}, "longer than the shortest packet", "echo"),
        ({"bus_width_bytes": 0}, "at least 1", "bus.width"),
        ({"bus_rate_bits_per_s": 0}, "above zero", "bus.rate"),
        ({"bus_delay": 0}, "has no setting", "bus_delay"),
    ],
)
def test_refused(overrides: dict[str, Any], words: str, parameter: str) -> None:
    with pytest.raises(TechnologyError, match=words) as caught:
        ring_technology("sci-lc2", overrides)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("name", RINGS)
def test_presets_are_whole(name: str) -> None:
    ring = ring_technology(name)
    assert isinstance(ring, RingTechnology)
    assert ring.preset == name
    assert ring.transactions == {"rpr-10g": 4096, "noc-ring": 4096, "fddi": 4096}.get(name, 64)
    assert ring.flow_control == "ignored"


def test_the_schema_knows_every_preset() -> None:
    assert set(get_args(Section.model_fields["preset"].annotation)) == set(protocols())


@pytest.mark.parametrize("name", ["raw", "virtual-link", "pio", "dma"])
def test_every_setting_has_a_source(name: str) -> None:
    found = protocols()[name]
    shaper = ("shaper_rate_bits_per_s", "shaper_burst_bytes")
    beside = (
        "preset",
        "transaction",
        "by_size",
        "preset_file",
        "requirements",
        *shaper,
    )  # that no preset has
    settings = {n for n in Section.model_fields if n not in beside}
    assert set(protocol(name)) == {*settings, "preset"}
    for entry in found.entries.values():
        assert entry.kind in KINDS
        assert entry.source


def test_a_virtual_link_is_that_of_the_t9000() -> None:
    found = protocol("virtual-link")
    assert (found["packet_bytes"], found["packets_per_channel"], found["acknowledge"]) == (32, 1, "packet")


def test_small_packets_follow_the_others() -> None:
    """A packet size alone is meant for all, where the preset has none of its own for small messages."""
    assert protocol("raw", {"packet_bytes": 1000})["small_packet_bytes"] == 1000
    assert protocol("pio", {"packet_bytes": 256})["small_packet_bytes"] == 16
    assert protocol("pio", {"packet_bytes": 8})["small_packet_bytes"] == 8


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("raw", {"small_packet_bytes": 128}, "small_packet"),
    ("raw", {"receive_at_once": 1}, "receive_at_once"),
    ("pio", {"acknowledge_from": "head"}, "acknowledge_from"),
    ("raw", {"bit_error_rate": 1e-9}, "bit_error_rate"),
]


@pytest.mark.parametrize(("name", "overrides", "parameter"), WRONG)
def test_contradictions_are_refused(name: str, overrides: dict[str, Any], parameter: str) -> None:
    with pytest.raises(TechnologyError) as caught:
        protocol(name, overrides)
    assert caught.value.parameter == parameter


def test_units_of_other_rings() -> None:
    """1500 B with header and gap are 386 symbols of 4 B; a slot is one symbol, whatever is in it."""
    rpr, chip = ring_technology("rpr-10g"), ring_technology("noc-ring")
    assert (rpr.request_symbols(1500), rpr.echo_symbols, rpr.symbol_ps()) == (386, 0, 3200)
    assert (chip.request_symbols(1), chip.request_symbols(32), chip.symbol_ps()) == (1, 1, 1000)
    assert chip.mtu_bytes == 32
    assert rpr.legal_payloads_bytes == ()
