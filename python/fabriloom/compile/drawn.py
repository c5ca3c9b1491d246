"""Groups of which each packet draws one link: ``group_choice = "drawn"``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .columns import Arrays, u32

NOTHING_DRAWN = (
    'group_choice = "drawn" has no effect: by this routing every packet has one link at each switch; '
    "choose one that gives it several"
)
"""A warning."""


def parts_of(arrays: Arrays) -> Arrays:
    """Return the columns of all groups with those of their parts, the lanes of each link of a group of
    several; none if there is no such group.
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
    }
