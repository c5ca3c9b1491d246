"""The interface chips of terminals: what each adds to the times of its links."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..scenario import Scenario
from ..scenario.errors import Path
from ..technology import Interface, Technology, TechnologyError, interface
from ..technology.model import Ps, Rate
from ..topology import Graph
from ..traffic.names import Terminals
from .columns import Times, per_link, vertices_named, whole


@dataclass(frozen=True)
class Interfaces:
    """The chips of a network."""

    chips: list[Interface]
    at: NDArray[np.int64]
    """Per vertex, 1 more than the place of its chip in ``chips``; 0: it has none."""

    def added_ps(
        self, graph: Graph, tech: Technology, signal: Literal["character", "code"]
    ) -> NDArray[np.int64]:
        """Return, per link, what chips add to the arrival of a character or a code, in ps.

        ``receive`` replaces the receiver's delay; see the page of the model.
        """
        if not self.chips:
            return np.zeros(graph.links, np.int64)
        prefix = "" if signal == "character" else "time_code_"

        def delays(rate: Rate | None, _: float | None, chip: int) -> dict[str, Ps]:
            if chip == 0:
                return {"transmit": 0, "receive": 0}
            one, at_rate = self.chips[chip - 1], tech.link_rate_bits_per_s if rate is None else rate
            receive_ps = one.delay_ps(f"{prefix}receive", at_rate) - tech.receiver_latency_ps
            return {"transmit": one.delay_ps(f"{prefix}transmit", at_rate), "receive": receive_ps}

        source, target = self._at_ends(graph)
        return per_link(graph, delays, source)["transmit"] + per_link(graph, delays, target)["receive"]

    def external(self, graph: Graph) -> NDArray[np.bool_]:
        """Return, per link, whether it is that of an external port."""
        is_external = np.array([False, *(chip.external for chip in self.chips)])
        source, target = self._at_ends(graph)
        return is_external[source] | is_external[target]

    def wired(self, graph: Graph, tech: Technology, times: Times) -> Times:
        """Return the times of links with external ports as characters in parallel have them.

        An end of packet takes as long as a character, and there are no flow-control characters.
        """
        external = self.external(graph)
        if not external.any():
            return {}
        alone = tech.beside(Fraction(0))

        def wires(rate: Rate | None, length: float | None, _: int) -> dict[str, Ps]:
            return {"character": alone.character_ps(rate), "cable": tech.cable_ps(length)}

        wire = per_link(graph, wires)
        into_terminal = (np.asarray(graph.link_target) >= graph.switches).astype(np.int64)
        own = {
            "character": wire["character"],
            "end": wire["character"],
            "arrival": wire["character"]
            + wire["cable"]
            + whole([0, tech.receiver_latency_ps])[into_terminal],
            "credit": np.maximum(1, times["credit"] - times["flow_control"]),
            "flow_control": np.zeros(graph.links, np.int64),
        }
        return {name: np.where(external, value, times[name]) for name, value in own.items()}

    def spaced(self, graph: Graph, tech: Technology, times: Times) -> Times:
        """Return the times of links into chips whose logic reads slowly or whose receive FIFO is small.

        Their characters are spaced evenly, and each arrives at the end of its spacing.
        """
        if not self.chips:
            return {}
        spacing = self.spacing_ps(graph, tech)
        longer = {name: np.maximum(times[name], spacing) for name in ("character", "end")}
        return {**longer, "arrival": times["arrival"] + longer["character"] - times["character"]}

    def spacing_ps(self, graph: Graph, tech: Technology) -> NDArray[np.int64]:
        """Return, per link, the time for which its receiver lets pass between two characters; 0: none."""

        def spacings(rate: Rate | None, length: float | None, chip: int) -> dict[str, Ps]:
            return {"spacing": self.chips[chip - 1].spacing_ps(tech, rate, length) if chip else 0}

        return per_link(graph, spacings, self._at_ends(graph)[1])["spacing"]

    def _at_ends(self, graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.at[np.asarray(graph.link_source)], self.at[np.asarray(graph.link_target)]


def interfaces_of(scenario: Scenario, graph: Graph, tech: Technology) -> Interfaces:
    """Return the interface chips of a scenario, checked. Raises ScenarioError."""
    at = np.zeros(graph.switches + len(graph.port_names), np.int64)
    if not scenario.interface:
        return Interfaces([], at)

    named = Terminals(graph.terminal_names)
    chips: list[Interface] = []
    others: int | None = None
    for place, one in enumerate(scenario.interface):
        try:
            chips.append(interface(one.preset, one.overrides()))
        except TechnologyError as error:
            raise scenario.located(error, "interface", (place,)) from error
        if one.terminals is None:
            if others is not None:
                message = "another [[interface]] has no terminals already, and is for all that are not named"
                hint = "name the terminals of one of the two"
                raise scenario.error(message, ("interface", place), hint)
            others = place
        for entry, name in named.ranges(one.terminals or []):
            _claim(scenario, graph, at, place, entry, name)
    if others is not None:
        at[graph.switches :][at[graph.switches :] == 0] = others + 1
    found = Interfaces(chips, at)
    _check_links(scenario, graph, tech, found)
    _check_external(scenario, graph, tech, found)
    return found


def _claim(
    scenario: Scenario, graph: Graph, at: NDArray[np.int64], place: int, entry: int, name: str | int
) -> None:
    """Give the ports of a terminal a chip."""
    path: Path = ("interface", place, "terminals", entry)
    vertices = vertices_named(scenario, graph, "terminal", name, path)
    if at[vertices].any():
        message = f"{graph.port_names[vertices[0] - graph.switches]} has an interface chip already"
        raise scenario.error(message, path, "name it once")
    at[vertices] = place + 1


def _check_links(scenario: Scenario, graph: Graph, tech: Technology, found: Interfaces) -> None:
    """Refuse links that a chip cannot have."""
    source, target = found._at_ends(graph)
    for place, one in enumerate(found.chips):

        def check(rate: Rate | None, length: float | None, has: int, one: Interface = one) -> dict[str, int]:
            if has:
                one.check_link(tech, rate, length)
            return {"nothing": 0}

        try:
            per_link(graph, check, ((source == place + 1) | (target == place + 1)).astype(np.int64))
        except TechnologyError as error:
            raise scenario.located(error, "interface", (place,)) from error


def _check_external(scenario: Scenario, graph: Graph, tech: Technology, found: Interfaces) -> None:
    """Refuse external ports of routers whose delays do not say what SpaceWire ports take, or of none."""
    place = next((place for place, chip in enumerate(found.chips) if chip.external), None)
    if place is None:
        return
    if not tech.receive_ps:
        message = f"the delays of {tech.preset} do not say what a SpaceWire port alone takes"
        hint = 'write technology.preset = "spw-10x", or router_latency with router_receive'
        raise scenario.error(message, ("interface", place), hint)
    if not graph.switches:
        message = "an external port is that of a router, and there is none"
        raise scenario.error(message, ("interface", place), "remove it")
