"""The inspection of a network before it runs, one class per kind of network."""

from __future__ import annotations

from ..compile import Compiled
from ..topology import LINKS, RINGS
from .links.inspection import LinkInspection
from .rings.inspection import RingInspection

KINDS = {LINKS: LinkInspection, RINGS: RingInspection}
"""By ``Graph.network_kind``."""


def inspection_of(compiled: Compiled) -> LinkInspection | RingInspection:
    """Return the inspection of a network."""
    return KINDS[compiled.graph.network_kind](compiled)
