"""Some of many things, evenly spread over all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def spread_evenly(values: Ints, most: int) -> Ints:
    """Return at most this many of the values, including the first and the last."""
    places = np.linspace(0, len(values) - 1, min(len(values), most)).astype(np.int64)
    return values[np.unique(places)]
