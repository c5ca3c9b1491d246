"""Random partial orders in the engine and in a plain interpreter: sends begin in the same moments.

The network and the protocol are the engine's: the interpreter is told when each message was sent and arrived.

The plain interpreter of one rank is written from docs/background/programs.md and nothing else.
It knows no network: of every message it is told when it was sent and when it arrived.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fabriloom import Results, Scenario, run

ANY = -1
BLOCKED = float("inf")


@dataclass(frozen=True)
class Operation:
    """A line of a rank: what it does, in which stream, and the lines for whose end or beginning it waits."""

    kind: str
    stream: int = 0
    peer: int = ANY
    tag: int = ANY
    size: int = 8
    time: int = 0
    ends: tuple[int, ...] = ()
    beginnings: tuple[int, ...] = ()


@dataclass(frozen=True)
class Host:
    """Times that the program's side of a terminal takes, and how many messages it may have under way."""

    send: int
    receive: int
    slots: int


@dataclass
class Rank:
    """The state of one rank; all times are whole numbers of one unit."""

    operations: list[Operation]
    host: Host
    sent: Mapping[int, int]
    """Per tag of a message of this rank: when it was sent."""
    made: dict[int, int] = field(default_factory=dict)
    """Per tag: when the send began."""
    ended: dict[int, int] = field(default_factory=dict)
    """Per operation: when it ended."""

    def __post_init__(self) -> None:
        streams = 1 + max(one.stream for one in self.operations)
        self.left = [len(one.ends) + len(one.beginnings) for one in self.operations]
        self.ready: list[deque[int]] = [deque() for _ in range(streams)]
        self.at: list[tuple[float, int] | None] = [None] * streams
        """Per stream: until when it is at which operation."""
        self.posted: list[int] = []
        self.unexpected: list[tuple[int, int]] = []
        self.waiting: deque[int] = deque()
        """Streams whose send waits for a slot."""
        self.returns: list[int] = []
        """When slots return."""
        self.out = 0

    def run(self, arrivals: list[tuple[int, int, int]]) -> None:
        """Take the messages that arrive (time, source, tag) and go on until nothing can happen."""
        now, arrivals = 0, sorted(arrivals, reverse=True)
        self._offer([place for place, left in enumerate(self.left) if not left])
        self._advance(now)
        while True:
            times = [one[0] for one in self.at if one] + self.returns[:1] + [one[0] for one in arrivals[-1:]]
            if not times or min(times) == BLOCKED:
                return
            now = int(min(times))
            while arrivals and arrivals[-1][0] == now:
                self._arrive(*arrivals.pop()[1:])
            self._advance(now)

    def _advance(self, now: int) -> None:
        """Let each stream run as far as it can, in the order of their numbers, until none goes on."""
        moved = True
        while moved:
            while self.returns and self.returns[0] <= now:
                heapq.heappop(self.returns)
                self.out -= 1
            steps = [self._step(now, stream) for stream in range(len(self.at))]
            moved = any(steps)

    def _step(self, now: int, stream: int) -> bool:
        moved = False
        while True:
            self._give_slots(now)
            at = self.at[stream]
            if at and at[0] == now:
                self.at[stream] = None
                self._end(now, at[1])
            elif at is None and self.ready[stream]:
                self._take(now, stream, self.ready[stream].popleft())
            else:
                return moved
            moved = True

    def _give_slots(self, now: int) -> None:
        while self.waiting and not (self.host.slots and self.out >= self.host.slots):
            stream = self.waiting.popleft()
            at = self.at[stream]
            assert at is not None
            tag = self.operations[at[1]].tag
            self.made[tag], self.out = now, self.out + 1
            if tag in self.sent:
                heapq.heappush(self.returns, self.sent[tag])
            self.at[stream] = (now + self.host.send, at[1])

    def _take(self, now: int, stream: int, place: int) -> None:
        """Let a stream begin an operation that is ready."""
        one = self.operations[place]
        if one.kind == "send":
            self.at[stream] = (BLOCKED, place)
            self.waiting.append(stream)
        else:
            self.at[stream] = (now + (self.host.receive if one.kind == "recv" else one.time), place)
        if one.kind != "recv":
            self._offer(self._freed(place, beginning=True))

    def _end(self, now: int, place: int) -> None:
        self.ended[place] = now
        self._offer(self._freed(place, beginning=False))

    def _freed(self, place: int, beginning: bool) -> list[int]:
        """Return what waits for nothing more, in the order of the program."""
        free: list[int] = []
        for follower, one in enumerate(self.operations):
            waits = one.beginnings if beginning else one.ends
            self.left[follower] -= waits.count(place)
            if place in waits and not self.left[follower]:
                free.append(follower)
        return free

    def _offer(self, free: list[int]) -> None:
        """Make operations ready, and post receives, whose beginning may free others: they come next."""
        for place in free:  # the list grows in the loop
            one = self.operations[place]
            if one.kind != "recv":
                self.ready[one.stream].append(place)
                continue
            free += self._freed(place, beginning=True)
            found = next((m for m in self.unexpected if _fits(one, *m)), None)
            if found is None:
                self.posted.append(place)
            else:
                self.unexpected.remove(found)
                self.ready[one.stream].append(place)

    def _arrive(self, source: int, tag: int) -> None:
        taker = next((place for place in self.posted if _fits(self.operations[place], source, tag)), None)
        if taker is None:
            self.unexpected.append((source, tag))
        else:
            self.posted.remove(taker)
            self.ready[self.operations[taker].stream].append(taker)


def _fits(receive: Operation, source: int, tag: int) -> bool:
    return receive.peer in (ANY, source) and receive.tag in (ANY, tag)


NETWORKS = [
    {"kind": "crossbar", "terminals": 6},
    {"kind": "grid", "shape": [3, 2]},
    {"kind": "clos", "terminals": 6, "terminals_per_switch": 2},
]


def drawn(dice: Random, ranks: int) -> list[list[Operation]]:
    """Messages between ranks and calculations, each with what it waits for."""
    found: list[list[Operation]] = [[] for _ in range(ranks)]
    streams = dice.choice([1, 1, 2, 3])
    loose = dice.choice([0.0, 0.2, 0.7])
    for tag in range(dice.randint(1, 25)):
        source, target = dice.sample(range(ranks), 2)
        size = dice.choice([1, 8, 64, 300, 2000])
        at = [dice.randrange(streams) for _ in range(3)]
        found[source].append(Operation("send", at[0], target, tag, size))
        known = dice.random() >= loose
        peer = source if known or dice.random() < 0.5 else ANY
        found[target].append(Operation("recv", at[1], peer, tag if known else ANY, size))
        if dice.random() < 0.5:
            time = dice.choice([0, 5, 700, 3000])
            found[dice.randrange(ranks)].append(Operation("calc", at[2], time=time))
    lists = streams == 1 and dice.random() < 0.5
    return [ordered(dice, one, lists) for one in found]


def ordered(dice: Random, rank: list[Operation], as_list: bool) -> list[Operation]:
    """Let each operation wait for some of those that stand before it, or in some other order.

    Streams are numbered as a trace names them first.
    """
    numbers: dict[int, int] = {}
    rank = [replace(one, stream=numbers.setdefault(one.stream, len(numbers))) for one in rank]
    order = list(range(len(rank)))
    if dice.random() < 0.1:
        dice.shuffle(order)
    chained = as_list or dice.random() < 0.3
    result = list(rank)
    for turn, place in enumerate(order):
        before = order[max(0, turn - 5) : turn]
        ends = set(dice.sample(before, min(len(before), dice.choice([0, 1, 1, 2]))))
        ends |= set(before[-1:]) if chained else set()
        starts = {one for one in before if dice.random() < 0.1 and not as_list} - ends
        result[place] = replace(rank[place], ends=tuple(sorted(ends)), beginnings=tuple(sorted(starts)))
    return result


def written(ranks: list[list[Operation]]) -> str:
    """The program as a trace in GOAL."""
    lines = [f"num_ranks {len(ranks)}"]
    for number, rank in enumerate(ranks):
        lines.append(f"rank {number} {{")
        for place, one in enumerate(rank):
            peer, tag = ("any" if value == ANY else value for value in (one.peer, one.tag))
            what = {
                "send": f"send {one.size}b to {peer} tag {tag}",
                "recv": f"recv {one.size}b from {peer} tag {tag}",
                "calc": f"calc {one.time}",
            }[one.kind]
            lines.append(f"l{place}: {what} cpu {one.stream}")
        for place, one in enumerate(rank):
            lines += [f"l{place} requires l{other}" for other in one.ends]
            lines += [f"l{place} irequires l{other}" for other in one.beginnings]
        lines.append("}")
    return "\n".join([*lines, ""])


def protocol(dice: Random) -> tuple[dict[str, Any], Host]:
    """Settings of the protocol, and what of them is the program's."""
    host = Host(dice.choice([0, 0, 400]), dice.choice([0, 0, 300]), dice.choice([0, 0, 1, 2]))
    settings: dict[str, Any] = {
        "preset": "raw",
        "packet": "64 B",
        "send_time": f"{host.send} ns",
        "receive_time": f"{host.receive} ns",
        "messages_at_once": host.slots,
        "acknowledge": dice.choice(["none", "packet"]),
        "packets_at_once": dice.choice([0, 0, 3]),
        "packet_time": dice.choice(["0 ns", "150 ns"]),
    }
    return settings, host


def engine(dice: Random, folder: Path, settings: dict[str, Any], program: str) -> Results:
    """The run."""
    (folder / "trace.goal").write_text(program)
    scenario = {
        "topology": dice.choice(NETWORKS),
        "technology": {"preset": dice.choice(["ds-link-c104", "spacewire-200", "infiniband-4x-edr"])},
        "program": {"kind": "goal", "path": str(folder / "trace.goal")},
        "protocol": settings,
        "output": {"messages": True},
        "run": {"duration": "100 ms"},
    }
    return run(Scenario.from_dict(scenario))


def compare(seed: int, folder: Path) -> bool:
    """Run the program of a seed; return whether it came to its end."""
    dice = Random(seed)
    ranks = drawn(dice, dice.randint(2, 6))
    settings, host = protocol(dice)
    found = engine(dice, folder, settings, written(ranks))
    rows, names = found.messages.to_dicts(), found.hosts["terminal"].to_list()
    parts = 1000  # of a nanosecond

    def ticks(value: float) -> int:
        return round(value * parts)

    sent = {row["tag"]: ticks(row["sent_ns"]) for row in rows if row["sent_ns"] is not None}
    made, stuck = dict[int, int](), 0
    in_ps = Host(host.send * parts, host.receive * parts, host.slots)
    for number, operations in enumerate(ranks):
        if not operations:
            continue
        of_ps = [replace(one, time=one.time * parts) for one in operations]
        rank = Rank(of_ps, in_ps, sent)
        rank.run(
            [
                (ticks(row["received_ns"]), names.index(row["source"]), row["tag"])
                for row in rows
                if row["target"] == names[number] and row["received_ns"] is not None
            ]
        )
        made |= rank.made
        stuck += len(operations) - len(rank.ended)
    assert made == {row["tag"]: ticks(row["made_ns"]) for row in rows}
    assert found.summary["end"]["reason"] == ("deadlocked" if stuck else "drained")
    return not stuck


@pytest.mark.seeds
def test_sends_begin_when_a_plain_interpreter_begins_them(
    seeds: Callable[[int], Iterator[int]], tmp_path: Path
) -> None:
    drained = [compare(seed, tmp_path) for seed in seeds(100)]
    assert 0.2 < sum(drained) / len(drained) < 0.95, "both ends occur"
