"""Read a TOML, YAML or JSON file as plain data, without executing anything."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Hashable
from pathlib import Path as FilePath
from typing import Any

from fabriloom import _native, reading, units
from fabriloom.reading import ReadError
from fabriloom.reading.jsons import DEEPEST, MOST_KEYS, check_depth, has_surrogate
from fabriloom.scenario.errors import Place, ScenarioError
from fabriloom.scenario.source import Alias, SourceMap, composed

LARGEST_BYTES = 8 * 2**20
LARGEST_YAML_BYTES = 256 * 2**10
"""Reading YAML takes a hundred times as long as the other formats."""
_HINTS = {
    "TOML": 'strings need quotes: kind = "grid"; sections are in brackets: [topology]',
    "JSON": "names and strings need double quotes; no comma after the last entry",
    "YAML": "check the indentation and the colons",
}
KINDS = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def read(path: FilePath) -> tuple[dict[str, Any], SourceMap]:
    """Return the data of a scenario file, with their places. Raises :class:`ScenarioError`."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None and path.is_dir():
        raise ScenarioError("this is a folder", None, "name a scenario file in it", file=str(path))
    if kind is None:
        hint = "a scenario is a .toml, .yaml or .json file"
        raise ScenarioError(f'"{path.suffix}" is not a kind of scenario file', None, hint, file=str(path))
    source = SourceMap(str(path), _text(path), kind)
    return parse(source), source


def parse(source: SourceMap) -> dict[str, Any]:
    """Return the data of a text. Raises :class:`ScenarioError`, with line and caret, if it cannot be read."""
    parser = {"toml": _toml, "yaml": _yaml, "json": _json}[source.kind]
    try:
        data = parser(source)
        check_depth(data, DEEPEST)
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
    yaml = KINDS[path.suffix.lower()] == "yaml"
    most_bytes, most = (LARGEST_YAML_BYTES, "256 kB") if yaml else (LARGEST_BYTES, "8 MB")
    instead = "put long lists into a CSV or Parquet file that the scenario names"
    try:
        return reading.text_of(reading.content(path, most_bytes, most, instead), str(path))
    except ReadError as error:
        if isinstance(error.__cause__, OSError):
            raise _unreadable(path, error.__cause__) from None
        raise _refused(error, str(path)) from None


def _refused(error: ReadError, file: str) -> ScenarioError:
    place = Place(*error.place) if error.place else None
    return ScenarioError(error.message, None, error.hint, place, file)


def _unreadable(path: FilePath, error: OSError) -> ScenarioError:
    if isinstance(error, FileNotFoundError):
        folder = path.parent
        if not folder.is_dir():
            return ScenarioError("no such file", None, f"the folder {folder} does not exist", file=str(path))
        names = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in KINDS)[:1000]
        near = units.nearest(path.name, names, 0.8)
        hint = f"did you mean {near}?" if near else "check the name; paths are relative to the present folder"
        return ScenarioError("no such file", None, hint, file=str(path))
    reason = (error.strerror or "unknown reason").lower()
    return ScenarioError(
        f"cannot be read: {reason}", None, "check the file and its permissions", file=str(path)
    )


def _toml(source: SourceMap) -> Any:
    found = mistake_in(source.text)
    if found is not None:
        raise _toml_mistake(source, *found)
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax(source, str(error), "TOML") from None
    except ValueError:
        found = re.search(r"\d[\d_]{1000,}", source.text)  # the only other: more digits than Python reads
        place = _spot(source, found.start(), len(found[0])) if found else None
        hint = "write it with fewer digits"
        raise ScenarioError("a number that cannot be read", None, hint, place, source.file) from None


_STEPS = re.compile(r"""\.(?=[ \t]*["'\w-]++[ \t]*[.=\]])""")
"""Most steps of a dotted key. Each makes a table, so that a file of some megabytes would take gigabytes."""


def mistake_in(text: str) -> tuple[int, int, int, str] | None:
    """Return line, column, length and reason of an error that makes a text invalid TOML.

    This check runs before the standard parser, whose messages are less clear and which takes gigabytes for a
    key of thousands of steps.
    """
    step = next(itertools.islice(_STEPS.finditer(text), MOST_KEYS, None), None)
    if step is not None:
        return text.count("\n", 0, step.start()) + 1, 1, 1, "too many keys"
    return _native.mistake(text, DEEPEST, MOST_KEYS)


def _toml_mistake(source: SourceMap, line: int, column: int, length: int, reason: str) -> ScenarioError:
    if "recurs" in reason or reason in _BOUNDS:
        if column == 1 and reason == "recursion limit":
            line = max(1, line - 1)  # of a key it is noticed behind its line
        message, hint = _BOUNDS.get(reason, _BOUNDS["nested too deeply"])
        return ScenarioError(message, None, hint, source.stretch(line, column, length))
    if (opened := _unclosed(source.text, line, column)) is not None:
        bracket = source.text[opened]
        message = f'not TOML: this "{bracket}" is not closed'
        return ScenarioError(message, None, f'add "{_CLOSING[bracket]}"', _spot(source, opened, 1))
    hint = _HINTS["TOML"]
    if reason == "duplicate key":
        place = source.stretch(line, column, length)
        word = place.text[column - 1 : column - 1 + length].strip("\"'")
        return ScenarioError(f'"{_short(word)}" is given twice', None, "keep one of the two", place)
    if reason.startswith("unclosed") and (closing := re.search(r"expected `(.)`", reason)):
        hint = f'add "{closing[1]}"'
    if "inline table" in reason:
        hint = "a table in braces is complete in its line: write it as a section, such as [traffic.pattern]"
    if "must be quoted" in reason:
        reason, hint = "a string without quotes, or values without a comma between", _HINTS["TOML"]
    return ScenarioError(f"not TOML: {reason}", None, hint, source.stretch(line, column, length))


_BOUNDS = {
    "nested too deeply": ("nested too deeply", f"at most {DEEPEST} levels"),
    "too many keys": (f"more than {MOST_KEYS:,} keys", "put long lists into a CSV or Parquet file"),
}
_CLOSING = {"[": "]", "{": "}"}
_TOKENS = re.compile(
    "\"\"\"(?:[^\\\\]|\\\\.)*?\"\"\"|\"(?:[^\"\\\\\\n]|\\\\.)*\"|#[^\\n]*|[\\[\\]{}]|'''.*?'''|'[^'\\n]*'",
    re.DOTALL,
)
_STATEMENT = re.compile(
    r"^[ \t]*(?:[A-Za-z_][\w.-]*[ \t]*=|\[+[A-Za-z_][\w.-]*\]+[ \t]*(?:#.*)?$)", re.MULTILINE
)


def _unclosed(text: str, line: int, column: int) -> int | None:
    """Return the start of a list or table that is not closed before the line of a mistake.

    A bracket counts as forgotten if the next setting or section, or the end, comes before it.
    """
    lines = text.split("\n")
    before = sum(len(one) + 1 for one in lines[: line - 1])
    end = min(before + column - 1, len(text))
    opened: list[int] = []
    for token in _TOKENS.finditer(text, 0, end):
        if token[0] in _CLOSING:
            opened.append(token.start())
        elif token[0] in _CLOSING.values() and opened:
            opened.pop()
    earlier = [place for place in opened if place < before]
    if not earlier:
        return None
    following = _STATEMENT.search(text, text.index("\n", earlier[-1]) + 1)
    reached = following is not None and following.start() < before + len(lines[line - 1]) + 1
    return earlier[-1] if reached or not text[end:].strip() else None


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
    """Return a place, given its offset in the text."""
    line = source.text.count("\n", 0, offset) + 1
    return source.stretch(line, offset - source.text.rfind("\n", 0, offset), length)


def _json(source: SourceMap) -> Any:
    try:
        return reading.json_data(source.text, source.file, DEEPEST, MOST_KEYS)
    except ReadError as error:
        raise _refused(error, source.file) from None


def _yaml(source: SourceMap) -> Any:
    import yaml

    try:
        node = composed(source.text)
        return None if node is None else _plain(node, yaml.SafeLoader(""), source)
    except ScenarioError:
        raise
    except Alias as error:
        line, column, name = error.args
        place = source.stretch(line, column, len(name) + 1)
        hint = "write the value out; anchors and aliases are not used in scenarios"
        raise ScenarioError(f'alias "*{_short(name)}"', None, hint, place) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" (at line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise _syntax(source, f"{error.problem or error.context}{where}", "YAML") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ScenarioError(f"not YAML: {str(error).splitlines()[0]}", None, "", file=source.file) from None


def _plain(node: Any, loader: Any, source: SourceMap) -> Any:
    """Return the data of a YAML node: strings, numbers, true, false, null, lists and tables only."""
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
    if kind == "str" and has_surrogate(node.value):
        hint = "write the whole character"
        raise _at(source, node, "half of a character (a lone surrogate) in a string", hint)
    try:
        return loader.construct_object(node)
    except (ValueError, OverflowError):
        raise _at(source, node, "a number that cannot be read", "write it with fewer digits") from None


def _at(source: SourceMap, node: Any, message: str, hint: str) -> ScenarioError:
    start, end = node.start_mark, node.end_mark
    length = end.column - start.column if end.line == start.line else 1
    place = source.stretch(start.line + 1, start.column + 1, max(1, length))
    return ScenarioError(message, None, hint, place)


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
