"""Jellyfish: a random regular graph (A. Singla, C.-Y. Hong, L. Popa and P. B. Godfrey, NSDI 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Count, Several, TerminalsPerSwitch, family
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, terminals_at, whole
from .raw import components
from .words import on_circle

MOST_TRIES = 100
_MASK = (1 << 64) - 1

Draws = Iterator[int]


@family("jellyfish", "Switches that are joined at random, each to the same number of others.")
def jellyfish(
    switches: Annotated[Several, Field(description="Number of switches")],
    degree: Annotated[Count, Field(description="Cables of a switch to other switches")],
    terminals_per_switch: TerminalsPerSwitch = 1,
    graph_seed: Annotated[
        int, Field(ge=0, lt=2**62, description="Seed of the cables, independent of the seed of the traffic")
    ] = 1,
) -> Graph:
    """Build switches ``s(i)`` of ``degree`` cables each; of an odd number of ports in all, one stays free.

    As in the paper: two switches with free ports that are not joined yet, drawn at random, are joined until
    there are none; where two ports stay free, a random cable is taken out and its ends are joined to them.
    A graph in several parts is drawn again. Equal seeds give equal graphs on every machine.
    """
    count = whole(switches, "switches", 2, MAX_TERMINALS, "the number of switches")
    most = "a switch is joined to others, once each"
    whole(degree, "degree", 1, count - 1, "the cables of a switch to others", most)
    per = terminals_at(terminals_per_switch)
    whole(graph_seed, "graph_seed", 0, 2**62 - 1, "the seed of the cables")
    check_size(count * per, count * per + count * degree // 2, "switches")
    if degree == 1 and count > 2:
        raise GraphError("degree is 1, and only two switches can be joined so: raise it", "degree")
    return assemble(
        "jellyfish",
        [f"s({number})" for number in range(count)],
        np.repeat(np.arange(count), per),
        _drawn(count, degree, graph_seed),
        1,
        on_circle(count),
    )


def _drawn(count: int, degree: int, seed: int) -> tuple[Ints, Ints]:
    """Return the ends of the cables of the first graph of the seed that hangs together."""
    draws = _draws(seed)
    for _ in range(MOST_TRIES):
        joined = _joined(count, degree, draws)
        pairs = sorted((a, b) for a, others in enumerate(joined) for b in others if a < b)
        near, far = np.array(pairs, np.int64).reshape(-1, 2).T
        if not components(count, near, far).any():
            return near.copy(), far.copy()
    raise GraphError(f"none of {MOST_TRIES} graphs of degree {degree} hangs together: raise it", "degree")


def _joined(count: int, degree: int, draws: Draws) -> list[set[int]]:
    """Return, per switch, those that it is joined to."""
    joined: list[set[int]] = [set() for _ in range(count)]
    free = list(range(count))
    while len(free) > 1:
        pair = _pair(free, joined, draws)
        if pair is None:
            break
        for one, other in (pair, pair[::-1]):
            joined[one].add(other)
        free = [one for one in free if len(joined[one]) < degree] if _full(pair, joined, degree) else free
    ports = [one for one in free for _ in range(degree - len(joined[one]))]
    while len(ports) > 1 and _swapped(ports[0], ports[1], joined, draws):
        del ports[:2]
    return joined


def _full(pair: tuple[int, int], joined: list[set[int]], degree: int) -> bool:
    return any(len(joined[one]) == degree for one in pair)


def _pair(free: list[int], joined: list[set[int]], draws: Draws) -> tuple[int, int] | None:
    """Draw two switches that are not joined; None if there are none."""
    for _ in range(64):
        one, other = free[next(draws) % len(free)], free[next(draws) % len(free)]
        if one != other and other not in joined[one]:
            return one, other
    left = [(a, b) for place, a in enumerate(free) for b in free[place + 1 :] if b not in joined[a]]
    return left[next(draws) % len(left)] if left else None


def _swapped(one: int, other: int, joined: list[set[int]], draws: Draws) -> bool:
    """Take a random cable out, and join one end to each of two free ports; whether there is one that can be.

    Both ports may be those of one switch.
    """
    ends = [(a, b) for a, others in enumerate(joined) for b in sorted(others)]
    fit = [(a, b) for a, b in ends if a not in joined[one] | {one} and b not in joined[other] | {other}]
    if not fit:
        return False
    a, b = fit[next(draws) % len(fit)]
    joined[a].remove(b)
    joined[b].remove(a)
    for near, far in ((one, a), (other, b)):
        joined[near].add(far)
        joined[far].add(near)
    return True


def _draws(seed: int) -> Draws:
    """Yield random numbers of 64 bits: SplitMix64 (Steele, Lea, Flood 2014)."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & _MASK
        yield mixed ^ (mixed >> 31)
