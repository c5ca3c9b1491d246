"""Find terminals by number or by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from fabriloom import units
from fabriloom.traffic.kinds import Ints, TrafficError


class Spread(Protocol):
    """The attributes of a distribution that traffic needs (see ``fabriloom.routing.distribution``)."""

    @property
    def name(self) -> str: ...
    @property
    def senders(self) -> tuple[int, ...]: ...


def repeated(numbers: Ints) -> int | None:
    """Return the index of the first repeated number; None if all differ."""
    _, first = np.unique(numbers, return_index=True)
    if len(first) == len(numbers):
        return None
    return int(np.setdiff1d(np.arange(len(numbers)), first)[0])


class Terminals:
    """The terminals of a network, by number and by name."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Terminal number by name."""
        return {name: number for number, name in enumerate(self.names)}

    def find(self, key: object) -> int | None:
        """Return the number of a terminal; None if it does not exist."""
        if isinstance(key, str):
            if key in self.numbers:
                return self.numbers[key]
            if not (key.isascii() and key.isdecimal() and len(key) < 10):
                return None
            key = int(key)
        if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(self.names):
            return int(key)
        return None

    def range(self, key: object) -> range | None:
        """Return the numbers of a range such as ``"40..79"``, both ends included; None if it is none."""
        if not isinstance(key, str) or ".." not in key or self.find(key) is not None:
            return None
        first, last = (self.find(end.strip()) for end in key.split("..", 1))
        if first is None or last is None or not first <= last < len(self.names):
            return None
        return range(first, last + 1)

    def reach(self, key: object) -> Sequence[int] | None:
        """Return the numbers of a terminal or of a range of terminals; None if one does not exist."""
        number = self.find(key)
        return self.range(key) if number is None else [number]

    def ranges(self, keys: Iterable[int | str]) -> list[tuple[int, int | str]]:
        """Return keys with their places in the list, ranges as the numbers of their terminals.

        What is no range, or one whose ends do not exist or are in the wrong order, stays as it is.
        """
        return [(place, one) for place, key in enumerate(keys) for one in self.range(key) or (key,)]

    def one(self, key: object, parameter: str) -> int:
        """Return the number of a terminal. Raises :class:`TrafficError` with the nearest name."""
        number = self.find(key)
        if number is None:
            raise TrafficError(self.message(key), parameter, self.hint(key))
        return number

    def many(self, keys: Iterable[int | str], parameter: str) -> tuple[Ints, list[str]]:
        """Return the numbers of terminals, and the parameter that names each. Raises TrafficError."""
        found = self.ranges(keys)
        places = [f"{parameter}.{place}" for place, _ in found]
        numbers = [self.one(key, place) for (_, key), place in zip(found, places, strict=True)]
        return np.array(numbers, np.int64), places

    def message(self, key: object) -> str:
        """Return the message for a terminal that does not exist."""
        return (
            f'there is no terminal "{str(key)[:60]}"'
            if isinstance(key, str)
            else f"there is no terminal {key}"
        )

    def hint(self, key: object) -> str:
        """Return the nearest name as a hint, or examples of names."""
        if isinstance(key, str) and (several := units.as_range(key)) and several != key:
            return f'write "{several}" for these terminals and all between them'
        count = len(self.names)
        numbers = f"numbers go from 0 to {count - 1}" if count > 1 else "there is only number 0"
        near = (
            units.nearest(key, self.names[:20_000]) if isinstance(key, str) and not key.isdecimal() else None
        )
        if near:
            return f'did you mean "{near}"? {numbers}'
        return f'{numbers}, names from "{self.names[0]}" to "{self.names[-1]}"'


class Targets(Terminals):
    """Terminals by number or by name, and distributions by name."""

    def __init__(self, names: list[str], distributions: Sequence[Spread]) -> None:
        super().__init__(names)
        self.distributions = distributions

    def find(self, key: object) -> int | None:
        """Return the number of a terminal, or that of a distribution, which follow the terminals."""
        names = [one.name for one in self.distributions]
        if isinstance(key, str) and key in names:
            return len(self.names) + names.index(key)
        return super().find(key)

    def name(self, number: int) -> str:
        """Return the name of a terminal or a distribution."""
        count = len(self.names)
        return self.names[number] if number < count else self.distributions[number - count].name

    def hint(self, key: object) -> str:
        """Return the nearest correct name of a terminal or a distribution."""
        names = [one.name for one in self.distributions]
        near = units.nearest(key, names) if isinstance(key, str) else None
        return f'did you mean "{near}"?' if near else super().hint(key)
