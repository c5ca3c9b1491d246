"""Service levels: the lane of a packet follows from its sender and target, as a subnet manager says it.

A level is a lane. A packet keeps it on its whole path, so packets of different levels never wait for each
other, and each level needs to be free of cycles by itself. In InfiniBand the level is in the record of a
path, and switches map it to the lane with its number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .check import reached
from .native import Core, columns
from .own_table import MOST_LEVELS, fault, numbered, rows_of
from .table import NONE, ByPair, RouteTable, RoutingError, check_size
from .up_down import shortest_path

HEADINGS = ["source", "target", "level"]
_NO_LEVELS = np.zeros(0, np.uint8)


def read_levels(graph: Graph, path: str | Path, elsewhere: Collection[str] = ()) -> ByPair:
    """Read a CSV file with the columns source, target and level; other pairs have level 0.

    A switch stands for its terminals, and rows of terminals go before. Rows whose source is a name
    ``elsewhere``, in another plane, are passed over. Raises ``RoutingError`` with the line.
    """
    check_size(graph.terminals, graph.terminals, "path")
    names = {name: number for number, name in enumerate([*graph.switch_names, *graph.terminal_names])}
    given: dict[tuple[int, int], tuple[int, int]] = {}
    for line, (source, target, word) in rows_of(path, HEADINGS, elsewhere):
        one = numbered(names, line, source, "source", "terminal or switch")
        other = numbered(names, line, target, "target", "terminal or switch")
        if (one, other) in given:
            before, _ = given[one, other]
            raise fault(line, f"this pair was given in line {before} already", "source")
        if not (word.isascii() and word.isdecimal() and int(word[:9]) < MOST_LEVELS):
            raise fault(line, f'"{word[:20]}" is no level: write 0 to {MOST_LEVELS - 1}', "level")
        given[one, other] = line, int(word)
    found = np.zeros((graph.terminals, graph.terminals), np.uint8)
    for ends in sorted(given, key=lambda pair: sum(end >= graph.switches for end in pair)):
        rows, columns = (_terminals(graph, end) for end in ends)
        found[np.ix_(rows, columns)] = given[ends][1]
    each = np.arange(graph.terminals, dtype=np.uint32)
    return ByPair(each, each, found)


def _terminals(graph: Graph, vertex: int) -> NDArray[Any]:
    """Return a terminal, or those of a switch."""
    if vertex >= graph.switches:
        return np.array([vertex - graph.switches])
    return np.flatnonzero(graph.terminal_entry_switches == vertex)


def lash(graph: Graph, spread: str, via: Sequence[int], lanes: int = 1) -> RouteTable:
    """Return minimal paths with the service levels by which they cannot deadlock.

    Each pair of a sender's switch and a target has the lowest level in which no dependency of its packets
    closes a cycle (T. Skeie, O. Lysne and I. Theiss, IPDPS 2002). Destinations are spread over all minimal
    paths if the ``lanes`` allow; over those to one neighbour of each switch, which take fewer levels, if not.
    If there are more lanes, the levels with most pairs are divided: a part of what has no cycle has none.

    Raises:
        RoutingError: with random switches, to which and from which a packet would need a level each; or if it
            takes more levels than any network has lanes.
    """
    if len(via):
        raise RoutingError("a packet has one service level: leave universal routing out", "universal")
    for next_hops, most in (("all", lanes), ("first", MOST_LEVELS)):
        table = shortest_path(graph, spread, via, next_hops=next_hops)
        found = Core(graph).levels(columns(table), most, _NO_LEVELS)
        if found is not None:
            return _with_levels(graph, table, np.asarray(found), lanes)
    raise RoutingError(f"minimal paths take more than {MOST_LEVELS} service levels", "kind")


def lash_again(
    graph: Graph, tables: Sequence[RouteTable], lanes: int, usual: ByPair, parameter: str
) -> RouteTable:
    """Return the first of some tables for which there are levels without a cycle, with these.

    A pair keeps its ``usual`` level as far as all pairs then have one; else it gets the lowest. Raises
    ``RoutingError`` with the number of levels that the last table takes.
    """
    first = np.full(graph.switches, NONE)
    entered = graph.terminal_entry_switches
    first[entered[::-1]] = np.arange(graph.terminals)[::-1]
    sends = first != NONE
    wanted = np.zeros((graph.switches, graph.terminals), np.uint8)
    wanted[sends] = usual.between(first[sends, None], np.arange(graph.terminals))
    for table in tables:
        for own in (wanted.ravel(), _NO_LEVELS):
            found = Core(graph).levels(columns(table), lanes, own)
            if found is not None and len(own):
                level = np.asarray(found).reshape(graph.switches, -1)
                every = np.arange(graph.terminals, dtype=np.uint32)
                return replace(table, levels=ByPair(entered.astype(np.uint32), every, level), kind="lash")
            if found is not None:
                return _with_levels(graph, table, np.asarray(found), lanes)
    least = Core(graph).levels(columns(tables[-1]), MOST_LEVELS, _NO_LEVELS)
    needed = f"more than {MOST_LEVELS}" if least is None else str(int(np.max(least)) + 1)
    message = (
        f"minimal paths around what is down take {needed} service levels, and there are {lanes} for them"
    )
    raise RoutingError(f"{message}: set technology.lanes, or write another kind", parameter)


def _with_levels(graph: Graph, table: RouteTable, found: NDArray[np.uint8], lanes: int) -> RouteTable:
    column = table.terminal_class if table.shared is None else table.shared.column[table.terminal_class]
    home, level = graph.terminal_entry_switches, found.reshape(graph.switches, -1)
    pairs = np.outer(
        np.bincount(home, minlength=graph.switches), np.bincount(column, minlength=level.shape[1])
    )
    count = int(level.max(initial=0)) + 1
    level = _divided(level, pairs, lanes)
    levels = ByPair(home.astype(np.uint32), column.astype(np.uint32), level)
    over = f", on {levels.count} lanes" if levels.count > count else ""
    note = f"minimal paths on {count} service level{'s' if count > 1 else ''}{over}"
    return replace(table, levels=levels, kind="lash", note=note)


def _divided(level: NDArray[np.uint8], pairs: NDArray[Any], lanes: int) -> NDArray[np.uint8]:
    """Return levels of which the fullest are divided among lanes without one; ``pairs``: of terminals."""
    full = np.bincount(level.ravel(), weights=pairs.ravel())
    parts = np.ones(len(full), np.int64)
    for _ in range(lanes - len(full)):
        parts[np.argmax(full / parts)] += 1
    first = np.cumsum(parts) - parts
    turn = np.add.outer(np.arange(level.shape[0]), np.arange(level.shape[1]))
    return (first[level] + turn % parts[level]).astype(np.uint8)


def pairs_at(graph: Graph, table: RouteTable, level: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return source and target of packets of a level; one source stands for those alike at its switch."""
    found = [*_sent(graph, table, level)]
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def _sent(graph: Graph, table: RouteTable, level: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield, per sender at a switch, source and target of its packets of a level; of senders alike one."""
    assert table.levels is not None
    home, every = graph.terminal_entry_switches, np.arange(graph.terminals)
    alike = [home, table.levels.row, *([] if table.by_source is None else [table.by_source.row])]
    for sender in np.unique(np.stack(alike), axis=1, return_index=True)[1].tolist():
        if home[sender] < graph.switches:
            yield table.levels.at(level, (np.full(graph.terminals, sender), every))


def of_level(graph: Graph, table: RouteTable, level: int) -> RouteTable:
    """Return the entries of a table that packets of a level meet."""
    table = table.full()
    starts = np.zeros(table.rows.shape, bool)
    home = graph.terminal_entry_switches
    for source, target in _sent(graph, table, level):
        starts[home[source], table.classes_between(source, target)] = True
    rows = np.where(reached(graph, table, starts), table.rows, NONE).astype(np.uint32)
    return replace(table, rows=rows, entered="where-known", levels=None)
