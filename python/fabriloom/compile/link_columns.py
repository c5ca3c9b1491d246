"""Columns of the engine that follow from a graph, its routes and its technology without any choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..routing import NONE, RouteTable
from ..technology import Technology
from ..technology.model import Ps
from ..topology import Graph
from .columns import Arrays, fill, terminal_links, u32


def routes(table: RouteTable) -> Arrays:
    """Return the columns of groups and routes."""
    return {
        "classes": table.route.shape[1],
        "group_switch": u32(table.group_switch),
        "group_start": u32(table.group_start),
        "group_links": u32(table.group_links),
        "route": u32(table.route).ravel(),
        "terminal_class": u32(table.terminal_class),
    }


def timeouts(graph: Graph, technology: Technology, tick_ps: Ps) -> Arrays:
    """Return the time-outs of switches, rounded up to ticks; empty if there are none."""
    if not technology.watchdog_ps:
        return {}
    ticks = -(-technology.watchdog_ps // tick_ps)
    return {"switch_timeout_ticks": np.full(graph.switches, ticks, np.uint64)}


def links(graph: Graph, tech: Technology, buffers: NDArray[np.int64]) -> Arrays:
    """Return the ends and buffers of links."""
    source, target = np.asarray(graph.link_source), np.asarray(graph.link_target)
    to_terminal = target >= graph.switches
    return {
        "link_source": u32(source),
        "link_target": u32(target),
        "link_output_buffer": fill(graph.links, tech.output_buffer_chars),
        "link_input_buffer": u32(buffers),
        "link_quantum": fill(graph.links, tech.credit_quantum_chars),
        "link_reverse": u32(np.where(graph.link_reverse < 0, NONE, graph.link_reverse)),
        "link_deletes_header": (to_terminal & tech.delete_header).astype(np.uint8),
        **_pause(graph, tech),
        **terminal_links(graph),
    }


def _pause(graph: Graph, tech: Technology) -> Arrays:
    """Return the thresholds of buffers that pause their senders; empty if packets wait for credit."""
    if not tech.pause_above_chars:
        return {}
    return {
        "link_pause_above": fill(graph.links, tech.pause_above_chars),
        "link_pause_until": fill(graph.links, tech.pause_until_chars),
    }
