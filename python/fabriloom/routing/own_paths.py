"""Routes by path addresses: a CSV file with the columns source, target and path, as export writes it.

``path`` lists the ports by which a packet leaves the routers of its path, separated by spaces. Where the
sender writes it into the packet, paths to one terminal may meet and part again: they are different ways to
it, and each way has an entry for the terminal in the table. Elsewhere a table knows a packet's destination,
not its source, and paths that meet continue together. Pairs of terminals without a path use another rule.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..topology.graph import Graph
from .check import met, verify
from .own_table import fault, numbered, rows_of
from .routers import ports
from .table import MOST_WAYS, NONE, ByPair, RouteTable, RoutingError, check_size

HEADINGS = ["source", "target", "path"]


def own_paths(
    graph: Graph,
    path: str | Path,
    others: RouteTable,
    by_source: bool = False,
    elsewhere: Collection[str] = (),
) -> RouteTable:
    """Read the paths, and take the other routes from ``others``, one link each.

    ``by_source``: senders know the paths of their packets; ``elsewhere``: senders in other planes. Raises
    ``RoutingError`` with the line.
    """
    maker = _Maker(graph, by_source)
    for line, cells in rows_of(path, HEADINGS, elsewhere):
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

    def __init__(self, graph: Graph, by_source: bool) -> None:
        self.graph, self.by_source = graph, by_source
        self.terminals = {name: number for number, name in enumerate(graph.terminal_names)}
        self.by_port: dict[int, dict[int, int]] = {switch: {} for switch in range(graph.switches)}
        for link, port in enumerate(ports(graph)):
            if port is not None:
                self.by_port[int(graph.link_source[link])][port] = link
        self.found: list[dict[tuple[int, int], tuple[int, int]]] = [{}]
        """Per way, by switch and terminal: a link, and the line that gives it."""
        self.pairs: dict[tuple[int, int], tuple[int, dict[int, int], int]] = {}
        """By source and terminal: the way, the link by switch, and the line."""

    def row(self, line: int, source: str, target: str, path: str) -> None:
        """Follow one path."""
        start = numbered(self.terminals, line, source, "source", "terminal")
        end = numbered(self.terminals, line, target, "target", "terminal")
        at, graph = int(self.graph.terminal_entry_switches[start]), self.graph
        hops: dict[int, int] = {}
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
            if at in hops:
                raise fault(line, f"the path comes to {graph.switch_names[at]} twice", "path")
            hops[at] = link
            at = int(graph.link_target[link])
        if at < graph.switches:
            message = f"the path ends at {graph.switch_names[at]}: the byte that leads on is missing"
            raise fault(line, message, "path")
        if at - graph.switches != end:
            name = graph.terminal_names[at - graph.switches]
            raise fault(line, f"the path leads to {name}, not to {target}", "path")
        self._take(line, start, end, hops)

    def _take(self, line: int, start: int, end: int, hops: dict[int, int]) -> None:
        """Give a path the first way on which no other leads elsewhere."""
        _, known, before = self.pairs.get((start, end), (0, hops, line))
        if known != hops:
            raise fault(line, f"line {before} has another path for this pair", "source")
        ends = {(at, end): (link, line) for at, link in hops.items()}
        apart = [
            next((place for place, to in ends.items() if found.get(place, to)[0] != to[0]), None)
            for found in self.found
        ]
        way = apart.index(None) if None in apart else len(apart)
        if way and not self.by_source:
            at, _ = apart[0] or (0, 0)
            switch, target = self.graph.switch_names[at], self.graph.terminal_names[end]
            message = f"{switch} would send packets for {target} by another port than line "
            message += f"{self.found[0][at, end][1]} says; a routing table does not know where they come from"
            error = fault(line, message, "path")
            error.hint = 'where packets carry their path, write addressing = "path"'
            raise error
        if way == MOST_WAYS:
            raise fault(line, f"there are {MOST_WAYS} ways to this terminal already, the most", "path")
        if way == len(self.found):
            self.found.append({})
        for place, to in ends.items():
            self.found[way].setdefault(place, to)
        self.pairs.setdefault((start, end), (way, hops, line))

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
        switches, links = list(others.group_switch), list(others.group_links)
        starts = list(others.group_start)
        # A link is in one group: that of the other table, which has one link, or one of its own.
        groups = {int(link): group for group, link in enumerate(links)}
        rows = [np.array(others.rows, np.uint32)]
        rows += [np.full_like(rows[0], NONE) for _ in self.found[1:]]
        for route, found in zip(rows, self.found, strict=True):
            for (switch, terminal), (link, _) in found.items():
                if link not in groups:
                    groups[link] = len(switches)
                    switches.append(switch)
                    links.append(link)
                    starts.append(len(links))
                route[switch, int(others.terminal_class[terminal])] = 2 * groups[link]
        table = replace(
            others,
            group_switch=np.array(switches, np.uint32),
            group_start=np.array(starts, np.uint32),
            group_links=np.array(links, np.uint32),
            rows=np.concatenate(rows, axis=1),
            kind="paths",
        )
        return table if len(rows) == 1 else self._by_source(table, others.classes)

    def _by_source(self, table: RouteTable, classes: int) -> RouteTable:
        """Return a table of several ways with the entries that packets meet."""
        graph, terminals = self.graph, np.arange(self.graph.terminals, dtype=np.uint32)
        check_size(graph.terminals, graph.terminals, "path")
        way = np.zeros((graph.terminals, graph.terminals), np.uint8)
        for pair, (number, _, _) in self.pairs.items():
            way[pair] = number
        first = classes * np.arange(len(self.found), dtype=np.uint32)
        table = replace(
            table,
            terminal_class=np.add.outer(first, table.terminal_class).ravel(),
            by_source=ByPair(terminals, terminals, way),
        )
        return met(graph, table)
