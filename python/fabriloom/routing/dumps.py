"""Routing tables as files for others: by name with lanes, and as InfiniBand managers dump them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .lanes import divide
from .levels import HEADINGS
from .routers import ports
from .table import NONE, RouteTable, RoutingError
from .up_down import one_way

LAST_LID = 0xBFFF
LAST_PORT = 254


def by_name(graph: Graph, whole: RouteTable, lanes: int, choice: str | None = None) -> str:
    """Return lines of switch, terminal and links, with their lanes where packets may not take all.

    ``choice``: the choice of lanes, see :func:`divide`. The routing "table" reads the lines. Raises
    RoutingError for a table with intermediate switches, which no line can express.
    """
    if len(whole.via_switch):
        raise RoutingError("a table by name cannot say that packets go over a random switch", "kind")
    table = divide(graph, whole, lanes, choice)
    words = [_words(graph, table.group(group).tolist(), lanes) for group in range(table.groups)]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    by_level = table.by_source is not None
    lines.writerow(["switch", "terminal", "links", *(["level"] if by_level else [])])
    for switch, row in enumerate(table.route[:, table.terminal_class]):
        for aim in np.flatnonzero(row != NONE).tolist():
            level, terminal = divmod(aim, graph.terminals)
            cells = graph.switch_names[switch], graph.terminal_names[terminal], words[int(row[aim]) >> 1]
            lines.writerow([*cells, *([level] if by_level else [])])
    return text.getvalue()


def _words(graph: Graph, members: list[int], lanes: int) -> str:
    """Return the links of a group, with their lanes unless each may be taken by all of its own."""
    links = dict.fromkeys(member // lanes for member in members)
    if len(members) == len(links) * lanes:
        return " ".join(graph.link_names[link] for link in links)
    return " ".join(f"{graph.link_names[member // lanes]}/{member % lanes}" for member in members)


def levels(graph: Graph, table: RouteTable) -> str:
    """Return source, target and level of all pairs but those of level 0; a switch stands for its terminals.

    ``service_levels`` of a routing reads the lines.
    """
    given = table.levels or table.by_source
    assert given is not None
    ends = [
        _ends(graph, numbers, count)
        for numbers, count in zip((given.row, given.column), given.of.shape, strict=True)
    ]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(HEADINGS)
    for row, column in np.argwhere(given.of > 0).tolist():
        pairs = ((source, target) for source in ends[0][row] for target in ends[1][column])
        lines.writerows((source, target, given.of[row, column]) for source, target in pairs)
    return text.getvalue()


def _ends(graph: Graph, numbers: NDArray[np.uint32], count: int) -> list[list[str]]:
    """Return the terminals with each number, as their switch if they are all of its own, by name."""
    home = graph.terminal_entry_switches
    own = np.bincount(home, minlength=graph.switches)
    found = list[list[str]]()
    for number in range(count):
        terminals = np.flatnonzero(numbers == number)
        switch = home[terminals[:1]].tolist()
        whole = switch and len(terminals) == own[switch[0]] and bool((home[terminals] == switch[0]).all())
        names = (
            [graph.switch_names[switch[0]]]
            if whole
            else [graph.terminal_names[at] for at in terminals.tolist()]
        )
        found.append(names)
    return found


def fits_forwarding(graph: Graph, table: RouteTable) -> bool:
    """Whether forwarding tables hold the routes: one port for each LID, two-way cables, no layers."""
    single = bool((np.diff(table.group_start.astype(np.int64)) == 1).all())
    lids = graph.switches + graph.terminals
    plain = not len(table.via_switch) and table.layer is None and table.group_lanes is None
    cabled = graph.switches > 0 and not one_way(graph) and bool((graph.link_reverse >= 0).all())
    return single and plain and cabled and lids <= LAST_LID and len(set(_names(graph))) == lids


def _names(graph: Graph, hosts: Sequence[str] = ()) -> list[str]:
    """Return the names of vertices as a dump can hold them; ``hosts``: others of terminals."""
    return [name.replace('"', "'") for name in (*graph.switch_names, *(hosts or graph.terminal_names))]


def ibnetdiscover(graph: Graph, rail: int = 0, hosts: Sequence[str] = ()) -> str:
    """Return the network as ``ibnetdiscover`` prints it; LIDs from 1, switches first. Rates are left out.

    ``rail``: its number among several, of which GUIDs differ; ``hosts``: per terminal, another name.
    """
    port, names = ports(graph, LAST_PORT), _names(graph, hosts)
    guid = [_guid(at, rail) for at in range(len(names))]
    key = [f"{'S' if at < graph.switches else 'H'}-{guid[at]:016x}" for at in range(len(names))]
    leaving: list[list[int]] = [[] for _ in names]
    for link, vertex in enumerate(graph.link_source.tolist()):
        leaving[vertex].append(link)
    lines = ["#", "# Topology file: written by Fabriloom", "#"]
    for vertex, name in enumerate(names):
        is_switch = vertex < graph.switches
        kind, word = ("switchguid", "Switch") if is_switch else ("caguid", "Ca")
        count = max(port[link] or 1 for link in leaving[vertex])
        lid = f" enhanced port 0 lid {vertex + 1} lmc 0" if is_switch else ""
        lines += ["", f"{kind}=0x{guid[vertex]:x}", f'{word}\t{count} "{key[vertex]}"\t\t# "{name}"{lid}']
        for link in sorted(leaving[vertex], key=lambda one: port[one] or 1):
            far = int(graph.link_target[link])
            back = port[int(graph.link_reverse[link])] or 1
            own = f"[{port[link] or 1}]" + ("" if is_switch else f"({guid[vertex] + 1:x})")
            end = f"[{back}]" + (f"({guid[far] + 1:x})" if far >= graph.switches else "")
            about = f'"{names[far]}" lid {far + 1}' if is_switch else f'lid {vertex + 1} lmc 0 "{names[far]}"'
            lines.append(f'{own} \t"{key[far]}"{end} \t\t# {about}')
    return "\n".join([*lines, ""])


def _guid(vertex: int, rail: int) -> int:
    return rail << 40 | (vertex + 1) << 8


def lfts(graph: Graph, table: RouteTable, rail: int = 0, hosts: Sequence[str] = ()) -> str:
    """Return the linear forwarding tables as ``dump_lfts`` prints them, for :func:`ibnetdiscover`."""
    return "\n".join([*_lfts(graph, table, rail, _names(graph, hosts)), ""])


def _lfts(graph: Graph, table: RouteTable, rail: int, names: list[str]) -> Iterator[str]:
    port = ports(graph, LAST_PORT)
    most = graph.switches + graph.terminals
    for switch, row in enumerate(table.route[:, table.terminal_class]):
        where = f"guid 0x{_guid(switch, rail):016x} ('{names[switch]}')"
        yield f"Unicast lids [0x0-0x{most:x}] of switch Lid {switch + 1} {where}:"
        found = np.flatnonzero(row != NONE).tolist()
        for terminal in found:
            vertex = graph.switches + terminal
            by = port[int(table.group(int(row[terminal]) >> 1)[0])]
            about = f"# Channel Adapter portguid 0x{_guid(vertex, rail) + 1:016x}: '{names[vertex]}'"
            yield f"0x{vertex + 1:04x} {by:03d} {about}"
        yield f"{len(found)} lids dumped"
