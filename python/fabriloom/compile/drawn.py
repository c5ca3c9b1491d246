"""Groups of which each packet waits for one link: ``group_choice = "drawn"`` and ``"source"``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..topology import Graph
from ..topology.graph import Ints
from .columns import Arrays, u32

ONE_EACH = ("drawn", "source")
"""The choices of a link before it is known which are free."""


def without_parts(choice: str, arrays: Arrays) -> list[str]:
    """Return a warning if packets have no link to choose."""
    if choice not in ONE_EACH or len(arrays["group_parts"]):
        return []
    message = f'group_choice = "{choice}" has no effect: by this routing every packet has one link at each '
    return [f"{message}switch; choose one that gives it several"]


def sources_in_a_row(graph: Graph) -> Ints:
    """Return, per switch, how many sources in a row take the same link of a group.

    In a tree the sources whose packets come up to a switch have taken the same turns below, so they lie as
    many apart as the switches below have had links to choose from: this is s-mod-k. Elsewhere it is 1.
    """
    found = np.full(graph.switches, graph.ports // graph.terminals)
    for plane in graph.planes:
        levels = plane.graph.layout.get("levels")
        if levels is None:
            continue
        links, level = plane.graph.switch_links, np.asarray(levels)
        source, target = plane.graph.link_source[links], plane.graph.link_target[links]
        up = level[target] > level[source]
        source, target = source[up], target[up]
        ways = np.bincount(source, minlength=plane.graph.switches)
        own = found[plane.first_switch : plane.first_switch + plane.graph.switches]
        for height in range(1, int(level.max()) + 1):
            here = level[target] == height
            own[target[here]] = own[source[here]] * ways[source[here]]
    return found


def parts_of(arrays: Arrays, sources: Ints | None = None) -> Arrays:
    """Return the columns of all groups with those of their parts, the lanes of each link of a group of
    several; none if there is no such group.

    ``sources``: per switch, how many in a row take the same part; None: parts are drawn.
    """
    start, lanes = arrays["group_start"].tolist(), int(arrays["lanes"])
    entries, switch = arrays["group_links"].tolist(), arrays["group_switch"].tolist()
    groups = [tuple(entries[first:last]) for first, last in pairwise(start)]
    # A packet that is distributed takes all links of its group.
    spread = arrays["group_all"] if len(arrays["group_all"]) else np.zeros(len(groups), np.uint8)
    known: dict[tuple[int, ...], int] = {}
    for group in np.flatnonzero(spread == 0).tolist():
        known.setdefault(groups[group], group)
    parts, part_start = list[int](), [0]
    for group, whole in enumerate(groups[:]):
        by_link: dict[int, list[int]] = {}
        for lane in whole:
            by_link.setdefault(lane // lanes, []).append(lane)
        if len(by_link) > 1 and not spread[group]:
            for own in map(tuple, by_link.values()):
                if own not in known:
                    known[own] = len(groups)
                    groups.append(own)
                    switch.append(switch[group])
                parts.append(known[own])
        part_start.append(len(parts))
    if not parts:
        return {}
    more = len(groups) - len(spread)
    all_spread = np.append(spread, np.zeros(more, np.uint8))
    return {
        "group_switch": u32(switch),
        "group_start": u32([0, *np.cumsum([len(group) for group in groups])]),
        "group_links": u32([lane for group in groups for lane in group]),
        "group_all": all_spread if len(arrays["group_all"]) else arrays["group_all"],
        "group_part_start": u32(part_start + [len(parts)] * more),
        "group_parts": u32(parts),
        "group_part_sources": u32([] if sources is None else sources[switch]),
    }
