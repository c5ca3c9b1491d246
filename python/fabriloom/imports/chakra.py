"""Chakra execution traces as JSON: a file per rank, one object after another, the first with a version.

A node has an ``id``, a ``type``, what it waits for (``dataDeps`` and ``ctrlDeps``) and attributes. Computing,
sends and receives become operations; collectives and other nodes become points that take no time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .traces import Rank, Stream, Trace, checked_peer, trace

_LONGEST_NODE = 1 << 22
_BETWEEN = " \t\r\n,[]"
_MOST = 1 << 31
_HINT = 'a node is {"id":"2","type":"COMM_SEND_NODE","dataDeps":["1"],"attr":[...]}'


def chakra(files: Sequence[Path]) -> Trace:
    """Read the traces of all ranks."""
    return trace(files, _rank)


def _rank(stream: Stream, rank: Rank, left_out: Counter[str]) -> None:
    known: dict[int, int] = {}
    waits: list[tuple[int, list[int], int, str]] = []
    for node in _nodes(stream):
        if "id" not in node:
            continue  # the global metadata
        number = _whole(stream, node["id"], "id")
        if number in known:
            stream.fail(f"node {number} is there already", "each node has an id of its own")
        known[number] = rank.add(_operation(stream, rank, node, left_out), [])
        needed = [
            _whole(stream, one, name)
            for name in ("dataDeps", "data_deps", "ctrlDeps", "ctrl_deps")
            for one in _list(stream, node, name)
        ]
        waits.append((number, needed, stream.number, stream.line))
    for number, needed, line, text in waits:
        for one in dict.fromkeys(needed):
            if one not in known:
                message = f"node {number} of rank {rank.number} waits for node {one}, which is never started"
                stream.fail_at(line, text, message, "is the trace cut short?")
            rank.needs.append(f"l{known[number]} requires l{known[one]}\n")


def _nodes(stream: Stream) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file, soon after each is complete."""
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
    kind = str(node.get("type", "")).removesuffix("_NODE")
    if kind == "COMP":
        time_us = node.get("durationMicros", node.get("duration_micros", 0))
        return f"calc {_whole(stream, time_us, 'durationMicros') * 1000}"
    if kind not in ("COMM_SEND", "COMM_RECV"):
        if kind != "METADATA":
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
        if values and one["name"] in ("comm_dst", "comm_src", "comm_size", "comm_tag"):
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
