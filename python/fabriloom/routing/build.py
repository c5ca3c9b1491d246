"""Routing by name: the kinds, the usual kind per family, and the intermediate switches."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import units
from ..topology.family import usual_routing
from ..topology.graph import Graph
from .check import dependency_cycle, proved
from .dimensions import dimension_order, in_dimensions
from .lanes import divide, has_rings
from .layers import all_minimal, hops, minimal_layers, ugal, valiant
from .levels import lash, read_levels
from .own_table import own_table
from .table import NONE, ByPair, RouteTable, RoutingError
from .up_down import one_way, self_routing, shortest_path, up_down, up_star_down_star

RULES: dict[str, Callable[..., RouteTable]] = {
    "dimension-order": dimension_order,
    "up-down": up_down,
    "self-routing": self_routing,
    "shortest-path": shortest_path,
    "up-star-down-star": up_star_down_star,
    "minimal-layers": minimal_layers,
    "hops": hops,
    "valiant": valiant,
    "ugal": ugal,
    "lash": lash,
}
"""The functions of the kinds that are rules."""

DRAWN = ("valiant", "ugal")
"""Rules whose packets draw a random switch."""

KINDS = ("auto", *RULES, "interval", "table", "paths")

ALIASES = {"up*/down*": "up-star-down-star", "destination-tag": "self-routing", "e-cube": "dimension-order"}

SPREADS = ("turns", "runs", "random")


def build(
    graph: Graph,
    kind: str = "auto",
    adaptive: bool | None = None,
    universal: bool = False,
    interval_labelling: bool = False,
    spread: str | None = None,
    spread_seed: int | None = None,
    lanes: int = 1,
    service_levels: Mapping[str, Any] | None = None,
    by_source: bool = False,
    elsewhere: Collection[str] = (),
    via: Sequence[int] | None = None,
    **parameters: Any,
) -> RouteTable:
    """Build the routing table of a graph.

    * ``kind``: one of ``KINDS``. "auto" is the usual routing of the family (``usual_routing``); in tori and
      rings dimension order, the shorter way with a dateline where there are four lanes; where the family has
      groups and the lanes suffice, a lane per global link; elsewhere the shortest path; if that could
      deadlock and all cables are two-way, minimal layers with several lanes, up*/down* with one. "interval"
      builds the kind ``of=`` and requires that interval labels can express it, as
      ``interval_labelling=True`` does with any kind.
    * ``adaptive`` (default, but for "lash"): a packet takes any free link of its group. Otherwise each
      destination has a fixed link:
      ``spread="turns"`` (default) assigns destinations in turn (d-mod-k), "runs" gives every link a block of
      consecutive destinations, "random" draws a link for each destination and switch, with ``spread_seed``.
    * ``universal``: packets first go to a random intermediate switch, see ``intermediates``.
    * ``lanes``: lanes per link of which packets may wait for one without keeping the others from moving.
    * ``service_levels``: ``{"path": FILE}``, the lanes of packets by source and target, see ``read_levels``.
    * ``by_source``: senders know the paths of their packets ("paths").
    * ``elsewhere``: names of switches and terminals in other planes, whose rows a file may have besides.
    * ``via``: the switches that packets draw from, instead of ``intermediates``.
    * ``parameters``: ``order`` and ``variant`` (dimension-order), ``root`` (up*/down*, minimal-layers,
      valiant, ugal), ``threshold`` (ugal), ``count`` (hops), ``next_hops`` (shortest-path), ``path`` (table,
      paths), ``of`` (interval). None means not given.

    Raises ``RoutingError`` with the parameter at fault if the kind does not suit the graph.
    """
    kind = ALIASES.get(kind, kind)
    adaptive = kind != "lash" if adaptive is None else adaptive
    if kind not in KINDS:
        raise RoutingError(f'there is no routing "{kind}"{units.choose(kind, KINDS)}', "kind")
    if not graph.switches and (kind != "auto" or interval_labelling):
        parameter = "kind" if kind != "auto" else "interval_labelling"
        raise RoutingError("on a cable between two terminals nothing is routed; leave it out", parameter)
    given = {name: value for name, value in parameters.items() if value is not None}
    if kind == "interval":
        kind = str(given.pop("of", "auto"))
        if ALIASES.get(kind, kind) not in ("auto", *RULES):
            raise RoutingError(f'there is no routing "{kind}" to label{units.choose(kind, RULES)}', "of")
        return build(graph, kind, adaptive, universal, True, spread, spread_seed, lanes, **given)
    how = _spread(adaptive, spread)
    if spread_seed is not None and spread != "random":
        raise RoutingError('spread_seed is for spread = "random"', "spread_seed")
    levels = _levels(graph, service_levels["path"], elsewhere) if service_levels else None
    if kind == "table":
        beside = {"lanes": lanes, "elsewhere": elsewhere, "levels": levels}
        table = _own(graph, adaptive, universal, {**given, **beside})
    elif kind == "paths":
        table = _paths(graph, universal, {**given, "by_source": by_source, "elsewhere": elsewhere})
    else:
        if kind in DRAWN and graph.switches < 2:
            raise RoutingError(f"{kind} goes by way of another switch, and there is only one", "kind")
        if via is None:
            via = intermediates(graph) if universal or kind in DRAWN else []
        whole = "adaptive" if how == "random" else how
        table = (
            _automatic(graph, whole, [*via], given, lanes)
            if kind == "auto"
            else _rule(kind, graph, whole, [*via], given, lanes)
        )
    if how == "random":
        table = drawn(graph, table, spread_seed or 0)
    if levels is not None and table.by_source is not levels:
        table = replace(table, levels=levels)
    if interval_labelling:
        from .intervals import interval_labels

        interval_labels(graph, table)
    return table


def intermediates(graph: Graph) -> list[int]:
    """Return the switches from which universal routing chooses, all with equal probability.

    In networks with stages (Clos, fat tree, tree, star) these are the switches of the highest stage: a path
    over it goes up and down only once, so the longest paths do not grow and no dependency cycle appears.
    Elsewhere they are all switches that terminals send into. Raises ``RoutingError`` for one-way networks and
    single switches.
    """
    if one_way(graph):
        raise RoutingError("universal routing needs two-way cables; here links are one-way", "universal")
    if graph.switches < 2:
        raise RoutingError("universal routing needs more than one switch", "universal")
    if "levels" in graph.layout:
        levels = np.asarray(graph.layout["levels"])
        return np.flatnonzero(levels == levels.max()).tolist()
    return np.unique(graph.link_target[graph.link_source >= graph.switches]).tolist()


def _spread(adaptive: bool, spread: str | None) -> str:
    if spread is not None and spread not in SPREADS:
        raise RoutingError(f'there is no spread "{spread}"{units.choose(str(spread), SPREADS)}', "spread")
    if adaptive and spread is not None:
        raise RoutingError(
            "spread says how deterministic routing uses the links; set adaptive = false", "spread"
        )
    return "adaptive" if adaptive else spread or "turns"


def _own(graph: Graph, adaptive: bool, universal: bool, given: dict[str, Any]) -> RouteTable:
    if universal:
        raise RoutingError("universal routing is not possible with a table of your own", "universal")
    _check_names("table", own_table, given, ("graph", "adaptive"))
    if "path" not in given:
        raise RoutingError('the routing "table" needs the path of its file', "path")
    return own_table(graph, adaptive=adaptive, **given)


def _paths(graph: Graph, universal: bool, given: dict[str, Any]) -> RouteTable:
    """Return path addresses from a file; other pairs take the usual routes with one link each."""
    from .own_paths import own_paths

    if universal:
        raise RoutingError("universal routing is not possible with paths of your own", "universal")
    _check_names("paths", own_paths, given, ("graph", "others"))
    if "path" not in given:
        raise RoutingError('the routing "paths" needs the path of its file', "path")
    return own_paths(graph, others=_automatic(graph, "turns", [], {}), **given)


def _levels(graph: Graph, path: str, elsewhere: Collection[str]) -> ByPair:
    try:
        return read_levels(graph, path, elsewhere)
    except RoutingError as error:
        error.parameter = "service_levels.path"
        raise


def _rule(
    kind: str, graph: Graph, spread: str, via: list[int], given: dict[str, Any], lanes: int = 1
) -> RouteTable:
    _check_names(kind, RULES[kind], given, ("graph", "spread", "via", "lanes"))
    if "lanes" in inspect.signature(RULES[kind]).parameters:
        return RULES[kind](graph, spread, via, lanes=lanes, **given)
    return RULES[kind](graph, spread, via, **given)


def _automatic(
    graph: Graph, spread: str, via: list[int], given: dict[str, Any], lanes: int = 1
) -> RouteTable:
    kind = usual_routing(graph.family)
    if kind is not None:
        return _rule(kind, graph, spread, via, given)
    in_layers = lanes > 1 and not via and not given
    if graph.layout.get("wrap"):
        # With one lane on each side of a dateline small buffers carry less than all lanes without one.
        datelines = in_layers and lanes >= 4 and has_rings(graph)
        return (
            in_dimensions(graph, spread, [], 2) if datelines else dimension_order(graph, spread, via, **given)
        )
    by_groups = _by_groups(graph, spread, lanes) if in_layers and "groups" in graph.layout else None
    if by_groups is not None:
        return by_groups
    table = _rule("shortest-path", graph, spread, via, given)
    if dependency_cycle(graph, table) is None:
        return table
    if one_way(graph):
        return (all_minimal(graph, spread, lanes) if in_layers else None) or table
    if in_layers:
        return minimal_layers(graph, spread, via, lanes)
    return _rule("up-star-down-star", graph, spread, via, {})


def _by_groups(graph: Graph, spread: str, lanes: int) -> RouteTable | None:
    """Return paths with the fewest links between groups; None if these lanes do not keep them free of cycles.

    Paths with the fewest links can have one more between groups, and these links are full first.
    """
    try:
        table = hops(graph, spread, [], lanes)
    except RoutingError:
        return None
    ways = divide(graph, table, lanes)
    free = proved(graph, ways, lanes) or dependency_cycle(graph, ways, lanes, tried=True) is None
    return table if free else None


def _check_names(kind: str, rule: Callable[..., Any], given: dict[str, Any], own: Iterable[str]) -> None:
    known = [name for name in inspect.signature(rule).parameters if name not in own]
    for name in given:
        if name not in known:
            near = units.choose(name, known) if known else "; it has none"
            raise RoutingError(f'the routing "{kind}" has no parameter "{name}"{near}', name)


# Random tables: for each destination, one link is drawn from its group before the run.
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
