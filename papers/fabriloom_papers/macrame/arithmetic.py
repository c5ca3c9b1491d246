"""Rates that follow from the characters alone; they must agree exactly, to the printed digits."""

from __future__ import annotations

import numpy as np
from fabriloom.topology import build
from fabriloom.topology.graph import Graph

from ..lab import Findings, Lab
from ..published import numbers
from ..rows import arithmetic
from . import networks


def findings(_lab: Lab) -> Findings:
    """Compare the link bandwidth, the two cross-sections and the load at saturation."""
    printed = numbers("macrame")
    link = networks.link_mbytes_per_s()
    capacity = 256 * networks.node_mbytes_per_s(256) / 1000
    saturation = float(printed["clos-256-saturation"]["value"])
    clos, grid = build(**networks.clos(256)), build(**networks.grid(4))
    values = {
        "link-payload": (link, 0.0005),
        "clos-256-cross-section": (_cut_links(clos, _half_of_clos(clos)) * link / 1000, 0.005),
        "grid-256-cross-section": (_cut_links(grid, _half_of_grid(grid)) * link, 0.5),
        "clos-256-saturation-load": (100 * saturation / capacity, 0.5),
    }
    return Findings(
        rows=[
            arithmetic(
                printed[key],
                ours,
                (float(printed[key]["value"]) - digit, float(printed[key]["value"]) + digit),
                variant="of the published throughput" if key == "clos-256-saturation-load" else "",
            )
            for key, (ours, digit) in values.items()
        ]
    )


def _half_of_grid(graph: Graph) -> np.ndarray:
    """Select the switches in the first half of the rows."""
    return np.arange(graph.switches) < graph.switches // 2


def _half_of_clos(graph: Graph) -> np.ndarray:
    """Select half the terminal switches; if the other half has the centre stage, all their links are cut."""
    with_terminals = np.unique(graph.link_target[graph.link_source >= graph.switches])
    inside = np.zeros(graph.switches, bool)
    inside[with_terminals[: len(with_terminals) // 2]] = True
    return inside


def _cut_links(graph: Graph, inside: np.ndarray) -> int:
    """Return the number of links between switches that cross the cut, in both directions."""
    chosen = (graph.link_source < graph.switches) & (graph.link_target < graph.switches)
    return int((inside[graph.link_source[chosen]] != inside[graph.link_target[chosen]]).sum())
