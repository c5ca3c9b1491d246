"""The effect of every single failure of a link or a switch on a network of rings, computed without running
it.

A failure stops its rings, and with them every transaction whose request or response crosses one of them.
Routes stay unchanged; terminals with several ports avoid those whose own ring has stopped, if they can.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from ...compile import Compiled, RingRoutes
from ...compile.several import port_pairs
from ...routing.rings import PortRoute, ring_segments, rings_of
from ...topology import Graph
from ...traffic import Demand
from ..left import Left, left
from ..port_loads import Bools, Ints, Reals, port_shares
from .loads import Carried, bound, carried, needed, of_ports, ports_of, weighed

MOST_WAYS = 1 << 18
"""Most paths between ports that are followed: some seconds."""


class RingWays:
    """The rings that each transaction crosses, for many failures."""

    deadlocks = 0
    """There are no new tables."""

    def __init__(self, compiled: Compiled, routes: RingRoutes) -> None:
        self.compiled, self.routes, self.graph, self.rings = (
            compiled,
            routes,
            compiled.graph,
            routes.network.rings,
        )
        self.choice = compiled.scenario.port_choice
        if self.count > MOST_WAYS:
            message = f"the ways between {self.graph.ports:,} terminals are too many to follow"
            raise compiled.scenario.error(message, ("topology",), "take a smaller network")
        self.weighed = weighed(routes, compiled, compiled.demand())
        self.matrices = {id(one): one.matrix() for one, _ in self.weighed.values()}
        """Per demand, what each terminal sends to each."""
        self.payload = self.matrices[id(self.weighed["bytes"][0])]
        answered = routes.technology.response_bytes(64) > 0
        known = {id(graph): _crossed(graph, route, answered) for graph, route in routes.planes}
        self.crossed = [known[id(graph)] for graph, _ in routes.planes]
        """Per plane: per table, source, target and ring, whether the request or the response crosses it."""

    @property
    def count(self) -> int:
        """Ways between ports of one plane, by each table."""
        return sum(route.turns * graph.terminals**2 for graph, route in self.routes.planes)

    def arrives(self, down: Ints) -> Reals:
        """Return, per pair of ports, the share of its transactions that cross none of these rings."""
        found, first = np.zeros((self.graph.ports, self.graph.ports)), 0
        for plane, crossed in zip(self.graph.planes, self.crossed, strict=True):
            rings = crossed.shape[3]
            own = down[(down >= first) & (down < first + rings)] - first
            found[np.ix_(plane.port, plane.port)] = 1.0 - crossed[:, :, :, own].any(axis=3).mean(axis=0)
            first += rings
        return found

    def after(self, kind: str, name: str, dead: Ints) -> Left:
        """Return the network without the rings of these links."""
        graph = self.graph
        down = np.unique(self.rings.station_ring[dead])
        stopped = np.isin(self.rings.station_ring[graph.terminal_out_links], down)
        arrives = self.arrives(down)
        if graph.several is None:
            at, between = stopped, arrives
            bounds = self._bound(lambda matrix: self._alone(matrix * arrives))
        else:
            works = np.bincount(graph.several.terminal, weights=~stopped, minlength=graph.terminals)
            at, (between, bounds) = works == 0, self._by_ports(~stopped, arrives)
        gone = at if kind == "switch" else np.zeros_like(at)
        there, joined = ~(gone[:, None] | gone[None, :]), self._joined(~stopped, arrives)
        return left(kind, name, self.payload, between, there, bounds, joined)

    def _joined(self, runs: Bools, arrives: Reals) -> Bools | None:
        """Return, per pair of terminals with several ports, whether packets of some port would arrive."""
        if self.graph.several is None:
            return None
        source, target = np.divmod(np.arange(self.payload.size), self.graph.terminals)
        pair, port, to = port_pairs(self.routes, "round-robin", source, target)
        there = runs[port] & (arrives[port, to] > 0)
        found: Bools = np.bincount(pair, weights=there, minlength=self.payload.size) > 0
        return found.reshape(self.payload.shape)

    def _by_ports(self, runs: Bools, arrives: Reals) -> tuple[Reals, dict[str, Any]]:
        """Return the share of packets that arrives per pair of terminals, and the bound of what remains.

        ``runs`` says, per port, whether its ring does; ``arrives``: see :meth:`arrives`.
        """
        source, target = np.divmod(np.arange(self.payload.size), self.graph.terminals)
        pair, port, to = port_pairs(self.routes, self.choice, source, target, runs)
        part = arrives[port, to] * port_shares(self.routes, self.choice, pair, port)
        between: Reals = np.zeros(self.payload.size)
        np.add.at(between, pair, part)
        ports = ports_of(self.routes, self.choice)

        def carry(matrix: Reals) -> Carried:
            sent = matrix.ravel()[pair] * part
            return of_ports(self.routes, [(port[sent > 0], to[sent > 0], sent[sent > 0])], ports)

        return between.reshape(self.payload.shape), self._bound(carry)

    def _alone(self, kept: Reals) -> Carried:
        """Return what is carried of packets between terminals of one port."""
        source, target = np.nonzero(kept)
        demand = Demand(source, target, kept[source, target], np.zeros(self.graph.terminals))
        return carried(self.routes, self.choice, demand)

    def _bound(self, carry: Callable[[Reals], Carried]) -> dict[str, Any]:
        """Return the bound of what remains, of which ``carry`` says what is carried."""
        needs = needed(self.routes, self.weighed, lambda demand: carry(self.matrices[id(demand)]))
        return bound(self.routes, needs)


def _crossed(graph: Graph, route: PortRoute, answered: bool) -> Bools:
    """Return, per table, source, target and ring, whether the request or the response crosses the ring."""
    rings, terminals, tables = rings_of(graph), graph.terminals, route.tables()
    found = np.zeros((len(tables), terminals, terminals, rings.rings), bool)
    ends = product(*(rings.terminals_of(role, terminals).tolist() for role in ("sender", "receiver")))
    pairs = [(source, target) for source, target in ends if source != target]
    for number, table in enumerate(tables):
        for source, target in pairs:
            ways = [(source, target), (target, source)] if answered else [(source, target)]
            for way in ways:
                segments = ring_segments(graph, table, *way)
                found[number, source, target, rings.station_ring[[at for at, _ in segments]]] = True
    return found
