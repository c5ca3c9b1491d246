"""Routing tables: which links a packet may leave a switch by, built and checked before anything runs.

>>> from fabriloom import routing, topology
>>> graph = topology.build("grid", shape=[4, 4], terminals_per_switch=2)
>>> table = routing.build(graph)
>>> table.kind, routing.dependency_cycle(graph, table)
('dimension-order', None)
"""

from typing import TYPE_CHECKING

from ..process.libraries import names
from .around import AROUND, around
from .build import KINDS, build, intermediates
from .check import (
    Phase,
    channel_loads,
    channel_order,
    dependency_cycle,
    mean_hops,
    mean_way,
    one_of_each,
    path,
    phases_cycle,
    proved,
    verify,
    ways_of,
)
from .lanes import DATELINES, ESCAPES, divide, escape_part, halves, in_rings
from .layers import hops_needed, layers_needed, valiant_needed
from .levels import lash_again, of_level, pairs_at
from .planes import pairs_together, ports_together, together
from .sharing import most_units, shares
from .table import NONE, OWN, RouteTable, RoutingError, by_class, on_lanes

if TYPE_CHECKING:
    from .intervals import IntervalLabels, interval_labels
    from .least_lanes import lanes_needed
    from .rings import PASS, port_route

__all__ = [
    "AROUND",
    "DATELINES",
    "ESCAPES",
    "KINDS",
    "NONE",
    "OWN",
    "PASS",
    "IntervalLabels",
    "Phase",
    "RouteTable",
    "RoutingError",
    "around",
    "build",
    "by_class",
    "channel_loads",
    "channel_order",
    "dependency_cycle",
    "divide",
    "escape_part",
    "halves",
    "hops_needed",
    "in_rings",
    "intermediates",
    "interval_labels",
    "lanes_needed",
    "lash_again",
    "layers_needed",
    "mean_hops",
    "mean_way",
    "most_units",
    "of_level",
    "on_lanes",
    "one_of_each",
    "pairs_at",
    "pairs_together",
    "path",
    "phases_cycle",
    "port_route",
    "ports_together",
    "proved",
    "shares",
    "together",
    "valiant_needed",
    "verify",
    "ways_of",
]

__getattr__ = names(
    globals(),
    {
        "lanes_needed": ".least_lanes",
        "IntervalLabels": ".intervals",
        "interval_labels": ".intervals",
        "PASS": ".rings",
        "port_route": ".rings",
    },
)
"""Few networks need these."""
