"""BookSim's ``anynet`` files: ``router 0 node 0 node 1 5 router 1 4``, latencies in cycles.

A number behind a router is the latency from the first router to that one; behind a node it is that of both
directions; 1 if there is none, and for the way back of which no line speaks. Routers are switches ``r0``,
nodes are terminals ``n0``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .common import Fabric, Imported, Lines, only

CYCLE_PS = 1000
"""Length of the cycle in the scenario that is written; the files have none."""
_MOST_CYCLES = 5_000_000
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
        words = whole.split()
        if words:
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
    return Imported("anynet", fabric.graph(), [], sections)


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
    if pairs[0][0] != "router" or len(pairs) < 2:
        lines.fail(number, "a line is a router and what it is joined to", _HINT)
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
        if name in nodes:
            lines.fail(
                number, f"node {name} is joined already (line {nodes[name][2]})", "a node has one router"
            )
        nodes[name] = (router, cycles, number)
