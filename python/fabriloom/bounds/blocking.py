"""Who blocks whom: a bound as the sum of what it consists of."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..routing import NONE
from .calculus import Worst


@dataclass(frozen=True)
class Part:
    """A part of a delay."""

    kind: str
    """``ahead``: packets already in the buffers of the link; ``other``: a packet of another input goes first;
    ``wait``: for one of several links; ``passing``: the delays of the link itself; ``own``: the packet's
    characters."""
    link: int
    ticks: int
    flow: int = NONE
    """Of the packet that is waited for."""
    came: int = NONE
    """The link by which that packet comes, or ``NONE``."""
    packets: int = 1
    parts: list[Part] = field(default_factory=list)
    """What the time of that packet consists of, as far as it was asked for."""


WORDS = {
    "ahead": "already in the buffers of {link}",
    "other": "goes first on {link}",
    "wait": "until one of {packets} links such as {link} is free",
    "passing": "delays of {link}",
    "own": "its own characters",
}


@dataclass(frozen=True)
class Line:
    """A part in words; ``depth`` is how many levels deep it is set in."""

    depth: int
    time_ns: float
    words: str


@dataclass(frozen=True)
class Blocking:
    """What a flow waits for in the worst case, in words and by links."""

    flow: str
    lines: list[Line]
    about: str
    """What the numbers of links are."""
    links: list[float]
    """Per link of the network, NaN where it does not matter."""


def parts(worst: Worst, flow: int, depth: int) -> list[Part]:
    """The parts of the bound of a flow, in the order of its way."""
    first = worst.network.out_link[worst.flows[flow].first]
    return [*_ahead(worst, first), *_service(worst, first, flow, depth)]


def links_of(worst: Worst, flow: int) -> set[int]:
    """All links that packets of a flow may take."""
    return {link for links in worst.hops[flow].values() for link in links}


def _ahead(worst: Worst, link: int) -> list[Part]:
    ticks, whose = worst.rest[link]
    count = worst.ahead[link]
    return [Part("ahead", link, count * ticks, whose, packets=count)] if count * ticks else []


def _service(worst: Worst, link: int, flow: int, depth: int) -> list[Part]:
    """The parts of ``S``: from the front of the buffer behind a link on."""
    found: list[Part] = []
    while True:
        found.append(Part("passing", link, int(worst.network.costs.once[link])))
        links = worst.hops[flow].get(link)
        if links is None:
            own = worst.streamed(flow, worst.flows[flow].characters)
            return [*found, Part("own", link, own, flow)]
        came, link = link, max(links, key=lambda other: (worst.granted(other, flow), -other))
        found += _others(worst, came, links, depth)
        found += _ahead(worst, link)


def _others(worst: Worst, came: int, links: tuple[int, ...], depth: int) -> list[Part]:
    """What goes first before a packet that came by a link and asks for one of some."""
    first, *more = links
    if more:
        ticks = worst.wait(came, links)
        return [Part("wait", first, ticks, packets=len(links))] if ticks else []
    found = []
    for other, (ticks, whose) in sorted(worst.competing[first].items(), key=lambda item: -item[1][0]):
        if other != came:
            behind = _service(worst, first, whose, depth - 1) if depth > 1 else []
            found.append(Part("other", first, ticks, whose, other, 1, behind))
    return found
