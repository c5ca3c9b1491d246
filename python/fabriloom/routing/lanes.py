"""Which lanes a packet may take: turns groups of links into groups of lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .table import NONE, OWN, RouteTable, RoutingError, Runs, Shared
from .up_down import shortest_path

ESCAPES = ("escape", "escape-with-room")
LANE_CHOICES = ("any", "destination", "dateline", "wide-dateline", "kept-dateline", "bubble", *ESCAPES)
DATELINES = ("dateline", "wide-dateline", "kept-dateline")

Ints = NDArray[np.int64]

_MOST_MARKED = 1 << 26
"""Keys of groups below this are marked in a list; more are sorted."""
_ENTRIES_AT_ONCE = 1 << 20
"""About this many entries of a routing table are turned into numbers of groups at a time."""
_BEFORE, _BEHIND, _ALL = 0, 1, 2
"""Lanes of a packet that has the dateline ahead, of one that has not, and outside rings."""


@dataclass(frozen=True)
class _Part:
    """Links of a table and, per switch and class (or column), the set of lanes that belongs to them."""

    table: RouteTable
    sets: list[Ints]
    kinds: NDArray[Any]


def divide(
    graph: Graph,
    table: RouteTable,
    lanes: int,
    choice: str | None = None,
    half: int | None = None,
    ways: RouteTable | None = None,
) -> RouteTable:
    """Return the table with groups of lanes; lane ``v`` of link ``l`` has the number ``l * lanes + v``.

    * ``any``: all lanes of the links of a group, or those that a user's table names.
    * ``destination``: one lane of each link, the number of the destination modulo ``lanes``.
    * ``dateline``: in the rings of a torus, the lower half of the lanes while the path to the destination
      still crosses the link that closes the ring, then the upper half (W. J. Dally and C. L. Seitz, IEEE
      Transactions on Computers C-36, 1987).
    * ``wide-dateline``: the same, but all lanes of the links after the dateline, up to the switch where
      packets that have the dateline ahead enter again; no cycle can form there.
    * ``kept-dateline``: the half that ``dateline`` gives where a packet enters a ring, until it leaves it.
      ``half``: of the senders of the packets, one of :func:`halves`; None: the table has the lanes of all.
    * ``bubble``: as ``any``; :func:`in_rings` has its rings.
    * ``escape``: the lowest lane, or the two lowest with a dateline, in dimension order or by up*/down*; the
      other lanes on every shortest path (J. Duato, IEEE Transactions on Parallel and Distributed Systems 4,
      1993). ``escape-with-room`` has the same groups; what is granted of them is up to the switches.
      :func:`escape_part` is the table of the escape lanes alone. ``ways``: the table of the other lanes, if
      links have failed.

    Lanes are listed before links, so that the first choice fills lane 0 of all parallel links first.
    """
    choice = choice or "any"
    if choice not in LANE_CHOICES:
        there = ", ".join(LANE_CHOICES)
        raise RoutingError(f'there is no lane choice "{choice}"; there are {there}', "lane_choice")
    if table.group_lanes is not None and choice != "any":
        raise RoutingError("the table names lanes itself: leave lane_choice out", "lane_choice")
    if table.layer is not None and choice != "any":
        raise RoutingError("layers choose the lanes: leave lane_choice out", "lane_choice")
    every = np.arange(lanes)
    if table.layer is not None:
        layers = int(table.layer.max()) + 1
        if layers > lanes:
            raise RoutingError(f"the table needs {layers} lanes, and there are {lanes}", "kind")
        sets = np.array_split(every, layers)
        return replace(_regrouped([_Part(table, sets, table.layer)], lanes), layer=None)
    if lanes == 1 and choice in ("any", "bubble"):
        return table
    if choice in DATELINES:
        _check_dateline(graph, table, lanes)
        table = table.full() if choice != "dateline" else table
        if choice == "kept-dateline" and len(table.via_switch):
            message = "a lane that is kept does not go with universal routing"
            raise RoutingError(message, "lane_choice")
        return _regrouped([_ordered(graph, table, lanes, choice, half)], lanes)
    if choice in ESCAPES:
        own, table = escape_lanes(graph, table, lanes), table.full()
        ways = (ways or shortest_path(graph, "adaptive", [], next_hops="all")).full()
        free = _Part(ways, [every[own:]], np.broadcast_to(0, table.rows.shape))
        return _regrouped([free, _ordered(graph, table, own)], lanes)
    if choice == "destination":
        table = table.full()
        kinds = np.broadcast_to(_ends(graph, table)[1] % lanes, table.rows.shape)
        return _regrouped([_Part(table, [np.array([lane]) for lane in range(lanes)], kinds)], lanes)
    return _regrouped([_Part(table, [every], np.broadcast_to(0, table.rows.shape))], lanes)


def _regrouped(parts: list[_Part], lanes: int) -> RouteTable:
    """Return a table with a group for every combination of links and lanes that occurs."""
    table = parts[-1].table
    sizes = [part.table.groups * len(part.sets) for part in parts]
    # A few rows at a time, and twice: the keys of a whole table take as much memory as the table.
    count = max(_ENTRIES_AT_ONCE // max(math.prod(table.rows.shape[1:]), 1), 1)
    blocks = [slice(first, first + count) for first in range(0, len(table.rows), count)]
    exits = _exit_keys(parts[-1])
    keys = chain([exits], (_keys(parts, sizes, rows) for rows in blocks))
    found, place = _numbered(keys, math.prod(sizes))
    rows_of = np.empty(table.rows.shape, np.uint32)
    for rows in blocks:
        old = table.rows[rows]
        rows_of[rows] = np.where(old < OWN, place(_keys(parts, sizes, rows)) * 2 + (old & 1), old)
    start, links = _all_members(parts, sizes, found, lanes)
    return replace(
        table,
        group_switch=table.group_switch[found % sizes[-1] // len(parts[-1].sets)],
        group_start=start.astype(np.uint32),
        group_links=links.astype(np.uint32),
        group_lanes=None,
        rows=rows_of,
        shared=None if table.shared is None else _exits(table.shared, place(exits)),
    )


def _exit_keys(part: _Part) -> Ints:
    """Return the keys of the entries that classes have of their own."""
    shared, runs = part.table.shared, part.table.runs
    if shared is None:
        return np.zeros(0, np.int64)
    used = shared.exit != NONE
    group = (shared.exit[used] >> 1).astype(np.int64)
    switch, column = part.table.group_switch[group], shared.column[used]
    kind = part.kinds[(switch, column) if runs is None else runs.of(switch, column)]
    return group * len(part.sets) + kind


def _exits(shared: Shared, number: Ints) -> Shared:
    """Return the same columns with these groups."""
    exits, used = shared.exit.copy(), shared.exit != NONE
    exits[used] = number * 2 + (exits[used] & 1)
    return Shared(shared.column, exits)


def _numbered(keys: Iterable[NDArray[Any]], most: int) -> tuple[Ints, Callable[[NDArray[Any]], NDArray[Any]]]:
    """Return the different keys below ``most``, in order, and what gives the place of keys among them."""
    if most > _MOST_MARKED:
        found = np.unique(np.concatenate([np.zeros(0, np.int64), *map(np.unique, keys)]))
        found = found[found < most]
        return found, lambda block: np.searchsorted(found, block)
    marked = np.zeros(most + 1, bool)
    for block in keys:
        marked[block] = True
    place = np.cumsum(marked, dtype=np.uint32) - np.uint32(1)
    return np.flatnonzero(marked[:most]), lambda block: place[block]


def _keys(parts: list[_Part], sizes: list[int], rows: slice) -> NDArray[Any]:
    """Return a number for the groups and sets of lanes of every entry of some rows; the product of ``sizes``
    for one that leads nowhere.
    """
    most = math.prod(sizes)
    number = np.uint32 if most < OWN else np.int64
    key = np.zeros((), number)
    for part, size in zip(parts, sizes, strict=True):
        own = (part.table.rows[rows] >> 1).astype(number) * number(len(part.sets))
        key = key * number(size) + own + part.kinds[rows].astype(number)
    return np.where(parts[-1].table.rows[rows] < OWN, key, number(most))


def _all_members(parts: list[_Part], sizes: list[int], found: Ints, lanes: int) -> tuple[Ints, Ints]:
    """Return the start of each group in the list of its lanes, and this list: those of each part in turn."""
    members = []
    for part, size in zip(reversed(parts), reversed(sizes), strict=True):
        found, own = np.divmod(found, size)
        members.append(_members(part, own, lanes))
    row, lane = (np.concatenate(column) for column in zip(*reversed(members), strict=True))
    order = np.argsort(row, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(found)))])
    return start, lane[order]


def _members(part: _Part, found: Ints, lanes: int) -> tuple[Ints, Ints]:
    """Return, for some of the groups with a set of lanes, the place of each lane's group, and the lane."""
    group, kind = np.divmod(found, len(part.sets))
    first, begin = part.table.group_start.astype(np.int64), np.cumsum([0, *map(len, part.sets)])
    links, own = np.diff(first)[group], np.diff(begin)[kind]
    start = np.cumsum(links * own)
    row = np.repeat(np.arange(len(found)), links * own)
    place, link = np.divmod(np.arange(len(row)) - (start - links * own)[row], links[row])
    link += first[group][row]
    lane = np.concatenate(part.sets)[begin[kind][row] + place]
    if part.table.group_lanes is not None:
        named = part.table.group_lanes[link]
        fits = (named < 0) | (named == lane)
        row, link, lane = row[fits], link[fits], lane[fits]
    return row, part.table.group_links.astype(np.int64)[link] * lanes + lane


def _ends(graph: Graph, table: RouteTable) -> tuple[Ints, Ints]:
    """Return, per class, the switch that it leads to, and its number among terminals or intermediates."""
    into = np.zeros(graph.terminals, np.int64)
    of_terminal = graph.link_target >= graph.switches
    into[graph.link_target[of_terminal] - graph.switches] = graph.link_source[of_terminal]
    home, number = np.zeros(table.classes, np.int64), np.zeros(table.classes, np.int64)
    home[table.terminal_class], number[table.terminal_class] = into, np.arange(graph.terminals)
    home[table.via_class], number[table.via_class] = table.via_switch, np.arange(len(table.via_switch))
    return home, number


def _goals(graph: Graph, table: RouteTable) -> Ints:
    """Return, per column, the switch that it leads to."""
    by_class = _ends(graph, table)[0]
    if table.shared is None:
        return by_class
    found = np.zeros(int(table.shared.column.max()) + 1, np.int64)
    found[table.shared.column] = by_class
    return found


def sides(graph: Graph, table: RouteTable) -> tuple[RouteTable, NDArray[np.uint8]]:
    """Return a table in dimension order and where its packets are, with an entry for each of its ``rows``.

    0: the dateline of a ring is ahead; 1: it is not.
    """
    part = _ordered(graph, table, 2)
    return part.table, np.minimum(part.kinds, _BEHIND).astype(np.uint8)


def has_rings(graph: Graph) -> bool:
    """Whether the network is a torus of which some dimension has more than two switches."""
    return bool(graph.layout.get("wrap", False)) and max(graph.layout["shape"]) > 2


def _follows_rings(graph: Graph, table: RouteTable) -> bool:
    return table.kind == "dimension-order" and has_rings(graph)


def in_rings(graph: Graph, table: RouteTable) -> RouteTable:
    """Return a table in dimension order with its rings, each of one direction, in which a place stays free.

    C. Carrión, R. Beivide, J. Á. Gregorio and F. Vallejo, A flow control mechanism to avoid message deadlock
    in k-ary n-cube networks, HiPC 1997.
    """
    _check_rings("a bubble", graph, table)
    if len(table.via_switch):
        raise RoutingError("a bubble does not go with universal routing", "lane_choice")
    shape = np.asarray(graph.layout["shape"], np.int64)
    places = np.asarray(graph.layout["coordinates"], np.int64)
    source, _, direction = _ways(graph, np.arange(graph.links))
    own = direction < 2 * len(shape)
    line = places[np.where(own, source, 0)]
    line[np.arange(graph.links), np.minimum(direction // 2, len(shape) - 1)] = 0
    key = direction * graph.switches + np.ravel_multi_index(tuple(line.T), tuple(shape))
    rings = np.full(graph.links, NONE, np.uint32)
    rings[own] = np.unique(key[own], return_inverse=True)[1]
    inside = own[table.group_links[table.group_start[:-1]]]
    if (np.diff(table.group_start.astype(np.int64))[inside] < graph.layout["links_per_edge"]).any():
        # A free place behind one cable is none to packets for another.
        message = "with a bubble packets take any of the cables between two switches: write adaptive = true"
        raise RoutingError(message, "adaptive")
    return replace(table, ring_of=rings, note=f"{table.kind} with a free place in each ring")


def _check_rings(what: str, graph: Graph, table: RouteTable) -> None:
    if not has_rings(graph):
        message = f"{what} is for the rings of a torus; this {graph.family} has none"
        raise RoutingError(f'{message}: write lane_choice = "any"', "lane_choice")
    _check_order(what, table)


def _check_dateline(graph: Graph, table: RouteTable, lanes: int) -> None:
    _check_rings("a dateline", graph, table)
    if lanes < 2:
        raise RoutingError("a dateline needs two lanes, not one", "lane_choice", lanes=2)


def _check_order(what: str, table: RouteTable, *others: str) -> None:
    kinds = ("dimension-order", *others)
    if table.kind not in kinds:
        message = f'{what} goes with {" or ".join(kinds)} routing, not with "{table.kind}"'
        raise RoutingError(message, "lane_choice")


def escape_part(graph: Graph, table: RouteTable, lanes: int) -> tuple[RouteTable, int]:
    """Return the table of the escape lanes alone, which packets may join at any switch, and their number."""
    own = escape_lanes(graph, table, lanes)
    return replace(_regrouped([_ordered(graph, table, own)], own), entered="anywhere"), own


def escape_lanes(graph: Graph, table: RouteTable, lanes: int) -> int:
    """Return the number of escape lanes: two for dimension order if there are rings, otherwise one."""
    _check_order("an escape lane", table, "up-star-down-star")
    if len(table.via_switch):
        raise RoutingError("an escape lane does not go with universal routing", "lane_choice")
    own = 2 if _follows_rings(graph, table) else 1
    if lanes <= own:
        message = f"to escape by {own} and choose among the others takes at least {own + 1} lanes"
        raise RoutingError(f"{message}, not {lanes}", "lane_choice", lanes=own + 1)
    return own


def halves(graph: Graph) -> Ints:
    """Return, per terminal, a bit for each dimension of a torus: whether its switch is in the upper half.

    A packet that ascends crosses the dateline if it goes from an upper half to a lower one; a packet that
    descends, if it goes from a lower half to an upper one. So a lane that is kept follows from this number of
    the sender, from the switch and from the destination.
    """
    shape = np.asarray(graph.layout["shape"], np.int64)
    places = np.asarray(graph.layout["coordinates"], np.int64)[graph.terminal_entry_switches]
    upper = _is_upper(places, shape) & (shape > 2)
    return upper @ (1 << np.arange(len(shape)))


def _is_upper(place: Ints, side: Ints) -> NDArray[np.bool_]:
    return 2 * place > side - 1


def _ordered(
    graph: Graph, table: RouteTable, lanes: int, choice: str = "dateline", half: int | None = None
) -> _Part:
    """Return the first ``lanes`` lanes in dimension order, divided by the dateline if there are rings."""
    if not _follows_rings(graph, table):
        return _Part(table, [np.arange(lanes)], np.broadcast_to(0, table.rows.shape))
    lower = lanes // 2
    sets = [np.arange(lower), np.arange(lower, lanes), np.arange(lanes)]
    if table.runs is not None:
        divided, kinds = _sides_of_runs(graph, table, table.runs)
        return _Part(divided, sets, kinds)
    return _Part(table, sets, _sides(graph, table, choice, half))


def _directions(graph: Graph, table: RouteTable) -> tuple[Ints, Ints, Ints]:
    """Return, per group, what :func:`_ways` returns of its first link."""
    return _ways(graph, table.group_links[table.group_start[:-1]])


def _ways(graph: Graph, links: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Return, per link, its switch, the next one, and twice the dimension of its ring, plus one if
    coordinates ascend; twice the number of dimensions outside rings.
    """
    shape = np.asarray(graph.layout["shape"], np.int64)
    places = np.asarray(graph.layout["coordinates"], np.int64)
    source, target = graph.link_source[links], graph.link_target[links]
    inside = (source < graph.switches) & (target < graph.switches)
    step = places[np.where(inside, target, 0)] - places[np.where(inside, source, 0)]
    dimension = np.argmax(step != 0, axis=1)
    side = shape[dimension]
    upward = step[np.arange(len(links)), dimension] % side == 1
    # A dimension of two switches is no ring: there is only one edge between them.
    return source, target, np.where(inside & (side > 2), dimension * 2 + upward, 2 * len(shape))


def _sides_of_runs(graph: Graph, table: RouteTable, runs: Runs) -> tuple[RouteTable, NDArray[np.int8]]:
    """Return a table whose runs end where the set of lanes changes, and that set per run, as ``_sides``."""
    places = np.asarray(graph.layout["coordinates"], np.int64)
    goals, direction = places[_goals(graph, table)], _directions(graph, table)[2]
    outside, most = 2 * places.shape[1], int(places.max()) + 1
    way = np.append(direction, outside)[np.minimum(table.rows >> 1, len(direction))]
    # Runs of one direction, from switches of one coordinate, change at the same columns.
    alike = np.where(way < outside, way * most + places[runs.switch, np.minimum(way, outside - 1) // 2], -1)
    order = np.argsort(alike, kind="stable")
    kinds = np.full(len(order), _ALL, np.int8)
    cuts = [np.zeros((2, 0), np.int64)]
    for rows in np.split(order, np.flatnonzero(np.diff(alike[order])) + 1):
        if alike[rows[0]] < 0:
            continue
        at, here = divmod(int(alike[rows[0]]), most)
        goal = goals[:, at // 2]
        before = here > goal if at % 2 else here < goal
        changes = np.flatnonzero(np.diff(before)) + 1
        begin, end = runs.begin[rows], runs.end[rows]
        first = np.searchsorted(changes, begin, side="right")
        count = np.searchsorted(changes, end) - first
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count - first, count)
        kinds[rows] = np.where(before[begin], _BEFORE, _BEHIND)
        cuts.append(np.stack([np.repeat(rows, count), changes[place]]))
    return _cut(table, runs, kinds, np.concatenate(cuts, axis=1))


def _cut(
    table: RouteTable, runs: Runs, kinds: NDArray[np.int8], cuts: Ints
) -> tuple[RouteTable, NDArray[np.int8]]:
    """Return a table whose runs also end before some columns, ``cuts`` with run and column, where one of two
    sets of lanes changes to the other; and the set of each of its runs.
    """
    row, column = cuts[:, np.lexsort(cuts[::-1])]
    parts = np.bincount(row, minlength=len(kinds)) + 1
    last = np.cumsum(parts) - 1
    end = np.empty(int(parts.sum()), np.uint32)
    inner = np.ones(len(end), bool)
    inner[last] = False
    end[last], end[inner] = runs.end, column
    turn = np.arange(len(end)) - np.repeat(last + 1 - parts, parts)
    kind = np.repeat(kinds, parts)
    other = np.where(kind == _BEFORE, _BEHIND, _BEFORE).astype(np.int8)
    start = np.concatenate([[0], last + 1])[runs.start.astype(np.int64)]
    divided = replace(table, rows=np.repeat(table.rows, parts), runs=Runs(start.astype(np.uint32), end))
    return divided, np.where(turn % 2, other, kind)


def _sides(graph: Graph, table: RouteTable, choice: str, half: int | None) -> NDArray[np.int8]:
    """Return, per switch and class, the set of lanes; dimension order follows one dimension at a time."""
    shape = np.asarray(graph.layout["shape"], np.int64)
    places = np.asarray(graph.layout["coordinates"], np.int64)
    source, target, direction = _directions(graph, table)
    outside = 2 * len(shape)
    goals = np.ascontiguousarray(places[_goals(graph, table)].T)
    columns = np.arange(table.rows.shape[1])
    # Where the sets of lanes of a group begin, among those of all directions; the last: outside rings.
    way = np.append(direction, outside) * len(columns)
    behind = [_behind(goals[at // 2], at, shape, choice, half) for at in range(outside)]
    sets = np.full((outside + 1, len(columns)), _ALL, np.int8)
    found = np.empty(table.rows.shape, np.int8)
    for switch, row in enumerate(table.rows):
        for at in range(outside):
            here, goal = places[switch, at // 2], goals[at // 2]
            sets[at] = np.where(here > goal if at % 2 else here < goal, _BEFORE, behind[at])
        sets.take(way[np.minimum(row >> 1, len(source))] + columns, out=found[switch])
    if choice == "wide-dateline":
        opened = _opened(table, found == _BEFORE, np.stack([source, target, direction]))
        found[(found == _BEHIND) & opened] = _ALL
    return found


def _behind(goal: Ints, direction: int, shape: Ints, choice: str, half: int | None) -> NDArray[np.int8]:
    """Return, per column, the set of lanes of packets that go in a direction and have no dateline ahead."""
    dimension, up = divmod(direction, 2)
    if choice != "kept-dateline":
        return np.full(len(goal), _BEHIND, np.int8)
    # Packets of some senders have come over the dateline, and keep the lanes before it.
    own = _ALL if half is None else _BEFORE if half >> dimension & 1 == up else _BEHIND
    return np.where(_is_upper(goal, shape[dimension]) != bool(up), own, _BEHIND).astype(np.int8)


def _opened(table: RouteTable, before: NDArray[np.bool_], ways: Ints) -> NDArray[np.bool_]:
    """Return, per switch and class, whether the next links are free of packets that have the dateline ahead.

    No such packet may leave in the same direction, at this switch or at the next switch of the ring. ``ways``
    has switch, next switch and direction of each group.
    """
    used = np.where(table.rows == NONE, 0, table.rows >> 1)
    crossing = np.zeros(ways.shape[1], bool)
    crossing[used[before & (table.rows != NONE)]] = True
    source, target, direction = ways.tolist()
    crossed = {way for way, is_so in zip(zip(source, direction, strict=True), crossing, strict=True) if is_so}
    ends = zip(source, target, direction, strict=True)
    found = [(here, way) not in crossed and (there, way) not in crossed for here, there, way in ends]
    return np.array(found)[used]
