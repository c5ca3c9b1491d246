"""What limits a run of programs: a wire, a host, incast at a receiver, or a window of the protocol."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import units
from . import tables
from .figures import figures, in_percent
from .limit import FULL, Limit, one_of

if TYPE_CHECKING:
    from .programs import ProgramRun

BLOCKED = 0.5
"""Senders that wait for a place for their messages for this share of the time are held up by something."""
WAITING = 0.5
"""If at least this many packets wait for the link into a receiver on average, its senders compete for it."""

Floats = NDArray[np.float64]


def of_program(found: Limit, run: ProgramRun, resolved: Mapping[str, Any]) -> Limit:
    """Return what limits the programs; ``found``: what limits the links."""
    if found["what"] is None or not run.window_ticks:
        return found
    hosts = np.minimum(host_shares(run, resolved.get("protocol") or {}) * _steadily(run), 1.0)
    busiest = int(np.argmax(hosts))
    name = run.graph.terminal_names[busiest]
    host = f"the host of {name}, busy with its messages {in_percent(hosts[busiest])} of the time"
    if found["what"] == "link" and found["reached"]:
        return _wire(found, run)
    if hosts[busiest] >= FULL:
        return one_of("host", name, float(hosts[busiest]), True, host)
    blocked = run.summary_of_hosts["blocked_share_max"] or 0.0
    receiving = run.summary_of_hosts["receiving_share_max"] or 0.0
    if found["reached"] or max(blocked / BLOCKED, receiving / FULL) < 1:
        return _nearest(found, one_of("host", name, float(hosts[busiest]), False, host))
    more = f"; {host}" if hosts[busiest] >= BLOCKED else ""
    limit = _incast(found, run, resolved, more) or _window(found, run, resolved, more)
    return {**limit, "reached": not run.steady.keeps_up}


def _steadily(run: ProgramRun) -> float:
    """Return how much faster events are built in the steady part of the run than in all of the window."""
    built = int(run.measured_events.sum())
    if not built or math.isnan(run.steady.per_ns_ci95):
        return 1.0
    return max(1.0, run.steady.per_ns * run.window_ns / built)


def _nearest(found: Limit, host: Limit) -> Limit:
    return host if not found["reached"] and host["share"] > found["share"] else found


def _wire(found: Limit, run: ProgramRun) -> Limit:
    """Return full links; if one alone leads to a terminal, with the number of those that send to it."""
    graph = run.graph
    if not found["name"]:
        return found
    link = graph.link_names.index(found["name"])
    place = int(graph.link_target[link]) - graph.switches
    senders = _senders(run, place) if place >= 0 and graph.several is None else 0
    if senders < 2:
        return found
    return {**found, "text": f"{found['text']}: incast of {senders} senders"}


def _senders(run: ProgramRun, terminal: int) -> int:
    """Return how many terminals have sent messages to one, as far as pairs were kept."""
    target = tables.column(run.native, "message_flow_target")
    return int((target == terminal).sum())


def _incast(found: Limit, run: ProgramRun, resolved: Mapping[str, Any], more: str) -> Limit | None:
    """Return the receivers whose senders compete for the links into them, if packets wait there."""
    graph = run.graph
    into = np.asarray(graph.terminal_in_links)
    waiting = tables.column(run.native, "link_wait_ticks")[into] / run.window_ticks
    if not len(waiting) or waiting.max() < WAITING:
        return None
    most = int(np.argmax(waiting))
    alike = int((waiting >= WAITING).sum()) - 1
    name = graph.port_names[most] if graph.several is not None else graph.terminal_names[most]
    others = f" and {alike} more receiver{'s' if alike > 1 else ''}" if alike else ""
    busy = float(tables.utilisation(run.native, run.window_ticks)[into[most]])
    text = (
        f"incast at {name}{others}: {figures(float(waiting[most]), 2)} packets on average wait for the link "
        f"into it, which is in use {in_percent(busy)} of the time{_held(run, resolved)}{more}"
    )
    return one_of("incast", name, busy, True, text)


def _window(found: Limit, run: ProgramRun, resolved: Mapping[str, Any], more: str) -> Limit:
    """Return the windows of the protocol: senders wait for answers while no wire is full."""
    protocol = resolved.get("protocol") or {}
    names = (
        "messages_at_once",
        "packets_per_channel",
        "packets_at_once",
        "channels_at_once",
        "receive_at_once",
    )
    given = ", ".join(f"{name} = {protocol[name]}" for name in names if protocol.get(name))
    most = run.summary_of_hosts["blocked_most"] or ""
    text = (
        f"the windows of the protocol ({given or 'none is set'}): no wire is in use more than "
        f"{in_percent(found['share'])} of the time{_held(run, resolved)}{more}"
    )
    return one_of("window", most, float(found["share"]), True, text)


def _held(run: ProgramRun, resolved: Mapping[str, Any]) -> str:
    share = run.summary_of_hosts["blocked_share_mean"] or 0.0
    places = (resolved.get("protocol") or {}).get("messages_at_once")
    if not places or share < BLOCKED:
        return ""
    return f"; senders wait {in_percent(share)} of the time for a place among messages_at_once = {places}"


def host_shares(run: ProgramRun, protocol: Mapping[str, Any]) -> Floats:
    """Return, per terminal, the share of the window in which its processor or bus works for messages."""
    count, ps = run.graph.terminals, _times(protocol)
    if not count or not run.window_ns:
        return np.zeros(count)
    busy, bus = np.zeros(count), np.zeros(count)
    for way, (terminal, number, size) in _handled(run).items():
        packet_bytes = np.where(size < ps["small_below"], ps["small_packet"], ps["packet"])
        each = np.ceil(size / np.maximum(packet_bytes, 1))
        sending = np.maximum(each * ps["packet_time"] + size * ps["byte_time"], each * ps["send_gap_time"])
        more = sending if way == "send" else each * ps["receive_gap_time"]
        busy += np.bincount(terminal, number * (ps[f"{way}_time"] + more), count)
        on_bus = each * ps["bus_packet_time"] + size * ps["bus_byte_time"]
        bus += np.bincount(terminal, number * on_bus, count)
    return np.minimum(np.maximum(busy, bus) / (run.window_ns * 1000), 1.0)


def _handled(run: ProgramRun) -> dict[str, tuple[NDArray[np.int64], Floats, Floats]]:
    """Return what was sent and received: terminals, and the number and the mean size of messages.

    By pair where all pairs were kept: a supervisor's messages are short, its builders' long. Otherwise with
    the mean size of what each terminal's program sends.
    """
    pairs = {name: tables.column(run.native, f"message_flow_{name}") for name in ("packets", "bytes")}
    moved = {way: tables.column(run.native, f"terminal_bytes_{way}") for way in ("sent", "received")}
    if int(pairs["bytes"].sum()) == int(moved["received"].sum()) == int(moved["sent"].sum()):
        number = pairs["packets"].astype(np.float64)
        size = pairs["bytes"] / np.maximum(number, 1)
        ends = {"send": "source", "receive": "target"}
        found = {
            way: tables.column(run.native, f"message_flow_{end}").astype(np.int64)
            for way, end in ends.items()
        }
        return {way: (terminal, number, size) for way, terminal in found.items()}
    size = run.message_bytes
    every = np.arange(run.graph.terminals)
    one = np.maximum(size, 1)
    return {"send": (every, moved["sent"] / one, size), "receive": (every, moved["received"] / one, size)}


_TIMES = (
    "send_time", "receive_time", "packet_time", "byte_time", "bus_packet_time", "bus_byte_time",
    "send_gap_time", "receive_gap_time",
)  # fmt: skip
_SIZES = ("packet", "small_packet", "small_below")


def _times(protocol: Mapping[str, Any]) -> dict[str, float]:
    """Return the times in ps and the sizes in bytes of the resolved protocol."""
    found = {name: float(units.parse_time_ps(str(protocol.get(name) or "0 ps"))) for name in _TIMES}
    return found | {name: float(units.parse_bytes(str(protocol.get(name) or "0 B"))) for name in _SIZES}
