"""Terminals with several ports: networks that share only their terminals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .graph import MAX_LINKS, Graph, GraphError, Ints, Plane, Ports, counted

MOST_PORTS = 8
"""Limit of the ports of a terminal; see ``crates/engine/src/fabric``."""


@dataclass(frozen=True)
class Member:
    """A network to be joined with others."""

    name: str
    graph: Graph
    terminal: Ints
    """Per terminal of ``graph``: the number of the terminal whose port it is, in the whole network."""
    port: Ints
    """Per terminal of ``graph``: a number that orders the ports of one terminal."""


def replicate(graph: Graph, planes: int) -> Graph:
    """Return several copies of a network; each terminal has one port in each, in order.

    One plane is the network itself. Raises ``GraphError`` if the result is too large.
    """
    if planes == 1:
        return graph
    if graph.several is not None:
        message = "replicate is for networks whose terminals have one port; remove it, or the further cables"
        raise GraphError(message, "replicate")
    if planes * graph.links > MAX_LINKS:
        raise GraphError(
            f"replicate asks for {counted(planes * graph.links)} links; at most {MAX_LINKS:,} are built. "
            "Make replicate or the network smaller",
            "replicate",
        )
    own = np.arange(graph.terminals)
    return join(
        [Member(f"p{plane}", graph, own, np.full(len(own), plane)) for plane in range(planes)],
        graph.terminal_names,
    )


def join(members: Sequence[Member], terminal_names: list[str], prefix: bool = True) -> Graph:
    """Return one graph of several networks: switches and links plane by plane, ports terminal by terminal.

    ``prefix``: put the name of the network in front of switch and link names, so that they are unique.
    """
    terminal = np.concatenate([member.terminal for member in members])
    order = np.lexsort((np.concatenate([member.port for member in members]), terminal))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    ends = np.cumsum([0, *(len(member.terminal) for member in members)])
    switches = np.cumsum([0, *(member.graph.switches for member in members)])
    links = np.cumsum([0, *(member.graph.links for member in members)])
    planes = [
        Plane(member.name, member.graph, number[ends[at] : ends[at + 1]], int(switches[at]), int(links[at]))
        for at, member in enumerate(members)
    ]

    def named(kind: str) -> list[str]:
        before = [f"{plane.name}/" if prefix else "" for plane in planes]
        own = [getattr(plane.graph, kind) for plane in planes]
        return [f"{head}{name}" for head, names in zip(before, own, strict=True) for name in names]

    names = named("terminal_names")
    families = [member.graph.family for member in members]
    vertices = [_vertices(plane, int(switches[-1])) for plane in planes]
    reverse = [
        np.where(plane.graph.link_reverse < 0, -1, plane.graph.link_reverse + plane.first_link)
        for plane in planes
    ]
    return Graph(
        switch_names=named("switch_names"),
        terminal_names=list(terminal_names),
        link_source=np.concatenate(
            [at[plane.graph.link_source] for at, plane in zip(vertices, planes, strict=True)]
        ),
        link_target=np.concatenate(
            [at[plane.graph.link_target] for at, plane in zip(vertices, planes, strict=True)]
        ),
        link_reverse=np.concatenate(reverse),
        link_names=named("link_names"),
        family=families[0] if len(set(families)) == 1 else "planes",
        attributes=_attributes(planes),
        several=Ports([names[at] for at in order], terminal[order], tuple(planes)),
    )


def _vertices(plane: Plane, switches: int) -> Ints:
    """Return, per vertex of a plane, its number in the whole network."""
    return np.concatenate([plane.first_switch + np.arange(plane.graph.switches), switches + plane.port])


def _attributes(planes: Sequence[Plane]) -> dict[str, NDArray[np.float64]]:
    """Return the attributes of links, NaN where a plane gives none."""
    names = {name for plane in planes for name in plane.graph.attributes}
    return {
        name: np.concatenate(
            [
                np.asarray(plane.graph.attributes.get(name, np.full(plane.graph.links, np.nan)), np.float64)
                for plane in planes
            ]
        )
        for name in sorted(names)
    }
