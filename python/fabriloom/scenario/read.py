"""From a file to plain data: TOML, YAML or JSON, read without executing anything."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Hashable
from pathlib import Path as FilePath
from typing import Any

from fabriloom import units
from fabriloom.scenario.errors import Place, ScenarioError
from fabriloom.scenario.source import SourceMap

LARGEST_BYTES = 8 * 2**20
DEEPEST = 40
_HINTS = {
    "TOML": 'strings need quotes: kind = "grid"; sections are in brackets: [topology]',
    "JSON": "names and strings need double quotes; no comma after the last entry",
    "YAML": "check the indentation and the colons",
}
KINDS = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def read(path: FilePath) -> tuple[dict[str, Any], SourceMap]:
    """The data of a scenario file and where they stand. Raises :class:`ScenarioError`."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None and path.is_dir():
        raise _a_folder(path)
    if kind is None:
        hint = "a scenario is a .toml, .yaml or .json file"
        raise ScenarioError(f'"{path.suffix}" is not a kind of scenario file', None, hint, file=str(path))
    source = SourceMap(str(path), _text(path), kind)
    return parse(source), source


def parse(source: SourceMap) -> dict[str, Any]:
    """The data of a text. Raises :class:`ScenarioError` with line and caret when it cannot be read."""
    parser = {"toml": _toml, "yaml": _yaml, "json": _json}[source.kind]
    try:
        data = parser(source)
        _check_depth(data, source)
    except RecursionError:
        raise ScenarioError(
            "nested too deeply", None, f"at most {DEEPEST} levels", file=source.file
        ) from None
    if not isinstance(data, dict):
        found = "nothing" if data is None else f"a {_name(data)}"
        hint = 'write sections such as [topology] with kind = "grid"'
        raise ScenarioError(f"a scenario is a table of sections, found {found}", None, hint, file=source.file)
    return data


def _text(path: FilePath) -> str:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            hint = "put long lists into a CSV or Parquet file that the scenario names"
            raise ScenarioError("the file is larger than 8 MB", None, hint, file=str(path))
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"line {line} is not UTF-8 text (byte {content[error.start]:#04x})"
        raise ScenarioError(message, None, "save the file as UTF-8", file=str(path)) from None


def _unreadable(path: FilePath, error: OSError) -> ScenarioError:
    if isinstance(error, FileNotFoundError):
        folder = path.parent
        if not folder.is_dir():
            return ScenarioError("no such file", None, f"the folder {folder} does not exist", file=str(path))
        names = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in KINDS)[:1000]
        near = units.nearest(path.name, names, 0.8)
        hint = f"did you mean {near}?" if near else "check the name; paths are relative to the present folder"
        return ScenarioError("no such file", None, hint, file=str(path))
    if path.is_dir():
        return _a_folder(path)
    reason = (error.strerror or "unknown reason").lower()
    return ScenarioError(
        f"cannot be read: {reason}", None, "check the file and its permissions", file=str(path)
    )


def _a_folder(path: FilePath) -> ScenarioError:
    return ScenarioError("this is a folder", None, "name a scenario file in it", file=str(path))


def _toml(source: SourceMap) -> Any:
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_mistake(source) or _syntax(source, str(error), "TOML") from None
    except ValueError as error:
        raise ScenarioError(f"not TOML: {error}", None, "", file=source.file) from None


def _toml_mistake(source: SourceMap) -> ScenarioError | None:
    """What the parser that keeps places says, which is clearer."""
    from fabriloom import _native

    found = _native.mistake(source.text)
    if found is None:
        return None
    line, column, length, reason = found
    hint = "keep one of the two" if reason == "duplicate key" else _HINTS["TOML"]
    if "must be quoted" in reason:
        reason, hint = "a string without quotes, or values without a comma between", _HINTS["TOML"]
    return ScenarioError(f"not TOML: {reason}", None, hint, source.stretch(line, column, length))


def _syntax(source: SourceMap, message: str, kind: str) -> ScenarioError:
    match = re.search(r"\s*\(at line (\d+), column (\d+)\)$", message)
    lines = source.text.split("\n")
    line, column = (int(match[1]), int(match[2])) if match else (len(lines), len(lines[-1].rstrip("\r")) + 1)
    words = message[: match.start()] if match else message.removesuffix(" (at end of document)")
    words = words[:1].lower() + words[1:]
    if not match:
        words += " at the end of the file"
    place = source.stretch(line, column, 1)
    return ScenarioError(f"not {kind}: {words}", None, _HINTS[kind], place)


def _spot(source: SourceMap, offset: int, length: int) -> Place:
    """A place by its offset in the text."""
    line = source.text.count("\n", 0, offset) + 1
    return source.stretch(line, offset - source.text.rfind("\n", 0, offset), length)


def _json(source: SourceMap) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            seen: set[str] = set()
            twice = next(name for name, _ in pairs if name in seen or seen.add(name))
            found = [
                m.start() for m in re.finditer(re.escape(json.dumps(twice, ensure_ascii=False)), source.text)
            ]
            place = _spot(source, found[1] if len(found) > 1 else 0, len(twice) + 2)
            raise ScenarioError(f'"{_short(twice)}" is given twice', None, "keep one of the two", place)
        return table

    def constant(name: str) -> Any:
        place = _spot(source, source.text.find(name), len(name))
        raise ScenarioError(f"{name} is not a number that can be used", None, "write a finite number", place)

    try:
        return json.loads(source.text, object_pairs_hook=once, parse_constant=constant)
    except json.JSONDecodeError as error:
        message = f"{error.msg} (at line {error.lineno}, column {error.colno})"
        raise _syntax(source, message, "JSON") from None
    except ScenarioError:
        raise
    except ValueError as error:
        raise ScenarioError(f"not JSON: {error}", None, "", file=source.file) from None


def _yaml(source: SourceMap) -> Any:
    import yaml

    try:
        depth = 0
        for event in yaml.parse(source.text, Loader=yaml.SafeLoader):
            # Ended at once: the parser takes minutes for a long row of brackets.
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise RecursionError
            if isinstance(event, yaml.AliasEvent):
                mark = event.start_mark
                place = source.stretch(mark.line + 1, mark.column + 1, len(event.anchor) + 1)
                hint = "write the value out; anchors and aliases are not used in scenarios"
                raise ScenarioError(f'alias "*{event.anchor}"', None, hint, place)
        node = yaml.compose(source.text, Loader=yaml.SafeLoader)
        return None if node is None else _plain(node, yaml.SafeLoader(""), source)
    except ScenarioError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" (at line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise _syntax(source, f"{error.problem or error.context}{where}", "YAML") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ScenarioError(f"not YAML: {str(error).splitlines()[0]}", None, "", file=source.file) from None


def _plain(node: Any, loader: Any, source: SourceMap) -> Any:
    """Data of a YAML node: only strings, numbers, true, false, null, lists and tables."""
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map"):
        hint = "use strings, numbers, true, false, lists and tables"
        raise _at(source, node, f"a value of type {_short(kind)}", hint)
    if node.id == "sequence":
        return [_plain(item, loader, source) for item in node.value]
    if node.id == "mapping":
        table: dict[str, Any] = {}
        for key, value in node.value:
            name = _plain(key, loader, source)
            if not isinstance(name, Hashable) or not isinstance(name, str):
                raise _at(source, key, "a key must be a word", "put quotes around it")
            if name in table:
                raise _at(source, key, f'"{_short(name)}" is given twice', "keep one of the two")
            table[name] = _plain(value, loader, source)
        return table
    if kind == "timestamp":
        return node.value
    try:
        return loader.construct_object(node)
    except (ValueError, OverflowError):
        raise _at(source, node, "a number that cannot be read", "write it with fewer digits") from None


def _at(source: SourceMap, node: Any, message: str, hint: str) -> ScenarioError:
    start, end = node.start_mark, node.end_mark
    length = end.column - start.column if end.line == start.line else 1
    place = source.stretch(start.line + 1, start.column + 1, max(1, length))
    return ScenarioError(message, None, hint, place)


def _check_depth(data: Any, source: SourceMap) -> None:
    level = [data]
    for _ in range(DEEPEST):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise ScenarioError("nested too deeply", None, f"at most {DEEPEST} levels", file=source.file)


def _name(value: Any) -> str:
    names = {
        str: "string",
        bool: "true or false",
        int: "number",
        float: "number",
        list: "list",
        dict: "table",
    }
    return names.get(type(value), type(value).__name__)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
