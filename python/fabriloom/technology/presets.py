"""Presets, read from ``presets.toml``, and their changes by a user."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from fabriloom import units
from fabriloom.technology import clocks
from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.lanes import TURNS, LaneRules
from fabriloom.technology.model import Ps, Technology, exact_ps
from fabriloom.technology.pause import SHARED, shared_buffer

if TYPE_CHECKING:
    from fabriloom.technology.rings import RingTechnology

KINDS = ("given", "counted", "calibrated", "assumed")


@dataclass(frozen=True)
class Entry:
    """One value of a preset: as written, with its kind and its source."""

    value: Any
    kind: str
    source: str


@dataclass(frozen=True)
class Preset:
    """A named set of values."""

    name: str
    title: str
    about: str
    base: str | None
    entries: Mapping[str, Entry]


_UNITS: tuple[tuple[str, Any, str], ...] = (
    ("bits_per_s", units.parse_byte_rate_bits_per_s, "link_rate read_rate bus.rate"),
    (
        "bytes",
        units.parse_bytes,
        "credit_quantum credit_limit input_buffer output_buffer header via_header receive_buffer "
        "mtu overhead flit request_header response_header echo symbol slot send_idle echo_idle bus.width "
        "token.length bus.encapsulation packet small_packet small_below ahead control_word next_address "
        "eager_limit announcement unexpected_buffer",
    ),
    (
        "ps",
        units.parse_time_ps,
        "decode_latency forward_latency receiver_latency handover turn_around disconnect restart "
        "time_code_forward interrupt_hold watchdog bypass_latency receive_latency "
        "transmit_latency interface_latency host_latency timeout echo_timeout closed_for "
        "retry.delay token.rotation bus.setup memory.access memory.block send_time receive_time packet_time "
        "byte_time bus_packet_time bus_byte_time send_gap_time receive_gap_time ack_time "
        "resume_time check_time resend_after",
    ),
    ("millihz", units.parse_event_rate_millihz, "clock router_clock"),
    ("bits_per_s", units.parse_rate_bits_per_s, "highest_rate start_rate"),
    ("m", units.parse_length_m, "cable_length"),
    ("ps_per_m", units.parse_delay_ps_per_m, "cable_delay"),
    ("ps", units.parse_cycle_ps, "cycle"),
)
"""Unit in a name, parser, and the settings with it, as they are written."""
_PARSERS: dict[str, tuple[str, Any]] = {
    "character_bytes": ("character_bytes", units.parse_bytes),
    "shortest_packet": ("least_bytes", units.parse_bytes),
    **{
        name: (f"{name.replace('.', '_')}_{unit}", parse)
        for unit, parse, names in _UNITS
        for name in names.split()
    },
}
"""Written name: name with its unit, and its parser. Other names stay unchanged, with dots as underscores."""


_CLOCKED = ("router_latency", "router_clock_millihz", "router_switching", "router_receive")
"""Optional settings of character links."""
_CODES = (
    "time_code_bits", "time_code_latency", "time_code_jitter", "time_code_forward_ps", "interrupt_hold_ps",
)  # fmt: skip
"""Optional settings of time-codes and interrupts."""
_NUMBERS = ("first_port", "last_port", "first_address", "last_address")
"""Optional limits of the ports and addresses of switches."""
_START = ("start_rate_bits_per_s",)
"""Optional setting of the start of links."""
_STAGES = (
    "input_cycles", "broadcast_flits", "broadcast_cycles", "broadcast_hold_cycles", "drop_when_full", *SHARED,
)  # fmt: skip
"""Optional settings of links of flits."""
_PARTS = {
    "router_latency": ("decode_latency", "forward_latency"),
    "time_code_latency": ("time_code_forward",),
}
"""Settings of which others are parts: these are derived from them if they are given."""


def without_parts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by the names in files, without those that are parts of others."""
    parts = {part for whole, parts in _PARTS.items() if values.get(whole) for part in parts}
    return {name: value for name, value in values.items() if name not in parts}


def presets() -> Mapping[str, Preset]:
    """Return all presets of links and rings by name, complete with inherited values."""
    return read("presets.toml")


@cache
def read(file: str) -> Mapping[str, Preset]:
    """Return the presets of a file of this package by name, complete with inherited values."""
    return _Presets(resources.files("fabriloom.technology").joinpath(file).read_text("utf-8"))


class _Presets(Mapping[str, Preset]):
    """The presets of a file, each read when it is first asked for: a network has one or two of them."""

    def __init__(self, text: str) -> None:
        _, *parts = re.split(r"^\[(.+)\]$", text, flags=re.MULTILINE)
        self._texts = dict(zip(parts[::2], parts[1::2], strict=True))
        self._read: dict[str, Preset] = {}

    def __getitem__(self, name: str) -> Preset:
        if name not in self._read:
            self._read[name] = self._preset(name, tomllib.loads(self._texts[name]))
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def _preset(self, name: str, table: dict[str, Any]) -> Preset:
        base = table.pop("base", None)
        title, about = table.pop("title"), table.pop("about")
        entries = dict(self[base].entries) if base else {}
        for key, entry in _entries(table):
            if set(entry) != {"value", "kind", "source"} or entry["kind"] not in KINDS:
                raise TechnologyError(f"preset {name}: {key} needs value, kind and source", key)
            entries[key] = Entry(entry["value"], entry["kind"], entry["source"])
        return Preset(name, title, about, base, without_parts(entries))


def _entries(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return settings with their entries; those of inner tables get dotted names."""
    for key, entry in table.items():
        if "value" in entry:
            yield key, entry
        else:
            yield from ((f"{key}.{inner}", value) for inner, value in entry.items())


def is_ring(preset: str) -> bool:
    return preset in presets() and "echo" in presets()[preset].entries


def settings(preset: str) -> dict[str, Any]:
    """Return the values of a preset by their names with units: ``link_rate_bits_per_s``, ``header_bytes``,
    …
    """
    if preset not in presets():
        near = units.nearest(preset, list(presets()))
        hint = (f'did you mean "{near}"? ' if near else "") + "presets: " + ", ".join(presets())
        raise TechnologyError(f'unknown preset "{preset}"', "preset", hint)
    return dict(_numbers(preset))


@cache
def _numbers(preset: str) -> dict[str, Any]:
    return values_of(presets()[preset])


def values_of(preset: Preset) -> dict[str, Any]:
    """Return the numbers of a preset under their names with units."""
    values = {}
    for key, entry in preset.entries.items():
        name, parse = _PARSERS.get(key, (key.replace(".", "_"), None))
        values[name] = parse(entry.value) if parse else entry.value
    return values


def technology(preset: str, overrides: Mapping[str, Any] | None = None) -> Technology:
    """Return the technology of a preset of links, with some settings replaced.

    ``overrides``: values by the names of :func:`settings` (``{"link_rate_bits_per_s": 50_000_000}``); None
    keeps the preset's value. Raises :class:`TechnologyError` for unknown names and impossible values.
    """
    _check_latency(preset, overrides or {})
    values = _replaced(preset, overrides)
    if is_ring(preset):
        message = f'preset "{preset}" is of rings'
        raise TechnologyError(message, "preset", "presets of links: " + _names(False))
    return _generic(preset, values) if "cycle_ps" in values else _characters(preset, values)


def _check_latency(preset: str, overrides: Mapping[str, Any]) -> None:
    """Raise TechnologyError if both a latency and a part of it are given."""
    for whole, parts in _PARTS.items():
        if overrides.get(whole) or settings(preset).get(whole):
            for part in parts:
                if overrides.get(f"{part}_ps") is not None:
                    raise TechnologyError(f"{part} is a part of {whole}", part, "keep one of the two")


def ring_technology(preset: str, overrides: Mapping[str, Any] | None = None) -> RingTechnology:
    """Return the technology of a preset of rings, with settings replaced as in :func:`technology`."""
    values = _replaced(preset, overrides)
    if not is_ring(preset):
        message = f'preset "{preset}" is not of rings'
        raise TechnologyError(message, "preset", "presets of rings: " + _names(True))
    from fabriloom.technology.rings import RingTechnology

    return RingTechnology(preset=preset, **values)


def _names(ring: bool) -> str:
    return ", ".join(name for name in presets() if is_ring(name) == ring)


def _replaced(preset: str, overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    values = settings(preset)
    if "credit_quantum_bytes" in values:
        values = {**dict.fromkeys((*_CLOCKED, *_CODES, *_START, *_NUMBERS)), **values}
    elif "cycle_ps" in values:
        values = {**dict.fromkeys((*_STAGES, *_NUMBERS)), **values}
    elif is_ring(preset):
        from fabriloom.technology.rings import OTHER_RINGS, PORT_PLACES

        values = {**dict.fromkeys(PORT_PLACES), **OTHER_RINGS, **values}
    for name, value in (overrides or {}).items():
        if name not in values:
            near = units.nearest(name, list(values))
            hint = f'did you mean "{near}"?' if near else "settings: " + ", ".join(values)
            raise TechnologyError(f'preset {preset} has no setting "{name}"', name, hint)
        if value is not None:
            values[name] = value
    return values


def _characters(preset: str, values: dict[str, Any]) -> Technology:
    size = values["character_bytes"]
    clocked = {name: values.pop(name) for name in _CLOCKED}
    latency, clock = clocked.pop("router_latency"), clocked.pop("router_clock_millihz")
    idle = clock and "sys" not in (values["time_code_latency"] or "")
    values |= _codes({name: values.pop(name) for name in _CODES}, clock)
    if latency:
        at_clock = values["crossbar"] == "clock"
        values |= clocks.settings(latency, clock, clocked, values["data_bits"], at_clock)
    elif idle or any(clocked.values()):
        name = "router_clock" if idle else next(name for name, part in clocked.items() if part)
        message = f"{name} has no effect without router_latency"
        raise TechnologyError(message, name, 'write router_latency = "5 rx + 8 sys + 23 tx", or remove it')
    elif values["crossbar"] == "clock":
        message = "crossbar = clock counts periods of a router's clock, and there is none"
        raise TechnologyError(message, "crossbar", "give the router_latency of a data sheet, with its clock")
    for name in ("credit_quantum", "input_buffer", "output_buffer", "header", "via_header"):
        values[f"{name}_chars"] = values.pop(f"{name}_bytes") // size
    limit = values.pop("credit_limit_bytes", None)
    values["credit_limit_chars"] = None if limit is None else limit // size
    return Technology(preset=preset, **_without_missing(values))


def _without_missing(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave limits out that are not given."""
    return {name: value for name, value in values.items() if value is not None or name not in _NUMBERS}


def _codes(given: Mapping[str, Any], clock_millihz: int | None) -> dict[str, Any]:
    """Return the settings of time-codes and interrupts; empty for links without them."""
    bits, latency = given["time_code_bits"], given["time_code_latency"]
    if bits is None:
        return {}
    found = {"code_bits": bits, "interrupt_hold_ps": given["interrupt_hold_ps"] or 0}
    if latency is None:
        if given["time_code_jitter"]:
            message = "time_code_jitter has no effect without time_code_latency"
            raise TechnologyError(message, "time_code_jitter", "write time_code_latency, or remove it")
        return {**found, "code_forward_ps": given["time_code_forward_ps"] or 0}
    return {**found, **clocks.code_settings(latency, given["time_code_jitter"], clock_millihz, bits)}


_FLITS = ("credit_quantum", "input_buffer", "pause_above", "pause_until")
_CYCLES = ("handover", "next_head", "disconnect", "restart", "watchdog")
_SAME = (
    "cable_length_m", "cable_delay_ps_per_m", "mtu_bytes", "overhead_bytes", "least_bytes", "crossbar",
    "arbiter", "group_choice", "lanes", "lane_sharing", "lane_arbiter", "switching", "input_queues",
    "fault_stops",
)  # fmt: skip
"""Settings of a generic preset that are flits, cycles, or the same in a technology."""


def _generic(preset: str, values: dict[str, Any]) -> Technology:
    """Convert a generic preset: a character is a flit, the tail flit is the end of packet, and the head flit
    carries the route.

    One flit of F bits per cycle T, on each physical lane, is a link of F/T bit/s. Credits return on separate
    wires of the same length. A flit can be used ``link_cycles`` and the delay of the cable after its start;
    one of these cycles is its own time on the wire. In a switch that takes ``input_cycles`` more.
    """
    cycle_ps, flit_bits = values["cycle_ps"], 8 * values["flit_bytes"]
    for name, value in (("cycle", cycle_ps), ("flit", flit_bits), ("link_cycles", values["link_cycles"])):
        if value < 1:
            raise TechnologyError(f"{name} must be above zero", name, "give it a positive value")
    if values["crossbar"] == "clock":
        message, hint = "crossbar = clock is of routers of characters", "link-rate is one flit per cycle"
        raise TechnologyError(message, "crossbar", hint)
    cycle_ps = exact_ps(Fraction(cycle_ps))
    physical, forward = values["physical_lanes"], values["forward_cycles"]
    receiver_ps = values["link_cycles"] * cycle_ps - exact_ps(Fraction(cycle_ps) / physical)
    stage = values["input_cycles"]
    return Technology(
        preset=preset,
        link_rate_bits_per_s=physical * flit_bits * 10**12 / Fraction(cycle_ps),
        data_bits=flit_bits,
        end_bits=flit_bits,
        flow_control_bits=0,
        character_bytes=values["flit_bytes"],
        end_carries_data=True,
        # Each stage of the pipeline holds a flit, besides the buffer behind it.
        output_buffer_chars=values["output_buffer_flits"] + physical * forward,
        header_chars=0,
        via_header_chars=1,
        delete_header=False,
        decode_latency_ps=values["router_cycles"] * cycle_ps,
        forward_latency_ps=forward * cycle_ps,
        receiver_latency_ps=receiver_ps,
        receive_bits=Fraction(0) if stage else None,
        receive_ps=receiver_ps + stage * cycle_ps if stage else 0,
        turn_around_ps=(values["turn_around_cycles"] + values["link_cycles"]) * cycle_ps,
        grain_ps=exact_ps(Fraction(cycle_ps) / physical),
        flow_control="ignored",
        lane_rules=_lane_rules(values, cycle_ps),
        **_broadcasts(values, cycle_ps),
        **{f"{name}_chars": values[f"{name}_flits"] for name in _FLITS},
        **{f"{name}_ps": values[f"{name}_cycles"] * cycle_ps for name in _CYCLES},
        **{name: values[name] for name in _SAME},
        drop_when_full=bool(values["drop_when_full"]),
        shared=shared_buffer(values),
        **_without_missing({name: values[name] for name in _NUMBERS}),
    )


def _broadcasts(values: dict[str, Any], cycle_ps: Ps) -> dict[str, Any]:
    """Return the settings of broadcasts, which are codes of whole columns; empty for links without them."""
    flits, physical = values["broadcast_flits"], values["physical_lanes"]
    if not flits:
        return {}
    columns = values["frame_start_flits"] + -(-flits // physical) + values["frame_end_flits"]
    return {
        "code_bits": columns * physical * 8 * values["flit_bytes"],
        "code_forward_ps": (values["broadcast_cycles"] or 0) * cycle_ps,
        "interrupt_hold_ps": (values["broadcast_hold_cycles"] or 0) * cycle_ps,
    }


_OF_LINKS = (
    "link_rate_bits_per_s", "flow_control_bits", "flow_control", "receiver_latency_ps", "turn_around_ps",
    "cable_length_m", "cable_delay_ps_per_m", "disconnect_ps", "restart_ps", "start_rate_bits_per_s",
    "fault_stops",
)  # fmt: skip
"""What links of another technology have as they are."""


def in_words(preset: str, network: Technology) -> Technology:
    """Return links of characters in a network whose flits are words of several of them: switches pass words.

    Rate, bits, credit, buffers and delays of the link are those of the preset, in whole words; what is of
    switches is that of the network, as are the stages of their pipelines, which hold a word each.
    """
    own, word = technology(preset), network.character_bytes
    stages = network.forward_latency_ps // (network.grain_ps * network.lane_rules.physical)
    return replace(
        network,
        preset=preset,
        data_bits=word * own.data_bits,
        end_bits=(word - 1) * own.data_bits + own.end_bits,
        padding_bits=own.data_bits,
        credit_quantum_chars=own.credit_quantum_chars // word,
        credit_limit_chars=(own.credit_limit_chars or 0) // word or None,
        input_buffer_chars=own.input_buffer_chars // word,
        output_buffer_chars=own.output_buffer_chars // word + int(stages),
        receive_bits=None,
        receive_ps=0,
        lanes=1,
        lane_sharing="flit",
        lane_arbiter="round-robin",
        lane_rules=TURNS,
        **{name: getattr(own, name) for name in _OF_LINKS},
    )


def unpadded(tech: Technology, length_bytes: float) -> float:
    """Return the characters before the end of packets whose last one is as long as its bytes, on average."""
    return max(length_bytes + tech.overhead_bytes, tech.least_bytes) / tech.character_bytes - 1


def _lane_rules(values: dict[str, Any], cycle_ps: Ps) -> LaneRules:
    return LaneRules(
        frame_chars=values["frame_flits"],
        frame_start_chars=values["frame_start_flits"],
        frame_end_chars=values["frame_end_flits"],
        priority=tuple(values["lane_priority"]),
        reserved=tuple(values["lane_reserved"]),
        credit_limit_chars=values["lane_credit_limit_flits"],
        slots=tuple(values["lane_slots"]),
        slot_chars=values["lane_slot_cycles"],
        high=values["lane_high"],
        low=values["lane_low"],
        high_limit=values["lane_high_limit"],
        physical=values["physical_lanes"],
        spare=values["spare_physical_lanes"],
        realign_ps=values["realign_cycles"] * cycle_ps,
    )
