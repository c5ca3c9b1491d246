"""Graph files in which terminals have several cables: each is a port; components form planes. And back."""

from __future__ import annotations

from collections import Counter, deque

import numpy as np

from .graph import Graph, GraphError, Ints
from .joined import Member, join


def with_ports(graph: Graph, cables: list[list[tuple[int, int]]]) -> Graph:
    """Return the same network with a port for each cable of a terminal.

    ``graph``: the whole network, whose links lead from and to terminals, not ports. ``cables``: per terminal,
    the outgoing and incoming link of each of its ports, in order.
    """
    terminal = np.repeat(np.arange(graph.terminals), [len(own) for own in cables])
    out, inward = (np.array([pair[way] for own in cables for pair in own], np.int64) for way in (0, 1))
    source, target = graph.link_source.copy(), graph.link_target.copy()
    source[out] = target[inward] = graph.switches + np.arange(len(terminal))
    label = _components(graph.switches + len(terminal), source, target)
    parts, plane = np.unique(label, return_inverse=True)
    names = _port_names(graph, cables)
    members = []
    for number in range(len(parts)):
        vertices = np.flatnonzero(plane == number)
        links = np.flatnonzero(plane[source] == number)
        members.append(_member(graph, number, vertices, links, (source, target), names, terminal))
    return join(members, graph.terminal_names, prefix=False)


def is_of_cables(graph: Graph) -> bool:
    """Return whether a network is a file in which terminals have several cables, and not one of planes."""
    first = graph.planes[0].graph
    return graph.several is not None and graph.link_names[: first.links] == first.link_names


def without_ports(graph: Graph) -> Graph:
    """Return the network whose links lead from and to terminals again, ready to be written to a file: what
    reads it back finds the same ports. Their logical addresses are in ``layout["link_addresses"]``, by link.
    """
    assert graph.several is not None
    order = _in_order_of_ports(graph)
    place = np.empty(graph.links, np.int64)
    place[order] = np.arange(graph.links)
    owner = np.concatenate([np.arange(graph.switches), graph.switches + graph.several.terminal])
    reverse = graph.link_reverse[order]
    planes = [plane.graph.positions for plane in graph.planes]
    placed = [one for one in planes if one is not None]
    out = place[graph.terminal_out_links]
    return Graph(
        switch_names=graph.switch_names,
        terminal_names=graph.terminal_names,
        link_source=owner[graph.link_source[order]],
        link_target=owner[graph.link_target[order]],
        link_reverse=np.where(reverse < 0, -1, place[reverse]),
        link_names=[graph.link_names[link] for link in order.tolist()],
        family="file",
        layout={"parameters": {}, "link_addresses": _addresses(graph, out.tolist())},
        positions=np.concatenate(placed) if len(placed) == len(planes) else None,
        attributes={name: values[order] for name, values in graph.attributes.items()},
    )


def whole_network(graph: Graph) -> Graph:
    """Return the graph whose links lead to terminals, not to ports. Raises GraphError for planes."""
    if graph.several is None:
        return graph
    if not is_of_cables(graph):
        message = "a network of planes is written plane by plane: take the graph of each of its planes"
        raise GraphError(message, "path")
    return without_ports(graph)


def _in_order_of_ports(graph: Graph) -> Ints:
    """Return all links, those of a plane in their order, so that each terminal's outgoing links are in the
    order of its ports, and of its incoming links those that no cable joins to an outgoing one: so a file
    numbers ports.
    """
    assert graph.several is not None
    terminal = graph.several.terminal.tolist()
    alone = graph.terminal_in_links[graph.link_reverse[graph.terminal_in_links] < 0]
    owner = {link: terminal[port] for port, link in enumerate(graph.terminal_in_links.tolist())}
    ordered = [
        ((at, "out"), link) for at, link in zip(terminal, graph.terminal_out_links.tolist(), strict=True)
    ]
    ordered += [((owner[link], "in"), link) for link in alone.tolist()]
    waits: dict[int, tuple[tuple[int, str], int]] = {}
    count: Counter[tuple[int, str]] = Counter()
    for own, link in ordered:
        waits[link] = (own, count[own])
        count[own] += 1
    starts = [plane.first_link for plane in graph.planes]
    queues = [deque(range(start, end)) for start, end in zip(starts, [*starts[1:], graph.links], strict=True)]
    done: Counter[tuple[int, str]] = Counter()
    found: list[int] = []
    while len(found) < graph.links:
        for queue in queues:
            while queue and (queue[0] not in waits or done[waits[queue[0]][0]] == waits[queue[0]][1]):
                link = queue.popleft()
                found.append(link)
                if link in waits:
                    done[waits[link][0]] += 1
    return np.array(found, np.int64)


def _addresses(graph: Graph, out: list[int]) -> dict[int, int]:
    """Return the logical addresses of ports; ``out``: per port, its outgoing link."""
    return {
        out[int(plane.port[at])]: address
        for plane in graph.planes
        for at, address in plane.graph.layout.get("addresses", {}).items()
    }


def _port_names(graph: Graph, cables: list[list[tuple[int, int]]]) -> list[str]:
    """Return port names: the terminal's name if it has one port, otherwise with a number appended."""
    return [
        f"{name}/{number}" if len(own) > 1 else name
        for name, own in zip(graph.terminal_names, cables, strict=True)
        for number in range(len(own))
    ]


def _member(
    graph: Graph,
    number: int,
    vertices: Ints,
    links: Ints,
    ends: tuple[Ints, Ints],
    names: list[str],
    of: Ints,
) -> Member:
    """Return one plane alone."""
    switches = vertices[vertices < graph.switches]
    ports = vertices[len(switches) :] - graph.switches
    place = np.full(graph.switches + len(of), -1)
    place[vertices] = np.arange(len(vertices))
    link = np.full(graph.links, -1)
    link[links] = np.arange(len(links))
    reverse = graph.link_reverse[links]
    alone = Graph(
        switch_names=[graph.switch_names[switch] for switch in switches.tolist()],
        terminal_names=[names[port] for port in ports.tolist()],
        link_source=place[ends[0][links]],
        link_target=place[ends[1][links]],
        link_reverse=np.where(reverse < 0, -1, link[reverse]),
        link_names=[graph.link_names[at] for at in links.tolist()],
        family="file",
        layout={"parameters": {}},
        positions=None if graph.positions is None else graph.positions[switches],
        attributes={name: values[links] for name, values in graph.attributes.items()},
        remarks=graph.remarks,
    )
    return Member(f"p{number}", alone, of[ports], ports)


def _components(vertices: int, source: Ints, target: Ints) -> Ints:
    from .raw import components

    return components(vertices, source, target)
