"""What a failure of a cable or a switch would leave of a network of links, without running it.

Tables stay as they are, and groups shrink to the links that are left: so packets that take a way on which all
links are dead further on are lost, although another choice would have led them there. Links that are taken
away take dependencies with them, so what cannot deadlock cannot deadlock after a failure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...compile import Compiled, LinkRoutes
from ...compile.several import port_pairs
from ...routing import NONE
from ..left import Left, left
from .loads import channel_load

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]


class LinkWays:
    """The paths of all packets of a network, for many failures."""

    def __init__(self, compiled: Compiled, routes: LinkRoutes) -> None:
        if routes.via:
            message = "failures are not looked at with universal routing"
            raise compiled.scenario.error(
                message, ("routing", "universal"), "leave out --fault, or universal"
            )
        self.compiled, self.routes, self.graph = compiled, routes, compiled.graph
        self.packet = compiled.mean_packet_bytes, compiled.mean_packet_chars
        table, switches = self.routes.table, self.graph.switches
        self.classes = table.classes
        entry = np.asarray(table.route, np.int64).reshape(switches, self.classes)
        rows = np.flatnonzero(entry.ravel() != NONE)
        group = entry.ravel()[rows] >> 1
        start = np.asarray(table.group_start, np.int64)
        size = start[group + 1] - start[group]
        # One line for each link that an entry leads to.
        first = np.repeat(start[group] - np.concatenate(([0], np.cumsum(size)[:-1])), size)
        self.row = np.repeat(rows, size)
        self.link = np.asarray(table.group_links, np.int64)[first + np.arange(int(size.sum()))]
        self.class_of = np.asarray(table.terminal_class, np.int64)
        self._aims()
        self.demand = compiled.demand().matrix()
        self.pairs = np.divmod(np.arange(self.demand.size), self.graph.terminals)

    def _aims(self) -> None:
        """Return where each line leads: to an entry of the next switch, to its terminal, or nowhere."""
        target = np.asarray(self.graph.link_target, np.int64)[self.link]
        kind = self.row % self.classes
        self.to_switch = target < self.graph.switches
        terminal = target - self.graph.switches
        right = np.full(len(target), -1)
        right[~self.to_switch] = self.class_of[terminal[~self.to_switch]]
        self.arrives = ~self.to_switch & (right == kind)
        self.next = np.where(self.to_switch, target * self.classes + kind, 0)

    @property
    def count(self) -> int:
        """Return the remaining paths of all switches to all terminals."""
        return len(self.row)

    @property
    def rows(self) -> int:
        """Number of entries of the table."""
        return self.graph.switches * self.classes

    def shares(self, dead: Ints) -> Reals:
        """Return, per line, the share of its entry's packets that take it if these links are dead."""
        alive = ~np.isin(self.link, dead)
        count = np.bincount(self.row[alive], minlength=self.rows)
        return np.where(alive, 1 / np.maximum(count[self.row], 1), 0.0)

    def arrival(self, shares: Reals) -> Reals:
        """Return, per entry, the share of its packets that arrive."""
        found = np.zeros(self.rows)
        for _ in range(self.graph.switches + 1):
            ahead = np.where(self.to_switch, found[self.next], self.arrives)
            new: Reals = np.bincount(self.row, weights=shares * ahead, minlength=self.rows).astype(float)
            if np.array_equal(new, found):
                break
            found = new
        return found

    @property
    def entry(self) -> Ints:
        """Return, per port, the switch that it sends to."""
        return np.asarray(self.graph.link_target, np.int64)[self.graph.terminal_out_links]

    def by_ports(self, out: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, Reals]:
        """Return pairs of terminals, their sending and receiving ports, and the share of each pair of ports.
        Other ports, if any, replace those whose own outgoing link is dead.
        """
        if self.graph.several is None:
            source, target = self.pairs
            return np.arange(len(source)), source, target, np.ones(len(source))
        pair, port, to = port_pairs(self.routes, self.compiled.scenario.port_choice, *self.pairs, runs=~out)
        count = np.bincount(pair, minlength=self.demand.size)
        return pair, port, to, 1.0 / count[pair]

    def loads(self, shares: Reals, sent: Reals, dead: Ints) -> Reals:
        """Return the packets per unit of time and link, from those between all ports."""
        graph = self.graph
        entry = self.entry
        flow = np.zeros((graph.switches, self.classes))
        np.add.at(flow, (entry[:, None], self.class_of[None, :]), sent)
        flow, load = flow.ravel(), np.zeros(graph.links)
        for _ in range(graph.switches + 1):
            over = flow[self.row] * shares
            load += np.bincount(self.link, weights=over, minlength=graph.links)
            flow = np.bincount(self.next[self.to_switch], weights=over[self.to_switch], minlength=self.rows)
            if not flow.any():
                break
        load[graph.terminal_out_links] += sent.sum(axis=1)
        load[dead] = 0.0
        return load

    def _with_links(self, runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return, per terminal, whether one of its ports has links."""
        several = self.graph.several
        if several is None:
            return runs
        return np.bincount(several.terminal, weights=runs, minlength=self.graph.terminals) > 0

    def after(self, kind: str, name: str, dead: Ints) -> Left:
        """Return the network without these links."""
        graph = self.graph
        out, inward = np.isin(graph.terminal_out_links, dead), np.isin(graph.terminal_in_links, dead)
        shares = self.shares(dead)
        arrives = self.arrival(shares).reshape(graph.switches, self.classes)
        pair, port, to, part = self.by_ports(out)
        there = np.where(out[port], 0.0, part * arrives[self.entry[port], self.class_of[to]])
        between: Reals = np.bincount(pair, weights=there, minlength=self.demand.size).astype(float)
        between = between.reshape(self.demand.shape)
        runs = self._with_links(~(out | inward)) if kind == "switch" else np.ones(graph.terminals, bool)
        sent = np.zeros((graph.ports, graph.ports))
        np.add.at(sent, (port, to), np.where(out[port], 0.0, part * self.demand.ravel()[pair]))
        bound = channel_load(self.routes, self.loads(shares, sent, dead), self.packet)
        if bound["accepted_mbytes_per_s_bound"] is not None and sent.sum():
            bound["accepted_mbytes_per_s_bound"] *= float((self.demand * between).sum()) / float(sent.sum())
        joined = self._joined(out, arrives)
        return left(kind, name, self.demand, between, runs[:, None] & runs[None, :], bound, joined)

    def _joined(self, out: NDArray[np.bool_], arrives: Reals) -> NDArray[np.bool_] | None:
        """Return, per pair of terminals with several ports, whether packets of some port would arrive."""
        if self.graph.several is None:
            return None
        pair, port, to = port_pairs(self.routes, "round-robin", *self.pairs)
        there = ~out[port] & (arrives[self.entry[port], self.class_of[to]] > 0)
        found = np.bincount(pair, weights=there, minlength=self.demand.size) > 0
        return found.reshape(self.demand.shape)
