"""A graph as a list of named parts; every reader of a file format produces it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from ..reading.texts import escaped, refused_in
from . import doubtful, port_addresses
from .foreign import Foreign
from .graph import AS_CABLES, AS_SETTINGS, MAX_TERMINALS, Graph, GraphError, whole
from .joined import MOST_PORTS
from .kinds import kind_of
from .several import with_ports

PORTS = ("source_port", "target_port")
ATTRIBUTES = ("rate_bits_per_s", "length_m", "delay_ps", "buffer_chars", "buffer_bytes", "lanes", *PORTS)
"""Numbers that a file may give per link."""
CABLE = "technology"
"""The preset of a cable of another technology than the network's: its place in ``CABLES``."""
CABLES = ("spacewire-200",)
CYCLE = "cycle_ps"
"""A number that a file gives per switch or terminal; links have that of the vertex that they leave."""

SMALLEST_RATE_BITS_PER_S = 10**3
LARGEST_RATE_BITS_PER_S = 512 * 10**11
"""Range of link rates: up to 64 B in 10 ps. A technology of shorter characters refuses lower ones."""
LONGEST_DELAY_PS = 10**12
"""The longest delay of a cable; beside short characters the engine's steps limit it further."""
LONGEST_CYCLE_PS = 10**9
"""A clock of 1 kHz."""
MOST_LANES, MOST_BUFFER = 16, 1 << 24
"""Most lanes of a link, and the largest buffer in characters or bytes."""


_PARTS_SHOWN = 4
_NAMES_SHOWN = 4


@dataclass
class RawVertex:
    """A switch or a terminal, and its place in the file ("line 12", "nodes[3]")."""

    name: str
    terminal: bool
    where: str
    x: float | None = None
    y: float | None = None
    address: int | None = None
    """Logical address of the first port of a terminal in each network."""
    cell: str = "source"
    """Column of a table in which its name stands."""
    label: str | None = None
    """The name that it gets in the end, if the file calls it otherwise."""
    numbers: dict[str, float] = field(default_factory=dict)
    """Its cycle; and buffer and lanes of the links that lead to it, where those have no others."""


@dataclass
class RawLink:
    """One direction of a cable, or a one-way link. ``cable``: an id shared by its two directions, or None."""

    source: str
    target: str
    name: str | None
    cable: Any
    where: str
    numbers: dict[str, float] = field(default_factory=dict)
    index: float | None = None
    """Place in the order of links, for formats that do not keep it."""
    address: int | None = None
    """Logical address of the port of the terminal at one end."""
    back: bool = False
    """Whether it is the way from the target to the source of its line in the file."""


@dataclass
class RawGraph:
    """The content of a file. ``origin``: name of the file, with which messages begin."""

    origin: str
    vertices: dict[str, RawVertex] = field(default_factory=dict)
    links: list[RawLink] = field(default_factory=list)
    cables: int = 0
    """Number of cables so far; a tuple with this number cannot equal an id of a file."""
    family: str | None = None
    parameters: dict[str, Any] | None = None
    foreign: Foreign = field(default_factory=Foreign)
    """The attributes that are not ours."""
    extremes: dict[tuple[bool, str], port_addresses.Number] = field(default_factory=dict)
    implied: dict[str, None] = field(default_factory=dict)
    """The switches that only cables name."""

    def fail(self, message: str, where: str = "", cell: str | None = None) -> NoReturn:
        """Raise a GraphError at a place in the file; ``cell``: the column at fault, if it is a table."""
        raise GraphError(": ".join(part for part in (self.origin, where, message) if part), "path", cell)

    def add_vertex(self, vertex: RawVertex) -> None:
        """Add a switch or terminal. Raises GraphError for a duplicate name."""
        before = self.vertices.get(vertex.name)
        if before is not None:
            both = "; a terminal's second cable is a cable of its own" if vertex.terminal else ""
            message = f'"{vertex.name}" is there already ({before.where}); names must differ{both}'
            self.fail(message, vertex.where, vertex.cell)
        if not vertex.name:
            self.fail("a switch or terminal has no name", vertex.where)
        self._check_name(vertex.name, vertex.where, vertex.cell)
        if len(self.vertices) >= 2 * MAX_TERMINALS:
            self.fail(f"more than {2 * MAX_TERMINALS:,} switches and terminals", vertex.where)
        self.vertices[vertex.name] = vertex

    def _check_name(self, name: str, where: str, cell: str) -> None:
        if found := refused_in(name):
            message = f'the name "{escaped(name)[:80]}" holds {found}, which is not printable'
            self.fail(message, where, cell)

    def add_links(self, link: RawLink, parallel: int = 1) -> None:
        """Add ``parallel`` one-way links with the attributes of ``link``."""
        if parallel > 1 and (link.name or link.cable is not None):
            self._fail_of_parallel("a name or a cable", link.where)
        self.links += [replace(link) for _ in range(parallel)]

    def add_cable(self, link: RawLink, back_name: str | None = None, parallel: int = 1) -> None:
        """Add ``parallel`` cables, two links each, with the attributes of ``link``."""
        if parallel > 1 and (link.name or back_name):
            self._fail_of_parallel("a name", link.where)
        for _ in range(parallel):
            self.cables += 1
            cable = (self.cables,)
            self.links.append(replace(link, cable=cable))
            back = replace(link, source=link.target, target=link.source, name=back_name, cable=cable)
            self.links.append(replace(back, numbers=turned(link.numbers), back=True))

    def _fail_of_parallel(self, what: str, where: str) -> NoReturn:
        self.fail(f"parallel cables cannot share {what}; leave it out or give each its own line", where)

    def pair_links(self) -> None:
        """Pair one-way links without a partner into cables, a to b with b to a, in order."""
        if any(link.cable is not None for link in self.links):
            return
        waiting: dict[tuple[str, str], list[RawLink]] = {}
        for link in self.links:
            back = waiting.get((link.target, link.source))
            if back:
                self.cables += 1
                link.cable = back.pop(0).cable = (self.cables,)
            else:
                waiting.setdefault((link.source, link.target), []).append(link)

    def to_graph(self, terminals_per_switch: int = 0) -> Graph:
        """Check the content and build the graph. Raises GraphError."""
        hung = "the terminals to attach to every switch"
        hang = whole(terminals_per_switch, "terminals_per_switch", 0, MAX_TERMINALS, hung)
        self.foreign.check(self.origin)
        remarks = (self.foreign.remark(self.origin), *doubtful.remarks(self))
        if any(vertex.label for vertex in self.vertices.values()):
            self._rename()
        if all(link.index is not None for link in self.links):
            self.links.sort(key=lambda link: link.index or 0.0)
        self._hang_terminals(hang)
        self._inherit()
        self._check_ends()
        switches = [vertex for vertex in self.vertices.values() if not vertex.terminal]
        terminals = [vertex for vertex in self.vertices.values() if vertex.terminal]
        number = {vertex.name: index for index, vertex in enumerate([*switches, *terminals])}
        source = np.array([number[link.source] for link in self.links], np.int64)
        target = np.array([number[link.target] for link in self.links], np.int64)
        self._check_joined_terminals(len(terminals))
        self._check_terminals(terminals, number, source, target)
        self._check_connected(len(number), source, target)
        self._check_ports()
        port_addresses.check_ends(self)
        placed = [vertex for vertex in switches if vertex.x is not None and vertex.y is not None]
        positions = (
            np.array([[v.x, v.y] for v in placed], np.float64)
            if placed and len(placed) == len(switches)
            else None
        )
        graph = Graph(
            switch_names=[vertex.name for vertex in switches],
            terminal_names=[vertex.name for vertex in terminals],
            link_source=source,
            link_target=target,
            link_reverse=self._reverses(),
            link_names=self._link_names(),
            family="file",
            layout={"parameters": {}},
            positions=positions,
            attributes=self._attributes(),
            remarks=tuple(remark for remark in remarks if remark),
        )
        cables = self._cables(graph)
        if any(len(own) > 1 for own in cables):
            self._check_port_names(graph, cables)
            found = port_addresses.given(self, with_ports(graph, cables), cables)
        else:
            found = self._as_family(port_addresses.given(self, graph, cables))
        return replace(found, extremes=tuple(self.extremes.values()))

    def _rename(self) -> None:
        """Call each vertex by its label; equal labels get the name in the file behind them."""
        labels = Counter(vertex.label for vertex in self.vertices.values())
        named = {
            name: name if not one.label else one.label if labels[one.label] == 1 else f"{one.label} ({name})"
            for name, one in self.vertices.items()
        }
        if len(set(named.values())) < len(named):
            self.fail("a label is the name of another node; leave node_name out")
        before, self.vertices = self.vertices, {}
        for name, vertex in before.items():
            self.add_vertex(replace(vertex, name=named[name]))
        for link in self.links:
            link.source, link.target = (named.get(end, end) for end in (link.source, link.target))

    def _cables(self, graph: Graph) -> list[list[tuple[int, int]]]:
        """Return, per terminal, the outgoing and incoming link of each of its cables, in file order."""
        found: list[list[tuple[int, int]]] = [[] for _ in graph.terminal_names]
        first, waiting = graph.switches, dict[int, list[int]]()
        for link, vertex in enumerate(graph.link_target.tolist()):
            if vertex >= first and graph.link_reverse[link] < 0:
                waiting.setdefault(vertex, []).append(link)
        for link, vertex in enumerate(graph.link_source.tolist()):
            if vertex >= first:
                back = int(graph.link_reverse[link])
                found[vertex - first].append((link, back if back >= 0 else waiting[vertex].pop(0)))
        return found

    def _check_port_names(self, graph: Graph, cables: list[list[tuple[int, int]]]) -> None:
        for name, own in zip(graph.terminal_names, cables, strict=True):
            for number in range(len(own) if len(own) > 1 else 0):
                other = self.vertices.get(f"{name}/{number}")
                if other is not None:
                    self.fail(f'"{other.name}" is the name of a port of "{name}", too', other.where)

    def _inherit(self) -> None:
        """Give links the cycle of the vertex that they leave and, if they have no buffer or lanes, those of
        the vertex that they lead to.
        """
        if not any(vertex.numbers for vertex in self.vertices.values()):
            return
        for link in self.links:
            source, vertex = self.vertices.get(link.source), self.vertices.get(link.target)
            if source is None or vertex is None:
                continue
            has_buffer = any(name.startswith("buffer") for name in link.numbers)
            given = {
                name: value
                for name, value in vertex.numbers.items()
                if name != "cycle_ps" and not (has_buffer and name.startswith("buffer"))
            }
            link.numbers = given | link.numbers
            if "cycle_ps" in source.numbers:
                link.numbers["cycle_ps"] = source.numbers["cycle_ps"]

    def _hang_terminals(self, per_switch: int) -> None:
        if any(vertex.terminal for vertex in self.vertices.values()):
            if per_switch:
                message = f"{self.origin}: the file has terminals of its own; leave terminals_per_switch out"
                raise GraphError(message, "terminals_per_switch")
            return
        if not self.vertices:
            self.fail("the file has no switches")
        if per_switch < 1:
            raise GraphError(
                f"{self.origin}: the file has no terminals. Say which they are (kind = terminal; in CSV a "
                "line such as terminal,camera,router-a), or set terminals_per_switch to attach that many to "
                "every switch",
                "terminals_per_switch",
            )
        if per_switch * len(self.vertices) > MAX_TERMINALS:
            raise GraphError(
                f"terminals_per_switch {per_switch} on {len(self.vertices)} switches: more than "
                f"{MAX_TERMINALS:,} terminals",
                "terminals_per_switch",
            )
        ready, self.links = self.links, []
        for switch in list(self.vertices.values()):
            for index in range(per_switch):
                name = f"t.{switch.name}.{index}"
                clock = {key: value for key, value in switch.numbers.items() if key == CYCLE}
                self.add_vertex(RawVertex(name, True, switch.where, numbers=clock))
                self.add_cable(RawLink(name, switch.name, None, None, switch.where))
        self.links += ready

    def _check_ends(self) -> None:
        for link in self.links:
            for end in (link.source, link.target):
                if end not in self.vertices:
                    cell = "source" if end == link.source else "target"
                    self.fail(f'there is no switch or terminal "{end}"', link.where, cell)
            if link.source == link.target:
                self.fail(f'a link leads from "{link.source}" to itself', link.where, "target")

    def _check_joined_terminals(self, terminals: int) -> None:
        """Refuse cables between two terminals in a larger network: packets cannot pass through a terminal."""
        for link in self.links:
            joined = self.vertices[link.source].terminal and self.vertices[link.target].terminal
            if joined and (terminals, len(self.vertices)) != (2, 2):
                self.fail(
                    f'"{link.source}" and "{link.target}" are both terminals. A cable between two terminals '
                    "is a network by itself; in one with more than these two, put a switch between them, "
                    "with a cable to each",
                    link.where,
                )

    def _check_terminals(self, terminals: list[RawVertex], number: dict[str, int], *ends: np.ndarray) -> None:
        first = len(number) - len(terminals)
        if len(terminals) < 2:
            self.fail(f"{len(terminals)} terminal; a network needs two")
        for does, link_ends in zip(("sends on", "receives on"), ends, strict=True):
            count = np.bincount(link_ends, minlength=len(number))[first:]
            for index in np.flatnonzero((count < 1) | (count > MOST_PORTS))[:1].tolist():
                vertex = terminals[index]
                links = [self.links[at] for at in np.flatnonzero(link_ends == first + index)]
                ends_at = sorted({link.target if does == "sends on" else link.source for link in links})
                where = f" ({', '.join(link.where for link in links[:3])})" if links else ""
                joined = f" to {' and '.join(ends_at[:3])}" if links else ""
                message = f'terminal "{vertex.name}" {does} {len(links)} links{joined}{where}; it must be '
                message += f"at least one and at most {MOST_PORTS}"
                alone = any(link.cable is None for link in self.links)
                self.fail(
                    f"{message}. Some links are one-way: {AS_CABLES}" if alone else message, vertex.where
                )
        out, inward = (np.bincount(link_ends, minlength=len(number))[first:] for link_ends in ends)
        for index in np.flatnonzero(out != inward)[:1].tolist():
            vertex = terminals[index]
            self.fail(
                f'terminal "{vertex.name}" sends on {out[index]} links and receives on {inward[index]}; each '
                "of its ports needs one of each",
                vertex.where,
            )

    def _check_ports(self) -> None:
        """Refuse ports of terminals, which have no numbers, and switch ports with more than one cable."""
        seen: dict[tuple[str, float], RawLink] = {}
        for link in self.links:
            ends = (link.source, link.target)
            for own, right, end, other in zip(PORTS, PORTS[::-1], ends, ends[::-1], strict=True):
                if own in link.numbers and self.vertices[end].terminal:
                    self.fail(
                        f'{own} is a port of "{end}", but that is a terminal, whose ports have no numbers; '
                        f'the port of "{other}" is {right}',
                        link.where,
                        own,
                    )
            port = link.numbers.get("source_port")
            if port is None:
                continue
            before = seen.setdefault((link.source, port), link)
            if before is not link:
                message = f'port {port:g} of "{link.source}" has a cable already ({before.where})'
                self.fail(message, link.where, PORTS[link.back])

    def _check_connected(self, vertices: int, source: np.ndarray, target: np.ndarray) -> None:
        label = components(vertices, source, target)
        if label.any():
            names = [v.name for v in (*self._kind(False), *self._kind(True))]
            self.fail(
                _parts_text(
                    [[names[at] for at in np.flatnonzero(label == part)] for part in np.unique(label)]
                )
            )

    def _kind(self, terminal: bool) -> Iterator[RawVertex]:
        return (vertex for vertex in self.vertices.values() if vertex.terminal == terminal)

    def _reverses(self) -> np.ndarray:
        reverse = np.full(len(self.links), -1, np.int64)
        halves: dict[Any, int] = {}
        for index, link in enumerate(self.links):
            if link.cable is None:
                continue
            other = halves.pop(link.cable, None)
            if other is None:
                halves[link.cable] = index
                continue
            mate = self.links[other]
            if (mate.source, mate.target) != (link.target, link.source):
                self.fail(
                    f"the two links of cable {link.cable} do not lead opposite ways between the same two "
                    f"ends (the other is at {mate.where})",
                    link.where,
                )
            reverse[index], reverse[other] = other, index
        for cable, index in halves.items():
            self.fail(f"cable {cable} has one link; it must have two, one each way", self.links[index].where)
        return reverse

    def _link_names(self) -> list[str]:
        """Return the given names; other links are named ``a>b``, parallel ones ``a>b#0``, ``a>b#1``, …"""
        unnamed: dict[tuple[str, str], int] = {}
        for link in self.links:
            if not link.name:
                unnamed[link.source, link.target] = unnamed.get((link.source, link.target), 0) + 1
        given: dict[str, RawLink] = {}
        count: dict[tuple[str, str], int] = {}
        for link in self.links:
            name = link.name
            if not name:
                pair = (link.source, link.target)
                index = count.get(pair, 0)
                count[pair] = index + 1
                name = f"{link.source}>{link.target}" + (f"#{index}" if unnamed[pair] > 1 else "")
            self._check_name(name, link.where, "name")
            before = given.get(name)
            if before is not None:
                message = f'two links are named "{name}" (the other: {before.where}); names must differ'
                self.fail(message, link.where, "name")
            given[name] = link
        return list(given)

    def _attributes(self) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for key in (*ATTRIBUTES, CABLE, CYCLE):
            values = np.array([link.numbers.get(key, np.nan) for link in self.links], np.float64)
            if not np.isnan(values).all():
                found[key] = values
        return found

    def _as_family(self, graph: Graph) -> Graph:
        """Restore the family, and thereby the routing, if the graph still is what the family builds."""
        if self.family in (None, "file") or self.parameters is None:
            return graph
        from . import build

        try:
            twin = build(str(self.family), **self.parameters)
        except (GraphError, TypeError):
            return graph
        same = (
            twin.switch_names == graph.switch_names
            and twin.terminal_names == graph.terminal_names
            and twin.link_names == graph.link_names
            and np.array_equal(twin.link_source, graph.link_source)
            and np.array_equal(twin.link_target, graph.link_target)
            and np.array_equal(twin.link_reverse, graph.link_reverse)
        )
        if not same:
            return graph
        placed = twin.positions if graph.positions is None else graph.positions
        return replace(twin, positions=placed, attributes=graph.attributes)


def components(vertices: int, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return, for each vertex, the smallest vertex connected to it, ignoring directions."""
    label = np.arange(vertices)
    while True:
        low = np.minimum(label[source], label[target])
        fresh = label.copy()
        np.minimum.at(fresh, source, low)
        np.minimum.at(fresh, target, low)
        np.minimum.at(fresh, label, fresh.copy())
        fresh = fresh[fresh]
        if np.array_equal(fresh, label):
            return label
        label = fresh


def read_family(raw: RawGraph, text: str | dict[str, Any] | None) -> None:
    """Read the family and parameters that :func:`family_line` wrote; ignore anything else."""
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return
    if isinstance(found, dict) and isinstance(found.get("parameters"), dict):
        raw.family, raw.parameters = str(found.get("family")), found["parameters"]
        if not kind_of(raw.family).cables:
            raw.fail(AS_SETTINGS)


def _parts_text(parts: list[list[str]]) -> str:
    """Describe a network that is not connected: its largest parts and what they contain."""
    parts = sorted(parts, key=len, reverse=True)
    shown = []
    for names in parts[:_PARTS_SHOWN]:
        more = len(names) - _NAMES_SHOWN
        listed = ", ".join(f'"{name[:40]}"' for name in names[:_NAMES_SHOWN])
        shown.append(f"{listed} and {more} more" if more > 0 else listed)
    rest = len(parts) - len(shown)
    others = f"; and {rest} more part{'s' if rest > 1 else ''}" if rest else ""
    listed = "; ".join(shown) + others
    return f"the network falls into {len(parts)} parts that no link joins: {listed}. Join them, or keep one"


def turned(numbers: dict[str, float]) -> dict[str, float]:
    """Return the numbers of a link for its opposite direction."""
    return {PORTS[1 - PORTS.index(key)] if key in PORTS else key: value for key, value in numbers.items()}
