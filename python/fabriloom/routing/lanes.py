"""Which lanes a packet may take: from groups of links to groups of lanes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .table import NONE, RouteTable, RoutingError

LANE_CHOICES = ("any", "destination", "dateline")

Ints = NDArray[np.int64]

_BEFORE, _BEHIND, _ALL = 0, 1, 2
"""Lanes of a packet that has the dateline ahead, of one that has not, and where there is no ring."""


def divide(graph: Graph, table: RouteTable, lanes: int, choice: str | None = None) -> RouteTable:
    """Return the table with groups of lanes; lane ``v`` of link ``l`` has the number ``l * lanes + v``.

    * ``any``: all lanes of the links of a group.
    * ``destination``: of each link one lane, the number of the destination modulo ``lanes``.
    * ``dateline``: in the rings of a torus, the lower half of the lanes as long as the way to the destination
      leads over the link that closes the ring, else the upper half (W. J. Dally and C. L. Seitz, IEEE
      Transactions on Computers C-36, 1987).

    Lanes are listed before links, so that the first choice fills lane 0 of all parallel links first.
    """
    choice = choice or "any"
    if choice not in LANE_CHOICES:
        there = ", ".join(LANE_CHOICES)
        raise RoutingError(f'there is no lane choice "{choice}"; there are {there}', "lane_choice")
    if choice == "dateline":
        _check_dateline(graph, table, lanes)
        half = lanes // 2
        sets = [np.arange(half), np.arange(half, lanes), np.arange(lanes)]
        kinds = _sides(graph, table)
    elif choice == "destination":
        sets = [np.array([lane]) for lane in range(lanes)]
        kinds = np.broadcast_to(_ends(graph, table)[1] % lanes, table.route.shape)
    elif lanes == 1:
        return table
    else:
        sets, kinds = [np.arange(lanes)], np.zeros((1, 1), np.int64)
    return _regrouped(table, lanes, sets, np.broadcast_to(kinds, table.route.shape))


def _regrouped(table: RouteTable, lanes: int, sets: list[Ints], kinds: Ints) -> RouteTable:
    """The table with a group for every group and set of lanes that go together somewhere."""
    used = table.route != NONE
    pairs = (table.route[used] >> 1).astype(np.int64) * len(sets) + kinds[used]
    found, entry = np.unique(pairs, return_inverse=True)
    members = []
    for group, kind in zip(*np.divmod(found, len(sets)), strict=True):
        links = table.group(int(group)).astype(np.int64)
        members.append((links[np.newaxis, :] * lanes + sets[kind][:, np.newaxis]).ravel())
    route = np.full(table.route.shape, NONE, np.uint32)
    route[used] = entry.ravel() * 2 + (table.route[used] & 1)
    return replace(
        table,
        group_switch=table.group_switch[found // len(sets)],
        group_start=np.cumsum([0, *map(len, members)]).astype(np.uint32),
        group_links=np.concatenate(members).astype(np.uint32),
        route=route,
    )


def _ends(graph: Graph, table: RouteTable) -> tuple[Ints, Ints]:
    """Per class the switch that it leads to, and its number among terminals or intermediates."""
    into = np.zeros(graph.terminals, np.int64)
    of_terminal = graph.link_target >= graph.switches
    into[graph.link_target[of_terminal] - graph.switches] = graph.link_source[of_terminal]
    home, number = np.zeros(table.classes, np.int64), np.zeros(table.classes, np.int64)
    home[table.terminal_class], number[table.terminal_class] = into, np.arange(graph.terminals)
    home[table.via_class], number[table.via_class] = table.via_switch, np.arange(len(table.via_switch))
    return home, number


def _check_dateline(graph: Graph, table: RouteTable, lanes: int) -> None:
    rings = graph.layout.get("wrap", False) and max(graph.layout["shape"]) > 2
    if not rings:
        message = f"a dateline is for the rings of a torus; this {graph.family} has none"
        raise RoutingError(f'{message}: write lane_choice = "any"', "lane_choice")
    if table.kind != "dimension-order":
        message = f'a dateline goes with dimension-order routing, not with "{table.kind}"'
        raise RoutingError(message, "lane_choice")
    if lanes < 2:
        raise RoutingError("a dateline needs two lanes; links have one: set technology.lanes", "lane_choice")


def _sides(graph: Graph, table: RouteTable) -> Ints:
    """Per switch and class: which lanes, as dimension order leads in one dimension at a time."""
    shape = np.asarray(graph.layout["shape"], np.int64)
    places = np.asarray(graph.layout["coordinates"], np.int64)
    first = table.group_links[table.group_start[:-1]]
    source, target = graph.link_source[first], graph.link_target[first]
    inside = target < graph.switches
    step = places[np.where(inside, target, source)] - places[source]
    dimension = np.argmax(step != 0, axis=1)
    rows = np.arange(len(first))
    side = shape[dimension]
    # Switches of a dimension of two have no ring: the cable between them is there once.
    ringed = inside & (side > 2)
    upward = step[rows, dimension] % side == 1
    here = places[source, dimension]
    ends = places[_ends(graph, table)[0]]
    found = np.zeros(table.route.shape, np.int8)
    for switch, row in enumerate(table.route):
        group = np.where(row == NONE, 0, row >> 1)
        goal = ends[np.arange(len(row)), dimension[group]]
        ahead = np.where(upward[group], here[group] > goal, here[group] < goal)
        found[switch] = np.where(ringed[group], np.where(ahead, _BEFORE, _BEHIND), _ALL)
    return found
