"""The effect of every single failure of a link or a switch on a network of rings, computed without running
it.

A failure stops its rings, and with them every transaction whose request or response crosses one of them.
Routes stay unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..compile import Compiled, RingParts
from ..routing.rings import ring_segments
from ..traffic import Demand
from .left import Left
from .ring_loads import bound_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_WAYS = 1 << 18
"""Most paths between terminals that are followed: some seconds."""


class RingWays:
    """The rings that each transaction crosses, for many failures."""

    def __init__(self, compiled: Compiled, parts: RingParts) -> None:
        self.compiled, self.parts, self.graph, self.rings = compiled, parts, compiled.graph, parts.rings
        self.tables = parts.port_route.tables()
        self.length_bytes = compiled.mean_packet_bytes
        terminals = self.graph.terminals
        if terminals * terminals * len(self.tables) > MOST_WAYS:
            message = f"the ways between {terminals:,} terminals are too many to follow"
            raise compiled.scenario.error(message, ("topology",), "take a smaller network")
        self.sends, self.receives = (self._are(role) for role in ("sender", "receiver"))
        self.demand = compiled.demand().matrix()
        self.crossed = self._crossed()

    @property
    def count(self) -> int:
        """Ways between terminals, by each table."""
        return len(self.tables) * self.graph.terminals**2

    def _are(self, role: str) -> Bools:
        found = np.zeros(self.graph.terminals, bool)
        found[self.rings.terminals_of(role, self.graph.terminals)] = True
        return found

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Return pairs of a terminal that can send and one that can receive."""
        for source in np.flatnonzero(self.sends):
            yield from (
                (int(source), int(target)) for target in np.flatnonzero(self.receives) if target != source
            )

    def _crossed(self) -> Bools:
        """Return, per table, source, target and ring, whether the request or the response crosses the
        ring.
        """
        terminals = self.graph.terminals
        found = np.zeros((len(self.tables), terminals, terminals, self.rings.rings), bool)
        answered = self.parts.technology.response_bytes(64) > 0
        for number, table in enumerate(self.tables):
            for source, target in self._pairs():
                ways = [(source, target), (target, source)] if answered else [(source, target)]
                for way in ways:
                    segments = ring_segments(self.graph, table, *way)
                    found[number, source, target, self.rings.station_ring[[at for at, _ in segments]]] = True
        return found

    def after(self, kind: str, name: str, dead: Ints) -> Left:
        """Return the network without the rings of these links."""
        down = np.unique(self.rings.station_ring[dead])
        between = 1.0 - self.crossed[:, :, :, down].any(axis=3).mean(axis=0)
        at = np.isin(self.rings.station_ring[self.graph.terminal_out_links], down)
        asked = np.outer(self.sends, self.receives) & ~np.eye(self.graph.terminals, dtype=bool)
        if kind == "switch":
            asked &= ~(at[:, None] | at[None, :])
        total, kept = float(self.demand.sum()), self.demand * between
        theirs = float(self.demand[asked].sum())
        return Left(
            kind,
            name,
            cut_off=int(np.count_nonzero(between[asked] == 0)),
            lossy=int(np.count_nonzero(between[asked] < 1)),
            delivered_share=float(kept.sum()) / total if total else 1.0,
            others_share=float(kept[asked].sum()) / theirs if theirs else 1.0,
            bound=self._bound(kept),
        )

    def _bound(self, kept: NDArray[np.float64]) -> dict[str, object]:
        """Return the bound of the remaining network."""
        source, target = np.nonzero(kept)
        demand = Demand(source, target, kept[source, target], np.zeros(self.graph.terminals))
        return bound_of(self.parts, demand, self.length_bytes)
