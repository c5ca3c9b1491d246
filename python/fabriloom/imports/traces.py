"""What readers of traces share: a file per rank, read line by line, and a GOAL trace that comes out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from ..reading import ReadError, toml_value
from ..reading.errors import Place

MOST_OPERATIONS = 1 << 24
"""As a program may have."""
_LONGEST_LINE = 1 << 20
_MOST_RANKS = 1 << 20


class Stream:
    """A file that is read line by line and never held as a whole; every error points at its line."""

    def __init__(self, path: Path) -> None:
        self.path, self.number, self.line = path, 0, ""

    def __iter__(self) -> Iterator[str]:
        try:
            if not self.path.is_file():
                raise ReadError(f"{self.path}: this is no file", "name the file of each rank")
            with self.path.open("rb") as file:
                while whole := file.readline(_LONGEST_LINE):
                    self.number += 1
                    self.line = whole.decode("utf-8", "replace").rstrip("\r\n")
                    if len(whole) == _LONGEST_LINE:
                        self.fail("a line of a megabyte", "is this the text form of a trace?")
                    yield self.line
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise ReadError(f"{self.path}: cannot be read: {reason}", "check its permissions") from error
        except ValueError:
            raise ReadError("the name of the file holds a NUL character", "name another file") from None

    def fail(self, message: str, hint: str) -> NoReturn:
        """Raise an error at the present line."""
        self.fail_at(self.number, self.line, message, hint)

    def fail_at(self, number: int, line: str, message: str, hint: str) -> NoReturn:
        """Raise an error at a line that was read before."""
        place: Place = (str(self.path), max(1, number), 1, max(1, min(len(line), 80)), line[:200])
        raise ReadError(message, hint, place)


@dataclass
class Rank:
    """The operations of a rank as lines of GOAL, and what each waits for: bytes, as there are many."""

    number: int
    ranks: int
    lines: bytearray = field(default_factory=bytearray)
    needs: bytearray = field(default_factory=bytearray)
    count: int = 0

    def add(self, operation: str, after: Sequence[int]) -> int:
        """Add an operation that waits for the ends of others; returns its number. Raises ReadError."""
        self.count += 1
        if self.count > MOST_OPERATIONS:
            message = f"rank {self.number} has more than {MOST_OPERATIONS:,} operations"
            raise ReadError(message, "take a part of the trace")
        self.lines += f"l{self.count}: {operation}\n".encode()
        self.wait(self.count, after)
        return self.count

    def wait(self, operation: int, after: Sequence[int]) -> None:
        """Let an operation wait for the ends of others."""
        for one in dict.fromkeys(after):
            self.needs += f"l{operation} requires l{one}\n".encode()

    def text(self) -> str:
        """Return the rank in GOAL."""
        return f"rank {self.number} {{\n{self.lines.decode()}{self.needs.decode()}}}\n"


@dataclass
class Trace:
    """A trace of several ranks."""

    ranks: int
    operations: int
    text: str
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

    def files(self, name: str) -> dict[str, str]:
        """Return the texts of the files of a scenario with this name, by file name."""
        text = f"""\
name = {toml_value(name)}

{self.network()}
[program]
kind = "goal"
path = "trace.goal"

[run]
duration = "100 s"
"""
        return {"scenario.toml": text, "trace.goal": self.text}


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
    parts, operations = [f"num_ranks {len(files)}\n"], 0
    for number, file in enumerate(files):
        rank = Rank(number, len(files))
        read(Stream(file), rank, left_out)
        operations += rank.count
        if operations > MOST_OPERATIONS:
            raise ReadError(f"{file}: more than {MOST_OPERATIONS:,} operations", "take a part of the trace")
        parts.append(rank.text())
    return Trace(len(files), operations, "".join(parts), left_out, protocol)


ALL_RANKS = "name the files of all ranks"
"""The hint where a rank is named that has none."""
_FILES = "name one file for each rank, with its number in the name, such as trace-0003.txt"


def _rank_of(file: Path) -> int:
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
