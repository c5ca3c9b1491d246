"""A whole measurement: every point of a scenario's sweep, each in several rounds on real processes."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import simulate
from ..compile import Compiled, compile
from ..output import Pieces
from ..results import Results
from ..results.programs import ProgramRun
from ..results.summary import Provenance
from ..scenario import Scenario
from ..studies import Curve, Point
from ..studies.curves import settings_of, varied
from . import launch, records
from .launch import Host, Settings, check_hosts, cores, hosts_in, mpi, runner_of
from .plan import MeasureError, Plan, active, plan

Advance = Callable[[int, int, str], None]
"""Called with rounds finished, rounds in total, and what is being measured."""


_LONG = "1000000 s"


@dataclass(frozen=True)
class Measured:
    """The measured results: one run, or the points of a sweep."""

    run: Results | None
    curve: Curve | None
    interrupted: bool = False


@dataclass(frozen=True)
class _Machine:
    """What all points share."""

    settings: Settings
    hosts: list[Host]
    runner: str
    command: Callable[[int], list[str]]
    cores: int


def measure(
    scenario: Scenario, settings: Settings, *, kept: Pieces | None = None, progress: Advance | None = None
) -> Measured:
    """Run the program of a scenario over MPI, at each point of its sweep.

    Args:
        scenario: a scenario with a program; its network only gives the names of the terminals.
        settings: how to measure.
        kept: store for finished points; a point that is already stored is not measured again.
        progress: called from time to time.

    Ctrl-C ends the measurement with the points that are finished.

    Raises:
        MeasureError: the scenario cannot be measured.
        ScenarioError: the scenario is wrong.
    """
    if scenario.program is None:
        message = "there is no program to be measured: traffic is made packet by packet"
        hint = "write a [program], such as ping-pong"
        raise scenario.error(f"{message}, which only a simulation does", ("traffic",), hint, key=True)
    if scenario.has_traffic:
        message = "only a program can be measured: traffic is made packet by packet"
        raise scenario.error(message, ("traffic",), "remove [traffic]", key=True)
    base = scenario.alone()
    points = (
        [(one, varied(base, one)) for one in settings_of(dict(scenario.sweep))]
        if scenario.sweep
        else [({}, base)]
    )
    compiled = [(one, compile(each)) for one, each in points]
    ranks = max(_wanted(each, settings) for _, each in compiled)
    hosts, there = _there(settings, ranks)
    for _, each in compiled:
        _check_end(each)
    # Several machines share the present folder.
    place = None if settings.hosts is None else Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fabriloom-", dir=place) as folder:
        machine = _machine(settings, hosts, there, ranks > there, Path(folder))
        return _all(scenario, compiled, machine, kept, progress or (lambda *_: None))


def _all(
    scenario: Scenario,
    points: list[tuple[dict[str, Any], Compiled]],
    machine: _Machine,
    kept: Pieces | None,
    progress: Advance,
) -> Measured:
    finished: list[Point] = []
    wanted, interrupted, last = len(points) * machine.settings.rounds, False, None
    try:
        for number, (settings, compiled) in enumerate(points):
            text = ", ".join(f"{path} = {value}" for path, value in settings.items())
            begun = number * machine.settings.rounds
            tell = lambda rounds, begun=begun, text=text: progress(begun + rounds, wanted, text)  # noqa: E731
            name = _name(compiled, machine)
            point = _kept_point(kept, name, settings)
            if point is None:
                last, interrupted = _one(compiled, machine, tell)
                if last is None:
                    break
                point = Point.of(settings, last)
                if kept is not None and not interrupted:
                    kept.put(name, json.dumps(asdict(point), ensure_ascii=False))
            finished.append(point)
            if interrupted:
                break
    except KeyboardInterrupt:  # between two points, or before the first, when no process was running
        interrupted = True
    if not scenario.sweep:
        if last is None and finished and not interrupted:
            last, interrupted = _one(points[0][1], machine, lambda _: None)
        return Measured(last, None, interrupted or last is None)
    provenance = Provenance.of(scenario, f"mpi-{machine.runner}")
    curve = Curve(
        finished, list(scenario.sweep), provenance, len(points), interrupted or len(finished) < len(points)
    )
    return Measured(None, curve, curve.interrupted)


def _name(compiled: Compiled, machine: _Machine) -> str:
    """Return the file name of a finished point, from what was measured and how."""
    how, hosts = machine.settings, [str(host) for host in machine.hosts]
    key = (compiled.scenario.sha256, machine.runner, hosts, how.warm_ups, how.rounds)
    return hashlib.sha256(repr(key).encode()).hexdigest()[:24] + ".json"


def _kept_point(kept: Pieces | None, name: str, settings: dict[str, Any]) -> Point | None:
    if kept is None or (text := kept.get(name)) is None:
        return None
    try:
        found = json.loads(text)
        return Point(settings, found["summary"], found["tail"], found["utilisation"])
    except (ValueError, KeyError, TypeError):
        return None  # an interruption cut the file short: the point is measured again


def _wanted(compiled: Compiled, settings: Settings) -> int:
    """Return the processes of a point. Raises :class:`MeasureError` if they are fewer than the terminals."""
    assert compiled.programs is not None
    needed = len(active(compiled.programs))
    if settings.ranks is not None and settings.ranks < needed:
        raise MeasureError(
            f"--ranks {settings.ranks}: the program is for {needed} terminals, each of which is a process\n"
            f"  = write --ranks {needed}, or reduce the terminals of the program"
        )
    return needed


def _there(settings: Settings, ranks: int) -> tuple[list[Host], int]:
    """Return the machines and the number of cores. Raises :class:`MeasureError` if there are too few."""
    hosts = hosts_in(settings.hosts) if settings.hosts is not None else []
    there = sum(host.slots for host in hosts) if hosts else cores()
    if ranks > there and not settings.oversubscribe:
        where = f"the {there} of --hosts" if hosts else f"{there} cores"
        raise MeasureError(
            f"{ranks} processes on {where} would not be a measurement: they wait for each other's turn\n  = "
            "use a program for fewer terminals or more hosts (--hosts); or add --oversubscribe to see only "
            "whether the program runs as it should"
        )
    check_hosts(hosts)
    return hosts, there


def _machine(settings: Settings, hosts: list[Host], there: int, crowded: bool, folder: Path) -> _Machine:
    """Return the MPI and the runner. Raises :class:`MeasureError`."""
    found = mpi()
    runner, program = runner_of(settings.runner, found, folder)
    command = lambda count: launch.command(found, count, program, hosts, folder, crowded)  # noqa: E731
    return _Machine(settings, hosts, runner, command, there)


def _check_end(compiled: Compiled) -> None:
    """Simulate a program to refuse one that would wait for ever or never ends. Raises ScenarioError."""
    scenario = compiled.scenario
    assert compiled.programs is not None
    if np.isfinite(compiled.programs.times()).all():
        # Whether the program ends does not depend on the speed of the scenario's network.
        compiled = compile(scenario.with_settings({"run.duration": _LONG, "run.drain": False}))
    end = simulate.run(compiled).summary["end"]
    if end["reason"] == "interrupted":
        raise KeyboardInterrupt
    if end["reason"] == "deadlocked" and not end["cycle"]:
        shown = "; ".join(end["waiting"][:4])
        message = f"this program would wait for ever: {shown}"
        raise scenario.error(message, ("program",), "simulate it first: fabriloom run", key=True)
    if end["reason"] == "time_limit":
        limit_ms = scenario.run.duration_ps / 1e9
        message = (
            f"this program does not come to its end within run.duration, {limit_ms:.6g} ms of simulated time"
        )
        hint = "give it a number of rounds, or a longer run.duration"
        raise scenario.error(message, ("program",), hint, key=True)


def _one(compiled: Compiled, machine: _Machine, tell: Callable[[int], None]) -> tuple[Results | None, bool]:
    """Measure one point. Returns its results, and whether it was interrupted."""
    settings, sources = machine.settings, compiled.sources
    assert sources.programs is not None
    programs = sources.programs
    how = {"warm_ups": settings.warm_ups, "repeats": settings.rounds, "patience_s": settings.patience_s}
    what = plan(programs, sources.protocol, **how)
    names = [programs.terminal_names[int(terminal)] for terminal in what.terminals]
    began = time.perf_counter()
    rounds, wrong = launch.run(machine.command(len(names)), what, settings, names, tell)
    if not rounds.parts:
        return None, True
    results = _results(compiled, machine, what, rounds, time.perf_counter() - began)
    if wrong:
        results.warnings.append(f"interrupted: {rounds.finished} of {settings.rounds} rounds were finished")
    return results, bool(wrong)


def _results(
    compiled: Compiled, machine: _Machine, what: Plan, rounds: records.Rounds, wall_s: float
) -> Results:
    took = [records.duration_ns(parts) for parts in rounds.parts]
    parts = rounds.parts[int(np.argsort(took, kind="stable")[(len(took) - 1) // 2])]
    records.check_clocks(parts, rounds.machines)
    sources = compiled.sources
    assert sources.programs is not None
    native = records.native(parts, what, sources.programs)
    provenance = Provenance.of(compiled.scenario, f"mpi-{machine.runner}")
    run = ProgramRun(native, compiled.graph, 1.0, sources.programs, sources.place_of, measured=True)
    told = _told(machine, rounds, parts, took)
    results = Results(native, compiled.graph, 1000, provenance, wall_s, run, told)
    results.warnings += _doubts(told, int(native["message_latency_min_ticks"]))
    return results


def _told(
    machine: _Machine, rounds: records.Rounds, parts: list[records.Part], took: list[int]
) -> dict[str, Any]:
    """Return the values of ``columns.MEASURED``."""
    middle = sorted(took)[(len(took) - 1) // 2]
    errors = sorted((part.clock[1] for part in parts), reverse=True)
    return {
        "runner": machine.runner,
        "mpi": _library(rounds.mpi),
        "transport": _transport(rounds),
        "machines": rounds.machines,
        "ranks": len(parts),
        "cores": machine.cores,
        "crowded": len(parts) > machine.cores,
        "warm_ups": machine.settings.warm_ups,
        "rounds": len(took),
        "round_ns": [float(value) for value in took],
        "noise": (max(took) - min(took)) / middle if middle else 0.0,
        "clock_error_ns": float(sum(errors[:2])),
        "late_ns": float(max(part.late_ns for part in parts)),
    }


def _library(text: str) -> str:
    """Return name and version of an MPI from its own description."""
    first = text.splitlines()[0] if text else "an unnamed MPI"
    return " ".join(first.replace("\t", " ").split()).replace(" Version:", "")[:80]


def _transport(rounds: records.Rounds) -> str:
    if len(set(rounds.machines)) == 1:
        return "through the memory of one machine"
    device = [
        line.split(":", 1)[1].strip() for line in rounds.mpi.splitlines() if "Device" in line and ":" in line
    ]
    return f"between {len(set(rounds.machines))} machines" + (f", by {device[0]}" if device else "")


def _doubts(told: dict[str, Any], least_ns: int) -> list[str]:
    """Return what a reader should know before trusting the numbers."""
    found = []
    if told["crowded"]:
        found.append(
            f"{told['ranks']} processes shared {told['cores']} cores: no time here is a measurement, only "
            "that the program runs as it should"
        )
    elif told["noise"] > 0.1:
        found.append(f"noisy: rounds of the same program differ by {100 * told['noise']:.3g} %")
    if least_ns < -told["clock_error_ns"]:
        found.append(f"clocks disagree: a message was received {-least_ns} ns before it was made")
    if told["late_ns"]:
        found.append(f"a process was late for the agreed start by {told['late_ns'] / 1e3:.4g} us")
    return found
