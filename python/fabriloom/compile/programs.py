"""Programs and their protocol: check them, and turn them into columns and scalars."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import programs, traffic
from ..codes import number
from ..programs import Programs
from ..programs.check import longer_than
from ..programs.kinds import ANY, FIRST_SPECIAL, READ, RECEIVE, SEND
from ..scenario import Scenario
from ..scenario.resolve import filled_protocol
from ..technology import RingTechnology, Technology, TechnologyError, host, technology
from ..technology.model import Ps
from ..topology import Graph
from ..traffic import TrafficError
from ..traffic.flows import bucket_mistake
from ..traffic.kinds import in_units
from ..traffic.names import Terminals
from ..units import format_bytes
from .columns import Arrays
from .networks import Routes
from .several import no_way
from .sources import Packets
from .times import MOST_WAIT_TICKS, Durations

# Requirements on messages of programs: how long those that are chosen may take.


@dataclass(frozen=True)
class Required:
    """The requirement of messages, in the words of the table of requirements of flows."""

    chosen: tuple[int, int, int]
    """Source, target and tag; -1: any."""
    flow: str
    source: str
    target: str
    packet_bytes: int
    """The longest of them."""
    requirement_ns: float
    row: int = -1
    bound_ns: float | None = None
    no_bound: str = "delays of messages depend on the programs"


def required(scenario: Scenario, graph: Graph, programs: Programs) -> Iterator[Required]:
    """Yield the requirements on messages. Raises ScenarioError if no program sends such messages."""
    rows = (scenario.protocol and scenario.protocol.requirements) or []
    terminals, names = Terminals(graph.terminal_names), graph.terminal_names
    for at, row in enumerate(rows):
        path = ("protocol", "requirements", at)
        ends = {"source": -1, "target": -1}
        for name in ends:
            key = getattr(row, name)
            if key is not None:
                try:
                    ends[name] = terminals.one(key, name)
                except TrafficError as error:
                    raise scenario.error(error.message, (*path, name), error.hint) from error
        source, target = ends.values()
        tag = -1 if row.tag is None else row.tag
        by, to = (names[one] if one >= 0 else "any" for one in (source, target))
        fits = _fitting(programs, source, target, tag)
        if not fits.any():
            message = "no program sends such a message"
            raise scenario.error(message, path, "correct source, target or tag, or remove it")
        label = row.name or f"{by}:{to}" + ("" if tag < 0 else f" tag {tag}")
        longest = int(programs.size_bytes[fits].max())
        yield Required((source, target, tag), label, by, to, longest, row.within_ps / 1000)


def _fitting(programs: Programs, source: int, target: int, tag: int) -> np.ndarray:
    """Return the sends that may make such messages; what the message received last names may be any."""
    fits = programs.kind == SEND
    if source >= 0:
        fits &= programs.terminal == source
    for wanted, column in ((target, programs.peer), (tag, programs.tag)):
        if wanted >= 0:
            fits &= (column == wanted) | ((column >= FIRST_SPECIAL) & (column != ANY))
    return fits


# The host's times by message size, for the sizes that occur.

_COLUMNS = ("cost_send_ticks", "cost_receive_ticks", "cost_packet_ticks", "cost_gap_ticks")
_PS_PER_NS = 1000
Rows = list[dict[str, Any]]
"""Of ``by_size``."""


def _rows(scenario: Scenario) -> Rows:
    """Return the rows of ``by_size``, checked. Raises ScenarioError."""
    rows = (scenario.protocol and scenario.protocol.by_size) or []
    for at, (first, second) in enumerate(itertools.pairwise(rows), 1):
        if second.message_bytes <= first.message_bytes:
            message = f"{second.message_bytes} B is not more than the {first.message_bytes} B before it"
            path = ("protocol", "by_size", at, "message")
            raise scenario.error(message, path, "write the sizes in rising order, each once")
    return [row.model_dump() for row in rows]


def by_size(rows: Rows, sent: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return the sizes that are sent, and for each the times of :data:`host.BY_SIZE`, rounded to whole ns."""
    sizes = sent if rows else np.zeros(0, np.int64)
    times = []
    for name in host.BY_SIZE:
        at = host.interpolated(rows, name, sizes) if rows else np.zeros(0)
        times.append(np.maximum(np.round(at / _PS_PER_NS), 0).astype(np.int64) * _PS_PER_NS)
    return sizes, times


def columns(rows: Rows, sent: NDArray[np.int64], tick_ps: Ps) -> Arrays:
    """Return the engine's columns; empty if the scenario gives no such times."""
    sizes, times = by_size(rows, sent)
    ticks = {
        name: in_units(each, tick_ps).astype(np.uint64) for name, each in zip(_COLUMNS, times, strict=True)
    }
    return {"cost_bytes": sizes.astype(np.uint32), **ticks}


_WINDOWS = ("packets_per_channel", *(f"{w}_at_once" for w in ("messages", "channels", "packets", "receive")))
_BYTE_TIMES = ("byte", "bus_byte")
_MOST_BYTE_TICKS = 10**9
_TIMES = ("send", "receive", "packet", "bus_packet", "send_gap", "receive_gap", "ack", "resume", "check")


MOST_PAIRS, MOST_LENGTHS = 4096, 4
"""Most pairs of terminals whose windows are looked at, those of some, and most lengths of their packets."""
Latencies = Callable[[NDArray[np.int64], NDArray[np.int64], int], NDArray[np.float64]]
"""Latencies of pairs of terminals, for packets of some bytes."""


class Messages:
    """Terminals that run programs, whose messages a protocol cuts into packets."""

    programs: Programs

    def __init__(self, scenario: Scenario, routes: Routes, packets: Packets | None) -> None:
        self.scenario, self.routes, self.packets = scenario, routes, packets
        self.given: Arrays = {} if packets is None else packets.given
        """The columns of sources beside the programs."""
        self.protocol = protocol_of(scenario)
        try:
            settings = _settings(scenario, self.protocol)
            self.programs = programs.build(routes.graph, settings, self.protocol, seed=scenario.seed)
            longer_than(self.programs, scenario.run.duration_ps)
        except TrafficError as error:
            raise scenario.located(error, "program") from error
        self._check_matching()
        self.required = list(required(scenario, routes.graph, self.programs))
        """The requirements on messages."""
        routes.check_programs(scenario, self.programs)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Return the sizes of all messages, those of announcements included."""
        found, announcement = self.programs, _matching(self.protocol)["message_announcement_bytes"]
        more = np.array([announcement] if announcement else [], np.int64)
        return np.unique(np.concatenate([found.size_bytes[found.kind == SEND], more]))

    def _check_matching(self) -> None:
        """Refuse matching before all has come where commands are sent again: whether one comes is unknown."""
        found = self.programs
        asks = bool(((found.kind == RECEIVE) & (found.amount > 0)).any())
        for name in ("eager_limit", "unexpected_buffer"):
            if self.protocol[f"{name}_bytes"] and asks:
                message = f"{name} does not go with a program that sends commands again"
                hint = "remove it, or retry_after of the program"
                raise self.scenario.error(message, ("protocol", name), hint)

    @cached_property
    def durations(self) -> list[Durations]:
        """All durations of a protocol and of programs."""
        protocol, found = self.protocol, self.programs
        times = [
            Durations.of(
                f"protocol.{name}_time", ("protocol", f"{name}_time"), protocol[f"{name}_time_ps"], most
            )
            for names, most in ((_TIMES, MOST_WAIT_TICKS), (_BYTE_TIMES, _MOST_BYTE_TICKS))
            for name in names
        ]
        path, resend_ps = ("protocol", "resend_after"), protocol["resend_after_ps"]
        times.append(Durations.of("protocol.resend_after", path, resend_ps, MOST_WAIT_TICKS))
        times += [
            Durations.of("a time of protocol.by_size", ("protocol", "by_size"), each, MOST_WAIT_TICKS)
            for each in by_size(protocol["by_size"], self.sizes)[1]
            if len(each)
        ]
        times.append(
            Durations.of("the last event's moment", ("program",), found.events.due_ps, MOST_WAIT_TICKS)
        )
        waits, beside = found.amount[found.timed], [] if self.packets is None else self.packets.durations
        if not found.places:
            own = [Durations.of("a wait of the program", ("program",), waits, MOST_WAIT_TICKS)]
            return [*times, *own, *beside]
        rows = np.flatnonzero(found.timed)
        _, first = np.unique(waits, return_index=True)
        places: Sequence[str] = found.places
        own = [
            Durations.of(f'"{found.text(row)}"', _path(places[int(row)]), found.amount[row], MOST_WAIT_TICKS)
            for row in rows[first].tolist()
        ]
        return [*times, *own, *beside]

    def columns(self, tick_ps: Ps) -> Arrays:
        """Return the columns of programs and the scalars of their protocol."""
        scenario, routes, protocol, found = self.scenario, self.routes, self.protocol, self.programs
        _check_packets(scenario, routes.technology, protocol)
        routes.check_protocol(scenario, protocol)
        # No packet is longer than the longest message, however long it might be.
        longest = int(max(1, self.sizes.max(initial=0), found.size_bytes[found.kind == READ].max(initial=0)))
        limits = np.array([protocol["packet_bytes"], protocol["small_packet_bytes"]])
        packet, small_packet = self._filled(np.minimum(limits, longest)).tolist()
        silent = traffic.silent(routes.graph, routes.technology, packet)
        return {
            **columns(protocol["by_size"], self.sizes, tick_ps),
            **(silent if self.packets is None else self.packets.columns(tick_ps)),
            **found.columns(tick_ps),
            **{f"message_{name}": protocol[name] for name in _WINDOWS},
            **{f"message_{name}_ticks": protocol[f"{name}_time_ps"] // tick_ps for name in _TIMES},
            "message_packet_bytes": packet,
            "message_small_packet_bytes": small_packet,
            "message_small_below_bytes": protocol["small_below_bytes"],
            "message_acknowledge": number("acknowledge", protocol["acknowledge"]),
            "message_ack_at_head": int(protocol["acknowledge_from"] == "head"),
            "message_programmed": int(protocol["programmed"]),
            "message_port_per_packet": int(scenario.spreads_messages and routes.graph.several is not None),
            "message_ahead_bytes": protocol["ahead_bytes"],
            "message_byte_ticks": protocol["byte_time_ps"] // tick_ps,
            "message_bus_byte_ticks": protocol["bus_byte_time_ps"] // tick_ps,
            "message_bit_error_rate": float(protocol["bit_error_rate"]),
            **_matching(protocol),
            **_resends(protocol, tick_ps),
            **_shaper(scenario, protocol, tick_ps),
        }

    def place_of(self, row: int) -> str:
        """Return the scenario's line with an operation; empty for ready-made programs."""
        found = self.programs
        if not found.places or not found.places[row]:
            return ""
        place = self.scenario.source.place(_path(found.places[row]))
        return f"line {place.line}" if place and place.line else ""

    def failed(self, error: RuntimeError) -> Exception:
        """Return an engine error as the scenario's error, or unchanged if it is no mistake of the user.

        ``error.args``: the message, the kind, and two numbers (terminals, or an operation).
        """
        found, (text, kind) = self.programs, error.args[:2]
        one, other = int(error.args[2]), int(error.args[3])
        if kind == "no-plane":
            return no_way(self.scenario, self.routes, one, other)
        if kind != "no-peer":
            return RuntimeError(text)
        row = int(found.start[one]) + other
        message = f'terminal "{found.terminal_names[one]}", "{found.text(row)}": '
        message += "the message received last leads to no other terminal"
        path = _path(found.places[row]) if found.places and found.places[row] else ("program",)
        return self.scenario.error(message, path, "see what it receives before")

    def busiest(self, arrays: Arrays) -> float:
        """Return the packets of the terminal that sends most of them, at least 1."""
        source, _, size, count = self.programs.demand
        _, number = self.packets_of(arrays, size)
        return float(np.bincount(source, weights=number.sum(axis=0) * count).max(initial=0.0)) or 1.0

    def demand(self, arrays: Arrays) -> traffic.Demand:
        """Return how many packets each pair of terminals exchanges, as far as targets are known."""
        source, target, size, count = self.programs.demand
        number, chars = self._cut(arrays, size)
        payload = traffic.Payload(size / number.sum(axis=0), chars / number.sum(axis=0))
        packets = number.sum(axis=0) * count / self.busiest(arrays)
        even = np.zeros(len(self.programs.terminal_names))
        return traffic.Demand(source, target, packets, even, payload)

    def by_packets(self, arrays: Arrays) -> traffic.Demand:
        """Return the same with full and last packets apart; their characters are those that are sent."""
        source, target, size, count = self.programs.demand
        payload, number = self.packets_of(arrays, size)
        packets, sent = (number * count).ravel() / self.busiest(arrays), self._filled(payload).ravel()
        some, source, target = packets > 0, np.tile(source, 2), np.tile(target, 2)
        carried = traffic.Payload(payload.ravel()[some].astype(np.float64), sent[some].astype(np.float64))
        even = np.zeros(len(self.programs.terminal_names))
        return traffic.Demand(source[some], target[some], packets[some], even, carried)

    def mean_packet(self, arrays: Arrays) -> tuple[float, float]:
        """Return the mean payload of packets of messages, in bytes and in characters, which count full."""
        _, _, size, count = self.programs.demand
        if not len(size):
            usual = int(arrays["message_packet_bytes"])
            return float(usual), self.routes.technology.payload_chars(usual)
        number, chars = self._cut(arrays, size)
        packets = float((number.sum(axis=0) * count).sum())
        return float((size * count).sum()) / packets, float((chars * count).sum()) / packets

    def busy_ps(self, arrays: Arrays, apart: bool) -> NDArray[np.float64]:
        """Return, per terminal, for how long its host works for all messages; ``apart``: see the host's.

        Programs without an end may leave messages where they are: then only what a terminal takes between its
        own sends, in one stream, holds these back.
        """
        found, names = self.programs, len(self.programs.terminal_names)
        source, target, size, count = found.demand
        sent, came = (np.bincount(end, count, names) for end in (source, target))
        taken = found.taken()
        part = np.minimum(np.divide(taken, came, out=np.zeros(names), where=came > 0), 1.0)
        if not found.ends:
            part = np.where((found.streams > 1) | (sent == 0), 0.0, part)
        ends = (source, count, size), (target, count * part[target], size)
        several = self.routes.graph.several
        ports = (
            np.ones(names, np.int64) if several is None else np.bincount(several.terminal, minlength=names)
        )
        shaped_ps = host.shaped_ps(self.protocol, source, target, size * count, ports)
        return np.maximum(shaped_ps, host.busy_ps(self.protocol, *ends, found.streams, ports, apart))

    def of_hosts(self, arrays: Arrays) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return, per terminal, the part of the technology's rate at which its host sends and takes at most.

        Infinite where nothing is sent or taken.
        """
        source, target, size, count = self.programs.demand
        busy_ps, wire_ps = self.busy_ps(arrays, apart=False), self.wire_ps(arrays, size) * count
        sends, takes = (host.part(wire_ps, ends, busy_ps) for ends in (source, target))
        return sends, takes if self.programs.ends else np.full(len(busy_ps), np.inf)

    def of_windows(self, arrays: Arrays, latency_ps: Latencies) -> NDArray[np.float64]:
        """Return, per terminal, the part of the technology's rate that its windows let a port send at most.

        Infinite where none holds it. Each port has windows of its own. ``latency_ps``: what packets take
        through an otherwise empty network.
        """
        source, target, size, count = host.few(self.programs.demand, 0, MOST_PAIRS)
        names, protocol = len(self.programs.terminal_names), self.protocol
        pairs, pair = np.unique(source * names + target, return_inverse=True)
        if not (host.holds(protocol) and len(pairs)):
            return np.full(names, np.inf)
        ends, tech = (pairs // names, pairs % names), self.routes.technology
        back_ps = protocol["ack_time_ps"] + protocol["resume_time_ps"] + latency_ps(ends[1], ends[0], 0)
        payload, number = self.packets_of(arrays, size)
        if protocol["acknowledge_from"] == "head":
            own_ps = float(tech.mean_packet_ps(tech.payload_chars(0)))
            loops_ps = np.tile((back_ps + latency_ps(*ends, 0) - own_ps)[pair], (2, 1))
        else:
            lengths, place = np.unique(payload, return_inverse=True)
            # Of many lengths the shortest stands for all that are shorter than the longest.
            tried = lengths if len(lengths) <= MOST_LENGTHS else lengths[[0, -1]]
            way_ps = np.array([latency_ps(*ends, length) for length in tried.tolist()])
            as_long = np.searchsorted(tried, lengths, "right") - 1
            loops_ps = (way_ps + back_ps)[as_long[place.reshape(payload.shape)], pair]
        loops_ps = loops_ps + host.handled_ps(protocol, payload)
        targets = np.bincount(ends[0], minlength=names)
        asks, words = size > (protocol["eager_limit_bytes"] or np.inf), protocol["announcement_bytes"]
        ways_ps = latency_ps(*ends, words) + latency_ps(ends[1], ends[0], words) if asks.any() else back_ps
        asked_ps = np.where(asks, ways_ps[pair], 0.0)
        held_ps = host.held_ps(protocol, source, count, number, loops_ps, asked_ps, targets)
        return host.part(self.wire_ps(arrays, size) * count, source, held_ps)

    def wire_ps(self, arrays: Arrays, size: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how long the packets of each message take on a link."""
        tech, (number, chars) = self.routes.technology, self._cut(arrays, size)
        apiece_ps = tech.mean_packet_ps(0)
        return number.sum(axis=0) * apiece_ps + chars * (tech.mean_packet_ps(1) - apiece_ps)

    def lengths(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """Return the payloads of packets in bytes, and which part of all packets has each."""
        _, _, size, count = self.programs.demand
        if not len(size):
            return np.array([int(arrays["message_packet_bytes"])]), np.ones(1)
        payload, number = self.packets_of(arrays, size)
        share = (number * count).ravel()
        return self._filled(payload).ravel(), share / share.sum()

    def _filled(self, payload: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the payloads of full and last packets; where only some are legal, filled up to the next."""
        legal = np.array(self.routes.technology.legal_payloads_bytes)
        return legal[np.searchsorted(legal, payload)] if len(legal) else payload

    def _cut(self, arrays: Arrays, size: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the full and the last packets of messages, and the characters of all packets of each.

        The padding of a mean length is not the mean padding.
        """
        payload, number = self.packets_of(arrays, size)
        lengths, place = np.unique(payload, return_inverse=True)
        of_length = [self.routes.technology.payload_chars(length) for length in lengths.tolist()]
        chars = np.array(of_length, np.int64)[place.reshape(number.shape)]
        return number, (number * chars).sum(axis=0)

    @staticmethod
    def packets_of(arrays: Arrays, size: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the payloads of the full and of the last packets of messages, and how many there are."""
        small = size < arrays["message_small_below_bytes"]
        packet = np.where(small, arrays["message_small_packet_bytes"], arrays["message_packet_bytes"])
        rest = size % packet
        return np.array([packet, rest]), np.array([size // packet, (rest > 0) | (size == 0)])


def _settings(scenario: Scenario, protocol: dict[str, Any]) -> dict[str, Any]:
    """Return ``[program]``, with the packet header if a SpaceWire protocol prescribes every byte."""
    settings = scenario.parameters("program")
    if settings["kind"] == "goal":
        settings = {**settings, "ends_count": protocol["eager_limit_bytes"] > 0}
    if settings["kind"] not in ("rmap", "ccsds", "spacewire-d"):
        return settings
    if not scenario.network_kind.codes:
        message = f"{settings['kind']} is a protocol of SpaceWire, not of rings"
        raise scenario.error(message, ("program", "kind"), "choose a network of links")
    if protocol["layer"] != "none":
        message = f"{settings['kind']} has packets of its own, without a layer above"
        raise scenario.error(message, ("protocol", "layer"), "remove it")
    try:
        tech = technology(scenario.technology.preset, scenario.technology.overrides())
    except TechnologyError as error:
        raise scenario.located(error, "technology") from error
    header_bytes = tech.header_chars * tech.character_bytes
    return {**settings, "header_bytes": header_bytes, "most_bytes": protocol["packet_bytes"]}


def protocol_of(scenario: Scenario) -> dict[str, Any]:
    try:
        found = filled_protocol(scenario).model_dump()
    except TechnologyError as error:
        if scenario.protocol is None:
            raise
        raise scenario.located(error, "protocol") from error
    of_rings, kind = scenario.network_kind.transactions, scenario.topology.kind
    for name, value, refused, others, hint in (
        ("acknowledge", "response", not of_rings, "rings", 'write acknowledge = "packet" or "none"'),
        ("acknowledge_from", "head", of_rings, "links", 'write acknowledge_from = "end"'),
    ):
        if refused and found[name] == value:
            written = scenario.protocol is not None and getattr(scenario.protocol, name) is not None
            where, of = (name, "") if written else ("preset", f' of "{found["preset"]}"')
            message = f'{name} = "{value}"{of} is for networks of {others}, not for a {kind}'
            raise scenario.error(message, ("protocol", where), hint)
    return {**found, "by_size": _rows(scenario)}


def _matching(protocol: dict[str, Any]) -> Arrays:
    limit = protocol["eager_limit_bytes"]
    return {
        "message_eager_bytes": limit,
        "message_announcement_bytes": protocol["announcement_bytes"] if limit else 0,
        "message_unexpected_bytes": protocol["unexpected_buffer_bytes"],
    }


def _resends(protocol: dict[str, Any], tick_ps: Ps) -> Arrays:
    after = protocol["resend_after_ps"]
    names = ("resend_limit", "resend_backoff")
    counts = {f"message_{name}": protocol[name] if after else 0 for name in names}
    return {"message_resend_ticks": after // tick_ps, **counts}


def _shaper(scenario: Scenario, protocol: dict[str, Any], tick_ps: Ps) -> Arrays:
    """Return the token bucket of a channel. Raises ScenarioError if a packet never passes it."""
    rate, burst = protocol["shaper_rate_bits_per_s"], protocol["shaper_burst_bytes"]
    packet = protocol["packet_bytes"]
    if mistake := bucket_mistake(rate, burst, packet):
        raise scenario.error(mistake[0], ("protocol", "shaper_burst"), mistake[1])
    if rate is None:
        return {"message_shaper_byte_ticks": 0.0, "message_shaper_bytes": 0}
    byte_ticks = float(Fraction(8 * 10**12) / (Fraction(rate) * Fraction(tick_ps)))
    if byte_ticks > _MOST_BYTE_TICKS:
        message = "at this rate a byte takes too long to be simulated"
        raise scenario.error(message, ("protocol", "shaper_rate"), "raise the rate")
    return {"message_shaper_byte_ticks": byte_ticks, "message_shaper_bytes": burst or packet}


def _path(parameter: str) -> tuple[str | int, ...]:
    return ("program", *(int(step) if step.isdecimal() else step for step in parameter.split(".")))


def _check_packets(scenario: Scenario, tech: Technology | RingTechnology, protocol: dict[str, Any]) -> None:
    """Refuse packet sizes that the links do not allow."""
    if 0 < tech.mtu_bytes < protocol["packet_bytes"]:
        mtu = format_bytes(tech.mtu_bytes)
        message = f"a packet of {format_bytes(protocol['packet_bytes'])} is longer than the MTU, {mtu}"
        hint = f'write packet = "{mtu}" or less, or raise {tech.mtu_setting}'
        raise scenario.error(message, ("protocol", "packet"), hint)
    legal = tech.legal_payloads_bytes
    for name in ("packet", "small_packet"):
        size = protocol[f"{name}_bytes"]
        if legal and size not in legal:
            sizes = ", ".join(f"{one} B" for one in legal)
            message = f"there is no packet with {size} B of payload"
            raise scenario.error(message, ("protocol", name), f"the payload of these packets is {sizes}")
