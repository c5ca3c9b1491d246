"""Places of switches in drawings that several families share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def on_circle(switches: int) -> NDArray[np.float64]:
    """Return places on a circle, neighbours about one apart, the first at the top."""
    angle = 2 * np.pi * np.arange(switches) / switches
    return max(switches / (2 * np.pi), 0.6) * np.column_stack([np.sin(angle), -np.cos(angle)])


def groups_on_circle(groups: int, size: int) -> NDArray[np.float64]:
    """Return places: groups on a circle, the switches of each group on a smaller circle."""
    own = on_circle(size)
    turn = 2 * np.pi * np.arange(groups) / groups
    radius = max(groups * (2 * np.abs(own).max() + 1.2) / (2 * np.pi), 1.5)
    centres = radius * np.column_stack([np.sin(turn), -np.cos(turn)])
    return (centres[:, None, :] + own[None, :, :]).reshape(-1, 2)
