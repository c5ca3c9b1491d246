"""What a graph says in a file, for the writers of all formats."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from .graph import Graph
from .raw import ATTRIBUTES, CABLE, CABLES, CYCLE, PORTS


def family_line(graph: Graph) -> str | None:
    """Return the family and its parameters as one line of JSON; None for a graph without a family."""
    if graph.family == "file" or "parameters" not in graph.layout:
        return None
    return json.dumps({"family": graph.family, "parameters": graph.layout["parameters"]})


def numbers_of(graph: Graph, link: int) -> dict[str, Any]:
    """Return the numbers that the file gave for a link, and the preset of its cable."""
    found = {key: float(graph.attributes[key][link]) for key in ATTRIBUTES if key in graph.attributes}
    other = float(graph.attributes[CABLE][link]) if CABLE in graph.attributes else math.nan
    return {
        key: int(value) if key in PORTS else value for key, value in found.items() if not math.isnan(value)
    } | ({} if math.isnan(other) else {CABLE: CABLES[int(other)]})


def address_of(graph: Graph, link: int) -> dict[str, int]:
    """Return the logical ``address`` that a link gives the port of its terminal."""
    address = graph.layout.get("link_addresses", {}).get(link)
    return {} if address is None else {"address": address}


def of_vertex(graph: Graph, vertex: int) -> dict[str, Any]:
    """Return what a file says of a vertex: its kind, its place or address, and its cycle."""
    kind = "switch" if vertex < graph.switches else "terminal"
    found = {"kind": kind, **_place_of(graph, vertex)}
    if CYCLE in graph.attributes:
        own = graph.attributes[CYCLE][np.asarray(graph.link_source) == vertex]
        found |= {CYCLE: float(own[0])} if len(own := own[~np.isnan(own)]) else {}
    return found


def _place_of(graph: Graph, vertex: int) -> dict[str, float]:
    """Return the position of a switch as ``x`` and ``y``, or the logical ``address`` of a terminal."""
    address = graph.layout.get("addresses", {}).get(vertex - graph.switches)
    if address is not None:
        return {"address": address}
    if graph.positions is None or vertex >= graph.switches:
        return {}
    return {"x": float(graph.positions[vertex, 0]), "y": float(graph.positions[vertex, 1])}


def cables_of(graph: Graph) -> list[int]:
    """Return per link the number of its cable (the lower of its two links), -1 for a one-way link."""
    here = np.arange(graph.links)
    return np.where(graph.link_reverse < 0, -1, np.minimum(here, graph.link_reverse)).tolist()
