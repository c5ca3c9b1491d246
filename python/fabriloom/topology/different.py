"""Networks of different kinds, joined by terminals that have a port in several of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .graph import MAX_LINKS, Graph, GraphError, counted
from .joined import MOST_PORTS, Member, join


def planes(planes: Sequence[Mapping[str, Any]]) -> Graph:
    """Build each network, and join the terminals that have the same name.

    A plane is a table of ``name`` and ``network``, which has ``kind`` and its parameters. Optional keys are
    ``terminals``, the names of the terminals in order; ``ports_per_terminal``, how many consecutive terminals
    of the network are ports of one terminal; and ``link_rate_bits_per_s``. Without names, the terminals of a
    graph file and of rings that name their stations keep theirs; those of another kind are t0, t1, …

    Raises:
        GraphError: with the place of the error, such as ``planes.1.network.shape``.
    """
    graphs, names = [], []
    for place, plane in enumerate(planes):
        if plane["name"] in [other["name"] for other in planes[:place]]:
            message = f'there are two planes "{plane["name"]}"'
            raise GraphError(message, f"planes.{place}.name")
        if not re.fullmatch(r"[\w.-]+", plane["name"]):
            message = (
                f'"{plane["name"]}" is no name of a plane: letters, numbers, dots, dashes and underscores are'
            )
            raise GraphError(message, f"planes.{place}.name")
        graphs.append(_built(plane, place))
        names.append(_names(plane, graphs[-1], place))
    _check_kinds(graphs)
    links = sum(graph.links for graph in graphs)
    if links > MAX_LINKS:
        raise GraphError(f"{counted(links)} links are too many; at most {MAX_LINKS:,} are built", "planes")
    number = {name: at for at, name in enumerate(dict.fromkeys(name for own in names for name in own))}
    members = []
    for at, (plane, graph, own) in enumerate(zip(planes, graphs, names, strict=True)):
        terminal = np.array([number[name] for name in own])
        members.append(Member(plane["name"], _renamed(graph, own), terminal, at * MOST_PORTS + _nth(own)))
    _counted(members, list(number))
    return join(members, list(number))


def _check_kinds(graphs: Sequence[Graph]) -> None:
    """Raise GraphError for rings beside links, or for switches of rings whose buses differ in kind."""
    if len({graph.kind for graph in graphs}) > 1:
        raise GraphError("planes are all of links or all of rings, and here some are of each", "planes")
    apart = {
        graph.own_rings.separate_buses for graph in graphs if graph.network_kind.buses and graph.switches
    }
    if len(apart) > 1:
        message = "requests and responses have separate buses in some planes and not in others; set all alike"
        raise GraphError(message, "planes")


def _built(plane: Mapping[str, Any], place: int) -> Graph:
    """Return one network alone, with links at the rate of the plane."""
    from . import build

    try:
        graph = build(**plane["network"])
    except GraphError as error:
        inner = "" if error.parameter is None else f".{error.parameter}"
        error.parameter = f"planes.{place}.network{inner}"
        raise
    if graph.several is not None:
        message = f'the plane "{plane["name"]}" joins several networks itself: name each of them'
        raise GraphError(message, f"planes.{place}.network")
    rate = plane.get("link_rate_bits_per_s")
    if rate is None:
        return graph
    rates = graph.attributes.get("rate_bits_per_s", np.full(graph.links, np.nan))
    own = np.where(np.isnan(rates), float(Fraction(rate)), rates)
    return replace(graph, attributes={**graph.attributes, "rate_bits_per_s": own})


def _names(plane: Mapping[str, Any], graph: Graph, place: int) -> list[str]:
    """Return, for each terminal of a network, the terminal whose port it is."""
    given, per = plane.get("terminals"), plane.get("ports_per_terminal", 1)
    count, left = divmod(graph.terminals, per)
    if left:
        message = f'"{plane["name"]}" has {counted(graph.terminals)} terminals, which {per} do not divide'
        raise GraphError(message, f"planes.{place}.ports_per_terminal")
    if given is None and plane["network"]["kind"] in ("file", "inline", "sci-rings") and per == 1:
        return graph.terminal_names
    if given is None:
        given = [f"t{number}" for number in range(count)]
    if len(given) != count:
        message = f'{counted(len(given))} names for the {counted(count)} terminals of "{plane["name"]}"'
        raise GraphError(message, f"planes.{place}.terminals")
    return [name for name in given for _ in range(per)]


def _nth(names: list[str]) -> np.ndarray:
    """Return, per terminal of a network, how many before it have the same name."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        found.append(seen.get(name, 0))
        seen[name] = found[-1] + 1
    return np.array(found)


def _renamed(graph: Graph, names: list[str]) -> Graph:
    """Return the network with these terminal names, also in link names, if each occurs once."""
    if len(set(names)) < len(names):
        return graph
    links = list(graph.link_names)
    ends = zip(names, graph.terminal_names, graph.terminal_out_links, graph.terminal_in_links, strict=True)
    for name, before, out, inward in ends:
        links[out] = name + links[out].removeprefix(before)
        links[inward] = links[inward].removesuffix(before) + name
    return replace(graph, terminal_names=names, link_names=links)


def _counted(members: Sequence[Member], names: list[str]) -> None:
    """Raise GraphError for a terminal with too many ports."""
    ports = np.bincount(np.concatenate([member.terminal for member in members]))
    most = int(ports.argmax())
    if ports[most] > MOST_PORTS:
        message = f'"{names[most]}" has {ports[most]} ports; a terminal has at most {MOST_PORTS}'
        raise GraphError(message, "planes")
