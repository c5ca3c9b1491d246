"""The proof that a routing cannot deadlock, as data that anyone can check: ``check_certificate.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..topology.graph import Graph
from .check import channel_order
from .table import NONE, RouteTable


def certificate(graph: Graph, table: RouteTable, lanes: int = 1) -> dict[str, Any] | None:
    """Return the routes of a table of lanes and the order of its channels, or None if there is none.

    Ready for JSON: ``links`` has source and target vertex of each link, ``routes`` the channels by switch and
    terminal, ``order`` the channels in which every packet takes them. Channels are pairs of link and lane.
    """
    order = channel_order(graph, table, lanes)
    if order is None:
        return None
    link, lane = np.divmod(table.group_links.astype(np.int64), lanes)
    channels = np.stack([link, lane], axis=1).tolist()
    start = table.group_start.tolist()
    routes = []
    for switch, row in enumerate(table.route[:, table.terminal_class]):
        for terminal in np.flatnonzero(row != NONE).tolist():
            group = int(row[terminal]) >> 1
            routes.append([switch, graph.switches + terminal, channels[start[group] : start[group + 1]]])
    return {
        "vertices": [*graph.switch_names, *graph.terminal_names],
        "links": np.stack([graph.link_source, graph.link_target], axis=1).tolist(),
        "routes": routes,
        "order": np.stack(np.divmod(order.astype(np.int64), lanes), axis=1).tolist(),
    }
