"""Dragonfly+: groups of leaf and spine switches (A. Shpiner et al., HiPINEB 2017; also called Megafly)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .dragonfly import Arrangement, Groups, between_groups, count_of_groups
from .family import Count, family
from .graph import MAX_TERMINALS, Graph, Ints, assemble, check_size, whole


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
    per = whole(terminals_per_switch, "terminals_per_switch", 1, MAX_TERMINALS, "the terminals on each leaf")
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
        lambda switch, number: f"t{switch[4:]}.{number}",
        (np.concatenate([within[0], spine[between[0]]]), np.concatenate([within[1], spine[between[1]]])),
        np.concatenate([np.ones(len(within[0]), np.int64), between[2]]),
        {
            "parameters": parameters,
            "terminals_per_switch": per,
            "groups": np.concatenate([leaf // low, (spine - count * low) // high]),
        },
        _positions(count, low, high),
    )


def _positions(groups: int, leaves: int, spines: int) -> NDArray[np.float64]:
    """Return places on two circles: the leaves outside, the spines of the same group inside."""

    def circle(size: int, radius: float) -> NDArray[np.float64]:
        within: Ints = np.tile(np.arange(size), groups)
        turn = (np.repeat(np.arange(groups), size) + 0.8 * (within + 0.5) / size) / groups
        return radius * np.column_stack([np.sin(2 * np.pi * turn), -np.cos(2 * np.pi * turn)])

    inner = max(1.25 * groups * max(leaves, spines) / (2 * np.pi), 1.0)
    return np.concatenate([circle(leaves, inner + 2.0), circle(spines, inner)])
