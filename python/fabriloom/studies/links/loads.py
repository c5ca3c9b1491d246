"""The loads of links for a choice of ports, and the link that is full first."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ... import routing
from ...compile import Compiled, LinkRoutes
from ...routing.distribution import distributed_links
from ...technology import Technology
from ...technology.presets import unpadded
from ...traffic import Demand
from ..port_loads import Ints, Pairs, Reals, are_alike, by_ports, in_planes

_ALIKE = 1e-9
"""Part of a load by which those that are equal may differ."""
_MOST_CABLES = 16
"""Most kinds of cables that are tried."""
Packet = tuple[float, float]
"""Mean bytes and characters of the payload of a packet."""
ENDLESS: Packet = (4e9, 1e9)
"""One of words of four bytes."""


def packet_of(compiled: Compiled) -> Packet:
    """Return the mean packet of a scenario."""
    return compiled.mean_packet_bytes, compiled.mean_packet_chars


def in_mean_packets(compiled: Compiled) -> Demand:
    """Return the traffic in packets of its mean length, in which an end takes its own time on the wire."""
    apiece_ps, longer_ps = (compiled.technology.mean_packet_ps(chars) for chars in (0.0, 1.0))
    return compiled.demand().by_length(apiece_ps / (longer_ps - apiece_ps))


def spread_loads(routes: LinkRoutes, spread: Pairs) -> Reals:
    """Return the packets per link of multicast traffic: a packet has one copy on every link of its path."""
    total = np.zeros(routes.graph.links)
    for source, target, packets in zip(*(np.asarray(column).tolist() for column in spread), strict=True):
        total[distributed_links(routes.graph, routes.distributions[target], source)] += packets
    return total


def loads(routes: LinkRoutes, choice: str, pairs: Pairs, even: np.ndarray, header: float = 0.0) -> Reals:
    """Return the packets per link, from the packets per pair of terminals and those that each terminal sends
    evenly to all others. See :func:`by_ports` for the rules; ``header``: see :func:`routing.channel_loads`.
    """
    graph = routes.graph
    if graph.several is None:
        return routing.channel_loads(graph, routes.table, pairs, even, header=header)
    if are_alike(routes, choice):
        one = routing.channel_loads(*routes.planes[0], pairs, even, header=header) / len(routes.planes)
        return np.tile(one, len(routes.planes))
    total = np.zeros(graph.links)
    for ports in by_ports(routes, choice, pairs, even):
        for plane, told in in_planes(graph, ports):
            found = routing.channel_loads(*routes.planes[plane], told, header=header)
            total[graph.planes[plane].links] += found
    return total


def header_part(routes: LinkRoutes, chars: float) -> float:
    """Return the time of the header of a random switch, as a part of that of packets of this mean payload."""
    tech = routes.technology
    return tech.mean_packet_ps(chars, via=routes.via) / tech.mean_packet_ps(chars) - 1


def channel_load(
    routes: LinkRoutes, loads: Reals, packet: Packet, full: Reals, whole: Reals | None = None
) -> dict[str, Any]:
    """Return the busiest link under the scenario's traffic, and the throughput at which it is full.

    Loads are relative: the busiest source sends one packet per unit of time. ``full``: from
    :func:`full_at`, with a first hop; ``whole``: the loads with the headers of random switches.
    """
    used = loads if whole is None else whole
    graph, busiest = routes.graph, int(np.argmin(full))
    most = float(full[busiest])
    if not np.isfinite(most):
        return {"busiest_link": None, "load": 0.0, "load_bound": None, "accepted_mbytes_per_s_bound": None}
    # A packet for several terminals arrives more often than it leaves.
    ends = graph.link_target if routes.distributions else graph.link_source
    carried = float(loads[ends >= graph.switches].sum())
    load_1 = load_unit(routes, loads, packet)
    return {
        "busiest_link": graph.link_names[busiest],
        "load": float(used[busiest] / speeds(routes, packet)[busiest]) * load_1,
        "load_bound": min(1.0, most / load_1),
        "accepted_mbytes_per_s_bound": carried * most * payload_mbytes_per_s(routes, packet),
    }


def load_unit(routes: LinkRoutes, loads: Reals, packet: Packet) -> float:
    """Return what the busiest source sends at load 1: the part of the technology's rate that its link has.

    Of several ports it is that of the first. The header of a random switch counts for the load, if every
    packet has it.
    """
    out, several = routes.graph.terminal_out_links, routes.graph.several
    sent, rate = loads[out], rates(routes, packet)[out]
    if several is not None:
        terminal, first = np.unique(several.terminal, return_index=True)
        sent, rate = np.bincount(several.terminal, weights=sent)[terminal], rate[first]
    busiest = sent >= sent.max() * (1 - _ALIKE)
    most = float(rate[busiest].max()) if sent.any() else 1.0
    return most / (1 + (header_part(routes, packet[1]) if routes.headed else 0.0))


def rates(routes: LinkRoutes, packet: Packet = ENDLESS) -> Reals:
    """Return the rate of each link as a part of the technology's, as the network gives it.

    ``packet``: that of which cables of another technology carry as many as this part; an endless one.
    """
    graph, usual = routes.graph, float(routes.technology.link_rate_bits_per_s)
    given = graph.attributes.get("rate_bits_per_s")
    if given is None:
        return np.ones(graph.links)
    found = np.where(np.isnan(given), 1.0, np.asarray(given) / usual)
    if routes.network.cable is None:
        return found
    others_ps = routes.network.packets_ps(packet[0])
    return np.where(np.isnan(others_ps), found, routes.technology.mean_packet_ps(packet[1]) / others_ps)


def by_bytes(compiled: Compiled, filled: Demand) -> Demand:
    """Return the traffic in packets of its mean length, as cables of another technology are filled: their
    last characters are as long as their bytes. ``filled``: from :func:`in_mean_packets`.
    """
    demand, tech, cable = compiled.demand(), compiled.technology, compiled.network.cable
    if cable is None or demand.payload is None:
        return filled

    def times_ps(one: Any, chars: Any) -> Any:
        apiece_ps, longer_ps = (one.mean_packet_ps(chars) for chars in (0.0, 1.0))
        return apiece_ps + chars * (longer_ps - apiece_ps)

    def part(payload_bytes: Any, chars: Any) -> Any:
        own = np.vectorize(partial(unpadded, cable), otypes=[float])(payload_bytes)
        return times_ps(cable, own) / times_ps(tech, chars)

    usual = part(compiled.mean_packet_bytes, compiled.mean_packet_chars)
    packets = filled.packets * part(demand.payload.bytes, demand.payload.chars) / usual
    even = filled.even * part(*demand.even_payload) / usual if demand.even.any() else filled.even
    return replace(filled, packets=packets, even=even)


def before_faster(routes: LinkRoutes) -> np.ndarray:
    """Return which links enter a switch that has a faster one.

    Packets leave it sooner there than in a trial, in which all links are alike.
    """
    graph, rate = routes.graph, rates(routes)
    fastest = np.zeros(graph.switches + graph.ports)
    np.maximum.at(fastest, graph.link_source, rate)
    return fastest[graph.link_target] > rate


def speeds(routes: LinkRoutes, packet: Packet = ENDLESS) -> Reals:
    """Return the rate of each link as a part of the technology's, with slower chips and crossbars.

    ``packet``: see :func:`rates`.
    """
    graph, tech, speed = routes.graph, routes.technology, rates(routes, packet)
    usual_ps = float(tech.character_ps(tech.link_rate_bits_per_s))
    if routes.network.interfaces.chips:
        # External ports have no flow-control characters, and ends of packet that are as long as others.
        parallel = replace(tech.beside(Fraction(0)), end_bits=tech.data_bits)
        external, all_ps = routes.network.interfaces.external(graph), partial(_into_chips_ps, routes)
        taken_ps = np.where(external, all_ps(parallel, packet), all_ps(tech, packet))
        speed = tech.mean_packet_ps(packet[1]) / taken_ps
    crossing_ps = routes.network.clocks.per_switch(lambda tech: tech.crossbar_ps).astype(np.float64)
    most = np.append(
        np.divide(usual_ps, crossing_ps, np.full(graph.switches, np.inf), where=crossing_ps > 0), np.inf
    )
    for ends in (graph.link_source, graph.link_target):
        speed = np.minimum(speed, most[np.minimum(ends, graph.switches)])
    return speed


def cables(routes: LinkRoutes) -> list[tuple[dict[str, str], Ints]]:
    """Return the links into switches with the settings of their cables, alike ones together.

    Of flits a cable of another rate cannot be tried alone, and is left out, as are all but the most frequent.
    """
    graph, tech = routes.graph, routes.technology
    nothing = np.full(graph.links, np.nan)
    length = graph.attributes.get("length_m", nothing).astype(np.float64)
    rate = graph.attributes.get("rate_bits_per_s", nothing).astype(np.float64)
    rate = np.where(rate == float(tech.link_rate_bits_per_s), np.nan, rate)
    into = np.flatnonzero((graph.link_target < graph.switches) & (np.isnan(rate) | (not tech.in_flits)))
    kinds, kind, count = np.unique(
        np.nan_to_num(np.stack((length, rate))[:, into], nan=-1.0),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    found = []
    for at in np.argsort(-count, kind="stable")[:_MOST_CABLES].tolist():
        metres, bits = kinds[:, at].tolist()
        own = {"cable_length": f"{metres:.15g} m"} if metres >= 0 else {}
        own |= {"link_rate": f"{bits:.15g} bit/s"} if bits >= 0 else {}
        found.append((own, into[kind.ravel() == at]))
    return found


class Limits(NamedTuple):
    """The part of its rate that each link reaches at most, besides its wire."""

    terminals: Reals
    """By what terminals send and take."""
    packets: Reals
    """Of packets in a row beside a full opposite direction."""
    alone: Reals
    """Of packets in a row beside an idle one, where flow control leaves more."""

    def beside(self, left: Reals) -> Limits:
        """Return them for links of which the wire has left a part."""
        return Limits(*(part / left for part in self))

    def of_part(self, loads: Reals, whole: Reals, share: Reals) -> Limits:
        """Return them for whole loads, of which they limit a part; the rest takes its time on the wire.

        ``share``: of flow control, per link.
        """
        times = np.where(loads > 0, whole / np.where(loads > 0, loads, 1.0), 1.0)
        found = [self.terminals * times]
        for part, wire in ((self.packets, np.ones(len(share))), (self.alone, 1 - share)):
            apiece = np.maximum(1 / part, wire)
            found.append(np.where(apiece > wire, times / (apiece + (times - 1) * wire), np.inf))
        return Limits(*found)


def full_at(routes: LinkRoutes, loads: Reals, packet: Packet, limits: Limits | None = None) -> Reals:
    """Return the load at which each link is full; infinite for an unused link.

    A load assumes the full share of flow control. With relative loads ``a`` here and ``r`` in the opposite
    direction, a link is full at load ``x`` if ``x a (t + (u - t) x r) = 1``: a packet takes ``t`` beside an
    idle opposite direction, ``u`` beside a full one.
    """
    relative = loads / speeds(routes, packet)
    share, beside = flow_control(routes, relative, packet)
    return times_to_full(relative, beside, share, limits)


def first_hop(compiled: Compiled) -> float:
    """Return the part of their rate that links out of terminals reach at most.

    Load 1 has data in both directions. Rates, programs, and sources that always have a packet waiting send
    faster where the opposite one is idle.
    """
    traffic = compiled.scenario.traffic
    loaded = compiled.programs is None and not traffic.is_rated() and traffic.arrivals.kind != "backlog"
    return 1.0 if loaded else math.inf


def flow_control(routes: LinkRoutes, own: Reals, packet: Packet) -> tuple[Reals, Reals]:
    """Return, per link, the share of flow control that depends on the opposite direction, and how full that
    is.

    ``own``: per link, how full it is with the full share.
    """
    reverse, cable = np.asarray(routes.graph.link_reverse), routes.network.cable
    found = np.full(len(own), _share(routes.technology, packet[1]))
    if routes.network.interfaces.chips:
        # Characters for credit pass between those that a chip lets come.
        tech = routes.technology
        share = 1 - _into_chips_ps(routes, tech.alone, packet) / _into_chips_ps(routes, tech, packet)
        found = np.where(routes.network.interfaces.external(routes.graph), 0.0, share)
    if cable is not None:
        found[~routes.network.usual] = _share(cable, unpadded(cable, packet[0]))
    return found, np.where(reverse < 0, 0.0, own[reverse])


def _share(tech: Technology, chars: float) -> float:
    return 1 - tech.alone.mean_packet_ps(chars) / tech.mean_packet_ps(chars)


def times_to_full(own: Reals, beside: Reals, share: Reals, limits: Limits | None = None) -> Reals:
    """Return how many times its traffic each link carries, beside as many times that of the opposite one."""
    found, used = np.full(len(own), np.inf), own > 0
    own, beside = own[used], beside[used]
    most = limits or Limits(*np.full((3, len(used)), np.inf))
    full = np.maximum(own / most.packets[used], own)
    bare = np.maximum(own / most.alone[used], (1 - share[used]) * own)
    paid = np.maximum(full - bare, 0.0) * beside
    # The positive root, written so that it holds for an idle opposite direction, too.
    root = 2 / (bare + np.sqrt(bare * bare + 4 * paid))
    # An opposite direction that is full cannot be more than that.
    root = np.where(root * beside > 1, 1 / np.maximum(full, bare), root)
    found[used] = np.minimum(root, most.terminals[used] / own)
    return found


def payload_mbytes_per_s(routes: LinkRoutes, packet: Packet) -> float:
    """Return the payload rate of a link for such packets, on a cable busy in both directions."""
    return packet[0] * 1e6 / routes.technology.mean_packet_ps(packet[1])


def _into_chips_ps(routes: LinkRoutes, tech: Technology, packet: Packet) -> Reals:
    """Return the time of a packet on each link of a technology; chips let characters come one by one."""
    spacing_ps = routes.network.interfaces.spacing_ps(routes.graph, routes.technology)
    rate = rates(routes, packet)
    character, end = (np.maximum(float(ps) / rate, spacing_ps) for ps in (tech.character_ps(), tech.end_ps()))
    return (tech.header_chars + packet[1]) * character + end


def sends_within(compiled: Compiled) -> np.ndarray:
    """Return, per terminal, whether it may send to another one at its switch."""
    demand, graph = compiled.demand(), compiled.graph
    if graph.several is not None or demand.spread is not None:
        return np.ones(graph.terminals, bool)
    home = np.asarray(graph.terminal_entry_switches)
    found = (demand.even > 0) & (np.bincount(home)[home] > 1)
    found[demand.source[home[demand.source] == home[demand.target]]] = True
    return found
