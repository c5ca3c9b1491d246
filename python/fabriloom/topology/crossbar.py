"""One switch with all terminals on it, or two terminals on a cable without one."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Bisection, Count, family, limited
from .graph import MAX_TERMINALS, Graph, assemble, check_size, whole


@family("cable", "Two terminals joined by one cable, without a switch.")
def cable() -> Graph:
    """Join the terminals ``t.0`` and ``t.1`` by one cable, to measure a link alone."""
    return Graph(
        switch_names=[],
        terminal_names=["t.0", "t.1"],
        link_source=np.array([0, 1]),
        link_target=np.array([1, 0]),
        link_reverse=np.array([1, 0]),
        link_names=["t.0>t.1", "t.1>t.0"],
        family="cable",
        layout={"parameters": {}},
    )


def _cut(graph: Graph) -> Bisection:
    return limited(graph, graph.terminals, "")


@family("crossbar", "One switch with all terminals on it.", cut=_cut)
def crossbar(terminals: Annotated[Count, Field(description="Number of terminals")]) -> Graph:
    """Build a single switch ``s`` with ``terminals`` terminals ``t.0``, ``t.1``, …"""
    if not isinstance(terminals, bool) and isinstance(terminals, int):
        check_size(terminals, terminals, "terminals")
    whole(terminals, "terminals", 2, MAX_TERMINALS, "the number of terminals on the switch")
    none = np.zeros(0, np.int64)
    return assemble(
        "crossbar",
        ["s"],
        np.zeros(terminals, np.int64),
        lambda _, number: f"t.{number}",
        (none, none),
        1,
        {"parameters": {"terminals": terminals}},
        np.zeros((1, 2)),
    )
