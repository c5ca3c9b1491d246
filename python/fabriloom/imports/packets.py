"""Packet lists of flit simulators: a line per packet, ``cycle source destination flits``.

Numbers stand between blanks or commas. Blank lines, and what follows a ``#``, are passed over. A first line
of words names the columns; they must stand in this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..reading import ReadError, toml_value
from .common import Stream, blocks, only, spool

FLIT_BYTES = 8
"""Of the preset that the scenario has."""
_MOST = (10**15, 2**20 - 1, 2**20 - 1, 2**20)
_NAMES = ("cycle", "source", "destination", "flits")
_HINT = "a packet is a line such as: 120 3 12 5 (cycle, source, destination, flits)"


@dataclass
class Packets:
    """Packets with their cycles."""

    rows: IO[bytes]
    """As CSV with a header."""
    packets: int
    terminals: int
    """One more than the highest number of a source or destination."""
    last: int
    """The last cycle in which one is created."""
    remarks: tuple[str, ...] = ("the list names no network: replace the crossbar by yours",)

    def summary(self) -> list[tuple[str, str]]:
        """Return what was read, as names and values."""
        return [
            ("packets", f"{self.packets:,}"),
            ("terminals", f"{self.terminals:,}"),
            ("last cycle", f"{self.last:,}"),
        ]

    def files(self, name: str) -> dict[str, Iterable[str]]:
        """Return the files of a scenario with this name, by file name: their texts, in parts."""
        text = f"""\
name = {toml_value(name)}

[topology]
kind = "crossbar"
terminals = {max(2, self.terminals)}

[technology]
preset = "generic"

[traffic]
pattern = {{ kind = "descriptors", path = "packets.csv" }}

[run]
warmup = "0 ns"
duration = "{max(1, self.last) * 2} ns"
"""
        return {"scenario.toml": [text], "packets.csv": blocks(self.rows)}


def packets(files: Sequence[Path]) -> Packets:
    """Read a list."""
    stream, rows = Stream(only(files, "a list")), spool()
    rows.write(b"cycle,source,target,length\n")
    count = highest = last = 0
    for whole in stream:
        words = whole.partition("#")[0].replace(",", " ").split()
        if not words or (not count and not any(word[:1].isdecimal() for word in words)):
            continue
        cycle, source, target, flits = _row(stream, words)
        count, highest, last = count + 1, max(highest, source, target), max(last, cycle)
        rows.write(f"{cycle},{source},{target},{flits * FLIT_BYTES}\n".encode())
    if not count:
        raise ReadError(f"{stream.path}: no packets", _HINT)
    return Packets(rows, count, highest + 1, last)


def _row(stream: Stream, words: list[str]) -> list[int]:
    if len(words) != len(_NAMES):
        stream.fail(f"{len(words)} values, where {len(_NAMES)} are meant", _HINT)
    found: list[int] = []
    for word, name, most in zip(words, _NAMES, _MOST, strict=True):
        if not (word.isascii() and word.isdecimal() and len(word) < 17 and int(word) <= most):
            stream.fail(f'"{word[:40]}" is no {name}: a whole number up to {most:,}', _HINT, word)
        found.append(int(word))
    if not found[3]:
        stream.fail("a packet has at least one flit", _HINT)
    return found
