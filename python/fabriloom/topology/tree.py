"""Trees: with one path between two terminals (a cable, a crossbar, a star, a tree), and fat ones.

A k-ary n-tree has ``levels`` rows of switches with ``arity`` links down and as many up; an XGFT any widths.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated

import numpy as np
from pydantic import Field

from .clos import rows
from .family import (
    Bisection,
    Count,
    Cut,
    Depth,
    LinksPerEdge,
    Several,
    TerminalsPerSwitch,
    as_wide_as_terminals,
    family,
    limited,
)
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, assemble, check_size, terminals_at, whole


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
def crossbar(terminals: Annotated[Several, Field(description="Number of terminals")]) -> Graph:
    """Build a single switch ``s`` with ``terminals`` terminals ``t.0``, ``t.1``, …"""
    if not isinstance(terminals, bool) and isinstance(terminals, int):
        check_size(terminals, terminals, "terminals")
    whole(terminals, "terminals", 2, MAX_TERMINALS, "the number of terminals on the switch")
    none = np.zeros(0, np.int64)
    return assemble(
        "crossbar",
        ["s"],
        np.zeros(terminals, np.int64),
        (none, none),
        1,
        np.zeros((1, 2)),
        terminal_name=lambda _, number: f"t.{number}",
    )


def _half_of(branches: str, what: str) -> Cut:
    """Return the cut of half of the branches of the root, as many as a parameter says."""

    def cut(graph: Graph) -> Bisection | None:
        parameters = graph.layout["parameters"]
        if parameters[branches] % 2:
            return None
        return limited(graph, parameters[branches] // 2 * parameters["links_per_edge"], f"half of the {what}")

    return cut


@family("star", "Switches around one centre switch.", routing="up-down", cut=_half_of("arms", "arms"))
def star(
    arms: Annotated[Several, Field(description="Number of switches around the centre")],
    terminals_per_switch: TerminalsPerSwitch = 1,
    links_per_edge: LinksPerEdge = 1,
) -> Graph:
    """Build a switch ``centre`` with ``arms`` switches ``arm(i)`` that have the terminals ``t(i).k``."""
    whole(arms, "arms", 2, MAX_TERMINALS, "the switches around the centre")
    terminals_at(terminals_per_switch, "on each arm")
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
        (around, np.zeros(arms, np.int64)),
        links_per_edge,
        radius * np.vstack([[0.0, 0.0], np.column_stack([np.sin(angle), -np.cos(angle)])]),
        {"levels": np.r_[1, np.zeros(arms, np.int64)]},
    )


@family(
    "tree",
    "A tree of switches with terminals at its leaves.",
    routing="up-down",
    cut=_half_of("arity", "branches at the root"),
)
def tree(
    arity: Annotated[Several, Field(description="Switches below each switch")],
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
    terminals_at(terminals_per_switch, "on each leaf")
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
        (np.concatenate(ends_a), np.concatenate(ends_b)),
        links_per_edge,
        rows(widths),
        {"levels": np.repeat(np.arange(depth + 1), widths)},
        terminal_name=lambda switch, number: f"t({switch[4:]}.{number}",
    )


@family("fat_tree", "A k-ary n-tree.", routing="up-down", cut=as_wide_as_terminals)
def fat_tree(
    arity: Annotated[Several | None, Field(description="k: links down (and up) of every switch")] = None,
    levels: Annotated[Depth | None, Field(description="n: levels of switches; k^n terminals")] = None,
    terminals: Annotated[
        Several | None, Field(description="k^n, instead of arity or levels, which follows from it")
    ] = None,
) -> Graph:
    """Build the k-ary n-tree with arity^levels terminals ``t(i).k`` on switches ``s(level,number)``.

    Level 0 carries the terminals; the switches of the highest level use only their ``arity`` ports
    downwards. Switches of neighbouring levels l and l+1 are joined when their numbers, in base ``arity``,
    agree in all digits but the l-th.
    """
    if arity is not None:
        whole(arity, "arity", 2, MAX_TERMINALS, "the links down from a switch")
    if levels is not None:
        whole(levels, "levels", 1, 20, "the rows of switches")
    if terminals is not None:
        whole(terminals, "terminals", 1, MAX_TERMINALS, "the number of terminals")
    arity, levels = _shape(arity, levels, terminals)
    check_size(arity**levels, levels * arity**levels, "levels")
    width = arity ** (levels - 1)
    names = [f"s({level},{number})" for level in range(levels) for number in range(width)]
    ends_a = [np.zeros(0, np.int64)]
    ends_b = [np.zeros(0, np.int64)]
    for level in range(levels - 1):
        number = np.repeat(np.arange(width), arity)
        digit = np.tile(np.arange(arity), width)
        weight = arity**level
        above = number + (digit - number // weight % arity) * weight
        ends_a.append(level * width + number)
        ends_b.append((level + 1) * width + above)
    return assemble(
        "fat_tree",
        names,
        np.repeat(np.arange(width), arity),
        (np.concatenate(ends_a), np.concatenate(ends_b)),
        1,
        rows([width] * levels),
        {
            "parameters": {"arity": arity, "levels": levels},
            "levels": np.repeat(np.arange(levels), width),
            "terminals_per_switch": arity,
        },
        terminal_name=lambda switch, number: f"t({switch[4:]}.{number}",
    )


def _shape(arity: int | None, levels: int | None, terminals: int | None) -> tuple[int, int]:
    """Return arity and levels, one of which may follow from the number of terminals. Raises GraphError."""
    if terminals is None:
        if arity is None or levels is None:
            name = "arity" if arity is None else "levels"
            message = f"{name} is missing: write arity and levels, or terminals and one of the two"
            raise GraphError(message, name)
        return arity, levels
    if arity is not None and levels is not None:
        if arity**levels != terminals:
            message = f"arity {arity} and levels {levels} make {arity**levels} terminals"
            raise GraphError(f"{message}; leave one of the three out", "terminals")
        return arity, levels
    if arity is None and levels is None:
        message = f"{terminals} terminals are a tree of many shapes: write arity or levels beside it"
        raise GraphError(message, "terminals")
    if arity is not None:
        shapes = [(arity, depth) for depth in range(1, 21)]
    else:
        root = round(terminals ** (1 / (levels or 1)))
        shapes = [(wide, levels or 1) for wide in range(max(2, root - 1), root + 3)]
    found = next((shape for shape in shapes if shape[0] ** shape[1] == terminals), None)
    if found is None:
        below = max((wide**deep for wide, deep in shapes if wide**deep < terminals), default=None)
        above = min(wide**deep for wide, deep in shapes if wide**deep > terminals)
        offer = f"{above}" if below is None else f"{below} or {above}"
        raise GraphError(f"no such tree has {terminals} terminals: write {offer}", "terminals")
    return found


# Extended generalized fat trees (S. R. Öhring, M. Ibel, S. K. Das and M. J. Kumar, IPPS 1995).


@family("xgft", "A tree of any widths, in which a switch may have several parents.", routing="up-down")
def xgft(
    children: Annotated[
        list[Count],
        Field(
            min_length=1,
            max_length=20,
            description="m_1, m_2, …: for each level of switches, from below, the children of a switch; "
            "m_1 terminals at each of the lowest",
        ),
    ],
    parents: Annotated[
        list[Count],
        Field(
            min_length=1,
            max_length=20,
            description="w_1, w_2, …: for each level, the parents of what is below it; 1 for the lowest, as "
            "a terminal has one cable",
        ),
    ],
) -> Graph:
    """Build XGFT(h; m_1, …, m_h; w_1, …, w_h): switches ``s(level,number)``, terminals ``t(number).k``.

    A switch of level l is named by digits: one of m_i for each level above, one of w_i for each up to its
    own. Two of neighbouring levels are joined if they agree in all digits but that of the higher level. The
    k-ary n-tree is XGFT(n; k, …, k; 1, k, …, k).
    """
    below, above = _checked(children, "children"), _checked(parents, "parents")
    if len(below) != len(above):
        message = f"parents has {len(above)} numbers and children {len(below)}; each needs one per level"
        raise GraphError(message, "parents")
    if above[0] != 1:
        raise GraphError(f"parents begins with {above[0]}; a terminal has one cable, so write 1", "parents")
    levels = len(below)
    widths = [prod(below[level + 1 :]) * prod(above[: level + 1]) for level in range(levels)]
    cables = [width * above[level + 1] for level, width in enumerate(widths[:-1])]
    check_size(prod(below), prod(below) + sum(cables), "children")
    first = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    ends = [_between(level, below, above, first) for level in range(levels - 1)]
    near, far = (
        (np.concatenate([np.zeros(0, np.int64), *side]) for side in zip(*ends, strict=True))
        if ends
        else (np.zeros(0, np.int64), np.zeros(0, np.int64))
    )
    return assemble(
        "xgft",
        [f"s({level},{number})" for level, width in enumerate(widths) for number in range(width)],
        np.repeat(np.arange(widths[0]), below[0]),
        (near, far),
        1,
        rows(widths),
        {"levels": np.repeat(np.arange(levels), widths), "terminals_per_switch": below[0]},
        terminal_name=lambda switch, number: f"t({switch[4:]}.{number}",
    )


def _checked(given: Sequence[int], name: str) -> list[int]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence) or not 1 <= len(given) <= 20:
        raise GraphError(f"{name} must be a list of 1 to 20 whole numbers, not {given!r}", name)
    return [whole(one, name, 1, MAX_TERMINALS, "one number per level") for one in given]


def _between(level: int, below: list[int], above: list[int], first: Ints) -> tuple[Ints, Ints]:
    """Return the ends of the cables from a level to the next one up."""
    low, wide, own = prod(above[: level + 1]), above[level + 1], below[level + 1]
    number = np.repeat(np.arange(first[level + 1] - first[level]), wide)
    parent = np.tile(np.arange(wide), len(number) // wide)
    higher = number // low // own
    return first[level] + number, first[level + 1] + (higher * wide + parent) * low + number % low
