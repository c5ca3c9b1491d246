"""Communicators of MPI, followed over the traces of all ranks: who is in which, in what order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

WORLD = 0
"""The group of all ranks."""
MAKERS = ("MPI_Comm_dup", "MPI_Comm_split", "MPI_Cart_create")
"""Calls that make a communicator and are followed."""
_COMMUNICATOR = re.compile(r"(-?\d{1,9})(?: \((\w+)\))?")
_NUMBERS = re.compile(r"-?\d{1,9}")


@dataclass(frozen=True)
class Made:
    """A call that makes a communicator."""

    call: str
    old: str
    new: str
    color: int = 0
    key: int = 0
    size: int = 0
    """Processes of a grid."""


def made(call: str, fields: dict[str, str]) -> Made:
    """Return the call with these arguments."""
    numbers = {name: _NUMBERS.findall(fields.get(name, "")) for name in ("color", "key", "dims")}
    color, key = (int(numbers[name][0]) if numbers[name] else 0 for name in ("color", "key"))
    size = prod(int(one) for one in numbers["dims"])
    return Made(
        call, name_of(fields.get("oldcomm", "")), name_of(fields.get("newcomm", "")), color, key, size
    )


def name_of(text: str) -> str:
    """Return how a communicator is called: by its number, or by the name that MPI gives it."""
    found = _COMMUNICATOR.match(text)
    if found is None:
        return ""
    return found[2] if found[2] in ("MPI_COMM_WORLD", "MPI_COMM_SELF") else found[1]


class Communicators:
    """The groups that communicators of each rank stand for; ``calls``: what each rank makes, in order."""

    def __init__(self, calls: Sequence[Sequence[Made]]) -> None:
        self.groups: list[Sequence[int]] = [range(len(calls))]
        self.of = [{"MPI_COMM_WORLD": WORLD} for _ in calls]
        pending = [iter(one) for one in calls]
        present = [next(one, None) for one in pending]
        asked: dict[tuple[int, int], dict[int, Made]] = {}
        number = [dict[int, int]() for _ in calls]
        moved = True
        while moved:
            moved = False
            for rank, of in enumerate(self.of):
                while (call := present[rank]) is not None and call.old in of:
                    group, moved = of[call.old], True
                    key = (group, number[rank].get(group, 0))
                    number[rank][group] = key[1] + 1
                    asked.setdefault(key, {})[rank] = call
                    if len(asked[key]) == len(self.groups[group]):
                        self._make(self.groups[group], asked.pop(key))
                    present[rank] = next(pending[rank], None)

    def _make(self, old: Sequence[int], calls: dict[int, Made]) -> None:
        """Add the groups that all members of one make together."""
        for ranks in _parts(old, calls):
            self.groups.append(ranks)
            for rank in ranks:
                self.of[rank][calls[rank].new] = len(self.groups) - 1

    def group(self, rank: int, communicator: str) -> int | None:
        """Return the group of a communicator of a rank; None if it is not known how it was made."""
        return self.of[rank].get(communicator)


def _parts(old: Sequence[int], calls: dict[int, Made]) -> Iterator[Sequence[int]]:
    kinds = {one.call for one in calls.values()}
    if kinds == {"MPI_Comm_split"}:
        colors = sorted({one.color for one in calls.values() if one.color >= 0})
        for color in colors:
            members = [rank for rank in old if calls[rank].color == color]
            yield sorted(members, key=lambda rank: calls[rank].key)  # stable: by the old order where equal
    elif kinds == {"MPI_Cart_create"}:
        yield list(old)[: calls[old[0]].size]
    elif len(kinds) == 1:
        yield old
