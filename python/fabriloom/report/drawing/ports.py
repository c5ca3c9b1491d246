"""Port numbers of switches and logical addresses of terminals in the drawing, as a file gives them."""

from __future__ import annotations

import numpy as np

from ...topology import Graph
from .layout import Points
from .plan import Plan
from .style import PAPER, SOFT, label

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
