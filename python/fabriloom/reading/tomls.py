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
    tables = {name: value for name, value in data.items() if isinstance(value, Mapping)}
    lines = [f"{_key(name)} = {toml_value(value)}" for name, value in data.items() if name not in tables]
    for name, table in tables.items():
        if table:  # its tables are written inline
            lines += ["", f"[{_key(name)}]"]
            lines += [f"{_key(key)} = {toml_value(value)}" for key, value in table.items()]
    return "\n".join(lines).lstrip("\n") + "\n"


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
