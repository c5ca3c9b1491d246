"""Bounds on rings, by the periods of all flows.

Notation and proof: ``docs/background/worst-case.md``, "Rings".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from ..codes import ARRIVAL
from ..compile import Compiled
from ..technology import RingTechnology
from .calculus import Worst
from .flows import Way, listed
from .periods import MOST_FLOWS, MOST_PERIODS, NONE, Periods, Share
from .ring_ways import REQUEST, RESPONSE, Ints, Ways
from .signals import Reals

if TYPE_CHECKING:
    from .flows import Network

_MOST_ROUNDS = 2000
_ANY = 2**30
"""Places of a queue that is never full."""


def by_rings(compiled: Compiled) -> Periods:
    """Compute the bounds of all rows of flows, or why there are none."""
    arrays = compiled.arrays
    rows = len(arrays["flow_target"])
    if not rows:
        return Periods([], {}, {})
    if rows > MOST_FLOWS:
        return Periods([f"there are more than {MOST_FLOWS:,} flows"] * rows, {}, {})
    return _Solver(compiled, Ways(compiled)).solved()


def check_rings(compiled: Compiled) -> None:
    """Raise ScenarioError for rings on which no delay is bounded."""
    arrays, refused = compiled.arrays, compiled.scenario.error
    if not len(arrays["flow_target"]) or (arrays["flow_arrival"] == ARRIVAL.POISSON).any():
        message = "on rings there is a bound only if all packets are of flows with periods"
        raise refused(message, ("traffic", "pattern"), 'write pattern = { kind = "flows", … } with periods')
    if len(arrays["flow_cost_grains"]):
        message = (
            "on rings there is no bound for flows with a shaper: packets wait for tokens at their source"
        )
        hint = "give what leaves the shaper as flows with a period"
        raise refused(message, ("traffic", "pattern"), hint)
    tech = compiled.technology
    assert isinstance(tech, RingTechnology)
    if tech.token_rotation_ps:
        message = "a token that is late lets nobody send, and nothing limits how often that meets one station"
        hint = 'write token = { packets = 1, rotation = "0 s" } for a bound'
        raise refused(message, ("technology", "token"), hint)
    others = {
        "slot": tech.slot_bytes > 0,
        "when_full": tech.when_full == "pass",
        "echo": not tech.echo_bytes and not tech.token_symbols,
    }
    if name := next((name for name, is_so in others.items() if is_so), ""):
        message = (
            "the bound on rings is that of token rings, and of insertion rings with echoes, on which a full "
            "queue busies packets"
        )
        hint = "compare with runs instead: fabriloom run, latency_ns.max"
        raise refused(message, ("technology", name), hint)
    if compiled.graph.several is not None or arrays["ring_turns"] > 1 or len(arrays["port_yields"]):
        message = "there is no bound where packets of one flow can go by several ways"
        raise refused(message, ("topology",), "give it one port, and switches one bus or shared ones")


def flows_on_rings(compiled: Compiled) -> Worst:
    """Return the flows with their links, as networks of links have them; no recursion holds for them."""
    ways, of = Ways(compiled), {flow: row for row, flow in enumerate(listed(compiled))}
    rows = sorted(of, key=lambda flow: (flow.source, flow.target, -flow.payload))
    used = {
        flow: {int(ways.ring[leg.source]) for leg in ways.legs if leg.row == row} for flow, row in of.items()
    }
    hops: list[Way] = [
        {link: (link,) for link in np.flatnonzero(np.isin(ways.ring, list(used[flow]))).tolist()}
        for flow in rows
    ]
    return Worst(cast("Network", None), rows, hops, [], [], [], [], [], [])


@dataclass(frozen=True)
class _Place:
    """Places of a station that must never run out, for its queue never to be full."""

    legs: list[int]
    most: int
    name: str
    until: str
    """``gone``: until the echo is back; ``served``: until the service behind the leg has ended."""


class _Solver:
    """The waits of all legs: the least solution of the equations of the page."""

    def __init__(self, compiled: Compiled, ways: Ways) -> None:
        arrays = compiled.arrays
        grain = int(arrays["grain_ticks"])
        self.compiled, self.ways, self.legs = compiled, ways, ways.legs
        self.rows = len(arrays["flow_target"])
        self.row = row = np.array([leg.row for leg in self.legs])
        self.first = np.searchsorted(row, np.arange(self.rows)).tolist()
        self.stop = np.searchsorted(row, np.arange(self.rows), side="right").tolist()
        self.period = arrays["flow_interval_grains"][row] * grain
        # A packet is made at the last whole grain up to its moment.
        self.jitter = (arrays["flow_jitter_grains"][row] + 1.0) * grain
        self.packets = arrays["flow_packets"][row].astype(np.float64)
        self.source = source = np.array([leg.source for leg in self.legs])
        self.target = target = np.array([leg.target for leg in self.legs])
        times = np.array([ways.times(leg, True) for leg in self.legs], np.float64)
        self.taken, self.back = times[:, 0], times[:, 1]
        of_station = arrays["station_transmit_ticks"].astype(np.float64)[source]
        host = np.array([self._host(leg.row) if leg.gives else 0 for leg in self.legs], np.float64)
        self.before = of_station + host
        self.receive = arrays["station_receive_ticks"].astype(np.float64)[target]
        self.occupied = bool(arrays["ring_interface_occupied"])
        self.service = np.array([leg.service for leg in self.legs], np.float64)
        server = np.array([leg.server for leg in self.legs])
        self.shares_server = (server[:, None] == server[None, :]) & (server >= 0)[:, None]
        self.soonest, self.soonest_there = self._soonest()
        self._crossed()
        self.places = list(self._all_places())

    def _host(self, row: int) -> int:
        starts = self.compiled.arrays["flow_start"].astype(np.int64)
        terminal = int(np.searchsorted(starts, row, side="right")) - 1
        return int(self.compiled.arrays["terminal_host_ticks"][terminal])

    def _soonest(self) -> tuple[Reals, Reals]:
        """Return, per leg, the least ticks from the creation to its start, and until it can be served."""
        starts, there = np.zeros(len(self.legs)), np.zeros(len(self.legs))
        age, row = 0.0, -1
        for at, leg in enumerate(self.legs):
            starts[at] = (age if leg.row == row else 0.0) + self.before[at]
            there[at] = starts[at] + self.ways.times(leg, False)[0] + self.receive[at]
            age, row = there[at] + leg.service, leg.row
        return starts, there

    def _on_links(self, waits: Reals, gone: Reals) -> Reals:
        """Return, per waiting leg and other leg, the packets that can be on its ring in the wait."""
        return self.made(waits[:, None] + (gone - self.soonest)[None, :])

    def _at_servers(self, serves: Reals, served: Reals) -> Reals:
        """Return the same for the server behind the leg."""
        return self.made(serves[:, None] + (served - self.soonest_there)[None, :])

    def _crossed(self) -> None:
        """Work out what one packet of each leg adds to the waits of each other leg."""
        arrays, count = self.compiled.arrays, len(self.legs)
        busy = np.stack([self.ways.busy(leg) for leg in self.legs])
        same = (self.source[:, None] == self.source[None, :]).astype(np.float64)
        own_link = np.eye(len(self.ways.next))[self.source]
        self.on_link = own_link @ busy.T
        self.own = self._later(self.on_link)
        self.at_station = same * (self.before[None, :] if self.occupied else 0.0)
        ring, self.same = self.ways.ring, same
        if arrays["ring_token_symbols"]:
            self._by_token(ring[self.source])
        self.on_link += self.at_station
        if not arrays["ring_allocation"]:
            return
        on_ring = (ring[None, :] == ring[self.source][:, None]).astype(np.float64)
        self.round = np.array([self.ways.round(leg.source, late_symbols=2) for leg in self.legs], np.float64)
        self.elsewhere = (on_ring - own_link) @ busy.T
        self.own_elsewhere = self._later(self.elsewhere)
        # With cut-through a packet delays a go twice at most: where it is inserted, and where it passes it.
        twice = np.array([2.0 * leg.symbols * leg.symbol_ticks for leg in self.legs])
        apart = ring[self.source][:, None] != ring[self.source][None, :]
        self.passing = np.where(apart, 0.0, twice[None, :]) if arrays["ring_cut_through"] else None
        self.own_passing = self._later(self.passing) if self.passing is not None else np.zeros(count)

    def _by_token(self, ring: Ints) -> None:
        """Work out the same where a packet has the whole ring, and the token is taken before it."""
        ticks = np.array([float(leg.symbols * leg.symbol_ticks) for leg in self.legs])
        token = np.array([float(leg.symbol_ticks) for leg in self.legs])
        token *= float(self.compiled.arrays["ring_token_symbols"])
        self.on_link = np.where(ring[:, None] == ring[None, :], (ticks + token)[None, :], 0.0)
        # Its own token has to be taken, too.
        self.own = self._later(self.on_link) - token
        self.round = np.array([self.ways.round(leg.source) for leg in self.legs], np.float64)

    def _rounds(self, made: Reals) -> Reals:
        """Return, per waiting leg, the ticks of a token between stations until it has come often enough."""
        most = int(self.compiled.arrays["ring_token_packets"])
        return (np.ceil((made * self.same).sum(axis=1) / most) if most else 1.0) * self.round

    def _later(self, work: Reals) -> Reals:
        """Return, per leg, the work of it and of those behind it in its transaction: none is under way."""
        return np.array([work[at, at : self.stop[self.row[at]]].sum() for at in range(len(self.legs))])

    def _stopped(self, made: Reals) -> Reals:
        """Return, per waiting leg and other leg, the time for which the others keep a go from its station."""
        rounds = (made * self.same).sum(axis=1)
        found = made * self.elsewhere
        spared = self.own_elsewhere
        if self.passing is not None:
            passed = rounds[:, None] * made * self.passing
            less = passed.sum(axis=1) - rounds * self.own_passing < found.sum(axis=1) - spared
            found = np.where(less[:, None], passed, found)
            spared = np.where(less, rounds * self.own_passing, spared)
        found = found + made * self.same * self.round[:, None]
        found[np.arange(len(rounds)), np.arange(len(rounds))] -= spared
        return found

    def crossed(self, made: Reals) -> Reals:
        """Return, per waiting leg and other leg, for how long packets of the other keep it from its link."""
        found = made * self.on_link
        found[np.arange(len(made)), np.arange(len(made))] -= self.own
        if self.compiled.arrays["ring_token_symbols"]:
            found[np.arange(len(made)), np.arange(len(made))] += self._rounds(made)
        return found + self._stopped(made) if self.compiled.arrays["ring_allocation"] else found

    def _all_places(self) -> Iterator[_Place]:
        """Yield the queues that must never be full."""
        arrays, names = self.compiled.arrays, self.compiled.graph.link_names
        kind = np.array([leg.kind for leg in self.legs])
        gives = np.array([leg.gives for leg in self.legs])
        for station in range(len(self.ways.next)):
            for which, name in ((REQUEST, "requests"), (RESPONSE, "responses")):
                into = np.flatnonzero((self.target == station) & (kind == which)).tolist()
                out = np.flatnonzero((self.source == station) & (kind == which) & ~gives).tolist()
                of = f"of the station that sends on {names[station]}"
                if into:
                    most = int(arrays[f"station_{name}_in"][station]) or _ANY
                    yield _Place(into, most, f"the {name}_in {of}", "served")
                if out:
                    most = int(arrays[f"station_{name}_out"][station])
                    yield _Place(out, most, f"the {name}_out {of}", "gone")
            own = np.flatnonzero((self.source == station) & gives).tolist()
            if own:
                last = [self.stop[self.row[leg]] - 1 for leg in own]
                terminal = self.ways.terminal_at[station]
                most = int(arrays["terminal_transactions"][terminal])
                yield _Place(last, most, f"the transactions {of}", "served")

    def made(self, window: Reals) -> Reals:
        """Return the most packets that each flow makes in a closed interval, per leg."""
        return (np.floor((window + self.jitter) / self.period + 1e-9) + 1) * self.packets

    def solved(self) -> Periods:
        """Return the least consistent delays."""
        waits, serves = self.before.copy(), self.receive + self.service
        limit = MOST_PERIODS * float(self.period.max())
        for _ in range(_MOST_ROUNDS):
            gone, served = self._ages(waits, serves)
            new = self._waits(waits, gone), self._serves(serves, served)
            if max(float(new[0].max()), float(new[1].max())) > limit:
                return Periods([NONE] * self.rows, {}, {})
            if np.array_equal(new[0], waits) and np.array_equal(new[1], serves):
                break
            waits, serves = (np.maximum(old, one) for old, one in zip((waits, serves), new, strict=True))
        else:
            return Periods([NONE] * self.rows, {}, {})
        if full := self._full(gone, served):
            return Periods([full] * self.rows, {}, {})
        return self._periods(waits, serves, gone, served)

    def _ages(self, waits: Reals, serves: Reals) -> tuple[Reals, Reals]:
        """Return, per leg, the most ticks since the making of a packet when its echo is back, and when it has
        been served behind its leg.
        """
        gone, served = np.zeros(len(self.legs)), np.zeros(len(self.legs))
        given, row = 0.0, -1
        for at, leg in enumerate(self.legs):
            given = given if leg.row == row else 0.0
            start = given + waits[at]
            gone[at] = start + self.back[at]
            served[at] = start + self.taken[at] + serves[at]
            given, row = served[at], leg.row
        return gone, served

    def _waits(self, waits: Reals, gone: Reals) -> Reals:
        """Return the waits for links that follow from the present ones, from when a packet is given."""
        made = self._on_links(waits, gone)
        return self.before + self.crossed(made).sum(axis=1) + self._charged(gone)

    def _charged(self, gone: Reals) -> Reals:
        """Return the wait of requests for a place, a number in flight, or their order."""
        arrays, found = self.compiled.arrays, np.zeros(len(self.legs))
        held = bool(arrays["ring_hold_until_echo"])
        once = self.made(gone)
        for station in np.unique(self.source):
            for which, name in ((REQUEST, "requests"), (RESPONSE, "responses")):
                mine = [at for at, leg in enumerate(self.legs) if leg.source == station and leg.kind == which]
                many = once[mine].sum()
                each = np.zeros(len(mine))
                if many > arrays[f"station_{name}_out"][station]:
                    each = each + self.before[mine] + (self.back[mine] if held else 0)
                if arrays["ring_in_order"] or many > arrays["station_in_flight"][station]:
                    each = each + self.back[mine]
                if arrays["ring_token_symbols"] and each.any():
                    each = each + self.round[mine]
                found[mine] += (once[mine] * each).sum()
        return found

    def _serves(self, serves: Reals, served: Reals) -> Reals:
        """Return the waits for services that follow from the present ones, from when a packet is complete."""
        made = self._at_servers(serves, served)
        found = self.receive + (made * self.service * self.shares_server).sum(axis=1)
        if self.occupied:
            together = self.target[:, None] == self.target[None, :]
            found += (made * self.receive * together).sum(axis=1)
        return found

    def _full(self, gone: Reals, served: Reals) -> str:
        """Return which queue could be full; empty if none can."""
        for place in self.places:
            ages = gone if place.until == "gone" else served
            needed = int(self.made(ages)[place.legs].sum())
            if needed > place.most:
                few = f"{needed} packets could need {place.name}, of which there are {place.most}"
                return f"{few}, and nothing limits how long a full queue delays them"
        return ""

    def _periods(self, waits: Reals, serves: Reals, gone: Reals, served: Reals) -> Periods:
        totals: list[float | str] = []
        shares: dict[int, list[Share]] = {}
        in_link = self._on_links(waits, gone)
        crossed = self.crossed(in_link)
        in_server = self._at_servers(serves, served)
        reads = self.ways.tech.transaction in ("nread", "lock")
        for row in range(self.rows):
            own = range(self.first[row], self.stop[row])
            mine = [at for at in own if reads or self.legs[at].kind == REQUEST]
            totals.append(float(served[mine[-1]]))
            ticks = crossed[mine].sum(axis=0)
            ticks += (in_server[mine] * (self.service * self.shares_server[mine])).sum(axis=0)
            most = np.maximum(in_link[mine].max(axis=0), in_server[mine].max(axis=0))
            count, time = np.maximum.reduceat(most, self.first), np.add.reduceat(ticks, self.first)
            each = [
                Share(other, int(count[other]), float(time[other])) for other in np.flatnonzero(time).tolist()
            ]
            shares[row] = sorted(each, key=lambda one: (-one.ticks, one.row))
        return Periods(totals, shares, dict.fromkeys(range(self.rows), 0.0))
