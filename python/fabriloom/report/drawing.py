"""The fabric as one SVG: switches as boxes, terminals as dots, every link as a stroke coloured by a value.

Nothing outside the text is needed, no ids are used (several drawings may stand in one page), and every name
is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .drawing_layout import Points, switch_positions
from .drawing_style import (
    BOX,
    BOX_EDGE,
    FONT,
    INK,
    LINE,
    PAPER,
    SOFT,
    Scale,
    counted,
    label,
    legend,
    number,
    scale_of,
    text_width,
    title,
)

if TYPE_CHECKING:
    from ..topology import Graph

MAX_PARALLEL = 8
"""More strokes than this between two switches become one for each direction, with its count."""
MAX_STROKES = 3000
"""More strokes than this in all, and parallel ones are drawn as one."""
MAX_OUTSIDE = 96
"""Up to as many terminals are drawn around their switches, more of them within."""
WIDTH_PX = 940.0


@dataclass
class _Plan:
    """Sizes and places, in pixels."""

    graph: Graph
    values: NDArray[np.float64] | None
    scale: Scale | None
    places: Points
    pitch: float
    """Between the nearest two switches."""
    box: tuple[float, float]
    font: float
    """0: no names."""
    outside: bool
    """Terminals around their switches."""
    dots: bool
    """Terminals one by one within the boxes."""
    merged: bool
    """Parallel links as one stroke each way."""
    terminals_at: list[list[int]]
    strokes: list[tuple[float, str]] = field(default_factory=list)
    """Strokes with the value by which they are ordered: the highest are drawn last."""
    over: list[str] = field(default_factory=list)
    corners: list[tuple[float, float]] = field(default_factory=list)
    """What the picture must hold."""
    ink: float = 1.0
    """Factor of the width of strokes, lower where they would cover too much of the picture."""
    stubs: bool = False

    def value(self, link: int) -> float:
        return float("nan") if self.values is None else float(self.values[link])


def fabric_svg(graph: Graph, link_values: ArrayLike | None = None, link_label: str = "utilisation") -> str:
    """Return a standalone SVG of the fabric.

    ``link_values``: a number per link, NaN for none; strokes are coloured by it, each direction of a cable
    on its own (the right-hand side of the way it leads), with a legend from 0 to a round number. Without
    values a stroke is a cable.
    ``link_label`` says in the legend and the tooltips what the numbers are. Raises ``ValueError`` for a
    wrong number of values.
    """
    values = None
    if link_values is not None:
        values = np.asarray(link_values, np.float64)
        if values.shape != (graph.links,):
            raise ValueError(f"link_values has shape {values.shape}; the graph has {graph.links} links")
    plan = _plan(graph, values, link_label)
    _draw_switch_links(plan)
    boxes = [_box(plan, switch) for switch in range(graph.switches)]
    _draw_outside_terminals(plan)
    return _page(plan, boxes)


def _plan(graph: Graph, values: NDArray[np.float64] | None, link_label: str) -> _Plan:
    places = switch_positions(graph)
    extent = np.ptp(places, axis=0) if graph.switches else np.zeros(2)
    terminals_at: list[list[int]] = [[] for _ in range(graph.switches)]
    for terminal, switch in enumerate(graph.terminal_entry_switches.tolist()):
        terminals_at[switch].append(terminal)
    most = max(map(len, terminals_at), default=0)
    one_way = bool((graph.link_reverse[graph.terminal_out_links] < 0).any())
    lattice = len(graph.layout.get("shape", [])) > 1
    outside = graph.terminals <= MAX_OUTSIDE and (
        one_way or graph.switches == 1 or (most <= 4 and not lattice)
    )
    room = max(float(extent.max()), 1.0)
    pitch = float(np.clip(WIDTH_PX / room, 17, 150 if outside else 112))
    box, font = _box_size(graph, pitch, outside)
    room_for_dots = not outside and most > 0 and min(_dots_room(box, font)) > 3
    strokes = len(graph.switch_links) // (1 if values is not None else 2)
    merged = strokes > MAX_STROKES
    return _Plan(
        graph=graph,
        values=values,
        scale=None if values is None else scale_of(values, link_label),
        places=places * pitch,
        pitch=pitch,
        box=box,
        font=font,
        outside=outside,
        dots=room_for_dots and not merged and _columns(most, *_dots_room(box, font))[1] >= 3.0,
        merged=merged,
        terminals_at=terminals_at,
        ink=_ink(graph, places, strokes),
    )


def _box_size(graph: Graph, pitch: float, outside: bool) -> tuple[tuple[float, float], float]:
    """Return the width and height of the boxes and the size of the names in them, 0 for none."""
    high = (0.56 if pitch > 34 else 0.45) * pitch if not outside else min(0.3 * pitch, 34)
    longest = max(map(len, graph.switch_names), default=1)
    font = min(12.0, 0.78 * pitch / (0.58 * max(longest, 1)))
    if font < 6.5 or graph.switches > 260:
        return (high, high), 0.0
    wide = max(high, text_width("m" * longest, font) + 8)
    return (min(wide, 0.84 * pitch), max(high, font + 8)), font


def _ink(graph: Graph, places: Points, strokes: int) -> float:
    """Return by how much strokes must be thinner than usual so as not to cover the picture."""
    links = graph.switch_links[:: max(1, len(graph.switch_links) // 4000)]
    if not len(links):
        return 1.0
    ways = places[graph.link_source[links]] - places[graph.link_target[links]]
    area = float(np.prod(np.maximum(np.ptp(places, axis=0), 1.0)))
    covered = float(np.hypot(*ways.T).mean()) * strokes * 0.03 / area
    return float(np.clip(0.6 / max(covered, 1e-9), 0.45, 1.0))


def _draw_switch_links(plan: _Plan) -> None:
    """Draw the bundles of links between every two switches."""
    graph = plan.graph
    bundles: dict[tuple[int, int], list[int]] = {}
    links = graph.switch_links
    for link, a, b in zip(
        links.tolist(), graph.link_source[links].tolist(), graph.link_target[links].tolist(), strict=True
    ):
        bundles.setdefault((min(a, b), max(a, b)), []).append(link)
    pairs = np.array(list(bundles), np.int64).reshape(-1, 2)
    bows = _bows(plan, pairs)
    for (a, b), bow, inside in zip(pairs.tolist(), bows.tolist(), bundles.values(), strict=True):
        outward = _wrap(plan, a, b)
        if outward is None:
            _bundle(plan, inside, plan.places[a], plan.places[b], bow, a)
        else:
            plan.stubs = True
            _bundle(plan, inside, plan.places[a], plan.places[a] - outward, 0.0, a)
            _bundle(plan, inside, plan.places[b] + outward, plan.places[b], 0.0, a)


def _wrap(plan: _Plan, a: int, b: int) -> Points | None:
    """Return which way a cable round the border of a torus leaves the picture at b, None for any other
    cable."""
    layout = plan.graph.layout
    shape = layout.get("shape", [])
    if not layout.get("wrap") or len(shape) < 2:
        return None
    steps = layout["coordinates"][b] - layout["coordinates"][a]
    dimension = int(np.abs(steps).argmax())
    if abs(int(steps[dimension])) < 2:
        return None
    step = (plan.places[b] - plan.places[a]) / int(steps[dimension])
    return step * (0.5 * plan.pitch / max(float(np.hypot(*step)), 1e-9)) * np.sign(steps[dimension])


def _bows(plan: _Plan, pairs: NDArray[np.int64]) -> Points:
    """Return how far each bundle must bow aside, in pixels, so as not to pass through a third switch."""
    bows = np.zeros(len(pairs))
    # Between the rows of a levelled family nothing is in the way.
    if len(pairs) * plan.graph.switches > 3_000_000 or "levels" in plan.graph.layout:
        return bows
    for index, (a, b) in enumerate(pairs.tolist()):
        start, way = plan.places[a], plan.places[b] - plan.places[a]
        length = float(np.hypot(*way))
        along = (plan.places - start) @ way / length**2
        aside = ((plan.places - start) @ np.array([-way[1], way[0]])) / length
        near = (along > 0.02) & (along < 0.98) & (np.abs(aside) < 0.5 * max(plan.box))
        if near.any():
            side = -1.0 if aside[near].sum() > 0 or (aside[near].sum() == 0 and index % 2) else 1.0
            bows[index] = side * (0.7 * plan.pitch + 0.07 * length)
    return bows


def _bundle(plan: _Plan, links: list[int], start: Points, end: Points, bow: float, first: int) -> None:
    """Draw parallel links between two points; ``first`` is the switch that counts as the start."""
    graph = plan.graph
    forth = [link for link in links if graph.link_source[link] == first]
    back = [link for link in links if graph.link_source[link] != first]
    if plan.scale is None:
        # Without values both directions look the same: a stroke is a cable.
        back = [link for link in back if graph.link_reverse[link] < 0]
    lanes: list[tuple[list[int], bool]]
    if plan.merged or len(forth) + len(back) > MAX_PARALLEL:
        lanes = [(group, way) for group, way in ((back, False), (forth, True)) if group]
    else:
        lanes = [([link], False) for link in reversed(back)] + [([link], True) for link in forth]
    gap = float(np.clip(0.045 * plan.pitch, 1.5, 4.0))
    if len(links) > len(lanes) and any(len(group) > 1 for group, _ in lanes):
        gap = max(gap, 4.4 if plan.pitch > 40 else 2.4)
    for lane, (group, way) in enumerate(lanes):
        offset = (lane - (len(lanes) - 1) / 2) * gap
        _stroke(plan, group, start, end, offset, bow, way)


def _stroke(
    plan: _Plan, links: list[int], start: Points, end: Points, offset: float, bow: float, way: bool
) -> None:
    """Draw one stroke for one link, or for several of the same direction, ``offset`` to the right of start
    to end."""
    graph, scale = plan.graph, plan.scale
    along = end - start
    right = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
    one, two = start + right * offset * 0.8, end + right * offset * 0.8
    middle = (start + end) / 2 + right * (offset * 1.2 + bow * 1.0)
    values = np.array([plan.value(link) for link in links])
    known = values[np.isfinite(values)]
    value = float(known.mean()) if known.size else float("nan")
    colour = LINE if scale is None else scale.colour(value)
    width = (1.1 if plan.pitch < 40 else 1.5) * plan.ink + (
        0.0 if scale is None else 0.9 * plan.ink * scale.share(value)
    )
    if len(links) > 1:
        width = width * (1.5 if plan.pitch < 40 else 2.2)
    dots = [f"{number(x)} {number(y)}" for x, y in (one, middle, two)]
    path = f"M{dots[0]}Q{dots[1]} {dots[2]}"
    text = title(_links_text(plan, links, known))
    shape = f'<path d="{path}" stroke="{colour}" stroke-width="{number(width)}">{text}</path>'
    plan.strokes.append((-1.0 if value != value else value, shape))
    if bow:
        bulge = (one + two) / 4 + middle / 2
        plan.corners.append((float(bulge[0]), float(bulge[1])))
    if len(links) > 1 and plan.pitch > 40 and len(plan.strokes) < 200 and (way or scale is None):
        _count(plan, len(links), start, end, right * bow * 0.5)
    if graph.link_reverse[links[0]] < 0 and len(plan.strokes) < 400:
        _arrow(plan, (one, middle, two) if way else (two, middle, one), colour, value)


def _links_text(plan: _Plan, links: list[int], known: NDArray[np.float64]) -> str:
    graph, scale = plan.graph, plan.scale
    name = graph.link_names[links[0]]
    if len(links) > 1:
        name = f"{name.split('#')[0]}, {len(links)} links"
    if scale is None:
        back = int(graph.link_reverse[links[0]])
        return name if back < 0 else f"{name} and back"
    if not known.size:
        return f"{name}: no value"
    mean, most = scale.text(float(known.mean())), scale.text(float(known.max()))
    return f"{name}: {scale.label} {mean}" + (f" on average, {most} at most" if len(links) > 1 else "")


def _count(plan: _Plan, count: int, start: Points, end: Points, aside: Points) -> None:
    """Write how many links a stroke stands for, a little off the middle so that crossing strokes keep theirs
    apart."""
    at = start + (end - start) * 0.5 + aside
    half = 0.5 * text_width(f"×{count}", 9) + 2
    plan.over.append(
        f'<rect x="{number(at[0] - half)}" y="{number(at[1] - 6.5)}" width="{number(2 * half)}" height="13" '
        'rx="6"'
        f' fill="{PAPER}" fill-opacity="0.9"/>' + label(f"×{count}", at[0], at[1] + 3.2, 9, "middle", SOFT)
    )


def _arrow(plan: _Plan, curve: tuple[Points, Points, Points], colour: str, value: float) -> None:
    """Draw a small arrowhead at the middle of a one-way link."""
    share = 0.55
    at = curve[0] * (1 - share) ** 2 + curve[1] * 2 * share * (1 - share) + curve[2] * share**2
    way = curve[2] - curve[0]
    way = way / max(float(np.hypot(*way)), 1e-9)
    side = np.array([-way[1], way[0]])
    corners = (at + 5 * way, at - 3 * way + 3.2 * side, at - 3 * way - 3.2 * side)
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    head = f'<polygon points="{points}" fill="{colour}" stroke="none"/>'
    plan.strokes.append((-1.0 if value != value else value, head))


def _box(plan: _Plan, switch: int) -> str:
    """Return a switch: its box, its name and, if there is room, its terminals."""
    (x, y), (wide, high) = plan.places[switch], plan.box
    plan.corners += [(x - wide / 2, y - high / 2), (x + wide / 2, y + high / 2)]
    name = plan.graph.switch_names[switch]
    terminals = plan.terminals_at[switch]
    fill, text = BOX, f"{name}, {counted(len(terminals), 'terminal')}"
    if plan.scale is not None and terminals and not plan.dots and not plan.outside:
        mean = _terminals_mean(plan, terminals)
        fill, text = plan.scale.colour(mean), f"{text}: {plan.scale.label} {plan.scale.text(mean)} on average"
    parts = [
        f'<rect x="{number(x - wide / 2)}" y="{number(y - high / 2)}" width="{number(wide)}"'
        f' height="{number(high)}" rx="{number(min(6.0, high / 5))}" fill="{fill}" stroke="{BOX_EDGE}"'
        f' stroke-width="{"1" if plan.pitch > 30 else "0.6"}">{title(text)}</rect>'
    ]
    shown = bool(terminals) and plan.dots
    if plan.font:
        below = y - high / 2 + plan.font + 2.5 if shown else y + 0.36 * plan.font
        parts.append(label(name, x, below, plan.font, "middle", INK, ' pointer-events="none"'))
    if shown:
        parts += _dots(
            plan, terminals, x, y - high / 2 + _name_height(plan.font), *_dots_room(plan.box, plan.font)
        )
    return "".join(parts)


def _name_height(font: float) -> float:
    return font + 5 if font else 2.5


def _dots_room(box: tuple[float, float], font: float) -> tuple[float, float]:
    """Return the width and height that a box has for dots."""
    return box[0] - (7 if box[0] > 24 else 4), box[1] - 2.5 - _name_height(font)


def _terminals_mean(plan: _Plan, terminals: list[int]) -> float:
    """Return the mean value of all links of the terminals of a switch."""
    graph = plan.graph
    links = [int(link[t]) for link in (graph.terminal_out_links, graph.terminal_in_links) for t in terminals]
    values = np.array([plan.value(link) for link in links])
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _dots(plan: _Plan, terminals: list[int], x: float, top: float, wide: float, high: float) -> list[str]:
    """Draw terminals as rows of dots within a box."""
    columns, step = _columns(len(terminals), wide, high)
    rows = -(-len(terminals) // columns)
    parts = []
    for index, terminal in enumerate(terminals):
        row, column = divmod(index, columns)
        here = min(columns, len(terminals) - row * columns)
        cx = x + (column - (here - 1) / 2) * step
        cy = top + high / 2 + (row - (rows - 1) / 2) * step
        parts.append(_dot(plan, terminal, cx, cy, 0.36 * step))
    return parts


def _columns(count: int, wide: float, high: float) -> tuple[int, float]:
    """Return in how many columns dots fit best, full rows preferred, and how far apart they then are."""

    def worth(columns: int) -> float:
        return step(columns) * (1.0 if count % columns == 0 else 0.8)

    def step(columns: int) -> float:
        return min(wide / columns, high / -(-count // columns), 9.0)

    best = max(range(1, min(count, 64) + 1), key=worth)
    return best, step(best)


def _dot(plan: _Plan, terminal: int, x: float, y: float, radius: float) -> str:
    """Return a terminal as a dot, coloured by the busier of its two links."""
    graph, scale = plan.graph, plan.scale
    name, colour = graph.terminal_names[terminal], LINE
    if scale is not None:
        out = plan.value(int(graph.terminal_out_links[terminal]))
        into = plan.value(int(graph.terminal_in_links[terminal]))
        colour = scale.colour(out if into != into or out > into else into)
        name += f": {scale.label} {scale.text(out)} sending, {scale.text(into)} receiving"
    circle = f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{colour}"'
    edge = f' stroke="{SOFT}" stroke-width="0.5"' if radius > 1.5 else ""
    return f"{circle}{edge}>{title(name)}</circle>"


def _draw_outside_terminals(plan: _Plan) -> None:
    """Draw terminals and their links around the switches."""
    if not plan.outside:
        return
    graph = plan.graph
    for terminal, ends in _terminal_places(plan).items():
        out, into = int(graph.terminal_out_links[terminal]), int(graph.terminal_in_links[terminal])
        entry, leave = graph.terminal_entry_switches[terminal], graph.terminal_exit_switches[terminal]
        if len(ends) == 2:
            _stroke(plan, [out], ends[0], plan.places[entry], 0.0, 0.0, True)
            _stroke(plan, [into], plan.places[leave], ends[1], 0.0, 0.0, True)
        elif plan.scale is None:
            _stroke(plan, [out], ends[0], plan.places[entry], 0.0, 0.0, True)
        else:
            _stroke(plan, [out], ends[0], plan.places[entry], 1.5, 0.0, True)
            _stroke(plan, [into], plan.places[leave], ends[0], 1.5, 0.0, True)
        for place, switch in zip(ends, (entry, leave), strict=False):
            x, y = float(place[0]), float(place[1])
            plan.corners += [(x - 6, y - 6), (x + 6, y + 6)]
            plan.over.append(_dot(plan, terminal, x, y, 4.0))
            if graph.terminals <= 40:
                away = place - plan.places[switch]
                if len(ends) == 2:
                    away = np.array([-1.0 if place is ends[0] else 1.0, 0.0])
                elif "levels" in graph.layout and graph.family != "star":
                    away = np.array([0.0, 1.0])
                plan.over.append(_terminal_name(plan, terminal, place, away))


def _terminal_name(plan: _Plan, terminal: int, place: Points, away: Points) -> str:
    """Write a terminal's name on the far side of its switch."""
    name, size = plan.graph.terminal_names[terminal], 9.5
    wide = text_width(name, size)
    x, y = float(place[0]), float(place[1])
    if abs(away[0]) > 0.45 * abs(away[1]):
        anchor, x = ("start", x + 8) if away[0] > 0 else ("end", x - 8)
        plan.corners.append((x + (wide if anchor == "start" else -wide), y))
        return label(name, x, y + 3.4, size, anchor, SOFT)
    y += 15.5 if away[1] > 0 else -8.5
    plan.corners += [(x - wide / 2, y - 9), (x + wide / 2, y + 3)]
    return label(name, x, y, size, "middle", SOFT)


def _terminal_places(plan: _Plan) -> dict[int, list[Points]]:
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
        middle, gap = _widest_gap(plan, switch)
        reach = 0.5 * max(plan.box) + (22 if graph.switches > 1 else 34 + 1.6 * len(terminals))
        step = min(0.85 * gap / max(len(terminals), 1), 24 / reach + 0.12)
        for index, terminal in enumerate(terminals):
            angle = middle + (index - (len(terminals) - 1) / 2) * step
            found[terminal] = [plan.places[switch] + reach * np.array([np.cos(angle), np.sin(angle)])]
    return found


def _widest_gap(plan: _Plan, switch: int) -> tuple[float, float]:
    """Return the middle and the width of the widest angle at a switch that no link leaves by."""
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
    # Of equal gaps the first counts, whatever the last bit says.
    widest = int(np.argmax(np.round(gaps, 6)))
    return float(angles[widest] + gaps[widest] / 2), float(gaps[widest])


def _page(plan: _Plan, boxes: list[str]) -> str:
    """Put the layers together: strokes from low to high, boxes, names, legend."""
    graph = plan.graph
    margin = 18.0 + (0.24 * plan.pitch if plan.stubs else 0)
    points = np.array(plan.corners)
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    wide = max(float(high[0] - low[0]), 420.0)
    left = float(low[0] - (wide - (high[0] - low[0])) / 2)
    key, key_height = legend(plan.scale, _notes(plan), left + 18, float(high[1]) + 2, wide - 36)
    tall = float(high[1] - low[1]) + key_height + 14
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


def _notes(plan: _Plan) -> list[str]:
    """Return what a reader of the picture must know."""
    graph = plan.graph
    most = max(map(len, plan.terminals_at), default=0)
    parts = counted(graph.switches, "switch", "es"), counted(graph.terminals, "terminal")
    notes = [", ".join([*parts, counted(graph.links, "link")]) + "."]
    if plan.scale is not None and (graph.link_reverse >= 0).any():
        notes[0] += " Each direction of a cable is drawn on the right-hand side of its way."
    elif plan.scale is None:
        notes[0] += (
            " A stroke is a cable." if (graph.link_reverse >= 0).any() else " A stroke is a one-way link."
        )
    if plan.merged:
        notes[0] += " Parallel links are drawn as one, by their mean."
    if plan.stubs:
        notes[0] += " Strokes that end at the border go on at the opposite border."
    if most and not plan.outside and not plan.dots:
        notes[0] += f" Up to {counted(most, 'terminal')} at a switch, not drawn"
        notes[0] += "." if plan.scale is None else "; boxes have the mean colour of their terminals' links."
    return notes
