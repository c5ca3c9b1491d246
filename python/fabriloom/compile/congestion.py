"""Congestion control, and switches that pause their senders or drop packets: columns, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from ..scenario import Scenario, ScenarioError
from ..technology import Technology, TechnologyError
from ..technology.model import Ps
from .columns import Arrays

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
    """Raise ScenarioError for a network in which queues and credit are not counted, and for a wrong table."""
    own = scenario.congestion_control
    if own is None:
        return
    if scenario.fault and not (len(arrays["link_pause_above"]) and _only_stops(scenario)):
        hint = "leave one of them out; where switches pause senders, terminals may be stuck for a time"
        raise _refused(scenario, "is not simulated together with faults", hint)
    if not _native.is_by_packet(arrays):
        raise _refused(scenario, "is of packets that pass whole", WHOLE)
    if not arrays["output_queues"]:
        hint = 'write technology.input_queues = "per-output"'
        raise _refused(scenario, "counts what waits for an output, and a fifo has it in one queue", hint)
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


def _refused(scenario: Scenario, why: str, hint: str) -> ScenarioError:
    return scenario.error(f"congestion control {why}", ("congestion_control",), hint, key=True)


# Switches that pause their senders: what is refused, and whether buffers hold what comes until then.

_MESSAGE = (
    "full buffers that drop packets are not simulated together with faults that cut packets, a watchdog, "
    "new tables, packets for several targets, universal routing, lanes that share a link by flit, or a "
    "crossbar at link rate"
)

_AS_ONE = "where senders are paused or packets dropped, packets leave without gaps"

NEVER_PAUSED = 2**32 - 1
"""The threshold of buffers that drop packets instead."""


def _only_stops(scenario: Scenario) -> bool:
    """Return whether nothing fails but that terminals are stuck for a time."""
    return all(one.stops and (one.repaired_ps or one.mttr_ps) is not None for one in scenario.fault)


def check_drops(scenario: Scenario, arrays: Arrays) -> None:
    """Raise TechnologyError if packets are dropped where they cannot be computed as one, or are cut."""
    if arrays["drops"] and not (_native.is_by_packet(arrays) and _only_stops(scenario)):
        raise TechnologyError(_MESSAGE, "drop_when_full", "leave that out, or remove drop_when_full")


def check_pace(arrays: Arrays, names: Sequence[str]) -> None:
    """Raise TechnologyError if a link out of a switch pauses within a packet, as the engine's ``keeps_pace``
    has it: because its output buffer is empty before more has crossed, or because a slow link supplies it.
    """
    ticks = arrays["link_character_ticks"].astype(np.int64)
    leaves, into = (arrays[f"link_{end}"].astype(np.int64) for end in ("source", "target"))
    switches = int(arrays["switches"])
    out = np.flatnonzero(leaves < switches)
    slowest = np.zeros(switches, np.int64)
    np.maximum.at(slowest, into[into < switches], ticks[into < switches])
    fast = out[slowest[leaves[out]] > ticks[out]]
    if len(fast) and not arrays["store_and_forward"]:
        what = f"{names[fast[0]]} sends faster than links into its switch"
        raise TechnologyError(f"{what}: {_AS_ONE}", "switching", 'write switching = "store-and-forward"')
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
    return bool((above < NEVER_PAUSED).any())


def headroom(arrays: dict[str, Any], names: Sequence[str], longest: int) -> list[str]:
    """Return a warning if more can come into a buffer, after it pauses its sender, than it has room for.

    That is a packet that is being received, what is sent until the pause has an effect, and a packet that has
    begun by then. ``longest``: flits of the longest packet.
    """
    if not pauses(arrays):
        return []
    late = arrays["link_arrival_ticks"].astype(np.int64) + arrays["link_credit_ticks"]
    needed = 2 * longest + -(-late // arrays["link_character_ticks"])
    has = arrays["link_input_buffer"].astype(np.int64) - arrays["link_pause_above"]
    into_switch = arrays["link_target"] < arrays["switches"]
    worst = int(np.argmax((needed - has) * into_switch))
    if not (needed > has)[worst] or not into_switch[worst]:
        return []
    lost = "packets can be dropped there" if arrays["drops"] else "there a real switch can lose packets"
    return [
        f"the buffer behind {names[worst]} may need {needed[worst]:,} flits above pause_above_flits and has "
        f"{has[worst]:,}: {lost}; make input_buffer_flits larger, or pause earlier"
    ]


def overfull(arrays: dict[str, Any], names: Sequence[str], stored: Any) -> list[str]:
    """Return a warning if a buffer held more complete packets than it has room for.

    ``stored``: the most flits of complete packets at a time, per link.
    """
    if not len(arrays["link_pause_above"]):
        return []
    over = np.asarray(stored, np.int64) - arrays["link_input_buffer"]
    worst = int(np.argmax(over))
    if over[worst] <= 0:
        return []
    return [
        f"the buffer behind {names[worst]} held {stored[worst]:,} flits of its "
        f"{arrays['link_input_buffer'][worst]:,}: a real switch would have lost packets, as with "
        "drop_when_full = true; make input_buffer_flits larger, or pause earlier"
    ]
