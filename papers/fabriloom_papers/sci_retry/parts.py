"""The parts of the study's ring: inputs of the model, and counts."""

from __future__ import annotations

from typing import Any

from fabriloom.technology import ring_technology
from fabriloom.topology import build
from fabriloom.topology.rings import Rings

from ..lab import Findings, Lab
from ..published import Number, numbers
from ..rows import arithmetic, near, reported
from . import networks

INPUT = "an input of the model"


def findings(_lab: Lab) -> Findings:
    """Return one row per printed part."""
    printed = numbers("sci-retry")
    return Findings(rows=_inputs(printed) + _counts(printed))


def _inputs(printed: dict[str, Number]) -> list[dict[str, Any]]:
    tech = ring_technology(networks.PRESET)
    ours = {
        "link-rate": tech.link_rate_bits_per_s / 8e6,
        "bypass": tech.bypass_latency_ps / 1000,
        "bus-to-ring": tech.transmit_latency_ps / 1000,
        "ring-to-bus": tech.receive_latency_ps / 1000,
        "cable-delay": tech.cable_delay_ps_per_m / 1000,
        "encapsulation": tech.bus_encapsulation_bytes,
        "strategies": len(networks.STRATEGIES),
        "linear-first": 1,
        "exponential-base": 2,
    }
    return [reported(printed[key], value, INPUT) for key, value in ours.items()]


def _counts(printed: dict[str, Number]) -> list[dict[str, Any]]:
    three, nine = (_built(networks.four_rings(ratio)) for ratio in networks.RATIOS)
    limit = "SCI's numbers of 16 bits; larger networks are refused"
    values = {
        "senders-3": len(three.partner) / three.rings,
        "receivers-3": three.ports / three.rings,
        "nodes-3": int((three.station_ring == 0).sum()),
        "senders-9": len(nine.partner) / nine.rings,
        "switch-ports": three.ports,
        "switch-share": 100 / three.rings,
    }
    rows = [arithmetic(printed[key], float(value), near(printed[key], 0.0)) for key, value in values.items()]
    return [*rows, reported(printed["nodes-most"], 64.0, limit)]


def _built(topology: dict[str, Any]) -> Rings:
    """Return the rings of a network of this paper."""
    rings = build(**topology).rings
    assert rings is not None
    return rings
