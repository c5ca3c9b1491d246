"""The results that depend on the kind of network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology import LINKS, RINGS
from ..topology.graph import Graph
from . import columns, tables
from .columns import runs
from .columns.column import Table
from .limit import Limit, of_links, of_rings


@dataclass(frozen=True)
class Kind:
    """The results of one kind of network."""

    engine: str
    latency_from: str
    latency_to: str
    """The two ends of network latency, in words."""
    links: Table
    limit: Callable[[Mapping[str, Any], Graph, int], Limit]
    """What is nearest to its limit, in a window of ticks."""
    tables: tuple[str, ...] = ()
    """Further tables, by file name."""
    summary: tuple[Table, ...] = ()
    """Further keys of the summary, computed from :class:`rows.RingRows`."""
    points: tuple[Table, ...] = ()
    """Further columns of the points of a study."""
    carried_mbytes_per_s: Callable[[Mapping[str, Any], float], NDArray[np.float64]] | None = None
    """Per link all that it carried, of a window in ns; none where its utilisation says the same."""


KINDS = {
    LINKS: Kind("links", runs.NETWORK_LATENCY_FROM, runs.NETWORK_LATENCY_TO, columns.runs.LINKS, of_links),
    RINGS: Kind(
        "rings",
        runs.RING_LATENCY_FROM,
        runs.RING_LATENCY_TO,
        columns.rings.RING_LINKS,
        of_rings,
        ("buses", "rings"),
        (columns.rings.RING_SUMMARY,),
        (columns.rings.RING_POINTS,),
        lambda native, window_ns: tables.ring_rates(native, window_ns)["all"],
    ),
}
"""By ``Graph.network_kind``."""
