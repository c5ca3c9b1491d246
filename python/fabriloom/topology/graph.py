"""The graph: switches, terminals and directed links, before any technology or routing.

A graph is a directed multigraph. Vertices are numbered switches first, then terminals. A cable is two links,
one per direction, each the ``reverse`` of the other; a one-way link has no reverse. Parallel links are kept.

In the graphs of the built-in families terminal ``t`` sends on link ``2 t`` and receives on link ``2 t + 1``,
the two links of a cable between switches follow each other, and parallel cables are neighbours in number. A
graph read from a file keeps the order of the file; ``terminal_out_links`` and ``terminal_in_links`` hold for
all.

A cable between two terminals is a network without switches: each terminal sends on one link of it and
receives on the other.

Every ``layout`` has ``parameters`` (what the family was built with) and, per family:

==================  =====================================================================================
cable, crossbar     nothing more
ring, grid, torus,  ``shape`` (list), ``coordinates`` (switches, dimensions), ``wrap`` (bool),
hypercube           ``terminals_per_switch``, ``links_per_edge``
hyperx              as those, but for ``links_per_edge``; ``complete``: every pair along a dimension is joined
clos, clos5,        ``levels``: per switch the height above the terminals' switches (0, 1, …), for up-down
fat_tree, xgft,     routing; ``terminals_per_switch`` (of the switches of level 0)
star, tree
dragonfly,          ``groups``: per switch its group; ``terminals_per_switch``
dragonfly_plus
banyan              ``base``, ``stages``, ``variant``, ``levels`` (per switch its stage, 0 first),
                    ``output_port`` (per link the port of the switch it leaves by, -1 on a terminal's link),
                    ``tag_digit`` (per stage the digit of the destination, 0 the least significant, that is
                    the output port to take)
file                nothing more
sci-…               see the builders; all have ``rings``, and link ``l`` is the output of station ``l``
==================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading import DescriptionError
from .kinds import LINKS, RINGS, NetworkKind
from .rings import Rings

Ints = NDArray[np.int64]

MAX_TERMINALS = 1 << 20
"""More terminals than this are refused."""
AS_CABLES = (
    'if they are cables, say so in the file: edgedefault="undirected" in GraphML, "directed": false in JSON, '
    "kind cable in CSV"
)
"""What to do where links of a file have no opposite direction, perhaps by an oversight."""
AS_SETTINGS = "a network of rings is more than its links: write the settings that build it into [topology]"
MAX_LINKS = 1 << 23
"""More links (one direction each) than this are refused."""


class GraphError(DescriptionError):
    """A graph that cannot be built. ``parameter``: the wrong argument of the family."""


@dataclass(frozen=True)
class Plane:
    """One of several networks that share only terminals."""

    name: str
    graph: Graph
    """The network of the plane; its terminals are ports, with the names of the terminals that have them."""
    port: Ints
    """Per terminal of ``graph``: the number of the port."""
    first_switch: int
    """Number of its first switch in the whole graph; the others follow it."""
    first_link: int
    """Number of its first link in the whole graph."""

    @property
    def links(self) -> slice:
        """Its links in the whole graph."""
        return slice(self.first_link, self.first_link + self.graph.links)


@dataclass(frozen=True)
class Ports:
    """The ports of terminals with several ports, and their networks."""

    names: list[str]
    terminal: Ints
    """Per port: its terminal, ascending."""
    planes: tuple[Plane, ...]

    @cached_property
    def plane(self) -> Ints:
        """Per port: the number of its plane."""
        found = np.empty(len(self.names), np.int64)
        for number, plane in enumerate(self.planes):
            found[plane.port] = number
        return found

    @cached_property
    def starts(self) -> Ints:
        """Per terminal and one more: its first port."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.terminal))])


@dataclass(frozen=True)
class Graph:
    """A network: switches, terminals and links.

    A terminal has one port or several. A port sends on exactly one link and receives on exactly one link;
    they belong to the same cable, except in one-way multistage networks.
    """

    switch_names: list[str]
    terminal_names: list[str]
    link_source: Ints
    """Source vertex per link (switches first, then ports of terminals)."""
    link_target: Ints
    """Target vertex per link."""
    link_reverse: Ints
    """Per link: the opposite direction of the same cable, or -1."""
    link_names: list[str]
    family: str
    """Name of the topology family, for routing that needs the structure: "grid", "clos", …"""
    layout: dict[str, Any] = field(default_factory=dict)
    """Data for the family's routing: ``shape``, ``coordinates``, ``levels``, …"""
    positions: NDArray[np.float64] | None = None
    """Position of each switch in drawings, shape (switches, 2): x to the right, y downwards, neighbours about
    1 apart; None: chosen by the drawing."""
    attributes: dict[str, NDArray[Any]] = field(default_factory=dict)
    """Optional per-link overrides read from a graph file: ``rate_bits_per_s``, ``length_m`` (NaN: not
    given)."""
    rings: Rings | None = None
    """The rings and buses of a ring network; None: a network of switches with crossbars."""
    several: Ports | None = None
    """The ports of terminals that have several; None: one each, which has the number of its terminal."""
    remarks: tuple[str, ...] = ()
    """Remarks for the user about the file that it was read from."""
    extremes: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """The lowest and highest port and address that the file gives: see ``port_addresses.check_limits``."""

    def __eq__(self, other: object) -> bool:
        """Whether all but ``extremes`` is the same; arrays have no truth value of their own."""
        return isinstance(other, Graph) and _same(self, other)

    @property
    def kind(self) -> str:
        """Return "links" or "rings"."""
        return self.network_kind.name

    @property
    def network_kind(self) -> NetworkKind:
        """What networks of this kind have."""
        return LINKS if self.rings is None else RINGS

    @property
    def own_rings(self) -> Rings:
        """The rings of a network that has some."""
        assert self.rings is not None
        return self.rings

    @property
    def partner(self) -> Ints | None:
        """Per terminal: its partner for local traffic, -1 for none; None: there are no local pairs."""
        return None if self.rings is None else self.rings.partner

    def terminals_of(self, role: str) -> Ints:
        """Return the terminals that have a role ("sender" or "receiver"), including those with both."""
        every = np.arange(self.terminals)
        return every if self.rings is None else self.rings.terminals_of(role, self.terminals)

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.switch_names)

    @property
    def terminals(self) -> int:
        """Number of terminals."""
        return len(self.terminal_names)

    @property
    def port_names(self) -> list[str]:
        """Names of the ports of all terminals."""
        return self.terminal_names if self.several is None else self.several.names

    @property
    def ports(self) -> int:
        """Number of ports of all terminals."""
        return len(self.port_names)

    @property
    def planes(self) -> tuple[Plane, ...]:
        """The networks it consists of: several, or itself."""
        if self.several is not None:
            return self.several.planes
        return (Plane("", self, np.arange(self.terminals), 0, 0),)

    @cached_property
    def face(self) -> Graph:
        """Return the network as sources see it, with one port per terminal: the first plane if it has all
        terminals in order, otherwise the whole network with the first ports.
        """
        if self.several is None:
            return self
        first = self.planes[0].graph
        if first.terminal_names == self.terminal_names:
            return first
        terminal = self.several.terminal
        is_first = np.concatenate([[True], np.diff(terminal) > 0])
        if self.rings is not None:
            return self._ring_face(self.terminal_out_links[is_first])
        place = np.concatenate([np.arange(self.switches), np.where(is_first, self.switches + terminal, -1)])
        source, target = place[self.link_source], place[self.link_target]
        kept = (source >= 0) & (target >= 0)
        return Graph(
            switch_names=self.switch_names,
            terminal_names=self.terminal_names,
            link_source=source[kept],
            link_target=target[kept],
            link_reverse=np.full(int(kept.sum()), -1),
            link_names=[name for name, one in zip(self.link_names, kept, strict=True) if one],
            family=self.family,
            attributes={name: values[kept] for name, values in self.attributes.items()},
        )

    def _ring_face(self, out: Ints) -> Graph:
        """Return the terminals of networks of rings, each with one of these links alone."""
        own = np.arange(self.terminals)
        return Graph(
            switch_names=[],
            terminal_names=self.terminal_names,
            link_source=own,
            link_target=own,
            link_reverse=np.full(self.terminals, -1),
            link_names=[self.link_names[link] for link in out.tolist()],
            family=self.family,
            attributes={name: values[out] for name, values in self.attributes.items()},
            rings=self.rings,
        )

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.link_source)

    def __repr__(self) -> str:
        """Return one line: family and size."""
        sizes = f"{self.switches:,} switches, {self.terminals:,} terminals, {self.links:,} links"
        if self.several is not None:
            sizes = f"{len(self.planes)} planes, {sizes}"
        return f"<Graph {self.family}: {sizes}>"

    def vertex_name(self, vertex: int) -> str:
        """Name of a switch, or of a terminal or its port, by vertex number."""
        return (
            self.switch_names[vertex] if vertex < self.switches else self.port_names[vertex - self.switches]
        )

    @cached_property
    def terminal_out_links(self) -> Ints:
        """Per port: the link it sends on."""
        return self._terminal_links(self.link_source)

    @cached_property
    def terminal_in_links(self) -> Ints:
        """Per port: the link it receives on."""
        return self._terminal_links(self.link_target)

    @property
    def terminal_entry_switches(self) -> Ints:
        """Per port: the switch it sends into; without switches the other terminal."""
        return self.link_target[self.terminal_out_links]

    @property
    def terminal_exit_switches(self) -> Ints:
        """Per port: the switch it receives from (another one only in one-way multistage networks)."""
        return self.link_source[self.terminal_in_links]

    @property
    def usual_links(self) -> NDArray[np.bool_]:
        """Return, per link, whether it has the technology of the network, and not one of its own."""
        return np.isnan(self.attributes.get("technology", np.full(self.links, np.nan)))

    @property
    def switch_links(self) -> Ints:
        """Links between two switches, ascending."""
        return np.flatnonzero((self.link_source < self.switches) & (self.link_target < self.switches))

    def _terminal_links(self, ends: Ints) -> Ints:
        links = np.flatnonzero(ends >= self.switches)
        by_port = np.empty(self.ports, np.int64)
        by_port[ends[links] - self.switches] = links
        return by_port


def whole(value: object, parameter: str, low: int, high: int, what: str, hint: str = "") -> int:
    """Check a whole number among a family's parameters; ``what`` it counts, ``hint`` for its limits."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise GraphError(f"{parameter} ({what}) must be a whole number, not {value!r}", parameter)
    if not low <= value <= high:
        why = f": {hint}" if hint else ""
        message = f"{parameter} ({what}) is {counted(int(value))}; it must be from {low} to {high}{why}"
        raise GraphError(message, parameter)
    return int(value)


def terminals_at(count: object, where: str = "on each switch") -> int:
    """Check the number of terminals at each switch."""
    return whole(count, "terminals_per_switch", 1, MAX_TERMINALS, f"the terminals {where}")


def check_size(terminals: int, cables: int, parameter: str) -> None:
    """Refuse absurd sizes before allocating memory.

    ``terminals`` and ``cables`` (all cables, those of terminals included) are Python integers of any size.
    """
    if terminals > MAX_TERMINALS:
        raise GraphError(
            f"{parameter} asks for {counted(terminals)} terminals; at most {MAX_TERMINALS:,} are built. "
            f"Make {parameter} smaller",
            parameter,
        )
    if 2 * cables > MAX_LINKS:
        raise GraphError(
            f"{parameter} asks for {counted(2 * cables)} links (two per cable); at most {MAX_LINKS:,} are "
            f"built. Make {parameter} smaller",
            parameter,
        )


def counted(value: int) -> str:
    """Format a number that may be very large."""
    if abs(value) < 10**15:
        return f"{value:,}" if value >= 10_000 else str(value)
    return f"about 10^{int(abs(value).bit_length() * 0.30103)}"


def _at_switch(switch: str, number: int) -> str:
    return f"t{switch[switch.index('(') :]}.{number}"


def assemble(
    family: str,
    switch_names: list[str],
    terminal_switch: Ints,
    edges: tuple[Ints, Ints],
    parallel: int | Ints,
    positions: NDArray[np.float64],
    layout: dict[str, Any] | None = None,
    terminal_name: Callable[[str, int], str] = _at_switch,
) -> Graph:
    """Build a graph in which every cable has two directions.

    ``terminal_switch``: per terminal its switch; terminals of one switch are consecutive.
    ``terminal_name(switch name, number within the switch)`` names a terminal, at first ``t(i).k`` at the
    switch ``s(i)``. ``edges``: two arrays of the switches at the ends of each edge; every edge becomes
    ``parallel`` cables (one number, or one per edge).
    """
    switches = len(switch_names)
    counts = np.broadcast_to(np.asarray(parallel, np.int64), edges[0].shape)
    _, first = np.unique(terminal_switch, return_index=True)
    start = np.zeros(switches, np.int64)
    start[terminal_switch[first]] = first
    within = (np.arange(len(terminal_switch)) - start[terminal_switch]).tolist()
    homes = [switch_names[switch] for switch in terminal_switch.tolist()]
    terminal_names = [terminal_name(home, number) for home, number in zip(homes, within, strict=True)]

    terminal_vertex = switches + np.arange(len(terminal_names))
    near = np.concatenate([terminal_vertex, np.repeat(edges[0], counts)])
    far = np.concatenate([terminal_switch, np.repeat(edges[1], counts)])
    link_source = np.column_stack([near, far]).ravel()
    link_target = np.column_stack([far, near]).ravel()

    link_names: list[str] = []
    for terminal, home in zip(terminal_names, homes, strict=True):
        link_names += (f"{terminal}>{home}", f"{home}>{terminal}")
    for a, b, count in zip(edges[0].tolist(), edges[1].tolist(), counts.tolist(), strict=True):
        forth, back = f"{switch_names[a]}>{switch_names[b]}", f"{switch_names[b]}>{switch_names[a]}"
        for number in range(count):
            tail = f"#{number}" if count > 1 else ""
            link_names += (forth + tail, back + tail)
    return Graph(
        switch_names=switch_names,
        terminal_names=terminal_names,
        link_source=link_source,
        link_target=link_target,
        link_reverse=np.arange(len(link_source), dtype=np.int64) ^ 1,
        link_names=link_names,
        family=family,
        layout=layout or {},
        positions=positions,
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two values, with all that they contain, are the same."""
    if isinstance(one, np.ndarray):
        alike = isinstance(other, np.ndarray) and one.dtype == other.dtype
        return alike and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        compared = (part.name for part in fields(one) if part.compare)
        return all(_same(getattr(one, name), getattr(other, name)) for name in compared)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
