"""Sizes that are written in flits, "5 flits", as the bytes that these carry, and times in cycles."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from fabriloom import units
from fabriloom.technology.presets import presets

_FLITS = re.compile(r"\s*(\d{1,7})\s*flits?\s*")
_CYCLE = re.compile(r"\s*(\d{1,12})\s*cycles?\s*")
_SECTIONS = ("traffic", "protocol", "program", "run", "fault")
"""The sections with sizes of packets and messages, and with times."""


def in_bytes(data: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with the sizes of packets and messages in bytes, and times in ps, if its technology
    counts flits and cycles.
    """
    technology = data.get("technology")
    flit = size_of(technology, "flit")
    if flit is None or technology is None:
        return data
    cycle = technology.get("cycle", presets()[technology["preset"]].entries["cycle"].value)
    try:
        sizes = units.parse_bytes(flit), units.parse_cycle_ps(cycle)
    except units.UnitError:
        return data
    return {**data, **{name: _sized(data[name], *sizes) for name in _SECTIONS if name in data}}


def size_of(technology: Any, name: str) -> str | None:
    """Return a size of a technology, as written or of the preset; None: there is none, or none to be read."""
    if not isinstance(technology, dict) or not isinstance(technology.get("preset"), str):
        return None
    preset = presets().get(technology["preset"])
    usual = preset.entries.get(name) if preset else None
    try:
        size = technology.get(name, usual.value if usual else None)
        return size if size is not None and units.parse_bytes(size) else None
    except units.UnitError:
        return None


def _sized(value: Any, flit_bytes: int, cycle_ps: int | Fraction) -> Any:
    if isinstance(value, dict):
        return {key: _sized(inner, flit_bytes, cycle_ps) for key, inner in value.items()}
    if isinstance(value, list):
        return [_sized(inner, flit_bytes, cycle_ps) for inner in value]
    if isinstance(value, str) and (flits := _FLITS.fullmatch(value)):
        return units.format_bytes(int(flits[1]) * flit_bytes)
    if isinstance(value, str) and (cycles := _CYCLE.fullmatch(value)):
        return f"{round(int(cycles[1]) * cycle_ps)} ps"
    return value


# What to write instead of a setting of links of characters where times are cycles and sizes are flits.
_CYCLES = {
    "link_rate": "cycle",
    "decode_latency": "router_cycles",
    "forward_latency": "forward_cycles",
    "turn_around": "turn_around_cycles",
    "handover": "handover_cycles",
    "input_buffer": "input_buffer_flits",
    "output_buffer": "output_buffer_flits",
    "credit_quantum": "credit_quantum_flits",
    "disconnect": "disconnect_cycles",
    "restart": "restart_cycles",
    "watchdog": "watchdog_cycles",
}
"""Settings of links of characters, and those of links of flits that say the same."""


def in_cycles(name: str, table: Any, written: str) -> str:
    """Return what to write for a setting where times are cycles and sizes flits; empty for others.

    ``written``: the word that the table has for it.
    """
    preset = table.get("preset") if isinstance(table, dict) else None
    usual = presets().get(preset) if isinstance(preset, str) else None
    if usual is None or "cycle" not in usual.entries or name not in _CYCLES:
        return ""
    value = table.get(written)
    flit = table.get("flit", usual.entries["flit"].value)
    of_rate = name == "link_rate"
    offer = "write cycle and flit" if of_rate else f"write {_CYCLES[name]}"
    try:
        flit_bytes = units.parse_bytes(flit)
        if of_rate:
            cycle_ps = 8 * 10**12 * flit_bytes / Fraction(units.parse_rate_bits_per_s(value))
            offer = f'write cycle = "{units.format_cycle(cycle_ps)}", with a flit of {flit}'
            if "flit" not in table and cycle_ps == units.parse_cycle_ps(usual.entries["cycle"].value):
                offer = "this is the rate of the preset: leave it out"
        elif _CYCLES[name].endswith("_flits"):
            offer += f" = {-(-units.parse_bytes(value) // flit_bytes)}, of {flit} each"
    except units.UnitError:
        pass
    counts = "a link of {} sends a flit in a cycle" if of_rate else "{} counts in cycles and flits"
    return f"{counts.format(preset)}: {offer}"
