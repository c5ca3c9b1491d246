"""Traffic: who sends how much to whom, as columns for the engine."""

from fabriloom.traffic.build import build, silent
from fabriloom.traffic.demand import Demand, demand
from fabriloom.traffic.errors import TrafficError

__all__ = ["Demand", "TrafficError", "build", "demand", "silent"]
