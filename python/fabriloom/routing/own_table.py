"""A user's own table: a CSV file with the columns switch, terminal and links, or as routers take it.

Each row lists the links by which packets for a terminal leave a switch. ``terminal`` may also be a switch,
which means all terminals that receive from it; a row for a terminal itself has precedence. ``links`` are
separated by spaces, in order of preference; a neighbour's name means all links to it. A lane after a slash,
``s1>s2/0``, allows only this lane of the link. A row with a ``level`` is for packets of this service level:
so a subnet says it whose switches map levels to lanes port by port. Links from a switch to its own terminals
need no row. A file with a column ``router`` has ports by logical address; so have arrays in C.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import reading, units
from ..reading import ReadError
from ..topology.graph import Graph
from ..topology.port_addresses import FIRST_ADDRESS
from . import routers
from .check import met, verify
from .table import NONE, ByPair, RouteTable, RoutingError, check_size

COLUMNS = ["router", "logical_address", "ports"]
MORE = ["terminal", "priority", "take"]
"""Columns that an exported table can have besides."""
_PASSED_OVER = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[ \t]*#(?:\\.|[^\\\n])*", re.DOTALL | re.MULTILINE)
_ARRAY = re.compile(r"\b([A-Za-z_]\w*)\s*\[[^\[\]{};=]*\]\s*(\[[^\[\]{};=]*\]\s*)?=\s*\{")
_ELEMENT = re.compile(r"(?:\s*\[\s*(\w+)\s*(?:\.\.\.\s*(\w+)\s*)?\]\s*=)?([^{},;\[\]]*)([{},])")
_BLANK = re.compile(r"\s*")
_MOST_ELEMENTS = 1 << 16
"""Of a range."""
_AFTER_ARRAY = re.compile(r"\s*([,}])")
_NUMBER = r"0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|[1-9][0-9]{0,19}|0[0-7]{0,22}"
_TERM = re.compile(rf"({_NUMBER})[uUlL]{{0,3}}(?:\s*<<\s*([0-9]{{1,2}})[uUlL]{{0,3}})?", re.ASCII)
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,8}")
WORDS = {
    "router": ("switch", "routing switch"),
    "logical_address": ("address", "destination address"),
    "ports": ("port", "output port", "output ports", "out port"),
}
"""Columns, each with other words for it."""
Row = tuple[int, int, tuple[tuple[int, int], ...]]
"""Switch, target vertex, and links, each with any lane."""


class RouterRows:
    """What the rows of such a table mean in a network."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._switches = {name: number for number, name in enumerate(graph.switch_names)}
        self._terminals = {address: number for number, address in enumerate(routers.addresses(graph))}
        self._links = {
            (int(graph.link_source[link]), port): link
            for link, port in enumerate(routers.ports(graph))
            if port is not None
        }

    def row(self, cells: list[str]) -> Row:
        """Return the meaning of a row, given the cells of COLUMNS and MORE. Raises RoutingError."""
        router, address, ports, terminal, priority, take = cells
        switch = self._switches.get(router)
        if switch is None:
            raise RoutingError(f'there is no router "{router}"', cell="router")
        target = self._target(address, terminal)
        if priority == "high":
            message = "priorities are set by routing.high_priority; leave the column out"
            raise RoutingError(message, cell="priority")
        if take == "all":
            message = "an address of several terminals is set by [[routing.distribution]]; leave it out"
            raise RoutingError(message, cell="take")
        links = tuple(dict.fromkeys((self._link(switch, word), -1) for word in ports.split()))
        if not links:
            raise RoutingError("no port is given", cell="ports")
        return switch, self._graph.switches + target, links

    def _target(self, address: str, terminal: str) -> int:
        """Return the terminal with an address; ``terminal`` is the name that the table gives, if any."""
        number = int(address, 16) if _HEXADECIMAL.fullmatch(address) else _number(address)
        if number is None:
            message = f'"{address}" is no logical address: write a number'
            raise RoutingError(message, cell="logical_address")
        target = self._terminals.get(number)
        if target is None:
            there = ", ".join(map(str, sorted(self._terminals)[:12]))
            message = f"no terminal has the logical address {number}; there are {there}"
            raise RoutingError(message, cell="logical_address")
        name = self._graph.terminal_names[target]
        if terminal not in ("", name):
            message = f"the logical address {number} is that of {name}, not of {terminal}"
            raise RoutingError(message, cell="terminal")
        return target

    def _link(self, switch: int, word: str) -> int:
        port, name = _number(word), self._graph.switch_names[switch]
        if port is None:
            raise RoutingError(f'"{word}" is no port of {name}: {_unmasked(word)}', cell="ports")
        if (switch, port) not in self._links:
            there = ", ".join(str(number) for at, number in sorted(self._links) if at == switch)
            raise RoutingError(f"{name} has no cable at port {port}; it has {there}", cell="ports")
        return self._links[switch, port]


def _number(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else None


def _unmasked(word: str) -> str:
    """Return what to write instead of a mask, in which bit n stands for port n."""
    number = int(word, 16) if _HEXADECIMAL.fullmatch(word) else 0
    bits = " ".join(str(bit) for bit in range(number.bit_length()) if number >> bit & 1)
    return f"write the ports of a mask, separated by spaces: {bits}" if bits else "write numbers"


class _CArrays:
    """Tables of routers as arrays in C, as ``fabriloom export`` writes them: for each one of port masks.

    What is read are arrays of any type with their elements, ``NAME[...] = {...}``; an array of arrays has one
    for each router, in the order of the network. Elements are numbers, or numbers joined as in
    ``1u << 3 | 0x40``, with their places, ``[40] = 0x2``, or without. Comments and lines of the preprocessor
    are passed over. ``switches``: names of the routers, in their order.
    """

    def __init__(self, text: str, switches: Sequence[str]) -> None:
        self._text = _PASSED_OVER.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self._switches = switches
        self._at = 0
        """What is before this place has been read."""
        self._line, self._counted = 1, 0

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line of each element with ports, and its router, logical address and ports.

        Raises RoutingError with the line.
        """
        by_name = dict(zip(routers.identifiers(self._switches), self._switches, strict=True))
        while array := _ARRAY.search(self._text, self._at):
            self._at = array.end()
            if array[2]:
                for place, element in self._elements():
                    if element != "{" or place >= len(self._switches):
                        some = f"{len(self._switches)} routers"
                        raise self._error(f"{array[1]} is no array of arrays, one for each of {some}")
                    yield from self._router(self._switches[place])
            elif array[1] in by_name:
                yield from self._router(by_name[array[1]])
            else:
                there = ", ".join([*by_name][:8])
                raise self._error(f'there is no router "{array[1]}"; arrays have the names {there}')
        if not self._at:
            raise self._error("there is no array with elements; write it as fabriloom export does")

    def _router(self, router: str) -> Iterator[tuple[int, list[str]]]:
        for address, element in self._elements():
            mask = _mask(element)
            if mask is None:
                raise self._error(f'"{element[:40]}" is no mask of ports; that of 1 and 2 is 0x06')
            if mask and not (address < FIRST_ADDRESS and mask == 1 << address):  # that of a path address
                ports = " ".join(str(port) for port in range(mask.bit_length()) if mask >> port & 1)
                yield self._line_here(), [router, str(address), ports, "", "", ""]

    def _elements(self) -> Iterator[tuple[int, str]]:
        """Yield place and text of each element up to the end of these braces; an array in them is a brace."""
        place, end = 0, ","
        while end != "}":
            match = _ELEMENT.match(self._text, self._at)
            if match is None:
                self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]
                raise self._error("these elements have no end, or are no numbers")
            self._at = match.start(3) + len(match[3].rstrip())
            given, text, end = match[1], match[3].strip(), match[4]
            place = place if given is None else self._place(given)
            last = place if match[2] is None else self._place(match[2])
            if not place <= last < place + _MOST_ELEMENTS or (end == "{" and last > place):
                raise self._error(f"[{given} ... {match[2]}] are no elements with numbers")
            if end == "{":
                self._at = match.end()
                yield place, f"{text}{end}"
                after = _AFTER_ARRAY.match(self._text, self._at)
                if after is None:
                    raise self._error("a comma or the end of the array is missing")
                self._at, end = after.end(), after[1]
            else:
                if text or given is not None or end == ",":
                    yield from ((each, text) for each in range(place, last + 1))
                self._at = match.end()
            place = last + 1

    def _place(self, given: str) -> int:
        """Return the number of an element in brackets."""
        number = _mask(given)
        if number is None:
            raise self._error(f'"{given[:40]}" is no place of an element; write a number')
        return number

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _error(self, message: str) -> RoutingError:
        return RoutingError(f"line {self._line_here()}: {message}", "path")


def _mask(text: str) -> int | None:
    """Return the value of numbers joined by ``|`` and ``<<``, or None."""
    found = 0
    for part in text.replace("(", " ").replace(")", " ").split("|"):
        term = _TERM.fullmatch(part.strip())
        if term is None:
            return None
        octal = term[1].startswith("0") and term[1].isdigit()
        found |= int(term[1], 8 if octal else 0) << int(term[2] or 0)
    return found


MOST_BYTES = 1 << 30
HEADINGS = ["switch", "terminal", "links"]
_LEVEL = "level"
MOST_LEVELS = 16

Ways = tuple[tuple[int, int], ...]
"""Links, each with its only allowed lane, or -1."""


def own_table(
    graph: Graph,
    path: str | Path,
    adaptive: bool = True,
    lanes: int = 1,
    elsewhere: Collection[str] = (),
    levels: ByPair | None = None,
) -> RouteTable:
    """Read the table and check that every packet arrives.

    With ``adaptive=False`` only the first link of each row is used. ``elsewhere``: see :func:`rows_in`;
    ``levels``: of packets, each of which is a way where rows are of a level. Raises ``RoutingError`` with the
    line.
    """
    text = text_at(path)
    ways = levels if levels is not None and _LEVEL in _head(text, path) else None
    check_size(graph.switches, graph.terminals * (1 if ways is None else ways.count), "path")
    maker = _Maker(graph, adaptive, lanes, ways)
    in_c = Path(path).suffix.lower() in (".c", ".h")
    by_ports = in_c or has_routers(text, path)
    if by_ports:
        cells = (
            _CArrays(text, graph.switch_names).rows()
            if in_c
            else rows_in(text, path, COLUMNS, MORE, WORDS, elsewhere)
        )
        rows = list(_by_address(graph, cells, adaptive))
    else:
        rows = [maker.row(*row) for row in rows_in(text, path, HEADINGS, [_LEVEL], elsewhere=elsewhere)]
    seen: dict[tuple[int, int, int], int] = {}
    for line, switch, target, links, level in sorted(
        rows, key=lambda row: (row[2] >= graph.switches, row[4])
    ):
        if (switch, target, level) in seen:
            before = seen[switch, target, level]
            raise fault(line, f"this destination was given in line {before} already")
        seen[switch, target, level] = line
        maker.fill(switch, target, links, level)
    maker.deliver()
    table = maker.finish()
    try:
        verify(graph, table)
    except RoutingError as error:
        raise _placed(error, maker, rows, "ports" if by_ports else "links") from None
    return table


def _placed(
    error: RoutingError, maker: _Maker, rows: list[tuple[int, int, int, Ways, int]], cell: str
) -> RoutingError:
    """Return an error of the whole table with the place of the rows that cause it, if there are any."""
    terminal = next((number for kind, number in error.named if kind == "terminal"), None)
    if terminal is None:
        return error
    found: list[int] = []
    for switch in dict.fromkeys(number for kind, number in error.named if kind == "switch"):
        targets = (maker.graph.switches + terminal, int(maker.home[terminal]))
        own = [line for target in targets for line, at, to, *_ in rows if (at, to) == (switch, target)]
        found += own[:1]
    if not found:
        return RoutingError(str(error), "path")
    others = [str(line) for line in found[1:]]
    also = f" (see also {'lines' if len(others) > 1 else 'line'} {', '.join(others)})" if others else ""
    return fault(found[0], f"{error}{also}", cell)


def fault(line: int, message: str, cell: str | None = None) -> RoutingError:
    """Return the error at a line of a table of routes, and at one of its columns."""
    return RoutingError(f"line {line}: {message}", "path", cell=cell)


def numbered(names: Mapping[str, int], line: int, name: str, column: str, what: str) -> int:
    """Return the number of a name in a line of a table. Raises RoutingError with the nearest right one."""
    if name not in names:
        near = units.nearest(name, list(names))
        hint = f'; did you mean "{near}"?' if near else ""
        raise fault(line, f'there is no {what} "{name[:60]}"{hint}', column)
    return names[name]


def text_at(path: str | Path) -> str:
    """Return the text of a table of routes. Raises RoutingError."""
    advice = "write fewer rows: a switch stands for its terminals"
    try:
        return reading.text_of(reading.content(Path(path), MOST_BYTES, "1 GiB", advice), str(path))
    except ReadError as error:
        raise _unreadable(Path(path), error) from None


def rows_of(
    path: str | Path, columns: list[str], elsewhere: Collection[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells, in the order of ``columns``, of every row of a table of routes."""
    return rows_in(text_at(path), path, columns, elsewhere=elsewhere)


def rows_in(
    text: str,
    path: str | Path,
    columns: list[str],
    more: Sequence[str] = (),
    words: Mapping[str, Sequence[str]] | None = None,
    elsewhere: Collection[str] = (),
) -> Iterator[tuple[int, list[str]]]:
    """Yield the same of a text; ``more``: columns that may be missing, whose cells are empty then.

    ``words``: other words for columns; ``elsewhere``: names in other planes, whose rows are passed over.
    """
    every = [*columns, *more]
    try:
        for line, row in reading.named_rows(text, str(path), every, more, words):
            if row[columns[0]] not in elsewhere:
                yield line, [row[column] for column in every]
    except ReadError as error:
        raise _unreadable(Path(path), error) from None


def has_routers(text: str, path: str | Path) -> bool:
    """Whether the first line of a table names routers, or logical addresses."""
    plain = _head(text, path)
    return "router" in plain or any(one.name == "logical_address" for one in reading.headings(plain, WORDS))


def _head(text: str, path: str | Path) -> list[str]:
    """Return the names of columns in the first line of a table."""
    try:
        _, header = next(reading.records(text, str(path), comments=False), (1, []))
    except ReadError:
        return []
    return [name.strip().lower() for name in header]


def _by_address(
    graph: Graph, rows: Iterator[tuple[int, list[str]]], adaptive: bool
) -> Iterator[tuple[int, int, int, Ways, int]]:
    """Yield line, switch, target vertex and links of rows with ports by logical address."""
    meaning = RouterRows(graph)
    for line, cells in rows:
        try:
            switch, target, links = meaning.row(cells)
        except RoutingError as error:
            raise fault(line, str(error), error.cell) from None
        yield line, switch, target, links if adaptive else links[:1], -1


def _unreadable(file: Path, error: ReadError) -> RoutingError:
    if error.place:
        found = fault(error.place[1], f"{error.message}; {error.hint}")
        found.message, found.hint, found.place = error.message, error.hint, error.place
        return found
    if isinstance(error.__cause__, OSError):
        return RoutingError(f"cannot read {file}: {error.__cause__.strerror}", "path")
    return RoutingError(f"{file}: {error.message}; {error.hint}", "path")


class _Maker:
    """The table under construction: groups by their links, entries by switch and terminal."""

    def __init__(self, graph: Graph, adaptive: bool, lanes: int, levels: ByPair | None) -> None:
        self.graph, self.levels = graph, levels
        self.lane_count = lanes
        self.adaptive = adaptive
        names = [*graph.switch_names, *graph.terminal_names]
        self.vertices = {name: number for number, name in enumerate(names)}
        self.links = {name: number for number, name in enumerate(graph.link_names)}
        self.groups: dict[Ways, int] = {}
        ways = 1 if levels is None else levels.count
        self.route = np.full((graph.switches, ways, graph.terminals), NONE, np.uint32)
        into = graph.link_target >= graph.switches
        self.home: NDArray[np.int64] = np.zeros(graph.terminals, np.int64)
        self.home[graph.link_target[into] - graph.switches] = graph.link_source[into]
        self.between: dict[tuple[int, int], list[int]] = {}
        for link, ends in enumerate(zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True)):
            self.between.setdefault(ends, []).append(link)

    def row(self, line: int, cells: list[str]) -> tuple[int, int, int, Ways, int]:
        """Return line, switch, target vertex, links and level (-1: any) of a row."""
        switch = self.vertices.get(cells[0], self.graph.switches)
        if switch >= self.graph.switches:
            raise fault(line, f'there is no switch "{cells[0]}"', "switch")
        target = self.vertices.get(cells[1])
        if target is None:
            raise fault(line, f'there is no terminal or switch "{cells[1]}"', "terminal")
        links = tuple(
            dict.fromkeys(link for word in cells[2].split() for link in self._named(line, switch, word))
        )
        if not links:
            raise fault(line, "no link is given", "links")
        return line, switch, target, links if self.adaptive else links[:1], self._level(line, cells[3])

    def _level(self, line: int, word: str) -> int:
        if not word:
            return -1
        if not (word.isascii() and word.isdecimal() and int(word[:9]) < MOST_LEVELS):
            raise fault(line, f'"{word[:20]}" is no level: write 0 to {MOST_LEVELS - 1}', _LEVEL)
        if self.levels is None:
            raise fault(line, "a row of a level needs levels of packets: write service_levels", _LEVEL)
        return int(word)

    def _named(self, line: int, switch: int, word: str) -> list[tuple[int, int]]:
        """Return the links that a word names, with their lanes; -1: any lane."""
        name, slash, lane = word.rpartition("/")
        if not slash or word in self.links or word in self.vertices or not lane.isdecimal():
            return [(link, -1) for link in self._links(line, switch, word)]
        if int(lane) >= self.lane_count:
            there = "lane 0 alone" if self.lane_count == 1 else f"lanes 0 to {self.lane_count - 1}"
            message = f'"{word}": there is no lane {lane}; links have {there} (technology.lanes)'
            raise fault(line, message, "links")
        return [(link, int(lane)) for link in self._links(line, switch, name)]

    def _links(self, line: int, switch: int, word: str) -> list[int]:
        if word in self.links:
            link = self.links[word]
            if self.graph.link_source[link] != switch:
                message = f'link "{word}" does not leave {self.graph.switch_names[switch]}'
                raise fault(line, message, "links")
            return [link]
        links = self.between.get((switch, self.vertices.get(word, -1)))
        if links is None:
            message = f'{self.graph.switch_names[switch]} has no link or neighbour "{word}"'
            raise fault(line, message, "links")
        return links

    def fill(self, switch: int, target: int, links: Ways, level: int = -1) -> None:
        """Enter a row; ``target`` is a vertex."""
        group = self.groups.setdefault(links, len(self.groups))
        own = self.route[switch] if level < 0 else self.route[switch, level : level + 1]
        if target >= self.graph.switches:
            own[:, target - self.graph.switches] = group * 2
        elif target != switch:
            own[:, self.home == target] = group * 2

    def deliver(self) -> None:
        """Enter the links from switches to their own terminals where the file has no row."""
        for terminal, switch in enumerate(self.home.tolist()):
            for level in np.flatnonzero(self.route[switch, :, terminal] == NONE).tolist():
                links = self.between[switch, self.graph.switches + terminal]
                self.fill(switch, self.graph.switches + terminal, tuple((link, -1) for link in links), level)

    def finish(self) -> RouteTable:
        """Return the table."""
        sizes = [len(links) for links in self.groups]
        ways = np.array([way for ways in self.groups for way in ways], np.int64).reshape(-1, 2)
        members = ways[:, 0].astype(np.uint32)
        start = np.cumsum([0, *sizes]).astype(np.uint32)
        table = RouteTable(
            group_switch=self.graph.link_source[members[start[:-1]]].astype(np.uint32),
            group_start=start,
            group_links=members,
            rows=self.route.reshape(self.graph.switches, -1),
            terminal_class=np.arange(self.route[0].size, dtype=np.uint32),
            by_source=self.levels,
            group_lanes=ways[:, 1] if (ways[:, 1] >= 0).any() else None,
            kind="table",
        )
        return table if self.levels is None else met(self.graph, table)
