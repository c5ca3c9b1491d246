"""Twisted torus: a torus whose border is joined with an offset.

J. M. Cámara, M. Moretó, E. Vallejo, R. Beivide et al., IEEE Transactions on Parallel and Distributed Systems
21, 2010: with sides a and 2 a and an offset of a all cables carry alike, and the diameter is a, not 3 a / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated

import numpy as np
from pydantic import Field

from .family import TerminalsPerSwitch, family
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, whole
from .grid import Shape, checked_shape, lattice_positions


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
    per = whole(
        terminals_per_switch, "terminals_per_switch", 1, MAX_TERMINALS, "the terminals on each switch"
    )
    offsets = _offsets(twist, sides)
    switches = prod(sides)
    check_size(0, switches * (per + len(sides)), "shape")
    coordinates = np.stack(np.unravel_index(np.arange(switches), sides), axis=1).astype(np.int64)
    parameters = {"shape": list(sides), "twist": list(offsets[:-1]), "terminals_per_switch": per}
    return assemble(
        "twisted_torus",
        ["s(" + ",".join(map(str, row)) + ")" for row in coordinates.tolist()],
        np.repeat(np.arange(switches), per),
        lambda switch, number: f"t{switch[1:]}.{number}",
        _edges(coordinates, sides, offsets),
        1,
        {"parameters": parameters, "terminals_per_switch": per},
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


def _edges(coordinates: Ints, sides: tuple[int, ...], offsets: tuple[int, ...]) -> tuple[Ints, Ints]:
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
