"""Shortest paths; and up, then down: Clos networks and trees by their stages, any graph from a root."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..topology.graph import Graph
from .native import Core
from .table import RouteTable, RoutingError

# Shortest paths on any graph, and the unique paths of self-routing networks.

NEXT_HOPS = ("all", "first")


def shortest_path(graph: Graph, spread: str, via: Sequence[int], next_hops: str | None = None) -> RouteTable:
    """Return shortest paths, counted in links. They may deadlock: check the dependency cycle.

    ``next_hops``: "all" puts every link on a shortest path into the group; "first" only the parallel links to
    the neighbour with the lowest number. Default: "all" when adaptive, otherwise "first".
    """
    if next_hops is not None and next_hops not in NEXT_HOPS:
        raise RoutingError(f'next_hops is "{next_hops}"; it must be {" or ".join(NEXT_HOPS)}', "next_hops")
    every = next_hops == "all" or (next_hops is None and spread == "adaptive")
    return Core(graph).table("shortest_path", (every,), spread, via, "shortest-path")


def self_routing(graph: Graph, spread: str, via: Sequence[int]) -> RouteTable:
    """Return the unique path to every destination. Raises ``RoutingError`` if a switch has two."""
    return Core(graph).table("self_routing", (), spread, via, "self-routing")


def up_down(graph: Graph, spread: str, via: Sequence[int]) -> RouteTable:
    """Climb towards the centre stages as far as needed, over any link up, then descend.

    Needs ``layout["levels"]``: stage per switch, 0 where the terminals are.
    """
    if "levels" not in graph.layout or one_way(graph):
        raise RoutingError(
            f"up-down routing needs the stages of a Clos or a tree; a {graph.family} has none. "
            '"up*/down*" suits any graph of two-way cables',
            "kind",
        )
    heights = np.ascontiguousarray(graph.layout["levels"], np.int64)
    return Core(graph).table("up_down", (heights,), spread, via, "up-down")


def up_star_down_star(
    graph: Graph, spread: str, via: Sequence[int], root: int | str | None = None
) -> RouteTable:
    """Route up*/down* on any graph of two-way cables: heights are the distances from ``root``.

    ``root``: number or name of a switch; default: the one with most links to other switches, the lowest of
    equals.
    """
    if one_way(graph):
        raise RoutingError(
            f"up*/down* routing needs two-way cables; this {graph.family} has one-way links", "kind"
        )
    core = Core(graph)
    heights = core.heights(root_of(graph, root))
    return core.table("up_down", (heights,), spread, via, "up-star-down-star")


def one_way(graph: Graph) -> bool:
    """Return whether some link between switches has no opposite direction."""
    return bool((graph.link_reverse[graph.switch_links] < 0).any())


def root_of(graph: Graph, root: int | str | None) -> int:
    """Return the number of the root; None: the switch with most links to others."""
    if isinstance(root, str):
        if root not in graph.switch_names:
            raise RoutingError(f'there is no switch "{root}" to be the root', "root")
        return graph.switch_names.index(root)
    if root is not None:
        if isinstance(root, bool) or not 0 <= root < graph.switches:
            raise RoutingError(f"root is {root}; switches are numbered 0 to {graph.switches - 1}", "root")
        return int(root)
    return int(np.argmax(np.bincount(graph.link_source[graph.switch_links], minlength=graph.switches)))
