"""One run: pass a compiled scenario to the engine and return its results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .arguments import whole
from .bounds import Promise, of_few_flows, promises_of
from .compile import Compiled, compile
from .results import Results
from .results.ends import STUCK
from .results.kinds import KINDS
from .results.rows import is_transient
from .results.summary import Provenance
from .scenario import Scenario
from .traffic import Demand, sends_evenly

if TYPE_CHECKING:
    from .results.programs import ProgramRun

_EVENTS_AT_ONCE = 200_000
"""Events between two looks at progress and Ctrl-C: some tens of milliseconds."""
_FLOWS_AT_MOST = 1 << 20
_FLOWS_AUTO = 1 << 16
_TRACE_AT_MOST = 1 << 22
_MESSAGES_AT_MOST = 1 << 22
_HOPS_AT_MOST = 1 << 32
_LATEST_PS = 10**18


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    share: float
    """Simulated time divided by the time limit, 0 to 1. A run that reaches its precision ends earlier."""
    simulated_ps: int
    events: int
    packets: int
    """Packets delivered."""
    packet_hops: int
    tick_ps: int | float
    so_far: Callable[[], dict[str, Any]]
    """Returns what has been measured so far, in the form of ``Results.native``. It makes a copy: call it
    seldom.
    """


Report = Callable[[Progress], None]


def run(
    scenario: Scenario | Mapping[str, Any] | Compiled,
    progress: Report | None = None,
    *,
    hops: int = 0,
    hops_since_ps: int = 0,
) -> Results:
    """Simulate one run of a scenario.

    Ctrl-C ends the run early: the results then hold what was measured, with the end reason ``interrupted``.

    Args:
        scenario: the scenario, or a dictionary as ``Scenario.from_dict`` takes it, whose ``topology`` may be
            a graph; ``[sweep]``, ``[variants]`` and ``[study]`` are ignored.
        progress: called at intervals with a :class:`Progress`. If it raises KeyboardInterrupt, the run ends
            as with Ctrl-C; any other exception ends the run and is passed on.
        hops: number of hops to keep, the newest, as columns ``hop_…`` of ``Results.native``. A hop is the
            stay of one packet on one link.
        hops_since_ps: hops that ended before this time are not kept.

    Raises:
        ScenarioError: the scenario cannot be run.
        TypeError: ``scenario`` is not a scenario but, for example, the name of a file.
    """
    since_ps = whole("hops_since_ps", hops_since_ps, 0, _LATEST_PS)
    hops = whole("hops", hops, 0, _HOPS_AT_MOST)
    compiled = scenario if isinstance(scenario, Compiled) else compile(scenario)
    began = time.perf_counter()
    described = compiled
    try:
        compiled = matched(compiled)
        rows, names = rows_of(compiled)
        kept = {**rows, "hops": hops, "hops_since": int(since_ps // compiled.tick_ps)}
        native = _simulate(compiled, {**options_of(compiled), **kept}, progress)
    except _InterruptedError as interrupted:
        compiled, native = interrupted.compiled, interrupted.native
        names = []
    native |= _described(compiled)
    native["warmup_is_set"] = compiled.scenario.run.warmup_ps != "auto"
    native |= {"reverse_load": compiled.reverse_load, "share_name": names}
    native |= {
        name: column
        for name, column in compiled.arrays.items()
        if name.startswith(("fault_", "code_", "lane_share"))
    }
    if len(native.get("fault_character_ticks", ())):
        native["link_character_ticks"] = compiled.arrays["link_character_ticks"]
    wall_s = time.perf_counter() - began
    provenance = Provenance.of(compiled.scenario, KINDS[compiled.graph.network_kind].engine)
    program = _program_run(compiled, native)
    results = Results(native, compiled.graph, compiled.tick_ps, provenance, wall_s, program)
    results.warnings += [*compiled.warnings, *compiled.routes.doubts(compiled.arrays, native)]
    _with_bounds(results, described)
    results.required = compiled.required_messages
    return results


def _described(compiled: Compiled) -> dict[str, Any]:
    """Return what the scenario says of each flow, see ``results.completions``."""
    arrays, target_names = compiled.arrays, compiled.target_names()
    start = arrays["flow_start"].astype(np.int64)
    source = np.repeat(np.arange(max(0, len(start) - 1)), np.diff(start))
    copies = [len(one.receivers) for one in compiled.routes.distributions]
    each = np.array([1] * len(compiled.graph.terminal_names) + copies, np.int64)[arrays["flow_target"]]
    ends, grain_ticks = arrays["flow_end_grains"], int(arrays["grain_ticks"])
    return {
        "transient": is_transient(arrays),
        "carried_name": compiled.sources.given.get("flow_name", []),
        "carried_source": [compiled.graph.terminal_names[one] for one in source],
        "carried_target": [target_names[one] for one in arrays["flow_target"].tolist()],
        "carried_bytes": arrays["flow_length"].tolist(),
        "carried_count": arrays["flow_count"].astype(np.int64) * each,
        "carried_stop_ticks": np.where(ends < 0, -1, np.ceil(ends) * grain_ticks).astype(np.int64),
    }


def _with_bounds(results: Results, described: Compiled) -> None:
    """Add the guaranteed delay of flows. It assumes the full share of flow control, so that it holds for any
    traffic in the opposite direction.
    """
    if not len(results.native["flow_source"]) and not len(results.native["watched_packets"]):
        return
    unbounded = described.programs is not None or not described.has_few_flows
    if unbounded and not described.required_rows():
        return

    found = of_few_flows(described)
    results.bounds_ns = {} if isinstance(found, str) else found.pairs_ns()
    results.promises = promises_of(described, found)
    if results.promises and not isinstance(found, str):
        worst = min(results.promises, key=_left)
        results.blocking = found.blocked(worst)


def _left(promise: Promise) -> float:
    """Return the margin of a requirement that its bound leaves; infinite without a bound."""
    return math.inf if promise.bound_ns is None else -promise.bound_ns / promise.requirement_ns


def rows_of(compiled: Compiled) -> tuple[dict[str, Any], list[str]]:
    """Select the flows whose throughput is kept over time; those of a program are unknown before the run."""
    names = compiled.graph.terminal_names
    by_pair = compiled.programs is None and len(names) <= MOST_TERMINALS
    by_pair = by_pair and not sends_evenly(compiled.arrays)  # known without counting what each sends
    return wanted(names, compiled.demand() if by_pair else None)


def _program_run(compiled: Compiled, native: dict[str, Any]) -> ProgramRun | None:
    sources = compiled.sources
    if sources.programs is None:
        return None
    from .results.programs import ProgramRun

    return ProgramRun(native, compiled.graph, compiled.tick_ps / 1000, sources.programs, sources.place_of)


class _InterruptedError(Exception):
    """Ctrl-C during a run that measures the share of flow control; holds the results up to then."""

    def __init__(self, compiled: Compiled, native: dict[str, Any]) -> None:
        super().__init__("interrupted")
        self.compiled = compiled
        self.native = native


def matched(compiled: Compiled) -> Compiled:
    """Match the share of flow control to the load of the opposite directions, if the scenario asks for it.

    One or two short runs measure that load for each link. It is rounded up to a tenth: a tenth of the share
    is 0.5 % of a character, and a link that is full never carries more than its flow control leaves.
    """
    if not compiled.is_matched:
        return compiled
    guess = np.full(compiled.graph.links, 5, np.int64)
    for _ in range(2):
        pilot = compiled.beside(guess)
        native = _simulate(pilot, {**options_of(pilot), **pilot_options(pilot)}, None)
        if native["end_reason"] == "interrupted":
            raise _InterruptedError(pilot, native)
        found = _reverse_tenths(native, pilot)
        if np.array_equal(found, guess):
            return pilot
        guess = found
    return compiled.beside(guess)


def pilot_options(compiled: Compiled) -> dict[str, Any]:
    """Return the options of a short run that differ from those of the scenario."""
    duration_ps, warmup_ps = compiled.scenario.run.duration_ps // 4, compiled.scenario.run.warmup_ps
    options: dict[str, Any] = {
        "precision": 0.05,
        "packets": 0,
        "drain": False,
        "flows": 0,
        "trace": 0,
        "watched": [],
        "until": max(1, compiled.grain_ticks(duration_ps)),
    }
    if warmup_ps != "auto":
        options["warmup"] = compiled.grain_ticks(min(int(warmup_ps), duration_ps // 2))
    return options


def _reverse_tenths(native: dict[str, Any], compiled: Compiled) -> NDArray[np.int64]:
    """Return, per link, the load of the opposite direction of its cable in tenths, rounded up."""
    ticks = max(1, native["end_time_ticks"] - native["measure_start_ticks"])
    reverse = np.asarray(compiled.graph.link_reverse)
    busy = np.where(reverse < 0, 0, np.asarray(native["link_busy_ticks"], np.int64)[reverse])
    return np.minimum(-(-10 * busy // ticks), 10)


def _simulate(compiled: Compiled, options: dict[str, Any], progress: Report | None) -> dict[str, Any]:
    simulation = _native.Simulation(compiled.arrays, **options)
    tick_ps, until = compiled.tick_ps, max(1, options["until"])
    ended = {}
    try:
        while not simulation.advance(_EVENTS_AT_ONCE):
            if progress:
                ticks, events, packets, hops = simulation.progress()
                so_far = simulation.result
                share, simulated_ps = min(1.0, ticks / until), round(ticks * tick_ps)
                progress(Progress(share, simulated_ps, events, packets, hops, tick_ps, so_far))
    except KeyboardInterrupt:
        ended = {"end_reason": "interrupted"}  # also after the last step, or who called would go on
    except _native.RunError as error:
        raise compiled.sources.failed(error) from error
    return {**simulation.result(), **ended}


def options_of(compiled: Compiled) -> dict[str, Any]:
    """Return the engine's options for a scenario, times in ticks."""
    run, output = compiled.scenario.run, compiled.scenario.output
    return {
        "until": compiled.grain_ticks(run.duration_ps),
        "warmup": _warmup(compiled),
        # Precision is of a steady state.
        "precision": 0.0 if is_transient(compiled.arrays) else run.precision,
        "latencies": run.precision_of == "all",
        "packets": run.packets,
        "batch": compiled.grain_ticks(_batch_ps(compiled)) or int(compiled.arrays["grain_ticks"]),
        "drain": run.drain,
        "flows": _flows(compiled, output.flows),
        "trace": _TRACE_AT_MOST if output.trace else 0,
        "keep_messages": _MESSAGES_AT_MOST if output.messages or compiled.required_messages else 0,
        "watched": compiled.required_rows(),
    }


def _warmup(compiled: Compiled) -> int | None:
    """Return the ticks of the warm-up; None: until the run is steady, which transient traffic never is."""
    warmup_ps = compiled.scenario.run.warmup_ps
    if warmup_ps == "auto":
        return 0 if is_transient(compiled.arrays) else None
    return compiled.grain_ticks(int(warmup_ps))


def _batch_ps(compiled: Compiled) -> int:
    """Choose the first length of a batch: a few packet times, and long enough for some tens of packets."""
    scenario, arrays = compiled.scenario, compiled.arrays
    if compiled.programs is None and scenario.traffic.is_open():
        return _open_batch_ps(compiled)
    if compiled.programs is None:
        lengths = arrays["length_values"] if len(arrays["length_values"]) else arrays["length_max"]
        longest_bytes = int(lengths.max(initial=64))
        senders = max(1, int(np.count_nonzero(arrays["source_arrival"])))
        load = scenario.traffic.load or 0.5
    else:
        longest_bytes = int(arrays["message_packet_bytes"])
        senders = max(1, int(np.count_nonzero(np.diff(arrays["program_start"]))))
        load = 0.5
    wanted = compiled.technology.packet_ps(longest_bytes) * max(20.0, 64.0 / (load * senders))
    return int(min(wanted, compiled.scenario.run.duration_ps / 256))


def _open_batch_ps(compiled: Compiled) -> int:
    """Choose the first length of a batch where traffic is given by rates: the time of 64 packets."""
    interval = compiled.arrays["source_interval_grains"]
    per_grain = float(np.divide(1.0, interval, out=np.zeros_like(interval), where=interval > 0).sum())
    wanted = 64.0 / per_grain * float(compiled.technology.grain_ps)
    return int(min(wanted, compiled.scenario.run.duration_ps / 256))


def _flows(compiled: Compiled, wanted: bool | str) -> int:
    if wanted != "auto":
        return _FLOWS_AT_MOST if wanted else 0
    if compiled.programs is None:
        senders = int(np.count_nonzero(compiled.arrays["source_target"] != 1))
    else:
        senders = int(np.count_nonzero(np.diff(compiled.arrays["program_start"])))
    return _FLOWS_AUTO if senders * compiled.graph.terminals <= _FLOWS_AUTO else 0


@dataclass(frozen=True)
class Comparison:
    """The engine compared with its slow twin on the same scenario."""

    packets: int
    """Packets that the engine delivered."""
    twin_packets: int
    identical: bool
    """Whether source, target, length and all times of every packet are equal."""
    end_reason: str
    """Why the run of the engine ended."""
    until_ps: int
    """End of the comparison in ps: the end of the engine's run, or its time limit if the run came to rest
    before.
    """
    wall_s: float
    twin_wall_s: float


def compare(scenario: Scenario | Compiled, duration_ps: int | None = None) -> Comparison:
    """Run a scenario in the engine and in its slow twin, and compare every delivery up to the end of the
    engine's run.

    ``duration_ps`` shortens the run: the twin is tens to hundreds of times slower than the engine.
    """
    compiled = matched(scenario if isinstance(scenario, Compiled) else compile(scenario))
    until = compiled.grain_ticks(duration_ps or compiled.scenario.run.duration_ps)
    options = {**options_of(compiled), "until": until, "precision": 0.0, "packets": 0, "drain": False}
    began = time.perf_counter()
    simulation = _native.Simulation(compiled.arrays, **{**options, "trace": _TRACE_AT_MOST})
    while not simulation.advance(_EVENTS_AT_ONCE):
        pass
    between = time.perf_counter()
    native = simulation.result()
    reason = str(native["end_reason"])
    # The twin does not detect that a part of the network is stuck while the rest continues.
    stuck = reason in (*STUCK, "stopped")
    until = int(native["end_time_ticks"]) if stuck else until
    twin = _native.run_twin(compiled.arrays, False, until)
    ended = time.perf_counter()
    ours, theirs = _deliveries(native), _deliveries(twin)
    same = bool(np.array_equal(ours, theirs)) and reason != "stalled"
    # The twin finds a deadlock by what is left in the end: what fails later may end one.
    later = any(bool((compiled.arrays[name] > until).any()) for name in ("fault_down_ticks", "table_ticks"))
    if len(native["deadlock_links"]) and "deadlocked" in twin and not later:
        same = same and bool(twin["deadlocked"])
    walls = between - began, ended - between
    return Comparison(len(ours), len(theirs), same, reason, round(until * compiled.tick_ps), *walls)


def _deliveries(native: dict[str, Any]) -> NDArray[np.int64]:
    """Return the deliveries sorted by time, target and the other columns; shape (packets, 6)."""
    names = ("delivered_ticks", "target", "source", "length", "created_ticks", "started_ticks")
    rows = np.stack([np.asarray(native[f"trace_{name}"], np.int64) for name in names], axis=1)
    return rows[np.lexsort(rows.T[::-1])]


# Throughput over time by flow: whose packets are counted together.
MOST_ROWS = 8
"""Most groups: the number of distinguishable colours."""
MOST_TERMINALS = 256
"""Most terminals whose pairs are counted; with more, finding the pairs takes too long."""


def wanted(names: list[str], demand: Demand | None) -> tuple[dict[str, Any], list[str]]:
    """Return the engine's options for the groups, and the names of the groups.

    A group is a flow if there are few flows; otherwise a sending terminal if there are few; otherwise a block
    of terminals with consecutive numbers. Without a demand, flows are not considered, nor are they beside
    packets for several terminals, which belong to no pair.
    """
    if demand is not None and not demand.even.any() and demand.spread is None:
        pairs = sorted({(int(s), int(t)) for s, t in zip(demand.source, demand.target, strict=True)})
        if len(pairs) <= MOST_ROWS:
            return {"pairs": pairs}, [f"{names[source]} to {names[target]}" for source, target in pairs]
    each = -(-len(names) // MOST_ROWS)
    firsts = range(0, len(names), each)
    lasts = [min(first + each, len(names)) - 1 for first in firsts]
    found = [
        names[first] if first == last else f"{names[first]} … {names[last]}"
        for first, last in zip(firsts, lasts, strict=True)
    ]
    return {"sources": [number // each for number in range(len(names))]}, found
