"""Minimal paths on any graph, free of deadlock by layers of lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..topology.graph import Graph
from .native import Core
from .table import RouteTable, RoutingError
from .up_down import one_way, root_of

MOST_LAYERS = 64
"""More than any network has lanes."""


def minimal_layers(
    graph: Graph, spread: str, via: Sequence[int], lanes: int = 1, root: int | str | None = None
) -> RouteTable:
    """Return minimal paths that cannot deadlock with these lanes, as far as the lanes allow.

    In each layer, one or several lanes, no dependency closes a cycle; a packet moves to a higher layer where
    the next link would close one. Three attempts, the first that the lanes allow: every minimal path; minimal
    paths of which some are left out; minimal paths, and up*/down* ones in the last layer from where no other
    layer has room. The note of the table says which.

    Raises:
        RoutingError: with one-way links, if the lanes do not suffice, with the number that would; with
            universal routing.
    """
    if len(via):
        raise RoutingError("minimal paths in layers do not go with universal routing", "universal")
    if (found := all_minimal(graph, spread, lanes)) is not None:
        return found
    core = Core(graph)
    if found := core.minimal_layers(lanes, True, None, spread):
        return _table(graph, found, "some minimal paths")
    if one_way(graph):
        needed = layers_needed(graph)
        message = f"minimal paths without a cycle need {needed} lanes, and there are {lanes}"
        raise RoutingError(f"{message}: set technology.lanes = {needed}", "kind")
    found = core.minimal_layers(lanes, True, root_of(graph, root), spread)
    if lanes == 1:
        return _table(graph, found, "up*/down* paths")
    share = found[2][0] / max(1, found[2][1])
    return _table(graph, found, f"minimal paths, from {share:.0%} of places up*/down* ones,")


def all_minimal(graph: Graph, spread: str, lanes: int) -> RouteTable | None:
    """Return all minimal paths in layers, or None if the lanes do not suffice."""
    found = Core(graph).minimal_layers(lanes, False, None, spread)
    return None if found is None else _table(graph, found, "all minimal paths")


def layers_needed(graph: Graph, thin: bool = True) -> int:
    """Return how many lanes suffice for minimal paths without a cycle: for one of each pair, or for all.

    An upper bound: another choice of layers may need fewer.
    """
    layer = Core(graph).minimal_layers(MOST_LAYERS, thin, None, "adaptive")[1]
    return int(np.max(layer, initial=0)) + 1


def _table(graph: Graph, found: tuple[Any, ...], what: str) -> RouteTable:
    (group_switch, group_start, group_links, route), layer, _, _ = found
    home = np.asarray(graph.terminal_exit_switches)
    by_class = layer.reshape(graph.switches, graph.switches)[home].T
    layers = int(by_class.max(initial=0)) + 1
    return RouteTable(
        group_switch=group_switch,
        group_start=group_start,
        group_links=group_links,
        route=route.reshape(graph.switches, graph.terminals),
        terminal_class=np.arange(graph.terminals, dtype=np.uint32),
        layer=np.ascontiguousarray(by_class),
        kind="minimal-layers",
        note=f"{what} in {layers} layers of lanes" if layers > 1 else f"{what} in one layer",
    )
