"""The candidate networks: for each family every member of a size, with its parts by formula.

A :class:`Shape` gives parts and cuts by formula, so that most networks are refused without being built.
``tests/design`` compares the formulas with built graphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from .. import topology
from ..topology import GraphError
from ..topology.measure import ports_used
from ..topology.slim_fly import neighbours, prime_power

SPARE = 1.25
"""Largest number of terminal places, as a multiple of the required terminals."""
MOST_LINKS_PER_EDGE = 16
_MOST_ORDER = 64
_SCI_PORTS = 8
_PER = "terminals_per_switch"


@dataclass(frozen=True)
class Shape:
    """A network of a family."""

    family: str
    parameters: Mapping[str, Any]
    terminals: int
    switches: int
    ports_max: int
    """Most ports of any switch."""
    ports: int
    """Ports of all switches."""
    cables: int
    """Cables, including those of terminals; for rings, links."""
    cuts: Sequence[tuple[float, float]] = ()
    """Cuts: number of terminals on one side, and of links that lead away from them."""


@dataclass(frozen=True)
class Wanted:
    """The requirements for shapes."""

    terminals: int
    ports: int
    """Most ports of a switch."""
    given: Mapping[str, Sequence[Any]]
    """Values of parameters that the user gives."""

    @property
    def most(self) -> int:
        """Most terminals."""
        return int(self.terminals * SPARE)

    def fits(self, terminals: int) -> bool:
        """Whether the number of places is sufficient and not too large."""
        return self.terminals <= terminals <= self.most

    def of(self, name: str, usual: Sequence[Any]) -> Sequence[Any]:
        """Return the values of a parameter: the given ones, else the usual ones."""
        return self.given.get(name, usual)

    def whole(self, name: str, low: int, high: int) -> list[int]:
        """Return the whole values of a parameter from ``low`` to ``high``, restricted to the given ones."""
        return [value for value in self.of(name, range(low, high + 1)) if low <= value <= high]


Maker = Callable[[Wanted], Iterator[Shape]]


@dataclass(frozen=True)
class Family:
    """The generator of the shapes of a family."""

    make: Maker
    parameters: tuple[str, ...]
    usual: bool = True
    """Whether the family is considered if none is named."""


def switched(
    family: str,
    parameters: Mapping[str, Any],
    terminals: int,
    switches: int,
    ports_max: int,
    between: int,
    cuts: Sequence[tuple[float, float]],
) -> Shape:
    """Make the shape of a network of links with ``between`` cables between switches."""
    ports = terminals + 2 * between
    return Shape(family, parameters, terminals, switches, ports_max, ports, terminals + between, cuts)


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
    return wanted.whole(_PER, low, high)


def _slim_fly(wanted: Wanted) -> Iterator[Shape]:
    for q in _orders(wanted, 3):
        if q % 4 == 2:
            continue
        switches, out = 2 * q * q, neighbours(q)
        for per in _at_each(wanted, switches, out):
            parameters = {"order": q, _PER: per}
            terminals, cables = switches * per, q * q * out
            yield switched("slim_fly", parameters, terminals, switches, per + out, cables, [(per, out)])


def _polarfly(wanted: Wanted) -> Iterator[Shape]:
    for q in _orders(wanted, 2):
        switches = q * q + q + 1
        for per in _at_each(wanted, switches, q + 1):
            parameters = {"order": q, _PER: per}
            cut = [(per, q)]
            terminals, cables = switches * per, q * (q + 1) ** 2 // 2
            yield switched("polarfly", parameters, terminals, switches, per + q + 1, cables, cut)


def _hyperx(wanted: Wanted) -> Iterator[Shape]:
    for per in wanted.whole(_PER, 1, wanted.ports - 1):
        for shape in _shapes(wanted, per):
            cables = wanted.of(
                "links_per_dimension", [[count] * len(shape) for count in range(1, MOST_LINKS_PER_EDGE + 1)]
            )
            for each in cables:
                if len(each) == len(shape):
                    yield from _hyperx_of(shape, per, list(each), wanted.ports)


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
    parameters = {"shape": list(shape), _PER: per, "links_per_dimension": each}
    between = switches * degree // 2
    yield switched("hyperx", parameters, switches * per, switches, per + degree, between, cuts)


def _jellyfish(wanted: Wanted) -> Iterator[Shape]:
    for per in wanted.whole(_PER, 1, wanted.ports - 2):
        low, high = max(3, -(-wanted.terminals // per)), wanted.most // per
        for switches in wanted.whole("switches", low, high):
            for degree in wanted.whole("degree", 2, min(switches - 1, wanted.ports - per)):
                if switches * degree % 2:
                    continue
                for seed in wanted.of("graph_seed", [1]):
                    parameters = {"switches": switches, "degree": degree, _PER: per, "graph_seed": seed}
                    terminals, cables = switches * per, switches * degree // 2
                    cut = [(per, degree)]
                    yield switched("jellyfish", parameters, terminals, switches, per + degree, cables, cut)


def _dragonfly_plus(wanted: Wanted) -> Iterator[Shape]:
    ways = product(
        wanted.whole("leaves", 1, min(wanted.ports, 32)),
        wanted.whole("spines", 1, min(wanted.ports, 32)),
        wanted.whole("global_links", 1, 8),
        wanted.whole(_PER, 1, wanted.ports - 1),
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
    parameters = {"leaves": leaves, "spines": spines, "global_links": h, _PER: per, "groups": groups}
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


def _crossbar(wanted: Wanted) -> Iterator[Shape]:
    for count in wanted.whole("terminals", max(2, wanted.terminals), wanted.terminals):
        yield switched("crossbar", {"terminals": count}, count, 1, count, 0, ())


def _clos(wanted: Wanted) -> Iterator[Shape]:
    most = wanted.ports
    for ports, per in product(wanted.of("switch_ports", [most]), wanted.whole(_PER, 1, most)):
        edges = max(2, -(-wanted.terminals // per))
        if not wanted.fits(edges * per):
            continue
        for parallel in wanted.whole("links_per_pair", 1, max(1, ports // edges)):
            for centres in wanted.whole("centre_switches", 1, max(0, (ports - per) // parallel)):
                if edges * parallel <= ports:
                    yield _clos_of(edges, per, centres, parallel, ports)


def _clos_of(edges: int, per: int, centres: int, parallel: int, ports: int) -> Shape:
    up = centres * parallel
    parameters = {
        "terminals": edges * per,
        "switch_ports": ports,
        _PER: per,
        "centre_switches": centres,
        "links_per_pair": parallel,
    }
    widest = max(per + up, edges * parallel)
    return switched("clos", parameters, edges * per, edges + centres, widest, edges * up, [(per, up)])


def _built(family: str, parameters: Mapping[str, Any]) -> Shape | None:
    """Make a shape with parts counted on the built graph; None if the family has no such member."""
    try:
        graph = topology.build(family, **parameters)
    except GraphError:
        return None
    if graph.network_kind.buses:
        most = int(np.diff(graph.own_rings.port_start).max(initial=0))
        ports = graph.own_rings.ports
        return Shape(family, parameters, graph.terminals, graph.switches, most, ports, graph.links)
    used = ports_used(graph)
    cables, between = graph.links // 2, len(graph.switch_links) // 2
    assert cables == between + graph.terminals
    most = int(used.max(initial=0))
    return switched(family, parameters, graph.terminals, graph.switches, most, between, ())


def _clos5(wanted: Wanted) -> Iterator[Shape]:
    for ports in wanted.of("switch_ports", [p for p in (8, 16, 24, 32, 48, 64) if p <= wanted.ports]):
        step = max(1, ports // 2)
        for terminals in wanted.of(
            "terminals", range(-(-wanted.terminals // step) * step, wanted.most + 1, step)
        ):
            shape = _built("clos5", {"terminals": terminals, "switch_ports": ports})
            if shape is not None and wanted.fits(shape.terminals):
                yield shape


def _fat_tree(wanted: Wanted) -> Iterator[Shape]:
    for arity, levels in product(wanted.whole("arity", 2, wanted.ports // 2), wanted.whole("levels", 2, 12)):
        if not wanted.fits(arity**levels):
            continue
        count, width = arity**levels, arity ** (levels - 1)
        parameters = {"arity": arity, "levels": levels}
        yield switched(
            "fat_tree", parameters, count, levels * width, 2 * arity, (levels - 1) * count, [(arity, arity)]
        )


def _shapes(wanted: Wanted, per: int) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of two and three dimensions, or those that are given, that make enough places."""
    sizes = range(-(-wanted.terminals // per), wanted.most // per + 1)
    shapes = wanted.given.get("shape") or (s for size in sizes for n in (2, 3) for s in _sides(size, n, size))
    yield from (tuple(shape) for shape in shapes if wanted.fits(math.prod(shape) * per))


def _sides(switches: int, dimensions: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield all products of this many descending factors, each at least 2, that give a number."""
    if dimensions == 1:
        if 2 <= switches <= most:
            yield (switches,)
        return
    for first in range(2, min(switches // 2, most) + 1):
        if switches % first == 0:
            yield from ((first, *rest) for rest in _sides(switches // first, dimensions - 1, first))


def _lattice(family: str, wrap: bool, wanted: Wanted) -> Iterator[Shape]:
    for per in wanted.whole(_PER, 1, wanted.ports - 1):
        for shape in _shapes(wanted, per):
            yield from _lattices_of(family, shape, per, wrap, wanted)


def _lattices_of(
    family: str, shape: tuple[int, ...], per: int, wrap: bool, wanted: Wanted
) -> Iterator[Shape]:
    switches, longest = math.prod(shape), max(shape)
    closed = [wrap and side > 2 for side in shape]
    edges = sum(switches // s * (s if ring else s - 1) for s, ring in zip(shape, closed, strict=True))
    # The switch with most neighbours; a side of two has one, of more two.
    degree = sum(min(side - 1, 2) for side in shape)
    for parallel in wanted.whole(
        "links_per_edge", 1, min(MOST_LINKS_PER_EDGE, (wanted.ports - per) // degree)
    ):
        across = (2 if wrap and longest > 2 else 1) * switches // longest * parallel
        cut = (longest // 2 * switches // longest * per, across)
        parameters = {"shape": list(shape), _PER: per, "links_per_edge": parallel}
        widest = per + degree * parallel
        yield switched(family, parameters, switches * per, switches, widest, edges * parallel, [cut])


def _ring(wanted: Wanted) -> Iterator[Shape]:
    for per in wanted.whole(_PER, 1, wanted.ports - 1):
        for count in wanted.whole("switches", max(3, -(-wanted.terminals // per)), wanted.most // per):
            for parallel in wanted.whole(
                "links_per_edge", 1, min(MOST_LINKS_PER_EDGE, (wanted.ports - per) // 2)
            ):
                parameters = {"switches": count, _PER: per, "links_per_edge": parallel}
                cut = (count // 2 * per, 2 * parallel)
                yield switched(
                    "ring", parameters, count * per, count, per + 2 * parallel, count * parallel, [cut]
                )


def _hypercube(wanted: Wanted) -> Iterator[Shape]:
    for n, per in product(wanted.whole("dimensions", 1, 16), wanted.whole(_PER, 1, wanted.ports)):
        if not wanted.fits(2**n * per):
            continue
        for parallel in wanted.whole(
            "links_per_edge", 1, min(MOST_LINKS_PER_EDGE, (wanted.ports - per) // n)
        ):
            parameters = {"dimensions": n, _PER: per, "links_per_edge": parallel}
            between, cut = n * 2 ** (n - 1) * parallel, (2 ** (n - 1) * per, 2 ** (n - 1) * parallel)
            yield switched("hypercube", parameters, 2**n * per, 2**n, per + n * parallel, between, [cut])


def _tree(wanted: Wanted) -> Iterator[Shape]:
    depths = product(wanted.whole("arity", 2, wanted.ports), wanted.whole("depth", 1, 8))
    for arity, depth in depths:
        leaves = arity**depth
        low, high = -(-wanted.terminals // leaves), min(wanted.most // leaves, wanted.ports - 1)
        for per in wanted.whole(_PER, max(1, low), high):
            for parallel in wanted.whole("links_per_edge", 1, min(MOST_LINKS_PER_EDGE, wanted.ports - per)):
                up = parallel if depth > 1 else 0
                widest = max(per + parallel, arity * parallel + up)
                if widest > wanted.ports:
                    continue
                switches = (arity ** (depth + 1) - 1) // (arity - 1)
                parameters = {"arity": arity, "depth": depth, _PER: per, "links_per_edge": parallel}
                cuts = [(per, parallel), (leaves // arity * per, parallel)]
                yield switched(
                    "tree", parameters, leaves * per, switches, widest, (switches - 1) * parallel, cuts
                )


def _dragonfly(wanted: Wanted) -> Iterator[Shape]:
    ways = product(
        wanted.whole("switches_per_group", 2, min(wanted.ports - 1, 32)),
        wanted.whole("global_links", 1, 8),
        wanted.whole(_PER, 1, wanted.ports - 2),
    )
    for a, h, per in ways:
        if per + a - 1 + h > wanted.ports:
            continue
        low, high = max(2, -(-wanted.terminals // (a * per))), min(a * h + 1, wanted.most // (a * per))
        for groups in wanted.whole("groups", low, high):
            copies = a * h // (groups - 1)
            parameters = {"switches_per_group": a, "global_links": h, _PER: per, "groups": groups}
            between = groups * a * (a - 1) // 2 + copies * groups * (groups - 1) // 2
            cuts = [(a * per, copies * (groups - 1))]
            yield switched(
                "dragonfly", parameters, groups * a * per, groups * a, per + a - 1 + h, between, cuts
            )


def _rings_of(family: str, wanted: Wanted, ways: Mapping[str, Sequence[Any]]) -> Iterator[Shape]:
    """Yield the members of a family of rings for all combinations of parameters that fit."""
    listed = {name: wanted.of(name, values) for name, values in ways.items()}
    listed |= {name: values for name, values in wanted.given.items() if name not in listed}
    for values in product(*listed.values()):
        shape = _built(family, dict(zip(listed, values, strict=True)))
        if shape is not None and wanted.fits(shape.terminals):
            yield shape


def _powers(terminals: int) -> list[int]:
    return [2**n for n in range(1, 13) if 2**n <= terminals]


def _sci_ring(wanted: Wanted) -> Iterator[Shape]:
    return _rings_of("sci-ring", wanted, {"terminals": [wanted.terminals]})


def _sci_switch(wanted: Wanted) -> Iterator[Shape]:
    ports = range(2, min(_SCI_PORTS, wanted.ports) + 1)
    per = sorted({-(-wanted.terminals // p) for p in ports})
    return _rings_of("sci-switch", wanted, {"ports": ports, "terminals_per_ring": per, "roles": ["pairs"]})


def _sci_long_rings(wanted: Wanted) -> Iterator[Shape]:
    ports = range(2, min(_SCI_PORTS, wanted.ports) + 1)
    per = sorted({-(-wanted.terminals // (2 * p)) for p in ports})
    return _rings_of("sci-long-rings", wanted, {"ports": ports, "pairs_per_ring": per})


def _sci_banyan(wanted: Wanted) -> Iterator[Shape]:
    half = -(-wanted.terminals // 2)
    ways: dict[str, Sequence[Any]] = {
        "base": [2, 4, 8],
        "terminals": _powers(half),
        "wiring": ["ringlet", "long-ring"],
        "pairs_per_ring": _powers(half) and [1, *_powers(half)],
    }
    return _rings_of("sci-banyan", wanted, ways)


def _sci_torus(wanted: Wanted) -> Iterator[Shape]:
    per = [n for n in (1, 2, 4, 8) if n <= wanted.terminals]
    sizes = {-(-wanted.terminals // n) for n in per}
    shapes = [list(s) for size in sorted(sizes) for n in (2, 3) for s in _sides(size, n, size)]
    return _rings_of("sci-torus", wanted, {"shape": shapes, _PER: per})


_LATTICE = ("shape", _PER, "links_per_edge")
_BUSES = ("buses", "controllers")
SHAPES: dict[str, Family] = {
    "crossbar": Family(_crossbar, ("terminals",)),
    "clos": Family(_clos, ("switch_ports", _PER, "centre_switches", "links_per_pair")),
    "clos5": Family(_clos5, ("terminals", "switch_ports")),
    "fat_tree": Family(_fat_tree, ("arity", "levels")),
    "grid": Family(partial(_lattice, "grid", False), _LATTICE),
    "torus": Family(partial(_lattice, "torus", True), _LATTICE),
    "ring": Family(_ring, ("switches", _PER, "links_per_edge")),
    "hypercube": Family(_hypercube, ("dimensions", _PER, "links_per_edge")),
    "tree": Family(_tree, ("arity", "depth", _PER, "links_per_edge")),
    "dragonfly": Family(_dragonfly, ("switches_per_group", "global_links", _PER, "groups")),
    "slim_fly": Family(_slim_fly, ("order", _PER), usual=False),
    "polarfly": Family(_polarfly, ("order", _PER), usual=False),
    "hyperx": Family(_hyperx, ("shape", _PER, "links_per_dimension"), usual=False),
    "jellyfish": Family(_jellyfish, ("switches", "degree", _PER, "graph_seed"), usual=False),
    "dragonfly_plus": Family(
        _dragonfly_plus, ("leaves", "spines", "global_links", _PER, "groups"), usual=False
    ),
    "sci-ring": Family(_sci_ring, ("terminals",), usual=False),
    "sci-switch": Family(_sci_switch, ("ports", "terminals_per_ring", "roles", *_BUSES)),
    "sci-long-rings": Family(_sci_long_rings, ("ports", "pairs_per_ring", *_BUSES)),
    "sci-banyan": Family(_sci_banyan, ("terminals", "variant", "base", "wiring", "pairs_per_ring", *_BUSES)),
    "sci-torus": Family(_sci_torus, ("shape", _PER, "buses"), usual=False),
}
"""The families that are considered; one-way networks and files of the user are excluded."""
