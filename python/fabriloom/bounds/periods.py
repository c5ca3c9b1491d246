"""Bounds that use the periods of all interfering flows.

Notation and proof: ``docs/background/worst-case.md``, "With the periods of all flows".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import ARRIVAL
from ..compile import Compiled
from ..routing import NONE as FIRST
from .calculus import Worst, links_of, sums_of
from .flows import flow_of_rows
from .signals import Reals, met_by

MOST_FLOWS = 1024
"""Most flows: all pairs of them are compared."""
_MOST_ROUNDS = 500
MOST_PERIODS = 1000
"""Longest useful bound, in multiples of the longest period."""
_RANDOM = "a flow that can be in its way makes packets at random"
NONE = "the waits that its periods count grow without end"
SHAPED = "in the worst case more is made than its shaper lets through"
SHAPED_BESIDE = "in the worst case more is made than the shaper of another flow of its source lets through"

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Share:
    """The contribution of one flow to a delay."""

    row: int
    packets: int
    ticks: float
    """Time of all packets together, in ticks."""


@dataclass(frozen=True)
class Periods:
    """The bounds of all rows of flows, in ticks from creation to delivery."""

    totals: list[float | str]
    """Bound per row, or why there is none."""
    shares: dict[int, list[Share]]
    """Contributions to the bound per row, the largest first."""
    codes: dict[int, float]
    """Contribution of time-codes and interrupts per row."""
    tokens: dict[int, float] = field(default_factory=dict)
    """Contribution of waiting for tokens per row."""


def least_of(found: Iterable[Periods]) -> Periods:
    """Return the smallest bound of each row of several ways to bound it."""
    least, *others = found
    for other in others:
        for row, total in enumerate(other.totals):
            mine = least.totals[row]
            if isinstance(total, float) and (isinstance(mine, str) or total < mine):
                least.totals[row] = total
                for name in ("shares", "codes", "tokens"):
                    getattr(least, name)[row] = getattr(other, name)[row]
    return least


class Ready:
    """When packets of rows of flows may leave: they are made and have their tokens. All times in ticks."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        grain = int(arrays["grain_ticks"])
        self.packets = arrays["flow_packets"].astype(np.float64)
        self.random = arrays["flow_arrival"] == ARRIVAL.POISSON
        period = arrays["flow_interval_grains"]
        # A packet is made at the last whole grain up to its moment.
        jitter = arrays["flow_jitter_grains"] + 1.0
        cost, room = (arrays[f"flow_{name}_grains"] for name in ("cost", "room"))
        if not len(cost):
            cost = room = np.zeros(len(period))
        self.shaped = cost > 0
        self.period, self.cost, self.room = period * grain, cost * grain, room * grain
        self.tokens = _tokens(period, jitter, self.packets, cost, room) * grain
        """The longest wait for tokens; infinite if there is none."""
        self.tokens[self.random & self.shaped] = np.inf
        self.jitter = jitter * grain + self.tokens

    def most(self, window: Reals) -> Reals:
        """Return the largest number of packets of each row that get ready in a closed interval."""
        made = (np.floor((window + self.jitter) / self.period + 1e-9) + 1) * self.packets
        if not self.shaped.any():
            return made
        passed = np.floor((window + self.room) / np.where(self.shaped, self.cost, 1.0) + 1e-9)
        return np.where(self.shaped, np.minimum(made, passed), made)


def _tokens(period: Reals, jitter: Reals, packets: Reals, cost: Reals, room: Reals) -> Reals:
    """Return the longest wait of each row for tokens, in grains: of packets made as close as can be."""
    # A packet leaves at a whole grain. Tokens that come until then can find the bucket full.
    apiece = packets * np.where(cost == np.floor(cost), cost, cost + 1)
    together = np.floor(jitter / period) + 1
    short = [
        times * apiece - room - np.maximum(0, (times - 1) * period - jitter)
        for times in (together, together + 1)
    ]
    wait = np.maximum(0, np.ceil(np.maximum(*short)))
    return np.where(cost > 0, np.where(apiece <= period, wait, np.inf), 0.0)


def by_periods(compiled: Compiled, worst: Worst, known: Sequence[int | str]) -> Periods:
    """Compute the bounds; ``known``: bounds by the recursion, or why there are none."""
    rows = len(compiled.arrays["flow_target"])
    if not rows or rows > MOST_FLOWS:
        why = (
            "its packets are no flows with periods"
            if not rows
            else f"there are more than {MOST_FLOWS:,} flows"
        )
        return Periods([why] * rows, {}, {})
    return _Rows(compiled, worst).solved([one if isinstance(one, int) else np.inf for one in known])


class _Rows:
    """Flows as rows of the columns of sources, and the flows that each can meet."""

    def __init__(self, compiled: Compiled, worst: Worst) -> None:
        network = worst.network
        self.flow = flow_of_rows(compiled, worst.flows)
        self.ready = Ready(compiled.arrays)
        self.after = float(np.max(network.costs.once))
        behind = _reached(worst)
        self.in_order = _is_in_order(worst, behind)
        reached = _marked(worst, behind)
        own = np.array([network.out_link[worst.flows[flow].first] for flow in self.flow])
        # Packets of a source keep their order on one lane.
        self.together = (own[:, None] == own[None, :]) & (network.lanes == 1)
        work = np.stack([self._work(worst, reached, flow) for flow in range(len(worst.flows))], axis=1)
        self.own, stored = self._stored(worst, work > 0, reached)
        work += _beside(worst) + stored
        self.work = work[np.ix_(self.flow, self.flow)]
        self.signals = worst.signals
        if self.signals is not None:
            self.apiece = np.stack([self.signals.apiece(worst.first(flow)) for flow in self.flow])

    def _work(self, worst: Worst, reached: Marks, flow: int) -> Reals:
        """Return the largest delay that one packet of a flow adds to each other flow."""
        streamed = worst.flows[flow].characters * worst.pace[flow]
        links = sorted(links_of(worst, flow))
        sums = sums_of(worst.network, worst.hops[flow], 0 if self.in_order else streamed)
        from_here = [sums[link] for link in links]
        longest = (reached[:, links] * np.array(from_here, np.float64)).max(axis=1)
        once = worst.latency[flow] + (streamed if self.in_order else 0)
        return np.where(longest > 0, longest + once, 0.0)

    def _stored(self, worst: Worst, meets: Marks, reached: Marks) -> tuple[Reals, Reals]:
        """Return what storing packets adds to each delay, and what packets of flows (columns) add by it.

        Back in time the chain goes to an earlier link along its own path, and wherever a packet in a buffer
        had kept it from being sent: each time a whole packet was on the wire.
        """
        stores = worst.network.costs.stores
        streamed = [flow.characters * pace for flow, pace in zip(worst.flows, worst.pace, strict=True)]
        # Without an order, whole packets on all links are counted already.
        longest = (meets * np.array(streamed, np.float64)).max(axis=1) * (self.in_order and stores.any())
        kept = (reached & stores).astype(np.int64) @ _taken(worst).T > 0
        # The packet itself is counted once too often, as nothing in front of it is kept by it.
        more = np.array([max(0, len(way) - 2) for way in worst.hops])
        return (longest * more)[self.flow], kept * longest[:, None]

    def window(self, delay: Reals) -> Reals:
        """Return, per flow and other flow, the interval in which interfering packets get ready."""
        before = delay[None, :] + self.after
        # Behind it from the same source nothing can come to stand in front of it.
        later = np.where(self.together & self.in_order, 0.0, delay[:, None])
        return before + later

    def codes(self, delay: Reals) -> Reals:
        """Return what time-codes and interrupts add to each delay."""
        if self.signals is None:
            return np.zeros(len(delay))
        return self.signals.work(np.where(np.isinf(delay), 0.0, delay), self.apiece)

    def solved(self, known: list[float]) -> Periods:
        """Return the smallest consistent delays (a fixed point)."""
        limit = MOST_PERIODS * float(self.ready.period.max())
        least = np.array(known)
        delay = np.minimum(self.own + np.diag(self.work), least)
        meets = self.work > 0
        drawn = (meets & (self.ready.random & ~self.ready.shaped)[None, :]).any(axis=1)
        found = np.where(drawn, np.inf, delay)
        for _ in range(_MOST_ROUNDS):
            held = np.minimum(found, least)
            endless = (meets & np.isinf(held)[None, :]).any(axis=1) | drawn
            window = self.window(np.where(np.isinf(held), 0.0, held))
            sums = self.own + (self.ready.most(window) * self.work).sum(axis=1) + self.codes(held)
            new = np.where(endless | (sums > limit), np.inf, sums)
            if np.array_equal(new, found):
                return self._periods(found, least, drawn)
            found = np.maximum(new, found)
        return self._periods(np.full(len(found), np.inf), least, drawn)

    def _periods(self, found: Reals, least: Reals, drawn: Marks) -> Periods:
        held = np.minimum(found, least)
        held = np.where(np.isinf(held), 0.0, held)
        made = self.ready.most(self.window(held))
        totals: list[float | str] = []
        shares: dict[int, list[Share]] = {}
        codes = self.codes(held)
        tokens = self.ready.tokens.tolist()
        for row, total in enumerate((found + self.ready.tokens).tolist()):
            why = _RANDOM if drawn[row] or self.ready.random[row] else NONE
            totals.append((why if np.isinf(found[row]) else SHAPED) if np.isinf(total) else total)
            if not np.isinf(total):
                met = np.flatnonzero(self.work[row] > 0).tolist()
                each = [
                    Share(at, int(made[row, at]), float(made[row, at] * self.work[row, at])) for at in met
                ]
                shares[row] = sorted(each, key=lambda share: (-share.ticks, share.row))
        return Periods(totals, shares, dict(enumerate(codes.tolist())), dict(enumerate(tokens)))


def _reached(worst: Worst) -> dict[int, set[int]]:
    """Return, per link, the link and all links that a packet on it, or one it waits for, may use later."""
    behind: dict[int, set[int]] = {}
    for way in worst.hops:
        for came, links in way.items():
            for link in links:
                behind.setdefault(link, set())
            if came in behind:
                behind[came] |= set(links)
    found: dict[int, set[int]] = {}
    for link in worst.backwards:
        found[link] = {link}.union(*(found[one] for one in behind[link]))
    return found


def _marked(worst: Worst, behind: dict[int, set[int]]) -> Marks:
    """Return, per flow and link, whether traffic on the link can delay the flow's packets."""
    found = np.zeros((len(worst.flows), len(worst.network.target)), bool)
    for flow, way in enumerate(worst.hops):
        for links in way.values():
            for link in links:
                found[flow, list(behind[link])] = True
    return found


def _beside(worst: Worst) -> Reals:
    """Return what a packet of each flow (columns) adds to the others on wires on which its lane can go first.

    The delays of its way are not among it: the packet need not be waited for.
    """
    costs, lanes, flows = worst.network.costs, worst.network.lanes, worst.flows
    found = np.zeros((len(flows), len(flows)))
    if not costs.starved.any():
        return found
    met = met_by(worst.hops, worst.backwards)
    sends = _taken(worst)
    waits = np.zeros_like(sends)
    for flow in range(len(flows)):
        waits[flow, sorted(met[worst.first(flow)])] = 1
    waits *= costs.starved
    characters = np.array([flow.characters for flow in flows])
    for link in range(0, len(costs.once), lanes):
        here, there = waits[:, link : link + lanes], sends[:, link : link + lanes]
        # Pairs of a lane that waits and one that sends, but for those of one lane.
        pairs = here.sum(axis=1)[:, None] * there.sum(axis=1)[None, :] - here @ there.T
        found += (pairs > 0) * (characters * costs.other[link])[None, :]
    return found


def _taken(worst: Worst) -> NDArray[np.int64]:
    """Return, per flow and link, 1 if the flow's packets may take the link."""
    found = np.zeros((len(worst.flows), len(worst.network.target)), np.int64)
    for flow in range(len(worst.flows)):
        found[flow, sorted(links_of(worst, flow))] = 1
    return found


def _is_in_order(worst: Worst, behind: dict[int, set[int]]) -> bool:
    """Whether there is at most one path between any two links, so that packets keep their order."""
    later: dict[int, set[int]] = {link: set() for link in behind}
    for way in worst.hops:
        for came, links in way.items():
            if came != FIRST and len(links) > 1:
                return False
            if came in later:
                later[came] |= set(links)
    for links in later.values():
        reached = [behind[link] for link in sorted(links)]
        if sum(map(len, reached)) > len(set().union(*reached)):
            return False
    return True
