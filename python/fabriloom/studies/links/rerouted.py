"""What a failure would leave of a network with new tables after it, as a subnet manager does.

The new table leads around the dead links. Where no way is left, the entries of the old one stay: all switches
that are cut off have those, so packets end where they would have crossed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...compile import Compiled, LinkRoutes
from ...compile.faults import around
from ...routing import RouteTable, RoutingError, ways_of
from ...routing.table import NONE
from ...topology import Graph
from ..port_loads import Bools, Ints
from .failures import LinkWays


class ReroutedWays(LinkWays):
    """The paths of all packets after each failure, by tables of their own."""

    def __init__(self, compiled: Compiled, routes: LinkRoutes, kind: str) -> None:
        """``kind``: one of ``routing.AROUND``. Raises ScenarioError."""
        super().__init__(compiled, routes)
        if routes.lane_choice not in (None, "any", "destination"):
            message = f"with lane_choice {routes.lane_choice} no new tables are made"
            raise compiled.scenario.error(message, ("routing", "lane_choice"), "leave out --reroute")
        if routes.table.by_source is not None:
            message = "senders keep the paths of this file, whatever new tables say"
            raise compiled.scenario.error(message, ("routing", "path"), "leave out --reroute")
        self.kind = kind

    def _ways_after(self, dead: Ints) -> list[Any]:
        """Return, per plane, the ways by its new table, and note whether these can deadlock."""
        is_dead = np.zeros(self.graph.links, bool)
        is_dead[dead] = True
        found, loops = list[Any](), False
        planes = zip(self.graph.planes, self.routes.planes, self._ways, self._enters, strict=True)
        for plane, (graph, table), usual, enters in planes:
            gone = is_dead[plane.links]
            if not gone[graph.switch_links].any():
                found.append(usual)
                continue
            new = self._table(graph, gone)
            loops |= not self.routes.is_free(graph, new)
            found.append(ways_of(graph, _beside(new, table), np.ascontiguousarray(enters.T)))
        self.deadlocks += loops
        return found

    def _table(self, graph: Graph, gone: Bools) -> RouteTable:
        scenario = self.compiled.scenario
        try:
            found = around(scenario, self.routes, graph, gone, self.kind)
        except RoutingError as error:
            raise scenario.located(error, "routing") from error
        # Packets that no way is left for wait for nothing.
        return replace(found, entered="where-known")


def _beside(new: RouteTable, old: RouteTable) -> RouteTable:
    """Return the new table, with the entries of the old one where it has none."""
    before = old.full()
    first = before.group_start[-1]
    moved = np.where(new.rows == NONE, NONE, new.rows.astype(np.int64) + 2 * before.groups)
    return replace(
        before,
        group_switch=np.concatenate([before.group_switch, new.group_switch]),
        group_start=np.concatenate([before.group_start, new.group_start[1:] + first]),
        group_links=np.concatenate([before.group_links, new.group_links]),
        rows=np.where(moved == NONE, before.rows, moved).astype(np.uint32),
        group_lanes=None,
        layer=None,
    )
