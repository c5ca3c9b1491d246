"""What links, buses and memories of rings carry, and which of them is full first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import RingParts
from ..routing.even import ring_loads
from ..routing.rings import RingLoads
from ..technology.rings import SYMBOL_BYTES
from ..topology import Graph
from ..traffic import Demand


def bound_of(parts: RingParts, demand: Demand, length_bytes: float) -> dict[str, Any]:
    """Return the link, bus or memory that is full first under a demand, and the load at which it is."""
    loads = ring_loads(parts.graph, parts.port_route, demand.pairs, demand.even)
    return bound(parts, loads, demand, length_bytes)


def bound(parts: RingParts, loads: RingLoads, demand: Demand, length_bytes: float) -> dict[str, Any]:
    """Return the link, bus or memory that is full first, and the throughput at which it is.

    Loads are relative: the busiest source sends one packet per unit of time.
    """
    busy = busy_ps(parts, loads, demand, length_bytes)
    name, most_ps = max(
        ((what, float(times.max(initial=0.0))) for what, times in busy.items()), key=lambda pair: pair[1]
    )
    if most_ps <= 0:
        return {"busiest_link": None, "load": 0.0, "load_bound": None, "accepted_mbytes_per_s_bound": None}
    place, graph = int(np.argmax(busy[name])), parts.graph
    symbols = (parts.technology.request_bytes(length_bytes) + parts.technology.send_idle_bytes) / SYMBOL_BYTES
    sent = demand.sent()
    sending = graph.terminal_out_links[sent > 0]
    unit_ps = symbols * float(parts.times_ps["character"][sending].min())
    return {
        "busiest_link": names_of(graph, name)[place],
        "load": most_ps / unit_ps,
        "load_bound": min(1.0, unit_ps / most_ps),
        "accepted_mbytes_per_s_bound": float(sent.sum()) * length_bytes / most_ps * 1e6,
    }


def names_of(graph: Graph, what: str) -> list[str]:
    """Return the names of all links, buses or memories."""
    if what == "link":
        return graph.link_names
    owners = graph.switch_names if what == "bus" else graph.terminal_names
    return [f"the {what} of {name}" for name in owners]


def busy_ps(parts: RingParts, loads: RingLoads, demand: Demand, length_bytes: float) -> dict[str, np.ndarray]:
    """Return the busy time per unit of time, in ps, of every link, of the buses of every switch and of the
    memory of every terminal."""
    tech = parts.technology
    request, response = tech.request_bytes(length_bytes), tech.response_bytes(length_bytes)
    echo = (tech.echo_bytes + tech.echo_idle_bytes) / SYMBOL_BYTES
    units = [(size + tech.send_idle_bytes) / SYMBOL_BYTES if size else 0.0 for size in (request, response)]
    symbols = loads.link_time(units[0], echo, units[1], echo if response else 0.0)
    buses = loads.bus_time(
        tech.bus_transfer_ps(round(request)), tech.bus_transfer_ps(round(response)) if response else 0.0
    )
    access_ps = tech.memory_access_ps + tech.memory_block_ps * max(1, -(-round(length_bytes) // 64))
    accesses = demand.received()
    if tech.transaction in ("nread", "lock"):
        accesses = accesses + demand.sent()
    return {
        "link": symbols * parts.times_ps["character"],
        "bus": buses / parts.rings.bus_count,
        "memory": accesses * access_ps,
    }
