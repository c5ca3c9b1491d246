"""How late a packet can really be made: moments of packets, tried out so as to delay one flow.

It proves one thing only: the worst case is not less than what was found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _native
from ..codes import ARRIVAL
from ..compile import Compiled
from .flows import Flow

_NEVER_AGAIN_GRAINS = 2.0**40
PACKETS = 4
"""That each source sends in a trial."""

Trial = list[tuple[int, int]]
"""Packets of a trial: the number of the flow, and the grain at which its source makes it."""


class Trials:
    """Runs of a few packets from every source, made at chosen moments."""

    def __init__(self, compiled: Compiled, flows: list[Flow]) -> None:
        self.compiled = compiled
        self.flows = flows
        self.sources = sorted({flow.source for flow in flows})
        self.of = {
            source: [n for n, flow in enumerate(flows) if flow.source == source] for source in self.sources
        }

    def latest(self, victim: int, tries: int, span_grains: int, progress: Callable[[], None]) -> int:
        """The longest delay in ticks that was seen of a flow's packets, from dispatch to delivery.

        A third of the trials are drawn afresh; the others change a little of the worst so far.
        """
        dice = np.random.default_rng([int(self.compiled.arrays["seed"]), victim])
        worst, found = self._drawn(dice, victim, span_grains), -1
        for number in range(tries):
            fresh = number % 3 == 0
            trial = (
                self._drawn(dice, victim, span_grains) if fresh else self._changed(dice, worst, span_grains)
            )
            late = self._run(trial, victim)
            if late >= found:
                worst, found = trial, late
            progress()
        return found

    def _moment(self, dice: np.random.Generator, span: int) -> int:
        """Many packets at the start, so that sources send without a pause, and the rest anywhere."""
        return 0 if dice.random() < 0.5 else int(dice.integers(0, span))

    def _drawn(self, dice: np.random.Generator, victim: int, span: int) -> Trial:
        trial = [
            (flow, self._moment(dice, span))
            for source in self.sources
            for flow in dice.choice(self.of[source], PACKETS).tolist()
        ]
        return [(victim, self._moment(dice, span)), *trial]

    def _changed(self, dice: np.random.Generator, worst: Trial, span: int) -> Trial:
        """The same with one packet or two for others, or at other moments. The first stays the victim's."""
        trial = list(worst)
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
        return trial

    def _columns(self, trial: Trial) -> dict[str, Any]:
        """The traffic of a trial: each packet is a flow of its own that never comes again."""
        arrays, terminals = self.compiled.arrays, self.compiled.graph.terminals
        around = int(arrays["header_chars"]) + 1
        ordered = sorted(trial, key=lambda packet: (self.flows[packet[0]].source, packet[1]))
        flows = [self.flows[flow] for flow, _ in ordered]
        per_source = np.bincount([flow.source for flow in flows], minlength=terminals)
        count = len(flows)
        return {
            **arrays,
            "source_arrival": np.where(per_source > 0, ARRIVAL.FLOWS, ARRIVAL.SILENT).astype(np.uint8),
            "source_interval_grains": np.full(terminals, _NEVER_AGAIN_GRAINS),
            "source_queue": np.zeros(terminals, np.uint32),
            "flow_start": np.concatenate(([0], np.cumsum(per_source))).astype(np.uint32),
            "flow_target": np.array([flow.target for flow in flows], np.uint32),
            "flow_length": np.array([flow.characters - around for flow in flows], np.uint32),
            "flow_arrival": np.full(count, ARRIVAL.CONSTANT, np.uint8),
            "flow_interval_grains": np.full(count, _NEVER_AGAIN_GRAINS),
            "flow_phase_grains": np.array([moment for _, moment in ordered], np.float64),
            "flow_jitter_grains": np.zeros(count),
            "flow_packets": np.ones(count, np.uint32),
        }

    def _run(self, trial: Trial, victim: int) -> int:
        """The longest delay of the victim's packets."""
        until = int(_NEVER_AGAIN_GRAINS / 2) * int(self.compiled.arrays["grain_ticks"])
        limits = {"precision": 0.0, "packets": len(trial), "drain": False, "flows": 0, "trace": len(trial)}
        simulation = _native.Simulation(self._columns(trial), until=until, warmup=0, batch=until, **limits)
        while not simulation.advance(1 << 20):
            pass
        found, flow = simulation.result(), self.flows[victim]
        source, target = np.asarray(found["trace_source"]), np.asarray(found["trace_target"])
        length = np.asarray(found["trace_length"]) + int(self.compiled.arrays["header_chars"]) + 1
        mine = (source == flow.source) & (target == flow.target) & (length == flow.characters)
        delivered, started = (
            np.asarray(found[f"trace_{end}_ticks"], np.int64) for end in ("delivered", "started")
        )
        return int((delivered - started)[mine].max(initial=0))
