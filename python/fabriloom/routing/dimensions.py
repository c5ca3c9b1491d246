"""Dimension order: grids, tori, rings, hypercubes (e-cube) and HyperX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..topology.graph import Graph
from .lanes import has_rings, sides
from .native import Core, numbers
from .table import RouteTable, RoutingError

VARIANTS = ("minimal", "no-edge-transit")


def dimension_order(
    graph: Graph,
    spread: str,
    via: Sequence[int],
    order: Sequence[int] | None = None,
    variant: str | None = None,
) -> RouteTable:
    """Route one dimension after the other; ``order`` lists the dimensions (default: as in ``shape``).

    ``variant``, only if links close a dimension to a ring: "no-edge-transit" (default) takes the shorter
    direction that does not pass coordinate 0; "minimal" the shorter direction, which deadlocks without
    virtual channels.
    """
    layout = graph.layout
    if "shape" not in layout or "coordinates" not in layout:
        raise RoutingError(
            f"dimension-order routing needs switches with coordinates; a {graph.family} has none", "kind"
        )
    shape = [int(size) for size in layout["shape"]]
    order = list(range(len(shape))) if order is None else [int(dimension) for dimension in order]
    if sorted(order) != list(range(len(shape))):
        raise RoutingError(
            f"order is {order}; it must name each dimension from 0 to {len(shape) - 1} once", "order"
        )
    wrap = _wrap(graph, variant)
    arguments = (shape, numbers(layout["coordinates"]), order, wrap)
    return Core(graph).table("dimension_order", arguments, spread, via, "dimension-order")


def _wrap(graph: Graph, variant: str | None) -> str:
    closed = bool(graph.layout.get("wrap", graph.family in ("torus", "ring")))
    if variant is not None and variant not in VARIANTS:
        raise RoutingError(f'there is no variant "{variant}"; there are {" and ".join(VARIANTS)}', "variant")
    if variant is not None and not closed:
        raise RoutingError(
            f"variant is for tori and rings; a {graph.family} has no links that wrap around", "variant"
        )
    if graph.layout.get("complete"):
        return "complete"
    return (variant or "no-edge-transit") if closed else "line"


def in_dimensions(graph: Graph, spread: str, via: Sequence[int], lanes: int) -> RouteTable:
    """Return paths in dimension order that cannot deadlock, in layers of lanes, as few as they take.

    In rings they go the shorter way, in one layer before the dateline and in another behind it, where the
    lanes suffice; else no packet passes through the edge. With intermediate switches (``via``) the way to
    them has the lower half of the layers, the way from them the upper half.
    """
    parts = 2 if len(via) else 1
    datelines = has_rings(graph) and lanes >= 2 * parts
    table = dimension_order(graph, spread, via, variant="minimal" if datelines else None)
    table, layer = sides(graph, table) if datelines else (table, np.zeros(table.rows.shape, np.uint8))
    if len(via):
        to = table.via_class if table.shared is None else table.shared.column[table.via_class]
        layer += 1 + datelines
        layer[:, to] -= 1 + datelines
    ways = "dimension-order" + (" with a dateline in each ring" if datelines else "")
    ways += " to a random switch and from it" if len(via) else ""
    count = parts * (1 + datelines)
    return replace(table, layer=layer, note=f"{ways} in {count} layers of lanes")
