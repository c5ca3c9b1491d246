"""What traffic of given rates asks of every link, before it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..compile import Compiled, LinkParts, RingParts
from ..results.figures import figures, in_percent
from ..routing import channel_loads
from ..routing.even import ring_loads
from ..traffic import Demand
from . import plane_loads
from .ring_inspection import busy_ps, names_of

_SHOWN = 10
_PS_PER_S = 1e12


def demanded(compiled: Compiled) -> dict[str, Any] | None:
    """Payload that is offered, the part of the time that the busiest link would need, and all that need more.

    None where no rates are given. The links of a group are taken to share their packets evenly.
    """
    demand = compiled.demand()
    if compiled.programs is not None or demand.per_grain is None or not compiled.scenario.traffic.is_rated():
        return None
    busy = (
        _of_links(compiled, demand) if isinstance(compiled.parts, LinkParts) else _of_rings(compiled, demand)
    )
    names = list(busy)
    shares = np.array([busy[name] for name in names])
    order = np.argsort(-shares, kind="stable")
    over = [{"what": names[at], "share": float(shares[at])} for at in order if shares[at] > 1]
    most = float(shares[order[0]])
    return {
        "offered_mbytes_per_s": _offered_mbytes_per_s(compiled, demand),
        "busiest": names[order[0]],
        "busiest_share": most,
        "scale_bound": float(compiled.scenario.traffic.scale or 1.0) / most if most > 0 else None,
        "over": over[:_SHOWN],
        "over_count": len(over),
    }


def _offered_mbytes_per_s(compiled: Compiled, demand: Demand) -> float:
    tech, chars = compiled.technology, demand.chars
    assert chars is not None
    none, one = tech.payload_bytes(0), tech.payload_bytes(1)
    listed = float((demand.packets * (none + (one - none) * chars)).sum())
    if demand.spread and isinstance(compiled.parts, LinkParts) and demand.spread.chars is not None:
        copies = np.array([len(found.receivers) for found in compiled.parts.distributions])
        apiece = none + (one - none) * demand.spread.chars
        listed += float((demand.spread.packets * copies[demand.spread.target] * apiece).sum())
    even = float(demand.even.sum()) * (none + (one - none) * demand.even_chars)
    return (listed + even) * _per_s(compiled, demand) / 1e6


def _per_s(compiled: Compiled, demand: Demand) -> float:
    return (demand.per_grain or 0.0) * _PS_PER_S / compiled.technology.grain_ps


def _of_links(compiled: Compiled, demand: Demand) -> dict[str, float]:
    """Per link the part of the time that headers, payload and ends of packets need."""
    parts, arrays = compiled.parts, compiled.arrays
    assert isinstance(parts, LinkParts)
    assert demand.chars is not None
    source, target, packets = demand.pairs
    choice = compiled.scenario.port_choice
    counted = plane_loads.loads(parts, choice, demand.pairs, demand.even)
    chars = source, target, packets * demand.chars
    payload = plane_loads.loads(parts, choice, chars, demand.even * demand.even_chars)
    if demand.spread and demand.spread.chars is not None:
        source, target, packets = demand.spread.pairs
        counted = counted + plane_loads.spread_loads(parts, demand.spread.pairs)
        chars = source, target, packets * demand.spread.chars
        payload = payload + plane_loads.spread_loads(parts, chars)
    payload = payload + _addresses(parts, demand)
    character = arrays["link_character_ticks"].astype(np.float64)
    apiece = int(arrays["header_chars"]) * character + arrays["link_end_ticks"]
    busy = (counted * apiece + payload * character) * demand.per_grain / int(arrays["grain_ticks"])
    return dict(zip(parts.graph.link_names, busy.tolist(), strict=True))


def _addresses(parts: LinkParts, demand: Demand) -> np.ndarray:
    """Characters of addresses per link: what is left of them there, target by target."""
    graph, total = parts.graph, np.zeros(parts.graph.links)
    if not len(parts.addresses.deletes):
        return total
    source, target, packets = (np.asarray(column) for column in demand.pairs)
    evenly = np.asarray(demand.even) / max(1, graph.terminals - 1)
    senders = np.flatnonzero(evenly)
    end = np.asarray(graph.link_target, np.int64)
    into_switch = end < graph.switches
    for terminal in range(graph.terminals) if len(senders) else np.unique(target).tolist():
        own, others = target == terminal, senders[senders != terminal]
        sources = np.concatenate((source[own], others))
        told = sources, np.full(len(sources), terminal), np.concatenate((packets[own], evenly[others]))
        left = parts.addresses.left[:, int(parts.table.terminal_class[terminal])]
        chars = np.where(into_switch, left[np.minimum(end, graph.switches - 1)], 0)
        total += channel_loads(graph, parts.table, told) * chars
    return total


def _of_rings(compiled: Compiled, demand: Demand) -> dict[str, float]:
    """Per link, bus and memory the part of the time that packets of each length need."""
    parts = compiled.parts
    assert isinstance(parts, RingParts)
    assert demand.chars is not None
    found: dict[str, float] = {}
    nothing = np.zeros_like(demand.even)
    for length in np.unique([*demand.chars, *([demand.even_chars] if demand.even.any() else [])]):
        some = demand.chars == length
        part = replace(
            demand,
            source=demand.source[some],
            target=demand.target[some],
            packets=demand.packets[some],
            even=demand.even if demand.even_chars == length else nothing,
        )
        loads = ring_loads(parts.graph, parts.port_route, part.pairs, part.even)
        for what, times in busy_ps(parts, loads, part, float(length)).items():
            for name, time_ps in zip(names_of(parts.graph, what), times.tolist(), strict=True):
                found[name] = (
                    found.get(name, 0.0) + time_ps * (demand.per_grain or 0.0) / compiled.technology.grain_ps
                )
    return found


def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same as lines for reading."""
    rate, share = found["offered_mbytes_per_s"], found["busiest_share"]
    told = [
        (
            "demanded",
            f"{figures(rate)} MB/s; {found['busiest']} would be {in_percent(share)} busy, the most of all",
        )
    ]
    if share > 0:
        scale = figures(found["scale_bound"], 3)
        bound = f"at most {figures(rate / share)} MB/s in these proportions, at scale {scale}"
        told.insert(0, ("throughput", f"{bound}: {found['busiest']} is full first"))
    if found["over"]:
        shown = ", ".join(f"{link['what']} by {in_percent(link['share'] - 1)}" for link in found["over"][:4])
        more = found["over_count"] - min(4, len(found["over"]))
        told.append(("too much for", f"{shown}{f' and {more} more' if more else ''}"))
    return told
