"""Studies of many runs: latency against throughput, sweeps over any setting, saturation."""

from .curves import Curve, curve
from .points import Point
from .saturation import Saturation, saturate

__all__ = ["Curve", "Point", "Saturation", "curve", "saturate"]
