"""The parts of the simulated systems: inputs of the model, counts on the networks as built, and sums."""

from __future__ import annotations

from math import nan
from typing import Any

from fabriloom.technology import RingTechnology, ring_technology
from fabriloom.topology import build
from fabriloom.topology.rings import Rings

from ..lab import Findings, Lab
from ..published import Number, numbers
from ..rows import exact, inputs, noted
from . import networks

WORDS = "an expectation put into words, of no exact value"
BANYANS = ("baseline", "omega", "flip", "butterfly", "indirect-cube", "generalized-cube")
MIRRORS = ("flip", "indirect-cube")


def findings(_lab: Lab) -> Findings:
    """Return one row per printed part."""
    printed = numbers("scinet")
    return Findings(rows=[*_inputs(printed), *_counts(printed), *_sums(printed), *_words(printed)])


def _inputs(printed: dict[str, Number]) -> list[dict[str, Any]]:
    tech = ring_technology(networks.PRESET)
    ours = {
        "bus-rate": tech.bus_rate_bits_per_s / 8e6,
        "port-rate": tech.link_rate_bits_per_s / 8e6,
        "locality": 100,
        "input-most": networks.LINK_MBYTES_PER_S,
        "payload": networks.PAYLOAD_BYTES,
        "overhead": tech.request_header_bytes,
        "idles": tech.send_idle_bytes,
        "memory-access": tech.memory_block_ps / 1000,
        "link-delay": tech.cable_ps() / 1000,
        "decode": tech.decode_latency_ps / 1000,
        "bypass": _pass_ns(tech),
        "fifo-to-bus": tech.receive_latency_ps / 1000,
        "bus-to-fifo": tech.transmit_latency_ps / 1000,
        "places": tech.requests_in,
        "port-queues": 2,
        "second-grade-base": networks.SECOND_GRADE["base"],
        "ringlet-senders": networks.senders(networks.RINGLET_SWITCH),
        "ringlet-loss-input": 1000,
        "long-4-loss-input": 2000,
        "omega-input-most": 8000,
    }
    return inputs(printed, ours)


def _pass_ns(tech: RingTechnology) -> float:
    """Return the time from the in to the out terminals of a port, with the address decoder."""
    return (tech.decode_latency_ps + tech.bypass_latency_ps) / 1000


def _counts(printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Compare ports, rings and nodes as built; costs are ports, "the dominant cost factor"."""
    ringlet, two, four = map(_built, (networks.RINGLET_SWITCH, networks.LONG_2, networks.LONG_4))
    omega, first, second = map(_built, (networks.OMEGA, networks.FIRST_GRADE, networks.SECOND_GRADE))
    doubled = _built(networks.LONG_4 | {"pairs_per_ring": 2})
    ports = {"omega": omega.ports, "first": first.ports, "second": second.ports}
    straight = [kind for kind in BANYANS if closes(kind)]
    values = {
        "switch-ports": ringlet.ports,
        "switch-rings-most": ringlet.rings,
        "switch-rings-least": two.rings,
        "rings-before": ringlet.rings,
        "rings-after": two.rings,
        "ports-before": ringlet.ports,
        "ports-after": two.ports,
        "nodes-doubled": len(four.partner) / len(ringlet.partner),
        "nodes-doubled-again": len(doubled.partner) / len(four.partner),
        "network-size": len(omega.partner) / 2,
        "ports-ringlet": ports["omega"],
        "ports-first-grade": ports["first"],
        "ports-second-grade": ports["second"],
        "ports-halved": 100 * ports["second"] / ports["first"],
        "first-costs": 100 * ports["first"] / ports["omega"],
        "second-costs": 100 * ports["second"] / ports["first"],
        "second-costs-ringlet": 100 * ports["second"] / ports["omega"],
        "banyan-switch-costs": 100 * _baseline_ports("long-ring") / _baseline_ports("ringlet"),
        "banyan-closing": len(straight),
        "banyan-closing-two": len([kind for kind in straight if kind not in MIRRORS]),
    }
    return exact(printed, values)


def closes(variant: str) -> bool:
    """Return whether the long rings of a Banyan close without a permutation between outputs and inputs."""
    return bool(build(**(networks.FIRST_GRADE | {"variant": variant})).layout["closes_without_wiring"])


def _baseline_ports(wiring: str) -> int:
    return _built(networks.OMEGA | {"variant": "baseline", "wiring": wiring}).ports


def _built(topology: networks.Topology) -> Rings:
    return build(**topology).own_rings


def _sums(printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Compare what follows from the rates alone."""
    bus, port = (float(printed[key]["value"]) for key in ("bus-rate", "port-rate"))
    length = sum(float(printed[key]["value"]) for key in ("payload", "overhead", "idles"))
    values = {
        "unit-length": length,
        "pair-rest": bus - port,
        "pairs-duplex": bus / 4,
        "pair-most": min(bus, port),
    }
    return exact(printed, values)


def _words(printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Report statements in words, with what the model gives."""
    bypass = _pass_ns(ring_technology(networks.PRESET))
    notes = {
        "bypass-bound": (bypass, "a bound; the model's bypass FIFO is the 48 ns of section 6.8"),
        "banyan-bypass-ns": (bypass, "some tens of ns; the model's is the 48 ns of section 6.8"),
        "banyan-cross-us": (nan, f"{WORDS}; see the latency of the ringlet networks"),
        "banyan-latency-orders": (nan, f"{WORDS}; the latencies that are printed fall by a factor of four"),
        "conventional-bound": (nan, "the symbol of a formula; other switches are not simulated here"),
        "conventional-duplex-bound": (nan, "the symbol of a formula; other switches are not simulated here"),
        "long-latency-above-orders": (nan, "see the latencies above saturation"),
        "second-latency-orders": (nan, "see the latencies above saturation"),
        "extrapolated-size": (nan, "a remark; only the size of 16 has printed results"),
    }
    return noted(printed, notes)
