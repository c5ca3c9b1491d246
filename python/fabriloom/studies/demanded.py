"""The utilisation of every link that given rates require, before a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compile import Compiled
from ..results.figures import figures, in_percent
from ..results.rows import is_transient
from ..routing.sharing import CLOSE
from ..traffic import Demand, flows_at
from .kinds import inspection_of

_SHOWN = 10
_PRINTED = 3
_WORTH = 0.01
"""Part of what is asked of a link from which a pair of terminals is printed."""
_PS_PER_S = 1e12
_EVERY_SHAPER = "every shaper"
_SURE, _LEAST = 1e-6, 1e-9
"""Part of a scale that is no matter, and a scale that no network is too slow for."""


def busy(compiled: Compiled) -> dict[str, float] | None:
    """Return the utilisation that given rates require of each link, bus and memory; None without them."""
    demand = compiled.demand()
    if compiled.programs is not None or demand.per_grain is None or not compiled.scenario.traffic.is_rated():
        return None
    return inspection_of(compiled).busy(demand)


def demanded(
    compiled: Compiled, shared: bool = False, left: NDArray[np.float64] | None = None
) -> dict[str, Any] | None:
    """Return the offered payload, the required utilisation of the busiest link, and all overloaded links.

    None without given rates. The links of a group share their packets evenly; with ``shared``, what no shares
    exceed is computed, too. ``left``: the part of its rate that each link has, in a network of links.
    """
    used = busy(compiled)
    if used is None:
        return None
    names, shares = list(used), np.array(list(used.values())) / (1.0 if left is None else left)
    demand, inspected = compiled.demand(), inspection_of(compiled)
    scale, offered = float(compiled.scenario.traffic.scale or 1.0), _offered_mbytes_per_s(compiled, demand)
    # A link that a small buffer or the time between two packets holds back is never busy all the time.
    full = inspected.times(demand, left)
    asked = np.maximum(shares, 1 / full)
    used_up = asked if asked.max() > 1 else shares
    busiest, most = int(np.argmax(used_up)), float(used_up.max())
    over = [
        {"what": names[at], "share": float(asked[at])}
        for at in np.argsort(-asked, kind="stable")
        if asked[at] > 1
    ]
    reached = _reached(compiled, left, shared and most > 0)
    return {
        "offered_mbytes_per_s": offered,
        "busiest": names[busiest],
        "busiest_share": most,
        "full_first": _EVERY_SHAPER if reached.first is None else names[reached.first],
        "accepted_mbytes_per_s_bound": reached.mbytes_per_s if most > 0 else None,
        "scale_bound": scale * reached.times if most > 0 else None,
        "shared_scale_bound": None if reached.most is None else scale * max(reached.most, reached.times),
        "over": over[:_SHOWN],
        "over_count": len(over),
        "without_end": not is_transient(compiled.arrays),
    }


class _Reached(NamedTuple):
    """How far the traffic can grow."""

    times: float
    """With even shares."""
    first: int | None
    """What is full then; None: all flows have shapers, and these let no more pass."""
    mbytes_per_s: float
    most: float | None
    """However links are shared; None if that is not asked for, or not known."""


def _reached(compiled: Compiled, left: NDArray[np.float64] | None, shared: bool) -> _Reached:
    """Return how many times its rates the traffic reaches. A shaped flow grows to the rate of its shaper."""
    demand, inspected, arrays = compiled.demand(), inspection_of(compiled), compiled.arrays

    def most(demand: Demand) -> float | None:
        full = inspected.times(demand, left)
        times = inspected.most_times(demand, 1 / full)
        return times if times is None else max(times, float(full.min()))

    full = inspected.times(demand, left)
    even, offered = float(full.min()), _offered_mbytes_per_s(compiled, demand)
    any_shares = most(demand) if shared else None
    if not len(arrays["flow_cost_grains"]) or not np.isfinite(even):
        return _Reached(even, int(np.argmin(full)), offered * even, any_shares)
    even = _grown(arrays, lambda grown: float(inspected.times(grown, left).min()))
    grown = flows_at(arrays, even)
    full = inspected.times(grown, left)
    first = int(np.argmin(full)) if full.min() < 1 + _SURE else None
    if any_shares is not None:
        any_shares = _grown(arrays, lambda grown: most(grown) or np.inf)
    return _Reached(even, first, _offered_mbytes_per_s(compiled, grown), any_shares)


def _grown(arrays: dict[str, Any], room: Callable[[Demand], float]) -> float:
    """Return how many times their rates flows reach, hardly less than possible: until there is no room for
    more, or until the last shaper lets no more pass.

    What a shaper keeps back makes room grow faster, and shrink more slowly, than the traffic.
    """
    made = arrays["flow_packets"] / arrays["flow_interval_grains"]
    last = (
        float((1 / (made * arrays["flow_cost_grains"])).max()) if arrays["flow_cost_grains"].all() else np.inf
    )
    low, high = 0.0, min(1.0, last)
    while (times := room(flows_at(arrays, high))) > 1 and high < last:
        low, high = high * times, min(2 * high * times, last)
    if times > 1:
        return high
    high, low = high * times, max(low, _LEAST)
    while high > low * (1 + _SURE):
        middle = math.sqrt(low * high)
        times = room(flows_at(arrays, middle))
        low, high = (middle * times, high) if times > 1 else (low, middle * times)
    return high


def explained(compiled: Compiled, found: dict[str, Any]) -> dict[str, Any]:
    """Return the result with what is asked of each overloaded link, what it can carry, and who asks.

    Unchanged for a kind of network that cannot say so.
    """
    names = [link["what"] for link in found["over"]]
    asked = inspection_of(compiled).asked(_payload(compiled, compiled.demand()), names) if names else None
    if asked is None:
        return found
    over = []
    for link, one in zip(found["over"], asked, strict=True):
        possible = one["asked_mbytes_per_s"] / link["share"]
        over.append({**link, **one, "possible_mbytes_per_s": possible})
    return {**found, "over": over}


def _payload(compiled: Compiled, demand: Demand) -> Demand:
    """Return MB/s instead of packets."""
    scale = _per_s(compiled, demand) / 1e6
    assert demand.payload is not None
    packets = demand.packets * demand.payload.bytes * scale
    spread = None
    if demand.spread and demand.spread.payload is not None:
        spread = _payload(compiled, replace(demand.spread, per_grain=demand.per_grain))
    return replace(demand, packets=packets, even=demand.even * demand.even_payload[0] * scale, spread=spread)


def _offered_mbytes_per_s(compiled: Compiled, demand: Demand) -> float:
    assert demand.payload is not None
    listed = float((demand.packets * demand.payload.bytes).sum())
    spread = demand.spread
    if spread and spread.payload is not None:
        copies = np.array([len(found.receivers) for found in compiled.routes.distributions])
        listed += float((spread.packets * copies[spread.target] * spread.payload.bytes).sum())
    even = float(demand.even.sum()) * demand.even_payload[0]
    return (listed + even) * _per_s(compiled, demand) / 1e6


def _per_s(compiled: Compiled, demand: Demand) -> float:
    return (demand.per_grain or 0.0) * _PS_PER_S / float(compiled.technology.grain_ps)


def shared_text(load: str, kept: str, even: tuple[float, float], most: float | None) -> str:
    """Return what is carried at most as a rate and a load, and with even shares if that is less.

    Args:
        load: what the load is called.
        kept: what is said of the rate, with a space before it.
        even: the rate in MB/s and the load with even shares.
        most: the load that no shares exceed; None if it is not known.
    """

    def at(times: float, kept: str) -> str:
        return f"{figures(even[0] * times)} MB/s{kept}, at {load} {figures(even[1] * times, 3)}"

    if most is None:
        return f"{at(1, kept)}, if ways are shared evenly"
    if most <= even[1] * CLOSE:
        return f"at most {at(most / even[1], kept)}"
    return f"at most {at(most / even[1], kept)}; {at(1, '')}, if ways are shared evenly"


def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the result as lines of text."""
    rate, share = found["offered_mbytes_per_s"], found["busiest_share"]
    when = "" if found["without_end"] else " while all flows send"
    busy = f"{found['busiest']} would be {in_percent(share)} busy, the most of all"
    told = [("demanded", f"{figures(rate)} MB/s{when}; {busy}")]
    if share > 0:
        even = found["accepted_mbytes_per_s_bound"], found["scale_bound"]
        bound = shared_text("scale", " in these proportions", even, found["shared_scale_bound"])
        told.insert(0, ("throughput", f"{bound}: {found['full_first']} is full first"))
    if found["over"]:
        most = found["shared_scale_bound"]
        shared = most is None or most > found["scale_bound"] * CLOSE
        evenly = ", if ways are shared evenly" if shared else ""
        told += [("too much for", _over_text(link, evenly)) for link in found["over"][:_PRINTED]]
        more = found["over_count"] - _PRINTED
        told += [("", f"and {more} more")] if more > 0 else []
    return told


def _over_text(link: dict[str, Any], evenly: str) -> str:
    text = f"{link['what']} by {in_percent(link['share'] - 1)}{evenly}"
    if "asked_mbytes_per_s" not in link:
        return text
    asked, possible = (figures(link[f"{name}_mbytes_per_s"]) for name in ("asked", "possible"))
    who = ", ".join(
        f"{one['source']} -> {one['target']} {figures(one['mbytes_per_s'])}"
        for one in link["most"]
        if one["mbytes_per_s"] > _WORTH * link["asked_mbytes_per_s"]
    )
    return f"{text}: {asked} MB/s asked, {possible} possible{f'; most by {who}' if who else ''}"
