"""Switches, terminals, links and cables by the names that a user gives, and the links at each."""

from __future__ import annotations

import re

import numpy as np

from .. import units
from . import Graph


class UnknownPartError(ValueError):
    """The network has no part of the given name."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


ALL = "all"
"""The name that stands for all components of a kind."""


def each_of(graph: Graph, kind: str, name: str | int, into: bool = False) -> list[tuple[str, list[int]]]:
    """Return the name and the links of each component: the named one, or, with "all",
    every one of the kind. ``into``: only the links that lead to it."""
    if name != ALL or name in _names_of(graph, kind):
        return [(str(name), links_of(graph, kind, name, into))]
    if kind == "cable":
        first = [link for link, other in enumerate(graph.link_reverse) if other < 0 or link < other]
        return [(graph.link_names[link], links_of(graph, kind, graph.link_names[link])) for link in first]
    return [(name, links_of(graph, kind, name, into)) for name in _names_of(graph, kind)]


def _names_of(graph: Graph, kind: str) -> list[str]:
    names = {"switch": graph.switch_names, "bus": graph.switch_names, "terminal": graph.terminal_names}
    return names.get(kind, graph.link_names)


def links_of(graph: Graph, kind: str, name: str | int, into: bool = False) -> list[int]:
    """Return the links of a ``link``, ``cable``, ``switch``, ``bus`` or ``terminal``, ascending; with
    ``into`` only those that lead to it. Raises UnknownPartError."""
    if kind in ("link", "cable"):
        link = _link(graph, str(name))
        reverse = int(graph.link_reverse[link])
        return sorted({link, reverse} - {-1}) if kind == "cable" else [link]
    vertices = vertices_of(graph, kind, name)
    at = np.isin(graph.link_target, vertices)
    if not into:
        at |= np.isin(graph.link_source, vertices)
    return [int(link) for link in np.flatnonzero(at)]


def _link(graph: Graph, name: str) -> int:
    """Find a link by name; "a -> b" means "a>b"."""
    written = re.sub(r"\s*-?>\s*", ">", name.strip())
    for wanted in (name, written):
        if wanted in graph.link_names:
            return graph.link_names.index(wanted)
    several = [other for other in graph.link_names if other.startswith(f"{written}#")]
    if several:
        message = f"{len(several)} links lead from {written.replace('>', ' to ', 1)}"
        raise UnknownPartError(message, f'name one of them, such as "{several[0]}"')
    near = units.nearest(written, graph.link_names[:20_000])
    hint = f'did you mean "{near}"?' if near else f'links are called as in "{graph.link_names[-1]}"'
    raise UnknownPartError(f'there is no link "{name[:60]}"', hint)


def vertices_of(graph: Graph, kind: str, name: str | int) -> list[int]:
    """Return the vertices of a switch, of one port of a terminal, or of all ports of a terminal. Raises
    UnknownPartError."""
    if kind != "terminal" or graph.several is None:
        return [_vertex(graph, kind, name)]
    if name in graph.port_names:
        return [graph.switches + graph.port_names.index(str(name))]
    terminal = _vertex(graph, kind, name) - graph.switches
    return (graph.switches + np.flatnonzero(graph.several.terminal == terminal)).tolist()


def _vertex(graph: Graph, kind: str, name: str | int) -> int:
    names = graph.terminal_names if kind == "terminal" else graph.switch_names
    first = graph.switches if kind == "terminal" else 0
    if name in names:
        return first + names.index(str(name))
    is_number = isinstance(name, int) or (name.isascii() and name.isdecimal() and len(name) < 10)
    if kind == "terminal" and is_number and int(name) < len(names):
        return first + int(name)
    if not names:
        raise UnknownPartError(f"the network has no {kind}", "have a link or a terminal fail")
    near = units.nearest(str(name), names[:20_000])
    hint = f'did you mean "{near}"?' if near else f'they are called "{names[0]}" to "{names[-1]}"'
    shown = f'"{name[:60]}"' if isinstance(name, str) else f"number {name}"
    raise UnknownPartError(f"there is no {kind} {shown}", hint)
