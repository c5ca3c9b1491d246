"""Communicators and groups of MPI: which ranks each stands for, whichever program has recorded the calls.

All ranks of a communicator make another one together, so the ranks of that are known once all have called. A
group of ranks is made by each rank for itself.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from math import prod
from typing import NamedTuple

WORLD = 0
"""The number of all ranks."""
_ARGUMENTS = {
    "MPI_Comm_dup": (),
    "MPI_Comm_split": ("color", "key"),
    "MPI_Comm_create": (),
    "MPI_Cart_create": ("dims",),
    "MPI_Cart_sub": ("remain_dims",),
    "MPI_Graph_create": ("nodes",),
}
"""The calls that make a communicator and are followed, with arguments that are whole numbers."""
MAKERS = (*_ARGUMENTS, "MPI_Intercomm_create", "MPI_Intercomm_merge")
"""Calls that make a communicator; its number can be that of one before, which was freed."""
_OF_ONE = {
    "MPI_Group_incl": ("ranks",),
    "MPI_Group_excl": ("ranks",),
    "MPI_Group_range_incl": ("ranges",),
    "MPI_Group_range_excl": ("ranges",),
}
_OF_TWO = ("MPI_Group_union", "MPI_Group_intersection", "MPI_Group_difference")
TOLD = (*MAKERS, "MPI_Comm_group", *_OF_ONE, *_OF_TWO)
"""The calls from which communicators are known."""
_EMPTY = "2"
"""MPI_GROUP_EMPTY, as DUMPI counts."""
_NAME = re.compile(r"(-?\d{1,9})(?: \((\w+)\))?")
_NUMBERS = re.compile(r"-?\d{1,9}")


class Made(NamedTuple):
    """A call that makes a communicator or a group."""

    call: str
    old: str
    """The communicator or group of which it is made."""
    new: str
    group: str = ""
    """The second group of which it is made, or the one of those who get the communicator."""
    numbers: tuple[int, ...] = ()
    """Its other arguments, one after the other; of MPI_Comm_create the ranks that get the communicator."""


def made(call: str, fields: dict[str, str]) -> Made:
    names = _ARGUMENTS.get(call, _OF_ONE.get(call, ()))
    numbers = tuple(number for name in names for number in _whole(fields.get(name, "")))
    if call in _OF_ONE or call in _OF_TWO:
        first = fields.get("group1", fields.get("group", ""))
        second, new = fields.get("group2", ""), fields.get("newgroup", "")
    elif call == "MPI_Comm_group":
        first, second, new = fields.get("comm", ""), "", fields.get("group", "")
    else:
        first, second, new = (fields.get(name, "") for name in ("oldcomm", "group", "newcomm"))
    return Made(call, name_of(first), name_of(new), name_of(second), numbers)


@lru_cache(maxsize=256)
def _whole(text: str) -> tuple[int, ...]:
    """Return the numbers of an argument; all ranks may name the same thousands."""
    return tuple(int(one) for one in _NUMBERS.findall(text))


def name_of(text: str) -> str:
    """Return how a communicator or group is called: by its number, or by the name that MPI gives it."""
    found = _NAME.match(text)
    if found is None:
        return ""
    return found[2] if found[2] in ("MPI_COMM_WORLD", "MPI_COMM_SELF") else found[1]


@dataclass
class _Rank:
    """What a rank has made so far."""

    calls: Iterator[Made]
    call: Made | None
    """The next one."""
    of: dict[str, int]
    """Numbers of its communicators."""
    groups: dict[str, tuple[int, ...]] = field(default_factory=lambda: {_EMPTY: ()})
    awaited: set[str] = field(default_factory=set)
    """Communicators that it has made, and others have not yet."""
    calls_in: Counter[int] = field(default_factory=Counter)


class Communicators:
    """The ranks that communicators of each rank stand for; ``calls``: what each rank makes, in order."""

    def __init__(self, calls: Iterable[Sequence[Made]]) -> None:
        numbered = [_numbered(one) for one in calls]
        world = _version("MPI_COMM_WORLD", Counter())
        self._ranks = [_Rank(one, next(one, None), {world: WORLD}) for one in numbered]
        self.groups: list[tuple[int, ...]] = [tuple(range(len(numbered)))]
        self._sides: dict[int, tuple[int, ...]] = {}
        """Those of communicators that are grids."""
        self._same: dict[tuple[int, ...], tuple[int, ...]] = {}
        """Groups, of which all ranks may have the same."""
        asked: defaultdict[tuple[int, int], dict[int, Made]] = defaultdict(dict)
        moved = True
        while moved:
            moved = False
            for number, rank in enumerate(self._ranks):
                while (call := rank.call) is not None and call.old not in rank.awaited:
                    moved, rank.call = True, next(rank.calls, None)
                    if call.call not in _ARGUMENTS:
                        self._keep(rank, call)
                    elif (of := rank.of.get(call.old)) is not None:
                        rank.awaited.add(call.new)
                        together = asked[of, rank.calls_in[of]]
                        if call.call == "MPI_Comm_create":
                            call = call._replace(numbers=rank.groups.get(call.group, ()))
                        together[number] = call
                        rank.calls_in[of] += 1
                        if len(together) == len(self.groups[of]):
                            self._make(of, together)

    def _keep(self, rank: _Rank, call: Made) -> None:
        """Keep the group that a rank makes, if those are known of which it is made."""
        if call.call == "MPI_Comm_group":
            of = rank.of.get(call.old)
            found = None if of is None else self.groups[of]
        else:
            found = _chosen(call, rank.groups.get(call.old), rank.groups.get(call.group, ()))
        rank.groups.pop(call.new, None)
        if found is not None:
            rank.groups[call.new] = self._same.setdefault(found, found)

    def _make(self, of: int, calls: dict[int, Made]) -> None:
        """Add the communicators that all ranks of one make together."""
        for ranks, sides in _parts(self.groups[of], self._sides.get(of, ()), calls):
            for rank in ranks:
                self._ranks[rank].of[calls[rank].new] = len(self.groups)
            self._sides[len(self.groups)] = sides
            self.groups.append(ranks)
        for rank, call in calls.items():
            self._ranks[rank].awaited.discard(call.new)

    def group(self, rank: int, communicator: str, made: Counter[str]) -> int | None:
        """Return the number of a communicator of a rank; None if it is not known how it was made.

        ``made``: how often the rank has made one of each name so far.
        """
        return self._ranks[rank].of.get(_version(communicator, made))


def _version(communicator: str, made: Counter[str]) -> str:
    return f"{communicator}#{made[communicator]}"


def _numbered(calls: Iterable[Made]) -> Iterator[Made]:
    """Yield the calls that are followed; communicators of one name differ by how often it was made."""
    count: Counter[str] = Counter()
    for call in calls:
        old = _version(call.old, count)
        if call.call in MAKERS:
            count[call.new] += 1
            if call.call in _ARGUMENTS:
                yield call._replace(old=old, new=_version(call.new, count))
        else:
            yield call._replace(old=old) if call.call == "MPI_Comm_group" else call


_Part = tuple[tuple[int, ...], tuple[int, ...]]
"""The ranks of a communicator, and its sides if it is a grid."""


def _parts(old: tuple[int, ...], sides: tuple[int, ...], calls: dict[int, Made]) -> Iterable[_Part]:
    """Return the communicators into which all ranks of one divide it."""
    name, numbers = calls[old[0]].call, calls[old[0]].numbers
    if any(one.call != name for one in calls.values()):
        return []
    if name == "MPI_Comm_split":
        return _by_color(old, calls)
    if name == "MPI_Cart_sub":
        return _along(old, sides, numbers)
    if name == "MPI_Comm_dup":
        return [(old, sides)]
    if name == "MPI_Comm_create":
        named = {rank: call.numbers for rank, call in calls.items()}
        return [
            (one, ())
            for one in dict.fromkeys(named.values())
            if one and all(named.get(at) == one for at in one)
        ]
    size = prod(numbers)
    return [(old[:size], numbers)] if 0 < size <= len(old) else []


def _by_color(old: Sequence[int], calls: dict[int, Made]) -> Iterator[_Part]:
    colors: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for rank in old:
        color, key = (*calls[rank].numbers, 0, 0)[:2]
        colors[color].append((key, rank))
    for color in sorted(colors):
        if color >= 0:
            # Stable: by the old order where keys are equal.
            yield tuple(rank for _, rank in sorted(colors[color], key=lambda one: one[0])), ()


def _along(old: Sequence[int], sides: Sequence[int], kept: Sequence[int]) -> Iterator[_Part]:
    """Yield the parts of a grid along the sides that are kept; ranks go along the last side first."""
    if len(sides) != len(kept) or prod(sides) != len(old):
        return
    parts: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for place, rank in enumerate(old):
        left, fixed = place, []
        for side, keeps in zip(reversed(sides), reversed(kept), strict=True):
            left, at = divmod(left, side)
            if not keeps:
                fixed.append(at)
        parts[tuple(fixed)].append(rank)
    own = tuple(side for side, keeps in zip(sides, kept, strict=True) if keeps)
    yield from ((tuple(ranks), own) for ranks in parts.values())


def _chosen(call: Made, first: Sequence[int] | None, second: Sequence[int]) -> tuple[int, ...] | None:
    """Return the ranks of a group that is made of one or two others; None if there are no such ranks."""
    if first is None:
        return None
    if call.call == "MPI_Group_union":
        return tuple(dict.fromkeys((*first, *second)))
    if call.call in _OF_TWO:
        both, wanted = set(second), call.call == "MPI_Group_intersection"
        return tuple(rank for rank in first if (rank in both) == wanted)
    places = call.numbers
    if "_range_" in call.call:
        triples = zip(places[::3], places[1::3], places[2::3], strict=False)
        steps = [range(start, end + (1 if step > 0 else -1), step or 1) for start, end, step in triples]
        places = tuple(chain.from_iterable(islice(one, len(first)) for one in steps))
    if not all(0 <= at < len(first) for at in places):
        return None
    if call.call.endswith("_incl"):
        return tuple(first[at] for at in places)
    out = set(places)
    return tuple(rank for at, rank in enumerate(first) if at not in out)
