"""The narrowest cut of a network into halves, where its family has a formula; else see ``bisect.py``."""

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
    """True if no cut into halves has fewer links; false if this is the best cut found, an upper bound."""


Cut = Callable[[Graph], Bisection | None]
"""A family's formula; none where it does not hold for a member."""


def limited(graph: Graph, cables: int, method: str, exact: bool = True) -> Bisection:
    """Take the terminals' own cables where they are fewer than the family's cut."""
    own = graph.terminals // 2
    if own < cables:
        return Bisection(2 * own, "the terminals' own cables are the narrowest place", exact)
    return Bisection(2 * cables, method, exact)


def as_wide_as_terminals(graph: Graph) -> Bisection:
    """Every stage of these has as many cables as there are terminals: no cut is narrower than the terminals'
    own."""
    return Bisection(2 * (graph.terminals // 2), "as many cables upwards on every level as terminals", True)
