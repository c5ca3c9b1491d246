"""The parts of the study's ring: inputs of the model, and counts."""

from __future__ import annotations

from typing import Any

from fabriloom.technology import ring_technology
from fabriloom.topology import build

from ..lab import Findings, Lab
from ..published import Number, numbers
from ..rows import exact, inputs, reported
from . import networks


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
    return inputs(printed, ours)


def _counts(printed: dict[str, Number]) -> list[dict[str, Any]]:
    three, nine = (build(**networks.four_rings(ratio)).own_rings for ratio in networks.RATIOS)
    limit = "SCI's numbers of 16 bits; larger networks are refused"
    values = {
        "senders-3": len(three.partner) / three.rings,
        "receivers-3": three.ports / three.rings,
        "nodes-3": int((three.station_ring == 0).sum()),
        "senders-9": len(nine.partner) / nine.rings,
        "switch-ports": three.ports,
        "switch-share": 100 / three.rings,
    }
    return [*exact(printed, values), reported(printed["nodes-most"], 64.0, limit)]
