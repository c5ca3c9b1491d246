"""One ring, and two rings joined by a bridge."""

from __future__ import annotations

from .graph import Graph, whole
from .ring_graph import check_buses, ring_graph
from .rings import MAX_STATIONS


def sci_ring(terminals: int) -> Graph:
    """Build one ring of terminals ``t0``, ``t1``, …, each sending to the next."""
    count = whole(terminals, "terminals", 2, MAX_STATIONS, "the stations of the ring")
    rings = {"ring": [f"t{number}" for number in range(count)]}
    return ring_graph("sci-ring", rings, {}, {"parameters": {"terminals": count}}, parameter="terminals")


def sci_bridge(terminals: int, buses: int = 1, controllers: str = "shared") -> Graph:
    """Build two rings of ``terminals`` terminals each, joined by a switch of two ports.

    The first ring has the terminals ``t0``, ``t1``, …, the second goes on counting.
    """
    count = whole(terminals, "terminals", 1, MAX_STATIONS // 2 - 1, "the terminals on each ring")
    rings = {
        f"ring({side})": ["s0", *(f"t{number}" for number in range(side * count, (side + 1) * count))]
        for side in range(2)
    }
    parameters = {"terminals": count, "buses": check_buses(buses), "controllers": controllers}
    layout = {"parameters": parameters}
    return ring_graph(
        "sci-bridge", rings, {"s0": buses}, layout, controllers=controllers, parameter="terminals"
    )
