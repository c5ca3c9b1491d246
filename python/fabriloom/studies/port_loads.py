"""The packets per pair of ports, from those per pair of terminals with several ports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile import Routes
from ..compile.several import port_pairs
from ..results.figures import figures
from ..topology import Graph

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]

_PAIRS_AT_ONCE = 1 << 20


def are_alike(routes: Routes, choice: str) -> bool:
    """Return whether all planes are equal, and a rule of choice gives them equal shares of all packets."""
    alike = len({id(plane) for plane, _ in routes.planes}) == 1 and len(routes.planes) > 1
    return alike and routes.classes.places is None and choice not in ("destination", "nominal")


def by_ports(
    routes: Routes, choice: str, pairs: Pairs, even: np.ndarray
) -> Iterator[tuple[Ints, Ints, Reals]]:
    """Yield sending ports, receiving ports and packets: of pairs of terminals, and of those that each
    terminal sends evenly to all others, some at a time.

    ``destination`` gives each port the packets for its own destinations; ``nominal`` gives all packets to the
    first port. The other rules share packets among the ports that lead to the target, ``nearest`` among those
    with the fewest links: evenly, as ``round-robin`` does. The rules that depend on queues share in
    proportion to the link rates, as they do when ports are full.
    """
    for some in (pairs, *_even_pairs(routes.graph, even)):
        source, target, rate = (np.asarray(column) for column in some)
        if routes.graph.several is None:
            yield source, target, rate
            continue
        pair, port, to = port_pairs(routes, choice, source, target)
        yield port, to, rate[pair] * port_shares(routes, choice, pair, port)


def port_shares(routes: Routes, choice: str, pair: Ints, port: Ints) -> Reals:
    """Return, per pair of terminals and port that its packets may take, which part of them does."""
    weight = np.ones(routes.graph.ports) if choice in ("round-robin", "nearest") else _rates(routes)
    own = weight[port]
    shares: Reals = own / np.bincount(pair, weights=own)[pair] if len(pair) else own
    return shares


def in_planes(graph: Graph, ports: tuple[Ints, Ints, Reals]) -> Iterator[tuple[int, Pairs]]:
    """Yield, per plane with packets, its number and its pairs, as terminals of the plane's own graph."""
    source, target, rate = ports
    for number, plane in enumerate(graph.planes):
        place = np.full(graph.ports, -1)
        place[plane.port] = np.arange(len(plane.port))
        own = place[source] >= 0
        if own.any():
            yield number, (place[source[own]], place[target[own]], rate[own])


def _even_pairs(graph: Graph, even: np.ndarray) -> Iterator[Pairs]:
    """Yield the pairs of terminals with even traffic, some senders at a time."""
    senders = np.flatnonzero(even)
    step = max(1, _PAIRS_AT_ONCE // graph.terminals)
    for first in range(0, len(senders), step):
        some = senders[first : first + step]
        source, target = np.repeat(some, graph.terminals), np.tile(np.arange(graph.terminals), len(some))
        apart = source != target
        yield source[apart], target[apart], even[source[apart]] / max(1, graph.terminals - 1)


def _rates(routes: Routes) -> Reals:
    """Return the rate of the outgoing link of each port."""
    usual = float(routes.technology.link_rate_bits_per_s)
    rates = routes.graph.attributes.get("rate_bits_per_s")
    if rates is None:
        return np.full(routes.graph.ports, usual)
    own = np.asarray(rates, np.float64)[routes.graph.terminal_out_links]
    return np.where(np.isnan(own), usual, own)


def spread_evenly(values: Ints, most: int) -> Ints:
    """Return at most this many of the values, including the first and the last."""
    places = np.linspace(0, len(values) - 1, min(len(values), most)).astype(np.int64)
    return values[np.unique(places)]


# Lines of ``fabriloom check`` on the planes of a network.

_CHOICES = {
    "round-robin": "each port in turn (choice round-robin)",
    "destination": "the port with the number of its destination (choice destination)",
    "shortest-queue": "the port with the fewest packets (choice shortest-queue)",
    "first-free": "the port that is free first (choice first-free)",
    "nominal": "the first port that leads there, the others are in reserve (choice nominal)",
    "nearest": "the port with the fewest links to its target (choice nearest)",
}


def plane_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return lines about the ports of terminals and the capacity of each plane."""
    network = found["network"]
    if "planes" not in found:
        return []
    by_bound: dict[str, list[str]] = {}
    for plane in found["planes"]:
        if plane["busiest_link"] is not None:
            by_bound.setdefault(figures(plane["accepted_mbytes_per_s_bound"]), []).append(plane["plane"])
    bounds = []
    for bound, names in by_bound.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        each = " each" if len(names) > 1 else ""
        bounds.append(f"{', '.join(names[:3])}{more} at most {bound} MB/s{each}")
    return [
        (
            "terminals",
            f"{several(network['ports'], 'port')} in {several(network['planes'], 'plane')}; "
            f"a packet leaves by {_CHOICES[found['port_choice']]}",
        ),
        *([("planes", "; ".join(bounds))] if bounds else []),
    ]


def several(count: int, what: str, plural: str = "s") -> str:
    """Return a count with the thing counted, in the singular or the plural."""
    return f"{count:,} {what}{'' if count == 1 else plural}"
