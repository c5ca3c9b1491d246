"""Chakra execution traces: a file per rank, as protocol buffers or as JSON, one object after another.

A node has an ``id``, a ``type``, what it waits for (``dataDeps`` and ``ctrlDeps``) and attributes. Computing,
sends and receives become operations, collectives the messages of an algorithm; other nodes become points that
take no time. Ranks that take part in the same process group (``pg_name``) are its members. ``comm_size`` of a
collective is what a rank gives to it, as ASTRA-sim reads it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from . import collectives, protobuf
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
_HINT = 'a node is {"id":"2","type":"COMM_SEND_NODE","dataDeps":["1"],"attr":[...]}'


@dataclass
class _Group:
    """A process group: its number, its members, and how many collectives each has begun."""

    number: int
    members: list[int] = field(default_factory=list)
    begun: Counter[int] = field(default_factory=Counter[int])


def chakra(files: Sequence[Path]) -> Trace:
    """Read the traces of all ranks."""
    files = by_rank(files)
    groups = {"": _Group(0, list(range(len(files))))}
    for number, file in enumerate(files):
        for name in _groups(file):
            groups.setdefault(name, _Group(len(groups))).members.append(number)
    return trace(files, partial(_rank, groups))


def _groups(file: Path) -> list[str]:
    """Return the names of the groups in which a rank takes part; other nodes are not looked into."""
    if not protobuf.is_binary(file) and not any("pg_name" in line for line in Stream(file)):
        return []
    nodes = _nodes(Stream(file), b"pg_name")
    return sorted({_group(node) for node in nodes if _kind(node) == "COMM_COLL"} - {""})


def _rank(groups: dict[str, _Group], stream: Stream, rank: Rank, left_out: Counter[str]) -> None:
    ends: dict[int, int] = {}
    later: list[tuple[int, int, list[int], int, str]] = []
    for node in _nodes(stream):
        if "id" not in node:
            continue  # the global metadata
        number = _whole(stream, node["id"], "id")
        if number in ends:
            stream.fail(f"node {number} is there already", "each node has an id of its own")
        begin = ends[number] = rank.add(_operation(stream, rank, node, left_out), [])
        if _kind(node) == "COMM_COLL":
            done = _collective(stream, rank, node, groups[_group(node)], begin)
            ends[number] = done[0] if len(done) == 1 else rank.add("calc 0", done)
        needed = [
            _whole(stream, one, name)
            for name in ("dataDeps", "data_deps", "ctrlDeps", "ctrl_deps")
            for one in _list(stream, node, name)
        ]
        if all(one in ends for one in needed):
            rank.wait(begin, [ends[one] for one in needed])
        else:
            later.append((number, begin, needed, stream.number, stream.line))
    for number, begin, needed, line, text in later:
        for one in needed:
            if one not in ends:
                message = f"node {number} of rank {rank.number} waits for node {one}, which is never started"
                stream.fail_at(line, text, message, "is the trace cut short?")
        rank.wait(begin, [ends[one] for one in needed])


def _kind(node: dict[str, Any]) -> str:
    return str(node.get("type", "")).removesuffix("_NODE")


def _group(node: dict[str, Any]) -> str:
    attributes = node.get("attr", [])
    for one in attributes if isinstance(attributes, list) else []:
        if isinstance(one, dict) and one.get("name") == "pg_name":
            return str(one.get("stringVal", one.get("string_val", "")))[:80]
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
    if protobuf.is_binary(stream.path):
        for at, node in protobuf.nodes(stream.path, having):
            stream.number, stream.line = at, str(node)[:80]
            yield node
        return
    held, enough = "", 0
    for line in stream:
        held += line + "\n"
        if len(held) < enough:
            continue
        while node := _first(stream, held := held.lstrip(_BETWEEN)):
            held = held[node[1] :]
            yield node[0]
        # What is not complete is tried again when there is a good part more, so that no text takes long.
        enough = len(held) * 5 // 4
        if len(held) > _LONGEST_NODE:
            stream.fail("a node of more than 4 MB, or one that never ends", _HINT)
    while node := _first(stream, held := held.lstrip(_BETWEEN)):
        held = held[node[1] :]
        yield node[0]
    if held:
        stream.fail("the file ends within a node", "is the trace cut short?")


def _first(stream: Stream, text: str) -> tuple[dict[str, Any], int] | None:
    """Return the first object of a text and its length; None if it is not complete."""
    if not text:
        return None
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
    return found, length


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
        stream.fail(f"{name} of {text} is more than a message can have", "the most is 2^31")
    return int(text)
