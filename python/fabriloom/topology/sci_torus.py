"""A torus of rings: one ring along every line of every dimension, and a ringlet with the terminals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Count, TerminalsPerSwitch, family
from .graph import Graph, GraphError, whole
from .grid import checked_shape, lattice_positions
from .ring_graph import Buses, check_buses, check_stations, ring_graph
from .rings import MAX_PORTS, MAX_STATIONS


@family(
    "sci-torus",
    "Rings along every dimension of a torus; the terminals of a switch have a ringlet of their own.",
)
def sci_torus(
    shape: Annotated[
        list[Count],
        Field(min_length=1, max_length=7, description="Switches along each dimension, such as [8, 8]"),
    ],
    terminals_per_switch: TerminalsPerSwitch = 1,
    buses: Buses = 1,
) -> Graph:
    """Build a torus of switches ``s(i,j,…)`` with terminals ``t(i,j,…).k``.

    Each switch has a port on one ring of every dimension, in the order of ``shape``, and a last one on the
    ring of its terminals. Rings lead upwards and round the border; a dimension of one switch has none.
    """
    sides = checked_shape(shape, terminals_per_switch)
    whole(terminals_per_switch, "terminals_per_switch", 1, MAX_STATIONS, "the terminals at each switch")
    lines = [dimension for dimension, side in enumerate(sides) if side > 1]
    if not 1 <= len(lines) < MAX_PORTS:
        raise GraphError(
            f"shape has {len(lines)} dimensions of two switches or more; a switch has at most {MAX_PORTS} "
            "ports, one of them for its terminals",
            "shape",
        )
    switches = prod(sides)
    check_stations(switches * (len(lines) + 1 + terminals_per_switch), "shape")
    rings = {}
    for dimension in lines:
        for start in product(*(range(1 if at == dimension else side) for at, side in enumerate(sides))):
            line = [(*start[:dimension], step, *start[dimension + 1 :]) for step in range(sides[dimension])]
            free = ",".join("*" if at == dimension else str(x) for at, x in enumerate(start))
            rings[f"ring({free})"] = ["s" + _place(place) for place in line]
    places = list(product(*map(range, sides)))
    for place in places:
        home = _place(place)
        terminals = [f"t{home}.{number}" for number in range(terminals_per_switch)]
        rings[f"ring{home}"] = ["s" + home, *terminals]
    parameters = {
        "shape": list(sides),
        "terminals_per_switch": terminals_per_switch,
        "buses": check_buses(buses),
    }
    return ring_graph(
        "sci-torus",
        rings,
        {"s" + _place(place): buses for place in places},
        {
            "parameters": parameters,
            "shape": list(sides),
            "coordinates": np.array(places, np.int64),
            "wrap": True,
            "terminals_per_switch": terminals_per_switch,
        },
        positions=lattice_positions(np.array(places, np.int64), sides),
        parameter="shape",
    )


def _place(place: Sequence[int]) -> str:
    return "(" + ",".join(map(str, place)) + ")"
