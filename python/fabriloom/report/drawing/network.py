"""The network as one SVG: switches are boxes, terminals are dots, every link is a stroke coloured by a value.

The SVG is self-contained and uses no ids, because one page may have several drawings. All names are escaped.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...topology import Graph
from .boxes import box_of, draw_cable, draw_outside_terminals
from .links import draw_switch_links, has_ports
from .plan import Plan, plan_of
from .rings import RingPlan, ring_boxes, ring_notes, ring_plan
from .style import FONT, PAPER, Scale, counted, label, legend, number, scale_of

Numbers = NDArray[np.float64]

_MARGIN_PX = 18.0
_NAME_PX = 26.0
"""Space for the name of a plane above its picture."""


def fabric_svg(
    graph: Graph, link_values: ArrayLike | None = None, link_label: str = "utilisation", alone: bool = False
) -> str:
    """Return a standalone SVG of the network.

    Args:
        link_values: a number per link, NaN for none. Each direction of a cable has its own stroke, on the
            right-hand side of its direction, coloured by its value; the legend goes from 0 to a round number.
            Without values, one stroke is a cable.
        link_label: name of the values in the legend and the tooltips.
        alone: without legend and notes, for a page that has its own.

    Raises:
        ValueError: the number of values is not the number of links.
    """
    values = None
    if link_values is not None:
        values = np.asarray(link_values, np.float64)
        if values.shape != (graph.links,):
            raise ValueError(f"link_values has shape {values.shape}; the graph has {graph.links} links")
    if graph.several is not None:
        return _planes(graph, values, link_label, alone)
    return _one(graph, values, link_label, alone)


def _one(
    graph: Graph,
    values: Numbers | None,
    link_label: str,
    alone: bool,
    scale: Scale | None = None,
    name: str = "",
) -> str:
    """Return a network without planes, or the plane ``name`` of several planes with one common ``scale``."""
    if graph.network_kind.buses:
        rings = ring_plan(graph, graph.own_rings, values, link_label, scale)
        notes = None if alone else [f"{name}{note}" for note in ring_notes(rings)]
        return _page(rings, ring_boxes(rings), notes)
    plan = plan_of(graph, values, link_label)
    plan.scale = scale or plan.scale
    draw_switch_links(plan)
    boxes = [box_of(plan, switch) for switch in range(graph.switches)]
    if graph.switches:
        draw_outside_terminals(plan)
    else:
        draw_cable(plan)
    notes = None if alone else [f"{name}{note}" for note in _notes(plan)]
    return _page(plan, boxes, notes)


def _planes(graph: Graph, values: Numbers | None, link_label: str, alone: bool) -> str:
    """Return the planes in rows, coloured by one scale; the last one has the legend."""
    scale = None if values is None else scale_of(values, link_label)
    shapes, sizes = list[str](), list[tuple[float, float]]()
    for plane in graph.planes:
        own, last = None if values is None else values[plane.links], plane is graph.planes[-1]
        svg = _one(plane.graph, own, link_label, alone or not last, scale, f"Plane {plane.name}: ")
        width, height = (float(side) for side in re.findall(r' (?:width|height)="([0-9.]+)"', svg)[:2])
        shapes.append(_moved(svg, plane.first_link).rstrip("\n"))
        sizes.append((width, height + _NAME_PX))
    places, (wide, tall) = _in_rows(sizes)
    parts = []
    for plane, svg, (x, y), (width, _) in zip(graph.planes, shapes, places, sizes, strict=True):
        parts.append(label(f"Plane {plane.name}", x + width / 2, y + 18, 13, "middle"))
        parts.append(svg.replace("<svg ", f'<svg x="{number(x)}" y="{number(y + _NAME_PX)}" ', 1))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(wide)}" height="{number(tall)}" '
            f'role="img" viewBox="0 0 {number(wide)} {number(tall)}" font-family="{FONT}">',
            f"<desc>Terminals with ports in {counted(len(shapes), 'network')}</desc>",
            f'<rect width="{number(wide)}" height="{number(tall)}" rx="8" fill="{PAPER}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


_ASPECT = 1.5
"""Ratio of width to height of the space for a picture, in a report and in the laboratory."""


def _in_rows(sizes: list[tuple[float, float]]) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Return places of pictures in rows of equal length, as large as possible, and the total size."""
    found = []
    for each in range(1, len(sizes) + 1):
        wide = max(width for width, _ in sizes)
        tops = [0.0]
        for first in range(0, len(sizes), each):
            tops.append(tops[-1] + max(height for _, height in sizes[first : first + each]))
        places = [
            (place % each * wide + (wide - width) / 2, tops[place // each])
            for place, (width, _) in enumerate(sizes)
        ]
        found.append((max(each * wide, _ASPECT * tops[-1]), places, (each * wide, tops[-1])))
    _, places, size = min(found, key=lambda one: one[0])
    return places, size


def _moved(svg: str, first: int) -> str:
    """Return the picture of a plane, with its links numbered as in the whole network."""

    def numbers(found: re.Match[str]) -> str:
        return f'data-links="{" ".join(str(int(link) + first) for link in found[1].split())}"'

    return re.sub(r'data-links="([0-9 ]*)"', numbers, svg)


def _page(plan: Plan | RingPlan, boxes: list[str], notes: list[str] | None) -> str:
    """Combine the layers: strokes from low to high, boxes, names, and a legend if there are notes."""
    graph = plan.graph
    points = np.array(plan.corners)
    low, high = points.min(axis=0) - _MARGIN_PX, points.max(axis=0) + _MARGIN_PX
    wide = max(float(high[0] - low[0]), 0.0 if notes is None else 420.0)
    left = float(low[0] - (wide - (high[0] - low[0])) / 2)
    key, tall = list[str](), float(high[1] - low[1])
    if notes is not None:
        key, key_height = legend(plan.scale, notes, left + 18, float(high[1]) + 2, wide - 36)
        tall += key_height + 14
    strokes = [shape for _, shape in sorted(plan.strokes, key=lambda stroke: stroke[0])]
    what = f"A network of {counted(graph.switches, 'switch', 'es')}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(wide)}" height="{number(tall)}" '
            'role="img"'
            f' viewBox="{number(left)} {number(low[1])} {number(wide)} {number(tall)}" font-family="{FONT}">',
            f"<desc>{what}</desc>",
            f'<rect x="{number(left)}" y="{number(low[1])}" width="{number(wide)}" height="{number(tall)}" '
            'rx="8"'
            f' fill="{PAPER}"/>',
            '<g fill="none" stroke-linecap="round">',
            *strokes,
            "</g>",
            *boxes,
            *plan.over,
            *key,
            "</svg>",
            "",
        ]
    )


def _notes(plan: Plan) -> list[str]:
    graph = plan.graph
    most = max(map(len, plan.terminals_at), default=0)
    parts = counted(graph.switches, "switch", "es"), counted(graph.terminals, "terminal")
    notes = [", ".join([*parts, counted(graph.links, "link")]) + "."]
    if plan.scale is not None and (graph.link_reverse >= 0).any():
        notes[0] += " Each direction of a cable is drawn on its right-hand side."
    elif plan.scale is None:
        notes[0] += (
            " A stroke is a cable." if (graph.link_reverse >= 0).any() else " A stroke is a one-way link."
        )
    if len(plan.rates):
        notes[0] += " The thinner a stroke, the slower the link."
    if has_ports(graph):
        notes[0] += " Numbers at switches are their ports."
    if plan.outside and graph.layout.get("addresses"):
        notes[0] += " Numbers behind names are logical addresses."
    if plan.merged:
        notes[0] += " Parallel links are drawn as one, with their mean."
    if most and not plan.outside and not plan.dots:
        notes[0] += f" Up to {counted(most, 'terminal')} at a switch, not drawn"
        notes[0] += "." if plan.scale is None else "; boxes have the mean colour of their terminals' links."
    return notes
