"""Sizes that are written in flits, "5 flits", as the bytes that these carry."""

from __future__ import annotations

import re
from typing import Any

from fabriloom import units
from fabriloom.technology.presets import presets

_FLITS = re.compile(r"\s*(\d{1,7})\s*flits?\s*")
_OF_PACKETS = ("traffic", "protocol", "program")
"""The sections with sizes of packets and messages."""


def in_bytes(data: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with the sizes of packets and messages in bytes, if its technology counts flits."""
    flit_bytes = _flit_bytes(data.get("technology"))
    if not flit_bytes:
        return data
    return {**data, **{name: _sized(data[name], flit_bytes) for name in _OF_PACKETS if name in data}}


def _flit_bytes(technology: Any) -> int:
    """Return the payload of a flit as written or of the preset; 0: there are none, or it cannot be read."""
    preset = technology.get("preset") if isinstance(technology, dict) else None
    usual = presets().get(preset) if isinstance(preset, str) else None
    if usual is None or "flit" not in usual.entries:
        return 0
    try:
        return units.parse_bytes(technology.get("flit", usual.entries["flit"].value))
    except units.UnitError:
        return 0


def _sized(value: Any, flit_bytes: int) -> Any:
    if isinstance(value, dict):
        return {key: _sized(inner, flit_bytes) for key, inner in value.items()}
    if isinstance(value, list):
        return [_sized(inner, flit_bytes) for inner in value]
    if isinstance(value, str) and (flits := _FLITS.fullmatch(value)):
        return units.format_bytes(int(flits[1]) * flit_bytes)
    return value
