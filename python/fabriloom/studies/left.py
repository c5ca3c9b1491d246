"""What a failure leaves of a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Left:
    """What a failure leaves."""

    kind: str
    name: str
    cut_off: int
    """Ordered pairs of terminals between which nothing arrives; those at a failed switch are left out."""
    lossy: int
    """The same of which some packets do not arrive."""
    delivered_share: float
    """Of the packets of the scenario's traffic, those of terminals at a failed switch included."""
    others_share: float
    """The same of the packets between terminals that are not at a failed switch."""
    bound: dict[str, Any]
    """As ``channel_load`` of ``fabriloom check``."""

    @property
    def rank(self) -> tuple[float, float, str]:
        """The worst first."""
        accepted = self.bound["accepted_mbytes_per_s_bound"] or 0.0
        return (self.delivered_share, accepted, self.name)
