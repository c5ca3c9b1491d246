"""Checks and tables for terminals with several ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..scenario import Scenario, ScenarioError
from ..topology import Graph

if TYPE_CHECKING:
    from ..traffic import Demand

Ints = NDArray[np.int64]

_PAIRS_AT_ONCE = 1 << 22


def check_graph(scenario: Scenario, graph: Graph) -> None:
    """Raise ScenarioError if single ports are chosen from, or if a setting needs single ports."""
    if graph.several is None:
        if scenario.ports is not None:
            message = "[ports] chooses among the ports of a terminal, and here every terminal has one"
            hint = "give a terminal of the file several cables, or remove the section"
            raise scenario.error(message, ("ports",), hint, key=True)
        return
    if scenario.routing.kind == "table" and len({id(plane.graph) for plane in graph.planes}) > 1:
        message = "a table of your own is for one network, and the terminals of this one join several"
        raise scenario.error(message, ("routing", "kind"), "leave it out, or describe a plane by itself")


def in_planes(graph: Graph) -> NDArray[np.bool_]:
    """Return whether each terminal has a port in each plane, shape (terminals, planes)."""
    found = np.zeros((graph.terminals, len(graph.planes)), bool)
    if graph.several is not None:
        found[graph.several.terminal, graph.several.plane] = True
    return found


def reached(graph: Graph, source: np.ndarray, target: np.ndarray) -> NDArray[np.bool_]:
    """Return, per pair of terminals, whether they have a plane in common."""
    if graph.several is None:
        return np.ones(len(source), bool)
    inside = in_planes(graph)
    found = np.empty(len(source), bool)
    step = max(1, _PAIRS_AT_ONCE // len(graph.planes))
    for first in range(0, len(source), step):
        some = slice(first, first + step)
        found[some] = (inside[source[some]] & inside[target[some]]).any(axis=1)
    return found


def port_pairs(
    graph: Graph, choice: str, source: Ints, target: Ints, runs: NDArray[np.bool_] | None = None
) -> tuple[Ints, Ints, Ints]:
    """Return the ports by which packets of pairs of terminals go: pair numbers, ports, and the target's
    ports.

    With ``destination`` and ``nominal`` a pair has one row, otherwise one for each port that leads to the
    target; a pair without a common plane has none. ``runs`` says, per port, whether its link works: packets
    avoid the others if they can. See ``docs/background/ports.md``.
    """
    leads, ends = _leads(graph, source, target)
    if runs is not None:
        first = _first_ports(graph)[source]
        own = np.minimum(first[:, None] + np.arange(leads.shape[1]), graph.ports - 1)
        running = leads & runs[own]
        leads = np.where(np.any(running, axis=1, keepdims=True), running, leads)
    if choice in ("destination", "nominal"):
        count = np.maximum(leads.sum(axis=1), 1)
        nth = target % count if choice == "destination" else np.zeros(len(target), np.int64)
        leads = leads & (np.cumsum(leads, axis=1) == nth[:, None] + 1)
    pair, own = np.nonzero(leads)
    return pair, _first_ports(graph)[source[pair]] + own, ends[pair, own]


def _first_ports(graph: Graph) -> Ints:
    assert graph.several is not None
    counts = np.bincount(graph.several.terminal, minlength=graph.terminals)
    return np.concatenate([[0], np.cumsum(counts)])[:-1]


def _leads(graph: Graph, source: Ints, target: Ints) -> tuple[NDArray[np.bool_], Ints]:
    """Return, per pair and port of its source: whether the port leads to the target, and to which port."""
    assert graph.several is not None
    plane, first = graph.several.plane, _first_ports(graph)
    counts = np.bincount(graph.several.terminal, minlength=graph.terminals)
    most = int(counts.max())
    numbers = np.arange(most)

    def planes_of(terminal: Ints) -> Ints:
        """Return, per place, the plane of that port, or -1 if there is no such port."""
        at = np.minimum(first[terminal][:, None] + numbers, graph.ports - 1)
        return np.where(numbers < counts[terminal][:, None], plane[at], -1)

    ours, theirs = planes_of(source), planes_of(target)
    leads, ends = np.zeros((len(source), most), bool), np.zeros((len(source), most), np.int64)
    for own in range(most):
        here = ours[:, own]
        fits = (theirs == here[:, None]) & (here >= 0)[:, None]
        count = fits.sum(axis=1)
        beside = ours == here[:, None]
        place = beside[:, :own].sum(axis=1)
        shift = np.where(beside.sum(axis=1) == count, 0, source)
        nth = (place + shift) % np.maximum(count, 1)
        leads[:, own] = count > 0
        ends[:, own] = first[target] + (fits & (np.cumsum(fits, axis=1) == nth[:, None] + 1)).argmax(axis=1)
    return leads, ends


def check_pairs(scenario: Scenario, graph: Graph, demand: Demand) -> None:
    """Raise ScenarioError for packets between terminals without a common plane."""
    if graph.several is None or in_planes(graph).all(axis=0).any():
        return  # one plane has all terminals
    source, target = (np.asarray(ends, np.int64) for ends in (demand.source, demand.target))
    lost = np.flatnonzero(~reached(graph, source, target))
    found = [(int(source[at]), int(target[at])) for at in lost[:1]]
    everyone = np.arange(graph.terminals)
    for sender in np.flatnonzero(demand.even).tolist() if not found else ():
        apart = np.flatnonzero(~reached(graph, np.full(graph.terminals, sender), everyone))
        found += [(sender, int(other)) for other in apart[:1]]
        if found:
            break
    if found:
        one, other = (graph.terminal_names[terminal] for terminal in found[0])
        raise no_plane(scenario, one, other)


def no_plane(scenario: Scenario, one: str, other: str) -> ScenarioError:
    """Return the error of a terminal that sends to a terminal to which no port leads."""
    message = f'"{one}" sends to "{other}", and they have ports in no network together'
    hint = "terminals pass nothing on: name targets that a port leads to, or join the networks by a cable"
    path = ("traffic", "pattern") if scenario.program is None else ("program",)
    return scenario.error(message, path, hint)
