"""What can be said about a network of rings before it runs: its rings, ports and buses, and its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import Compiled, RingParts


def network(compiled: Compiled, parts: RingParts, length_bytes: float) -> dict[str, Any]:
    """What is told of networks of rings; ``length_bytes`` is the mean payload of a packet."""
    tech = parts.technology
    request, response = (int(size(round(length_bytes))) for size in (tech.request_bytes, tech.response_bytes))
    over_bus_ps = tech.bus_transfer_ps(request) + (tech.bus_transfer_ps(response) if response else 0)
    return {
        "network": _counted(parts),
        "link": {
            "payload_mbytes_per_s": tech.payload_bytes_per_s(round(length_bytes)) / 1e6,
            "mean_packet_bytes": length_bytes,
        },
        "bus": {"payload_mbytes_per_s": length_bytes / over_bus_ps * 1e6},
        "channel_load": _channel_load(compiled, parts),
    }


def _counted(parts: RingParts) -> dict[str, Any]:
    """Rings, stations, switches, ports, buses."""
    graph, rings = parts.graph, parts.rings
    sizes = np.bincount(rings.station_ring, minlength=rings.rings)
    return {
        "family": graph.family,
        "switches": graph.switches,
        "terminals": graph.terminals,
        "rings": rings.rings,
        "stations": rings.stations,
        "stations_on_a_ring_min": int(sizes.min()),
        "stations_on_a_ring_max": int(sizes.max()),
        "switch_ports": rings.ports,
        "buses": int(rings.bus_count.sum()),
    }


def _channel_load(compiled: Compiled, parts: RingParts) -> dict[str, Any]:
    return {"busiest_link": None, "load": 0.0, "load_bound": None, "accepted_mbytes_per_s_bound": None}


def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same as lines for reading."""
    counted, link, bus = found["network"], found["link"], found["bus"]
    payload = f"{link['payload_mbytes_per_s']:.4g} MB/s of payload"
    low, high = counted["stations_on_a_ring_min"], counted["stations_on_a_ring_max"]
    size = f"{high}" if low == high else f"{low} to {high}"
    switches = (
        f"{counted['switches']:,} with {counted['switch_ports']:,} ports and {counted['buses']:,} buses"
    )
    return [
        ("network", f"{counted['family']}: {counted['terminals']:,} terminals"),
        ("rings", f"{counted['rings']:,} of {size} stations each, {counted['stations']:,} stations in all"),
        ("switches", switches if counted["switches"] else "none"),
        (
            "one link",
            f"{payload} in requests of {link['mean_packet_bytes']:g} B",
        ),
        *(
            [("one bus", f"{bus['payload_mbytes_per_s']:.4g} MB/s of payload, responses included")]
            if counted["switches"]
            else []
        ),
    ]
