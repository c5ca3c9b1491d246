"""Topologies: graphs of switches, terminals and links, a family and its relatives in one file.

>>> from fabriloom import topology
>>> graph = topology.build("grid", shape=[8, 8], terminals_per_switch=16, links_per_edge=4)
>>> graph.switches, graph.terminals, graph.links
(64, 1024, 2944)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import units
from .banyan import banyan
from .clos import clos, clos5
from .different import planes
from .dragonfly import dragonfly, dragonfly_plus
from .family import FAMILIES, name_of
from .file import file, write
from .graph import Graph, GraphError, whole
from .grid import grid, hypercube, ring, torus, twisted_torus
from .hyperx import hammingmesh, hyperx
from .jellyfish import jellyfish
from .joined import MOST_PORTS, replicate, with_cables
from .kinds import LINKS, RINGS, NetworkKind, kind_of
from .node_link import from_networkx, inline, to_networkx
from .rings import Rings
from .sci_rings import sci_bridge, sci_dual_ring, sci_ring, sci_rings, sci_torus
from .sci_switch import sci_banyan, sci_long_rings, sci_module, sci_switch, sci_switch_16
from .slim_fly import polarfly, slim_fly
from .tree import cable, crossbar, fat_tree, star, tree, xgft
from .words import de_bruijn, kautz

_IN_ORDER = (
    *(cable, crossbar, ring, grid, torus, hypercube, clos, clos5, fat_tree, banyan, star, tree),
    *(dragonfly, dragonfly_plus, slim_fly, polarfly, hyperx, hammingmesh, jellyfish, twisted_torus, xgft),
    *(kautz, de_bruijn, file, inline),
    *(sci_ring, sci_dual_ring, sci_bridge, sci_switch, sci_long_rings, sci_banyan, sci_torus),
    *(sci_module, sci_switch_16, sci_rings, planes),
)

KINDS: dict[str, Callable[..., Graph]] = {name_of(build): build for build in _IN_ORDER}
"""The function that builds each kind of network, by name, in the order of the documentation."""

__all__ = ["FAMILIES", "KINDS", "LINKS", "MOST_PORTS", "RINGS", "Graph", "GraphError", "NetworkKind", "Rings"]
__all__ += ["build", "from_networkx", "kind_of", "replicate", "to_networkx", "write"]
__all__ += ["banyan", "cable", "clos", "clos5", "crossbar", "de_bruijn", "dragonfly", "dragonfly_plus"]
__all__ += ["fat_tree", "file", "grid", "hammingmesh", "hypercube", "hyperx", "inline", "jellyfish", "kautz"]
__all__ += ["planes", "polarfly", "ring", "sci_banyan", "sci_bridge", "sci_dual_ring", "sci_long_rings"]
__all__ += ["sci_module", "sci_ring", "sci_rings", "sci_switch", "sci_switch_16", "sci_torus", "slim_fly"]
__all__ += ["star", "torus", "tree", "twisted_torus", "xgft"]


def build(kind: str, **parameters: Any) -> Graph:
    """Build a graph of a family.

    Args:
        kind: name of the family, such as "grid".
        parameters: parameters of the family; ``replicate``: number of equal networks, in each of which
            every terminal has a port; ``more_cables``: pairs of switches that have a cable more.

    Raises:
        GraphError: the family or a parameter is unknown, a parameter is missing, or a value is impossible.
    """
    function = KINDS.get(kind)
    if function is None:
        raise GraphError(f'there is no topology "{kind}"{units.choose(kind, KINDS)}', "kind")
    known = inspect.signature(function).parameters
    planes, cables = parameters.pop("replicate", 1), parameters.pop("more_cables", ())
    for name in parameters:
        if name not in known:
            raise GraphError(f'{kind} has no parameter "{name}"{units.choose(name, known)}', name)
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in parameters:
            raise GraphError(f'{kind} needs the parameter "{name}"', name)
    graph = with_cables(function(**parameters), cables)
    return replicate(graph, whole(planes, "replicate", 1, MOST_PORTS, "networks alike"))
