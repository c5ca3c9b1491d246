"""k-ary n-tree: a fat tree of ``levels`` rows of switches with ``arity`` links down and ``arity`` links
up."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from .clos import rows
from .cut import as_wide_as_terminals
from .family import Depth, Several, family
from .graph import MAX_TERMINALS, Graph, assemble, check_size, whole


@family("fat_tree", "A k-ary n-tree.", routing="up-down", cut=as_wide_as_terminals)
def fat_tree(
    arity: Annotated[Several, Field(description="k: links down (and up) of every switch")],
    levels: Annotated[Depth, Field(description="n: levels of switches; k^n terminals")],
) -> Graph:
    """Build the k-ary n-tree with arity^levels terminals ``t(i).k`` on switches ``s(level,number)``.

    Level 0 carries the terminals; the switches of the highest level use only their ``arity`` ports
    downwards. Switches of neighbouring levels l and l+1 are joined when their numbers, in base ``arity``,
    agree in all digits but the l-th.
    """
    whole(arity, "arity", 2, MAX_TERMINALS, "the links down from a switch")
    whole(levels, "levels", 1, 20, "the rows of switches")
    terminals = arity**levels
    check_size(terminals, levels * terminals, "levels")
    width = arity ** (levels - 1)
    names = [f"s({level},{number})" for level in range(levels) for number in range(width)]
    ends_a = [np.zeros(0, np.int64)]
    ends_b = [np.zeros(0, np.int64)]
    for level in range(levels - 1):
        number = np.repeat(np.arange(width), arity)
        digit = np.tile(np.arange(arity), width)
        weight = arity**level
        above = number + (digit - number // weight % arity) * weight
        ends_a.append(level * width + number)
        ends_b.append((level + 1) * width + above)
    return assemble(
        "fat_tree",
        names,
        np.repeat(np.arange(width), arity),
        lambda switch, number: f"t({switch[4:]}.{number}",
        (np.concatenate(ends_a), np.concatenate(ends_b)),
        1,
        {
            "parameters": {"arity": arity, "levels": levels},
            "levels": np.repeat(np.arange(levels), width),
            "terminals_per_switch": arity,
        },
        rows([width] * levels),
    )
