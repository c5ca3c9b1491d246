"""The results of a run: a summary with confidence intervals, tables, the latency distribution, provenance.

``columns`` and the page ``docs/reference/results.md`` define every key and column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import choice
from ..output import file
from ..process.libraries import names, pl
from ..topology.graph import Graph
from . import columns, confidence, faults, files, rows, shown, signals, tables
from .columns.column import Table
from .ends import standstill
from .figures import figures
from .files import Tabled
from .kinds import KINDS
from .requirements import broken, counted, messages_seen, seen
from .statistics import Histogram
from .summary import ConservationError, Provenance, add_program, check_conservation, overtaken
from .summary import summary as _summary

if TYPE_CHECKING:
    from ..bounds.calculus import Blocking
    from ..bounds.found import Promise
    from ..compile.programs import Required
    from .programs import ProgramRun

__all__ = ["ConservationError", "Histogram", "ProgramRun", "Provenance", "Results"]

__getattr__ = names(globals(), {"ProgramRun": ".programs"})


def _table(of: Table, kind: type[rows.Rows] | None = None) -> cached_property[pl.DataFrame]:
    """Return a table that is made when it is first asked for, from rows of a kind or the run of programs."""

    def made(self: Results) -> pl.DataFrame:
        return of.frame(self._program() if kind is None else kind(*self._numbers))

    made.__doc__ = of.row
    return cached_property(made)


class Results(Tabled):
    """The results of one run.

    ``native`` is the engine's dictionary of numbers and arrays, in ticks of ``tick_ps`` picoseconds;
    ``graph`` gives the names. Tables are computed on first use; ``columns`` defines each key and column.
    Those of programs raise ValueError without a program.

    Raises:
        ConservationError: the engine lost or invented a packet.
    """

    def __init__(
        self,
        native: Mapping[str, Any],
        graph: Graph,
        tick_ps: int | float,
        provenance: Provenance,
        wall_s: float,
        program: ProgramRun | None = None,
        measured: Mapping[str, Any] | None = None,
    ) -> None:
        check_conservation(native)
        self.native = native
        self.graph = graph
        self.tick_ps = tick_ps
        self.provenance = provenance
        self.wall_s = wall_s
        self.program = program
        """The results of the programs; None for a run of traffic."""
        self.measured = measured
        """How the run was measured, see ``columns.MEASURED``; None for a simulation."""
        self.bounds_ns: Mapping[tuple[str, str], float] = {}
        """Bound on the delay in ns by pair of terminals; empty if it was not computed."""
        self.promises: Sequence[Promise] = ()
        """The flows with a requirement, with their bounds."""
        self.required: Sequence[Required] = ()
        """The requirements on messages of programs."""
        self.blocking: Blocking | None = None
        """The parts of the bound of the flow with the least guaranteed margin."""
        self.warnings: list[str] = []
        """Warnings about the scenario before the run. The summary has those about the results as well."""

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The summary, a nested dictionary with the keys of ``columns.SUMMARY``."""
        summary = _summary(self.native, self.graph, self.tick_ps, self.provenance, self.wall_s, self._means)
        if self.program is not None:
            add_program(summary, self.program, self.provenance.resolved, self.measured is not None)
        if self.measured is not None:
            summary["measured"] = dict(self.measured)
        if self.has_requirements:
            summary["requirements"] = counted(self.requirements)
        if self.has_codes:
            made = signals.made(self.native, self.graph)
            columns.features.CODE_SUMMARY.fill(summary, signals.CodeRun(self.native, made, self.codes))
        if self.has_congestion_control:
            columns.features.CONGESTION_SUMMARY.fill(summary, rows.LinkRows(*self._numbers))
        return {**summary, "warnings": [*self.warnings, *self._doubts(summary)]}

    def _doubts(self, summary: dict[str, Any]) -> list[str]:
        """Return warnings about the results; none for programs, which need not be steady."""
        stood = standstill(summary, self.provenance.resolved.get("technology", {}))
        stood += overtaken(summary) + broken(self._beside_bounds())
        if self.program is not None:
            return stood
        return [*stood, *confidence.doubts(self._means)]

    def _beside_bounds(self) -> list[tuple[float | None, float | None]]:
        """Return the longest delay and its bound, by pair of terminals and by flow with a requirement."""
        flows = rows.FlowRows(*self._numbers, bounds_ns=self.bounds_ns)
        asked = seen(self.native, self.promises, self.tick_ps / 1000)
        return [
            *zip(flows.latency_ns_max.tolist(), flows.bound_ns, strict=True),
            *((one.total_latency_ns_max, one.of.bound_ns) for one in asked),
        ]

    @cached_property
    def _means(self) -> list[confidence.Watched]:
        """The means that a longer run would improve."""
        means = confidence.watched(self.native, self.tick_ps / 1000)
        return confidence.settled(self.native, means)

    @property
    def end_reason(self) -> str:
        """The reason for the end of the run, one word."""
        return str(self.native["end_reason"])

    @property
    def measured_ticks(self) -> int:
        """Length of the measuring window in ticks."""
        return tables.window_ticks(self.native)

    @property
    def utilisation(self) -> np.ndarray:
        """Per link: the share of the measuring window in which its wire was occupied, 0 to 1; shape
        (links,).
        """
        return tables.utilisation(self.native, self.measured_ticks)

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per link: utilisation, packets, and further columns by kind of network."""
        links = rows.LinkRows(*self._numbers)
        found = KINDS[self.graph.network_kind].links.frame(links)
        if self.graph.several is not None:
            found = found.insert_column(1, columns.features.PORT_LINKS.frame(links)["plane"])
        if faults.has_faults(self.native):
            found = found.hstack(columns.faults.FAULT_LINKS.frame(links))
        if self.has_congestion_control:
            found = found.hstack(columns.features.CONGESTION_LINKS.frame(links))
        if len(tables.column(self.native, "link_memory_most")):
            found = found.hstack(columns.features.SHARED_LINKS.frame(links))
        return found.hstack(columns.features.CODE_LINKS.frame(links)) if self.has_codes else found

    @property
    def _numbers(self) -> tuple[Mapping[str, Any], Graph, float]:
        """What rows of tables are made of."""
        return self.native, self.graph, self.tick_ps / 1000

    planes = _table(columns.features.PLANES, rows.PlaneRows)
    lanes = _table(columns.runs.LANES, rows.LaneRows)

    @cached_property
    def buses(self) -> pl.DataFrame:
        """One row per switch of a network of rings: utilisation of its buses; no rows for other networks."""
        if not self.graph.network_kind.buses:
            return columns.rings.BUSES.frame_of([])
        return columns.rings.BUSES.frame(rows.RingRows(*self._numbers))

    @cached_property
    def rings(self) -> pl.DataFrame:
        """One row per ring: throughput of its links in MB/s; no rows for networks without rings."""
        if not self.graph.network_kind.buses:
            return columns.rings.RINGS.frame_of([])
        own = [column.of(pl).alias(column.name) for column in columns.rings.RINGS.columns]
        found = self.links.group_by(own[0], maintain_order=True).agg(own[1:])
        return found.cast({"stations": pl.Int64})

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per pair of terminals: throughput, latency, share; no rows if flows were not kept."""
        return columns.runs.FLOWS.frame(rows.FlowRows(*self._numbers, bounds_ns=self.bounds_ns))

    completions = _table(columns.runs.COMPLETIONS, rows.CompletionRows)

    @property
    def transfers(self) -> pl.DataFrame | None:
        """The rows of :attr:`completions`, if some of these flows start, stop or count their packets, or
        stand beside a program.
        """
        # Asked first: a table needs a library that takes a moment to import.
        shown = self.native.get("transient") or self.program is not None
        return self.completions if shown and len(self.completions) else None

    @cached_property
    def requirements(self) -> pl.DataFrame:
        """One row per requirement, of flows, then of messages: its bound, the longest delay, the verdict."""
        tick_ns = self.tick_ps / 1000
        of_messages = messages_seen(self.native, self.required, tick_ns)
        found = [*seen(self.native, self.promises, tick_ns), *of_messages]
        return columns.studies.REQUIREMENTS.frame_of(found)

    @property
    def has_requirements(self) -> bool:
        """Whether flows or messages have requirements."""
        return len(self.promises) + len(self.required) > 0

    @property
    def has_codes(self) -> bool:
        """Whether terminals sent, or were to send, time-codes or interrupts."""
        return len(tables.column(self.native, "code_made")) > 0

    @cached_property
    def codes(self) -> pl.DataFrame:
        """One row per source of time-codes or interrupts and receiving terminal: latency and jitter."""
        return columns.features.CODES.frame_of(signals.codes(*self._numbers))

    @property
    def has_congestion_control(self) -> bool:
        """Whether switches marked packets, or could."""
        return len(tables.column(self.native, "port_notified")) > 0

    @cached_property
    def congestion(self) -> pl.DataFrame:
        """One row per terminal, or port: how far congestion control slowed it down; no rows without it."""
        made = columns.features.CONGESTION
        if not self.has_congestion_control:
            return made.frame_of([])
        return made.frame(rows.LinkRows(*self._numbers))

    batches = _table(columns.runs.BATCHES, rows.BatchRows)
    over_time = _table(columns.runs.OVER_TIME, rows.ShareRows)
    trace = _table(columns.runs.TRACE, rows.Rows)
    events = _table(columns.programs.EVENTS)
    hosts = _table(columns.programs.HOSTS)
    messages = _table(columns.programs.MESSAGES)

    @cached_property
    def message_flows(self) -> pl.DataFrame:
        """One row per pair of terminals with messages."""
        self._program()
        return columns.programs.MESSAGE_FLOWS.frame(rows.FlowRows(*self._numbers, kept="message_flow"))

    marks = _table(columns.programs.MARKS)

    @cached_property
    def slots(self) -> pl.DataFrame:
        """One row per entry of a SpaceWire-D schedule; no rows for other programs."""
        from .programs import slots

        return columns.programs.SLOTS.frame_of(slots(self.marks, self.provenance.resolved.get("program", {})))

    def _program(self) -> ProgramRun:
        if self.program is None:
            raise ValueError("this was a run of traffic, not of programs")
        return self.program

    @property
    def keeps_links(self) -> bool:
        """False if the table of links is not to be written (``output.links = false``)."""
        return bool(self.provenance.resolved.get("output", {}).get("links", True))

    @property
    def has_trace(self) -> bool:
        """True if a packet trace was kept."""
        return len(tables.column(self.native, "trace_source")) > 0

    @cached_property
    def latency(self) -> Histogram:
        """Network latency in ns as a histogram that libraries with UHI support can plot."""

        values = tables.column(self.native, "latency_values_ticks").astype(np.float64) * (self.tick_ps / 1000)
        return Histogram.of(
            values, tables.column(self.native, "latency_counts").astype(np.int64), "latency_ns"
        )

    def ccdf(self) -> pl.DataFrame:
        """Return the share of packets with a longer network latency, as a function of latency."""
        return columns.runs.CCDF.frame(rows.Rows(*self._numbers))

    def thinned_tail(self, of: str = "latency") -> dict[str, list[float]]:
        """Return ``ccdf()`` for drawing: lists ``latency_ns`` and ``share_longer`` with some hundred steps.
        ``of``: "latency", the network latency, or "total", from creation at the source.
        """
        choice("of", of, ("latency", "total"))
        return tables.thinned_tail(self.native, self.tick_ps / 1000, of=of)

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables that the run kept, by file name."""
        return files.tables_of(self)

    def to_chrome_trace(self, path: str | Path) -> None:
        """Write the packet trace in the Chrome trace format, which Perfetto opens. Raises ValueError without
        a trace."""
        if not self.has_trace:
            raise ValueError("no packet was traced: set output.trace = true in the scenario")
        with file(Path(path)) as out:
            files.write_chrome_trace(self, out)

    def _repr_html_(self) -> str:
        return shown.repr_html(self.summary)

    def __repr__(self) -> str:
        accepted = self.summary["accepted_mbytes_per_s"]
        rate = "nothing measured" if accepted is None else f"{figures(accepted)} MB/s"
        return f"<Results {self.provenance.name!r}: {self.end_reason}, {rate}>"
