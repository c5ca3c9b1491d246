"""Fat trees and connections of htsim: a ``.topo`` file, and a ``.cm`` file beside it.

A topology has two or three tiers of switches: ``tor``, ``agg`` and, of three, ``core``; hosts are ``h0``,
``h1`` and so on. ``Bundle`` parallel cables lead down from a tier. Aggregation switch ``p`` of a pod is
joined to the cores ``p``, ``p + n``, ``p + 2n``, where a pod has n such switches. A connection starts at a
whole number of picoseconds, or at a decimal number of microseconds, as htsim writes it. One of no bytes has
no end.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..reading import ReadError
from .common import CUT, Fabric, Flow, Imported, Lines

_KEYS = (
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "radix_down",
    "radix_up",
    "bundle",
    "switch_latency_ns",
    "oversubscribed",
    "queue_down",
    "queue_up",
)
_HEAD = ("nodes", "tiers", "podsize")
_NEEDED = ("downlink_speed_gbps", "downlink_latency_ns", "radix_down")
_NAMES = ("tor", "agg", "core")
_MOST = 10**9
_HINT = "connections are lines such as: 0->13 id 1 start 0 size 2000000"


@dataclass
class _Tier:
    line: int
    values: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Value and line of each key."""

    def __getitem__(self, key: str) -> int:
        return self.values.get(key, (1 if key == "bundle" else 0, 0))[0]

    def line_of(self, key: str) -> int:
        return self.values.get(key, (0, self.line))[1]


def htsim(files: Sequence[Path]) -> Imported:
    """Read a topology, and connections if there is a file of them."""
    texts = [Lines(file) for file in files]
    matrices = [lines for lines in texts if "->" in lines.text]
    trees = [lines for lines in texts if "->" not in lines.text]
    if len(trees) != 1 or len(matrices) > 1:
        raise ReadError(
            f"{len(trees)} topologies and {len(matrices)} files of connections",
            "name one .topo file, and with it one .cm file if you like",
        )
    lines = trees[0]
    head, tiers = _tree(lines)
    fabric = Fabric(lines)
    hosts = _build(lines, fabric, head, tiers)
    sections, flows, remarks = fabric.switches(), tuple[Flow, ...](), list[str]()
    for key, what in (("switch_latency_ns", "latencies of switches"), ("queue_down", "sizes of queues")):
        if any(tier[key] for tier in tiers):
            remarks.append(f"{lines.path}: {what} are left out; those of the preset hold")
    for matrix in matrices:
        flows = tuple(_connections(matrix, hosts, tiers[0]["downlink_speed_gbps"] * 1e9))
        remarks.append(f"{matrix.path}: priorities and transport protocols are left out; {CUT}")
    sections += "" if flows else '\n[traffic]\npattern = "uniform"\nload = 0.3\n'
    return Imported("htsim", fabric.graph(), [], sections, tuple(remarks), flows)


def _tree(lines: Lines) -> tuple[dict[str, tuple[int, int]], list[_Tier]]:
    head, tiers = dict[str, tuple[int, int]](), dict[int, _Tier]()
    values = head
    for number, whole in lines:
        words = whole.split()
        if not words or words[0].startswith("#"):
            continue
        key = words[0].lower()
        if key not in (*_HEAD, *_KEYS, "tier") or (key in _HEAD) != (values is head and key != "tier"):
            lines.fail(
                number, f'"{words[0][:40]}" is not expected here', f"keys are {', '.join(_KEYS)}", words[0]
            )
        if len(words) != 2:
            lines.fail(number, f"{words[0]} has one value", f"write {words[0]} and a number")
        value = lines.whole(number, words[1], "change it", 2 if key == "tier" else _MOST)
        if key == "tier":
            values = tiers.setdefault(value, _Tier(number)).values
            continue
        if key in values:
            lines.fail(number, f"{words[0]} is given already (line {values[key][1]})", "keep one", words[0])
        values[key] = (value, number)
    if missing := [key for key in _HEAD if key not in head]:
        raise ReadError(f"{lines.path}: no {missing[0]}", "a topology begins with Nodes, Tiers and Podsize")
    count, line = head["tiers"]
    if count not in (2, 3):
        lines.fail(line, f"{count} tiers, where 2 or 3 are meant", "change Tiers")
    for tier in range(count):
        if tier not in tiers:
            lines.fail(line, f"tier {tier} is not described", f"add Tier {tier}")
        needed = (*_NEEDED, "radix_up") if tier < count - 1 else _NEEDED
        if missing := [key for key in needed if not tiers[tier][key]]:
            lines.fail(tiers[tier].line, f"tier {tier} has no {missing[0]}", "add it")
    return head, [tiers[tier] for tier in range(count)]


def _build(lines: Lines, fabric: Fabric, head: dict[str, tuple[int, int]], tiers: list[_Tier]) -> int:
    """Add switches, hosts and cables; return the number of hosts."""
    nodes, pod = head["nodes"][0], head["podsize"][0]
    per_pod = [
        _of(lines, tiers[0].line_of("radix_down"), pod, tiers[0]["radix_down"], "Podsize by Radix_Down")
    ]
    pods = _of(lines, head["nodes"][1], nodes, pod, "Nodes by Podsize")
    for below, tier in itertools.pairwise(tiers):
        up = _of(
            lines,
            below.line_of("radix_up"),
            below["radix_up"],
            tier["bundle"],
            "Radix_Up by the Bundle above",
        )
        per_pod.append(up)
    _check_down(lines, tiers, per_pod, pods)
    names = [f"tor{at}" for at in range(pods * per_pod[0])]
    _check_size(lines, head, nodes, len(names) * max(tier["radix_up"] for tier in tiers[:-1]))
    aggs, apart = per_pod[1], 1 if len(tiers) == 2 else pods
    for at, name in enumerate(names):
        fabric.add(name, False, tiers[0].line)
        for host in range(at * tiers[0]["radix_down"], (at + 1) * tiers[0]["radix_down"]):
            fabric.add(f"h{host}", True, head["nodes"][1])
            _cables(fabric, f"h{host}", name, tiers[0])
    for at in range(apart * aggs):
        fabric.add(f"agg{at}", False, tiers[1].line)
    for at, name in enumerate(names):
        for up in range(aggs):
            _cables(fabric, name, f"agg{at // per_pod[0] * aggs + up if apart > 1 else up}", tiers[1])
    if len(tiers) == 3:
        for core in range(aggs * per_pod[2]):
            fabric.add(f"core{core}", False, tiers[2].line)
        for agg in range(pods * aggs):
            for up in range(per_pod[2]):
                _cables(fabric, f"agg{agg}", f"core{agg % aggs + aggs * up}", tiers[2])
    return nodes


def _check_down(lines: Lines, tiers: list[_Tier], per_pod: list[int], pods: int) -> None:
    """Refuse a tier whose switches have other numbers of cables down than the tier below has up."""
    below = per_pod[0] * (pods if len(tiers) == 2 else 1)
    for tier, joined in zip(tiers[1:], (below, pods), strict=False):
        wanted = joined * tier["bundle"]
        if tier["radix_down"] != wanted:
            lines.fail(
                tier.line_of("radix_down"),
                f"Radix_Down is {tier['radix_down']}; the tier below makes it {wanted}",
                "change Radix_Down, the Bundle, or Radix_Up below",
            )


def _check_size(lines: Lines, head: dict[str, tuple[int, int]], nodes: int, cables: int) -> None:
    if nodes > 1 << 17 or cables > 1 << 20:
        lines.fail(head["nodes"][1], f"{nodes:,} nodes are too many", "at most 131,072 are read")


def _cables(fabric: Fabric, low: str, high: str, tier: _Tier) -> None:
    own = {
        "rate_bits_per_s": tier["downlink_speed_gbps"] * 1e9,
        "delay_ps": tier["downlink_latency_ns"] * 1e3,
    }
    for number in range(tier["bundle"]):
        tail = f"#{number}" if number else ""
        fabric.cable(low, high, tier.line, (f"{low}>{high}{tail}", f"{high}>{low}{tail}"), (own, own))


def _of(lines: Lines, line: int, count: int, share: int, what: str) -> int:
    if not share or not count or count % share:
        lines.fail(line, f"{what}: {count} is no multiple of {share}", "change one of them")
    return count // share


_ENDS = re.compile(r"(\d{1,9})->(\d{1,9})")
_MICROSECONDS = re.compile(r"\d{1,12}\.\d{1,12}")


def _connections(lines: Lines, hosts: int, bits_per_s: float) -> Iterator[Flow]:
    count, found = None, 0
    for number, whole in lines:
        words = whole.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] in ("Nodes", "Connections") and len(words) == 2:
            value = lines.whole(number, words[1], "change it", _MOST)
            count = (value, number) if words[0] == "Connections" else count
            if words[0] == "Nodes" and value > hosts:
                lines.fail(number, f"{value} nodes; the topology has {hosts}", "name its topology", words[1])
            continue
        if words[0] in ("Triggers", "Failures") and words[1:] == ["0"]:
            continue
        if not _ENDS.fullmatch(words[0]):
            lines.fail(
                number, f'"{words[0][:40]}" is not read', f"{_HINT}; triggers and failures are not read"
            )
        found += 1
        yield _connection(lines, number, words, hosts, bits_per_s, found)
    if count is not None and count[0] != found:
        lines.fail(
            count[1], f"{count[0]} connections are announced, {found} follow", "is the file cut short?"
        )


def _connection(
    lines: Lines, number: int, words: list[str], hosts: int, bits_per_s: float, found: int
) -> Flow:
    source, target = (int(end) for end in words[0].split("->"))
    for end in (source, target):
        if end >= hosts:
            lines.fail(number, f"there is no node {end}: the topology has {hosts}", "change it", words[0])
    if source == target:
        lines.fail(number, f"node {source} sends to itself", "name two nodes", words[0])
    if len(words) % 2 == 0:
        lines.fail(number, "a name without its value", _HINT, words[-1])
    given = dict(zip(words[1::2], words[2::2], strict=True))
    if "trigger" in given:
        lines.fail(number, "connections that wait for a trigger are not read", "give them a start", "trigger")
    for key in ("start", "size"):
        if key not in given:
            lines.fail(number, f"no {key}", _HINT)
    size = lines.whole(number, given["size"], "change it", 10**12)
    start, name = given["start"], given.get("id", f"{found}")
    written = _MICROSECONDS.fullmatch(start)
    start_ps = round(float(start) * 1e6) if written else lines.whole(number, start, "change it", 10**18)
    return Flow(name, f"h{source}", f"h{target}", size, bits_per_s, start_ps)
