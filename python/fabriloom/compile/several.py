"""What must fit together where terminals have several ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..scenario import Scenario
from ..topology import Graph

if TYPE_CHECKING:
    from ..traffic import Demand

_PAIRS_AT_ONCE = 1 << 22


def check_graph(scenario: Scenario, graph: Graph) -> None:
    """Raise ScenarioError for ports that are chosen where there is one, and for what takes a single one."""
    if graph.several is None:
        if scenario.ports is not None:
            message = "[ports] chooses among the ports of a terminal, and here every terminal has one"
            hint = "give a terminal of the file several cables, or remove the section"
            raise scenario.error(message, ("ports",), hint, key=True)
        return
    if scenario.program is not None:
        message = "programs have one port per terminal, and here terminals have several"
        raise scenario.error(message, ("program",), "describe the messages as [traffic]", key=True)
    if scenario.routing.kind == "table" and len({id(plane.graph) for plane in graph.planes}) > 1:
        message = "a table of your own is for one network, and the terminals of this one join several"
        raise scenario.error(message, ("routing", "kind"), "leave it out, or describe a plane by itself")


def in_planes(graph: Graph) -> NDArray[np.bool_]:
    """Whether a terminal has a port in a plane, shape (terminals, planes)."""
    found = np.zeros((graph.terminals, len(graph.planes)), bool)
    if graph.several is not None:
        found[graph.several.terminal, graph.several.plane] = True
    return found


def reached(graph: Graph, source: np.ndarray, target: np.ndarray) -> NDArray[np.bool_]:
    """Per pair of terminals whether they have a plane in common."""
    if graph.several is None:
        return np.ones(len(source), bool)
    inside = in_planes(graph)
    found = np.empty(len(source), bool)
    step = max(1, _PAIRS_AT_ONCE // len(graph.planes))
    for first in range(0, len(source), step):
        some = slice(first, first + step)
        found[some] = (inside[source[some]] & inside[target[some]]).any(axis=1)
    return found


def check_pairs(scenario: Scenario, graph: Graph, demand: Demand) -> None:
    """Raise ScenarioError for packets between terminals without a plane in common."""
    if graph.several is None or in_planes(graph).all(axis=0).any():
        return  # there is a plane with all of them
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
        message = f'"{one}" sends to "{other}", and they have ports in no network together'
        hint = "terminals pass nothing on: name targets that a port leads to, or join the networks by a cable"
        raise scenario.error(message, ("traffic", "pattern"), hint)
