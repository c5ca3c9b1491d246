"""The effect of a failure on a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-9
"""Shares are sums of fractions: what differs from 0 or 1 by less is 0 or 1."""
LOSSY, CUT_OFF = _ROUNDING, 1 - _ROUNDING
"""Of a pair that loses a larger share, some is lost, or all."""


@dataclass(frozen=True)
class Left:
    """The network after a failure."""

    kind: str
    name: str
    cut_off: int
    """Ordered pairs of terminals of which the first sends to the second, and between which no working path is
    left; pairs with a terminal at a failed switch are not counted."""
    spared: int
    """Of those cut off, the pairs that other ports of both terminals still join: senders notice only failures
    of their own links, and keep to a port that is dead at the other end."""
    lossy: int
    """Of the same pairs, those that lose some of their packets or all."""
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


def left(
    kind: str,
    name: str,
    demand: NDArray[np.float64],
    between: NDArray[np.float64],
    there: NDArray[np.bool_],
    bound: dict[str, Any],
    joined: NDArray[np.bool_] | None = None,
) -> Left:
    """Return a network after a failure, from arrays with one row per source and one column per destination.

    ``demand``: what each pair sends; ``between``: the share of it that arrives; ``there``: whether neither of
    the two is at a failed switch; ``joined``: whether any ports of the two are still joined.
    """
    asked = there & (demand > 0)
    arrived = between[asked]
    return Left(
        kind,
        name,
        cut_off=int(np.count_nonzero(1 - arrived > CUT_OFF)),
        spared=0 if joined is None else int(np.count_nonzero(joined[asked] & (1 - arrived > CUT_OFF))),
        lossy=int(np.count_nonzero(1 - arrived > LOSSY)),
        delivered_share=_share(demand, between, demand > 0),
        others_share=_share(demand, between, asked),
        bound=bound,
    )


def _share(demand: NDArray[np.float64], between: NDArray[np.float64], some: NDArray[np.bool_]) -> float:
    """Return the share of the demand of some pairs that arrives; 1 if there is none."""
    return share_of(float((demand[some] * (1 - between[some])).sum()), float(demand[some].sum()))


def share_of(lost: float, total: float) -> float:
    """Return the share of packets that arrives; 1 if there are none."""
    share = 1 - lost / total if total else 1.0
    return float(round(share)) if abs(share - round(share)) < _ROUNDING else share
