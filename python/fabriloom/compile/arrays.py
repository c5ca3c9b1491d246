"""The arrays of the engine: the columns of the network, its routes, its terminals, codes and faults."""

from __future__ import annotations

import numpy as np

from ..codes import number
from ..topology import Graph
from .columns import Arrays, u32, unused
from .times import Times


def arrays_of(times: Times) -> Arrays:
    """Return all columns of the network and of its terminals. Raises ScenarioError."""
    scenario, routes, tick = times.scenario, times.routes, times.tick_ps
    network = routes.network
    graph = network.graph
    columns = {
        **unused(),
        **{"switches": graph.switches, "terminals": graph.terminals, "seed": scenario.seed},
        **_ports(graph, scenario.port_choice),
        **network.columns(times.beside, tick),
        **routes.columns,
        **times.sources.columns(tick),
    }
    if scenario.fault:
        from .faults import fault_columns

        columns |= fault_columns(scenario, network, tick)
    columns |= {} if times.codes is None else times.codes.columns(tick)
    return columns | routes.columns_after(scenario, columns, tick)


def _ports(graph: Graph, choice: str) -> Arrays:
    """Return the columns of ports and planes; empty if each terminal has one port."""
    if graph.several is None:
        return {}
    return {
        "planes": len(graph.planes),
        "terminal_ports": u32(graph.several.starts),
        "terminal_choice": np.full(graph.terminals, number("port_choice", choice), np.uint8),
        "port_plane": u32(graph.several.plane),
    }
