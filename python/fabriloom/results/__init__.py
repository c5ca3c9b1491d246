"""What a run gives: a summary with confidence, tables, the latency distribution, and where it all comes from.

Every key and column is defined in ``columns.py`` and on the page ``docs/reference/results.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..output import file
from . import confidence, faults, files, html, planes, shares, signals, tables
from .figures import figures
from .histogram import Histogram
from .programs import ProgramRun
from .provenance import Provenance
from .requirements import Blocking, Promise, counted, requirements
from .slots import slots
from .standstill import standstill
from .summary import ConservationError, add_program, check_conservation
from .summary import summary as _summary
from .tabled import Tabled

if TYPE_CHECKING:
    import polars as pl

    from ..topology.graph import Graph

__all__ = ["ConservationError", "Histogram", "ProgramRun", "Provenance", "Results"]


class Results(Tabled):
    """The results of one run.

    ``native`` is the engine's dictionary of numbers and arrays in ticks of ``tick_ps`` picoseconds;
    ``graph`` gives the names. Tables are made when they are first asked for. In the summary and in the tables
    times are nanoseconds and rates MB/s, 10^6 bytes of payload; ``columns`` says what each key and column is.

    Raises:
        ConservationError: the engine lost or invented a packet.
    """

    def __init__(
        self,
        native: Mapping[str, Any],
        graph: Graph,
        tick_ps: int,
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
        """What is known of a run of programs; none of one of traffic."""
        self.measured = measured
        """How it was measured, see ``columns.MEASURED``; none of a simulation."""
        self.bounds_ns: Mapping[tuple[str, str], float] = {}
        """Per pair of terminals the delay that no packet exceeds; none where it was not computed."""
        self.promises: Sequence[Promise] = ()
        """The flows that have a requirement, with what is guaranteed of them."""
        self.blocking: Blocking | None = None
        """The flow that is guaranteed least of its requirement, and what its bound consists of."""
        self.warnings: list[str] = []
        """What was noticed about the scenario before the run. The summary has what was noticed about its
        results as well."""

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The summary, nested, with the keys of ``columns.SUMMARY``."""
        summary = _summary(self.native, self.graph, self.tick_ps, self.provenance, self.wall_s)
        if self.program is not None:
            add_program(summary, self.program, self.provenance.resolved, self.measured is not None)
        if self.measured is not None:
            summary["measured"] = dict(self.measured)
        if self.promises:
            summary["requirements"] = counted(self.requirements)
        if self.has_codes:
            summary["codes"] = signals.summary(self.native, self.codes)
        return {**summary, "warnings": [*self.warnings, *self._doubts(summary)]}

    def _doubts(self, summary: dict[str, Any]) -> list[str]:
        """What was noticed about the results; of programs nothing, for they need not be steady."""
        stood = standstill(summary, self.provenance.resolved.get("technology", {}))
        stood += planes.doubts(summary)
        if self.program is not None:
            return stood
        means = confidence.watched(self.native, self.tick_ps / 1000)
        return [*stood, *confidence.doubts(confidence.settled(self.native, means))]

    @property
    def end_reason(self) -> str:
        """Why the run ended, in one word."""
        return str(self.native["end_reason"])

    @property
    def measured_ticks(self) -> int:
        """Length of the measuring window in ticks."""
        return tables.window_ticks(self.native)

    @property
    def utilisation(self) -> np.ndarray:
        """Per link: the share of the measuring window in which its wire was occupied, 0 to 1."""
        return tables.utilisation(self.native, self.measured_ticks)

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per link: utilisation, packets, and what else its kind of network has."""
        table = tables.links if self.graph.rings is None else tables.ring_links
        found = table(self.native, self.graph, self.tick_ps / 1000, self.measured_ticks)
        if faults.has_faults(self.native):
            more = faults.link_columns(self.native, self.graph.links, self.tick_ps / 1000)
            found = found.with_columns(**more)
        return found.with_columns(**signals.link_columns(self.native)) if self.has_codes else found

    @cached_property
    def planes(self) -> pl.DataFrame:
        """One row per plane: what came by it; no rows where terminals have one port each."""
        return tables.planes(self.native, self.graph, self.tick_ps / 1000, self.measured_ticks)

    @cached_property
    def buses(self) -> pl.DataFrame:
        """One row per switch of a network of rings: how busy its buses were; no rows elsewhere."""
        return tables.buses(self.native, self.graph, self.tick_ps / 1000, self.measured_ticks)

    @cached_property
    def rings(self) -> pl.DataFrame:
        """One row per ring: what its links carried, in MB/s; no rows in networks without rings."""
        return tables.rings(self.native, self.graph, self.tick_ps / 1000, self.measured_ticks)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per pair of terminals: throughput, latency, share; no rows when flows were not kept."""
        table = tables.flows(self.native, self.graph, self.tick_ps / 1000, self.measured_ticks)
        return tables.bounded(table, self.bounds_ns)

    @cached_property
    def requirements(self) -> pl.DataFrame:
        """One row per flow that has a requirement: what is guaranteed and seen, and whether it is kept."""
        return requirements(self.native, self.promises, self.tick_ps / 1000)

    @property
    def has_codes(self) -> bool:
        """Whether terminals sent time-codes or interrupts, or were to."""
        return signals.has_codes(self.native)

    @cached_property
    def codes(self) -> pl.DataFrame:
        """One row per source of time-codes or interrupts and terminal: latency, jitter; no rows without."""
        return signals.codes(self.native, self.graph, self.tick_ps / 1000)

    @cached_property
    def batches(self) -> pl.DataFrame:
        """One row per batch of the measuring window: throughput and latency; shows whether it was steady."""
        return tables.batches(self.native, self.tick_ps / 1000)

    @cached_property
    def over_time(self) -> pl.DataFrame:
        """One row per batch and flow, or terminal, or some of them: throughput; see the results reference."""
        return shares.over_time(self.native, self.tick_ps / 1000)

    @cached_property
    def trace(self) -> pl.DataFrame:
        """One row per delivered packet; no rows unless ``output.trace`` was set."""
        return tables.trace(self.native, self.graph, self.tick_ps / 1000)

    @cached_property
    def events(self) -> pl.DataFrame:
        """One row per event of a program; no rows when it has none. ValueError without a program."""
        return self._program().events()

    @cached_property
    def hosts(self) -> pl.DataFrame:
        """One row per terminal: bytes, back-pressure, occupancy. ValueError without a program."""
        return self._program().hosts()

    @cached_property
    def messages(self) -> pl.DataFrame:
        """One row per message; no rows unless ``output.messages`` was set. ValueError without a program."""
        return self._program().messages()

    @cached_property
    def message_flows(self) -> pl.DataFrame:
        """One row per pair of terminals with messages between them. ValueError without a program."""
        return self._program().message_flows()

    @cached_property
    def marks(self) -> pl.DataFrame:
        """One row per mark that a program came to. ValueError without a program."""
        return self._program().marks()

    @cached_property
    def slots(self) -> pl.DataFrame:
        """One row per entry of a SpaceWire-D schedule; no rows of other programs. ValueError without one."""
        return slots(self.marks, self.provenance.resolved.get("program", {}))

    def _program(self) -> ProgramRun:
        if self.program is None:
            raise ValueError("this was a run of traffic, not of programs")
        return self.program

    @property
    def keeps_links(self) -> bool:
        """False when the scenario does not want the table of links written (``output.links = false``)."""
        return bool(self.provenance.resolved.get("output", {}).get("links", True))

    @property
    def has_trace(self) -> bool:
        """True when a packet trace was kept."""
        return len(tables.column(self.native, "trace_source")) > 0

    @cached_property
    def latency(self) -> Histogram:
        """Network latency in ns as a histogram that UHI-aware libraries plot."""
        values = tables.column(self.native, "latency_values_ticks").astype(np.float64) * (self.tick_ps / 1000)
        return Histogram.of(
            values, tables.column(self.native, "latency_counts").astype(np.int64), "latency_ns"
        )

    def ccdf(self) -> pl.DataFrame:
        """Share of packets whose network latency is longer, against latency."""
        return tables.ccdf(self.native, self.tick_ps / 1000)

    def thinned_tail(self, of: str = "latency") -> dict[str, list[float]]:
        """``ccdf()`` for drawing: lists ``latency_ns`` and ``share_longer`` of some hundred steps. ``of`` is
        "latency", of the network, or "total", from creation at the source.
        """
        return tables.thinned_tail(self.native, self.tick_ps / 1000, of=of)

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables that the run kept, by the names of their files."""
        return files.tables_of(self)

    def to_chrome_trace(self, path: str | Path) -> None:
        """Write the packet trace in the Chrome trace format, which Perfetto opens. ValueError without one."""
        if not self.has_trace:
            raise ValueError("no packet was traced: set output.trace = true in the scenario")
        with file(Path(path)) as out:
            files.write_chrome_trace(self, out)

    def _repr_html_(self) -> str:
        return html.repr_html(self.summary)

    def __repr__(self) -> str:
        accepted = self.summary["accepted_mbytes_per_s"]
        rate = "nothing measured" if accepted is None else f"{figures(accepted)} MB/s"
        return f"<Results {self.provenance.name!r}: {self.end_reason}, {rate}>"
