"""Chakra execution traces: a file per rank, as protocol buffers or as JSON, one object after another or all
within one ``workload_graph``.

A node has an ``id``, a ``type``, what it waits for (``dataDeps`` and ``ctrlDeps``) and attributes. Computing,
sends and receives become operations, collectives the messages of an algorithm; other nodes become points that
take no time. Ranks that take part in the same process group (``pg_name``) are its members. ``comm_size`` of a
collective is what a rank gives to it, as ASTRA-sim reads it. Traces of PyTorch can have a node in which the
processor begins a collective, without a ``comm_type``, besides the collective: the first is computing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ..reading import UTF_16, ReadError
from . import collectives
from .collectives import Collective
from .common import Stream
from .traces import Rank, Trace, by_rank, checked_peer, trace

_LONGEST_NODE = 1 << 22
_BETWEEN = " \t\r\n,[]"
_MOST = 1 << 31
_COLLECTIVES = (
    *("all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "all_to_all"),
    *("reduce_scatter", "reduce_scatter", "barrier"),
)
"""By ``comm_type``."""
_IN_PARTS = {"scatter", "all_to_all", "reduce_scatter"}
"""Of these a rank gives a part to each."""
_NAMES = ("comm_dst", "comm_src", "comm_size", "comm_tag", "comm_type", "comm_root")
_WITHIN = re.compile(r'\s*\{\s*"workload_graph"\s*:\s*\[')
_OF_PYTORCH = re.compile(r'\s*\{\s*"schema(?:Version)?"\s*:')
_HINT = 'a node is {"id":"2","type":"COMM_SEND_NODE","dataDeps":["1"],"attr":[...]}'


@dataclass
class _Group:
    """A process group: its number, its members, and how many collectives each has begun."""

    number: int
    members: list[int] = field(default_factory=list)
    begun: Counter[int] = field(default_factory=Counter[int])


def chakra(files: Sequence[Path]) -> Trace:
    files = by_rank(files)
    groups = {"": _Group(0, list(range(len(files))))}
    for number, file in enumerate(files):
        for name in _groups(file):
            groups.setdefault(name, _Group(len(groups))).members.append(number)
    found = trace(files, partial(_rank, groups))
    if not found.operations:
        raise ReadError(f"{files[0]}: no node of a trace", _HINT)
    return found


def _groups(file: Path) -> list[str]:
    """Return the names of the groups in which a rank takes part; other nodes are not looked into."""
    if not _is_binary(file) and not any("pg_name" in line for line in Stream(file)):
        return []
    nodes = _nodes(Stream(file), b"pg_name")
    return sorted({_group(node) for node in nodes if _kind(node) == "COMM_COLL"} - {""})


def _rank(groups: dict[str, _Group], stream: Stream, rank: Rank, left_out: Counter[str]) -> None:
    ends: dict[int, int] = {}
    later: list[tuple[int, int, list[int], list[int], int, str]] = []
    for node in _nodes(stream):
        if "id" not in node:
            if _has_nodes(node):
                stream.fail("nodes within an object; they stand one after another", _HINT)
            continue  # the global metadata
        number = _whole(stream, node["id"], "id")
        if number in ends:
            stream.fail(f"node {number} is there already", "each node has an id of its own")
        begin = ends[number] = rank.add(_operation(stream, rank, node, left_out), [])
        if _kind(node) == "COMM_COLL":
            done = _collective(stream, rank, node, groups[_group(node)], begin)
            ends[number] = done[0] if len(done) == 1 else rank.add("calc 0", done)
        needed, control = (
            [_whole(stream, one, name) for name in names for one in _list(stream, node, name)]
            for names in (("dataDeps", "data_deps"), ("ctrlDeps", "ctrl_deps"))
        )
        if all(one in ends for one in (*needed, *control)):
            rank.wait(begin, [ends[one] for one in (*needed, *control)])
        else:
            later.append((number, begin, needed, control, stream.number, stream.line))
    for number, begin, needed, control, line, text in later:
        for one in needed:
            if one not in ends:
                message = f"node {number} of rank {rank.number} waits for node {one}, which is never started"
                stream.fail_at(line, text, message, "is the trace cut short?")
        # Those of PyTorch name the operation around a node, which can be left out of the trace.
        there = [one for one in control if one in ends]
        if missing := len(control) - len(there):
            left_out["waits for nodes that are not there"] += missing
        rank.wait(begin, [ends[one] for one in (*needed, *there)])


def _has_nodes(node: dict[str, Any]) -> bool:
    """Whether an object without an id is no metadata: it has a list of objects besides its attributes."""
    lists = [value for name, value in node.items() if name != "attr" and isinstance(value, list)]
    return any(isinstance(one, dict) for value in lists for one in value[:1])


def _kind(node: dict[str, Any]) -> str:
    kind = str(node.get("type", "")).removesuffix("_NODE")
    if kind == "COMM_COLL" and _named(node, "is_cpu_op") in ("True", "1") and not _named(node, "comm_type"):
        return "COMP"
    return kind


def _group(node: dict[str, Any]) -> str:
    return _named(node, "pg_name")[:80]


def _named(node: dict[str, Any], name: str) -> str:
    """Return the attribute of a name as text; without it an empty one."""
    attributes = node.get("attr", [])
    for one in attributes if isinstance(attributes, list) else []:
        if isinstance(one, dict) and one.get("name") == name:
            return next((str(value) for key, value in one.items() if key.lower().endswith("val")), "")
    return ""


def _collective(stream: Stream, rank: Rank, node: dict[str, Any], group: _Group, begin: int) -> list[int]:
    """Add the messages of a collective behind its beginning; returns the operations that end it."""
    found = _attributes(stream, node)
    kind = found.get("comm_type", -1)
    if not 0 <= kind < len(_COLLECTIVES):
        hint = f"comm_type is 0 to {len(_COLLECTIVES) - 1}, as in CollectiveCommType of Chakra"
        stream.fail(f"node {node['id']} is a collective of no known type", hint)
    name, root, members = _COLLECTIVES[kind], found.get("comm_root", 0), len(group.members)
    size = found.get("comm_size", 0) // (members if name in _IN_PARTS else 1)
    if root >= members:
        stream.fail(f"node {node['id']} has the root {root}; {members} ranks take part", _HINT)
    number, me = group.begun[rank.number], group.members.index(rank.number)
    group.begun[rank.number] += 1
    of = Collective(name, group.members, me, group.number, number, root, size)
    return collectives.add(rank, of, [begin])


def _nodes(stream: Stream, having: bytes = b"") -> Iterator[dict[str, Any]]:
    """Yield the objects of a file, soon after each is complete; only messages that have these bytes."""
    if _is_binary(stream.path):
        for at, node in _messages(stream.path, having):
            stream.number, stream.line = at, str(node)[:80]
            yield node
        return
    held, enough, form = "", 0, ""
    for line in stream:
        held += line + "\n"
        if len(held) < enough:
            continue
        if not form:
            held, form = _opened(stream, held)
        while node := _first(stream, held := held.lstrip(_BETWEEN), form):
            held = held[node[1] :]
            form = form or "lines"
            yield node[0]
        # What is not complete is tried again when there is a good part more, so that no text takes long.
        enough = len(held) * 5 // 4
        if len(held) > _LONGEST_NODE:
            stream.fail("a node of more than 4 MB, or one that never ends", _HINT)
    while node := _first(stream, held := held.lstrip(_BETWEEN), form):
        held = held[node[1] :]
        yield node[0]
    if held and not (form == "within" and held[0] in '}"'):
        stream.fail("the file ends within a node", "is the trace cut short?")


def _opened(stream: Stream, text: str) -> tuple[str, str]:
    """Return a text without what stands around its nodes, and the form that this shows, if it does."""
    if _OF_PYTORCH.match(text):
        hint = "convert it: chakra_trace_link, then chakra_converter, make a file for each rank"
        stream.fail("a trace as PyTorch writes it, not yet one of Chakra", hint)
    if begin := _WITHIN.match(text):
        return text[begin.end() :], "within"
    return text, ""


def _first(stream: Stream, text: str, form: str) -> tuple[dict[str, Any], int] | None:
    """Return the first object of a text and its length; None if it is not complete."""
    if not text or (form == "within" and text[0] in '}"'):
        return None  # nothing, or what follows the nodes
    try:
        found, length = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            return None
        stream.fail(f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}", _HINT)
    except (RecursionError, ValueError):
        stream.fail("this is nested too deep, or has a number beyond counting", _HINT)
    if not isinstance(found, dict):
        stream.fail(f"a node is an object, not {type(found).__name__}", _HINT)
    return (_told(found) if form == "within" else found), length


def _told(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node of a ``workload_graph`` as the other forms tell it."""
    kind = node.get("NodeType", 0)
    attributes = [name for name in node if name.startswith("comm_") or name in ("is_cpu_op", "pg_name")]
    return {
        "id": node.get("Id"),
        "type": _TYPES[kind] if isinstance(kind, int) and 0 <= kind < len(_TYPES) else str(kind),
        "durationMicros": node.get("runtime", 0),
        "attr": [{"name": name, "val": node[name]} for name in attributes],
        **{name: node[name] for name in ("dataDeps", "data_deps", "ctrlDeps", "ctrl_deps") if name in node},
    }


def _operation(stream: Stream, rank: Rank, node: dict[str, Any], left_out: Counter[str]) -> str:
    kind = _kind(node)
    if kind == "COMP":
        time_us = node.get("durationMicros", node.get("duration_micros", 0))
        if not time_us:
            left_out["computing without a time"] += 1
        return f"calc {_whole(stream, time_us, 'durationMicros') * 1000}"
    if kind not in ("COMM_SEND", "COMM_RECV"):
        if kind not in ("METADATA", "COMM_COLL"):
            left_out[kind[:40] or "node without a type"] += 1
        return "calc 0"
    attributes = _attributes(stream, node)
    end = "comm_dst" if kind == "COMM_SEND" else "comm_src"
    for name in (end, "comm_size"):
        if name not in attributes:
            stream.fail(f"a {kind}_NODE has a {name}, this has none", _HINT)
    peer = checked_peer(stream, rank, attributes[end])
    size, tag = attributes["comm_size"], attributes.get("comm_tag", 0)
    word = "send" if kind == "COMM_SEND" else "recv"
    return f"{word} {size}b {'to' if word == 'send' else 'from'} {peer} tag {tag}"


def _attributes(stream: Stream, node: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in _list(stream, node, "attr"):
        if not isinstance(one, dict) or not str(one.get("name", "")).startswith("comm_"):
            continue
        values = [value for name, value in one.items() if name.lower().endswith(("val", "_val"))]
        if values and one["name"] in _NAMES:
            found[str(one["name"])] = _whole(stream, values[0], str(one["name"]))
    return found


def _list(stream: Stream, node: dict[str, Any], name: str) -> list[Any]:
    found = node.get(name, [])
    if not isinstance(found, list):
        stream.fail(f"{name} is a list, not {type(found).__name__}", _HINT)
    return found


def _whole(stream: Stream, value: object, name: str) -> int:
    text = str(value)
    if isinstance(value, bool | float) or not (text.isascii() and text.isdecimal() and len(text) < 20):
        stream.fail(f'"{text[:40]}" is no {name}: a whole number', _HINT)
    if name.startswith("comm_") and int(text) >= _MOST:
        stream.fail(f"{name} of {text} is more than a message can have", "the most is 2^31 - 1")
    return int(text)


# The form as protocol buffers: messages, each behind its length, told as JSON tells them. Field numbers are
# those of Chakra's ``et_def.proto``; the wire format is that of protocol buffers.

_TYPES = ("INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL")
"""Types of nodes, without ``_NODE``."""
_LONGEST_MESSAGE = 1 << 22
_NO_TRACE = "is the file cut short, or no execution trace of Chakra?"
# Names, as in JSON, of the fields of a node, and of the whole numbers of an attribute.
_NODE_FIELDS = {1: "id", 4: "ctrlDeps", 5: "dataDeps", 7: "durationMicros"}
_WHOLE_FIELDS = {7: "int32Val", 9: "int64Val", 11: "uint32Val", 13: "uint64Val", 27: "boolVal"}
_TEXT_FIELD = 29
_FIXED_BYTES = {1: 8, 5: 4}
"""Bytes of a field of a kind that has no length; floating numbers, which nothing here needs."""
_Field = tuple[int, int | bytes]
"""Number and value of a field."""


def _is_binary(path: Path) -> bool:
    """Return whether a file holds messages and not text: these have characters that text has not."""
    try:
        with path.open("rb") as file:
            head = file.read(1024)
        if head.startswith(UTF_16) and 0 in head[2:4]:
            return False  # no length of a message
        return any(byte < 32 and byte not in b"\t\r\n" for byte in head)
    except (OSError, ValueError):
        return False  # reading it as text says why


def _messages(path: Path, having: bytes = b"") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the nodes with these bytes, each with its place in bytes. Raises ReadError."""
    with path.open("rb") as file:
        first, size = True, path.stat().st_size
        while (at := file.tell()) < size:
            length = _length(file, path)
            content = file.read(length)
            if len(content) < length:
                raise ReadError(f"{path}: the file ends within the message at byte {at:,}", _NO_TRACE)
            try:
                if having in content and not (first and _is_metadata(content)):
                    yield at, _message(content)
            except (IndexError, ValueError):
                raise ReadError(f"{path}: the message at byte {at:,} cannot be read", _NO_TRACE) from None
            first = False


def _is_metadata(content: bytes) -> bool:
    """Whether the first message describes the whole: it has texts only, where a node has numbers."""
    return not any(isinstance(value, int) for _, value in _fields(content))


def _length(file: BinaryIO, path: Path) -> int:
    value = shift = 0
    at = file.tell()
    while byte := file.read(1):
        value |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128 and value <= _LONGEST_MESSAGE:
            return value
        if shift > 28:
            break
    raise ReadError(f"{path}: no length of a message of at most 4 MB at byte {at:,}", _NO_TRACE)


def _message(content: bytes) -> dict[str, Any]:
    node: dict[str, Any] = {"id": 0, "type": _TYPES[0], "ctrlDeps": [], "dataDeps": [], "attr": []}
    for number, value in _fields(content):
        if number == 3 and isinstance(value, int):
            node["type"] = _TYPES[value]
        elif number in (4, 5):
            node[_NODE_FIELDS[number]] += [value] if isinstance(value, int) else _packed(value)
        elif number in _NODE_FIELDS and isinstance(value, int):
            node[_NODE_FIELDS[number]] = value
        elif number == 10 and isinstance(value, bytes):
            node["attr"].append(_number_or_text(value))
    return node


def _number_or_text(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, value in _fields(content):
        if number == 1 and isinstance(value, bytes):
            found["name"] = value.decode("utf-8", "replace")
        elif number in _WHOLE_FIELDS and isinstance(value, int):
            # A negative number has its sign in bit 63.
            found[_WHOLE_FIELDS[number]] = value - (1 << 64) if value >> 63 else value
        elif number == _TEXT_FIELD and isinstance(value, bytes):
            found["stringVal"] = value.decode("utf-8", "replace")
    return found


def _fields(content: bytes) -> Iterator[_Field]:
    """Yield the fields of a message. Raises IndexError or ValueError where there is none."""
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(content, at)
            yield key >> 3, value
            continue
        length = _FIXED_BYTES.get(kind, -1)
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
