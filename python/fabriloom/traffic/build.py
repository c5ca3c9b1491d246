"""From the settings of ``[traffic]`` to the columns of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriloom.traffic import mirrors, pairs
from fabriloom.traffic.arrivals import arrivals, packet_ticks
from fabriloom.traffic.descriptors import descriptors
from fabriloom.traffic.errors import TrafficError
from fabriloom.traffic.kinds import (
    FIXED,
    HOT_SPOT,
    UNIFORM,
    WEIGHTED,
    Columns,
    Ints,
    Links,
    Network,
    Settings,
)
from fabriloom.traffic.lengths import lengths
from fabriloom.traffic.matrix import matrix
from fabriloom.traffic.matrix import permutation as permutation_file
from fabriloom.traffic.names import Terminals
from fabriloom.traffic.neighbours import nearest_neighbour


def build(
    network: Network,
    technology: Links,
    settings: Settings,
    *,
    tick_ps: int,
    seed: int = 1,
    via: bool = False,
) -> Columns:
    """All ``source_*``, ``target_*``, ``weight_*``, ``length_*`` and ``list_*`` columns.

    Args:
        network: the graph.
        technology: character times and headers.
        settings: ``[traffic]`` with whole numbers: ``pattern`` and ``arrivals`` (tables with ``kind``),
            ``length`` (``{"kind": "fixed", "value_bytes": 64}``), ``load``, ``source_queue``, ``senders``;
            paths complete.
        tick_ps: picoseconds of a tick.
        seed: of random permutations that name none.
        via: true when packets carry a header to an intermediate switch, which counts for the load.

    Raises:
        TrafficError: with the setting at fault.
    """
    count = network.terminals
    terminals = Terminals(network.terminal_names)
    sending = _senders(terminals, settings.get("senders", "all"))
    columns = _empty(count)
    length_columns, mean_chars = lengths(count, technology, settings["length"])
    columns |= length_columns
    pattern = settings["pattern"]
    if pattern["kind"] == "descriptors":
        return columns | descriptors(terminals, technology, tick_ps, sending, pattern)
    aim, share = _aim(network, terminals, pattern, seed)
    columns |= aim
    load = _load(settings) * share
    packet = packet_ticks(network, technology, mean_chars, tick_ps, via)
    return columns | arrivals(packet, load, sending, tick_ps, settings)


def _load(settings: Settings) -> float:
    load = settings.get("load")
    if load is None:
        closed = settings["arrivals"].get("wait_ps") is not None
        if settings["arrivals"]["kind"] == "backlog" or closed:
            return 1.0
        raise TrafficError("load is missing", "load", "write for example load = 0.5")
    if not 0 < load <= 1:
        raise TrafficError(f"load is {load}", "load", "a load is above 0 and at most 1")
    return float(load)


def _senders(terminals: Terminals, senders: Any) -> np.ndarray:
    if isinstance(senders, str) and senders == "all":
        return np.ones(len(terminals.names), bool)
    sending = np.zeros(len(terminals.names), bool)
    sending[terminals.many(senders, "senders")] = True
    return sending


def _empty(count: int) -> Columns:
    """Columns of silent terminals."""
    return {
        "source_arrival": np.zeros(count, np.uint8),
        "source_interval_ticks": np.zeros(count),
        "source_burst": np.zeros(count),
        "source_gap_ticks": np.zeros(count),
        "source_queue": np.zeros(count, np.uint32),
        "source_target": np.full(count, UNIFORM, np.uint8),
        "target_fixed": np.zeros(count, np.uint32),
        "target_share": np.zeros(count),
        "weight_start": np.zeros(0, np.uint32),
        "weight_target": np.zeros(0, np.uint32),
        "weight_cumulative": np.zeros(0),
        "list_start": np.zeros(0, np.uint32),
        "list_target": np.zeros(0, np.uint32),
        "list_length": np.zeros(0, np.uint32),
        "list_wait_ticks": np.zeros(0, np.uint64),
        "list_repeat": np.zeros(0, np.uint8),
    }


def _aim(network: Network, terminals: Terminals, pattern: Settings, seed: int) -> tuple[Columns, np.ndarray]:
    """The ``source_target``, ``target_*`` and ``weight_*`` columns; per terminal the share of the load."""
    count, kind = network.terminals, pattern["kind"]
    everyone = np.ones(count)
    if kind in ("uniform", "hot-spot") and count < 2:
        raise TrafficError(f"{kind} traffic needs at least two terminals", "pattern", "add terminals")
    if kind == "uniform":
        return {}, everyone
    if kind == "hot-spot":
        hot = terminals.one(pattern["target"], "pattern.target")
        target = np.full(count, HOT_SPOT, np.uint8)
        target[hot] = UNIFORM
        columns = {
            "target_fixed": np.full(count, hot, np.uint32),
            "target_share": np.full(count, float(pattern["share"])),
        }
        return {"source_target": target, **columns}, everyone
    if kind == "matrix":
        columns, share = matrix(terminals, pattern)
        return {"source_target": np.full(count, WEIGHTED, np.uint8), **columns}, share
    target = _partners(network, terminals, pattern, seed)
    columns = {
        "source_target": np.full(count, FIXED, np.uint8),
        "target_fixed": np.where(target < 0, np.arange(count), target).astype(np.uint32),
    }
    return columns, (target >= 0).astype(np.float64)


def _partners(network: Network, terminals: Terminals, pattern: Settings, seed: int) -> Ints:
    """Per terminal its fixed destination, or -1."""
    count, kind = network.terminals, pattern["kind"]
    if kind == "shift":
        return pairs.shift(count, pattern["by"])
    if kind == "transpose":
        return mirrors.transpose(network)
    if kind == "bit-reverse":
        return pairs.bit_reverse(count)
    if kind == "bit-complement":
        return pairs.bit_complement(count)
    if kind == "point-mirror":
        return mirrors.point_mirror(network)
    if kind == "axis-mirror":
        return mirrors.axis_mirror(network, pattern.get("axis", 0))
    if kind == "nearest-neighbour":
        return nearest_neighbour(network)
    if kind == "permutation":
        return _permutation(terminals, pattern, seed)
    raise TrafficError(f'unknown pattern "{kind}"', "pattern", "see the reference of scenarios")


def _permutation(terminals: Terminals, pattern: Settings, seed: int) -> Ints:
    count = len(terminals.names)
    if pattern.get("path"):
        return permutation_file(terminals, pattern["path"])
    if pattern.get("random"):
        own = pattern.get("seed")
        return pairs.random(count, seed if own is None else own)
    given = pattern["map"]
    if len(given) != count:
        message = f"the map has {len(given)} destinations for {count} terminals"
        raise TrafficError(message, "pattern.map", "give one destination per terminal, in their order")
    target = terminals.many(given, "pattern.map")
    values, first = np.unique(target, return_index=True)
    if len(values) < count:
        again = int(np.setdiff1d(np.arange(count), first)[0])
        message = f'"{terminals.names[int(target[again])]}" is a destination twice'
        raise TrafficError(message, f"pattern.map.{again}", "a permutation names each terminal once")
    return pairs.without_self(target)
