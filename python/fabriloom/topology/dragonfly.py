"""Dragonfly and dragonfly+: groups of switches, each joined to each (Kim, Dally, Scott, Abts, ISCA 2008).

The arrangements of the cables between groups are compared by E. Hastings et al., CLUSTER 2015.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .family import Count, Several, TerminalsPerSwitch, family
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, terminals_at, whole
from .words import groups_on_circle

ARRANGEMENTS = ("relative", "absolute", "circulant")
Arrangement = Annotated[
    Literal["relative", "absolute", "circulant"],
    Field(
        description="The groups that the cables of a group lead to, in turn. relative: the next one, the one "
        "after it, …; absolute: group 0, 1, …; circulant: the next, the previous, the next but one, …"
    ),
]
Groups = Annotated[
    Several | None,
    Field(description="Groups; one more than a group has global cables, the most, if not given"),
]


@family("dragonfly", "Groups of switches, all joined within a group, and every group to every other one.")
def dragonfly(
    switches_per_group: Annotated[
        Several, Field(description="a: switches of a group, each joined to all others")
    ],
    global_links: Annotated[Count, Field(description="h: cables of a switch that lead to other groups")] = 1,
    terminals_per_switch: TerminalsPerSwitch = 1,
    groups: Groups = None,
    arrangement: Arrangement = "relative",
) -> Graph:
    """Build groups of switches ``s(group,number)`` with terminals ``t(group,number).k``.

    The ``a × h`` outgoing cables of a group are assigned to the other groups in turn, for as many whole
    rounds as they suffice; the remaining cables are left out.
    """
    a = whole(switches_per_group, "switches_per_group", 2, MAX_TERMINALS, "the switches of a group")
    h = whole(global_links, "global_links", 1, MAX_TERMINALS, "the cables of a switch to other groups")
    terminals_at(terminals_per_switch)
    count = count_of_groups(groups, a, h, "switches_per_group")
    switches = count * a
    check_size(switches * terminals_per_switch, switches * terminals_per_switch, "groups")
    check_size(0, switches * (terminals_per_switch + (a - 1) // 2 + h), "switches_per_group")
    within, between = _within(count, a), between_groups(count, a, h, arrangement)
    parameters = {
        "switches_per_group": a,
        "global_links": h,
        "terminals_per_switch": terminals_per_switch,
        "groups": count,
        "arrangement": arrangement,
    }
    return assemble(
        "dragonfly",
        [f"s({group},{number})" for group in range(count) for number in range(a)],
        np.repeat(np.arange(switches), terminals_per_switch),
        (np.concatenate([within[0], between[0]]), np.concatenate([within[1], between[1]])),
        np.concatenate([np.ones(len(within[0]), np.int64), between[2]]),
        groups_on_circle(count, a),
        {"parameters": parameters, "groups": np.repeat(np.arange(count), a)},
    )


def _within(groups: int, a: int) -> tuple[Ints, Ints]:
    """Return the ends of the cables within groups: every pair of switches of each."""
    low, high = np.triu_indices(a, 1)
    first = a * np.arange(groups)[:, None]
    return (first + low).ravel(), (first + high).ravel()


def count_of_groups(groups: int | None, a: int, h: int, parameter: str) -> int:
    """Return the number of groups of ``a`` switches with ``h`` global cables each. Raises GraphError."""
    most = a * h + 1
    count = most if groups is None else whole(groups, "groups", 2, MAX_TERMINALS, "the number of groups")
    if count > most:
        cables = "cable" if h == 1 else "cables"
        reach = f"{a} switches with {h} {cables} each reach {most - 1} other groups"
        message = f"groups is {count}; {reach}, so {most} at most; raise global_links or {parameter}"
        raise GraphError(message, "groups")
    return count


def between_groups(groups: int, a: int, h: int, arrangement: str) -> tuple[Ints, Ints, Ints]:
    """Return the ends of the edges between groups, lower group first, and the number of parallel cables of
    each.

    Cable ``k`` of a group is at switch ``k // h``; the arrangement says where it leads.
    """
    if arrangement not in ARRANGEMENTS:
        there = ", ".join(ARRANGEMENTS)
        raise GraphError(f"arrangement is {arrangement!r}; it must be one of {there}", "arrangement")
    others = groups - 1
    copies = a * h // others
    near, far = np.triu_indices(groups, 1)
    copy = others * np.arange(copies)[:, None]
    there, back = (_cable(one, other, groups, arrangement) for one, other in ((near, far), (far, near)))
    ends = near * a + (copy + there) // h, far * a + (copy + back) // h
    (low, high), cables = np.unique(np.stack([end.ravel() for end in ends]), axis=1, return_counts=True)
    return low, high, cables


def _cable(near: Ints, far: Ints, groups: int, arrangement: str) -> Ints:
    """Return the number of the first cable of one group that leads to another."""
    ahead = (far - near) % groups
    if arrangement == "absolute":
        return far - (far > near)
    if arrangement == "relative":
        return ahead - 1
    return np.where(2 * ahead <= groups, 2 * (ahead - 1), 2 * (groups - ahead) - 1)


# Dragonfly+: groups of leaf and spine switches (A. Shpiner et al., HiPINEB 2017; also called Megafly).


@family(
    "dragonfly_plus", "Groups of leaf and spine switches, every group joined to every other by its spines."
)
def dragonfly_plus(
    leaves: Annotated[Count, Field(description="Leaf switches of a group, each joined to all its spines")],
    spines: Annotated[Count, Field(description="Spine switches of a group")],
    global_links: Annotated[Count, Field(description="Cables of a spine that lead to other groups")] = 1,
    terminals_per_switch: Annotated[Count, Field(description="Terminals at each leaf switch")] = 1,
    groups: Groups = None,
    arrangement: Arrangement = "relative",
) -> Graph:
    """Build groups of switches ``leaf(group,number)``, with terminals ``t(group,number).k``, and
    ``spine(group,number)``.
    """
    low = whole(leaves, "leaves", 1, MAX_TERMINALS, "the leaf switches of a group")
    high = whole(spines, "spines", 1, MAX_TERMINALS, "the spine switches of a group")
    h = whole(global_links, "global_links", 1, MAX_TERMINALS, "the cables of a spine to other groups")
    per = terminals_at(terminals_per_switch, "on each leaf")
    count = count_of_groups(groups, high, h, "spines")
    check_size(count * low * per, count * (low * per + low * high + high * h), "groups")
    names = ("leaves", "spines", "global_links", "terminals_per_switch", "groups", "arrangement")
    parameters = dict(zip(names, (low, high, h, per, count, arrangement), strict=True))
    leaf, spine = np.arange(count * low), count * low + np.arange(count * high)
    within = np.repeat(leaf, high), spine.reshape(count, high)[leaf // low].ravel()
    between = between_groups(count, high, h, arrangement)
    return assemble(
        "dragonfly_plus",
        [
            f"{name}({g},{i})"
            for name, n in (("leaf", low), ("spine", high))
            for g in range(count)
            for i in range(n)
        ],
        np.repeat(leaf, per),
        (np.concatenate([within[0], spine[between[0]]]), np.concatenate([within[1], spine[between[1]]])),
        np.concatenate([np.ones(len(within[0]), np.int64), between[2]]),
        _positions(count, low, high),
        {"parameters": parameters, "groups": np.concatenate([leaf // low, (spine - count * low) // high])},
    )


def _positions(groups: int, leaves: int, spines: int) -> NDArray[np.float64]:
    """Return places on two circles: the leaves outside, the spines of the same group inside."""

    def circle(size: int, radius: float) -> NDArray[np.float64]:
        within: Ints = np.tile(np.arange(size), groups)
        turn = (np.repeat(np.arange(groups), size) + 0.8 * (within + 0.5) / size) / groups
        return radius * np.column_stack([np.sin(2 * np.pi * turn), -np.cos(2 * np.pi * turn)])

    inner = max(1.25 * groups * max(leaves, spines) / (2 * np.pi), 1.0)
    return np.concatenate([circle(leaves, inner + 2.0), circle(spines, inner)])
