"""The summary of a run, one nested dictionary with the keys of ``columns.SUMMARY``, and its provenance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..reading.texts import escaped
from ..scenario.schema import Scenario
from ..topology.graph import Graph
from . import columns, confidence, ends, faults, statistics, tables
from .columns.features import add_flits
from .columns.runs import TOTAL_LATENCY_FROM
from .figures import in_percent
from .kinds import KINDS, Kind
from .limit import keeps_up, limit, of_program, verdict, with_token
from .rows import FaultRows, RingRows
from .statistics import known

if TYPE_CHECKING:
    from .programs import ProgramRun


@dataclass(frozen=True)
class Provenance:
    """The scenario, the seed and the program version of a result."""

    name: str
    scenario_sha256: str
    seed: int
    version: str
    engine: str
    """``links``, ``rings`` or ``twin``."""
    description: str = ""
    resolved: dict[str, Any] = field(default_factory=dict)
    """The resolved scenario: all defaults filled in, units in canonical form."""
    source_text: str = ""
    """The scenario as written, or an empty string."""
    source_name: str = ""
    """File name of the scenario, without the folder."""

    @classmethod
    def of(cls, scenario: Scenario, engine: str = "links") -> Provenance:
        """Return the provenance of a scenario to be run by ``engine``."""
        source = scenario.source
        return cls(
            name=scenario.name or escaped(Path(source.file).stem) or f"{scenario.topology.kind} network",
            scenario_sha256=scenario.sha256,
            seed=scenario.seed,
            version=__version__,
            engine=engine,
            description=scenario.description,
            resolved=scenario.resolved,
            source_text=source.text,
            source_name=escaped(Path(source.file).name),
        )

    def named(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in ("name", "scenario_sha256", "version", "seed")}


class ConservationError(RuntimeError):
    """The engine lost or duplicated a packet: a fault of the program, never of the user."""


def check_conservation(native: Mapping[str, Any]) -> None:
    """Raise ConservationError unless offered packets are delivered, refused, in flight, scrubbed or lost."""
    offered, delivered = int(native["offered"]), int(native["delivered"])
    refused, in_flight = int(native["refused"]), int(native["in_flight"])
    scrubbed, lost = int(native.get("scrubbed", 0)), int(native.get("lost", 0))
    total = delivered + refused + in_flight + scrubbed + lost
    if offered != total:
        raise ConservationError(
            f"packets are not conserved: {offered} offered, but {delivered} delivered + {refused} refused "
            f"+ {in_flight} in flight + {scrubbed} scrubbed + {lost} lost = {total}"
        )


def latency(native: Mapping[str, Any], which: str, tick_ns: float, kind: Kind) -> dict[str, Any]:
    """Return the keys of one latency; ``which``: ``latency`` or ``total``, as in the engine's names."""
    inside, _, _ = tables.batch_bounds(native)
    estimate = confidence.estimate(
        native,
        tables.column(native, f"batch_{which}_sum_ticks")[inside].astype(np.float64) * tick_ns,
        tables.column(native, "batch_packets")[inside].astype(np.float64),
    )
    packets = int(native["measured_packets"])
    # The mean is over every packet; the half-width rests on complete batches.
    mean = int(native[f"{which}_sum_ticks"]) / packets * tick_ns if packets else math.nan
    values = tables.column(native, f"{which}_values_ticks").astype(np.float64)
    counts = tables.column(native, f"{which}_counts").astype(np.int64)
    # The extremes are kept exactly; the histogram has them to its resolution only.
    low, high = (float(native[f"{which}_{end}_ticks"]) if packets else math.nan for end in ("min", "max"))
    shares = statistics.percentiles(values, counts, low, high)
    return {
        "from": kind.latency_from if which == "latency" else TOTAL_LATENCY_FROM,
        "to": kind.latency_to,
        "mean": known(mean),
        "mean_ci95": known(estimate.ci95),
        "min": known(low * tick_ns),
        "max": known(high * tick_ns),
        **{key: known(value * tick_ns) for key, value in shares.items()},
    }


def throughput(native: Mapping[str, Any], tick_ns: float, terminals: int) -> dict[str, Any]:
    """Return offered and accepted throughput with their intervals."""
    inside, starts, ends = tables.batch_bounds(native)
    time_ns = (ends - starts).astype(np.float64) * tick_ns
    window_ns = tables.window_ticks(native) * tick_ns
    estimate = confidence.estimate(
        native, tables.column(native, "batch_bytes")[inside].astype(np.float64) * 1e3, time_ns
    )
    offered, refused, accepted = (
        int(native[f"measured_{what}_bytes"]) * 1e3 / window_ns if window_ns > 0 else None
        for what in ("offered", "refused", "delivered")
    )
    return {
        "offered_mbytes_per_s": offered,
        "refused_mbytes_per_s": refused,
        "accepted_mbytes_per_s": accepted,
        "accepted_mbytes_per_s_ci95": known(estimate.ci95),
        "accepted_mbytes_per_s_per_terminal": None if accepted is None else accepted / terminals,
    }


def summary(
    native: Mapping[str, Any],
    graph: Graph,
    tick_ps: int | float,
    provenance: Provenance,
    wall_s: float,
    means: list[confidence.Watched],
) -> dict[str, Any]:
    """Return the summary of one run; ``means``: those that a longer run would improve."""
    tick_ns = tick_ps / 1000
    reason = str(native["end_reason"])
    cycle = [graph.link_names[int(link)] for link in tables.column(native, "deadlock_links")]
    end_ticks, window = int(native["end_time_ticks"]), tables.window_ticks(native)
    inside, _, _ = tables.batch_bounds(native)
    kind = KINDS[graph.network_kind]
    packets = tables.column(native, "batch_packets")[inside].astype(np.float64)
    latencies = tables.column(native, "batch_latency_sum_ticks")[inside].astype(np.float64)
    found: dict[str, Any] = {
        **provenance.named(),
        "end": {
            "reason": reason,
            "message": _message(native, graph, tick_ps, cycle, provenance.resolved.get("run", {}), means),
            "cycle": cycle,
        },
        "network": {"switches": graph.switches, "terminals": graph.terminals, "links": graph.links},
        "reverse_load": float(native.get("reverse_load", 1.0)),
        "simulated_ns": end_ticks * tick_ps / 1000,
        "warmup_ns": (end_ticks - window) * tick_ps / 1000,
        "measured_ns": window * tick_ps / 1000,
        "longest_pause_ns": int(native["pause_ticks"]) * tick_ns,
        "longest_pause_from_ns": int(native["pause_start_ticks"]) * tick_ns,
        **throughput(native, tick_ns, graph.terminals),
        "packets": {
            **{key: int(native[key]) for key in ("offered", "delivered", "refused", "in_flight")},
            "measured": int(native["measured_packets"]),
        },
        "latency_ns": latency(native, "latency", tick_ns, kind),
        "total_latency_ns": latency(native, "total", tick_ns, kind),
        "statistics": {
            "batches": len(statistics.merge(packets)),
            "lag1_correlation": known(statistics.lag1_correlation(latencies, packets)),
            "trusted": confidence.trusted(means) if means else None,
        },
        "not_kept": {
            "flow_packets": int(native.get("flows_dropped", 0)),
            "trace_packets": int(native.get("trace_dropped", 0)),
        },
        "engine": {
            "name": provenance.engine,
            "events": int(native["events"]),
            "packet_hops": int(native["packet_hops"]),
            "wall_s": wall_s,
        },
    }
    for more in kind.summary:
        more.fill(found, RingRows(native, graph, tick_ns))
    if faults.has_faults(native):
        columns.faults.FAULT_SUMMARY.fill(found, FaultRows(native, graph, tick_ns))
    technology = provenance.resolved.get("technology", {})
    add_flits(found, technology)
    if graph.several is not None:
        found["network"] |= {"ports": graph.ports, "planes": len(graph.planes)}
    if (late := _late(native, provenance.resolved)) is not None:
        found["packets"]["overtaken"] = late
    found["keeps_up"] = keeps_up(native)
    found["limit"] = with_token(limit(native, graph, kind.limit), technology)
    found["verdict"] = verdict(found, provenance.resolved)
    return found


def _message(
    native: Mapping[str, Any],
    graph: Graph,
    tick_ps: int | float,
    cycle: list[str],
    run: Mapping[str, Any],
    means: list[confidence.Watched],
) -> str:
    """Return the reason for the end; ``run``: the resolved ``[run]``; ``means``: see :func:`summary`."""
    reason = str(native["end_reason"])
    if reason == "livelocked":
        return ends.livelock(native, graph, tick_ps)
    if reason == "stalled":
        return ends.stall(native, graph, tick_ps)
    if reason == "stopped":
        return ends.stopped(native, graph, tick_ps)
    after_ns = int(native["end_time_ticks"]) * tick_ps / 1000
    precise = means[:1] if run.get("precision_of") == "throughput" else means
    watched = ends.precision(reason, float(run.get("precision", 0.0)), confidence.widths(precise))
    if reason == "drained" and faults.has_faults(native):
        return ends.drained_of_faults(after_ns, int(native["lost"]), int(native["in_flight"]))
    return ends.message(reason, cycle, after_ns, int(native["refused"]) > 0, watched)


def add_program(
    summary: dict[str, Any], program: ProgramRun, resolved: Mapping[str, Any], measured: bool = False
) -> None:
    """Add the keys of ``columns.PROGRAM_SUMMARY``; if only programs stopped, also what they wait for."""
    end, native = summary["end"], program.native
    after = ends.after(summary["simulated_ns"], measured)
    waiting = program.waiting() if end["reason"] in ("deadlocked", "incomplete", "stopped") else []
    shown = "; ".join([*waiting[:4], *([f"{len(waiting) - 4} more"] if len(waiting) > 4 else [])])
    beside = "traffic" in resolved
    if end["reason"] == "incomplete":
        end["message"] = ends.incomplete(native, after, beside, shown)
    elif waiting and end["reason"] == "deadlocked" and not end["cycle"]:
        under_way = "no packet of theirs" if beside else "no packet"
        end["message"] = f"The programs deadlocked {after}: {under_way} is under way, and waiting: {shown}."
    if end["reason"] == "drained":
        lost = int(native["messages_lost"])
        arrived = (
            f"{lost:,} message{'s were' if lost > 1 else ' was'} lost"
            if lost
            else "every message has arrived"
        )
        end["message"] = f"Every program came to its end, and {arrived} ({after})."
    end["waiting"] = waiting
    summary |= program.summary()
    summary["not_kept"] |= {what: int(native[f"{what}_dropped"]) for what in ("messages", "marks")}
    summary["keeps_up"] = program.steady.keeps_up
    summary["limit"] = of_program(summary["limit"], program, resolved)
    summary["verdict"] = verdict(summary, resolved)


def _late(native: Mapping[str, Any], resolved: Mapping[str, Any]) -> int | None:
    """Return the packets that a later one of their pair overtook; None where that is not counted."""
    if "program" not in resolved:
        return int(native["overtaken"]) if "overtaken" in native else None
    spread = resolved.get("ports", {}).get("per") == "packet"
    return int(native["message_packets_overtaken"]) if spread else None


def overtaken(summary: Mapping[str, Any]) -> list[str]:
    """Return a sentence about packets that overtook each other by several ports, if any did.

    In groups of a single network they do so in most runs.
    """
    sort = "who needs them in order has to sort them"
    stored = "a receiver stores each in its place in the message" if "messages" in summary else sort
    return [
        f"{late:,} {what} ({in_percent(late / summary[what]['measured'])}) came behind a later one of the "
        f"same pair of terminals, by another port or another way: {who}"
        for what, who in (("packets", stored), ("messages", sort))
        if (what == "messages" or "ports" in summary["network"])
        and (late := summary.get(what, {}).get("overtaken", 0))
    ]
