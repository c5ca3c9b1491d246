"""Interval labelling, as the C104 packet switch routes: each interval of labels selects a group of links.

The header of a packet is compared with the limits of intervals; a C104 has 36 of them for 32 links. A table
can be expressed if the terminals can be numbered so that at every switch few enough intervals separate the
destinations of different outputs. Source: STC104 asynchronous packet switch, data sheet, SGS-Thomson 1995;
M. D. May, P. W. Thompson and P. H. Welch (ed.), Networks, Routers and Transputers, IOS Press 1993.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .table import NONE, RouteTable, RoutingError

C104_INTERVALS = 36
"""Intervals of one C104."""

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class IntervalLabels:
    """Labels of terminals and the intervals of every switch.

    Interval ``i`` of the rows of a switch holds the labels from ``first_label[i]`` up to the next interval of
    the switch (the last one up to the last label), and leads to ``group[i]`` of the table.
    """

    label: Labels
    """Per terminal: its label, from 0."""
    switch_start: Labels
    """Per switch and one more: where its intervals start."""
    first_label: Labels
    """Per interval: its first label."""
    group: Labels
    """Per interval: the group of the table it selects."""

    def of(self, switch: int) -> list[tuple[int, int]]:
        """Return (first label, group) of each interval of a switch."""
        rows = slice(self.switch_start[switch], self.switch_start[switch + 1])
        return list(zip(self.first_label[rows].tolist(), self.group[rows].tolist(), strict=True))


def interval_labels(
    graph: Graph, table: RouteTable, order: Sequence[int] | None = None, most_intervals: int = C104_INTERVALS
) -> IntervalLabels:
    """Number the terminals so that at most ``most_intervals`` intervals per switch express the table.

    ``order``: the terminals in the order of their labels; if not given, the natural order, the lattice's
    other orders and the order of a depth-first walk are tried. Headers of intermediate switches are not
    labelled. Raises ``RoutingError`` naming the switch, the output and the terminals that break its interval.
    """
    parameter = "interval_labelling"
    _separate_groups(graph, table, parameter)
    best: tuple[int, Labels] | None = None
    for candidate in [_given(graph, order)] if order is not None else _orders(graph):
        labels = _compile(graph, table, candidate)
        most = int(np.diff(labels.switch_start).max(initial=0))
        if most <= most_intervals:
            return labels
        if best is None or most < best[0]:
            best = most, candidate
    assert best is not None
    raise RoutingError(_explain(graph, table, best[1], most_intervals), parameter)


def _given(graph: Graph, order: Sequence[int]) -> Labels:
    candidate = np.asarray(order, np.int64)
    if not np.array_equal(np.sort(candidate), np.arange(graph.terminals)):
        raise RoutingError("the order of labels must name every terminal once", "order")
    return candidate


def _orders(graph: Graph) -> Iterator[Labels]:
    natural = np.arange(graph.terminals)
    yield natural
    home = _homes(graph)
    coordinates = graph.layout.get("coordinates")
    if coordinates is not None:
        places = np.asarray(coordinates)[home]
        for turn in range(1, places.shape[1]):
            yield np.lexsort((natural, *np.roll(places, turn, axis=1).T[::-1]))
        yield np.lexsort((natural, *places.T))
    yield natural[np.argsort(_depth_first(graph)[home], kind="stable")]


def _homes(graph: Graph) -> Labels:
    """Return the switch each terminal receives from."""
    into = graph.link_target >= graph.switches
    home = np.zeros(graph.terminals, np.int64)
    home[graph.link_target[into] - graph.switches] = graph.link_source[into]
    return home


def _depth_first(graph: Graph) -> Labels:
    """Return the rank of each switch in a depth-first walk from switch 0, lowest neighbour first."""
    neighbours: list[list[int]] = [[] for _ in range(graph.switches)]
    ends = graph.link_source[graph.switch_links].tolist(), graph.link_target[graph.switch_links].tolist()
    for source, target in zip(*ends, strict=True):
        neighbours[source].append(target)
    rank = np.full(graph.switches, graph.switches, np.int64)
    count = 0
    for root in range(graph.switches):
        stack = [root]
        while stack:
            switch = stack.pop()
            if rank[switch] == graph.switches:
                rank[switch] = count
                count += 1
                stack.extend(sorted(set(neighbours[switch]), reverse=True))
    return rank


def _groups_by_label(table: RouteTable, switch: int, order: Labels) -> Labels:
    """Return the group of each label at a switch; labels that never come there belong to the one before."""
    row = table.route[switch, table.terminal_class[order]].astype(np.int64)
    known = np.flatnonzero(row != NONE)
    if len(known) == len(row):
        return row >> 1
    if not len(known):
        return np.full(len(row), -1)
    before = np.searchsorted(known, np.arange(len(row)), side="right") - 1
    return row[known[np.maximum(before, 0)]] >> 1


def _compile(graph: Graph, table: RouteTable, order: Labels) -> IntervalLabels:
    counts, firsts, groups = [0], [], []
    for switch in range(graph.switches):
        row = _groups_by_label(table, switch, order)
        begin = (
            np.concatenate([[0], np.flatnonzero(np.diff(row)) + 1]) if row[0] >= 0 else np.zeros(0, np.int64)
        )
        counts.append(len(begin))
        firsts.append(begin)
        groups.append(row[begin])
    label = np.empty(graph.terminals, np.int64)
    label[order] = np.arange(graph.terminals)
    return IntervalLabels(label, np.cumsum(counts), np.concatenate(firsts), np.concatenate(groups))


def _separate_groups(graph: Graph, table: RouteTable, parameter: str) -> None:
    """Refuse groups that share a link: a C104 groups neighbouring links, so a link belongs to one group."""
    used = np.unique(table.route[:, np.unique(table.terminal_class)])
    owner: dict[int, int] = {}
    for group in np.unique(used[used != NONE] >> 1).tolist():
        for link in table.group(group).tolist():
            if owner.setdefault(link, group) != group:
                switch = graph.switch_names[int(table.group_switch[group])]
                outputs = f"{_output(graph, table, owner[link])} and {_output(graph, table, group)}"
                raise RoutingError(
                    f"interval labels cannot express the table: at {switch} the outputs {outputs} share "
                    f"{graph.link_names[link]}, but a link belongs to one group only",
                    parameter,
                )


def _output(graph: Graph, table: RouteTable, group: int) -> str:
    links = [graph.link_names[link] for link in table.group(group).tolist()]
    return links[0] if len(links) == 1 else f"{links[0]} (and {len(links) - 1} more)"


def _explain(graph: Graph, table: RouteTable, order: Labels, most: int) -> str:
    """Return which switch needs too many intervals, and how its most scattered output is broken."""
    labels = _compile(graph, table, order)
    switch = int(np.argmax(np.diff(labels.switch_start)))
    intervals = labels.of(switch)
    groups = [group for _, group in intervals]
    worst = max(dict.fromkeys(groups), key=groups.count)
    ends = [first for first, _ in intervals[1:]] + [graph.terminals]
    names = [graph.terminal_names[terminal] for terminal in order.tolist()]
    runs = [
        names[first] if end - first == 1 else f"{names[first]} to {names[end - 1]}"
        for (first, group), end in zip(intervals, ends, strict=True)
        if group == worst
    ]
    message = (
        f"interval labels cannot express the table: {graph.switch_names[switch]} needs {len(intervals)} "
        f"intervals, and there are {most}"
    )
    if len(runs) == 1:
        return f"{message}; every output has a single interval, there are too many outputs"
    place = groups.index(worst)
    stranger = _output(graph, table, groups[place + 1])
    shown = ", ".join(runs[:4]) + (", …" if len(runs) > 4 else "")
    return (
        f"{message}. The output {_output(graph, table, worst)} leads to {len(runs)} separate runs of "
        f"terminals: {shown}; between the first two, {names[ends[place]]} leaves by {stranger}"
    )
