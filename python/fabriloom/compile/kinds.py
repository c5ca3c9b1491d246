"""The kinds of networks, each compiled by one class."""

from __future__ import annotations

from collections.abc import Callable

from ..scenario import Scenario
from ..topology import Graph
from .links import LinkParts
from .rings import RingParts

Parts = LinkParts | RingParts
"""The compiled network; one class per kind."""
KINDS: dict[str, Callable[[Scenario, Graph], Parts]] = {"links": LinkParts, "rings": RingParts}
"""What makes the compiled network, by ``Graph.kind``."""
