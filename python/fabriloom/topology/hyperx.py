"""HyperX: a lattice in whose dimensions every switch is joined to every other one; and HammingMesh.

J. H. Ahn, N. Binkert, A. Davis, M. McLaren and R. S. Schreiber, SC 2009. With one dimension it is a complete
graph, with sides of two a hypercube; with equal sides the graph is a Hamming graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Bisection, Count, TerminalsPerSwitch, family, limited
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, terminals_at, whole
from .grid import Shape, checked_shape, lattice_positions


def _cut(graph: Graph) -> Bisection | None:
    """Cut across the dimension of the fewest cables; exact by the second eigenvalue, which is the least of
    cables per pair times side (M. Fiedler 1973: a cut into halves of n has at least n / 4 times it).
    """
    if graph.switches == 1:
        return None
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
    per = terminals_at(terminals_per_switch)
    cables = _cables(links_per_dimension, len(sides))
    switches = prod(sides)
    edges = sum(switches * (side - 1) // 2 * count for side, count in zip(sides, cables, strict=True))
    check_size(0, switches * per + edges, "shape" if links_per_dimension is None else "links_per_dimension")
    coordinates = np.stack(np.unravel_index(np.arange(switches), sides), axis=1).astype(np.int64)
    near, far, dimension = _edges(sides)
    layout = {
        "parameters": {"shape": list(sides), "terminals_per_switch": per, "links_per_dimension": cables},
        "shape": list(sides),
        "coordinates": coordinates,
        "wrap": False,
        "complete": True,
    }
    return assemble(
        "hyperx",
        ["s(" + ",".join(map(str, row)) + ")" for row in coordinates.tolist()],
        np.repeat(np.arange(switches), per),
        (near, far),
        np.array(cables, np.int64)[dimension],
        _positions(coordinates, sides),
        layout,
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


# HammingMesh: boards that are meshes of switches, with a network for every row and column of boards.
#
# T. Hoefler et al., SC 2022. An accelerator is a switch with its terminals. Its paper gives an accelerator
# several planes of this network: ``replicate``. Rows and columns that are longer than the ports of a switch
# need a tree in its place, which is not built here.

Two = Annotated[list[Count], Field(min_length=2, max_length=2)]


@family("hammingmesh", "Boards that are meshes, joined by a switch for every row and column of boards.")
def hammingmesh(
    board: Annotated[Two, Field(description="Accelerators of a board: along its rows and its columns")],
    boards: Annotated[Two, Field(description="Boards along the rows and the columns of the whole")],
    terminals_per_switch: TerminalsPerSwitch = 1,
) -> Graph:
    """Build accelerators ``s(x,y)``, numbered over all boards, and switches ``row(y)`` and ``column(x)``.

    Neighbours on a board are joined. Both ends of each row of a board are joined to the switch of the row,
    those of a column to the switch of the column.
    """
    wide, high = _two(board, "board"), _two(boards, "boards")
    per = terminals_at(terminals_per_switch, "of each place")
    size = wide[0] * high[0], wide[1] * high[1]
    places = size[0] * size[1]
    check_size(places * per, places * (per + 2) + 2 * (size[0] * high[1] + size[1] * high[0]), "boards")
    near, far, cables = _mesh_edges(wide, size)
    names = [f"s({x},{y})" for x in range(size[0]) for y in range(size[1])]
    names += [f"row({y})" for y in range(size[1])] + [f"column({x})" for x in range(size[0])]
    place = np.stack(np.divmod(np.arange(places), size[1]), axis=1).astype(float)
    rows = np.column_stack([np.full(size[1], -2.0), np.arange(float(size[1]))])
    columns = np.column_stack([np.arange(float(size[0])), np.full(size[0], -2.0)])
    return assemble(
        "hammingmesh",
        names,
        np.repeat(np.arange(places), per),
        (near, far),
        cables,
        np.concatenate([place + place // wide * 0.6, rows, columns]),
    )


def _two(given: Sequence[int], name: str) -> list[int]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence) or len(given) != 2:
        raise GraphError(f"{name} must be two whole numbers such as [2, 2], not {given!r}", name)
    return [whole(one, name, 1, MAX_TERMINALS, "along rows and columns") for one in given]


def _mesh_edges(board: list[int], size: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
    """Return the ends of every edge, and its cables: two where a board has a single place along a line."""
    number = np.arange(size[0] * size[1]).reshape(size)
    pairs: list[tuple[Ints, Ints]] = []
    # Both axes the same way: along rows, then, transposed, along columns.
    for axis, first_switch in ((0, size[0] * size[1]), (1, size[0] * size[1] + size[1])):
        lines = number if axis == 0 else number.T
        within = np.arange(len(lines)) % board[axis]
        inside = np.flatnonzero(within < board[axis] - 1)
        pairs.append((lines[inside].ravel(), lines[inside + 1].ravel()))
        switches = first_switch + np.arange(lines.shape[1])
        for end in (0, board[axis] - 1):
            ends = lines[within == end]
            pairs.append((ends.ravel(), np.tile(switches, len(ends))))
    joined = np.concatenate([np.stack(pair) for pair in pairs], axis=1)
    (near, far), cables = np.unique(joined, axis=1, return_counts=True)
    return near, far, cables
