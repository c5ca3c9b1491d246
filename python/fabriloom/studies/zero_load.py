"""The latency of a packet that meets no other, by running such packets through the engine one after
another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..codes import ARRIVAL, LENGTH, number
from ..compile import Compiled, RingParts
from ..compile.several import reached
from ..topology import Graph

SOURCES = 16
TARGETS = 64
_LONGEST_RING_PACKET_BYTES = 1024
_RING_TIMES = (
    "link_arrival_ticks",
    "station_decode_ticks",
    "station_bypass_ticks",
    "station_receive_ticks",
    "station_transmit_ticks",
    "bus_setup_ticks",
    "terminal_access_ticks",
    "terminal_host_ticks",
)
_RING_RATES = ("link_character_ticks", "bus_cycle_ticks", "terminal_block_ticks")


def _pairs(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets spread evenly over the network: all of a small one, a thousand pairs of a large."""
    terminals = graph.terminals
    if graph.rings is not None:
        senders = _spread(graph.rings.terminals_of("sender", terminals), SOURCES)
        receivers = _spread(graph.rings.terminals_of("receiver", terminals), TARGETS)
        source, target = np.repeat(senders, len(receivers)), np.tile(receivers, len(senders))
        return source[source != target], target[source != target]
    sources = _spread(np.arange(terminals), SOURCES)
    steps = _spread(np.arange(1, terminals), TARGETS)
    source = np.repeat(sources, len(steps))
    return source, (source + np.tile(steps, len(sources))) % terminals


def _spread(values: np.ndarray, most: int) -> np.ndarray:
    """At most this many of the values, the first and the last among them."""
    places = np.linspace(0, len(values) - 1, min(len(values), most)).astype(np.int64)
    return values[np.unique(places)]


def zero_load_latency(compiled: Compiled) -> dict[str, Any]:
    """Shortest, mean and longest network latency of single packets, in ns, over pairs of terminals.

    Packets are as long as the scenario's longest. Exact for each pair: the packets of one source follow each
    other after the one before has arrived; so do the sources.
    """
    if compiled.technology.flow_control == "matched":
        compiled = compiled.beside(np.zeros(compiled.graph.links, np.int64))  # no packet comes the other way
    graph, arrays = compiled.graph, compiled.arrays
    if graph.terminals < 2:
        return {"min": None, "mean": None, "max": None, "pairs": 0, "length_bytes": 0}
    source, target = _pairs(graph)
    known = reached(graph, source, target)
    source, target = source[known], target[known]
    characters = _longest(arrays)
    of_rings = isinstance(compiled.parts, RingParts)
    apart = _ring_apart(compiled, graph.links) if of_rings else _link_apart(compiled, characters)
    latency = _run(arrays, source, target, characters, apart) * (compiled.tick_ps / 1000)
    if not len(latency):
        return {"min": None, "mean": None, "max": None, "pairs": 0, "length_bytes": 0}
    return {
        "min": float(latency.min()),
        "mean": float(latency.mean()),
        "max": float(latency.max()),
        "pairs": len(latency),
        "length_bytes": int(compiled.technology.payload_bytes(characters)),
    }


def _link_apart(compiled: Compiled, characters: int) -> int:
    """More than a packet can take: every link of the longest way, at the slowest character, all decoding."""
    arrays = compiled.arrays
    slowest = int(max(arrays["link_character_ticks"].max(), arrays["link_arrival_ticks"].max()))
    switch = int(arrays["switch_decode_ticks"].max(initial=0) + arrays["switch_forward_ticks"].max(initial=0))
    return (characters + 16) * slowest * 2 + (compiled.graph.switches + 2) * (switch + 4 * slowest)


def _ring_apart(compiled: Compiled, stations: int) -> int:
    """More than a request and its response can take: every station there and back, stored whole at each."""
    arrays = compiled.arrays
    slowest = {name: int(arrays[name].max(initial=0)) for name in (*_RING_TIMES, *_RING_RATES)}
    station = sum(slowest[name] for name in _RING_TIMES)
    station += sum(slowest[name] for name in _RING_RATES) * 2 * _LONGEST_RING_PACKET_BYTES
    return 4 * stations * station


def _without_programs(arrays: dict[str, Any]) -> dict[str, Any]:
    """Empty columns and zeros for all that programs and faults have."""
    prefixes = ("program_", "op_", "event_", "message_", "fault_")
    names = [name for name in arrays if name.startswith(prefixes)]
    return {name: arrays[name][:0] if isinstance(arrays[name], np.ndarray) else 0 for name in names}


def _longest(arrays: dict[str, Any]) -> int:
    """Payload characters of the longest packet of the scenario."""
    columns = ("flow_length", "list_length", "length_values", "length_max")
    found = [arrays[name] for name in columns if len(arrays[name])]
    return int(found[0].max()) if found else 1


def _run(
    arrays: dict[str, Any], source: np.ndarray, target: np.ndarray, characters: int, apart: int
) -> np.ndarray:
    """Run one packet per pair, ``apart`` ticks between them; returns their latencies in ticks."""
    terminals = int(arrays["terminals"])
    senders, pairs = np.unique(source, return_counts=True)
    turn = int(pairs.max()) + len(senders) + 2
    # A list begins at once, so each has a first packet that is not looked at; its wait is the source's turn.
    begin = np.concatenate(([0], np.cumsum(pairs)[:-1]))
    wait = np.insert(np.full(len(source), apart), begin, apart * turn * np.arange(1, len(senders) + 1))
    per_terminal = np.zeros(terminals, np.int64)
    per_terminal[senders] = pairs + 1
    changed = {
        **arrays,
        "source_arrival": np.where(per_terminal > 0, ARRIVAL.LIST, ARRIVAL.SILENT).astype(np.uint8),
        "source_length": np.full(terminals, LENGTH.FIXED, np.uint8),
        "list_start": np.concatenate(([0], np.cumsum(per_terminal))).astype(np.uint32),
        "list_target": np.insert(target, begin, target[begin]).astype(np.uint32),
        "list_length": np.full(len(wait), characters, np.uint32),
        "list_wait_ticks": wait.astype(np.uint64),
        "list_repeat": np.zeros(terminals, np.uint8),
        # By the first port that leads there: packets leave one after the other.
        "terminal_choice": np.full_like(arrays["terminal_choice"], number("port_choice", "nominal")),
        **_without_programs(arrays),
    }
    until = apart * turn * (len(senders) + 1)
    limits = {"precision": 0.0, "packets": 0, "drain": False, "flows": 0, "trace": len(wait)}
    simulation = _native.Simulation(changed, until=until, warmup=0, batch=until, **limits)
    while not simulation.advance(1 << 20):
        pass
    found = simulation.result()
    names = ("trace_created_ticks", "trace_started_ticks", "trace_delivered_ticks")
    created, started, delivered = (np.asarray(found[name], np.int64) for name in names)
    return (delivered - started)[created > 0]
