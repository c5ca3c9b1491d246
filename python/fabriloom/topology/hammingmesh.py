"""HammingMesh: boards that are meshes of switches, with a network for every row and column of boards.

T. Hoefler et al., SC 2022. An accelerator is a switch with its terminals. Its paper gives an accelerator
several planes of this network: ``replicate``. Rows and columns that are longer than the ports of a switch
need a tree in its place, which is not built here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Count, TerminalsPerSwitch, family
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, whole

Two = Annotated[list[Count], Field(min_length=2, max_length=2)]


@family("hammingmesh", "Boards that are meshes, joined by a switch for every row and column of boards.")
def hammingmesh(
    board: Annotated[Two, Field(description="Accelerators of a board: along its rows and its columns")],
    boards: Annotated[Two, Field(description="Boards along the rows and the columns of the whole")],
    terminals_per_switch: TerminalsPerSwitch = 1,
) -> Graph:
    """Build accelerators ``s(x,y)``, numbered over all boards, and switches ``row(y)`` and ``column(x)``.

    Neighbours on a board are joined. Both ends of each row of a board are joined to the switch of the row,
    those of a column to the switch of the column.
    """
    wide, high = _two(board, "board"), _two(boards, "boards")
    per = whole(terminals_per_switch, "terminals_per_switch", 1, MAX_TERMINALS, "the terminals of each place")
    size = wide[0] * high[0], wide[1] * high[1]
    places = size[0] * size[1]
    check_size(places * per, places * (per + 2) + 2 * (size[0] * high[1] + size[1] * high[0]), "boards")
    parameters = {"board": wide, "boards": high, "terminals_per_switch": per}
    near, far, cables = _edges(wide, size)
    names = [f"s({x},{y})" for x in range(size[0]) for y in range(size[1])]
    names += [f"row({y})" for y in range(size[1])] + [f"column({x})" for x in range(size[0])]
    place = np.stack(np.divmod(np.arange(places), size[1]), axis=1).astype(float)
    rows = np.column_stack([np.full(size[1], -2.0), np.arange(float(size[1]))])
    columns = np.column_stack([np.arange(float(size[0])), np.full(size[0], -2.0)])
    return assemble(
        "hammingmesh",
        names,
        np.repeat(np.arange(places), per),
        lambda switch, number: f"t{switch[1:]}.{number}",
        (near, far),
        cables,
        {"parameters": parameters, "terminals_per_switch": per},
        np.concatenate([place + place // wide * 0.6, rows, columns]),
    )


def _two(given: Sequence[int], name: str) -> list[int]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence) or len(given) != 2:
        raise GraphError(f"{name} must be two whole numbers such as [2, 2], not {given!r}", name)
    return [whole(one, name, 1, MAX_TERMINALS, "along rows and columns") for one in given]


def _edges(board: list[int], size: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
    """Return the ends of every edge, and its cables: two where a board has a single place along a line."""
    number = np.arange(size[0] * size[1]).reshape(size)
    pairs: list[tuple[Ints, Ints]] = []
    # Both axes the same way: along rows, then, transposed, along columns.
    for axis, first_switch in ((0, size[0] * size[1]), (1, size[0] * size[1] + size[1])):
        lines = number if axis == 0 else number.T
        within = np.arange(len(lines)) % board[axis]
        inside = np.flatnonzero(within < board[axis] - 1)
        pairs.append((lines[inside].ravel(), lines[inside + 1].ravel()))
        switches = first_switch + np.arange(lines.shape[1])
        for end in (0, board[axis] - 1):
            ends = lines[within == end]
            pairs.append((ends.ravel(), np.tile(switches, len(ends))))
    joined = np.concatenate([np.stack(pair) for pair in pairs], axis=1)
    (near, far), cables = np.unique(joined, axis=1, return_counts=True)
    return near, far, cables
