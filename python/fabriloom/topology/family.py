"""A family of networks: a function that builds one, and the facts about it that other rooms need.

The parameters of the function, with their limits and descriptions, become the settings of ``[topology]``. A
new family is therefore one module, and its name in ``fabriloom.topology``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, TypeVar, cast

import numpy as np
from pydantic import Field

from .graph import Graph


# The smallest cut of a network into halves by the formula of its family; otherwise see ``measure.py``.
@dataclass(frozen=True)
class Bisection:
    """Links cut between two halves of the terminals."""

    links: int
    """One-way links that cross, both directions together."""
    method: str
    """How the cut was found."""
    exact: bool
    """Whether no cut into halves has fewer links; if not, this is the best cut found, an upper bound."""
    width: float | None = None
    """Speed of these links; None if all links are alike."""


Cut = Callable[[Graph], Bisection | None]
"""A family's formula; it returns None for members that it does not apply to."""


def limited(graph: Graph, cables: int, method: str) -> Bisection:
    """Return the smaller of the family's cut and the terminals' own cables."""
    own = graph.terminals // 2
    if own < cables:
        return Bisection(2 * own, "the terminals' own cables are the narrowest place", True)
    return Bisection(2 * cables, method, True)


def as_wide_as_terminals(graph: Graph) -> Bisection:
    """Return the cut of the terminals' own cables: every stage has at least one cable per terminal."""
    return Bisection(2 * (graph.terminals // 2), "as many cables upwards on every level as terminals", True)


Count = Annotated[int, Field(ge=1, le=2**20)]
"""A number from 1 to 2^20."""
Several = Annotated[int, Field(ge=2, le=2**20)]
"""A number from 2 to 2^20."""
Depth = Annotated[int, Field(ge=1, le=20)]
"""A number of dimensions or levels; sizes grow exponentially with it."""
TerminalsPerSwitch = Annotated[Count, Field(description="Terminals at each switch")]
LinksPerEdge = Annotated[Count, Field(description="Parallel cables between neighbouring switches")]

Builder = TypeVar("Builder", bound=Callable[..., Graph])


@dataclass(frozen=True)
class Family:
    """The facts about a family."""

    name: str
    build: Callable[..., Graph]
    about: str
    """One sentence for the scenario reference."""
    routing: str | None
    """The usual routing, if one suits all members of the family."""
    cut: Cut | None
    """The narrowest cut into halves by formula; None: it is searched for."""


FAMILIES: dict[str, Family] = {}


def name_of(build: Callable[..., Graph]) -> str:
    """Return the kind of network that a function builds; for other functions, their name with hyphens."""
    names = [known.name for known in FAMILIES.values() if known.build is build]
    return names[0] if names else build.__name__.replace("_", "-")


def usual_routing(name: str) -> str | None:
    """Return the usual routing of a family, or None."""
    known = FAMILIES.get(name)
    return known.routing if known else None


def family(
    name: str, about: str, *, routing: str | None = None, cut: Cut | None = None
) -> Callable[[Builder], Builder]:
    """Register a function as the builder of a family.

    ``parameters`` in the layout of its graphs are its arguments, unless it has put others there because they
    follow from these; ``terminals_per_switch`` is there besides, if it is one of them.
    """

    def entered(build: Builder) -> Builder:
        signature = inspect.signature(build)

        @wraps(build)
        def built(*given: Any, **named: Any) -> Graph:
            graph = build(*given, **named)
            if "parameters" not in graph.layout and graph.several is None:
                bound = signature.bind(*given, **named)
                bound.apply_defaults()
                graph.layout["parameters"] = {key: _plain(one) for key, one in bound.arguments.items()}
            if "terminals_per_switch" in graph.layout.get("parameters", {}):
                own = graph.layout["parameters"]["terminals_per_switch"]
                graph.layout.setdefault("terminals_per_switch", own)
            return graph

        FAMILIES[name] = Family(name, built, about, routing, cut)
        return cast("Builder", built)

    return entered


def _plain(value: Any) -> Any:
    if isinstance(value, np.integer):
        return int(value)
    return [_plain(one) for one in value] if isinstance(value, list | tuple | np.ndarray) else value
