"""One ring, two in opposite directions, and two joined by a bridge."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Count, family
from .graph import Graph, whole
from .joined import Member, join
from .ring_graph import Buses, Controllers, check_buses, ring_graph
from .rings import MAX_STATIONS


@family("sci-ring", "One ring of terminals.")
def sci_ring(terminals: Annotated[Count, Field(description="Number of terminals")]) -> Graph:
    """Build one ring of terminals ``t0``, ``t1``, …, each sending to the next."""
    count = whole(terminals, "terminals", 2, MAX_STATIONS, "the stations of the ring")
    rings = {"ring": [f"t{number}" for number in range(count)]}
    return ring_graph("sci-ring", rings, {}, {"parameters": {"terminals": count}}, parameter="terminals")


@family("sci-dual-ring", "Two rings of the same terminals in opposite directions.")
def sci_dual_ring(terminals: Annotated[Count, Field(description="Number of terminals")]) -> Graph:
    """Build two rings of the terminals ``t0``, ``t1``, …: each has a port on both.

    On the first each sends to the next one, on the second to the one before.
    """
    count = whole(terminals, "terminals", 2, MAX_STATIONS // 2, "the stations of each ring")
    names = [f"t{number}" for number in range(count)]
    members = []
    for way, around in enumerate((names, [names[0], *names[:0:-1]])):
        layout = {"parameters": {"terminals": count}}
        graph = ring_graph(
            "sci-dual-ring", {"ring": around}, {}, layout, terminals=names, parameter="terminals"
        )
        members.append(Member(f"way{way}", graph, np.arange(count), np.full(count, way)))
    return join(members, names)


@family("sci-bridge", "Two rings of terminals, joined by a switch of two ports.")
def sci_bridge(
    terminals: Annotated[Count, Field(description="Terminals on each of the two rings")],
    buses: Buses = 1,
    controllers: Controllers = "shared",
) -> Graph:
    """Build two rings of ``terminals`` terminals each, joined by a switch of two ports.

    The first ring has the terminals ``t0``, ``t1``, …, the second the following numbers.
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
