"""The limit of a network, from the counts of a run: a full wire, bus or receive queue, or blocking."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import tables
from .ends import STUCK
from .faults import verdict as of_faults
from .figures import figures, in_percent

if TYPE_CHECKING:
    from ..topology.graph import Graph

FULL = 0.95
"""A wire or bus that is in use for this share of the time is full: with random traffic its queue grows."""
RETRIED = 0.25
"""If retries use more than this share of a full ring link, the limit is the queue that rejects them."""
LOST = 0.01
"""A run that loses more than this share of its packets is past saturation."""
MARGIN = 0.01
"""In a search, a run that is behind by at most this share of its packets keeps up."""

Limit = dict[str, Any]
"""``what`` (``link``, ``bus``, ``queue``, ``blocking`` or ``host``), its ``name``, the ``share`` of the time
in which it is in use, whether it is ``reached``, and the same as ``text``."""


def keeps_up(native: Mapping[str, Any]) -> bool | None:
    """Whether queues stayed bounded, by the engine's tests of the backlog of the sources; None if the run is
    too short to tell. Losses of more than :data:`LOST` end a run as saturated.
    """
    reason, lost = str(native["end_reason"]), int(native["measured_refused_bytes"])
    if reason in ("saturated", *STUCK) or not int(native["measured_packets"]):
        return False
    if lost > LOST * int(native["measured_offered_bytes"]):
        return False
    if reason == "drained":
        return True
    return {"grows": False, "bounded": True}.get(native.get("backlog", "unknown"))


def seems_to_keep_up(summary: Mapping[str, Any]) -> bool:
    """Whether queues more likely stayed bounded than not, for searches, which must decide.

    If no test can tell, of the packets that were offered at most 1 %, or the standard deviation of a number
    of random arrivals, may be neither lost nor accepted.
    """
    if summary["keeps_up"] is not None:
        return bool(summary["keeps_up"])
    offered, accepted = summary["offered_mbytes_per_s"], summary["accepted_mbytes_per_s"]
    packets = summary["packets"]["measured"] * offered / accepted
    behind = 1 - (summary["refused_mbytes_per_s"] + accepted) / offered
    return bool(behind <= max(MARGIN, 1 / math.sqrt(packets)))


def limit(
    native: Mapping[str, Any], graph: Graph, of: Callable[[Mapping[str, Any], Graph, int], Limit]
) -> Limit:
    """Return the component closest to its limit, as ``of`` finds it in a window of ticks."""
    window = tables.window_ticks(native)
    if not window or not graph.links:
        return _limit("link", "", 0.0, False, "nothing: no time was measured")
    if not len(tables.column(native, "link_busy_ticks")):
        return dict.fromkeys(("what", "name", "share", "reached", "text"))  # of real machines none is seen
    return of(native, graph, window)


def _limit(what: str, name: str, share: float, reached: bool, text: str) -> Limit:
    return {"what": what, "name": name, "share": share, "reached": reached, "text": text}


def _wire(graph: Graph, link: int, share: float) -> Limit:
    name = graph.link_names[link]
    text = f"the link {name}, in use {in_percent(share)} of the time"
    return _limit("link", name, share, share >= FULL, text)


def of_links(native: Mapping[str, Any], graph: Graph, window: int) -> Limit:
    """Check wires first, then packets that wait while no wire is full."""
    busy = tables.utilisation(native, window)
    blocked = np.minimum(tables.per(tables.column(native, "link_stalled_ticks"), window), 1.0)
    fullest, held = int(np.argmax(busy)), int(np.argmax(blocked))
    if busy[fullest] >= FULL or busy[held] + blocked[held] < FULL:
        return _wire(graph, fullest, float(busy[fullest]))
    awaited = graph.link_names[int(np.argmax(tables.column(native, "link_wait_ticks")))]
    longest = f"{graph.link_names[held]} {in_percent(blocked[held])} of the time"
    text = (
        f"blocking: waiting packets hold their links ({longest}), mostly for {awaited}; no wire is in use "
        f"more than {in_percent(busy[fullest])} of the time"
    )
    return _limit("blocking", awaited, float(busy[fullest]), True, text)


def of_rings(native: Mapping[str, Any], graph: Graph, window: int) -> Limit:
    """Check buses first: a full bus causes rejections, whose retries fill the links before it."""
    buses = tables.bus_utilisation(native, graph, window)
    if len(buses) and buses.max() >= FULL:
        at = int(np.argmax(buses))
        name = f"the bus of {graph.switch_names[at]}"
        return _limit(
            "bus", name, float(buses[at]), True, f"{name}, in use {in_percent(buses[at])} of the time"
        )
    busy, rejected = tables.utilisation(native, window), tables.column(native, "link_busied")
    fullest = int(np.argmax(busy))
    retries = tables.per(tables.column(native, "link_retry_ticks"), window)
    at, delivered = int(np.argmax(rejected)), int(native["measured_packets"])
    by_retries = busy[fullest] >= FULL and retries[fullest] > RETRIED
    if by_retries or rejected[at] > max(delivered, 1):
        owner = str(tables.vertex_names(graph)[graph.link_target[at]])
        text = (
            f"the receive queue of {owner}, which rejected {int(rejected[at]):,} packets that were sent again"
        )
        return _limit("queue", owner, float(busy[fullest]), True, text)
    return _wire(graph, fullest, float(busy[fullest]))


def of_program(found: Limit, hosts: Mapping[str, Any]) -> Limit:
    """Return the limit of a run of programs: if no link is full, a receiver that is always receiving."""
    share = hosts["receiving_share_max"]
    if found["reached"] or share is None or share < FULL:
        return found
    name = hosts["receiving_most"]
    text = f"the receiver {name}, which is receiving a message {in_percent(share)} of the time"
    return _limit("host", name, share, True, text)


def held_by(found: Limit | None) -> str:
    """Return the end of a sentence: the limit, or the component closest to its limit."""
    if not found or found["what"] is None:
        return ""
    return f"; {'limited by' if found['reached'] else 'nearest to its limit is'} {found['text']}"


def arrivals(resolved: Mapping[str, Any]) -> str:
    """Return the kind of a scenario's arrivals, from its resolved form."""
    kind = resolved.get("traffic", {}).get("arrivals", "")
    return str(kind.get("kind", "") if isinstance(kind, Mapping) else kind)


WAITS = ("wait", "random-wait")
"""Closed-loop sources, which offer less if the network accepts less."""


def verdict(summary: Mapping[str, Any], resolved: Mapping[str, Any]) -> str:
    """Summarise a run in a sentence."""
    reason, held = summary["end"]["reason"], held_by(summary.get("limit"))
    if reason in STUCK:
        return f"It {reason}: in the end nothing is delivered, so its throughput means little"
    offered, accepted = summary["offered_mbytes_per_s"], summary["accepted_mbytes_per_s"]
    if not accepted:
        return "Nothing was delivered in the measuring window"
    rate = f"{figures(accepted)} MB/s"
    if "faults" in summary and "messages" not in summary:
        return of_faults(summary)
    if "messages" in summary:
        return f"{_events(summary['events'], summary['messages'])}{held}"
    if arrivals(resolved) == "backlog":
        return f"Accepts {rate} when every source always has a packet waiting{held}"
    if arrivals(resolved) in WAITS:
        return f"Accepts {rate} from sources that wait for the network{held}"
    if summary["keeps_up"]:
        return f"Carries all that is offered, {rate}{held}"
    if summary["keeps_up"] is None:
        offer = f"{rate} of the {figures(offered)} MB/s offered"
        return f"Accepts {offer}; the run is too short to tell whether queues stay bounded{held}"
    return f"Past saturation: accepts {figures(accepted)} of the {figures(offered)} MB/s offered{held}"


def _events(events: Mapping[str, Any], messages: Mapping[str, Any]) -> str:
    achieved, attempted = events["achieved_per_s"], events["attempted_per_s"]
    if not achieved:
        return f"Carries {figures(messages['mbytes_per_s'])} MB/s of messages"
    if attempted is None:
        return f"Builds {figures(achieved)} events a second, as fast as it can"
    short = achieved < 0.99 * attempted
    how = "Falls behind" if short else "Keeps up"
    return f"{how}: builds {figures(achieved)} of {figures(attempted)} events a second"
