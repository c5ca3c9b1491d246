"""Piecewise linear fits through values with tolerances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class FitError(ValueError):
    """Data that cannot be read or fitted; the text is the whole message."""


Floats = NDArray[np.float64]
JUMP = 0.1
"""Least relative step between two lines that counts as a jump."""
FEWEST = 3
"""Fewest points for a line; fewer points are kept as a table."""


@dataclass(frozen=True)
class Line:
    """``base + slope * n`` from one size to another."""

    first: float
    last: float
    base: float
    slope: float
    points: int

    @property
    def is_table(self) -> bool:
        """Whether the line is only a table of its points."""
        return self.points < FEWEST

    def at(self, size: float) -> float:
        """Return the value at a size, never negative."""
        return max(0.0, self.base + self.slope * size)


@dataclass(frozen=True)
class Curve:
    """Consecutive lines. Between two lines the end of one and the start of the next are joined by a straight
    line; before a jump, the first line is extended.
    """

    lines: tuple[Line, ...]

    def at(self, size: float) -> float:
        """Return the value at a size; beyond the ends, the first and the last line are extended."""
        number = max((n for n, line in enumerate(self.lines) if size >= line.first), default=0)
        line, after = self.lines[number], self.lines[number + 1 : number + 2]
        if not after or size <= line.last or self._jump(number) is not None:
            return line.at(size)
        share = (size - line.last) / (after[0].first - line.last)
        return (1 - share) * line.at(line.last) + share * after[0].at(after[0].first)

    def _jump(self, number: int) -> float | None:
        """Return the step from the extension of a line to the start of the next, if it is a jump.

        After a table it counts from its last point or its extension, whichever is smaller; after one point
        only a fall does.
        """
        before, after = self.lines[number : number + 2]
        there, here = after.at(after.first), before.at(after.first)
        if before.is_table:
            low, high = sorted((before.at(before.last), here))
            here = max(there, high) if before.points == 1 else min(max(there, low), high)
        return there - here if abs(there - here) > JUMP * max(there, here) else None

    def jumps(self) -> list[tuple[float, float, float]]:
        """Return the jumps: the sizes between which each lies, and its height. Steps below a tenth of the
        value are no jumps.
        """
        steps = [(number, self._jump(number)) for number in range(len(self.lines) - 1)]
        lines = self.lines
        return [(lines[n].last, lines[n + 1].first, step) for n, step in steps if step is not None]

    def sure_jumps(self) -> set[float]:
        """Return the sizes after jumps from one line to another: beside a table a jump may be elsewhere."""
        tables = {size for line in self.lines if line.is_table for size in (line.first, line.last)}
        return {high for low, high, _ in self.jumps() if not {low, high} & tables}


def fit(sizes: Floats, values: Floats, tolerances: Floats, begins: frozenset[float] = frozenset()) -> Curve:
    """Fit the fewest lines through all values within their tolerances; at these sizes one begins in any case.

    From the left, each line extends as far as possible. A line within all tolerances exists if and only if
    the slopes that pairs of points allow have a common value.
    """
    lines, start = [], 0
    while start < len(sizes):
        stop = start + 1
        while (
            stop < len(sizes)
            and not any(sizes[stop - 1] < size <= sizes[stop] for size in begins)
            and _slopes(sizes[start : stop + 1], values[start : stop + 1], tolerances[start : stop + 1])
        ):
            stop += 1
        lines.append(_line(sizes[start:stop], values[start:stop], tolerances[start:stop]))
        start = stop
    return Curve(tuple(lines))


def _slopes(x: Floats, y: Floats, tolerance: Floats) -> tuple[float, float] | None:
    """Return the range of slopes of lines through all points; None if there is none."""
    after, before = np.triu_indices(len(x), 1)[::-1]
    run = x[after] - x[before]
    both = tolerance[after] + tolerance[before]
    low = float(((y[after] - y[before] - both) / run).max())
    high = float(((y[after] - y[before] + both) / run).min())
    return (low, high) if low <= high else None


def _line(x: Floats, y: Floats, tolerance: Floats) -> Line:
    """Return the weighted least-squares line; if it misses a point, one that misses none."""
    ends = (float(x[0]), float(x[-1]), len(x))
    if len(x) == 1:
        return Line(ends[0], ends[1], float(y[0]), 0.0, 1)
    weight = 1.0 / tolerance
    slope, base = np.polyfit(x, y, 1, w=weight)
    if (np.abs(base + slope * x - y) > tolerance).any() and (found := _slopes(x, y, tolerance)) is not None:
        slope = sum(found) / 2
        low, high = (y - tolerance - slope * x).max(), (y + tolerance - slope * x).min()
        base = (low + high) / 2
    return Line(ends[0], ends[1], float(base), float(slope), ends[2])
