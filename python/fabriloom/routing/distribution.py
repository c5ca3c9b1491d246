"""Packet distribution (multicast): addresses whose packets switches send to several links at once.

The links of a distribution are the union of the links to each receiver; a neighbour gets each packet once.
The rules are in ``docs/background/wormhole-model.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .table import NONE, RouteTable, RoutingError


@dataclass(frozen=True)
class Distribution:
    """One address for several terminals."""

    name: str
    address: int | None
    """The logical address, if given."""
    senders: tuple[int, ...]
    """Terminals that may send to it."""
    receivers: tuple[int, ...]
    """Terminals that receive a copy each."""
    links: dict[int, tuple[int, ...]]
    """Per switch: the links by which packets leave, all at once."""

    @property
    def label(self) -> str:
        """Name and number of receivers."""
        return f"{self.name} ({len(self.receivers)} terminals)"


def distribution(
    graph: Graph,
    table: RouteTable,
    name: str,
    address: int | None,
    senders: Sequence[int],
    receivers: Sequence[int],
) -> Distribution:
    """Return a distribution with its links. Raises RoutingError if no routing table can express it."""
    links: dict[int, tuple[int, ...]] = {}
    first: dict[int, int] = {}
    for sender in senders:
        for switch, found in _ways(graph, table, name, sender, receivers).items():
            if links.setdefault(switch, found) != found:
                one, two = (graph.terminal_names[terminal] for terminal in (first[switch], sender))
                message = f'packets for "{name}" from {one} and from {two} would leave '
                message += (
                    f"{graph.switch_names[switch]} by different ports, and a router only knows the address"
                )
                raise RoutingError(message)
            first.setdefault(switch, sender)
    return Distribution(name, address, tuple(senders), tuple(receivers), links)


def _ways(
    graph: Graph, table: RouteTable, name: str, sender: int, receivers: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """Return the links for packets of one sender, by switch."""
    links: dict[int, tuple[int, ...]] = {}
    home = int(graph.link_target[graph.terminal_out_links[sender]])
    todo = [(home, list(receivers))]
    while todo:
        switch, some = todo.pop()
        if switch in links:
            message = f'packets for "{name}" from {graph.terminal_names[sender]} would come to '
            raise RoutingError(message + f"{graph.switch_names[switch]} by two ways, and arrive twice")
        parts: dict[int, list[int]] = {}
        by: dict[int, int] = {}
        for receiver in some:
            entry = int(table.route[switch, table.terminal_class[receiver]])
            link = int(table.group(entry >> 1)[0])
            end = int(graph.link_target[link])
            by.setdefault(end, link)
            parts.setdefault(end, []).append(receiver)
        links[switch] = tuple(sorted(by.values()))
        todo += [(end, behind) for end, behind in parts.items() if end < graph.switches]
    return links


def with_distributions(
    table: RouteTable, found: Sequence[Distribution]
) -> tuple[RouteTable, NDArray[np.uint8]]:
    """Add a class for each distribution to the table; also returns, per group, whether packets take all
    links.
    """
    rows = [
        (number, switch, links) for number, one in enumerate(found) for switch, links in one.links.items()
    ]
    sizes = [len(links) for _, _, links in rows]
    table = table.full()
    route = np.full((len(table.rows), table.classes + len(found)), NONE, np.uint32)
    route[:, : table.classes] = table.rows
    for row, (number, switch, _) in enumerate(rows):
        route[switch, table.classes + number] = 2 * (table.groups + row)
    start = np.concatenate([table.group_start, table.group_start[-1] + np.cumsum(sizes)])
    links = [link for _, _, links in rows for link in links]
    wider = replace(
        table,
        group_switch=_numbers(table.group_switch, [switch for _, switch, _ in rows]),
        group_start=start.astype(np.uint32),
        group_links=_numbers(table.group_links, links),
        rows=route,
        terminal_class=_numbers(table.terminal_class, range(table.classes, table.classes + len(found))),
    )
    return wider, np.repeat([0, 1], [table.groups, len(rows)]).astype(np.uint8)


def _numbers(known: NDArray[np.uint32], more: Sequence[int]) -> NDArray[np.uint32]:
    return np.concatenate([known, np.asarray(more, np.uint32)]).astype(np.uint32)


def distributed_links(graph: Graph, one: Distribution, sender: int) -> list[int]:
    """Return all links of a packet of a sender, each once."""
    found = [int(graph.terminal_out_links[sender])]
    for link in found:  # the list grows in the loop
        end = int(graph.link_target[link])
        if end < graph.switches:
            found += one.links[end]
    return found


def distribution_cycle(graph: Graph, table: RouteTable, found: Sequence[Distribution]) -> list[int] | None:
    """Return a cycle of links that wait for each other, or None.

    A packet moves on one link of a distribution only if its copies move on the others. These links count as
    one: a packet that holds one of them waits for everything that any of them waits for.
    """
    import networkx as nx

    joined = nx.utils.UnionFind(range(graph.links))
    for one in found:
        for links in one.links.values():
            joined.union(*links)
    waits: nx.DiGraph[int] = nx.DiGraph()
    for before, behind in _dependencies(graph, table, found):
        if joined[before] != joined[behind]:
            waits.add_edge(joined[before], joined[behind], links=(before, behind))
    try:
        cycle = nx.find_cycle(waits)
    except nx.NetworkXNoCycle:
        return None
    return list(dict.fromkeys(link for one, other in cycle for link in waits.edges[one, other]["links"]))


def _dependencies(
    graph: Graph, table: RouteTable, found: Sequence[Distribution]
) -> Iterator[tuple[int, int]]:
    """Return links, with those that packets on them may wait for next."""
    seen: set[tuple[int, int]] = set()
    for column in range(table.classes):
        todo = {int(link) for link in graph.terminal_out_links}
        done = set(todo)
        while todo:
            link = todo.pop()
            end = int(graph.link_target[link])
            if end >= graph.switches or table.route[end, column] == NONE:
                continue
            for behind in table.group(int(table.route[end, column]) >> 1).tolist():
                seen.add((link, behind))
                if behind not in done:
                    done.add(behind)
                    todo.add(behind)
    for one in found:
        for sender in one.senders:
            for link in distributed_links(graph, one, sender):
                end = int(graph.link_target[link])
                seen |= {(link, behind) for behind in one.links.get(end, ()) if end < graph.switches}
    yield from sorted(seen)
