"""The parts of the testbed: inputs of the model, counts on the networks as built, and rates that follow from
the characters alone, which must agree exactly, to the printed digits.
"""

from __future__ import annotations

import numpy as np
from fabriloom.technology import technology
from fabriloom.topology import build
from fabriloom.topology.graph import Graph

from ..lab import Findings, Lab
from ..published import Number, numbers
from ..rows import INPUT, arithmetic, exact, noted, reported
from . import networks


def findings(_lab: Lab) -> Findings:
    """Return one row per printed part."""
    printed = numbers("macrame")
    return Findings(
        rows=_inputs(printed) + _counts(printed) + _reliability(printed) + _rates_and_cuts(printed)
    )


def _inputs(printed: dict[str, Number]) -> list[dict]:
    tech = technology(networks.PRESET)
    ours = {
        "link-rate": networks.LINK_MBITS_PER_S,
        "flow-control-quantum": tech.credit_quantum_chars,
        "input-buffer": tech.input_buffer_chars,
        "output-buffer": tech.output_buffer_chars,
        "nodes-per-module": networks.NODES_PER_SWITCH,
        "grid-links-per-edge": networks.LINKS_PER_EDGE,
        "cable-length": 2,
        "packet-descriptors": None,
        "switch-unit-ports": None,
        "front-panel-ports": None,
    }
    reasons = {
        "packet-descriptors": "lists may have any length here; random traffic is drawn, not read from a list",
        "switch-unit-ports": "see the ports counted on the Clos",
        "front-panel-ports": "see the ports counted on the grid",
    }
    return [reported(printed[key], value, reasons.get(key, INPUT)) for key, value in ours.items()]


def _counts(printed: dict[str, Number]) -> list[dict]:
    grid_400, grid_1024 = build(**networks.grid(5)), build(**networks.grid(8))
    clos_256 = build(**networks.clos(256))
    ports = np.bincount(clos_256.link_source, minlength=clos_256.switches)[: clos_256.switches]
    counted = {
        "grid-400-nodes": grid_400.terminals,
        "nodes": grid_1024.terminals,
        "grid-1024-side": int(np.sqrt(grid_1024.switches)),
        "grid-neighbours": int(np.bincount(_pairs(grid_1024)[0][0]).max()),
        "clos-256-links-per-pair": int(_pairs(clos_256)[1].max()),
        "switch-ports": int(ports.max()),
    }
    links = float(grid_1024.terminals + len(grid_1024.switch_links) // 2)
    note = "contradicts the construction that the paper describes, which has 1024 + 448 cables"
    return [*exact(printed, counted), reported(printed["grid-1024-active-links"], links, note)]


def _reliability(printed: dict[str, Number]) -> list[dict]:
    hours, links = float(printed["test-duration"]["value"]), float(printed["grid-1024-active-links"]["value"])
    bits = links * hours * 3600 * networks.LINK_MBITS_PER_S * 1e6
    note = "one over the bits of 1344 links in 200 hours; the printed limit needs 215 hours"
    values = {
        "grid-1024-differential-share": (100 * 448 / 1472, "448 cables between switches, of 1472"),
        "test-duration": (None, "link errors are not simulated"),
        "link-error-rate": (1 / bits, note),
    }
    return noted(printed, values)


def _pairs(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of switches that links join, shape (2, pairs), and how many links join each."""
    chosen = graph.switch_links
    ends = np.stack([graph.link_source[chosen], graph.link_target[chosen]])
    return np.unique(ends, axis=1, return_counts=True)


def _rates_and_cuts(printed: dict[str, Number]) -> list[dict]:
    """Compare the link bandwidth, the two cross-sections and the load at saturation."""
    link = networks.link_mbytes_per_s()
    capacity = 256 * networks.node_mbytes_per_s(256) / 1000
    saturation = float(printed["clos-256-saturation"]["value"])
    clos, grid = build(**networks.clos(256)), build(**networks.grid(4))
    half_of_rows = np.arange(grid.switches) < grid.switches // 2
    values = {
        "link-payload": (link, 0.0005),
        "clos-256-cross-section": (_cut_links(clos, _half_of_clos(clos)) * link / 1000, 0.005),
        "grid-256-cross-section": (_cut_links(grid, half_of_rows) * link, 0.5),
        "clos-256-saturation-load": (100 * saturation / capacity, 0.5),
    }
    return [
        arithmetic(
            printed[key],
            ours,
            (float(printed[key]["value"]) - digit, float(printed[key]["value"]) + digit),
            variant="of the published throughput" if key == "clos-256-saturation-load" else "",
        )
        for key, (ours, digit) in values.items()
    ]


def _half_of_clos(graph: Graph) -> np.ndarray:
    """Select half the terminal switches; if the other half has the centre stage, all their links are cut."""
    with_terminals = np.unique(graph.link_target[graph.link_source >= graph.switches])
    inside = np.zeros(graph.switches, bool)
    inside[with_terminals[: len(with_terminals) // 2]] = True
    return inside


def _cut_links(graph: Graph, inside: np.ndarray) -> int:
    """Return the number of links between switches that cross the cut, in both directions."""
    chosen = graph.switch_links
    return int((inside[graph.link_source[chosen]] != inside[graph.link_target[chosen]]).sum())
