"""A user's own routes through rings: a CSV file with the columns switch, ring, terminal and to.

Each row makes packets for a terminal, arriving at a switch on a ring, cross to another ring of the switch.
Packets that no row names pass the switch and stay on their ring. ``terminal`` may also be a ring, which means
all terminals on it; a row for a terminal itself has precedence. If a switch is on one ring several times, the
link on which the port sends replaces the ring and identifies the port.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .. import units
from ..topology.graph import Graph
from ..topology.rings import Rings
from .native import RingCore, numbers
from .own_table import fault, rows_of
from .rings import BLOCK, PASS, PortRoute, rings_of
from .table import RoutingError, check_size

HEADINGS = ["switch", "ring", "terminal", "to"]
_PAIRS_AT_ONCE = 2**20


def own_ports(graph: Graph, path: str | Path) -> PortRoute:
    """Read the table and check that every packet arrives. Raises ``RoutingError`` with the line."""
    rings = rings_of(graph)
    check_size(rings.ports, graph.terminals, "path")
    maker = _Maker(graph, rings)
    rows = [maker.row(line, *cells) for line, cells in rows_of(path, HEADINGS)]
    entries = np.full((rings.ports, -(-graph.terminals // BLOCK) * BLOCK), PASS, np.uint8)
    for of_ring in (True, False):
        seen: dict[tuple[int, str], int] = {}
        for line, port, target, exit_port in rows:
            if (target in maker.terminals_on) != of_ring:
                continue
            if (port, target) in seen:
                raise fault(line, f"this destination was given in line {seen[port, target]} already")
            seen[port, target] = line
            entries[port, maker.targets(target)] = exit_port
    route = _in_blocks(entries)
    _check_arrivals(graph, rings, route)
    return route


def _in_blocks(entries: np.ndarray) -> PortRoute:
    """Store equal blocks of entries once."""
    blocks, which = np.unique(entries.reshape(-1, BLOCK), axis=0, return_inverse=True)
    return PortRoute(which.reshape(len(entries), -1).astype(np.uint32), np.ascontiguousarray(blocks))


class _Maker:
    """Converts names of a ring network to numbers, row by row."""

    def __init__(self, graph: Graph, rings: Rings) -> None:
        self.graph, self.rings = graph, rings
        self.switches = {name: number for number, name in enumerate(graph.switch_names)}
        self.terminals = {name: number for number, name in enumerate(graph.terminal_names)}
        home = rings.station_ring[graph.terminal_out_links]
        self.terminals_on = {
            name: np.flatnonzero(home == ring)
            for ring, name in enumerate(rings.ring_names)
            if name not in self.terminals
        }

    def row(self, line: int, switch: str, ring: str, target: str, to: str) -> tuple[int, int, str, int]:
        """Return line, port, terminal or ring, and the number within the switch of the port to leave by."""
        number = self.switches.get(switch)
        if number is None:
            raise fault(line, f'there is no switch "{switch}"{_meant(switch, list(self.switches))}')
        if target not in self.terminals and target not in self.terminals_on:
            near = _meant(target, [*self.terminals, *self.terminals_on])
            raise fault(line, f'there is no terminal or ring "{target}"{near}')
        first = int(self.rings.port_start[number])
        port, onward = self._port(line, number, ring), self._port(line, number, to)
        if port == onward:
            raise fault(line, f'packets cannot leave {switch} where they came, by "{to}"; name another ring')
        return line, port, target, onward - first

    def targets(self, name: str) -> np.ndarray:
        """Return the terminals of a name."""
        return self.terminals_on[name] if name in self.terminals_on else np.array([self.terminals[name]])

    def _port(self, line: int, switch: int, name: str) -> int:
        """Return the port of a switch on a ring, or the one that sends on a link."""
        rings, graph = self.rings, self.graph
        ports = range(int(rings.port_start[switch]), int(rings.port_start[switch + 1]))
        stations = {port: int(rings.port_station[port]) for port in ports}
        links = {graph.link_names[station]: port for port, station in stations.items()}
        if name in links:
            return links[name]
        on_ring = [
            port for port, at in stations.items() if rings.ring_names[int(rings.station_ring[at])] == name
        ]
        if len(on_ring) == 1:
            return on_ring[0]
        own = graph.switch_names[switch]
        if on_ring:
            by = " or ".join(f'"{graph.link_names[stations[port]]}"' for port in on_ring)
            raise fault(
                line, f'{own} is on "{name}" {len(on_ring)} times; name the link that it sends on, {by}'
            )
        its = dict.fromkeys(rings.ring_names[int(rings.station_ring[at])] for at in stations.values())
        raise fault(line, f'{own} is not on a ring "{name}"; it is on {", ".join(its)}')


def _meant(name: str, known: list[str]) -> str:
    near = units.nearest(name, known)
    return f'; did you mean "{near}"?' if near else ""


def _check_arrivals(graph: Graph, rings: Rings, route: PortRoute) -> None:
    """Follow a packet from every sender to every receiver, and the answers back."""
    core = RingCore(graph, "path")
    one = rings.terminals_of("sender", graph.terminals)
    other = rings.terminals_of("receiver", graph.terminals)
    for senders, receivers in ((one, other), (other, one)):
        step = max(1, _PAIRS_AT_ONCE // max(1, len(receivers)))
        for first in range(0, len(senders), step):
            part = senders[first : first + step]
            source, target = np.repeat(part, len(receivers)), np.tile(receivers, len(part))
            source, target = source[source != target], target[source != target]
            try:
                core.loads(*route.columns(), numbers(source), numbers(target), np.zeros(len(source)))
            except RoutingError as error:
                message = (
                    f"{error}: no row takes them off a ring on which they circulate, or rows form a cycle"
                )
                raise RoutingError(message, "path") from None
