"""Search for the longest delay of a flow over the creation times of packets and codes.

The result is a lower limit of the worst case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _native
from ..codes import ARRIVAL
from ..compile import Compiled
from .flows import Flow

_NEVER_AGAIN_GRAINS = 2.0**40
LONGEST_GRAINS = 1 << 32
"""Longest time, some seconds, over which packets of a trial are spread: a bound can be of days."""
PACKETS = 4
"""Packets of each source in a trial."""


@dataclass(frozen=True)
class Trial:
    """The times of a trial."""

    packets: list[tuple[int, int]]
    """Per packet: number of the flow, and creation time in grains."""
    codes: list[int]
    """First times of the codes, in ticks: of the time-codes together, and of each interrupt number."""


class _Codes:
    """The sources of time-codes and interrupts, whose first codes can be at any time."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.first = arrays["code_first_ticks"]
        numbers = arrays["code_number"]
        self.sets = [np.flatnonzero(numbers == one) for one in np.unique(numbers)]

    def drawn(self, dice: np.random.Generator, span_ticks: int) -> list[int]:
        """Draw first times, often close to the start."""
        return [int(dice.integers(1, 2 + span_ticks // int(dice.integers(1, 9)))) for _ in self.sets]

    def columns(self, first: list[int]) -> dict[str, Any]:
        """Return the column for drawn first times; sources of one number keep their distances."""
        found = self.first.copy()
        for rows, begin in zip(self.sets, first, strict=True):
            found[rows] = self.first[rows] - self.first[rows].min() + begin
        return {"code_first_ticks": found}


class Trials:
    """Runs with a few packets from every source, created at chosen times."""

    def __init__(self, compiled: Compiled, flows: list[Flow]) -> None:
        self.compiled = compiled
        self.codes = _Codes(compiled.arrays)
        self.grain = int(compiled.arrays["grain_ticks"])
        self.flows = flows
        self.sources = sorted({flow.source for flow in flows})
        self.of = {
            source: [n for n, flow in enumerate(flows) if flow.source == source] for source in self.sources
        }

    def latest(self, victim: int, tries: int, span_grains: int, progress: Callable[[], None]) -> int:
        """Return the longest delay found for a flow, in ticks from dispatch to delivery.

        A third of the trials are drawn independently; the others modify the worst trial so far.
        """
        dice = np.random.default_rng([int(self.compiled.arrays["seed"]), victim])
        worst, found = self._drawn(dice, victim, span_grains), -1
        for attempt in range(tries):
            fresh = attempt % 3 == 0
            trial = (
                self._drawn(dice, victim, span_grains) if fresh else self._changed(dice, worst, span_grains)
            )
            late = self._run(trial, victim)
            if late >= found:
                worst, found = trial, late
            progress()
        return found

    def _moment(self, dice: np.random.Generator, span: int) -> int:
        """Draw a creation time: often the start, so that sources send without a pause, else any time."""
        return 0 if dice.random() < 0.5 else int(dice.integers(0, span))

    def _drawn(self, dice: np.random.Generator, victim: int, span: int) -> Trial:
        trial = [
            (flow, self._moment(dice, span))
            for source in self.sources
            for flow in dice.choice(self.of[source], PACKETS).tolist()
        ]
        packets = [(victim, self._moment(dice, span)), *trial]
        return Trial(packets, self.codes.drawn(dice, span * self.grain))

    def _changed(self, dice: np.random.Generator, worst: Trial, span: int) -> Trial:
        """Modify one or two packets of a trial: their flow or their time. The first stays the victim's. If
        there are codes, modify those of every third trial instead.
        """
        if worst.codes and dice.random() < 1 / 3:
            return replace(worst, codes=self.codes.drawn(dice, span * self.grain))
        trial = list(worst.packets)
        for _ in range(int(dice.integers(1, 3))):
            place = int(dice.integers(0, len(trial)))
            flow, moment = trial[place]
            if dice.random() < 0.3 and place > 0:
                flow = int(dice.choice(self.of[self.flows[flow].source]))
            elif dice.random() < 0.5:
                moment = max(0, moment + int(dice.integers(-span // 16, span // 16 + 1)))
            else:
                moment = self._moment(dice, span)
            trial[place] = (flow, moment)
        return replace(worst, packets=trial)

    def _columns(self, trial: Trial) -> dict[str, Any]:
        """Return the traffic columns of a trial: each packet is a flow with a single packet."""
        arrays, terminals = self.compiled.arrays, self.compiled.graph.terminals
        ordered = sorted(trial.packets, key=lambda packet: (self.flows[packet[0]].source, packet[1]))
        flows = [self.flows[flow] for flow, _ in ordered]
        per_source = np.bincount([flow.source for flow in flows], minlength=terminals)
        count = len(flows)
        return {
            **arrays,
            **self.codes.columns(trial.codes),
            "source_arrival": np.where(per_source > 0, ARRIVAL.FLOWS, ARRIVAL.SILENT).astype(np.uint8),
            "source_interval_grains": np.full(terminals, _NEVER_AGAIN_GRAINS),
            "source_queue": np.zeros(terminals, np.uint32),
            "flow_start": np.concatenate(([0], np.cumsum(per_source))).astype(np.uint32),
            "flow_target": np.array([flow.target for flow in flows], np.uint32),
            "flow_length": np.array([flow.payload for flow in flows], np.uint32),
            "flow_arrival": np.full(count, ARRIVAL.CONSTANT, np.uint8),
            "flow_interval_grains": np.full(count, _NEVER_AGAIN_GRAINS),
            "flow_phase_grains": np.array([moment for _, moment in ordered], np.float64),
            "flow_jitter_grains": np.zeros(count),
            "flow_packets": np.ones(count, np.uint32),
            "flow_cost_grains": np.zeros(0),
            "flow_room_grains": np.zeros(0),
            **_without_end(count),
        }

    def _run(self, trial: Trial, victim: int) -> int:
        """Run a trial; returns the longest delay of the victim's packets."""
        until = int(_NEVER_AGAIN_GRAINS / 2) * int(self.compiled.arrays["grain_ticks"])
        limits = {
            "precision": 0.0,
            "packets": len(trial.packets),
            "drain": False,
            "flows": 0,
            "trace": len(trial.packets),
        }
        found = _ran(self._columns(trial), until=until, warmup=0, batch=until, **limits)
        mine = _of_flow(found, self.flows[victim])
        return int(_since(found, "started")[mine].max(initial=0))


def latest_with_periods(
    compiled: Compiled, flows: list[Flow], tries: int, progress: Callable[[], None]
) -> dict[int, int]:
    """Return the longest time per flow, in ticks from creation to delivery, in runs with other phases.

    Half of the phases are 0. Every flow keeps its period and its jitter.
    """
    arrays = compiled.arrays
    interval, grain = arrays["flow_interval_grains"], int(arrays["grain_ticks"])
    until_grains = min(3 * interval.max(), _MOST_PACKETS / float((arrays["flow_packets"] / interval).sum()))
    until = int(until_grains) * grain
    limits = {"precision": 0.0, "packets": 0, "drain": True, "flows": 0, "trace": 4 * _MOST_PACKETS}
    dice = np.random.default_rng(int(arrays["seed"]))
    found: dict[int, int] = {}
    codes, longest = _Codes(arrays), int(interval.max()) * grain
    for trial in range(tries):
        phases = dice.random(len(interval)) * interval * (dice.random(len(interval)) < 0.5)
        columns = {**arrays, **_without_end(len(phases)), "flow_phase_grains": phases, "seed": trial}
        columns |= codes.columns(codes.drawn(dice, longest))
        ran = _ran(columns, until=until, warmup=0, batch=max(1, until), **limits)
        total = _since(ran, "created")
        for place, flow in enumerate(flows):
            late = int(total[_of_flow(ran, flow)].max(initial=0))
            found[place] = max(found.get(place, 0), late)
        progress()
    return found


def _without_end(count: int) -> dict[str, Any]:
    """Return the columns of flows that create packets all the time."""
    return {
        "flow_begin_grains": np.zeros(count),
        "flow_end_grains": np.full(count, -1.0),
        "flow_count": np.zeros(count, np.uint64),
    }


_MOST_PACKETS = 5_000
"""Most packets of a run with other phases."""


def _ran(columns: dict[str, Any], **limits: Any) -> dict[str, Any]:
    simulation = _native.Simulation(columns, **limits)
    while not simulation.advance(1 << 20):
        pass
    return simulation.result()


def _of_flow(found: dict[str, Any], flow: Flow) -> np.ndarray:
    """Return which packets of a run belong to a flow."""
    source, target, length = (np.asarray(found[f"trace_{name}"]) for name in ("source", "target", "length"))
    return (source == flow.source) & (target == flow.target) & (length == flow.payload)


def _since(found: dict[str, Any], start: str) -> np.ndarray:
    """Return the ticks from a given start to the delivery of each packet of a run."""
    delivered, first = (np.asarray(found[f"trace_{end}_ticks"], np.int64) for end in ("delivered", start))
    return delivered - first
