"""Graph files in which terminals have several cables: each is a port; components form planes."""

from __future__ import annotations

import numpy as np

from .graph import Graph, Ints
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
    )
    return Member(f"p{number}", alone, of[ports], ports)


def _components(vertices: int, source: Ints, target: Ints) -> Ints:
    from .raw import components

    return components(vertices, source, target)
