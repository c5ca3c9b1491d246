"""Check a finished table: whether all packets arrive, whether it can deadlock, and the load of each link.

The proof that it cannot is data that anyone can check: ``check_certificate.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..topology.graph import Graph
from .native import Core, columns, numbers
from .table import NONE, RouteTable, RoutingError

_AT_ONCE = 1 << 18
"""Packets per switch that are followed at once."""

Weights = tuple[ArrayLike, ArrayLike, ArrayLike] | NDArray[np.float64]


def verify(graph: Graph, table: RouteTable) -> None:
    """Follow all packets over every link they may take; return if all arrive.

    Intermediate switches are checked too: packets reach them, and their header is deleted on entry.

    Raises:
        RoutingError: with the destination, and the switches on the path to the loop, the dead end or the
            wrong terminal.
    """
    _met(graph, table).verify(columns(table))


def proved(graph: Graph, table: RouteTable, lanes: int = 1) -> bool:
    """Return whether all entries of a table together prove that packets arrive without a dependency cycle.

    If not, ``verify`` and ``dependency_cycle`` follow the packets class by class: much longer.
    """
    return Core(graph, entered=table.entered).proved(columns(table), lanes)


def _core(graph: Graph, table: RouteTable) -> Core:
    return Core(graph, entered=table.entered, rings=table.ring_of)


def _met(graph: Graph, table: RouteTable, parameter: str = "kind") -> Core:
    """Return a core in which all send; of a table of several ways, those alone whose packets it knows."""
    return Core(graph, parameter, table.entered if table.by_source is not None else "by-senders")


def dependency_cycle(
    graph: Graph, table: RouteTable, lanes: int = 1, tried: bool = False
) -> list[int] | None:
    """Return a cycle of the channel dependency graph as link indices, or None if there is none.

    With several ``lanes`` per link, the groups of the table and the cycle are of lanes. ``tried``: ``proved``
    has looked at the table in vain.

    A packet on each link of the cycle may wait for the next link, and one on the last for the first. Without
    a cycle the network cannot deadlock (Dally and Seitz 1987); with one it may. Dependencies at random
    intermediate switches count. The rings of a table count as one link each, by the first of theirs.
    """
    return _core(graph, table).dependency_cycle(columns(table), lanes, tried)


Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Sources and targets of packets, as terminals."""


@dataclass(frozen=True)
class Phase:
    """A table, from when it replaces the one before."""

    table: RouteTable
    dead: NDArray[np.int64]
    """Links that hold no packets."""
    pairs: Pairs | None = None
    """Packets that start by it; None: any terminal sends to any."""


def phases_cycle(graph: Graph, phases: Sequence[Phase], lanes: int = 1) -> tuple[int, list[int]] | None:
    """Return the number of a phase, and a cycle that appears with it, or None.

    A packet may hold links by the tables of earlier phases while it waits for those of a later one, but
    nothing on a link that is dead in the latest. See :func:`dependency_cycle`.
    """
    return Core(graph).phases_cycle([_given(one, lanes) for one in phases], lanes)


def one_of_each(graph: Graph, tables: Sequence[RouteTable]) -> Pairs:
    """Return pairs of terminals whose packets take all that any take by some tables with the same classes.

    One source stands for those at its switch, and one target for those that the tables lead to alike.
    """
    every, entered = np.arange(graph.terminals), graph.terminal_entry_switches
    ways = np.concatenate([table.full().rows for table in tables])[:, tables[0].terminal_class]
    for number in range(len(tables)):
        ways[number * graph.switches + graph.terminal_exit_switches, every] = 0
    ways = np.concatenate([graph.terminal_exit_switches[None], ways]).T
    targets = np.unique(ways, axis=0, return_index=True)[1]
    sources = np.unique(entered, return_index=True)[1]
    return np.repeat(sources, len(targets)), np.tile(targets, len(sources))


def _given(phase: Phase, lanes: int) -> Any:
    """Return a phase as the core takes it."""
    pairs, links = phase.pairs, np.add.outer(phase.dead * lanes, np.arange(lanes))
    ends = None if pairs is None else (numbers(pairs[0]), numbers(phase.table.aims(*pairs)))
    return columns(phase.table), numbers(links), ends


def channel_order(graph: Graph, table: RouteTable, lanes: int = 1) -> NDArray[np.uint32] | None:
    """Return the links in an order in which every packet takes them, or None if there is none.

    The order proves that no packets can wait for each other in a cycle: on each link a packet waits only for
    later ones. With several ``lanes`` per link, it is of lanes. Links between switches that no packet waits
    on or for are left out; links to terminals come last. The first link of a ring of the table stands for it.
    """
    found = _core(graph, table).channel_order(columns(table), lanes)
    return None if found is None else np.array(found, np.uint32)


def channel_loads(
    graph: Graph,
    table: RouteTable,
    weights: Weights | None = None,
    even: NDArray[np.float64] | None = None,
    lengths: NDArray[np.float64] | None = None,
    header: float = 0.0,
) -> NDArray[np.float64]:
    """Return the expected number of packets per link, shape (links,), float64.

    Args:
        weights: None: every terminal sends one packet per unit of time, to each other terminal with equal
            probability; or a matrix (terminals, terminals) of packets per unit from row to column; or three
            columns: source, target, packets per unit.
        even: per terminal, the packets that it sends evenly to all others, in addition to the weights.
        header: the header of a random switch, as a part of a packet, which has it up to the switch before.
        lengths: of links; then all packets take the way that is shortest by them.

    Otherwise a group shares its packets evenly among its links. One divided by the largest load is an upper
    bound of the throughput with these shares, as a fraction of a link. Where packets choose between two ways,
    the same share of all pairs' packets goes straight, that with which the busiest link has least.
    """
    if table.threshold is not None:
        around = replace(table, threshold=None)
        straight = replace(around, via_switch=table.via_switch[:0], via_class=table.via_class[:0])
        both = (channel_loads(graph, one, weights, even, lengths, header) for one in (straight, around))
        return _least(*both)
    if table.by_source is not None and (even is not None or weights is None):
        each = np.ones(graph.terminals) if even is None else even
        loads = channel_loads(graph, table, _evenly(each), None, lengths)
        return loads if weights is None else loads + channel_loads(graph, table, weights, None, lengths)
    given, core = pairs(graph, weights), _met(graph, table, "weights")
    if given is not None:
        given = given[0], numbers(table.aims(given[0], given[1])), given[2]
    if even is None:
        loads = core.loads(columns(table), given, lengths)
    else:
        from .even import even_loads

        loads = even_loads(graph, table, even, lengths)
        # All destinations are followed for pairs, too: for none of them in vain.
        if given is not None and len(given[0]):
            loads = loads + core.loads(columns(table), given, lengths)
    if header and len(table.via_switch):
        return loads + header * _first_part(graph, table, loads[graph.terminal_out_links])
    return loads


def _first_part(graph: Graph, table: RouteTable, sent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the packets per link with the header of a random switch; ``sent``: by each terminal.

    The switch before the random one deletes it.
    """
    via, classes = np.asarray(table.via_switch, np.int64), np.asarray(table.via_class)
    home, switches = np.asarray(graph.terminal_entry_switches), graph.switches
    sent_at = np.bincount(home, sent, minlength=switches) / len(via)
    target, start = np.asarray(graph.link_target, np.int64), np.asarray(table.group_start, np.int64)
    found = np.zeros(graph.links)
    for some in np.array_split(np.arange(len(via)), 1 + len(via) * switches // _AT_ONCE):
        flow, arrived = np.tile(sent_at, (len(some), 1)), (np.arange(len(some)), via[some])
        while True:
            flow[arrived] = 0.0
            row, switch = np.nonzero(flow)
            if not len(row):
                break
            entry = np.asarray(table.entries(switch, classes[some[row]]), np.int64)
            group, keeps = entry >> 1, entry & 1 == 0
            count = start[group + 1] - start[group]
            place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            link = np.asarray(table.group_links, np.int64)[np.repeat(start[group], count) + place]
            share = np.repeat(flow[row, switch] / count, count)
            found += np.bincount(link, share * np.repeat(keeps, count), minlength=graph.links)
            index = np.repeat(row, count) * switches + target[link]
            flow = np.bincount(index, share, minlength=flow.size).reshape(flow.shape)
    stay = np.bincount(via, minlength=switches) / len(via)
    found[graph.terminal_out_links] = sent * (1 - stay[home])
    return found


def ways_of(graph: Graph, table: RouteTable, sends: NDArray[np.float64]) -> Any:
    """Return the paths of all packets, for many sets of dead links: an object of the core.

    ``sends``: packets per class and switch where they enter. ``after(dead, switches, packets, whole)`` of the
    object takes dead links, and packets per switch and class where others enter; it returns class, switch and
    lost share where packets are lost, and packets per link but those that leave terminals. It follows what
    these touch; ``whole``: everything, with the same result.
    """
    return _met(graph, table).ways(columns(table), sends.ravel())


def _least(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mixture of two loads whose largest is least; that is a convex function of the share."""
    # Where a mixture is as good, it is the shorter way that is taken.
    _, high = narrowed(lambda share: float((share * one + (1 - share) * other).max(initial=0.0)), 60, 1 / 3)
    return high * one + (1 - high) * other


def narrowed(cost: Callable[[float], float], steps: int, part: float) -> tuple[float, float]:
    """Return an interval within 0 to 1 in which a convex function is least; each step tries two places in it.

    ``part``: how far they are from its ends, as a part of it. Of equal costs the higher place is taken.
    """
    low, high = 0.0, 1.0
    for _ in range(steps):
        left, right = low + part * (high - low), high - part * (high - low)
        low, high = (low, right) if cost(left) < cost(right) else (left, high)
    return low, high


def pairs(graph: Graph, weights: Weights | None) -> tuple[Any, Any, Any] | None:
    """Return weights as three columns."""
    if weights is None:
        return None
    if isinstance(weights, np.ndarray):
        if weights.shape != (graph.terminals, graph.terminals):
            raise RoutingError(
                f"the weights have shape {weights.shape}, not one row and one column for each of the "
                f"{graph.terminals} terminals",
                "weights",
            )
        source, target = np.nonzero(weights)
        return numbers(source), numbers(target), np.ascontiguousarray(weights[source, target], np.float64)
    source, target, rate = weights
    ends = np.asarray(source), np.asarray(target)
    if any(end.size and (end.min() < 0 or end.max() >= graph.terminals) for end in ends):
        raise RoutingError("the weights name a terminal that does not exist", "weights")
    return numbers(source), numbers(target), np.ascontiguousarray(rate, np.float64).ravel()


def _evenly(each: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each terminal sends to each other, if it sends that much in total."""
    count = len(each)
    return np.repeat(each[:, None] / max(1, count - 1), count, axis=1) * (1 - np.eye(count))


def mean_hops(graph: Graph, table: RouteTable, weights: Weights | None = None) -> float:
    """Return the mean number of links on a packet's path, including those of terminals."""
    return mean_way(graph, channel_loads(graph, table, weights))


def mean_way(graph: Graph, loads: NDArray[np.float64]) -> float:
    """Return the mean number of links on a packet's path from the loads of all links."""
    sent = loads[graph.link_source >= graph.switches].sum()
    return float(loads.sum() / sent) if sent > 0 else 0.0


def path(
    graph: Graph, table: RouteTable, source_terminal: int, target_terminal: int, via: int | None = None
) -> list[int]:
    """Return the links from one terminal to another, the first of every group.

    ``via``: index in ``table.via_switch`` of an intermediate switch. Raises ``RoutingError`` if the table has
    no path.
    """
    aim = int(table.aims(np.array(source_terminal), np.array(target_terminal)))
    return Core(graph, None).path(columns(table), source_terminal, aim, via)


def certificate(graph: Graph, table: RouteTable, lanes: int = 1) -> dict[str, Any] | None:
    """Return the routes of a table of lanes and the order of its channels, or None if there is none.

    Ready for JSON: ``links`` has source and target vertex of each link, ``routes`` the channels by switch and
    terminal, then by switch and intermediate switch, ``order`` the channels in which every packet takes them.
    Channels are pairs of link and lane. Routes that no packet takes are left out. Further ways to terminals
    are destinations behind all vertices. ``rings``, if the table has any: for each that is in the order by
    one channel, the channels of its hops.
    """
    order = channel_order(graph, table, lanes)
    if order is None:
        return None
    return {
        **({} if table.ring_of is None else {"rings": _rings(graph, table.ring_of, order, lanes)}),
        **_ends(graph),
        "routes": _routes(graph, table, _taken(graph, table, lanes), lanes),
        "order": np.stack(np.divmod(order.astype(np.int64), lanes), axis=1).tolist(),
    }


def certificate_in_turn(graph: Graph, phases: Sequence[Phase], lanes: int = 1) -> dict[str, Any] | None:
    """Return the same for the last of tables that replace each other.

    ``before`` has the routes of the earlier tables, of which packets may be under way, and ``dead`` the links
    that hold none, ``down`` those that held none then. Routes are those that packets of the earlier tables
    come to, too.
    """
    found = Core(graph).phases_order([_given(one, lanes) for one in phases], lanes)
    if found is None:
        return None
    order, taken = found
    come = [np.array(one, bool).reshape(graph.switches, -1) for one in taken]
    each = zip(phases, come, strict=True)
    *before, routes = (_routes(graph, one.table, own, lanes) for one, own in each)
    return {
        **_ends(graph),
        "before": before,
        "down": [one.dead.tolist() for one in phases[:-1]],
        "dead": phases[-1].dead.tolist(),
        "routes": routes,
        "order": np.stack(np.divmod(np.array(order, np.int64), lanes), axis=1).tolist(),
    }


def _ends(graph: Graph) -> dict[str, Any]:
    """Return the vertices and links of a certificate."""
    links = np.stack([graph.link_source, graph.link_target], axis=1).tolist()
    return {"vertices": [*graph.switch_names, *graph.terminal_names], "links": links}


def _routes(graph: Graph, table: RouteTable, come: NDArray[np.bool_], lanes: int) -> list[Any]:
    """Return the channels by switch and destination, where packets come."""
    link, lane = np.divmod(table.group_links.astype(np.int64), lanes)
    channels = np.stack([link, lane], axis=1).tolist()
    start = table.group_start.tolist()
    goals = [*(graph.switches + np.arange(len(table.terminal_class))).tolist(), *table.via_switch.tolist()]
    found = []
    taken = np.where(come, table.route, NONE)
    for switch, row in enumerate(taken[:, np.concatenate([table.terminal_class, table.via_class])]):
        for place in np.flatnonzero(row != NONE).tolist():
            group = int(row[place]) >> 1
            found.append([switch, goals[place], channels[start[group] : start[group + 1]]])
    return found


def _rings(
    graph: Graph, ring: NDArray[np.uint32], order: NDArray[np.uint32], lanes: int
) -> list[list[list[list[int]]]]:
    """Return the channels of each ring of which one is in the order, hop after hop."""
    found = []
    for one in np.unique(ring[order // lanes]):
        hops: dict[int, list[int]] = {}
        for link in np.flatnonzero(ring == one).tolist() if one != NONE else []:
            hops.setdefault(int(graph.link_source[link]), []).append(link)
        at, way = min(hops, default=0), []
        for _ in hops:
            way.append([[link, lane] for link in hops[at] for lane in range(lanes)])
            at = int(graph.link_target[hops[at][0]])
        found.append(way)
    return [way for way in found if way]


def _taken(graph: Graph, table: RouteTable, lanes: int) -> NDArray[np.bool_]:
    """Return, per switch and class, whether packets of the class come to the switch."""
    if table.entered != "by-senders":
        return np.ones(table.route.shape, bool)
    taken = np.zeros(table.route.shape, bool)
    starts = np.concatenate([graph.terminal_entry_switches, table.via_switch.astype(np.int64)])
    taken[starts[starts < graph.switches]] = True
    return reached(graph, table, taken, lanes)


def met(graph: Graph, table: RouteTable) -> RouteTable:
    """Return a table of several ways with the entries that packets meet."""
    source, target = np.nonzero(~np.eye(graph.terminals, dtype=bool))
    starts = np.zeros(table.rows.shape, bool)
    starts[graph.terminal_entry_switches[source], table.classes_between(source, target)] = True
    rows = np.where(reached(graph, table, starts), table.rows, NONE).astype(np.uint32)
    return replace(table, rows=rows, entered="where-known")


def reached(graph: Graph, table: RouteTable, starts: NDArray[np.bool_], lanes: int = 1) -> NDArray[np.bool_]:
    """Return, per switch and class, whether packets of the class come to the switch from where they start."""
    taken, start = starts.copy(), table.group_start.astype(np.int64)
    fresh = taken & (table.route != NONE)
    while fresh.any():
        switch, place = np.nonzero(fresh)
        group = (table.route[switch, place] >> 1).astype(np.int64)
        # At an intermediate switch the header is deleted.
        size = np.where(table.route[switch, place] & 1, 0, start[group + 1] - start[group])
        member = np.repeat(start[group] - np.cumsum(size) + size, size) + np.arange(size.sum())
        target = graph.link_target[table.group_links[member].astype(np.int64) // lanes]
        inside = target < graph.switches
        come = np.zeros_like(taken)
        come[target[inside], np.repeat(place, size)[inside]] = True
        fresh = come & ~taken
        taken |= fresh
        fresh &= table.route != NONE
    return taken
