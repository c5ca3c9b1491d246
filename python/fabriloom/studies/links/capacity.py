"""What one path carries, and what limits it: the wire, the hand-over, a buffer against its loop, the host."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codes import ARRIVAL
from ...compile import Compiled
from ...compile.link_routes import LinkRoutes
from ...compile.programs import MOST_PAIRS, Latencies, Messages
from ...compile.sources import Packets
from ...technology import Technology, host
from ...technology.lanes import SLOTS
from ..port_loads import Reals, are_alike, by_ports, spread_evenly
from ..zero_load import alone, longest_bytes, of_pairs_ps
from . import trial
from .loads import Limits, before_faster, cables, flow_control, in_mean_packets, packet_of, sends_within
from .loads import loads as loads_of
from .loads import rates as rates_of
from .trial import Capacity

_MOST_TRIED = 4
"""Most lengths of flows, and numbers of cables, that are tried."""
_TOGETHER = 1.2
"""Lanes that carry less than this times what one carries alone have not been used at a time."""


def capacity(compiled: Compiled, of_windows: Reals) -> Capacity:
    """Return what packets of the scenario's lengths reach on the path with the longest cable, one by one.

    ``of_windows``: see :class:`Held`.
    """
    assert isinstance(compiled.routes, LinkRoutes)
    found, fastest = _of_path(compiled, _longest(compiled)), float(rates_of(compiled.routes).max())
    share = found.share
    for name, sends in (("host", _hosts(compiled)[0]), ("window", of_windows)):
        # That of the terminal that is least of a limit.
        own = float(sends[np.isfinite(sends)].max(initial=0.0)) / fastest
        if 0 < own < min(found.share, share * (1 - trial.WORTH)):
            found = Capacity(own, name)
    return found


def _hosts(compiled: Compiled) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, per terminal, the part of the technology's rate that its host sends and takes at most."""
    if isinstance(compiled.sources, Packets):
        return np.zeros(0), np.zeros(0)
    sends, takes = compiled.sources.of_hosts(compiled.arrays)
    return sends, takes


class Held(NamedTuple):
    """The part of the technology's rate that round trips let a port of terminals send and take at most.

    Both empty without programs, or if that is not known.
    """

    sends: Reals
    """By windows of the protocol."""
    takes: Reals
    """By receives of a list, of which each asks for an announced message."""


def held(compiled: Compiled) -> Held:
    """Return what round trips of programs allow. Packets are sent between all pairs, so ask once."""
    routes, unknown = compiled.routes, np.zeros(0)
    assert isinstance(routes, LinkRoutes)
    drawn, network = len(compiled.arrays["via_switch"]) > 0, routes.network
    alike = compiled.graph.several is None or are_alike(routes, compiled.scenario.port_choice)
    others = network.clocks.several or network.cable is not None
    if isinstance(compiled.sources, Packets) or drawn or others or not alike:
        return Held(unknown, unknown)
    longest = compiled.technology.payload_chars(int(compiled.arrays["message_packet_bytes"]))
    latency_ps = partial(of_pairs_ps, alone(compiled), apart_ticks(compiled, longest))
    sends = compiled.sources.of_windows(compiled.arrays, latency_ps)
    return Held(sends, _takes(compiled, compiled.sources, latency_ps))


def _takes(compiled: Compiled, sources: Messages, latency_ps: Latencies) -> Reals:
    """Return :attr:`Held.takes`: no answer is sent before the message of the receive before has come."""
    found, protocol, names = sources.programs, sources.protocol, len(sources.programs.terminal_names)
    source, target, size, count = host.few(found.demand, 1, MOST_PAIRS)
    asks = size > (protocol["eager_limit_bytes"] or np.inf)
    pairs, pair = np.unique((source * names + target)[asks], return_inverse=True)
    known = found.ends and found.needs is None and compiled.graph.several is None
    if not (known and len(pairs)):
        return np.full(names, np.inf)
    wire_ps, (one, other) = sources.wire_ps(compiled.arrays, size), np.divmod(pairs, names)
    # Of the packets behind the first, which is as long as the shortest, the wire's time is what they add.
    packets = (protocol[name] or np.inf for name in ("packet_bytes", "small_packet_bytes"))
    first = int(min(size[asks].min(), *packets))
    ways_ps = latency_ps(other, one, protocol["announcement_bytes"]) + latency_ps(one, other, first)
    # Nothing comes the other way meanwhile.
    assert isinstance(compiled.routes, LinkRoutes)
    alone_part = 1 - flow_control(compiled.routes, np.zeros(compiled.graph.links), packet_of(compiled))[0][0]
    ways_ps = ways_ps - alone_part * sources.wire_ps(compiled.arrays, np.array([first]))
    taken_ps = ways_ps[pair] + alone_part * wire_ps[asks]
    if not protocol["by_size"]:
        taken_ps = taken_ps + protocol["receive_time_ps"]
    came = np.bincount(target, count, names)
    part = np.minimum(np.divide(found.taken(), came, out=np.zeros(names), where=came > 0), 1.0)
    busy_ps = np.bincount(target[asks], taken_ps * count[asks], names) * part / np.maximum(found.streams, 1)
    return host.part(wire_ps * count, target, busy_ps)


def apart_ticks(compiled: Compiled, characters: int) -> int:
    """Return more ticks than a packet can take: all links, the slowest character and its credit, and all
    decoding."""
    arrays = compiled.arrays
    times = ("link_character_ticks", "link_arrival_ticks", "link_credit_ticks")
    slowest = sum(int(arrays[name].max()) for name in times)
    decode, forward = arrays["switch_decode_ticks"], arrays["switch_forward_ticks"]
    switch = int(decode.max(initial=0) + forward.max(initial=0))
    return (characters + 16) * slowest * 2 + (compiled.graph.switches + 2) * (switch + 4 * slowest)


def _of_path(
    compiled: Compiled, own: dict[str, Any], idle: bool = False, cables: int | None = None
) -> Capacity:
    """Return the share of the wire that a path carries, whatever its hosts need, and what limits it.

    ``idle``: with packets one way only; ``cables``: see :func:`trial.line`.
    """
    turns = compiled.arrays["lane_frame_chars"] or len(compiled.arrays["lane_slots"])
    if not compiled.graph.switches or (turns and not _in_any_lane(compiled)):
        # Where each packet has lanes of its own, those of a trial wait for turns of others.
        return Capacity(math.inf if idle else 1.0, "wire")
    found = trial.of_line(trial.line(compiled, own, cables=cables), idle)
    if found.limited_by == "hand-over" and (trial.has_own_lengths(compiled) or trial.is_long(compiled)):
        tech = compiled.technology
        tried = float(tech.mean_packet_ps(tech.payload_chars(trial.tried_bytes(compiled))))
        return _beside(tried, found, float(tech.mean_packet_ps(compiled.mean_packet_chars)))
    return found


def limits(compiled: Compiled, most: float, held: Held) -> Limits:
    """Return the part of its rate that each link reaches, whatever the targets of packets; infinite where
    the wire alone limits them.

    A buffer that is smaller than what is on its way while credit returns limits each link into a switch; of
    several lanes each has one. ``most``: the part that the wires of links out of terminals carry.
    """
    graph, routes = compiled.graph, compiled.routes
    assert isinstance(routes, LinkRoutes)
    found = np.full(graph.links, np.inf)
    out = np.asarray(graph.terminal_out_links)
    found[out] = most
    found = np.minimum(found, _in_slots(compiled, routes))
    own = slice(None) if graph.several is None else graph.several.terminal
    into = np.asarray(graph.terminal_in_links)
    for links, limit in zip((out, into, out, into), (*_hosts(compiled), *held), strict=True):
        if len(limit):
            found[links] = np.minimum(found[links], limit[own] / rates_of(routes, packet_of(compiled))[links])
    full = _in_a_row(compiled, routes)
    matched = flow_control(routes, np.zeros(graph.links), packet_of(compiled))[0].max(initial=0) > 0
    return Limits(found, full, _in_a_row(compiled, routes, idle=True) if matched else full)


def _in_slots(compiled: Compiled, routes: LinkRoutes) -> Reals:
    """Return the part of its rate that each link reaches in the time-slots of the lanes of its packets.

    Infinite without slots, and where lanes follow from service levels, ways or planes.
    """
    graph, classes, choice = routes.graph, routes.classes, compiled.scenario.port_choice
    slots, found = routes.technology.lane_rules.slot_bits, np.full(graph.links, np.inf)
    if not slots or classes.by_pair is not None or graph.several is not None:
        return found
    demand, none = in_mean_packets(compiled), np.zeros(graph.terminals)
    listed = zip(*by_ports(routes, choice, demand.pairs, demand.even), strict=True)
    source, target, packets = (np.concatenate(column) for column in listed)
    total = loads_of(routes, choice, (source, target, packets), none)
    open_to = [reduce(or_, (slots[lane] for lane in classes.lanes[own])) for own in classes.lanes_of]
    for some in set(open_to):
        within = [number for number, own in enumerate(open_to) if own | some == some]
        sent = np.where(np.isin(classes.of(source, target), within), packets, 0.0)
        part = loads_of(routes, choice, (source, target, sent), none)
        most = np.divide(total, part, out=np.full(graph.links, np.inf), where=part > 0)
        found = np.minimum(found, most * _open(compiled, routes.technology, some))
    return found


def _open(compiled: Compiled, tech: Technology, slots: int) -> float:
    """Return the part of the time in which lanes of some time-slots send; what has begun goes to its end."""
    rules, sent = tech.lane_rules, 1.0
    if rules.frame_chars:
        sent = float(rules.frame_chars * rules.framed)
    elif tech.lane_sharing == "packet":
        sent = tech.header_chars + tech.payload_chars(longest_bytes(compiled)) + 1
    ends = sum(slots >> one & 1 > slots >> (one + 1) % SLOTS & 1 for one in range(SLOTS))
    return min(1.0, (slots.bit_count() + ends * sent / (rules.slot_chars * rules.physical)) / SLOTS)


def _in_a_row(compiled: Compiled, routes: LinkRoutes, idle: bool = False) -> Reals:
    """Return :attr:`Limits.packets`, or those beside an idle opposite direction."""
    graph = routes.graph
    found, out = np.full(graph.links, np.inf), np.asarray(graph.terminal_out_links)
    if routes.network.clocks.several or len(compiled.arrays["lane_slots"]):
        return found  # when a time-slot is open for a packet depends on the length of its path
    for own, links in cables(routes):
        carried, lanes = _over_any_cable(compiled, own, idle), 1
        between = np.setdiff1d(links, out)
        if routes.technology.lanes > 1 and carried.limited_by != "wire":
            one = {**own, **trial.LANE_ALONE}
            by_one = _over_any_cable(compiled, one, idle)
            if by_one.limited_by == "buffer" and len(between):
                # No lane has more on its way than its own credit.
                found[between] = routes.technology.lanes * _shared(compiled, one, by_one, idle)
            if {by_one.limited_by, carried.limited_by} != {"buffer"}:
                # Others send while a lane hands over. Which they are depends on more than a path.
                own, carried, lanes = one, by_one, routes.technology.lanes
            elif routes.technology.lane_rules.framed == 1:
                carried = _in_other_lanes(compiled, carried, by_one)
        held_back = carried.limited_by != "wire"
        if carried.limited_by == "buffer" and _rests_for_credit(compiled):
            continue
        if carried.limited_by == "hand-over":
            if routes.technology.lane_rules.framed != 1:
                continue  # where packets wait, a frame takes several of them
            links = links[~before_faster(routes)[links]]
        sending = np.isin(out, links)
        if sending.any() and held_back:
            found[out[sending]] = lanes * _first_hop(compiled, own, carried, idle)[sending]
        if held_back and routes.technology.lanes == 1 and len(between):
            found[between] = _shared(compiled, own, carried, idle)
    usual = _of_path(compiled, {}, idle)
    if usual.limited_by != "wire" and routes.technology.lanes == 1 and np.ptp(rates_of(routes)) == 0:
        alone = replace(usual, limited_by="hand-over")
        # Characters into a chip are spaced, and packets meanwhile handed over.
        into = np.asarray(graph.terminal_in_links)[routes.network.interfaces.at[graph.switches :] == 0]
        found[into] = _shared(compiled, {}, alone, idle, into_terminal=True)
    found[routes.network.interfaces.external(graph)] = np.inf  # no trial has them
    return found


def _shared(
    compiled: Compiled, own: dict[str, Any], alone: Capacity, idle: bool, into_terminal: bool = False
) -> float:
    """Return the part of its rate that a link out of a switch reaches, from as many inputs as can fill it.

    Packets of several senders follow each other sooner than those of one. Where these have lengths of their
    own, the longest ones show what no mixture exceeds.
    """
    inputs = int(np.bincount(compiled.graph.link_target)[: compiled.graph.switches].max(initial=2)) - 1
    senders = max(2, min(inputs, math.ceil(1 / alone.share) + 1))
    longest = alone.limited_by == "hand-over" and trial.has_own_lengths(compiled)
    length = f"{min(longest_bytes(compiled), trial.MOST_CHARS)} B" if longest else None

    def tried(length: str | None) -> Capacity:
        return trial.of_line(trial.line(compiled, own, length, senders, into_terminal), idle, named=False)

    found = tried(length)
    if alone.limited_by == "hand-over" and trial.is_long(compiled):
        return found.wire
    # A message's packets take as long as others of their lengths: a mean one may need a round trip more.
    tech, mixed = compiled.technology, [alone.share, found.share]
    if found.limited_by != "wire" and not isinstance(compiled.sources, Packets):
        for sizes in map(Counter, _messages(compiled, compiled.sources)):
            wire_ps = {
                size: many * tech.mean_packet_ps(tech.payload_chars(size)) for size, many in sizes.items()
            }
            taken_ps = sum(ps / tried(f"{size} B").share for size, ps in wire_ps.items())
            mixed.append(sum(wire_ps.values()) / taken_ps)
    return max(mixed)


def _in_other_lanes(compiled: Compiled, found: Capacity, alone: Capacity) -> Capacity:
    """Return what packets reach if each finds a lane with all its credit, as they may, and no lane carries
    more than alone. ``found``: what they reach in a trial.
    """
    chars, credit = compiled.mean_packet_chars, float(compiled.arrays["link_input_buffer"].max())
    share = alone.share * int(compiled.arrays["lanes"])
    one_by_one = found.share < alone.share * _TOGETHER
    if one_by_one and chars > credit and not trial.has_own_lengths(compiled):
        share = min(share, chars / ((chars - credit) / alone.share + credit / found.wire))
    if share >= found.wire:
        return Capacity(found.wire, "wire", found.wire)
    return replace(found, share=max(found.share, share))


def _rests_for_credit(compiled: Compiled) -> bool:
    """Return whether packets may come so evenly that each finds a lane of which all credit is back.

    Then a terminal of several lanes sends more than where it has always a packet ready, for any lane with
    some credit. Longer packets than that credit wait for more of it in either case.
    """
    arrays, even = compiled.arrays, (ARRIVAL.CONSTANT, ARRIVAL.TOGETHER)
    quantum = int(arrays["link_quantum"].min())
    credit = int(arrays["link_input_buffer"].max()) // quantum * quantum
    paced = np.isin(arrays["source_arrival"], even).any() or np.isin(arrays["flow_arrival"], even).any()
    return bool(paced) and compiled.technology.lanes > 1 and compiled.mean_packet_chars < credit - quantum


def _over_any_cable(compiled: Compiled, own: dict[str, Any], idle: bool) -> Capacity:
    """Return what packets reach over as many cables as let them reach most: one has no other to wait for."""
    numbers = spread_evenly(np.array(trial.choices(compiled)), _MOST_TRIED).tolist()
    tried = (_of_any_length(compiled, own, idle, cables) for cables in numbers)
    return max(tried, key=lambda found: (found.limited_by == "wire", found.share))


def _of_any_length(compiled: Compiled, own: dict[str, Any], idle: bool, cables: int) -> Capacity:
    """Return what packets of the mean length reach on a path, or those of the flow that reach most.

    Of packets as long as a credit every lane can have one, so another length may need no larger buffer.
    """
    found, line = _of_path(compiled, own, idle, cables), partial(trial.line, compiled, own, cables=cables)
    if found.limited_by != "buffer":
        return found
    if not isinstance(compiled.sources, Packets):
        messages = _messages(compiled, compiled.sources)
        tried = [trial.of_line(line(f"{lengths[0]} B"), idle, False, lengths) for lengths in messages]
        return replace(found, share=max(each.share for each in tried))
    sizes = np.unique(compiled.arrays["flow_length"])
    if len(sizes) < 2:
        return found
    tried = [trial.of_line(line(f"{size} B"), idle) for size in spread_evenly(sizes, _MOST_TRIED)]
    return replace(found, share=max(each.share for each in (found, *tried)))


def _messages(compiled: Compiled, sources: Messages) -> list[tuple[int, ...]]:
    """Return the lengths of the packets of some messages: their last ones shift what the others find."""
    size = sources.programs.demand[2]
    sizes = spread_evenly(np.unique(size[size > 0]), _MOST_TRIED)
    payload, number = sources.packets_of(compiled.arrays, sizes)
    cut = zip(payload.T.tolist(), number.T.tolist(), strict=True)
    return [(full,) * min(many, trial.PACKETS[0]) + (last,) * ends for (full, last), (many, ends) in cut]


def _first_hop(compiled: Compiled, own: dict[str, Any], found: Capacity, idle: bool) -> NDArray[np.float64]:
    """Return, per port of a terminal, the part of the rate of its link that its packets reach.

    Packets for other outputs need not wait for the output of the one before, nor in its queue. Of several
    lanes each has a queue. Packets to terminals of the same switch wait for no link between switches, and
    where packets wait, a frame takes several: then other paths than the longest can be slower.
    """
    assert isinstance(compiled.routes, LinkRoutes)
    tech, demand, graph = compiled.routes.technology, compiled.demand(), compiled.graph
    one_queue = tech.lanes == 1 and tech.input_queues == "fifo"
    one_queue = one_queue and tech.release_ps <= tech.front_ps + tech.decode_latency_ps
    one_target = not demand.even.any() and len(np.unique(demand.source)) == len(demand.source)
    if not (found.limited_by == "buffer" or one_queue or one_target):
        return np.full(graph.ports, np.inf)
    share, near = shares(compiled, found), sends_within(compiled) | (tech.lane_rules.framed != 1)
    if near.any():
        within = _of_any_length(compiled, own, idle, 0)
        more = np.inf if within.limited_by == "wire" else shares(compiled, within)
        share = np.where(near, np.maximum(share, more), share)
    return share if graph.several is None else share[graph.several.terminal]


def shares(compiled: Compiled, found: Capacity) -> NDArray[np.float64]:
    """Return, per terminal, the part of the wire's rate that packets of the lengths reach that it sends.

    ``found``: of a path, for packets of the mean length. Between two packets the wire is idle for as long,
    whatever their length, if the hand-over limits them.
    """
    demand, tech = compiled.demand(), compiled.technology
    usual = np.full(compiled.graph.terminals, found.share)
    if found.limited_by != "hand-over" or demand.payload is None or demand.even.any():
        return usual
    packets, chars = np.zeros((2, len(usual)))
    for part in (demand, demand.spread):
        if part is not None and part.payload is not None:
            packets += np.bincount(part.source, part.packets, len(usual))
            chars += np.bincount(part.source, part.packets * part.payload.chars, len(usual))
    means = np.divide(chars, packets, out=np.zeros(len(usual)), where=packets > 0)
    if len(np.unique(means[packets > 0])) < 2:
        return usual
    tried = float(tech.mean_packet_ps(compiled.mean_packet_chars))
    lengths, place = np.unique(means, return_inverse=True)
    reached = [_beside(tried, found, float(tech.mean_packet_ps(chars))).share for chars in lengths.tolist()]
    return np.array(reached)[place.ravel()]


def _beside(tried_ps: float, found: Capacity, own_ps: float) -> Capacity:
    """Return the share of packets of another time on the wire, between which it is idle for as long."""
    rest_ps = tried_ps * (1 / found.share - 1 / found.wire)
    return replace(found, share=own_ps / (own_ps / found.wire + rest_ps))


def _longest(compiled: Compiled) -> dict[str, str]:
    """Return the length of the longest cable; empty where it is that of the technology."""
    lengths = compiled.graph.attributes.get("length_m")
    if lengths is None or np.isnan(lengths).all():
        return {}
    return {"cable_length": f"{float(np.nanmax(lengths)):.15g} m"}


def _in_any_lane(compiled: Compiled) -> bool:
    """Return whether packets may take every lane of their links, as those of a trial do."""
    lanes, members = int(compiled.arrays["lanes"]), compiled.arrays["group_links"].astype(np.int64)
    size = np.diff(compiled.arrays["group_start"].astype(np.int64))
    links = np.unique(np.repeat(np.arange(len(size)), size) * compiled.graph.links + members // lanes)
    own = (
        compiled.arrays["link_lanes"]
        if len(compiled.arrays["link_lanes"])
        else np.full(compiled.graph.links, lanes)
    )
    return int(own[links % compiled.graph.links].sum()) == len(members)
