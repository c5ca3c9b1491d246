"""Traffic where terminals have roles or partners: senders only, receivers only, local pairs (rings)."""

from __future__ import annotations

import numpy as np

from fabriloom.traffic import pairs
from fabriloom.traffic.errors import TrafficError
from fabriloom.traffic.kinds import FLOWS, LIST, SILENT, WEIGHTED, Columns, Ints, Network, Settings
from fabriloom.traffic.names import Terminals

MOST_WEIGHTS = 1 << 24
"""The largest table of weights that is made here, some hundred megabytes."""


def senders_of(network: Network) -> Ints:
    """Terminals that may send."""
    rings = network.rings
    return np.arange(network.terminals) if rings is None else rings.terminals_of("sender", network.terminals)


def receivers_of(network: Network) -> Ints:
    """Terminals that may receive."""
    rings = network.rings
    return (
        np.arange(network.terminals) if rings is None else rings.terminals_of("receiver", network.terminals)
    )


def has_roles(network: Network) -> bool:
    """Whether there are terminals that only send or only receive."""
    return len(senders_of(network)) < network.terminals or len(receivers_of(network)) < network.terminals


def local_partners(network: Network, terminals: Terminals, pattern: Settings, seed: int) -> Ints:
    """Per terminal its partner, -1 for those that do not send."""
    if pattern.get("map"):
        return mapped(network, terminals, pattern["map"])
    if pattern.get("random"):
        own = pattern.get("seed")
        return random(network, seed if own is None else own)
    if network.rings is None:
        message = "this network has no local pairs"
        raise TrafficError(message, "pattern", "give partners by map, or random = true")
    alone = np.flatnonzero(network.rings.partner[senders_of(network)] < 0)
    if len(alone):
        name = terminals.names[int(senders_of(network)[alone[0]])]
        message = f'"{name}" has no partner on its ring'
        raise TrafficError(message, "pattern", "give partners by map, or random = true")
    return network.rings.partner


def mapped(network: Network, terminals: Terminals, given: list[object]) -> Ints:
    """The partners of a list, one for every sender."""
    senders = senders_of(network)
    if len(given) != len(senders):
        message = f"the map has {len(given)} targets for {len(senders)} senders"
        raise TrafficError(message, "pattern.map", "give one target per sender, in their order")
    named = terminals.many(given, "pattern.map")
    wrong = np.flatnonzero(~np.isin(named, receivers_of(network)))
    if len(wrong):
        raise only_sends(terminals.names[int(named[wrong[0]])], f"pattern.map.{wrong[0]}")
    partner = np.full(network.terminals, -1, np.int64)
    partner[senders] = named
    return pairs.without_self(partner)


def only_sends(name: str, parameter: str) -> TrafficError:
    """The error of a target that does not receive."""
    message = f'"{name}" only sends, it cannot be a target'
    return TrafficError(message, parameter, "name a terminal that receives")


def random(network: Network, seed: int) -> Ints:
    """Random partners, no two the same, nobody its own."""
    if not has_roles(network):
        return pairs.random(network.terminals, seed)
    senders, receivers = senders_of(network), receivers_of(network)
    if len(receivers) < len(senders):
        message = f"{len(senders)} senders cannot have different partners among {len(receivers)} receivers"
        raise TrafficError(message, "pattern", "use uniform traffic")
    order = receivers[np.argsort(pairs.mixed(receivers.astype(np.uint64), seed), kind="stable")]
    partner = np.full(network.terminals, -1, np.int64)
    for turn in range(len(order)):
        partner[senders] = np.roll(order, turn)[: len(senders)]
        if np.all(partner[senders] != senders):
            break
    return pairs.without_self(partner)


def exchanging(network: Network, seed: int) -> Ints:
    """Random pairs that send to each other."""
    if has_roles(network):
        message = "pairs that send to each other are for networks in which every terminal sends and receives"
        raise TrafficError(message, "pattern.random", "write random = true")
    return pairs.exchanging(network.terminals, seed)


def drawn(network: Network, seed: int) -> Ints:
    """A random partner for every sender, any but itself, several perhaps the same."""
    senders = senders_of(network)
    partner = np.full(network.terminals, -1, np.int64)
    partner[senders] = pairs.drawn(senders, receivers_of(network), seed)
    return partner


def shifted(network: Network, by: int) -> Ints:
    """The i-th sender to the receiver number i + by, counted around."""
    senders, receivers = senders_of(network), receivers_of(network)
    partner = np.full(network.terminals, -1, np.int64)
    partner[senders] = receivers[(np.arange(len(senders)) + by) % len(receivers)]
    return pairs.without_self(partner)


def weighted(network: Network, sending: np.ndarray, favourite: Ints | None, share: float) -> Columns:
    """Every sender's packets with ``share`` to its favourite and the rest evenly to the other receivers.

    ``favourite``: per terminal, or -1 for none, whose packets go evenly to all.
    """
    senders = np.flatnonzero(sending & np.isin(np.arange(network.terminals), senders_of(network)))
    receivers = receivers_of(network)
    if len(senders) * len(receivers) > MOST_WEIGHTS:
        message = f"{len(senders):,} senders and {len(receivers):,} receivers are more pairs than can be kept"
        raise TrafficError(message, "pattern", "use a permutation, or local traffic with share = 1")
    allowed = receivers[None, :] != senders[:, None]
    chosen = np.full(len(senders), -1) if favourite is None else favourite[senders]
    special = receivers[None, :] == chosen[:, None]
    others = (allowed & ~special).sum(axis=1)
    if np.any(others + special.sum(axis=1) == 0):
        raise TrafficError("a sender has nobody to send to", "pattern", "add terminals that receive")
    part = np.where(special.any(axis=1), np.where(others > 0, share, 1.0), 0.0)
    weight = np.where(
        special, part[:, None], np.where(allowed, ((1 - part) / np.maximum(others, 1))[:, None], 0)
    )
    sums = np.cumsum(weight, axis=1)
    sums /= sums[:, -1:]
    kept = weight > 0
    rows = np.zeros(network.terminals, np.int64)
    rows[senders] = kept.sum(axis=1)
    return {
        "source_target": np.full(network.terminals, WEIGHTED, np.uint8),
        "weight_start": np.concatenate([[0], np.cumsum(rows)]).astype(np.uint32),
        "weight_target": np.broadcast_to(receivers, kept.shape)[kept].astype(np.uint32),
        "weight_cumulative": sums[kept],
    }


def check(network: Network, terminals: Terminals, columns: Columns) -> None:
    """Raise for a target that does not receive."""
    if network.rings is None or not has_roles(network):
        return
    arrival, kind = columns["source_arrival"], columns["source_target"]
    fixed = ~np.isin(arrival, (SILENT, LIST, FLOWS)) & (kind != WEIGHTED)
    named = np.concatenate(
        [
            columns["target_fixed"][fixed],
            columns["weight_target"],
            columns["list_target"],
            columns["flow_target"],
        ]
    ).astype(np.int64)
    wrong = np.setdiff1d(named, receivers_of(network))
    if len(wrong):
        raise only_sends(terminals.names[int(wrong[0])], "pattern")
