"""Switches that pause their senders: what is refused, and whether buffers hold what comes until then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..scenario import Scenario, ScenarioError
from ..technology import TechnologyError

_MESSAGE = (
    "switches that pause senders are not simulated together with a watchdog, new tables, packets for several "
    "targets, universal routing, lanes that share a link by flit, a crossbar at link rate, or switches that "
    "pass packets of slow links on to fast ones without storing them"
)


def check_network(is_by_packet: bool) -> None:
    """Raise TechnologyError if senders are paused where packets cannot be computed as one."""
    if not is_by_packet:
        hint = "leave that out; or write pause_above_flits = 0 and pause_until_flits = 0: packets then wait "
        hint += "for credit"
        raise TechnologyError(_MESSAGE, "pause_above_flits", hint)


def not_simulated(scenario: Scenario) -> ScenarioError:
    """Return the error of a run in which a fault meets packets where senders are paused."""
    message = (
        "a fault meets packets: where switches pause senders, what is cut or has wrong bits is not simulated"
    )
    hint = 'a terminal may be stuck for a time, and a link may be down from at = "0 s"; or write '
    hint += "pause_above_flits = 0 and pause_until_flits = 0: packets then wait for credit"
    return scenario.error(message, ("fault",), hint)


def headroom(arrays: dict[str, Any], names: Sequence[str], longest: int) -> list[str]:
    """Return a warning if more can come into a buffer, after it pauses its sender, than it has room for.

    That is a packet that is being received, what is sent until the pause has an effect, and a packet that has
    begun by then. ``longest``: flits of the longest packet.
    """
    if not len(arrays["link_pause_above"]):
        return []
    late = arrays["link_arrival_ticks"].astype(np.int64) + arrays["link_credit_ticks"]
    needed = 2 * longest + -(-late // arrays["link_character_ticks"])
    has = arrays["link_input_buffer"].astype(np.int64) - arrays["link_pause_above"]
    into_switch = arrays["link_target"] < arrays["switches"]
    worst = int(np.argmax((needed - has) * into_switch))
    if not (needed > has)[worst] or not into_switch[worst]:
        return []
    return [
        f"the buffer behind {names[worst]} may need {needed[worst]:,} flits above pause_above_flits and has "
        f"{has[worst]:,}: there a real switch can lose packets; make input_buffer_flits "
        "larger, or pause earlier"
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
        f"{arrays['link_input_buffer'][worst]:,}: a real switch would have lost packets; make "
        "input_buffer_flits larger, or pause earlier"
    ]
