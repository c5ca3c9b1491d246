"""The proof that a routing cannot deadlock, as data that anyone can check: ``check_certificate.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .check import channel_order
from .table import NONE, RouteTable


def certificate(graph: Graph, table: RouteTable, lanes: int = 1) -> dict[str, Any] | None:
    """Return the routes of a table of lanes and the order of its channels, or None if there is none.

    Ready for JSON: ``links`` has source and target vertex of each link, ``routes`` the channels by switch and
    terminal, then by switch and intermediate switch, ``order`` the channels in which every packet takes them.
    Channels are pairs of link and lane. Routes that no packet takes are left out.
    """
    order = channel_order(graph, table, lanes)
    if order is None:
        return None
    link, lane = np.divmod(table.group_links.astype(np.int64), lanes)
    channels = np.stack([link, lane], axis=1).tolist()
    start = table.group_start.tolist()
    goals = [*range(graph.switches, graph.switches + graph.terminals), *table.via_switch.tolist()]
    routes = []
    taken = np.where(_taken(graph, table, lanes), table.route, NONE)
    for switch, row in enumerate(taken[:, np.concatenate([table.terminal_class, table.via_class])]):
        for place in np.flatnonzero(row != NONE).tolist():
            group = int(row[place]) >> 1
            routes.append([switch, goals[place], channels[start[group] : start[group + 1]]])
    return {
        "vertices": [*graph.switch_names, *graph.terminal_names],
        "links": np.stack([graph.link_source, graph.link_target], axis=1).tolist(),
        "routes": routes,
        "order": np.stack(np.divmod(order.astype(np.int64), lanes), axis=1).tolist(),
    }


def _taken(graph: Graph, table: RouteTable, lanes: int) -> NDArray[np.bool_]:
    """Return, per switch and class, whether packets of the class come to the switch."""
    taken = np.zeros(table.route.shape, bool)
    if table.joined:
        return ~taken
    starts = np.concatenate([graph.terminal_entry_switches, table.via_switch.astype(np.int64)])
    taken[starts[starts < graph.switches]] = True
    fresh, start = taken & (table.route != NONE), table.group_start.astype(np.int64)
    while fresh.any():
        switch, place = np.nonzero(fresh)
        group = (table.route[switch, place] >> 1).astype(np.int64)
        # At an intermediate switch the header is deleted.
        size = np.where(table.route[switch, place] & 1, 0, start[group + 1] - start[group])
        member = np.repeat(start[group] - np.cumsum(size) + size, size) + np.arange(size.sum())
        target = graph.link_target[table.group_links[member].astype(np.int64) // lanes]
        inside = target < graph.switches
        come = np.zeros_like(taken)
        come[target[inside], np.repeat(place, size)[inside]] = True
        fresh = come & ~taken
        taken |= fresh
        fresh &= table.route != NONE
    return taken
