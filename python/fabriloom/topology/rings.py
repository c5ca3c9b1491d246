"""The ring part of a graph: the order of links in rings, and the stations that are ports of switches.

In a ring network (SCI) every link is the output of one **station** and has its number: station ``l`` belongs
to vertex ``link_source[l]`` and sends on link ``l`` to station ``station_next[l]``. A terminal is one
station; a switch is two to eight stations, its **ports**, joined by its buses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

MAX_STATIONS = 1 << 16
"""More stations than this are refused: SCI numbers its nodes with 16 bits."""
MAX_PORTS = 8
"""More ports than this on one switch are refused."""
MAX_BUSES = 4
"""More buses than this in one switch are refused."""


@dataclass(frozen=True)
class Rings:
    """Rings, ports and buses. Stations are numbered ring by ring, each ring in the order of its links."""

    station_next: NDArray[np.int64]
    """Per link (station): the station that it leads to."""
    station_ring: NDArray[np.int64]
    """Per station: its ring."""
    port_start: NDArray[np.int64]
    """Per switch and one more: where its ports start in ``port_station``."""
    port_station: NDArray[np.int64]
    """The stations that are ports, switch by switch; the place within a switch is the port's number."""
    bus_count: NDArray[np.int64]
    """Per switch: number of equal buses."""
    ring_names: list[str]
    role: list[str] | None
    """Per terminal "sender", "receiver" or "both"; None: all both."""
    partner: NDArray[np.int64]
    """Per terminal: its partner for local traffic, -1 for none. In a network of long rings it shares the ring
    with its partner; in a network of ringlets it would."""
    part_of: NDArray[np.int64] | None = None
    """If there is one switch per bus: per switch, the switch of several buses that it is a part of."""
    separate_buses: bool = False
    """Whether half of the buses of every switch carry requests and the other half responses."""

    @property
    def rings(self) -> int:
        """Number of rings."""
        return len(self.ring_names)

    @property
    def stations(self) -> int:
        """Number of stations."""
        return len(self.station_next)

    @property
    def ports(self) -> int:
        """Number of ports of all switches."""
        return len(self.port_station)

    @cached_property
    def ring_start(self) -> NDArray[np.int64]:
        """Per ring and one more: its first station."""
        sizes = np.bincount(self.station_ring, minlength=self.rings)
        return np.concatenate([[0], np.cumsum(sizes)])

    @cached_property
    def port_switch(self) -> NDArray[np.int64]:
        """Per entry of ``port_station``: its switch."""
        return np.repeat(np.arange(len(self.bus_count)), np.diff(self.port_start))

    @cached_property
    def station_port(self) -> NDArray[np.int64]:
        """Per station: its place in ``port_station``, -1 for a terminal's."""
        place = np.full(self.stations, -1, np.int64)
        place[self.port_station] = np.arange(self.ports)
        return place

    @cached_property
    def yields(self) -> NDArray[np.bool_]:
        """Per entry of ``port_station``: whether the next station is a controller of the same port."""
        if self.part_of is None:
            return np.zeros(self.ports, bool)
        part = np.full(self.stations, -1, np.int64)
        part[self.port_station] = self.part_of[self.port_switch]
        after = self.station_next[self.port_station]
        return (part[after] == part[self.port_station]) & (after == self.port_station + 1)

    def terminals_of(self, role: str, terminals: int) -> NDArray[np.int64]:
        """Return the terminals that have a role ("sender" or "receiver"), including those with both."""
        if self.role is None:
            return np.arange(terminals)
        return np.flatnonzero([own in (role, "both") for own in self.role])
