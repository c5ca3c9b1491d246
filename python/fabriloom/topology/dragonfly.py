"""Dragonfly: groups of switches, each group joined to every other (Kim, Dally, Scott, Abts, ISCA 2008)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .family import Count, Several, TerminalsPerSwitch, family
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, whole


@family("dragonfly", "Groups of switches, all joined within a group, and every group to every other one.")
def dragonfly(
    switches_per_group: Annotated[
        Several, Field(description="a: switches of a group, each joined to all others")
    ],
    global_links: Annotated[Count, Field(description="h: cables of a switch that lead to other groups")] = 1,
    terminals_per_switch: TerminalsPerSwitch = 1,
    groups: Annotated[
        Several | None, Field(description="Number of groups; a × h + 1, the most there can be, if not given")
    ] = None,
) -> Graph:
    """Build groups of switches ``s(group,number)`` with terminals ``t(group,number).k``.

    The ``a × h`` outgoing cables of a group are assigned to the other groups in turn, for as many whole
    rounds as they suffice; the remaining cables are left out.
    """
    a = whole(switches_per_group, "switches_per_group", 2, MAX_TERMINALS, "the switches of a group")
    h = whole(global_links, "global_links", 1, MAX_TERMINALS, "the cables of a switch to other groups")
    whole(terminals_per_switch, "terminals_per_switch", 1, MAX_TERMINALS, "the terminals on each switch")
    most = a * h + 1
    count = most if groups is None else whole(groups, "groups", 2, MAX_TERMINALS, "the number of groups")
    if count > most:
        cables = "cable" if h == 1 else "cables"
        reach = f"{a} switches with {h} {cables} each reach {most - 1} other groups"
        message = f"groups is {count}; {reach}, so {most} at most; raise global_links or switches_per_group"
        raise GraphError(message, "groups")
    switches = count * a
    check_size(switches * terminals_per_switch, switches * terminals_per_switch, "groups")
    check_size(0, switches * (terminals_per_switch + (a - 1) // 2 + h), "switches_per_group")
    within, between = _within(count, a), _between(count, a, h)
    parameters = {
        "switches_per_group": a,
        "global_links": h,
        "terminals_per_switch": terminals_per_switch,
        "groups": count,
    }
    return assemble(
        "dragonfly",
        [f"s({group},{number})" for group in range(count) for number in range(a)],
        np.repeat(np.arange(switches), terminals_per_switch),
        lambda switch, number: f"t{switch[1:]}.{number}",
        (np.concatenate([within[0], between[0]]), np.concatenate([within[1], between[1]])),
        np.concatenate([np.ones(len(within[0]), np.int64), between[2]]),
        {"parameters": parameters, "terminals_per_switch": terminals_per_switch},
        _positions(count, a),
    )


def _within(groups: int, a: int) -> tuple[Ints, Ints]:
    """Return the ends of the cables within groups: every pair of switches of each."""
    low, high = np.triu_indices(a, 1)
    first = a * np.arange(groups)[:, None]
    return (first + low).ravel(), (first + high).ravel()


def _between(groups: int, a: int, h: int) -> tuple[Ints, Ints, Ints]:
    """Return the ends of the edges between groups, lower group first, and the number of parallel cables of
    each.

    Cable ``k`` of a group is at switch ``k // h`` and leads to the group ``1 + k % (groups - 1)`` further on.
    """
    others = groups - 1
    copies = a * h // others
    near, far = np.triu_indices(groups, 1)
    ahead = far - near
    copy = others * np.arange(copies)[:, None]
    ends = near * a + (copy + ahead - 1) // h, far * a + (copy + groups - ahead - 1) // h
    (low, high), cables = np.unique(np.stack([end.ravel() for end in ends]), axis=1, return_counts=True)
    return low, high, cables


def _positions(groups: int, a: int) -> NDArray[np.float64]:
    """Return positions: groups on a circle, the switches of each group on a smaller circle."""
    angle = 2 * np.pi * np.arange(a) / a
    own = max(a / (2 * np.pi), 0.6) * np.column_stack([np.sin(angle), -np.cos(angle)])
    turn = 2 * np.pi * np.arange(groups) / groups
    radius = max(groups * (2 * np.abs(own).max() + 1.2) / (2 * np.pi), 1.5)
    centres = radius * np.column_stack([np.sin(turn), -np.cos(turn)])
    return (centres[:, None, :] + own[None, :, :]).reshape(-1, 2)
