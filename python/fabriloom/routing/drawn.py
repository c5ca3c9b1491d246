"""Random tables: for each destination, one link is drawn from its group before the run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .table import NONE, RouteTable

_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Constants of SplitMix64 (Steele, Lea, Flood 2014)."""


def drawn(graph: Graph, table: RouteTable, seed: int) -> RouteTable:
    """Return the table in which every entry has one link, drawn from its group with equal probability.

    Equal seeds give equal tables on every machine.
    """
    table = table.full()
    used = table.rows != NONE
    group, deleted = table.rows[used] >> 1, table.rows[used] & 1
    first = table.group_start.astype(np.int64)
    size = np.diff(first)
    place = _numbers(np.flatnonzero(used), seed) % size[group].astype(np.uint64)
    link = table.group_links[first[group] + place.astype(np.int64)]
    route = np.full_like(table.rows, NONE)
    links = np.flatnonzero(graph.link_source < graph.switches)
    number = np.zeros(graph.links, np.uint32)
    number[links] = np.arange(len(links), dtype=np.uint32)
    route[used] = number[link] * 2 + deleted
    return replace(
        table,
        group_switch=graph.link_source[links].astype(np.uint32),
        group_start=np.arange(len(links) + 1, dtype=np.uint32),
        group_links=links.astype(np.uint32),
        rows=route,
    )


def _numbers(entries: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """Return a random number for each entry of a table."""
    with np.errstate(over="ignore"):
        mixed = (entries.astype(np.uint64) + np.uint64(seed) * np.uint64(0x632BE59BD9B4E019)) * np.uint64(
            _STEP
        )
        for shift, factor in ((30, _FIRST), (27, _SECOND)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        return mixed ^ (mixed >> np.uint64(31))
