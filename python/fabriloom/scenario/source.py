"""The places of settings in a scenario file: from dotted paths to lines and columns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fabriloom import _native
from fabriloom.reading.jsons import DEEPEST
from fabriloom.scenario.errors import Path, Place

OTHER_WORDS = {"file": "path", "from": "source", "destination": "target", "to": "target"}
"""Keys that are read as well, and what they mean, where a table has no key of that name."""

_MOST_WAYS = 16
"""Most spellings of a path that are looked for."""


@dataclass(frozen=True)
class Override:
    """One ``--set path=value``, or a setting changed from Python: its path and its written form."""

    path: Path
    key: str
    value: str
    origin: str
    """Text of messages before ``path=value``."""
    written: Place | None
    """Place in the scenario file, if a sweep or a variant tries this value."""

    @classmethod
    def of(cls, key: str, value: str, origin: str = "--set ", written: Place | None = None) -> Override:
        """Return the change of a dotted path."""
        return cls(tuple(key.split(".")), key, value, origin, written)

    def place(self, path: Path, key: bool) -> Place:
        """Return the part of the argument at fault."""
        if self.written is not None:
            return self.written
        text = f"{self.key}={self.value}"
        if key and path:
            words = [str(step) for step in path]
            end = len(".".join(words))
            return Place(f"{self.origin}{text}", 0, end - len(words[-1]) + 1, len(words[-1]), text)
        return Place(f"{self.origin}{text}", 0, len(self.key) + 2, max(1, len(self.value)), text)


@dataclass(frozen=True)
class SourceMap:
    """The text of a scenario and its changes from the command line.

    ``kind``: "toml", "yaml", "json", or "" for a scenario made in Python, which has no places.
    """

    file: str = ""
    text: str = ""
    kind: str = ""
    overrides: tuple[Override, ...] = field(default=())

    def place(self, path: Path, key: bool = False) -> Place | None:
        """Return the place of the value at ``path``, or of its key; if it is not there, of the nearest
        enclosing table."""
        for override in reversed(self.overrides):
            if path[: len(override.path)] == override.path:
                return override.place(override.path, key and path == override.path)
            if key and override.path[: len(path)] == path:
                return override.place(path, True)
        for length in range(len(path), 0, -1):
            found = self._written(path[:length], key and length == len(path))
            if not found and (below := self._below(path[:length])):
                return below
            if found:
                return self.stretch(*found)
        return None

    def _written(self, path: Path, key: bool) -> tuple[int, int, int] | None:
        """Find a setting, whichever of the words for it the file has."""
        ways: list[Path] = [()]
        for step in path:
            words = [step, *(word for word, name in OTHER_WORDS.items() if name == step)]
            ways = [(*way, word) for way in ways for word in words]
        return next((found for way in ways[:_MOST_WAYS] if (found := self._locate(way, key))), None)

    def _below(self, path: Path) -> Place | None:
        """Return an override inside a table that the file does not have."""
        inside = (o for o in reversed(self.overrides) if o.path[: len(path)] == path)
        return next((override.place(override.path, False) for override in inside), None)

    def stretch(self, line: int, column: int, length: int) -> Place:
        """Return a place of the text by line and column, both from 1."""
        lines = self.text.split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        return Place(self.file, line, column, length, text)

    def _locate(self, path: Path, key: bool) -> tuple[int, int, int] | None:
        if self.kind == "toml":
            return _native.locate(self.text, list(path), key)  # type: ignore[attr-defined]
        if self.kind == "json":
            return _in_json(self.text, path, key)
        if self.kind == "yaml":
            return _in_yaml(self.text, path, key)
        return None


class Alias(Exception):
    """A YAML text uses an alias: its line and column, both from 1, and its name."""


@lru_cache(maxsize=1)
def composed(text: str) -> Any:
    """Return the nodes of a YAML text with their places; cached, because every mistake needs them.

    Raises :class:`Alias`, ``yaml.YAMLError``, and RecursionError at the first level that is too deep: the
    parser takes minutes for a long row of brackets.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                event = self.peek_event()
                raise Alias(event.start_mark.line + 1, event.start_mark.column + 1, event.anchor)
            if self.depth == DEEPEST:
                raise RecursionError
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return yaml.compose(text, Loader=Loader)


def _in_yaml(text: str, path: Path, key: bool) -> tuple[int, int, int] | None:
    import yaml

    try:
        node = composed(text)
    except (yaml.YAMLError, Alias, RecursionError, ValueError):
        return None
    at = node
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next((p for p in node.value if p[0].value == step), None)
            if pair is None:
                return None
            at, node = pair
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            at = node = node.value[step]
        else:
            return None
    mark = at if key else node
    if mark is None:
        return None
    start, end = mark.start_mark, mark.end_mark
    lines = text.split("\n")
    last = end.column if end.line == start.line else len(lines[start.line].rstrip("\r"))
    return start.line + 1, start.column + 1, max(1, last - start.column)


_BLANK = " \t\r\n"


def _in_json(text: str, path: Path, key: bool) -> tuple[int, int, int] | None:
    """Find a path in a valid JSON text; the standard decoder skips the other values."""
    decoder, at, key_at = json.JSONDecoder(), _skip(text, 0), None
    try:
        for step in path:
            found = _step(decoder, text, at, step)
            if found is None:
                return None
            key_at, at = found
        start, end = key_at if key and key_at else (at, decoder.raw_decode(text, at)[1])
    except (ValueError, RecursionError, IndexError):
        return None
    line = text.count("\n", 0, start) + 1
    begin = text.rfind("\n", 0, start) + 1
    first = text[start:end].split("\n")[0].rstrip("\r")
    return line, start - begin + 1, max(1, len(first))


def _step(
    decoder: json.JSONDecoder, text: str, at: int, step: str | int
) -> tuple[tuple[int, int] | None, int] | None:
    closing = {"{": "}", "[": "]"}.get(text[at])
    index, at = 0, _skip(text, at + 1)
    while closing and text[at] != closing:
        key_at = None
        name: str | int = index
        if closing == "}":
            begin = at
            name, at = decoder.raw_decode(text, at)
            key_at = (begin, at)
            at = _skip(text, _skip(text, at) + 1)
        if name == step:
            return key_at, at
        at = _skip(text, decoder.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
        index += 1
    return None


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at
