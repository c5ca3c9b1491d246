"""Networks as other simulators read them: what ``anynet``, ``hpcc`` and ``simgrid`` take in, written.

Rates are those at which a link carries data: a SpaceWire link of 200 Mbit/s is one of 160. Terminals and
switches are numbered in their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

from ..topology import Graph


@dataclass(frozen=True)
class _Cable:
    """A cable: its ends, and the numbers of both directions."""

    ends: tuple[int, int]
    bits_per_s: tuple[int, int]
    delay_ps: tuple[int, int]
    cycles: tuple[int, int]
    """From the start of a character to its arrival, in characters, rounded up."""


def files(graph: Graph, arrays: Mapping[str, Any], tick_ps: float) -> dict[str, str]:
    """Return the files by name: those that can hold this network of two-way cables, or none.

    Args:
        graph: the network.
        arrays: what the engine has of its links, with times in ticks.
        tick_ps: length of a tick in ps.
    """
    if graph.several is not None or (graph.link_reverse < 0).any():
        return {}
    cables = list(_cables(graph, arrays, tick_ps))
    found = dict[str, str]()
    ends = {frozenset(cable.ends) for cable in cables}
    rates = {rate for cable in cables for rate in cable.bits_per_s}
    if graph.switches and len(ends) == len(cables) and len(rates) == 1:
        found["network.anynet"] = _anynet(graph, cables)
    both = (number for cable in cables for number in (cable.bits_per_s, cable.delay_ps))
    if all(one == other for one, other in both):
        found |= {"topology.txt": _hpcc(graph, cables), "platform.xml": _simgrid(graph, cables)}
    return found


def _cables(graph: Graph, arrays: Mapping[str, Any], tick_ps: float) -> Iterator[_Cable]:
    character, arrival = (arrays[f"link_{name}_ticks"].tolist() for name in ("character", "arrival"))
    bits = int(arrays["character_bytes"]) * 8 * 10**12
    for link, back in enumerate(graph.link_reverse.tolist()):
        if link > back:
            continue
        ways = (link, back)
        yield _Cable(
            (int(graph.link_source[link]), int(graph.link_target[link])),
            _pair(round(bits / (character[way] * tick_ps)) for way in ways),
            _pair(round((arrival[way] - character[way]) * tick_ps) for way in ways),
            _pair(-(-arrival[way] // character[way]) for way in ways),
        )


def _pair(numbers: Iterator[int]) -> tuple[int, int]:
    one, other = numbers
    return one, other


def _anynet(graph: Graph, cables: list[_Cable]) -> str:
    lines: list[list[str]] = [[] for _ in range(graph.switches)]
    for cable in cables:
        for (one, other), cycles in zip(itertools.permutations(cable.ends), cable.cycles, strict=True):
            if one >= graph.switches:
                continue
            # BookSim takes a latency behind a node for that of a channel to the router of this number.
            inner = other < graph.switches
            lines[one].append(f" router {other} {cycles}" if inner else f" node {other - graph.switches}")
    return "".join(f"router {number}{''.join(parts)}\n" for number, parts in enumerate(lines))


def _hpcc(graph: Graph, cables: list[_Cable]) -> str:
    first = graph.terminals
    switches = " ".join(str(first + switch) for switch in range(graph.switches))
    lines = [f"{first + graph.switches} {graph.switches} {len(cables)}", switches]
    for cable in cables:
        one, other = (end - graph.switches if end >= graph.switches else first + end for end in cable.ends)
        lines.append(f"{one} {other} {cable.bits_per_s[0]}bps {cable.delay_ps[0]}ps 0")
    return "\n".join([*lines, ""])


def _simgrid(graph: Graph, cables: list[_Cable]) -> str:
    names = [quoteattr(name) for name in (*graph.switch_names, *graph.terminal_names)]
    lines = [
        "<?xml version='1.0'?>",
        '<platform version="4.1"><zone id="network" routing="Floyd">',
        *(f"<router id={name}/>" for name in names[: graph.switches]),
        *(f'<host id={name} speed="1Gf"/>' for name in names[graph.switches :]),
    ]
    for number, cable in enumerate(cables):
        about = f'bandwidth="{cable.bits_per_s[0]}bps" latency="{cable.delay_ps[0]}ps"'
        lines.append(f'<link id="cable-{number}" {about} sharing_policy="SPLITDUPLEX"/>')
    for number, cable in enumerate(cables):
        one, other = (names[end] for end in cable.ends)
        via = f'<link_ctn id="cable-{number}" direction="UP"/>'
        lines.append(f"<route src={one} dst={other}>{via}</route>")
    return "\n".join([*lines, "</zone></platform>", ""])
