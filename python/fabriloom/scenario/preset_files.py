"""Presets from files: measured and fitted presets work like built-in ones."""

from __future__ import annotations

import tomllib
from pathlib import Path as FilePath
from typing import Any

from fabriloom import reading, units
from fabriloom.reading import ReadError
from fabriloom.scenario.errors import ScenarioError
from fabriloom.scenario.read import mistake_in
from fabriloom.scenario.source import SourceMap

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
            raise wrong(
                f"{section}.{name} needs value, kind and source", "see the presets in the documentation"
            )
    return {name: entry["value"] for name, entry in table.items()}
