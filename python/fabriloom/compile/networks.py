"""The network of a scenario, with its technology, and its routes: one pair of classes per kind of network."""

from __future__ import annotations

import json
from collections.abc import Callable

from .. import topology
from ..scenario import Scenario
from ..topology import LINKS, RINGS, Graph, GraphError, NetworkKind
from .link_routes import LinkRoutes
from .links import LinkNetwork, Newest
from .rings import RingNetwork, RingRoutes

Network = LinkNetwork | RingNetwork
Routes = LinkRoutes | RingRoutes
KINDS: dict[NetworkKind, Callable[[Scenario, Graph], Network]] = {LINKS: LinkNetwork, RINGS: RingNetwork}
"""What makes the network, by ``Graph.network_kind``."""

_MOST_KNOWN, _MOST_TERMINALS = 8, 4096
_known: Newest[str, Network] = Newest(_MOST_KNOWN)
"""The networks that were built last, by everything that determines them: the runs of a study share a few."""


def graph_of(scenario: Scenario) -> Graph:
    """Return the graph of a scenario. Raises ScenarioError."""
    try:
        return topology.build(**scenario.parameters("topology"))
    except GraphError as error:
        raise scenario.located(error, "topology") from error


def network_of(scenario: Scenario) -> Network:
    """Return the network of a scenario. Raises ScenarioError."""
    made_of = _made_of(scenario)
    known = _known.get(made_of)
    graph = graph_of(scenario) if known is None else known.graph
    _check(scenario, graph)
    if known is not None:
        return known
    network = KINDS[graph.network_kind](scenario, graph)
    if made_of and graph.terminals <= _MOST_TERMINALS:
        _known.keep(made_of, network)
    return network


def _made_of(scenario: Scenario) -> str:
    """Return all that determines a network, files by checksum; empty if a part cannot be resolved."""
    try:
        sections = [scenario.resolved[name] for name in ("topology", "routing", "technology")]
    except (OSError, ValueError):  # the function that needs the wrong value reports it with its place
        return ""
    return json.dumps([*sections, scenario.resolved.get("interface"), scenario.transaction])


def _check(scenario: Scenario, graph: Graph) -> None:
    """Raise ScenarioError if single ports are chosen from, or if a setting needs single ports."""
    if graph.several is None:
        if scenario.ports is not None:
            message = "[ports] chooses among the ports of a terminal, and here every terminal has one"
            hint = "give a terminal of the file several cables, or remove the section"
            raise scenario.error(message, ("ports",), hint, key=True)
        return
    apart = graph.network_kind.buses and len({id(plane.graph) for plane in graph.planes}) > 1
    if scenario.routing.kind == "table" and apart:
        message = (
            "a table of your own is for one network of rings, and the terminals of this one join several"
        )
        raise scenario.error(message, ("routing", "kind"), "leave it out, or describe a plane by itself")
