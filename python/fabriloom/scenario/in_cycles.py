"""What to write instead of a setting of links of characters where times are cycles and sizes are flits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fabriloom import units
from fabriloom.technology.presets import presets

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


def in_cycles(name: str, table: Any) -> str:
    """Return what to write for a setting where times are cycles and sizes flits; empty for others."""
    preset = table.get("preset") if isinstance(table, dict) else None
    usual = presets().get(preset) if isinstance(preset, str) else None
    if usual is None or "cycle" not in usual.entries or name not in _CYCLES:
        return ""
    value = table.get(name)
    if name != "link_rate":
        return f"{preset} counts in cycles and flits: write {_CYCLES[name]}"
    offer = "write cycle and flit"
    try:
        flit = table.get("flit", usual.entries["flit"].value)
        cycle_ps = 8 * 10**12 * units.parse_bytes(flit) / Fraction(units.parse_rate_bits_per_s(value))
        offer = f'write cycle = "{units.format_cycle(cycle_ps)}", with a flit of {flit}'
    except units.UnitError:
        pass
    return f"a link of {preset} sends a flit in a cycle: {offer}; 100 Gbit/s is the preset infiniband-4x-edr"
