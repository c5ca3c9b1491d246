"""Presets, read from ``presets.toml``, and how settings of a user change one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from fabriloom import units
from fabriloom.technology.model import Technology, TechnologyError

KINDS = ("given", "calibrated", "assumed")


@dataclass(frozen=True)
class Entry:
    """One number of a preset: the value as written, how it is known, and from where."""

    value: Any
    kind: str
    source: str


@dataclass(frozen=True)
class Preset:
    """A named set of numbers."""

    name: str
    title: str
    about: str
    base: str | None
    entries: Mapping[str, Entry]


_PARSERS: dict[str, tuple[str, Any]] = {
    "link_rate": ("link_rate_bits_per_s", units.parse_rate_bits_per_s),
    "character_bytes": ("character_bytes", units.parse_bytes),
    "credit_quantum": ("credit_quantum_bytes", units.parse_bytes),
    "input_buffer": ("input_buffer_bytes", units.parse_bytes),
    "output_buffer": ("output_buffer_bytes", units.parse_bytes),
    "header": ("header_bytes", units.parse_bytes),
    "via_header": ("via_header_bytes", units.parse_bytes),
    "decode_latency": ("decode_latency_ps", units.parse_time_ps),
    "forward_latency": ("forward_latency_ps", units.parse_time_ps),
    "receiver_latency": ("receiver_latency_ps", units.parse_time_ps),
    "turn_around": ("turn_around_ps", units.parse_time_ps),
    "cable_length": ("cable_length_m", units.parse_length_m),
    "cable_delay": ("cable_delay_ps_per_m", units.parse_delay_ps_per_m),
    "cycle": ("cycle_ps", units.parse_time_ps),
    "flit": ("flit_bytes", units.parse_bytes),
}
"""Written name: name with its unit, and its reader. Names that are not here stand for themselves."""


@cache
def presets() -> Mapping[str, Preset]:
    """All presets by name, each with every number filled in."""
    text = resources.files("fabriloom.technology").joinpath("presets.toml").read_text("utf-8")
    found: dict[str, Preset] = {}
    for name, table in tomllib.loads(text).items():
        base = table.pop("base", None)
        title, about = table.pop("title"), table.pop("about")
        entries = dict(found[base].entries) if base else {}
        for key, entry in table.items():
            if set(entry) != {"value", "kind", "source"} or entry["kind"] not in KINDS:
                raise TechnologyError(f"preset {name}: {key} needs value, kind and source", key)
            entries[key] = Entry(entry["value"], entry["kind"], entry["source"])
        found[name] = Preset(name, title, about, base, entries)
    return found


def settings(preset: str) -> dict[str, Any]:
    """The numbers of a preset under their names with units: ``link_rate_bits_per_s``, ``header_bytes``, …"""
    if preset not in presets():
        near = units.nearest(preset, list(presets()))
        hint = (f'did you mean "{near}"? ' if near else "") + "presets: " + ", ".join(presets())
        raise TechnologyError(f'unknown preset "{preset}"', "preset", hint)
    values = {}
    for key, entry in presets()[preset].entries.items():
        name, parse = _PARSERS.get(key, (key, None))
        values[name] = parse(entry.value) if parse else entry.value
    return values


def technology(preset: str, overrides: Mapping[str, Any] | None = None) -> Technology:
    """A preset, with some of its settings replaced.

    ``overrides`` uses the names of :func:`settings` (``{"link_rate_bits_per_s": 50_000_000}``); a value of
    None leaves the preset's. Raises :class:`TechnologyError` for unknown names and impossible values.
    """
    values = settings(preset)
    for name, value in (overrides or {}).items():
        if name not in values:
            near = units.nearest(name, list(values))
            hint = f'did you mean "{near}"?' if near else "settings: " + ", ".join(values)
            raise TechnologyError(f'preset {preset} has no setting "{name}"', name, hint)
        if value is not None:
            values[name] = value
    return _generic(values) if "cycle_ps" in values else _characters(preset, values)


def _characters(preset: str, values: dict[str, Any]) -> Technology:
    size = values["character_bytes"]
    for name in ("credit_quantum", "input_buffer", "output_buffer", "header", "via_header"):
        values[f"{name}_chars"] = values.pop(f"{name}_bytes") // size
    return Technology(preset=preset, **values)


def _generic(values: dict[str, Any]) -> Technology:
    """A character is a flit; the tail flit is the end of packet; the head flit carries the route.

    A flit of F bits per cycle of T is a link of F/T bit/s. Credits return on wires of their own. A flit is
    usable ``link_cycles`` after it started, one of which is its own time on the wire.
    """
    cycle_ps, flit_bits = values["cycle_ps"], 8 * values["flit_bytes"]
    for name, value in (("cycle", cycle_ps), ("flit", flit_bits), ("link_cycles", values["link_cycles"])):
        if value < 1:
            raise TechnologyError(f"{name} must be above zero", name, "give it a positive value")
    rate, rest = divmod(flit_bits * 10**12, cycle_ps)
    if rest:
        message = f"a flit of {flit_bits} bits in {cycle_ps} ps is not a whole number of bits per second"
        raise TechnologyError(message, "cycle", 'choose a cycle such as "1 ns" or "500 ps"')
    return Technology(
        preset="generic",
        link_rate_bits_per_s=rate,
        data_bits=flit_bits,
        end_bits=flit_bits,
        flow_control_bits=0,
        character_bytes=values["flit_bytes"],
        end_carries_data=True,
        credit_quantum_chars=values["credit_quantum_flits"],
        input_buffer_chars=values["input_buffer_flits"],
        output_buffer_chars=values["output_buffer_flits"],
        header_chars=0,
        via_header_chars=1,
        delete_header=False,
        decode_latency_ps=values["router_cycles"] * cycle_ps,
        forward_latency_ps=0,
        receiver_latency_ps=(values["link_cycles"] - 1) * cycle_ps,
        turn_around_ps=values["turn_around_cycles"] * cycle_ps,
        cable_length_m=0.0,
        cable_delay_ps_per_m=0,
        crossbar=values["crossbar"],
        flow_control="ignored",
        arbiter=values["arbiter"],
        group_choice=values["group_choice"],
    )
