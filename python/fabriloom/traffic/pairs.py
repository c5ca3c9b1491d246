"""Fixed destinations by the number of the terminal. -1: no partner, the terminal is silent."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fabriloom.process.libraries import pl
from fabriloom.traffic.kinds import Columns, Ints, Settings, TrafficError
from fabriloom.traffic.names import Terminals, repeated
from fabriloom.traffic.packets import cumulative

if TYPE_CHECKING:
    from fabriloom.traffic import tables


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
    """Return random pairs that send to each other, all equally likely; of an odd number one is left."""
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


def matrix(terminals: Terminals, pattern: Settings) -> tuple[Columns, np.ndarray]:
    """Return the ``weight_*`` columns, and the sum of each terminal's row (0: silent).

    The file is either terminals x terminals numbers, one row per source, or has the columns ``source``,
    ``target`` and ``weight``, with a unit ``rate``.
    """
    value = "rate" if pattern.get("unit") else "weight"
    source, target, weight = _entries(terminals, pattern["path"], value, bool(pattern.get("include_self")))
    keep = weight > 0
    source, target, weight = source[keep], target[keep], weight[keep]
    if not len(source):
        raise TrafficError(f"all {value}s are zero", "pattern.path", "give at least one above zero")
    order = np.lexsort((target, source))
    source, target, weight = source[order], target[order], weight[order]
    count = len(terminals.names)
    rows = np.bincount(source, minlength=count)
    start = np.concatenate([[0], np.cumsum(rows)])
    sums = np.bincount(source, weights=weight, minlength=count)
    columns = {
        "weight_start": start.astype(np.uint32),
        "weight_target": target.astype(np.uint32),
        "weight_cumulative": np.concatenate(
            [cumulative(weight[a:b]) for a, b in pairwise(start.tolist()) if b > a]
        ),
    }
    return columns, sums


_NAMES = {"source", "target", "from", "to", "destination", "weight", "rate"}


def _entries(
    terminals: Terminals, path: str, value: str, include_self: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from fabriloom.traffic import tables

    first = tables.first_line(path)
    table = tables.read(path, header=first is None or not _NAMES.isdisjoint(first))
    if _NAMES.isdisjoint(first or table.frame.columns):
        return _dense(terminals, table, value, include_self)
    table.only(("source", "target", value))
    source = table.terminals(table.need("source")[0], terminals)
    target = table.terminals(table.need("target")[0], terminals)
    weight = _floats(table, table.need(value)[0], value)
    again = np.flatnonzero((source == target) & (weight > 0))
    if len(again) and not include_self:
        raise _of_itself(table, int(again[0]), value, terminals.names[int(source[again[0]])])
    return source, target, weight


def _dense(
    terminals: Terminals, table: tables.Table, value: str, include_self: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(terminals.names)
    height, width = table.frame.shape
    if (height, width) != (count, count):
        message = f"{table.path.name} has {height} rows and {width} columns for {count} terminals"
        hint = f"write {count} x {count} numbers, or the columns source, target, {value}"
        raise TrafficError(message, "pattern.path", hint)
    weights = np.stack([_floats(table, name, value) for name in table.frame.columns], axis=1)
    again = np.flatnonzero(np.diagonal(weights))
    if len(again) and not include_self:
        raise _of_itself(table, int(again[0]), int(again[0]), terminals.names[int(again[0])])
    source, target = np.nonzero(weights)
    return source, target, weights[source, target]


def _of_itself(table: tables.Table, row: int, column: str | int, name: str) -> TrafficError:
    """Return the error of a number on the diagonal."""
    message = f'"{name}" would send to itself'
    return table.error(message, row, column, "write 0 there, or include_self = true in the pattern")


def _floats(table: tables.Table, name: str, value: str) -> np.ndarray:
    series = table.frame.get_column(name)
    text = series.str.strip_chars() if series.dtype == pl.String else series
    numbers = text.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = np.flatnonzero(~np.isfinite(numbers) | (numbers < 0))
    if len(bad):
        row = int(bad[0])
        found: Any = series[row]
        unit = ", in the unit of the pattern" if value == "rate" else ""
        hint = f"{value}s are numbers of zero or more{unit}"
        if found is None:
            raise table.error(f"there is no {value}", row, name, f"{hint}; is the line cut short?")
        raise table.error(f'"{str(found)[:40]}" is not a {value}', row, name, hint)
    return numbers


def pairs(terminals: Terminals, path: str, different: bool) -> np.ndarray:
    """Return targets from a file with the columns ``source`` and ``target``; -1 for the others.

    ``different``: no two may be equal, as in a permutation.
    """
    from fabriloom.traffic import tables

    table = tables.read(path)
    table.only(("source", "target"))
    source = table.terminals(table.need("source")[0], terminals)
    target = table.terminals(table.need("target")[0], terminals)
    for name, values in (("source", source), ("target", target))[: 2 if different else 1]:
        row = repeated(values)
        if row is not None:
            word = terminals.names[int(values[row])]
            hint = "a permutation names each terminal once" if different else "a map names each sender once"
            raise table.error(f'"{word}" is a {name} twice', row, name, hint)
    found = np.full(len(terminals.names), -1, np.int64)
    found[source] = target
    return found
