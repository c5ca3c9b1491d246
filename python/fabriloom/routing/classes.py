"""Lanes by traffic class: the packets of some terminals have lanes of their own on every link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .table import NONE, RouteTable, check_size


def on_lanes(table: RouteTable, own: Sequence[int], lanes: int) -> RouteTable:
    """Return a table of ``len(own)`` lanes per link as one of ``lanes``; lane ``v`` becomes ``own[v]``."""
    link, lane = np.divmod(table.group_links.astype(np.int64), len(own))
    return replace(table, group_links=(link * lanes + np.asarray(own)[lane]).astype(np.uint32))


def by_class(tables: Sequence[RouteTable]) -> RouteTable:
    """Return one table with the routing classes of several tables of one network, one table after the other.

    A packet of traffic class ``c`` adds ``c`` times the number of classes of one table to the class of each
    header.
    """
    if len(tables) == 1:
        return tables[0]
    tables = [table.full() for table in tables]
    first = tables[0]
    check_size(len(first.route), sum(table.classes for table in tables), "traffic_class")
    groups = np.cumsum([0, *(table.groups for table in tables)])
    starts = np.cumsum([0, *(len(table.group_links) for table in tables)])
    routes = []
    for table, before in zip(tables, groups, strict=False):
        entries = table.route.astype(np.int64)
        routes.append(np.where(entries == NONE, NONE, entries + 2 * before))
    ends = [table.group_start[:-1].astype(np.int64) + starts[at] for at, table in enumerate(tables)]
    return replace(
        first,
        group_switch=np.concatenate([table.group_switch for table in tables]),
        group_start=np.concatenate([*ends, starts[-1:]]).astype(np.uint32),
        group_links=np.concatenate([table.group_links for table in tables]),
        rows=np.concatenate(routes, axis=1).astype(np.uint32),
    )
