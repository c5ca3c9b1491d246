"""A candidate network by its parts, and what is wanted of candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SPARE = 1.25
"""Largest number of terminal places, as a multiple of the required terminals."""
MOST_LINKS_PER_EDGE = 16


@dataclass(frozen=True)
class Shape:
    """A network of a family."""

    family: str
    parameters: Mapping[str, Any]
    terminals: int
    switches: int
    ports_max: int
    """Most ports of any switch."""
    ports: int
    """Ports of all switches."""
    cables: int
    """Cables, including those of terminals; for rings, links."""
    cuts: Sequence[tuple[float, float]] = ()
    """Cuts: number of terminals on one side, and of links that lead away from them."""


@dataclass(frozen=True)
class Wanted:
    """The requirements for shapes."""

    terminals: int
    ports: int
    """Most ports of a switch."""
    given: Mapping[str, Sequence[Any]]
    """Values of parameters that the user gives."""

    @property
    def most(self) -> int:
        """Most terminals."""
        return int(self.terminals * SPARE)

    def fits(self, terminals: int) -> bool:
        """Whether the number of places is sufficient and not too large."""
        return self.terminals <= terminals <= self.most

    def of(self, name: str, usual: Sequence[Any]) -> Sequence[Any]:
        """Return the values of a parameter: the given ones, else the usual ones."""
        return self.given.get(name, usual)

    def whole(self, name: str, low: int, high: int) -> list[int]:
        """Return the whole values of a parameter from ``low`` to ``high``, restricted to the given ones."""
        return [value for value in self.of(name, range(low, high + 1)) if low <= value <= high]


Maker = Callable[[Wanted], Iterator[Shape]]


@dataclass(frozen=True)
class Family:
    """The generator of the shapes of a family."""

    make: Maker
    parameters: tuple[str, ...]
    usual: bool = True
    """Whether the family is considered if none is named."""


def switched(
    family: str,
    parameters: Mapping[str, Any],
    terminals: int,
    switches: int,
    ports_max: int,
    between: int,
    cuts: Sequence[tuple[float, float]],
) -> Shape:
    """Make the shape of a network of links with ``between`` cables between switches."""
    ports = terminals + 2 * between
    return Shape(family, parameters, terminals, switches, ports_max, ports, terminals + between, cuts)
