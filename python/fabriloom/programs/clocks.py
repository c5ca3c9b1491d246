"""Clocks that drift, and starts that differ: the times of each program by the clock of its terminal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabriloom.programs.draws import Draws
from fabriloom.programs.kinds import ANY, UNTIL, Settings
from fabriloom.programs.table import Programs

_PS_PER_NS = 1000
_PER_MILLION = 1e-6


def with_clocks(programs: Programs, clocks: Settings, draws: Draws) -> Programs:
    """Return the programs with times by clocks of their terminals, in whole nanoseconds.

    A clock that starts ``s`` late and is fast by ``d`` shows the time ``t`` at ``s + t / (1 + d)``; a wait of
    ``t`` takes ``t / (1 + d)``. Starts are uniform up to the latest one, drifts up to the largest either way.
    """
    count = len(programs.terminal_names)
    start = (draws.unit(count) * clocks["start_ps"]).astype(np.int64) // _PS_PER_NS * _PS_PER_NS
    fast = (2 * draws.unit(count) - 1) * clocks["drift_ppm"] * _PER_MILLION
    shown = programs.amount / (1 + fast[programs.terminal])
    shown = np.rint(shown / _PS_PER_NS).astype(np.int64) * _PS_PER_NS
    late = np.where(programs.kind == UNTIL, start[programs.terminal], 0)
    # What is no whole number of nanoseconds stays exact where the clock does.
    shown = np.where(fast[programs.terminal] == 0, programs.amount, shown)
    amount = np.where(programs.timed, shown + late, programs.amount)
    return _started(replace(programs, amount=amount), start)


def _started(programs: Programs, start: np.ndarray) -> Programs:
    """Return programs that begin by waiting for the start of their clock."""
    if not start.any():
        return programs
    at = np.flatnonzero(np.diff(programs.process, prepend=-1))
    used = programs.terminal[at]

    def joined(column: np.ndarray, value: object) -> np.ndarray:
        return np.insert(column, at, np.broadcast_to(np.asarray(value, np.int64), len(at)))

    places = list(programs.places)
    for row in reversed(at.tolist()) if places else ():
        places.insert(row, "")
    return replace(
        programs,
        terminal=joined(programs.terminal, used),
        kind=joined(programs.kind, UNTIL),
        peer=joined(programs.peer, ANY),
        size_bytes=joined(programs.size_bytes, 0),
        tag=joined(programs.tag, ANY),
        amount=joined(programs.amount, start[used]),
        places=places,
        stream=None if programs.stream is None else joined(programs.stream, programs.stream[at]),
    )
