"""What a failure of a cable or a switch would leave of a network of links, without running it.

Tables stay as they are, and groups shrink to the links that are left: so packets that take a way on which all
links are dead further on are lost, although another choice would have led them there. Links that are taken
away take dependencies with them, so what cannot deadlock cannot deadlock after a failure: the order of
channels that proves it stays one. The core follows only the ways that a failure touches.

Or a new table leads around the dead links, as a subnet manager makes one. Where no way is left, the entries
of the old one stay: all switches that are cut off have those, so packets end where they would have crossed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import routing
from ...compile import Compiled, LinkRoutes
from ...compile.faults import around
from ...compile.several import parallel, port_pairs
from ...routing import Phase, RouteTable, RoutingError, ways_of
from ...routing.table import MOST_ENTRIES, NONE
from ...topology import Graph
from ..left import CUT_OFF, LOSSY, Left, left, share_of
from ..port_loads import Bools, Ints, Reals, port_shares
from .capacity import held, limits
from .loads import channel_load, first_hop, full_at, in_mean_packets


class LinkWays:
    """The paths of all packets of a network, for many failures."""

    def __init__(self, compiled: Compiled, routes: LinkRoutes) -> None:
        if routes.via:
            message = "what failures leave of packets that go over random switches is not followed"
            hint = "leave out --fault, and run with [[fault]]"
            raise compiled.scenario.error(message, ("routing",), hint, key=True)
        graph = compiled.graph
        if (graph.link_target[graph.terminal_out_links] >= graph.switches).any():
            message = "failures are followed from switch to switch, and a cable joins two terminals"
            raise compiled.scenario.error(message, ("topology",), "leave out --fault")
        if any(table.cells > MOST_ENTRIES for _, table in routes.planes):
            message = f"failures are looked at with at most {MOST_ENTRIES:,} pairs of switches"
            raise compiled.scenario.error(message, ("topology",), "leave out --fault, or take fewer switches")
        self.compiled, self.routes, self.graph = compiled, routes, compiled.graph
        self.packet = compiled.mean_packet_bytes, compiled.mean_packet_chars
        self.limits = limits(compiled, first_hop(compiled), held(compiled))
        self.demand = in_mean_packets(compiled)
        """What fills links."""
        self.sent = self.demand.sent()
        self.payload = compiled.demand().by_payload(float(self.sent.sum()))
        """What is to arrive, of the same sum."""
        self.deadlocks = self.between = 0
        """After how many failures new tables can deadlock."""
        self.entry = np.asarray(self.graph.link_target, np.int64)[self.graph.terminal_out_links]
        """Per port: the switch that it sends to."""

    @property
    def count(self) -> int:
        """Return how many entries of tables a failure can touch."""
        return sum(table.cells for _, table in self.routes.planes)

    @cached_property
    def entering(self) -> tuple[Reals, Ints, Reals]:
        """What enters for each aim at each switch, from how many terminals, and the same as payload."""
        shape = self.graph.switches, len(self.routes.table.terminal_class)
        packets, senders, payload = np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape)
        for switch in np.unique(self.entry).tolist():
            here = np.flatnonzero(self.entry == switch)
            rows = self._by_aim(here, self.demand.rows(here))
            packets[switch], senders[switch] = rows.sum(axis=0), np.count_nonzero(rows, axis=0)
            payload[switch] = self._by_aim(here, self.payload.rows(here)).sum(axis=0)
        return packets, senders, payload

    def _by_aim(self, sources: Ints, rows: Reals) -> Reals:
        """Return what terminals send to each, by the aims of its packets: the ways to it."""
        table = self.routes.table
        if table.by_source is None:
            return rows
        found = np.zeros((len(sources), len(table.terminal_class)))
        aims = table.aims(sources[:, None], np.arange(self.graph.terminals))
        np.put_along_axis(found, aims, rows, axis=1)
        return found

    @cached_property
    def _ways(self) -> list[Any]:
        """Per plane, the paths and what takes them without failures."""
        return [
            ways_of(graph, table.by_column(), np.ascontiguousarray(own.T))
            for (graph, table), own in zip(self.routes.planes, self._enters, strict=True)
        ]

    def _ways_after(self, dead: Ints) -> list[Any]:
        """Return, per plane, the paths of all packets once links are dead: by the same tables."""
        return self._ways

    @cached_property
    def _enters(self) -> list[Reals]:
        """Per plane, what enters for each aim at each switch without failures."""
        return [self.entering[0]] if self.graph.several is None else self._by_planes(self._usual[4])

    @cached_property
    def _usual(self) -> tuple[Ints, Ints, Ints, Reals, Reals]:
        """What terminals with several ports send if all of their links run."""
        return self._by_ports(np.zeros(self.graph.ports, bool))

    @cached_property
    def _all_ports(self) -> tuple[Ints, Ints, Ints]:
        """All pairs of terminals with several ports, with each pair of ports that may join them."""
        ends = np.divmod(np.arange(self.graph.terminals**2), self.graph.terminals)
        return port_pairs(self.routes, "round-robin", *ends)

    def after(self, kind: str, name: str, dead: Ints, whole: bool = False) -> Left:
        """Return the network without these links.

        Args:
            kind: what fails: only a switch takes its terminals with it.
            name: its name.
            dead: the links.
            whole: follow all paths again, also those that the failure does not touch.
        """
        graph = self.graph
        out, inward = np.isin(graph.terminal_out_links, dead), np.isin(graph.terminal_in_links, dead)
        runs = ~(out | inward) if kind == "switch" else np.ones(graph.ports, bool)
        find = self._alone if graph.several is None else self._of_several
        return find(kind, name, dead, out, runs, whole)

    def _alone(self, kind: str, name: str, dead: Ints, out: Bools, runs: Bools, whole: bool) -> Left:
        """Return what is left where each terminal has one port."""
        own = {at: np.flatnonzero(self.entry == at) for at in np.unique(self.entry[out | ~runs]).tolist()}
        sends = [self._by_aim(here, self.demand.rows(here))[~out[here]].sum(axis=0) for here in own.values()]
        changed = _changed(np.array(list(own), np.int64), sends)
        to, switch, lost, load = self._ways_after(dead)[0].after(dead.astype(np.uint32), *changed, whole)
        load[self.graph.terminal_out_links] = np.where(out, 0.0, self.sent)
        rows = {at: self._by_aim(here, self.payload.rows(here)) for at, here in own.items()}
        weight, count, share, asked = self._pairs(to, switch, lost, rows, out, runs)
        gone = np.flatnonzero(~runs)
        both, payload = self.payload.rows(gone), self.entering[2].sum(axis=0)
        to_gone = payload.reshape(-1, self.graph.terminals)[:, gone].sum()
        total = float(self.sent.sum())
        others = float(total - both.sum() - to_gone + both[:, gone].sum())
        arrives = share_of(float((weight * share).sum()), total)
        bound = self._bound(load, arrives * total, float(self.sent[~out].sum()))
        return Left(
            kind,
            name,
            cut_off=int(count[asked & (share > CUT_OFF)].sum()),
            spared=0,
            lossy=int(count[asked & (share > LOSSY)].sum()),
            delivered_share=arrives,
            others_share=share_of(float((weight * share)[asked].sum()), others),
            bound=bound,
        )

    def _bound(self, load: Reals, arrives: float, sent: float) -> dict[str, Any]:
        """Return the bound on the throughput, of which only what arrives counts."""
        full = full_at(self.routes, load, self.packet, self.limits)
        bound = channel_load(self.routes, load, self.packet, full)
        if bound["accepted_mbytes_per_s_bound"] is not None and sent:
            bound["accepted_mbytes_per_s_bound"] *= arrives / sent
        return bound

    def _pairs(
        self, to: Ints, switch: Ints, lost: Reals, rows: dict[int, Reals], out: Bools, runs: Bools
    ) -> tuple[Reals, Ints, Reals, Bools]:
        """Return payload, pairs of terminals, the share that is lost, and whether both ends still run.

        Terminals of a switch count together, but for the switches of ``rows``, what their terminals send.
        """
        _, senders, payload = self.entering
        alike = ~np.isin(switch, list(rows))
        place, there = (switch[alike], to[alike]), np.resize(runs, senders.shape[1])
        weight, count, share, asked = [payload[place]], [senders[place]], [lost[alike]], [there[to[alike]]]
        for at, sent in rows.items():
            part = np.zeros(len(there))
            part[to[switch == at]] = lost[switch == at]
            sources = self.entry == at
            weight.append(sent.ravel())
            count.append((sent.ravel() > 0).astype(np.int64))
            share.append(np.where(out[sources, None], 1.0, part).ravel())
            asked.append((runs[sources, None] & there).ravel())
        return np.concatenate(weight), np.concatenate(count), np.concatenate(share), np.concatenate(asked)

    def _by_ports(self, out: Bools) -> tuple[Ints, Ints, Ints, Reals, Reals]:
        """Return pairs of terminals, their sending and receiving ports, the share of each pair of ports, and
        what each port sends to each. Other ports replace those whose own outgoing link is dead.
        """
        demand, ports, choice = self.demand.matrix(), self.graph.ports, self.compiled.scenario.port_choice
        ends = np.divmod(np.arange(demand.size), self.graph.terminals)
        pair, port, to = port_pairs(self.routes, choice, *ends, runs=~out)
        part = port_shares(self.routes, choice, pair, port)
        sent = np.zeros((ports, ports))
        np.add.at(sent, (port, to), np.where(out[port], 0.0, part * demand.ravel()[pair]))
        return pair, port, to, part, sent

    def _by_planes(self, sent: Reals) -> list[Reals]:
        """Return, per plane, what enters for each aim at each switch."""
        found = []
        for plane, (graph, table) in zip(self.graph.planes, self.routes.planes, strict=True):
            enters = np.zeros((graph.switches, len(table.terminal_class)))
            source, target = np.ix_(np.arange(graph.terminals), np.arange(graph.terminals))
            home = np.asarray(graph.terminal_entry_switches)[source]
            np.add.at(enters, (home, table.aims(source, target)), sent[np.ix_(plane.port, plane.port)])
            found.append(enters)
        return found

    def _of_several(self, kind: str, name: str, dead: Ints, out: Bools, runs: Bools, whole: bool) -> Left:
        """Return what is left where terminals have several ports."""
        graph, payload = self.graph, self.payload.matrix()
        pair, port, to, part, sent = self._by_ports(out) if out.any() else self._usual
        enters = self._by_planes(sent) if out.any() else self._enters
        table, load = self.routes.table, np.zeros(graph.links)
        arrives = np.ones((graph.switches, len(table.terminal_class)))
        sides = zip(graph.planes, self._ways_after(dead), enters, self._enters, strict=True)
        for plane, ways, sends, before in sides:
            own = dead[(dead >= plane.links.start) & (dead < plane.links.stop)] - plane.first_link
            changed = np.flatnonzero((sends != before).any(axis=1))
            others = _changed(changed, list(sends[changed]))
            kinds, switch, lost, load[plane.links] = ways.after(own.astype(np.uint32), *others, whole)
            way, to_port = np.divmod(kinds, len(plane.port))
            arrives[plane.first_switch + switch, way * graph.ports + plane.port[to_port]] = 1 - lost
        load[graph.terminal_out_links] = sent.sum(axis=1)
        # At a load of 1 the busiest source fills all of its ports.
        load = load * int(parallel(self.routes, self.compiled.scenario.port_choice).max())
        there = np.where(out[port], 0.0, part * arrives[self.entry[port], table.aims(port, to)])
        between = np.bincount(pair, weights=there, minlength=payload.size).astype(float)
        between = between.reshape(payload.shape)
        bound = self._bound(load, float((payload * between).sum()), float(sent.sum()))
        assert graph.several is not None
        lives = np.bincount(graph.several.terminal, weights=runs, minlength=graph.terminals) > 0
        return left(
            kind, name, payload, between, lives[:, None] & lives[None, :], bound, self._joined(out, arrives)
        )

    def _joined(self, out: Bools, arrives: Reals) -> Bools:
        """Return, per pair of terminals with several ports, whether packets of some port would arrive."""
        terminals = self.graph.terminals
        pair, port, to = self._all_ports
        there = ~out[port] & (arrives[self.entry[port], self.routes.table.aims(port, to)] > 0)
        return (np.bincount(pair, weights=there, minlength=terminals**2) > 0).reshape(terminals, terminals)


class ReroutedWays(LinkWays):
    """The paths of all packets after each failure, by tables of their own."""

    def __init__(self, compiled: Compiled, routes: LinkRoutes, kind: str) -> None:
        """``kind``: the rule of the new tables. Raises ScenarioError."""
        super().__init__(compiled, routes)
        if routes.lane_choice not in (None, "any", "destination"):
            message = f"with lane_choice {routes.lane_choice} no new tables are made"
            raise compiled.scenario.error(message, ("routing", "lane_choice"), "leave out --reroute")
        self.kind = kind

    def _ways_after(self, dead: Ints) -> list[Any]:
        """Return, per plane, the ways by its new table, and note whether these can deadlock."""
        is_dead = np.zeros(self.graph.links, bool)
        is_dead[dead] = True
        found, loops, between = list[Any](), False, False
        planes = zip(self.graph.planes, self.routes.planes, self._ways, self._enters, strict=True)
        for plane, (graph, table), usual, enters in planes:
            gone = is_dead[plane.links]
            if not gone[graph.switch_links].any():
                found.append(usual)
                continue
            new = self._table(graph, gone, table)
            loops |= not self.routes.is_free(graph, new)
            between |= self._meet(graph, [table, new], np.flatnonzero(gone))
            found.append(ways_of(graph, _with_entries_of(new, table), np.ascontiguousarray(enters.T)))
        self.deadlocks += loops
        self.between += between and not loops
        return found

    def _meet(self, graph: Graph, tables: list[RouteTable], gone: Ints) -> bool:
        """Return whether packets under way by the first table and others by the second can close a cycle."""
        routes, dead, (first, new) = self.routes, [gone[:0], gone], tables
        if first.by_source is not None:
            # The new table has one way to each target.
            rows = np.tile(new.rows, first.full().classes // new.classes)
            new = replace(new, rows=rows, terminal_class=first.terminal_class, by_source=first.by_source)
            every = np.divmod(np.arange(graph.terminals**2), graph.terminals)
            phases = [Phase(one, gone, every) for one, gone in zip([first, new], dead, strict=True)]
            return routing.phases_cycle(graph, phases) is not None
        for own in routes.waiting_apart(at_first=True):
            if tables[0].levels is None or routes.technology.holds_wire:
                ways = [routes.as_waited_for(graph, one, own)[0] for one in tables]
                pairs = [routing.one_of_each(graph, ways)] * 2
            else:
                ways, pairs = tables, [routing.pairs_at(graph, one, own[0]) for one in tables]
            phases = [Phase(*one) for one in zip(ways, dead, pairs, strict=True)]
            if routing.phases_cycle(graph, phases, len(own)) is not None:
                return True
        return False

    def _table(self, graph: Graph, gone: Bools, usual: RouteTable) -> RouteTable:
        scenario = self.compiled.scenario
        try:
            found = around(scenario, self.routes, graph, gone, self.kind, usual)
        except RoutingError as error:
            raise scenario.located(error, "routing") from error
        # Packets that no way is left for wait for nothing.
        return replace(found, entered="where-known")


def _changed(switches: Ints, sends: list[Reals]) -> tuple[NDArray[np.uint32], Reals]:
    """Return switches and what enters there, one after the other, as the core takes them."""
    return switches.astype(np.uint32), np.concatenate(sends) if sends else np.zeros(0)


def _with_entries_of(new: RouteTable, old: RouteTable) -> RouteTable:
    """Return the new table, with the entries of the old one where it has none: all ways have its paths."""
    before = old.full()
    first = before.group_start[-1]
    rows = np.tile(new.rows, before.rows.shape[1] // new.rows.shape[1])
    moved = np.where(rows == NONE, NONE, rows.astype(np.int64) + 2 * before.groups)
    return replace(
        before,
        group_switch=np.concatenate([before.group_switch, new.group_switch]),
        group_start=np.concatenate([before.group_start, new.group_start[1:] + first]),
        group_links=np.concatenate([before.group_links, new.group_links]),
        rows=np.where(moved == NONE, before.rows, moved).astype(np.uint32),
        group_lanes=None,
        layer=None,
    )
