"""Combine the tables of several planes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .table import NONE, RouteTable, RoutingError, check_size

if TYPE_CHECKING:
    from ..topology.graph import Graph


def together(graph: Graph, tables: Sequence[RouteTable], lanes: int = 1) -> RouteTable:
    """Return one table for all planes of a graph; ``lanes`` is the number per link if groups are of lanes.

    Ports of one class keep it in every plane, so a header is the same in each. Raises ``RoutingError`` if
    planes have different numbers of intermediate switches.
    """
    planes = graph.planes
    if graph.several is None:
        return tables[0]
    if len({len(table.via_switch) for table in tables}) > 1:
        raise RoutingError("universal routing needs planes of the same number of switches", "universal")
    classes = max(table.classes for table in tables)
    check_size(graph.switches, classes, "kind")
    route = np.full((graph.switches, classes), NONE, np.uint32)
    port_class = np.zeros(graph.ports, np.uint32)
    groups = np.cumsum([0, *(table.groups for table in tables)])
    starts = np.cumsum([0, *(len(table.group_links) for table in tables)])
    for number, (plane, table) in enumerate(zip(planes, tables, strict=True)):
        rows = slice(plane.first_switch, plane.first_switch + plane.graph.switches)
        entries = table.route.astype(np.int64)
        moved = np.where(entries == NONE, NONE, entries + 2 * groups[number])
        route[rows, : table.classes] = moved
        port_class[plane.port] = table.terminal_class
    pairs = list(zip(planes, tables, strict=True))
    ends = [table.group_start[:-1].astype(np.int64) + starts[at] for at, table in enumerate(tables)]
    given = [table.group_lanes for table in tables]
    return RouteTable(
        group_switch=_numbers([table.group_switch + plane.first_switch for plane, table in pairs]),
        group_start=_numbers([*ends, starts[-1:]]),
        group_links=_numbers([table.group_links + plane.first_link * lanes for plane, table in pairs]),
        route=route,
        terminal_class=port_class,
        via_switch=_numbers([table.via_switch + plane.first_switch for plane, table in pairs]),
        via_class=_numbers([table.via_class for table in tables]),
        group_lanes=None
        if given[0] is None
        else np.concatenate([lane for lane in given if lane is not None]),
        kind=tables[0].kind,
    )


def _numbers(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts).astype(np.uint32)
