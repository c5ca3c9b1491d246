"""BookSim's ``anynet`` files: ``router 0 node 0 node 1 5 router 1 4``, latencies in cycles.

A number behind a router is the latency from the first router to that one; behind a node it is that of both
directions, though BookSim itself gives it to a channel between routers; 1 if there is none, and for the way
back of which no line speaks. A line may also name a node and its router. Routers are switches ``r0``, nodes
are terminals ``n0``. Routes are BookSim's: of the least latency; of equal ones that which its search finds
first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .common import Fabric, Imported, Lines, Route, only

CYCLE_PS = 1000
"""Length of the cycle in the scenario that is written; the files have none."""
_MOST_CYCLES = 5_000_000
_MOST_ROUTES = 1 << 21
_HINT = "write lines such as: router 0 node 0 router 1 4"


@dataclass
class _Read:
    """What the lines say."""

    ways: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """From router to router: latency and line."""
    nodes: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Per node: router, latency and line."""
    timed: dict[int, int] = field(default_factory=dict)
    """Per node with a latency: the line."""


def anynet(files: Sequence[Path]) -> Imported:
    lines, read = Lines(only(files, "a network")), _Read()
    fabric, ways, nodes = Fabric(lines), read.ways, read.nodes
    for number, whole in lines:
        if words := whole.split():
            _line(lines, number, words, read)
    routers = sorted({router for pair in ways for router in pair} | {router for router, *_ in nodes.values()})
    first = {router: line for (a, b), (_, line) in reversed(ways.items()) for router in (a, b)}
    first |= {router: line for router, _, line in nodes.values()}
    for router in routers:
        fabric.add(f"r{router}", False, first[router])
    for node, (router, cycles, line) in sorted(nodes.items()):
        fabric.add(f"n{node}", True, line)
        names, delay = (f"n{node}>r{router}", f"r{router}>n{node}"), _delay(cycles)
        fabric.cable(f"n{node}", f"r{router}", line, names, (delay, delay))
    for (a, b), (cycles, line) in ways.items():
        back = ways.get((b, a))
        if back is not None and b < a:
            continue
        cycles_back = 1 if back is None else back[0]
        fabric.cable(
            f"r{a}", f"r{b}", line, (f"r{a}>r{b}", f"r{b}>r{a}"), (_delay(cycles), _delay(cycles_back))
        )
    sections = (
        '[technology]\npreset = "generic"\ncycle = "1 ns"\n\n[traffic]\npattern = "uniform"\nload = 0.3\n'
    )
    graph, routes, remarks = fabric.graph(), list[Route](), _remarks(lines, read)
    if len(routers) * max(len(nodes), 2 * len(ways)) > _MOST_ROUTES:
        remarks.append(f"{lines.path}: too large for BookSim's routes; those of the fewest links are taken")
    else:
        routes = _routes(routers, ways, nodes)
    return Imported(graph, routes, sections, tuple(remarks))


def _remarks(lines: Lines, read: _Read) -> list[str]:
    """Return what BookSim does not do as it says."""
    if not read.timed:
        return []
    node, line = min(read.timed.items(), key=lambda item: item[1])
    others = f" (and {len(read.timed) - 1} more)" if len(read.timed) > 1 else ""
    instead = f"a channel from router {read.nodes[node][0]} to router {node}, and adds one if there is none"
    return [
        f"{lines.path}:{line}: the latency behind node {node}{others} is taken for that of its link; "
        f"BookSim gives it to {instead}"
    ]


def _routes(
    routers: list[int], ways: dict[tuple[int, int], tuple[int, int]], nodes: dict[int, tuple[int, int, int]]
) -> list[Route]:
    """Return the link that leads from each router to each node, as BookSim searches for it."""
    near: dict[int, dict[int, int]] = {router: {} for router in routers}
    for (a, b), (cycles, _) in ways.items():
        near[a][b] = cycles
        near[b].setdefault(a, 1)
    sides = {router: sorted(others.items()) for router, others in near.items()}
    found = list[Route]()
    for start in routers:
        first = _first_steps(start, sides)
        for node, (router, *_) in sorted(nodes.items()):
            end = f"n{node}" if router == start else f"r{first[router]}"
            found.append((f"r{start}", f"n{node}", [f"r{start}>{end}"]))
    return found


def _first_steps(start: int, sides: dict[int, list[tuple[int, int]]]) -> dict[int, int]:
    """Return the router behind ``start`` on the way to each other; the lowest number is searched first."""
    least, first, done = {start: 0}, {start: start}, set[int]()
    heap = [(0, start)]
    while heap:
        far, at = heapq.heappop(heap)
        if at in done:
            continue
        done.add(at)
        for other, cycles in sides[at]:
            if other not in least or far + cycles < least[other]:
                least[other] = far + cycles
                first[other] = other if at == start else first[at]
                heapq.heappush(heap, (far + cycles, other))
    return first


def _delay(cycles: int) -> dict[str, float]:
    """Return what a link takes longer than one of a single cycle."""
    return {"delay_ps": float((cycles - 1) * CYCLE_PS)} if cycles > 1 else {}


def _line(lines: Lines, number: int, words: list[str], read: _Read) -> None:
    pairs = _pairs(lines, number, words)
    if [what for what, *_ in pairs] == ["node", "router"]:
        if pairs[1][2] is not None:
            message = "a line that begins with a node has no latency"
            lines.fail(number, message, f"write router {pairs[1][1]} node {pairs[0][1]} {pairs[1][2]}")
        pairs.reverse()
    if pairs[0][0] != "router" or len(pairs) < 2:
        lines.fail(number, "a line is a router and what it is joined to, or a node and its router", _HINT)
    router = pairs[0][1]
    for what, name, cycles in pairs[1:]:
        if what == "router" and name == router:
            lines.fail(number, f"router {router} is joined to itself", "name another one")
        if what == "router":
            if (router, name) in read.ways:
                before = read.ways[router, name][1]
                message = f"router {router} has a link to router {name} already (line {before})"
                lines.fail(number, message, "keep one")
            read.ways[router, name] = (cycles or 1, number)
            continue
        if name in read.nodes and read.nodes[name][0] != router:
            message = f"node {name} is joined already (line {read.nodes[name][2]})"
            lines.fail(number, message, "a node has one router")
        read.nodes[name] = (router, cycles or 1, number)
        if cycles is not None:
            read.timed[name] = number


def _pairs(lines: Lines, number: int, words: list[str]) -> list[tuple[str, int, int | None]]:
    """Return what a line names: router or node, its number, and its latency if there is one."""
    pairs: list[tuple[str, int, int | None]] = []
    at = 0
    while at < len(words):
        what, cycles = words[at].lower(), None
        if what not in ("router", "node"):
            lines.fail(number, f'"{words[at][:40]}" where router or node is meant', _HINT, words[at])
        if at + 1 >= len(words):
            lines.fail(number, f"{what} without its number", _HINT, words[at])
        name = lines.whole(number, words[at + 1], _HINT, 1 << 20)
        at += 2
        if at < len(words) and words[at].lstrip("-").isdecimal():
            cycles = lines.whole(number, words[at], _HINT, _MOST_CYCLES, 1)
            at += 1
        pairs.append((what, name, cycles))
    return pairs
