"""Properties of a network of links before it runs: routes, smallest cut, busiest link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ... import routing
from ...codes import FAULT_KIND
from ...compile import Compiled, LinkRoutes
from ...compile.several import parallel
from ...results.figures import figures, in_percent
from ...topology import measure
from ...traffic import Demand
from ..port_loads import Ints, Pairs, Reals, by_ports, in_planes, plane_lines, several, spread_evenly
from . import bisection as effective_bisection
from . import loads as link_loads
from .capacity import Held, apart_ticks, capacity, held, limits
from .failures import LinkWays, ReroutedWays
from .loads import channel_load, full_at, packet_of, payload_mbytes_per_s
from .trial import Capacity

MOST_TERMINALS_FOR_CUT = 4096
"""Most terminals for which a cut is searched; larger networks need a formula."""


_MOST_PAIRS = 2_000
"""Most pairs whose share of a link is computed: a second."""
_LARGEST = 3


class LinkInspection:
    """The inspection of a network of links; RingInspection has the same methods."""

    def __init__(self, compiled: Compiled) -> None:
        assert isinstance(compiled.routes, LinkRoutes)
        self.compiled, self.routes = compiled, compiled.routes

    def network(self) -> dict[str, Any]:
        """Return its routes and their loads, ready for JSON."""
        routes, packet, rates = self.routes, packet_of(self.compiled), link_loads.rates(self.routes)
        loads, found, most = self._loads(self._demand()), self._capacity(), self._limits()
        fastest = float(link_loads.speeds(routes).max(initial=0.0))
        wire = payload_mbytes_per_s(routes, packet) * fastest
        return {
            "network": _counted(routes, self.mean_links()),
            "link": {
                "payload_mbytes_per_s": wire * found.share,
                "wire_mbytes_per_s": wire,
                "limited_by": found.limited_by,
                "why": found.text(wire),
                "mean_packet_bytes": packet[0],
                "flits": self._flits(packet),
                "rounded_ppm": 1e6 * routes.technology.rounded(),
                "endless_packet_mbytes_per_s": routes.technology.data_bytes_per_s() / 1e6 * fastest,
                "alike": bool(np.ptp(rates) == 0),
            },
            "bisection": _bisection(routes, packet),
            "channel_load": self._channel_load(loads, most, shared=True),
            **self._planes(loads, most),
        }

    def mean_links(self) -> float:
        """Return the links that a packet of the traffic crosses on average, by whichever plane."""
        return routing.mean_way(self.routes.graph, self._loads(self.compiled.demand()))

    def _capacity(self) -> Capacity:
        """Return what one path carries; with several clocks, of which some paths are faster, the wire."""
        alike = not self.routes.network.clocks.several
        return capacity(self.compiled, self._held.sends) if alike else Capacity(1.0, "wire")

    @cached_property
    def _held(self) -> Held:
        """What round trips let the terminals of programs send and take."""
        return held(self.compiled)

    def _limits(self) -> link_loads.Limits:
        """Return the part of its rate that each link reaches at most."""
        return limits(self.compiled, link_loads.first_hop(self.compiled), self._held)

    def _flits(self, packet: link_loads.Packet) -> str:
        """Return how much of its flits a packet fills; empty if all, or if characters are bytes."""
        tech = self.routes.technology
        if not tech.in_flits or not packet[0]:
            return ""
        flits, said = packet[1] + 1, []
        filled = packet[0] / (flits * tech.character_bytes)
        if filled <= 0.9995:
            size, many = figures(packet[0], 6), figures(flits, 6)
            of_flits = f"travel in {many} flits of {tech.character_bytes} B"
            way = f"take {many} B" if tech.character_bytes == 1 else of_flits
            said.append(f"{size} B {way}: {in_percent(filled)}")
        if tech.preset.startswith("infiniband") and not tech.overhead_bytes:
            said.append('no headers; technology.overhead = "26 B" counts them')
        return "; ".join(said)

    def full_first(self, shared: bool = False, left: Reals | None = None) -> dict[str, Any]:
        """Return the link that is full first, with the proportions of the traffic and even shares.

        ``shared``: the load that no shares exceed is computed, too; ``left``: the part of its rate that each
        link has.
        """
        return self._channel_load(self._loads(self._demand()), self._limits(), shared, left)

    def slowest(self) -> tuple[Reals, dict[str, Any]] | None:
        """Return the part of its rate that each link has with the fewest physical lanes with which it goes
        on, and these links, the slowest first, and its lanes and rate. None if no link goes on with fewer.
        """
        arrays, routes = self.compiled.arrays, self.routes
        rules, there = routes.technology.lane_rules, routes.technology.lane_rules.physical
        changes = np.flatnonzero(arrays["fault_kind"] == FAULT_KIND.RATE)
        if not len(changes):
            return None
        usual = arrays["link_character_ticks"].astype(np.float64)
        slowest = usual.copy()
        np.maximum.at(slowest, arrays["fault_link"][changes], arrays["fault_character_ticks"][changes])
        lanes = np.rint(there * usual / slowest).astype(int)
        if (lanes == there).all():
            return None
        left = np.array([float(rules.part_left(some)) for some in range(there + 1)])[lanes]
        slow = [link for link in np.argsort(left, kind="stable").tolist() if lanes[link] < there]
        rate = payload_mbytes_per_s(routes, packet_of(self.compiled)) * link_loads.speeds(routes)[slow[0]]
        return left, {
            "links": [routes.graph.link_names[link] for link in slow],
            "physical_lanes": int(lanes[slow[0]]),
            "of_physical_lanes": there,
            "payload_mbytes_per_s": float(rate * left[slow[0]]),
        }

    def _channel_load(
        self, loads: Reals, limits: link_loads.Limits, shared: bool, left: Reals | None = None
    ) -> dict[str, Any]:
        demand, packet = self._demand(), packet_of(self.compiled)
        part = np.ones(len(loads)) if left is None else left
        # A slower wire leaves what a buffer lets through.
        full = self._full_at(loads, limits.beside(part)) * part
        found = channel_load(self.routes, loads, packet, full, self._with_headers(loads) * self._by_bytes)
        if not shared or found["load_bound"] is None:
            return {**found, "shared_load_bound": None}
        most = self._most_units(demand, demand.pairs, demand.even, 1 / full)
        most = most if most is None else most / link_loads.load_unit(self.routes, loads, packet)
        if most is None and found["load_bound"] == 1.0:
            most = 1.0
        limit = None if most is None else max(found["load_bound"], min(1.0, most))
        return {**found, "shared_load_bound": limit}

    def _full_at(self, loads: Reals, limits: link_loads.Limits | None = None) -> Reals:
        """Return the load at which each link is full, with the headers of random switches; no terminal sends
        more than at load 1 where links out of terminals have a limit.
        """
        routes, packet, loads = self.routes, packet_of(self.compiled), loads * self._by_bytes
        if len(routes.addresses.deletes):
            whole = self._with_headers(loads)
            share, _ = link_loads.flow_control(routes, whole, packet)
            part = None if limits is None else limits.of_part(loads, whole, share)
            return full_at(routes, whole, packet, part)
        found = full_at(routes, loads, packet, limits)
        if not routes.via:
            return found
        found = np.minimum(found, full_at(routes, self._with_headers(loads), packet))
        out = np.asarray(routes.graph.terminal_out_links)
        if limits is not None and np.isfinite(limits.terminals[out]).all():
            most = link_loads.load_unit(routes, loads, packet)
            found[out] = np.minimum(found[out], most / np.where(loads[out] > 0, loads[out], 1.0))
        return found

    def _with_headers(self, loads: Reals) -> Reals:
        """Return loads, of all links or of a plane, with addresses or the headers of random switches."""
        if len(self.routes.addresses.deletes):
            return loads + np.where(loads > 0, self._addressed, 0.0)
        return np.where(loads > 0, self._headed, 0.0) if self.routes.via else loads

    @cached_property
    def _addressed(self) -> Reals:
        """The address characters on all links, as parts of packets of mean length."""
        choice, demand = self.compiled.scenario.port_choice, self.compiled.demand()
        tech = self.routes.technology
        apiece_ps, longer_ps = (tech.mean_packet_ps(chars) for chars in (0.0, 1.0))
        mean, filled = packet_of(self.compiled)[1] + apiece_ps / (longer_ps - apiece_ps), self._demand()
        if filled is not demand and demand.payload is not None:
            # A long packet is several of mean length, with one address.
            part = mean / (demand.payload.chars + mean - packet_of(self.compiled)[1])
            filled = replace(filled, packets=filled.packets * part)
        ports = int(parallel(self.routes, choice).max())
        return ports * _addresses(self.routes, choice, filled) / mean

    @cached_property
    def _headed(self) -> Reals:
        """The loads of all links with the headers of random switches."""
        return self._loads(self._demand(), link_loads.header_part(self.routes, packet_of(self.compiled)[1]))

    def _planes(self, loads: Reals, limits: link_loads.Limits) -> dict[str, Any]:
        """Return each plane with the throughput at which a link of it is full; empty for a single network."""
        routes, packet = self.routes, packet_of(self.compiled)
        if routes.graph.several is None:
            return {}
        found = []
        for plane in routes.graph.planes:
            own = np.zeros_like(loads)
            own[plane.links] = loads[plane.links]
            load = channel_load(routes, own, packet, self._full_at(own, limits), self._with_headers(own))
            found.append({"plane": plane.name, **load})
        return {"planes": found}

    def most_times(self, demand: Demand, filled: Reals) -> float | None:
        """Return how many times the traffic, with its own lengths of packets, no shares exceed.

        None where that is not computed. ``filled``: the utilisation per link that even shares require.
        """
        assert demand.payload is not None
        source, target, packets = demand.pairs
        apiece = int(self.compiled.arrays["header_chars"]) + 1
        pairs = source, target, packets * (apiece + demand.payload.chars)
        return self._most_units(demand, pairs, demand.even * (apiece + demand.even_payload[1]), filled)

    def _most_units(self, demand: Demand, pairs: Pairs, even: Reals, filled: Reals) -> float | None:
        """Return how many times this traffic no shares exceed; None where that is not computed.

        ``filled``: per link, how full it is with even shares.
        """
        routes, choice = self.routes, self.compiled.scenario.port_choice
        ports_choose = choice in ("shortest-queue", "first-free") and routes.graph.several is not None
        drawn = routes.technology.group_choice == "drawn"  # evenly
        if not ports_choose and (drawn or not any(routing.shares(table) for _, table in routes.planes)):
            return 1 / float(filled.max())
        if routes.graph.several is not None or demand.spread is not None:
            return None
        loads = link_loads.loads(routes, choice, pairs, even)
        used = (loads > 0) & (filled > 0)
        speeds = link_loads.speeds(routes, packet_of(self.compiled))
        unit = float((loads[used] / filled[used] / speeds[used]).max())
        capacity = np.where(used, loads / np.where(used, filled, 1.0), unit * speeds)
        return routing.most_units(routes.graph, routes.table, pairs, even, capacity)

    def fullness(self) -> Reals:
        """Return the utilisation of each link at the load at which the first one carries no more."""
        loads = self._loads(self._demand())
        found, most = self._full_at(loads), self._full_at(loads, self._limits()).min()
        return np.minimum(most / found, 1) if np.isfinite(most) else np.zeros(len(found))

    def busy(self, demand: Demand) -> dict[str, float]:
        """Return the utilisation per link that headers, payload and ends of packets require, and frames."""
        own = self._required(demand)
        share, beside = link_loads.flow_control(self.routes, own, packet_of(self.compiled))
        busy = own * (1 - share + share * np.minimum(1.0, beside))
        return dict(zip(self.routes.graph.link_names, busy.tolist(), strict=True))

    def times(self, demand: Demand, left: Reals | None = None) -> Reals:
        """Return how many times the traffic, with even shares, is all that each link carries.

        ``left``: the part of its rate that each link has.
        """
        own = self._required(demand)
        part = np.ones(len(own)) if left is None else left
        share, beside = link_loads.flow_control(self.routes, own, packet_of(self.compiled))
        return link_loads.times_to_full(own, beside, share, self._limits().beside(part)) * part

    def _required(self, demand: Demand) -> Reals:
        """Return the utilisation per link, with as much flow control as beside a full opposite direction."""
        routes, arrays = self.routes, self.compiled.arrays
        assert demand.payload is not None
        source, target, packets = demand.pairs
        choice = self.compiled.scenario.port_choice
        apart = link_loads.header_part(routes, 0.0)
        counted = link_loads.loads(routes, choice, demand.pairs, demand.even, apart)
        chars = source, target, packets * demand.payload.chars
        payload = link_loads.loads(routes, choice, chars, demand.even * demand.even_payload[1])
        if demand.spread and demand.spread.payload is not None:
            source, target, packets = demand.spread.pairs
            counted = counted + link_loads.spread_loads(routes, demand.spread.pairs)
            chars = source, target, packets * demand.spread.payload.chars
            payload = payload + link_loads.spread_loads(routes, chars)
        payload = payload + _addresses(routes, choice, demand)
        character = arrays["link_character_ticks"].astype(np.float64)
        apiece = int(arrays["header_chars"]) * character + arrays["link_end_ticks"]
        sent = (counted * apiece + payload * character) * float(routes.technology.lane_rules.framed)
        if (cable := routes.network.cable) is not None:
            filled = source, target, packets * demand.payload.bytes
            carried = link_loads.loads(routes, choice, filled, demand.even * demand.even_payload[0])
            overhead = cable.overhead_bytes / cable.character_bytes - 1
            own = counted * (arrays["link_end_ticks"] + overhead * character)
            own = own + carried * character / cable.character_bytes
            sent = np.where(routes.network.usual, sent, own)
        return sent * demand.per_grain / int(arrays["grain_ticks"])

    def asked(self, payload: Demand, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the payload over some links, and the pairs of terminals whose payload is the largest part.

        With very many pairs none are named.
        """
        routes, choice = self.routes, self.compiled.scenario.port_choice
        whole = link_loads.loads(routes, choice, payload.pairs, payload.even)
        if payload.spread:
            whole = whole + link_loads.spread_loads(routes, payload.spread.pairs)
        at = [routes.graph.link_names.index(name) for name in names]
        pairs, place = np.unique(np.stack(payload.pairs[:2]), axis=1, return_inverse=True)
        rate = np.bincount(place.ravel(), weights=payload.packets, minlength=pairs.shape[1])
        named = pairs.shape[1] if pairs.shape[1] <= _MOST_PAIRS else 0
        shares, none = np.zeros((named, len(at))), np.zeros(len(payload.even))
        for one in range(named):
            shares[one] = link_loads.loads(routes, choice, (*pairs[:, [one]], rate[[one]]), none)[at]
        return [
            {"asked_mbytes_per_s": float(whole[link]), "most": self._largest(pairs, shares[:, column])}
            for column, link in enumerate(at)
        ]

    def _largest(self, pairs: Ints, shares: Reals) -> list[dict[str, Any]]:
        names = self.routes.graph.terminal_names
        order = [at for at in np.argsort(-shares, kind="stable")[:_LARGEST].tolist() if shares[at] > 0]
        return [
            {"source": names[pairs[0, at]], "target": names[pairs[1, at]], "mbytes_per_s": float(shares[at])}
            for at in order
        ]

    def leads_to(self, link: int) -> list[str]:
        """Return the terminals whose packets the switch before a link sends over it, by its table."""
        graph, table = self.routes.graph, self.routes.table
        switch = int(graph.link_source[link])
        if graph.several is not None or switch >= graph.switches:
            return []
        entries = table.entries(np.full(len(table.terminal_class), switch), table.terminal_class)
        there = {
            int(one)
            for one in np.unique(entries)
            if one != routing.NONE and link in table.group(int(one) >> 1)
        }
        over = np.isin(entries.reshape(-1, graph.terminals), list(there)).any(axis=0)
        return [graph.terminal_names[terminal] for terminal in np.flatnonzero(over)]

    def effective_bisection(self, pairings: int) -> dict[str, Any] | None:
        """Return the mean share of a link that a flow gets, over random pairings; None if not counted."""
        return effective_bisection.counted(self.routes, pairings, self.compiled.scenario.seed)

    def ways(self, reroute: str | None = None) -> LinkWays:
        """Return the paths of all packets, for many failures; ``reroute``: the rule of new tables after each.

        Raises ScenarioError.
        """
        if reroute is not None:
            return ReroutedWays(self.compiled, self.routes, reroute)
        return LinkWays(self.compiled, self.routes)

    def pairs(self, sources: int, targets: int) -> tuple[Ints, Ints]:
        """Return at most this many sources, spread evenly over the network, each with this many targets."""
        terminals = self.routes.graph.terminals
        first = spread_evenly(np.arange(terminals), sources)
        steps = spread_evenly(np.arange(1, terminals), targets)
        source = np.repeat(first, len(steps))
        return source, (source + np.tile(steps, len(first))) % terminals

    def apart_ticks(self, characters: int) -> int:
        """Return more ticks than a packet can take."""
        return apart_ticks(self.compiled, characters)

    def _demand(self) -> Demand:
        """Return the traffic in packets of its mean length."""
        return link_loads.in_mean_packets(self.compiled)

    def _loads(self, demand: Demand, header: float = 0.0) -> Reals:
        """Return the packets per link for one packet of the busiest source, or one by each of its ports.

        ``header``: see :func:`routing.channel_loads`.
        """
        choice = self.compiled.scenario.port_choice
        ports = int(parallel(self.routes, choice).max())
        spread = link_loads.spread_loads(self.routes, demand.spread.pairs) if demand.spread else 0.0
        return ports * link_loads.loads(self.routes, choice, demand.pairs, demand.even, header) + spread

    @cached_property
    def _by_bytes(self) -> Reals:
        """The part of its load, in packets of the mean length, that a cable of another technology has."""
        if self.routes.network.cable is None:
            return np.ones(self.routes.graph.links)
        demand = self._demand()
        usual, own = self._loads(demand), self._loads(link_loads.by_bytes(self.compiled, demand))
        other = ~self.routes.network.usual & (usual > 0)
        return np.divide(own, usual, out=np.ones(len(own)), where=other)

    @staticmethod
    def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
        """Return the results of :meth:`network` as lines: (what, value)."""
        network, link = found["network"], found["link"]
        low, high = network["ports_used_min"], network["ports_used_max"]
        choices = network["choices_max"]
        return [
            (
                "network",
                f"{network['family']}: {several(network['terminals'], 'terminal')}, "
                f"{several(network['switches'], 'switch', 'es')}",
            ),
            *plane_lines(found),
            (
                "cables",
                f"{network['cables']:,}: {network['terminal_cables']:,} to terminals, "
                f"{network['switch_cables']:,} between switches",
            ),
            *(
                [("ports", f"{high if low == high else f'{low} to {high}'} of each switch are used")]
                if high
                else []
            ),
            (
                "path",
                f"{network['mean_links_on_the_way']:.2f} links on average in this traffic"
                + (f"; switches choose among up to {choices} free links" if choices > 1 else ""),
            ),
            (
                "one link",
                f"{figures(link['payload_mbytes_per_s'])} MB/s of payload in packets of "
                f"{figures(link['mean_packet_bytes'], 6)} B, "
                f"{figures(link['endless_packet_mbytes_per_s'])} MB/s in an endless one"
                + ("" if link["alike"] else "; the fastest of different ones"),
            ),
            *([("on the wire", link["flits"])] if link["flits"] else []),
            *([("limited by", link["why"])] if link["why"] else []),
            *([("rounded", f"its rate, by {link['rounded_ppm']:.2g} ppm")] if link["rounded_ppm"] else []),
            ("bisection", _bisection_text(found["bisection"])),
        ]


def _counted(routes: LinkRoutes, mean_links: float) -> dict[str, Any]:
    """Count switches, terminals, cables and ports, and measure distances."""
    counted = measure.counts(routes.graph)
    several = (
        {"ports": routes.graph.ports, "planes": len(routes.graph.planes)} if routes.graph.several else {}
    )
    return {
        "family": routes.graph.layout.get("made_of", routes.graph.family),
        "switches": counted.switches,
        "terminals": counted.terminals,
        **several,
        "links": counted.links,
        "cables": counted.cables,
        "terminal_cables": counted.terminal_cables,
        "switch_cables": counted.switch_cables,
        "ports_used_min": counted.ports_used_min,
        "ports_used_max": counted.ports_used_max,
        "mean_links_on_the_way": mean_links,
        "choices_max": int(np.diff(routes.table.group_start).max(initial=1)),
    }


def _bisection(routes: LinkRoutes, packet: link_loads.Packet) -> dict[str, Any]:
    """Return the narrowest known cut into halves, in links and payload rate, both directions together."""
    graph, speed = routes.graph, link_loads.speeds(routes)
    alike = bool(np.ptp(speed) == 0)
    given = graph.family in ("file", "networkx", "graph", "") or not alike
    if graph.terminals > MOST_TERMINALS_FOR_CUT and given:
        return {"links": None, "mbytes_per_s": None, "exact": False, "method": "not searched: too large"}
    if len({id(plane.graph) for plane in graph.planes}) > 1:
        method = "not searched: the terminals join different networks"
        return {"links": None, "mbytes_per_s": None, "exact": False, "method": method}
    # The narrowest cut of one plane cuts the others, which are like it, in the same halves.
    of_planes = np.sum([speed[plane.links] for plane in graph.planes], axis=0)
    cut = measure.bisection(graph.planes[0].graph, of_planes)
    links = cut.links * len(graph.planes)
    width = links * speed[0] if alike or cut.width is None else cut.width
    rate = float(width) * payload_mbytes_per_s(routes, packet)
    return {"links": links, "mbytes_per_s": rate, "exact": cut.exact, "method": cut.method}


def _addresses(routes: LinkRoutes, choice: str, demand: Demand) -> Reals:
    """Return the address characters per link that are not deleted yet, aim by aim."""
    graph, total = routes.graph, np.zeros(routes.graph.links)
    if not len(routes.addresses.deletes):
        return total
    end = np.minimum(np.asarray(graph.link_target, np.int64), graph.switches)
    left = np.append(routes.addresses.left, np.zeros((1, routes.table.classes), np.int64), axis=0)
    for ports in by_ports(routes, choice, demand.pairs, demand.even):
        for number, (source, target, sends) in in_planes(graph, ports):
            plane, (own, table) = graph.planes[number], routes.planes[number]
            aims = table.aims(source, target)
            for aim in np.unique(aims).tolist():
                way, to = divmod(aim, own.terminals)
                column = int(routes.table.terminal_class[way * graph.ports + plane.port[to]])
                told = source[aims == aim], target[aims == aim], sends[aims == aim]
                chars = left[end[plane.links], column]
                total[plane.links] += routing.channel_loads(own, table, told) * chars
    return total


def _bisection_text(cut: dict[str, Any]) -> str:
    if cut["links"] is None:
        return cut["method"]
    sure = "" if cut["exact"] else "at most "
    why = f" ({cut['method']})" if cut["method"] else ""
    return f"{sure}{cut['links']} links, {figures(cut['mbytes_per_s'])} MB/s both directions together{why}"
