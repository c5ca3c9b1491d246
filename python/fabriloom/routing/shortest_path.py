"""Shortest paths on any graph, and the unique paths of self-routing networks."""

from __future__ import annotations

from collections.abc import Sequence

from ..topology.graph import Graph
from .native import Core
from .table import RouteTable, RoutingError

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
