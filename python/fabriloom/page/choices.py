"""The choices on the page: a scenario and its changed settings, as plain data."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..scenario import Scenario, ScenarioError
from ..scenario.load import build
from ..scenario.preset_files import FILE_KEYS
from ..scenario.read import KINDS, parse, read
from ..scenario.sections.study import OTHERS
from ..scenario.source import SourceMap
from . import shelf
from .limits import Refusal

FABRIC = ("topology", "technology", "routing")
"""Sections that describe the fabric; the others describe its traffic."""


@dataclass(frozen=True)
class Chosen:
    """A scenario with the settings of the controls."""

    scenario: Scenario
    written: dict[str, Any]
    """Data of the file, with the settings."""
    text: str
    """Text of the file, without the settings."""


def chosen(spec: Mapping[str, Any], traffic: Chosen | None = None) -> Chosen:
    """Return the scenario of ``{"shelf": name}`` or ``{"file": name, "text": text}``, with its ``settings``.

    With ``traffic``, only the fabric is used; traffic, run and seed are those of ``traffic``. Raises
    ScenarioError, with the place in the file, and Refusal.
    """
    source, folder = _source(spec)
    data = parse(source)
    if "text" in spec:
        _refuse_files(data, source, folder)
    for name in OTHERS:
        data.pop(name, None)
    if traffic is not None:
        fabric = {name: copy.deepcopy(data[name]) for name in FABRIC if name in data}
        others = {name: value for name, value in traffic.written.items() if name not in FABRIC}
        data = {
            **copy.deepcopy(others),
            **fabric,
            "name": str(data.get("name") or spec.get("file") or "second"),
        }
        folder = folder or traffic.scenario.base_dir
    for path, value in dict(spec.get("settings") or {}).items():
        steps = str(path).split(".")
        if any(_file_keys({steps[-1]: value})):
            raise Refusal(f"{path} cannot be set from the page.")
        put(data, steps, value)
    if traffic is not None and data["name"] == traffic.written.get("name"):
        data["name"] = f"{data['name']}, {_different(data, traffic.written)}"
    scenario = build(data, source if traffic is None else SourceMap(), folder or Path())
    return Chosen(scenario, data, source.text)


def _source(spec: Mapping[str, Any]) -> tuple[SourceMap, Path | None]:
    if "path" in spec:
        path = Path(spec["path"])
        return read(path)[1], path.parent
    if "shelf" in spec:
        path = shelf.path_of(str(spec["shelf"]))
        return SourceMap(path.name, path.read_text(encoding="utf-8"), "toml"), path.parent
    name, text = spec.get("file"), spec.get("text")
    if not isinstance(name, str) or not isinstance(text, str):
        raise Refusal("There is no scenario in this request.")
    name = Path(name.replace("\\", "/")).name[:200] or "scenario.toml"
    kind = KINDS.get(Path(name).suffix.lower())
    if kind is None:
        hint = "a scenario is a .toml, .yaml or .json file"
        raise ScenarioError(f'"{Path(name).suffix}" is not a kind of scenario file', None, hint, file=name)
    folder = Path(spec["folder"]) if "folder" in spec else None
    return SourceMap(name, text.removeprefix("\ufeff"), kind), folder


def _refuse_files(data: Any, source: SourceMap, folder: Path | None) -> None:
    """Refuse scenarios from the browser that name files other than those sent with them."""
    for here, value in _file_keys(data):
        if not _came(folder, value):
            message = "the page does not have this file"
            hint = "drop it together with the scenario, or start the page with both: fabriloom page FILE"
            raise ScenarioError(message, here, hint, source.place(here), source.file)


def _file_keys(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield path and value of every key that names a file."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        here = (*path, key)
        if str(key).split(".")[-1] in FILE_KEYS:
            yield here, value
        yield from _file_keys(value, here)


def _came(folder: Path | None, value: Any) -> bool:
    """Return whether a file was sent with the scenario, without accessing the disk."""
    return folder is not None and Path(str(value)).name == value and value in os.listdir(folder)


def put(data: dict[str, Any], steps: list[str], value: Any) -> None:
    """Set a value at a path; the short form of a table becomes that table. ``None`` removes the value."""
    table = data
    for step in steps[:-1]:
        inner = table.get(step)
        table[step] = inner if isinstance(inner, dict) else {} if inner is None else {"kind": inner}
        table = table[step]
    if value is None:
        table.pop(steps[-1], None)
    else:
        table[steps[-1]] = value


def _different(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return the differences of two fabrics as a short text."""
    ours, theirs = (
        {path: value for path, value in _flat(data) if path[0] in FABRIC} for data in (one, other)
    )
    words = [f"{path[-1]} = {_word(value)}" for path, value in ours.items() if theirs.get(path) != value]
    return ", ".join(words[:2]) or "second"


def _flat(data: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not isinstance(data, Mapping):
        yield path, data
        return
    for name, value in data.items():
        yield from _flat(value, (*path, name))


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
