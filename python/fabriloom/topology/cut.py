"""The smallest cut of a network into halves by the formula of its family; otherwise see ``bisect.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .graph import Graph


@dataclass(frozen=True)
class Bisection:
    """Links cut between two halves of the terminals."""

    links: int
    """One-way links that cross, both directions together."""
    method: str
    """How the cut was found."""
    exact: bool
    """Whether no cut into halves has fewer links; if not, this is the best cut found, an upper bound."""


Cut = Callable[[Graph], Bisection | None]
"""A family's formula; it returns None for members that it does not apply to."""


def limited(graph: Graph, cables: int, method: str, exact: bool = True) -> Bisection:
    """Return the smaller of the family's cut and the terminals' own cables."""
    own = graph.terminals // 2
    if own < cables:
        return Bisection(2 * own, "the terminals' own cables are the narrowest place", exact)
    return Bisection(2 * cables, method, exact)


def as_wide_as_terminals(graph: Graph) -> Bisection:
    """Return the cut of the terminals' own cables: every stage has at least one cable per terminal."""
    return Bisection(2 * (graph.terminals // 2), "as many cables upwards on every level as terminals", True)
