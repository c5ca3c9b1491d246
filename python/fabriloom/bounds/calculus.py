"""The recursion for the worst case, as in ``docs/background/worst-case.md``, and who blocks whom."""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from typing import Any

import numpy as np

from ..routing import NONE
from .flows import MOST_STATES, Flow, Network, Way
from .signals import Signals, met_by
from .wires import NEVER, Costs

# Who blocks whom: the parts of a bound.


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
        found.append(Part("passing", link, worst.passing(link, flow)))
        links = worst.hops[flow].get(link)
        if links is None:
            own = worst.streamed(flow, worst.flows[flow].characters)
            return [*found, Part("own", link, own, flow)]
        came, links = link, worst.awaited(link, links, flow)
        link = max(links, key=lambda other: (worst.granted(other, flow), -other))
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
            found.append(Part("other", first, ticks, whose, parts=behind))
    return found


@dataclass
class Worst:
    """The worst delays, in ticks. A state is a link and the flow of the packet on it."""

    network: Network
    flows: list[Flow]
    hops: list[Way]
    """Per flow and link on its path: the links that its packets may take next."""
    pace: list[int]
    """Per flow: the character time of the slowest link on its path."""
    latency: list[int]
    """Per flow: the sum of the delays of all links on its path."""
    ahead: list[int]
    """Per link: packets that may have left its switch and not yet its input buffer."""
    alike: list[int]
    """Per flow: the first flow with the same remaining path."""
    starves: list[bool]
    """Per flow: whether other lanes can go before it always."""
    backwards: list[int]
    """All used links, each after the links that follow it on a path."""
    service: dict[tuple[int, int], int] = field(default_factory=dict)
    """S by link and first flow: from the front of the input buffer behind the link until the packet's end has
    left it."""
    rest: dict[int, tuple[int, int]] = field(default_factory=dict)
    """P: per link, what is left of a packet whose end stands in its buffers, at most, and of which flow."""
    competing: dict[int, dict[int, tuple[int, int]]] = field(default_factory=lambda: defaultdict(dict))
    """M: per link and the link before: the longest service behind it of what comes that way, and its flow."""
    signals: Signals | None = None
    """Time-codes and interrupts; None without."""

    def delay(self, flow: int) -> int:
        """Return the bound of a flow, in ticks from dispatch to delivery; from ``NEVER`` on there is none."""
        first = self.first(flow)
        alone = self.granted(first, flow)
        if self.signals is None or alone >= NEVER:
            return alone
        return int(self.signals.prolonged(np.array([float(alone)]), self.signals.apiece(first))[0])

    def first(self, flow: int) -> int:
        """Return the first link of a flow."""
        return self.network.out_link[self.flows[flow].first]

    def order(self) -> list[int]:
        """Return the numbers of the flows by descending delay."""
        return sorted(range(len(self.flows)), key=lambda flow: (-self.delay(flow), flow))

    def streamed(self, flow: int, characters: int) -> int:
        """Return the time of characters of a packet that is no longer blocked, at most of all of them."""
        some = min(characters, self.flows[flow].characters) * self.pace[flow] + self.latency[flow]
        return some + NEVER * self.starves[flow]

    def passing(self, link: int, flow: int) -> int:
        """Return o: the delays of a packet on a link; where it is stored, also until all of it is there."""
        costs = self.network.costs
        stored = self.flows[flow].characters * int(costs.character[link]) if costs.stores[link] else 0
        return int(costs.once[link]) + stored

    def granted(self, link: int, flow: int) -> int:
        """Return the time from the grant of a link until the packet's end has left its input buffer."""
        return self.ahead[link] * self.rest[link][0] + self.service[link, self.alike[flow]]

    def asked(self, came: int, links: tuple[int, ...], flow: int) -> int:
        """Return Z: the time from the request for one of several links until the packet's end has left the
        input buffer of the granted one."""
        links = self.awaited(came, links, flow)
        if len(links) == 1:
            others = sum(most for other, (most, _) in self.competing[links[0]].items() if other != came)
            return others + self.granted(links[0], flow)
        return self.wait(came, links) + max(self.granted(link, flow) for link in links)

    def awaited(self, came: int, links: tuple[int, ...], flow: int) -> tuple[int, ...]:
        """Return the links that a packet waits for: of those of which it draws one, the worst."""
        if len(links) == 1 or not self.network.draws:
            return links
        return (max(links, key=lambda link: (self.asked(came, (link,), flow), -link)),)

    def wait(self, came: int, links: tuple[int, ...]) -> int:
        """Return the wait for one of several links, until one is free and no other packet is served first."""
        held: dict[int, int] = {}
        for link in links:
            for other, (most, _) in self.competing[link].items():
                if other != came:
                    whole = self.ahead[link] * self.rest[link][0] + most
                    held[other] = max(held.get(other, 0), whole)
        if len(held) < len(links):
            return 0
        if len(held) == len(links):
            return min(held.values())
        return -(-sum(held.values()) // len(links)) + max(held.values())


def worst(network: Network, flows: list[Flow], shortest: int) -> Worst:
    """Compute every state, backwards from the links into terminals. Raises ScenarioError."""
    ways = _ways(network, flows)
    network.costs = Costs(network.compiled.arrays, _longest_in(flows, ways))
    backwards = _backwards(network, ways)
    pace, latency = _along(network, ways)
    ahead = [1 + max(0, int(capacity) - 1) // shortest for capacity in network.costs.capacity]
    starves = [any(network.costs.starved[link] for links in way.values() for link in links) for way in ways]
    first: dict[tuple[Any, ...], int] = {}
    alike = [
        first.setdefault((network.class_of(flow), flow.characters, *rest), number)
        for number, (flow, *rest) in enumerate(zip(flows, pace, latency, starves, strict=True))
    ]
    found = Worst(network, flows, ways, pace, latency, ahead, alike, starves, backwards)
    before: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, way in enumerate(ways):
        for came, links in way.items():
            for link in links:
                before[link][came].append(number)
    for link in backwards:
        _work_out(found, link, before[link])
    if len(network.compiled.arrays["code_port"]):
        found.signals = _signals(found)
    return found


def _signals(found: Worst) -> Signals:
    """Return the codes beside the packets. Raises ScenarioError if no delay is guaranteed beside them."""
    compiled = found.network.compiled
    signals = Signals(compiled.arrays, met_by(found.hops, found.backwards))
    refused = signals.refused(sorted({found.first(flow) for flow in range(len(found.flows))}))
    if refused is None:
        return signals
    section, message, hint = refused
    raise compiled.scenario.error(message, (section,), hint)


def _ways(network: Network, flows: list[Flow]) -> list[Way]:
    """Return the path of each flow. Raises ScenarioError if there are too many."""
    ways, states = [], 0
    for flow in flows:
        ways.append(network.way(flow))
        states += len(ways[-1])
        if states > MOST_STATES:
            message = f"{len(flows):,} flows are too many for a bound on a network of this size"
            hint = 'describe the flows that matter with pattern = { kind = "flows", … }'
            raise network.compiled.scenario.error(message, ("traffic", "pattern"), hint)
    return ways


def counted(found: Worst) -> Worst:
    """Return what packets cost if those of other lanes of their links are counted, and no turn of theirs."""
    network = copy(found.network)
    network.costs = Costs(network.compiled.arrays, _longest_in(found.flows, found.hops), turns=False)
    pace, latency = _along(network, found.hops)
    return replace(found, network=network, pace=pace, latency=latency)


def _along(network: Network, ways: list[Way]) -> tuple[list[int], list[int]]:
    """Return per flow the character time of the slowest link on its path, and the delays of all of it."""
    each = network.costs.character
    pace = [max(int(each[link]) for links in way.values() for link in links) for way in ways]
    return pace, [sums_of(network, way)[NONE] for way in ways]


def _longest_in(flows: list[Flow], ways: list[Way]) -> dict[int, int]:
    """Return the characters of the longest packet of each link that has traffic."""
    found: dict[int, int] = {}
    for flow, way in zip(flows, ways, strict=True):
        for link in {link for links in way.values() for link in links}:
            found[link] = max(found.get(link, 0), flow.characters)
    return found


def _work_out(found: Worst, link: int, before: dict[int, list[int]]) -> None:
    """Compute S, P and M of one link from those of the links that follow it."""
    some = {found.alike[flow]: flow for flows in before.values() for flow in flows}
    for kind, flow in some.items():
        links = found.hops[flow].get(link)
        if links is None:
            behind = found.streamed(flow, found.flows[flow].characters)
        else:
            behind = found.asked(link, links, flow)
        found.service[link, kind] = found.passing(link, flow) + behind
    found.rest[link] = max((_rest(found, link, flow), flow) for flow in some.values())
    for came, flows in before.items():
        some = {found.alike[flow]: flow for flow in flows}
        found.competing[link][came] = max((found.service[link, kind], flow) for kind, flow in some.items())


def _rest(found: Worst, link: int, flow: int) -> int:
    """Return P of one flow that ends in the buffers of the link: what does not fit there has moved on."""
    links = found.hops[flow].get(link)
    capacity, once = int(found.network.costs.capacity[link]), int(found.network.costs.once[link])
    beyond = found.flows[flow].characters - capacity
    if links is None:
        return once + found.streamed(flow, capacity)
    if beyond <= 0:
        return found.service[link, found.alike[flow]]
    # It has been granted the next link, whichever, and need not ask any more.
    return _gone_on(found, flow, {(other, capacity): once for other in links})


def _gone_on(found: Worst, flow: int, front: dict[tuple[int, int], int]) -> int:
    """Return P of a packet whose front has entered some link.

    ``front``: by link, and characters that have not entered the buffers of that link: the ticks before.
    """
    costs, most = found.network.costs, 0
    while front:
        further: dict[tuple[int, int], int] = {}
        for (link, characters), ticks in front.items():
            links = found.hops[flow].get(link)
            before, spent = characters + int(costs.capacity[link]), ticks + int(costs.once[link])
            if links is None:
                most = max(most, spent + found.streamed(flow, before))
            elif found.flows[flow].characters <= before:
                most = max(most, spent + found.granted(link, flow))
            else:
                for other in links:
                    further[other, before] = max(further.get((other, before), 0), spent)
        front = further
    return most


def sums_of(network: Network, way: Way, apiece: int = 0) -> dict[int, int]:
    """Return, per link of a path and for all of it (``NONE``), the largest sum of delays from there on.

    ``apiece``: ticks for each link besides.
    """
    found: dict[int, int] = {}
    for link in TopologicalSorter(way).static_order():
        rest = max((found[later] for later in way.get(link, ())), default=0)
        found[link] = rest if link == NONE else rest + int(network.costs.once[link]) + apiece
    return found


def _backwards(network: Network, ways: list[Way]) -> list[int]:
    """Return all used links, each after those that follow it. Raises ScenarioError for a cycle."""
    behind: dict[int, set[int]] = defaultdict(set)
    front: dict[int, set[int]] = defaultdict(set)
    used: set[int] = set()
    for way in ways:
        for came, links in way.items():
            used |= set(links)
            if came != NONE:
                behind[came] |= set(links)
                for link in links:
                    front[link].add(came)
    ready = sorted(link for link in used if not behind[link])
    left = {link: len(behind[link]) for link in used}
    order: list[int] = []
    while ready:
        link = ready.pop()
        order.append(link)
        for other in sorted(front[link]):
            left[other] -= 1
            if not left[other]:
                ready.append(other)
    if len(order) < len(used):
        stuck = sorted(link for link in used if left[link] > 0)
        raise network.compiled.scenario.error(
            "packets of these flows can wait for each other in a cycle, so no delay is guaranteed; "
            f"{network.name(stuck[0])} is on it",
            ("routing",),
            "choose a routing that cannot deadlock, see fabriloom check",
        )
    return order
