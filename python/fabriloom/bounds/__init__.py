"""An upper bound on the delay of every flow, and a search for the longest delay.

``docs/background/worst-case.md`` describes the method.
"""

from .calculus import Line
from .computed import bound, of_few_flows, promises_of
from .found import Bounds, Promise
from .wires import STARVED

__all__ = ["STARVED", "Bounds", "Line", "Promise", "bound", "of_few_flows", "promises_of"]
