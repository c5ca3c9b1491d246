"""Is a routing free of deadlock; if not, what is the smallest change that makes it so, at what cost?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from .. import routing
from ..compile import Compiled, LinkRoutes, compile
from ..compile.deadlock import NOBODY, Turn, in_planes, phases_of
from ..results.figures import figures
from ..routing.check import certificate, certificate_in_turn
from ..scenario import Scenario
from ..scenario.errors import ScenarioError
from ..topology import Graph
from .kinds import inspection_of
from .links.inspection import LinkInspection
from .pool import Pool, close

HEAD = ["routing", "lanes", "deadlock", "MB/s, evenly shared", "links on a way", "to write"]

MOST_LANES = 16
"""Most lanes that a link can have."""


def look(
    scenario: Scenario,
    jobs: int = 1,
    first: Callable[[dict[str, Any]], None] = lambda present: None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Return the routing of a scenario and others for the same network, ready for JSON.

    ``present`` is the routing as it is, ``others`` are the remaining ones. Each has ``kind``, ``note``,
    ``lanes``, ``free``, ``cycle`` (names of links), ``accepted_mbytes_per_s_bound`` and ``mean_links`` (both
    with the traffic of the scenario), ``settings``; ``present`` also ``channels``, how many the proof orders.
    ``lanes_enough``: lanes with which ``minimal-layers`` leaves out no minimal path, and with which every
    pair keeps one; ``lanes_needed``: lower and upper bound of the least that any choice of lanes takes, for
    both. ``after_fault``: the verdict with all tables that replace others, None without; ``free``: of both.
    ``jobs``: how many are looked at at once. ``first`` is called with the present one, once that is known,
    long before the others are; ``progress`` with their finished share. Raises ScenarioError.
    """
    compiled = compile(scenario)
    if compiled.graph.network_kind.by_port_tables:
        raise scenario.error(compiled.graph.network_kind.by_port_tables, ("topology",), "see fabriloom check")
    assert isinstance(compiled.routes, LinkRoutes)
    graphs = [graph for graph, _ in compiled.routes.planes if graph.switches]
    if not graphs:
        raise scenario.error(
            "on a cable between two terminals nothing is routed", ("topology",), "add switches"
        )
    present = _seen(compiled, {})
    present["where"] = in_planes(compiled.graph, compiled.routes.cycles(scenario, None, []))
    present["channels"] = _channels(compiled.routes) if present["free"] else None
    first(present)
    layers = [[routing.layers_needed(graph, thin) for graph in graphs] for thin in (False, True)]
    enough = [max(each) for each in layers]
    tried = _tried(scenario, _others(scenario, compiled, enough), jobs, progress)
    others = {_what(one): one for one in tried}
    others.pop(_what(present), None)
    stays = set(scenario.raw.get("routing") or {})
    for one in others.values():
        one["write"] = written(one["settings"], stays)
    replaced = compiled.routes.dead_in_turn(scenario, compiled.arrays, compiled.times.tick_ps)
    bounds = [
        [routing.lanes_needed(graph, thin, most) for graph, most in zip(graphs, each, strict=True)]
        for thin, each in zip((False, True), layers, strict=True)
    ]
    needed = [[max(one) for one in zip(*each, strict=True)] for each in bounds]
    return {
        "present": present,
        "others": list(others.values()),
        "lanes_enough": enough,
        "lanes_needed": needed,
        "after_fault": compiled.deadlock.text() if replaced else None,
        "free": present["free"] and (compiled.deadlock.free or not replaced),
    }


def lanes_said(found: dict[str, Any]) -> str:
    """Return how many lanes minimal paths take at least, and how many ``minimal-layers`` takes."""
    ranges = [str(low) if low == high else f"{low} to {high}" for low, high in found["lanes_needed"]]
    most, one = found["lanes_enough"]
    said = f"Lanes for minimal paths without a cycle: {ranges[0]} for all of them (minimal-layers: {most})"
    return f"{said}, {ranges[1]} for one of each pair ({one})."


def _what(one: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(one[name] for name in ("kind", "note", "lanes", "free", "mean_links"))


def proofs(compiled: Compiled) -> list[dict[str, Any]] | None:
    """Return the routes of the certificate of a network, one per plane and class; None if it can deadlock."""
    routes = compiled.routes
    assert isinstance(routes, LinkRoutes)
    if routes.cycle is not None:
        return None
    found = [certificate(graph, table, lanes) for graph, table, lanes in routes.waited_for()]
    return None if None in found else [one for one in found if one is not None]


def proofs_in_turn(compiled: Compiled) -> list[dict[str, Any]] | None:
    """Return the same for each time that tables replace others after a fault; None if one can deadlock."""
    routes, scenario = compiled.routes, compiled.scenario
    assert isinstance(routes, LinkRoutes)
    turns = routes.dead_in_turn(scenario, compiled.arrays, compiled.times.tick_ps)
    found = list[dict[str, Any] | None]()
    for (at, plane), own in product(
        enumerate(compiled.graph.planes), routes.waiting_apart() if turns else ()
    ):
        all_turns = [Turn(frozenset()), *turns]
        first, *others = phases_of(scenario, routes, at, own, all_turns, None)
        # By tables of which no packets start nothing changes.
        some = [first, *(one for one in others if one.pairs is not NOBODY)]
        ends = range(2, len(some) + 1)
        found += [certificate_in_turn(plane.graph, some[:end], len(own)) for end in ends]
    return None if None in found else [one for one in found if one is not None]


def _others(scenario: Scenario, compiled: Compiled, enough: list[int]) -> list[dict[str, Any]]:
    """Return settings of other routings, with the lanes that are there and those that would be enough."""
    lanes = compiled.routes.technology.lanes
    found: list[dict[str, Any]] = [{"kind": kind} for kind in ("shortest-path", "up-star-down-star", "auto")]
    if "shape" in compiled.graph.planes[0].graph.layout:
        order = {"kind": "dimension-order"}
        found.insert(0, order)
        found += [{**order, "variant": "minimal", "lane_choice": one} for one in ("dateline", "bubble")]
    settings: list[dict[str, Any]] = [{"routing": one} for one in found]
    if lanes > 1:
        escape = {"kind": "up-star-down-star", "lane_choice": "escape-with-room"}
        settings.append({"routing": escape})
    for count in sorted({lanes, *enough} - {1}):
        if count > MOST_LANES:
            continue
        more = {} if count == lanes else {"technology.lanes": count}
        settings.append({"routing": {"kind": "minimal-layers"}, **more})
    for kind, counts in _by_hops(compiled, lanes, enough).items():
        for count in sorted(counts):
            more = {} if count == lanes else {"technology.lanes": count}
            settings.append({"routing": {"kind": kind}, **more})
    kept = {"adaptive": bool(scenario.parameters("routing").get("adaptive", True))}
    return [
        # Levels are for one way of each pair.
        one if one["routing"]["kind"] == "lash" else {**one, "routing": {**one["routing"], **kept}}
        for one in settings
    ]


def _by_hops(compiled: Compiled, lanes: int, enough: list[int]) -> dict[str, set[int]]:
    """Return, for ``hops``, ``valiant``, ``ugal`` and ``lash``, the numbers of lanes to try: those there
    are, or enough.
    """
    graphs = [plane.graph for plane in compiled.graph.planes if plane.graph.switches]
    hops = max(map(routing.hops_needed, graphs))
    twice = max(routing.valiant_needed(graph, max(enough)) for graph in graphs)
    found = {"hops": max(lanes, hops), "valiant": max(lanes, twice), "ugal": max(lanes, twice)}
    found["lash"] = max(lanes, *(_levels(graph) for graph in graphs))
    return {kind: {count} for kind, count in found.items() if count <= MOST_LANES}


def _levels(graph: Graph) -> int:
    """Return how many service levels minimal paths take, or more than a link can have."""
    try:
        table = routing.build(graph, "lash")
    except routing.RoutingError:
        return MOST_LANES + 1
    assert table.levels is not None
    return table.levels.count


def _tried(
    scenario: Scenario, others: list[dict[str, Any]], jobs: int, progress: Callable[[float], None]
) -> list[dict[str, Any]]:
    """Return routings as they would be, without those that do not suit the network or the technology."""
    pool, found = Pool(min(jobs, len(others))), list[dict[str, Any] | None]()
    try:
        for each in [pool.submit(0, partial(_one, scenario, settings)) for settings in others]:
            found.append(each.result())
            progress(len(found) / len(others))
    finally:
        close(pool)
    return [one for one in found if one is not None]


def _one(scenario: Scenario, settings: dict[str, Any]) -> dict[str, Any] | None:
    try:
        changed = scenario.with_settings(settings)
        return None if changed.sha256 == scenario.sha256 else _seen(compile(changed), settings)
    except ScenarioError:
        return None


def _seen(compiled: Compiled, settings: dict[str, Any]) -> dict[str, Any]:
    routes = compiled.routes
    assert isinstance(routes, LinkRoutes)
    table, inspection = routes.table, inspection_of(compiled)
    assert isinstance(inspection, LinkInspection)
    load = inspection.full_first()
    return {
        "kind": table.kind,
        "note": table.note,
        "lanes": routes.technology.lanes,
        "free": routes.cycle is None,
        "cycle": routes.cycle_names(),
        "accepted_mbytes_per_s_bound": load["accepted_mbytes_per_s_bound"],
        "mean_links": inspection.mean_links(),
        "settings": settings,
    }


def _channels(routes: LinkRoutes) -> int:
    orders = [routing.channel_order(graph, table, lanes) for graph, table, lanes in routes.waited_for()]
    return sum(len(order) for order in orders if order is not None)


def verdict(present: dict[str, Any]) -> str:
    """Return whether the present routing can deadlock."""
    what = present["note"] or present["kind"]
    if present["free"]:
        return f"cannot deadlock ({what}): proved by an order of {present['channels']:,} channels"
    cycle = present["cycle"]
    return f"can deadlock{present['where']} ({what}): {' -> '.join([*cycle, cycle[0]])}"


def smallest_change(found: dict[str, Any]) -> str:
    """Return what to write so that the routing cannot deadlock; nothing if it cannot already."""
    present, free = found["present"], [one for one in found["others"] if one["free"]]
    if present["free"]:
        return ""
    if not free:
        return "No other routing was found that cannot"
    same = [one for one in free if one["lanes"] <= present["lanes"]]
    best = max(same or free, key=lambda one: one["accepted_mbytes_per_s_bound"] or 0)
    return f"Smallest change: {best['write']}"


def written(settings: dict[str, Any], stays: set[str]) -> str:
    """Return settings as a user writes them after ``--set``.

    ``stays``: keys of the scenario's own routing; any that is none of the settings' would stay as it is, so
    the whole routing is written.
    """
    own = {name: value for name, value in settings["routing"].items() if value is not True}
    whole = stays - set(settings["routing"])
    quote = "'" if whole else ""
    texts = ("false" if value is False else f"{quote}{value}{quote}" for value in own.values())
    words = [f"{name}={text}" for name, text in zip(own, texts, strict=True)]
    said = [f'"routing={{{", ".join(words)}}}"'] if whole else [f"routing.{word}" for word in words]
    return " ".join([*said, *(f"{name}={value}" for name, value in settings.items() if name != "routing")])


def table(found: dict[str, Any]) -> list[list[str]]:
    """Return a row for the present routing, then one for each other, the best that cannot deadlock first."""
    order = sorted(
        found["others"],
        key=lambda one: (not one["free"], -(one["accepted_mbytes_per_s_bound"] or 0), one["lanes"]),
    )
    return [_row(found["present"], "as it is"), *(_row(one, one["write"]) for one in order)]


def _row(one: dict[str, Any], settings: str) -> list[str]:
    bound = one["accepted_mbytes_per_s_bound"]
    return [
        one["note"] or one["kind"],
        str(one["lanes"]),
        "cannot" if one["free"] else f"cycle of {len(one['cycle'])}",
        "-" if bound is None else figures(bound),
        f"{one['mean_links']:.2f}",
        settings,
    ]
