"""The switches and terminals of the drawn fabric."""

from __future__ import annotations

import numpy as np

from .layout import Points
from .links import draw_stroke, with_address
from .plan import MAX_NAMED, Plan, beyond_four, dot_columns, dots_room, name_height
from .style import BOX, BOX_EDGE, INK, LINE, PAPER, SOFT, counted, label, marks, number, text_width, title

CABLE_PX = 220.0
"""Distance between two terminals joined by a cable."""
CORNERS = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
"""Corners of a switch in a lattice. Links leave by the sides, so terminals stand at the corners."""
CORNER_PX = 17.0
"""Distance of a terminal from its corner in x and y."""


def box_of(plan: Plan, switch: int) -> str:
    """Return a switch: its box, its name and, if there is room, its terminals."""
    (x, y), (wide, high) = plan.places[switch], plan.box
    plan.corners += [(x - wide / 2, y - high / 2), (x + wide / 2, y + high / 2)]
    name = plan.graph.switch_names[switch]
    terminals = plan.terminals_at[switch]
    links = plan.terminal_links_at[switch]
    ends = {max(plan.graph.link_source[link], plan.graph.link_target[link]) for link in links}
    fill, edge, ink, text = BOX, BOX_EDGE, INK, f"{name}, {counted(len(ends), 'terminal')}"
    which = ""
    if plan.scale is not None and links and not plan.dots and not plan.outside:
        known = plan.known(links)
        mean = float(known.mean()) if known.size else float("nan")
        fill, edge = plan.scale.colour(mean), INK
        ink = PAPER if plan.scale.share(mean) > 0.45 else INK
        text = f"{text}: {plan.scale.label} {plan.scale.text(mean)} on average"
        which = marks(links) + plan.scale.mark(mean)
    parts = [
        f'<rect{which} x="{number(x - wide / 2)}" y="{number(y - high / 2)}" width="{number(wide)}"'
        f' height="{number(high)}" rx="{number(min(6.0, high / 5))}" fill="{fill}" stroke="{edge}"'
        f' stroke-width="{"1" if plan.pitch > 30 else "0.6"}">{title(text)}</rect>'
    ]
    shown = bool(terminals) and plan.dots
    if plan.font:
        below = y - high / 2 + plan.font + 2.5 if shown else y + 0.36 * plan.font
        parts.append(label(name, x, below, plan.font, "middle", ink, ' pointer-events="none"'))
    if shown:
        top = y - high / 2 + name_height(plan.font)
        parts += _dots(plan, terminals, x, top, *dots_room(plan.box, plan.font))
    return "".join(parts)


def _dots(plan: Plan, terminals: list[int], x: float, top: float, wide: float, high: float) -> list[str]:
    """Draw terminals as rows of dots within a box."""
    columns, step = dot_columns(len(terminals), wide, high)
    rows = -(-len(terminals) // columns)
    parts = []
    for index, terminal in enumerate(terminals):
        row, column = divmod(index, columns)
        here = min(columns, len(terminals) - row * columns)
        cx = x + (column - (here - 1) / 2) * step
        cy = top + high / 2 + (row - (rows - 1) / 2) * step
        parts.append(_dot(plan, terminal, cx, cy, 0.36 * step))
    return parts


def _dot(plan: Plan, terminal: int, x: float, y: float, radius: float) -> str:
    """Return a terminal as a dot, coloured by the busier of its two links."""
    graph, scale = plan.graph, plan.scale
    name, colour, which = with_address(graph, terminal), LINE, ""
    if scale is not None:
        which = marks([int(graph.terminal_out_links[terminal]), int(graph.terminal_in_links[terminal])])
        out = plan.value(int(graph.terminal_out_links[terminal]))
        into = plan.value(int(graph.terminal_in_links[terminal]))
        busier = out if into != into or out > into else into
        colour, which = scale.colour(busier), which + scale.mark(busier)
        name += f": {scale.label} {scale.text(out)} sending, {scale.text(into)} receiving"
    circle = f'<circle{which} cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{colour}"'
    edge = f' stroke="{SOFT}" stroke-width="0.5"' if radius > 1.5 else ""
    return f"{circle}{edge}>{title(name)}</circle>"


def draw_outside_terminals(plan: Plan) -> None:
    """Draw terminals and their links around the switches."""
    if not plan.outside:
        return
    graph = plan.graph
    names: list[tuple[int, Points, Points]] = []
    for terminal, ends in _terminal_places(plan).items():
        out, into = int(graph.terminal_out_links[terminal]), int(graph.terminal_in_links[terminal])
        entry, leave = graph.terminal_entry_switches[terminal], graph.terminal_exit_switches[terminal]
        # Without values a cable is one stroke.
        aside = 1.5 if len(ends) == 1 and plan.scale is not None else 0.0
        draw_stroke(plan, [out], ends[0], plan.places[entry], aside, 0.0, True)
        if aside or len(ends) == 2:
            draw_stroke(plan, [into], plan.places[leave], ends[-1], aside, 0.0, True)
        for place, switch in zip(ends, (entry, leave), strict=False):
            x, y = float(place[0]), float(place[1])
            plan.corners += [(x - 6, y - 6), (x + 6, y + 6)]
            plan.over.append(_dot(plan, terminal, x, y, 4.0))
            if graph.terminals <= MAX_NAMED:
                away = place - plan.places[switch]
                if len(ends) == 2:
                    away = np.array([-1.0 if place is ends[0] else 1.0, 0.0])
                elif "levels" in graph.layout and graph.family != "star":
                    away = np.array([0.0, 1.0])
                names.append((terminal, place, away))
    write_names(plan, names)


def draw_cable(plan: Plan) -> None:
    """Draw two terminals and the cable between them, without a switch."""
    ends = [np.array([0.0, 0.0]), np.array([CABLE_PX, 0.0])]
    for terminal, (place, other) in enumerate(zip(ends, ends[::-1], strict=True)):
        out = int(plan.graph.terminal_out_links[terminal])
        if plan.scale is not None or terminal == 0 or plan.graph.link_reverse[out] < 0:
            draw_stroke(plan, [out], place, other, 0.0 if plan.scale is None else 3.0, 0.0, True)
        x, y = place.tolist()
        plan.corners += [(x - 6, y - 6), (x + 6, y + 6)]
        plan.over.append(_dot(plan, terminal, x, y, 5.0))
    ways = (ends[0] - ends[1], ends[1] - ends[0])
    write_names(plan, [(terminal, place, ways[terminal]) for terminal, place in enumerate(ends)])


def _terminal_places(plan: Plan) -> dict[int, list[Points]]:
    """Return where each terminal is drawn: once beside its switch, or left and right of a one-way network."""
    graph = plan.graph
    if graph.family == "banyan":
        base = graph.layout["base"]
        rows = (np.arange(graph.terminals) - (base - 1) / 2) / base * plan.pitch
        left, right = plan.places[:, 0].min() - 0.9 * plan.pitch, plan.places[:, 0].max() + 0.9 * plan.pitch
        return {
            terminal: [np.array([left, y]), np.array([right, y])] for terminal, y in enumerate(rows.tolist())
        }
    found: dict[int, list[Points]] = {}
    for switch, terminals in enumerate(plan.terminals_at):
        if "levels" in graph.layout and graph.family != "star":
            step = min(40.0, 0.92 * plan.pitch / max(len(terminals), 1))
            for index, terminal in enumerate(terminals):
                aside = (index - (len(terminals) - 1) / 2) * step
                found[terminal] = [plan.places[switch] + np.array([aside, plan.box[1] / 2 + 26])]
            continue
        if len(graph.layout.get("shape", [])) == 2:
            corner = np.array(plan.box) / 2 + CORNER_PX
            for terminal, way in zip(terminals, CORNERS, strict=False):
                found[terminal] = [plan.places[switch] + corner * way]
            continue
        middle, gap = _widest_gap(plan, switch)
        alone = 34 + 1.6 * len(terminals)
        reach = 0.5 * max(plan.box) + (22 + beyond_four(len(terminals)) if graph.switches > 1 else alone)
        step = min(0.85 * gap / max(len(terminals), 1), 24 / reach + 0.12)
        for index, terminal in enumerate(terminals):
            angle = middle + (index - (len(terminals) - 1) / 2) * step
            found[terminal] = [plan.places[switch] + reach * np.array([np.cos(angle), np.sin(angle)])]
    return found


def _widest_gap(plan: Plan, switch: int) -> tuple[float, float]:
    """Return the middle and the width of the widest angle at a switch without a link."""
    graph = plan.graph
    links = graph.switch_links
    others = np.concatenate(
        [
            graph.link_target[links[graph.link_source[links] == switch]],
            graph.link_source[links[graph.link_target[links] == switch]],
        ]
    )
    if not others.size:
        return -np.pi / 2, 2 * np.pi * 1.17
    ways = plan.places[np.unique(others)] - plan.places[switch]
    angles = np.sort(np.arctan2(ways[:, 1], ways[:, 0]))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    # Of equal gaps take the first, independently of rounding.
    widest = int(np.argmax(np.round(gaps, 6)))
    return float(angles[widest] + gaps[widest] / 2), float(gaps[widest])


# Place the names of terminals so that they cover nothing, as near to their usual place as possible.
NAME_PX = 9.5
_ASIDE_PX = 8.0
_ROW_PX = 11.0
_GAP_PX = 3.0
"""Between two names in a row."""
_ROWS = (0, -1, 1, -2, 2, -3, 3)
"""Rows above and below that are tried."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
_Place = tuple[float, float, str, Box]
"""The anchor of a text, its alignment, and the area that it covers."""


def write_names(plan: Plan, names: list[tuple[int, Points, Points]]) -> None:
    """Write the names of terminals at points, on the side away from their switches.

    ``names``: terminal, its point, and the direction of its link.
    """
    taken = [_around(x, y, plan.box[0] / 2, plan.box[1] / 2) for x, y in plan.places.tolist()]
    taken += [_around(float(place[0]), float(place[1]), 5.0, 5.0) for _, place, _ in names]
    for terminal, place, away in names:
        name = with_address(plan.graph, terminal)
        found = _places(name, float(place[0]), float(place[1]), float(away[0]), float(away[1]))
        x, y, anchor, box = min(found, key=lambda one: sum(_shared(one[3], other) for other in taken))
        taken.append(box)
        plan.corners += [(box[0], box[1]), (box[2], box[3])]
        plan.over.append(label(name, x, y, NAME_PX, anchor, SOFT))


def _around(x: float, y: float, wide: float, high: float) -> Box:
    return x - wide, y - high, x + wide, y + high


def _shared(one: Box, other: Box) -> float:
    """Return the area that two boxes share; those that touch share none, whatever the rounding."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across * down if min(across, down) > 1e-6 else 0.0


def _places(name: str, x: float, y: float, across: float, down: float) -> list[_Place]:
    """Return the places for a name beside a point, the usual one first: beside a horizontal link."""
    wide = text_width(name, NAME_PX)
    right, left = (1.0, "start"), (-1.0, "end")
    sides = [right, left] if across > 0 else [left, right]
    aside = [
        _place(x + way * _ASIDE_PX, y + 3.4 + row * _ROW_PX, anchor, wide)
        for way, anchor in sides
        for row in _ROWS
    ]
    over = [_place(x, y - 8.5 - row * _ROW_PX, "middle", wide) for row in range(4)]
    under = [_place(x, y + 15.5 + row * _ROW_PX, "middle", wide) for row in range(4)]
    over = [*under, *over] if down > 0 else [*over, *under]
    return [*aside, *over] if abs(across) > 0.45 * abs(down) else [over[0], *aside[:1], *over[1:], *aside[1:]]


def _place(x: float, y: float, anchor: str, wide: float) -> _Place:
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
    return x, y, anchor, (x - before - _GAP_PX, y - 8.0, x - before + wide + _GAP_PX, y + 3.0)
