"""The latency of a packet that meets no other, by the formula of the wormhole model, exactly.

With characters of ``c``, an end of packet of ``e``, a header of ``h``, ``n`` characters in all, ``arr``
from the start of a character until it can be used, ``dec`` to decode and ``fwd`` to the output, a header
that goes through ``k`` switches starts on the last link ``k (arr + (max(h, 1) - 1) c + dec + fwd)`` after
it started on the first one. The other characters follow without a gap, and the end of packet is received
``e + arr - c`` after it started.

Exact: there is no false alarm.

What a run says of a network near a known limit: the full link of a ring, a grid and a Clos network.

What a link carries, exactly: the arithmetic of the characters, and the engine's spacing of packets.

Exact: there is no false alarm. Matched flow control is held against characters sent one by one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import _native, compile
from fabriloom.scenario import Scenario
from fabriloom.technology import Technology
from support import PRESETS, deliveries, preset, simulate


def zero_load_ps(tech: Technology, length_bytes: int, switches: int) -> int:
    """The formula above; with header deletion the last link carries the packet without its header."""
    character, arrival = tech.character_ps(), tech.arrival_ps()
    header = max(tech.header_chars, 1)
    characters = tech.header_chars + tech.payload_chars(length_bytes) + 1
    head = switches * (arrival + (header - 1) * character + tech.decode_latency_ps + tech.forward_latency_ps)
    if tech.delete_header:
        # The next character may come only after the header it follows has been decoded and dropped.
        characters -= tech.header_chars
        head += max(0, character - tech.decode_latency_ps)
    return head + (characters - 1) * character + tech.end_ps() + arrival - character


def line(switches: int, technology: dict, length_bytes: int) -> dict:
    """Terminal 0 sends to the terminal at the other end of a row of switches, one packet at a time."""
    terminals = 2 if switches == 1 else 1
    return {
        "name": f"{switches} switches in a row",
        "seed": 1,
        "topology": {
            "kind": "grid",
            "shape": [switches],
            "terminals_per_switch": terminals,
            "links_per_edge": 1,
        },
        "technology": technology | ({} if technology["preset"] == "generic" else {"flow_control": "average"}),
        "traffic": {
            "pattern": {"kind": "shift", "by": max(switches - 1, 1)},
            "length": f"{length_bytes} B",
            "arrivals": {"kind": "wait", "wait": "1 ms"},
            "senders": [0],
        },
        "run": {"duration": "20 ms", "warmup": "0 ns", "precision": 0, "packets": 4},
    }


def check(technology: dict, tech: Technology, length_bytes: int, switches: int) -> None:
    """Every packet takes the same, predicted time."""
    results = simulate(line(switches, technology, length_bytes))
    assert results.native["measured_packets"] >= 4
    seen = np.array([results.native[f"latency_{end}_ticks"] for end in ("min", "max")]) * results.tick_ps
    assert seen.tolist() == [zero_load_ps(tech, length_bytes, switches)] * 2


@pytest.mark.parametrize("switches", range(1, 6))
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_over_one_to_five_switches(name: str, switches: int) -> None:
    """From a packet shorter than any buffer to one that fills the whole path."""
    for length_bytes in (8, 64, 1000):
        check({"preset": name}, preset(name), length_bytes, switches)


@pytest.mark.parametrize("switches", [1, 3])
@pytest.mark.parametrize("decode_ps", [0, 20_000, 800_000])
def test_header_deletion(switches: int, decode_ps: int) -> None:
    """A header deleted on the way out shortens the last link's packet."""
    from fabriloom.technology import technology

    written = {"preset": "ds-link-c104", "delete_header": True, "decode_latency": f"{decode_ps} ps"}
    tech = technology("ds-link-c104", {"delete_header": True, "decode_latency_ps": decode_ps})
    check(written, tech, 64, switches)


TO_ONE = {"kind": "hot-spot", "target": 0, "share": 1.0}
NETWORKS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], float, float]] = {
    "ring": (
        {"kind": "sci-ring", "terminals": 6},
        {},
        {"pattern": {"kind": "shift", "by": 1}, "source_queue": 0},
        0.2902,
        608.0,
    ),
    "grid": (
        {"kind": "grid", "shape": [3, 3]},
        {"preset": "generic"},
        {"pattern": TO_ONE, "length": "128 B", "senders": list(range(1, 9))},
        0.125,
        16.0,
    ),
    "clos": (
        {"kind": "clos", "terminals": 32},
        {"preset": "ds-link-c104"},
        {"pattern": TO_ONE, "length": "64 B", "senders": list(range(1, 32))},
        0.03416,
        6642.0,
    ),
}
"""Topology, technology and traffic; the load that fills a link; and the ns of a packet on that link.

The ring by its bytes: for each packet a link carries one request of 88 B, six echoes of 16 B and five
responses of 24 B, together 304 B at 500 MB/s. The others were measured with sources that always send."""


def keeps_up(name: str, share: float, packets: int, seed: int) -> bool | None:
    """Run a network at a share of its limit while this number of packets passes over the full link."""
    topology, technology, traffic, limit, packet_ns = NETWORKS[name]
    given = {
        "seed": seed,
        "topology": topology,
        "technology": technology,
        "traffic": {**traffic, "arrivals": "poisson", "load": share * limit},
        "run": {
            "duration": f"{packets * packet_ns:.0f} ns",
            "warmup": f"{packets * packet_ns / 10:.0f} ns",
            "precision": 0.0,
        },
    }
    found: bool | None = simulate(given).summary["keeps_up"]
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_near_its_limit_is_called_neither_past_it_nor_below_by_chance(name: str) -> None:
    """Five runs of 3000 packets at each of six loads; seeds 0 to 4.

    At 0.98 of the limit and below, 1 run in 100 at most is said to be past it; at 1.02 and above, 1 in 100 is
    said to keep up. False alarms: two of fifteen have a chance of 1 in 100 at these rates; none was seen in
    720 runs.
    """
    below = [keeps_up(name, share, 3000, seed) for share in (0.9, 0.95, 0.98) for seed in range(5)]
    above = [keeps_up(name, share, 3000, seed) for share in (1.02, 1.05, 1.1) for seed in range(5)]
    assert below.count(False) <= 1
    assert above.count(True) <= 1
    assert below.count(True) >= 1
    assert above.count(False) >= 3


@pytest.mark.parametrize("name", NETWORKS)
def test_half_of_a_limit_is_carried(name: str) -> None:
    """Nine of ten runs of 3000 packets say so; measured: 128 of 130."""
    assert sum(keeps_up(name, 0.5, 3000, seed) is True for seed in range(10)) >= 9


@pytest.mark.parametrize("name", NETWORKS)
def test_a_short_run_cannot_tell(name: str) -> None:
    """300 packets at 0.98 of the limit: 1 of 300 runs said that the network keeps up, none the contrary."""
    assert [keeps_up(name, 0.98, 300, seed) for seed in range(5)].count(None) >= 4


LENGTHS_BYTES = (1, 8, 32, 64, 1000)


def test_ds_link_limit_both_ways() -> None:
    """8 bytes take 8 x 10 bits and one flow-control character of 4: 100/84 MB/s x 8 = 9.524 MB/s."""
    limit = Fraction(100 * 8, 84)
    assert preset("ds-link-c104").data_bytes_per_s() == pytest.approx(float(limit * 10**6), rel=1e-12)
    assert round(float(limit), 3) == 9.524
    assert round(float(256 * limit) / 1000, 2) == 2.44
    assert round(float(32 * limit)) == 305


def test_space_wire_limit_both_ways() -> None:
    """The same characters at 200 Mbit/s: 19.05 MB/s."""
    limit = Fraction(200 * 8, 84)
    assert preset("spacewire-200").data_bytes_per_s() == pytest.approx(float(limit * 10**6), rel=1e-12)
    assert round(float(limit), 2) == 19.05


@pytest.mark.parametrize("length_bytes", LENGTHS_BYTES)
@pytest.mark.parametrize("name", ["ds-link-c104", "spacewire-200"])
def test_packet_time(name: str, length_bytes: int) -> None:
    """Bits of header and payload and of the end of packet, and half a bit of flow control for each."""
    tech = preset(name)
    data = length_bytes + tech.header_chars
    bits = 10 * data + 4 + Fraction(4, 8) * (data + 1)
    assert tech.packet_ps(length_bytes) == bits * 10**12 / tech.link_rate_bits_per_s


def back_to_back(name: str, length_bytes: int, flow_control: str = "average") -> dict:
    """One terminal always has a packet for the other on the same switch."""
    return {
        "name": "back to back",
        "seed": 1,
        "topology": {"kind": "crossbar", "terminals": 2},
        "technology": {"preset": name, "flow_control": flow_control},
        "traffic": {
            "pattern": {"kind": "shift", "by": 1},
            "length": f"{length_bytes} B",
            "arrivals": "backlog",
            "senders": [0],
        },
        "run": {"duration": "50 ms", "warmup": "0 ns", "precision": 0, "packets": 100},
        "output": {"trace": True},
    }


@pytest.mark.parametrize("length_bytes", [32, 64, 1000])
def test_a_fast_crossbar_hides_the_decoding(length_bytes: int) -> None:
    """Behind a DS-Link switch packets follow each other as closely as the wire allows."""
    results = simulate(back_to_back("ds-link-c104", length_bytes))
    spacing = np.diff(deliveries(results)["delivered"])
    assert set(spacing[10:].tolist()) == {preset("ds-link-c104").packet_ps(length_bytes)}


@pytest.mark.parametrize("length_bytes", [32, 64, 1000])
def test_a_crossbar_at_link_rate_adds_the_decoding(length_bytes: int) -> None:
    """With a crossbar at the rate of the link, header decoding stands between two packets.

    Every character takes ``c`` through the crossbar, then the next header, there already, is decoded: ``n c
    + dec``. Flow control is ignored, or the wire would be slower than the crossbar, which carries none.
    """
    tech = preset("spacewire-200")
    results = simulate(back_to_back("spacewire-200", length_bytes, "ignored"))
    spacing = np.diff(deliveries(results)["delivered"])
    characters = tech.header_chars + tech.payload_chars(length_bytes) + 1
    assert set(spacing[10:].tolist()) == {characters * tech.crossbar_ps + tech.decode_latency_ps}


def _scenario(flow_control: str) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 8, "links_per_edge": 4},
            "technology": {"preset": "ds-link-c104", "header": "1 B", "flow_control": flow_control},
            "traffic": {"arrivals": "random-wait", "load": 0.5},
            "run": {"duration": "8 ms", "warmup": "1 ms", "precision": 0},
        }
    )


def test_matched_is_close_to_exact() -> None:
    """Mean latency and throughput within 2 % of the twin that sends every flow-control character.

    Both runs have the same seed but not the same packets, so statistics count: with about 10 000 packets
    the standard error of either mean is 0.5 %; false alarms are below one in a thousand, and with fixed
    seeds there are none.
    """
    results = fabriloom.run(_scenario("matched"))
    assert 0 < results.summary["reverse_load"] < 1
    arrays = compile.compile(_scenario("ignored")).arrays
    nominal = compile.compile(_scenario("average")).arrays
    arrays["source_interval_grains"] = nominal["source_interval_grains"]
    tick_ns = arrays["tick_ps"] / 1000
    exact = _native.run_twin(arrays, True, int(8e6 / tick_ns))
    counted = exact["trace_delivered_ticks"] > 1e6 / tick_ns
    latency = (exact["trace_delivered_ticks"] - exact["trace_started_ticks"])[counted].mean() * tick_ns
    accepted = float(np.asarray(exact["trace_length"])[counted].sum()) / 7e-3 / 1e6
    assert abs(results.summary["latency_ns"]["mean"] / latency - 1) < 0.02
    assert abs(results.summary["accepted_mbytes_per_s"] / accepted - 1) < 0.02
