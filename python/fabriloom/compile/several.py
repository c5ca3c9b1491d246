"""Checks and tables for terminals with several ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..scenario import Scenario, ScenarioError
from ..topology import MOST_PORTS, Graph
from ..topology.graph import Ints
from ..traffic import Demand
from .traffic_classes import check_used

if TYPE_CHECKING:
    from .networks import Routes


_PAIRS_AT_ONCE = 1 << 22


def in_planes(graph: Graph) -> NDArray[np.bool_]:
    """Return whether each terminal has a port in each plane, shape (terminals, planes)."""
    found = np.zeros((graph.terminals, len(graph.planes)), bool)
    if graph.several is not None:
        found[graph.several.terminal, graph.several.plane] = True
    return found


def reached(routes: Routes, source: np.ndarray, target: np.ndarray) -> NDArray[np.bool_]:
    """Return, per pair of terminals, whether a port of their traffic class leads from one to the other."""
    graph = routes.graph
    if graph.several is None:
        return np.ones(len(source), bool)
    inside = in_planes(graph)
    found = np.empty(len(source), bool)
    step = max(1, _PAIRS_AT_ONCE // max(MOST_PORTS, len(graph.planes)))
    for first in range(0, len(source), step):
        some = slice(first, first + step)
        if routes.classes.places is None:
            found[some] = (inside[source[some]] & inside[target[some]]).any(axis=1)
        else:
            found[some] = _ways(routes, source[some], target[some])[1].any(axis=1)
    return found


def parallel(routes: Routes, choice: str) -> Ints:
    """Return by how many ports each terminal sends at the same time, without ports in reserve."""
    graph = routes.graph
    if routes.classes.places is not None:
        return np.maximum(routes.classes.ports_used(first=choice == "nominal"), 1)
    if graph.several is None or choice == "nominal":
        return np.ones(graph.terminals, np.int64)
    return np.diff(graph.several.starts)


def port_pairs(
    routes: Routes, choice: str, source: Ints, target: Ints, runs: NDArray[np.bool_] | None = None
) -> tuple[Ints, Ints, Ints]:
    """Return the ports by which packets of pairs of terminals go: pair numbers, ports, and the target's
    ports.

    With ``destination`` and ``nominal`` a pair has one row, otherwise one for each port of its traffic class
    that leads to the target, with ``nearest`` by the fewest links; a pair without such a port has none.
    ``runs`` says, per port, whether its link works: packets avoid the others if they can. See
    ``docs/background/ports.md``.
    """
    own, leads, ends = _ways(routes, source, target)
    if runs is not None:
        running = leads & runs[own]
        leads = np.where(np.any(running, axis=1, keepdims=True), running, leads)
    if choice in ("destination", "nominal"):
        count = np.maximum(leads.sum(axis=1), 1)
        nth = target % count if choice == "destination" else np.zeros(len(target), np.int64)
        leads = leads & (np.cumsum(leads, axis=1) == nth[:, None] + 1)
    elif choice == "nearest":
        links = np.where(leads, _links_on_ring(routes.graph, own, ends), np.iinfo(np.int64).max)
        leads = leads & (links == links.min(axis=1, keepdims=True))
    pair, at = np.nonzero(leads)
    return pair, own[pair, at], ends[pair, at]


def _links_on_ring(graph: Graph, port: Ints, target: Ints) -> Ints:
    """Return the links between ports on the same ring."""
    rings, station = graph.own_rings, graph.terminal_out_links
    first = rings.ring_start[rings.station_ring]
    size = np.bincount(rings.station_ring)[rings.station_ring[station[port]]]
    # Stations are numbered in the order of the links of their ring.
    place = np.arange(rings.stations) - first
    return (place[station[target]] - place[station[port]]) % size


def _ways(routes: Routes, source: Ints, target: Ints) -> tuple[Ints, NDArray[np.bool_], Ints]:
    """Return, per pair, the ports of its traffic class, whether each leads there, and the target's port."""
    graph, places = routes.graph, routes.classes.places
    assert graph.several is not None
    leads, ends = _leads(graph, source, target)
    first = graph.several.starts[source][:, None]
    if places is None:
        return np.minimum(first + np.arange(leads.shape[1]), graph.ports - 1), leads, ends
    place = places[source, routes.classes.of(source, target), : leads.shape[1]].astype(np.int64)
    own = np.maximum(place, 0)
    led = np.take_along_axis(leads, own, axis=1) & (place >= 0)
    return first + own, led, np.take_along_axis(ends, own, axis=1)


def _leads(graph: Graph, source: Ints, target: Ints) -> tuple[NDArray[np.bool_], Ints]:
    """Return, per pair and port of its source: whether the port leads to the target, and to which port."""
    assert graph.several is not None
    plane, first = graph.several.plane, graph.several.starts
    counts = np.diff(first)
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


def check_pairs(scenario: Scenario, routes: Routes, demand: Demand) -> None:
    """Raise ScenarioError for packets to terminals to which no port leads, and for traffic classes without
    packets."""
    graph = routes.graph
    if scenario.port_choice == "nearest" and (graph.switches or not graph.network_kind.buses):
        message = "nearest counts links on a ring, and here packets pass switches"
        hint = 'write choice = "round-robin", or choose a topology such as sci-dual-ring'
        raise scenario.error(message, ("ports", "choice"), hint)
    if scenario.program is None:
        check_used(scenario, graph, routes.classes, demand)
    if graph.several is None:
        return
    if _all_reach_all(routes):
        return
    source, target = (np.asarray(ends, np.int64) for ends in (demand.source, demand.target))
    lost = np.flatnonzero(~reached(routes, source, target))
    found = [(int(source[at]), int(target[at])) for at in lost[:1]]
    everyone = np.arange(graph.terminals)
    for sender in np.flatnonzero(demand.even).tolist() if not found else ():
        apart = np.flatnonzero(~reached(routes, np.full(graph.terminals, sender), everyone))
        found += [(sender, int(other)) for other in apart[apart != sender][:1]]
        if found:
            break
    if found:
        raise no_way(scenario, routes, *found[0])


def _all_reach_all(routes: Routes) -> bool:
    """Return whether every terminal has, for every traffic class, a port in a plane with all terminals."""
    graph, places = routes.graph, routes.classes.places
    whole: NDArray[np.bool_] = np.all(in_planes(graph), axis=0)
    if places is None or graph.several is None:
        return bool(whole.any())
    own = graph.several.starts[:-1, None, None] + np.maximum(places, 0)
    leads: NDArray[np.bool_] = np.any(whole[graph.several.plane[own]] & (places >= 0), axis=2)
    return bool(leads[:, -1].all() and (leads[:, :-1] | ~routes.classes.senders.T).all())


def no_way(scenario: Scenario, routes: Routes, one: int, other: int) -> ScenarioError:
    """Return the error of a terminal that sends to a terminal to which no port leads."""
    names = f'"{routes.graph.terminal_names[one]}" sends to "{routes.graph.terminal_names[other]}"'
    if in_planes(routes.graph)[[one, other]].all(axis=0).any():
        number = int(routes.classes.of(np.array([one]), np.array([other]))[0])
        message = f"{names}, and no port of this traffic class leads there"
        path = ("routing", "traffic_class", number, "ports")
        return scenario.error(message, path, "add a port that leads there, or give the class other targets")
    message = f"{names}, and they have ports in no network together"
    hint = "terminals pass nothing on: name targets that a port leads to, or join the networks by a cable"
    path = ("traffic", "pattern") if scenario.program is None else ("program",)
    return scenario.error(message, path, hint)
