"""Logical addresses of the ports of terminals, as graph files give them.

The address in the line of a terminal is that of its first port in each network; networks that share only
terminals have addresses of their own. The address in the line of a cable is that of the port at this cable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .graph import Graph

if TYPE_CHECKING:
    from .raw import RawGraph, RawLink, RawVertex

FIRST_PORT, LAST_PORT = 1, 31
"""Ports that a path address of SpaceWire can name; 0 is the configuration port of a router."""
FIRST_ADDRESS, LAST_ADDRESS = 32, 254
"""Logical addresses of SpaceWire; smaller numbers are ports, and 255 is reserved (ECSS-E-ST-50-12C)."""
Cables = list[list[tuple[int, int]]]


def check_ends(raw: RawGraph) -> None:
    """Refuse the address of a cable without a terminal, or with one at both ends. Raises GraphError."""
    for link in raw.links:
        ends = sum(raw.vertices[end].terminal for end in (link.source, link.target))
        if link.address is not None and ends != 1:
            why = "neither end is one" if ends == 0 else "both ends are: give it in the line of the terminal"
            raw.fail(f"a logical address is of a terminal, and {why}", link.where, "address")


def given(raw: RawGraph, graph: Graph, cables: Cables) -> Graph:
    """Put the given addresses into the layout of each plane of ``graph``, by terminal of the plane.

    ``cables``: per terminal, the outgoing and incoming link of each port. Raises GraphError for an address
    that two ports of one plane have.
    """
    terminals = [vertex for vertex in raw.vertices.values() if vertex.terminal]
    owners = [(terminal, pair) for terminal, own in enumerate(cables) for pair in own]
    for plane in graph.planes:
        found: dict[int, tuple[int, str, str]] = {}
        first: set[int] = set()
        for number, port in enumerate(plane.port.tolist()):
            terminal, pair = owners[port]
            vertex = terminals[terminal]
            address, where = _of_port(raw, vertex, [raw.links[link] for link in pair], terminal not in first)
            first.add(terminal)
            if address is None:
                continue
            for other, name, place in found.values():
                if other == address:
                    message = f'the logical address {address} is that of "{name}" already ({place})'
                    raw.fail(message, where, "address")
            found[number] = (address, graph.port_names[port], where)
        if found:
            plane.graph.layout["addresses"] = {number: entry[0] for number, entry in found.items()}
    return graph


def _of_port(
    raw: RawGraph, vertex: RawVertex, links: Sequence[RawLink], first: bool
) -> tuple[int | None, str]:
    """Return the address of a port and its place in the file; ``first``: the first one in its network."""
    own = next((link for link in links if link.address is not None), None)
    if own is None:
        return (vertex.address if first else None), vertex.where
    if first and vertex.address is not None:
        raw.fail(
            f'"{vertex.name}" has the logical address {vertex.address} at this cable ({vertex.where}); give '
            "one of the two",
            own.where,
            "address",
        )
    return own.address, own.where
