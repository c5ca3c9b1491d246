"""``[[routing.distribution]]``: the links of each distribution, and checks of other settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..routing import RouteTable, RoutingError
from ..scenario import Scenario
from ..scenario.errors import Path
from ..technology import Technology
from ..topology import Graph
from ..traffic.names import Terminals
from .columns import vertices_named

if TYPE_CHECKING:
    from ..routing.distribution import Distribution

_HERE: Path = ("routing", "distribution")


def distributions_of(
    scenario: Scenario, graph: Graph, technology: Technology, table: RouteTable
) -> list[Distribution]:
    """Return all distributions of a scenario with their links. Raises ScenarioError."""
    given = getattr(scenario.routing, "distribution", None) or []
    if given:
        _check_network(scenario, graph, technology, table)
    found: list[Distribution] = []
    known = {*graph.terminal_names, *graph.switch_names}
    given_to = graph.layout.get("addresses", {}).items()
    addresses = {address: graph.terminal_names[at] for at, address in given_to}
    for place, one in enumerate(given):
        if one.name in known:
            message = f'"{one.name}" is the name of something else already'
            raise scenario.error(message, (*_HERE, place, "name"), "give the distribution a name of its own")
        if one.address in addresses:
            message = f"address {one.address} is that of {addresses[one.address]}"
            raise scenario.error(
                message, (*_HERE, place, "address"), f"choose another from {_span(technology)}"
            )
        if one.address is not None and not technology.first_address <= one.address <= technology.last_address:
            message = f"address {one.address} is none of {technology.preset}"
            hint = f"choose one from {_span(technology)}"
            raise scenario.error(message, (*_HERE, place, "address"), hint)
        known.add(one.name)
        if one.address is not None:
            addresses[one.address] = one.name
        found.append(_found(scenario, graph, table, place, one))
    return found


def _span(technology: Technology) -> str:
    return f"{technology.first_address} to {technology.last_address}"


def _found(scenario: Scenario, graph: Graph, table: RouteTable, place: int, one: Any) -> Distribution:
    from ..routing.distribution import distribution

    senders = _terminals(scenario, graph, (*_HERE, place, "from"), one.senders)
    receivers = _terminals(scenario, graph, (*_HERE, place, "to"), one.to)
    both = [number for number in receivers if number in senders]
    if both:
        at = receivers.index(both[0])
        message = f"{graph.terminal_names[both[0]]} would send to itself"
        raise scenario.error(message, (*_HERE, place, "to", at), "name the others alone")
    try:
        return distribution(graph, table, one.name, one.address, senders, receivers)
    except RoutingError as error:
        hint = (
            "give each sender a distribution of its own, or choose a routing that has one way to a terminal"
        )
        raise scenario.error(str(error), (*_HERE, place, "from"), hint) from error


def _terminals(scenario: Scenario, graph: Graph, path: Path, names: list[int | str]) -> list[int]:
    found: list[int] = []
    for place, name in Terminals(graph.terminal_names).ranges(names):
        number = vertices_named(scenario, graph, "terminal", name, (*path, place))[0] - graph.switches
        if number in found:
            message = f"{graph.terminal_names[number]} is named twice"
            raise scenario.error(message, (*path, place), "name each terminal once")
        found.append(number)
    return found


def _check_network(scenario: Scenario, graph: Graph, tech: Technology, table: RouteTable) -> None:
    """Refuse networks for which packet distribution is not defined."""
    at: dict[str, tuple[Path, bool]] = {
        "several lanes": (("technology", "lanes"), tech.lanes > 1),
        "virtual cut-through": (("technology", "switching"), tech.switching != "wormhole"),
        "headers that are deleted": (("technology", "delete_header"), tech.delete_header),
        "a watchdog": (("technology", "watchdog"), bool(tech.watchdog_ps)),
        "universal routing": (("routing", "universal"), len(table.via_switch) > 0),
        "terminals of several ports": (("topology",), graph.several is not None),
    }
    for what, (path, is_there) in at.items():
        if is_there:
            message = f"packet distribution is not defined beside {what}"
            raise scenario.error(message, path, "remove one of the two", key=True)
    if not graph.switches:
        raise scenario.error("without switches nothing is distributed", _HERE, "remove it", key=True)
