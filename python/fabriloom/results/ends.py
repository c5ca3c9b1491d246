"""The reasons why runs end, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..codes import FAULT_KIND
from ..topology.graph import Graph
from . import tables
from .confidence import percent
from .figures import figures, moment
from .shown import time_unit

STUCK = ("deadlocked", "livelocked")
"""Ends after which the network delivers nothing more."""
BAD = (*STUCK, "stalled", "interrupted")
"""Ends after which the numbers are incomplete."""


def after(simulated_ns: float, measured: bool = False) -> str:
    """Return the time of the end as a part of a sentence."""
    return f"after {moment(simulated_ns)}" + ("" if measured else " of simulated time")


def precision(reason: str, wanted: float, widths: str) -> str:
    """Return the part of the sentence about the wanted precision; ``widths``: the half-widths reached."""
    if not wanted:
        return ""
    known = widths or "nothing was measured"
    return {
        "precision": f": {known}; {percent(wanted)} was wanted",
        "time_limit": f", before the wanted precision of {percent(wanted)} was reached: {known}",
        "saturated": f". Latencies grow with the run, so precision is of throughput alone: {known}",
    }.get(reason, "")


def message(reason: str, cycle: list[str], simulated_ns: float, lost: bool = False, watched: str = "") -> str:
    """Return the reason for the end of a run as a sentence; ``lost``: sources refused packets; ``watched``:
    see :func:`precision`.
    """
    when = after(simulated_ns)
    if reason == "deadlocked":
        if not cycle:
            return f"The network deadlocked {when}."
        waits = ", which waits for the one on ".join([*cycle, cycle[0]])
        return f"The network deadlocked {when}: the packet on {waits.replace(', which waits', ' waits', 1)}."
    grew = "sources lost packets" if lost else "the queues at the sources grew without end"
    sentences = {
        "incomplete": f"Nothing happens any more {when}, and programs wait for messages that faults lost.",
        "drained": f"Every packet was delivered and no more will be made ({when}).",
        "precision": f"The wanted precision was reached {when}{watched}.",
        "saturated": f"Saturated: {grew}; stopped {when}{watched}.",
        "time_limit": f"The time limit was reached {when}{watched}.",
        "packet_limit": f"The wanted number of packets was delivered {when}.",
        "interrupted": f"Interrupted {when}: these results are partial.",
    }
    return sentences.get(reason, f"The run ended {when}: {reason}.")


def drained_of_faults(simulated_ns: float, lost: int, waiting: int) -> str:
    """Return the reason for the end of a run with failed links in which nothing was left to do."""
    left = f"; {waiting:,} wait at terminals whose links never run again" if waiting else ""
    when = after(simulated_ns)
    return f"Every packet was delivered or lost ({lost:,} were) and none is to come{left} ({when})."


def incomplete(native: Mapping[str, Any], after: str, beside: bool, waiting: str) -> str:
    """Return the reason for the end of a run of programs that wait for what faults lost or hold back, or for
    transactions that were given up.

    ``beside``: traffic goes on, so of the packets under way it is unknown which wait for good.
    """
    lost, in_flight, late = (int(native[name]) for name in ("lost", "in_flight", "timed_out"))
    them, are = ("1 packet was", "is") if lost == 1 else (f"{lost:,} packets were", "are")
    whys = [f"{them} lost by faults and {are} not sent again"] if lost else []
    stranded = 0 if beside and lost else in_flight
    some = "some" if beside else f"{stranded:,}"
    whys += [f"{some} wait at links that never run again"] if stranded else []
    rests = "No program can go on" if beside else "Nothing happens any more"
    given_up = "1 transaction was" if late == 1 else f"{late:,} transactions were"
    whys += [f"{given_up} given up after technology.timeout"] if late else []
    return f"Not everything came to its end: {', and '.join(whys)}. {rests} {after}, and waiting: {waiting}."


def stopped(native: Mapping[str, Any], graph: Graph, tick_ps: int | float) -> str:
    """Return the reason for the end of a run in which everything waits for what a fault stopped for good."""
    names = ("fault_link", "fault_down_ticks", "fault_up_ticks", "fault_kind")
    rows = zip(*(tables.column(native, name).tolist() for name in names), strict=True)
    end = int(native["end_time_ticks"])
    waited = [
        f"{_stopped_part(graph, link)} from {down * tick_ps / 1e9:.6g} ms on"
        for link, down, up, kind in rows
        if kind == FAULT_KIND.STUCK and down <= end and up > end
    ]
    more = f", and {len(waited) - 3} more" if len(waited) > 3 else ""
    return f"Stopped {after(end * tick_ps / 1000)}: everything waits for {'; '.join(waited[:3])}{more}."


def _stopped_part(graph: Graph, link: int) -> str:
    source, target = graph.link_names[link].split("#")[0].split(">")
    if graph.link_target[link] >= graph.switches:
        return f"{target}, which accepts nothing"
    if graph.link_source[link] >= graph.switches and not graph.network_kind.buses:
        return f"{source}, which sends nothing"
    return f"the buses of {target}, which carry nothing"


_STALLS = {
    "Unsent": "the link {link} has characters to send and credit for them, and does not send",
    "Busy": "the link {link} is busy for longer than it takes to send everything",
    "Unasked": "the head of a packet has arrived over the link {link} and does not request an output",
    "Ungranted": "a packet that came over the link {link} waits beside a link that is free",
    "Undelivered": "a packet has come over the link {link} and is not delivered",
    "Silent": "packets are under way, and no event is pending",
}
"""Descriptions of a standstill, by the engine's words."""


def stall(native: Mapping[str, Any], graph: Graph, tick_ps: int | float) -> str:
    """Describe a fault of the engine: where it is, and what to do."""
    link, source, target, fault = native["standstill"]
    when = after(int(native["end_time_ticks"]) * tick_ps / 1000)
    place = _STALLS[fault].format(link=graph.link_names[link] if fault != "Silent" else "")
    names = graph.terminal_names
    on_it = f" (a packet from {names[source]} to {names[target]})" if source < len(names) else ""
    return (
        f"The engine stalled {when}: {place}{on_it}. This is a fault of Fabriloom, not of the network: do "
        "not use these numbers, and please report it with the scenario."
    )


def livelock(native: Mapping[str, Any], graph: Graph, tick_ps: int | float) -> str:
    """Describe a livelock: its start, the number of retries, the station that rejects most, and a cure."""
    lasted_us = int(native["livelock_ticks"]) * tick_ps / 1e6
    when = after(int(native["end_time_ticks"]) * tick_ps / 1000)
    rejected = int(native["livelock_busied"])
    busied = tables.column(native, "link_busied")
    most = graph.link_names[int(np.argmax(busied))]
    since = (
        f"The network livelocked {when}: for the last {figures(lasted_us)} µs no station accepted a packet, "
    )
    if tables.only_pass(native):
        return (
            f"{since}while packets passed full stations {rejected:,} times, most at the end of {most}. They "
            "take the bandwidth that others, such as responses, need to make room. Fewer packets under way "
            "at a time (transactions) help, or dmove, which has no responses."
        )
    return (
        f"{since}while packets were rejected {rejected:,} times and sent again, most at the end of {most}. "
        "Retries take the bandwidth that other packets need to make room. Longer retry delays, "
        "bandwidth_allocation, or fewer packets under way at a time (transactions, in_flight) help."
    )


LONG = 50
"""A pause of this many mean intervals between deliveries is not chance: with random arrivals it would occur
once in exp(50) intervals."""
FEWEST = 100
"""Fewest packets from which a mean interval is computed."""


def standstill(summary: Mapping[str, Any], technology: Mapping[str, Any]) -> list[str]:
    """Return a sentence if nothing was delivered for a long time because queues reserved their places for
    packets that waited for their retry.
    """
    packets, pause_ns = summary["packets"]["measured"], summary["longest_pause_ns"]
    delay_ns = summary.get("sci", {}).get("retry_delay_ns_max", 0.0)
    if packets < FEWEST or pause_ns * packets < LONG * summary["measured_ns"]:
        return []
    if not technology.get("phases") or 2 * delay_ns < pause_ns:
        return []
    pause, start, longest = (_time(value) for value in (pause_ns, summary["longest_pause_from_ns"], delay_ns))
    return [
        f"stood still: for {pause}, from {start} on, no packet arrived anywhere. Queue phases "
        "(technology.phases): a queue that has busied packets keeps its places for them until they come "
        "again, and one of them waited for its retry meanwhile; by technology.retry these waits grew up to "
        f"{longest}. Everything else that came was busied too, and then waits longer itself"
    ]


def _time(value_ns: float) -> str:
    if value_ns >= 1e6:
        return f"{figures(value_ns / 1e6, 3)} ms"
    unit, divisor = time_unit(value_ns)
    return f"{figures(value_ns / divisor, 3)} {unit}"
