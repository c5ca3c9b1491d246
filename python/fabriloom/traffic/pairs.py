"""Fixed destinations by the number of the terminal. -1: no partner, the terminal is silent."""

from __future__ import annotations

import numpy as np

from fabriloom.traffic.kinds import Ints, TrafficError


def shift(terminals: int, by: int) -> Ints:
    """Return terminal i + by, modulo their number, as the target of terminal i."""
    if by % terminals == 0:
        message = f"a shift by {by} sends each of {terminals} terminals to itself"
        raise TrafficError(message, "pattern.by", "choose a number that is not a multiple of the terminals")
    return (np.arange(terminals) + by) % terminals


def transpose(terminals: int) -> Ints:
    """Return transposed numbers: (r, c) of a square to (c, r). The diagonal has no partner."""
    side = int(terminals**0.5 + 0.5)
    if side * side != terminals:
        message = f"transpose needs a square number of terminals, found {terminals}"
        raise TrafficError(message, "pattern", "use 4, 16, 64, 256, … terminals, or another pattern")
    return without_self(np.arange(terminals).reshape(side, side).T.ravel())


def bit_reverse(terminals: int) -> Ints:
    """Return numbers with their bits reversed. Palindromes have no partner."""
    bits = _bits(terminals, "bit-reverse")
    number = np.arange(terminals)
    reverse = np.zeros(terminals, np.int64)
    for bit in range(bits):
        reverse |= ((number >> bit) & 1) << (bits - 1 - bit)
    return without_self(reverse)


def bit_complement(terminals: int) -> Ints:
    """Return numbers with all bits inverted."""
    _bits(terminals, "bit-complement")
    return terminals - 1 - np.arange(terminals)


def shuffle(terminals: int) -> Ints:
    """Return numbers with their bits rotated up by one. The first and the last have no partner."""
    bits = _bits(terminals, "shuffle")
    number = np.arange(terminals)
    return without_self((number << 1 | number >> bits - 1) & terminals - 1)


def mirror(terminals: int) -> Ints:
    """Return the last terminal for the first, and so on. The middle of an odd number has no partner."""
    return without_self(terminals - 1 - np.arange(terminals))


def random(terminals: int, seed: int) -> Ints:
    """Return a random permutation without fixed points; it depends only on the seed."""
    if terminals < 2:
        raise TrafficError("a permutation needs at least two terminals", "pattern", "add terminals")
    target = np.argsort(mixed(np.arange(terminals, dtype=np.uint64), seed), kind="stable").astype(np.int64)
    fixed = np.flatnonzero(target == np.arange(terminals))
    if len(fixed) == 1:
        other = (fixed[0] + 1) % terminals
        target[[fixed[0], other]] = target[[other, fixed[0]]]
    elif len(fixed):
        target[fixed] = np.roll(fixed, 1)
    return target


def exchanging(terminals: int, seed: int) -> Ints:
    """Return random pairs that send to each other, all pairings equally likely; one of an odd number has
    none.
    """
    if terminals < 2:
        raise TrafficError("pairs need at least two terminals", "pattern", "add terminals")
    order = np.argsort(mixed(np.arange(terminals, dtype=np.uint64), seed), kind="stable").astype(np.int64)
    target = np.full(terminals, -1, np.int64)
    one, other = order[0 : terminals - 1 : 2], order[1::2]
    target[one], target[other] = other, one
    return target


def drawn(senders: Ints, receivers: Ints, seed: int) -> Ints:
    """Return a random receiver for each sender, never itself; several may be equal; -1 if there is none.

    The result depends only on the seed, on every machine.
    """
    draw = mixed(senders.astype(np.uint64), seed)
    others = np.isin(senders, receivers)
    place = np.searchsorted(receivers, senders)
    choices = (len(receivers) - others).astype(np.uint64)
    index = (draw % np.maximum(choices, 1)).astype(np.int64)
    index += others & (index >= place)
    return np.where(choices > 0, receivers[np.minimum(index, len(receivers) - 1)], -1)


def without_self(target: Ints) -> Ints:
    """Remove partners of terminals that are their own partner."""
    return np.where(target == np.arange(len(target)), -1, target)


def _bits(terminals: int, name: str) -> int:
    if terminals < 2 or terminals & (terminals - 1):
        message = f"{name} needs a power of two of terminals, found {terminals}"
        raise TrafficError(message, "pattern", "use 2, 4, 8, … terminals, or another pattern")
    return terminals.bit_length() - 1


def mixed(values: np.ndarray, seed: int) -> np.ndarray:
    """Return SplitMix64 of seed and value (Steele, Lea and Flood 2014); NumPy's own streams may change."""
    golden = 0x9E3779B97F4A7C15
    with np.errstate(over="ignore"):
        z = (values + np.uint64(1)) * np.uint64(golden) + np.uint64((seed * 0xD1342543DE82EF95) % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
