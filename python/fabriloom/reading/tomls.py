"""Plain data as the text of a TOML file: the way back, for scenarios that are written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def toml_text(data: Mapping[str, Any]) -> str:
    """Return plain data as TOML: strings, numbers, truth values, lists and tables."""
    lines = [f"{_key(name)} = {toml_value(value)}" for name, value in data.items() if not _is_table(value)]
    for name, table in data.items():
        if _is_table(table) and table:
            lines += ["", *_table(_key(name), table)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _table(name: str, table: Mapping[str, Any]) -> list[str]:
    """Return a section; its tables are written inline."""
    return [f"[{name}]", *(f"{_key(key)} = {toml_value(value)}" for key, value in table.items())]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    # JSON's escapes are valid in TOML, except for the delete character.
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def toml_value(value: Any) -> str:
    """Return a value in one line; any text can be read again."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {toml_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return repr(value)
