"""The networks of BookSim: their topologies and routing functions, as far as there is a counterpart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology import Graph, build
from .anynet import CYCLE_PS

_ORDER = {"kind": "dimension-order"}
_SHORTEST = {"kind": "shortest-path"}
_DATELINE = {"kind": "dimension-order", "variant": "minimal", "lane_choice": "kept-dateline"}
_UP = "every destination has one upward link, drawn at each switch; BookSim draws one for each packet"
ROUTINGS: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "mesh": {
        "dor": (_ORDER, ""),
        "dim_order": (_ORDER, ""),
        "valiant": ({"kind": "valiant"}, ""),
    },
    "torus": {
        "dim_order": (_DATELINE, ""),
        "dim_order_bal": (_DATELINE | {"lane_choice": "wide-dateline"}, "the lanes of wide-dateline"),
        "valiant": ({"kind": "valiant"}, ""),
    },
    "cmesh": {"dor_no_express": (_ORDER, ""), "dor": (_ORDER, "no express channels along the border")},
    "fly": {"dest_tag": ({"kind": "self-routing"}, "")},
    "fattree": {
        "nca": ({"kind": "up-down", "adaptive": False, "spread": "random"}, _UP),
        "anca": ({"kind": "up-down"}, "any free upward link; BookSim compares two"),
    },
    "flatfly": {
        "ran_min": (_SHORTEST, "any free link of a shortest path"),
        "valiant": ({"kind": "valiant"}, ""),
        "ugal": ({"kind": "ugal"}, ""),
    },
    "dragonflynew": {
        "min": ({"kind": "hops"}, "a lane for each hop"),
        "ugal": ({"kind": "ugal", "threshold": 30}, ""),
    },
    "anynet": {"min": ({"kind": "shortest-path", "next_hops": "first"}, "")},
}
"""Per topology, the routing of each function and what differs; the first stands for other functions."""
_LOCAL_CYCLES, _GLOBAL_CYCLES = 10, 100
"""Latencies of the channels of a dragonfly there."""


@dataclass
class Network:
    """A network: its topology and its channels."""

    topology: dict[str, Any]
    graph: Graph
    uneven: bool = False
    """Whether channels have latencies of their own."""
    routing: dict[str, Any] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    digits: tuple[int, int] | None = None
    """Radix and dimensions of the node numbers."""


def network(kind: str, sizes: dict[str, int], read: Graph | None) -> Network:
    """Return the network of a kind; ``read``: that of ``anynet``."""
    if read is not None:
        return Network({}, read, uneven=True)
    k, n, c = sizes["k"], sizes["n"], sizes["c"]
    shape = [k] * n
    topology: dict[str, Any] = {
        "mesh": {"kind": "grid", "shape": shape},
        "torus": {"kind": "torus", "shape": shape},
        "cmesh": {"kind": "grid", "shape": shape, "terminals_per_switch": c},
        "fly": {"kind": "banyan", "variant": "butterfly", "terminals": k**n, "base": k},
        "fattree": {"kind": "fat_tree", "arity": k, "levels": n},
        "flatfly": {"kind": "hyperx", "shape": shape, "terminals_per_switch": c},
        "dragonflynew": {
            "kind": "dragonfly",
            "switches_per_group": 2 * k,
            "global_links": k,
            "arrangement": "absolute",
            "terminals_per_switch": k,
        },
    }[kind]
    graph = build(topology["kind"], **{key: value for key, value in topology.items() if key != "kind"})
    found = Network(topology, graph, digits=(k, n) if kind in ("mesh", "torus", "fly", "fattree") else None)
    if kind in ("mesh", "torus", "cmesh") and n > 1:
        found.routing["order"] = [*reversed(range(n))]
    inner = (graph.link_source < graph.switches) & (graph.link_target < graph.switches)
    if kind == "torus" and sizes["noc"]:
        _lengthen(found, np.where(inner, 2, 1))
    elif kind == "dragonflynew":
        group = np.append(graph.layout["groups"], np.zeros(graph.terminals, np.int64))
        within = group[graph.link_source] == group[graph.link_target]
        _lengthen(found, np.where(inner, np.where(within, _LOCAL_CYCLES, _GLOBAL_CYCLES), 1))
    elif kind in ("cmesh", "flatfly") and sizes["noc"] and c > 1:
        found.remarks.append("use_noc_latency: channels as long as their wires; taken: 1 cycle each")
    return found


def _lengthen(found: Network, cycles: NDArray[np.int64]) -> None:
    """Give each link its latency."""
    found.graph.attributes["delay_ps"] = (cycles - 1.0) * CYCLE_PS
    found.uneven = True
