"""Failures: which links fail, and when each of them is down."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from .topology import Graph

LINK, STUCK = "link", "stuck"


@dataclass(frozen=True)
class Outage:
    """A time in which a link does not run; times in ticks."""

    down: int
    link: int
    ended: int
    """When the part of a packet that has arrived is closed with an error end of packet."""
    up: int | None
    """When the link runs again; None: never."""
    kind: str = LINK
    """A word of the engine's ``fault_kind``: link, stuck, loss, replay or rate."""
    character: int = 0
    """Ticks of a character from ``up`` on, with ``kind`` rate."""


@dataclass(frozen=True)
class Rules:
    """How links fail and restart; times in ticks."""

    disconnect: int
    """From the failure of a link until its receiver detects it."""
    restart: int
    """From the repair until the link runs again."""
    stops_cable: bool
    """Whether a receiver that has detected the failure also stops the opposite direction."""


def outages(
    graph: Graph,
    failures: Iterable[tuple[list[int], int, int | None]],
    rules: Rules,
    stuck: Iterable[tuple[list[int], int, int | None]] = (),
    errors: Iterable[tuple[list[int], int]] = (),
    wrong: Iterable[Outage] = (),
    apart: bool = False,
) -> list[Outage]:
    """Return the outages of all links, sorted by the tick in which they begin; those of a link never overlap.

    ``failures``: links that fail together, time of failure, time of repair (None: never). ``stuck``: links
    that start no packet, from and to (None: for good). A link that fails while stuck is stuck only until
    then, unless it is ``apart``, what is behind the link that is stuck. ``errors``: links with a bit error,
    and its time; such an outage loses only what is on the link. ``wrong``: wrong bits, of which one matters
    only while its link runs.
    """
    found = [Outage(at, link, at + 1, at + 2) for links, at in errors for link in links]
    for links, at, repaired in failures:
        for link in links:
            found.append(_outage(link, at, at, repaired, rules))
            reverse = int(graph.link_reverse[link])
            if rules.stops_cable and reverse >= 0 and reverse not in links:
                found.append(_outage(reverse, at + rules.disconnect, at, repaired, rules))
    failed = _joined(found)
    held = _joined(Outage(at, link, at + 1, until, STUCK) for links, at, until in stuck for link in links)
    found = [*failed, *(held if apart else _between(held, failed))]
    return sorted([*found, *_apart(wrong, found)], key=lambda one: (one.down, one.link))


def _apart(wrong: Iterable[Outage], others: Iterable[Outage]) -> Iterator[Outage]:
    """Return the wrong bits of links while nothing else keeps them from running, none within another."""
    busy: dict[int, list[Outage]] = {}
    for one in others:
        busy.setdefault(one.link, []).append(one)
    until: dict[int, int] = {}
    for one in sorted(wrong, key=lambda one: one.down):
        meets = any(
            other.down < (one.up or 0) and (other.up is None or other.up > one.down)
            for other in busy.get(one.link, ())
        )
        if one.down >= until.get(one.link, 0) and not meets:
            until[one.link] = one.up or 0
            yield one


def _between(held: list[Outage], failed: list[Outage]) -> Iterator[Outage]:
    """Return the outages of stuck links before and between their failures, each of at least two ticks."""
    of_link: dict[int, list[Outage]] = {}
    for one in failed:
        of_link.setdefault(one.link, []).append(one)
    for one in held:
        start, end = one.down, math.inf if one.up is None else one.up
        for failure in of_link.get(one.link, []):
            if failure.down < end and (failure.up is None or failure.up > start):
                if failure.down > start + 1:
                    yield Outage(int(start), one.link, int(start) + 1, failure.down, STUCK)
                start = end if failure.up is None else failure.up
        if end > start + 1:
            yield Outage(int(start), one.link, int(start) + 1, one.up, STUCK)


def _outage(link: int, down: int, at: int, repaired: int | None, rules: Rules) -> Outage:
    if repaired is None:
        return Outage(down, link, down + rules.disconnect, None)
    # Both ends have noticed before either starts the link again.
    silent = at + (2 if rules.stops_cable else 1) * rules.disconnect
    return Outage(down, link, down + rules.disconnect, max(repaired, silent) + rules.restart)


def _joined(found: Iterable[Outage]) -> list[Outage]:
    """Merge overlapping outages of the same link."""
    whole: list[Outage] = []
    last: dict[int, int] = {}
    for outage in sorted(found, key=lambda one: (one.down, one.link)):
        place = last.setdefault(outage.link, len(whole))
        if place == len(whole):
            whole.append(outage)
        elif (up := whole[place].up) is not None and up <= outage.down:
            last[outage.link] = len(whole)
            whole.append(outage)
        else:
            up = None if up is None or outage.up is None else max(up, outage.up)
            whole[place] = replace(whole[place], up=up)
    return whole


_PS_PER_S = 10**12


def drawn(
    seed: str, until_ps: int, mtbf_ps: float, mttr_ps: float | None, lasts_ps: float | Fraction = 0
) -> Iterator[tuple[int, int | None]]:
    """Draw times of failure and repair in ps (None: never repaired) up to ``until_ps``; the seed decides.

    The time to the next failure counts from the moment the component runs again, ``lasts_ps`` after its
    repair. ``mttr_ps`` = 0: repaired at once.
    """
    random, now_ps = Random(seed), 0.0
    while True:
        now_ps += random.expovariate(1 / mtbf_ps)
        if now_ps >= until_ps:
            return
        at_ps = int(now_ps)
        if mttr_ps is None:
            yield at_ps, None
            return
        if mttr_ps > 0:
            now_ps += random.expovariate(1 / mttr_ps)
        yield at_ps, max(at_ps, int(now_ps))
        now_ps += lasts_ps


def mtbf_of_bits_ps(bit_error_rate: float, rate_bits_per_s: float) -> float:
    """Return the mean time between bit errors, in ps, of a link that sends without a pause."""
    return _PS_PER_S / (bit_error_rate * rate_bits_per_s)
