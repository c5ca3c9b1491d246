"""Traffic classes: which packets may use which lanes and ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import routing, units
from ..routing.table import MOST_WAYS, ByPair, RouteTable
from ..scenario import Scenario
from ..scenario.errors import Path, ScenarioError
from ..technology import RingTechnology, Technology
from ..topology import MOST_PORTS, Graph
from ..topology.graph import Ints, Plane
from ..traffic import Demand
from ..traffic.names import Terminals
from .columns import Arrays, u32, vertices_named

_HERE: Path = ("routing", "traffic_class")

Some = NDArray[np.bool_]
"""Per terminal, whether it belongs to a set."""


@dataclass(frozen=True)
class TrafficClasses:
    """The classes of packets, by their senders and targets; packets of no named class form one more, the
    last."""

    senders: NDArray[np.bool_]
    """Whether a terminal is a sender of a class, shape (named classes, terminals)."""
    targets: NDArray[np.bool_]
    """The same for targets."""
    lanes: list[list[int]]
    """Sets of lanes without common lanes."""
    lanes_of: list[int]
    """Per class, including the last: the index of its set in ``lanes``."""
    places: NDArray[np.int8] | None
    """Ports of a terminal for a class in order of preference, then -1, shape (terminals, classes, 8); None:
    classes have no ports."""
    halves: tuple[int, ...] = ()
    """The senders of each class, if these choose lanes: see :func:`fabriloom.routing.halves`."""
    by_pair: ByPair | None = None
    """The class of each pair of ports, if it follows from a service level or from one of several ways."""
    ways: Sequence[int] = (0,)
    """Per class of a pair: its way. ``lanes_of`` is of the same classes."""
    short: tuple[int, ...] = ()
    """Classes for which no lane is left: no packet may be of them."""
    changes: bool = False
    """Whether packets may be of other classes once tables are replaced; then each pair has a number."""
    twice: bool = False
    """Whether tables in turn have the lower and the upper half of the sets of lanes."""

    @property
    def named(self) -> int:
        """The number of named classes."""
        return len(self.senders)

    @property
    def bits(self) -> tuple[Ints, Ints]:
        """Per terminal, one bit per class that is set for its senders, and one for its targets."""
        weight = 1 << np.arange(self.named, dtype=np.int64)
        return weight @ self.senders, weight @ self.targets

    def of(self, source: Ints, target: Ints) -> Ints:
        """Return the named classes of packets."""
        found = np.full(len(source), self.named, np.int64)
        for number in reversed(range(self.named)):
            found[self.senders[number, source] & self.targets[number, target]] = number
        return found

    def ports_used(self, first: bool) -> Ints:
        """Return how many ports each terminal uses; ``first``: only the first port of each class."""
        assert self.places is not None
        terminals = self.places.shape[0]
        used = np.zeros((terminals, MOST_PORTS), bool)
        senders, targets = self.bits
        rest = np.zeros(terminals, bool)
        for seen in np.unique(targets).tolist():
            rest |= (senders & seen) == 0
        for number in range(self.named + 1):
            sends = rest if number == self.named else self.senders[number]
            own = self.places[:, number, : 1 if first else MOST_PORTS]
            terminal, at = np.nonzero((own >= 0) & sends[:, None])
            used[terminal, own[terminal, at]] = True
        return used.sum(axis=1)


def no_classes(graph: Graph, lanes: int = 1) -> TrafficClasses:
    """Return the classes of a scenario that names none."""
    none = np.zeros((0, graph.terminals), bool)
    return TrafficClasses(none, none, [list(range(lanes))], [0], None)


def with_advice(
    error: routing.RoutingError,
    scenario: Scenario,
    classes: TrafficClasses,
    technology: Technology,
    base: Path = (),
) -> ScenarioError:
    """Return an error of the routes, with what to do if packets need more lanes than they can wait in.

    ``base``: the path to its table, in [routing].
    """
    needed = error.lanes
    if needed is None:
        return scenario.located(error, "routing", base)
    if not hasattr(scenario.technology, "lanes"):
        error.hint = f"links of {scenario.technology.preset} have one lane: write another kind"
    elif technology.holds_wire:
        more = f" and technology.lanes = {needed}" if technology.lanes < needed else ""
        wire = "a packet that waits keeps the wire from other lanes"
        error.hint = f'set technology.lane_sharing = "flit"{more}: {wire}'
    elif getattr(scenario.routing, "service_levels", None) and technology.lanes >= needed:
        error.hint = "leave service_levels out: by these a packet has one lane"
    else:
        which = "set" if classes.twice or len(classes.lanes) == 1 else f"give each traffic class {needed} of"
        error.hint = f"{which} technology.lanes = {needed * len(classes.lanes)}"
    return scenario.located(error, "routing", base)


def in_halves(classes: TrafficClasses, technology: Technology) -> TrafficClasses:
    """Return two classes of half of the lanes, of which packets have the first. Raises RoutingError."""
    half = technology.lanes // 2
    if not half or technology.holds_wire:
        message = "packets by new tables have lanes of their own, and there is one: set technology.lanes = 2"
        if half:
            message = "lanes of their own do not help packets that wait for one that keeps the wire: "
            message += 'write technology.lane_sharing = "flit", or leave them out'
        raise routing.RoutingError(message, "after_fault.own_lanes")
    sets = [list(range(half)), list(range(half, 2 * half))]
    return replace(classes, lanes=sets, lanes_of=[0, 1], changes=True, twice=True)


def by_pair(
    scenario: Scenario, graph: Graph, classes: TrafficClasses, tables: Sequence[RouteTable], lanes: int
) -> TrafficClasses:
    """Return a class for each way to a target and service level, with the lane of its number, or set of lanes
    of traffic classes; these classes if no table has levels or several ways. ``tables``: those of the planes.
    Raises RoutingError.
    """
    levels = max((1 + int(one.levels.of.max(initial=0)) for one in tables if one.levels), default=0)
    ways = max((one.by_source.count for one in tables if one.by_source), default=1)
    if levels:
        _check_alone(scenario, tables, "service levels", "service_levels", by_way=False)
        most = lanes // 2 if classes.twice else lanes
        _check_lanes(levels, most, classes.twice)
        changes = classes.twice or _new_levels(scenario)
        sets = most * (1 + classes.twice) if changes else levels
        own = [[lane] for lane in range(sets)]
        classes = replace(no_classes(graph), lanes=own, changes=changes, twice=classes.twice)
    elif classes.twice:
        none = np.zeros(graph.ports, np.uint32)
        return replace(classes, by_pair=ByPair(none, none, np.zeros((1, 1), np.uint8)), ways=(0, 0))
    if ways > 1:
        own = any(one.by_source and one.kind == "table" for one in tables)
        what = ("rows of a level", "service_levels") if own else ("paths that meet and part again", "path")
        _check_alone(scenario, tables, *what, by_way=True)
    if not levels and ways == 1:
        return classes
    planes = zip(graph.planes, tables, strict=True)
    pair = routing.pairs_together(graph, [_both(graph, plane, one, classes, ways) for plane, one in planes])
    assert pair is not None
    sets = len(classes.lanes)
    used = np.arange(sets * ways)
    if sets > 1 and ways > 1:
        used, of = np.unique(pair.of, return_inverse=True)
        pair = replace(pair, of=of.reshape(pair.of.shape))
    if len(used) > MOST_WAYS:
        message = f"lanes and ways to a terminal make {len(used)} kinds of packets, more than {MOST_WAYS}"
        raise routing.RoutingError(message, "path")
    pair = replace(pair, of=pair.of.astype(np.uint8, copy=False))
    return replace(classes, by_pair=pair, lanes_of=(used // ways).tolist(), ways=(used % ways).tolist())


def _both(graph: Graph, plane: Plane, table: RouteTable, classes: TrafficClasses, ways: int) -> ByPair | None:
    """Return the level of each pair of a plane, or its set of lanes, times ``ways``, and its way."""
    if not classes.changes and (ways == 1 or (table.levels is None and len(classes.lanes) == 1)):
        return table.levels or table.by_source
    every = np.arange(table.terminals)
    pairs = every[:, None], every
    if table.levels is None:
        owner = (np.arange(graph.ports) if graph.several is None else graph.several.terminal)[plane.port]
        source, target = (owner[end].ravel() for end in np.broadcast_arrays(*pairs))
        own = np.array(classes.lanes_of)[classes.of(source, target)].reshape(len(every), -1)
    else:
        own = table.levels.between(*pairs)
    of: NDArray[Any] = own * np.uint16(ways)
    if table.by_source is not None:
        of = of + table.by_source.between(*pairs)
    np.fill_diagonal(of, 0)
    return ByPair(u32(every), u32(every), of)


def _new_levels(scenario: Scenario) -> bool:
    """Return whether packets may have other service levels after a fault."""
    after = getattr(scenario.routing, "after_fault", None)
    kinds = ("auto", "lash") if scenario.routing.kind == "lash" else ("lash",)
    return after is not None and (after.kind in kinds or after.service_levels is not None)


def between_after(
    graph: Graph, classes: TrafficClasses, tables: Sequence[RouteTable], lanes: int, upper: bool
) -> NDArray[np.uint8]:
    """Return the class of each pair, as in ``classes.by_pair``, of packets that start by other tables of the
    planes; ``upper``: by which they have the upper half of the sets of lanes. Raises RoutingError.
    """
    pair, first = classes.by_pair, len(classes.lanes) // 2 if upper else 0
    assert pair is not None
    levels = max((1 + int(one.levels.of.max(initial=0)) for one in tables if one.levels), default=0)
    if levels:
        _check_lanes(levels, lanes // 2 if classes.twice else lanes, classes.twice)
        planes = zip(graph.planes, tables, strict=True)
        pair = routing.pairs_together(graph, [_both(graph, plane, one, classes, 1) for plane, one in planes])
        assert pair is not None
    return (pair.of + np.uint8(first)).astype(np.uint8).ravel()


def _check_lanes(levels: int, lanes: int, twice: bool = False) -> None:
    if levels > lanes:
        has = "one lane" if lanes == 1 else f"{lanes} lanes"
        has = f"{has} for each of two tables" if twice else has
        message = f"level {levels - 1} needs a lane of this number, and links have {has}"
        needed = 2 * levels if twice else levels
        raise routing.RoutingError(f"{message}: set technology.lanes = {needed}", "service_levels")


def _check_alone(
    scenario: Scenario, tables: Sequence[RouteTable], what: str, parameter: str, by_way: bool
) -> None:
    """Raise RoutingError for what does not go with classes by pair."""
    given = scenario.routing
    beside = {
        "lanes that the table names itself": not by_way
        and any(table.group_lanes is not None for table in tables),
        "layers of lanes": any(table.layer is not None for table in tables),
        "random switches": any(len(table.via_switch) > 0 for table in tables),
        "lane_choice": getattr(given, "lane_choice", None) not in (None, "any"),
        "traffic classes": not by_way and bool(_given(scenario)),
        "ports of traffic classes": any(one.ports is not None for one in _given(scenario)),
        "packet distribution": bool(getattr(given, "distribution", None)),
        "tables after a fault": by_way and bool(getattr(given, "after_fault", None)),
    }
    for other in (other for other, there in beside.items() if there):
        raise routing.RoutingError(f"{what} do not go with {other}: leave one of them out", parameter)


def classes_of(scenario: Scenario, graph: Graph, technology: Technology | RingTechnology) -> TrafficClasses:
    """Return the classes of a scenario. Raises ScenarioError."""
    given = _given(scenario)
    if getattr(scenario.routing, "lane_choice", None) == "kept-dateline":
        return _by_half(scenario, graph, technology.lanes)
    if not given:
        return no_classes(graph, technology.lanes)
    if getattr(scenario.routing, "distribution", None):
        message = "traffic classes do not go with packet distribution"
        raise scenario.error(message, _HERE, "remove one of them", key=True)
    senders = np.array([_named(scenario, graph, at, "from", one.senders) for at, one in enumerate(given)])
    targets = np.array([_named(scenario, graph, at, "to", one.to) for at, one in enumerate(given)])
    _check_apart(scenario, graph, senders, targets)
    lanes, lanes_of, short = _lanes(scenario, technology.lanes)
    places = _places(scenario, graph, senders)
    found = TrafficClasses(senders, targets, lanes, lanes_of, places, short=short)
    if short and scenario.program is not None:
        _check_left(scenario, graph, _without_lanes(found, np.ones(graph.terminals, bool)))
    return found


def _by_half(scenario: Scenario, graph: Graph, lanes: int) -> TrafficClasses:
    """Return a class for the senders of each half of the rings: where they sit, their lanes follow from."""
    path: Path = ("routing", "lane_choice")
    for what, there in (("traffic classes", _given(scenario)), ("terminals of several ports", graph.several)):
        if there:
            message = f"a lane that is kept does not go with {what}"
            raise scenario.error(message, path, 'write lane_choice = "dateline"', key=True)
    if not graph.layout.get("wrap"):
        return no_classes(graph, lanes)  # the routes say that there are no rings
    half = routing.halves(graph)
    found = tuple(np.unique(half).tolist())
    senders = half == np.array(found[:-1], np.int64)[:, None]
    places = list(range(len(found)))
    return TrafficClasses(senders, np.ones_like(senders), [list(range(lanes))], places, None, found)


def _given(scenario: Scenario) -> list[Any]:
    """Return the tables of a scenario."""
    return getattr(scenario.routing, "traffic_class", None) or []


def class_columns(classes: TrafficClasses, graph: Graph, headers: int) -> Arrays:
    """Return the engine's columns; ``headers``: number of routing classes of each set of lanes."""
    pair = classes.by_pair
    if pair is not None:
        way = headers // (max(classes.ways) + 1)
        own = zip(classes.lanes_of, classes.ways, strict=True)
        return {
            "port_class_from": u32(pair.row.astype(np.int64) * pair.of.shape[1]),
            "port_class_to": u32(pair.column),
            "class_between": pair.of.ravel(),
            "class_headers": u32([place * headers + at * way for place, at in own]),
        }
    if not classes.named:
        return {}
    terminal = np.arange(graph.ports) if graph.several is None else graph.several.terminal
    senders, targets = classes.bits
    found: Arrays = {
        "port_class_from": u32(senders[terminal]),
        "port_class_to": u32(targets[terminal]),
        "class_headers": u32([place * headers for place in classes.lanes_of]),
    }
    if classes.places is not None:
        none = np.iinfo(np.uint8).max
        found["class_port"] = np.where(classes.places < 0, none, classes.places).astype(np.uint8).ravel()
    return found


def _named(scenario: Scenario, graph: Graph, place: int, end: str, names: list[Any] | None) -> Some:
    """Return the terminals that a class names; all if it names none."""
    found = np.full(graph.terminals, names is None)
    for at, name in Terminals(graph.terminal_names).ranges(names or []):
        path = (*_HERE, place, end, at)
        port = vertices_named(scenario, graph, "terminal", name, path)[0] - graph.switches
        found[port if graph.several is None else graph.several.terminal[port]] = True
    return found


def _pair(sends: Some, takes: Some) -> tuple[int, int] | None:
    """Return a sender and a target that are different terminals; None if there are none."""
    for sender in np.flatnonzero(sends)[:2].tolist():
        others = np.flatnonzero(takes)[:2]
        others = others[others != sender]
        if len(others):
            return sender, int(others[0])
    return None


def _check_apart(scenario: Scenario, graph: Graph, senders: NDArray[Any], targets: NDArray[Any]) -> None:
    for place in range(len(senders)):
        for before in range(place):
            twice = _pair(senders[place] & senders[before], targets[place] & targets[before])
            if twice:
                one, other = (graph.terminal_names[terminal] for terminal in twice)
                message = f"packets from {one} to {other} are of two traffic classes"
                hint = "name their sender in one class, or give the classes different targets"
                raise scenario.error(message, (*_HERE, place), hint, key=True)


def _lanes(scenario: Scenario, lanes: int) -> tuple[list[list[int]], list[int], tuple[int, ...]]:
    """Return the sets of lanes, the set of each class, and the classes for which no lane is left.

    Classes without lanes have the remaining lanes.
    """
    sets: list[list[int]] = []
    places = list[int]()
    for place, one in enumerate(_given(scenario)):
        own = None if one.lanes is None else _own_lanes(scenario, place, one.lanes, lanes)
        if own is not None and own not in sets:
            twice = sorted(set(own) & {lane for other in sets for lane in other})
            if twice:
                message = f"lane {twice[0]} is of two traffic classes"
                hint = "give each class lanes of its own, or both the same lanes"
                raise scenario.error(message, (*_HERE, place, "lanes"), hint)
            sets.append(own)
        places.append(-1 if own is None else sets.index(own))
    places.append(-1)
    rest = sorted(set(range(lanes)) - {lane for own in sets for lane in own})
    short = () if rest else tuple(number for number, place in enumerate(places) if place < 0)
    sets += [rest] if rest else []
    return sets, [len(sets) - 1 if place < 0 else place for place in places], short


def _check_left(scenario: Scenario, graph: Graph, pair: tuple[int, int] | None) -> None:
    """Raise ScenarioError for two terminals whose packets have no lane."""
    if pair is None:
        return
    one, to = (graph.terminal_names[terminal] for terminal in pair)
    message = f"no lane is left for other packets, such as those from {one} to {to}"
    raise scenario.error(message, _HERE, "name all terminals, or leave a lane to the others", key=True)


def _own_lanes(scenario: Scenario, place: int, own: list[int], lanes: int) -> list[int]:
    for at, lane in enumerate(own):
        if lane >= lanes:
            has = "one lane, number 0" if lanes == 1 else f"{lanes} lanes, 0 to {lanes - 1}"
            message = f"there is no lane {lane}: links have {has}"
            raise scenario.error(message, (*_HERE, place, "lanes", at), "set technology.lanes")
    return sorted(set(own))


def _without_lanes(classes: TrafficClasses, sending: Some) -> tuple[int, int] | None:
    """Return two terminals whose packets are of no class with lanes; None if there are none.

    ``sending``: who sends to all others.
    """
    have = ~np.isin(np.arange(classes.named), classes.short)
    senders, targets = classes.senders[have], classes.targets[have]
    for named in np.unique(senders, axis=1).T:
        taken: Some = np.any(targets[named], axis=0)
        if found := _pair((named == senders.T).all(axis=1) & sending, ~taken):
            return found
    return None


def _places(scenario: Scenario, graph: Graph, senders: NDArray[Any]) -> NDArray[np.int8] | None:
    """Return the ports of each class at each terminal; None if no class has ports."""
    given = _given(scenario)
    if all(one.ports is None for one in given):
        return None
    if graph.several is None:
        place = next(at for at, one in enumerate(given) if one.ports is not None)
        message = "ports choose among those of a terminal, and here every terminal has one"
        hint = "add for example replicate = 2 to [topology], or remove them"
        raise scenario.error(message, (*_HERE, place, "ports"), hint, key=True)
    planes = np.split(graph.several.plane, graph.several.starts[1:-1])
    layouts = [tuple(own.tolist()) for own in planes]
    found = np.empty((graph.terminals, len(given) + 1, MOST_PORTS), np.int8)
    for place, own in enumerate([*(one.ports for one in given), None]):
        wanted = [(False, number) for number in range(MOST_PORTS)]
        if own is not None:
            of_senders = [layouts[at] for at in np.flatnonzero(senders[place])]
            wanted = _ports(scenario, graph, place, own, of_senders)
        by_layout = {layout: _own_places(wanted, layout) for layout in set(layouts)}
        found[:, place] = [by_layout[layout] for layout in layouts]
    return found


def _ports(
    scenario: Scenario, graph: Graph, place: int, given: list[int | str], layouts: list[tuple[int, ...]]
) -> list[tuple[bool, int]]:
    """Return, for each port of a class, whether it is given by its plane, and the number of plane or port."""
    assert graph.several is not None
    names = [plane.name for plane in graph.several.planes]
    most = max(map(len, layouts))
    found = list[tuple[bool, int]]()
    for at, port in enumerate(given):
        path = (*_HERE, place, "ports", at)
        if isinstance(port, int):
            if port >= most:
                has = "one port, number 0" if most == 1 else f"at most {most} ports, 0 to {most - 1}"
                message = f"there is no port {port}: the senders of this class have {has}"
                raise scenario.error(message, path, "write one of these, or the name of a plane")
            found.append((False, port))
            continue
        if port not in names:
            near = units.nearest(port, names)
            hint = f'did you mean "{near}"?' if near else f"planes are {', '.join(names)}"
            hint = f"write {port} without quotes for a port of that number" if port.isdecimal() else hint
            raise scenario.error(f'there is no plane "{port[:60]}"', path, hint)
        if not any(names.index(port) in layout for layout in layouts):
            message = f'no sender of this class has a port in plane "{port}"'
            raise scenario.error(message, path, "name a plane of theirs, or other senders")
        found.append((True, names.index(port)))
    return found


def _own_places(wanted: list[tuple[bool, int]], layout: tuple[int, ...]) -> list[int]:
    """Return the ports of a class at a terminal with ports in these planes: each once, in order, then -1."""
    found = list[int]()
    for of_plane, number in wanted:
        those = [at for at, plane in enumerate(layout) if (plane if of_plane else at) == number]
        found += [at for at in those if at not in found]
    return found + [-1] * (MOST_PORTS - len(found))


def check_used(scenario: Scenario, graph: Graph, classes: TrafficClasses, demand: Demand) -> None:
    """Raise ScenarioError for a class without packets, and for packets without a lane."""
    if not classes.named or classes.halves:
        return
    even = demand.even > 0
    source, target = np.asarray(demand.source, np.int64), np.asarray(demand.target, np.int64)
    number = classes.of(source, target)
    for at in np.flatnonzero(np.isin(number, classes.short))[:1]:
        _check_left(scenario, graph, (int(source[at]), int(target[at])))
    if classes.short:
        _check_left(scenario, graph, _without_lanes(classes, even))
    used = set(number.tolist())
    for place in range(classes.named):
        if place not in used and not _pair(classes.senders[place] & even, classes.targets[place]):
            message = "no packet is of this traffic class"
            hint = "name terminals that send to each other, or remove the class"
            raise scenario.error(message, (*_HERE, place), hint, key=True)


def high_ports(scenario: Scenario, graph: Graph) -> NDArray[np.uint8]:
    """Return, per port, whether packets for it have priority; empty if none have. Raises ScenarioError."""
    names = getattr(scenario.routing, "high_priority", None) or []
    found = np.zeros(len(graph.port_names) if names else 0, np.uint8)
    for place, name in enumerate(names):
        path = ("routing", "high_priority", place)
        found[np.array(vertices_named(scenario, graph, "terminal", name, path)) - graph.switches] = 1
    if len(found) and found.all():
        message = "every terminal has high priority, so none goes before another"
        raise scenario.error(message, ("routing", "high_priority"), "name those alone that are to go first")
    return found
