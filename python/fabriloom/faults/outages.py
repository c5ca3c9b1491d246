"""From when to when links are down, from what fails when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..topology import Graph


@dataclass(frozen=True)
class Outage:
    """A link does not run; in ticks."""

    down: int
    link: int
    ended: int
    """When what has come of a packet is ended with an error end."""
    up: int | None
    """When it runs again; none: never."""
    stuck: bool = False
    """It only starts nothing, and nothing is lost."""


@dataclass(frozen=True)
class Rules:
    """How links fail and come back, in ticks."""

    disconnect: int
    """From the failure of a link until its receiver notices."""
    restart: int
    """From the repair until it runs again."""
    stops_cable: bool
    """Whether a receiver that has noticed has the other direction fall silent."""


def outages(
    graph: Graph,
    failures: Iterable[tuple[list[int], int, int | None]],
    rules: Rules,
    stuck: Iterable[tuple[list[int], int, int]] = (),
    errors: Iterable[tuple[list[int], int]] = (),
) -> list[Outage]:
    """The outages of all links, by the tick in which they begin; one of a link at a time.

    ``failures``: which links fail together, when, and when they are repaired (none: never). ``stuck``: which
    start nothing from when to when. A link that fails while it is stuck is stuck up to then only. ``errors``:
    which have a wrong bit, and when, that costs no more than what is on them.
    """
    found = [Outage(at, link, at + 1, at + 2) for links, at in errors for link in links]
    for links, at, repaired in failures:
        for link in links:
            found.append(_outage(link, at, at, repaired, rules))
            reverse = int(graph.link_reverse[link])
            if rules.stops_cable and reverse >= 0 and reverse not in links:
                found.append(_outage(reverse, at + rules.disconnect, at, repaired, rules))
    failed = _joined(found)
    held = _joined(Outage(at, link, at + 1, until, True) for links, at, until in stuck for link in links)
    return sorted([*failed, *_between(held, failed)], key=lambda one: (one.down, one.link))


def _between(held: list[Outage], failed: list[Outage]) -> Iterator[Outage]:
    """What is left of links that are stuck before and between their failures; at least two ticks of each."""
    of_link: dict[int, list[Outage]] = {}
    for one in failed:
        of_link.setdefault(one.link, []).append(one)
    for one in held:
        start, end = one.down, one.up or one.down
        for failure in of_link.get(one.link, []):
            if failure.down < end and (failure.up is None or failure.up > start):
                if failure.down > start + 1:
                    yield Outage(start, one.link, start + 1, failure.down, True)
                start = end if failure.up is None else failure.up
        if end > start + 1:
            yield Outage(start, one.link, start + 1, end, True)


def _outage(link: int, down: int, at: int, repaired: int | None, rules: Rules) -> Outage:
    if repaired is None:
        return Outage(down, link, down + rules.disconnect, None)
    # Both ends have noticed before either starts the link again.
    silent = at + (2 if rules.stops_cable else 1) * rules.disconnect
    return Outage(down, link, down + rules.disconnect, max(repaired, silent) + rules.restart)


def _joined(found: Iterable[Outage]) -> list[Outage]:
    """The same with those of one link that overlap made one."""
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
