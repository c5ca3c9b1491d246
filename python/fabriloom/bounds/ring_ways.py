"""The ways of transactions over rings and switches, and their times, in ticks.

Notation and proof: ``docs/background/worst-case.md``, "Rings".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..compile import Compiled
from ..technology import RingTechnology
from .flows import Flow, listed
from .signals import Reals

Ints = NDArray[np.int64]

REQUEST, RESPONSE = 0, 1
_BLOCK_BYTES = 64
_BLOCK_PORTS = 64
"""Ports of terminals in a block of ``port_exit``."""
_PASSES = 255


@dataclass(frozen=True)
class Leg:
    """A packet of a transaction on one ring, from the station that sends it to the one that takes it."""

    row: int
    """Row of the columns of flows."""
    kind: int
    source: int
    target: int
    symbols: int
    symbol_ticks: int
    server: int
    """Who serves the packet behind the target: a terminal, or ``terminals`` + the switch; -1: nobody."""
    service: int
    """Ticks of that service."""
    gives: bool
    """Whether its station sends it for its own user, and not behind a bus or a service."""


@dataclass
class Ways:
    """Every leg of every row of flows, in the order in which a transaction takes them."""

    compiled: Compiled
    legs: list[Leg] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Follow every transaction through the network."""
        arrays = self.compiled.arrays
        tech = self.compiled.technology
        assert isinstance(tech, RingTechnology)
        self.tech = tech
        self.next: list[int] = arrays["station_next"].tolist()
        self.ring: Ints = arrays["station_ring"].astype(np.int64)
        self.station_of: list[int] = arrays["terminal_out_link"].tolist()
        self.terminal_at = {station: terminal for terminal, station in enumerate(self.station_of)}
        self.port_at = {int(station): port for port, station in enumerate(arrays["port_station"])}
        self.terminals = len(self.station_of)
        for row, flow in enumerate(listed(self.compiled)):
            self.legs += self._transaction(row, flow)

    def _transaction(self, row: int, flow: Flow) -> Iterator[Leg]:
        tech = self.tech
        yield from self._packet(
            row, flow, flow.source, flow.target, REQUEST, tech.request_bytes(flow.payload)
        )
        if size := tech.response_bytes(flow.payload):
            yield from self._packet(row, flow, flow.target, flow.source, RESPONSE, size)

    def _packet(
        self, row: int, flow: Flow, source: int, target: int, kind: int, size: float
    ) -> Iterator[Leg]:
        """Yield the legs of a request or a response."""
        arrays, station = self.compiled.arrays, self.station_of[source]
        symbols = -(-(round(size) + self.tech.send_idle_bytes) // self.tech.symbol_bytes)
        gives = kind == REQUEST
        while True:
            taken, leaves = self._taken(station, target)
            packet = row, kind, station, taken, symbols, int(arrays["link_character_ticks"][station])
            if leaves is None:
                service = self._service(flow, target, kind)
                yield Leg(*packet, target if service else -1, service, gives)
                return
            switch = self._switch(taken)
            yield Leg(*packet, self.terminals + switch, self._transfer(switch, size), gives)
            station, gives = leaves, False

    def _taken(self, station: int, target: int) -> tuple[int, int | None]:
        """Return the station that takes a packet off the ring, and that by which it leaves a switch."""
        arrays = self.compiled.arrays
        at = self.next[station]
        while True:
            if self.terminal_at.get(at) == target:
                return at, None
            if (port := self.port_at.get(at)) is not None:
                blocks = -(-self.terminals // _BLOCK_PORTS)
                block = int(arrays["port_route"][port * blocks + target // _BLOCK_PORTS])
                leaves = int(arrays["port_exit"][block * _BLOCK_PORTS + target % _BLOCK_PORTS])
                if leaves != _PASSES:
                    return at, int(arrays["port_station"][arrays["port_start"][self._switch(at)] + leaves])
            assert at != station, "no station of the ring takes the packet"
            at = self.next[at]

    def _switch(self, station: int) -> int:
        starts = self.compiled.arrays["port_start"]
        return int(np.searchsorted(starts, self.port_at[station], side="right")) - 1

    def _service(self, flow: Flow, terminal: int, kind: int) -> int:
        """Return the ticks in which a terminal stores or reads the data; 0 for a response without any."""
        arrays = self.compiled.arrays
        if kind == RESPONSE and self.tech.transaction not in ("nread", "lock"):
            return 0
        blocks = max(1, -(-flow.payload // _BLOCK_BYTES))
        ticks = arrays["terminal_access_ticks"][terminal] + blocks * arrays["terminal_block_ticks"][terminal]
        return max(int(ticks), int(arrays["grain_ticks"]))

    def _transfer(self, switch: int, size: float) -> int:
        arrays = self.compiled.arrays
        whole = round(size) + int(arrays["bus_encapsulation_bytes"][switch])
        cycles = -(-whole // int(arrays["bus_width_bytes"][switch]))
        return int(arrays["bus_setup_ticks"][switch]) + cycles * int(arrays["bus_cycle_ticks"][switch])

    # Times of legs.

    @cached_property
    def longest_own(self) -> Ints:
        """Per station: the ticks of the longest packet that it inserts."""
        found = np.zeros(len(self.next), np.int64)
        for leg in self.legs:
            found[leg.source] = max(found[leg.source], leg.symbols * leg.symbol_ticks)
        return found

    @cached_property
    def longest_unit(self) -> int:
        """Ticks of the longest packet on any link."""
        return int(self.longest_own.max(initial=0))

    def around(self, station: int, until: int) -> Iterator[int]:
        """Yield the links from a station until another one, which does not send on any of them."""
        while True:
            yield station
            station = self.next[station]
            if station == until:
                return

    def busy(self, leg: Leg) -> Reals:
        """Return, per link, the ticks that the packet or its echo has it: one of them passes each link."""
        found = np.zeros(len(self.next))
        found[list(self.around(leg.source, leg.target))] = leg.symbols * leg.symbol_ticks
        found[list(self.around(leg.target, leg.source))] = self.tech.echo_symbols * leg.symbol_ticks
        return found

    def times(self, leg: Leg, waits: bool) -> tuple[int, int]:
        """Return the ticks from the start on the link until the packet is complete in its queue, and until
        its echo has come back: the most, or without any wait.
        """
        arrays = self.compiled.arrays
        cuts = bool(arrays["ring_cut_through"])
        decode, bypass = arrays["station_decode_ticks"], arrays["station_bypass_ticks"]
        echo = self.tech.echo_symbols
        there, taken = 0, 0
        for link in [*self.around(leg.source, leg.target), *self.around(leg.target, leg.source)]:
            to = self.next[link]
            n = echo if taken else leg.symbols
            head = there + int(arrays["link_arrival_ticks"][link])
            tail = head + (n - 1) * leg.symbol_ticks
            if to == leg.source:
                # Without an echo a packet is gone when it has left.
                return taken, tail + int(decode[to]) if echo else leg.symbols * leg.symbol_ticks
            decided = (head if cuts else tail) + int(decode[to])
            ready = decided + int(bypass[to])
            if to == leg.target:
                taken = tail + int(decode[to])
                ready += (leg.symbols - echo) * leg.symbol_ticks if cuts else 0
                n = echo
            # Behind an own packet, and with whole packets in the FIFO behind a longer one.
            longer = 0 if cuts else self.longest_unit - n * leg.symbol_ticks
            # With a token nothing is inserted in front of it.
            waited = waits and not self.tech.token_symbols
            there = ready + (int(self.longest_own[to]) + longer if waited else 0)
        raise AssertionError("an echo has not come back")

    def round(self, station: int, late_symbols: int = 0) -> int:
        """Return the ticks of what nobody takes once round the ring, some symbols late everywhere."""
        arrays, found = self.compiled.arrays, 0
        for link in self.around(station, station):
            to = self.next[link]
            found += int(arrays["link_arrival_ticks"][link])
            found += late_symbols * int(arrays["link_character_ticks"][link])
            found += int(arrays["station_decode_ticks"][to] + arrays["station_bypass_ticks"][to])
        return found
