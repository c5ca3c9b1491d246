"""The tables of a run: links, flows, batches, tail and packet trace, as Polars data frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .statistics import TAIL_STEPS, tail

if TYPE_CHECKING:
    import polars as pl

    from ..topology.graph import Graph

Floats = NDArray[np.float64]

RING_SYMBOL_BYTES = 2


def column(native: Mapping[str, Any], name: str) -> NDArray[Any]:
    """Return an array of the engine's result; empty if it was not kept."""
    return np.asarray(native.get(name, ()))


def per(top: NDArray[Any], bottom: NDArray[Any] | float) -> Floats:
    """Return ``top / bottom``, and 0 where ``bottom`` is 0."""
    bottom = np.broadcast_to(np.asarray(bottom, np.float64), np.shape(top))
    return np.divide(top, bottom, out=np.zeros(np.shape(top)), where=bottom > 0)


def mean(sums: NDArray[Any], counts: NDArray[Any]) -> pl.Series:
    """Return the means, null where the count is 0: a batch without packets has no latency."""
    import polars as pl

    return pl.Series(np.where(counts > 0, per(sums, counts), np.nan), nan_to_null=True)


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


def links(native: Mapping[str, Any], graph: Graph, tick_ns: float, window_ticks: int) -> pl.DataFrame:
    """Return the table of links; ``window_ticks``: the time over which the engine counted."""
    import polars as pl

    names = vertex_names(graph)
    stalled = column(native, "link_stalled_ticks")
    packets, waiting = column(native, "link_packets"), column(native, "link_wait_ticks") * tick_ns
    return pl.DataFrame(
        {
            "link": graph.link_names,
            **plane_names(graph),
            "source": list(names[graph.link_source]),
            "target": list(names[graph.link_target]),
            "packets": packets.astype(np.int64),
            "characters": column(native, "link_characters").astype(np.int64),
            "utilisation": utilisation(native, window_ticks),
            "blocked_share": np.minimum(per(stalled, window_ticks), 1.0),
            "blocked_ns": stalled * tick_ns,
            "waiting_ns": waiting,
            "waiting_ns_mean": per(waiting, packets),
        }
    )


def plane_names(graph: Graph) -> dict[str, list[str]]:
    """Return a column with the plane of each link; no column if terminals have one port each."""
    if graph.several is None:
        return {}
    return {"plane": [plane.name for plane in graph.planes for _ in range(plane.graph.links)]}


def planes(native: Mapping[str, Any], graph: Graph, tick_ns: float, window_ticks: int) -> pl.DataFrame:
    """Return the table of planes; no rows if terminals have one port each."""
    import polars as pl

    packets, size = column(native, "plane_packets"), column(native, "plane_bytes").astype(np.int64)
    count = len(packets)
    busy = utilisation(native, window_ticks)
    of = [busy[plane.links] for plane in graph.planes][:count]
    return pl.DataFrame(
        {
            "plane": [plane.name for plane in graph.planes][:count],
            "packets": packets.astype(np.int64),
            "bytes": size,
            "mbytes_per_s": per(size * 1e3, window_ticks * tick_ns),
            "share": per(size, float(size.sum())),
            "latency_ns_mean": mean(column(native, "plane_latency_sum_ticks") * tick_ns, packets),
            "latency_ns_max": column(native, "plane_latency_max_ticks") * tick_ns,
            "utilisation_mean": [float(links.mean()) if len(links) else 0.0 for links in of],
            "utilisation_max": [float(links.max(initial=0.0)) for links in of],
        },
        schema_overrides={"plane": pl.String, "utilisation_mean": pl.Float64, "utilisation_max": pl.Float64},
    )


def ring_rates(native: Mapping[str, Any], window_ns: float) -> dict[str, Floats]:
    """Return throughputs per ring link in MB/s, with headers and idle symbols: ``all``, and of it ``retry``,
    repeated packets, and ``echo``.
    """
    bytes_sent = column(native, "link_characters").astype(np.float64) * RING_SYMBOL_BYTES
    carried = per(bytes_sent * 1e3, window_ns)
    busy = column(native, "link_busy_ticks").astype(np.float64)
    parts = {what: carried * per(column(native, f"link_{what}_ticks"), busy) for what in ("retry", "echo")}
    return {"all": carried, **parts}


def ring_links(native: Mapping[str, Any], graph: Graph, tick_ns: float, window_ticks: int) -> pl.DataFrame:
    """Return the table of links of a network of rings."""
    import polars as pl

    if graph.rings is None:
        raise ValueError("the network has no rings")
    names, rings = vertex_names(graph), np.array(graph.rings.ring_names, dtype=object)
    retry, echo = (per(column(native, f"link_{what}_ticks"), window_ticks) for what in ("retry", "echo"))
    busy, rates = utilisation(native, window_ticks), ring_rates(native, window_ticks * tick_ns)
    return pl.DataFrame(
        {
            "link": graph.link_names,
            "ring": list(rings[graph.rings.station_ring]),
            "source": list(names[graph.link_source]),
            "target": list(names[graph.link_target]),
            "packets": column(native, "link_packets").astype(np.int64),
            "symbols": column(native, "link_characters").astype(np.int64),
            "utilisation": busy,
            "data_share": np.maximum(busy - retry - echo, 0.0),
            "retry_share": np.minimum(retry, 1.0),
            "echo_share": np.minimum(echo, 1.0),
            "mbytes_per_s": rates["all"],
            "retry_mbytes_per_s": rates["retry"],
            "echo_mbytes_per_s": rates["echo"],
            "retried": column(native, "link_retried").astype(np.int64),
            "busied": column(native, "link_busied").astype(np.int64),
            "bypass_most_symbols": column(native, "link_bypass_most").astype(np.int64),
            "waiting_ns": column(native, "link_wait_ticks") * tick_ns,
        }
    )


def rings(native: Mapping[str, Any], graph: Graph, tick_ns: float, window_ticks: int) -> pl.DataFrame:
    """Return the table of rings; no rows for networks without rings."""
    import polars as pl

    names = [] if graph.rings is None else list(graph.rings.ring_names)
    order = pl.DataFrame({"ring": names}, schema={"ring": pl.String})
    if graph.rings is None:
        return order.clear()
    mean, most = pl.col("mbytes_per_s").mean(), pl.col("mbytes_per_s").max()
    found = (
        ring_links(native, graph, tick_ns, window_ticks)
        .group_by("ring")
        .agg(
            pl.len().cast(pl.Int64).alias("stations"),
            mean.alias("mbytes_per_s_mean"),
            most.alias("mbytes_per_s_max"),
            pl.col("retry_mbytes_per_s").mean().alias("retry_mbytes_per_s_mean"),
            pl.col("echo_mbytes_per_s").mean().alias("echo_mbytes_per_s_mean"),
            pl.col("utilisation").mean().alias("utilisation_mean"),
            pl.col("utilisation").max().alias("utilisation_max"),
            pl.col("busied").sum(),
        )
    )
    return order.join(found, on="ring", how="left", maintain_order="left")


def bus_utilisation(native: Mapping[str, Any], graph: Graph, window_ticks: int) -> NDArray[np.float64]:
    """Return, per switch, the utilisation of its buses, averaged over them, 0 to 1."""
    buses = 0 if graph.rings is None else graph.rings.bus_count * window_ticks
    return np.minimum(per(column(native, "bus_busy_ticks"), buses), 1.0)


def buses(native: Mapping[str, Any], graph: Graph, tick_ns: float, window_ticks: int) -> pl.DataFrame:
    """Return the table of buses, one row per switch; no rows for networks without rings."""
    import polars as pl

    rings = graph.rings
    count = 0 if rings is None else graph.switches
    transfers = column(native, "bus_transfers")[:count].astype(np.int64)
    waiting = column(native, "bus_wait_ticks")[:count] * tick_ns
    return pl.DataFrame(
        {
            "switch": graph.switch_names[:count],
            "ports": [] if rings is None else np.diff(rings.port_start),
            "buses": [] if rings is None else rings.bus_count,
            "transfers": transfers,
            "utilisation": bus_utilisation(native, graph, window_ticks)[:count],
            "waiting_ns": waiting,
            "waiting_ns_mean": per(waiting, transfers),
        },
        schema_overrides={"switch": pl.String, "ports": pl.Int64, "buses": pl.Int64},
    )


def flows(
    native: Mapping[str, Any], graph: Graph, tick_ns: float, window_ticks: int, of: str = "packets"
) -> pl.DataFrame:
    """Return the table of flows of "packets" or "messages", sorted by source and target terminal."""
    import polars as pl

    kept = {"packets": "flow", "messages": "message_flow"}[of]
    names = np.array(graph.terminal_names, dtype=object)
    source, target = (column(native, f"{kept}_{end}").astype(np.int64) for end in ("source", "target"))
    order = np.lexsort((target, source))
    count = column(native, f"{kept}_packets")
    used = order[count[order] > 0] if len(order) else order
    count, size = count[used].astype(np.int64), column(native, f"{kept}_bytes")[used].astype(np.int64)
    return pl.DataFrame(
        {
            "source": list(names[source[used]]),
            "target": list(names[target[used]]),
            of: count,
            "bytes": size,
            "mbytes_per_s": per(size * 1e3, window_ticks * tick_ns),
            "share": per(size, float(size.sum()) if len(size) else 0.0),
            "latency_ns_mean": per(column(native, f"{kept}_latency_sum_ticks")[used] * tick_ns, count),
            "latency_ns_max": column(native, f"{kept}_latency_max_ticks")[used] * tick_ns,
        },
        schema_overrides={"source": pl.String, "target": pl.String},
    )


def cells(native: Mapping[str, Any], name: str, row: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return one of several distributions: its values in ticks, ascending, and their counts."""
    start = column(native, f"{name}_start")
    own = slice(int(start[row]), int(start[row + 1]))
    values = column(native, f"{name}_values_ticks")[own].astype(np.float64)
    return values, column(native, f"{name}_counts")[own].astype(np.int64)


def bounded(flows: pl.DataFrame, bounds_ns: Mapping[tuple[str, str], float]) -> pl.DataFrame:
    """Add the bound of each flow to the table of flows."""
    import polars as pl

    pairs = zip(flows["source"], flows["target"], strict=True)
    return flows.with_columns(pl.Series("bound_ns", [bounds_ns.get(pair) for pair in pairs], pl.Float64))


def batch_bounds(native: Mapping[str, Any]) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Return which of the engine's batches lie in the measuring window, and their starts and ends in
    ticks.
    """
    ends = column(native, "batch_end_ticks").astype(np.int64)
    starts = np.concatenate(([0], ends[:-1])).astype(np.int64) if len(ends) else ends
    begin = int(native["measure_start_ticks"])
    inside = ends > begin
    starts = np.maximum(starts[inside], begin)
    return inside, starts, ends[inside]


def batches(native: Mapping[str, Any], tick_ns: float) -> pl.DataFrame:
    """Return the table of batches after the warm-up."""
    import polars as pl

    inside, starts, ends = batch_bounds(native)
    length_ns = (ends - starts) * tick_ns
    packets = column(native, "batch_packets")[inside]
    return pl.DataFrame(
        {
            "start_ns": starts * tick_ns,
            "end_ns": ends * tick_ns,
            "packets": packets.astype(np.int64),
            "accepted_mbytes_per_s": per(column(native, "batch_bytes")[inside] * 1e3, length_ns),
            "latency_ns_mean": mean(column(native, "batch_latency_sum_ticks")[inside] * tick_ns, packets),
            "total_latency_ns_mean": mean(column(native, "batch_total_sum_ticks")[inside] * tick_ns, packets),
        }
    )


def ccdf(native: Mapping[str, Any], tick_ns: float) -> pl.DataFrame:
    """Return the complementary cumulative distribution of the network latency."""
    import polars as pl

    values = column(native, "latency_values_ticks").astype(np.float64) * tick_ns
    counts = column(native, "latency_counts").astype(np.int64)
    total = int(counts.sum())
    longer = total - np.cumsum(counts)
    return pl.DataFrame({"latency_ns": values, "packets": counts, "share_longer": per(longer, float(total))})


def thinned_tail(
    native: Mapping[str, Any], tick_ns: float, steps: int = TAIL_STEPS, of: str = "latency"
) -> dict[str, list[float]]:
    """Return the distribution for drawing, see :func:`~fabriloom.results.statistics.tail`. It ends at the
    exact maximum, not at the end of its bin.

    ``of``: ``latency``, ``total`` or ``message_latency``, as in the engine's names.
    """
    ticks = column(native, f"{of}_values_ticks").astype(np.float64)
    values = np.minimum(ticks, float(native[f"{of}_max_ticks"])) * tick_ns
    return tail(values, column(native, f"{of}_counts").astype(np.int64), steps)


def trace(native: Mapping[str, Any], graph: Graph, tick_ns: float) -> pl.DataFrame:
    """Return the packet trace; no rows if it was not kept."""
    import polars as pl

    names = np.array(graph.terminal_names, dtype=object)
    started, delivered = column(native, "trace_started_ticks"), column(native, "trace_delivered_ticks")
    return pl.DataFrame(
        {
            "packet": np.arange(len(started), dtype=np.int64),
            "source": list(names[column(native, "trace_source").astype(np.int64)]),
            "target": list(names[column(native, "trace_target").astype(np.int64)]),
            "length_bytes": column(native, "trace_length").astype(np.int64),
            "created_ns": column(native, "trace_created_ticks") * tick_ns,
            "started_ns": started * tick_ns,
            "delivered_ns": delivered * tick_ns,
            "latency_ns": (delivered.astype(np.int64) - started.astype(np.int64)) * tick_ns,
        },
        schema_overrides={"source": pl.String, "target": pl.String},
    )
