"""Sizes and positions of the whole drawing, decided before anything is drawn."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...topology import Graph
from .layout import Points, pivoted, switch_positions
from .rings import ring_plan
from .style import Scale, scale_of, text_width

MAX_PARALLEL = 8
"""If two switches have more strokes than this, each direction becomes one stroke with its count."""
MAX_STROKES = 3000
"""If the drawing has more strokes than this, parallel ones become one."""
MAX_OUTSIDE = 96
"""Up to this many terminals are drawn around their switches; more are drawn within the boxes."""
MAX_NAMED = 40
"""Up to this many terminals around switches have their names written."""
_MOST_AT_ONE = 14
"""Most named terminals around one of several switches."""
WIDTH_PX = 940.0
_THINNEST, _WIDEST = 0.45, 1.6


@dataclass
class Plan:
    """Sizes and positions, in pixels."""

    graph: Graph
    values: NDArray[np.float64] | None
    scale: Scale | None
    places: Points
    pitch: float
    """Distance between the nearest two switches."""
    box: tuple[float, float]
    font: float
    """Font size; 0: no names."""
    outside: bool
    """Draw terminals around their switches."""
    dots: bool
    """Draw terminals one by one within the boxes."""
    merged: bool
    """Draw parallel links as one stroke per direction."""
    terminals_at: list[list[int]]
    """Per switch: the terminals that send to it."""
    terminal_links_at: list[list[int]]
    """Per switch: the links to and from its terminals."""
    arrows: bool
    strokes: list[tuple[float, str]] = field(default_factory=list)
    """Strokes with their sort values; the highest are drawn last."""
    over: list[str] = field(default_factory=list)
    corners: list[tuple[float, float]] = field(default_factory=list)
    """Points that the picture must contain."""
    ink: float = 1.0
    """Factor of the stroke width, smaller if strokes would cover too much of the picture."""
    rates: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Per link: the rate in bits per second that a graph file gives, NaN for the technology's rate; empty if
    all rates are equal."""
    fastest: float = 1.0
    """The highest of these rates."""

    def value(self, link: int) -> float:
        return float("nan") if self.values is None else float(self.values[link])

    def known(self, links: list[int]) -> NDArray[np.float64]:
        """Return the values of those links that have one."""
        values = np.array([self.value(link) for link in links])
        return values[np.isfinite(values)]

    def weight(self, link: int) -> float:
        """Return the factor of the stroke width: the slower a link, the thinner."""
        if not len(self.rates):
            return 1.0
        share = 1.0 if np.isnan(self.rates[link]) else float(self.rates[link]) / self.fastest
        return _WIDEST * float(np.clip(share**0.5, _THINNEST, 1.0))


def plan_of(graph: Graph, values: NDArray[np.float64] | None, link_label: str) -> Plan:
    places = switch_positions(graph)
    extent = np.ptp(places, axis=0) if graph.switches else np.zeros(2)
    terminals_at: list[list[int]] = [[] for _ in range(graph.switches)]
    for terminal, switch in enumerate(graph.terminal_entry_switches.tolist() if graph.switches else []):
        terminals_at[switch].append(terminal)
    terminal_links_at: list[list[int]] = [[] for _ in range(graph.switches)]
    for links, ends in (
        (graph.terminal_out_links, graph.terminal_entry_switches),
        (graph.terminal_in_links, graph.terminal_exit_switches),
    ):
        for link, switch in zip(links.tolist(), ends.tolist(), strict=True) if graph.switches else ():
            terminal_links_at[switch].append(link)
    most = max(map(len, terminals_at), default=0)
    one_way = bool((graph.link_reverse[graph.terminal_out_links] < 0).any())
    # Only a two-dimensional lattice leaves the corners of a switch free.
    lattice = len(graph.layout.get("shape", []))
    # A network of a file that is small enough for names gets the room that its terminals need.
    few = graph.family == "file" and graph.terminals <= MAX_NAMED and most <= _MOST_AT_ONE
    outside = graph.terminals <= MAX_OUTSIDE and (
        one_way or graph.switches == 1 or few or (most <= 4 and lattice < 3)
    )
    room, widest = max(float(extent.max()), 1.0), 150 if outside else 112
    pitch = float(np.clip(WIDTH_PX / room, 17, widest + (beyond_four(most) * 3 if few else 0)))
    box, font = _box_size(graph, pitch, outside)
    room_for_dots = not outside and most > 0 and min(dots_room(box, font)) > 3
    rates = graph.attributes.get("rate_bits_per_s", np.zeros(0)).astype(np.float64)
    rates = rates if len(np.unique(rates)) > 1 else np.zeros(0)
    strokes = len(graph.switch_links) // (1 if values is not None else 2)
    merged = strokes > MAX_STROKES
    return Plan(
        graph=graph,
        values=values,
        scale=None if values is None else scale_of(values, link_label),
        places=places * pitch,
        pitch=pitch,
        box=box,
        font=font,
        outside=outside,
        dots=room_for_dots and not merged and dot_columns(most, *dots_room(box, font))[1] >= 3.0,
        merged=merged,
        terminals_at=terminals_at,
        terminal_links_at=terminal_links_at,
        arrows=graph.links <= 400,
        ink=_ink(graph, places, values is not None, merged),
        rates=rates,
        fastest=float(np.nanmax(rates, initial=1.0)),
    )


def beyond_four(terminals: int) -> float:
    """Return how much farther from their switch more than four terminals stand, so that all have room."""
    return 7.0 * max(0, terminals - 4)


def _box_size(graph: Graph, pitch: float, outside: bool) -> tuple[tuple[float, float], float]:
    """Return the width and height of the boxes, and the size of the names in them (0: no names)."""
    high = (0.56 if pitch > 34 else 0.45) * pitch if not outside else min(0.3 * pitch, 34)
    longest = max(map(len, graph.switch_names), default=1)
    font = min(12.0, 0.78 * pitch / (0.58 * max(longest, 1)))
    if font < 6.5 or graph.switches > 260:
        return (high, high), 0.0
    wide = max(high, text_width("m" * longest, font) + 8)
    return (min(wide, 0.84 * pitch), max(high, font + 8)), font


def _ink(graph: Graph, places: Points, each_way: bool, merged: bool) -> float:
    """Return the factor by which strokes must be thinner so that they do not cover the picture."""
    links = graph.switch_links
    if not len(links):
        return 1.0
    ends = np.sort(np.stack([graph.link_source[links], graph.link_target[links]]), axis=0)
    pairs, count = np.unique(ends[0] * graph.switches + ends[1], return_counts=True)
    count = count if each_way else (count + 1) // 2
    strokes = int(np.where(merged | (count > MAX_PARALLEL), 2, count).sum())
    ways = places[pairs // graph.switches] - places[pairs % graph.switches]
    area = float(np.prod(np.maximum(np.ptp(places, axis=0), 1.0)))
    # The median, because the few long wrap-around cables of a torus count little.
    covered = float(np.median(np.hypot(*ways.T))) * strokes * 0.03 / area
    return float(np.clip(0.6 / max(covered, 1e-9), 0.45, 1.0))


def dot_columns(count: int, wide: float, high: float) -> tuple[int, float]:
    """Return the number of columns in which dots fit best, preferring full rows, and their distance."""

    def worth(columns: int) -> float:
        return step(columns) * (1.0 if count % columns == 0 else 0.8)

    def step(columns: int) -> float:
        return min(wide / columns, high / -(-count // columns), 9.0)

    best = max(range(1, min(count, 64) + 1), key=lambda columns: (round(worth(columns), 6), columns))
    return best, step(best)


def name_height(font: float) -> float:
    return font + 5 if font else 2.5


def dots_room(box: tuple[float, float], font: float) -> tuple[float, float]:
    """Return the width and height of the space for dots in a box."""
    return box[0] - (7 if box[0] > 24 else 4), box[1] - 2.5 - name_height(font)


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
