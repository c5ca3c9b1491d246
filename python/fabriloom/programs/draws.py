"""Random choices that are the same on every machine.

They use the raw numbers of a PCG64 and not NumPy's distributions, which may change.
"""

from __future__ import annotations

import numpy as np

from fabriloom.programs.kinds import Ints

_AT_ONCE = 2**22


class Draws:
    """A stream of random choices."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def raw(self, *shape: int) -> np.ndarray:
        """Return uniform whole numbers below 2^64."""
        return np.asarray(self._bits.random_raw(int(np.prod(shape))), np.uint64).reshape(shape)

    def below(self, limit: int, *shape: int) -> Ints:
        """Return uniform whole numbers below ``limit``, at most 2^32."""
        return ((self.raw(*shape) >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)

    def unit(self, count: int) -> np.ndarray:
        """Return uniform numbers from 0 on, below 1."""
        return (self.raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def distinct(self, limit: int, count: int, rows: int) -> Ints:
        """Return ``count`` different numbers below ``limit`` in random order, shape (rows, count)."""
        if count == 1:
            return self.below(limit, rows, 1)
        found = np.empty((rows, count), np.int64)
        step = max(1, _AT_ONCE // limit)
        for first in range(0, rows, step):
            keys = self.raw(min(step, rows - first), limit)
            found[first : first + len(keys)] = np.argsort(keys, axis=1, kind="stable")[:, :count]
        return found

    def moments(self, count: int, span_ps: int) -> Ints:
        """Return ``count`` random times before ``span_ps``, sorted."""
        return np.sort((self.unit(count) * span_ps).astype(np.int64))
