"""The loads of links for a choice of ports, and the link that is full first."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import routing
from ..compile import LinkParts
from ..compile.several import port_pairs
from ..routing.distribution import distributed_links
from ..topology import Graph

Ints = NDArray[np.int64]
Loads = NDArray[np.float64]
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]

_PAIRS_AT_ONCE = 1 << 20


def spread_loads(parts: LinkParts, spread: Pairs) -> Loads:
    """Return the packets per link of multicast traffic: each packet has one copy on every link of its
    path.
    """
    total = np.zeros(parts.graph.links)
    for source, target, packets in zip(*(np.asarray(column).tolist() for column in spread), strict=True):
        total[distributed_links(parts.graph, parts.distributions[target], source)] += packets
    return total


def loads(parts: LinkParts, choice: str, pairs: Pairs, even: np.ndarray) -> Loads:
    """Return the packets per link, from the packets per pair of terminals and those that each terminal sends
    evenly to all others.

    ``destination`` gives each port the packets for its own destinations; ``nominal`` gives all packets to the
    first port. The other rules share packets among the ports that lead to the target: ``round-robin``
    evenly, the rules that depend on queues in proportion to the link rates, as they do when ports are full.
    """
    graph = parts.graph
    if graph.several is None:
        return routing.channel_loads(graph, parts.table, pairs, even)
    alike = len({id(plane) for plane, _ in parts.planes}) == 1 and len(parts.planes) > 1
    if alike and parts.classes.places is None and choice not in ("destination", "nominal"):
        one = routing.channel_loads(*parts.planes[0], pairs, even) / len(parts.planes)
        return np.tile(one, len(parts.planes))
    total = np.zeros(graph.links)
    for some in (pairs, *_even_pairs(graph, even)):
        source, target, rate = _by_ports(parts, choice, *(np.asarray(column) for column in some))
        for plane, (alone, table) in zip(graph.planes, parts.planes, strict=True):
            place = np.full(graph.ports, -1)
            place[plane.port] = np.arange(len(plane.port))
            own = place[source] >= 0
            if own.any():
                told = place[source[own]], place[target[own]], rate[own]
                total[plane.links] += routing.channel_loads(alone, table, told)
    return total


def _even_pairs(graph: Graph, even: np.ndarray) -> Iterator[Pairs]:
    """Yield the pairs of terminals with even traffic, some senders at a time."""
    senders = np.flatnonzero(even)
    step = max(1, _PAIRS_AT_ONCE // graph.terminals)
    for first in range(0, len(senders), step):
        some = senders[first : first + step]
        source, target = np.repeat(some, graph.terminals), np.tile(np.arange(graph.terminals), len(some))
        apart = source != target
        yield source[apart], target[apart], even[source[apart]] / max(1, graph.terminals - 1)


def _by_ports(
    parts: LinkParts, choice: str, source: Ints, target: Ints, rate: Loads
) -> tuple[Ints, Ints, Loads]:
    """Return the packets per link, from those per pair of ports."""
    pair, port, to = port_pairs(parts, choice, source, target)
    weight = np.ones(parts.graph.ports) if choice == "round-robin" else _rates(parts)
    whole = np.bincount(pair, weights=weight[port], minlength=len(source))
    return port, to, rate[pair] * weight[port] / whole[pair]


def _rates(parts: LinkParts) -> Loads:
    """Return the rate of the outgoing link of each port."""
    usual = float(parts.technology.link_rate_bits_per_s)
    rates = parts.graph.attributes.get("rate_bits_per_s")
    if rates is None:
        return np.full(parts.graph.ports, usual)
    own = np.asarray(rates, np.float64)[parts.graph.terminal_out_links]
    return np.where(np.isnan(own), usual, own)


def channel_load(parts: LinkParts, loads: Loads, length_bytes: float) -> dict[str, Any]:
    """Return the busiest link under the scenario's traffic, and the throughput at which it is full.

    Loads are relative: the busiest source sends one packet per unit of time.
    """
    graph = parts.graph
    rates = graph.attributes.get("rate_bits_per_s")
    usual = parts.technology.link_rate_bits_per_s
    speed = np.ones(graph.links)
    if rates is not None:
        speed = np.where(np.isnan(rates), 1.0, np.asarray(rates) / usual)
    relative = loads / speed
    full = _full_at(parts, relative, length_bytes)
    busiest = int(np.argmin(full))
    most = float(full[busiest])
    if not np.isfinite(most):
        return {"busiest_link": None, "load": 0.0, "load_bound": None, "accepted_mbytes_per_s_bound": None}
    sent = float(loads[graph.link_source >= graph.switches].sum())
    return {
        "busiest_link": graph.link_names[busiest],
        "load": float(relative[busiest]),
        "load_bound": min(1.0, most),
        "accepted_mbytes_per_s_bound": sent * most * payload_mbytes_per_s(parts, length_bytes),
    }


def _full_at(parts: LinkParts, relative: Loads, length_bytes: float) -> Loads:
    """Return the load at which each link is full; infinite for an unused link.

    ``relative`` assumes the full share of flow control, ``s``. With matched flow control the share is
    multiplied by the load of the opposite direction. With relative loads ``a`` here and ``r`` there, a link
    is full at load ``x`` if ``x a (1 - s + s x r) = 1``.
    """
    tech, reverse = parts.technology, np.asarray(parts.graph.link_reverse)
    length = max(1, round(length_bytes))
    alone = tech.beside(Fraction(0)) if tech.flow_control == "matched" else tech
    share = 1 - alone.packet_ps(length) / tech.packet_ps(length)
    beside = np.where(reverse < 0, 0.0, relative[reverse])
    found = np.full(len(relative), np.inf)
    used = relative > 0
    own, beside = relative[used], beside[used]
    bare, paid = (1 - share) * own, share * own * beside
    # The positive root, written so that it holds for an idle opposite direction, too.
    root = 2 / (bare + np.sqrt(bare * bare + 4 * paid))
    # An opposite direction that is full cannot be more than that.
    found[used] = np.where(root * beside > 1, 1 / own, root)
    return found


def payload_mbytes_per_s(parts: LinkParts, length_bytes: float) -> float:
    """Return the payload rate of a link for packets of this length, on a cable busy in both directions."""
    return parts.technology.payload_bytes_per_s(max(1, round(length_bytes))) / 1e6
