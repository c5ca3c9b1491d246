"""Service levels: the lane of a packet follows from its sender and target, as a subnet manager says it.

A level is a lane. A packet keeps it on its whole path, so packets of different levels never wait for each
other, and each level needs to be free of cycles by itself. In InfiniBand the level is in the record of a
path, and switches map it to the lane with its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import units
from ..topology.graph import Graph
from .check import reached
from .native import Core, columns
from .own_table import fault, rows_of
from .table import NONE, Levels, RouteTable, RoutingError, check_size
from .up_down import shortest_path

HEADINGS = ["source", "target", "level"]
MOST_LEVELS = 16


def read_levels(graph: Graph, path: str | Path) -> Levels:
    """Read a CSV file with the columns source, target and level; other pairs have level 0.

    A switch stands for its terminals, and rows of terminals go before. Raises ``RoutingError`` with the line.
    """
    check_size(graph.terminals, graph.terminals, "path")
    names = {name: number for number, name in enumerate([*graph.switch_names, *graph.terminal_names])}
    lines: dict[tuple[int, int], int] = {}
    level: dict[tuple[int, int], int] = {}
    for line, (source, target, word) in rows_of(path, HEADINGS):
        ends = _vertex(names, line, source, "source"), _vertex(names, line, target, "target")
        if lines.setdefault(ends, line) != line:
            raise fault(line, f"this pair was given in line {lines[ends]} already", "source")
        if not (word.isascii() and word.isdecimal() and int(word[:9]) < MOST_LEVELS):
            raise fault(line, f'"{word[:20]}" is no level: write 0 to {MOST_LEVELS - 1}', "level")
        level[ends] = int(word)
    found = np.zeros((graph.terminals, graph.terminals), np.uint8)
    for ends in sorted(level, key=lambda pair: sum(end >= graph.switches for end in pair)):
        rows, columns = (_terminals(graph, end) for end in ends)
        found[np.ix_(rows, columns)] = level[ends]
    each = np.arange(graph.terminals, dtype=np.uint32)
    return Levels(each, each, found)


def _vertex(names: dict[str, int], line: int, name: str, column: str) -> int:
    if name not in names:
        near = units.nearest(name, list(names))
        hint = f'; did you mean "{near}"?' if near else ""
        raise fault(line, f'there is no terminal or switch "{name[:60]}"{hint}', column)
    return names[name]


def _terminals(graph: Graph, vertex: int) -> NDArray[Any]:
    """Return a terminal, or those of a switch."""
    if vertex >= graph.switches:
        return np.array([vertex - graph.switches])
    return np.flatnonzero(graph.terminal_entry_switches == vertex)


def check_alone(table: RouteTable, given: dict[str, bool]) -> None:
    """Raise ``RoutingError`` for what chooses lanes besides service levels; ``given``: more, in words."""
    beside = {
        "lanes that the table names itself": table.group_lanes is not None,
        "layers of lanes": table.layer is not None,
        "random switches": len(table.via_switch) > 0,
        **given,
    }
    for what in (what for what, there in beside.items() if there):
        raise RoutingError(f"service levels do not go with {what}: leave one of them out", "service_levels")


def lash(graph: Graph, spread: str, via: Sequence[int]) -> RouteTable:
    """Return minimal paths with the service levels by which they cannot deadlock, as many as it takes.

    Each pair of a sender's switch and a target has the lowest level in which no dependency of its packets
    closes a cycle (T. Skeie, O. Lysne and I. Theiss, IPDPS 2002).

    Raises:
        RoutingError: with random switches, to which and from which a packet would need a level each.
    """
    if len(via):
        raise RoutingError("a packet has one service level: leave universal routing out", "universal")
    table = shortest_path(graph, spread, via)
    column = table.terminal_class if table.shared is None else table.shared.column[table.terminal_class]
    found = np.asarray(Core(graph).levels(columns(table)), np.uint8).reshape(graph.switches, -1)
    levels = Levels(graph.terminal_entry_switches.astype(np.uint32), column.astype(np.uint32), found)
    plural = "s" if levels.count > 1 else ""
    note = f"minimal paths on {levels.count} service level{plural}"
    return replace(table, levels=levels, kind="lash", note=note)


def of_level(graph: Graph, table: RouteTable, level: int) -> RouteTable:
    """Return the entries of a table that packets of a level meet."""
    assert table.levels is not None
    table, levels = table.full(), table.levels
    starts = np.zeros(table.rows.shape, bool)
    ends = np.stack([graph.terminal_entry_switches, levels.row], axis=1)
    for switch, row in np.unique(ends[ends[:, 0] < graph.switches], axis=0).tolist():
        own = levels.of[row][levels.column] == level
        starts[switch, table.terminal_class[own]] = True
    rows = np.where(reached(graph, table, starts), table.rows, NONE).astype(np.uint32)
    return replace(table, rows=rows, entered="where-known", levels=None)
