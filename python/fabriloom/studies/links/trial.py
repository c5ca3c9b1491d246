"""A line of two terminals and two switches of a scenario's technology, or one if it has only one, which runs
with packets back to back both ways.

Larger buffers tell a buffer that is too small for its credit loop from the time between two packets.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ... import _native
from ...codes import ARRIVAL
from ...compile import Compiled, compile
from ...compile.link_routes import LinkRoutes
from ...results.figures import figures, in_percent
from ...scenario import Scenario
from ...scenario.resolve import CODE_SETTINGS, FAULT_SETTINGS
from ...traffic import given_lengths
from ..zero_load import alone, longest_bytes, of_lists

PACKETS, _CHARS = (24, 2400), 100_000
"""Fewest and most packets of a trial, and about how many characters it has; the first quarter is
passed over."""
MOST_CHARS = 4096
"""Longer packets are tried with this many, or as many bytes: what is between two of them does not count."""
WORTH = 0.005
"""Part of the rate that is no matter."""
_IN_DOUBT, _LONGER = 0.95, 10
"""A share from here to all is of chance or of the start: packets that are put into lanes at random leave the
wire idle until enough of them wait. Such a trial is made again with this many times the packets."""
LANE_ALONE: dict[str, Any] = {
    "lanes": 1,
    "lane_arbiter": "round-robin",
    **{name: [] for name in ("lane_priority", "lane_reserved", "lane_slots")},
    **dict.fromkeys(("lane_credit_limit_flits", "lane_slot_cycles", "lane_high_limit"), 0),
    **dict.fromkeys(("lane_high", "lane_low"), ""),
}
"""Settings of links with one lane, without what decides among several."""
_NEED = {
    "hand-over": "the next packet waits for its head to be routed and the output to be free",
    "buffer": "the input buffer is smaller than what is on its way while credit returns",
    "host": "the host needs longer for a packet than the link",
    "window": "senders wait for acknowledgements, as the windows of the protocol are full",
}


@dataclass(frozen=True)
class Capacity:
    """The payload rate of packets that follow each other on one path."""

    share: float
    """Of what the wire carries beside a full opposite direction: 0 to 1, or more beside an idle one."""
    limited_by: str
    """wire, hand-over, buffer, host or window."""
    wire: float = 1.0
    """Share that the wire allows: more than 1 beside an idle opposite direction."""

    def text(self, wire_mbytes_per_s: float) -> str:
        """Return what limits the rate, as a line; empty if it is the wire."""
        if self.limited_by == "wire":
            return ""
        part = in_percent(self.share)
        wire = f"{part} of the {figures(wire_mbytes_per_s)} MB/s of the wire"
        return f"{self.limited_by}, {wire}: {_NEED[self.limited_by]}"


def of_line(
    description: dict[str, Any], idle: bool = False, named: bool = True, lengths: tuple[int, ...] = ()
) -> Capacity:
    """Return the share of a line and, if it is to be named, what limits it.

    ``idle``: with packets one way; ``lengths``: those of its packets in turn, if not as described.
    """
    return _of_line(json.dumps(description), idle, named, lengths)


@lru_cache(maxsize=64)
def _of_line(description: str, idle: bool, named: bool, lengths: tuple[int, ...]) -> Capacity:
    """The same; many networks of a study have one line."""
    path = compile(Scenario.from_dict(json.loads(description)))
    assert isinstance(path.routes, LinkRoutes)
    size, tech = longest_bytes(path), path.routes.technology
    wire = float(tech.packet_ps(size) / tech.beside(Fraction(0)).packet_ps(size)) if idle else 1.0
    path = alone(path) if idle else path
    changed = _in_turn(path, lengths) if lengths else {}
    if idle and path.scenario.traffic.senders == "all":
        arrival = {**path.arrays, **changed}["source_arrival"].copy()
        arrival[len(arrival) // 2 :] = ARRIVAL.SILENT
        changed["source_arrival"] = arrival
    share = short = _share(path, changed)
    if _IN_DOUBT < share / wire < 1 - WORTH:
        share = _share(path, changed, _LONGER)
    if share / wire >= 1 - WORTH:
        return Capacity(wire, "wire", wire)
    if not named:
        return Capacity(share, "", wire)
    # In buffers without end packets queue up, and a run takes as many times as long squared.
    loop = _loop_ticks(path.arrays) // int(path.arrays["link_character_ticks"].min())
    more = path.arrays["link_input_buffer"].astype(np.int64) + 2 * loop + 4 * _longest_chars(path)
    wider = np.minimum(more, 2**20).astype(np.uint32)
    held_by = _share(path, {**changed, "link_input_buffer": wider})
    return Capacity(share, "buffer" if held_by > short * (1 + WORTH) else "hand-over", wire)


def _in_turn(path: Compiled, lengths: tuple[int, ...]) -> dict[str, Any]:
    """Return the arrays of a line whose senders repeat packets of these lengths."""
    count, many = path.graph.terminals, len(lengths)
    target = np.repeat(np.roll(np.arange(count), -count // 2), many)
    sent = np.tile(lengths, count)
    found = of_lists(path.arrays, np.full(count, many), target, sent, np.zeros(len(sent)))
    return {**found, "list_repeat": np.ones(count, np.uint8)}


def choices(compiled: Compiled) -> list[int]:
    """Return from how many cables between switches packets can choose, each number once."""
    assert isinstance(compiled.routes, LinkRoutes)
    graph, table = compiled.graph, compiled.routes.table
    size = np.diff(table.group_start)
    first = table.group_links[table.group_start[:-1][size > 0]]
    between = size[size > 0][graph.link_target[first] < graph.switches]
    return np.flatnonzero(np.bincount(between)).tolist() or [1]


def line(
    compiled: Compiled,
    own: dict[str, Any],
    length: Any = None,
    senders: int = 1,
    into_terminal: bool = False,
    cables: int | None = None,
) -> dict[str, Any]:
    """Describe two terminals at a switch each, with the technology and the lengths of a scenario, or another
    length, and with settings of its own.

    Between switches packets can follow each other more slowly, so a network of one switch has one. There are
    as many cables as a packet can choose from, if not said: over these, packets to one terminal spread; 0:
    one switch. Several senders at each switch share one, or all but one at one switch the link into the last
    terminal.
    """
    written = compiled.scenario.resolved
    # The clock of a router without router_latency is that of its time-codes.
    clock = () if "router_latency" in written["technology"] else ("router_clock",)
    without = {"preset_file", *FAULT_SETTINGS, *CODE_SETTINGS, *clock}
    technology = {name: value for name, value in written["technology"].items() if name not in without} | own
    if length is None:
        given = has_own_lengths(compiled) or is_long(compiled)
        length = f"{tried_bytes(compiled)} B" if given else written["traffic"]["length"]
    if cables is None:
        cables = choices(compiled)[-1]
    if not isinstance(length, str) or length != "0 B":
        shape = [2] if compiled.graph.switches > 1 and cables and not into_terminal else [1]
        terminals = senders + 1 if into_terminal else senders * (2 // shape[0])
        hot = {"kind": "hot-spot", "target": senders, "share": 1.0}
        return {
            "topology": {
                "kind": "grid",
                "shape": shape,
                "terminals_per_switch": terminals,
                "links_per_edge": cables if senders == 1 and cables else 1,
            },
            "technology": technology,
            "traffic": {
                "pattern": hot if into_terminal else {"kind": "shift", "by": senders},
                "senders": list(range(senders)) if into_terminal else "all",
                "arrivals": "backlog",
                "length": length,
            },
        }
    raise ValueError("packets without payload")


def tried_bytes(compiled: Compiled) -> int:
    """Return the payload of trial packets where flows or messages give lengths, or these are too long."""
    mean = round(compiled.mean_packet_bytes / max(1.0, compiled.mean_packet_chars / MOST_CHARS))
    return mean if compiled.programs is None else min(mean, int(compiled.arrays["message_packet_bytes"]))


def is_long(compiled: Compiled) -> bool:
    """Whether shorter packets are tried than those of the scenario."""
    return compiled.mean_packet_chars > MOST_CHARS


def has_own_lengths(compiled: Compiled) -> bool:
    """Whether flows, lists or messages give the lengths of packets."""
    return compiled.programs is not None or given_lengths(compiled.arrays) is not None


def _longest_chars(path: Compiled) -> int:
    return path.technology.payload_chars(longest_bytes(path)) + 1


def _loop_ticks(arrays: dict[str, Any]) -> int:
    """Return about how long a credit takes to be back."""
    loop = int(arrays["link_arrival_ticks"].max()) + int(arrays["link_credit_ticks"].max())
    return loop + int(arrays["switch_decode_ticks"].max()) + int(arrays["switch_forward_ticks"].max())


def _share(path: Compiled, changed: dict[str, Any], longer: int = 1) -> float:
    """Return the part of the wire's rate that packets of the first switch, or the first terminal, reach."""
    arrays = {**path.arrays, **changed}
    tech, longest, chars = path.technology, longest_bytes(path), _longest_chars(path)
    loop = _loop_ticks(arrays)
    packets = longer * int(np.clip(_CHARS // chars, *PACKETS))
    # In the smallest buffer every quantum waits until its credit has come back.
    rounds = 1 + -(-chars // int(arrays["link_quantum"].min()))
    until = packets * (round(float(tech.packet_ps(longest)) / path.tick_ps) + rounds * loop)
    limits = {"precision": 0.0, "packets": 2 * packets, "drain": False, "flows": 0, "trace": 2 * packets}
    simulation = _native.Simulation(arrays, until=until, warmup=0, batch=max(1, until // 64), **limits)
    while not simulation.advance(1 << 16):
        pass
    found = simulation.result()
    own = np.asarray(found["trace_target"]) >= path.graph.terminals // 2
    names = ("trace_delivered_ticks", "trace_length")
    delivered, length = (np.asarray(found[name], np.int64)[own][packets // 4 :] for name in names)
    if len(delivered) < 3 or delivered[-1] == delivered[0]:
        return math.inf
    each_ps = {size: float(tech.packet_ps(size)) for size in np.unique(length).tolist()}
    wire_ps = sum(each_ps[size] for size in length[1:].tolist())
    return wire_ps / (float(delivered[-1] - delivered[0]) * path.tick_ps)
