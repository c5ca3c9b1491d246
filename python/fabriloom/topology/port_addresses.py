"""Logical addresses of the ports of terminals, as graph files give them.

The address in the line of a terminal is that of its first port in each network; networks that share only
terminals have addresses of their own. The address in the line of a cable is that of the port at this cable,
also in a further network, whose first port the cable may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .graph import Graph, GraphError

if TYPE_CHECKING:
    from .raw import RawGraph, RawLink, RawVertex

LAST_NUMBER = 2**16 - 1
"""The highest port and address that any technology has; a preset may allow fewer."""
FIRST_PORT, FIRST_ADDRESS = 1, 32
"""From here ports and logical addresses are numbered that a file does not give."""
PORTS = ("source_port", "target_port")
Cables = list[list[tuple[int, int]]]


class Limits(Protocol):
    """The numbers that a technology has."""

    @property
    def first_port(self) -> int: ...
    @property
    def last_port(self) -> int: ...
    @property
    def first_address(self) -> int: ...
    @property
    def last_address(self) -> int: ...
    @property
    def preset(self) -> str: ...


@dataclass(frozen=True)
class Number:
    """A port or an address as a file gives it, with its place."""

    key: str
    value: int
    shown: str
    origin: str
    where: str


def keep_extremes(extremes: dict[tuple[bool, str], Number], number: Number) -> None:
    """Keep the lowest and the highest port and address, which the technology may not have."""
    kind = number.key in PORTS
    low, high = (extremes.setdefault((kind, end), number) for end in ("low", "high"))
    if number.value < low.value:
        extremes[kind, "low"] = number
    if number.value > high.value:
        extremes[kind, "high"] = number


def check_limits(graph: Graph, limits: Limits) -> None:
    """Refuse the first port or address of a graph file that the technology has not. Raises GraphError."""
    for number in graph.extremes:
        of_port = number.key in PORTS
        least, most = (
            (limits.first_port, limits.last_port) if of_port else (limits.first_address, limits.last_address)
        )
        if least <= number.value <= most:
            continue
        message = f"{number.key} is {number.shown}; in {limits.preset} it goes from {least} to {most}"
        if of_port and number.value == 0:
            message += ", 0 is the configuration port of a router"
        elif not of_port and most < 2**8:
            message += ": lower ones are ports of a router, 255 is reserved"
        place = ": ".join(part for part in (number.origin, number.where, message) if part)
        raise GraphError(place, "path", number.key)


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
    before: set[int] = set()
    for plane in graph.planes:
        found: dict[int, tuple[int, str, str]] = {}
        first: set[int] = set()
        for number, port in enumerate(plane.port.tolist()):
            terminal, pair = owners[port]
            vertex = terminals[terminal]
            links = [raw.links[link] for link in pair]
            address, where = _of_port(raw, vertex, links, terminal not in first, terminal not in before)
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
        before |= first
    return graph


def _of_port(
    raw: RawGraph, vertex: RawVertex, links: Sequence[RawLink], first: bool, alone: bool
) -> tuple[int | None, str]:
    """Return the address of a port and its place in the file.

    ``first``: the first one of its terminal in its network; ``alone``: no earlier network has the terminal.
    """
    own = next((link for link in links if link.address is not None), None)
    if own is None:
        return (vertex.address if first else None), vertex.where
    if first and alone and vertex.address is not None:
        raw.fail(
            f'"{vertex.name}" has the logical address {vertex.address} at this cable ({vertex.where}); give '
            "one of the two",
            own.where,
            "address",
        )
    return own.address, own.where
