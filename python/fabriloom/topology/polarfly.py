"""PolarFly: the polarity graph of a projective plane, of diameter two.

The graphs are those of P. Erdős and A. Rényi (1962) and W. G. Brown (1966); as a network: K. Lakhotia et al.,
SC 2022.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from .family import TerminalsPerSwitch, family
from .finite_field import Field as FiniteField
from .graph import MAX_TERMINALS, Graph, Ints, assemble, check_size, whole
from .words import on_circle

MOST = 128
"""The largest order: q^2 + q + 1 switches."""


@family("polarfly", "The points of a projective plane, joined where they are orthogonal: diameter two.")
def polarfly(
    order: Annotated[
        int, Field(ge=2, le=MOST, description="q: a power of a prime; q^2 + q + 1 switches of q + 1 cables")
    ],
    terminals_per_switch: TerminalsPerSwitch = 1,
) -> Graph:
    """Build q^2 + q + 1 switches ``s(a,b,c)``, one per point of the plane, with q + 1 neighbours each.

    Two are joined if the product of their vectors is zero in the field of q elements. The q + 1 points that
    are orthogonal to themselves have one neighbour less.
    """
    q = whole(order, "order", 2, MOST, "the number of elements of the field")
    per = whole(
        terminals_per_switch, "terminals_per_switch", 1, MAX_TERMINALS, "the terminals on each switch"
    )
    switches = q * q + q + 1
    check_size(switches * per, switches * per + switches * (q + 1) // 2, "order")
    field = FiniteField(q)
    points = _points(q)
    return assemble(
        "polarfly",
        [f"s({a},{b},{c})" for a, b, c in points.tolist()],
        np.repeat(np.arange(switches), per),
        lambda switch, number: f"t{switch[1:]}.{number}",
        _edges(field, points),
        1,
        {"parameters": {"order": q, "terminals_per_switch": per}, "terminals_per_switch": per},
        on_circle(switches),
    )


def _points(q: int) -> Ints:
    """Return a vector per point: the first coordinate that is not zero is one."""
    b, c = np.divmod(np.arange(q * q), q)
    plane = np.stack([np.ones(q * q, np.int64), b, c], axis=1)
    line = np.array([[0, 1, c] for c in range(q)], np.int64)
    return np.concatenate([plane, line, [[0, 0, 1]]])


def _edges(field: FiniteField, points: Ints) -> tuple[Ints, Ints]:
    near, far = [], []
    for number, point in enumerate(points):
        terms = [field.product[point[axis], points[number + 1 :, axis]] for axis in range(3)]
        found = number + 1 + np.flatnonzero(field.sum[field.sum[terms[0], terms[1]], terms[2]] == 0)
        near.append(np.full(len(found), number))
        far.append(found)
    return np.concatenate(near), np.concatenate(far)
