"""Drawing of ring networks.

Every ring is a closed curve through its stations; every switch is a box with its bus as a bar and its ports
on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...topology import Graph
from ...topology.rings import Rings
from .layout import Points, switch_positions
from .style import (
    BOX,
    BOX_EDGE,
    INK,
    LINE,
    PAPER,
    SOFT,
    Scale,
    arrowhead,
    counted,
    label,
    marks,
    number,
    scale_of,
    text_width,
    title,
)

LINE_GAP_PX = 30.0
"""Distance between the lines of a Banyan."""
BOX_GAP_PX = 14.0
"""Additional distance between lines of different exchanges, for the names."""
MAX_NAMED = 400
"""With more stations than this, terminals have their names only in tooltips."""
NAME_SIZE = 9.5
OFF_BOX_PX = 30.0
"""Distance of the stations next to a loop's port from the switch, for their names."""


@dataclass
class RingPlan:
    """Positions of the stations, in pixels, and the parts drawn so far."""

    graph: Graph
    rings: Rings
    values: NDArray[np.float64] | None
    scale: Scale | None
    station: Points
    places: Points
    """Positions of the switches."""
    upright: bool
    paths: dict[int, list[Points]] = field(default_factory=dict)
    """Per link the points of its curve: four for a Bézier curve, more for a polyline."""
    away: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Per station of a terminal: the side of its name."""
    strokes: list[tuple[float, str]] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    corners: list[tuple[float, float]] = field(default_factory=list)

    def members(self, ring: int) -> list[int]:
        return list(range(int(self.rings.ring_start[ring]), int(self.rings.ring_start[ring + 1])))

    def beside_px(self) -> float:
        """Return the space that a name needs beside its terminal; 0 if names are not drawn."""
        if self.rings.stations > MAX_NAMED:
            return 0.0
        return 10 + max((text_width(name, NAME_SIZE) for name in self.graph.terminal_names), default=0.0)

    def ports_of(self, switch: int) -> list[int]:
        start = self.rings.port_start
        return self.rings.port_station[start[switch] : start[switch + 1]].tolist()

    def ports(self, ring: int) -> list[int]:
        return [at for at in self.members(ring) if self.rings.station_port[at] >= 0]


def ring_plan(
    graph: Graph,
    rings: Rings,
    values: NDArray[np.float64] | None,
    link_label: str,
    scale: Scale | None = None,
) -> RingPlan:
    """Place the stations and draw everything except the legend; ``scale``: that of several drawings."""
    scale = scale or (None if values is None else scale_of(values, link_label))
    # With one controller per bus an exchange is several switches, for which a line has no place.
    staged = graph.family == "sci-banyan" and graph.layout["parameters"]["controllers"] == "shared"
    plan = RingPlan(
        graph, rings, values, scale, np.zeros((rings.stations, 2)), np.zeros((graph.switches, 2)), staged
    )
    if staged:
        _place_stages(plan)
    elif graph.family == "sci-switch-16":
        _place_modules(plan)
    else:
        _place_switches(plan)
    for station in range(rings.stations):
        _draw_link(plan, station)
    for station in np.flatnonzero(rings.station_port < 0).tolist():
        _draw_terminal(plan, station)
    return plan


def ring_boxes(plan: RingPlan) -> list[str]:
    """Return the switches: boxes, buses, ports, names."""
    boxes = []
    for switch, name in enumerate(plan.graph.switch_names):
        ports = plan.ports_of(switch)
        points, buses = plan.station[ports], int(plan.rings.bus_count[switch])
        edge = np.full(2, 11.0)
        low, high = points.min(axis=0) - edge, points.max(axis=0) + edge
        plan.corners += [(low[0], low[1] - 14), (high[0], high[1])]
        wide, tall = high - low
        text = f"{name}, {counted(len(ports), 'port')}, {counted(buses, 'bus', 'es')}"
        parts = [
            f'<rect x="{number(low[0])}" y="{number(low[1])}" width="{number(wide)}" height="{number(tall)}"'
            f' rx="5" fill="{BOX}" fill-opacity="0.75" stroke="{BOX_EDGE}">{title(text)}</rect>'
        ]
        middle = (low + high) / 2
        for bus in range(buses):
            aside = (bus - (buses - 1) / 2) * 4
            (left, up), (right, down) = low + 5, high - 5
            ends = (middle[0] + aside, up, middle[0] + aside, down)
            if not plan.upright:
                ends = (left, middle[1] + aside, right, middle[1] + aside)
            parts.append(
                '<line x1="{}" y1="{}" x2="{}" y2="{}"'.format(*map(number, ends))
                + f' stroke="{BOX_EDGE}" stroke-width="2.5" pointer-events="none"/>'
            )
        parts += [
            f'<rect x="{number(x - 3)}" y="{number(y - 3)}" width="6" height="6" fill="{INK}"'
            ' pointer-events="none"/>'
            for x, y in points.tolist()
        ]
        if plan.graph.switches <= 260:
            halo = f' pointer-events="none" paint-order="stroke" stroke="{PAPER}" stroke-width="2.5"'
            parts.append(label(name, low[0], low[1] - 3, 9.5, "start", INK, halo))
        boxes.append("".join(parts))
    return boxes


def ring_notes(plan: RingPlan) -> list[str]:
    """Return the notes that explain the picture."""
    rings = plan.rings
    counts = [counted(rings.rings, "ring"), counted(plan.graph.terminals, "terminal")]
    if plan.graph.switches:
        counts.append(counted(plan.graph.switches, "switch", "es"))
    counts.append(counted(plan.graph.links, "link"))
    note = ", ".join(counts) + ". Closed curves are rings, led through in the direction of the arrowheads."
    if plan.graph.switches:
        note += " The bars in a box are its buses, the squares its ports."
    return [note]


def _place_stages(plan: RingPlan) -> None:
    """Place a Banyan: stages from left to right, senders on the left, receivers on the right."""
    graph, rings, levels = plan.graph, plan.rings, plan.graph.layout["levels"]
    base, pairs = graph.layout["base"], graph.layout["parameters"]["pairs_per_ring"]
    gap = LINE_GAP_PX + (8 * pairs if graph.layout["wiring"] == "ringlet" and pairs > 1 else 0)
    per_stage = graph.switches // graph.layout["stages"]
    step = max(150.0, 0.25 * gap * base * per_stage)
    rows = np.arange(graph.switches) % per_stage
    plan.places = np.column_stack([levels * step, rows * (base * gap + BOX_GAP_PX)])
    if graph.layout["wiring"] == "ringlet":
        _place_ringlets(plan, gap)
        return
    back = {ring: plan.members(ring)[-1] for ring in range(rings.rings)}
    where = {}
    for ring in range(rings.rings):
        terminals = [at for at in plan.members(ring) if rings.station_port[at] < 0]
        for index, at in enumerate(terminals[:pairs]):
            plan.station[at] = (-90 - 36 * (pairs - 1 - index), _row(ring, base, gap))
        where[ring] = float(plan.station[terminals[0]][1])
        for index, at in enumerate(terminals[pairs:]):
            row = int(graph.terminal_names[graph.link_source[at] - graph.switches][1:]) // pairs
            plan.station[at] = (levels.max() * step + 90 + 36 * index, _row(row, base, gap))
        plan.away |= dict.fromkeys(terminals, (0.0, -1.0))
    for switch in range(graph.switches):
        ports = plan.ports_of(switch)
        ports.sort(key=lambda at: (plan.station[at - 1][1], at))
        _on_bus(plan, ports, switch, gap, 0.0)
    left, right = plan.station.min(axis=0), plan.station.max(axis=0)
    for ring, last in back.items():
        half = rings.rings / 2
        depth = (ring if ring < half else rings.rings - 1 - ring) + 1
        down = 1 if ring >= half else -1
        y = (right[1] + 12 if down > 0 else left[1] - 12) + down * 6 * depth
        start, end = plan.station[last], plan.station[last + 1 - len(plan.members(ring))]
        out, into = right[0] + 12 + 6 * depth, left[0] - 12 - 6 * depth
        corners = [start, (out, start[1]), (out, y), (into, y), (into, end[1]), end]
        plan.paths[last] = [np.asarray(corner, np.float64) for corner in corners]


def _row(line: int, base: int, gap: float) -> float:
    """Return the vertical position of a line of a Banyan."""
    exchange, place = divmod(line, base)
    return exchange * (base * gap + BOX_GAP_PX) + (place - (base - 1) / 2) * gap


def _place_ringlets(plan: RingPlan, gap: float) -> None:
    """Place the ports of a Banyan of ringlets; those to the previous stage are left of the bus."""
    rings, levels = plan.rings, plan.graph.layout["levels"]
    for switch in range(plan.graph.switches):
        ports = plan.ports_of(switch)
        left, right = [], []
        for at in ports:
            others = [other for other in plan.ports(int(rings.station_ring[at])) if other != at]
            if others:
                ahead = levels[plan.graph.link_source[others[0]]] > levels[switch]
            else:
                ahead = plan.graph.terminal_names[_terminals(plan, at)[0]].startswith("M")
            (right if ahead else left).append(
                (plan.station[others[0]][1] if others and not ahead else at, at)
            )
        for side, aside in ((left, -9.0), (right, 9.0)):
            _on_bus(plan, [at for _, at in sorted(side)], switch, gap, aside)
    for ring in range(rings.rings):
        ports = plan.ports(ring)
        if len(ports) == 1:
            ahead = plan.graph.terminal_names[_terminals(plan, ports[0])[0]].startswith("M")
            count = len(plan.members(ring)) - 1
            _loop(plan, ring, (1.0 if ahead else -1.0, 0.0), 28 + 14 * (count - 1), 0.22 * gap)
        else:
            _curves(plan, ring)


def _terminals(plan: RingPlan, station: int) -> list[int]:
    """Return the terminals on a station's ring."""
    members = plan.members(int(plan.rings.station_ring[station]))
    vertices = [int(plan.graph.link_source[at]) - plan.graph.switches for at in members]
    return [vertex for vertex in vertices if vertex >= 0]


def _on_bus(plan: RingPlan, ports: list[int], switch: int, step: float, aside: float) -> None:
    """Place ports along the bus of their switch, ``aside`` from its middle."""
    for index, at in enumerate(ports):
        along = (index - (len(ports) - 1) / 2) * step
        plan.station[at] = plan.places[switch] + ((aside, along) if plan.upright else (along, aside))


def _place_modules(plan: RingPlan) -> None:
    """Place a switch of modules: those with terminals above and below, rings outside; others between."""
    rings, graph = plan.rings, plan.graph
    ports = [plan.ports_of(at) for at in range(graph.switches)]
    other = {
        at: one
        for ring in range(rings.rings)
        for at, one in zip(plan.ports(ring), plan.ports(ring)[::-1], strict=True)
    }
    users = [at for at in range(graph.switches) if any(other[port] == port for port in ports[at])]
    middle = [at for at in range(graph.switches) if at not in users]
    most = max(len(plan.members(ring)) for ring in range(rings.rings))
    radius = max(34.0, 11.0 * most)
    step, columns = 2 * radius + 12 + (2 * plan.beside_px() if most > 2 else 0), -(-len(users) // 2)
    wide = step * max(map(len, ports)) * 0.72
    for index, at in enumerate(users):
        row, column = divmod(index, columns)
        plan.places[at] = (column - (columns - 1) / 2) * wide, (2 * row - 1) * 150.0
    for index, at in enumerate(middle):
        plan.places[at] = (index - (len(middle) - 1) / 2) * wide, 0.0

    def towards(port: int) -> tuple[float, float]:
        return plan.places[graph.link_source[other[port]]].tolist()

    for at in (*users, *middle):
        own = [port for port in ports[at] if other[port] == port]
        joined = sorted((port for port in ports[at] if other[port] != port), key=towards)
        outward = -1.0 if plan.places[at][1] < 0 else 1.0
        _on_bus(plan, own, at, step, 9.0 * outward)
        for side in (-1.0, 1.0):
            here = [port for port in joined if (towards(port)[1] - plan.places[at][1]) * side > 0]
            _on_bus(plan, here, at, step, 9.0 * side)
        for port in own:
            _loop(plan, int(rings.station_ring[port]), (0.0, outward), radius, radius)
    for ring in range(rings.rings):
        if len(plan.ports(ring)) > 1:
            _curves(plan, ring)


def _place_switches(plan: RingPlan) -> None:
    """Place any other network: switches in the plane, rings of one port as loops beside them."""
    rings, graph = plan.rings, plan.graph
    leaves: list[list[int]] = [[] for _ in range(graph.switches)]
    for ring in range(rings.rings):
        ports = plan.ports(ring)
        if len(ports) == 1:
            leaves[int(graph.link_source[ports[0]])].append(ring)
    most = max((len(plan.members(ring)) for held in leaves for ring in held), default=2)
    radius = float(np.clip(11.0 * most, 34.0, 200.0))
    beside = max(map(len, leaves), default=0) > 1
    slot = radius + max(34.0, plan.beside_px() + 4) if beside else 18.0
    widest = int(np.diff(rings.port_start).max()) if graph.switches else 0
    pitch = max(slot * widest + 40, 2 * radius + 2 * plan.beside_px() + 16, 2 * radius + 90, 140)
    plan.places = switch_positions(graph) * (pitch, max(0.8 * pitch, 4 * radius + 60))
    for switch in range(graph.switches):
        ports = plan.ports_of(switch)
        _on_bus(plan, ports, switch, slot, 0.0)
        for index, ring in enumerate(leaves[switch]):
            way = -1.0 if index % 2 == 0 else 1.0
            _loop(plan, ring, (0.0, way), radius, radius)
    alone = 0.0
    for ring in range(rings.rings):
        if not plan.ports(ring):
            alone = _circle(plan, ring, alone)
        elif len(plan.ports(ring)) > 1:
            _place_between(plan, ring)
            _curves(plan, ring)


def _circle(plan: RingPlan, ring: int, left: float) -> float:
    """Place a ring without a switch as a circle; return where the next one may begin."""
    members = plan.members(ring)
    radius = float(np.clip(34.0 * len(members) / (2 * np.pi), 70.0, 430.0))
    below = float(plan.places[:, 1].max()) + 200 if len(plan.places) else 0.0
    centre = np.array([left + radius, below + radius])
    _ellipse(plan, members, centre, np.array([0.0, -radius]), np.array([radius, 0.0]))
    return left + 2 * radius + 90


def _loop(plan: RingPlan, ring: int, way: tuple[float, float], long: float, wide: float) -> None:
    """Draw a ring of one port as a loop in the direction ``way`` from its port."""
    members, port = plan.members(ring), plan.ports(ring)[0]
    at = members.index(port)
    normal = np.array(way)
    side = np.array([-normal[1], normal[0]])
    least = float(np.arccos(1 - min(OFF_BOX_PX / long, 1.0))) if len(members) > 2 else 0.0
    centre = plan.station[port] + normal * long
    _ellipse(plan, members[at:] + members[:at], centre, -normal * long, -side * wide, least)


def _ellipse(
    plan: RingPlan, members: list[int], centre: Points, first: Points, second: Points, least: float = 0.0
) -> None:
    """Place stations on an ellipse and draw the links between them as arcs.

    Angles are equal, except that the first station is at least ``least`` away from its neighbours.
    """
    count = len(members)
    ends = max(2 * np.pi / count, least)
    turns = [0.0, *np.linspace(ends, 2 * np.pi - ends, count - 1).tolist(), 2 * np.pi]
    for at, turn, ahead in zip(members, turns[:-1], turns[1:], strict=True):
        handle = 4 / 3 * np.tan((ahead - turn) / 4)
        one = first * np.cos(turn) + second * np.sin(turn)
        two = first * np.cos(ahead) + second * np.sin(ahead)
        bend = (second * np.cos(turn) - first * np.sin(turn)) * handle
        close = (second * np.cos(ahead) - first * np.sin(ahead)) * handle
        plan.station[at] = centre + one
        plan.away[at] = float(one[0]), float(one[1])
        plan.paths[at] = [centre + one, centre + one + bend, centre + two - close, centre + two]


def _place_between(plan: RingPlan, ring: int) -> None:
    """Place the terminals of a ring of several ports between the ports around them, off the straight line."""
    members = plan.members(ring)
    first = members.index(plan.ports(ring)[0])
    members = members[first:] + members[:first]
    ports = [place for place, at in enumerate(members) if plan.rings.station_port[at] >= 0]
    for low, high in zip(ports, [*ports[1:], len(members)], strict=True):
        one, two = plan.station[members[low]], plan.station[members[high % len(members)]]
        right = np.array([one[1] - two[1], two[0] - one[0]])
        right = right / max(float(np.hypot(*right)), 1e-9)
        for place in range(low + 1, high):
            share = (place - low) / (high - low)
            plan.station[members[place]] = one + (two - one) * share - right * 220 * share * (1 - share)
            plan.away[members[place]] = (0.0, -1.0)


def _curves(plan: RingPlan, ring: int) -> None:
    """Draw the links of a ring of several ports: each bends to its left, the closing link more."""
    for at in plan.members(ring):
        start, end = plan.station[at], plan.station[plan.rings.station_next[at]]
        way = end - start
        length = float(np.hypot(*way))
        left = np.array([way[1], -way[0]]) / max(length, 1e-9)
        bow = left * (min(7.0, 0.1 * length) if len(plan.members(ring)) == 2 else min(0.12 * length, 90.0))
        plan.paths[at] = [start, start + way / 3 + bow, end - way / 3 + bow, end]


def _draw_link(plan: RingPlan, link: int) -> None:
    """Draw a link with its tooltip and an arrowhead."""
    graph, scale = plan.graph, plan.scale
    start, end = plan.station[link], plan.station[plan.rings.station_next[link]]
    points = plan.paths.get(link)
    if points is None:
        reach = np.array([0.4 * (end[0] - start[0]), 0.0])
        points = [start, start + reach, end - reach, end]
    value = float("nan") if plan.values is None else float(plan.values[link])
    colour = LINE if scale is None else scale.colour(value)
    wide = 1.5 + (0.0 if scale is None else 0.9 * scale.share(value))
    text = graph.link_names[link]
    if scale is not None:
        text += f": {scale.label} {scale.text(value)}" if value == value else ": no value"
    dots = [f"{number(x)} {number(y)}" for x, y in np.array(points).tolist()]
    path = f"M{dots[0]}C{' '.join(dots[1:])}" if len(points) == 4 else f"M{'L'.join(dots)}"
    rank = -1.0 if value != value else value
    which = marks([link]) + ("" if scale is None else scale.mark(value))
    shape = f'<path d="{path}"{which} stroke="{colour}" stroke-width="{number(wide)}">{title(text)}</path>'
    plan.strokes.append((rank, shape))
    plan.corners += [(float(x), float(y)) for x, y in points]
    one, two = (points[2], points[3]) if len(points) != 4 else (points[1], points[2])
    at, way = (one + two) / 2, two - one
    if len(points) == 4:
        at = (points[0] + 3 * points[1] + 3 * points[2] + points[3]) / 8
    way = way / max(float(np.hypot(*way)), 1e-9)
    plan.strokes.append((rank, arrowhead(at, way, (4, 2.8), which, colour)))


def _draw_terminal(plan: RingPlan, station: int) -> None:
    """Draw a terminal as a dot with its name, coloured by the busier of its two links."""
    graph = plan.graph
    terminal = int(graph.link_source[station]) - graph.switches
    name, into = graph.terminal_names[terminal], int(graph.terminal_in_links[terminal])
    x, y = plan.station[station].tolist()
    text, colour, which = name, LINE, ""
    if plan.values is not None and plan.scale is not None:
        sent, got = float(plan.values[station]), float(plan.values[into])
        text += f": {plan.scale.label} {plan.scale.text(sent)} sending, {plan.scale.text(got)} receiving"
        busier = float(np.fmax(sent, got))
        colour, which = plan.scale.colour(busier), marks([station, into]) + plan.scale.mark(busier)
    plan.over.append(
        f'<circle{which} cx="{number(x)}" cy="{number(y)}" r="4" fill="{colour}" stroke="{SOFT}"'
        f' stroke-width="0.5">{title(text)}</circle>'
    )
    room = max(34.0, 10 + text_width(name, NAME_SIZE)) if plan.rings.stations <= MAX_NAMED else 34.0
    plan.corners += [(x - room, y - 14), (x + room, y + 18)]
    if plan.rings.stations > MAX_NAMED:
        return
    across, down = plan.away[station]
    place, anchor = (x, y + (15.5 if down > 0 else -8)), "middle"
    if abs(across) > 0.5 * abs(down):
        place, anchor = ((x + 8, y + 3.4), "start") if across > 0 else ((x - 8, y + 3.4), "end")
    plan.over.append(label(name, *place, NAME_SIZE, anchor, SOFT))
