"""Traffic: who sends how much to whom, as columns for the engine."""

from fabriloom.traffic.build import build
from fabriloom.traffic.demand import demand
from fabriloom.traffic.errors import TrafficError

__all__ = ["TrafficError", "build", "demand"]
