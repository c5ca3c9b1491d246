"""Networks on chip of ratatoskr: ``network.xml``, and ``config.xml`` beside it for its traffic.

Routers are switches ``r0``, processing elements are terminals ``n48``, by their ids. A link carries a flit in
each clock of the node it leaves. Dimension-order routing is a table by the positions of the nodes, compared
as numbers of 32 bits.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from ..reading import ReadError, toml_text
from .common import Fabric, Imported, Lines, Route, parsed_xml
from .packets import FLIT_BYTES

_HINT = "name network.xml, and with it config.xml if you like"
_MOST_DEPTH = 20
_MOST_ROUTES = 1 << 20
_MOST_LANES = 16
_LONGEST = 10**12
_TABLES = ("XYZ", "HeteroXYZ")
"""Routings that have a table. The second goes down first."""
_OTHER = "that of any network of cables"
_PATTERNS = ("uniform", "hotspot")
_MOST_ELEMENTS = 2_000_000
_MOST_FLIT_BITS = 8 * 4096
_READ = frozenset(
    re.findall(
        r"[\w-]+",
        """
        network-on-chip nodeTypes nodeType model routing clockDelay nodes node xPos yPos zPos
        connections con ports port bufferDepth bufferDepthType vcCount
        configuration noc bitWidth flitsPerPacket application benchmark synthetic phase distribution
        start duration injectionRate hotspot
        """,
    )
)
"""Elements that are kept; whatever is inside others is passed over."""
_GIVEN = ("id", "value", "min", "max")


@dataclass(slots=True)
class _Element:
    tag: str
    given: dict[str, str]
    line: int
    text: str = ""
    """Of a benchmark only."""
    inside: list[_Element] = field(default_factory=list)

    def all(self, *tags: str) -> Iterator[_Element]:
        """Yield the elements at a path."""
        for element in self.inside:
            if element.tag == tags[0]:
                if tags[1:]:
                    yield from element.all(*tags[1:])
                else:
                    yield element

    def first(self, *tags: str) -> _Element | None:
        """Return the first element at a path, if there is one."""
        return next(self.all(*tags), None)


@dataclass
class _File:
    lines: Lines
    root: _Element

    def text(self, inside: _Element, tag: str, attribute: str = "value") -> tuple[str, _Element]:
        """Return an attribute of the first element with this tag. Raises ReadError."""
        element = inside.first(tag)
        if element is None or attribute not in element.given:
            here = inside if element is None else element
            hint = f'write <{tag} {attribute}="…"/>'
            self.lines.fail(here.line, f"<{inside.tag}> without {attribute} of <{tag}>", hint)
        return element.given[attribute].strip(), element

    def number(self, inside: _Element, tag: str, attribute: str = "value", least: float = 0) -> float:
        """Return the same as a number. Raises ReadError."""
        text, element = self.text(inside, tag, attribute)
        number = float(text) if re.fullmatch(r"-?\d{1,15}(\.\d{0,30})?(e-?\d{1,2})?", text) else math.nan
        if not least <= number <= _LONGEST:
            message = f'"{text[:40]}" is no number from {least:g} to {_LONGEST:g}'
            self.lines.fail(element.line, message, f"change {attribute} of <{tag}>", text)
        return number

    def whole(self, inside: _Element, tag: str, least: int = 0) -> int:
        """Return the same as a whole number. Raises ReadError."""
        text, element = self.text(inside, tag)
        return self.lines.whole(element.line, text, f"change the value of <{tag}>", 10**9, least)


@dataclass
class _Node:
    name: str
    router: bool
    clock_ps: float
    place: tuple[float, float, float]
    ways: dict[tuple[int, bool], str] = field(default_factory=dict)
    """Of a router: the router in each direction, a dimension and whether upwards; the last one named."""
    locals: list[str] = field(default_factory=list)
    joined: int = 0
    """Of a processing element: the line of its connection."""


@dataclass
class _Network:
    file: _File
    fabric: Fabric
    flit_bytes: int
    nodes: dict[str, _Node] = field(default_factory=dict)
    """By their ids in the file."""
    routings: dict[str, int] = field(default_factory=dict)
    """The routings of the routers, and the line of each."""
    lanes: Counter[int] = field(default_factory=Counter[int])
    depths: Counter[int] = field(default_factory=Counter[int])
    cables: Counter[frozenset[str]] = field(default_factory=Counter[frozenset[str]])
    """Between two nodes."""

    def tail(self, one: str, other: str) -> str:
        """Return what follows the names of the last cable between two nodes."""
        number = self.cables[frozenset((one, other))] - 1
        return f"#{number}" if number > 0 else ""


def ratatoskr(files: Sequence[Path]) -> Imported:
    """Read a network, and the traffic of a configuration if there is one."""
    read = list(map(_file, files))
    networks, others = ([file for file in read if file.root.tag == root] for root in _ROOTS)
    if len(networks) != 1:
        raise ReadError(f"{len(networks)} files are networks" if networks else "no file is a network", _HINT)
    if len(others) > 1:
        raise ReadError(f"{len(others)} files are configurations", _HINT)
    given = _flit_bytes(others[0]) if others else None
    network = _network(networks[0], given or FLIT_BYTES)
    remarks: list[str] = []
    routes = _routes(network, remarks)
    sections = {"technology": _technology(network, remarks)}
    sections |= {"traffic": {"pattern": "uniform", "load": 0.1}}
    if others:
        sections |= _traffic(others[0], network, remarks)
    remarks.append("routers take the times of generic; ratatoskr gives none")
    if given is None:
        remarks.append(f"flits have {FLIT_BYTES} B: no <bitWidth> of a configuration is given")
    graph = network.fabric.graph()
    return Imported(graph, routes, toml_text(sections), tuple(remarks))


_ROOTS = ("network-on-chip", "configuration")


def _flit_bytes(file: _File) -> int | None:
    """Return the bytes of a flit, if a configuration gives them."""
    width = file.root.first("noc", "bitWidth")
    if width is None:
        return None
    text, hint = width.given.get("value", "").strip(), "change the value of <bitWidth>"
    bits = file.lines.whole(width.line, text, hint, _MOST_FLIT_BITS, 8)
    if bits % 8:
        file.lines.fail(width.line, f"a flit of {bits} bits is no whole number of bytes", hint, text)
    return bits // 8


class _Reading:
    """Keeps the elements of a file that are read, and the text of benchmarks."""

    def __init__(self, lines: Lines) -> None:
        self.lines, self.parser, self.top = lines, expat.ParserCreate(), _Element("", {}, 1)
        self.open, self.passed, self.count = [self.top], 0, 0
        self.parts: list[str] = []
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text

    def start(self, tag: str, given: dict[str, str]) -> None:
        """Keep an element, or pass over it and what is inside."""
        line = self.parser.CurrentLineNumber
        if len(self.open) + self.passed > _MOST_DEPTH:
            self.lines.fail(line, f"more than {_MOST_DEPTH} elements in each other", _HINT)
        if self.passed or (tag not in _READ and len(self.open) > 1):
            self.passed += 1
            return
        self.count += 1
        if self.count > _MOST_ELEMENTS:
            self.lines.fail(line, f"more than {_MOST_ELEMENTS:,} elements", "name a smaller network")
        element = _Element(tag, {name: given[name] for name in _GIVEN if name in given}, line)
        self.open[-1].inside.append(element)
        self.open.append(element)
        self.parts = []

    def end(self, _tag: str) -> None:
        if self.passed:
            self.passed -= 1
            return
        element = self.open.pop()
        if element.tag == "benchmark":
            element.text = "".join(self.parts).strip()

    def text(self, part: str) -> None:
        """Keep a part of the text of a benchmark."""
        if self.open[-1].tag == "benchmark" and not self.passed:
            self.parts.append(part)


def _file(path: Path) -> _File:
    lines = Lines(path)
    reading = _Reading(lines)
    parsed_xml(lines, reading.parser, "a network or a configuration of ratatoskr")
    root = reading.top.inside[0]
    if root.tag not in _ROOTS:
        lines.fail(root.line, f"<{root.tag[:40]}> is no network and no configuration of ratatoskr", _HINT)
    return _File(lines, root)


def _network(file: _File, flit_bytes: int) -> _Network:
    network = _Network(file, Fabric(file.lines), flit_bytes)
    types = {one.given.get("id", ""): one for one in file.root.all("nodeTypes", "nodeType")}
    for element in file.root.all("nodes", "node"):
        _node(network, element, types)
    for element in file.root.all("connections", "con"):
        _connection(network, element)
    if not any(node.router for node in network.nodes.values()):
        file.lines.fail(file.root.line, "no routers", "name a network with <nodes>")
    return network


def _node(network: _Network, element: _Element, types: dict[str, _Element]) -> None:
    file, lines = network.file, network.file.lines
    own = str(lines.whole(element.line, element.given.get("id", ""), 'write <node id="0">', 10**9))
    kind, at = file.text(element, "nodeType")
    if kind not in types:
        lines.fail(at.line, f'there is no node type "{kind[:40]}"', "add it to <nodeTypes>", kind)
    model, modelled = file.text(types[kind], "model")
    if model not in ("RouterVC", "ProcessingElement"):
        known = "RouterVC and ProcessingElement are"
        lines.fail(modelled.line, f'the model "{model[:40]}" is not read', known, model)
    router = model == "RouterVC"
    clock_ps = 1e3 * file.number(types[kind], "clockDelay", least=1)
    x, y, z = (float(np.float32(file.number(element, f"{axis}Pos", least=-_LONGEST))) for axis in "xyz")
    if router:
        routing, routed = file.text(types[kind], "routing")
        network.routings.setdefault(routing, routed.line)
    node = _Node(f"{'r' if router else 'n'}{own}", router, clock_ps, (x, y, z))
    if own in network.nodes:
        lines.fail(element.line, f"a second node {own}", "give each an id of its own", own)
    network.nodes[own] = node
    network.fabric.add(node.name, not router, element.line)


def _connection(network: _Network, element: _Element) -> None:
    file, lines = network.file, network.file.lines
    ports = list(element.all("ports", "port"))
    if len(ports) != 2:
        lines.fail(element.line, f"a connection of {len(ports)} nodes", "give it two ports")
    ends: list[_Node] = []
    for port in ports:
        text, at = file.text(port, "node")
        name = str(int(text)) if re.fullmatch("[0-9]{1,19}", text) else text
        if name not in network.nodes:
            lines.fail(at.line, f'there is no node "{text[:40]}"', "add it to <nodes>", text)
        ends.append(network.nodes[name])
        if network.nodes[name].router:
            network.lanes[file.whole(port, "vcCount", 1)] += 1
            network.depths[file.whole(port, "bufferDepth", 1)] += 1
    one, other = ends
    if one is other or not (one.router or other.router):
        message = "a connection without a router at one end, or of a node with itself"
        lines.fail(element.line, message, "change it")
    bits = 8e12 * network.flit_bytes
    rates = tuple({"rate_bits_per_s": float(round(bits / end.clock_ps))} for end in ends)
    network.cables[frozenset((one.name, other.name))] += 1
    tail = network.tail(one.name, other.name)
    names = (f"{one.name}>{other.name}{tail}", f"{other.name}>{one.name}{tail}")
    network.fabric.cable(one.name, other.name, element.line, names, rates)
    for here, there in ((one, other), (other, one)):
        if here.router and there.router:
            axis = next((at for at in range(3) if here.place[at] != there.place[at]), None)
            if axis is not None:
                here.ways[axis, there.place[axis] > here.place[axis]] = there.name
        elif here.router:
            here.locals.append(there.name)
            if there.joined:
                message = f"a second connection of {there.name} (line {there.joined})"
                lines.fail(element.line, message, "a processing element has one: remove the other")
            there.joined = element.line


def _routes(network: _Network, remarks: list[str]) -> list[Route]:
    """Return the table of dimension-order routing; none, with a remark, where it has no counterpart."""
    name, line = next(iter(network.routings.items()))
    where = f"{network.file.lines.path}: line {line}: routing {name[:40]}"
    routers = {node.name: node for node in network.nodes.values() if node.router}
    home = {end: node for node in routers.values() for end in node.locals}
    if len(network.routings) > 1 or name not in _TABLES:
        several = " beside others" if len(network.routings) > 1 else ""
        remarks.append(f"{where}{several} has no counterpart; taken: {_OTHER}")
        return []
    if len(routers) * len(home) > _MOST_ROUTES:
        remarks.append(f"{where}: more than {_MOST_ROUTES:,} entries; taken: {_OTHER}")
        return []
    found: list[Route] = []
    for end, last in home.items():
        steps = {router.name: _step(router, last, name) for router in routers.values()}
        if lost := _lost(steps, last.name):
            remarks.append(f"{where} does not lead from {lost} to {end}; taken: {_OTHER}")
            return []
        found += [
            (here, end, [f"{here}>{step or end}{network.tail(here, step or end)}"])
            for here, step in steps.items()
        ]
    return found


def _lost(steps: dict[str, str | None], last: str) -> str:
    """Return a router from which these steps do not lead to the last one; empty if all do."""
    arrives = {last}
    for router in steps:
        way: dict[str, None] = {}
        here: str | None = router
        while here is not None and here not in arrives and here not in way:
            way[here] = None
            here = steps[here]
        if here not in arrives:
            return router
        arrives.update(way)
    return ""


def _step(here: _Node, last: _Node, routing: str) -> str | None:
    """Return the router to which packets go next; None at the last one, or where there is none."""
    order = (0, 1, 2)
    if routing == "HeteroXYZ" and last.place[2] < here.place[2]:
        order = (2,)
    for axis in order:
        if here.place[axis] != last.place[axis]:
            return here.ways.get((axis, last.place[axis] > here.place[axis]))
    return None


def _technology(network: _Network, remarks: list[str]) -> dict[str, Any]:
    path = network.file.lines.path
    values: list[int] = []
    for what, counted in (("vcCount", network.lanes), ("bufferDepth", network.depths)):
        values.append(counted.most_common(1)[0][0] if counted else 1)
        if len(counted) > 1:
            remarks.append(f"{path}: {what} is not the same everywhere; taken: {values[-1]}, as most have")
    depth_type = network.file.root.first("bufferDepthType")
    if depth_type is not None and depth_type.given.get("value") == "perVC":
        remarks.append(f"{path}: line {depth_type.line}: lanes have one depth here; taken: bufferDepth")
    lanes, depth = values
    if lanes > _MOST_LANES:
        remarks.append(f"{path}: vcCount = {lanes}; taken: {_MOST_LANES} lanes")
    clocks_ps = {node.clock_ps for node in network.nodes.values() if node.router}
    cycle = f"{min(clocks_ps):.15g} ps"
    if len(clocks_ps) > 1:
        remarks.append(f"{path}: routers have {len(clocks_ps)} clocks; taken for the times of all: {cycle}")
    flit = {"flit": f"{network.flit_bytes} B"} if network.flit_bytes != FLIT_BYTES else {}
    settings = {"preset": "generic", **flit, "cycle": cycle, "input_buffer_flits": depth}
    return settings | ({"lanes": min(lanes, _MOST_LANES)} if lanes > 1 else {})


def _traffic(file: _File, network: _Network, remarks: list[str]) -> dict[str, Any]:
    """Return the traffic of the last phase, with all before it as warm-up."""
    path, root = file.lines.path, file.root
    benchmark = root.first("application", "benchmark")
    phases = list(root.all("application", "synthetic", "phase"))
    if (benchmark is not None and benchmark.text != "synthetic") or not phases:
        line = root.line if benchmark is None else benchmark.line
        remarks.append(f"{path}: line {line}: only synthetic traffic has a counterpart; taken: uniform")
        return {}
    phase = phases[-1]
    if len(phases) > 1:
        which = f"of {len(phases)} phases, the last one is taken for the whole run"
        remarks.append(f"{path}: line {phase.line}: {which}")
    kind, at = file.text(phase, "distribution")
    if kind not in _PATTERNS:
        known = f"there are {' and '.join(_PATTERNS)}"
        file.lines.fail(at.line, f'the distribution "{kind[:40]}" sends nothing in ratatoskr', known, kind)
    noc = root.first("noc")
    if noc is None:
        file.lines.fail(root.line, "no <noc>, which has flitsPerPacket", "add it")
    flits, rate = file.whole(noc, "flitsPerPacket", 1), file.number(phase, "injectionRate", least=1e-9)
    slowest = max(node.clock_ps for node in network.nodes.values())
    start, end = file.number(phase, "start", "min"), file.number(phase, "duration", "max", 1)
    if end <= start:
        file.lines.fail(phase.line, "this phase ends before it starts", "change <duration>")
    remarks.append(f"{path}: line {phase.line}: the phase is drawn once per element, not in each interval")
    return {
        "traffic": {
            **_pattern(file, phase, kind, network),
            "length": f"{flits * network.flit_bytes} B",
            "rate": f"{1e12 * rate / slowest:.15g} packets/s",
            "arrivals": "constant",
        },
        "run": {"warmup": f"{start:.15g} ns", "duration": f"{end:.15g} ns"},
    }


def _pattern(file: _File, phase: _Element, kind: str, network: _Network) -> dict[str, Any]:
    if kind == "uniform":
        return {"pattern": "uniform"}
    ends = [node.name for node in network.nodes.values() if not node.router]
    target, element = file.whole(phase, "hotspot"), phase.first("hotspot")
    if target >= len(ends) and element is not None:
        message = f"there is no processing element {target} of {len(ends)}"
        file.lines.fail(element.line, message, "they count from 0")
    others = [end for end in ends if end != ends[target]]
    return {"pattern": {"kind": "hot-spot", "target": ends[target], "share": 1.0}, "senders": others}
