"""Traffic of terminals with roles or partners: senders, receivers, local pairs (rings)."""

from __future__ import annotations

import numpy as np

from fabriloom.codes import ARRIVAL, TARGET
from fabriloom.traffic import pairs
from fabriloom.traffic.kinds import Columns, Ints, Network, Settings, TrafficError
from fabriloom.traffic.names import Terminals

MOST_WEIGHTS = 1 << 24
"""Largest table of weights, some hundred megabytes."""


def senders_of(network: Network) -> Ints:
    return network.terminals_of("sender")


def receivers_of(network: Network) -> Ints:
    return network.terminals_of("receiver")


def has_roles(network: Network) -> bool:
    """Whether some terminals only send or only receive."""
    return len(senders_of(network)) < network.terminals or len(receivers_of(network)) < network.terminals


def local_partners(network: Network, terminals: Terminals, pattern: Settings, seed: int) -> Ints:
    """Return the partner of each terminal, -1 for terminals that do not send."""
    if pattern.get("map"):
        return mapped(network, terminals, pattern)
    if pattern.get("random"):
        return random(network, seed)
    if network.partner is None:
        message = "this network has no local pairs"
        raise TrafficError(message, "pattern", "give partners by map, or random = true")
    alone = np.flatnonzero(network.partner[senders_of(network)] < 0)
    if len(alone):
        name = terminals.names[int(senders_of(network)[alone[0]])]
        message = f'"{name}" has no partner on its ring'
        raise TrafficError(message, "pattern", "give partners by map, or random = true")
    return network.partner


def mapped(network: Network, terminals: Terminals, pattern: Settings) -> Ints:
    """Return the partners of a given list, one for every sender or for each that is named."""
    senders, chosen = senders_of(network), pattern.get("senders", "all")
    named, places = terminals.many(pattern["map"], "pattern.map")
    if len(named) != len(senders) and chosen != "all":
        senders, _ = terminals.many(chosen, "senders")
    if len(named) != len(senders):
        message = f"the map has {len(named)} targets for {len(senders)} senders"
        raise TrafficError(message, "pattern.map", "give one target per sender, in their order")
    wrong = np.flatnonzero(~np.isin(named, receivers_of(network)))
    if len(wrong):
        raise only_sends(terminals.names[int(named[wrong[0]])], places[wrong[0]])
    partner = np.full(network.terminals, -1, np.int64)
    partner[senders] = named
    return pairs.without_self(partner)


def only_sends(name: str, parameter: str) -> TrafficError:
    """Return the error for a target that does not receive."""
    message = f'"{name}" only sends, it cannot be a target'
    return TrafficError(message, parameter, "name a terminal that receives")


def random(network: Network, seed: int) -> Ints:
    """Draw different partners at random; no terminal is its own partner."""
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
    """Draw random pairs that send to each other."""
    if has_roles(network):
        message = "pairs that send to each other are for networks in which every terminal sends and receives"
        raise TrafficError(message, "pattern.random", "write random = true")
    return pairs.exchanging(network.terminals, seed)


def drawn(network: Network, seed: int) -> Ints:
    """Draw a random partner for every sender, never itself; several may have the same."""
    senders = senders_of(network)
    partner = np.full(network.terminals, -1, np.int64)
    partner[senders] = pairs.drawn(senders, receivers_of(network), seed)
    return partner


def shifted(network: Network, by: int) -> Ints:
    """Return the partners shifted by ``by``: sender i sends to receiver i + by, modulo their number."""
    senders, receivers = senders_of(network), receivers_of(network)
    partner = np.full(network.terminals, -1, np.int64)
    partner[senders] = receivers[(np.arange(len(senders)) + by) % len(receivers)]
    return pairs.without_self(partner)


def weighted(network: Network, sending: np.ndarray, favourite: Ints | None, share: float) -> Columns:
    """Return weights with ``share`` to the favourite of each sender and the rest evenly to other receivers.

    ``favourite``: per terminal; -1: packets go evenly to all receivers.
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
        "source_target": np.full(network.terminals, TARGET.WEIGHTED, np.uint8),
        "weight_start": np.concatenate([[0], np.cumsum(rows)]).astype(np.uint32),
        "weight_target": np.broadcast_to(receivers, kept.shape)[kept].astype(np.uint32),
        "weight_cumulative": sums[kept],
    }


def check(network: Network, terminals: Terminals, columns: Columns) -> None:
    """Raise TrafficError for a target that does not receive."""
    if not has_roles(network):
        return
    arrival, kind = columns["source_arrival"], columns["source_target"]
    fixed = ~np.isin(arrival, (ARRIVAL.SILENT, ARRIVAL.LIST, ARRIVAL.TIMED, ARRIVAL.FLOWS)) & (
        kind != TARGET.WEIGHTED
    )
    named = [columns["target_fixed"][fixed], *(columns[f"{of}_target"] for of in ("weight", "list", "flow"))]
    wrong = np.setdiff1d(np.concatenate(named).astype(np.int64), receivers_of(network))
    if len(wrong):
        raise only_sends(terminals.names[int(wrong[0])], "pattern")
