"""What all readers of fabrics share: lines with their places, and what comes out."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn
from xml.parsers import expat

import numpy as np

from .. import reading, units
from ..reading import ReadError, toml_value
from ..topology import Graph, GraphError, edge_list, measure
from ..topology.file import writable
from ..topology.raw import LARGEST_RATE_BITS_PER_S, LONGEST_DELAY_PS, RawGraph, RawLink, RawVertex, components

_MOST_BYTES = 1 << 30
SCALE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
"""Of the letters before the unit of a rate."""
_ETHERNET = {
    "ethernet-100m": 1e8,
    "ethernet-1g": 1e9,
    "ethernet-10g": 1e10,
    "ethernet-100g": 1e11,
    "ethernet-400g": 4e11,
    "ethernet-800g": 8e11,
    "ethernet-1600g": 1.6e12,
}
Route = tuple[str, str, Sequence[str]] | tuple[str, str, Sequence[str], int]
"""Switch, terminal or switch, the names of the links in order of preference, and the service level if any."""
Level = tuple[str, str, int]
"""Source, target (terminals or switches) and service level."""


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in errors that have no place."""
    try:
        yield
    except ReadError as error:
        message = error.message if error.place else f"{path}: {error.message}"
        raise ReadError(message, error.hint, error.place) from None


class Lines:
    """A file line by line, or several with consecutive numbers; every error points at its line."""

    def __init__(self, path: Path) -> None:
        self.path, self.files, self.starts = path, [self], [0]
        with _named(path):
            content = reading.content(path, _MOST_BYTES, "1 GB", "take a part of it")
            self.text = reading.text_of(content, str(path))

    def __iter__(self) -> Iterator[tuple[int, str]]:
        yield from enumerate((line for one in self.files for line in one.text.splitlines()), 1)

    def followed_by(self, others: Sequence[Lines]) -> Lines:
        """Return the lines of several files, this one first."""
        found = copy(self)
        found.files = [self, *others]
        counts = (len(one.text.splitlines()) for one in found.files[:-1])
        found.starts = [*itertools.accumulate(counts, initial=0)]
        return found

    def file_of(self, line: int) -> int:
        """Return the number of the file in which a line is."""
        return bisect_left(self.starts, line) - 1

    def said(self, line: int) -> str:
        """Return a line in words, and its file if there are several."""
        at = self.file_of(line)
        own = f"line {line - self.starts[at]}"
        return own if len(self.files) == 1 else f"{own} of {self.files[at].path.name}"

    def error(self, line: int, message: str, hint: str, part: str = "") -> ReadError:
        """Return the error at a line, or at the first place of ``part`` in it."""
        at = self.file_of(line)
        one, line = self.files[at], line - self.starts[at]
        place = reading.line_of(one.text, line, str(one.path))
        at = place[4].find(part) if part else -1
        if at >= 0:
            place = (place[0], line, at + 1, len(part), place[4])
        return ReadError(message, hint, place)

    def fail(self, line: int, message: str, hint: str, part: str = "") -> NoReturn:
        raise self.error(line, message, hint, part)

    def whole(self, line: int, word: str, hint: str, most: int, least: int = 0) -> int:
        """Return a whole number of a line. Raises ReadError."""
        if not (word.isascii() and word.isdecimal() and len(word) < 20 and least <= int(word) <= most):
            self.fail(line, f'"{word[:40]}" is no whole number from {least} to {most}', hint, word)
        return int(word)

    def link_numbers(self, line: int, bits_per_s: float, time: str, part: str) -> dict[str, float]:
        """Return rate and delay of a link as ``RawLink`` has them; ``part`` of the line gives the delay."""
        try:
            delay_ps = units.parse_time_ps(time)
        except units.UnitError as error:
            raise self.error(line, error.message, error.hint, part) from None
        rate = min(bits_per_s, 1e18)  # hundreds of digits make it infinite; either is refused as too large
        return {"rate_bits_per_s": float(round(rate)), "delay_ps": float(delay_ps)}


class Stream:
    """A file that is never held as a whole: its lines but empty ones; every error points at its line."""

    def __init__(self, path: Path) -> None:
        self.path, self.number, self.line = path, 0, ""

    def __iter__(self) -> Iterator[str]:
        with _named(self.path):
            for number, line in enumerate(reading.lines(self.path, 1 << 40, "1 TB", "take a part of it"), 1):
                if line:
                    self.number, self.line = number, line
                    yield line

    def fail(self, message: str, hint: str, part: str = "") -> NoReturn:
        """Raise an error at the present line, or at the first place of ``part`` in it."""
        self.fail_at(self.number, self.line, message, hint, part)

    def fail_at(self, number: int, line: str, message: str, hint: str, part: str = "") -> NoReturn:
        """Raise an error at a line that was read before."""
        at = line.find(part[:80]) if 0 <= line.find(part[:80]) < 200 else 0
        length = max(1, min(len(part or line), 80))
        raise ReadError(message, hint, (str(self.path), max(1, number), at + 1, length, line[:200]))


def parsed_xml(lines: Lines, parser: expat.XMLParserType, what: str) -> None:
    """Have a parser read a file; refuse what is no XML, and declarations of entities. Raises ReadError."""

    def doctype(_name: str, _system: str | None, _public: str | None, subset: bool) -> None:
        if subset:
            message = "declarations inside a document type are not read"
            lines.fail(parser.CurrentLineNumber, message, "remove them")

    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(lines.text.encode(), True)
    except expat.ExpatError as error:
        at = min(error.lineno, lines.text.count("\n") + 1)
        message = f"not XML, or cut short: {expat.ErrorString(error.code)}"
        raise lines.error(at, message, f"name {what}") from None


def only(files: Sequence[Path], what: str) -> Path:
    """Return the one file that something is. Raises ReadError."""
    if len(files) != 1:
        raise ReadError(f"{len(files)} files; {what} is one", "name one file")
    return files[0]


_BLOCK_BYTES = 1 << 20


def spool() -> IO[bytes]:
    """Return a nameless file for what may be too long to be held until it is written."""
    return tempfile.TemporaryFile(buffering=_BLOCK_BYTES)


def blocks(spooled: IO[bytes]) -> Iterator[str]:
    """Yield the ASCII text of such a file in parts."""
    spooled.seek(0)
    while block := spooled.read(_BLOCK_BYTES):
        yield block.decode("ascii")


FRAME_BYTES = 1000
"""Most bytes of a packet into which a flow is cut, as the HPCC simulator has it."""


_AROUND_BYTES, _LEAST_BYTES = 38, 84
"""What a frame of Ethernet takes on the wire besides its payload, and at least."""
CUT = f"their bytes are cut into equal packets of at most {FRAME_BYTES} B, offered at the rate of the link"


@dataclass(frozen=True)
class Flow:
    """Bytes that one terminal sends to another: in equal packets, at the rate of its link, from a time on.

    Without bytes it has no end.
    """

    name: str
    source: str
    target: str
    bytes: int
    bits_per_s: float
    start_ps: int


@dataclass
class Imported:
    """A fabric: its graph, its routes if there are any, and the rest of a scenario for it."""

    graph: Graph
    routes: list[Route] = field(default_factory=list)
    sections: str = ""
    """Sections of a scenario besides topology and routing, as TOML."""
    remarks: tuple[str, ...] = ()
    flows: tuple[Flow, ...] = ()
    program: str = ""
    """The flows as a GOAL trace, where some wait for others."""
    levels: Sequence[Level] = ()
    """Of pairs that have another service level than 0."""

    def summary(self) -> list[tuple[str, str]]:
        """Return what was read, as names and values."""
        counted = measure.counts(self.graph)
        more = [("flows", f"{len(self.flows):,}")] if self.flows else []
        return [
            ("switches", f"{counted.switches:,}"),
            ("terminals", f"{counted.terminals:,}"),
            ("cables", f"{counted.cables:,}"),
            ("routes", f"{len(self.routes):,}"),
            *more,
        ]

    def files(self, name: str) -> dict[str, Iterable[str]]:
        """Return the files of a scenario with this name, by file name: their texts, in parts."""
        found = {"network.csv": [edge_list.write(writable(self.graph))]}
        text = f"name = {toml_value(name)}\n\n"
        text += '[topology]\nkind = "file"\npath = "network.csv"\n'
        if self.routes:
            found["routes.csv"] = [routes_csv(self.routes)]
            text += '\n[routing]\nkind = "table"\npath = "routes.csv"\n'
        if self.levels:
            found["levels.csv"] = [levels_csv(self.levels)]
            text += 'service_levels = { path = "levels.csv" }\n'
        if self.program:
            found["flows.goal"] = [self.program]
            last = max(flow.start_ps for flow in self.flows)
            text += '\n[program]\nkind = "goal"\npath = "flows.goal"\n'
            text += f'\n[run]\nduration = "{100 + -(-last // 10**12)} s"\n'
        elif self.flows:
            found["flows.csv"] = [_flows(self.flows)]
            text += f"\n{self._traffic()}"
        return {"scenario.toml": [f"{text}\n{self.sections}"], **found}

    def _traffic(self) -> str:
        last = max(flow.start_ps for flow in self.flows) / 1e6
        ends = all(flow.bytes for flow in self.flows)
        one_by_one = 2 * sum(count * period_ps for count, _, period_ps in map(_frames, self.flows)) / 1e6
        more, until = 1e3, "some flows have no end"
        if ends:
            more, until = max(1e6, math.ceil(one_by_one)), "or until all have arrived"
        return (
            '[traffic]\npattern = { kind = "flows", path = "flows.csv" }\n'
            f'\n[run]\nwarmup = "0 ns"\nduration = "{last + more:.15g} us"  # {until}\n'
        )


def _flows(flows: Sequence[Flow]) -> str:
    rows: list[Sequence[object]] = []
    for flow in flows:
        count, length, period_ps = _frames(flow)
        times = (f"{period_ps} ps", f"{flow.start_ps} ps", "0 ns")
        rows.append((flow.name, flow.source, flow.target, f"{length} B", *times, count or None))
    return _csv(("name", "source", "target", "length", "period", "start", "phase", "count"), rows)


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


def _frames(flow: Flow) -> tuple[int, int, int]:
    """Return the packets of a flow, 0 if it has no end, their bytes, and the ps from one to the next."""
    count = -(-flow.bytes // FRAME_BYTES)
    length = -(-flow.bytes // count) if count else FRAME_BYTES
    on_wire = max(length + _AROUND_BYTES, _LEAST_BYTES)
    return count, length, max(1, math.ceil(on_wire * 8e12 / flow.bits_per_s))


def routes_csv(routes: Sequence[Route]) -> str:
    """Return routes as the file of a table."""
    level = ("level",) if any(len(route) > 3 for route in routes) else ()
    rows = ((switch, target, " ".join(links), *own) for switch, target, links, *own in routes)
    return _csv(("switch", "terminal", "links", *level), rows)


def levels_csv(levels: Iterable[Level]) -> str:
    return _csv(("source", "target", "level"), levels)


class Fabric:
    """A graph that is being read; ``lines``: the file in which vertices and links have their lines."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.raw = RawGraph(str(lines.path))
        self.line_of: dict[str, int] = {}

    def add(self, name: str, terminal: bool, line: int) -> None:
        if name in self.line_of:
            message = f'"{name[:60]}" is there already ({self.lines.said(self.line_of[name])})'
            self.lines.fail(line, message, "give each a name of its own", name)
        self.line_of[name] = line
        try:
            self.raw.add_vertex(RawVertex(name, terminal, f"line {line}"))
        except GraphError as error:
            raise self.lines.error(line, str(error).split(": ")[-1], "rename it") from None

    def remove(self, name: str) -> None:
        """Remove a switch or terminal without links."""
        del self.line_of[name], self.raw.vertices[name]

    def cable(
        self, one: str, other: str, line: int, names: tuple[str, str], numbers: tuple[dict[str, float], ...]
    ) -> None:
        """Add a cable; names and numbers of the way there and of the way back."""
        self.raw.cables += 1
        cable = (self.raw.cables,)
        for (a, b), name, own in zip(((one, other), (other, one)), names, numbers, strict=True):
            self._add(RawLink(a, b, name, cable, f"line {line}", dict(own)), line)

    def link(self, source: str, target: str, line: int, numbers: dict[str, float]) -> None:
        self._add(RawLink(source, target, f"{source}>{target}", None, f"line {line}", dict(numbers)), line)

    def _add(self, link: RawLink, line: int) -> None:
        delay_ps = link.numbers.get("delay_ps", 0.0)
        if delay_ps > LONGEST_DELAY_PS:
            found, most = (units.format_time_ps(int(time)) for time in (delay_ps, LONGEST_DELAY_PS))
            name = f"{link.source}>{link.target}"[:80]
            message = f"{name}: the delay of a cable is from 0 ps to {most}, not {found}"
            self.lines.fail(line, message, "shorten it")
        if link.numbers.get("rate_bits_per_s", 0.0) > LARGEST_RATE_BITS_PER_S:
            found, most = (
                units.format_rate_bits_per_s(round(rate))
                for rate in (link.numbers["rate_bits_per_s"], LARGEST_RATE_BITS_PER_S)
            )
            message = f"{link.source}>{link.target}: the rate of a link is at most {most}, not {found}"
            self.lines.fail(line, message, "several parallel cables carry more")
        self.raw.links.append(link)

    def switches(self, forward_ns: int = 0) -> str:
        """Return the technology of a simulator whose switches store packets and take this time."""
        fastest = max((link.numbers.get("rate_bits_per_s", 0.0) for link in self.raw.links), default=0.0)
        preset = min(_ETHERNET, key=lambda name: abs(math.log(_ETHERNET[name] / max(1.0, fastest))))
        if fastest > _ETHERNET["ethernet-800g"]:
            preset = "ethernet-1600g"  # bytes of the others would be too short
        longer = 'flit = "64 B"                   # of fewer bytes they would be too short\n'
        wide = fastest > 2 * _ETHERNET[preset]
        cycles = round(forward_ns * _ETHERNET[preset] / (8e9 * (64 if wide else 1)))
        # What crosses meanwhile must not be less than a faster link sends.
        room = f"output_buffer_flits = {1539 + math.ceil(cycles * max(1.0, fastest / _ETHERNET[preset]))}\n"
        return (
            f'[technology]\npreset = "{preset}"\nswitching = "store-and-forward"\n'
            f"{longer if wide else ''}"
            f"router_cycles = 1\nforward_cycles = {cycles:<14} # as in that simulator\n"
            f"{room if cycles else ''}"
        )

    def graph(self, to_join: str = "add the missing cables, or remove this") -> Graph:
        """Return the graph; ``to_join``: what to do if it is in parts. Raises ReadError at a line."""
        self._check_whole(to_join)
        terminals = sum(vertex.terminal for vertex in self.raw.vertices.values())
        if terminals < 2:
            message = f"{terminals} terminal{'' if terminals == 1 else 's'}; a network needs two"
            self.lines.fail(1, message, "name a network in which one can send to another")
        try:
            return self.raw.to_graph()
        except GraphError as error:
            line = next((int(word) for word in _words_after_line(str(error))), 1)
            message = str(error).removeprefix(f"{self.raw.origin}: ").removeprefix(f"line {line}: ")
            message = re.sub(r"\bline (\d+)", lambda found: self.lines.said(int(found[1])), message)
            raise self.lines.error(line, message, "") from None

    def _check_whole(self, to_join: str) -> None:
        number = {name: at for at, name in enumerate(self.raw.vertices)}
        ends = [[number[getattr(link, end)] for link in self.raw.links] for end in ("source", "target")]
        label = components(len(number), *(np.array(end, np.int64) for end in ends))
        if not label.any():
            return
        part, count = np.unique(label, return_counts=True)
        least = int(part[np.argmin(count)])
        names = [name for name, at in number.items() if label[at] == least]
        message = f'the fabric falls into {len(part)} parts: "{names[0][:60]}"'
        message += f" and {len(names) - 1} more are" if len(names) > 1 else " is"
        line = self.line_of[names[0]]
        raise self.lines.error(line, f"{message} joined to nothing else", to_join)


def _words_after_line(text: str) -> list[str]:
    words = text.replace(":", " ").replace(",", " ").split()
    return [after for word, after in itertools.pairwise(words) if word == "line" and after.isdecimal()]
