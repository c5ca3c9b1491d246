"""What the links of each plane carry, by the rule that chooses among the ports of a terminal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .. import routing
from ..compile import LinkParts
from ..compile.several import reached
from ..topology import Graph

Ints = NDArray[np.int64]
Loads = NDArray[np.float64]
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]

_PAIRS_AT_ONCE = 1 << 20


def loads(parts: LinkParts, choice: str, pairs: Pairs, even: np.ndarray) -> Loads:
    """Packets per link, from those of pairs of terminals and what each sends to all others alike, besides.

    In the end every rule but two shares packets evenly among the ports that lead to their target.
    ``destination`` gives each port those for its own destinations, ``nominal`` gives all to the first one.
    """
    graph = parts.graph
    if graph.several is None:
        return routing.channel_loads(graph, parts.table, pairs, even)
    alike = len({id(plane) for plane, _ in parts.planes}) == 1 and len(parts.planes) > 1
    if alike and choice not in ("destination", "nominal"):
        one = routing.channel_loads(*parts.planes[0], pairs, even) / len(parts.planes)
        return np.tile(one, len(parts.planes))
    total = np.zeros(graph.links)
    for some in (pairs, *_even_pairs(graph, even)):
        source, target, rate = _by_ports(graph, choice, *(np.asarray(column) for column in some))
        for plane, (alone, table) in zip(graph.planes, parts.planes, strict=True):
            place = np.full(graph.ports, -1)
            place[plane.port] = np.arange(len(plane.port))
            own = place[source] >= 0
            if own.any():
                told = place[source[own]], place[target[own]], rate[own]
                total[plane.links] += routing.channel_loads(alone, table, told)
    return total


def _even_pairs(graph: Graph, even: np.ndarray) -> Iterator[Pairs]:
    """The pairs of those who send to all others alike, some senders at a time."""
    senders = np.flatnonzero(even)
    step = max(1, _PAIRS_AT_ONCE // graph.terminals)
    for first in range(0, len(senders), step):
        some = senders[first : first + step]
        source, target = np.repeat(some, graph.terminals), np.tile(np.arange(graph.terminals), len(some))
        apart = source != target
        yield source[apart], target[apart], even[source[apart]] / max(1, graph.terminals - 1)


def _by_ports(graph: Graph, choice: str, source: Ints, target: Ints, rate: Loads) -> tuple[Ints, Ints, Loads]:
    """The same from port to port; see ``docs/background/ports.md``."""
    assert graph.several is not None
    plane = graph.several.plane
    known = reached(graph, source, target)
    source, target, rate = source[known], target[known], rate[known]
    counts = np.bincount(graph.several.terminal, minlength=graph.terminals)
    first = np.concatenate([[0], np.cumsum(counts)])[:-1]
    most = int(counts.max())
    numbers = np.arange(most)
    there = first[target][:, None] + numbers
    is_there = numbers < counts[target][:, None]
    there = np.minimum(there, graph.ports - 1)
    leads, ends = np.zeros((len(source), most), bool), np.zeros((len(source), most), np.int64)
    for own in range(most):
        port = np.minimum(first[source] + own, graph.ports - 1)
        fits = is_there & (plane[there] == plane[port][:, None]) & (own < counts[source])[:, None]
        count = fits.sum(axis=1)
        leads[:, own] = count > 0
        ours = first[source][:, None] + numbers
        beside = (plane[np.minimum(ours, graph.ports - 1)] == plane[port][:, None]) & (
            numbers < counts[source][:, None]
        )
        place = (beside & (numbers < own)).sum(axis=1)
        shift = np.where(beside.sum(axis=1) == count, 0, source)
        nth = (place + shift) % np.maximum(count, 1)
        ends[:, own] = first[target] + (fits & (np.cumsum(fits, axis=1) == nth[:, None] + 1)).argmax(axis=1)
    count = leads.sum(axis=1)
    if choice in ("destination", "nominal"):
        nth = target % count if choice == "destination" else np.zeros(len(target), np.int64)
        leads &= np.cumsum(leads, axis=1) == nth[:, None] + 1
        count = np.ones(len(source), np.int64)
    pair, own = np.nonzero(leads)
    return first[source[pair]] + own, ends[pair, own], rate[pair] / count[pair]
