"""Runs of drawn scenarios for laws that hold without a twin.

A run is compared with another run, or with what ``check`` says: the whole way from a description to a result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from fabriloom import Results, Scenario, run
from fabriloom.compile import Compiled, compile
from fabriloom.routing import RoutingError
from fabriloom.scenario import ScenarioError
from fabriloom.scenario.resolve import CODE_SETTINGS
from fabriloom.scenario.schema import CODES
from fabriloom.technology import TechnologyError
from fabriloom.topology import Graph, GraphError

from . import cover, drawing

REFUSED = (ScenarioError, GraphError, RoutingError, TechnologyError)
AMOUNTS = ("load", "rate", "scale")
"""Settings of traffic that say how much is sent."""
_TIME = re.compile(r"([0-9.e+-]+) (ps|ns|us|ms|s)(/m)?")
_RATE = re.compile(r"([0-9.e+-]+) ([kMG]?(?:bit/s|B/s|Hz))")


@dataclass(frozen=True)
class Drawn:
    """A legal scenario, every default filled in, and for how long its runs are worth while."""

    written: dict[str, Any]
    compiled: Compiled
    duration_ps: int


LINKS = (drawing.links, drawing.lanes, cover.one)
ALL = (*LINKS, drawing.rings)


def drawn(seeds: Iterator[int], draws: Sequence[Callable[[int], drawing.Table]] = LINKS) -> Iterator[Drawn]:
    """Yield legal scenarios: of links of characters and flits, with lanes, programs and pairs of settings."""
    for seed in seeds:
        written = draws[seed % len(draws)](seed)
        try:
            compiled = compile(Scenario.from_dict(written))
        except REFUSED:
            continue
        resolved = compiled.scenario.resolve()
        if resolved["technology"].get("flow_control") == "matched":
            # It is measured by short runs, in steps.
            resolved["technology"]["flow_control"] = "average"
        duration_ps = drawing.duration_ps(compiled, Random(seed))
        for name in ("time_code", "interrupt", "broadcast"):
            # The run is shorter than the drawn one: what would begin after it is refused.
            listed = zip(resolved.pop(name, ()), getattr(compiled.scenario, name), strict=True)
            if kept := [row for row, one in listed if start_ps(one) < duration_ps]:
                resolved[name] = kept
        for name in () if resolved.keys() & CODES else CODE_SETTINGS:
            resolved["technology"].pop(name, None)
        yield Drawn(resolved, compiled, duration_ps)


def start_ps(code: Any) -> int:
    """When the first of a row of codes is sent."""
    return code.every_ps if code.first_ps is None else code.first_ps


def ran(written: dict[str, Any], duration_ps: int, hops: int = 0) -> Results:
    """Run a scenario from its start for so long, keeping every packet, and so many of their steps."""
    limits = {"duration": f"{duration_ps} ps", "warmup": "0 ns", "precision": 0}
    return run(
        Scenario.from_dict({**written, "run": limits, "output": {"trace": True, "flows": True}}), hops=hops
    )


def owners(graph: Graph) -> np.ndarray:
    """Return the terminal of each port."""
    return np.arange(graph.ports) if graph.several is None else graph.several.terminal


def deliveries_ps(results: Results, until_ps: float = np.inf) -> np.ndarray:
    """When each packet arrived, was made and began, in ps, with its ends and length; sorted."""
    native = results.native
    ends = [np.asarray(native[f"trace_{name}"], np.float64) for name in ("target", "source", "length")]
    times = [
        np.asarray(native[f"trace_{name}_ticks"], np.float64) * float(results.tick_ps)
        for name in ("delivered", "created", "started")
    ]
    rows = np.stack([*times, *ends], axis=1)
    rows = rows[rows[:, 0] <= until_ps]
    return rows[np.lexsort(rows.T[::-1])]


def free_of_numbers(technology: dict[str, Any], arbiter: str) -> dict[str, Any]:
    """Settings with which nothing is decided by the numbers of links and groups in the whole network.

    Draws belong to groups by their numbers; and of two outputs that take from one input of several queues
    through a crossbar that passes one packet at a time, the one with the lower number goes first.
    """
    queues = technology.get("lanes", 1) > 1 or technology.get("input_queues") == "per-output"
    crossbar = {"crossbar": "fast"} if queues else {}
    return {**technology, **crossbar, "arbiter": arbiter, "group_choice": "first"}


def comparable_ps(*results: Results) -> float:
    """Return until when runs can be compared: when a deadlock is found, at which a run ends, may differ."""
    ends = [float(int(each.native["end_time_ticks"]) * each.tick_ps) for each in results]
    return min(ends) if any(each.end_reason == "deadlocked" for each in results) else np.inf


def slower(value: Any, times: int) -> Any:
    """Return a description in which every time is so many times as long, and every rate as low."""
    if isinstance(value, dict):
        return {key: slower(inner, times) for key, inner in value.items()}
    if isinstance(value, list):
        return [slower(inner, times) for inner in value]
    if isinstance(value, str) and (match := _TIME.fullmatch(value)):
        return f"{float(match[1]) * times:.15g} {match[2]}{match[3] or ''}"
    if isinstance(value, str) and (match := _RATE.fullmatch(value)):
        return f"{float(match[1]) / times:.15g} {match[2]}"
    return value
