"""Routing tables as routers take them: a CSV file with the columns router, logical_address and ports.

``fabriloom export`` writes such files. Ports and logical addresses are those of the graph file; missing ones
are numbered as :mod:`.routers` says. A packet takes any free port of a row, in order of preference.
"""

from __future__ import annotations

from ..topology.graph import Graph
from . import routers
from .table import RoutingError

COLUMNS = ["router", "logical_address", "ports"]
MORE = ["terminal", "priority", "take"]
"""Columns that an exported table can have besides."""
WORDS = {
    "router": ("switch", "routing switch"),
    "logical_address": ("address", "destination address"),
    "ports": ("port", "output port", "output ports", "out port"),
}
"""Columns, each with other words for it."""
Row = tuple[int, int, tuple[tuple[int, int], ...]]
"""Switch, target vertex, and links, each with any lane."""


class RouterRows:
    """What the rows of such a table mean in a network."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._switches = {name: number for number, name in enumerate(graph.switch_names)}
        self._terminals = {address: number for number, address in enumerate(routers.addresses(graph))}
        self._links = {
            (int(graph.link_source[link]), port): link
            for link, port in enumerate(routers.ports(graph))
            if port is not None
        }

    def row(self, cells: list[str]) -> Row:
        """Return the meaning of a row, given the cells of COLUMNS and MORE. Raises RoutingError."""
        router, address, ports, terminal, priority, take = cells
        switch = self._switches.get(router)
        if switch is None:
            raise RoutingError(f'there is no router "{router}"', cell="router")
        target = self._target(address, terminal)
        if priority == "high":
            message = "priorities are set by routing.high_priority; leave the column out"
            raise RoutingError(message, cell="priority")
        if take == "all":
            message = "an address of several terminals is set by [[routing.distribution]]; leave it out"
            raise RoutingError(message, cell="take")
        links = tuple(dict.fromkeys((self._link(switch, word), -1) for word in ports.split()))
        if not links:
            raise RoutingError("no port is given", cell="ports")
        return switch, self._graph.switches + target, links

    def _target(self, address: str, terminal: str) -> int:
        """Return the terminal with an address; ``terminal`` is the name that the table gives, if any."""
        number = _number(address)
        if number is None:
            raise RoutingError(f'"{address}" is no logical address: write a number', cell="logical_address")
        target = self._terminals.get(number)
        if target is None:
            there = ", ".join(map(str, sorted(self._terminals)[:12]))
            message = f"no terminal has the logical address {number}; there are {there}"
            raise RoutingError(message, cell="logical_address")
        name = self._graph.terminal_names[target]
        if terminal not in ("", name):
            message = f"the logical address {number} is that of {name}, not of {terminal}"
            raise RoutingError(message, cell="terminal")
        return target

    def _link(self, switch: int, word: str) -> int:
        port, name = _number(word), self._graph.switch_names[switch]
        if port is None:
            raise RoutingError(f'"{word}" is no port of {name}: write numbers', cell="ports")
        if (switch, port) not in self._links:
            there = ", ".join(str(number) for at, number in sorted(self._links) if at == switch)
            raise RoutingError(f"{name} has no cable at port {port}; it has {there}", cell="ports")
        return self._links[switch, port]


def _number(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else None
