"""Traces in the format of netrace: packets of the caches of a chip, and which of them wait for which.

Little endian and packed, compressed with bzip2 or not: a header (``_HEADER``), notes, regions, and packets in
order of their cycles, each with the ids of those that wait for its arrival. A packet leaves its node no
earlier than in its cycle, and not before all that it waits for have arrived. In GOAL each node is a rank: a
chain of ``calc`` on a stream of its own is its clock, and a send requires the moment of its cycle and the
receives that it waits for.
"""

from __future__ import annotations

import bz2
import math
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

from ..reading import ReadError
from .common import only
from .traces import Rank, Trace, goal_of

_MAGIC = 0x484A5455
_HEADER = struct.Struct("<If30sBxQQII8x")
_PACKET = struct.Struct("<QIIBBBBB")
_REGION_BYTES = 24
_SIZES = {**dict.fromkeys((2, 3, 4, 6, 16, 30), 72), **dict.fromkeys((1, 5, 13, 14, 15, 25, 27, 28, 29), 8)}
"""Bytes by type: with the data of a block, or without."""
_MOST_PACKETS = 500_000
_MOST_NOTES_BYTES = 1 << 24
_MOST_REGIONS = 1 << 16
_MOST_CYCLES = 10**15
_HINT = "is the file cut short, or no trace of netrace?"


@dataclass
class _Packet:
    """A packet; its number is its place in the trace, and the tag of its message."""

    cycle: int
    number: int
    source: int
    target: int
    size_bytes: int
    waiting: tuple[int, ...]
    """Ids of the packets that wait for it."""
    before: list[_Packet] = field(default_factory=list)
    """The packets that it waits for."""
    arrival: int = 0
    """The operation of its target's rank that ends when it has arrived."""


class _File:
    """A trace, read as a stream."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self.file = path, file
        head = _HEADER.unpack(self._bytes(_HEADER.size, "within its header"))
        magic, version, _, self.nodes, _, self.packets, notes, regions = head
        if magic != _MAGIC:
            self.fail(f"it begins with {magic:#010x}, a trace with {_MAGIC:#010x}", "name a trace of netrace")
        if version != 1.0 or not self.nodes:
            self.fail(f"version {version:g}, {self.nodes} nodes", "version 1.0 is read, with 1 to 255 nodes")
        if notes > _MOST_NOTES_BYTES or regions > _MOST_REGIONS:
            self.fail(f"{notes:,} bytes of notes and {regions:,} regions", _HINT)
        self._bytes(notes, "within its notes")
        self._bytes(regions * _REGION_BYTES, "within its regions")

    def fail(self, message: str, hint: str) -> NoReturn:
        """Raise an error."""
        raise ReadError(f"{self.path}: {message}", hint)

    def _bytes(self, count: int, where: str) -> bytes:
        found = self.file.read(count)
        if len(found) < count:
            self.fail(f"the file ends {where}", _HINT)
        return found

    def read(self) -> Iterator[tuple[int, _Packet]]:
        """Yield the packets with their ids."""
        last = 0
        for number in range(self.packets):
            where = f"within packet {number + 1:,} of {self.packets:,}"
            row = _PACKET.unpack(self._bytes(_PACKET.size, where))
            cycle, name, _, kind, source, target, _, count = row
            waiting = struct.unpack(f"<{count}I", self._bytes(4 * count, where))
            if kind not in _SIZES:
                self.fail(f"packet {name} is of the unknown type {kind}", _HINT)
            if max(source, target) >= self.nodes:
                message = f"packet {name} goes from node {source} to node {target} of {self.nodes}"
                self.fail(message, "nodes count from 0")
            if cycle < last:
                self.fail(f"packet {name} of cycle {cycle:,} follows one of cycle {last:,}", _HINT)
            if cycle > _MOST_CYCLES:
                self.fail(f"packet {name} is of cycle {cycle:,}", _HINT)
            last = cycle
            yield name, _Packet(cycle, number, source, target, _SIZES[kind], waiting)


def netrace(files: Sequence[Path]) -> NetworkTrace:
    """Read a trace."""
    path = only(files, "a trace of netrace")
    try:
        if not path.is_file():
            raise ReadError(f"{path}: this is no file", "name a trace of netrace")
        with _opened(path) as file:
            found = _File(path, file)
            packets, left_out = _kept(found)
    except (OSError, EOFError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower() or "unknown reason"
        raise ReadError(f"{path}: cannot be read: {reason}", _HINT) from error
    ranks = _ranks(list(packets.values()), found.nodes)
    return NetworkTrace(found.nodes, sum(rank.count for rank in ranks), goal_of(ranks), left_out)


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(3) == b"BZh"
    return bz2.open(path) if packed else path.open("rb")


def _kept(file: _File) -> tuple[dict[int, _Packet], Counter[str]]:
    """Return the packets by id, each with those that it waits for, and how many were left out."""
    packets: dict[int, _Packet] = {}
    left_out: Counter[str] = Counter()
    for name, packet in file.read():
        if name in packets:
            file.fail(f"packet {name} is there already", "each packet has an id of its own")
        if len(packets) == _MOST_PACKETS:
            kept = {name: one for name, one in packets.items() if one.cycle < packet.cycle}
            left_out[f"packets from cycle {packet.cycle:,} on"] = file.packets - len(kept)
            packets = kept
            break
        packets[name] = packet
    if not packets:
        file.fail("it has no packets, or too many in its first cycle", _HINT)
    for name, packet in packets.items():
        for one in packet.waiting:
            if one in packets:
                _wait(file, (one, packets[one]), (name, packet))
            elif not left_out:
                file.fail(f"packet {one} waits for packet {name}, and never comes", _HINT)
    return packets, left_out


def _wait(file: _File, after: tuple[int, _Packet], before: tuple[int, _Packet]) -> None:
    (name, packet), (other, first) = after, before
    if packet.source != first.target:
        message = f"packet {name} leaves node {packet.source} and waits for packet {other}"
        message = f"{message}, which arrives at node {first.target}"
        file.fail(message, "a node can wait for its own packets only")
    if packet.number <= first.number:
        file.fail(f"packet {name} waits for packet {other}, which comes behind it", _HINT)
    packet.before.append(first)


def _ranks(packets: list[_Packet], nodes: int) -> list[Rank]:
    """Return the nodes as ranks: first all arrivals, then clocks and sends."""
    ranks = [Rank(number, nodes) for number in range(nodes)]
    for packet in packets:
        if packet.source != packet.target:
            operation = f"recv {packet.size_bytes}b from {packet.source} tag {packet.number}"
            packet.arrival = ranks[packet.target].add(operation, [])
    clock: dict[int, tuple[int, int]] = defaultdict(lambda: (packets[0].cycle, 0))
    for packet in packets:
        rank = ranks[packet.source]
        cycle, point = clock[packet.source]
        if packet.cycle > cycle or not point:
            point = rank.add(f"calc {packet.cycle - cycle} cpu 1", [point] if point else [])
            clock[packet.source] = packet.cycle, point
        after = [point, *(one.arrival for one in packet.before)]
        if packet.source == packet.target:
            packet.arrival = rank.add("calc 0", after)
        else:
            rank.add(f"send {packet.size_bytes}b to {packet.target} tag {packet.number}", after)
    return ranks


class NetworkTrace(Trace):
    """A trace of packets between the nodes of a chip."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the scenario lacks."""
        return (
            "the trace names no network: flits of 8 B at 1 GHz, and their grid, are to be replaced by yours",
        )

    def network(self) -> str:
        """Return the sections of a scenario that the trace does not give, as TOML."""
        side = math.isqrt(self.ranks)
        square = side * side == self.ranks and side > 1
        topology = (
            f'kind = "grid"\nshape = [{side}, {side}]'
            if square
            else f'kind = "crossbar"\nterminals = {max(2, self.ranks)}'
        )
        return f"""\
[topology]
{topology}

[technology]
preset = "generic"
cycle = "1 ns"
flit = "8 B"

[protocol]
preset = "raw"
packet = "{max(_SIZES.values())} B"
"""
