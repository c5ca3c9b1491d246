"""The most that a network carries however its switches share packets among the links of a group.

Switches that take the emptier link carry more than those that share evenly. Lengths of links bound how much
more: packets of which each takes its shortest way use as little length as there is, and no more length can be
used than there is capacity (the dual of the maximum concurrent flow). The bound holds with any lengths. Those
that grow with how full a link is lead to one near the best shares (M. Frank and P. Wolfe, 1956).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .check import Weights, channel_loads, narrowed
from .table import RouteTable

Reals = NDArray[np.float64]

CLOSE = 1.01
"""A bound within this factor of what is known to be carried is good enough."""
_MOST_PASSES, _WORK = 100, 3e7
"""Passes over a table, and about how many of its entries all of them look at."""
_FEWEST_PASSES = 4
_STEEP, _STEEPEST = 10.0, 100.0
"""How fast lengths grow with how full a link is, at first and at last."""
_TRIALS = 20
_IDLE, _LITTLE = 0.2, 0.999
"""The search ends when this part of its passes lowered the bound to no less than this part of what it was."""


def shares(table: RouteTable) -> bool:
    """Return whether a switch has several links for some packets."""
    return bool(np.diff(table.group_start.astype(np.int64)).max(initial=0) > 1)


def most_units(
    graph: Graph, table: RouteTable, weights: Weights, even: Reals, capacity: Reals
) -> float | None:
    """Return how many times the traffic no shares exceed, or somewhat more; None if it is not computed.

    Args:
        weights: as for :func:`channel_loads`, like ``even``.
        capacity: per link, the packets per unit of time that fill it.

    It is not computed where packets choose between two ways by queues, nor for very large tables.
    """
    entries = max(1, table.cells)
    if table.threshold is not None or _WORK / entries < _FEWEST_PASSES:
        return None

    def loads(lengths: Reals | None) -> Reals:
        return channel_loads(graph, table, weights, even, lengths)

    filled = loads(None) / capacity
    if not filled.any():
        return None
    # Nobody chooses the links of terminals.
    least = max(
        float(filled[links].max(initial=0)) for links in (graph.terminal_out_links, graph.terminal_in_links)
    )
    most = 1 / least if least > 0 else np.inf
    return _bound(loads, capacity, filled, most, min(_MOST_PASSES, int(_WORK / entries)))


def _bound(
    loads: Callable[[Reals | None], Reals], capacity: Reals, filled: Reals, most: float, passes: int
) -> float:
    """Return the least bound of some lengths, if it is below ``most``. ``filled``: with even shares."""
    carried, at_first, idle = 1 / filled.max(), most, math.ceil(_IDLE * passes)
    before = [np.inf] * idle
    for step in range(passes):
        if most <= carried * CLOSE or most >= before[-idle] * _LITTLE:
            break
        if most < at_first:
            before.append(most)
        top = filled.max()
        steep = min(_STEEPEST, _STEEP * (1 + step / 8))
        # The first lengths find that even shares are best, where they are.
        lengths = filled >= top * (1 - 1e-9) if step == 0 else np.exp(steep * (filled / top - 1))
        shortest = loads(lengths / capacity)
        used = float(shortest @ (lengths / capacity))
        most = min(most, float(lengths.sum()) / used) if used > 0 else most
        filled = _nearer(filled, shortest / capacity, steep / top)
        carried = max(carried, 1 / filled.max())
    return most


def _nearer(filled: Reals, other: Reals, steep: float) -> Reals:
    """Return the mixture of two ways to share with which the fullest links are least full."""

    def cost(share: float) -> float:
        at = steep * (filled + share * (other - filled))
        return float(at.max() + np.log(np.exp(at - at.max()).sum()))

    low, high = narrowed(cost, _TRIALS, 0.382)
    return filled + (low + high) / 2 * (other - filled)
