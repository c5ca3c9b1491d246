"""Orders of the operations of a rank: whether its graph is a chain, a list, or has any order at all.

``needs`` and ``start`` are those of :class:`.table.Programs`, with operations counted within the rank.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabriloom.programs import kinds as op


def ordered(needs: NDArray[np.uint32], start: op.Ints) -> list[int]:
    """Return the operations of a rank in an order that its graph allows, without what waits for itself."""
    before = needs >> 1
    behind = np.repeat(np.arange(len(start) - 1), np.diff(start))
    # What the beginning of an operation frees comes before what its end frees.
    place = np.lexsort((behind, 1 - needs % 2, before))
    after = behind[place].tolist()
    first = np.searchsorted(before[place], np.arange(len(start))).tolist()
    waits = np.diff(start).tolist()
    free = [number for number, count in enumerate(waits) if not count]
    for number in free:  # the list grows in the loop
        for one in after[first[number] : first[number + 1]]:
            waits[one] -= 1
            if not waits[one]:
                free.append(one)
    return free


def is_chain(needs: NDArray[np.uint32], start: op.Ints) -> bool:
    """Whether each operation waits for the end of the one before it, and for nothing else."""
    return np.array_equal(start[1:], np.arange(len(start) - 1)) and np.array_equal(
        needs, 2 * np.arange(len(needs))
    )


def only_back(needs: NDArray[np.uint32], start: op.Ints) -> bool:
    """Whether all operations wait for such as stand before them."""
    return bool((needs >> 1 < np.repeat(np.arange(len(start) - 1), np.diff(start))).all())


def is_list(streams: int, kinds: list[int], order: list[int], needs: list[int], start: list[int]) -> bool:
    """Whether no operation of a rank can overlap a receive or a calculation."""
    if streams > 1:
        return False
    last, sent = -1, set[int]()
    for number in order:
        waits = needs[start[number] : start[number + 1]]
        if any(one % 2 and kinds[one >> 1] != op.SEND for one in waits):
            return False
        before = {one >> 1 for one in waits}
        if not (last < 0 or last in before or before & sent):
            return False
        if kinds[number] == op.SEND:
            sent.add(number)
        else:
            last, sent = number, set()
    return True
