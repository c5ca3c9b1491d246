"""The properties of a network of rings that are known before it runs: rings, ports, buses and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compile import Compiled, RingRoutes
from ...compile.sources import Packets as Sources
from ...results.figures import figures, in_percent
from ...topology import Graph
from ...traffic import Demand
from ..port_loads import Ints, Reals, plane_lines, spread_evenly
from .failures import RingWays
from .loads import (
    Carried,
    Needed,
    Packets,
    bound,
    carried,
    names_of,
    needed,
    of_plane,
    over_bus_ps,
    ports_of,
    weighed,
    windows,
)

_LONGEST_PACKET_BYTES = 1024
_TIMES = (
    "link_arrival_ticks",
    "station_decode_ticks",
    "station_bypass_ticks",
    "station_receive_ticks",
    "station_transmit_ticks",
    "bus_setup_ticks",
    "terminal_access_ticks",
    "terminal_host_ticks",
)
_RATES = ("link_character_ticks", "bus_cycle_ticks", "terminal_block_ticks")


class RingInspection:
    """What is asked of a network of rings; LinkInspection answers the same."""

    def __init__(self, compiled: Compiled) -> None:
        assert isinstance(compiled.routes, RingRoutes)
        self.compiled, self.routes = compiled, compiled.routes
        self.choice = compiled.scenario.port_choice
        self._last: tuple[Demand, Carried] | None = None

    def network(self) -> dict[str, Any]:
        """Return its routes and their loads, ready for JSON."""
        routes, packets, demand = self.routes, Packets.of(self.compiled), self.compiled.demand()
        needs, found = self._needed(demand), self._carried(demand)
        loads, sent, tech = found.loads, float(found.asked.sum()) or 1.0, routes.technology
        counted = _counted(routes) | {
            "mean_links_on_the_way": float(loads.requests.sum()) / sent,
            "mean_buses_on_the_way": float(loads.bus_requests.sum()) / sent,
        }
        return {
            "network": counted,
            "link": {
                "payload_mbytes_per_s": packets.mean_bytes / packets.mean(tech.mean_packet_ps) * 1e6,
                "mean_packet_bytes": packets.mean_bytes,
            },
            "bus": {"payload_mbytes_per_s": packets.mean_bytes / sum(over_bus_ps(tech, packets)) * 1e6},
            "channel_load": bound(routes, needs),
            **_planes(routes, needs),
        }

    def _needed(self, demand: Demand | None = None) -> Needed:
        """Return what the demand needs of links, buses, memories and hosts."""
        found, sources = self._of(demand or self.compiled.demand()), self.compiled.sources
        if not isinstance(sources, Sources):
            arrays = self.compiled.arrays
            apiece_ps = sources.busy_ps(arrays, self.choice != "nominal") / sources.busiest(arrays)
            found.busy_ps["host"] = apiece_ps * ports_of(self.routes, self.choice)
        return found

    def _carried(self, demand: Demand) -> Carried:
        """Return what is carried of a demand. The last one is kept: to follow all pairs takes long."""
        if self._last is None or self._last[0] is not demand:
            self._last = demand, carried(self.routes, self.choice, demand)
        return self._last[1]

    def _of(self, demand: Demand) -> Needed:
        needs = weighed(self.routes, self.compiled, demand)
        found = needed(self.routes, needs, self._carried)
        found.busy_ps["window"] = windows(self.compiled, demand)
        return found

    def slowest(self) -> None:
        """Links of rings have one physical lane: none goes on more slowly."""

    def full_first(self, shared: bool = False, left: Reals | None = None) -> dict[str, Any]:
        """Return the link, bus or memory that is full first. There is one way: nothing is shared."""
        return bound(self.routes, self._needed())

    def fullness(self) -> Reals:
        """Return the utilisation of each link at the load at which the first link, bus or memory is full."""
        busy = self._needed().busy_ps
        most = max(float(times.max(initial=0.0)) for times in busy.values())
        return np.asarray(busy["link"] / most if most > 0 else busy["link"])

    def busy(self, demand: Demand) -> dict[str, float]:
        """Return the utilisation per link, bus and memory that packets of each length require."""
        routes = self.routes
        # What is needed is of a source that sends one packet by each of its ports.
        apart = (demand.per_grain or 0.0) / ports_of(routes, self.choice) / routes.technology.grain_ps
        return {
            name: time_ps * apart
            for what, times in self._of(demand).busy_ps.items()
            for name, time_ps in zip(names_of(routes.graph, what), times.tolist(), strict=True)
        }

    def times(self, demand: Demand, left: Reals | None = None) -> Reals:
        """Return how many times the traffic fills each link, bus and memory. No link has only a part left."""
        busy = np.array(list(self.busy(demand).values()))
        return np.where(busy > 0, 1 / np.where(busy > 0, busy, 1.0), np.inf)

    def most_times(self, demand: Demand, filled: Reals) -> float:
        """Return how many times the traffic a link, bus or memory has room for."""
        return 1 / float(filled.max())

    def asked(self, payload: Demand, names: Sequence[str]) -> None:
        """Return None: it is not counted for rings, whose fullest part may be a bus or a memory."""

    def leads_to(self, link: int) -> list[str]:
        """Return none: what passes on a ring is for all behind it."""
        return []

    def effective_bisection(self, pairings: int) -> None:
        """Return None: it is not counted for rings."""

    def ways(self, reroute: str | None = None) -> RingWays:
        """Return the rings that transactions cross, for many failures. Raises ScenarioError."""
        if reroute is not None:
            message = "rings have no tables that are made after a failure"
            raise self.compiled.scenario.error(message, ("topology",), "leave out --reroute")
        return RingWays(self.compiled, self.routes)

    def pairs(self, sources: int, targets: int) -> tuple[Ints, Ints]:
        """Return pairs of at most this many senders and receivers, spread evenly over the network."""
        rings, terminals = self.routes.network.rings, self.routes.graph.terminals
        senders = spread_evenly(rings.terminals_of("sender", terminals), sources)
        receivers = spread_evenly(rings.terminals_of("receiver", terminals), targets)
        source, target = np.repeat(senders, len(receivers)), np.tile(receivers, len(senders))
        return source[source != target], target[source != target]

    def apart_ticks(self, characters: int) -> int:
        """Return more ticks than a transaction can take: all stations there and back, storing packets."""
        arrays = self.compiled.arrays
        slowest = {name: int(arrays[name].max(initial=0)) for name in (*_TIMES, *_RATES)}
        station = sum(slowest[name] for name in _TIMES)
        station += sum(slowest[name] for name in _RATES) * 2 * _LONGEST_PACKET_BYTES
        return 4 * self.routes.graph.links * station

    @staticmethod
    def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
        """Return the results of :meth:`network` as lines: (what, value)."""
        counted, link, bus = found["network"], found["link"], found["bus"]
        low, high = counted["stations_on_a_ring_min"], counted["stations_on_a_ring_max"]
        size = f"{high}" if low == high else f"{low} to {high}"
        way = f"{counted['mean_links_on_the_way']:.2f} links and {counted['mean_buses_on_the_way']:.2f} buses"
        payload = f"{figures(link['payload_mbytes_per_s'])} MB/s of payload"
        return [
            ("network", f"{counted['family']}: {counted['terminals']:,} terminals"),
            (
                "rings",
                f"{counted['rings']:,} of {size} stations each, {counted['stations']:,} stations in all",
            ),
            ("switches", _switches(counted)),
            *plane_lines(found),
            ("path", f"{way} on average in this traffic"),
            ("one link", f"{payload} in requests of {figures(link['mean_packet_bytes'], 6)} B"),
            *(
                [("one bus", f"{figures(bus['payload_mbytes_per_s'])} MB/s of payload, responses included")]
                if counted["switches"]
                else []
            ),
        ]


def _planes(routes: RingRoutes, needs: Needed) -> dict[str, Any]:
    """Return each plane with the throughput at which a part of it is full; empty for a single network."""
    if routes.graph.several is None:
        return {}
    own = {plane.name: of_plane(plane, needs) for plane in routes.graph.planes}
    return {"planes": [{"plane": name, **bound(routes, one)} for name, one in own.items()]}


def _counted(routes: RingRoutes) -> dict[str, Any]:
    """Count rings, stations, switches, ports and buses."""
    graph, rings = routes.graph, routes.network.rings
    sizes = np.bincount(rings.station_ring, minlength=rings.rings)
    return {
        "family": graph.family,
        "switches": graph.switches,
        "terminals": graph.terminals,
        **({"ports": graph.ports, "planes": len(graph.planes)} if graph.several else {}),
        "rings": rings.rings,
        "stations": rings.stations,
        "stations_on_a_ring_min": int(sizes.min()),
        "stations_on_a_ring_max": int(sizes.max()),
        "switch_ports": rings.ports,
        "buses": int(rings.bus_count.sum()),
        "ports_of_ringlets": _ringlet_ports(graph),
    }


def _ringlet_ports(graph: Graph) -> int | None:
    """Return the switch ports if every line were a ringlet, in stages of 2 x 2 exchanges if possible."""
    if graph.several is not None:
        each = [_ringlet_ports(plane.graph) for plane in graph.planes]
        known = [ports for ports in each if ports is not None]
        return sum(known) if len(known) == len(each) else None
    given = graph.layout["parameters"]
    if graph.family == "sci-long-rings":
        return 2 * given["ports"]
    if graph.family != "sci-banyan":
        return None
    lines, base = given["terminals"], given["base"]
    base = 2 if lines & (lines - 1) == 0 else base
    stages = 0
    while base**stages < lines:
        stages += 1
    return 2 * lines * stages


def _switches(counted: dict[str, Any]) -> str:
    if not counted["switches"]:
        return "none"
    ports, ringlets = counted["switch_ports"], counted["ports_of_ringlets"]
    buses = f"{counted['buses']:,} bus{'es' if counted['buses'] > 1 else ''}"
    cost = "" if ringlets in (None, ports) else f"; {in_percent(ports / ringlets)} of the ports of ringlets"
    return f"{counted['switches']:,} with {ports:,} ports and {buses}{cost}"
