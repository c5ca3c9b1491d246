"""Slim Fly and PolarFly: graphs of diameter two with nearly as many switches as such a graph can have.

The graphs are those of B. D. McKay, M. Miller and J. Siran (J. Combinatorial Theory B 74, 1998), in the form
of P. R. Hafner (2004); as a network: M. Besta and T. Hoefler, SC 2014. The element of number ``a`` of a
finite field is the polynomial whose coefficients are the digits of ``a`` in base p.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Count, TerminalsPerSwitch, family
from .graph import Graph, GraphError, Ints, assemble, check_size, terminals_at, whole
from .words import groups_on_circle, on_circle

MOST = 724
"""The largest order: 2 q^2 switches."""


_REST = {0: 0, 1: 1, 3: -1}
"""d of q = 4 w + d, by the rest of q."""


def neighbours(order: int) -> int:
    return (3 * order - _REST[order % 4]) // 2


@family("slim_fly", "A graph of diameter two with nearly as many switches as its ports allow.")
def slim_fly(
    order: Annotated[
        int, Field(ge=3, le=MOST, description="q: a power of a prime, 4w - 1, 4w or 4w + 1; 2 q^2 switches")
    ],
    terminals_per_switch: Annotated[
        Count | None,
        Field(description="Terminals at each switch; half its cables to other switches if not given"),
    ] = None,
) -> Graph:
    """Build 2 q^2 switches ``s(half,group,number)`` of (3 q - d) / 2 neighbours each, where q = 4 w + d.

    Switches (0,x,y) and (0,x,y') are joined if y - y' is in X, (1,m,c) and (1,m,c') if c - c' is in X', and
    (0,x,y) and (1,m,c) if y = m x + c, all in the field of q elements.
    """
    q = whole(order, "order", 3, MOST, "the number of elements of the field")
    if q % 4 == 2:
        raise GraphError(f"order is {q}; it must be 4w - 1, 4w or 4w + 1", "order")
    cables = neighbours(q)
    per = -(-cables // 2) if terminals_per_switch is None else terminals_per_switch
    terminals_at(per)
    switches = 2 * q * q
    check_size(switches * per, switches * per + q * q * cables, "order")
    return assemble(
        "slim_fly",
        [f"s({half},{group},{number})" for half in (0, 1) for group in range(q) for number in range(q)],
        np.repeat(np.arange(switches), per),
        _edges(FiniteField(q), _REST[q % 4]),
        1,
        groups_on_circle(2 * q, q),
        {"parameters": {"order": q, "terminals_per_switch": per}},
    )


def _edges(field: FiniteField, rest: int) -> tuple[Ints, Ints]:
    """Return the switches at both ends of all edges."""
    q, first = field.order, np.arange(field.order)
    within: list[tuple[Ints, Ints]] = []
    for half, differences in enumerate(_generators(field, rest)):
        low, high = np.nonzero(np.isin(_differences(field), differences))
        kept = low < high
        groups = (half * q + first)[:, None] * q
        within.append(((groups + low[kept]).ravel(), (groups + high[kept]).ravel()))
    x, m, c = (axis.ravel() for axis in np.meshgrid(first, first, first, indexing="ij"))
    between = x * q + field.sum[field.product[m, x], c], q * q + m * q + c
    near, far = zip(*within, between, strict=True)
    return np.concatenate(near), np.concatenate(far)


def _differences(field: FiniteField) -> Ints:
    """Return a - b per pair of elements: the element whose sum with b is a."""
    q = field.order
    found = np.empty((q, q), np.int64)
    element = np.arange(q)
    for b in range(q):
        found[field.sum[element, b], b] = element
    return found


def _generators(field: FiniteField, rest: int) -> tuple[Ints, Ints]:
    """Return the differences X and X' within the groups of either half."""
    last = field.order - 1
    if rest >= 0:
        one, other = np.arange(0, last, 2), np.arange(1, last + 1, 2)
    else:
        w = (last + 2) // 4
        one = np.concatenate([np.arange(0, 2 * w - 1, 2), np.arange(2 * w - 1, 4 * w - 2, 2)])
        other = np.concatenate([np.arange(1, 2 * w, 2), np.arange(2 * w, 4 * w - 1, 2)])
    return field.powers[one % last], field.powers[other % last]


# PolarFly: the polarity graph of a projective plane, of diameter two.
#
# The graphs are those of P. Erdős and A. Rényi (1962) and W. G. Brown (1966); as a network: K. Lakhotia et
# al., SC 2022.

MOST_OF_PLANE = 128
"""The largest order: q^2 + q + 1 switches."""


@family("polarfly", "The points of a projective plane, joined where they are orthogonal: diameter two.")
def polarfly(
    order: Annotated[
        int,
        Field(
            ge=2, le=MOST_OF_PLANE, description="q: a power of a prime; q^2 + q + 1 switches of q + 1 cables"
        ),
    ],
    terminals_per_switch: TerminalsPerSwitch = 1,
) -> Graph:
    """Build q^2 + q + 1 switches ``s(a,b,c)``, one per point of the plane, with q + 1 neighbours each.

    Two are joined if the product of their vectors is zero in the field of q elements. The q + 1 points that
    are orthogonal to themselves have one neighbour less.
    """
    q = whole(order, "order", 2, MOST_OF_PLANE, "the number of elements of the field")
    per = terminals_at(terminals_per_switch)
    switches = q * q + q + 1
    check_size(switches * per, switches * per + switches * (q + 1) // 2, "order")
    field = FiniteField(q)
    points = _points(q)
    return assemble(
        "polarfly",
        [f"s({a},{b},{c})" for a, b, c in points.tolist()],
        np.repeat(np.arange(switches), per),
        _polar_edges(field, points),
        1,
        on_circle(switches),
    )


def _points(q: int) -> Ints:
    """Return a vector per point: the first coordinate that is not zero is one."""
    b, c = np.divmod(np.arange(q * q), q)
    plane = np.stack([np.ones(q * q, np.int64), b, c], axis=1)
    line = np.array([[0, 1, c] for c in range(q)], np.int64)
    return np.concatenate([plane, line, [[0, 0, 1]]])


def _polar_edges(field: FiniteField, points: Ints) -> tuple[Ints, Ints]:
    near, far = [], []
    for number, point in enumerate(points):
        terms = [field.product[point[axis], points[number + 1 :, axis]] for axis in range(3)]
        found = number + 1 + np.flatnonzero(field.sum[field.sum[terms[0], terms[1]], terms[2]] == 0)
        near.append(np.full(len(found), number))
        far.append(found)
    return np.concatenate(near), np.concatenate(far)


class FiniteField:
    """The field of ``order`` = p^k elements, with its sums and products as tables."""

    def __init__(self, order: int) -> None:
        """Find a primitive element, whose powers are all elements but zero."""
        self.order = order
        self.prime, degree = prime_power(order)
        self.powers = _powers(self.prime, degree)
        """The powers of the primitive element, from the 0th to the (order - 2)th."""
        digits = np.arange(order)[:, None] // self.prime ** np.arange(degree) % self.prime
        weights = self.prime ** np.arange(degree)
        self.sum: Ints = (digits[:, None, :] + digits[None, :, :]) % self.prime @ weights
        log = np.zeros(order, np.int64)
        log[self.powers] = np.arange(order - 1)
        self.product: Ints = self.powers[(log[:, None] + log[None, :]) % (order - 1)]
        self.product[0, :] = self.product[:, 0] = 0


def prime_power(order: int) -> tuple[int, int]:
    """Return p and k of a number p^k with p prime. Raises GraphError for other numbers."""
    prime = next((p for p in range(2, int(order**0.5) + 1) if order % p == 0), order)
    degree, rest = 0, order
    while rest % prime == 0:
        degree, rest = degree + 1, rest // prime
    if rest != 1:
        below = next(n for n in range(order - 1, 1, -1) if _is_power(n))
        above = next(n for n in range(order + 1, 2 * order) if _is_power(n))
        message = f"order is {order}, which is no power of a prime; the nearest are {below} and {above}"
        raise GraphError(message, "order")
    return prime, degree


def _is_power(number: int) -> bool:
    prime = next((p for p in range(2, int(number**0.5) + 1) if number % p == 0), number)
    while number % prime == 0:
        number //= prime
    return number == 1


def _powers(prime: int, degree: int) -> Ints:
    """Return the powers of x modulo the first polynomial for which these are all elements but zero."""
    order = prime**degree
    top = order // prime
    for tail in range(1, order):
        # x^degree = the polynomial of this number; its constant term must not be zero.
        found, value = [], 1
        multiples = [_scaled(tail, factor, prime) for factor in range(prime)]
        while tail % prime and len(found) < order - 1:
            found.append(value)
            value = _added(value % top * prime, multiples[value // top], prime)
            if value == 1:
                break
        if len(found) == order - 1 and value == 1:
            return np.array(found, np.int64)
    raise AssertionError("every finite field has a primitive element")


def _scaled(number: int, factor: int, prime: int) -> int:
    """Multiply each digit by a factor, modulo the prime."""
    found, weight = 0, 1
    while number:
        found += number % prime * factor % prime * weight
        number, weight = number // prime, weight * prime
    return found


def _added(one: int, other: int, prime: int) -> int:
    """Add digit by digit, modulo the prime."""
    found, weight = 0, 1
    while one or other:
        found += (one % prime + other % prime) % prime * weight
        one, other, weight = one // prime, other // prime, weight * prime
    return found
