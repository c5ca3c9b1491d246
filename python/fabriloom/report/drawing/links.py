"""The links of the drawn fabric: bundles of strokes between switches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...topology import Graph
from ...units import format_rate_bits_per_s
from .layout import Points
from .plan import MAX_PARALLEL, Plan
from .style import LINE, PAPER, SOFT, arrowhead, label, marks, number, text_width, title

# Port numbers of switches and logical addresses of terminals in the drawing, as a file gives them.

_PORT_PX = 8.5
_LEAST_PITCH_PX = 40.0
_MOST_LINKS = 400
_BEYOND_PX = 6.0
"""Distance from the border of a box to the middle of a number."""
_MORE_PX, _FEW = 2.5, 8
"""What each terminal of a switch beyond the few adds to it, so that numbers do not cover each other."""


def port_of(graph: Graph, link: int) -> int | None:
    """Return the switch port that a link leaves by, if the file gives it."""
    given = graph.attributes.get("source_port")
    if given is None or graph.link_source[link] >= graph.switches or np.isnan(given[link]):
        return None
    return int(given[link])


def ports_text(graph: Graph, link: int) -> str:
    """Return the ports that a link connects, as far as the file gives them."""
    back = int(graph.link_reverse[link])
    ends = [("from", port_of(graph, link)), ("to", port_of(graph, back) if back >= 0 else None)]
    told = [f"{way} port {port}" for way, port in ends if port is not None]
    return f", {' '.join(told)}" if told else ""


def with_address(graph: Graph, terminal: int) -> str:
    """Return the name of a terminal, with its logical address if the file gives one."""
    name, address = graph.terminal_names[terminal], graph.layout.get("addresses", {}).get(terminal)
    return name if address is None else f"{name} · {address}"


def has_ports(graph: Graph) -> bool:
    """Return whether the file gives ports."""
    known = graph.attributes.get("source_port", np.zeros(0))
    return graph.links <= _MOST_LINKS and bool(np.isfinite(known).any())


def write_port(plan: Plan, link: int, curve: tuple[Points, Points, Points]) -> None:
    """Write the port that a link leaves by, where its stroke leaves the box: at the start of ``curve``."""
    port = port_of(plan.graph, link)
    if port is None or plan.merged or plan.pitch < _LEAST_PITCH_PX or not has_ports(plan.graph):
        return
    share = np.linspace(0.0, 0.9, 181)[:, None]
    points = curve[0] * (1 - share) ** 2 + curve[1] * 2 * share * (1 - share) + curve[2] * share**2
    apart = np.abs(points - plan.places[plan.graph.link_source[link]]) - np.array(plan.box) / 2
    many = len(plan.terminals_at[plan.graph.link_source[link]]) - _FEW
    beyond = np.flatnonzero(apart.max(axis=1) > _BEYOND_PX + _MORE_PX * max(0, many))
    if not len(beyond):
        return
    at, way = points[beyond[0]], points[-1] - points[0]
    right = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1e-9)
    x, y = (at + (4.0 + 2.5 * len(str(port))) * right).tolist()
    halo = f' stroke="{PAPER}" stroke-width="2.5" paint-order="stroke" pointer-events="none"'
    plan.over.append(label(str(port), x, y + 0.36 * _PORT_PX, _PORT_PX, "middle", SOFT, halo))


def draw_switch_links(plan: Plan) -> None:
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
        loop = _wraps(plan, a, b)
        _bundle(plan, inside, plan.places[a], plan.places[b], 0.0 if loop else bow, a, loop)


def _wraps(plan: Plan, a: int, b: int) -> bool:
    """Return whether a cable leads around a torus: it is drawn as a loop beside its row."""
    layout = plan.graph.layout
    shape = layout.get("shape", [])
    if not layout.get("wrap") or len(shape) < 2:
        return False
    return bool(np.abs(layout["coordinates"][b] - layout["coordinates"][a]).max() > 1)


def _bows(plan: Plan, pairs: NDArray[np.int64]) -> Points:
    """Return how far, in pixels, each bundle must bend to avoid a third switch."""
    bows = np.zeros(len(pairs))
    # Between the rows of a levelled family there are no switches in the path.
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


def _bundle(
    plan: Plan, links: list[int], start: Points, end: Points, bow: float, first: int, loop: bool
) -> None:
    """Draw parallel links between two points; ``first`` is the switch at the start."""
    graph = plan.graph
    forth = [link for link in links if graph.link_source[link] == first]
    back = [link for link in links if graph.link_source[link] != first]
    if plan.scale is None:
        # Without values both directions look the same, so one stroke is a cable.
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
        draw_stroke(plan, group, start, end, offset, bow, way, loop)


def draw_stroke(
    plan: Plan,
    links: list[int],
    start: Points,
    end: Points,
    offset: float,
    bow: float,
    way: bool,
    loop: bool = False,
) -> None:
    """Draw one stroke for links in the same direction, ``offset`` to the right of the path."""
    graph, scale = plan.graph, plan.scale
    along = end - start
    right = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
    one, two = start + right * offset * 0.8, end + right * offset * 0.8
    middle = (start + end) / 2 + right * (offset * 1.2 + bow * 1.0)
    known = plan.known(links)
    value = float(known.mean()) if known.size else float("nan")
    colour = LINE if scale is None else scale.colour(value)
    width = (1.1 if plan.pitch < 40 else 1.5) * plan.ink + (
        0.0 if scale is None else 0.9 * plan.ink * scale.share(value)
    )
    width *= plan.weight(links[0])
    if len(links) > 1:
        width = width * (1.5 if plan.pitch < 40 else 2.2)
    dots = [f"{number(x)} {number(y)}" for x, y in (one, middle, two)]
    path = f"M{dots[0]}Q{dots[1]} {dots[2]}"
    if loop:
        path, middle = _loop(plan, one, two, right * offset)
    text = title(_links_text(plan, links, known))
    which = marks(links, way) + ("" if scale is None else scale.mark(value))
    shape = f'<path d="{path}"{which} stroke="{colour}" stroke-width="{number(width)}">{text}</path>'
    plan.strokes.append((-1.0 if value != value else value, shape))
    if bow:
        bulge = (one + two) / 4 + middle / 2
        plan.corners.append((float(bulge[0]), float(bulge[1])))
    if len(links) > 1 and plan.pitch > 40 and len(plan.strokes) < 200 and (way or scale is None):
        _count(plan, len(links), start, end, middle - (start + end) / 2 if loop else right * bow * 0.5)
    there, back = (one, middle, two), (two, middle, one)
    if not way:
        there, back = back, there
    reverse = int(graph.link_reverse[links[0]])
    if len(links) == 1:
        write_port(plan, links[0], there)
        if scale is None and reverse >= 0:
            write_port(plan, reverse, back)
    if reverse < 0 and plan.arrows:
        _arrow(plan, there, links, colour, value)


def _loop(plan: Plan, one: Points, two: Points, aside: Points) -> tuple[str, Points]:
    """Return the path of a cable around a torus, out at one border and in at the other, and its middle."""
    way = two - one
    way = way / max(float(np.hypot(*way)), 1e-9) * plan.pitch
    # Below a row and right of a column: the first terminal of a switch is on the other sides.
    low = np.array([way[1], -way[0]]) * (1 if way[0] < -1e-6 or (abs(way[0]) <= 1e-6 and way[1] > 0) else -1)
    # Half a row beside the switches: three quarters of what the two inner points are.
    bends = one - 0.5 * way + 0.66 * low + aside, two + 0.5 * way + 0.66 * low + aside
    middle = (one + two) / 2 + 0.5 * low + aside
    for x, y in ((one + bends[0]) / 2, middle, (two + bends[1]) / 2):
        plan.corners.append((float(x), float(y)))
    dots = [f"{number(x)} {number(y)}" for x, y in (one, *bends, two)]
    return f"M{dots[0]}C{dots[1]} {dots[2]} {dots[3]}", middle


def _links_text(plan: Plan, links: list[int], known: NDArray[np.float64]) -> str:
    graph, scale = plan.graph, plan.scale
    name = graph.link_names[links[0]]
    if len(links) > 1:
        name = f"{name.split('#')[0]}, {len(links)} links"
    else:
        name += ports_text(graph, links[0])
    if len(plan.rates) and plan.rates[links[0]] > 0:
        name += f", {format_rate_bits_per_s(round(plan.rates[links[0]]))}"
    if scale is None:
        back = int(graph.link_reverse[links[0]])
        return name if back < 0 else f"{name} and back"
    if not known.size:
        return f"{name}: no value"
    mean, most = scale.text(float(known.mean())), scale.text(float(known.max()))
    return f"{name}: {scale.label} {mean}" + (f" on average, {most} at most" if len(links) > 1 else "")


def _count(plan: Plan, count: int, start: Points, end: Points, aside: Points) -> None:
    """Write the number of links of a stroke, off its middle, away from those of crossing strokes."""
    at = start + (end - start) * 0.5 + aside
    half = 0.5 * text_width(f"×{count}", 9) + 2
    plan.over.append(
        f'<rect x="{number(at[0] - half)}" y="{number(at[1] - 6.5)}" width="{number(2 * half)}" height="13" '
        'rx="6"'
        f' fill="{PAPER}" fill-opacity="0.9"/>' + label(f"×{count}", at[0], at[1] + 3.2, 9, "middle", SOFT)
    )


def _arrow(
    plan: Plan, curve: tuple[Points, Points, Points], links: list[int], colour: str, value: float
) -> None:
    """Draw a small arrowhead at the middle of a one-way link."""
    share = 0.55
    at = curve[0] * (1 - share) ** 2 + curve[1] * 2 * share * (1 - share) + curve[2] * share**2
    way = curve[2] - curve[0]
    way = way / max(float(np.hypot(*way)), 1e-9)
    which = marks(links) + ("" if plan.scale is None else plan.scale.mark(value))
    head = arrowhead(at, way, (5, 3.2), which, colour)
    plan.strokes.append((-1.0 if value != value else value, head))
