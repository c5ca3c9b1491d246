"""Load a scenario: file, overrides, schema, checks. Every mistake becomes one error with its place."""

from __future__ import annotations

import copy
import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from fabriloom import reading, units
from fabriloom.reading import ReadError
from fabriloom.reading.jsons import DEEPEST
from fabriloom.reading.texts import refused_in
from fabriloom.scenario.checks import check
from fabriloom.scenario.errors import Path, Place, ScenarioError
from fabriloom.scenario.read import mistake_in, read
from fabriloom.scenario.resolve import files
from fabriloom.scenario.schema import Scenario, with_preset
from fabriloom.scenario.sections.study import OTHERS
from fabriloom.scenario.source import Override, SourceMap
from fabriloom.scenario.studies import alone, tried
from fabriloom.topology import Graph, GraphError
from fabriloom.topology.node_link import table_of

# Presets from files: measured and fitted presets work like built-in ones.

SECTIONS = ("technology", "protocol")
KEY = "preset_file"
FILE_KEYS = ("path", KEY)
"""Settings that name files; callers that must not open files look for these."""
_MOST_BYTES = 1 << 22
_ENTRY = {"value", "kind", "source"}
KINDS = ("given", "calibrated", "assumed", "measured")


def with_files(data: Any, source: SourceMap, base_dir: FilePath) -> Any:
    """Return the data with the values of the preset files that they name; written settings keep their value.

    Raises :class:`ScenarioError` for a file that is not a preset.
    """
    if not isinstance(data, dict):
        return data
    for section in SECTIONS:
        table = data.get(section)
        if isinstance(table, dict) and isinstance(table.get(KEY), str):
            found = _read(base_dir / table[KEY], section, source)
            own = {name: value for name, value in table.items() if name != KEY}
            data = {**data, section: {**found, **own}}
    return data


def _read(path: FilePath, section: str, source: SourceMap) -> dict[str, Any]:
    """Return the values of a section of a preset file."""

    def wrong(message: str, hint: str) -> ScenarioError:
        at = (section, KEY)
        return ScenarioError(f"{path}: {message}", at, hint, source.place(at), source.file)

    try:
        text = reading.text_of(reading.content(path, _MOST_BYTES, "4 MB", "name a preset"), str(path))
        if mistake_in(text) is not None:
            raise wrong("this is no TOML", "name a file that fabriloom fit has written")
        tables = tomllib.loads(text)
    except ReadError as error:
        raise wrong(error.message, error.hint) from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        raise wrong("this is no TOML", "name a file that fabriloom fit has written") from None
    table = tables.get(section)
    if not isinstance(table, dict):
        near = units.nearest(section, list(tables))
        hint = f"is [{near}] meant?" if near else "name a file that fabriloom fit has written"
        raise wrong(f"there is no table [{section}] in it", hint)
    for name, entry in table.items():
        if not isinstance(entry, dict) or set(entry) != _ENTRY or entry["kind"] not in KINDS:
            message = f"{section}.{name} needs value, kind and source"
            raise wrong(message, "see the presets in the documentation")
    return {name: entry["value"] for name, entry in table.items()}


_SHORT = {("traffic", "pattern"): "kind", ("traffic", "arrivals"): "kind", ("traffic", "length"): "value"}


def load(path: FilePath | str, overrides: Iterable[str] = ()) -> Scenario:
    """Read a scenario file. ``overrides`` are ``path=value`` strings as given to ``--set``.

    Raises :class:`ScenarioError`, whose ``str()`` is the whole message: file, line, caret, and what to do.
    """
    file = FilePath(path)
    data, source = read(file)
    data, source = overridden(data, source, overrides)
    return build(data, source, file.parent)


def from_dict(data: Mapping[str, Any], base_dir: FilePath | str | None = None) -> Scenario:
    """Make a scenario from a dictionary of the same form as a file. Raises :class:`ScenarioError`."""
    return build(_plain(data), SourceMap(), FilePath(base_dir or "."))


def with_settings(scenario: Scenario, settings: Mapping[str, Any]) -> Scenario:
    """See :meth:`Scenario.with_settings`."""
    if set(settings) == {"seed"} and (made := _with_seed(scenario, settings["seed"])) is not None:
        return made
    data, done = _copied(scenario.raw), []
    for key, value in settings.items():
        place = _tried_at(scenario, str(key), _plain(value))
        override = Override.of(str(key), _written(value), "the setting ", place)
        done.append(_set(data, override, _plain(value)))
    source = replace(scenario.source, overrides=(*scenario.source.overrides, *done))
    made = build(data, source, scenario.base_dir)
    if not (made.sweep or made.variants):
        made._tried = scenario._tried
    return made


def _with_seed(scenario: Scenario, seed: Any) -> Scenario | None:
    """Change the seed alone, as replications do: no check depends on it. None if it may be no legal one."""
    if type(seed) is not int or not 0 <= seed < 2**63 or scenario.sweep or scenario.variants:
        return None
    override = Override.of("seed", str(seed), "the setting ", _tried_at(scenario, "seed", seed))
    source = replace(scenario.source, overrides=(*scenario.source.overrides, override))
    made = scenario.model_copy(update={"seed": seed})
    made._read_from({**scenario.raw, "seed": seed}, source, scenario.base_dir)
    for name in ("resolved", "sha256"):
        vars(made).pop(name, None)
    if "resolved" in vars(scenario) and not files(scenario):
        vars(made)["resolved"] = {**scenario.resolved, "seed": seed}
    return made


def _copied(value: Any) -> Any:
    """Copy plain dictionaries and lists; many times as fast as a deep copy of anything."""
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _tried_at(scenario: Scenario, key: str, value: Any) -> Place | None:
    """Return the place of a value that the scenario's own sweep or variants try."""
    if scenario._tried is None:
        return None
    data, source = scenario._tried
    for name, settings in data.get("variants", {}).items():
        if key in settings and settings[key] == value:
            return source.place(("variants", name, key))
    values = data.get("sweep", {}).get(key)
    if isinstance(values, list) and value in values:
        return source.place(("sweep", key, values.index(value)))
    return None if values is None or isinstance(values, list) else source.place(("sweep", key))


def _written(value: Any) -> str:
    """Write a value from Python as it would appear after ``--set``."""
    text = str(value)
    return text if len(text) <= 200 else text[:197] + "..."


def points(scenario: Scenario) -> Iterator[tuple[dict[str, Any], Scenario]]:
    """See :meth:`Scenario.points`."""
    base = copy.copy(scenario)
    base._raw = alone(scenario.raw)
    names = list(scenario.sweep)
    for values in itertools.product(*scenario.sweep.values()):
        settings = dict(zip(names, values, strict=True))
        yield settings, with_settings(base, settings)


def build(data: dict[str, Any], source: SourceMap, base_dir: FilePath) -> Scenario:
    """Make a scenario from data and the source that gives their places. Raises :class:`ScenarioError`."""
    try:
        _check_characters(data, source)
        scenario = Scenario.model_validate(with_files(data, source, base_dir))
    except ValidationError as error:
        from fabriloom.scenario.translate import translate

        raise translate(error, with_preset(data), source) from None
    except RecursionError:
        raise ScenarioError("nested too deeply", file=source.file) from None
    scenario._read_from(data, source, base_dir)
    check(scenario)
    for settings, place, within in tried(scenario):
        _check_tried(scenario, settings, place, within)
    if scenario.sweep or scenario.variants:
        scenario._tried = {name: data[name] for name in ("sweep", "variants") if name in data}, source
    return scenario


def _check_characters(value: Any, source: SourceMap, path: Path = ()) -> None:
    """Refuse control characters; line breaks are allowed except in names."""
    if isinstance(value, str):
        if found := refused_in(value, lines=path != ("name",)):
            message = f"the character {found} is not printable"
            raise ScenarioError(message, path, "leave it out", source.place(path), source.file)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if found := refused_in(key):
                message = f"the key holds the character {found}, which is not printable"
                raise ScenarioError(message, path, "leave it out", source.place(path, key=True), source.file)
            _check_characters(inner, source, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_characters(inner, source, (*path, index))


def _check_tried(scenario: Scenario, settings: Mapping[str, Any], place: Path, within: Path) -> None:
    """Check that paths are settings and that values are legal there; see :data:`~.studies.Tried`."""
    data, key = copy.deepcopy(alone(scenario.raw)), ""
    of = f'variant "{place[1]}": ' if place[0] == "variants" else ""
    try:
        for key, value in settings.items():
            if key.partition(".")[0] in OTHERS:
                message = f"{place[0]} cannot change the {key.partition('.')[0]}"
                raise ScenarioError(message, hint="name a setting")
            _set(data, Override.of(key, ""), _plain(value))
        Scenario.model_validate(with_files(data, SourceMap(), scenario.base_dir))
        return
    except ScenarioError as mistake:
        raise scenario.error(of + mistake.message, (*place, key), mistake.hint, key=True) from None
    except ValidationError as error:
        from fabriloom.scenario.translate import translate

        found = translate(error, with_preset(data), SourceMap())
    path = found.path or ()
    for key in settings:
        here = tuple(key.split("."))
        if path[: len(here)] == here and not (found.unknown_key and path == here):
            raise scenario.error(of + found.message, (*place, key, *within), found.hint) from None
        if here[: len(path)] == path:
            raise scenario.error(of + found.message, (*place, key), found.hint, key=True) from None
    *above, last = map(str, path or ("",))
    table, kind = ".".join(above), ".".join((*above, "kind"))
    if found.unknown_key and kind in settings:
        message = f'{kind} = "{settings[kind]}" has no "{last}", which [{table}] gives'
        hint = f'write the whole table: {table} = {{ kind = "{settings[kind]}", … }}'
        raise scenario.error(of + message, (*place, kind), hint, key=True) from None
    if of:  # the values of a sweep may be right in combination only, those of a variant stand together
        raise scenario.error(of + found.message, place, found.hint, key=True) from None


def overridden(
    data: dict[str, Any], source: SourceMap, overrides: Iterable[str]
) -> tuple[dict[str, Any], SourceMap]:
    """Return the data after the overrides ``path=value``, and their places. Raises :class:`ScenarioError`."""
    done: list[Override] = []
    for text in [overrides] if isinstance(overrides, str) else overrides:
        key, equals, value = text.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not all(key.split(".")):
            hint = "write path=value, such as traffic.load=0.5"
            raise ScenarioError(f'--set "{text[:80]}" is not a setting', None, hint)
        done.append(_set(data, Override.of(key, value), _value(value)))
    return data, replace(source, overrides=tuple(done))


def put(
    data: dict[str, Any], source: SourceMap, key: str, value: Any, origin: str
) -> tuple[dict[str, Any], SourceMap]:
    """Return a copy of the data with a value at a dotted path, and its place. ``origin``: text of messages
    before ``path=value``. Raises :class:`ScenarioError`."""
    data = copy.deepcopy(data)
    override = _set(data, Override.of(key, _written(value), origin), _plain(value))
    return data, replace(source, overrides=(*source.overrides, override))


def _value(text: str) -> Any:
    """Parse a value as TOML; if it is not TOML, return the text as a string."""
    if mistake_in(f"value = {text}") is not None:
        return text
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return table["value"] if list(table) == ["value"] else text


def _set(data: dict[str, Any], override: Override, value: Any) -> Override:
    """Set a value at a dotted path and create missing tables. Returns the override with its path in the data.

    A string that is the short form of a table is first replaced by that table.
    """
    if len(override.path) > DEEPEST:
        message = f"a path of {len(override.path)} steps"
        hint = "no setting is so deep; see `fabriloom schema` for the settings"
        raise ScenarioError(message, None, hint)
    table: Any = data
    path: list[str | int] = []
    step: Any
    for depth, step in enumerate(override.path):
        if isinstance(table, list):
            if not str(step).isdecimal() or int(step) >= len(table):
                raise _no_table(override, depth, f"a list of {len(table)}, count from 0")
            step = int(step)
        elif not isinstance(table, dict):
            raise _no_table(override, depth, "a single value")
        path.append(step)
        if depth == len(override.path) - 1:
            table[step] = value
            break
        inner = table[step] if isinstance(table, list) else table.setdefault(step, {})
        short = _SHORT.get(override.path[: depth + 1])  # type: ignore[call-overload]
        if short and isinstance(inner, str):
            inner = {"kind": "fixed", short: inner} if short == "value" else {short: inner}
            table[step] = inner
        table = inner
    return replace(override, path=tuple(path))


def _no_table(override: Override, depth: int, what: str) -> ScenarioError:
    path: Path = override.path[:depth]
    name = ".".join(str(step) for step in path)
    place = override.place(override.path[: depth + 1], True)
    return ScenarioError(f"{name} is {what}", override.path, "see `fabriloom schema` for the settings", place)


def _plain(value: Any) -> Any:
    """Copy tables and lists of any kind to plain dictionaries and lists, and a graph to its table."""
    if isinstance(value, Graph):
        try:
            return table_of(value)
        except GraphError as error:
            raise ScenarioError(str(error), ("topology",)) from None
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    for convert in ("tolist", "to_list", "item"):  # of NumPy, which also has the last, and of Polars
        if hasattr(value, convert):
            return _plain(getattr(value, convert)())
    return value
