"""Paths on any graph, free of deadlock by layers of lanes, or by a lane per hop (also Valiant's and UGAL)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..topology.graph import Graph
from .dimensions import in_dimensions
from .lanes import has_rings
from .native import Core, numbers, table_of
from .table import RouteTable, RoutingError
from .up_down import one_way, root_of, up_down

MOST_LAYERS = 255
"""More than any network has lanes."""
_TURNED_AT_ONCE = 64
"""Rows that become columns together: a line of the cache."""


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
        raise RoutingError(message, "kind", lanes=2)
    if (found := all_minimal(graph, spread, lanes, via)) is not None:
        return found
    core, goals = Core(graph), numbers(via)
    if found := core.minimal_layers(own, True, None, spread, goals):
        return _table(graph, found, "some minimal paths", goals)
    if one_way(graph):
        needed = halves * layers_needed(graph)
        message = f"minimal paths without a cycle need {needed} lanes, and there are {lanes}"
        raise RoutingError(message, "kind", lanes=needed)
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
    return int(Core(graph).minimal_layers(MOST_LAYERS, thin, None, "adaptive", numbers([]))[1])


def _table(graph: Graph, found: tuple[Any, ...], what: str, via: Any) -> RouteTable:
    return layered(graph, found[0], found[0][3], what, via, "minimal-layers")


def layered(graph: Graph, made: tuple[Any, ...], layer: Any, what: str, via: Any, kind: str) -> RouteTable:
    """Return a table of layers.

    Args:
        graph: the network.
        made: columns of the table as the core makes them.
        layer: layer per run; or, without runs, per destination (switches with terminals, then ``via``) and
            switch.
        what: the paths, for the note.
        via: intermediate switches; the way from them has layers of its own, above those of the way to them.
        kind: name of the rule.
    """
    table = table_of(graph, made, via, kind)
    if table.runs is None:
        layer = _by_class(graph, table, layer.reshape(-1, graph.switches))
    layers = int(layer.max(initial=0)) + 1
    ways = f"{what} to a random switch and from it" if len(via) else what
    return replace(
        table,
        layer=layer.astype(np.uint8, copy=False),
        note=f"{ways} in {layers} layers of lanes" if layers > 1 else f"{ways} in one layer",
    )


def _by_class(graph: Graph, table: RouteTable, layer: np.ndarray) -> np.ndarray:
    """Return the layers of destinations by switch and class, or column."""
    switches, home = np.unique(graph.terminal_exit_switches, return_inverse=True)
    # Columns that terminals share are those of the switches with terminals, in order.
    found = _turned(layer, home if table.shared is None else np.arange(len(switches)))
    if not len(table.via_switch):
        return found
    to_middle = _turned(layer, np.arange(len(switches), len(layer)))
    return np.concatenate([found + int(to_middle.max(initial=0)) + 1, to_middle], axis=1)


def _turned(layer: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return some rows as columns."""
    turned = np.empty((layer.shape[1], len(rows)), layer.dtype)
    # A few at a time: each column that is written by itself misses the cache in every row.
    for first in range(0, len(rows), _TURNED_AT_ONCE):
        some = slice(first, first + _TURNED_AT_ONCE)
        turned[:, some] = layer[rows[some]].T
    return turned


# Minimal paths with a lane for each hop, the same over a random switch, and the choice between both.

COUNTS = ("links", "global-links")
_GLOBAL = 1 << 16
"""Weight of a link between groups; paths within groups have fewer links."""


def hops(
    graph: Graph, spread: str, via: Sequence[int], lanes: int = 1, count: str | None = None
) -> RouteTable:
    """Return minimal paths on which a packet changes to the next lane with every hop.

    ``count``: "links", every link between switches is a hop, and paths have the fewest links; or
    "global-links", only a link between groups is, and paths have the fewest of these, then the fewest links.
    Default: "global-links" where the family has groups. Lanes are counted from the destination, so that they
    depend on switch and destination alone: the last hop has the highest.

    The lanes are ordered, and within one a packet takes no second hop (K. D. Günther, 1981; for dragonflies
    J. Kim et al., ISCA 2008). Counting global links leaves the links within a group to be free of cycles by
    themselves, as in groups where all switches are joined.

    Raises:
        RoutingError: the lanes do not suffice, with the number that would; or the graph has no groups.
    """
    groups = graph.layout.get("groups")
    count = count or ("links" if groups is None else "global-links")
    if count not in COUNTS:
        raise RoutingError(f'count is "{count}"; it must be {" or ".join(COUNTS)}', "count")
    if count == "global-links" and groups is None:
        message = f'a {graph.family} has no groups, so no global links: write count = "links"'
        raise RoutingError(message, "count")
    goals = numbers(via)
    made, most = _paths(graph, count, spread, goals)
    needed = (most + 1) * (2 if len(via) else 1)
    if needed > lanes:
        each = "one for each hop" if count == "links" else "one more than global links"
        twice = ", and as many again from the random switch" if len(via) else ""
        there = "there is one" if lanes == 1 else f"there are {lanes}"
        message = f"the longest path takes {needed} lanes, {each}{twice}, and {there}"
        raise RoutingError(message, "kind", lanes=needed)
    what = "minimal paths, a lane per " + ("hop," if count == "links" else "global link,")
    return layered(graph, made, most - np.minimum(made[3], most), what, goals, "hops")


def hops_needed(graph: Graph) -> int:
    """Return the lanes that ``hops`` takes."""
    count = "links" if graph.layout.get("groups") is None else "global-links"
    return _paths(graph, count, "adaptive", numbers([]))[1] + 1


def _paths(graph: Graph, count: str, spread: str, goals: Any) -> tuple[tuple[Any, ...], int]:
    """Return the columns of a table, with the hops after the next as layers, and the most of these."""
    groups = graph.layout.get("groups") if count == "global-links" else None
    core = Core(graph)
    core.check_size(spread, goals, runs=True)
    hop = 1 if groups is None else _GLOBAL
    made, most = core.least_weight(numbers(_weights(graph, groups)), hop, spread, goals)
    return made, int(most)


def _weights(graph: Graph, groups: Any) -> np.ndarray:
    """Return a weight per link: one, or far more between groups."""
    weight = np.ones(graph.links, np.uint32)
    if groups is not None:
        links = graph.switch_links
        weight[links[groups[graph.link_source[links]] != groups[graph.link_target[links]]]] = _GLOBAL
    return weight


def valiant(
    graph: Graph, spread: str, via: Sequence[int], lanes: int = 1, root: int | str | None = None
) -> RouteTable:
    """Return paths over a random switch, which every packet draws for itself, free of deadlock.

    With stages, up to a switch of the highest one and down (a single lane); in groups, a lane per global link
    (``hops``); with coordinates, in dimension order; elsewhere minimal paths in layers. The way to the random
    switch and the way from it have lanes of their own (L. G. Valiant, SIAM J. Computing 11, 1982).
    """
    if "levels" in graph.layout:
        table = up_down(graph, spread, via)
    elif "groups" in graph.layout and root is None:
        table = hops(graph, spread, via, lanes)
    elif "shape" in graph.layout and root is None and lanes > 1:
        table = in_dimensions(graph, spread, via, lanes)
    else:
        table = minimal_layers(graph, spread, via, lanes, root)
    return replace(table, kind="valiant")


def valiant_needed(graph: Graph, layers: int) -> int:
    """Return the lanes with which ``valiant`` goes the shortest ways; ``layers``: what minimal paths need."""
    if "levels" in graph.layout:
        return 1
    if "groups" in graph.layout:
        return 2 * hops_needed(graph)
    return 2 * (1 + has_rings(graph) if "shape" in graph.layout else layers)


def ugal(
    graph: Graph,
    spread: str,
    via: Sequence[int],
    lanes: int = 1,
    root: int | str | None = None,
    threshold: int | None = None,
) -> RouteTable:
    """Return the paths of ``valiant``, of which a packet takes the first part only if queues are short there.

    When its terminal puts it on the link, a packet that has drawn a switch compares the queues at the outputs
    of its own switch, times the hops of both ways, and goes straight unless that to its destination is longer
    by more than the ``threshold`` (0 if not given): UGAL-L of A. Singh, Load-balanced routing in
    interconnection networks, Stanford 2005. The way straight to the destination has the lanes of the second
    part, so the order of channels that proves ``valiant`` holds.

    Raises:
        RoutingError: the network has stages, where packets choose among all shortest paths on their way up.
    """
    if "levels" in graph.layout:
        message = f"in a {graph.family} packets choose among all ways up already: write up-down"
        raise RoutingError(message, "kind")
    if threshold is not None and threshold < 0:
        raise RoutingError("a threshold is at least 0", "threshold")
    table = valiant(graph, spread, via, lanes, root)
    return replace(table, kind="ugal", threshold=threshold or 0, note=f"straight, or {table.note}")
