"""Minimal paths on any graph, free of deadlock by layers of lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..topology.graph import Graph
from .native import Core, numbers, table_of
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
    layer has room. The note of the table says which. With intermediate switches (``via``) the way to them
    has the lower half of the layers, the way from them the upper half.

    Raises:
        RoutingError: with one-way links, if the lanes do not suffice, with the number that would; with
            intermediate switches, if there is one lane.
    """
    halves = 2 if len(via) else 1
    own = lanes // halves
    if not own:
        message = "a way to a random switch and a way from it need a lane each, and there is one"
        raise RoutingError(f"{message}: set technology.lanes = 2", "kind")
    if (found := all_minimal(graph, spread, lanes, via)) is not None:
        return found
    core, goals = Core(graph), numbers(via)
    if found := core.minimal_layers(own, True, None, spread, goals):
        return _table(graph, found, "some minimal paths", goals)
    if one_way(graph):
        needed = halves * layers_needed(graph)
        message = f"minimal paths without a cycle need {needed} lanes, and there are {lanes}"
        raise RoutingError(f"{message}: set technology.lanes = {needed}", "kind")
    found = core.minimal_layers(own, True, root_of(graph, root), spread, goals)
    if own == 1:
        return _table(graph, found, "up*/down* paths", goals)
    share = found[2][0] / max(1, found[2][1])
    return _table(graph, found, f"minimal paths, from {share:.0%} of places up*/down* ones,", goals)


def all_minimal(graph: Graph, spread: str, lanes: int, via: Sequence[int] = ()) -> RouteTable | None:
    """Return all minimal paths in layers, or None if the lanes do not suffice."""
    goals = numbers(via)
    found = Core(graph).minimal_layers(lanes // (2 if len(via) else 1), False, None, spread, goals)
    return None if found is None else _table(graph, found, "all minimal paths", goals)


def layers_needed(graph: Graph, thin: bool = True) -> int:
    """Return how many lanes suffice for minimal paths without a cycle: for one of each pair, or for all.

    An upper bound: another choice of layers may need fewer.
    """
    layer = Core(graph).minimal_layers(MOST_LAYERS, thin, None, "adaptive", numbers([]))[1]
    return int(np.max(layer, initial=0)) + 1


def _table(graph: Graph, found: tuple[Any, ...], what: str, via: Any) -> RouteTable:
    made, layer, _, _ = found
    return layered(graph, made, layer.reshape(graph.switches, graph.switches), what, via, "minimal-layers")


def layered(graph: Graph, made: tuple[Any, ...], layer: Any, what: str, via: Any, kind: str) -> RouteTable:
    """Return a table of layers.

    Args:
        graph: the network.
        made: columns of the table as the core makes them.
        layer: layer per destination switch and switch.
        what: the paths, for the note.
        via: intermediate switches; the way from them has layers of its own, above those of the way to them.
        kind: name of the rule.
    """
    table = table_of(graph, made, via, kind)
    home = np.asarray(graph.terminal_exit_switches)
    # Columns that terminals share are those of the switches with terminals, in order.
    by_class = layer[home if table.shared is None else np.unique(home)].T
    if len(via):
        to_middle = layer[via.astype(np.int64)].T
        by_class = np.concatenate([by_class + int(to_middle.max(initial=0)) + 1, to_middle], axis=1)
    layers = int(by_class.max(initial=0)) + 1
    ways = f"{what} to a random switch and from it" if len(via) else what
    return replace(
        table,
        layer=np.ascontiguousarray(by_class.astype(np.uint8)),
        note=f"{ways} in {layers} layers of lanes" if layers > 1 else f"{ways} in one layer",
    )
