"""Two terminals and a cable between them, no switch."""

from __future__ import annotations

import numpy as np

from .graph import Graph


def cable() -> Graph:
    """Join the terminals ``t.0`` and ``t.1`` by one cable: what a link does by itself."""
    names = ["t.0", "t.1"]
    return Graph(
        switch_names=[],
        terminal_names=names,
        link_source=np.array([0, 1]),
        link_target=np.array([1, 0]),
        link_reverse=np.array([1, 0]),
        link_names=["t.0>t.1", "t.1>t.0"],
        family="cable",
        layout={"parameters": {}},
    )
