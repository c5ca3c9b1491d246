"""Routing around failures: a table for the remaining links of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .build import build
from .check import dependency_cycle
from .table import NONE, RouteTable, RoutingError
from .up_down import one_way

AROUND = ("auto", "shortest-path", "up-star-down-star", "minimal-layers")
"""Rules that apply to any graph."""

Ints = NDArray[np.int64]


def around(
    graph: Graph, dead: NDArray[np.bool_], kind: str = "auto", via: Sequence[int] = (), **parameters: Any
) -> RouteTable:
    """Return a table without the dead links between switches; ``dead``: shape (links,), bool.

    A cable with one dead direction is not used at all. Links of terminals stay, because nothing leads around
    them. An entry without a remaining path is ``NONE``. ``kind``: one of ``AROUND``; "auto" is what ``build``
    takes for any graph or for groups; over intermediate switches (``via``) "minimal-layers" if there are two
    lanes. With one link per destination, these are spread over all shortest paths where they may be.
    The other parameters are those of ``build``. Raises ``RoutingError`` for networks with one-way links
    between switches.
    """
    if one_way(graph):
        raise RoutingError(
            "tables after a fault need two-way cables; here links are one-way: leave it out", "after_fault"
        )
    between = np.isin(np.arange(graph.links), graph.switch_links)
    lost = between & (dead | dead[graph.link_reverse])
    part = _parts(graph, np.flatnonzero(between & ~lost))
    middle, classes = np.asarray(via, np.int64), graph.terminals + len(via)
    route = np.full((graph.switches, classes), NONE, np.uint32)
    layer = np.zeros((graph.switches, classes), np.uint8)
    switch: list[Ints] = []
    size: list[Ints] = []
    links: list[Ints] = []
    groups = 0
    for number in np.unique(part[graph.terminal_exit_switches]).tolist():
        inside = np.flatnonzero(part == number)
        own, kept, terminals = _left(graph, inside, ~lost)
        drawn = np.flatnonzero(np.isin(middle, inside))
        table = _table(own, kind, np.searchsorted(inside, middle[drawn]).tolist(), parameters).full()
        entry, here = table.route.astype(np.int64), np.ix_(inside, [*terminals, *graph.terminals + drawn])
        route[here] = np.where(entry == NONE, NONE, entry + 2 * groups)
        if table.layer is not None:
            layer[here] = table.layer
        switch.append(inside[table.group_switch])
        size.append(np.diff(table.group_start.astype(np.int64)))
        links.append(kept[table.group_links])
        groups += table.groups
    return RouteTable(
        group_switch=np.concatenate(switch).astype(np.uint32),
        group_start=np.concatenate([[0], np.cumsum(np.concatenate(size))]).astype(np.uint32),
        group_links=np.concatenate(links).astype(np.uint32),
        rows=route,
        terminal_class=np.arange(graph.terminals, dtype=np.uint32),
        via_switch=middle.astype(np.uint32),
        via_class=np.arange(graph.terminals, classes, dtype=np.uint32),
        layer=layer if layer.any() else None,
        kind=kind,
    )


def _table(graph: Graph, kind: str, via: list[int], parameters: dict[str, Any]) -> RouteTable:
    """Return the table of what is left, with destinations spread over all shortest paths where they may be.

    What is left of a tree has stages no more, and the first neighbour of each switch would carry everything.
    """
    if via:
        parameters = {**parameters, "via": via}
    if kind in ("auto", "shortest-path") and (via or not parameters.get("adaptive", True)):
        found = build(graph, "shortest-path", **{"next_hops": "all", **parameters})
        if kind == "shortest-path" or dependency_cycle(graph, found) is None:
            return found
    if via and kind == "auto":
        kind = "minimal-layers" if parameters.get("lanes", 1) > 1 else "up-star-down-star"
    return build(graph, kind, **parameters)


def _parts(graph: Graph, alive: Ints) -> Ints:
    """Return, per switch, the lowest switch connected to it by these links in both directions."""
    part = np.arange(graph.switches)
    source, target = graph.link_source[alive], graph.link_target[alive]
    while True:
        lowest = part.copy()
        np.minimum.at(lowest, target, part[source])
        if np.array_equal(lowest, part):
            return part
        part = lowest


def _left(graph: Graph, switches: Ints, alive: NDArray[np.bool_]) -> tuple[Graph, Ints, Ints]:
    """Return a network of some switches, their terminals and their working links, and the numbers of both."""
    terminals = np.flatnonzero(np.isin(graph.terminal_exit_switches, switches))
    vertices = np.concatenate([switches, graph.switches + terminals])
    place = np.full(graph.switches + graph.terminals, -1)
    place[vertices] = np.arange(len(vertices))
    source, target = place[graph.link_source], place[graph.link_target]
    kept = np.flatnonzero((source >= 0) & (target >= 0) & alive)
    number = np.full(graph.links, -1)
    number[kept] = np.arange(len(kept))
    left = Graph(
        switch_names=[graph.switch_names[switch] for switch in switches.tolist()],
        terminal_names=[graph.terminal_names[terminal] for terminal in terminals.tolist()],
        link_source=source[kept],
        link_target=target[kept],
        link_reverse=number[graph.link_reverse[kept]],
        link_names=[graph.link_names[link] for link in kept.tolist()],
        family="network of which parts have failed",
        layout={"groups": groups[switches]} if (groups := graph.layout.get("groups")) is not None else {},
    )
    return left, kept, terminals
