"""Routing tables: which links a packet may leave a switch by, built and checked before anything runs.

>>> from fabriloom import routing, topology
>>> graph = topology.build("grid", shape=[4, 4], terminals_per_switch=2)
>>> table = routing.build(graph)
>>> table.kind, routing.dependency_cycle(graph, table)
('dimension-order', None)
"""

from .around import AROUND, around
from .build import KINDS, build, intermediates
from .check import channel_loads, dependency_cycle, mean_hops, mean_way, path, verify
from .classes import by_class, on_lanes
from .intervals import IntervalLabels, interval_labels
from .lanes import LANE_CHOICES, divide, escape_lanes
from .planes import ports_together, together
from .rings import PASS, port_route
from .table import NONE, RouteTable, RoutingError

__all__ = [
    "AROUND",
    "KINDS",
    "LANE_CHOICES",
    "NONE",
    "PASS",
    "IntervalLabels",
    "RouteTable",
    "RoutingError",
    "around",
    "build",
    "by_class",
    "channel_loads",
    "dependency_cycle",
    "divide",
    "escape_lanes",
    "intermediates",
    "interval_labels",
    "mean_hops",
    "mean_way",
    "on_lanes",
    "path",
    "port_route",
    "ports_together",
    "together",
    "verify",
]
