"""Terminals with several ports: networks that share only their terminals.

And cables besides those of a family or a file: what if these two switches were joined as well?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..units import nearest
from .graph import MAX_LINKS, Graph, GraphError, Ints, Plane, Ports, counted
from .rings import Rings

MOST_PORTS = 8
"""Limit of the ports of a terminal; see ``crates/engine/src/fabric``."""


@dataclass(frozen=True)
class Member:
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
        rings=_rings(planes, [member.terminal for member in members], len(terminal_names), prefix),
        several=Ports([names[at] for at in order], terminal[order], tuple(planes)),
        remarks=tuple(dict.fromkeys(remark for plane in planes for remark in plane.graph.remarks)),
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


def _rings(planes: Sequence[Plane], terminal: Sequence[Ints], terminals: int, prefix: bool) -> Rings | None:
    """Return the rings of all planes as those of one network, None for networks of links.

    ``terminal``: per plane and terminal of its graph, the number in the whole network.
    """
    if not planes[0].graph.network_kind.buses:
        return None
    own = [plane.graph.own_rings for plane in planes]
    ports = np.cumsum([0, *(rings.ports for rings in own)])
    rings = np.cumsum([0, *(one.rings for one in own)])
    return Rings(
        station_next=np.concatenate(
            [one.station_next + plane.first_link for one, plane in zip(own, planes, strict=True)]
        ),
        station_ring=np.concatenate([one.station_ring + rings[at] for at, one in enumerate(own)]),
        port_start=np.concatenate(
            [*(one.port_start[:-1] + ports[at] for at, one in enumerate(own)), ports[-1:]]
        ),
        port_station=np.concatenate(
            [one.port_station + plane.first_link for one, plane in zip(own, planes, strict=True)]
        ),
        bus_count=np.concatenate([one.bus_count for one in own]),
        ring_names=[
            f"{plane.name}/{name}" if prefix else name
            for one, plane in zip(own, planes, strict=True)
            for name in one.ring_names
        ],
        role=_roles(own, terminal, terminals),
        partner=_partners(own, terminal, terminals),
        part_of=_parts(own),
        separate_buses=any(rings.separate_buses for rings in own),
    )


def _parts(own: Sequence[Rings]) -> Ints | None:
    """Return, per switch, the switch that it is a part of; None if every switch is a whole one."""
    if all(rings.part_of is None for rings in own):
        return None
    parts, first = [], 0
    for rings in own:
        part = np.arange(len(rings.bus_count)) if rings.part_of is None else rings.part_of
        parts.append(part + first)
        first += int(part.max(initial=-1)) + 1
    return np.concatenate(parts)


def _roles(own: Sequence[Rings], terminal: Sequence[Ints], terminals: int) -> list[str] | None:
    """Return, per terminal, whether it sends or receives by any of its ports; None if all do both."""
    if all(rings.role is None for rings in own):
        return None
    can = {role: np.zeros(terminals, bool) for role in ("sender", "receiver")}
    for rings, number in zip(own, terminal, strict=True):
        for role, found in can.items():
            found[number[rings.terminals_of(role, len(number))]] = True
    return [
        "both" if sends and receives else "sender" if sends else "receiver"
        for sends, receives in zip(*can.values(), strict=True)
    ]


def _partners(own: Sequence[Rings], terminal: Sequence[Ints], terminals: int) -> Ints:
    """Return the partner of each terminal: that in the first plane in which it has one."""
    found = np.full(terminals, -1, np.int64)
    for rings, number in zip(own, terminal, strict=True):
        partner = np.where(rings.partner < 0, -1, number[rings.partner])
        found[number] = np.where(found[number] < 0, partner, found[number])
    return found


_HERE = "more_cables"
_KEPT = ("addresses",)
"""What holds of a network whatever else is joined; the rest of a layout is the structure of its family."""


def with_cables(graph: Graph, cables: Sequence[Sequence[str]]) -> Graph:
    """Return a network with a cable more between each pair of switches, as fast as the technology has it.

    Routing, lanes and traffic take it for any graph, as one of a file; switches keep their places in
    drawings.

    Raises:
        GraphError: there is no such switch, a cable has one end, or terminals have several ports.
    """
    if not cables:
        return graph
    if graph.several is not None or not graph.network_kind.cables:
        raise GraphError("more_cables is for networks of links whose terminals have one port", _HERE)
    links = graph.links + 2 * len(cables)
    if links > MAX_LINKS:
        raise GraphError(f"more_cables makes {counted(links)} links; at most {MAX_LINKS:,} are built", _HERE)
    number = {name: place for place, name in enumerate(graph.switch_names)}
    pairs = np.array([[_switch(number, name) for name in _two(cable)] for cable in cables], np.int64)
    kept = {key: graph.layout[key] for key in _KEPT if key in graph.layout}
    ends = pairs.repeat(2, axis=0)
    ends[1::2] = pairs[:, ::-1]
    return replace(
        graph,
        link_source=np.concatenate([graph.link_source, ends[:, 0]]),
        link_target=np.concatenate([graph.link_target, ends[:, 1]]),
        link_reverse=np.concatenate([graph.link_reverse, graph.links + (np.arange(len(ends)) ^ 1)]),
        link_names=[*graph.link_names, *_names(graph, ends)],
        family="file",
        layout={"parameters": {}, "made_of": graph.family, **kept},
        attributes={name: np.append(own, [np.nan] * len(ends)) for name, own in graph.attributes.items()},
    )


def _two(cable: Sequence[str]) -> Sequence[str]:
    if len(cable) != 2 or cable[0] == cable[1]:
        raise GraphError(f"a cable joins two switches, not {', '.join(cable) or 'none'}", _HERE)
    return cable


def _switch(number: dict[str, int], name: str) -> int:
    if name in number:
        return number[name]
    near = nearest(name, [*number][:20_000])
    hint = f'did you mean "{near}"?' if near else f'switches are called as in "{next(iter(number), "")}"'
    raise GraphError(f'there is no switch "{name[:60]}"; {hint}', _HERE)


def _names(graph: Graph, ends: np.ndarray) -> list[str]:
    """Return names of links: of parallel ones the number too, whether those before have one or not."""
    parallel = Counter(name.split("#")[0] for name in graph.link_names)
    found = list[str]()
    for one, other in ends.tolist():
        plain = f"{graph.switch_names[one]}>{graph.switch_names[other]}"
        found.append(f"{plain}#{parallel[plain]}" if parallel[plain] else plain)
        parallel[plain] += 1
    return found
