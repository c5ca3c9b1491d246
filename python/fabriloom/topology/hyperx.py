"""HyperX: a lattice in whose dimensions every switch is joined to every other one.

J. H. Ahn, N. Binkert, A. Davis, M. McLaren and R. S. Schreiber, SC 2009. With one dimension it is a complete
graph, with sides of two a hypercube; with equal sides the graph is a Hamming graph.
"""

from __future__ import annotations

from math import prod
from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Bisection, Count, TerminalsPerSwitch, family, limited
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, whole
from .grid import Shape, checked_shape, lattice_positions


def _cut(graph: Graph) -> Bisection | None:
    """Cut across the dimension of the fewest cables; exact by the second eigenvalue, which is the least of
    cables per pair times side (M. Fiedler 1973: a cut into halves of n has at least n / 4 times it).
    """
    sides = graph.layout["shape"]
    cables = graph.layout["parameters"]["links_per_dimension"]
    least, side = min((count * side, side) for count, side in zip(cables, sides, strict=True) if side > 1)
    if side % 2:
        return None
    return limited(graph, least * graph.switches // 4, "plane across the dimension of the fewest cables")


@family(
    "hyperx",
    "A lattice in whose dimensions every switch is joined to every other one.",
    routing="dimension-order",
    cut=_cut,
)
def hyperx(
    shape: Shape,
    terminals_per_switch: TerminalsPerSwitch = 1,
    links_per_dimension: Annotated[
        list[Count] | None,
        Field(
            min_length=1,
            max_length=20,
            description="Parallel cables of a pair of switches in each dimension; 1 if not given",
        ),
    ] = None,
) -> Graph:
    """Build switches ``s(i,j,…)``; those that differ in one coordinate are joined."""
    sides = checked_shape(shape, terminals_per_switch)
    per = whole(
        terminals_per_switch, "terminals_per_switch", 1, MAX_TERMINALS, "the terminals on each switch"
    )
    cables = _cables(links_per_dimension, len(sides))
    switches = prod(sides)
    edges = sum(switches * (side - 1) // 2 * count for side, count in zip(sides, cables, strict=True))
    check_size(0, switches * per + edges, "shape" if links_per_dimension is None else "links_per_dimension")
    coordinates = np.stack(np.unravel_index(np.arange(switches), sides), axis=1).astype(np.int64)
    near, far, dimension = _edges(sides)
    layout = {
        "parameters": {
            "shape": list(sides),
            "terminals_per_switch": per,
            "links_per_dimension": cables,
        },
        "shape": list(sides),
        "coordinates": coordinates,
        "wrap": False,
        "complete": True,
        "terminals_per_switch": per,
    }
    return assemble(
        "hyperx",
        ["s(" + ",".join(map(str, row)) + ")" for row in coordinates.tolist()],
        np.repeat(np.arange(switches), per),
        lambda switch, number: f"t{switch[1:]}.{number}",
        (near, far),
        np.array(cables, np.int64)[dimension],
        layout,
        _positions(coordinates, sides),
    )


def _cables(given: list[int] | None, dimensions: int) -> list[int]:
    if given is None:
        return [1] * dimensions
    if isinstance(given, str | bytes) or len(given) != dimensions:
        message = f"links_per_dimension is {given!r}; it needs one number for each of the {dimensions} sides"
        raise GraphError(message, "links_per_dimension")
    return [whole(one, "links_per_dimension", 1, MAX_TERMINALS, "the cables of a pair") for one in given]


def _edges(sides: tuple[int, ...]) -> tuple[Ints, Ints, Ints]:
    """Return the ends of every edge, and its dimension."""
    number = np.arange(prod(sides))
    found = []
    for dimension, side in enumerate(sides):
        stride = prod(sides[dimension + 1 :])
        row = number[number // stride % side == 0]
        low, high = np.triu_indices(side, 1)
        near, far = (row[:, None] + low * stride).ravel(), (row[:, None] + high * stride).ravel()
        found.append((near, far, np.full(len(near), dimension)))
    near, far, dimensions = zip(*found, strict=True)
    return np.concatenate(near), np.concatenate(far), np.concatenate(dimensions)


def _positions(coordinates: Ints, sides: tuple[int, ...]) -> np.ndarray:
    """Return the places of a lattice, bent a little so that cables along a line do not cover each other."""
    place = lattice_positions(coordinates, sides)
    centre = (place.max(axis=0) + place.min(axis=0)) / 2
    reach = np.maximum((place.max(axis=0) - place.min(axis=0)) / 2, 1.0)
    out = (place - centre) / reach
    return centre + out * reach * (1 + 0.18 * (1 - out[:, ::-1] ** 2))
