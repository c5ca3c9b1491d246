"""Topologies of the HPCC simulator for ns-3: counts, the numbers of the switches, and a line per link.

``src dst rate delay error``: a rate such as 100Gbps, a delay such as 0.001ms, and the share of packets that
the link loses. All nodes that are no switches are terminals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .. import units
from ..reading import ReadError
from .common import Fabric, Imported, Lines

_RATE = re.compile(r"(\d+(?:\.\d+)?)([kKMGT]?)bps")
_TIME = re.compile(r"(\d+(?:\.\d+)?(?:e-?\d+)?)(ps|ns|us|ms|s)")
_HINT = "links are lines such as: 0 2 100Gbps 0.001ms 0"


def hpcc(files: Sequence[Path]) -> Imported:
    """Read a topology."""
    if len(files) != 1:
        raise ReadError(f"{len(files)} files; a topology is one", "name the topology; flows are not read")
    lines = Lines(files[0])
    rows = [(number, whole.split()) for number, whole in lines if whole.split()]
    if not rows:
        raise ReadError("the file is empty", "name a topology")
    number, head = rows[0]
    nodes, switches, links = (_whole(lines, number, word, 1 << 20) for word in _of(lines, number, head, 3))
    number, words = rows[1] if switches and len(rows) > 1 else (number, [])
    body = rows[2:] if switches else rows[1:]
    ids = [_whole(lines, number, word, nodes - 1) for word in _of(lines, number, words, switches)]
    if len(body) != links:
        lines.fail(
            rows[0][0], f"{links} links are announced, {len(body)} follow", "is the file cut short?", head[2]
        )
    fabric = Fabric(lines)
    for node in range(nodes):
        fabric.add(f"s{node}" if node in set(ids) else f"h{node}", node not in set(ids), number)
    lossy = _links(lines, fabric, body, nodes, set(ids))
    remark = f"{lines.path}: links that lose packets are read as links that lose none"
    sections = '[technology]\npreset = "infiniband-4x-edr"\n\n[traffic]\npattern = "uniform"\nload = 0.3\n'
    return Imported("hpcc", fabric.graph(), [], sections, (remark,) if lossy else ())


def _links(
    lines: Lines, fabric: Fabric, body: list[tuple[int, list[str]]], nodes: int, ids: set[int]
) -> bool:
    """Add the links; return whether one loses packets."""
    count: dict[tuple[str, str], int] = {}
    lossy = False
    for number, row in body:
        words = _of(lines, number, row, 5)
        ends = [_whole(lines, number, word, nodes - 1) for word in words[:2]]
        if ends[0] == ends[1]:
            lines.fail(number, f"node {ends[0]} is joined to itself", "name two nodes")
        a, b = (f"s{end}" if end in ids else f"h{end}" for end in ends)
        rate, time = _RATE.fullmatch(words[2]), _TIME.fullmatch(words[3])
        if rate is None or time is None:
            word = words[2] if rate is None else words[3]
            lines.fail(number, f'"{word[:40]}" is no {"rate" if rate is None else "delay"}', _HINT, word)
        bits = float(rate[1]) * {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[rate[2]]
        try:
            delay_ps = units.parse_time_ps(f"{time[1]} {time[2]}")
        except units.UnitError as error:
            raise lines.error(number, error.message, error.hint, words[3]) from None
        own = {"rate_bits_per_s": float(round(bits)), "delay_ps": float(delay_ps)}
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


def _whole(lines: Lines, number: int, word: str, most: int) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) < 10 and int(word) <= most):
        lines.fail(number, f'"{word[:40]}" is no whole number from 0 to {most}', _HINT, word)
    return int(word)
