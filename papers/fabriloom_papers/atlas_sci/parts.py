"""The machines of the note: inputs of the model, counts on the switch as built, sums, statements."""

from __future__ import annotations

from math import nan
from typing import Any

from fabriloom.technology import protocol, ring_technology
from fabriloom.topology import build
from fabriloom.topology.sci_switch import EXPANSION_BITS_PER_S, USER_BITS_PER_S

from ..lab import Findings, Lab, Scenario, between_us
from ..published import Number, numbers
from ..rows import calibrated, exact, inputs, near, noted, predicted, predictions, reported
from . import bx, hosts, switch, tables

OUTSIDE = "not of the model"
SETUP = "technology.bus.setup"
WORDS = "said in words of tables that are here cell by cell"
BARRIER_SIZE_BYTES = 64


def findings(lab: Lab) -> Findings:
    """Return one row per printed part; the latencies of switch and barrier take one run each."""
    printed = numbers("atlas-sci")
    return Findings(
        rows=[
            *inputs(printed, _inputs()),
            *(reported(printed[key], nan, OUTSIDE) for key in _OUTSIDE),
            *_exact(printed),
            *_switch(printed),
            *_latencies(lab, printed),
            *noted(printed, _WORDS),
        ]
    )


def _inputs() -> dict[str, float]:
    alpha, card = ring_technology("sci-lc1-alpha"), ring_technology("sci-lx-d310")
    short, long = hosts.STORES_BYTES
    outstanding = dict(zip(("first", "second", "third", "fourth"), (1, 2, 4, 8), strict=True))
    return {
        "lc1-link-rate": alpha.link_rate_bits_per_s / 8e6,
        "lc2-link-rate": card.link_rate_bits_per_s / 8e6,
        "store-short": short,
        "store-long": long,
        "latency-divisor": 2,
        "alpha-nodes": 4,
        **{f"outstanding-{key}": value for key, value in outstanding.items()},
        "outstanding-used": protocol("pio-alpha")["packets_at_once"],
        "raw-nodes": 2,
        "raw-throughput-message": 64,
        "raw-latency-message": 64,
        "ping-pong-pairs": 2,
        "all-to-all-gain-from": 2,
        "all-to-all-gain-to": 3,
        "all-to-all-nodes": 4,
        "all-to-all-sources": 3,
        "all-to-all-destinations": 3,
        "pentium-2-clock": bx.SLOW_MHZ,
        "pentium-3-clock": bx.FASTEST_MHZ,
        "pentium-2-faster-clock": 400,
        "gathered-packet": hosts.TRANSACTION_BYTES,
        "d321-streams": protocol("pio-bx-d321")["packets_at_once"],
        "message-least": 8,
        "message-most": 4,
        "node-output-senders": 4,
        "node-input-senders": 6,
        "port-ringlet-nodes": len("ABCD"),
        "port-other-nodes": len("EFGHI"),
        "port-same-module": len("EFGH"),
        "port-alone": len("EF"),
        "port-together": len("GH"),
        "port-other-module": len("I"),
        "port-pairs": len("ABCD"),
        "user-port-rate": USER_BITS_PER_S / 8e6,
        "expansion-port-rate": EXPANSION_BITS_PER_S / 8e6,
        "bus-rate": card.bus_rate_bits_per_s / 8e6,
        "transaction": hosts.TRANSACTION_BYTES,
        "pairs": switch.PAIRS,
        "processors": 2 * switch.PAIRS,
        "loaded-modules": 2,
        "receiving-modules": 2,
    }


_OUTSIDE = (
    *("alpha-clock", "alpha-memory", "d321-pci-width", "lx-processors", "lookup-tables"),
    *("module-link-controllers", "port-ring-nodes", "nominal-modules", "boards-upgraded", "modules-changed"),
)


def _exact(printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Return counts on the switch as built, and sums of its rates."""
    module, whole = build("sci-module").own_rings, build("sci-switch-16").own_rings
    full = build("sci-module", terminals_per_expansion_ring=1).own_rings
    names = sorted(set(whole.ring_names))
    joining = [name for name in names if name.startswith("expansion")]
    modules = len(whole.port_start) - 1
    expansion = len({name.split(",")[1] for name in joining})
    values = {
        "module-user-ports": module.rings,
        "module-expansion-ports": full.rings - module.rings,
        "module-ports": full.ports,
        "module-buses": int(module.bus_count[0]),
        "switch-ports": whole.rings - len(joining),
        "switch-modules": modules,
        "switch-user-modules": modules - expansion,
        "switch-expansion-modules": expansion,
        "crossed-modules": expansion,
        "loaded-half": 100 * 2 / (modules - expansion),
        "switch-layers": 2,
        "payload-interleaved": int(module.bus_count[0]) * _bus_mbytes_per_s(answered=True),
    }
    return exact(printed, values)


def _bus_mbytes_per_s(answered: bool) -> float:
    """Return the payload rate of a bus of the switch, for requests, or for requests with their responses."""
    tech = ring_technology("sci-lc2")
    request_ps = tech.bus_transfer_ps(tech.request_header_bytes + hosts.TRANSACTION_BYTES)
    response_ps = tech.bus_transfer_ps(tech.response_header_bytes) if answered else 0
    return hosts.TRANSACTION_BYTES / (request_ps + response_ps) * 1e6


def _switch(printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Compare the rates of a bus with requests only, and the port-to-port time of a header."""
    tech = ring_technology("sci-lc2")
    requests = _bus_mbytes_per_s(answered=False)
    header_ns = tech.receive_ps + tech.bus_transfer_ps(tech.request_header_bytes) + tech.transmit_ps
    header_ns = float(header_ns + tech.decode_latency_ps) / 1000
    one_bus = ("payload-requests", "nominal-module", "loaded-bus", "theoretical-module")
    buses = [*((key, 1) for key in one_bus), ("theoretical-total", 2)]
    ways = {"port-to-port": (header_ns, 0.05), "port-to-port-worst": (2 * header_ns, 0.05)}
    rates = [calibrated(printed[key], n * requests, near(printed[key], 0.01), SETUP) for key, n in buses]
    return [*rates, *predictions(printed, ways)]


def _latencies(lab: Lab, printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Compare what a barrier adds to half a ping-pong, and what a switch module adds to a latency."""
    cell = tables.Cell(7, BARRIER_SIZE_BYTES, 8, max(hosts.STORES_BYTES))
    barrier = tables.scenario(cell)
    runs = [
        barrier,
        _half_and_half(barrier),
        bx.ping_pong(BARRIER_SIZE_BYTES),
        bx.ping_pong(BARRIER_SIZE_BYTES, connection="across-3-modules"),
    ]
    with_us, both_us, direct_us, across_us = lab.each(between_us, runs)
    added_us = (across_us - direct_us) / 2 / 3
    return [
        predicted(printed["barrier-excess"], with_us - both_us / 2, (0.5, 1.5)),
        predicted(printed["module-delay"], added_us, (0.3, 3.0)),
    ]


def _half_and_half(barrier: Scenario) -> Scenario:
    """Return a ping-pong of the same hosts."""
    there, back = ([f"send {to} {BARRIER_SIZE_BYTES} B"] for to in ("t1", "t0"))
    programs = {"t0": ["mark", *there, "receive t1", "mark"], "t1": ["receive t0", *back]}
    return hosts.scenario(
        "ping-pong of LX", programs, protocol=barrier["protocol"], technology=barrier["technology"]
    )


_WORDS = {
    "lc1-bandwidth": (nan, "of all cards of that kind, up to about; see the raw 45 MB/s"),
    "clock-independent-size": (nan, WORDS),
    "clock-independent-clock": (nan, WORDS),
}
