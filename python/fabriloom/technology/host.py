"""How long hosts are busy with messages, by the times of a protocol: ``docs/background/programs.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabriloom import units

Floats = NDArray[np.float64]
Handled = tuple[NDArray[np.int64], Floats, NDArray[Any]]
"""Messages that terminals send or receive: terminals, numbers of messages, and their mean bytes."""

BY_SIZE = ("send_time_ps", "receive_time_ps", "packet_time_ps", "send_gap_time_ps")
_TIMES = (*BY_SIZE, "byte_time_ps", "bus_packet_time_ps", "bus_byte_time_ps", "receive_gap_time_ps")
_SIZES = ("packet_bytes", "small_packet_bytes", "small_below_bytes", "shaper_burst_bytes")


def read(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resolved protocol with numbers, as :func:`busy_ps` takes it."""

    def number(table: Mapping[str, Any], name: str) -> float:
        written = table.get(name.removesuffix("_ps").removesuffix("_bytes"))
        if written is None:
            return 0.0
        return float((units.parse_time_ps if name.endswith("_ps") else units.parse_bytes)(str(written)))

    rows = protocol.get("by_size") or []
    rate = protocol.get("shaper_rate")
    return {
        **{name: number(protocol, name) for name in (*_TIMES, *_SIZES)},
        "shaper_rate_bits_per_s": float(units.parse_byte_rate_bits_per_s(rate)) if rate else None,
        "programmed": bool(protocol.get("programmed")),
        "by_size": [{name: number(row, name) for name in ("message_bytes", *BY_SIZE)} for row in rows],
    }


def interpolated(rows: Sequence[Mapping[str, Any]], name: str, sizes: NDArray[Any]) -> Floats:
    """Return a time of ``by_size`` for messages of these sizes.

    Times between two given sizes are interpolated linearly. Sizes below the first have the times of the
    first; above the last, the line through the last two continues.
    """
    known, values = (np.array([row[key] for row in rows], np.float64) for key in ("message_bytes", name))
    at = np.interp(sizes, known, values)
    if len(rows) > 1:
        slope = (values[-1] - values[-2]) / (known[-1] - known[-2])
        at = np.where(sizes > known[-1], values[-1] + slope * (sizes - known[-1]), at)
    return at


def busy_ps(
    protocol: Mapping[str, Any],
    sent: Handled,
    received: Handled,
    streams: NDArray[Any],
    ports: NDArray[Any],
    apart: bool,
) -> Floats:
    """Return, per terminal, for how long its busiest part works for its messages: processor, filling, bus.

    A program begins its next message while packets of the last one are filled, unless it fills them itself.

    Args:
        protocol: numbers by the names of the scenario with their units; also ``by_size``, a list of such.
        sent: the messages that terminals send.
        received: those that they receive.
        streams: per terminal, the streams that share its processor's calls.
        ports: per terminal, its ports.
        apart: whether all of these fill and accept packets at a time; otherwise as if all went by one.
    """
    count, rows = len(streams), protocol.get("by_size") or []
    processor, filling, accepting, bus, before = np.zeros((5, count))
    for way, (terminal, number, size) in (("send", sent), ("receive", received)):
        small = size < protocol["small_below_bytes"]
        packet = np.where(small, protocol["small_packet_bytes"], protocol["packet_bytes"])
        each = np.maximum(np.ceil(size / np.maximum(packet, 1)), 1)

        def time(name: str, size: NDArray[Any] = size) -> Any:
            return interpolated(rows, name, size) if rows and name in BY_SIZE else protocol[name]

        own = time(f"{way}_time_ps")
        on_bus = each * protocol["bus_packet_time_ps"] + size * protocol["bus_byte_time_ps"]
        if way == "receive":
            accepting += np.bincount(terminal, number * each * protocol["receive_gap_time_ps"], count)
        else:
            bytes_ps = 0.0 if rows else size * protocol["byte_time_ps"]
            filled = each * time("packet_time_ps") + bytes_ps
            gaps = each * time("send_gap_time_ps")
            filling += np.bincount(terminal, number * np.maximum(filled, gaps), count)
            np.maximum.at(before, terminal, np.broadcast_to(gaps / each, np.shape(terminal)))
            if protocol["programmed"]:
                own, on_bus = own + filled, filled
        processor += np.bincount(terminal, number * own, count)
        bus += np.bincount(terminal, number * on_bus, count)
    # No gap comes before the first packet of a port.
    filling, accepting = filling - before * ports, accepting - protocol["receive_gap_time_ps"] * ports
    filling, accepting = (time / (ports if apart else 1) for time in (filling, accepting))
    return np.maximum(np.max([processor / np.maximum(streams, 1), filling, accepting, bus], axis=0), 0)


def shaped_ps(
    protocol: Mapping[str, Any],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    sent_bytes: NDArray[Any],
    ports: NDArray[np.int64],
) -> Floats:
    """Return, per terminal, for how long its slowest channel waits for the tokens of what is sent.

    ``ports``: per terminal; two terminals have a channel for each pair of theirs.
    """
    rate, names = protocol["shaper_rate_bits_per_s"], len(ports)
    found = np.zeros(names)
    if not rate:
        return found
    pairs, pair = np.unique(source * names + target, return_inverse=True)
    ends = pairs // names, pairs % names
    # A bucket is full at the start.
    burst = protocol["shaper_burst_bytes"] or protocol["packet_bytes"]
    apiece = np.bincount(pair, sent_bytes) / (ports[ends[0]] * ports[ends[1]]) - burst
    np.maximum.at(found, ends[0], apiece * 8e12 / float(rate))
    return found


def few(messages: tuple[NDArray[Any], ...], end: int, most: int) -> tuple[NDArray[Any], ...]:
    """Return the messages of some terminals, evenly spread, in this many pairs at most.

    Args:
        messages: columns, of which the first two are sources and targets.
        end: the column of these terminals.
        most: of many pairs.
    """
    names = 1 + int(max(column.max(initial=0) for column in messages[:2]))
    pairs = np.unique(messages[0] * names + messages[1])
    each = np.bincount(np.divmod(pairs, names)[end], minlength=names)
    there = np.flatnonzero(each)
    count = min(len(there), most // max(1, int(each.max())))
    kept = there[np.linspace(0, max(0, len(there) - 1), count).astype(np.int64)]
    some = np.isin(messages[end], kept)
    return tuple(column[some] for column in messages)


def holds(protocol: Mapping[str, Any]) -> bool:
    """Return whether senders wait for acknowledgements."""
    windows = ("messages_at_once", "packets_per_channel", "packets_at_once")
    return protocol["acknowledge"] == "packet" and any(protocol[name] for name in windows)


def handled_ps(protocol: Mapping[str, Any], payload: NDArray[np.int64]) -> Floats:
    """Return for how long, at least, hosts fill and move packets that already hold a place."""
    on_bus = protocol["bus_packet_time_ps"] + payload * protocol["bus_byte_time_ps"]
    found = on_bus * ((not protocol["programmed"]) + (protocol["acknowledge_from"] == "end"))
    if not protocol["by_size"]:
        filled = np.maximum(payload - protocol["ahead_bytes"], 0)
        found = found + protocol["packet_time_ps"] + filled * protocol["byte_time_ps"]
    return np.asarray(found, np.float64)


def held_ps(
    protocol: Mapping[str, Any],
    source: NDArray[np.int64],
    count: NDArray[Any],
    number: NDArray[np.int64],
    loops_ps: Floats,
    asked_ps: Floats,
    targets: NDArray[np.int64],
) -> Floats:
    """Return, per terminal, for how long its windows are full, however fast its link and its processor are.

    A packet keeps its place in them until it is acknowledged, a message its slot until all its packets are.

    Args:
        source, count: of each message, its sender and how often it is sent.
        number: of each message, its full and its last packets, in two rows.
        loops_ps: for how long each of these keeps its place at least.
        asked_ps: for how long each message keeps its slot before, until its announcement is answered.
        targets: per terminal, those to which it sends.
    """
    slots, channels, by_channel, at_once = (
        protocol[name] or np.inf
        for name in ("messages_at_once", "channels_at_once", "packets_per_channel", "packets_at_once")
    )
    names, window = len(targets), min(by_channel, at_once)
    # Announcements take no slot.
    channels = channels if protocol["eager_limit_bytes"] else min(channels, slots)
    places = np.minimum(at_once, by_channel * np.clip(targets, 1, channels))
    whole_ps = (np.maximum(np.ceil(number.sum(axis=0) / window), 1) - 1) * loops_ps[0]
    whole_ps += np.where(number[1] > 0, loops_ps[1], loops_ps[0]) + asked_ps
    if not protocol["by_size"]:
        whole_ps += protocol["send_time_ps"]
    each_ps = np.bincount(source, (number * loops_ps).sum(axis=0) * count, names) / places
    return np.maximum(each_ps, np.bincount(source, whole_ps * count, names) / slots)


def part(wire_ps: NDArray[Any], terminal: NDArray[np.int64], busy_ps: NDArray[Any]) -> Floats:
    """Return, per terminal, how long links need for its messages over how long it is busy with them."""
    carried_ps = np.bincount(terminal, wire_ps, len(busy_ps))
    limited = (busy_ps > 0) & (carried_ps > 0)
    return np.divide(carried_ps, busy_ps, out=np.full(len(busy_ps), np.inf), where=limited)
