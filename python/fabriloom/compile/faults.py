"""The columns of faults, and routing tables that are replaced after them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import routing, units
from ..codes import FAULT_KIND, number
from ..faults import Outage, Rules, drawn, mtbf_of_bits_ps, outages
from ..routing import NONE, RouteTable, RoutingError
from ..routing.table import ByPair
from ..scenario import Scenario
from ..scenario.sections.routing import AfterFault
from ..scenario.sections.run import Fault
from ..technology import RingTechnology, Technology
from ..technology.model import Ps, Rate
from ..topology import Graph
from ..topology.named import UnknownPartError, each_of
from ..traffic.kinds import rate_of
from .columns import Arrays, u32
from .deadlock import Turn
from .link_routes import LinkRoutes, entry_columns, planes_with
from .networks import Network
from .physical_lanes import Failure, Lost, character_ps, rate_changes
from .traffic_classes import between_after, with_advice

NEVER_TICKS = 1 << 62
"""The repair time of a link that is never repaired; see ``crates/engine/src/fabric``."""
MOST_FAILURES = 100_000
"""A scenario cannot have more random failures than this."""


def fault_columns(scenario: Scenario, network: Network, tick_ps: Ps) -> Arrays:
    """Return the outages of links. Raises ScenarioError for a fault whose target does not exist."""
    graph, technology = network.graph, network.technology
    grain_ticks = technology.grain_ps // tick_ps

    def moment(time_ps: int) -> int:
        return time_ps // technology.grain_ps * grain_ticks

    failures, stuck, errors, wrong, lost = [], [], [], [], []
    for place, fault in enumerate(scenario.fault):
        for links, at_ps, repaired_ps in _failures(scenario, network, place):
            at, repaired = moment(at_ps), None if repaired_ps is None else moment(repaired_ps)
            if fault.physical_lanes is not None:
                lost.append((links, at, repaired, fault.physical_lanes))
            elif fault.stops:
                stuck.append((links, at, repaired))
            elif fault.bit_error_rate is not None and network.sends_when_asked:
                kind = "replay" if fault.replay else "loss"
                wrong.append(_wrong(graph, cast("Technology", technology), tick_ps, at_ps, links[0], kind))
            elif fault.bit_error_rate is not None and not graph.network_kind.bit_errors_disconnect:
                errors.append((links, at))
            else:
                failures.append((network.down_with(links), at, repaired))
    changes = list[Outage]()
    if lost:
        changes, broken = _rate_changes(network, tick_ps, lost)
        failures += broken
    found, apart = changes, not graph.network_kind.cables
    for one, own in network.kinds():
        down, up = (max(1, -(-ps // tick_ps)) for ps in (one.disconnect_ps, one.running_ps))
        rules, usual = Rules(down, up, one.fault_stops == "cable"), one is technology
        fail, stick, err = (_of_these(rows, own) for rows in (failures, stuck, errors))
        found += outages(graph, fail, rules, stick, err, wrong if usual else (), apart=apart)
    found = sorted(found, key=lambda one: (one.down, one.link))
    return _columns(found) | network.fault_columns(scenario, tick_ps)


def _of_these(rows: Sequence[Any], own: NDArray[np.bool_]) -> list[Any]:
    """Return the rows of failures without the links that are not of these."""
    return [([link for link in links if own[link]], *more) for links, *more in rows]


def _check_cables(scenario: Scenario, network: Network, place: int, links: list[int]) -> None:
    """Raise ScenarioError for what cables of another technology do not have."""
    fault, (_, usual) = scenario.fault[place], network.kinds()[0]
    name = "physical_lanes" if fault.physical_lanes is not None else "bit_error_rate"
    other = [link for link in links if not usual[link]]
    if other and getattr(fault, name) is not None:
        message = f"{network.graph.link_names[other[0]]} is of another technology, which has no {name} here"
        hint = "name cables of SpaceFibre, or let the whole cable fail"
        raise scenario.error(message, ("fault", place, name), hint)


def _rate_changes(network: Network, tick_ps: Ps, lost: list[Lost]) -> tuple[list[Outage], list[Failure]]:
    """Return what happens to links that lose physical lanes."""
    technology = cast("Technology", network.technology)
    rules, rates = technology.lane_rules, _rates(network.graph, technology, range(network.graph.links))

    def ticks(link: int, left: int) -> int:
        full_ps = technology.character_ps(rates[link])
        return int(character_ps(full_ps, left, rules.physical) // tick_ps)

    # A change begins a tick after its moment and ends later.
    return rate_changes(lost, rules, max(2, int(-(-rules.realign_ps // tick_ps))), ticks)


def _wrong(graph: Graph, technology: Technology, tick_ps: Ps, at_ps: int, link: int, kind: str) -> Outage:
    """Return the ticks in which a character starts that is on the wire when a bit is wrong."""
    tick = at_ps // tick_ps
    occupied = technology.character_ps(_rates(graph, technology, [link])[0]) // tick_ps
    return Outage(max(0, tick - occupied + 1), link, tick + 1, tick + 2, kind)


def _failures(
    scenario: Scenario, network: Network, place: int
) -> Iterator[tuple[list[int], int, int | None]]:
    """Yield, for one ``[[fault]]``, the links that fail together, the time, and the time of repair."""
    fault, graph, technology = scenario.fault[place], network.graph, network.technology
    kind, sends = fault.what[0], set(graph.terminal_out_links.tolist())
    apart = fault.bit_error_rate is not None and network.sends_when_asked
    try:
        things = each_of(graph, kind, getattr(fault, kind), into=fault.stuck or fault.bus is not None)
    except UnknownPartError as error:
        raise scenario.error(error.message, ("fault", place, kind), error.hint) from error
    if fault.silent:
        things = [(name, [link for link in links if link in sends]) for name, links in things]
    elif apart:
        things = [(graph.link_names[link], [link]) for _, links in things for link in links]
    for name, links in things:
        _check_cables(scenario, network, place, links)
        if fault.at_ps is not None:
            yield links, fault.at_ps, fault.repaired_ps
            continue
        mtbf_ps, mttr_ps = _rate(fault, graph, technology, links)
        expected = len(things) * scenario.run.duration_ps / mtbf_ps
        if round(expected) > MOST_FAILURES:
            during = units.format_time_ps(scenario.run.duration_ps)
            message = f"about {expected:,.0f} failures in {during} are more than {MOST_FAILURES:,}"
            path = ("fault", place, fault.when[0])
            raise scenario.error(message, path, "let it fail less often, or run.duration be shorter")
        seed = f"{scenario.seed}/{place}/{name}"
        lasts_ps = (
            0
            if fault.stops or apart or fault.physical_lanes
            else technology.running_ps + 2 * technology.disconnect_ps
        )
        for at_ps, repaired_ps in drawn(seed, scenario.run.duration_ps, mtbf_ps, mttr_ps, lasts_ps):
            yield links, at_ps, repaired_ps


def _rate(
    fault: Fault, graph: Graph, technology: Technology | RingTechnology, links: list[int]
) -> tuple[float, float | None]:
    """Return the mean times between failures and to repair, in ps."""
    if fault.mtbf_ps is not None:
        return float(fault.mtbf_ps), None if fault.mttr_ps is None else float(fault.mttr_ps)
    rates = _rates(graph, technology, links)
    return mtbf_of_bits_ps(float(fault.bit_error_rate or 0), float(sum(rates))), 0.0


def _rates(graph: Graph, technology: Technology | RingTechnology, links: Sequence[int]) -> list[Rate]:
    given = graph.attributes.get("rate_bits_per_s")
    usual = technology.link_rate_bits_per_s
    return [usual if given is None else rate_of(float(given[link])) or usual for link in links]


def _columns(found: list[Outage]) -> Arrays:
    def u64(values: list[int]) -> np.ndarray:
        return np.array(values, np.uint64)

    return {
        "fault_link": u32([one.link for one in found]),
        "fault_down_ticks": u64([one.down for one in found]),
        "fault_ended_ticks": u64([one.ended for one in found]),
        "fault_up_ticks": u64([NEVER_TICKS if one.up is None else one.up for one in found]),
        "fault_kind": np.array([number("fault_kind", one.kind) for one in found], np.uint8),
        "fault_character_ticks": u32(
            [one.character for one in found] if any(one.character for one in found) else []
        ),
    }


# Routing tables that are replaced after faults: the times, the tables and their columns.

MOST_REPLACED = 1000
"""A run cannot replace tables more often than this."""
_ANY = frozenset([-1])
"""Stands for any dead links."""
MOST_ENTRIES = 1 << 26
"""Limit of the entries of all tables together: 256 MB."""


def table_columns(scenario: Scenario, routes: LinkRoutes, columns: Arrays, tick_ps: Ps) -> Arrays:
    """Return the columns of the replacing tables, and of all groups. Raises ScenarioError."""
    after = getattr(scenario.routing, "after_fault", None)
    if after is None or not scenario.fault:
        return {}
    turns = _turns(routes, _moments(scenario, after, routes, columns, tick_ps))
    if len(turns) > MOST_REPLACED:
        message = f"tables would be replaced {len(turns):,} times, more than {MOST_REPLACED:,}"
        hint = "let less fail, or run.duration be shorter"
        raise scenario.error(message, ("routing", "after_fault"), hint)
    needed = _sets(after, [turn for _, turn in turns])
    numbers = {_Sets(): 0}
    for sets in needed:
        numbers.setdefault(sets, len(numbers))
    pairs = 0 if routes.classes.by_pair is None else routes.classes.by_pair.of.size
    entries = len(numbers) * (routes.graph.switches * routes.lane_table.classes + pairs)
    if entries > MOST_ENTRIES:
        message = f"{len(numbers):,} tables have {entries:,} entries, more than {MOST_ENTRIES:,}"
        raise scenario.error(message, ("routing", "after_fault"), "let less fail")
    merged = _Merged(routes.lane_table)
    made = [_made(scenario, routes, after, sets) for sets in list(numbers)[1:]]
    replacing = [merged.add(table) for table, _ in made]
    return {
        **merged.columns(),
        **entry_columns(routes.lane_table.full()),
        "switch_choice": routes.choices(merged.table()),
        "table_ticks": np.array([tick for tick, _ in turns], np.uint64),
        "table_number": u32([numbers[sets] for sets in needed]),
        "table_route": u32(np.concatenate(replacing)) if replacing else u32([]),
        "table_between": np.concatenate([np.zeros(0, np.uint8), *(classes for _, classes in made)]),
    }


@dataclass(frozen=True)
class _Sets:
    """The dead links of the tables that the lower and the upper half of the sets of lanes have."""

    lower: frozenset[int] = frozenset()
    higher: frozenset[int] = frozenset()
    upper: bool = False
    """Whether packets start by those of the upper half."""


def _sets(after: AfterFault, turns: Sequence[Turn]) -> list[_Sets]:
    """Return, per turn, the tables in use from then on. One of the user is valid for any dead links."""
    found, last = list[_Sets](), _Sets()
    for turn in turns:
        dead = _known_as(after, turn.dead)
        if turn.upper:
            last = replace(last, higher=dead, upper=True)
        else:
            last = replace(last, lower=dead, upper=False)
        found.append(last)
    return found


def _made(
    scenario: Scenario, routes: LinkRoutes, after: AfterFault, sets: _Sets
) -> tuple[RouteTable, NDArray[np.uint8]]:
    """Return the table of lanes, and the classes of packets that start by it; none if these stay."""
    lower = _planes_after(scenario, routes, after, sets.lower)
    higher = _planes_after(scenario, routes, after, sets.higher) if routes.classes.twice else []
    classes, lanes = np.zeros(0, np.uint8), routes.technology.lanes
    try:
        if routes.classes.changes:
            tables = higher if sets.upper else lower
            classes = between_after(routes.graph, routes.classes, tables, lanes, sets.upper)
        return routes.by_lanes(lower, higher), classes
    except RoutingError as error:
        raise with_advice(error, scenario, routes.classes, routes.technology, ("after_fault",)) from error


def dead_in_turn(scenario: Scenario, routes: LinkRoutes, columns: Arrays, tick_ps: Ps) -> list[Turn]:
    """Return the links between switches that are dead when tables are replaced, in the order of the
    replacements; if the same ones come again and again, each twice.
    """
    after = getattr(scenario.routing, "after_fault", None)
    if after is None:
        return []
    found = [turn for _, turn in _turns(routes, _moments(scenario, after, routes, columns, tick_ps))]
    each = list(dict.fromkeys(found))
    return found if len(found) <= 2 * len(each) else each + each


def _turns(routes: LinkRoutes, moments: list[tuple[int, frozenset[int]]]) -> list[tuple[int, Turn]]:
    """Return when tables are replaced: where tables in turn have lanes of their own, by other ones."""
    if not routes.classes.twice:
        return [(tick, Turn(dead)) for tick, dead in moments]
    reverse = np.asarray(routes.graph.link_reverse)
    found, last = list[tuple[int, Turn]](), frozenset[int]()
    for tick, dead in moments:
        whole = dead | {int(reverse[link]) for link in dead}
        if whole != last:
            found.append((tick, Turn(whole, len(found) % 2 == 0)))
            last = whole
    return found


def _moments(
    scenario: Scenario, after: AfterFault, routes: LinkRoutes, columns: Arrays, tick_ps: Ps
) -> list[tuple[int, frozenset[int]]]:
    """Return when tables are replaced, and the links between switches that are dead at that time."""
    delay, last = -(-after.delay_ps // tick_ps), scenario.run.duration_ps // tick_ps
    turns: list[tuple[int, int, bool]] = []
    names = ("link", "down_ticks", "up_ticks", "kind")
    rows = zip(*(columns[f"fault_{name}"].tolist() for name in names), strict=True)
    of_switches = set(routes.graph.switch_links.tolist())
    for link, down, up, kind in rows:
        if link in of_switches and kind == FAULT_KIND.LINK:
            turns.append((down, link, True))
            if up < NEVER_TICKS:
                turns.append((up, link, False))
    dead: set[int] = set()
    found: dict[int, frozenset[int]] = {}
    for tick, link, fails in sorted(turns, key=lambda turn: (turn[0], turn[2])):
        dead.add(link) if fails else dead.discard(link)
        if tick + delay <= last:
            found[tick + delay] = frozenset(dead)
    return list(found.items())


def _known_as(after: AfterFault, dead: frozenset[int]) -> frozenset[int]:
    """Return the links by which a table is known."""
    return dead if after.path is None or not dead else _ANY


def tables_after(scenario: Scenario, routes: LinkRoutes, dead: frozenset[int]) -> list[RouteTable]:
    """Return the tables of all planes without dead links, not divided by lanes. Raises ScenarioError."""
    after: AfterFault | None = getattr(scenario.routing, "after_fault", None)
    if after is None:
        return [table for _, table in routes.planes]
    return _planes_after(scenario, routes, after, _known_as(after, dead))


def _planes_after(
    scenario: Scenario, routes: LinkRoutes, after: AfterFault, dead: frozenset[int]
) -> list[RouteTable]:
    """Return the tables of all planes without dead links, or those of the user."""
    if not dead:
        return [table for _, table in routes.planes]
    if dead in routes.after_planes:
        return routes.after_planes[dead]
    is_dead = np.zeros(routes.graph.links, bool)
    is_dead[[link for link in dead if link >= 0]] = True
    own = list[RouteTable]()
    try:
        given = None if after.path is None else _own(scenario, routes, after.path)
        levels = _levels(scenario, routes, after)
        planes = zip(routes.graph.planes, given or routes.planes, levels, strict=True)
        for plane, (graph, table), new in planes:
            gone, usual = is_dead[plane.links], table if new is None else replace(table, levels=new)
            own.append(around(scenario, routes, graph, gone, after.kind, usual) if gone.any() else usual)
    except RoutingError as error:
        raise with_advice(error, scenario, routes.classes, routes.technology, ("after_fault",)) from error
    routes.after_planes[dead] = own
    return own


def _levels(scenario: Scenario, routes: LinkRoutes, after: AfterFault) -> list[ByPair | None]:
    """Return the new service levels of each plane; None: pairs keep theirs."""
    if after.service_levels is None:
        return [None] * len(routes.planes)
    path = str(scenario.base_dir / after.service_levels.path)
    found = planes_with(routes.graph, {"kind": "shortest-path", "service_levels": {"path": path}})
    return [table.levels for _, table in found]


def _own(scenario: Scenario, routes: LinkRoutes, path: str) -> list[tuple[Graph, RouteTable]]:
    """Return each plane with the user's table; packets keep their levels."""
    given: dict[str, Any] = {"kind": "table", "path": str(scenario.base_dir / path)}
    given |= {"adaptive": _parameters(scenario)["adaptive"], "lanes": routes.technology.lanes}
    found = planes_with(routes.graph, given)
    return [
        (graph, replace(table, levels=usual.levels))
        for (graph, table), (_, usual) in zip(found, routes.planes, strict=True)
    ]


def around(
    scenario: Scenario,
    routes: LinkRoutes,
    graph: Graph,
    gone: NDArray[np.bool_],
    kind: str,
    usual: RouteTable,
) -> RouteTable:
    """Return the table of a plane without dead links, whose packets keep their levels of the usual one but
    for lash. Packets that escape do so by up*/down*.
    """
    parameters = _parameters(scenario)
    if routes.lane_choice == "escape":
        escape = routing.around(graph, gone, "up-star-down-star", **parameters)
        return routes.with_escape(routing.around(graph, gone, "shortest-path", next_hops="all"), escape)
    if kind == "lash" or (kind == "auto" and usual.kind == "lash"):
        try:
            return _lash(routes, graph, gone, usual, parameters)
        except RoutingError:
            if kind == "lash":
                raise
    judged = kind == "auto" and usual.levels is not None
    rule = "shortest-path" if judged else kind
    lanes = 1 if routes.lane_choice == "destination" else routes.layers
    found = routing.around(graph, gone, rule, usual.via_switch.tolist(), lanes=lanes, **parameters)
    found = replace(found, levels=usual.levels)
    if judged and not routes.is_free(graph, found):
        return around(scenario, routes, graph, gone, "up-star-down-star", usual)
    return found


def _lash(
    routes: LinkRoutes, graph: Graph, gone: NDArray[np.bool_], usual: RouteTable, parameters: dict[str, Any]
) -> RouteTable:
    """Return shortest paths without dead links with new service levels. Raises RoutingError."""
    if usual.levels is None:
        raise RoutingError("new service levels are for packets that have some from the start", "kind")
    ways = [
        routing.around(graph, gone, "shortest-path", next_hops=hops, **parameters)
        for hops in ("all", "first")
    ]
    lanes = len(routes.classes.lanes) // (2 if routes.classes.twice else 1)
    return routing.lash_again(graph, ways, lanes, usual.levels, "kind")


def _parameters(scenario: Scenario) -> dict[str, Any]:
    given = scenario.parameters("routing")
    names = ("adaptive", "spread", "spread_seed")
    return {name: given[name] for name in names if name in given}


class _Merged:
    """The groups of several tables, without duplicates."""

    def __init__(self, table: RouteTable) -> None:
        self.first = table
        self.switch, self.links = table.group_switch.tolist(), []
        self.known: dict[tuple[int, ...], int] = {}
        for group in range(table.groups):
            self.links.append(tuple(table.group(group).tolist()))
            self.known.setdefault(self.links[-1], group)

    def add(self, table: RouteTable) -> NDArray[np.uint32]:
        """Add a table and return its entries in the common numbering of groups."""
        number = np.zeros(max(1, table.groups), np.int64)
        for group in range(table.groups):
            links = tuple(table.group(group).tolist())
            if links not in self.known:
                self.known[links] = len(self.links)
                self.links.append(links)
                self.switch.append(int(table.group_switch[group]))
            number[group] = self.known[links]
        entry = table.route.astype(np.int64).ravel()
        used = entry != NONE
        entry[used] = 2 * number[entry[used] >> 1] + (entry[used] & 1)
        return entry.astype(np.uint32)

    def table(self) -> RouteTable:
        """Return all groups, with the entries of the first table."""
        start = np.cumsum([0, *(len(links) for links in self.links)])
        flat = [link for links in self.links for link in links]
        first = self.first
        return RouteTable(u32(self.switch), u32(start), u32(flat), first.route, first.terminal_class)

    def columns(self) -> Arrays:
        """Return the columns of the groups."""
        table = self.table()
        return {name: getattr(table, name) for name in ("group_switch", "group_start", "group_links")}
