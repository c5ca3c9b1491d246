"""``[routing] addressing`` and ``[[routing.distribution]]``.

Which links delete an address byte, and with how many a packet starts; then the links of each distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..routing import NONE, RouteTable, RoutingError
from ..scenario import Scenario
from ..scenario.errors import Path
from ..technology import Technology
from ..topology import Graph
from ..traffic.names import Terminals
from .columns import refuse_beside, vertices_named

if TYPE_CHECKING:
    from ..routing.distribution import Distribution


_HERE: Path = ("routing", "addressing")


@dataclass(frozen=True)
class Addresses:
    """Address bytes in front of the header, deleted on the path; there are none if ``deletes`` is empty."""

    deletes: NDArray[np.uint8]
    """Per link: 1 if an address byte is deleted on entry to it."""
    left: NDArray[np.int64]
    """Per switch and class of the routing table: the bytes that are deleted from this switch on."""

    entry: NDArray[np.int64]
    """Per port: the switch that it sends to."""
    table: RouteTable | None
    """The routing table."""

    def of(self, source: Any, target: Any) -> NDArray[np.int64]:
        """Return the number of address bytes with which packets start, per pair of ports."""
        source, target = np.asarray(source, np.int64), np.asarray(target, np.int64)
        if self.table is None:
            return np.zeros(np.broadcast(source, target).shape, np.int64)
        return self.left[self.entry[source], self.table.classes_between(source, target)]


NO_ADDRESSES = Addresses(np.zeros(0, np.uint8), np.zeros((0, 0), np.int64), np.zeros(0, np.int64), None)
"""No link deletes anything."""


def addresses_of(scenario: Scenario, graph: Graph, tech: Technology, table: RouteTable) -> Addresses:
    """Return the addresses that a scenario asks for. Raises ScenarioError."""
    kind = getattr(scenario.routing, "addressing", None)
    regions = getattr(scenario.routing, "regions", None)
    if regions is not None and kind != "regional":
        message = "regions are those of regional addresses"
        raise scenario.error(message, ("routing", "regions"), 'write addressing = "regional"', key=True)
    if kind in (None, "logical"):
        return NO_ADDRESSES
    _check_network(scenario, graph, tech, table, kind)
    source, target = np.asarray(graph.link_source), np.asarray(graph.link_target)
    deletes = source < graph.switches
    if kind == "regional":
        region = _regions(scenario, graph, regions)
        between = deletes & (target < graph.switches)
        ends = np.minimum(source, graph.switches - 1), np.minimum(target, graph.switches - 1)
        deletes = between & (region[ends[0]] != region[ends[1]])
    return Addresses(
        deletes.astype(np.uint8),
        _left(scenario, graph, table, deletes),
        np.asarray(graph.terminal_entry_switches, np.int64),
        table,
    )


def _check_network(scenario: Scenario, graph: Graph, tech: Technology, table: RouteTable, kind: str) -> None:
    """Refuse networks for which header deletion is not defined."""
    others: dict[str, tuple[Path, bool]] = {
        "links of flits": (("technology", "preset"), tech.in_flits),
        "delete_header, by which a packet has no header but its address": (
            ("technology", "delete_header"),
            tech.delete_header,
        ),
        "universal routing": (("routing", "universal"), len(table.via_switch) > 0),
        "packet distribution": (("routing", "distribution"), bool(scenario.routing.distribution)),  # type: ignore[union-attr]
        "tables after a fault": (("routing", "after_fault"), bool(scenario.routing.after_fault)),  # type: ignore[union-attr]
    }
    refuse_beside(scenario, f'addressing = "{kind}"', others)
    if not graph.switches:
        message = "without switches there is nothing to address"
        raise scenario.error(message, _HERE, "remove it", key=True)


def _regions(scenario: Scenario, graph: Graph, regions: list[list[int | str]] | None) -> NDArray[np.int64]:
    """Return the region of each switch. Raises ScenarioError."""
    if regions is None:
        message = "regional addresses need regions"
        hint = 'write regions = [["router-a", "router-b"], ["router-c"]]'
        raise scenario.error(message, _HERE, hint, key=True)
    found = np.full(graph.switches, -1)
    for place, names in enumerate(regions):
        for inside, name in enumerate(names):
            path = ("routing", "regions", place, inside)
            switch = vertices_named(scenario, graph, "switch", str(name), path)[0]
            if found[switch] >= 0:
                message = f"{graph.switch_names[switch]} is in a region already"
                raise scenario.error(message, path, "a router is in one region")
            found[switch] = place
    if (found < 0).any():
        name = graph.switch_names[int(np.argmax(found < 0))]
        message = f"{name} is in no region"
        raise scenario.error(message, ("routing", "regions"), "name every switch in one of them", key=True)
    return found


def _left(
    scenario: Scenario, graph: Graph, table: RouteTable, deletes: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return, per switch and class, the bytes deleted on the path. Raises ScenarioError if paths differ."""
    group = np.asarray(table.route, np.int64) >> 1
    is_known = np.asarray(table.route) != NONE
    group = np.where(is_known, group, 0)
    start = np.asarray(table.group_start, np.int64)
    links, target = np.asarray(table.group_links, np.int64), np.asarray(graph.link_target, np.int64)
    klass = np.arange(group.shape[1])
    left = np.zeros(group.shape, np.int64)

    def behind(place: NDArray[np.int64]) -> NDArray[np.int64]:
        link = links[place]
        end = target[link]
        more = np.where(end < graph.switches, left[np.minimum(end, graph.switches - 1), klass], 0)
        return np.where(is_known, deletes[link] + more, 0)

    first = start[group]
    for _ in range(graph.switches):
        new = behind(first)
        if (new == left).all():
            break
        left = new
    for more in range(1, int(np.diff(start).max(initial=1))):
        others = behind(np.minimum(first + more, start[group + 1] - 1))
        if (others != left).any():
            switch, at = (int(where[0]) for where in np.nonzero(others != left))
            plane = [plane for plane in graph.planes if plane.first_switch <= switch][-1]
            of_class = np.flatnonzero(table.terminal_class == at) % graph.ports
            port = int(of_class[np.isin(of_class, plane.port)][0])
            ends = f"{graph.switch_names[switch]} to {graph.port_names[port]}"
            message = f"{int(left[switch, at])} bytes of the address are deleted on one way from {ends} and "
            message += f"{int(others[switch, at])} on another: no address fits both"
            raise scenario.error(message, _HERE, "write adaptive = false", key=True)
    return left


# ``[[routing.distribution]]``: the links of each distribution, and checks of other settings.

_PLACE: Path = ("routing", "distribution")


def distributions_of(
    scenario: Scenario, graph: Graph, technology: Technology, table: RouteTable
) -> list[Distribution]:
    """Return all distributions of a scenario with their links. Raises ScenarioError."""
    given = getattr(scenario.routing, "distribution", None) or []
    if given:
        _check_distributed(scenario, graph, technology, table)
    found: list[Distribution] = []
    known = {*graph.terminal_names, *graph.switch_names}
    given_to = graph.layout.get("addresses", {}).items()
    addresses = {address: graph.terminal_names[at] for at, address in given_to}
    for place, one in enumerate(given):
        if one.name in known:
            message = f'"{one.name}" is the name of something else already'
            raise scenario.error(message, (*_PLACE, place, "name"), "give the distribution a name of its own")
        if one.address in addresses:
            message = f"address {one.address} is that of {addresses[one.address]}"
            raise scenario.error(
                message, (*_PLACE, place, "address"), f"choose another from {_span(technology)}"
            )
        if one.address is not None and not technology.first_address <= one.address <= technology.last_address:
            message = f"address {one.address} is none of {technology.preset}"
            hint = f"choose one from {_span(technology)}"
            raise scenario.error(message, (*_PLACE, place, "address"), hint)
        known.add(one.name)
        if one.address is not None:
            addresses[one.address] = one.name
        found.append(_found(scenario, graph, table, place, one))
    return found


def _span(technology: Technology) -> str:
    return f"{technology.first_address} to {technology.last_address}"


def _found(scenario: Scenario, graph: Graph, table: RouteTable, place: int, one: Any) -> Distribution:
    from ..routing.distribution import distribution

    senders = _terminals(scenario, graph, (*_PLACE, place, "from"), one.senders)
    receivers = _terminals(scenario, graph, (*_PLACE, place, "to"), one.to)
    both = [number for number in receivers if number in senders]
    if both:
        at = receivers.index(both[0])
        message = f"{graph.terminal_names[both[0]]} would send to itself"
        raise scenario.error(message, (*_PLACE, place, "to", at), "name the others alone")
    try:
        return distribution(graph, table, one.name, one.address, senders, receivers)
    except RoutingError as error:
        hint = (
            "give each sender a distribution of its own, or choose a routing that has one way to a terminal"
        )
        raise scenario.error(str(error), (*_PLACE, place, "from"), hint) from error


def _terminals(scenario: Scenario, graph: Graph, path: Path, names: list[int | str]) -> list[int]:
    found: list[int] = []
    for place, name in Terminals(graph.terminal_names).ranges(names):
        number = vertices_named(scenario, graph, "terminal", name, (*path, place))[0] - graph.switches
        if number in found:
            message = f"{graph.terminal_names[number]} is named twice"
            raise scenario.error(message, (*path, place), "name each terminal once")
        found.append(number)
    return found


def _check_distributed(scenario: Scenario, graph: Graph, tech: Technology, table: RouteTable) -> None:
    """Refuse networks for which packet distribution is not defined."""
    others: dict[str, tuple[Path, bool]] = {
        "several lanes": (("technology", "lanes"), tech.lanes > 1),
        "virtual cut-through": (("technology", "switching"), tech.switching != "wormhole"),
        "headers that are deleted": (("technology", "delete_header"), tech.delete_header),
        "a watchdog": (("technology", "watchdog"), bool(tech.watchdog_ps)),
        "universal routing": (("routing", "universal"), len(table.via_switch) > 0),
        "terminals of several ports": (("topology",), graph.several is not None),
    }
    refuse_beside(scenario, "packet distribution", others)
    if not graph.switches:
        raise scenario.error("without switches nothing is distributed", _PLACE, "remove it", key=True)
