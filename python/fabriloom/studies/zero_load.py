"""The zero-load latency, found by sending single packets through the engine one after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..codes import ARRIVAL, LENGTH, TARGET, number
from ..compile import Compiled
from ..compile.several import port_pairs, reached
from .port_loads import spread_evenly

SOURCES = 16
TARGETS = 64
MOST_FLOWS = 1024

Packets = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Sources, targets and payload characters of packets."""


def zero_load_latency(inspection: Any, length_bytes: int | None = None) -> dict[str, Any]:
    """Return shortest, mean and longest network latency of single packets in ns, over pairs of terminals.

    ``inspection``: of a network, as ``inspection_of`` returns it.

    Packets have the given length, or the longest of the scenario. If each sender has one destination, the
    pairs are up to 1024 of these; if the traffic is given as flows, those of up to 1024 flows, each with its
    own packet, whose value is the mean of its copies if it goes to several terminals. The value of each pair
    is exact: every packet is sent after the previous one has arrived. None waits for a time-slot, nor for a
    quantum of credit that an earlier packet has begun. A pair of terminals has a packet for each port that
    its rule of choice can take, and its value is their mean. Where packets go over switches that they draw, a
    pair has further ones, up to 1024 in all.
    """
    compiled = alone(inspection.compiled)
    graph, arrays = compiled.graph, compiled.arrays
    unknown = {"min": None, "mean": None, "max": None, "pairs": 0, "length_bytes": 0}
    if graph.terminals < 2:
        return unknown
    usual = longest_bytes(compiled) if length_bytes is None else length_bytes
    source, target, length = _flows(arrays) or _partners(arrays, usual) or _pairs(inspection, usual)
    known = reached(compiled.routes, source, target)
    source, target, length = source[known], target[known], length[known]
    if not len(source):
        return unknown
    longest = int(length.max())
    apart = inspection.apart_ticks(compiled.technology.payload_chars(longest))
    ways = _ways(compiled, source, target)
    source_of, target_of, length_of = (np.repeat(column, ways) for column in (source, target, length))
    latency, packet = _run(arrays, source_of, target_of, length_of, apart)
    latency, share = latency * (compiled.tick_ps / 1000), np.repeat(1 / ways, ways) / np.bincount(packet)
    return {
        "min": float(latency.min()),
        "mean": float(np.average(latency, weights=share[packet])),
        "max": float(latency.max()),
        "pairs": len(source),
        "length_bytes": longest,
    }


def of_pairs_ps(
    compiled: Compiled, apart: int, source: np.ndarray, target: np.ndarray, length_bytes: int
) -> np.ndarray:
    """Return the network latency of a packet of each pair that meets no other, in ps.

    ``compiled``: as :func:`alone` returns it; ``apart``: ticks within which any of them has arrived.
    """
    order = np.lexsort((target, source))
    found, length = np.empty(len(order)), np.full(len(order), length_bytes)
    found[order], _ = _run(compiled.arrays, source[order], target[order], length, apart)
    return found * float(compiled.tick_ps)


def alone(compiled: Compiled) -> Compiled:
    """Return the network as a packet finds it while none comes the other way."""
    if not compiled.is_matched:
        return compiled
    return compiled.beside(np.zeros(compiled.graph.links, np.int64))


def _ways(compiled: Compiled, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return how many packets show the ways of each pair: one for each port by which they can leave, or as
    many times more if they draw switches.
    """
    found = np.ones(len(source), np.int64)
    if compiled.graph.several is not None:
        pair, _, _ = port_pairs(compiled.routes, compiled.scenario.port_choice, source, target)
        found = np.bincount(pair, minlength=len(source))
    drawn = len(compiled.arrays["via_switch"]) > 0
    return found * (max(1, MOST_FLOWS // int(found.sum())) if drawn else 1)


def _without_others(arrays: dict[str, Any]) -> dict[str, Any]:
    """Remove programs, codes, faults and the tables after them, closed routes and time-slots."""
    prefixes = (
        *("program_", "op_", "event_", "message_", "fault_", "table_", "lane_slot", "ring_close"),
        *("code_", "link_code_", "switch_code_"),
    )
    names = [name for name in arrays if name.startswith(prefixes)]
    return {name: arrays[name][:0] if isinstance(arrays[name], np.ndarray) else 0 for name in names}


def of_lists(
    arrays: dict[str, Any], count: np.ndarray, target: np.ndarray, length: np.ndarray, wait: np.ndarray
) -> dict[str, Any]:
    """Return the arrays with lists of packets instead of all that terminals send.

    ``count``: packets per terminal; ``wait``: ticks before each packet.
    """
    return {
        **arrays,
        "source_arrival": np.where(count > 0, ARRIVAL.LIST, ARRIVAL.SILENT).astype(np.uint8),
        "source_length": np.full(len(count), LENGTH.FIXED, np.uint8),
        "list_start": np.concatenate(([0], np.cumsum(count))).astype(np.uint32),
        "list_target": target.astype(np.uint32),
        "list_length": length.astype(np.uint32),
        "list_at_grains": np.zeros(0, np.uint64),
        "list_wait_ticks": wait.astype(np.uint64),
        "list_repeat": np.zeros(len(count), np.uint8),
        **_without_others(arrays),
    }


def _pairs(kind: Any, length_bytes: int) -> Packets:
    source, target = kind.pairs(SOURCES, TARGETS)
    return source, target, np.full(len(source), length_bytes)


def _partners(arrays: dict[str, Any], length_bytes: int) -> Packets | None:
    """Return the packets of senders that all have one destination; None if any has several."""
    sending = np.flatnonzero(arrays["source_arrival"] != ARRIVAL.SILENT)
    if not len(sending) or np.any(arrays["source_target"][sending] != TARGET.FIXED):
        return None
    source = spread_evenly(sending, MOST_FLOWS)
    target = arrays["target_fixed"][source].astype(np.int64)
    return source, target, np.full(len(source), length_bytes)


def _flows(arrays: dict[str, Any]) -> Packets | None:
    """Return the packets of flows; None if there are none."""
    source = np.repeat(
        np.arange(len(arrays["flow_start"]) - 1), np.diff(arrays["flow_start"].astype(np.int64))
    )
    target, length = (arrays[f"flow_{name}"].astype(np.int64) for name in ("target", "length"))
    if not len(target):
        return None
    kept = spread_evenly(np.arange(len(target)), MOST_FLOWS)
    return source[kept], target[kept], length[kept]


def longest_bytes(compiled: Compiled) -> int:
    """Return the payload of the longest packet of the scenario in bytes."""
    payload, share = compiled.lengths
    sent = payload[share > 0]
    return int(sent.max()) if len(sent) else 1


def _first_bytes(arrays: dict[str, Any]) -> int:
    """Return the payload of packets at the start, all of them at once: none fills more than a buffer.

    They are a whole credit, so that none keeps a part of one from the packets behind.
    """
    ends = 0 if arrays["end_carries_data"] else 1
    chars = int(arrays["link_quantum"].max(initial=0)) - int(arrays["header_chars"]) - ends
    return max(1, max(1, chars) * int(arrays["character_bytes"]) - int(arrays["overhead_bytes"]))


def _run(
    arrays: dict[str, Any], source: np.ndarray, target: np.ndarray, length: np.ndarray, apart: int
) -> tuple[np.ndarray, np.ndarray]:
    """Run one packet per pair, ``apart`` ticks from each other; returns the latencies of all deliveries in
    ticks, and the number of the packet of each: one that is distributed has several.
    """
    terminals = int(arrays["terminals"])
    senders, pairs = np.unique(source, return_counts=True)
    # A wait begins when a packet has left, which is sooner than ``apart`` after the one before.
    turn = 2 * int(pairs.max()) + len(senders) + 2
    queues = [number("port_choice", choice) for choice in ("shortest-queue", "first-free")]
    # A list begins at once, so each has a first packet that is not looked at; its wait is the source's turn.
    begin = np.concatenate(([0], np.cumsum(pairs)[:-1]))
    wait = np.insert(np.full(len(source), apart), begin, apart * turn * np.arange(1, len(senders) + 1))
    per_terminal = np.zeros(terminals, np.int64)
    per_terminal[senders] = pairs + 1
    first = _first_bytes(arrays)
    changed = {
        **of_lists(
            arrays,
            per_terminal,
            np.insert(target, begin, target[begin]),
            np.insert(length, begin, first),
            wait,
        ),
        # No packet meets another: what depends on queues is each port in turn, as the packets of a pair need.
        "terminal_choice": np.where(
            np.isin(arrays["terminal_choice"], queues),
            number("port_choice", "round-robin"),
            arrays["terminal_choice"],
        ).astype(np.uint8),
    }
    until = apart * turn * (len(senders) + 1)
    most = int(np.diff(arrays["distribution_start"]).max(initial=1))
    limits = {"precision": 0.0, "packets": 0, "drain": False, "flows": 0, "trace": len(wait) * most}
    simulation = _native.Simulation(changed, until=until, warmup=0, batch=until, **limits)
    while not simulation.advance(1 << 20):
        pass
    found = simulation.result()
    names = ("trace_created_ticks", "trace_started_ticks", "trace_delivered_ticks")
    created, started, delivered = (np.asarray(found[name], np.int64) for name in names)
    of_list = created > 0
    return (delivered - started)[of_list], np.unique(created[of_list], return_inverse=True)[1].ravel()
