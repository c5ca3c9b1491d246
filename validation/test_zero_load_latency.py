"""The latency of a packet that meets no other, by the formula of the wormhole model, exactly.

With characters of ``c``, an end of packet of ``e``, a header of ``h``, ``n`` characters in all, ``arr``
from the start of a character until it can be used, ``dec`` to decode and ``fwd`` to the output, a header
that goes through ``k`` switches starts on the last link ``k (arr + (max(h, 1) - 1) c + dec + fwd)`` after
it started on the first one. The other characters follow without a gap, and the end of packet is received
``e + arr - c`` after it started.

Exact: there is no false alarm.
"""

from __future__ import annotations

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
