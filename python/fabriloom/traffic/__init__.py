"""Traffic: sources, destinations, lengths and times of packets, as columns for the engine."""

from fabriloom.traffic.build import build, silent
from fabriloom.traffic.demand import (
    OWN_LENGTHS,
    Demand,
    Payload,
    demand,
    lengths,
    mean_length,
    sends_evenly,
    to_all,
)
from fabriloom.traffic.kinds import TrafficError
from fabriloom.traffic.pairs import exchanging

__all__ = [
    "OWN_LENGTHS",
    "Demand",
    "Payload",
    "TrafficError",
    "build",
    "demand",
    "exchanging",
    "lengths",
    "mean_length",
    "sends_evenly",
    "silent",
    "to_all",
]
