"""Fat trees and connections of htsim: a ``.topo`` file, and a ``.cm`` file beside it.

A topology has two or three tiers of switches: ``tor``, ``agg`` and, of three, ``core``; hosts are ``h0``,
``h1`` and so on. ``Bundle`` parallel cables lead down from a tier. Aggregation switch ``p`` of a pod is
joined to the cores ``p``, ``p + n``, ``p + 2n``, where a pod has n such switches. A connection starts at a
whole number of picoseconds, or at a decimal number of microseconds, as htsim writes it. One of no bytes has
no end. If some are started by triggers, all are messages of a program.
"""

from __future__ import annotations

import graphlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..reading import ReadError
from .common import CUT, Fabric, Flow, Imported, Lines, blocks
from .traces import Rank, goal_of

_KEYS = (
    "downlink_speed_gbps", "downlink_latency_ns", "radix_down", "radix_up", "bundle", "switch_latency_ns",
    "oversubscribed", "queue_down", "queue_up",
)  # fmt: skip
_HEAD = ("nodes", "tiers", "podsize")
_NEEDED = ("downlink_speed_gbps", "downlink_latency_ns", "radix_down")
_NAMES = ("tor", "agg", "core")
_MOST = 10**9
_MOST_MESSAGE = (1 << 31) - 1
_TRIGGERS = ("oneshot", "multishot", "barrier")
_KINDS = "oneshot, multishot and barrier"
_TRIGGER_HINT = "write a line such as: trigger id 1 oneshot"
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
        message = f"{len(trees)} topologies and {len(matrices)} files of connections"
        raise ReadError(message, "name one .topo file, and with it one .cm file if you like")
    lines = trees[0]
    head, tiers = _tree(lines)
    fabric = Fabric(lines)
    hosts = _build(lines, fabric, head, tiers)
    flows, remarks, program = tuple[Flow, ...](), list[str](), ""
    latencies = [tier["switch_latency_ns"] for tier in tiers]
    sections = fabric.switches(max(latencies))
    if min(latencies) < max(latencies):
        remarks.append(f"{lines.path}: all switches take {max(latencies)} ns, those of other tiers, too")
    if any(tier["queue_down"] for tier in tiers):
        remarks.append(f"{lines.path}: sizes of queues are left out; those of the preset hold")
    for matrix in matrices:
        connections = _Connections(matrix, hosts, tiers[0]["downlink_speed_gbps"] * 1e9)
        remarks.append(f"{matrix.path}: priorities and transport protocols are left out; {connections.cut}")
        flows, program = connections.flows, connections.program()
    sections += "" if flows else '\n[traffic]\npattern = "uniform"\nload = 0.3\n'
    return Imported(fabric.graph(), [], sections, tuple(remarks), flows, program)


def _tree(lines: Lines) -> tuple[dict[str, tuple[int, int]], list[_Tier]]:
    head, tiers = dict[str, tuple[int, int]](), dict[int, _Tier]()
    values = head
    for number, whole in lines:
        words = whole.split()
        if not words or words[0].startswith("#"):
            continue
        key = words[0].lower()
        if key not in (*_HEAD, *_KEYS, "tier") or (key in _HEAD) != (values is head and key != "tier"):
            message = f'"{words[0][:40]}" is not expected here'
            lines.fail(number, message, f"keys are {', '.join(_KEYS)}", words[0])
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
        line, what = below.line_of("radix_up"), "Radix_Up by the Bundle above"
        per_pod.append(_of(lines, line, below["radix_up"], tier["bundle"], what))
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
            message = f"Radix_Down is {tier['radix_down']}; the tier below makes it {wanted}"
            hint = "change Radix_Down, the Bundle, or Radix_Up below"
            lines.fail(tier.line_of("radix_down"), message, hint)


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


_Fired = tuple[int, bool]
"""The place of a connection, and whether it fires at the node that receives."""


@dataclass
class _Trigger:
    line: int
    kind: str
    count: int
    fired_by: list[_Fired] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """Connections, by their places."""


@dataclass
class _Connection:
    line: int
    ends: tuple[int, int]
    flow: Flow
    given: dict[str, str]


class _Connections:
    """The connections of a file, and the triggers by which some start others."""

    def __init__(self, lines: Lines, hosts: int, bits_per_s: float) -> None:
        self.lines, self.hosts, self.bits_per_s = lines, hosts, bits_per_s
        self.found: list[_Connection] = []
        self.triggers: dict[str, _Trigger] = {}
        announced: dict[str, tuple[int, int]] = {}
        for number, whole in lines:
            words = whole.split()
            if words and not words[0].startswith("#"):
                self._line(number, words, announced)
        counts = {"Connections": len(self.found), "Triggers": len(self.triggers)}
        for name, (value, number) in announced.items():
            if value != counts[name]:
                message = f"{value} {name.lower()} are announced, {counts[name]} follow"
                lines.fail(number, message, "is the file cut short?")
        self.flows = tuple(one.flow for one in self.found)
        names = dict[str, int]()
        for one in [] if self._wait() else self.found:  # those of a program need no names
            first, name = names.setdefault(one.flow.name, one.line), one.flow.name[:20]
            if first != one.line:
                message = f"a second connection {name} (line {first})"
                lines.fail(one.line, message, "give each an id of its own", f"id {name}")

    @property
    def cut(self) -> str:
        """Return in what connections are cut, and how they wait for each other."""
        if not self._wait():
            return CUT
        return (
            "connections are messages of a program, a send ends as its last byte leaves, and what starts one "
            "by one starts in the order of the file"
        )

    def _wait(self) -> bool:
        return any("trigger" in one.given for one in self.found)

    def _line(self, number: int, words: list[str], announced: dict[str, tuple[int, int]]) -> None:
        lines = self.lines
        if words[0] in ("Nodes", "Connections", "Triggers") and len(words) == 2:
            value = lines.whole(number, words[1], "change it", _MOST)
            if words[0] != "Nodes":
                announced[words[0]] = value, number
            elif value > self.hosts:
                message = f"{value} nodes; the topology has {self.hosts}"
                lines.fail(number, message, "name its topology", words[1])
        elif words[0] == "trigger":
            self._trigger(number, words)
        elif _ENDS.fullmatch(words[0]):
            self.found.append(self._connection(number, words))
        elif words != ["Failures", "0"]:
            lines.fail(number, f'"{words[0][:40]}" is not read', f"{_HINT}; failures are not read")

    def _trigger(self, number: int, words: list[str]) -> None:
        kinds = [word for word in words if word in _TRIGGERS]
        given = dict(itertools.pairwise(words))
        if len(kinds) != 1 or "id" not in given:
            self.lines.fail(number, "a trigger has an id and a kind", f"{_TRIGGER_HINT}; there are {_KINDS}")
        if given["id"] in self.triggers:
            message = f"a second trigger {given['id'][:20]}"
            self.lines.fail(number, message, "give each an id of its own", given["id"])
        count = self.lines.whole(number, given.get("count", "1"), "change the count", _MOST, 1)
        self.triggers[given["id"]] = _Trigger(number, kinds[0], count)

    def _connection(self, number: int, words: list[str]) -> _Connection:
        lines = self.lines
        source, target = (int(end) for end in words[0].split("->"))
        for end in (source, target):
            if end >= self.hosts:
                message = f"there is no node {end}: the topology has {self.hosts}"
                lines.fail(number, message, "change it", words[0])
        if source == target:
            lines.fail(number, f"node {source} sends to itself", "name two nodes", words[0])
        if len(words) % 2 == 0:
            lines.fail(number, "a name without its value", _HINT, words[-1])
        given = dict(zip(words[1::2], words[2::2], strict=True))
        if "trigger" in given and "start" in given:
            lines.fail(number, "a start and a trigger", "keep one of them", "trigger")
        for key in ("size",) if "trigger" in given else ("start", "size"):
            if key not in given:
                lines.fail(number, f"no {key}", _HINT)
        size = lines.whole(number, given["size"], "change it", 10**12)
        start, name = given.get("start", "0"), given.get("id", f"{len(self.found) + 1}")
        written = _MICROSECONDS.fullmatch(start)
        start_ps = round(float(start) * 1e6) if written else lines.whole(number, start, "change it", 10**18)
        flow = Flow(name, f"h{source}", f"h{target}", size, self.bits_per_s, start_ps)
        return _Connection(number, (source, target), flow, given)

    def program(self) -> str:
        """Return the connections as a GOAL trace if some wait for others; otherwise nothing."""
        if not self._wait():
            return ""
        ranks = [Rank(number, self.hosts) for number in range(self.hosts)]
        sends, receives = list[int](), list[int]()
        timed: dict[int, list[int]] = {}
        for at, one in enumerate(self.found, 1):
            if not one.flow.bytes:
                message = "a connection without an end, beside others that wait"
                self.lines.fail(one.line, message, "give it a size")
            (source, target), size = one.ends, one.flow.bytes
            if size > _MOST_MESSAGE:
                message = f"{size:,} B, beside connections that wait, where the most are {_MOST_MESSAGE:,}"
                self.lines.fail(one.line, message, "divide it", one.given["size"])
            sends.append(ranks[source].add(f"send {size}b to {target} tag {at}", ()))
            receives.append(ranks[target].add(f"recv {size}b from {source} tag {at}", ()))
            if one.flow.start_ps:
                timed.setdefault(source, []).append(at - 1)
        for source, places in timed.items():
            self._start(ranks[source], sorted(places, key=lambda at: self.found[at].flow.start_ps), sends)
        for starts, fired_by in self._waits():
            rank = ranks[self.found[starts[0]].ends[0]]
            ends = [
                (receives if self._received(starts[0], *fired) else sends)[fired[0]] for fired in fired_by
            ]
            if len(starts) > 1 and len(ends) > 1:  # one line for each, not one for each pair
                ends = [rank.add("calc 0 cpu 2", ends)]
            for at in starts:
                rank.wait(sends[at], ends)
        return "".join(blocks(goal_of(ranks)))

    def _start(self, rank: Rank, places: list[int], sends: list[int]) -> None:
        """Let sends of a node wait for their times, by a clock of the node."""
        now_ns, clock = 0, list[int]()
        for at in places:
            start_ns = -(-self.found[at].flow.start_ps // 1000)
            if start_ns > now_ns:
                clock = [rank.add(f"calc {start_ns - now_ns} cpu 1", clock)]
                now_ns = start_ns
            rank.wait(sends[at], clock)

    def _received(self, at: int, before: int, at_target: bool) -> bool:
        """Return whether a connection waits for the end of another where that is received, or sent."""
        source, (other, target) = self.found[at].ends[0], self.found[before].ends
        if source == target or (source == other and not at_target):
            return source == target
        message = f"node {source} sends when {other}->{target} has ended, of which it is no end"
        if source == other:
            message = f"node {source} sends when {other}->{target} has been received, which {target} knows"
        hint = "a program knows the ends of its own messages alone"
        self.lines.fail(self.found[at].line, message, hint, "trigger")

    def _waits(self) -> list[tuple[list[int], list[_Fired]]]:
        """Return connections of a node that wait for the same others, and those."""
        for at, one in enumerate(self.found):
            for key in ("trigger", "send_done_trigger", "recv_done_trigger"):
                name = one.given.get(key)
                if name is None:
                    continue
                if name not in self.triggers:
                    self.lines.fail(one.line, f"there is no trigger {name[:20]}", _TRIGGER_HINT, name)
                trigger = self.triggers[name]
                if key == "trigger":
                    trigger.starts.append(at)
                else:
                    trigger.fired_by.append((at, key == "recv_done_trigger"))
        found = list[tuple[list[int], list[_Fired]]]()
        for name, trigger in self.triggers.items():
            fired = len(trigger.fired_by)
            needed = {"oneshot": 1, "barrier": trigger.count, "multishot": max(fired, len(trigger.starts))}
            if fired != needed[trigger.kind]:
                message = (
                    f"trigger {name[:20]} waits for {needed[trigger.kind]} connections, and {fired} fire it"
                )
                hint = "change its count, or send_done_trigger of connections"
                self.lines.fail(trigger.line, message, hint)
            if trigger.kind == "multishot":
                pairs = zip(trigger.starts, trigger.fired_by, strict=False)
                found.extend(([at], [fired]) for at, fired in pairs)
            else:
                by_node = dict[int, list[int]]()
                for at in trigger.starts:
                    by_node.setdefault(self.found[at].ends[0], []).append(at)
                found.extend((starts, trigger.fired_by) for starts in by_node.values())
        self._check_ends(found)
        return found

    def _check_ends(self, waits: list[tuple[list[int], list[_Fired]]]) -> None:
        """Refuse connections of which each waits for the next and the last for the first."""
        graph = graphlib.TopologicalSorter[int]()
        for number, (starts, fired_by) in enumerate(waits, 1):
            graph.add(-number, *(before for before, _ in fired_by))
            for at in starts:
                graph.add(at, -number)
        try:
            graph.prepare()
        except graphlib.CycleError as error:
            lines = sorted({self.found[at].line for at in error.args[1] if at >= 0})
            more = f", by way of line {', '.join(map(str, lines[1:6]))}" if lines[1:] else ""
            message = f"this connection waits for its own end{more}"
            self.lines.fail(lines[0], message, "start one of them at a time", "trigger")
