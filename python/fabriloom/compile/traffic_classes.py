"""Traffic classes: which packets may use which lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..faults import FaultError, vertices_of
from ..technology import Technology
from ..topology import Graph

if TYPE_CHECKING:
    from ..scenario import Scenario
    from ..scenario.errors import Path

_HERE: Path = ("routing", "traffic_class")


@dataclass(frozen=True)
class TrafficClasses:
    """The lanes of each class, and the class of each port."""

    lanes: list[list[int]]
    of_port: NDArray[np.uint32]
    """Per port, its class; empty if there is only one class."""


def classes_of(scenario: Scenario, graph: Graph, technology: Technology) -> TrafficClasses:
    """Return the classes of a scenario; ports that no class names form one more. Raises ScenarioError."""
    given = getattr(scenario.routing, "traffic_class", None) or []
    if not given:
        return TrafficClasses([list(range(technology.lanes))], np.zeros(0, np.uint32))
    if getattr(scenario.routing, "distribution", None):
        message = "lanes by traffic class do not go with packet distribution"
        raise scenario.error(message, _HERE, "remove one of them", key=True)
    lanes = [_lanes(scenario, place, one, technology.lanes) for place, one in enumerate(given)]
    _check_apart(scenario, lanes)
    found = np.full(len(graph.port_names), len(given), np.uint32)
    for place, one in enumerate(given):
        _name_ports(scenario, graph, place, one, found, len(given))
    rest = sorted(set(range(technology.lanes)) - {lane for own in lanes for lane in own})
    if (found == len(given)).any():
        if not rest:
            other = graph.port_names[int(np.flatnonzero(found == len(given))[0])]
            message = f"no lane is left for {other} and other terminals of no traffic class"
            hint = "name all terminals, or leave a lane to the others"
            raise scenario.error(message, _HERE, hint, key=True)
        lanes.append(rest)
    return TrafficClasses(lanes, found)


def _lanes(scenario: Scenario, place: int, one: Any, lanes: int) -> list[int]:
    for at, lane in enumerate(one.lanes):
        if lane >= lanes:
            has = "one lane, number 0" if lanes == 1 else f"{lanes} lanes, 0 to {lanes - 1}"
            message = f"there is no lane {lane}: links have {has}"
            raise scenario.error(message, (*_HERE, place, "lanes", at), "set technology.lanes")
    return sorted(set(one.lanes))


def _check_apart(scenario: Scenario, lanes: list[list[int]]) -> None:
    taken: set[int] = set()
    for place, own in enumerate(lanes):
        twice = sorted(taken & set(own))
        if twice:
            message = f"lane {twice[0]} is of two traffic classes"
            raise scenario.error(message, (*_HERE, place, "lanes"), "give each class lanes of its own")
        taken |= set(own)


def _name_ports(
    scenario: Scenario, graph: Graph, place: int, one: Any, found: NDArray[np.uint32], nobody: int
) -> None:
    for at, name in enumerate(one.senders):
        path = (*_HERE, place, "from", at)
        try:
            ports = np.array(vertices_of(graph, "terminal", name)) - graph.switches
        except FaultError as error:
            raise scenario.error(error.message, path, error.hint) from error
        if ((found[ports] != nobody) & (found[ports] != place)).any():
            shown = graph.port_names[int(ports[0])]
            raise scenario.error(f"{shown} is of two traffic classes", path, "name it once")
        found[ports] = place
