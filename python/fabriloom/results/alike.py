"""Which links are used so much like the most used one that chance alone decides which of them it is.

The rule is in ``docs/background/statistics.md``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .figures import in_percent

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOGETHER = 20
"""Successive packets wait alike: about as many as in a queue that is used to two thirds are one independent
value."""
_CHANCE = 0.05


def equals(graph: Graph, link: int) -> Ints:
    """Return the links of the same kind as one, itself included: out of terminals, into them, or between
    switches, or those of all rings.
    """
    if graph.network_kind.buses:
        return np.arange(graph.links)
    inner = np.stack([np.asarray(graph.link_source), np.asarray(graph.link_target)]) < graph.switches
    return np.flatnonzero((inner == inner[:, [link]]).all(axis=0))


def alike(values: Floats, packets: Floats, most: int, among: Ints, together: float = 1.0) -> Ints:
    """Return the places ``among`` whose value the largest one does not exceed by more than chance.

    Args:
        values: sums over packets, such as the time in use, per place.
        packets: how many packets; each ``together`` of them count as one independent value.
        most: the place of the largest value.
        among: the places that it is compared with.
    """
    number = np.maximum(packets / together, 1)
    spread = np.sqrt(values[among] ** 2 / number[among] + values[most] ** 2 / number[most])
    # The largest of many exceeds the others by chance the more, the more there are.
    bound = _normal(1 - _CHANCE / max(1, len(among) - 1)) * spread
    return among[values[most] - values[among] <= np.where(among == most, 0.0, bound)]


def _normal(share: float) -> float:
    """Return the quantile of the normal distribution (Abramowitz and Stegun 26.2.23, error below 0.00045)."""
    tail = max(1 - share, 1e-12)
    t = math.sqrt(-2 * math.log(tail))
    above, below = (
        2.515517 + t * (0.802853 + t * 0.010328),
        1 + t * (1.432788 + t * (0.189269 + t * 0.001308)),
    )
    return t - above / below


def named(graph: Graph, links: Ints, most: int, share: Floats) -> tuple[str, str]:
    """Return the name of the link that stands out, or nothing, and the links in words."""
    if len(links) == 1:
        name = graph.link_names[most]
        return name, f"the link {name}, in use {in_percent(share[most])} of the time"
    low, high = in_percent(share[links].min()), in_percent(share[links].max())
    use = f"in use {high} of the time" if low == high else f"in use {low} to {high} of the time"
    return "", f"{_all(graph, links, most)}, {use}"


def _all(graph: Graph, links: Ints, most: int) -> str:
    """Return several links in words."""
    every = equals(graph, most)
    if len(links) < len(every):
        return f"{len(links)} of {len(every)} {_kind(graph, most)} alike, such as {graph.link_names[most]}"
    return f"all {len(every)} {_kind(graph, most)} alike"


def _kind(graph: Graph, link: int) -> str:
    if graph.network_kind.buses:
        return "links"
    if graph.link_target[link] >= graph.switches:
        return "links into terminals"
    return "links out of terminals" if graph.link_source[link] >= graph.switches else "links between switches"


def awaited(graph: Graph, links: Ints, most: int) -> tuple[str, str]:
    """Return the same of links that packets wait for, without a share."""
    name = graph.link_names[most]
    return (name, name) if len(links) == 1 else ("", _all(graph, links, most))
