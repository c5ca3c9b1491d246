"""Compile a scenario to the flat arrays of the engine: five values, each made once from the one before.

``links`` and ``rings`` have the two kinds of network, ``sources`` what terminals send, ``times`` the tick.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..scenario import Scenario, scenario_of
from .arrays import arrays_of
from .compiled import FEW_FLOWS, Compiled
from .link_routes import LinkRoutes
from .networks import Routes, graph_of, network_of
from .rings import RingRoutes
from .several import port_pairs
from .sources import sources_of
from .times import times_of

__all__ = ["FEW_FLOWS", "Compiled", "LinkRoutes", "RingRoutes", "Routes", "compile", "graph_of", "port_pairs"]


def compile(scenario: Scenario | Mapping[str, object]) -> Compiled:
    """Build and check everything that a run needs.

    Raises:
        ScenarioError: the scenario cannot be built; the message gives the place and the reason.
        TypeError: the argument is not a scenario.
    """
    scenario = scenario_of(scenario)
    network = network_of(scenario)
    routes = network.routes(scenario)
    sources = sources_of(scenario, routes)
    times = times_of(sources)
    arrays = arrays_of(times)
    return Compiled(times, arrays).checked()
