"""The latency of a packet that meets no other, by the formula of the wormhole model, exactly.

With characters of ``c``, an end of packet of ``e``, a header of ``h``, ``n`` characters in all, ``arr``
from the start of a character until it can be used, ``dec`` to decode and ``fwd`` to the output, a header
that goes through ``k`` switches starts on the last link ``k (arr + (max(h, 1) - 1) c + dec + fwd)`` after
it started on the first one. The other characters follow without a gap, and the end of packet is received
``e + arr - c`` after it started.

Exact: there is no false alarm.

What a run says of a network near a known limit: the full link of a ring, a grid and a Clos network.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom.technology import Technology
from support import PRESETS, preset, simulate


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
