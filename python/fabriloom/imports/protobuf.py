"""Chakra traces as protocol buffers: messages, each behind its length, told as JSON tells them.

Field numbers are those of Chakra's ``et_def.proto``; the wire format is that of protocol buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..reading import ReadError

TYPES = ("INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL")
"""Types of nodes, without ``_NODE``."""
_LONGEST = 1 << 22
_HINT = "is the file cut short, or no execution trace of Chakra?"
# Names, as in JSON, of the fields of a node, and of the whole numbers of an attribute.
_NODE = {1: "id", 4: "ctrlDeps", 5: "dataDeps", 7: "durationMicros"}
_WHOLE = {7: "int32Val", 9: "int64Val", 11: "uint32Val", 13: "uint64Val", 27: "boolVal"}
_TEXT = 29
_FIXED = {1: 8, 5: 4}
"""Bytes of a field of a kind that has no length; floating numbers, which nothing here needs."""
Field = tuple[int, int | bytes]
"""Number and value of a field."""


def is_binary(path: Path) -> bool:
    """Return whether a file holds messages and not text: these have characters that text has not."""
    try:
        with path.open("rb") as file:
            return any(byte < 32 and byte not in b"\t\r\n" for byte in file.read(1024))
    except (OSError, ValueError):
        return False  # reading it as text says why


def nodes(path: Path, having: bytes = b"") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the nodes with these bytes, each with its place in bytes. Raises ReadError."""
    with path.open("rb") as file:
        first, size = True, path.stat().st_size
        while (at := file.tell()) < size:
            length = _length(file, path)
            content = file.read(length)
            if len(content) < length:
                raise ReadError(f"{path}: the file ends within the message at byte {at:,}", _HINT)
            try:
                if not first and having in content:  # the first describes the whole
                    yield at, _node(content)
            except (IndexError, ValueError):
                raise ReadError(f"{path}: the message at byte {at:,} cannot be read", _HINT) from None
            first = False


def _length(file: BinaryIO, path: Path) -> int:
    value = shift = 0
    at = file.tell()
    while byte := file.read(1):
        value |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128 and value <= _LONGEST:
            return value
        if shift > 28:
            break
    raise ReadError(f"{path}: no length of a message of at most 4 MB at byte {at:,}", _HINT)


def _node(content: bytes) -> dict[str, Any]:
    node: dict[str, Any] = {"id": 0, "type": TYPES[0], "ctrlDeps": [], "dataDeps": [], "attr": []}
    for number, value in _fields(content):
        if number == 3 and isinstance(value, int):
            node["type"] = TYPES[value]
        elif number in (4, 5):
            node[_NODE[number]] += [value] if isinstance(value, int) else _packed(value)
        elif number in _NODE and isinstance(value, int):
            node[_NODE[number]] = value
        elif number == 10 and isinstance(value, bytes):
            node["attr"].append(_attribute(value))
    return node


def _attribute(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, value in _fields(content):
        if number == 1 and isinstance(value, bytes):
            found["name"] = value.decode("utf-8", "replace")
        elif number in _WHOLE and isinstance(value, int):
            # A negative number has its sign in bit 63.
            found[_WHOLE[number]] = value - (1 << 64) if value >> 63 else value
        elif number == _TEXT and isinstance(value, bytes):
            found["stringVal"] = value.decode("utf-8", "replace")
    return found


def _fields(content: bytes) -> Iterator[Field]:
    """Yield the fields of a message. Raises IndexError or ValueError where there is none."""
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(content, at)
            yield key >> 3, value
            continue
        length = _FIXED.get(kind, -1)
        if kind == 2:
            length, at = _varint(content, at)
        if not 0 <= length <= len(content) - at:
            raise ValueError
        if kind == 2:
            yield key >> 3, content[at : at + length]
        at += length


def _packed(content: bytes) -> list[int]:
    found, at = list[int](), 0
    while at < len(content):
        value, at = _varint(content, at)
        found.append(value)
    return found


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where it ends."""
    value = shift = 0
    while shift < 70:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & ((1 << 64) - 1), at
    raise ValueError
