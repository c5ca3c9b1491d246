"""The host's times by message size, for the sizes that occur."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scenario import Scenario
from ..technology.model import Ps
from ..traffic.kinds import in_units
from .columns import Arrays
from .times import MOST_WAIT_TICKS, Durations

TIMES = ("send_time_ps", "receive_time_ps", "packet_time_ps", "send_gap_time_ps")
_COLUMNS = ("cost_send_ticks", "cost_receive_ticks", "cost_packet_ticks", "cost_gap_ticks")
_PS_PER_NS = 1000


def _rows(scenario: Scenario) -> list[Any]:
    """Return the rows of the scenario, checked. Raises ScenarioError."""
    rows = (scenario.protocol and scenario.protocol.by_size) or []
    for number, (first, second) in enumerate(itertools.pairwise(rows), 1):
        if second.message_bytes <= first.message_bytes:
            message = f"{second.message_bytes} B is not more than the {first.message_bytes} B before it"
            path = ("protocol", "by_size", number, "message")
            raise scenario.error(message, path, "write the sizes in rising order, each once")
    return rows


def by_size(scenario: Scenario, sent: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return the sizes that are sent, and for each the times of :data:`TIMES` in ps, rounded to whole ns.

    Times between two given sizes are interpolated linearly. Sizes below the first have the times of the
    first; above the last, the line through the last two continues.
    """
    rows = _rows(scenario)
    sizes = sent if rows else np.zeros(0, np.int64)
    known = np.array([row.message_bytes for row in rows], np.float64)
    times = []
    for name in TIMES:
        values = np.array([getattr(row, name) for row in rows], np.float64)
        at = np.interp(sizes, known, values) if rows else np.zeros(0)
        if len(rows) > 1:
            slope = (values[-1] - values[-2]) / (known[-1] - known[-2])
            at = np.where(sizes > known[-1], values[-1] + slope * (sizes - known[-1]), at)
        times.append(np.maximum(np.round(at / _PS_PER_NS), 0).astype(np.int64) * _PS_PER_NS)
    return sizes, times


def durations(scenario: Scenario, sent: NDArray[np.int64]) -> list[Durations]:
    """Return these times, for the choice of the tick."""
    _, times = by_size(scenario, sent)
    name = "a time of protocol.by_size"
    return [Durations.of(name, ("protocol", "by_size"), each, MOST_WAIT_TICKS) for each in times if len(each)]


def columns(scenario: Scenario, sent: NDArray[np.int64], tick_ps: Ps) -> Arrays:
    """Return the engine's columns; empty if the scenario gives no such times."""
    sizes, times = by_size(scenario, sent)
    ticks = {
        name: in_units(each, tick_ps).astype(np.uint64) for name, each in zip(_COLUMNS, times, strict=True)
    }
    return {"cost_bytes": sizes.astype(np.uint32), **ticks}
