"""The rows from which the columns of tables are computed: the engine's numbers by kind of row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology.graph import Graph, Plane
from . import faults, tables
from .tables import per

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Names = NDArray[np.object_]


@dataclass(frozen=True)
class Rows:
    """The engine's numbers with their names and units."""

    native: Mapping[str, Any]
    graph: Graph
    tick_ns: float

    @property
    def window_ticks(self) -> int:
        return tables.window_ticks(self.native)

    @property
    def window_ns(self) -> float:
        return self.window_ticks * self.tick_ns

    def raw(self, name: str) -> NDArray[Any]:
        """Return one array as the engine has it."""
        return tables.column(self.native, name)

    def count(self, name: str) -> Ints:
        return self.raw(name).astype(np.int64)

    def ns(self, name: str) -> Floats:
        return self.raw(name) * self.tick_ns

    def share(self, name: str) -> Floats:
        """Return times as fractions of the measuring window, 0 to 1."""
        return np.minimum(per(self.raw(name), self.window_ticks), 1.0)

    def rate(self, size: NDArray[Any]) -> Floats:
        """Return bytes per measuring window, in MB/s."""
        return per(size * 1e3, self.window_ns)

    def rate_of(self, name: str) -> Floats:
        """Return the same of bytes that the engine has counted."""
        return self.rate(self.raw(name))

    def named(self, name: str) -> Names:
        """Return the names of terminals that the engine has by their numbers."""
        return self.terminals[self.count(name)]

    def share_of_all(self, size: NDArray[Any]) -> Floats:
        """Return the share of each in the sum, 0 to 1."""
        return per(size, float(size.sum()))

    @cached_property
    def terminals(self) -> Names:
        return np.array(self.graph.terminal_names, dtype=object)


class LinkRows(Rows):
    @cached_property
    def ends(self) -> tuple[Names, Names]:
        """Names of the source and the target of each."""
        names = tables.vertex_names(self.graph)
        return names[self.graph.link_source], names[self.graph.link_target]

    @cached_property
    def utilisation(self) -> Floats:
        """The share of the window in which the wire was occupied."""
        return tables.utilisation(self.native, self.window_ticks)

    @cached_property
    def blocked_share(self) -> Floats:
        """The share of the window in which the wire stood still within a packet."""
        return tables.blocked(self.native, self.window_ticks)

    @property
    def blocked_ns(self) -> Floats:
        """The same in time."""
        return self.blocked_share * self.window_ns

    @property
    def waiting_ns_mean(self) -> Floats:
        """How long packets waited for it."""
        return per(self.ns("link_wait_ticks"), self.raw("link_packets"))

    @cached_property
    def down_ticks(self) -> Ints:
        """For how long it did not run."""
        return faults.within(self.native, self.graph.links, faults.outages(self.native))

    @cached_property
    def narrow_ticks(self) -> Ints:
        """Per link: ticks of the window in which it had lost physical lanes."""
        return faults.within(self.native, self.graph.links, faults.narrowed(self.native))

    @property
    def planes(self) -> list[str]:
        """Names of the planes that they are of."""
        return [plane.name for plane in self.graph.planes for _ in range(plane.graph.links)]

    @property
    def rings(self) -> Names:
        """Names of the rings that they are of."""
        return np.array(self.graph.own_rings.ring_names, dtype=object)[self.graph.own_rings.station_ring]

    @cached_property
    def rates(self) -> dict[str, Floats]:
        """What links of rings carried, see :func:`tables.ring_rates`."""
        return tables.ring_rates(self.native, self.window_ns)

    @property
    def data_share(self) -> Floats:
        """The share of packets that were sent for the first time, on a link of a ring."""
        retry, echo = (per(self.raw(f"link_{what}_ticks"), self.window_ticks) for what in ("retry", "echo"))
        return np.maximum(self.utilisation - retry - echo, 0.0)


class LaneRows(Rows):
    """Lanes of the links out of switches, where they do more than take turns; none of cables of another
    technology, which have one.
    """

    @cached_property
    def shown(self) -> Ints:
        lanes = np.arange(len(self.raw("lane_busy_ticks")))
        shown = self.graph.usual_links & (np.asarray(self.graph.link_source) < self.graph.switches)
        return lanes[shown[lanes // self.lanes]]

    @property
    def lanes(self) -> int:
        """Lanes of a link."""
        return max(1, len(self.raw("lane_busy_ticks")) // max(1, self.graph.links))

    @property
    def link(self) -> list[str]:
        return [self.graph.link_names[lane // self.lanes] for lane in self.shown.tolist()]

    @property
    def utilisation(self) -> Floats:
        """The part of the window in which it had the wire."""
        return self.share("lane_busy_ticks")[self.shown]

    @property
    def reserved(self) -> Floats:
        share = self.raw("lane_share_millionths")
        if not len(share):
            return np.full(len(self.shown), np.nan)
        return np.tile(share / 1e6, self.graph.links)[self.shown]

    @property
    def beyond_reserved(self) -> Floats:
        """What it had of the wire beyond that."""
        return self.utilisation - self.reserved


class FaultRows(LinkRows):
    """Links of a network in which some fail, for the keys of a summary."""

    @cached_property
    def around(self) -> dict[str, float | None]:
        """Throughput before, while and after links were down."""
        return faults.around(self.native, self.tick_ns)

    @property
    def worst_link(self) -> str:
        """The one with most lost packets, if any was lost."""
        lost = sum(
            (self.count(f"link_{what}") for what in faults.CAUSES), np.zeros(self.graph.links, np.int64)
        )
        return self.graph.link_names[int(np.argmax(lost))] if lost.any() else ""

    @property
    def availability(self) -> float | None:
        """The share of the window in which links ran."""
        window = self.window_ticks
        return 1.0 - float(self.down_ticks.mean()) / window if window else None


class RingRows(LinkRows):
    """Links of rings, for the keys of a summary."""

    def total(self, name: str) -> int:
        """Return the sum of a count over all rows."""
        return int(self.raw(name).sum())

    def part(self, what: str) -> float:
        """Return the share of one kind of packets in the time in which links were in use."""
        busy, of = (float(self.raw(f"link_{name}_ticks").sum()) for name in ("busy", what))
        return of / busy if busy else 0.0

    @property
    def bus_utilisation(self) -> Floats:
        """Per switch, see :func:`tables.bus_utilisation`."""
        return tables.bus_utilisation(self.native, self.graph, self.window_ticks)


class PlaneRows(Rows):
    """Planes; none where terminals have one port each."""

    @cached_property
    def planes(self) -> tuple[Plane, ...]:
        """Those that are counted."""
        return self.graph.planes[: len(self.raw("plane_packets"))]

    @cached_property
    def busy(self) -> list[Floats]:
        """The utilisation of the links of each."""
        every = tables.utilisation(self.native, self.window_ticks)
        return [every[plane.links] for plane in self.planes]

    @property
    def latency_ns_mean(self) -> Floats:
        """Mean latency of its packets."""
        return tables.mean(self.ns("plane_latency_sum_ticks"), self.raw("plane_packets"))


@dataclass(frozen=True)
class FlowRows(Rows):
    """Pairs of terminals between which packets or messages were delivered, by their source and target."""

    kept: str = "flow"
    """How the engine calls them: ``flow``, or ``message_flow``."""
    bounds_ns: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """The delay that no packet exceeds, where one is known."""

    @cached_property
    def used(self) -> Ints:
        """The places of those that had any, in order."""
        source, target = (self.raw(f"{self.kept}_{end}").astype(np.int64) for end in ("source", "target"))
        order, number = np.lexsort((target, source)), self.raw(f"{self.kept}_packets")
        return order[number[order] > 0] if len(order) else order

    def own(self, name: str) -> NDArray[Any]:
        """Return one array of the engine for these rows."""
        return self.raw(f"{self.kept}_{name}")[self.used]

    def end(self, name: str) -> Names:
        """Return the names of one end of each row."""
        return self.terminals[self.own(name).astype(np.int64)]

    @property
    def number(self) -> Ints:
        """Packets or messages."""
        return self.own("packets").astype(np.int64)

    @property
    def size(self) -> Ints:
        return self.own("bytes").astype(np.int64)

    @property
    def latency_ns_mean(self) -> Floats:
        return per(self.own("latency_sum_ticks") * self.tick_ns, self.number)

    @property
    def latency_ns_max(self) -> Floats:
        return self.own("latency_max_ticks") * self.tick_ns

    @property
    def mbytes_per_s(self) -> Floats:
        """Their bytes per measuring window."""
        return self.rate(self.size)

    @property
    def bound_ns(self) -> list[float | None]:
        """The bound of each."""
        pairs = zip(self.end("source"), self.end("target"), strict=True)
        return [self.bounds_ns.get(pair) for pair in pairs]


class BatchRows(Rows):
    """Batches after the warm-up."""

    @cached_property
    def bounds(self) -> tuple[NDArray[np.bool_], Ints, Ints]:
        """Which of the engine's, and their starts and ends in ticks."""
        return tables.batch_bounds(self.native)

    @property
    def length_ns(self) -> Floats:
        _, starts, ends = self.bounds
        return (ends - starts).astype(np.float64) * self.tick_ns

    def own(self, name: str) -> NDArray[Any]:
        """Return one array of the engine for these rows."""
        return self.raw(f"batch_{name}")[self.bounds[0]]

    def latency_ns_mean(self, which: str) -> Floats:
        """Return the mean latency of their packets, ``latency`` or ``total`` as in the engine's names."""
        return tables.mean(self.own(f"{which}_sum_ticks") * self.tick_ns, self.own("packets"))


class ShareRows(BatchRows):
    """Batches and flows: throughput over time."""

    @cached_property
    def names(self) -> list[str]:
        return list(self.native.get("share_name", ()))

    def cells(self, name: str) -> Ints:
        inside = self.bounds[0]
        return self.count(f"share_{name}").reshape(len(inside), len(self.names))[inside]

    @cached_property
    def sent(self) -> Ints:
        """Flows that sent something; none if there is only one, which the batches show."""
        some = np.flatnonzero(self.cells("packets").sum(axis=0))
        return some if len(self.names) > 1 else np.empty(0, np.int64)

    def of(self, name: str) -> Ints:
        return self.cells(name)[:, self.sent].ravel()

    def each(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a number of each batch, per row."""
        return np.repeat(values, len(self.sent))


# The packets of each flow of sources, from the beginning of the run to its end.

COLUMNS = ("name", "source", "target", "bytes", "count", "stop_ticks")
"""What a scenario says of each flow; the engine says the rest."""


def is_transient(arrays: Mapping[str, Any]) -> bool:
    """Whether traffic begins or ends within the run, so that it is never steady."""
    if len(arrays["flow_target"]):
        begins, ends = arrays["flow_begin_grains"] > 0, arrays["flow_end_grains"] >= 0
        return bool(np.any(begins | ends | (arrays["flow_count"] > 0)))
    return len(arrays["list_repeat"]) > 0 and not np.any(arrays["list_repeat"])


class CompletionRows(Rows):
    """Flows, in the order of their sources."""

    def own(self, name: str) -> Ints:
        found = self.native.get(f"carried_{name}", ())
        return np.asarray(found, np.int64) if len(found) else np.zeros(len(self.flow), np.int64)

    @property
    def flow(self) -> Names:
        """What they are called."""
        return self.end("name")

    def end(self, name: str) -> Names:
        """Return a name of each: of its ends, or its own."""
        return np.asarray(self.native.get(f"carried_{name}", ()), object)

    @property
    def under_way(self) -> Ints:
        """Packets that wait or travel at the end."""
        gone = sum(self.own(name) for name in ("delivered", "refused", "lost"))
        return self.own("made") - gone

    @property
    def size(self) -> Ints:
        return self.own("delivered") * self.own("bytes")

    @property
    def first_created_ns(self) -> Floats:
        return np.where(self.own("made") > 0, self.own("first_ticks") * self.tick_ns, np.nan)

    @property
    def last_delivered_ns(self) -> Floats:
        return np.where(self.own("delivered") > 0, self.own("last_ticks") * self.tick_ns, np.nan)

    @property
    def completion_ns(self) -> Floats:
        """From the first created to the last delivered, if the flow has ended and all have arrived."""
        now, stop, count = int(self.native["end_time_ticks"]), self.own("stop_ticks"), self.own("count")
        over = (stop >= 0) & (stop <= now) | (count > 0) & (self.own("made") >= count)
        whole = over & (self.own("delivered") == self.own("made")) & (self.own("made") > 0)
        return np.where(whole, self.last_delivered_ns - self.first_created_ns, np.nan)

    @property
    def mbytes_per_s(self) -> Floats:
        """Bytes over the time from the first created to the last delivered."""
        return per(self.size * 1e3, self.last_delivered_ns - self.first_created_ns)
