"""The graph: switches, terminals and directed links, before any technology or routing.

A graph is a directed multigraph. Vertices are numbered switches first, then terminals. A cable is two links,
one per direction, each the ``reverse`` of the other; a one-way link has no reverse. Parallel links are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class GraphError(ValueError):
    """A graph that cannot be built. ``parameter`` names the argument at fault, if one is."""

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


@dataclass(frozen=True)
class Graph:
    """Switches, terminals and links.

    Every terminal sends on exactly one link and receives on exactly one link (of the same cable in all
    but one-way multistage networks).
    """

    switch_names: list[str]
    terminal_names: list[str]
    link_source: Ints
    """Per link: vertex it leaves (switches first, then terminals)."""
    link_target: Ints
    """Per link: vertex it enters."""
    link_reverse: Ints
    """Per link: the opposite direction of the same cable, or -1."""
    link_names: list[str]
    family: str
    """Name of the topology family, for routing that needs the structure: "grid", "clos", …"""
    layout: dict[str, Any] = field(default_factory=dict)
    """What the family's routing needs: ``shape``, ``coordinates``, ``levels``, …"""
    positions: NDArray[np.float64] | None = None
    """Where to draw each switch, shape (switches, 2); none: let the drawing decide."""
    attributes: dict[str, NDArray[Any]] = field(default_factory=dict)
    """Optional per-link overrides read from a graph file: ``rate_bits_per_s``, ``length_m`` (NaN: not given)."""

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.switch_names)

    @property
    def terminals(self) -> int:
        """Number of terminals."""
        return len(self.terminal_names)

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.link_source)

    def vertex_name(self, vertex: int) -> str:
        """Name of a switch or a terminal by vertex number."""
        return self.switch_names[vertex] if vertex < self.switches else self.terminal_names[vertex - self.switches]
