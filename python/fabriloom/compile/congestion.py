"""Congestion control, and switches that pause their senders or drop packets: columns, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..scenario import Scenario
from ..technology import Technology, TechnologyError
from ..technology.model import Ps
from ..topology import Graph
from .columns import Arrays, fill, u32

STEPS = 16
"""Parts of an input buffer by which ``threshold`` counts."""
WHOLE = (
    'write switching = "virtual-cut-through", lane_sharing = "packet" and crossbar = "fast", without a '
    "watchdog, or links into a switch that are slower than those out of it"
)
"""What to write for packets that pass whole."""


def columns_of(scenario: Scenario, technology: Technology, tick_ps: Ps) -> Arrays:
    """Return the columns of congestion control, times rounded up to ticks; none without it."""
    own = scenario.congestion_control
    if own is None:
        return {}
    table = list(range(own.ccti_limit + 1)) if own.cct is None else own.cct[: own.ccti_limit + 1]
    return {
        "mark_above_chars": technology.input_buffer_chars * (STEPS - own.threshold) // STEPS,
        "mark_rate": own.marking_rate,
        "mark_victims": int(own.victim_mask == "all"),
        "becn_ticks": int(-(-own.becn_delay_ps // tick_ps)),
        "ccti_increase": own.ccti_increase,
        "ccti_timer_ticks": int(-(-own.ccti_timer_ps // tick_ps)),
        "cct_eighths": np.array([round(8 * delay) for delay in table], np.uint32),
    }


def check(scenario: Scenario, arrays: Arrays) -> None:
    """Raise ScenarioError for a network without queues to count, and for a wrong table."""
    own = scenario.congestion_control
    if own is None:
        return
    if not arrays["output_queues"]:
        switching = "" if arrays["whole_packet_credit"] else 'switching = "virtual-cut-through" and '
        message = "congestion control counts what waits for an output, and a fifo has it in one queue"
        hint = f'write {switching}input_queues = "per-output" in [technology]'
        raise scenario.error(message, ("congestion_control",), hint, key=True)
    if own.cct is not None:
        _check_table(scenario, own.cct, own.ccti_limit)


def _check_table(scenario: Scenario, table: list[float], limit: int) -> None:
    path = ("congestion_control", "cct")
    if len(table) <= limit:
        message = f"a table of {len(table)} entries has none for the index {limit}"
        raise scenario.error(message, path, f"write ccti_limit = {len(table) - 1}, or more entries")
    for place, delay in enumerate(table):
        if 8 * delay % 1:
            message = (
                f"{delay:g} packet times are no multiple of an eighth, which is the finest step of the table"
            )
            raise scenario.error(message, (*path, place), f"write {round(8 * delay) / 8:g}")


# Switches that pause their senders: what is refused, and whether buffers hold what comes until then.

_SHARED = "ports that share a memory are"
_MESSAGE = (
    "not simulated together with faults that cut packets, a watchdog, "
    "new tables, packets for several targets, lanes that share a link by flit, or a crossbar at link rate"
)

_AS_ONE = "where senders are paused or packets dropped, packets leave without gaps"

NEVER_PAUSED = 2**32 - 1
"""The threshold of buffers that drop packets instead."""


def _only_stops(scenario: Scenario) -> bool:
    """Return whether nothing fails but that terminals are stuck for a time."""
    return all(one.stops and (one.repaired_ps or one.mttr_ps) is not None for one in scenario.fault)


def pause_columns(graph: Graph, tech: Technology) -> Arrays:
    """Return the thresholds of buffers that pause their senders, or the memory that ports share; empty if
    packets wait for credit.

    Where full buffers drop packets instead, no buffer holds so much that it pauses its sender.
    """
    thresholds, shared = (tech.pause_above_chars, tech.pause_until_chars), tech.shared
    if not tech.pause_above_chars and not tech.drop_when_full:
        return {}
    if shared is not None or not tech.pause_above_chars:
        thresholds = (NEVER_PAUSED, NEVER_PAUSED)
    names = ("link_pause_above", "link_pause_until")
    columns: Arrays = {name: fill(graph.links, most) for name, most in zip(names, thresholds, strict=True)}
    if shared is None:
        return columns
    each = shared.reserved_chars + shared.headroom_chars
    left = shared.size_chars - each * tech.lanes * _ports(graph.link_target, graph.switches)
    return columns | {
        "switch_pool_chars": u32(np.maximum(left, 0)),
        "pool_alpha_billionths": shared.alpha_billionths,
        "pool_reserved_chars": shared.reserved_chars,
        "pool_headroom_chars": shared.headroom_chars,
        "pool_offset_chars": shared.offset_chars,
        "pool_pauses": int(tech.pause_above_chars > 0),
    }


def _ports(link_target: Any, switches: int) -> NDArray[np.int64]:
    """Return, per switch, the links that lead to it."""
    target = np.asarray(link_target, np.int64)
    return np.bincount(target[target < switches], minlength=switches).astype(np.int64)


def check_drops(scenario: Scenario, arrays: Arrays) -> None:
    """Raise TechnologyError if packets are dropped, or ports share a memory, where packets cannot be computed
    as one, or are cut, or choose ways by queues, which are counted by credit.
    """
    if arrays["via_by_queue"] and (len(arrays["link_pause_above"]) or arrays["drops"]):
        message = "ugal counts queues by credit, and there is none where senders are paused or packets drop"
        raise scenario.error(message, ("routing", "kind"), 'write routing.kind = "valiant"')
    shared = len(arrays["switch_pool_chars"]) > 0
    if (shared or arrays["drops"]) and not (_native.is_by_packet(arrays) and _only_stops(scenario)):
        what = _SHARED if shared else "full buffers that drop packets are"
        name = "shared_buffer_flits" if shared else "drop_when_full"
        raise TechnologyError(f"{what} {_MESSAGE}", name, f"leave that out, or remove {name}")


def check_shared(tech: Technology, arrays: Arrays, names: Sequence[str], longest: int) -> None:
    """Raise TechnologyError if a memory that ports share is smaller than what lanes have for themselves, or
    never has a place for the longest packet, in flits, which is dropped. ``names`` of switches.
    """
    shared = tech.shared
    if shared is None:
        return
    each = shared.reserved_chars + shared.headroom_chars
    lanes = _ports(arrays["link_target"], int(arrays["switches"])) * tech.lanes
    worst = int(np.argmax(lanes))
    at, least = names[worst], int(lanes[worst]) * each
    if least > shared.size_chars:
        message = (
            f"a memory of {shared.size_chars:,} flits is smaller than the {least:,} that {lanes[worst]} "
        )
        message += f"lanes into {at} have for themselves, as reserves and headroom"
        raise TechnologyError(message, "shared_buffer_flits", f"give it more than {least} flits")
    pool = shared.size_chars - least
    share = min(pool, pool * shared.alpha_billionths // 10**9)
    most = max(shared.headroom_chars, shared.reserved_chars + share)
    if tech.drop_when_full and most < longest:
        message = (
            f"the longest packet has {longest:,} flits, and a lane into {at} never has a place for more "
        )
        hint = "give the memory more flits, or lanes a larger part of it"
        raise TechnologyError(f"{message}than {most:,}: it is always dropped", "shared_buffer_flits", hint)


def check_pace(arrays: Arrays, names: Sequence[str]) -> None:
    """Raise TechnologyError if a link out of a switch pauses within a packet where senders are paused, as the
    engine's ``keeps_pace`` has it: because its output buffer is empty before more has crossed.
    """
    if not len(arrays["link_pause_above"]):
        return
    ticks = arrays["link_character_ticks"].astype(np.int64)
    leaves = arrays["link_source"].astype(np.int64)
    out = np.flatnonzero(leaves < int(arrays["switches"]))
    needed = 1 - (-arrays["switch_forward_ticks"].astype(np.int64)[leaves[out]] // ticks[out])
    short = needed - arrays["link_output_buffer"].astype(np.int64)[out]
    if (short > 0).any():
        name = names[out[int(np.argmax(short))]]
        what = f"the output buffer of {name} is empty before the next flit has crossed its switch"
        hint = f"write output_buffer_flits = {needed.max()} or more"
        raise TechnologyError(f"{what}: {_AS_ONE}", "output_buffer_flits", hint)


def pauses(arrays: Arrays) -> bool:
    """Return whether switches ever pause their senders."""
    above = arrays["link_pause_above"]
    return bool((above < NEVER_PAUSED).any() or arrays["pool_pauses"])


def headroom(arrays: dict[str, Any], names: Sequence[str], longest: int) -> list[str]:
    """Return a warning if more can come into a buffer, after it pauses its sender, than it has room for.

    That is a packet that is being received, what is sent until the pause has an effect, and a packet that has
    begun by then. ``longest``: flits of the longest packet.
    """
    if not pauses(arrays):
        return []
    late = arrays["link_arrival_ticks"].astype(np.int64) + arrays["link_credit_ticks"]
    needed = 2 * longest + -(-late // arrays["link_character_ticks"])
    into_switch = arrays["link_target"] < arrays["switches"]
    has = arrays["link_input_buffer"].astype(np.int64) - arrays["link_pause_above"]
    what, larger = "buffer", "above pause_above_flits and has"
    hint = "make input_buffer_flits larger, or pause earlier"
    if len(arrays["switch_pool_chars"]):
        has = np.full(len(needed), int(arrays["pool_headroom_chars"]))
        what, larger = "lane", "of headroom and has"
        hint = f"write shared_buffer_headroom_flits = {(needed * into_switch).max()}"
    worst = int(np.argmax((needed - has) * into_switch))
    if not (needed > has)[worst] or not into_switch[worst]:
        return []
    lost = "packets can be dropped there" if arrays["drops"] else "there a real switch can lose packets"
    return [
        f"the {what} behind {names[worst]} may need {needed[worst]:,} flits {larger} "
        f"{has[worst]:,}: {lost}; {hint}"
    ]


def overfull(arrays: dict[str, Any], names: Sequence[str], native: Mapping[str, Any]) -> list[str]:
    """Return a warning if a buffer held more complete packets than it has room for, or a headroom more."""
    if not len(arrays["link_pause_above"]):
        return []
    if len(arrays["switch_pool_chars"]):
        return _beyond(arrays["pool_headroom_chars"], names, native["link_headroom_most"])
    stored = native["link_most_stored"]
    over = np.asarray(stored, np.int64) - arrays["link_input_buffer"]
    worst = int(np.argmax(over))
    if over[worst] <= 0:
        return []
    return [
        f"the buffer behind {names[worst]} held {stored[worst]:,} flits of its "
        f"{arrays['link_input_buffer'][worst]:,}: a real switch would have lost packets, as with "
        "drop_when_full = true; make input_buffer_flits larger, or pause earlier"
    ]


def _beyond(headroom: int, names: Sequence[str], most: Any) -> list[str]:
    worst = int(np.argmax(most))
    if most[worst] <= headroom:
        return []
    return [
        f"the lane behind {names[worst]} held {most[worst]:,} flits in its headroom of {headroom:,}: a real "
        "switch would have lost packets, as with drop_when_full = true; make shared_buffer_headroom_flits "
        "larger"
    ]
