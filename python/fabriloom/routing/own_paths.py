"""Routes by path addresses: a CSV file with the columns source, target and path, as export writes it.

``path`` lists the ports by which a packet leaves the routers of its path, separated by spaces. A table knows
a packet's destination, not its source, so two paths to one terminal that meet continue together. Terminals
that no path reaches, or not from everywhere, use another rule.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..topology.graph import Graph
from .check import verify
from .own_table import fault, numbered, rows_of
from .routers import ports
from .table import RouteTable, RoutingError

HEADINGS = ["source", "target", "path"]


def own_paths(graph: Graph, path: str | Path, others: RouteTable) -> RouteTable:
    """Read the paths, and take the other routes from ``others``, one link each.

    Raises ``RoutingError`` with the line.
    """
    maker = _Maker(graph)
    for line, cells in rows_of(path, HEADINGS):
        maker.row(line, *cells)
    table = maker.over(others)
    try:
        verify(graph, table)
    except RoutingError as error:
        message = f"{error}; of these routers some are on paths of this file, and some are not"
        raise RoutingError(message, "path") from None
    return table


class _Maker:
    """The links of the paths read so far."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.terminals = {name: number for number, name in enumerate(graph.terminal_names)}
        self.by_port: dict[int, dict[int, int]] = {switch: {} for switch in range(graph.switches)}
        for link, port in enumerate(ports(graph)):
            if port is not None:
                self.by_port[int(graph.link_source[link])][port] = link
        self.found: dict[tuple[int, int], tuple[int, int]] = {}
        """By switch and terminal: a link, and the line that gives it."""

    def row(self, line: int, source: str, target: str, path: str) -> None:
        """Follow one path."""
        start = numbered(self.terminals, line, source, "source", "terminal")
        end = numbered(self.terminals, line, target, "target", "terminal")
        at, graph = int(self.graph.terminal_entry_switches[start]), self.graph
        for place, port in enumerate(self._bytes(line, path), 1):
            if at >= graph.switches:
                name = graph.terminal_names[at - graph.switches]
                raise fault(line, f"byte {place - 1} of the path leads to {name}, and there are more", "path")
            link = self.by_port[at].get(port)
            if link is None:
                known = ", ".join(map(str, sorted(self.by_port[at])))
                message = (
                    f"byte {place} of the path is {port}; {graph.switch_names[at]} has the ports {known}"
                )
                raise fault(line, message, "path")
            before, other = self.found.setdefault((at, end), (link, line))
            if before != link:
                message = (
                    f"{graph.switch_names[at]} would send packets for {target} by another port than line "
                    f"{other} says; a routing table does not know where they come from"
                )
                raise fault(line, message, "path")
            at = int(graph.link_target[link])
        if at < graph.switches:
            message = f"the path ends at {graph.switch_names[at]}: the byte that leads on is missing"
            raise fault(line, message, "path")
        if at - graph.switches != end:
            name = graph.terminal_names[at - graph.switches]
            raise fault(line, f"the path leads to {name}, not to {target}", "path")

    def _bytes(self, line: int, path: str) -> list[int]:
        words = path.split()
        for word in words:
            if not (word.isascii() and word.isdecimal() and len(word) < 6):
                message = f'"{word[:20]}" is no port of a router: write numbers'
                raise fault(line, message, "path")
        if not words:
            message = "the path has no byte: write a port for each router, separated by spaces"
            raise fault(line, message, "path")
        return [int(word) for word in words]

    def over(self, others: RouteTable) -> RouteTable:
        """Return the other table with these links instead of its own."""
        others = others.full()
        route = np.array(others.rows, np.uint32)
        switches, links = list(others.group_switch), list(others.group_links)
        starts = list(others.group_start)
        groups: dict[int, int] = {}
        for (switch, terminal), (link, _) in self.found.items():
            if link not in groups:
                groups[link] = len(switches)
                switches.append(switch)
                links.append(link)
                starts.append(len(links))
            route[switch, int(others.terminal_class[terminal])] = 2 * groups[link]
        return replace(
            others,
            group_switch=np.array(switches, np.uint32),
            group_start=np.array(starts, np.uint32),
            group_links=np.array(links, np.uint32),
            rows=route,
            kind="paths",
        )
