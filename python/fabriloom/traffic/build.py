"""Build the engine's columns from the settings of ``[traffic]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fabriloom import codes
from fabriloom.codes import TARGET
from fabriloom.traffic import kinds, mirrors, pairs, receivers
from fabriloom.traffic.kinds import TrafficError
from fabriloom.traffic.names import Spread, Terminals, repeated
from fabriloom.traffic.packets import (
    CLOSED,
    arrivals,
    burst_of,
    character_grains,
    lengths,
    packet_grains,
    packets_per_grain,
)


def build(
    network: kinds.Network,
    technology: kinds.Links,
    settings: kinds.Settings,
    *,
    seed: int = 1,
    via: bool = False,
    ports: kinds.Ints | None = None,
    distributions: Sequence[Spread] = (),
    others_ps: Callable[[float], np.ndarray] | None = None,
) -> kinds.Columns:
    """Return all ``source_*``, ``target_*``, ``weight_*``, ``length_*``, ``list_*`` and ``flow_*`` columns.

    Waits of lists are in ps. ``flow_name`` and ``flow_requirement_ps`` are not for the engine.

    Args:
        network: the graph.
        technology: character times and headers.
        settings: ``[traffic]`` with whole numbers: ``pattern`` and ``arrivals`` (tables with ``kind``),
            ``length`` (``{"kind": "fixed", "value_bytes": 64}``), ``load`` or ``rate``, ``scale``,
            ``source_queue``, ``senders``; paths complete.
        seed: seed of random permutations that name none.
        via: whether packets carry a header to an intermediate switch, which counts for the load.
        ports: per terminal, the number of ports that share its load; default: one each.
        distributions: targets that stand for several terminals.
        others_ps: returns, per terminal, the mean time of packets of a mean payload on its link of another
            technology, in ps; NaN for the usual one.

    Raises:
        TrafficError: a setting is wrong; the error names it.
    """
    count = network.terminals
    terminals = Terminals(network.terminal_names)
    sending = _senders(network, terminals, settings.get("senders", "all"))
    columns = _empty(count)
    pattern = settings["pattern"]
    usual = settings["length"]
    if pattern["kind"] in ("descriptors", "flows"):
        # Listed packets have lengths of their own; a usual one that is not legal is refused where it is used.
        usual = {"kind": "fixed", "value_bytes": (technology.legal_payloads_bytes or (1,))[0]}
    length_columns, mean_bytes, parts = lengths(count, technology, usual)
    columns |= length_columns
    if pattern["kind"] == "descriptors":
        from fabriloom.traffic.descriptors import descriptors

        columns |= descriptors(terminals, technology, sending, settings)
    elif pattern["kind"] == "flows":
        from fabriloom.traffic.flows import flows

        columns |= flows(terminals, technology, sending, settings, distributions)
    else:
        named = {**pattern, "senders": settings.get("senders", "all")}
        aim, share = _aim(network, terminals, named, sending, seed)
        columns |= aim
        others = None if others_ps is None else others_ps(mean_bytes)
        packet, grain_ps = packet_grains(network, technology, parts, via, others), float(technology.grain_ps)
        packet = packet if ports is None else packet / ports
        load = _offered(settings, share, packet, grain_ps, mean_bytes)
        settings = {**settings, "arrivals": burst_of(settings["arrivals"], mean_bytes, grain_ps)}
        character = character_grains(network, technology)
        columns |= arrivals(packet, load, sending, grain_ps, settings, character, ports)
    receivers.check(network, terminals, columns)
    if not columns["source_arrival"].any():
        raise _nothing(pattern["kind"], bool(sending.any()))
    return columns


def _nothing(kind: str, named: bool) -> TrafficError:
    """Return the error if no terminal sends: none may, or the pattern has no target for those that may."""
    if not named:
        return TrafficError("nobody sends: the list is empty", "senders", "name terminals that send")
    message = f"nobody sends: {kind} has no other terminal for any of the senders"
    return TrafficError(message, "pattern", "choose another pattern, or other senders")


def silent(network: kinds.Network, technology: kinds.Links, packet_bytes: int) -> kinds.Columns:
    """Return the same columns for terminals without sources; ``packet_bytes``: the longest packet."""
    columns, *_ = lengths(network.terminals, technology, {"kind": "fixed", "value_bytes": packet_bytes})
    return _empty(network.terminals) | columns


def _offered(
    settings: kinds.Settings, share: np.ndarray, packet: np.ndarray, grain_ps: float, mean_bytes: float
) -> np.ndarray:
    """Return, per terminal, the load of its own link, 0 for silent ones.

    ``share``: what each sends relative to the others, or sums of rates in the unit of the pattern.
    """
    pattern = settings["pattern"]
    if pattern.get("unit") is None and settings.get("rate") is None:
        if pattern.get("rows") == "proportional":
            busy = share * (packet / packet.max())
            share = busy / busy.max()
        elif pattern["kind"] == "matrix":
            share = (share > 0).astype(np.float64)
        return _load(settings) * share
    kind = settings["arrivals"]["kind"]
    if kind in CLOSED or kind == "burst":
        message = f"arrivals of kind {kind} set their own times, a rate has no effect"
        raise TrafficError(message, "arrivals", "write for example poisson or constant")
    scale = float(settings.get("scale") or 1.0)
    if settings.get("rate") is not None:
        share = (share > 0) * packets_per_grain(settings["rate"], mean_bytes, grain_ps, "rate")
    else:
        share = share * packets_per_grain(f"1 {pattern['unit']}", mean_bytes, grain_ps, "pattern.unit")
    if np.any(share * scale > 1):
        message = "packets would be made more often than once in a nanosecond"
        raise TrafficError(message, "pattern" if pattern.get("unit") else "rate", "lower the rate")
    return share * scale * packet


def _load(settings: kinds.Settings) -> float:
    load = settings.get("load")
    if load is None:
        closed = settings["arrivals"].get("wait_ps") is not None
        if settings["arrivals"]["kind"] in ("backlog", "burst") or closed:
            return 1.0
        raise TrafficError("load is missing", "load", "write for example load = 0.5")
    if not 0 < load <= 1:
        raise TrafficError(f"load is {load}", "load", "a load is above 0 and at most 1")
    return float(load)


def _senders(network: kinds.Network, terminals: Terminals, senders: Any) -> np.ndarray:
    able = np.zeros(len(terminals.names), bool)
    able[receivers.senders_of(network)] = True
    if isinstance(senders, str) and senders == "all":
        return able
    sending = np.zeros(len(terminals.names), bool)
    named, places = terminals.many(senders, "senders")
    again = repeated(named)
    if again is not None:
        message = f'"{terminals.names[int(named[again])]}" is named twice'
        raise TrafficError(message, places[again], "name each sender once")
    for place, number in enumerate(named.tolist()):
        if not able[number]:
            message = f'"{terminals.names[number]}" only receives, it cannot send'
            raise TrafficError(message, places[place], "name terminals that send")
    sending[named] = True
    return sending


def _empty(count: int) -> kinds.Columns:
    own = ("source_", "weight_", "list_", "flow_")
    return {
        **{name: column for name, column in codes.unused().items() if name.startswith(own)},
        "source_arrival": np.zeros(count, np.uint8),
        "source_interval_grains": np.zeros(count),
        "source_burst": np.zeros(count),
        "source_gap_grains": np.zeros(count),
        "source_queue": np.zeros(count, np.uint32),
        "source_target": np.full(count, TARGET.UNIFORM, np.uint8),
        "target_fixed": np.zeros(count, np.uint32),
        "target_share": np.zeros(count),
        "list_wait_ps": np.zeros(0, np.int64),
        "flow_name": np.zeros(0, object),
        "flow_requirement_ps": np.zeros(0, np.int64),
    }


def _aim(
    network: kinds.Network, terminals: Terminals, pattern: kinds.Settings, sending: np.ndarray, seed: int
) -> tuple[kinds.Columns, np.ndarray]:
    """Return the ``source_target``, ``target_*`` and ``weight_*`` columns, and how much each sends."""
    count, kind = network.terminals, pattern["kind"]
    everyone = np.ones(count)
    seed = seed if pattern.get("seed") is None else pattern["seed"]
    if kind in ("uniform", "hot-spot", "local") and count < 2:
        raise TrafficError(f"{kind} traffic needs at least two terminals", "pattern", "add terminals")
    if kind == "uniform" and pattern.get("include_self"):
        return {"source_target": np.full(count, TARGET.ANY, np.uint8)}, everyone
    if kind == "uniform":
        roles = receivers.has_roles(network)
        return receivers.weighted(network, sending, None, 0.0) if roles else {}, everyone
    if kind == "hot-spot":
        return _hot_spot(network, terminals, pattern, sending), everyone
    if kind == "matrix":
        columns, share = pairs.matrix(terminals, pattern)
        return {"source_target": np.full(count, TARGET.WEIGHTED, np.uint8), **columns}, share
    if kind == "local":
        target = receivers.local_partners(network, terminals, pattern, seed)
        if pattern["share"] < 1:
            return receivers.weighted(network, sending, target, float(pattern["share"])), everyone
    else:
        target = _partners(network, terminals, pattern, seed)
    columns = {
        "source_target": np.full(count, TARGET.FIXED, np.uint8),
        "target_fixed": np.where(target < 0, np.arange(count), target).astype(np.uint32),
    }
    return columns, (target >= 0).astype(np.float64)


def _hot_spot(
    network: kinds.Network, terminals: Terminals, pattern: kinds.Settings, sending: np.ndarray
) -> kinds.Columns:
    count, share = network.terminals, float(pattern["share"])
    hot = terminals.one(pattern["target"], "pattern.target")
    if hot not in receivers.receivers_of(network):
        raise receivers.only_sends(terminals.names[hot], "pattern.target")
    if receivers.has_roles(network):
        return receivers.weighted(network, sending, np.full(count, hot), share)
    target = np.full(count, TARGET.HOT_SPOT, np.uint8)
    target[hot] = TARGET.UNIFORM
    columns = {"target_fixed": np.full(count, hot, np.uint32), "target_share": np.full(count, share)}
    return {"source_target": target, **columns}


def _partners(network: kinds.Network, terminals: Terminals, pattern: kinds.Settings, seed: int) -> kinds.Ints:
    """Return the fixed target of each terminal, or -1."""
    count, kind = network.terminals, pattern["kind"]
    if kind == "permutation":
        return _permutation(network, terminals, pattern, seed)
    if kind == "map":
        return _map(network, terminals, pattern, seed)
    if receivers.has_roles(network):
        if kind == "shift":
            return receivers.shifted(network, pattern["by"])
        message = f"{kind} is for networks in which every terminal sends and receives"
        raise TrafficError(message, "pattern", "use uniform, local, permutation or shift")
    if kind == "shift":
        return pairs.shift(count, pattern["by"])
    if kind == "axis-mirror":
        return mirrors.axis_mirror(network, pattern.get("axis", 0))
    if kind in _BY_NUMBER:
        return _BY_NUMBER[kind](count)
    if kind in _BY_PLACE:
        return _BY_PLACE[kind](network)
    raise TrafficError(f'unknown pattern "{kind}"', "pattern", "see the reference of scenarios")


_BY_NUMBER = {
    "bit-reverse": pairs.bit_reverse, "bit-complement": pairs.bit_complement, "shuffle": pairs.shuffle
}  # fmt: skip
_BY_PLACE = {
    "transpose": mirrors.transpose,
    "tornado": mirrors.tornado,
    "point-mirror": mirrors.point_mirror,
    "nearest-neighbour": mirrors.nearest_neighbour,
}
"""Patterns that follow from the numbers of terminals alone, and from where they are."""


def _permutation(
    network: kinds.Network, terminals: Terminals, pattern: kinds.Settings, seed: int
) -> kinds.Ints:
    if pattern.get("path"):
        return pairs.pairs(terminals, pattern["path"], different=True)
    if pattern.get("random"):
        drawing = receivers.exchanging if pattern["random"] == "pairs" else receivers.random
        return drawing(network, seed)
    target = receivers.mapped(network, terminals, pattern)
    named, places = terminals.many(pattern["map"], "pattern.map")
    again = repeated(named)
    if again is not None:
        message = f'"{terminals.names[int(named[again])]}" is a target twice'
        raise TrafficError(message, places[again], "a permutation names each terminal once")
    return target


def _map(network: kinds.Network, terminals: Terminals, pattern: kinds.Settings, seed: int) -> kinds.Ints:
    """Return fixed targets, several of which may be equal."""
    if pattern.get("path"):
        return pairs.without_self(pairs.pairs(terminals, pattern["path"], different=False))
    if pattern.get("random"):
        return receivers.drawn(network, seed)
    return receivers.mapped(network, terminals, pattern)
