"""Candidates of families in which few links lie between any two switches, considered where they are named."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

from ..topology import GraphError
from ..topology.slim_fly import neighbours, prime_power
from .shapes import MOST_LINKS_PER_EDGE, Family, Shape, Wanted, switched

_MOST_ORDER = 64


def _orders(wanted: Wanted, low: int) -> Iterator[int]:
    """Yield the powers of primes among the wanted orders."""
    for order in wanted.whole("order", low, _MOST_ORDER):
        try:
            prime_power(order)
        except GraphError:
            continue
        yield order


def _at_each(wanted: Wanted, switches: int, cables: int) -> list[int]:
    """Return the terminals per switch that make enough places and leave ports for cables."""
    low, high = -(-wanted.terminals // switches), min(wanted.most // switches, wanted.ports - cables)
    return wanted.whole("terminals_per_switch", low, high)


def _slim_fly(wanted: Wanted) -> Iterator[Shape]:
    for q in _orders(wanted, 3):
        if q % 4 == 2:
            continue
        switches, out = 2 * q * q, neighbours(q)
        for per in _at_each(wanted, switches, out):
            parameters = {"order": q, "terminals_per_switch": per}
            terminals, cables = switches * per, q * q * out
            yield switched("slim_fly", parameters, terminals, switches, per + out, cables, [(per, out)])


def _polarfly(wanted: Wanted) -> Iterator[Shape]:
    for q in _orders(wanted, 2):
        switches = q * q + q + 1
        for per in _at_each(wanted, switches, q + 1):
            parameters = {"order": q, "terminals_per_switch": per}
            cut = [(per, q)]
            terminals, cables = switches * per, q * (q + 1) ** 2 // 2
            yield switched("polarfly", parameters, terminals, switches, per + q + 1, cables, cut)


def _hyperx(wanted: Wanted) -> Iterator[Shape]:
    for per in wanted.whole("terminals_per_switch", 1, wanted.ports - 1):
        sizes = range(-(-wanted.terminals // per), wanted.most // per + 1)
        shapes = wanted.given.get("shape") or [s for size in sizes for n in (2, 3) for s in _sides(size, n)]
        for shape in shapes:
            if not wanted.fits(math.prod(shape) * per):
                continue
            cables = wanted.of(
                "links_per_dimension", [[count] * len(shape) for count in range(1, MOST_LINKS_PER_EDGE + 1)]
            )
            for each in cables:
                if len(each) == len(shape):
                    yield from _hyperx_of(tuple(shape), per, list(each), wanted.ports)


def _hyperx_of(shape: tuple[int, ...], per: int, each: list[int], ports: int) -> Iterator[Shape]:
    switches = math.prod(shape)
    degree = sum((side - 1) * count for side, count in zip(shape, each, strict=True))
    if per + degree > ports:
        return
    cuts: list[tuple[float, float]] = [
        (side // 2 * switches // side * per, side // 2 * (side - side // 2) * count * switches // side)
        for side, count in zip(shape, each, strict=True)
        if side > 1
    ]
    parameters = {"shape": list(shape), "terminals_per_switch": per, "links_per_dimension": each}
    between = switches * degree // 2
    yield switched("hyperx", parameters, switches * per, switches, per + degree, between, cuts)


def _sides(switches: int, dimensions: int) -> Iterator[tuple[int, ...]]:
    """Yield the products of descending factors, each two or more, that give a number."""
    if dimensions == 1:
        if switches > 1:
            yield (switches,)
        return
    for first in range(2, switches // 2 + 1):
        if switches % first == 0:
            yield from (
                (first, *rest) for rest in _sides(switches // first, dimensions - 1) if rest[0] <= first
            )


def _jellyfish(wanted: Wanted) -> Iterator[Shape]:
    for per in wanted.whole("terminals_per_switch", 1, wanted.ports - 2):
        low, high = max(3, -(-wanted.terminals // per)), wanted.most // per
        for switches in wanted.whole("switches", low, high):
            for degree in wanted.whole("degree", 2, min(switches - 1, wanted.ports - per)):
                if switches * degree % 2:
                    continue
                for seed in wanted.of("graph_seed", [1]):
                    names = ("switches", "degree", "terminals_per_switch", "graph_seed")
                    values = (switches, degree, per, seed)
                    parameters: dict[str, Any] = dict(zip(names, values, strict=True))
                    terminals, cables = switches * per, switches * degree // 2
                    cut = [(per, degree)]
                    yield switched("jellyfish", parameters, terminals, switches, per + degree, cables, cut)


def _dragonfly_plus(wanted: Wanted) -> Iterator[Shape]:
    ways = product(
        wanted.whole("leaves", 1, min(wanted.ports, 32)),
        wanted.whole("spines", 1, min(wanted.ports, 32)),
        wanted.whole("global_links", 1, 8),
        wanted.whole("terminals_per_switch", 1, wanted.ports - 1),
    )
    for leaves, spines, h, per in ways:
        if max(per + spines, leaves + h) > wanted.ports:
            continue
        own = leaves * per
        low, high = max(2, -(-wanted.terminals // own)), min(spines * h + 1, wanted.most // own)
        for groups in wanted.whole("groups", low, high):
            yield from _dragonflies_plus(leaves, spines, h, per, groups)


def _dragonflies_plus(leaves: int, spines: int, h: int, per: int, groups: int) -> Iterator[Shape]:
    copies = spines * h // (groups - 1)
    # The first spines have all their cables; those behind them may have none left.
    full = min(h, copies * (groups - 1))
    names = ("leaves", "spines", "global_links", "terminals_per_switch", "groups")
    parameters: dict[str, Any] = dict(zip(names, (leaves, spines, h, per, groups), strict=True))
    between = groups * leaves * spines + copies * groups * (groups - 1) // 2
    cuts = [(per, spines), (leaves * per, copies * (groups - 1))]
    yield switched(
        "dragonfly_plus",
        parameters,
        groups * leaves * per,
        groups * (leaves + spines),
        max(per + spines, leaves + full),
        between,
        cuts,
    )


_PER = "terminals_per_switch"
FAMILIES: dict[str, Family] = {
    "slim_fly": Family(_slim_fly, ("order", _PER), usual=False),
    "polarfly": Family(_polarfly, ("order", _PER), usual=False),
    "hyperx": Family(_hyperx, ("shape", _PER, "links_per_dimension"), usual=False),
    "jellyfish": Family(_jellyfish, ("switches", "degree", _PER, "graph_seed"), usual=False),
    "dragonfly_plus": Family(
        _dragonfly_plus, ("leaves", "spines", "global_links", _PER, "groups"), usual=False
    ),
}
