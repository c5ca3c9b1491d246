"""A run in progress: what the page draws of it, several times per second."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import __version__
from ..compile import Compiled, compile, graph_of
from ..reading import toml_text
from ..report.drawing import fabric_svg
from ..report.drawing.links import has_ports
from ..report.drawing.plan import is_large, parts_of
from ..report.drawing.style import counted
from ..report.fabric import own_numbers
from ..report.page import micro, number, plus_minus
from ..report.sections.programs import hertz
from ..results import Results, tables
from ..results.ends import BAD, STUCK
from ..results.figures import in_percent
from ..results.kinds import KINDS
from ..results.summary import latency, throughput
from ..scenario import Scenario
from ..scenario.load import FILE_KEYS
from ..simulate import Progress
from ..topology import Graph
from ..topology.raw import CABLE
from . import limits
from .choices import Chosen, controls


def describe(one: Chosen) -> dict[str, Any]:
    """Build and draw a scenario."""
    scenario = one.scenario
    graph = graph_of(scenario)
    limits.check_size(graph)
    compiled = compile(scenario)
    return {
        **pictured(scenario, graph),
        "controls": controls(scenario),
        "faults": one.written.get("fault", []),
        "cables": one.written.get("topology", {}).get("more_cables", []),
        "warnings": compiled.warnings,
        "text": toml_text(_with_places(one.written, scenario)),
        "shared": toml_text(one.written),
    }


def pictured(scenario: Scenario, graph: Graph) -> dict[str, Any]:
    """Return the drawing of a scenario's network, with its names and sizes."""
    drawn = graph.links <= limits.DRAWN_LINKS
    return {
        "name": title_of(scenario),
        "description": scenario.description,
        "facts": facts(graph),
        "links": [str(name) for name in graph.link_names] if drawn else [],
        "svg": None
        if is_large(graph)
        else fabric_svg(graph, np.zeros(graph.links), "link in use", alone=True),
        "parts": parts_of(graph) if is_large(graph) and drawn else None,
        "origin": f"Scenario {scenario.sha256[:16]}, seed {scenario.seed}, Fabriloom {__version__}",
    }


def title_of(scenario: Scenario) -> str:
    return scenario.name or f"{scenario.topology.kind} network"


def facts(graph: Graph) -> str:
    """Return the sizes of a network as one line."""
    parts = [counted(graph.terminals, "terminal"), counted(graph.links, "link")]
    if graph.several is not None:
        parts.insert(0, counted(len(graph.planes), "plane"))
    if graph.network_kind.buses:
        parts.insert(1, counted(graph.own_rings.rings, "ring"))
    if graph.switches:
        parts.insert(1, counted(graph.switches, "switch", "es"))
    numbers = ["ports"] if has_ports(graph) else []
    numbers += ["logical addresses"] if graph.layout.get("addresses") else []
    return ", ".join(parts) + (f"; the numbers are {' and '.join(numbers)}" if numbers else "")


def _with_places(value: Any, scenario: Scenario) -> Any:
    """Return the data with full paths of its files, so that it can be saved anywhere."""
    if not isinstance(value, Mapping):
        return value
    return {
        key: str((scenario.base_dir / inner).resolve()) if key in FILE_KEYS else _with_places(inner, scenario)
        for key, inner in value.items()
    }


_EVERY_S = 0.12
_TAIL_STEPS = 160
_SENDERS = 24
_UNEVEN = 1.5
_PART = 10
"""Taking pictures may use at most one part in this many of the time."""


class Live:
    """Makes pictures of one run: not more often than visible, and not so often that they delay the run."""

    def __init__(self, compiled: Compiled) -> None:
        self._graph, self._kind = compiled.graph, KINDS[compiled.graph.network_kind]
        self._warmup_ps = compiled.scenario.run.warmup_ps
        self._senders = np.flatnonzero(compiled.arrays["source_arrival"]).tolist()
        self._capacity = _capacity(compiled, len(self._senders))
        self._warm: dict[str, list[Any]] = {"t_ms": [], "accepted": [], "latency": []}
        self._next = 0.0
        self._began = time.monotonic()

    def look(self, progress: Progress) -> dict[str, Any] | None:
        """Return the state of the run, or None if it is too early for another picture."""
        now = time.monotonic()
        if now < self._next:
            return None
        picture = self._picture(
            progress.so_far(), int(progress.simulated_ps // progress.tick_ps), progress.tick_ps
        )
        took = time.monotonic() - now
        # Also the page has to take what it is sent, a number per link.
        self._next = now + max(_EVERY_S, _PART * took, self._graph.links * 1e-5)
        rate = progress.events / max(now - self._began, 1e-3)
        return {**picture, "share": progress.share, "events_per_s": rate}

    def end(self, results: Results) -> dict[str, Any]:
        """Return the last picture of a run."""
        summary, native = results.summary, results.native
        picture = self._picture(native, int(native["end_time_ticks"]), results.tick_ps)
        links, names = results.graph.links, results.graph.link_names
        held = (summary["limit"] or {}).get("name")
        return {
            **picture,
            "facts": _facts(picture, summary, self._capacity, summary["end"]["reason"] in STUCK),
            "share": 1.0,
            "warming": False,
            "end": summary["end"],
            "verdict": summary["verdict"],
            "bad": summary["end"]["reason"] in BAD,
            "cycle": np.asarray(native["deadlock_links"]).tolist(),
            "warnings": summary["warnings"],
            "sources": _sources(results, self._senders),
            "columns": own_numbers(results.links)["columns"] if links <= limits.TOLD_LINKS else [],
            "limit": names.index(held) if held in names else -1,
        }

    def _picture(self, native: Mapping[str, Any], now_ticks: int, tick_ps: int | float) -> dict[str, Any]:
        # If flow control was measured first, the tick differs from that of the compiled scenario.
        tick_ns, start = tick_ps / 1000, int(native["measure_start_ticks"])
        warming = start == 0 and self._warmup_ps != 0
        window = tables.window_ticks(native)
        # The values that a report of the same moment would show, computed by the same functions.
        rates = throughput(native, tick_ns, self._graph.terminals)
        delay = latency(native, "latency", tick_ns, self._kind)
        drawn, carried = self._graph.links <= limits.DRAWN_LINKS, self._kind.carried_mbytes_per_s
        series = _series(native, tick_ns)
        if warming:
            self._warm = series
            before = 0
        else:
            before = sum(moment <= start * tick_ns / 1e6 for moment in self._warm["t_ms"])
            series = {name: [*self._warm[name][:before], *values] for name, values in series.items()}
        picture = {
            "simulated_ms": now_ticks * tick_ns / 1e6,
            "warming": warming,
            "measured_from_ms": start * tick_ns / 1e6,
            "before": before,
            "series": series,
            "packets": int(native["measured_packets"]),
            "tail": _tail(native, tick_ns),
            "busy": np.round(1000 * tables.utilisation(native, window)).astype(int).tolist() if drawn else [],
            "carried": np.round(1000 * carried(native, window * tick_ns)).astype(int).tolist()
            if drawn and carried
            else [],
            "bus": float(tables.bus_utilisation(native, self._graph, window).max(initial=0.0)),
        }
        measured = {**rates, "latency_ns": delay, "packets": {"measured": picture["packets"]}}
        return {**picture, "facts": _facts(picture, measured, self._capacity)}


def _capacity(compiled: Compiled, senders: int) -> float | None:
    """Return the MB/s of payload that the links of all senders carry, in packets of mean length: load 1; None
    where they differ."""
    own = {"rate_bits_per_s", CABLE} & compiled.graph.attributes.keys()
    if own or compiled.programs is not None or compiled.graph.several is not None:
        return None
    tech, (lengths, share) = compiled.technology, compiled.lengths
    times_ps = [tech.mean_packet_ps(tech.payload_chars(length)) for length in lengths.tolist()]
    packet_ps = float(share @ times_ps)
    return senders * compiled.mean_packet_bytes * 1e6 / packet_ps if packet_ps else None


def _facts(
    picture: Mapping[str, Any], summary: Mapping[str, Any], capacity: float | None, stuck: bool = False
) -> list[list[str]]:
    """Return the key numbers: name, value with its 95 % interval, and a note."""
    delay, accepted = summary["latency_ns"], summary["accepted_mbytes_per_s"]
    share = "" if accepted is None or not capacity else in_percent(accepted / capacity)
    of = f"{share} of its senders' links" if share else ""
    mean = plus_minus(micro(delay["mean"]), micro(delay["mean_ci95"]))
    offered, carried = number(summary["offered_mbytes_per_s"]), picture["carried"]
    rate = plus_minus(accepted, summary["accepted_mbytes_per_s_ci95"])
    facts = [
        ["Accepted before it stopped" if stuck else "Accepted", f"{rate} MB/s", of],
        ["Offered", f"{offered} MB/s", ""],
        ["Mean latency", f"{mean} µs", ""],
        ["99 % within", f"{number(micro(delay['p99']))} µs", ""],
        ["Packets measured", f"{summary['packets']['measured']:,}", ""],
        ["Simulated", f"{number(picture['simulated_ms'])} ms", ""],
    ]
    if carried:
        facts.append(["Busiest link", f"{number(max(carried) / 1000)} MB/s", ""])
    if picture["bus"]:
        facts.append(["Busiest bus", in_percent(picture["bus"]), ""])
    built = summary.get("events") or {}
    if built.get("complete"):
        wanted = built["attempted_per_s"]
        asked = f"of {hertz(wanted)} attempted; {built['complete']} complete" if wanted else ""
        facts += [
            ["Events built", hertz(built["achieved_per_s"]), asked],
            ["An event takes", f"{number(micro(built['latency_ns']['mean']))} µs", ""],
            ["99 % of them within", f"{number(micro(built['latency_ns']['p99']))} µs", ""],
        ]
    return facts


def _series(native: Mapping[str, Any], tick_ns: float) -> dict[str, list[Any]]:
    """Return throughput and latency over time, one value per batch; None for latency without packets."""
    inside, starts, ends = tables.batch_bounds(native)
    packets = tables.column(native, "batch_packets")[inside]
    latency = tables.column(native, "batch_latency_sum_ticks")[inside]
    accepted = tables.per(tables.column(native, "batch_bytes")[inside] * 1e3, (ends - starts) * tick_ns)
    means = tables.mean(latency * tick_ns / 1e3, packets).round(4)
    return {
        "t_ms": np.round(ends * tick_ns / 1e6, 6).tolist(),
        "accepted": np.round(accepted, 3).tolist(),
        "latency": [None if math.isnan(one) else one for one in means.tolist()],
    }


def _tail(native: Mapping[str, Any], tick_ns: float) -> list[list[float]]:
    """Return the tail, thinned for drawing."""
    tail = tables.thinned_tail(native, tick_ns, _TAIL_STEPS)
    pairs = zip(tail["latency_ns"], tail["share_longer"], strict=True)
    return [[round(value / 1e3, 5), share] for value, share in pairs]


def _sources(results: Results, senders: list[int]) -> list[list[Any]]:
    """Return the throughput per sender in MB/s if some get much more than others; otherwise empty."""
    names, flows = results.graph.terminal_names, results.flows
    if not len(flows) or not 0 < len(senders) <= _SENDERS:
        return []
    sums = dict.fromkeys((names[one] for one in senders), 0.0)
    for source, rate in flows.select("source", "mbytes_per_s").iter_rows():
        sums[source] = sums.get(source, 0.0) + rate
    uneven = max(sums.values()) > _UNEVEN * min(sums.values())
    return [[name, rate] for name, rate in sums.items()] if uneven else []
