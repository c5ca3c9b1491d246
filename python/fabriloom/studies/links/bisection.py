"""The effective bisection bandwidth: random pairs of terminals exchange data, and flows that share a link
share its rate.

This is the fluid model of routing tools (Hoefler, Schneider, Lumsdaine 2008): the rate of a flow is that of
the most used link on its path, divided by the number of flows there. It has no packets, buffers or blocking;
for these, run the pattern ``{ kind = "permutation", random = "pairs" }`` with a backlog.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compile import LinkRoutes
from ...compile.drawn import ONE_EACH
from ...results.figures import in_percent
from ...routing import NONE, RouteTable
from ...topology import Graph
from ...traffic import exchanging
from ..port_loads import Ints, Reals
from .loads import speeds


def counted(routes: LinkRoutes, pairings: int, seed: int) -> dict[str, Any] | None:
    """Return the mean share of a link that a flow gets, over random pairings of the terminals.

    None if it cannot be counted: with random intermediates, or if terminals have several ports. A link of
    another rate counts as a part of one of the technology, or as several.
    """
    if routes.via or routes.graph.several is not None or routes.graph.terminals < 2:
        return None
    means, least, speed = np.empty(pairings), np.empty(pairings), speeds(routes)
    for number in range(pairings):
        target = exchanging(routes.graph.terminals, seed + number)
        share = shares(routes.graph, routes.table, target, speed, routes.technology.group_choice in ONE_EACH)
        means[number], least[number] = share.mean(), share.min()
    return {
        "pairings": pairings,
        "mean_share": float(means.mean()),
        "least_pairing": float(means.min()),
        "greatest_pairing": float(means.max()),
        "spread": float(means.std()),
        "least_flow": float(least.min()),
    }


def shares(graph: Graph, table: RouteTable, target: Ints, speed: Reals, even: bool = False) -> Reals:
    """Return the share of a link per flow: one divided by the most flows on any link of its path.

    An adaptive group of several links counts as one link with their total rate; with ``even`` its links have
    as many packets each. ``speed``: of each link.
    """
    source = np.flatnonzero(target >= 0)
    aim = target[source]
    ends = graph.link_target[graph.terminal_out_links[source]]
    flow = np.flatnonzero(ends < graph.switches)  # a cable between two terminals has no switch
    load, part, ends = np.zeros(graph.links), np.ones(len(flow)), ends[flow]
    ways: list[tuple[Ints, Ints]] = []
    first = table.group_start.astype(np.int64)
    while len(flow):
        entry = table.entries(ends, table.classes_between(source[flow], aim[flow]))
        assert not np.any(entry == NONE)
        group = (entry >> 1).astype(np.int64)
        size = first[group + 1] - first[group]
        # Every flow once for each link of its group, a part of it on each.
        again = np.repeat(np.arange(len(flow)), size)
        within = np.arange(len(again)) - np.repeat(np.cumsum(size) - size, size)
        link = table.group_links[first[group][again] + within].astype(np.int64)
        wide = np.ones(len(link)) if even else speed[link]
        flow, part = flow[again], (part / np.bincount(again, wide))[again] * wide
        np.add.at(load, link, part)
        ways.append((flow, link))
        ends = graph.link_target[link]
        on = ends < graph.switches
        flow, part, ends = _joined(flow[on], part[on], ends[on], graph.switches)
    worst = 1 / speed[graph.terminal_out_links[source]]
    for flow, link in ways:
        np.maximum.at(worst, flow, load[link] / speed[link])
    return 1.0 / worst


def _joined(flow: Ints, part: Reals, ends: Ints, switches: int) -> tuple[Ints, Reals, Ints]:
    """Join the routes of a flow that meet at a switch."""
    key, place = np.unique(flow * switches + ends, return_inverse=True)
    routes = np.zeros(len(key))
    np.add.at(routes, place, part)
    return key // switches, routes, key % switches


def line(told: dict[str, Any]) -> tuple[str, str]:
    """Return the result as a line of text."""
    found = told["effective_bisection"]
    if found is None:
        return (
            "effective bisection",
            "not counted: it is for fixed tables of switches, and terminals of one port",
        )
    low, high = in_percent(found["least_pairing"]), in_percent(found["greatest_pairing"])
    said = (
        f"{in_percent(found['mean_share'])} of a link on average, over {found['pairings']:,} random pairings"
    )
    worst = in_percent(found["least_flow"])
    return "effective bisection", f"{said}; a pairing {low} to {high}, the worst pair {worst}"
