"""Fabrics of more parts than a drawing of strokes can hold: places and ends, for a browser with WebGL."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...topology import Graph
from .layout import Points, pivoted
from .rings import ring_plan

MOST_SWITCHES, MOST_STATIONS = 600, 2400
"""A drawing of strokes with more switches, or stations of rings, would be an unreadable file of megabytes."""
MOST_LINKS = 120_000
"""Most links that are drawn at all: their names alone take megabytes."""
PITCH = 40.0
"""Distance of two neighbours in the units of the drawing."""
_AROUND = 0.3
"""Distance of terminals from their switch, in pitches."""


def is_large(graph: Graph) -> bool:
    """Return whether a graph has too many parts for a drawing of strokes."""
    stations = graph.links if graph.network_kind.buses else 0
    return graph.switches > MOST_SWITCHES or stations > MOST_STATIONS or graph.links > 20_000


def parts_of(graph: Graph) -> dict[str, Any]:
    """Return the places of all vertices, and the ends of all links, as the page draws them.

    ``places``: x and y of switches, then of terminals (of rings: of stations), as base64 of 32-bit floats.
    ``ends``: source and target of each link, as base64 of 32-bit integers. ``switches``: how many of the
    vertices are switches, whose names are ``names``.
    """
    places, ends, names = _of_rings(graph) if graph.network_kind.buses else _of_links(graph)
    return {
        "places": _packed(np.round(places * PITCH, 2), np.float32),
        "ends": _packed(ends, np.uint32),
        "names": names,
        "switches": len(names),
    }


def _packed(values: ArrayLike, kind: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()


def _of_links(graph: Graph) -> tuple[Points, NDArray[np.int64], list[str]]:
    switches = _evenly(np.array(pivoted(graph) if graph.positions is None else graph.positions, np.float64))
    places = np.zeros((graph.switches + graph.ports, 2))
    places[: graph.switches] = switches
    own = np.asarray(graph.terminal_entry_switches)
    order = np.argsort(own, kind="stable")
    first = np.searchsorted(own[order], own[order])
    turn = np.zeros(len(own))
    turn[order] = np.arange(len(own)) - first
    count = np.bincount(own, minlength=graph.switches)[own]
    angle = 2 * np.pi * (turn + 0.5) / np.maximum(count, 1) + 0.4
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    places[graph.switches :] = switches[own] + _AROUND * around
    ends = np.column_stack([graph.link_source, graph.link_target])
    return places, ends, list(graph.switch_names)


def _of_rings(graph: Graph) -> tuple[Points, NDArray[np.int64], list[str]]:
    plan = ring_plan(graph, graph.own_rings, None, "")
    ends = np.column_stack([np.arange(graph.links), graph.own_rings.station_next])
    return _evenly(plan.station), ends, []


def _evenly(places: Points) -> Points:
    """Scale places so that each of them has about a unit of area; a wide picture stays wide."""
    places = places - places.min(axis=0)
    extent = np.maximum(np.ptp(places, axis=0), 1e-9)
    if extent.min() < 0.02 * extent.max():  # a line
        return places * len(places) / extent.max()
    return places * np.sqrt(len(places) / np.prod(extent))
