"""The effect of every single failure of a link or a switch on a network of rings, computed without running
it.

A failure stops its rings, or its links alone where the technology says so, and with them every transaction
whose data cross one of these links, behind a request or with one. Routes stay unchanged; terminals with
several ports avoid those whose own link has stopped, if they can.
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
from .loads import Carried, bound, carried, needed, of_ports, ports_of, weighed, windows

MOST_WAYS = 1 << 18
"""Most paths between ports that are followed: some seconds."""


class RingWays:
    """The links that each transaction crosses before its data are delivered, for many failures."""

    deadlocks = between = 0
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
        self.windows = windows(compiled, compiled.demand())
        self.matrices = {id(one): one.matrix() for one, _ in self.weighed.values()}
        """Per demand, what each terminal sends to each."""
        self.payload = self.matrices[id(self.weighed["bytes"][0])]
        answered = routes.technology.transaction in ("nread", "lock")
        known = {id(graph): _Crossed(graph, route, answered) for graph, route in routes.planes}
        self.crossed = [known[id(graph)] for graph, _ in routes.planes]
        """Per plane."""

    @property
    def count(self) -> int:
        """Ways between ports of one plane, by each table."""
        return sum(route.turns * graph.terminals**2 for graph, route in self.routes.planes)

    def arrives(self, down: Bools) -> Reals:
        """Return, per pair of ports, the share of its transactions that cross none of these links."""
        found = np.zeros((self.graph.ports, self.graph.ports))
        for plane, crossed in zip(self.graph.planes, self.crossed, strict=True):
            found[np.ix_(plane.port, plane.port)] = 1.0 - crossed.share(down[plane.links])
        return found

    def after(self, kind: str, name: str, dead: Ints) -> Left:
        """Return the network after a failure of these links."""
        graph, down = self.graph, np.zeros(self.graph.links, bool)
        down[self.routes.network.down_with(dead.tolist())] = True
        stopped, arrives = down[graph.terminal_out_links], self.arrives(down)
        cut = stopped & down[graph.terminal_in_links]
        if graph.several is None:
            at, between = cut, arrives
            whole = ((arrives == 1) | (self.payload == 0)).all(axis=1)
            bounds = self._bound(lambda matrix: self._alone(matrix * arrives), whole)
        else:
            works = np.bincount(graph.several.terminal, weights=~cut, minlength=graph.terminals)
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

        return between.reshape(self.payload.shape), self._bound(carry, np.array(runs.all() and part.all()))

    def _alone(self, kept: Reals) -> Carried:
        """Return what is carried of packets between terminals of one port."""
        source, target = np.nonzero(kept)
        demand = Demand(source, target, kept[source, target], np.zeros(self.graph.terminals))
        return carried(self.routes, self.choice, demand)

    def _bound(self, carry: Callable[[Reals], Carried], whole: Bools) -> dict[str, Any]:
        """Return the bound of what remains, of which ``carry`` says what is carried.

        ``whole``: the terminals that send as before. The windows of the others are left out.
        """
        needs = needed(self.routes, self.weighed, lambda demand: carry(self.matrices[id(demand)]))
        needs.busy_ps["window"] = np.where(whole, self.windows, 0.0)
        return bound(self.routes, needs)


class _Crossed:
    """The parts of rings that packets cross. The links of a ring are numbered in order."""

    def __init__(self, graph: Graph, route: PortRoute, answered: bool) -> None:
        rings, terminals, tables = rings_of(graph), graph.terminals, route.tables()
        ends = product(*(rings.terminals_of(role, terminals).tolist() for role in ("sender", "receiver")))
        parts = [
            (number, source, target, sender, taker)
            for source, target in ends
            if source != target
            for number, table in enumerate(tables)
            for way in ([(source, target), (target, source)] if answered else [(source, target)])
            for sender, taker in ring_segments(graph, table, *way)
        ]
        *self.way, sender, taker = np.array(parts, np.int64).reshape(-1, 5).T
        self.first, self.behind = (rings.ring_start[rings.station_ring[sender] + more] for more in (0, 1))
        self.start, self.end = sender, taker + np.where(taker > sender, 0, self.behind - self.first)
        self.shape = (len(tables), terminals, terminals)

    def share(self, down: Bools) -> Reals:
        """Return, per source and target, the share of its transactions that cross one of these links."""
        before = np.concatenate([[0], np.cumsum(down)])
        around = np.maximum(self.end - self.behind + self.first, self.first)
        lost = before[np.minimum(self.end, self.behind)] - before[self.start]
        lost = lost + before[around] - before[self.first] > 0
        found = np.zeros(self.shape, bool)
        found[tuple(way[lost] for way in self.way)] = True
        share: Reals = found.mean(axis=0)
        return share
