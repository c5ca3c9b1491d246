"""The properties of a scenario that are known before it runs: its parts, bounds, zero-load latency, deadlock.

``Checked`` is all of it, for its report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile import Compiled, compile
from ..compile.deadlock import DEADLOCKS
from ..compile.silent import silent_settings
from ..results.columns.features import cycle_ns_of
from ..results.figures import figures
from ..results.summary import Provenance
from ..scenario import Scenario, scenario_of
from ..topology import Graph, kind_of
from . import demanded, failures
from .kinds import KINDS, inspection_of
from .links import bisection as effective_bisection
from .zero_load import zero_load_latency


def check(scenario: Scenario) -> dict[str, Any]:
    """Return what is known of a scenario before it runs: ports, bounds, zero-load latency, deadlock.

    The keys are those of the JSON of ``fabriloom check``; ``["deadlock"]["text"]`` says whether packets can
    wait for each other for ever.

    Raises:
        ScenarioError: the scenario cannot be run.
    """
    return inspect(scenario_of(scenario))


def inspect(scenario: Scenario | Compiled, pairings: int = 0) -> dict[str, Any]:
    """Return all results of ``fabriloom check``, ready for JSON. Raises ScenarioError.

    ``pairings``: random pairings of the terminals from which the effective bisection bandwidth is estimated.
    """
    compiled = scenario if isinstance(scenario, Compiled) else compile(scenario)
    scenario = compiled.scenario
    kind, found = inspection_of(compiled), compiled.deadlock
    return {
        "name": scenario.name,
        "scenario_sha256": scenario.sha256,
        **_network(compiled),
        **({} if compiled.graph.several is None else {"port_choice": scenario.port_choice}),
        **({} if compiled.programs is None else {"program": _program(compiled)}),
        **_demanded(compiled),
        **_slower(compiled),
        **({"effective_bisection": kind.effective_bisection(pairings)} if pairings else {}),
        "zero_load_latency_ns": zero_load_latency(kind),
        "deadlock": {
            "free": found.free,
            "cycle": found.cycle,
            "any_traffic_free": not found.any_cycle and not found.waiting,
            "any_traffic_cycle": found.any_cycle,
            "when": found.when,
            "waiting": found.waiting,
            "text": found.text(),
        },
        "warnings": [*compiled.warnings, *silent_settings(compiled)],
        "resolved": scenario.resolve(),
    }


def why_unbounded(compiled: Compiled) -> str:
    """Return why the demand of a program tells no throughput; empty if it does, and without programs."""
    if compiled.programs is None:
        return ""
    if compiled.sources.given:
        return "the shares of the program and of the traffic beside it are known only in a run"
    return "" if compiled.programs.is_told else "for whom some messages are is known only in a run"


def _network(compiled: Compiled) -> dict[str, Any]:
    """Return routes and loads; without bounds where the demand of a program is only a part."""
    found = inspection_of(compiled).network()
    if why_unbounded(compiled):
        unknown = {"busiest_link": None, "load": 0.0}
        for load in (found["channel_load"], *found.get("planes", [])):
            load.update({name: unknown.get(name) for name in load if name != "plane"})
    return found


def use_of_links(compiled: Compiled) -> tuple[NDArray[np.float64], str]:
    """Return the utilisation of each link, in the order of the graph, and for what traffic in words.

    It is that of the given rates; otherwise that of the load at which the first part carries no more: a link,
    bus, memory or host.
    """
    busy = demanded.busy(compiled)
    if busy is None:
        use = inspection_of(compiled).fullness()
        return use, " at the load at which the first part of the network carries no more"
    return np.array([busy.get(name, 0.0) for name in compiled.graph.link_names]), " at the given rates"


def _demanded(compiled: Compiled) -> dict[str, Any]:
    asked = demanded.demanded(compiled, shared=True)
    return {} if asked is None else {"demanded": demanded.explained(compiled, asked)}


def _slower(compiled: Compiled) -> dict[str, Any]:
    """Return what links carry that lose physical lanes, and the network with all of them at their slowest."""
    found = inspection_of(compiled).slowest()
    if found is None:
        return {}
    left, told = found
    asked = demanded.demanded(compiled, left=left)
    if asked is None:
        bound = inspection_of(compiled).full_first(left=left)
        most, load, busiest = bound["accepted_mbytes_per_s_bound"], bound["load_bound"], bound["busiest_link"]
    else:
        most, load = asked["accepted_mbytes_per_s_bound"], asked["scale_bound"]
        busiest = asked["busiest"]
    return {"slower": {**told, "mbytes_per_s_bound": most, "load_bound": load, "busiest_link": busiest}}


def _slower_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of links that go on with fewer physical lanes."""
    slower, load = found["slower"], "scale" if "demanded" in found else "load"
    names, lanes, there = slower["links"], slower["physical_lanes"], slower["of_physical_lanes"]
    which = f"{len(names):,} links in faults, the slowest {names[0]}" if len(names) > 1 else names[0]
    rate = f"{figures(slower['payload_mbytes_per_s'])} MB/s"
    told = [("slower", f"{which}: {rate} with {lanes} of {there} physical lanes")]
    if slower["mbytes_per_s_bound"] is None:
        return told
    alone = found.get("demanded", found["channel_load"])
    only = alone[f"shared_{load}_bound"] == alone[f"{load}_bound"]
    even = slower["mbytes_per_s_bound"], slower["load_bound"]
    most = demanded.shared_text(load, " in these proportions", even, even[1] if only else None)
    return [*told, ("meanwhile", f"{most}: {slower['busiest_link']} is full first")]


def _program(compiled: Compiled) -> dict[str, Any]:
    """Count operations and messages of a program, and say why it has no bound."""
    programs = compiled.programs
    assert programs is not None
    return {
        "terminals": int(np.count_nonzero(np.diff(programs.start))),
        "operations": programs.rows,
        "events": len(programs.events.due_ps),
        "attempted_per_s": programs.events.rate_per_s,
        **programs.counted(),
        "why_unbounded": why_unbounded(compiled),
    }


def _program_lines(program: dict[str, Any]) -> list[tuple[str, str]]:
    messages, size = program["messages"], program["message_bytes"]
    sent = "messages for ever"
    if messages is not None:
        sent = f"{messages:,} messages of {figures(size / messages)} B on average"
    events = f", {program['events']:,} events" if program["events"] else ""
    many = program["channels_most"]
    channels = f"; a terminal sends to {many:,} others at most" if many else ""
    return [("program", f"{program['terminals']:,} terminals, {sent}{events}{channels}")]


def load_bound(scenario: Scenario | Compiled) -> float:
    """Return the offered load (at most 1), or the scale of rates, at which a link, bus or memory is full
    however switches share ways. Above it, not all traffic can be accepted. Raises ScenarioError.
    """
    compiled = scenario if isinstance(scenario, Compiled) else compile(scenario)
    asked, of = demanded.demanded(compiled, shared=True), "scale_bound"
    if asked is None:
        asked, of = inspection_of(compiled).full_first(shared=True), "load_bound"
    found = asked.get(f"shared_{of}") or asked[of]
    return 1.0 if found is None else float(found)


def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the properties as lines of text: (name, value)."""
    return [
        ("scenario", f"{found['name'] or 'without a name'} ({found['scenario_sha256'][:12]})"),
        *KINDS[kind_of(found["network"]["family"])].lines(found),
        *(_program_lines(found["program"]) if "program" in found else []),
        *(demanded.lines(found["demanded"]) if "demanded" in found else _bound_lines(found)),
        *(_slower_lines(found) if "slower" in found else []),
        *([effective_bisection.line(found)] if "effective_bisection" in found else []),
        *_latency_lines(found),
        ("deadlock", found["deadlock"]["text"]),
    ]


def _bound_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return lines about the bound. It assumes the proportions of the traffic. A program that ends keeps
    them; sources keep them only up to the load at which a link is full: then traffic elsewhere can grow.
    """
    load, program = found["channel_load"], found.get("program")
    if load["busiest_link"] is None:
        return [("throughput", f"no bound: {program['why_unbounded']}")] if program else []
    ends = program is not None and program["messages"] is not None
    kept = "" if ends or load["load_bound"] == 1.0 else " in these proportions"
    even = load["accepted_mbytes_per_s_bound"], load["load_bound"]
    said = demanded.shared_text("load", kept, even, load["shared_load_bound"])
    return [("throughput", f"{said}: {load['busiest_link']} is full first")]


def _latency_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    latency, traffic = found["zero_load_latency_ns"], found.get("resolved", {}).get("traffic", {})
    if not latency["pairs"]:
        return []
    low, mean, high = (latency[key] / 1e3 for key in ("min", "mean", "max"))
    about = f"{latency['pairs']:,} pairs, packets of {figures(latency['length_bytes'], 6)} B"
    if dict(traffic.get("pattern", {})).get("kind") == "flows":
        about = f"{latency['pairs']:,} flows, packets of up to {figures(latency['length_bytes'], 6)} B"
    said = f"{figures(low)} to {figures(high)} µs, mean {figures(mean)} µs over {about}"
    cycle_ns = cycle_ns_of(found.get("resolved", {}).get("technology", {}))
    if cycle_ns is not None:
        low, mean, high = (latency[key] / cycle_ns for key in ("min", "mean", "max"))
        said = f"{figures(low)} to {figures(high)} cycles, mean {figures(mean)}; {said}"
    return [("zero-load latency", f"{said}{_by_chance(found, traffic)}")]


def _by_chance(found: dict[str, Any], traffic: dict[str, Any]) -> str:
    """Return a word where data wait for tokens or slots behind a bus, or with a response."""
    technology = found.get("resolved", {}).get("technology", {})
    answered = traffic.get("transaction") in ("nread", "lock")
    waits = [what for what in ("token", "slot") if technology.get(what)]
    if not waits or not (answered or found["network"]["switches"]):
        return ""
    return f", each with the {waits[0]}s that it waits for where they happen to be"


FULLEST = 20
"""Links that a report lists."""


@dataclass(frozen=True)
class Checked:
    """What is known of a network before it runs."""

    provenance: Provenance
    graph: Graph
    found: dict[str, Any]
    """See :func:`inspect`."""
    lines: list[tuple[str, str]]
    warnings: list[str]
    """Without that of a deadlock, which is the verdict."""
    used: NDArray[np.float64]
    """Utilisation of each link, in the order of the graph."""
    when: str
    """For what traffic, in words."""
    failed: dict[str, Any] | None
    """See :func:`.failures.look`."""
    leads_to: dict[int, list[str]]
    """Of the fullest links between switches: the terminals for which packets take it."""

    @classmethod
    def of(cls, compiled: Compiled, found: dict[str, Any], failed: dict[str, Any] | None) -> Checked:
        """Add to what was found what its report shows; ``failed``: single failures, if they were tried."""
        warnings = [one for one in found["warnings"] if not one.startswith(DEADLOCKS)]
        used, when = use_of_links(compiled)
        origin, kind = Provenance.of(compiled.scenario, "none"), inspection_of(compiled)
        leads_to = {int(at): kind.leads_to(int(at)) for at in np.argsort(-used, kind="stable")[:FULLEST]}
        return cls(origin, compiled.graph, found, lines(found), warnings, used, when, failed, leads_to)

    def failure_table(self) -> tuple[str, tuple[str, ...], list[list[str]]]:
        """Return the single failures as two sentences, a head and rows, the worst first."""
        assert self.failed is not None
        said = f"{failures.verdict(self.failed)}. {failures.tables_said(self.failed)}"
        return said, failures.HEAD, failures.table(self.failed)
