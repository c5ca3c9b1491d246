"""The effect of a failure on a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Left:
    """The network after a failure."""

    kind: str
    name: str
    cut_off: int
    """Ordered pairs of terminals without a working path, not counting terminals at a failed switch."""
    lossy: int
    """Ordered pairs of terminals that lose a part of their packets, likewise."""
    delivered_share: float
    """Delivered share of the scenario's packets, including those of terminals at a failed switch."""
    others_share: float
    """Delivered share of the packets between terminals that are not at a failed switch."""
    bound: dict[str, Any]
    """Throughput bound, as ``channel_load`` of ``fabriloom check``."""

    @property
    def rank(self) -> tuple[float, float, str]:
        """Return the sort key: the worst failure first."""
        accepted = self.bound["accepted_mbytes_per_s_bound"] or 0.0
        return (self.delivered_share, accepted, self.name)
