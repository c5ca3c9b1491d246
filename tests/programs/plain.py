"""A plain interpreter of one rank's partial order, written from docs/background/programs.md and nothing else.

It knows no network: of every message it is told when it was sent and when it arrived.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

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
