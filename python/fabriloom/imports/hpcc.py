"""Topologies and flows of the HPCC simulator for ns-3.

A topology: counts, the numbers of the switches, and lines ``src dst rate delay error``: a rate such as
100Gbps, a delay such as 0.001ms, and the share of packets that the link loses. All nodes that are no switches
are terminals. SimAI's has six counts: nodes, GPUs of a server, switches within servers and others, links, and
the type of GPU. Flows: their count, and lines ``src dst class port bytes start``, in seconds. Lines beyond a
count are not read by that simulator, and not here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..reading import ReadError
from .common import CUT, SCALE, Fabric, Flow, Imported, Lines

_RATE = re.compile(r"(\d+(?:\.\d+)?)([kKMGT]?)bps")
_TIME = re.compile(r"(\d+(?:\.\d+)?(?:e-?\d+)?)(ps|ns|us|ms|s)")
_SECONDS = re.compile(r"\d{1,6}(?:\.\d{1,12})?")
_Row = tuple[int, list[str]]
"""Number and words of a line."""
_HINT = "links are lines such as: 0 2 100Gbps 0.001ms 0"
_FLOW_HINT = "flows are lines such as: 0 1 3 100 65536 2.0"


def hpcc(files: Sequence[Path]) -> Imported:
    """Read a topology, and flows if there is a file of them."""
    if len(files) > 2:
        raise ReadError(f"{len(files)} files; a topology is one", "name the topology and its flows")
    texts = [_rows(file) for file in files]
    texts.sort(key=lambda text: len(text[1][0][1]), reverse=True)  # a topology begins with three counts
    (lines, rows), *others = texts
    number, head = rows[0]
    of_simai = len(head) == 6
    counts = head[:1] + head[2:5] if of_simai else _of(lines, number, head, 3)
    nodes, *kinds, links = (lines.whole(number, word, _HINT, 1 << 20) for word in counts)
    switches = sum(kinds)
    number, words = rows[1] if switches and len(rows) > 1 else (number, [])
    body = rows[2:] if switches else rows[1:]
    ids = {lines.whole(number, word, _HINT, nodes - 1) for word in _of(lines, number, words, switches)}
    body, remarks = _announced(lines, rows[0], links, body, "links", 4 if of_simai else 2)
    fabric = Fabric(lines)
    for node in range(nodes):
        fabric.add(f"s{node}" if node in ids else f"h{node}", node not in ids, number)
    if _links(lines, fabric, body, nodes, ids):
        remarks.append(f"{lines.path}: links that lose packets are read as links that lose none")
    sections, flows = fabric.switches(), tuple[Flow, ...]()
    for other in others:
        flows, beyond = _flows(*other, fabric)
        remarks += beyond
        remarks.append(f"{other[0].path}: classes, ports and congestion control of flows are left out; {CUT}")
    sections += "" if flows else '\n[traffic]\npattern = "uniform"\nload = 0.3\n'
    return Imported(fabric.graph(), [], sections, tuple(remarks), flows)


def _rows(file: Path) -> tuple[Lines, list[_Row]]:
    lines = Lines(file)
    rows = [(number, whole.split()) for number, whole in lines if whole.split()]
    if not rows:
        raise ReadError(f"{file}: the file is empty", "name a topology")
    return lines, rows


def _announced(
    lines: Lines, head: _Row, count: int, rows: list[_Row], what: str, place: int
) -> tuple[list[_Row], list[str]]:
    """Return the lines that are announced, and a remark if more follow."""
    if len(rows) < count:
        message = f"{count} {what} are announced, {len(rows)} follow"
        lines.fail(head[0], message, "is the file cut short?", head[1][place])
    beyond = len(rows) - count
    remark = f"{lines.path}: {count} {what} are announced; the {beyond} lines behind them are left out"
    return rows[:count], [remark] if beyond else []


def _flows(lines: Lines, rows: list[_Row], fabric: Fabric) -> tuple[tuple[Flow, ...], list[str]]:
    number, head = rows[0]
    count = lines.whole(number, _of(lines, number, head, 1)[0], _FLOW_HINT, 1 << 24)
    body, remarks = _announced(lines, rows[0], count, rows[1:], "flows", 0)
    rates = {link.source: link.numbers["rate_bits_per_s"] for link in fabric.raw.links}
    found: list[Flow] = []
    for number, row in body:
        words = _of(lines, number, row, 6)
        ends = [f"h{lines.whole(number, word, _FLOW_HINT, 1 << 20)}" for word in words[:2]]
        for end, word in zip(ends, words, strict=False):
            if end not in fabric.line_of:
                lines.fail(number, f"node {word} is no host", "flows go from host to host", word)
        if ends[0] == ends[1]:
            lines.fail(number, f"node {words[0]} sends to itself", "name two hosts")
        size = lines.whole(number, words[4], _FLOW_HINT, 10**12)
        if not size:
            lines.fail(number, "a flow has at least a byte", "remove it, or give its bytes", words[4])
        if not _SECONDS.fullmatch(words[5]):
            lines.fail(number, f'"{words[5][:40]}" is no start in seconds', _FLOW_HINT, words[5])
        start_ps = round(float(words[5]) * 1e12)
        found.append(Flow(f"{number - rows[0][0]}", ends[0], ends[1], size, rates[ends[0]], start_ps))
    return tuple(found), remarks


def _links(lines: Lines, fabric: Fabric, body: list[_Row], nodes: int, ids: set[int]) -> bool:
    """Add the links; return whether one loses packets."""
    count: dict[tuple[str, str], int] = {}
    lossy = False
    for number, row in body:
        words = _of(lines, number, row, 5)
        ends = [lines.whole(number, word, _HINT, nodes - 1) for word in words[:2]]
        if ends[0] == ends[1]:
            lines.fail(number, f"node {ends[0]} is joined to itself", "name two nodes")
        a, b = (f"s{end}" if end in ids else f"h{end}" for end in ends)
        rate, time = _RATE.fullmatch(words[2]), _TIME.fullmatch(words[3])
        if rate is None or time is None:
            word = words[2] if rate is None else words[3]
            lines.fail(number, f'"{word[:40]}" is no {"rate" if rate is None else "delay"}', _HINT, word)
        bits_per_s = float(rate[1]) * SCALE[rate[2]]
        own = lines.link_numbers(number, bits_per_s, f"{time[1]} {time[2]}", words[3])
        key = (min(a, b), max(a, b))
        count[key] = count.get(key, -1) + 1
        tail = f"#{count[key]}" if count[key] else ""
        fabric.cable(a, b, number, (f"{a}>{b}{tail}", f"{b}>{a}{tail}"), (own, own))
        lossy |= words[4].strip("0.") != ""
    return lossy


def _of(lines: Lines, number: int, words: list[str], count: int) -> list[str]:
    if len(words) != count:
        lines.fail(number, f"{len(words)} values, where {count} are meant", _HINT)
    return words
