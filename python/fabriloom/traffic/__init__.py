"""Traffic: sources, destinations, lengths and times of packets, as columns for the engine."""

from fabriloom.traffic.build import build, silent
from fabriloom.traffic.demand import (
    Demand,
    Payload,
    demand,
    flows_at,
    given_lengths,
    lengths,
    mean_length,
    passed,
    sends_evenly,
    to_all,
)
from fabriloom.traffic.kinds import TrafficError
from fabriloom.traffic.pairs import exchanging

__all__ = ["Demand", "Payload", "TrafficError", "build", "demand", "exchanging", "flows_at"]
__all__ += ["given_lengths", "lengths", "mean_length", "passed", "sends_evenly", "silent", "to_all"]
