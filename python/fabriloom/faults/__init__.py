"""Failures: which links fail, and when each of them is down."""

from .outages import Outage, outages
from .places import FaultError, each_of, links_of, vertices_of
from .rates import drawn, mtbf_of_bits_ps

__all__ = [
    "FaultError",
    "Outage",
    "drawn",
    "each_of",
    "links_of",
    "mtbf_of_bits_ps",
    "outages",
    "vertices_of",
]
