"""Grid, torus (also twisted), ring and hypercube: switches at the points of an n-dimensional lattice.

Switches are numbered with the last coordinate fastest. Only dimensions of three or more switches have
wrap-around cables: with two switches such a cable would double the existing edge (use ``links_per_edge`` for
that).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .family import Bisection, Count, Depth, LinksPerEdge, Several, TerminalsPerSwitch, family, limited
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, terminals_at, whole

MAX_DIMENSIONS = 20


Shape = Annotated[
    list[Count],
    Field(min_length=1, max_length=20, description="Switches along each dimension, such as [8, 8]"),
]


def _cut(graph: Graph) -> Bisection | None:
    """Cut across the longest side: exact if it is even, as shortest paths load no other cables more."""
    longest = max(graph.layout["shape"])
    if longest % 2 or longest == 1:
        return None
    across = 2 if graph.layout["wrap"] and longest > 2 else 1
    cables = across * prod(graph.layout["shape"]) // longest * graph.layout["links_per_edge"]
    return limited(graph, cables, "plane across the longest side")


@family("grid", "Switches on a grid of any number of dimensions.", routing="dimension-order", cut=_cut)
def grid(
    shape: Shape, terminals_per_switch: TerminalsPerSwitch = 1, links_per_edge: LinksPerEdge = 1
) -> Graph:
    """Build an n-dimensional grid of switches ``s(i,j,…)`` with terminals ``t(i,j,…).k``.

    ``shape``: switches along each dimension, ``[8, 8]`` for 8 x 8. Neighbours are joined by
    ``links_per_edge`` cables.
    """
    return _lattice("grid", shape, terminals_per_switch, links_per_edge, wrap=False)


@family("torus", "A grid whose borders are joined.", cut=_cut)
def torus(
    shape: Shape, terminals_per_switch: TerminalsPerSwitch = 1, links_per_edge: LinksPerEdge = 1
) -> Graph:
    """Build a grid; in dimensions of three or more switches the last and first are neighbours too."""
    return _lattice("torus", shape, terminals_per_switch, links_per_edge, wrap=True)


@family("ring", "Switches in a cycle.", cut=_cut)
def ring(
    switches: Annotated[Several, Field(description="Number of switches")],
    terminals_per_switch: TerminalsPerSwitch = 1,
    links_per_edge: LinksPerEdge = 1,
) -> Graph:
    """Build a ring of switches ``s(i)``, each joined to the next by ``links_per_edge`` cables."""
    whole(switches, "switches", 2, MAX_TERMINALS, "the number of switches in the ring")
    return _lattice("ring", [switches], terminals_per_switch, links_per_edge, True, _circle)


@family(
    "hypercube", "A switch at every corner of a cube of n dimensions.", routing="dimension-order", cut=_cut
)
def hypercube(
    dimensions: Annotated[Depth, Field(description="Number of dimensions, 2^n switches")],
    terminals_per_switch: TerminalsPerSwitch = 1,
    links_per_edge: LinksPerEdge = 1,
) -> Graph:
    """Build a hypercube of 2^``dimensions`` switches; ``s(1,0,1)`` is the corner with number 101 in
    binary."""
    whole(dimensions, "dimensions", 1, MAX_DIMENSIONS, "the number of dimensions")
    return _lattice("hypercube", [2] * dimensions, terminals_per_switch, links_per_edge, False, _corners)


def _lattice(
    family: str,
    shape: Sequence[int],
    terminals_per_switch: int,
    links_per_edge: int,
    wrap: bool,
    positions: Callable[[Ints], NDArray[np.float64]] | None = None,
) -> Graph:
    """Build a lattice; ``positions``: in the drawing, from the coordinates."""
    sides = checked_shape(shape, terminals_per_switch)
    terminals_at(terminals_per_switch)
    whole(links_per_edge, "links_per_edge", 1, MAX_TERMINALS, "the cables between two neighbours")
    switches = prod(sides)
    edge_count = sum(switches // side * (side if wrap and side > 2 else side - 1) for side in sides)
    at_fault = {"ring": "switches", "hypercube": "dimensions"}.get(family, "shape")
    check_size(switches * terminals_per_switch, switches * terminals_per_switch, at_fault)
    check_size(0, switches * terminals_per_switch + edge_count * links_per_edge, "links_per_edge")

    coordinates = np.stack(np.unravel_index(np.arange(switches), sides), axis=1).astype(np.int64)
    names = ["s(" + ",".join(map(str, row)) + ")" for row in coordinates.tolist()]
    return assemble(
        family,
        names,
        np.repeat(np.arange(switches), terminals_per_switch),
        _edges(coordinates, sides, wrap),
        links_per_edge,
        lattice_positions(coordinates, sides) if positions is None else positions(coordinates),
        {"shape": list(sides), "coordinates": coordinates, "wrap": wrap, "links_per_edge": links_per_edge},
    )


def checked_shape(shape: Sequence[int], terminals_per_switch: int) -> tuple[int, ...]:
    """Return the sides of a lattice; refuse other values and sizes that are too large."""
    if isinstance(shape, str | bytes) or not isinstance(shape, Sequence | np.ndarray) or not len(shape):
        raise GraphError(f"shape must be a list of whole numbers such as [8, 8], not {shape!r}", "shape")
    if len(shape) > MAX_DIMENSIONS:
        raise GraphError(f"shape has {len(shape)} dimensions; at most {MAX_DIMENSIONS} are built", "shape")
    for side in shape:
        if isinstance(side, bool) or not isinstance(side, int | np.integer):
            raise GraphError(f"shape must be a list of whole numbers such as [8, 8], not {shape!r}", "shape")
        if side < 1:
            raise GraphError(f"shape has a side of {side}; every side must be 1 or more", "shape")
    sides = tuple(int(side) for side in shape)
    per_switch = (
        terminals_per_switch if isinstance(terminals_per_switch, int) and terminals_per_switch > 0 else 1
    )
    check_size(prod(sides) * per_switch, prod(sides) * per_switch, "shape")
    if prod(sides) * per_switch < 2:
        raise GraphError("shape has one switch with one terminal; a network needs two terminals", "shape")
    return sides


def _edges(coordinates: Ints, sides: tuple[int, ...], wrap: bool) -> tuple[Ints, Ints]:
    """Return the two ends of every edge: dimension by dimension, each towards the higher coordinate."""
    number = np.arange(len(coordinates))
    ends_a, ends_b = [], []
    for dimension, side in enumerate(sides):
        stride = prod(sides[dimension + 1 :])
        here = coordinates[:, dimension]
        inside = number[here < side - 1]
        ends_a.append(inside)
        ends_b.append(inside + stride)
        if wrap and side > 2:
            last = number[here == side - 1]
            ends_a.append(last)
            ends_b.append(last - (side - 1) * stride)
    return np.concatenate(ends_a).astype(np.int64), np.concatenate(ends_b).astype(np.int64)


def lattice_positions(coordinates: Ints, sides: tuple[int, ...]) -> NDArray[np.float64]:
    """Return positions: rows and columns; a third dimension is slanted; further ones repeat the picture."""
    position = np.zeros((len(coordinates), 2))
    reach = np.zeros(2)
    # The deeper the slanted third dimension, the larger the distance of rows and columns.
    stretch = max(1.0, 0.42 * sides[-3]) if len(sides) > 2 else 1.0
    for rank, dimension in enumerate(reversed(range(len(sides)))):
        if rank == 2:
            step = np.array([0.38, 0.31])
        else:
            axis = rank % 2 if rank < 2 else (rank + 1) % 2
            step = np.zeros(2)
            step[axis] = stretch if rank < 2 else reach[axis] + 1.5
        position += coordinates[:, dimension, None] * step
        reach += (sides[dimension] - 1) * step
    return position


def _circle(coordinates: Ints) -> NDArray[np.float64]:
    """Return positions on a circle, at distances of about 1."""
    angle = 2 * np.pi * coordinates[:, 0] / len(coordinates)
    radius = max(len(coordinates) / (2 * np.pi), 0.5)
    return radius * np.column_stack([np.sin(angle), -np.cos(angle)])


def _corners(coordinates: Ints) -> NDArray[np.float64]:
    """Return positions of a hypercube's corners, with one direction per dimension."""
    steps = [(1.6, 0.0), (0.0, 1.6), (0.62, 0.5), (3.6, -0.85), (0.5, 4.6)]
    position = np.zeros((len(coordinates), 2))
    for rank, dimension in enumerate(reversed(range(coordinates.shape[1]))):
        if rank < len(steps):
            step = np.array(steps[rank])
        else:
            size = 8.5 * 2.0 ** ((rank - len(steps)) // 2)
            step = np.array([size, 0.4] if (rank - len(steps)) % 2 == 0 else [0.5, size])
        position += coordinates[:, dimension, None] * step
    return position


# Twisted torus: a torus whose border is joined with an offset.
#
# J. M. Cámara, M. Moretó, E. Vallejo, R. Beivide et al., IEEE Transactions on Parallel and Distributed
# Systems 21, 2010: with sides a and 2 a and an offset of a all cables carry alike, and the diameter is a, not
# 3 a / 2.


@family("twisted_torus", "A torus in which the border of a dimension is joined with an offset.")
def twisted_torus(
    shape: Shape,
    twist: Annotated[
        list[Annotated[int, Field(ge=0, le=2**20)]],
        Field(
            min_length=1,
            max_length=19,
            description="For each dimension but the last: how far along the last dimension its cables over "
            "the border lead",
        ),
    ],
    terminals_per_switch: TerminalsPerSwitch = 1,
) -> Graph:
    """Build switches ``s(i,j,…)``; over the border of a dimension the last coordinate grows by its twist."""
    sides = checked_shape(shape, terminals_per_switch)
    per = terminals_at(terminals_per_switch)
    offsets = _offsets(twist, sides)
    switches = prod(sides)
    check_size(0, switches * (per + len(sides)), "shape")
    coordinates = np.stack(np.unravel_index(np.arange(switches), sides), axis=1).astype(np.int64)
    return assemble(
        "twisted_torus",
        ["s(" + ",".join(map(str, row)) + ")" for row in coordinates.tolist()],
        np.repeat(np.arange(switches), per),
        _twisted_edges(coordinates, sides, offsets),
        1,
        lattice_positions(coordinates, sides),
    )


def _offsets(twist: Sequence[int], sides: tuple[int, ...]) -> tuple[int, ...]:
    """Return the offset of each dimension along the last; that of the last is none."""
    if len(sides) < 2:
        raise GraphError("shape has one side; a torus is twisted along a second one", "shape")
    if isinstance(twist, str | bytes) or not isinstance(twist, Sequence) or len(twist) != len(sides) - 1:
        message = f"twist is {twist!r}; it needs one number for each of the {len(sides)} sides but the last"
        raise GraphError(message, "twist")
    last = sides[-1]
    limits = f"the last side is {last}"
    found = [whole(one, "twist", 0, last - 1, "an offset along the last dimension", limits) for one in twist]
    return (*found, 0)


def _twisted_edges(coordinates: Ints, sides: tuple[int, ...], offsets: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Return the ends of all edges, each pair of switches once."""
    number = np.arange(len(coordinates))
    pairs = []
    for dimension, (side, offset) in enumerate(zip(sides, offsets, strict=True)):
        place = coordinates.copy()
        place[:, dimension] += 1
        over = place[:, dimension] == side
        place[over, dimension] = 0
        place[over, -1] = (place[over, -1] + offset) % sides[-1]
        far = np.ravel_multi_index(tuple(place.T), sides)
        pairs.append(np.stack([np.minimum(number, far), np.maximum(number, far)])[:, number != far])
    near, far = np.unique(np.concatenate(pairs, axis=1), axis=1)
    return near, far
