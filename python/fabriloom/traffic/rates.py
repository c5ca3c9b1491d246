"""Convert rates of payload or packets to packets per grain."""

from __future__ import annotations

from fabriloom import units
from fabriloom.traffic.errors import TrafficError

_PS_PER_S = 1e12


def packets_per_grain(rate: str, mean_bytes: float, grain_ps: float, parameter: str) -> float:
    """Return packets per grain at a rate such as "120 Mbit/s" or "20000 packets/s", given their mean
    payload.
    """
    amount, of_packets = units.parse_offered_rate(rate)
    if of_packets:
        return float(amount) / 1000 * grain_ps / _PS_PER_S
    if mean_bytes <= 0:
        message = "packets of 0 B carry no payload"
        raise TrafficError(message, parameter, "give a rate in packets/s")
    return float(amount) / (8 * mean_bytes) * grain_ps / _PS_PER_S
