"""Networks with one path between two terminals: a cable, a crossbar, a star, a tree."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from .clos import rows
from .family import Bisection, Count, Depth, LinksPerEdge, TerminalsPerSwitch, family, limited
from .graph import MAX_TERMINALS, Graph, assemble, check_size, whole


@family("cable", "Two terminals joined by one cable, without a switch.")
def cable() -> Graph:
    """Join the terminals ``t.0`` and ``t.1`` by one cable, to measure a link alone."""
    return Graph(
        switch_names=[],
        terminal_names=["t.0", "t.1"],
        link_source=np.array([0, 1]),
        link_target=np.array([1, 0]),
        link_reverse=np.array([1, 0]),
        link_names=["t.0>t.1", "t.1>t.0"],
        family="cable",
        layout={"parameters": {}},
    )


def _cut(graph: Graph) -> Bisection:
    return limited(graph, graph.terminals, "")


@family("crossbar", "One switch with all terminals on it.", cut=_cut)
def crossbar(terminals: Annotated[Count, Field(description="Number of terminals")]) -> Graph:
    """Build a single switch ``s`` with ``terminals`` terminals ``t.0``, ``t.1``, …"""
    if not isinstance(terminals, bool) and isinstance(terminals, int):
        check_size(terminals, terminals, "terminals")
    whole(terminals, "terminals", 2, MAX_TERMINALS, "the number of terminals on the switch")
    none = np.zeros(0, np.int64)
    return assemble(
        "crossbar",
        ["s"],
        np.zeros(terminals, np.int64),
        lambda _, number: f"t.{number}",
        (none, none),
        1,
        {"parameters": {"terminals": terminals}},
        np.zeros((1, 2)),
    )


def _star_cut(graph: Graph) -> Bisection | None:
    arms = graph.layout["parameters"]["arms"]
    if arms % 2:
        return None
    cables = arms // 2 * graph.layout["parameters"]["links_per_edge"]
    return limited(graph, cables, "half of the arms")


def _tree_cut(graph: Graph) -> Bisection | None:
    arity = graph.layout["parameters"]["arity"]
    if arity % 2:
        return None
    cables = arity // 2 * graph.layout["parameters"]["links_per_edge"]
    return limited(graph, cables, "half of the branches at the root")


@family("star", "Switches around one centre switch.", routing="up-down", cut=_star_cut)
def star(
    arms: Annotated[Count, Field(description="Number of switches around the centre")],
    terminals_per_switch: TerminalsPerSwitch = 1,
    links_per_edge: LinksPerEdge = 1,
) -> Graph:
    """Build a switch ``centre`` with ``arms`` switches ``arm(i)`` that have the terminals ``t(i).k``."""
    whole(arms, "arms", 2, MAX_TERMINALS, "the switches around the centre")
    whole(terminals_per_switch, "terminals_per_switch", 1, MAX_TERMINALS, "the terminals on each arm")
    whole(links_per_edge, "links_per_edge", 1, MAX_TERMINALS, "the cables from an arm to the centre")
    check_size(arms * terminals_per_switch, arms * terminals_per_switch, "arms")
    check_size(0, arms * (terminals_per_switch + links_per_edge), "links_per_edge")
    around = np.arange(1, arms + 1)
    angle = 2 * np.pi * (around - 1) / arms
    radius = max(arms / (2 * np.pi), 1.2)
    return assemble(
        "star",
        ["centre"] + [f"arm({i})" for i in range(arms)],
        np.repeat(around, terminals_per_switch),
        lambda switch, number: f"t{switch[3:]}.{number}",
        (around, np.zeros(arms, np.int64)),
        links_per_edge,
        {
            "parameters": {
                "arms": arms,
                "terminals_per_switch": terminals_per_switch,
                "links_per_edge": links_per_edge,
            },
            "levels": np.r_[1, np.zeros(arms, np.int64)],
            "terminals_per_switch": terminals_per_switch,
        },
        radius * np.vstack([[0.0, 0.0], np.column_stack([np.sin(angle), -np.cos(angle)])]),
    )


@family("tree", "A tree of switches with terminals at its leaves.", routing="up-down", cut=_tree_cut)
def tree(
    arity: Annotated[Count, Field(description="Switches below each switch")],
    depth: Annotated[Depth, Field(description="Levels below the root")],
    terminals_per_switch: TerminalsPerSwitch = 1,
    links_per_edge: LinksPerEdge = 1,
) -> Graph:
    """Build a tree of switches ``s(level,number)``; level 0 are the leaves with the terminals ``t(i).k``.

    ``depth`` edges lie between the root and a leaf; every switch except the leaves has ``arity`` switches
    below it.
    """
    whole(arity, "arity", 2, MAX_TERMINALS, "the switches below a switch")
    whole(depth, "depth", 1, 20, "the edges from the root to a leaf")
    whole(terminals_per_switch, "terminals_per_switch", 1, MAX_TERMINALS, "the terminals on each leaf")
    whole(links_per_edge, "links_per_edge", 1, MAX_TERMINALS, "the cables of an edge")
    leaves = arity**depth
    switches = (arity ** (depth + 1) - 1) // (arity - 1)
    check_size(leaves * terminals_per_switch, leaves * terminals_per_switch, "depth")
    check_size(0, leaves * terminals_per_switch + (switches - 1) * links_per_edge, "links_per_edge")
    widths = [arity ** (depth - level) for level in range(depth + 1)]
    start = np.cumsum([0, *widths])
    ends_a = [start[level] + np.arange(widths[level]) for level in range(depth)]
    ends_b = [start[level + 1] + np.arange(widths[level]) // arity for level in range(depth)]
    return assemble(
        "tree",
        [f"s({level},{number})" for level, width in enumerate(widths) for number in range(width)],
        np.repeat(np.arange(leaves), terminals_per_switch),
        lambda switch, number: f"t({switch[4:]}.{number}",
        (np.concatenate(ends_a), np.concatenate(ends_b)),
        links_per_edge,
        {
            "parameters": {
                "arity": arity,
                "depth": depth,
                "terminals_per_switch": terminals_per_switch,
                "links_per_edge": links_per_edge,
            },
            "levels": np.repeat(np.arange(depth + 1), widths),
            "terminals_per_switch": terminals_per_switch,
        },
        rows(widths),
    )
