"""Collectives of traces as messages, by the algorithms that MPI libraries take.

Which one depends on the bytes, as Thakur, Rabenseifner and Gropp chose for MPICH (International Journal of
High Performance Computing Applications 19, 2005): trees and doubling where latency counts, rings where bytes
do. Reducing takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .traces import Rank

SHORT_BYTES = 2048
"""Most bytes that are reduced by a tree or by doubling."""
SHORT_BROADCAST_BYTES = 12 * 1024
SHORT_GATHER_BYTES = 80 * 1024
"""Of all members together."""
SHORT_EXCHANGE_BYTES = 256
"""For each pair of members."""
_FIRST_TAG = 1 << 30
"""Programs seldom have tags as high."""


@dataclass(frozen=True)
class Collective:
    """A collective, as one of its members sees it."""

    kind: str
    """``broadcast``, ``all_reduce`` and so on: a key of ``KINDS``."""
    members: Sequence[int]
    """Their ranks, in the order of the group."""
    me: int
    """Place in that order."""
    group: int
    number: int
    """Of group and collective: members agree on both, and messages match by them."""
    root: int = 0
    bytes: int = 0
    """Of the whole, where it is one value; of each block, where members have blocks."""
    sent: Sequence[int] = ()
    got: Sequence[int] = ()
    """Bytes of the blocks to and from each member, where they differ.

    Of a gathering or scattering only its root knows them; another member has its own alone.
    """

    @property
    def count(self) -> int:
        return len(self.members)

    @property
    def tag(self) -> int:
        return _FIRST_TAG + (self.group % 1023 << 20) + (self.number & 0xFFFFF)

    def at(self, place: int) -> int:
        """Return the rank at a place, counted round."""
        return self.members[place % self.count]

    def send(self, rank: Rank, place: int, size: int, after: Sequence[int]) -> int:
        """Add a send to the member at a place."""
        return rank.add(f"send {size}b to {self.at(place)} tag {self.tag}", after)

    def receive(self, rank: Rank, place: int, size: int, after: Sequence[int]) -> int:
        """Add a receive from the member at a place."""
        return rank.add(f"recv {size}b from {self.at(place)} tag {self.tag}", after)


Steps = Callable[[Rank, Collective, Sequence[int]], list[int]]
"""Adds operations behind others; returns those that end it."""


def add(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    """Add what a member does in a collective; returns the operations that end it."""
    return KINDS[of.kind](rank, of, after) if of.count > 1 else list(after)


def _down(rank: Rank, of: Collective, after: Sequence[int], size: Callable[[int], int]) -> list[int]:
    """From the root along a binomial tree; ``size`` of the blocks below."""
    own = (of.me - of.root) % of.count
    last, below = list(after), 1
    while not own & below and below < of.count:
        below *= 2
    if own:
        last = [of.receive(rank, of.root + own - below, size(min(below, of.count - own)), after)]
    while below := below // 2:
        if own + below < of.count:
            blocks = min(below, of.count - own - below)
            last = [of.send(rank, of.root + own + below, size(blocks), last)]
    return last


def _up(rank: Rank, of: Collective, after: Sequence[int], size: Callable[[int], int]) -> list[int]:
    """To the root along the same tree."""
    own = (of.me - of.root) % of.count
    last, below = list(after), 1
    while not own & below and below < of.count:
        if own + below < of.count:
            blocks = min(below, of.count - own - below)
            last = [of.receive(rank, of.root + own + below, size(blocks), last)]
        below *= 2
    if own:
        last = [of.send(rank, of.root + own - below, size(min(below, of.count - own)), last)]
    return last


def _doubling(rank: Rank, of: Collective, after: Sequence[int], size: Callable[[int], int]) -> list[int]:
    """To members 1, 2, 4 and so on further, from those as far behind (dissemination; Bruck)."""
    last, step = list(after), 1
    while step < of.count:
        bytes_ = size(step)
        last = [of.send(rank, of.me + step, bytes_, last), of.receive(rank, of.me - step, bytes_, last)]
        step *= 2
    return last


def _ring(rank: Rank, of: Collective, after: Sequence[int], blocks: Sequence[int], first: int) -> list[int]:
    """Hand a block a step to the next member, at first that of the member ``first`` before one's own."""
    last = list(after)
    for step in range(first, first + of.count - 1):
        out, in_ = (blocks[(of.me - at) % of.count] for at in (step, step + 1))
        last = [of.send(rank, of.me + 1, out, last), of.receive(rank, of.me - 1, in_, last)]
    return last


def _split(of: Collective) -> list[int]:
    """Return the bytes of nearly equal parts of the whole."""
    return [(of.bytes * (at + 1)) // of.count - of.bytes * at // of.count for at in range(of.count)]


def _barrier(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    return _doubling(rank, of, after, lambda _: 0)


def _broadcast(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    if of.bytes < SHORT_BROADCAST_BYTES:
        return _down(rank, of, after, lambda _: of.bytes)
    part = -(-of.bytes // of.count)
    scattered = _down(rank, of, after, lambda blocks: blocks * part)
    return _ring(rank, of, scattered, [part] * of.count, 0)


def _reduce(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    if of.bytes <= SHORT_BYTES:
        return _up(rank, of, after, lambda _: of.bytes)
    part = -(-of.bytes // of.count)
    return _up(rank, of, _ring(rank, of, after, [part] * of.count, 1), lambda blocks: blocks * part)


def _all_reduce(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    if of.bytes > SHORT_BYTES:
        parts = _split(of)
        return _ring(rank, of, _ring(rank, of, after, parts, 1), parts, 0)
    # Members beyond a power of two hand their value to one before, and get the result from it.
    power = 1 << (of.count.bit_length() - 1)
    if of.me >= power:
        given = of.send(rank, of.me - power, of.bytes, after)
        return [of.receive(rank, of.me - power, of.bytes, [given])]
    last, step, beyond = list(after), 1, of.me + power < of.count
    if beyond:
        last = [of.receive(rank, of.me + power, of.bytes, last)]
    while step < power:
        last = [one(rank, of.me ^ step, of.bytes, last) for one in (of.send, of.receive)]
        step *= 2
    return [of.send(rank, of.me + power, of.bytes, last)] if beyond else last


def _scan(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    last, step = list(after), 1
    while step < of.count:
        sent = [of.send(rank, of.me + step, of.bytes, last)] if of.me + step < of.count else []
        got = [of.receive(rank, of.me - step, of.bytes, last)] if of.me >= step else []
        last = [*sent, *got] or last
        step *= 2
    return last


def _rooted(up: bool) -> Steps:
    """Gather blocks at the root, or scatter them from there."""

    def steps(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
        if not of.sent and not of.got:
            return (_up if up else _down)(rank, of, after, lambda blocks: blocks * of.bytes)
        if of.me != of.root:
            act, own = (of.send, of.sent) if up else (of.receive, of.got)
            return [act(rank, of.root, own[0], after)]
        act, blocks = (of.receive, of.got) if up else (of.send, of.sent)
        return [act(rank, place, blocks[place], after) for place in range(of.count) if place != of.me]

    return steps


def _all_gather(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    if not of.got and of.bytes * of.count < SHORT_GATHER_BYTES:
        return _doubling(rank, of, after, lambda step: of.bytes * min(step, of.count - step))
    return _ring(rank, of, after, of.got or [of.bytes] * of.count, 0)


def _reduce_scatter(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    blocks = of.got or [of.bytes] * of.count
    return _ring(rank, of, after, blocks, 1)


def _all_to_all(rank: Rank, of: Collective, after: Sequence[int]) -> list[int]:
    if not of.got and of.bytes <= SHORT_EXCHANGE_BYTES:
        steps = {1 << bit: 0 for bit in range(of.count.bit_length())}
        moved = {step: sum(1 for place in range(of.count) if place & step) for step in steps}
        return _doubling(rank, of, after, lambda step: of.bytes * moved[step])
    sent, got = (blocks or [of.bytes] * of.count for blocks in (of.sent, of.got))
    ends: list[int] = []
    for step in range(1, of.count):
        to, from_ = (of.me + step) % of.count, (of.me - step) % of.count
        ends += [of.send(rank, to, sent[to], after), of.receive(rank, from_, got[from_], after)]
    return ends


KINDS: dict[str, Steps] = {
    "barrier": _barrier,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "all_reduce": _all_reduce,
    "scan": _scan,
    "gather": _rooted(up=True),
    "scatter": _rooted(up=False),
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
}
