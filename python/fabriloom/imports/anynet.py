"""BookSim's ``anynet`` files: ``router 0 node 0 node 1 5 router 1 4``, latencies in cycles.

A number behind a router is the latency from the first router to that one; behind a node it is that of both
directions; 1 if there is none, and for the way back of which no line speaks. A line may also name a node
and its router. Routers are switches ``r0``, nodes are terminals ``n0``. Routes are BookSim's: of the least
latency; of equal ones that which its search finds first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from pathlib import Path

from .common import Fabric, Imported, Lines, Route, only

CYCLE_PS = 1000
"""Length of the cycle in the scenario that is written; the files have none."""
_MOST_CYCLES = 5_000_000
_MOST_ROUTES = 1 << 21
_HINT = "write lines such as: router 0 node 0 router 1 4"


def anynet(files: Sequence[Path]) -> Imported:
    """Read a network."""
    lines = Lines(only(files, "a network"))
    fabric, ways, nodes = (
        Fabric(lines),
        dict[tuple[int, int], tuple[int, int]](),
        dict[int, tuple[int, int, int]](),
    )
    for number, whole in lines:
        if words := whole.lower().split():
            _line(lines, number, words, ways, nodes)
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
    graph, remarks = fabric.graph(), tuple[str, ...]()
    if len(routers) * max(len(nodes), 2 * len(ways)) > _MOST_ROUTES:
        routes = list[Route]()
        remarks = (f"{lines.path}: too large for BookSim's routes; those of the fewest links are taken",)
    else:
        routes = _routes(routers, ways, nodes)
    return Imported("anynet", graph, routes, sections, remarks)


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


def _line(
    lines: Lines,
    number: int,
    words: list[str],
    ways: dict[tuple[int, int], tuple[int, int]],
    nodes: dict[int, tuple[int, int, int]],
) -> None:
    pairs: list[tuple[str, int, int]] = []
    at = 0
    while at < len(words):
        if words[at] not in ("router", "node"):
            lines.fail(number, f'"{words[at][:40]}" where router or node is meant', _HINT, words[at])
        what, cycles = words[at], 1
        if at + 1 >= len(words):
            lines.fail(number, f"{what} without its number", _HINT, what)
        name = lines.whole(number, words[at + 1], _HINT, 1 << 20)
        at += 2
        if at < len(words) and words[at].lstrip("-").isdecimal():
            cycles = lines.whole(number, words[at], _HINT, _MOST_CYCLES, 1)
            at += 1
        pairs.append((what, name, cycles))
    if [what for what, *_ in pairs] == ["node", "router"] and pairs[1][2] == 1:
        pairs.reverse()
    if pairs[0][0] != "router" or len(pairs) < 2:
        lines.fail(number, "a line is a router and what it is joined to, or a node and its router", _HINT)
    router = pairs[0][1]
    for what, name, cycles in pairs[1:]:
        if what == "router" and name == router:
            lines.fail(number, f"router {router} is joined to itself", "name another one")
        if what == "router":
            if (router, name) in ways:
                before = ways[router, name][1]
                lines.fail(
                    number, f"router {router} has a link to router {name} already (line {before})", "keep one"
                )
            ways[router, name] = (cycles, number)
            continue
        if name in nodes and nodes[name][0] != router:
            lines.fail(
                number, f"node {name} is joined already (line {nodes[name][2]})", "a node has one router"
            )
        nodes[name] = (router, cycles, number)
