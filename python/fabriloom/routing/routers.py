"""Routing tables in the form of routers: ports by logical address, and paths as port bytes.

Ports and logical addresses are those of the graph file. Missing ones are numbered in file order: the cables
of a switch from port 1, the terminals from address 32.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..topology.graph import Graph
from ..topology.port_addresses import FIRST_ADDRESS, FIRST_PORT, LAST_NUMBER
from .check import path
from .distribution import Distribution
from .table import NONE, RouteTable, RoutingError


@dataclass(frozen=True)
class Entry:
    """The ports to which a router sends packets with a logical address."""

    address: int
    terminal: str
    ports: tuple[int, ...]
    """A packet takes any free one; in order of preference."""
    high: bool = False
    """Whether its packets have priority."""
    all: bool = False
    """Whether a packet goes to all of these ports instead of a free one."""


@dataclass(frozen=True)
class Router:
    """The routing table of a switch."""

    name: str
    entries: tuple[Entry, ...]


def ports(graph: Graph, last: int = LAST_NUMBER) -> list[int | None]:
    """Return, per link, the port of its switch; None if it leaves a terminal. Raises RoutingError."""
    given = graph.attributes.get("source_port", np.full(graph.links, np.nan))
    taken: dict[int, set[int]] = {}
    for link, port in enumerate(given.tolist()):
        if port == port:
            taken.setdefault(int(graph.link_source[link]), set()).add(int(port))
    found: list[int | None] = []
    following = dict.fromkeys(range(graph.switches), FIRST_PORT)
    for link, port in enumerate(given.tolist()):
        switch = int(graph.link_source[link])
        if switch >= graph.switches:
            found.append(None)
        elif port == port:
            found.append(int(port))
        else:
            while following[switch] in taken.get(switch, ()):
                following[switch] += 1
            if following[switch] > last:
                name = graph.switch_names[switch]
                raise RoutingError(f"{name} has more links than the {last} ports of a router")
            found.append(following[switch])
            following[switch] += 1
    return found


def _ports_out(graph: Graph, last: int = LAST_NUMBER) -> dict[int, int]:
    """Return the ports by link, of links that leave a switch."""
    return {link: port for link, port in enumerate(ports(graph, last)) if port is not None}


def addresses(graph: Graph, spread: Sequence[Distribution] = (), last: int = LAST_NUMBER) -> list[int]:
    """Return the logical address of each terminal, then of each distribution. Raises RoutingError."""
    own: dict[int, int] = graph.layout.get("addresses", {})
    given = [*(own.get(terminal) for terminal in range(graph.terminals)), *(one.address for one in spread)]
    free = iter(sorted(set(range(FIRST_ADDRESS, last + 1)) - set(given)))
    found = []
    for address in given:
        if address is None:
            address = next(free, None)
        if address is None:
            count = last - FIRST_ADDRESS + 1
            raise RoutingError(f"{len(given)} targets are more than the {count} logical addresses")
        found.append(address)
    return found


def routers(
    graph: Graph,
    table: RouteTable,
    high: Collection[int] = (),
    spread: Sequence[Distribution] = (),
    last: tuple[int, int] = (LAST_NUMBER, LAST_NUMBER),
) -> list[Router]:
    """Return the routing table of every switch, by logical address.

    ``high``: terminals whose packets have priority; ``spread``: addresses of several terminals; ``last``: the
    highest port and the highest address. Raises RoutingError.
    """
    port, address = _ports_out(graph, last[0]), addresses(graph, spread, last[1])
    found = []
    for switch, name in enumerate(graph.switch_names):
        entries = []
        for terminal, name_of in enumerate(graph.terminal_names):
            entry = int(table.route[switch, table.terminal_class[terminal]])
            if entry != NONE:
                by = tuple(dict.fromkeys(port[link] for link in table.group(entry >> 1).tolist()))
                entries.append(Entry(address[terminal], name_of, by, terminal in high))
        for one, number in zip(spread, address[graph.terminals :], strict=True):
            if switch in one.links:
                by = tuple(sorted(port[link] for link in one.links[switch]))
                entries.append(Entry(number, one.name, by, all=True))
        found.append(Router(name, tuple(sorted(entries, key=lambda entry: entry.address))))
    return found


def path_bytes(graph: Graph, table: RouteTable, source: int, target: int) -> list[int]:
    """Return the path address from one terminal to another: one port per router, of the preferred links.

    Raises RoutingError.
    """
    port = _ports_out(graph)
    return [port[link] for link in path(graph, table, source, target)[1:]]


def as_csv(found: Iterable[Router]) -> str:
    """Return lines of router, logical_address, terminal and ports.

    There is a column for priority if any address has it, and a column ``take`` if packets go to all ports of
    an entry.
    """
    found = list(found)
    ranked = any(entry.high for router in found for entry in router.entries)
    spread = any(entry.all for router in found for entry in router.entries)
    head = f"{',priority' if ranked else ''}{',take' if spread else ''}"
    lines = [f"router,logical_address,terminal,ports{head}"]
    for router in found:
        for entry in router.entries:
            ports_of = " ".join(map(str, entry.ports))
            rank = f",{'high' if entry.high else 'low'}" if ranked else ""
            take = f",{'all' if entry.all else 'one'}" if spread else ""
            cells = f"{_cell(router.name)},{entry.address},{_cell(entry.terminal)}"
            lines.append(f"{cells},{ports_of}{rank}{take}")
    return "\n".join([*lines, ""])


def paths_as_csv(graph: Graph, table: RouteTable, pairs: Iterable[tuple[int, int]]) -> str:
    """Return lines of source, target and path, the port bytes of a path address separated by spaces."""
    lines = ["source,target,path"]
    for source, target in pairs:
        names = (_cell(graph.terminal_names[end]) for end in (source, target))
        way = " ".join(map(str, path_bytes(graph, table, source, target)))
        lines.append(f"{','.join(names)},{way}")
    return "\n".join([*lines, ""])


def fits_masks(found: Iterable[Router]) -> bool:
    """Whether C code can hold the tables: ports below 32, addresses of one byte."""
    entries = [entry for router in found for entry in router.entries]
    return all(entry.address < 256 and max(entry.ports) < 32 for entry in entries)


def as_c(found: Iterable[Router], about: str) -> str:
    """Return C99 code: per router, an array of port masks by logical address."""
    lines = [
        f"/* {_comment(about)}",
        " * Routing tables by logical address: if bit n of an entry is set, packets may leave by port n;",
        " * an entry of 0 has no route. */",
        "#include <stdint.h>",
    ]
    found = list(found)
    for router, name in zip(found, identifiers([router.name for router in found]), strict=True):
        lines += ["", f"const uint32_t {name}[256] = {{"]
        for entry in router.entries:
            mask = sum(1 << port for port in entry.ports)
            ports_of = " ".join(map(str, entry.ports))
            more = f"{', high priority' if entry.high else ''}{', to all of them' if entry.all else ''}"
            about_it = f"{_comment(entry.terminal)}: port {ports_of}{more}"
            lines.append(f"    [{entry.address}] = 0x{mask:08x}, /* {about_it} */")
        lines.append("};")
    return "\n".join([*lines, ""])


def identifiers(names: Sequence[str]) -> list[str]:
    """Return the name of the array in C of each router."""
    used: dict[str, None] = {}
    for name in names:
        word = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "router"
        word = f"router_{word}" if word[0].isdigit() else word
        number, found = 2, word
        while found in used:
            number, found = number + 1, f"{word}_{number}"
        used[found] = None
    return [*used]


def _comment(text: str) -> str:
    return text.replace("*/", "* /")


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n') else text
