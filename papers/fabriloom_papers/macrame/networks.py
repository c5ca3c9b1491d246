"""The networks, traffic and run lengths of the testbed as scenarios. No number here comes from a result."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Scenario, sections

PRESET = "ds-link-c104"
NODES_PER_SWITCH = 16
LINKS_PER_EDGE = 4
LENGTH_BYTES = 64
"""Packet length of the paper wherever it does not vary it."""
CLOS_SIZES = (64, 128, 256, 512)
NODES_OF_A_SHORT_HEADER = 256
"""The number of nodes that one header byte can address; larger networks need two bytes. The STC104 supports
both.

The paper does not say which was used; its 57 % load for 1.35 GB/s fits both."""

DATA_BITS, CONTROL_BITS, QUANTUM = 10, 4, 8
LINK_MBITS_PER_S = 100


def header_bytes(nodes: int) -> int:
    """Return the length of the shortest header that can address every node."""
    return 1 if nodes <= NODES_OF_A_SHORT_HEADER else 2


def packet_bits(length_bytes: int, header: int) -> float:
    """Return the bits of a packet on a link busy both ways, with its share of flow control."""
    data = length_bytes + header
    return data * DATA_BITS + CONTROL_BITS + (data + 1) * CONTROL_BITS / QUANTUM


def node_mbytes_per_s(nodes: int, length_bytes: int = LENGTH_BYTES) -> float:
    """Return the payload rate of a node's link with packets back to back: load 100 %."""
    return LINK_MBITS_PER_S * length_bytes / packet_bits(length_bytes, header_bytes(nodes))


def link_mbytes_per_s() -> float:
    """Return the limit for long packets: the paper's maximum link bandwidth."""
    return LINK_MBITS_PER_S / (DATA_BITS + CONTROL_BITS / QUANTUM)


def clos(nodes: int) -> dict[str, Any]:
    """Return a folded Clos of the paper, 64 to 512 nodes."""
    return {"kind": "clos", "terminals": nodes}


def clos_sizes(effort: Effort) -> list[int]:
    """Return the numbers of nodes of these."""
    return effort.choose(CLOS_SIZES, (64, 256, 512))


def grid(side: int) -> dict[str, Any]:
    """Return a square grid of ``side`` x ``side`` switches."""
    return {
        "kind": "grid",
        "shape": [side, side],
        "terminals_per_switch": NODES_PER_SWITCH,
        "links_per_edge": LINKS_PER_EDGE,
    }


def torus(side: int) -> dict[str, Any]:
    """Return a square torus of ``side`` x ``side`` switches."""
    return grid(side) | {"kind": "torus"}


def nodes(topology: dict[str, Any]) -> int:
    """Return the number of nodes of a network of this module."""
    if topology["kind"] == "clos":
        return topology["terminals"]
    return topology["shape"][0] * topology["shape"][1] * topology["terminals_per_switch"]


def load_of(topology: dict[str, Any], mbytes_per_s: float) -> float:
    """Return a throughput as the paper's load: a fraction of the nodes' links for packets of 64 bytes."""
    count = nodes(topology)
    return mbytes_per_s / (count * node_mbytes_per_s(count))


def _routing(topology: dict[str, Any], adaptive: bool) -> dict[str, Any]:
    if topology["kind"] == "clos" and not adaptive:
        # Each link gets consecutive destinations, which the interval labels of the STC104 can express.
        return {"kind": "up-down", "adaptive": False, "spread": "runs"}
    if topology["kind"] == "clos":
        return {"kind": "up-down", "adaptive": True}
    if topology["kind"] == "torus":
        return {"kind": "dimension-order", "variant": "no-edge-transit", "adaptive": adaptive}
    return {"kind": "dimension-order", "adaptive": adaptive}


def scenario(
    topology: dict[str, Any],
    *,
    load: float | None = None,
    length_bytes: int = LENGTH_BYTES,
    pattern: Any = "uniform",
    adaptive: bool = True,
    technology: dict[str, Any] | None = None,
    warmup_ms: float,
    measure_ms: float,
    seed: int = 1,
) -> Scenario:
    """Return one run. ``load`` is nominal: the load of the average wait between packets if nothing were
    blocked.

    A traffic node processes descriptors (destination, length, wait): it sends the next packet when the last
    has left and its wait is over. Without waits (``load`` None) a packet is always ready: saturation.
    """
    shape = "x".join(str(n) for n in topology.get("shape", [nodes(topology)]))
    written = {"preset": PRESET, "header": f"{header_bytes(nodes(topology))} B"} | (technology or {})
    traffic: dict[str, Any] = {"pattern": pattern, "length": f"{length_bytes} B"}
    traffic |= {"arrivals": "backlog"} if load is None else {"arrivals": "random-wait", "load": load}
    at = "saturation" if load is None else f"load {load:.4g}"
    return {
        "name": f"{topology['kind']} {shape}, {length_bytes} B, {at}",
        "seed": seed,
        "topology": topology,
        "technology": written,
        "routing": _routing(topology, adaptive),
        "traffic": traffic,
        **sections(warmup_ms, measure_ms),
    }


def run_times(effort: Effort, topology: dict[str, Any], length_bytes: int = LENGTH_BYTES) -> dict[str, float]:
    """Return warm-up and measuring time: grids carry less and settle later than Clos networks."""
    stretch = (
        max(1.0, length_bytes / 128)
        if length_bytes >= LENGTH_BYTES
        else max(0.25, length_bytes / LENGTH_BYTES)
    )
    slow = 1.0 if topology["kind"] == "clos" else 3.0
    return {
        "warmup_ms": effort.time_ms(1.0, 0.5) * slow * max(1.0, stretch),
        "measure_ms": effort.time_ms(8.0, 1.5) * slow * stretch,
    }


def saturated(effort: Effort, topology: dict[str, Any], **settings: Any) -> Scenario:
    """Return a run in which every node always has a packet ready."""
    length = settings.get("length_bytes", LENGTH_BYTES)
    return scenario(topology, **run_times(effort, topology, length), **settings)
