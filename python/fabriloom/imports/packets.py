"""Packet lists of flit simulators: a line per packet, ``cycle source destination flits``.

Numbers stand between blanks, commas or semicolons. Blank lines, and what follows a ``#``, are passed over. A
first line of words, or a comment of as many words, can name the columns, in any order and with others
between them; with ``bytes`` instead of flits the sizes are in bytes.
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
_WORDS = {
    **dict.fromkeys(("cycle", "time", "at"), "cycle"),
    **dict.fromkeys(("source", "src", "from"), "source"),
    **dict.fromkeys(("destination", "dest", "dst", "target", "to"), "destination"),
    **dict.fromkeys(("flits", "size", "length"), "flits"),
}
_BYTES = ("bytes", "size_bytes", "length_bytes", "packet_bytes")
_WORDS |= dict.fromkeys(_BYTES, "flits")
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
    flits: int
    """Of all packets, which may all cross one link."""
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
duration = "{(self.last + self.flits) * 2} ns"
"""
        return {"scenario.toml": [text], "packets.csv": blocks(self.rows)}


def packets(files: Sequence[Path]) -> Packets:
    stream, rows = Stream(only(files, "a list")), spool()
    rows.write(b"cycle,source,target,length\n")
    count = highest = last = total = 0
    order, width, by_comment = _USUAL
    unit_bytes = FLIT_BYTES
    for whole in stream:
        line, _, comment = whole.partition("#")
        words = _words(line)
        if not words or not (count or any(word[:1].isdecimal() for word in words)):
            named = words or (_words(comment) if by_comment else [])
            found = [] if count else _columns(stream, named, bool(words))
            if found:
                order, width, by_comment = found, len(named), not words
            if not count and _in_bytes(named, found or (range(len(named)) if words else [])):
                unit_bytes = 1
            continue
        if not count and by_comment and len(words) != width:
            order, width, _ = _USUAL  # the comment was a sentence
        cycle, source, target, flits = _row(stream, words, order, width)
        count, highest, last = count + 1, max(highest, source, target), max(last, cycle)
        total += -(-flits * unit_bytes // FLIT_BYTES)
        rows.write(f"{cycle},{source},{target},{flits * unit_bytes}\n".encode())
    if not count:
        raise ReadError(f"{stream.path}: no packets", _HINT)
    return Packets(rows, count, highest + 1, last, total)


_USUAL: tuple[Sequence[int], int, bool] = (range(len(_NAMES)), len(_NAMES), True)
"""Where the columns stand among how many values, and whether a comment may name others."""


def _words(line: str) -> list[str]:
    return line.replace(",", " ").replace(";", " ").split()


def _in_bytes(named: list[str], order: Sequence[int]) -> bool:
    return len(order) == len(_NAMES) and named[order[3]].strip("\"'").lower() in _BYTES


def _columns(stream: Stream, words: list[str], strict: bool) -> list[int]:
    """Return where the columns stand that a line names; none if it names none.

    ``strict``: refuse a line that names some of them, which a comment may do.
    """
    named: dict[str, int] = {}
    for at, word in enumerate(words):
        if name := _WORDS.get(word.strip("\"'").lower()):
            named.setdefault(name, at)
    usual = len(words) == len(_NAMES) and all(_NAMES[at] == name for name, at in named.items())
    if (usual and len(named) < len(_NAMES)) or len(named) < len(_NAMES) - 1:
        return []  # other words for the same columns, or no names
    if len(named) < len(_NAMES):
        if not strict:
            return []
        missing = next(name for name in _NAMES if name not in named)
        stream.fail(f'these columns have no "{missing}"', f"columns are {', '.join(_NAMES)}")
    return [named[name] for name in _NAMES]


def _row(stream: Stream, words: list[str], order: Sequence[int], width: int) -> list[int]:
    """Return cycle, source, destination and flits; ``order``: where they stand among ``width`` values."""
    if len(words) != width:
        stream.fail(f"{len(words)} values, where {width} are meant", _HINT)
    found: list[int] = []
    for at, name, most in zip(order, _NAMES, _MOST, strict=True):
        word = words[at]
        if not (word.isascii() and word.isdecimal() and len(word) < 17 and int(word) <= most):
            stream.fail(f'"{word[:40]}" is no {name}: a whole number up to {most:,}', _HINT, word)
        found.append(int(word))
    if not found[3]:
        stream.fail("a packet has at least one flit", _HINT)
    return found
