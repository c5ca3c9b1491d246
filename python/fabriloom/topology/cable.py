"""Two terminals and a cable between them, no switch."""

from __future__ import annotations

import numpy as np

from .family import family
from .graph import Graph


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
