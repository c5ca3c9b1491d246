"""What readers of traces share: a file per rank, read line by line, and a GOAL trace that comes out."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ..reading import ReadError, toml_value
from .common import Stream, blocks, spool

MOST_OPERATIONS = 1 << 24
"""As a program may have."""
_MOST_RANKS = 1 << 20


@dataclass
class Rank:
    """A rank whose operations, and what each waits for, are written as lines of GOAL."""

    number: int
    ranks: int
    out: IO[bytes] = field(default_factory=io.BytesIO)
    count: int = 0

    def add(self, operation: str, after: Sequence[int]) -> int:
        """Add an operation that waits for the ends of others; returns its number. Raises ReadError."""
        self.count += 1
        if self.count > MOST_OPERATIONS:
            message = f"rank {self.number} has more than {MOST_OPERATIONS:,} operations"
            raise ReadError(message, "take a part of the trace")
        self.out.write(f"l{self.count}: {operation}\n".encode())
        self.wait(self.count, after)
        return self.count

    def wait(self, operation: int, after: Sequence[int]) -> None:
        """Let an operation wait for the ends of others."""
        for one in dict.fromkeys(after):
            self.out.write(f"l{operation} requires l{one}\n".encode())


def goal_of(ranks: Sequence[Rank]) -> IO[bytes]:
    """Return the GOAL trace of ranks of which each was written by itself."""
    goal = spool()
    goal.write(f"num_ranks {len(ranks)}\n".encode())
    for rank in ranks:
        rank.out.seek(0)
        goal.write(b"rank %d {\n%b}\n" % (rank.number, rank.out.read()))
    return goal


@dataclass
class Trace:
    ranks: int
    operations: int
    goal: IO[bytes]
    """In GOAL."""
    left_out: Counter[str]
    """What was read and does not appear, by name."""
    protocol: str = "verbs-infiniband"
    """Preset of the hosts."""

    def summary(self) -> list[tuple[str, str]]:
        """Return what was read, as names and values."""
        out = ", ".join(f"{count:,} {name}" for name, count in sorted(self.left_out.items()))
        found = [("ranks", f"{self.ranks:,}"), ("operations", f"{self.operations:,}")]
        return [*found, *([("left out", out)] if out else [])]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the scenario lacks."""
        return ("the trace names no network: replace the crossbar by yours",)

    def network(self) -> str:
        """Return the sections of a scenario that the trace does not give, as TOML."""
        return f"""\
[topology]
kind = "crossbar"
terminals = {max(2, self.ranks)}

[technology]
preset = "infiniband-4x-edr"

[protocol]
preset = "{self.protocol}"
"""

    def files(self, name: str) -> dict[str, Iterable[str]]:
        """Return the files of a scenario with this name, by file name: their texts, in parts."""
        text = f"""\
name = {toml_value(name)}

{self.network()}
[program]
kind = "goal"
path = "trace.goal"

[run]
duration = "100 s"
"""
        return {"scenario.toml": [text], "trace.goal": blocks(self.goal)}


Read = Callable[[Stream, Rank, Counter[str]], None]


def by_rank(files: Sequence[Path]) -> list[Path]:
    """Return the files in the order of their ranks: the last number in its name is that of a file."""
    numbers = [_rank_of(file) for file in files]
    order = sorted(zip(numbers, files, strict=True))
    for wanted, (number, file) in enumerate(order):
        if number != wanted:
            message = f"{file}: this is rank {number}, and rank {wanted} is missing"
            raise ReadError(message if number > wanted else f"{file}: rank {number} is there twice", _FILES)
    if len(files) > _MOST_RANKS:
        raise ReadError(f"{len(files):,} ranks, the most are {_MOST_RANKS:,}", "take a part of the trace")
    return [file for _, file in order]


def trace(files: Sequence[Path], read: Read, protocol: str = Trace.protocol) -> Trace:
    """Read a file for each rank."""
    left_out: Counter[str] = Counter()
    goal, operations = spool(), 0
    goal.write(f"num_ranks {len(files)}\n".encode())
    for number, file in enumerate(files):
        rank = Rank(number, len(files), goal)
        goal.write(f"rank {number} {{\n".encode())
        read(Stream(file), rank, left_out)
        goal.write(b"}\n")
        operations += rank.count
        if operations > MOST_OPERATIONS:
            raise ReadError(f"{file}: more than {MOST_OPERATIONS:,} operations", "take a part of the trace")
    return Trace(len(files), operations, goal, left_out, protocol)


ALL_RANKS = "name the files of all ranks"
"""The hint where a rank is named that has none."""
_FILES = "name one file for each rank, with its number in the name, such as trace-0003.txt"


_PACKED = (".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip", ".tar")


def _rank_of(file: Path) -> int:
    if file.suffix.lower() in _PACKED:
        raise ReadError(f"{file}: a packed file", f"unpack it, and {_FILES}")
    found = re.findall(r"\d{1,9}", file.stem)
    if not found:
        raise ReadError(f"{file}: its name has no number of a rank", _FILES)
    return int(found[-1])


def checked_peer(stream: Stream, rank: Rank, peer: int) -> int:
    """Return the other end of a message. Raises an error if there is no such rank."""
    if not 0 <= peer < rank.ranks or peer == rank.number:
        message = f"rank {rank.number} exchanges a message with rank {peer}: no other one of {rank.ranks}"
        stream.fail(message, ALL_RANKS)
    return peer
