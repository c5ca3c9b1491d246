"""Check that all sections of a scenario are of one kind of network."""

from __future__ import annotations

from typing import Any, get_args

from fabriloom.scenario.errors import Path
from fabriloom.scenario.schema import Scenario
from fabriloom.scenario.sections.routing import AnyRouting, Auto, FewestBuses, Table
from fabriloom.scenario.sections.technology import CharacterLinks, Generic, RingPreset
from fabriloom.scenario.sections.topology import SciRings, network_kind
from fabriloom.topology.kinds import LINKS, RINGS

_PRESET: Path = ("technology", "preset")


def check_kind(scenario: Scenario) -> None:
    """Raise a :class:`ScenarioError` for settings of another kind of network than the topology's."""
    _CHECKS[scenario.network_kind](scenario)
    if scenario.interface and not isinstance(scenario.technology, CharacterLinks):
        message = f"interface chips are of SpaceWire, not of {scenario.technology.preset}"
        raise scenario.error(message, ("interface",), "remove [[interface]]", key=True)
    if scenario.congestion_control is not None and not isinstance(scenario.technology, Generic):
        message = f"congestion control is of packets that pass whole, not of {scenario.technology.preset}"
        hint = 'remove the section, or write technology.preset = "infiniband-4x-edr"'
        raise scenario.error(message, ("congestion_control",), hint, key=True)


def _of_links(scenario: Scenario) -> None:
    """Check that a network of links has nothing of rings."""
    technology, topology, protocol = scenario.technology, scenario.topology, scenario.protocol
    if technology.network_kind is not scenario.network_kind:
        message = f'technology.preset "{technology.preset}" is of rings, a {topology.kind} has none'
        raise scenario.error(message, _PRESET, "choose a topology of rings, such as sci-ring or sci-switch")
    for name, section in (("traffic", scenario.traffic), ("protocol", protocol)):
        if section is not None and section.transaction is not None:
            message = f"transactions are for networks of rings, not for a {topology.kind}"
            raise scenario.error(message, (name, "transaction"), "remove it")
    if isinstance(scenario.routing, FewestBuses):
        message = f"the routing fewest-buses is for networks of rings, not for a {topology.kind}"
        raise scenario.error(message, ("routing", "kind"), 'choose "auto"')
    for place, fault in enumerate(scenario.fault):
        if fault.bus is not None:
            message = f"buses join the rings of SCI switches; a network of kind {topology.kind} has none"
            hint = 'name a switch, as in switch = "s0"'
            raise scenario.error(message, ("fault", place, "bus"), hint, key=True)


def _of_rings(scenario: Scenario) -> None:
    """Check that a network of rings has a technology of rings, and a routing and traffic that it can have."""
    technology, topology, routing = scenario.technology, scenario.topology, scenario.routing
    _networks(scenario)
    if technology.network_kind is not scenario.network_kind:
        message = (
            f'technology.preset "{technology.preset}" has no rings, {topology.kind} is a network of rings'
        )
        hint = f"choose {', '.join(get_args(RingPreset))}, or leave it out"
        raise scenario.error(message, _PRESET, hint)
    is_usual = isinstance(routing, Auto) and routing.model_copy(update={"traffic_class": None}) == Auto()
    if not (isinstance(routing, FewestBuses | Table) or is_usual):
        message = (
            f"{topology.kind} has no other routing than over the fewest buses, or by a table of your own"
        )
        raise scenario.error(message, ("routing",), "remove the section")
    if isinstance(routing, Table):
        for name in sorted((set(AnyRouting.model_fields) - {"traffic_class"}) & set(scenario.raw["routing"])):
            message = f"routing.{name} is not for rings: a table says one way to each terminal"
            raise scenario.error(message, ("routing", name), "remove it", key=True)
    for place, one in enumerate(routing.traffic_class or []):
        if one.lanes is not None:
            message = "links of rings have no lanes; a traffic class has ports of its own there"
            path = ("routing", "traffic_class", place, "lanes")
            raise scenario.error(message, path, "write for example ports = [0]", key=True)
    if getattr(scenario.traffic.pattern, "include_self", None):
        message = f"no packet of a {topology.kind} goes to its own sender"
        raise scenario.error(message, ("traffic", "pattern", "include_self"), "remove it")


def _networks(scenario: Scenario) -> None:
    """Check each network by itself, and that no plane is of links beside others of rings."""
    topology: Any = scenario.topology
    networks: list[tuple[Path, Any]] = [(("topology",), topology)]
    if topology.kind == "planes":
        networks = [
            (("topology", "planes", place, "network"), plane.network)
            for place, plane in enumerate(topology.planes)
        ]
    for path, network in networks:
        if isinstance(network, SciRings) and [network.path, network.rings].count(None) != 1:
            message = "a network of kind sci-rings takes either rings or the path of a file"
            raise scenario.error(message, path, 'write for example rings = [["t0", "t1"], …]')
        if network_kind(network) is not scenario.network_kind:
            message = f"a {network.kind} is a network of links, and another plane is one of rings"
            hint = "planes are all of links or all of rings: put the network in a scenario of its own"
            raise scenario.error(message, (*path, "kind"), hint)


_CHECKS = {LINKS: _of_links, RINGS: _of_rings}
