"""Fixed pairs of nodes: the paper's systematic traffic."""

from __future__ import annotations

from typing import Any


def neighbour_pairs(side: int, nodes_per_switch: int) -> list[int | None]:
    """Return the partner of every node if nodes send only to nodes of neighbouring switches.

    Every edge of a ``side`` x ``side`` grid first gets one pair for each of its links. The nodes that
    switches at the border have left are then paired one by one, on the edge whose ends have most nodes left.
    Partners send to each other. None: the node has no partner and is silent.
    """
    edges = [
        (y * side + x, (y + dy) * side + x + dx)
        for y in range(side)
        for x in range(side)
        for dy, dx in ((0, 1), (1, 0))
        if y + dy < side and x + dx < side
    ]
    left = [nodes_per_switch] * (side * side)
    dealt = dict.fromkeys(edges, 0)
    partner: list[int | None] = [None] * (side * side * nodes_per_switch)
    while True:
        open_edges = [edge for edge in edges if left[edge[0]] and left[edge[1]]]
        if not open_edges:
            return partner
        edge = min(open_edges, key=lambda e: (_round(dealt[e]), -left[e[0]] - left[e[1]], dealt[e], e))
        first, second = (s * nodes_per_switch + nodes_per_switch - left[s] for s in edge)
        partner[first], partner[second] = second, first
        dealt[edge] += 1
        for switch in edge:
            left[switch] -= 1


def _round(dealt: int) -> int:
    """Return 0 while an edge has fewer than four pairs, one per link, then 1."""
    return 0 if dealt < 4 else 1


def as_pattern(partner: list[int | None]) -> tuple[Any, list[int]]:
    """Return the pairs as a traffic pattern, and the list of nodes that send."""
    senders = [node for node, other in enumerate(partner) if other is not None]
    return {
        "kind": "permutation",
        "map": [node if p is None else p for node, p in enumerate(partner)],
    }, senders
