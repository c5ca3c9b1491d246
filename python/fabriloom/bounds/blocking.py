"""Who blocks whom: the parts of a bound."""

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
    characters; ``codes``: time-codes and interrupts, on all links."""
    link: int
    ticks: int
    flow: int = NONE
    """Flow of the blocking packet."""
    came: int = NONE
    """Link by which the blocking packet comes, or ``NONE``."""
    packets: int = 1
    parts: list[Part] = field(default_factory=list)
    """Parts of the time of the blocking packet, down to the requested depth."""


WORDS = {
    "ahead": "already in the buffers of {link}",
    "other": "goes first on {link}",
    "wait": "until one of {packets} links such as {link} is free",
    "passing": "delays of {link}",
    "own": "its own characters",
    "codes": "time-codes and interrupts",
}


@dataclass(frozen=True)
class Line:
    """A part as text; ``depth``: its level of nesting."""

    depth: int
    time_ns: float
    words: str


@dataclass(frozen=True)
class Blocking:
    """The delays of a flow in the worst case, as text and by link."""

    flow: str
    lines: list[Line]
    about: str
    """Meaning of the values of links."""
    links: list[float]
    """Value per link of the network, NaN for links that do not contribute."""


def parts(worst: Worst, flow: int, depth: int) -> list[Part]:
    """Return the parts of the bound of a flow, in the order of its path."""
    first = worst.first(flow)
    codes = worst.delay(flow) - worst.granted(first, flow)
    last = [Part("codes", first, codes)] if codes else []
    return [*_ahead(worst, first), *_service(worst, first, flow, depth), *last]


def links_of(worst: Worst, flow: int) -> set[int]:
    """Return all links that packets of a flow may take."""
    return {link for links in worst.hops[flow].values() for link in links}


def _ahead(worst: Worst, link: int) -> list[Part]:
    ticks, whose = worst.rest[link]
    count = worst.ahead[link]
    return [Part("ahead", link, count * ticks, whose, packets=count)] if count * ticks else []


def _service(worst: Worst, link: int, flow: int, depth: int) -> list[Part]:
    """Return the parts of ``S``, from the front of the input buffer of a link on."""
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
    """Return what is served before a packet that came by a link and requests one of several links."""
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
