"""What the engine counted, by name, and what several tables, summaries and pictures make of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph
from .statistics import TAIL_STEPS, tail

Floats = NDArray[np.float64]


def column(native: Mapping[str, Any], name: str) -> NDArray[Any]:
    """Return an array of the engine's result; empty if it was not kept."""
    return np.asarray(native.get(name, ()))


def per(top: NDArray[Any], bottom: NDArray[Any] | float) -> Floats:
    """Return ``top / bottom``, and 0 where ``bottom`` is 0."""
    bottom = np.broadcast_to(np.asarray(bottom, np.float64), np.shape(top))
    return np.divide(top, bottom, out=np.zeros(np.shape(top)), where=bottom > 0)


def mean(sums: NDArray[Any], counts: NDArray[Any]) -> Floats:
    """Return means, NaN of no values: a batch without packets has no latency, not a latency of 0."""
    return np.where(counts > 0, per(sums, counts), np.nan)


def vertex_names(graph: Graph) -> NDArray[np.object_]:
    """Return the names of all vertices, switches first."""
    return np.array([*graph.switch_names, *graph.port_names], dtype=object)


def window_ticks(native: Mapping[str, Any]) -> int:
    """Return the length of the measuring window; 0 if it has not begun."""
    return max(0, int(native["end_time_ticks"]) - int(native["measure_start_ticks"]))


def utilisation(native: Mapping[str, Any], window_ticks: int) -> NDArray[np.float64]:
    """Return, per link, the share of the window in which its wire was occupied, 0 to 1."""
    # A packet counts when its end has left, so one that began before the window can lead over 1.
    return np.minimum(per(column(native, "link_busy_ticks"), window_ticks), 1.0)


def blocked(native: Mapping[str, Any], window_ticks: int) -> Floats:
    """Return, per link, the share of the window in which its wire stood still within a packet, 0 to 1.

    The engine counts a packet when it knows the time of its end: a wait that goes on after the window is cut.
    """
    stalled = per(column(native, "link_stalled_ticks"), window_ticks)
    return np.minimum(stalled, 1.0 - utilisation(native, window_ticks))


def ring_rates(native: Mapping[str, Any], window_ns: float) -> dict[str, Floats]:
    """Return throughputs per ring link in MB/s, with headers and idle symbols: ``all``, and of it ``retry``,
    repeated packets, and ``echo``.
    """
    bytes_sent = column(native, "link_characters").astype(np.float64) * native["ring_symbol_bytes"]
    carried = per(bytes_sent * 1e3, window_ns)
    busy = column(native, "link_busy_ticks").astype(np.float64)
    parts = {what: carried * per(column(native, f"link_{what}_ticks"), busy) for what in ("retry", "echo")}
    return {"all": carried, **parts}


def only_pass(native: Mapping[str, Any]) -> bool:
    """Whether packets passed full stations of rings, instead of being busied and sent again."""
    busied, retries = column(native, "link_busied"), column(native, "link_retry_ticks")
    return bool(busied.any()) and not retries.any()


def bus_utilisation(native: Mapping[str, Any], graph: Graph, window_ticks: int) -> NDArray[np.float64]:
    """Return, per switch, the utilisation of its buses, averaged over them, 0 to 1."""
    buses = graph.own_rings.bus_count * window_ticks if graph.network_kind.buses else 0
    return np.minimum(per(column(native, "bus_busy_ticks"), buses), 1.0)


def cells(native: Mapping[str, Any], name: str, row: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return one of several distributions: its values in ticks, ascending, and their counts."""
    start = column(native, f"{name}_start")
    own = slice(int(start[row]), int(start[row + 1]))
    values = column(native, f"{name}_values_ticks")[own].astype(np.float64)
    return values, column(native, f"{name}_counts")[own].astype(np.int64)


def batch_bounds(native: Mapping[str, Any]) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Return which of the engine's batches are measured, and their starts and ends in ticks."""
    ends = column(native, "batch_end_ticks").astype(np.int64)
    starts = np.concatenate(([0], ends[:-1])).astype(np.int64) if len(ends) else ends
    begin = int(native["measure_start_ticks"])
    inside = ends > begin
    starts = np.maximum(starts[inside], begin)
    return inside, starts, ends[inside]


def thinned_tail(
    native: Mapping[str, Any], tick_ns: float, steps: int = TAIL_STEPS, of: str = "latency"
) -> dict[str, list[float]]:
    """Return the distribution for drawing, see :func:`~fabriloom.results.statistics.tail`. It ends at the
    exact maximum, not in the middle of its bin.

    ``of``: ``latency``, ``total`` or ``message_latency``, as in the engine's names.
    """
    ticks = column(native, f"{of}_values_ticks").astype(np.float64)
    values = np.append(ticks[:-1], [float(native[f"{of}_max_ticks"])] * (len(ticks) > 0)) * tick_ns
    return tail(values, column(native, f"{of}_counts").astype(np.int64), steps)
