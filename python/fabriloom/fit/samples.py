"""Measured times of messages by size, from any source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import reading, units
from ..programs.simple import LONG_TRAIN, MORE_TURNS, RECEIVES, ROUND, SENDS, TRAIN, TURNS
from ..reading import ReadError, UserError


class FitError(UserError):
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
    """Consecutive lines. A straight line joins two of them; before a jump, the first is extended."""

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
        """Return the jumps: the sizes between which each lies, and its height. See :data:`JUMP`."""
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


QUANTITIES = {
    "half_round": "half a round of ping-pong",
    "send": "host's time to send, o_s",
    "receive": "host's time to receive what has come, o_r",
    "gap": "time per message of a train, g + G n",
    "turn": "time per message to one target after the other",
}
"""Measured quantities by size, in nanoseconds."""
_MOST_BYTES = 1 << 30
_ASSUMED = 0.02
"""Relative tolerance of values without a known noise."""
_CHANGED = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)
"""Errors of values that no result has."""
_OFF = 0.08
"""Least relative distance from the line of its neighbours with which a value is odd: less may be a bend."""
_LEAST, _SHARE = 2.0, 0.002
"""Least tolerance: in nanoseconds, and relative."""


@dataclass
class Samples:
    """Values and tolerances in nanoseconds by quantity and size, with their sources."""

    values: dict[str, dict[int, tuple[float, float]]] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    def put(self, quantity: str, size: int, value_ns: float, noise_ns: float | None = None) -> None:
        """Add a value; ``noise_ns``: its standard error, None if unknown."""
        value_ns = max(0.0, value_ns)  # a difference that the noise has turned round
        share = value_ns * (_ASSUMED if noise_ns is None else _SHARE)
        tolerance = max(_LEAST, share, 3 * (noise_ns or 0.0))
        self.values.setdefault(quantity, {})[size] = (value_ns, tolerance)

    def add(self, other: Samples) -> None:
        """Add the samples of another source, which replace values for the same quantity and size."""
        for quantity, values in other.values.items():
            self.values.setdefault(quantity, {}).update(values)
        self.sources += other.sources

    def columns(self, quantity: str) -> tuple[Floats, Floats, Floats]:
        """Return sizes in ascending order, values and tolerances."""
        found = sorted(self.values.get(quantity, {}).items())
        rows = np.array([(size, *value) for size, value in found], np.float64).reshape(-1, 3)
        return rows[:, 0], rows[:, 1], rows[:, 2]

    def odd(self, quantity: str) -> NDArray[np.bool_]:
        """Return, per size, whether the value is well off a line that its four nearest neighbours, on both
        sides, are on.
        """
        sizes, values, tolerances = self.columns(quantity)
        found = np.zeros(len(sizes), bool)
        off = np.maximum(tolerances, _OFF * values)
        for at in range(1, len(sizes) - 1):
            first = max(0, min(at - 2, len(sizes) - 5))
            near = np.arange(first, min(first + 5, len(sizes)))
            others, most = near[near != at], np.where(near == at, off[near], tolerances[near])
            if len(near) == 5 and _slopes(sizes[others], values[others], tolerances[others]) is not None:
                found[at] = _slopes(sizes[near], values[near], most) is None
        return found

    def curves(self) -> dict[str, Curve]:
        """Return the fitted lines by quantity. Where one surely jumps, new ones begin for all."""
        columns = {name: self.columns(name) for name in QUANTITIES if self.values.get(name)}
        begins = frozenset[float]().union(*(fit(*column).sure_jumps() for column in columns.values()))
        return {name: fit(*column, begins) for name, column in columns.items()}


@dataclass(frozen=True)
class Folder:
    """An output folder of ``measure``, ``run`` or ``curve``."""

    path: Path
    resolved: dict[str, Any]
    points: list[tuple[dict[str, Any], dict[str, Any]]]
    """Settings and summary of each point."""

    @property
    def calibrates(self) -> bool:
        """Whether the folder holds the program ``logp``, to which parameters are fitted."""
        return self.resolved.get("program", {}).get("kind") == "logp"

    def scenario(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the resolved scenario of a point, without its sweep."""
        found = json.loads(json.dumps(self.resolved))
        for name in ("sweep", "variants"):
            found.pop(name, None)
        for path, value in settings.items():
            table, steps = found, path.split(".")
            for step in steps[:-1]:
                table = table.setdefault(step, {})
            table[steps[-1]] = value
        return found


def read_folder(path: Path) -> Folder:
    """Read an output folder. Raises :class:`FitError`."""
    summary, resolved = (_json(path / name) for name in ("summary.json", "scenario.resolved.json"))
    if "program" not in resolved:
        message = f"{path}: this is a result of traffic\n  = name one of a program, from fabriloom measure"
        raise FitError(message)
    points = summary.get("points")
    try:
        found = (
            [({}, summary)] if points is None else [(dict(one.get("settings", {})), one) for one in points]
        )
        folder = Folder(path, resolved, found)
        for settings, point in found:
            _check(folder.scenario(settings)["program"], point.get("measured"))
    except _CHANGED as error:
        raise FitError(f"{path}: changed since it was written\n  = measure once more") from error
    return folder


def _check(program: Any, measured: Any) -> None:
    """Raise TypeError if a program or what measured it is not as it was written."""
    whole = measured is None or {"crowded", "ranks", "cores", "mpi", "transport"} <= {*measured}
    if not isinstance(program, dict) or not isinstance(measured, dict | None) or not whole:
        raise TypeError


def _json(path: Path) -> dict[str, Any]:
    try:
        text = reading.text_of(reading.content(path, _MOST_BYTES, "1 GB", "name another folder"), str(path))
        found = json.loads(text)
    except ReadError as error:
        hint = "name an output folder of fabriloom measure, or a file of measured values"
        raise FitError(f"{path}: {error}\n  = {hint}") from error
    except (ValueError, RecursionError) as error:
        raise FitError(f"{path}: not JSON, or cut short\n  = measure once more") from error
    if not isinstance(found, dict):
        raise FitError(f"{path}: not a result of fabriloom\n  = name an output folder of fabriloom measure")
    return found


def from_folder(folder: Folder) -> Samples:
    """Return the samples of a calibration folder. Raises :class:`FitError`."""
    found = Samples()
    machine = ""
    for settings, summary in folder.points:
        measured = summary.get("measured")
        if measured and measured["crowded"]:
            raise FitError(
                f"{folder.path}: {measured['ranks']} processes shared {measured['cores']} cores, so no time "
                "in it is a measurement\n  = measure again with as many cores as processes"
            )
        machine = f"{measured['mpi']}, {measured['transport']}" if measured else "a simulation"
        try:
            _point(found, folder.scenario(settings)["program"], summary)
        except _CHANGED as error:
            raise FitError(
                f"{folder.path}: a point without the times between marks\n  = measure it again"
            ) from error
    if not found.values:
        raise FitError(
            f"{folder.path}: it has no finished point\n  = continue the measurement with the same command"
        )
    found.sources.append(f"{folder.path.name} ({machine})")
    return found


def _point(found: Samples, program: Mapping[str, Any], summary: Mapping[str, Any]) -> None:
    """Add all quantities of one size."""
    size = units.parse_bytes(program["size"])
    spans = {(one["from"], one["to"]): one for one in summary["spans"]}
    value = {pair: float(one["ns_p50"]) for pair, one in spans.items()}
    noise = {pair: _noise(one) for pair, one in spans.items()}
    found.put("half_round", size, value[ROUND] / 2, noise[ROUND] / 2)
    found.put("send", size, value[SENDS], noise[SENDS])
    if units.parse_time_ps(program["pause"]) / 1000 > value[ROUND]:
        found.put("receive", size, value[RECEIVES], noise[RECEIVES])
    train = int(program["train"])
    took = value[LONG_TRAIN] - value[TRAIN]
    found.put("gap", size, took / train, (noise[LONG_TRAIN] + noise[TRAIN]) / train)
    if TURNS in value:
        given = program.get("targets")
        targets = len(given) if isinstance(given, list) else int(summary["network"]["terminals"]) - 1
        messages = targets * max(1, train // targets)
        took = value[MORE_TURNS] - value[TURNS]
        found.put("turn", size, took / messages, (noise[MORE_TURNS] + noise[TURNS]) / messages)


def _noise(span: Mapping[str, Any]) -> float:
    """Return the standard error of a median, estimated from the quartiles."""
    return 1.2533 * (span["ns_p75"] - span["ns_p25"]) / 1.349 / max(1.0, float(span["count"])) ** 0.5
