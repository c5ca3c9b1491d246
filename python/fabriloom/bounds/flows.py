"""The flows of a scenario and the links that their packets may take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..compile import Compiled
from ..compile.several import port_pairs
from ..routing import NONE, OWN
from ..scenario import ScenarioError
from ..technology import Technology
from .wires import Costs

MOST_STATES = 1 << 20
"""Limit of links times flows: some seconds."""


@dataclass(frozen=True)
class Flow:
    """Packets from one terminal to another; packets of a list with another length are another flow."""

    source: int
    target: int
    payload: int
    """Bytes of the longest packet."""
    payload_chars: int
    """Its characters, without address, header and end."""
    around: int
    """Characters of address, header and end when a packet starts."""
    ports: tuple[int, int] | None = None
    """If terminals have several ports: the sending and the receiving port of all packets."""

    @property
    def characters(self) -> int:
        """Characters of the longest packet."""
        return self.payload_chars + self.around

    @property
    def first(self) -> int:
        """Sending port."""
        return self.source if self.ports is None else self.ports[0]

    @property
    def last(self) -> int:
        """Receiving port."""
        return self.target if self.ports is None else self.ports[1]


Way = dict[int, tuple[int, ...]]
"""By incoming link (``NONE`` at the source): the links of which a packet may be granted one."""


def flows_of(compiled: Compiled) -> tuple[list[Flow], int]:
    """Return all flows with their longest packets, and the characters of the shortest packet of all.

    Flows of a list between the same two terminals are adjacent, the longest packets first.
    """
    arrays = compiled.arrays
    around = int(arrays["header_chars"]) + 1
    if len(arrays["flow_length"]):
        flows = sorted(set(listed(compiled)), key=lambda flow: (flow.source, flow.target, -flow.payload))
        return flows, compiled.technology.payload_chars(int(arrays["flow_length"].min())) + around
    longest, shortest = _lengths(arrays)
    source, target = _pairs(compiled)
    chars = compiled.technology.payload_chars(shortest)
    return _flows(compiled, source, target, longest[source]), chars + around


def _pairs(compiled: Compiled) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs with traffic, each once, in the order of the terminals."""
    demand, terminals = compiled.demand(), compiled.graph.terminals
    sends = np.zeros((terminals, terminals), bool)
    sends[demand.even > 0] = True
    np.fill_diagonal(sends, False)
    sends[demand.source, demand.target] = True
    source, target = np.nonzero(sends)
    return source, target


def _flows(compiled: Compiled, source: np.ndarray, target: np.ndarray, payload: np.ndarray) -> list[Flow]:
    around = np.full(len(source), int(compiled.arrays["header_chars"]) + 1)
    if compiled.graph.several is None:
        around += compiled.routes.addresses.of(source, target)
    of = compiled.technology.payload_chars
    chars = np.array([of(size) for size in payload.tolist()], np.int64)
    columns = (column.tolist() for column in (source, target, payload, chars, around))
    return [Flow(*row) for row in zip(*columns, strict=True)]


def by_ports(compiled: Compiled, flows: list[Flow]) -> list[Flow]:
    """Return the flows with their ports. Raises ScenarioError if packets of one flow take several."""
    routes, choice = compiled.routes, compiled.scenario.port_choice
    if routes.graph.several is None:
        return flows
    source, target = (
        np.array([getattr(flow, end) for flow in flows], np.int64) for end in ("source", "target")
    )
    pair, port, to = port_pairs(routes, choice, source, target)
    if len(pair) > len(flows):
        default = ", which is the default," if compiled.scenario.ports is None else ""
        message = (
            f'with choice "{choice}"{default} packets of one flow go by several ports: there is no bound'
        )
        path = ("topology",) if compiled.scenario.ports is None else ("ports", "choice")
        hint = 'write [ports] choice = "destination" or "nominal", or give each traffic class one port'
        raise compiled.scenario.error(message, path, hint)
    address = routes.addresses.of(port, to)
    ends = zip(pair.tolist(), port.tolist(), to.tolist(), address.tolist(), strict=True)
    return [
        replace(flows[at], ports=(own, other), around=flows[at].around + more)
        for at, own, other, more in ends
    ]


def listed(compiled: Compiled) -> list[Flow]:
    """Return the packets of each row of flows."""
    arrays = compiled.arrays
    per_source = np.diff(arrays["flow_start"].astype(np.int64))
    source = np.repeat(np.arange(len(per_source)), per_source)
    target, length = (arrays[f"flow_{name}"].astype(np.int64) for name in ("target", "length"))
    return _flows(compiled, source, target, length)


def flow_of_rows(compiled: Compiled, flows: Sequence[Flow]) -> list[int]:
    """Return the index, among the flows, of each row of flows."""
    number = {(flow.source, flow.target, flow.payload): place for place, flow in enumerate(flows)}
    return [number[row.source, row.target, row.payload] for row in listed(compiled)]


def _lengths(arrays: dict[str, Any]) -> tuple[np.ndarray, int]:
    """Return the payload of the longest packet per terminal, and of the shortest packet of all, in bytes."""
    terminals = int(arrays["terminals"])
    if len(arrays["list_length"]):
        longest = np.zeros(terminals, np.int64)
        owner = np.repeat(np.arange(terminals), np.diff(arrays["list_start"].astype(np.int64)))
        np.maximum.at(longest, owner, arrays["list_length"])
        return longest, int(arrays["list_length"].min())
    if len(arrays["length_values"]):
        values = arrays["length_values"]
        return np.full(terminals, int(values.max())), int(values.min())
    sends = arrays["source_arrival"] > 0
    low = arrays["length_min"][sends].astype(np.int64)
    return arrays["length_max"].astype(np.int64), int(low.min(initial=1 << 40))


class Network:
    """Lanes of links, which everything here calls links where each has one; groups; times in ticks."""

    costs: Costs
    """What a packet costs, known when the flows of all lanes are."""

    def __init__(self, compiled: Compiled) -> None:
        arrays = compiled.arrays
        self.compiled = compiled
        self.switches = int(arrays["switches"])
        self.lanes = int(arrays["lanes"])
        self.target = np.repeat(arrays["link_target"].astype(np.int64), self.lanes).tolist()
        self.out_link = (arrays["terminal_out_link"].astype(np.int64) * self.lanes).tolist()
        """Per port the first lane of its link: all of them are alike."""
        own = (
            arrays["link_lanes"]
            if len(arrays["link_lanes"])
            else np.full(len(arrays["link_source"]), self.lanes)
        )
        self.sending: list[int] = own.tolist()
        """Per link: on how many of its lanes a terminal sends."""
        self.route, self.start, self.end = (arrays[name] for name in ("route", "route_start", "route_end"))
        self.columns = len(self.route) // max(1, self.switches)
        self.column, self.exit = arrays["class_column"], arrays["class_exit"]
        self.terminal_class = arrays["terminal_class"].astype(np.int64).tolist()
        self.pairs = [
            arrays[name].astype(np.int64)
            for name in ("class_between", "port_class_from", "port_class_to", "class_headers")
        ]
        """The class of each pair, with the first place of each sender and that of each target behind it, or
        else the bits of the classes of both; and what a class adds to that of a target."""
        start, links = arrays["group_start"].astype(np.int64), arrays["group_links"].astype(np.int64)
        self.groups = [tuple(links[a:b].tolist()) for a, b in pairwise(start.tolist())]
        self.draws = len(arrays["group_parts"]) > 0
        """Whether a packet waits for one link of its group, which it has drawn."""

    def name(self, link: int) -> str:
        """Return the name of a link, and which of its lanes, if it has several."""
        name = self.compiled.graph.link_names[link // self.lanes]
        return name if self.lanes == 1 else f"lane {link % self.lanes} of {name}"

    def way(self, flow: Flow) -> Way:
        """Return the path of a flow: its requests for links."""
        first = self.out_link[flow.first]
        todo = [*range(first, first + self.sending[first // self.lanes])]
        found: Way = {NONE: tuple(todo)}
        seen = set(todo)
        column = self.class_of(flow)
        while todo:
            link = todo.pop()
            switch = self.target[link]
            if switch >= self.switches:
                continue
            links = self.groups[self._entry(switch, column) >> 1]
            found[link] = links
            for other in links:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return found

    def class_of(self, flow: Flow) -> int:
        """Return the routing class of the packets of a flow."""
        between, rows, places, added = self.pairs
        own = self.terminal_class[flow.last]
        if not len(added):
            return own
        sender, target = int(rows[flow.first]), int(places[flow.last])
        if len(between):
            return own + int(added[between[sender + target]])
        both = sender & target
        lowest = (both & -both).bit_length() - 1
        return own + int(added[lowest])

    def _entry(self, switch: int, column: int) -> int:
        if not len(self.column):
            return int(self.route[switch * self.columns + column])
        place = switch * self.columns + int(self.column[column])
        if len(self.start):
            first, last = self.start[switch : switch + 2].tolist()
            place = first + int(np.searchsorted(self.end[first:last], self.column[column], side="right"))
        entry = int(self.route[place])
        return int(self.exit[column]) if entry == OWN else entry


def doubted(network: Network) -> ScenarioError | None:
    """Return why the recursion does not hold, or an empty string; raises ScenarioError if no bound holds.

    The recursion requires that an input waits for every other input at most once.
    """
    compiled = network.compiled
    refused, tech = compiled.scenario.error, compiled.technology
    assert isinstance(tech, Technology)
    if getattr(compiled.scenario.routing, "distribution", None):
        message = (
            "a packet that goes to several terminals waits for all of its links at once: there is no bound"
        )
        hint = "remove it to see what is guaranteed without"
        raise refused(message, ("routing", "distribution"), hint, key=True)
    if compiled.routes.via:
        message = "with universal routing every flow may pass every switch: no useful bound exists"
        raise refused(message, ("routing", "universal"), "leave it out")
    if tech.arbiter not in ("fifo", "round-robin"):
        message = f'with arbiter "{tech.arbiter}" a packet can wait without end: there is no bound {WITHOUT}'
        return refused(message, ("technology", "arbiter"), f'choose "round-robin" or "fifo", or {PERIODS}')
    if len(compiled.arrays["port_priority"]):
        message = (
            f"with two priorities a packet of the low one can wait without end: there is no bound {WITHOUT}"
        )
        return refused(message, ("routing", "high_priority"), f"remove it, or {PERIODS}")
    links = Counter(link for group in network.groups for link in group)
    if max(links.values(), default=0) > 1 and not network.draws:
        twice = min(link for link, count in links.items() if count > 1)
        name = network.name(twice)
        message = (
            f"{name} is in two groups of links, and packets of one can go before those of the other always: "
            f"there is no bound {WITHOUT}"
        )
        hint = f"choose a routing whose groups have no link in common, such as adaptive = false, or {PERIODS}"
        return refused(message, ("routing",), hint)
    return None


WITHOUT = "without periods"
PERIODS = "give every flow that can be in the way a period"
