"""What the links of each plane carry, by the rule that chooses among the ports of a terminal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import routing
from ..compile import LinkParts
from ..topology import Graph

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
Loads = NDArray[np.float64]

_PAIRS_AT_ONCE = 1 << 21


def loads(parts: LinkParts, choice: str, pairs: Pairs, even: np.ndarray) -> Loads:
    """Packets per link, from those of pairs of terminals and what each sends to all others alike, besides.

    In the end every rule but two shares packets evenly among ports. ``destination`` gives each port those for
    its own destinations, ``nominal`` gives all to the first one.
    """
    if parts.graph.several is None:
        return routing.channel_loads(parts.graph, parts.table, pairs, even)
    count, known, found = len(parts.planes), dict[int, Loads](), []
    for number, (graph, table) in enumerate(parts.planes):
        if choice == "nominal" and number:
            found.append(np.zeros(graph.links))
        elif choice == "destination":
            found.append(_for_some(graph, table, pairs, even, number, count))
        else:
            if id(graph) not in known:
                known[id(graph)] = routing.channel_loads(graph, table, pairs, even)
            found.append(known[id(graph)] / (1 if choice == "nominal" else count))
    return np.concatenate(found)


def _for_some(
    graph: Graph, table: routing.RouteTable, pairs: Pairs, even: np.ndarray, plane: int, planes: int
) -> Loads:
    """The loads of what goes to every ``planes``-th terminal from ``plane`` on."""
    own = np.asarray(pairs[1]) % planes == plane
    total = routing.channel_loads(graph, table, tuple(np.asarray(column)[own] for column in pairs))
    senders, targets = np.flatnonzero(even), np.arange(plane, graph.terminals, planes)
    step = max(1, _PAIRS_AT_ONCE // max(1, len(senders)))
    for first in range(0, len(targets) if len(senders) else 0, step):
        some = targets[first : first + step]
        source, target = np.repeat(senders, len(some)), np.tile(some, len(senders))
        apart = source != target
        each = even[source[apart]] / max(1, graph.terminals - 1)
        total += routing.channel_loads(graph, table, (source[apart], target[apart], each))
    return total
